"""Bytes and names from outside, read without trusting either."""

import functools
import hashlib
import json
import os
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from dpcourse.base.languages import listed, say

LARGEST_FILE = 96 * 2**20
LONGEST_NAME = 100  # bytes of a file's name that we make of a student's, before the digest
DIGEST = 16  # hexadecimal digits: nobody finds another name with the same ones
JOINERS = "\u200c\u200d"  # Persian and Indic names are written with them


class Unreadable(Exception):
    """A submission that cannot be read; says why."""

    @property
    def why(self) -> str:
        """What was said, in whatever language."""
        return self.args[0]


class Gone(Unreadable):
    """A submission that is no longer what it was when it was found; says why."""


def opened(file: Path) -> BinaryIO:
    """An ordinary file, open for reading; links are not followed. Raises Unreadable."""
    if os.path.islink(file):
        raise Unreadable(say("it is a link"))
    if os.path.isdir(file):
        raise Unreadable(say("there is no notebook in the folder"))
    try:
        stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise Unreadable(os.strerror(error.errno or 0)) from None
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise Unreadable(say("it is no ordinary file"))
    return stream


def read(file: Path) -> bytes:
    """The bytes of an ordinary file of bearable size. Raises Unreadable."""
    with opened(file) as stream:
        bearable(os.fstat(stream.fileno()).st_size)
        try:
            return stream.read(LARGEST_FILE)
        except OSError as error:
            raise Unreadable(os.strerror(error.errno or 0)) from None


def bearable(size: int) -> None:
    """Raise Unreadable where a file of that many bytes is not read."""
    if size > LARGEST_FILE:
        raise Unreadable(
            say(
                "it has {size:.0f} MiB; at most {most:.0f} are read: open it in JupyterLab, choose Edit, Clear Outputs of "
                "All Cells, and save it",
                size=size / 2**20,
                most=LARGEST_FILE / 2**20,
            )
        )


def decoded(content: bytes) -> str:
    """Text in UTF-8, UTF-16 or UTF-32, with or without a mark of that at its beginning; else taken as Latin-1.

    >>> decoded("é".encode()), decoded("é".encode("latin-1")), decoded("é,1".encode("utf-16"))
    ('é', 'é', 'é,1')
    """
    try:
        return content.decode(json.detect_encoding(content), "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def shown(name: str) -> str:
    """A name as text that can be printed; a sign that cannot be, or is no text, stands as an escape.

    Two names that differ stay different, but for the ways to write the same letter.

    >>> print(shown("a\\u202eb"), shown("e\\u0301") == "\\xe9")
    a\\u202eb True
    """
    text = os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    text = unicodedata.normalize("NFC", text)
    return "".join(c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text)


def some(names: Iterable[str], most: int = 5) -> str:
    """A few of many names, and how many more there are; divided so that "Lee, Kim" is one.

    >>> some(["ann", "bob"]), some("abcdefgh")
    ('ann, bob', 'a, b, c, d, e and 3 more')
    """
    names = list(names)
    first = in_a_row(names[:most]) if any("," in name for name in names) else listed(names[:most], "{first}, {then}")
    return say("{names} and {count:,} more", names=first, count=len(names) - most) if len(names) > most else first


def in_a_row(texts: Iterable[str]) -> str:
    """Texts, divided so that each may hold commas.

    >>> in_a_row(["one, two", "three"])
    'one, two; three'
    """
    texts = list(texts)
    return functools.reduce(lambda first, then: say("{first}; {then}", first=first, then=then), texts) if texts else ""


def file_name(student: str) -> str:
    """A name, without an ending, for a file of a student's: readable, harmless on every system, no other student's.

    At most 120 bytes.

    >>> file_name("../Kim, Lee"), file_name("CON")
    ('Kim-Lee-7d554cca604834ea', 'CON-a3dbc4b644a9a2c5')
    """
    student = unicodedata.normalize("NFC", student)
    readable = "-".join(words(student)).encode("utf-8", "replace")[:LONGEST_NAME].decode("utf-8", "ignore")
    return f"{readable}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:DIGEST]}".removeprefix("-")


def words(text: str) -> list[str]:
    """The words of a text: its letters and digits, with the signs that belong to a letter, as vowels do in Hindi.

    >>> words("Lee, Kim_2"), words("\u0926\u093f\u0928") == ["\u0926\u093f\u0928"]
    (['Lee', 'Kim', '2'], True)
    """
    spaced = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text)
    return [word for word in spaced.split() if any(map(str.isalnum, word))]
