"""What an instructor looks up of one student, and sets by hand."""

import difflib
import getpass
import math
from collections.abc import Iterable, Iterator, Sequence

from dpcourse import course
from dpcourse.base.languages import say, to_say
from dpcourse.grading import collect
from dpcourse.grading.keep.store import ByHand, Row, Store, now
from dpcourse.grading.marks.marking import BONUS, in_force, neat, now_called
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out.gradebook import in_points, title
from dpcourse.grading.result import MISSING

TAKEN_BACK = to_say("taken back")
QUOTED = "  | "  # stands before each line that is a student's: none of theirs can pass for one of ours


def override(
    store: Store, settings: Settings, author: str, student: str, exercise_id: str, points: float, reason: str
) -> None:
    """Set the points of an exercise of a student. Raises ValueError."""
    exercise = course.find(exercise_id)
    most = settings.points_of(exercise)
    if not most:
        raise ValueError(
            say(
                "Exercise {exercise} does not count: course.toml leaves it out, or gives it 0 points.",
                exercise=exercise.number,
            )
        )
    if not 0 <= points <= most:
        raise ValueError(
            say(
                "Exercise {exercise} has {points}: give 0 to {most:g}, not {given:g}.",
                exercise=exercise.number,
                points=in_points(most),
                most=most,
                given=points,
            )
        )
    row_of(store, student, exercise.lesson)
    reason = _reason(reason)
    store.set_by_hand(
        ByHand(student, exercise.lesson, exercise.id, points, most, reason, author, now(), exercise.function)
    )


def bonus(store: Store, settings: Settings, author: str, student: str, lesson: int, points: float, reason: str) -> None:
    """Give points beside the exercises of a lesson, or take them: as many as it has, at most. Raises ValueError."""
    most = neat(math.fsum(settings.points_of(exercise) for exercise in course.lesson(lesson).exercises))
    if not -most <= points <= most:
        raise ValueError(
            say(
                "A bonus is at most what the lesson has, {most:g} points, and at least -{most:g}: not {given:g}.",
                most=most,
                given=points,
            )
        )
    row_of(store, student, lesson)
    store.set_by_hand(ByHand(student, lesson, BONUS, points, None, _reason(reason), author, now()))


def undo(store: Store, author: str, student: str, what: str) -> None:
    """Take back what was set for an exercise, or the bonus of a lesson. Raises ValueError where nothing is set."""
    lesson, dot, _ = what.partition(".")
    key = (student, int(lesson) if lesson.isdigit() else -1, course.id_of(what) if dot else BONUS)
    given = in_force(store.by_hand()).get(key)
    if given is None:
        raise ValueError(
            say(
                "Nothing is set by hand for {student!r} in {what}: `--overrides` lists what is.",
                student=student,
                what=what,
            )
        )
    store.set_by_hand(
        ByHand(student, given.lesson, given.exercise, None, None, TAKEN_BACK, author, now(), given.function)
    )


def _reason(reason):
    if not reason.strip():
        raise ValueError(say("What is set by hand needs a reason: the student is shown it."))
    return reason


def author(name: str | None) -> str:
    """Who sets something: the name given, or the one logged in as, as far as the machine knows it."""
    try:
        return name or getpass.getuser()
    except (OSError, KeyError):
        return ""


def history(given: Sequence[ByHand]) -> Iterator[str]:
    """All that was ever set by hand, line by line; a star before what counts."""
    counting = set(map(id, in_force(given).values()))
    for each in given:
        what = course.number_of(each.exercise) if each.exercise else say("bonus {lesson}", lesson=each.lesson)
        if each.points is None:
            told = say(each.reason)
        elif each.out_of:
            points = say("{points:g} of {out_of:g}", points=each.points, out_of=each.out_of)
            told = say("{points}: {reason}", points=points, reason=each.reason)
        else:
            told = say("{points}: {reason}", points=f"{each.points:g}", reason=each.reason)
        if now_called(each) is None:
            told = say("{given} (there is no such exercise any more)", given=told)
        when, author = each.made[:16].replace("T", " "), each.author or "?"
        yield plain(f"{'*' if id(each) in counting else ' '} {when} {author}: {each.student} {what}: {told}")


def row_of(store: Store, student: str, lesson: int) -> Row:
    """The stored row of a student and a lesson. Raises ValueError, which names those that are alike."""
    found = [row for row in store.rows(student) if row.lesson == lesson]
    if found:
        return found[0]
    known = sorted({row.student for row in store.rows() if row.lesson == lesson})
    near = [name for name in known if student.lower() in name.lower()] or difflib.get_close_matches(student, known)
    raise ValueError(
        say(
            "No submission of {student!r} for this lesson. There are {names}.",
            student=student,
            names=some(near or known),
        )
    )


def code_lines(row: Row, code: str | None) -> Iterator[str]:
    """The student's code of an exercise, as text that cannot steer a terminal, each line marked as theirs."""
    if row.result.status == MISSING:
        return
    if code:
        yield say("the student's code ({lesson}):", lesson=title(row.lesson))
    else:
        yield say("the student's code: no cell defines it")
    for line in (code or "").splitlines():
        yield QUOTED + plain(line)


def plain(line: str) -> str:
    """A line without what could steer a terminal or look like another line; what goes on after a break is marked.

    >>> plain("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    parts = line.splitlines() or [""]
    shown = ["".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in part) for part in parts]
    return f"\n{QUOTED}".join(shown)


def some(names: Iterable[str]) -> str:
    """A few of the names, for the terminal."""
    return collect.some(map(plain, names), 10) or say("none")
