"""Where the course keeps what it saves on the learner's machine, and how it writes there."""

import contextlib
import functools
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import platformdirs

from dpcourse.base.languages import say

DRIVE = Path("/drive")
"""Where the kernel of JupyterLite sees the notebooks, which the browser keeps."""


def data_folder() -> Path:
    """Return the folder of the learner's progress and data sets: $DPCOURSE_DATA, or the user's data folder.

    In a browser tab, whose other files end with the kernel, it is one beside the notebooks.
    """
    if chosen := os.environ.get("DPCOURSE_DATA"):
        return Path(chosen)
    if sys.platform == "emscripten" and _keeps(DRIVE / ".dpcourse"):
        return DRIVE / ".dpcourse"
    return Path(platformdirs.user_data_dir("dpcourse", appauthor=False))


@functools.cache
def _keeps(folder):
    """Return whether a file takes another's place in that folder, as it must where something is kept."""
    try:
        folder.mkdir(exist_ok=True)
        (folder / "tried").write_text("before", encoding="utf-8")
        write_atomically(folder / "tried", "after")
        return (folder / "tried").read_text(encoding="utf-8") == "after"
    except OSError:
        return False


@contextlib.contextmanager
def replaced(file, mode=0o644) -> Iterator[BinaryIO]:
    """A stream of bytes that takes the file's place, with at most these permissions, when the block ends well.

    A reader, or a crash, finds the old content or the new one, never a part. Where the umask allows less, so be it.
    """
    temporary = file.parent / f".{file.name[:50]}.{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_atomically(file, text) -> None:
    """Write text, in UTF-8 and with its line ends as they are, so that the file is the old one or the new one."""
    with replaced(file) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def new_folder(folder, replaces=lambda folder: False) -> Iterator[Path]:
    """A folder to fill, made beside `folder`, that takes its place when the block ends well, and else is gone.

    replaces(folder) -> bool: whether what is there may go. Raises ValueError where a folder is in use.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise ValueError(say("{folder} is no folder: name a new one", folder=folder))
    if folder.exists() and any(folder.iterdir()) and not replaces(folder):
        raise ValueError(
            say("{folder} is not empty: name a new folder, so that nothing of what is there stays in it", folder=folder)
        )
    folder = folder.absolute()
    made, old = (folder.with_name(f".{folder.name}.{role}") for role in ("making", "old"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
    except (FileExistsError, NotADirectoryError):
        raise ValueError(
            say("{folder} cannot be made, since a file is in its way: name another new folder", folder=folder)
        ) from None
    except OSError as error:
        told = say(
            "{folder} cannot be made ({why}): name a new folder where you may write", folder=folder, why=error.strerror
        )
        raise ValueError(told) from None
    try:
        yield made
    except BaseException:
        shutil.rmtree(made)
        raise
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
