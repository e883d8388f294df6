"""Find the submissions in a folder, as an LMS exports it, and read them without trusting a byte.

Who handed in is told by the name of the file or folder that the LMS gave, never by anything inside a notebook.
"""

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course

LARGEST_FILE = 64 * 2**20
MOST_CELLS, MOST_CODE = 2_000, 500_000

CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<number>\d+)_\d+_.+")
MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?")


class Unreadable(Exception):
    """A submission that cannot be read; says why."""


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one lesson.

    file: its name, to be shown; path: where it is. digest: of its content. fault: why it cannot be read, where it
    cannot. also: other notebooks of the same lesson.
    """

    student: str
    lesson: int
    file: str
    path: Path
    digest: str
    fault: str | None = None
    also: tuple[str, ...] = ()

    def content(self) -> bytes:
        """The bytes that the digest is of. Raises Unreadable where they are no longer there."""
        content = read(self.path)
        if _digest(content) != self.digest:
            raise Unreadable("it changes while it is being graded")
        return content


# ---- from a folder to submissions


def submissions(folder: Path | str, lesson: int | None = None) -> Iterator[Submission]:
    """All submissions below a folder, by student and lesson; at most one for each of both.

    lesson: the number of the lesson that all of them are; None: the one that the file's name or its functions tell.
    Raises ValueError where there is none.
    """
    found: dict[str, list[_File]] = {}
    for student, file in notebooks(Path(folder)):
        found.setdefault(student, []).append(_looked_at(file, lesson))
    if not found:
        raise ValueError(f"there is no notebook (.ipynb) in {folder}")
    known = Counter(each.lesson for files in found.values() for each in files if each.lesson is not None)
    usual = known.most_common(1)[0][0] if known else 0
    for student in sorted(found):
        of_lesson: dict[int, list[_File]] = {}
        for each in sorted(found[student], key=_preference):
            of_lesson.setdefault(usual if each.lesson is None else each.lesson, []).append(each)
        for number, [first, *others] in sorted(of_lesson.items()):
            also = tuple(_relative(other.path, folder) for other in others)
            yield Submission(
                student, number, _relative(first.path, folder), first.path, first.digest, first.fault, also
            )


@dataclass(frozen=True)
class _File:
    """A file as it was found; its lesson where that could be told."""

    path: Path
    lesson: int | None
    digest: str
    fault: str | None


def _looked_at(path, lesson):
    try:
        content, fault = read(path), None
    except Unreadable as error:
        content, fault = b"", str(error)
    return _File(path, lesson_of(path, content) if lesson is None else lesson, _digest(content), fault)


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def notebooks(folder: Path) -> list[tuple[str, Path]]:
    """Pairs (student, file) of all notebooks below a folder; for a student who has none, a folder of theirs.

    Links are not followed.
    """
    found: list[tuple[str, Path]] = []
    empty: dict[str, Path] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name)):
        if entry.name.startswith((".", "__")):
            continue
        if entry.is_dir():
            student = student_of(entry.name)
            found += [(student, file) for file in _below(entry.path)]
            empty.setdefault(student, Path(entry.path))
        elif entry.name.lower().endswith(".ipynb"):
            found.append((student_of(entry.name[: -len(".ipynb")]), Path(entry.path)))
    with_notebooks = {student for student, _ in found}
    return found + [(student, folder) for student, folder in empty.items() if student not in with_notebooks]


def _below(folder):
    if os.path.islink(folder):
        return
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(files):
            if name.lower().endswith(".ipynb") and name[0] != "." and name != f"{course.GLOSSARY}.ipynb":
                yield Path(path, name)


def student_of(name: str) -> str:
    """Who handed in, from the name that an LMS gave to a file (without .ipynb) or a folder.

    >>> student_of("leekim_1234_98765_01-composition"), student_of("Kim Lee_1234_assignsubmission_file")
    ('leekim_1234', 'Kim Lee_1234')
    """
    match = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    return _text(f"{match['name']}_{match['number']}" if match else name)


def identifier(student: str) -> tuple[str, str]:
    """(name, number) as Canvas and Moodle gave them; no number where there is none.

    >>> identifier("leekim_1234"), identifier("Kim Lee")
    (('leekim', '1234'), ('Kim Lee', ''))
    """
    name, underline, number = student.rpartition("_")
    return (name, number) if underline and number.isdigit() else (student, "")


def lesson_of(file: Path, content: bytes) -> int | None:
    """The number of the lesson that a notebook is: by its name, or by the exercises it speaks of; None if neither tells."""
    numbers = range(len(course.lessons()))
    for number, name in enumerate(lesson.name for lesson in course.lessons()):
        if name in file.name:
            return number
    checks = Counter(match[1] for match in re.finditer(rb'check\(\\?[\'"](\d+)\.\d+\\?[\'"]', content))
    told = {number: checks[str(number).encode()] for number in numbers}
    if any(told.values()):
        return max(told, key=told.__getitem__)
    defined = {match[1].decode() for match in re.finditer(rb"def (\w{1,100})\(", content)}
    told = {n: len(defined & {exercise.function for exercise in course.lesson(n).exercises}) for n in numbers}
    return max(told, key=told.__getitem__) if any(told.values()) else None


def _preference(file):
    """Of several notebooks of one lesson the one with the plainest name counts."""
    return len(file.path.parts), len(file.path.name), os.fsencode(file.path)


def _relative(file, folder):
    return _text(os.path.relpath(file, folder))


def _text(name):
    """A name as text that can be printed; what is not text stays apart from everything else, as an escape."""
    name = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


# ---- from a file to cells


def read(file: Path) -> bytes:
    """The bytes of an ordinary file of bearable size. Raises Unreadable."""
    if os.path.islink(file):
        raise Unreadable("it is a link")
    if os.path.isdir(file):
        raise Unreadable("there is no notebook in the folder")
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as stream:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise Unreadable("it is no ordinary file")
            if about.st_size > LARGEST_FILE:
                raise Unreadable(f"it has {about.st_size / 2**20:.0f} MiB; at most {LARGEST_FILE / 2**20:.0f} are read")
            return stream.read(LARGEST_FILE)
    except OSError as error:
        raise Unreadable(os.strerror(error.errno or 0)) from None


@dataclass(frozen=True)
class Cell:
    """A code cell: its number in the notebook, its id, its code."""

    number: int
    id: str
    code: str


def code_cells(content: bytes) -> list[Cell]:
    """The code cells of a notebook. Raises Unreadable."""
    if not content.strip():
        raise Unreadable("it is empty")
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        raise Unreadable("it is not a notebook: not JSON") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("it is not a notebook of format 4: there are no cells")
    if notebook.get("nbformat") != 4:
        raise Unreadable("it is a notebook of another format than 4")
    if len(notebook["cells"]) > MOST_CELLS:
        raise Unreadable(f"it has {len(notebook['cells'])} cells; at most {MOST_CELLS} are read")
    cells = [
        Cell(number, cell["id"] if isinstance(cell.get("id"), str) else "", _source(cell))
        for number, cell in enumerate(notebook["cells"], 1)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    if sum(len(cell.code) for cell in cells) > MOST_CODE:
        raise Unreadable(f"it has more than {MOST_CODE:,} characters of code")
    return cells


def _source(cell):
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise Unreadable("it is not a notebook: a cell's source is no text")
    return "".join(lines).encode("utf-8", "replace").decode()
