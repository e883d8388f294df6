"""Which marks have moved since they were last shown, from what to what, and why."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.files import write_atomically
from dpcourse.grading.keep.store import ByHand, Row, Store, now
from dpcourse.grading.outputs.tables import UTF8, as_csv
from dpcourse.grading.result import MISSING

FILE = "changes.csv"
COLUMNS = ("when", "student", "lesson", "exercise", "before", "after", "why")
WHOLE = ""  # what stands in place of an exercise for the score of a lesson


@dataclass(frozen=True)
class Move:
    """A mark that has moved; exercise: its id, or WHOLE where the score moved by more than its marks did."""

    made: str
    student: str
    lesson: int
    exercise: str
    before: str
    after: str
    why: str

    def __str__(self) -> str:
        what = f"exercise {self.exercise}" if self.exercise else f"lesson {self.lesson}"
        return f"{self.student}, {what}: {self.before}, now {self.after} ({self.why})"


@dataclass(frozen=True)
class Shown:
    """A mark as it was shown: points, of how many (None, 0: no score), and the causes of both, as far as they can change."""

    points: float | None
    out_of: float
    cause: dict

    def __str__(self) -> str:
        return "no score" if self.points is None else f"{self.points:g} of {self.out_of:g}"


def recorded(store: Store, rows: Sequence[Row]) -> list[Move]:
    """Note what is shown now; returns what has moved since it was last noted. What is shown first has not moved."""
    with store.at_once():
        before = {(*key,): Shown(points, out_of, _cause(cause)) for *key, points, out_of, cause in store.shown()}
        after = {key: shown for row in rows for key, shown in _of_row(row, store.judged(row.student, row.lesson))}
        time, seen = now(), {key[:2] for key in before}
        moves = [
            Move(time, *key, str(before.get(key, "nothing")), str(shown), _why(before.get(key), shown))
            for key, shown in after.items()
            if key[:2] in seen and _moved(before.get(key), shown)
        ]
        store.show([(*key, shown.points, shown.out_of, json.dumps(shown.cause)) for key, shown in after.items()])
        store.add_moves(moves)
    return moves


def write(store: Store, out: Path) -> None:
    """Write all that ever moved into changes.csv, the last first."""
    lines = [list(each) for each in reversed(store.moves())]
    write_atomically(out / FILE, UTF8 + as_csv([COLUMNS, *lines]))


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
            "by hand": _said(row.by_hand.get(mark.id)),
        }
        yield (*key, mark.id), Shown(mark.points, mark.out_of, cause)
    late = row.late.points if row.late else 0
    whole = {"digest": row.digest, "status": row.result.status, "late": late, "by hand": _said(row.bonus)}
    yield (*key, WHOLE), Shown(row.result.score, row.result.points, whole)


def _said(given: ByHand | None) -> str:
    return f"set by hand by {given.author or 'somebody'}: {given.reason}" if given else ""


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
        return "it is new"
    old, new = before.cause, after.cause
    if old.get("by hand") != new["by hand"]:
        return new["by hand"] or "what was set by hand was taken back"
    if old.get("digest") != new["digest"]:
        return "another notebook was handed in"
    if "status" in new:
        if old.get("status") != new["status"]:
            return f"{old.get('status')}, now {new['status']}"
        if old.get("late") == new["late"]:
            return "what was set by hand was taken back" if after.points is None else "an exercise was set by hand"
        return f"{new['late']:g} points are taken because it is late, before {old.get('late', 0):g}"
    if before.out_of != after.out_of:
        if (before.out_of, after.out_of) == (old.get("own", before.out_of), new["own"]) and _is_judged_anew(old, new):
            return f"the exercise has {new['own']:g} points now, before {before.out_of:g}"
        return "course.toml: does not count" if not after.out_of else "course.toml: its points"
    if _is_judged_anew(old, new):
        return "judged again: the exercise, or what judges it, has changed"
    if old.get("grader") != new["grader"]:
        return "graded again: what runs notebooks has changed"
    return "course.toml: part credit" if old.get("state") == new["state"] else "graded again"


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
    head = f"{len(moves)} mark{'s' * (len(moves) != 1)} moved:"
    rest = [f"  and {len(moves) - most} more: see {FILE}"] if len(moves) > most else []
    return [head, *(f"  {move}" for move in moves[:most]), *rest]
