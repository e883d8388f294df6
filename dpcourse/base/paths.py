"""Files and folders that somebody names on a command line, and a sentence about one that is not there."""

import os
import stat
from pathlib import Path

from dpcourse.base.languages import say, to_say

FOLDER, NOT_A_FOLDER = to_say("{path} is a folder"), to_say("{path} is no folder")
NO_FILE, NO_FOLDER = to_say("there is no file {path}"), to_say("there is no folder {path}")


class NotThere(ValueError):
    """An option names a file or folder that is not there, or is of another kind; says so, and what would be right."""


def a_file(option: str, path: Path | None, holds: str) -> None:
    """Raise NotThere unless what an option names is a file that can be read; None is no name.

    holds: what such a file is, for the sentence, in English; it is said in the language chosen.

    >>> a_file("--seed-file", Path("nowhere"), "the file with the secret")
    Traceback (most recent call last):
    dpcourse.base.paths.NotThere: --seed-file: there is no file nowhere. Name the file with the secret.
    """
    if path is not None and (wrong := _wrong(path, stat.S_ISDIR, FOLDER, NO_FILE)):
        raise NotThere(say("{option}: {wrong}. Name {holds}.", option=option, wrong=wrong, holds=say(holds)))


def a_folder(option: str, path: Path | None, holds: str, may_be_new: bool = False) -> None:
    """Raise NotThere unless what an option names is a folder, or, where it may be new, nothing that is in the way."""
    if path is None or (may_be_new and not os.path.lexists(path)):
        return
    if wrong := _wrong(path, lambda mode: not stat.S_ISDIR(mode), NOT_A_FOLDER, NO_FOLDER):
        raise NotThere(say("{option}: {wrong}. Name {holds}.", option=option, wrong=wrong, holds=say(holds)))


def _wrong(path, is_other, other, nothing):
    """Return what is wrong with a path, in words; None where the path is of the right kind, and can be read."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            with open(path, "rb") as stream:
                stream.read(1)
    except (FileNotFoundError, NotADirectoryError):
        return say(nothing, path=path)
    except OSError as error:
        return in_words(OSError(error.errno, error.strerror, str(path)))
    if is_other(mode):
        return say(other, path=path)
    return None if os.access(path, os.R_OK) else say("{path}: it is not yours to read", path=path)


def in_words(error: OSError) -> str:
    """Return what an error of the system says, without its number.

    >>> in_words(FileNotFoundError(2, "No such file or directory", "nowhere"))
    'nowhere: no such file or directory'
    """
    if error.strerror is None:
        return str(error)
    told = error.strerror[:1].lower() + error.strerror[1:]
    return f"{error.filename}: {told}" if error.filename else told
