"""The instructor's page on a class, a line on it, and why a mark is what it is."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dpcourse import course as lessons
from dpcourse.engine import BLANK, ERROR, RIGHT, WRONG, Exercise
from dpcourse.files import write_atomically
from dpcourse.grading import collect
from dpcourse.grading.judging.submission import cases_of, seed_of
from dpcourse.grading.keep.store import Row
from dpcourse.grading.outputs import mistakes, pages
from dpcourse.grading.outputs.feedback import has_feedback, page_name
from dpcourse.grading.outputs.gradebook import score, title, title_of
from dpcourse.grading.result import FLAGGED, GRADED, INFRASTRUCTURE, LIMIT, MISSING, UNREADABLE
from dpcourse.grading.sandbox.library import PACKAGE
from dpcourse.grading.similar import identical, near_identical

MEANING = {
    GRADED: ("graded", ""),
    FLAGGED: (
        "graded, but provided cells were changed, or a notebook is there twice",
        "Look at what was changed. The marks stand.",
    ),
    LIMIT: (
        "graded without the parts that a limit stopped",
        "Where the machine was slow, raise the limit (--seconds, --cell-seconds, --memory) and run again.",
    ),
    UNREADABLE: ("not graded: the file cannot be read", "Ask the student for the file again; the reason stands below."),
    INFRASTRUCTURE: ("not graded, through no fault of the student's", "Run the command again."),
    MISSING: (
        "in the roster, but nothing was handed in",
        "No import has them: a zero is yours to give, in the LMS or by --override.",
    ),
}
STATES = (RIGHT, WRONG, ERROR, BLANK)
MOST_MISTAKES, MOST_ANSWERS, MOST_PAIRS, MOST_MOVES = 30, 20, 50, 50


def write(
    rows: Sequence[Row],
    out: Path,
    unread: Iterable[collect.Unread] = (),
    answers: Callable[[str, int], Mapping[str, str]] = lambda student, lesson: {},
    course: Path | None = None,
    moves: Iterable[Sequence] = (),
) -> None:
    """Write report.html into a folder; what the arguments are, `outputs.write` says."""
    given_out = (course or PACKAGE.parent) / "lessons"
    write_atomically(out / "report.html", class_report(rows, unread, answers, given_out, moves))


def class_report(
    rows: Sequence[Row],
    unread: Iterable[collect.Unread] = (),
    answers: Callable[[str, int], Mapping[str, str]] = lambda student, lesson: {},
    given_out: Path = PACKAGE.parent / "lessons",
    moves: Iterable[Sequence] = (),
) -> str:
    """The page for the instructor. given_out: the folder of the blank lessons, in which the parts have their names."""
    here = [row for row in rows if not row.stale]
    return pages.render(
        "report.html",
        rows=rows,
        statuses=Counter(row.result.status for row in here),
        here=here,
        gone=[row for row in rows if row.stale],
        missing=[row for row in here if row.result.status == MISSING],
        unread=list(unread),
        to_look_at=[row for row in here if row.result.status not in (GRADED, MISSING)],
        lessons=[_of_lesson(number, here, answers, given_out) for number in sorted({row.lesson for row in here})],
        meaning=MEANING,
        page_name=page_name,
        has_feedback=has_feedback,
        most=MOST_ANSWERS,
        moves=list(moves)[::-1],
        most_moves=MOST_MOVES,
    )


def _of_lesson(number, rows, answers, given_out):
    rows = [row for row in rows if row.lesson == number]
    files = sorted(given_out.glob(f"{number:02}-*.ipynb"))
    sections = mistakes.sections(files[0]) if files else {}
    known = mistakes.mistakes(rows, sections)
    code = {row.student: row.result.shingles for row in rows}
    pairs = near_identical(code)
    return {
        "number": number,
        "title": title(number),
        "points": max((row.result.points for row in rows), default=0),
        "scores": [row.result.score for row in rows if row.result.score is not None],
        "exercises": [_of_exercise(id, rows) for id in _ids(number, rows)],
        "judged": sum(bool(row.result.exercises) for row in rows),
        "mistakes": known[:MOST_MISTAKES],
        "more_mistakes": len(known) - MOST_MISTAKES,
        "unexplained": mistakes.unexplained(rows, answers),
        "identical": identical(code),
        "alike": pairs[:MOST_PAIRS],
        "more_alike": len(pairs) - MOST_PAIRS,
    }


def _ids(number, rows):
    """The exercises of a lesson: those that it has, or, where there is no such lesson, those that were judged."""
    known = next((each for each in lessons.lessons() if each.number == number), None)
    if known:
        return [exercise.id for exercise in known.exercises]
    return list(dict.fromkeys(mark.id for row in rows for mark in row.result.exercises))


def _of_exercise(id, rows):
    counts = mistakes.states(rows, id)
    return {"id": id, "title": title_of(id), "counts": [counts[state] for state in STATES]}


def summary(rows: Sequence[Row]) -> tuple[str, dict]:
    """One line on a class, and the same as a dict."""
    statuses = Counter(row.result.status for row in rows)
    scores = [
        row.result.score / row.result.points for row in rows if row.result.score is not None and row.result.points
    ]
    told = {"submissions": len(rows), "statuses": dict(sorted(statuses.items()))}
    told["mean"] = round(sum(scores) / len(scores), 4) if scores else None
    line = f"{len(rows)} submission{'s' * (len(rows) != 1)}{': ' * bool(rows)}" + ", ".join(
        f"{count} {status}" for status, count in statuses.most_common()
    )
    return line + (f"; mean {told['mean']:.0%} of the points." if scores else "."), told


def explanation(row: Row, exercise: Exercise, secret: bytes) -> Iterator[str]:
    """Why the points of one exercise are what they are, line by line; for the instructor, not for the student."""
    result = row.result
    yield f"{row.student}, {title(row.lesson)}: {result.status}, {score(result) or 'no score'} of {result.points}"
    yield f"file: {row.file}"
    yield from (f"note: {note}" for note in result.notes)
    mark = next((mark for mark in result.exercises if mark.id == exercise.id), None)
    if mark is None:
        yield f"{exercise.id}: not judged"
        return
    yield f"{exercise.id} {exercise.title}: {mark.state}, {mark.points:g} of {pages.points(mark.out_of)}"
    if mark.override:
        yield f"set by hand: {mark.override}"
    yield mark.message
    if mark.misconception:
        yield f"misconception: {mark.misconception}"
    yield from mark.observed
    if mark.printed:
        yield f"printed: {mark.printed}"
    yield from result.errors
    cases = cases_of(exercise, seed_of(secret, row.digest))
    yield f"asked: {len(cases)} inputs, such as {exercise.call(cases[0])}"
