"""A page of feedback for each student, for somebody who reads it on a page, far from the notebook.

First comes what is right. A mark says its points, what it shows, and the student's own case; what is right on an input
is told nobody. A zero that is the student's is not said to be the grader's, nor the other way round.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from unicodedata import normalize

from dpcourse.engine import BLANK, ERROR, RIGHT, WRONG
from dpcourse.engine.exercise import UNKNOWN
from dpcourse.files import write_atomically
from dpcourse.grading import collect
from dpcourse.grading.keep.store import Row
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.outputs import pages
from dpcourse.grading.outputs.gradebook import exercise_of
from dpcourse.grading.outputs.platforms import name_of
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, UNREADABLE, Mark, Result

FOLDER = "feedback"
NOT_GRADED_YET = "not graded yet"
NOT_RIGHT = "The result is not right. Here is an input on which it shows; work it out by hand, and compare."
SAYS = {RIGHT: "right", WRONG: "not right", ERROR: "does not work", BLANK: "not written"}
LOOKS = {RIGHT: ("right", "✓"), WRONG: ("wrong", "✗"), ERROR: ("error", "!"), BLANK: ("blank", "○")}


def write(rows: Iterable[Row], out: Path, settings: Settings) -> None:
    """Write feedback/ into a folder, with a page for each student who has anything to read, and no other page."""
    folder = out / FOLDER
    folder.mkdir(exist_ok=True)
    of_student: dict[str, list[Row]] = {}
    for row in rows:
        if has_feedback(row):
            of_student.setdefault(row.student, []).append(row)
    for student, mine in of_student.items():
        file, text = folder / page_name(student), page(student, mine, settings)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            write_atomically(file, text)
    wanted = set(map(page_name, of_student))
    for file in folder.glob("*.html"):
        if normalize("NFC", file.name) not in wanted:  # a Mac may give names back otherwise written
            file.unlink()


def has_feedback(row: Row) -> bool:
    """Whether there is anything to tell a student of a lesson."""
    return row.result.status != MISSING or row.result.score is not None


def page_name(student: str) -> str:
    """The name of a student's page: readable, harmless, and no other student's."""
    return f"{collect.file_name(student)}.html"


def page(student: str, rows: Sequence[Row], settings: Settings) -> str:
    """The page for one student."""
    return pages.render(
        "feedback.html",
        student=name_of(rows[0]),
        lessons=[_of_lesson(row) for row in rows],
        contact=settings.contact or "your instructor",
        judged=any(row.result.exercises for row in rows),
        hint=next((mark.id for row in rows for mark in row.result.exercises if _has_hints(mark.id)), None),
    )


def _has_hints(id):
    """Whether a student can ask for hints: of what is graded only, there are none but those that are given out."""
    exercise = exercise_of(id)
    return exercise is not None and bool(exercise.hints) and (exercise.hints_too or not exercise.graded_only)


def _of_lesson(row):
    """What the page says of one lesson."""
    marks = row.result.exercises
    right = [mark for mark in marks if mark.state == RIGHT and mark.id not in row.by_hand]
    return {
        "row": row,
        "about": status_in_words(row),
        "time": time_in_words(row),
        "right": right,
        "others": [(mark, *_looks(mark, row.result)) for mark in marks if mark not in right],
        "in_words": in_words,
    }


def _looks(mark, result):
    look, sign = LOOKS.get(mark.state, LOOKS[ERROR])
    return look, sign, said(mark, result)


def said(mark: Mark, result: Result) -> str:
    """The state of a mark as a few words for the student."""
    if is_ours(mark, result):
        return NOT_GRADED_YET
    return SAYS.get(mark.state, mark.state)


def is_ours(mark: Mark, result: Result) -> bool:
    """Whether an exercise has no mark through a fault of the grader's."""
    return result.status == INFRASTRUCTURE and mark.state == ERROR and "no fault of yours" in mark.message


def in_words(mark: Mark) -> str:
    """What a mark shows, for somebody who reads it on a page."""
    if mark.state == RIGHT:
        return ""
    exercise = exercise_of(mark.id)
    if mark.state == BLANK and exercise and mark.message == exercise.blank().message:
        return f"`{exercise.function}` is as it was given out: there is no answer in it yet."
    return NOT_RIGHT if mark.message == UNKNOWN else mark.message


def status_in_words(row: Row) -> list[str]:
    """Sentences on the submission as a whole."""
    result = row.result
    if result.status == UNREADABLE:
        return [f"Your file `{row.file}` cannot be read: {'; '.join(result.notes)}. Please hand it in again."]
    if result.status == INFRASTRUCTURE:
        return ["This could not be graded, through no fault of yours. It will be graded again."]
    if result.status == MISSING:
        return ["You handed in nothing for this lesson."]
    return [pages.sentence(note) for note in result.notes]


def time_in_words(row: Row) -> list[str]:
    """Sentences on the deadline, and on what it took."""
    found = []
    if row.due and row.submitted:
        due, submitted = pages.moment(row.due), pages.moment(row.submitted, row.due)
        found.append(
            f"Your deadline{', later than for others' if row.extended else ''}: {due}. Handed in: {submitted}."
        )
    if row.late:
        taken = f" That is {pages.points(row.late.points)} less." if row.late.points else ""
        found.append(f"{pages.sentence(row.late.says)}{taken}")
    if row.bonus:
        found.append(f"Bonus: {pages.points(row.bonus.points or 0)}. {pages.sentence(row.bonus.reason)}")
    return found
