"""Find the submissions in a folder, as an LMS exports it, and read them without trusting a byte.

Who handed in is told by the name of the file or folder that the LMS gave, never by anything inside a notebook.
"""

import hashlib
import json
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from dpcourse import exercises

LARGEST_FILE = 64 * 2**20
MOST_CELLS, MOST_CODE = 2_000, 500_000

CANVAS = re.compile(r"(?P<student>[^_]+(?:_LATE)?_(?P<id>\d+))_\d+_.+")
MOODLE = re.compile(r"(?P<student>.+_(?P<id>\d+))_assignsubmission_(?:file|onlinetext)_?")


class Unreadable(Exception):
    """A submission that cannot be read; says why."""


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one lesson. `fault` says why it cannot be read, where it cannot."""

    student: str
    lesson: int
    file: str
    content: bytes
    fault: str | None = None
    also: tuple[str, ...] = ()

    @property
    def digest(self):
        """The hash that tells whether a submission has changed."""
        return hashlib.sha256(f"{self.lesson}\n{self.fault}\n".encode() + self.content).hexdigest()


# ---- from a folder to submissions


def submissions(folder, lesson=None):
    """All submissions below a folder, by student and lesson; at most one for each of both.

    lesson: the number of the lesson that all of them are; None: the one that the file's name or its functions tell.
    Raises ValueError where there is none.
    """
    found = {}
    for student, file in notebooks(Path(folder)):
        found.setdefault(student, []).append((file, *_content(file)))
    if not found:
        raise ValueError(f"there is no notebook (.ipynb) in {folder}")
    lessons = {file: lesson_of(file, content) if lesson is None else lesson for files in found.values() for file, content, _ in files}  # fmt: skip
    usual = Counter(number for number in lessons.values() if number is not None).most_common(1)
    unknown = usual[0][0] if usual else 0
    for student in sorted(found):
        of_lesson = {}
        for file, content, fault in sorted(found[student], key=_preference):
            number = unknown if lessons[file] is None else lessons[file]
            of_lesson.setdefault(number, []).append((_relative(file, folder), content, fault))
        for number, [(name, content, fault), *others] in sorted(of_lesson.items()):
            yield Submission(student, number, name, content, fault, tuple(other for other, _, _ in others))


def notebooks(folder):
    """Pairs (student, file) of all notebooks below a folder; for a student who has none, the folder itself.

    Links are not followed.
    """
    for entry in sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name)):
        if entry.name.startswith((".", "__")):
            continue
        if entry.is_dir():
            for file in list(_below(entry)) or [Path(entry.path)]:
                yield student_of(entry.name), file
        elif entry.name.lower().endswith(".ipynb"):
            yield student_of(entry.name[: -len(".ipynb")]), Path(entry.path)


def _below(folder):
    if folder.is_symlink():
        return
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        yield from (Path(path, name) for name in sorted(files) if name.lower().endswith(".ipynb") and name[0] != ".")


def student_of(name):
    """Who handed in, from the name that an LMS gave to a file (without .ipynb) or a folder.

    >>> student_of("leekim_1234_98765_01-composition"), student_of("Kim Lee_1234_assignsubmission_file")
    ('leekim_1234', 'Kim Lee_1234')
    """
    match = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    return _text(match["student"] if match else name).replace("_LATE_", "_")


def identifier(student):
    """(name, number) as Canvas and Moodle gave them; no number where there is none.

    >>> identifier("leekim_1234"), identifier("Kim Lee")
    (('leekim', '1234'), ('Kim Lee', ''))
    """
    name, underline, number = student.rpartition("_")
    return (name, number) if underline and number.isdigit() else (student, "")


def lesson_of(file, content):
    """The number of the lesson that a notebook is: by its name, or by the exercises it speaks of; None if neither tells."""
    numbers = range(len(exercises.LESSONS))
    for number in numbers:
        if f"{number:02}-{exercises.LESSONS[number].replace('_', '-')}" in file.name:
            return number
    checks = Counter(re.findall(rb'check\(\\?[\'"](\d+)\.\d+\\?[\'"]', content))
    told = {number: checks[str(number).encode()] for number in numbers}
    if any(told.values()):
        return max(told, key=told.get)
    defined = {name.decode() for name in re.findall(rb"def (\w+)\(", content)}
    told = {n: len(defined & {exercise.function for exercise in exercises.lesson(n).EXERCISES}) for n in numbers}
    return max(told, key=told.get) if any(told.values()) else None


def _preference(found):
    """Of several notebooks of one lesson the one with the plainest name counts."""
    file = found[0]
    return len(file.parts), len(file.name), os.fsencode(file)


def _relative(file, folder):
    return _text(os.path.relpath(file, folder))


def _text(name):
    """A name as text that can be printed; what is not text stays apart from everything else, as an escape."""
    name = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


# ---- from a file to cells


def _content(file):
    """(bytes, None), or (b"", why the file is not read)."""
    try:
        return read(file), None
    except Unreadable as error:
        return b"", str(error)


def read(file):
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
        raise Unreadable(os.strerror(error.errno)) from None


@dataclass(frozen=True)
class Cell:
    """A code cell: its number in the notebook, its id, its code."""

    number: int
    id: str
    code: str


def code_cells(content):
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
        raise Unreadable(f"it is not a notebook of format 4 but of {str(notebook.get('nbformat'))[:20]!r}")
    if len(notebook["cells"]) > MOST_CELLS:
        raise Unreadable(f"it has {len(notebook['cells'])} cells; at most {MOST_CELLS} are read")
    cells = [
        Cell(number, str(cell.get("id"))[:64], _source(cell))
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
