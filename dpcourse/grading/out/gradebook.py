"""The marks as CSV files for people: a line for each student and lesson, and a line for each exercise.

A submission that could not be graded has an empty score. Both files begin with the mark by which Excel knows UTF-8.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from dpcourse import course
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import say, to_say
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG, Exercise
from dpcourse.grading.collect import in_a_row
from dpcourse.grading.keep.store import Row, spoken
from dpcourse.grading.marks.marking import exported, neat
from dpcourse.grading.out.tables import UTF8, as_csv, number, short
from dpcourse.grading.result import STATUSES, UNJUDGED, Result, is_ours

OF_LESSONS = (
    to_say("student"),
    to_say("lesson"),
    to_say("status"),
    to_say("score"),
    to_say("points"),
    to_say("score in the LMS"),
    to_say("points in the LMS"),
    to_say("late"),
    to_say("taken for lateness"),
    to_say("bonus"),
    to_say("notes"),
)
OF_EXERCISES = (
    to_say("student"),
    to_say("lesson"),
    to_say("exercise"),
    to_say("title"),
    to_say("state"),
    to_say("points"),
    to_say("of"),
    to_say("misconception"),
    to_say("override"),
    to_say("author"),
    to_say("late"),
)
STATES = {
    RIGHT: to_say("right"),
    WRONG: to_say("wrong"),
    ERROR: to_say("error"),
    BLANK: to_say("not attempted"),
    UNJUDGED: to_say("not judged"),
}


def write(rows: Iterable[Row], out: Path) -> None:
    """Write gradebook.csv and marks.csv into a folder."""
    rows = list(rows)
    write_atomically(out / "gradebook.csv", UTF8 + of_lessons(rows))
    write_atomically(out / "marks.csv", UTF8 + of_exercises(rows))


def of_lessons(rows: Iterable[Row]) -> str:
    """CSV with one line for each student and lesson."""
    lines: list[tuple] = [tuple(map(say, OF_LESSONS))]
    for row in map(spoken, rows):
        result = row.result
        notes = [*([say("no longer in the folder")] if row.stale else []), *result.notes]
        taken = neat(-row.late.points) if row.late else ""
        bonus = neat(row.bonus.points or 0) if row.bonus else ""
        about, status = short(in_a_row(notes)), say(STATUSES.get(result.status, result.status))
        own, there = (score(result), number(result.points)), map(_number, exported(row))
        lines.append((row.student, title(row.lesson), status, *own, *there, late(row), taken, bonus, about))
    return as_csv(lines)


def of_exercises(rows: Iterable[Row]) -> str:
    """CSV with one line for each student, lesson and exercise; one without an exercise where none was judged."""
    lines: list[tuple] = [tuple(map(say, OF_EXERCISES))]
    for row in map(spoken, rows):
        late = short(row.late.says) if row.late else ""
        for cells in _exercises(row):
            lines.append((row.student, title(row.lesson), *cells, late))
    return as_csv(lines)


def _exercises(row: Row) -> Iterator[tuple]:
    if not row.result.exercises:
        yield "", "", say(STATUSES.get(row.result.status, row.result.status)), "", "", "", "", ""
    for mark in row.result.exercises:
        hand = row.by_hand.get(mark.id)
        yield (
            mark.number,
            title_of(mark.id),
            say(STATES.get(mark.state, mark.state)),
            "" if is_ours(mark) else number(mark.points),
            number(mark.out_of),
            mark.misconception or "",
            short(hand.reason) if hand else "",
            hand.author if hand else "",
        )


def title(lesson: int) -> str:
    """A lesson's number and title, as the name of its column; the number alone where there is no such lesson.

    >>> title(1), title(98)
    ('01 Composition', '98')
    """
    known = {each.number: each.title for each in course.lessons()}
    number = f"{lesson:02}"
    return say("{number} {title}", number=number, title=say(known[lesson])) if lesson in known else number


def title_of(exercise_id: str) -> str:
    """An exercise's title; nothing where there is no such exercise any more."""
    found = exercise_of(exercise_id)
    return say(found.title) if found else ""


def exercise_of(exercise_id: str) -> Exercise | None:
    """The exercise of that id or number; None where there is none any more."""
    try:
        return course.find(exercise_id)
    except ValueError:
        return None


def score(result: Result) -> str:
    """The score as text, empty where there is none."""
    return _number(result.score)


def whole(row: Row) -> str:
    """The score of a lesson in words, with what an import says where that is on another scale; "" where there is none.

    This is said wherever people read a score, so that no two places say two numbers.
    """
    if row.result.score is None:
        return ""
    (there, most), told = exported(row), {"score": score(row.result), "points": in_points(row.result.points)}
    if row.maximum is None:
        return say("{score} of {points}", **told)
    return say(
        "{score} of {points}, that is {scaled} of {maximum}", scaled=_number(there), maximum=number(most), **told
    )


def in_points(value: float) -> str:
    """Points in words.

    >>> in_points(1), in_points(0.5)
    ('1 point', '0.5 points')
    """
    return say("1 point") if value == 1 else say("{number} points", number=number(value))


def late(row: Row) -> str:
    """By how much something came late, as far as that is known; "" where it was in time."""
    if row.late is None:
        return ""
    return say("{duration} late", duration=row.late.by) if row.late.by else say("late")


def _number(value):
    return "" if value is None else number(value)
