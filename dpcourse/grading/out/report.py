"""The instructor's page on a class, a line on it, and why a mark is what it is."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dpcourse import course as lessons
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import chosen, counted, listed, say, to_say
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG, Exercise
from dpcourse.grading import collect
from dpcourse.grading.judge.guarded import Failed, at_work
from dpcourse.grading.judge.job import cases_of, seed_of
from dpcourse.grading.judge.similar import identical, near_identical
from dpcourse.grading.keep.store import Row, spoken
from dpcourse.grading.out import alarms, mistakes, pages, spread
from dpcourse.grading.out.feedback import has_feedback, page_name
from dpcourse.grading.out.gradebook import STATES as STATES_IN_WORDS
from dpcourse.grading.out.gradebook import in_points, title, title_of, whole
from dpcourse.grading.result import (
    FLAGGED,
    GRADED,
    INFRASTRUCTURE,
    LIMIT,
    MISSING,
    NOT_GRADED,
    UNJUDGED,
    UNREADABLE,
    is_ours,
)
from dpcourse.grading.run.library import PACKAGE

MEANING = {
    GRADED: (to_say("graded"), ""),
    FLAGGED: (
        to_say("graded, but there is something to look at"),
        to_say("Read what is said of it in the list. The marks stand."),
    ),
    LIMIT: (
        to_say("graded without the parts that a limit stopped"),
        to_say("Where the machine was slow, raise the limit (--seconds, --cell-seconds, --memory) and run again."),
    ),
    UNREADABLE: (
        to_say("not graded: the file cannot be read"),
        to_say("Ask the student for the file again; the reason stands below."),
    ),
    INFRASTRUCTURE: (
        to_say("not graded, or not all of it, through no fault of the student's"),
        to_say("Mend what the reason names, if it names anything, and run the command again."),
    ),
    MISSING: (
        to_say("in the roster, but nothing was handed in"),
        to_say("No import has them: a zero is yours to give, in the LMS or by --override."),
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
    rows = list(map(spoken, rows))
    here = [row for row in rows if not row.stale]
    return pages.render(
        "report.html",
        rows=rows,
        statuses=Counter(row.result.status for row in here),
        here=here,
        gone=[row for row in rows if row.stale],
        missing=[row for row in here if row.result.status == MISSING],
        unread=list(unread),
        faults=alarms.faults(rows),
        alarms=alarms.zeros(rows),
        late_rows=sorted((row for row in here if row.late), key=lambda row: (row.lesson, row.student)),
        to_look_at=[row for row in here if row.result.status not in (GRADED, MISSING)],
        lessons=[_of_lesson(number, here, answers, given_out) for number in sorted({row.lesson for row in here})],
        meaning=MEANING,
        histogram_in_words=_histogram_in_words,
        page_name=page_name,
        has_feedback=has_feedback,
        most=MOST_ANSWERS,
        moves=list(moves)[::-1],
        most_moves=MOST_MOVES,
    )


def _of_lesson(number, rows, answers, given_out):
    rows = [row for row in rows if row.lesson == number]
    name = f"{number:02}-*.ipynb"
    files = [*sorted((given_out / chosen()).glob(name)), *sorted(given_out.glob(name))]
    sections = mistakes.sections(files[0]) if files else {}
    known = mistakes.mistakes(rows, sections)
    code = {row.student: row.result.shingles for row in rows}
    pairs = near_identical(code)
    return {
        "number": number,
        "title": title(number),
        "points": max((row.result.points for row in rows), default=0),
        "scores": spread.spread(row.result.score for row in rows if row.result.score is not None),
        "shares": spread.spread(spread.shares(rows)),
        "bins": spread.bins(spread.shares(rows)),
        "counts": _counts(rows),
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
    counts, marks = mistakes.states(rows, id), spread.judged(rows, id)
    mean = spread.spread(mark.points for mark in marks)
    return {
        "number": lessons.number_of(id),
        "title": title_of(id),
        "counts": [counts[state] for state in STATES],
        "unjudged": counts[UNJUDGED],
        "passed": counts[RIGHT] / len(marks) if marks else None,
        "mean": mean.mean if mean else None,
        "out_of": max((mark.out_of for mark in marks), default=0),
    }


def _histogram_in_words(bins):
    """The histogram for who does not see it."""
    step = 100 // len(bins)
    each = [
        say("{lower} to {upper} %: {count}", lower=step * place, upper=step * (place + 1), count=count)
        for place, count in enumerate(bins)
        if count
    ]
    return say("How many have which share of the points: {shares}", shares=collect.in_a_row(each))


def _counts(rows):
    """How many handed in, were graded, came late; of the row in the table of lessons."""
    handed_in = [row for row in rows if row.result.status != MISSING]
    return {
        "handed_in": len(handed_in),
        "missing": len(rows) - len(handed_in),
        "not_graded": sum(row.result.status in NOT_GRADED for row in rows),
        "late": sum(row.late is not None for row in rows),
    }


def summary(rows: Sequence[Row]) -> tuple[str, dict]:
    """One line on a class, and the same as a dict."""
    statuses = Counter(row.result.status for row in rows)
    scores, counts = spread.spread(spread.shares(rows)), _counts(rows)
    as_dict = {
        "submissions": len(rows),
        "statuses": dict(sorted(statuses.items())),
        "mean": round(scores.mean, 4) if scores else None,
        "median": round(scores.median, 4) if scores else None,
        "late": counts["late"],
    }
    line = counted("{count} submission", "{count} submissions", count=len(rows))
    if rows:
        each = [
            say("{count} {status}", count=count, status=pages.status(name)) for name, count in statuses.most_common()
        ]
        line = say("{submissions}: {statuses}", submissions=line, statuses=listed(each, "{first}, {then}"))
    if scores:
        shown = {"mean": scores.mean, "median": scores.median}
        line = say("{line}; mean {mean:.0%} and median {median:.0%} of the points", line=line, **shown)
    without = counts["not_graded"]
    line = say("{line}; {without} not graded, {late} late", line=line, without=without, late=counts["late"])
    return say("{sentence}.", sentence=line), as_dict


def explanation(row: Row, exercise: Exercise, secret: bytes) -> Iterator[str]:
    """Why the points of one exercise are what they are, line by line; for the instructor, not for the student."""
    row = spoken(row)
    result = row.result
    yield say(
        "{student}, {lesson}: {status}, {whole}",
        student=row.student,
        lesson=title(row.lesson),
        status=pages.status(result.status),
        whole=whole(row) or say("no score"),
    )
    if row.late:
        yield row.late.says
    yield say("file: {file}", file=row.file)
    yield from (say("note: {note}", note=note) for note in result.notes)
    mark = next((mark for mark in result.exercises if mark.id == exercise.id), None)
    if mark is None:
        yield say("{exercise}: not judged", exercise=exercise.number)
        return
    told = {"title": say(exercise.title), "state": say(STATES_IN_WORDS.get(mark.state, mark.state))}
    if is_ours(mark):
        yield say("{exercise} {title}: {state}", exercise=mark.number, **told)
    else:
        of = {"score": mark.points, "points": in_points(mark.out_of)}
        yield say("{exercise} {title}: {state}, {score:g} of {points}", exercise=mark.number, **told, **of)
    if mark.override:
        yield say("set by hand: {reason}", reason=mark.override)
    yield mark.message
    if mark.fault:
        yield mark.fault
    if mark.misconception:
        yield say("misconception: {name}", name=mark.misconception)
    yield from mark.observed
    if mark.printed:
        yield say("printed: {text}", text=mark.printed)
    yield from result.errors
    try:
        yield at_work(_asked, exercise, seed_of(secret, row.digest))
    except Failed as failure:
        yield say("what is asked now cannot be told, since its judge fails: {reason}", reason=failure.why)


def _asked(exercise, seed):
    cases = cases_of(exercise, seed)
    return say("asked: {count} inputs, such as {call}", count=len(cases), call=exercise.call(cases[0]))
