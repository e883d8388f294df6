"""Rows, as what writes tables and pages is given them."""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence

from dpcourse import course
from dpcourse.checking import BLANK, RIGHT, WRONG
from dpcourse.grading.keep.store import ByHand, Row
from dpcourse.grading.marks.marking import marked
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.result import Mark, Result, from_json, result, told

MOODLE = "{name}_{number}_assignsubmission_file/01-composition.ipynb"
CANVAS = "{name}_{number}_98765_01-composition.ipynb"

FULL = sum(exercise.points for exercise in course.lesson(1).exercises)  # of lesson 01
COMPOSED = course.number_of("composition/composed_delta")  # as a reader types it
POSTERIOR = course.number_of("composition/worst_posterior")


def graded(lesson: int = 1, states: Mapping[str, str] | None = None, status: str = "graded", **more) -> Result:
    """The Result of a submission whose exercises have these states (id -> state), and are right where none is said."""
    states = states or {}
    found = []
    for exercise in course.lesson(lesson).exercises:
        state = states.get(exercise.id, RIGHT)
        message = exercise.blank().message if state == BLANK else f"Message on {exercise.number}."
        found.append(Mark(exercise.id, state, exercise.points * (state == RIGHT), exercise.points, message))
    return result(lesson, status, marks=found, **more)


def untouched(lesson: int = 1) -> Result:
    """The Result of a lesson as it was given out."""
    return graded(lesson, {exercise.id: BLANK for exercise in course.lesson(lesson).exercises})


def with_slip(exercise_id: str, name: str) -> Result:
    """The Result of a submission that makes one misconception, and has the rest right."""
    exercise = course.find(exercise_id)
    slip = next(slip for slip in exercise.misconceptions if slip.name == name)
    mark = told(exercise.check(slip.code, rng=1))
    assert (mark.state, mark.misconception) == (WRONG, name)
    rest = [each for each in graded(exercise.lesson).exercises if each.id != exercise_id]
    return result(exercise.lesson, "graded", marks=sorted([mark, *rest], key=lambda each: each.number))


def a_row(
    student: str = "Kim Lee_77",
    result: Result | None = None,
    lesson: int = 1,
    file: str = "x.ipynb",
    settings: Settings = Settings(),  # noqa: B008
    by_hand: Sequence[ByHand] = (),
    **more,
) -> Row:
    """A row as it counts, whose result has been stored as text."""
    stored = from_json((graded(lesson) if result is None else result).as_json())
    row = Row(student, lesson, file, "", "grader", stored, **more)
    [found] = marked([row], settings, by_hand)
    return found


def damage(file, statement):
    """Change a database as no statement can, whatever its tables refuse: as a fault of the disk does."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        before = database.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
        database.execute("PRAGMA writable_schema=ON")
        database.execute(
            "UPDATE sqlite_master SET sql = replace(replace(sql, ' STRICT', ''), ' NOT NULL', '') WHERE type = 'table'"
        )
        database.execute("PRAGMA writable_schema=RESET")
        database.execute(statement)
        database.execute("PRAGMA writable_schema=ON")
        database.executemany("UPDATE sqlite_master SET sql = ? WHERE name = ?", before)
