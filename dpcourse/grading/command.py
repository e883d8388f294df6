"""What `dpcourse grade` does, step by step."""

import functools
import importlib.util
import json
import os
import sys
from collections import Counter

from filelock import Timeout
from tqdm import tqdm

from dpcourse import course
from dpcourse.doctor import PIP
from dpcourse.grading import executors, gradebook, report
from dpcourse.grading.cohort import grade_class
from dpcourse.grading.options import Options
from dpcourse.grading.result import NOT_GRADED
from dpcourse.grading.sandbox import Limits, bubblewrap
from dpcourse.grading.store import DATABASE, opened

SHORTEST_SECRET = 16


class Refused(Exception):
    """Nothing was done; says why, and what would help."""


def run_command(options: Options) -> int:
    """Do what the options ask; returns the exit status. Raises Refused, ValueError, OSError."""
    if options.submissions is None and not (options.explain or options.override):
        raise Refused("Which folder? `dpcourse grade SUBMISSIONS`, or `--explain`, or `--override`.")
    if options.submissions is None and not (options.out / DATABASE).exists():
        raise Refused(f"There are no grades in {options.out} yet: `dpcourse grade SUBMISSIONS --out {options.out}`.")
    try:
        with opened(options.out) as store:
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
    _refuse(options)
    if options.seed_file:
        store.secret(_secret_in(options.seed_file))
    return grade_class(
        options.submissions,
        store,
        _executor(options),
        lesson=options.lesson,
        limits=Limits(options.cell_seconds, options.seconds, options.memory * 2**20),
        sandboxed=not options.no_sandbox,
        course=options.course,
        again=options.again,
        progress=functools.partial(_bar, hidden=options.as_json),
    )


def _refuse(options):
    """Raise Refused or ValueError where the options ask for what cannot be done here."""
    if not hasattr(os, "fork"):
        raise Refused("Grading needs Linux or macOS; on Windows, run it in WSL.")
    if not options.submissions.is_dir():
        raise Refused(f"{options.submissions} is no folder.")
    if options.lesson is not None:
        course.lesson(options.lesson)
    if options.dask and importlib.util.find_spec("distributed") is None:
        raise Refused(f"--dask needs the package distributed: run `{PIP} install distributed`.")
    lacking = None if options.no_sandbox or options.dask else bubblewrap.missing()
    if lacking:
        raise Refused(f"No sandbox: {lacking}. Mend that, or say --no-sandbox if you trust every notebook.")


def _executor(options):
    if options.dask:
        return functools.partial(executors.on_dask, options.dask)
    return functools.partial(executors.local, options.jobs)


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
            counts[result.status] += 1
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
    _row(store, student, exercise.lesson)
    store.override(student, exercise_id, points, reason)


def _explain(store, student, exercise_id):
    exercise = course.find(exercise_id)
    row = _row(store, student, exercise.lesson)
    print("\n".join(report.explanation(row, exercise, store.secret())))


def _say(options, rows, now):
    line, told = report.summary(rows)
    told["graded_now"] = now
    failed = [row.student for row in rows if row.result.status in NOT_GRADED]
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
