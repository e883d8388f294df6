"""Which marks have moved since they were last shown, from what to what, and why."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import counted, say, to_say
from dpcourse.grading.keep.store import ByHand, Row, Store, now
from dpcourse.grading.out.tables import UTF8, as_csv
from dpcourse.grading.result import MISSING, STATUSES, is_ours

FILE = "changes.csv"
COLUMNS = (
    to_say("when"),
    to_say("student"),
    to_say("lesson"),
    to_say("exercise"),
    to_say("before"),
    to_say("after"),
    to_say("why"),
)
WHOLE = ""  # what stands in place of an exercise for the score of a lesson


@dataclass(frozen=True)
class Move:
    """A mark that has moved; exercise: its number, or WHOLE where the score moved by more than its marks did."""

    made: str
    student: str
    lesson: int
    exercise: str
    before: str
    after: str
    why: str

    def in_words(self) -> str:
        """The move as a line for the terminal."""
        lesson = say("lesson {lesson}", lesson=self.lesson)
        what = say("exercise {exercise}", exercise=self.exercise) if self.exercise else lesson
        told = {"student": self.student, "what": what, "before": self.before, "after": self.after, "why": self.why}
        return say("{student}, {what}: {before}, now {after} ({why})", **told)


@dataclass(frozen=True)
class Shown:
    """A mark as it was shown: points, of how many (None, 0: no score), and the causes of both, as far as they can change.

    by_hand: what is set by hand now.
    """

    points: float | None
    out_of: float
    cause: dict
    by_hand: ByHand | None = None

    def in_words(self) -> str:
        """The points."""
        if self.points is None:
            return say("no score")
        return say("{points:g} of {out_of:g}", points=self.points, out_of=self.out_of)


def recorded(store: Store, rows: Sequence[Row]) -> list[Move]:
    """Note what is shown now; returns what has moved since it was last noted. What is shown first has not moved."""
    with store.at_once():
        before = {
            (student, lesson, course.id_of(exercise)): Shown(points, out_of, _cause(cause))
            for student, lesson, exercise, points, out_of, cause in store.shown()
        }
        after = {key: shown for row in rows for key, shown in _of_row(row, store.judged(row.student, row.lesson))}
        time, seen = now(), {key[:2] for key in before}
        moves = [
            Move(
                time,
                *key[:2],
                course.number_of(key[2]),
                _before(before.get(key)),
                shown.in_words(),
                _why(before.get(key), shown),
            )
            for key, shown in after.items()
            if key[:2] in seen and _moved(before.get(key), shown)
        ]
        store.show([(*key, shown.points, shown.out_of, json.dumps(shown.cause)) for key, shown in after.items()])
        store.add_moves(moves)
    return moves


def write(store: Store, out: Path) -> None:
    """Write all that ever moved into changes.csv, the last first."""
    lines = [list(each) for each in reversed(store.moves())]
    write_atomically(out / FILE, UTF8 + as_csv([map(say, COLUMNS), *lines]))


def _of_row(row: Row, judged: dict[str, str]) -> Iterator[tuple[tuple[str, int, str], Shown]]:
    key = (row.student, row.lesson)
    own = {exercise.id: exercise.points for exercise in course.lesson(row.lesson).exercises}
    for mark in row.result.exercises:
        cause = {
            "digest": row.digest,
            "grader": row.grader,
            "judge": judged.get(mark.id, ""),
            "state": [mark.state, mark.misconception],
            "own": own.get(mark.id),
            "by hand": _by_hand(row.by_hand.get(mark.id)),
        }
        points = None if is_ours(mark) else mark.points
        yield (*key, mark.id), Shown(points, mark.out_of, cause, row.by_hand.get(mark.id))
    late = row.late.points if row.late else 0
    whole = {"digest": row.digest, "status": row.result.status, "late": late, "by hand": _by_hand(row.bonus)}
    yield (*key, WHOLE), Shown(row.result.score, row.result.points, whole, row.bonus)


def _by_hand(given: ByHand | None) -> str:
    """What is compared of what is set by hand: the same in every language."""
    return f"set by hand by {given.author or 'somebody'}: {given.reason}" if given else ""


def _before(shown: Shown | None) -> str:
    return say("no mark") if shown is None else shown.in_words()


def _moved(before: Shown | None, after: Shown) -> bool:
    if before is None:
        return True
    if "status" not in after.cause:
        return (before.points, before.out_of) != (after.points, after.out_of)
    if (before.points is None) != (after.points is None):
        return before.cause.get("status") != MISSING
    return any(before.cause.get(name) != after.cause[name] for name in ("late", "by hand"))


def _why(before: Shown | None, after: Shown) -> str:
    if before is None:
        return say("it is new")
    old, new = before.cause, after.cause
    if old.get("by hand") != new["by hand"]:
        return _set(after.by_hand) if after.by_hand else say("what was set by hand was taken back")
    if old.get("digest") != new["digest"]:
        return say("another notebook was handed in")
    if "status" in new:
        if old.get("status") != new["status"]:
            return say("{before}, now {after}", before=_status(old.get("status")), after=_status(new["status"]))
        if old.get("late") == new["late"]:
            if after.points is None:
                return say("what was set by hand was taken back")
            return say("an exercise was set by hand")
        return say(
            "{points:g} points are taken because it is late, before {before:g}",
            points=new["late"],
            before=old.get("late", 0),
        )
    if before.out_of != after.out_of:
        if (before.out_of, after.out_of) == (old.get("own", before.out_of), new["own"]) and _is_judged_anew(old, new):
            return say(
                "the exercise has {points:g} points now, before {before:g}", points=new["own"], before=before.out_of
            )
        return say("course.toml: its points") if after.out_of else say("course.toml: does not count")
    if _is_judged_anew(old, new):
        return say("judged again: the exercise, or what judges it, has changed")
    if old.get("grader") != new["grader"]:
        return say("graded again: what runs notebooks has changed")
    return say("course.toml: part credit") if old.get("state") == new["state"] else say("graded again")


def _set(given: ByHand) -> str:
    author = given.author or say("somebody")
    return say("set by hand by {author}: {reason}", author=author, reason=given.reason)


def _status(name: str | None) -> str:
    return say(STATUSES.get(name or "", str(name)))


def _is_judged_anew(old: dict, new: dict) -> bool:
    return old.get("judge") != new["judge"]


def _cause(text) -> dict:
    try:
        found = json.loads(text)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def lines(moves: Iterable[Move], most: int = 10) -> list[str]:
    """What has moved, for the terminal."""
    moves = list(moves)
    if not moves:
        return []
    head = counted("{count} mark moved:", "{count} marks moved:", count=len(moves))
    rest = [say("and {count} more: see {file}", count=len(moves) - most, file=FILE)] if len(moves) > most else []
    return [head, *(f"  {line}" for line in [*(move.in_words() for move in moves[:most]), *rest])]
