"""What `dpcourse grade` does, step by step."""

import functools
import importlib.util
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from filelock import Timeout
from tqdm import tqdm

from dpcourse import course
from dpcourse.doctor import PIP
from dpcourse.grading import gradebook, report, run, sandbox
from dpcourse.grading.grade import INFRASTRUCTURE, UNREADABLE

SHORTEST_SECRET = 16


class Refused(Exception):
    """Nothing was done; says why, and what would help."""


@dataclass(frozen=True)
class Options:
    """The options of the command; `dpcourse grade --help` says what each is."""

    submissions: Path | None
    out: Path
    lesson: int | None
    jobs: int | None
    dask: str | None
    no_sandbox: bool
    again: bool
    cell_seconds: float
    seconds: float
    memory: int
    seed_file: Path | None
    course: Path | None
    explain: tuple[str, str] | None
    override: tuple[str, str, float, str] | None
    as_json: bool


def run_command(options):
    """Do what the options ask; returns the exit status. Raises Refused, ValueError, OSError."""
    if options.submissions is None and not (options.explain or options.override):
        raise Refused("Which folder? `dpcourse grade SUBMISSIONS`, or `--explain`, or `--override`.")
    if options.submissions is None and not (options.out / run.DATABASE).exists():
        raise Refused(f"There are no grades in {options.out} yet: `dpcourse grade SUBMISSIONS --out {options.out}`.")
    try:
        with run.opened(options.out) as store:
            return _with_store(options, store)
    except Timeout:
        raise Refused(f"Another `dpcourse grade` is at work in {options.out}.") from None


def _with_store(options, store):
    if options.override:
        _override(store, *options.override)
    now = _grade(options, store) if options.submissions is not None else 0
    if options.explain:
        _explain(store, *options.explain)
        return 0
    rows = list(store.rows())
    gradebook.write(rows, options.out)
    report.write(rows, options.out)
    return _say(options, rows, now)


def _grade(options, store):
    """Grade what is to be graded; returns how many that were."""
    if not hasattr(os, "fork"):
        raise Refused("Grading needs Linux or macOS; on Windows, run it in WSL.")
    if not options.submissions.is_dir():
        raise Refused(f"{options.submissions} is no folder.")
    if options.lesson is not None:
        course.lesson(options.lesson)
    if options.dask and importlib.util.find_spec("distributed") is None:
        raise Refused(f"--dask needs the package distributed: run `{PIP} install distributed`.")
    lacking = None if options.no_sandbox or options.dask else sandbox.missing()
    if lacking:
        raise Refused(f"No sandbox: {lacking}. Mend that, or say --no-sandbox if you trust every notebook.")
    if options.seed_file:
        store.secret(_secret_in(options.seed_file))
    return run.grade_class(
        options.submissions,
        store,
        functools.partial(run.on_dask, options.dask) if options.dask else functools.partial(run.local, options.jobs),
        lesson=options.lesson,
        limits=sandbox.Limits(options.cell_seconds, options.seconds, options.memory * 2**20),
        sandboxed=not options.no_sandbox,
        course=options.course,
        again=options.again,
        progress=functools.partial(_bar, hidden=options.as_json),
    )


def _secret_in(file):
    text = file.read_text(encoding="utf-8").strip()
    if len(text) < SHORTEST_SECRET:
        raise Refused(
            f"The secret in {file} can be guessed: it needs {SHORTEST_SECRET} characters, and has {len(text)}."
        )
    return text


def _bar(results, total, hidden):
    """Pass the results on, under a progress bar that counts how they went."""
    counts = Counter()
    with tqdm(total=total, desc="grading", unit="notebook", disable=hidden) as bar:
        for submission, result in results:
            counts[result["status"]] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()
            yield submission, result


def _row(store, student, lesson):
    found = [row for row in store.rows(student) if row.lesson == lesson]
    if not found:
        known = sorted({row.student for row in store.rows()})
        near = [name for name in known if student.lower() in name.lower()] or known
        raise Refused(f"No submission of {student!r} for this lesson. There are {_some(near)}.")
    return found[0]


def _override(store, student, exercise_id, points, reason):
    exercise = course.find(exercise_id)
    if not 0 <= points <= exercise.points:
        raise Refused(
            f"Exercise {exercise_id} has {exercise.points} points, so 0 to {exercise.points}, not {points:g}."
        )
    if not reason.strip():
        raise Refused("An override needs a reason: the student is shown it.")
    _row(store, student, _lesson_of(exercise))
    store.override(student, exercise_id, points, reason)


def _explain(store, student, exercise_id):
    exercise = course.find(exercise_id)
    row = _row(store, student, _lesson_of(exercise))
    print("\n".join(report.explanation(row, exercise, store.secret())))


def _lesson_of(exercise):
    return int(exercise.id.split(".")[0])


def _say(options, rows, now):
    line, told = report.summary(rows)
    told["graded_now"] = now
    failed = [row.student for row in rows if row.result["status"] in (UNREADABLE, INFRASTRUCTURE)]
    if options.as_json:
        print(json.dumps(told | {"out": str(options.out), "not_graded": failed}, ensure_ascii=False))
    else:
        print(line)
        print(f"See {options.out / 'report.html'}, {options.out / 'gradebook.csv'} and {options.out / 'feedback'}.")
        if failed:
            print(f"Not graded: {_some(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _some(names):
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
