"""Grade a class: every submission is a job on an executor, every result is stored as it comes."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from dpcourse.grading import collect, submission
from dpcourse.grading.collect import Submission
from dpcourse.grading.fingerprint import fingerprint
from dpcourse.grading.given import Release, releases
from dpcourse.grading.result import FLAGGED, GRADED, Result, failed, unreadable
from dpcourse.grading.sandbox import Limits
from dpcourse.grading.sandbox.library import PACKAGE
from dpcourse.grading.store import Store

TRIES = 3
UNDER_WAY = 100

MakesExecutor = Callable[[], contextlib.AbstractContextManager[Executor]]
Results = Iterable[tuple[Submission, Result]]


def grade_class(
    folder: Path,
    store: Store,
    executor: MakesExecutor,
    lesson: int | None = None,
    limits: Limits | None = None,
    sandboxed: bool = True,
    course: Path | None = None,
    again: bool = False,
    progress: Callable[[Results, int], Results] = lambda results, total: results,
) -> int:
    """Grade what is not graded yet, and store it; returns how many submissions that were.

    executor: a function that makes a concurrent.futures.Executor, as a context manager. lesson: the number of the
    lesson that all submissions are, or None. course: the folder that holds lessons/. again: grade anew what is graded.
    progress(results, total): wraps the results as they come.
    """
    secret = store.secret()
    given = releases(Path(course) if course else PACKAGE.parent)
    grader = fingerprint(secret)
    to_do = [each for each in collect.submissions(folder, lesson) if again or not store.is_settled(each, grader)]

    def job(each):
        return _job(each, secret, given.get(each.lesson, Release()), limits or Limits(), sandboxed)

    for each, result in progress(_results(to_do, job, executor), len(to_do)):
        store.save(each, grader, _with_others(result, each))
    return len(to_do)


def _job(each, secret, release, limits, sandboxed):
    """The Job of a submission, or the Result where it cannot be read."""
    if each.fault:
        return unreadable(each.lesson, each.fault)
    try:
        content = each.content()
    except collect.Unreadable as error:
        return failed(each.lesson, str(error))
    return submission.Job(each.lesson, content, submission.seed_of(secret, each.digest), release, limits, sandboxed)


def _results(submissions, job_of, executor) -> Iterator[tuple[Submission, Result]]:
    """Pairs (submission, result) as they come; a few jobs at a time are under way."""
    with _UnderWay(executor) as under_way:
        for each in submissions:
            job = job_of(each)
            if isinstance(job, Result):
                yield each, job
                continue
            under_way.submit(each, job)
            if len(under_way.jobs) >= UNDER_WAY:
                yield from under_way.done()
        while under_way.jobs:
            yield from under_way.done()


class _UnderWay:
    """The jobs on an executor. One that fails is tried again; an executor that breaks is made anew."""

    def __init__(self, executor: MakesExecutor):
        self.executor, self.stack = executor, contextlib.ExitStack()
        self.jobs: dict[Future, tuple[Submission, submission.Job]] = {}
        self.tries: dict[Submission, int] = {}

    def __enter__(self):
        self.pool = self.stack.enter_context(self.executor())
        self.stack.callback(lambda: [future.cancel() for future in self.jobs])
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def submit(self, each: Submission, job: submission.Job) -> None:
        """Begin a job."""
        self.jobs[self.pool.submit(submission.grade, job)] = each, job

    def done(self) -> Iterator[tuple[Submission, Result]]:
        """Wait for a job to end; the results that there are then."""
        ended, _ = wait(self.jobs, return_when=FIRST_COMPLETED)
        if any(isinstance(future.exception(), BrokenProcessPool) for future in ended):
            ended, self.pool = set(self.jobs), self.stack.enter_context(self.executor())
        for future in ended:
            each, job = self.jobs.pop(future)
            error = future.exception()
            if error is None:
                yield each, future.result()
                continue
            self.tries[each] = self.tries.get(each, 0) + 1
            if self.tries[each] < TRIES:
                self.submit(each, job)
            else:
                yield each, failed(each.lesson, f"{type(error).__name__}: {str(error)[:300]}")


def _with_others(result, each):
    if not each.also:
        return result
    note = f"{len(each.also) + 1} notebooks of this lesson; graded is {each.file}, not {', '.join(each.also)}"
    status = FLAGGED if result.status == GRADED else result.status
    return replace(result, status=status, notes=(note, *result.notes))
