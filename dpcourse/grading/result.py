"""What is known of one submission after grading: a Result, with a Mark for each exercise.

It is stored as JSON, whose keys are the fields here: old databases hold no others. Points are an exercise's own, as its
file says them: what an instructor decides of them comes to it where they are read, in `marking`. A text is stored as its
English message with its fields, so that one class is told in any language, and what is stored does not depend on one.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dpcourse import course
from dpcourse.base import languages
from dpcourse.base.languages import Said, say, to_say
from dpcourse.checking import Exercise, Verdict

GRADED, FLAGGED, LIMIT, UNREADABLE, INFRASTRUCTURE = "graded", "flagged", "limit", "unreadable", "infrastructure"
MISSING = "missing"  # nothing was handed in
STATUSES = {  # as they are called where people read them
    GRADED: to_say("graded"),
    FLAGGED: to_say("flagged"),
    LIMIT: to_say("limit reached"),
    UNREADABLE: to_say("unreadable"),
    INFRASTRUCTURE: to_say("infrastructure"),
    MISSING: to_say("missing"),
}
NOT_GRADED = (UNREADABLE, INFRASTRUCTURE)
NO_SCORE = (*NOT_GRADED, MISSING)
UNJUDGED = "not judged"  # the state of a Mark that nobody could judge
NOT_JUDGED = to_say("This could not be judged, through no fault of yours.")
TEXTS = {"notes", "errors", "message", "seen", "observed", "fault"}  # the fields that hold what is said


@dataclass(frozen=True)
class Mark:
    """What one exercise got. `seen` is for the student, `observed`, with what is right, for the instructor.

    override: why an instructor has set the points by hand, where one has. found_by: see checking.Verdict. fault: why nobody
    could judge it, in one line, where the state is UNJUDGED: then there are no points, which is not 0 of them.
    """

    id: str
    state: str
    points: float
    out_of: float
    message: str
    misconception: str | None = None
    seen: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    printed: str = ""
    override: str | None = None
    found_by: str | None = None
    fault: str = ""

    @property
    def number(self) -> str:
        """The number of the exercise, as people read it today."""
        return course.number_of(self.id)


@dataclass(frozen=True)
class Result:
    """What one submission got: one of the six statuses, and a score, which is None where it was not graded.

    language: that of the notebook, such as "zh"; "" where it does not tell. shingles: what `similar` compares. limits: (seconds of a cell, seconds, bytes) that were allowed, where one of these
    limits took a mark; with others it may get it.
    """

    status: str
    notes: tuple[str, ...]
    score: float | None
    points: float
    exercises: tuple[Mark, ...] = ()
    errors: tuple[str, ...] = ()
    shingles: tuple[str, ...] = ()
    limits: tuple[float, ...] = ()
    language: str = ""

    def as_json(self) -> str:
        """The Result as text, for `from_json`."""
        return json.dumps(_with_texts(asdict(self), as_data))


@dataclass(frozen=True)
class Graded:
    """What grading a submission gives: its Result, and what its answers did, from which it can be judged again.

    evidence: exercise id -> the probes that were made of it. A probe is a list of dicts of plain data: first
    {"asked": a digest of the inputs}, then the outcomes (see `checking.calling.probe.Probe`). Where it is too large, it is not there.
    slow: a limit of time took a mark while the submission waited for a core: alone it may get it.
    code: exercise id -> the cells that define the answer, as text; for who looks at it.
    """

    result: Result
    evidence: dict[str, tuple[list[dict], ...]] = field(default_factory=dict)
    slow: bool = False
    code: dict[str, str] = field(default_factory=dict)


def from_json(text: str) -> Result:
    """The Result that was stored as this text.

    >>> from_json(failed(1, "no worker").as_json()) == failed(1, "no worker")
    True
    """
    stored = _with_texts(json.loads(text), languages.from_data)
    marks = tuple(Mark(**mark | {"id": course.id_of(mark["id"])}) for mark in stored.pop("exercises"))
    return Result(exercises=marks, **stored)


def again(result: Result) -> Result:
    """The Result with its texts in the language that is chosen now."""
    texts = _with_texts(vars(result) | {"exercises": [vars(mark) for mark in result.exercises]}, languages.again)
    return Result(**texts | {"exercises": tuple(Mark(**mark) for mark in texts["exercises"])})


def in_english(text: str) -> str:
    """A text in English, whatever language it was said in: what is compared and searched."""
    return languages.again(text, languages.ENGLISH)


def as_data(text: str) -> Any:
    """A text as JSON has it, for `languages.from_data`: the same whatever language it was said in."""
    if not isinstance(text, Said):
        return str(text)
    data = languages.as_data(text)
    try:
        if languages.from_data(json.loads(json.dumps(data))) == languages.again(text):
            return data
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    return str(in_english(text))  # a field of it is no plain data


def _with_texts(fields: dict, made: Callable) -> dict:
    """The fields of a Result or a Mark, with each text that is ours made so, and lists as tuples.

    What a student's function has printed is theirs, unless it was cut, and what names a thing is no text.
    """
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    for key in TEXTS & found.keys():
        value = found[key]
        found[key] = tuple(map(made, value)) if isinstance(value, tuple) else made(value)
    if isinstance(found.get("printed"), (Said, dict)):
        found["printed"] = made(found["printed"])
    if "exercises" in found:
        found["exercises"] = tuple(_with_texts(mark, made) for mark in found["exercises"])
    return found


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
        found_by=verdict.found_by,
    )


def without_points(exercise: Exercise, state: str, message: str) -> Mark:
    """The Mark of an exercise that never came before its judge."""
    return Mark(exercise.id, state, 0, exercise.points, message)


def unjudged(exercise: Exercise, fault: str) -> Mark:
    """The Mark of an exercise that could not be judged, through no fault of a student's; fault: why, in one line."""
    return replace(without_points(exercise, UNJUDGED, say(NOT_JUDGED)), fault=fault)


def is_ours(mark: Mark) -> bool:
    """Whether an exercise has no points through a fault of its judge; set by hand it has."""
    return mark.state == UNJUDGED and mark.override is None


def result(
    lesson: int,
    status: str,
    notes: Iterable[str] = (),
    marks: Iterable[Mark] = (),
    errors: Iterable[str] = (),
    shingles: Iterable[str] = (),
    limits: Iterable[float] = (),
) -> Result:
    """The Result of a submission of a lesson; what was not graded has no score, and that is not 0."""
    marks = tuple(marks)
    points = sum(exercise.points for exercise in course.lesson(lesson).exercises)
    score = None if status in NO_SCORE else total(marks)
    return Result(status, tuple(notes), score, points, marks, tuple(errors), tuple(shingles), tuple(limits))


def total(marks: Iterable[Mark]) -> float:
    """The score that these marks make."""
    return sum(mark.points for mark in marks)


def unreadable(lesson: int, fault: str) -> Result:
    """The Result of a submission that cannot be read."""
    return result(lesson, UNREADABLE, [fault])


def with_marks(result: Result, marks: Iterable[Mark]) -> Result:
    """The Result with these marks in place of those of the same exercises, in the order of the lesson."""
    found = {mark.id: mark for mark in (*result.exercises, *marks)}
    in_order = tuple(sorted(found.values(), key=lambda mark: in_course(mark.id)))
    score = None if result.score is None else total(in_order)
    return replace(result, exercises=in_order, score=score)


def in_course(id: str) -> list[int]:
    """What exercises are sorted by: the parts of their numbers."""
    return [int(part) for part in re.findall(r"\d+", course.number_of(id))]


def missing(lesson: int) -> Result:
    """The Result of somebody in the roster who has handed in nothing."""
    return result(lesson, MISSING)


def failed(lesson: int, reason: str) -> Result:
    """The Result of a submission that could not be graded, through no fault of the student's."""
    return result(lesson, INFRASTRUCTURE, [reason])
