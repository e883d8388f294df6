"""The marks as CSV files: plain, and as Canvas and Moodle import them.

A submission that could not be graded has an empty score: no import makes a zero of it.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpcourse import course
from dpcourse.files import write_atomically
from dpcourse.grading.collect import identifier
from dpcourse.grading.result import Result
from dpcourse.grading.store import Row

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_COLUMNS = ("Identifier", "Full name", "Status", "Grade", "Maximum Grade", "Last modified (grade)")


def write(rows: Sequence[Row], out: Path) -> None:
    """Write gradebook.csv, gradebook-canvas.csv, and gradebook-moodle-NN.csv for each lesson, into a folder."""
    lessons = sorted({row.lesson for row in rows})
    write_atomically(out / "gradebook.csv", plain(rows))
    write_atomically(out / "gradebook-canvas.csv", canvas(rows, lessons))
    for lesson in lessons:
        file = out / f"gradebook-moodle-{lesson:02}.csv"
        write_atomically(file, moodle([row for row in rows if row.lesson == lesson]))


def plain(rows: Iterable[Row]) -> str:
    """One line for each student and lesson."""
    lines: list[tuple] = [("student", "lesson", "status", "score", "points", "notes")]
    for row in rows:
        result = row.result
        notes = "; ".join(result.notes)
        lines.append((row.student, title(row.lesson), result.status, score(result), result.points, notes))
    return as_csv(lines)


def canvas(rows: Iterable[Row], lessons: Sequence[int]) -> str:
    """One line for each student, one column for each lesson; the numbers are those in the names of Canvas's files."""
    points = {row.lesson: row.result.points for row in rows}
    lines: list[tuple] = [
        (*CANVAS_COLUMNS, *map(title, lessons)),
        ("    Points Possible", "", "", "", "", *(points[lesson] for lesson in lessons)),
    ]
    scores: dict[str, dict[int, str]] = {}
    for row in rows:
        scores.setdefault(row.student, {})[row.lesson] = score(row.result)
    for student, found in scores.items():
        lines.append((*identifier(student), "", "", "", *(found.get(lesson, "") for lesson in lessons)))
    return as_csv(lines)


def moodle(rows: Iterable[Row]) -> str:
    """The offline grading worksheet of one assignment; the numbers are those in the names of Moodle's folders."""
    lines: list[tuple] = [MOODLE_COLUMNS]
    for row in rows:
        name, number = identifier(row.student)
        known = f"Participant {number}" if number else ""
        lines.append((known, name, row.result.status, score(row.result), row.result.points, "-"))
    return as_csv(lines)


def title(lesson: int) -> str:
    """A lesson's number and title, as the name of its column."""
    return f"{lesson:02} {course.lesson(lesson).title}"


def score(result: Result) -> str:
    """The score as text, empty where there is none."""
    return "" if result.score is None else f"{result.score:g}"


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """CSV in which no cell is a formula for a spreadsheet."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[harmless(cell) for cell in line] for line in lines])
    return stream.getvalue()


def harmless(cell: object) -> object:
    """The cell; with an apostrophe before it where a spreadsheet would take it for a formula.

    >>> harmless("=1+1"), harmless("Kim"), harmless(3)
    ("'=1+1", 'Kim', 3)
    """
    return (
        f"'{cell}"
        if isinstance(cell, str) and cell != "-" and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        else cell
    )
