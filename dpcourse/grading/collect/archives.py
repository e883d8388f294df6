"""Look into zip archives without unpacking them: a file in one is named by its place, and read from there.

What an archive says of its files is not believed: names lead nowhere, sizes are bounded before a byte is unpacked.
"""

import contextlib
import functools
import io
import itertools
import mmap
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dpcourse.base.languages import say, to_say
from dpcourse.grading.collect import encodings
from dpcourse.grading.collect.reading import LARGEST_FILE, Unreadable, bearable, opened

MOST_FILES = 20_000
MOST_TIMES, SUSPICIOUS = 200, 16 * 2**20
ENTRY = b"PK\1\2"  # what every file in the directory of a zip begins with
BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, OverflowError, RuntimeError, struct.error)
DAMAGED = to_say("it is no zip archive, or a damaged one")
TOO_MANY = to_say("there are more than {most:,} files in it: where it is a class, grade it by itself")
UNPACK_IT = to_say("unpack it, and put the folder in its place")
OTHERS = (".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz")


@dataclass(frozen=True)
class Member:
    """A file or folder in an archive: its place there, the names of its path, when it was changed, what is wrong."""

    place: int
    parts: tuple[str, ...]
    folder: bool
    size: int
    time: datetime | None
    problem: str | None


def is_archive(name: str | os.PathLike) -> bool:
    """Whether a file of that name is opened as an archive."""
    return os.fspath(name).lower().endswith(".zip")


def members(path: Path, places: Sequence[int] = (), is_class: bool = False) -> list[Member]:
    """What is in an archive; places: where in the archive `path` it lies, if it is in one. Raises Unreadable.

    is_class: whether it is a platform's export of a class, and no student's own, which may hold MOST_FILES.
    """
    if not places and not is_class:
        _bounded(path)
    archive = _archive(path, tuple(places))
    return [_member(place, info, archive.encoding) for place, info in enumerate(archive.infolist())]


def content(path: Path, places: Sequence[int]) -> bytes:
    """The bytes of the file at a place in an archive, or in one that lies in it, and so on. Raises Unreadable."""
    *outer, place = places
    archive = _archive(path, tuple(outer))
    try:
        info = archive.infolist()[place]
    except IndexError:
        raise Unreadable(say("it is no longer in the archive")) from None
    problem = _member(place, info, archive.encoding).problem
    if problem:
        raise Unreadable(problem)
    bearable(info.file_size)
    try:
        with archive.open(info) as stream:
            return stream.read(LARGEST_FILE)
    except BROKEN:
        raise Unreadable(say(DAMAGED)) from None


def _archive(path, places):
    with opened(path) as stream:
        about = os.fstat(stream.fileno())
    version = about.st_ino, about.st_mtime_ns, about.st_size
    return _inside(path, places, *version) if places else _on_disk(path, *version)


def _bounded(path):
    """Raise Unreadable where an archive on disk has too large a directory; it is counted, and not read."""
    with opened(path) as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            found = re.finditer(re.escape(ENTRY), mapped)
            many = next(itertools.islice(found, MOST_FILES, None), None) is not None
            del found
    if many:
        raise Unreadable(say(TOO_MANY, most=MOST_FILES))


@functools.lru_cache(maxsize=1)
def _on_disk(path, *version):
    return _zipfile(opened(path))


@functools.lru_cache(maxsize=1)
def _inside(path, places, *version):
    """One that lies in another: unpacked once for all files that are read from it in a row."""
    return _of_bytes(content(path, places))


def _of_bytes(archive):
    if archive.count(ENTRY) > MOST_FILES:
        raise Unreadable(say(TOO_MANY, most=MOST_FILES))
    return _zipfile(io.BytesIO(archive))


class _Zip(zipfile.ZipFile):
    """An archive, and the encoding of the names that do not say theirs."""

    @functools.cached_property
    def encoding(self) -> str:
        """See encodings.of_names."""
        return encodings.of_names([info.filename.encode("cp437") for info in self.infolist() if not _says_utf8(info)])


def _says_utf8(info):
    return bool(info.flag_bits & 0x800)


def _zipfile(stream):
    try:
        return _Zip(stream)
    except BROKEN:
        raise Unreadable(say(DAMAGED)) from None


def _member(place, info, encoding):
    name = _name(info, encoding)
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    kind = stat.S_IFMT(info.external_attr >> 16)
    problem = None
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts or not parts:
        problem = say("its name leads out of the archive")
    elif kind == stat.S_IFLNK:
        problem = say("it is a link")
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        problem = say("it is no ordinary file")
    elif info.flag_bits & 1:
        problem = say("it is encrypted: {advice}", advice=say(UNPACK_IT))
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = say("it is packed in a way that is not read: {advice}", advice=say(UNPACK_IT))
    elif info.file_size > max(SUSPICIOUS, MOST_TIMES * info.compress_size):
        problem = say(
            "unpacked it would have {size:,.0f} MiB, {times} times its size or more",
            size=info.file_size / 2**20,
            times=MOST_TIMES,
        )
    return Member(place, parts or ("?",), info.is_dir(), info.file_size, _time(info), problem)


def _name(info, encoding):
    """The name, whatever the archive says of its encoding: macOS says nothing, and Windows writes its own."""
    name = info.filename
    if not _says_utf8(info):
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode(encoding)
    return name.replace("\\", "/")


def _time(info):
    """When it was changed, by the clock of this machine; archives do not say which clock is theirs."""
    try:
        time = datetime(*info.date_time).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return time if time.year > 1980 else None
