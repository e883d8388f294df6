"""What in the results of a class points at a mistake that is nobody's among the students.

Where a share of the class has no points, for a lesson or, with the same reason, for an exercise, it is hardly the
students': a wrong number of a lesson, blank lessons that were collected, another secret, a cell that stops everywhere.
The reason that most of them have in common is told, with what may be wrong. So is a judge that failed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dpcourse import course
from dpcourse.base.languages import Said, again, counted, say, sentences, to_say
from dpcourse.checking import BLANK, RIGHT
from dpcourse.grading.collect import in_a_row
from dpcourse.grading.keep.store import Row
from dpcourse.grading.out.feedback import is_untouched
from dpcourse.grading.out.gradebook import title, title_of
from dpcourse.grading.out.tables import short
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, NOT_GRADED, Mark, in_english, is_ours

SHARE, FEWEST = 0.75, 3  # of a class: from how many on the same zero is no accident

NOTHING, UNREAD, OURS = "nothing handed in", "not read", "a fault of ours"
UNTOUCHED, UNDEFINED, STOPPED, NOTED, TOLD = "untouched", "undefined", "a cell stopped", "a note", "what a judge told"
ADVICE = {
    NOTHING: to_say(
        "Is this the folder of the lesson, and its number the one that you named (--lesson)? Are they in the roster as "
        "the platform calls them?"
    ),
    UNREAD: to_say("Open one of these files: is it what the platform gave?"),
    OURS: to_say("`dpcourse doctor` says what is lacking here; then give the command again."),
    UNTOUCHED: to_say("Were the blank lessons collected, in place of what students handed in?"),
    UNDEFINED: to_say("Are these notebooks of this lesson (--lesson), and of this edition of the course?"),
    STOPPED: to_say(
        "Run the cell in a lesson as you gave it out: does it need a package, a file or the network, which are not there "
        "when it is graded?"
    ),
    NOTED: to_say(
        "Look at one of these notebooks. Where the lesson has variants: is --seed-file the one with which it was given out?"
    ),
    TOLD: to_say("Look at one of these answers with --explain: is the exercise as you gave it out?"),
}


@dataclass(frozen=True)
class Fault:
    """An exercise that could not be judged, why, and for whom."""

    exercise: str
    reason: str
    students: tuple[str, ...]

    def in_words(self) -> str:
        """A sentence on it, with what to do."""
        return counted(
            "Exercise {exercise} could not be judged for {count} student: {reason}. Mend that, or leave the exercise out "
            "(`excluded` in course.toml), and give the command again: only this exercise is judged then.",
            "Exercise {exercise} could not be judged for {count} students: {reason}. Mend that, or leave the exercise out "
            "(`excluded` in course.toml), and give the command again: only this exercise is judged then.",
            count=len(self.students),
            exercise=self.exercise,
            reason=self.reason,
        )


def faults(rows: Iterable[Row]) -> list[Fault]:
    """What could not be judged, each with each of its reasons."""
    whose: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for mark in row.result.exercises if not row.stale else ():
            if is_ours(mark) and mark.out_of:
                whose.setdefault((mark.id, mark.fault), []).append(row.student)
    return [Fault(course.number_of(id), reason, tuple(students)) for (id, reason), students in whose.items()]


@dataclass(frozen=True)
class Alarm:
    """That many of a class have no points, in a lesson, or in one exercise of it, and the reason that most have.

    count: of whom in `all`; alike: how many of them have this reason. exercise: its number, or "".
    """

    lesson: int
    exercise: str
    count: int
    all: int
    alike: int
    cause: str
    advice: str

    def in_words(self) -> str:
        """Sentences on it, with what may be wrong."""
        what = title(self.lesson)
        if self.exercise:
            what = say("{exercise} {title}", exercise=self.exercise, title=title_of(self.exercise))
        head = say("{count} of {all} have no points in {what}.", count=self.count, all=self.all, what=what)
        if self.alike == self.count:
            why = say("The reason, for all of them: {reason}.", reason=self.cause)
        else:
            why = say("The commonest reason, for {count} of them: {reason}.", count=self.alike, reason=self.cause)
        return sentences([head, why, say(self.advice)])


def zeros(rows: Iterable[Row]) -> list[Alarm]:
    """The alarms, by lesson; of the exercises of a lesson that is one itself there is none."""
    here = [row for row in rows if not row.stale]
    found: list[Alarm] = []
    for lesson in sorted({row.lesson for row in here}):
        mine = [row for row in here if row.lesson == lesson]
        of_lesson = _of_lesson(lesson, mine)
        found += [of_lesson] if of_lesson else _of_exercises(lesson, mine)
    return found


def _of_lesson(lesson, rows):
    handed_in = [row for row in rows if row.result.status != MISSING]
    absent = [row for row in rows if row.result.status == MISSING and not row.result.score]
    if _is_a_share(len(absent), rows):
        return _alarm(lesson, "", absent, len(rows), map(_of_row, absent))
    empty = [row for row in handed_in if not row.result.score and not any(map(is_ours, row.result.exercises))]
    return (
        _alarm(lesson, "", empty, len(handed_in), map(_of_row, empty)) if _is_a_share(len(empty), handed_in) else None
    )


def _of_exercises(lesson, rows):
    judged = [row for row in rows if row.result.exercises]
    for id in dict.fromkeys(mark.id for row in judged for mark in row.result.exercises):
        failed = [mark for row in judged for mark in row.result.exercises if mark.id == id and _failed(mark)]
        found = _alarm(lesson, course.number_of(id), failed, len(judged), ([_told(mark)] for mark in failed))
        if found and _is_a_share(found.alike, judged):
            yield found


def _is_a_share(count, rows):
    return count >= max(FEWEST, SHARE * len(rows))


def _failed(mark: Mark) -> bool:
    """Whether an answer was written and has no points, by its judge's word."""
    return bool(mark.out_of) and not mark.points and mark.state not in (RIGHT, BLANK) and not is_ours(mark)


def _alarm(lesson: int, exercise: str, failed: Sequence, of_all: int, causes: Iterable) -> Alarm | None:
    """The Alarm with the reason that most have; causes: of each of them its reasons (kind, text), the first first."""
    each = [{_key(text): (kind, text) for kind, text in mine} for mine in causes]
    counts = Counter(key for mine in each for key in mine)
    if not counts:
        return None
    key, alike = counts.most_common(1)[0]  # of as many, the first that was met
    kind, text = next(mine[key] for mine in each if key in mine)
    return Alarm(lesson, exercise, len(failed), of_all, alike, short(text.rstrip(".")), ADVICE[kind])


def _key(text):
    """A reason without its numbers: the same reason on other inputs, or in another line, is the same."""
    return re.sub(r"\d+(\.\d+)?", "#", in_english(text))


def _of_row(row: Row) -> Iterator[tuple[str, str]]:
    """Why a lesson has no points, the most telling reason first."""
    result = row.result
    if result.status == MISSING:
        yield NOTHING, say("nothing was handed in")
        return
    if result.status in NOT_GRADED or not result.exercises:
        yield (OURS if result.status == INFRASTRUCTURE else UNREAD), in_a_row(map(again, result.notes))
        return
    if all(mark.state == BLANK for mark in result.exercises):
        if any(map(is_untouched, result.exercises)):
            yield UNTOUCHED, say("no answer is written, the lesson is as it was given out")
        else:
            yield UNDEFINED, say("no cell defines what the exercises ask for")
    for error in result.errors:
        yield (
            STOPPED,
            say("a cell stopped with {error}", error=error.fields["error"] if isinstance(error, Said) else error),
        )
    yield from ((NOTED, again(note)) for note in result.notes)
    yield from (_told(mark) for mark in result.exercises if _failed(mark))


def _told(mark):
    return TOLD, again(mark.message)
