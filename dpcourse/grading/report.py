"""What people read: a page of feedback for each student, a report on the class, and why a mark is what it is.

Everything that came from a student is escaped, and the pages may neither run scripts nor load anything.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from dpcourse import course
from dpcourse.engine import BLANK, ERROR, RIGHT, WRONG, Exercise
from dpcourse.engine.display import as_code
from dpcourse.files import write_atomically
from dpcourse.grading.gradebook import score, title
from dpcourse.grading.result import FLAGGED, GRADED, INFRASTRUCTURE, LIMIT, UNREADABLE
from dpcourse.grading.similar import identical, near_identical
from dpcourse.grading.store import Row
from dpcourse.grading.submission import cases_of, seed_of

MEANING = {
    GRADED: "graded",
    FLAGGED: "graded, but provided cells were changed or a notebook is there twice",
    LIMIT: "graded without the parts that a limit stopped",
    UNREADABLE: "not graded: the file cannot be read",
    INFRASTRUCTURE: "not graded, through no fault of the student's: run the command again",
}

_pages = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
_pages.filters["code"] = lambda text: Markup(as_code(text))
_pages.filters["number"] = lambda number: f"{number:g}"
_pages.globals.update(title=title, score=score, meaning=MEANING, find=course.find)


def write(rows: Sequence[Row], out: Path) -> None:
    """Write report.html and feedback/ into a folder."""
    (out / "feedback").mkdir(exist_ok=True)
    of_student: dict[str, list[Row]] = {}
    for row in rows:
        of_student.setdefault(row.student, []).append(row)
    for student, mine in of_student.items():
        page, text = out / "feedback" / page_name(student), feedback(student, mine)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            write_atomically(page, text)
    write_atomically(out / "report.html", class_report(rows))


def page_name(student: str) -> str:
    """The name of a student's page: readable, harmless, and no other student's.

    >>> page_name("../Kim, Lee")
    'Kim-Lee-7d554cca.html'
    """
    readable = re.sub(r"[\W_]+", "-", student)[:60].strip("-")
    return f"{readable}-{hashlib.sha256(student.encode()).hexdigest()[:8]}.html"


def feedback(student: str, rows: Sequence[Row]) -> str:
    """The page for one student."""
    return _pages.get_template("feedback.html").render(student=student, rows=rows)


def class_report(rows: Sequence[Row]) -> str:
    """The page for the instructor."""
    return _pages.get_template("report.html").render(
        statuses=Counter(row.result.status for row in rows),
        rows=rows,
        to_look_at=[row for row in rows if row.result.status != GRADED],
        lessons=[_of_lesson(number, rows) for number in sorted({row.lesson for row in rows})],
        page_name=page_name,
    )


def _of_lesson(number, rows):
    rows = [row for row in rows if row.lesson == number]
    scores = [row.result.score for row in rows if row.result.score is not None]
    code = {row.student: row.result.shingles for row in rows}
    return {
        "title": title(number),
        "points": rows[0].result.points,
        "scores": scores,
        "exercises": [_of_exercise(exercise, rows) for exercise in course.lesson(number).exercises],
        "identical": identical(code),
        "alike": near_identical(code),
    }


def _of_exercise(exercise, rows):
    """How often an exercise was right and wrong, and which misconception how often."""
    marks = [mark for row in rows for mark in row.result.exercises if mark.id == exercise.id]
    slips = Counter(mark.misconception for mark in marks if mark.misconception)
    messages = {slip.name: slip.message for slip in exercise.misconceptions}
    return {
        "id": exercise.id,
        "title": exercise.title,
        "of": len(marks),
        "states": {state: sum(mark.state == state for mark in marks) for state in (RIGHT, WRONG, ERROR, BLANK)},
        "slips": [(name, count, messages.get(name, "")) for name, count in slips.most_common()],
    }


def summary(rows: Sequence[Row]) -> tuple[str, dict]:
    """One line on a class, and the same as a dict."""
    statuses = Counter(row.result.status for row in rows)
    scores = [row.result.score / row.result.points for row in rows if row.result.score is not None]
    told = {"submissions": len(rows), "statuses": dict(sorted(statuses.items()))}
    told["mean"] = round(sum(scores) / len(scores), 4) if scores else None
    line = f"{len(rows)} submissions: " + ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    return line + (f"; mean {told['mean']:.0%} of the points." if scores else "."), told


def explanation(row: Row, exercise: Exercise, secret: bytes) -> Iterator[str]:
    """Why the points of one exercise are what they are, line by line; for the instructor, not for the student."""
    result = row.result
    yield f"{row.student}, {title(row.lesson)}: {result.status}, {score(result) or 'no score'} of {result.points}"
    yield f"file: {row.file}"
    yield from (f"note: {note}" for note in result.notes)
    mark = next((mark for mark in result.exercises if mark.id == exercise.id), None)
    if mark is None:
        yield f"{exercise.id}: not judged"
        return
    yield f"{exercise.id} {exercise.title}: {mark.state}, {mark.points:g} of {exercise.points} points"
    if mark.override:
        yield f"set by hand: {mark.override}"
    yield mark.message
    if mark.misconception:
        yield f"misconception: {mark.misconception}"
    yield from mark.observed
    if mark.printed:
        yield f"printed: {mark.printed}"
    yield from result.errors
    cases = cases_of(exercise, seed_of(secret, row.digest))
    yield f"asked: {len(cases)} inputs, such as {exercise.call(cases[0])}"
