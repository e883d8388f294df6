"""What is known of one submission after grading: a Result, with a Mark for each exercise.

It is stored as JSON, whose keys are the fields here: old databases hold no others.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from dpcourse import course
from dpcourse.engine import Exercise, Verdict

GRADED, FLAGGED, LIMIT, UNREADABLE, INFRASTRUCTURE = "graded", "flagged", "limit", "unreadable", "infrastructure"
NOT_GRADED = (UNREADABLE, INFRASTRUCTURE)


@dataclass(frozen=True)
class Mark:
    """What one exercise got. `seen` is for the student, `observed`, with what is right, for the instructor.

    override: why an instructor has set the points by hand, where one has.
    """

    id: str
    state: str
    points: float
    out_of: int
    message: str
    misconception: str | None = None
    seen: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    printed: str = ""
    override: str | None = None


@dataclass(frozen=True)
class Result:
    """What one submission got: one of the five statuses, and a score, which is None where it was not graded.

    shingles: what `similar` compares.
    """

    status: str
    notes: tuple[str, ...]
    score: float | None
    points: int
    exercises: tuple[Mark, ...] = ()
    errors: tuple[str, ...] = ()
    shingles: tuple[str, ...] = ()

    def as_json(self) -> str:
        """The Result as text, for `from_json`."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Result:
    """The Result that was stored as this text.

    >>> from_json(failed(1, "no worker").as_json()) == failed(1, "no worker")
    True
    """
    stored = json.loads(text)
    marks = tuple(Mark(**_with_tuples(mark)) for mark in stored.pop("exercises"))
    return Result(exercises=marks, **_with_tuples(stored))


def _with_tuples(stored):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}


def told(verdict: Verdict) -> Mark:
    """A verdict as a Mark."""
    return Mark(
        id=verdict.exercise.id,
        state=verdict.state,
        points=verdict.points,
        out_of=verdict.exercise.points,
        message=verdict.message,
        misconception=verdict.misconception,
        seen=verdict.seen,
        observed=verdict.lines,
        printed=verdict.printed,
    )


def without_points(exercise: Exercise, state: str, message: str) -> Mark:
    """The Mark of an exercise that never came before its judge."""
    return Mark(exercise.id, state, 0, exercise.points, message)


def result(
    lesson: int,
    status: str,
    notes: Iterable[str] = (),
    marks: Iterable[Mark] = (),
    errors: Iterable[str] = (),
    shingles: Iterable[str] = (),
) -> Result:
    """The Result of a submission of a lesson; what was not graded has no score, and that is not 0."""
    marks = tuple(marks)
    points = sum(exercise.points for exercise in course.lesson(lesson).exercises)
    score = None if status in NOT_GRADED else total(marks)
    return Result(status, tuple(notes), score, points, marks, tuple(errors), tuple(shingles))


def total(marks: Iterable[Mark]) -> float:
    """The score that these marks make."""
    return sum(mark.points for mark in marks)


def unreadable(lesson: int, fault: str) -> Result:
    """The Result of a submission that cannot be read."""
    return result(lesson, UNREADABLE, [fault])


def failed(lesson: int, reason: str) -> Result:
    """The Result of a submission that could not be graded, through no fault of the student's."""
    return result(lesson, INFRASTRUCTURE, [reason])
