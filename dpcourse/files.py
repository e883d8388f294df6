"""Where the course keeps what it saves on the learner's machine, and how it writes there."""

import contextlib
import os
import tempfile
from pathlib import Path

import platformdirs


def data_folder():
    """The folder of the learner's progress and data sets: $DPCOURSE_DATA, or the user's data folder."""
    return Path(os.environ.get("DPCOURSE_DATA") or platformdirs.user_data_dir("dpcourse", appauthor=False))


def write_atomically(file, text):
    """Write text to a file so that a reader, or a crash, finds the old text or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
