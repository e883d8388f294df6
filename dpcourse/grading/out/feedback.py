"""A page of feedback for each student, for somebody who reads it on a page, far from the notebook.

First comes what is right. A mark says its points, what it shows, and the student's own case; what is right on an input
is told nobody. A zero that is the student's is not said to be the grader's, nor the other way round.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from unicodedata import normalize

from dpcourse.base.files import write_atomically
from dpcourse.base.languages import catalogued, chosen, say, sentences, speaking, to_say
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG
from dpcourse.checking.exercise import UNKNOWN
from dpcourse.grading import collect
from dpcourse.grading.keep.store import Row, spoken
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import pages
from dpcourse.grading.out.gradebook import exercise_of, in_points
from dpcourse.grading.out.known_as import name_of
from dpcourse.grading.out.tables import number
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, UNJUDGED, UNREADABLE, Mark, in_english, is_ours

FOLDER = "feedback"
NOT_GRADED_YET = to_say("not graded yet")
NOT_RIGHT = to_say("The result is not right. Here is an input on which it shows; work it out by hand, and compare.")
SAYS = {
    RIGHT: to_say("right"),
    WRONG: to_say("not right"),
    ERROR: to_say("does not work"),
    BLANK: to_say("not written"),
    UNJUDGED: to_say("set by hand"),
}
LOOKS = {
    RIGHT: ("right", "✓"),
    WRONG: ("wrong", "✗"),
    ERROR: ("error", "!"),
    BLANK: ("blank", "○"),
    UNJUDGED: ("blank", "…"),
}


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
    """The page for one student, in their language."""
    with speaking(language_of(rows, settings)):
        return _page(student, list(map(spoken, rows)), settings)


def language_of(rows: Sequence[Row], settings: Settings) -> str:
    """The language in which a student is told of rows of theirs.

    As the roster says, else that of the newest lesson that they handed in, else the class's: that of the settings, or the
    one that is spoken.
    """
    told = [row.language for row in rows if row.language in catalogued()]
    return told[-1] if told else settings.language or chosen()


def _page(student, rows, settings):
    return pages.render(
        "feedback.html",
        student=name_of(rows[0]),
        lessons=[_of_lesson(row) for row in rows],
        contact=settings.contact or say("your instructor"),
        judged=any(row.result.exercises for row in rows),
        hint=next((mark.number for row in rows for mark in row.result.exercises if _has_hints(mark.id)), None),
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
        "others": [(mark, *_looks(mark)) for mark in marks if mark not in right],
        "in_words": in_words,
    }


def _looks(mark):
    look, sign = LOOKS.get(mark.state, LOOKS[ERROR])
    return look, sign, worth_in_words(mark)


def state_in_words(mark: Mark) -> str:
    """The state of a mark as a few words for the student."""
    if is_ours(mark):
        return say(NOT_GRADED_YET)
    return say(SAYS.get(mark.state, mark.state))


def worth_in_words(mark: Mark) -> str:
    """The state of a mark, and its points."""
    state = state_in_words(mark)
    if is_ours(mark):
        return state
    if not mark.out_of:
        return say("{state}, does not count", state=state)
    return say("{state}, {score} of {points}", state=state, score=number(mark.points), points=in_points(mark.out_of))


def is_untouched(mark: Mark) -> bool:
    """Whether an exercise is as it was given out; where no cell defines its function it is not."""
    exercise = exercise_of(mark.id) if mark.state == BLANK else None
    return exercise is not None and in_english(mark.message) == in_english(exercise.blank().message)


def in_words(mark: Mark) -> str:
    """What a mark shows, for somebody who reads it on a page."""
    if mark.state == RIGHT:
        return ""
    if is_untouched(mark) and (exercise := exercise_of(mark.id)):
        return say("`{function}` is as it was given out: there is no answer in it yet.", function=exercise.function)
    return say(NOT_RIGHT) if in_english(mark.message) == UNKNOWN else mark.message


def status_in_words(row: Row) -> list[str]:
    """Sentences on the submission as a whole."""
    result = row.result
    if result.status == UNREADABLE:
        reasons = collect.in_a_row(result.notes)
        return [
            say(
                "Your file `{file}` cannot be read: {reasons}. Please hand it in again.", file=row.file, reasons=reasons
            )
        ]
    if result.status == INFRASTRUCTURE and result.exercises:
        return [say("A part of this could not be graded, through no fault of yours. It will be graded again.")]
    if result.status == INFRASTRUCTURE:
        return [say("This could not be graded, through no fault of yours. It will be graded again.")]
    if result.status == MISSING:
        return [say("You handed in nothing for this lesson.")]
    return [pages.sentence(note) for note in result.notes]


def time_in_words(row: Row) -> list[str]:
    """Sentences on the deadline, and on what it took."""
    found: list[str] = []
    if row.due and row.submitted:
        times = {"due": pages.moment(row.due), "submitted": pages.moment(row.submitted, row.due)}
        if row.extended:
            found.append(say("Your deadline, later than for others: {due}. Handed in: {submitted}.", **times))
        else:
            found.append(say("Your deadline: {due}. Handed in: {submitted}.", **times))
    if row.late:
        taken = [say("That is {points} less.", points=in_points(row.late.points))] if row.late.points else []
        found.append(sentences([pages.sentence(row.late.says), *taken]))
    if row.bonus:
        bonus = say("Bonus: {points}.", points=in_points(row.bonus.points or 0))
        found.append(sentences([bonus, pages.sentence(row.bonus.reason)]))
    return found
