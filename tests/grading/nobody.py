"""To run a command as an ordinary user, from tests that root runs."""

import os
import shutil
import sys
from pathlib import Path

import pytest

USER = 65534

# A home that only root may enter, and Python in it: an ordinary user sees an empty home with Python in it. That holds
# for this one command.
SCRIPT = """
set -e
if [ -n "$1" ]; then
    kept=$(mktemp -d); trap 'rmdir "$kept"' EXIT
    mount --bind "$2" "$kept"
    mount -t tmpfs -o mode=755 none "$1"
    mkdir -p "$2"
    mount --bind "$kept" "$2"
    umount "$kept"
fi
shift 2
setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""


def command(*arguments):
    """The command that runs this one as nobody; skips the test where that is not possible."""
    if os.getuid() != 0 or not (shutil.which("setpriv") and shutil.which("unshare")):
        pytest.skip("only root can become another user")
    python = Path(sys.base_prefix)
    closed = next((each for each in reversed(python.parents) if not each.stat().st_mode & 0o001), None)
    return ["unshare", "--mount", "bash", "-c", SCRIPT, "bash", str(closed or ""), str(python), *map(str, arguments)]
