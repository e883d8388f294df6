"""Grade a class: every submission is a job on an executor, every result is stored as it comes."""

import contextlib
import functools
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from dpcourse import course as all_lessons
from dpcourse.course import Values
from dpcourse.grading import collect
from dpcourse.grading.collect import Submission
from dpcourse.grading.judge import fingerprint, per_student, tasks
from dpcourse.grading.judge.given import Release, blanks, release_of
from dpcourse.grading.judge.job import Job, allowed, seed_of
from dpcourse.grading.keep.store import Store
from dpcourse.grading.result import FLAGGED, GRADED, INFRASTRUCTURE, Graded, Result, failed, unreadable, with_marks
from dpcourse.grading.run import Limits
from dpcourse.grading.run.library import PACKAGE

TRIES = 3
UNDER_WAY = 100

MakesExecutor = Callable[[], contextlib.AbstractContextManager[Executor]]
Results = Iterable[tuple[Submission, Graded]]


@dataclass(frozen=True)
class Run:
    """What grading a class came to: how many submissions were graded, and of how many others single exercises anew.

    kept: (student, reason) of each of whom something could not be graded again, and whose earlier marks stay. unread,
    notes: see collect.Collected.
    """

    graded: int
    judged: int
    kept: tuple[tuple[str, str], ...]
    unread: tuple[collect.Unread, ...]
    notes: tuple[str, ...]


def grade_class(
    folder: Path,
    store: Store,
    executor: MakesExecutor,
    lesson: int | None = None,
    limits: Limits | None = None,
    sandboxed: bool = True,
    course: Path | None = None,
    again: bool = False,
    roster: collect.Roster | None = None,
    pack: Path | None = None,
    found: collect.Collected | None = None,
    progress: Callable[[Results, int], Results] = lambda results, total: results,
) -> Run:
    """Grade what is not graded yet, judge anew what is judged otherwise now, and store both.

    executor: a function that makes a concurrent.futures.Executor, as a context manager. lesson: the number of the only
    lesson that is looked for, or None. course: the folder that holds lessons/. again: grade anew what is graded. roster:
    who is in the class. pack: a folder whose lesson is graded too. found: what is in the folder, where somebody has
    looked already. progress(results, total): wraps the results as they come.
    """
    if found is None:
        found = collect.submissions(folder, lesson, roster)
    plan = _Plan(store, Path(course) if course else PACKAGE.parent, pack, limits or Limits(), sandboxed)
    to_do = {each: ids for each in found if (ids := None if again else plan.to_judge(each)) is None or ids}
    kept = []

    with contextlib.closing(_results(to_do, lambda each: plan.work(each, to_do[each]), executor)) as results:
        for each, graded in progress(results, len(to_do)):
            if not plan.save(each, graded, to_do[each], str(Path(folder).resolve())):
                kept.append((each.student, collect.in_a_row(graded.result.notes)))
    store.seen(found, str(Path(folder).resolve()), lesson)
    if roster:
        store.set_languages(roster.students, roster.languages)
        store.set_missing(roster.students, {each.lesson for each in found} if lesson is None else {lesson})
    whole = sum(ids is None for ids in to_do.values())
    return Run(whole, len(to_do) - whole, tuple(kept), found.unread, found.notes)


class _Plan:
    """What of a class is to be graded, what to be judged anew, and how either is stored."""

    def __init__(self, store: Store, folder: Path, pack: Path | None, limits: Limits, sandboxed: bool):
        self.store, self.pack, self.limits, self.sandboxed = store, pack, limits, sandboxed
        self.secret, folders = store.secret(), [folder, *([pack] if pack else [])]
        self.blanks = {number: files for each in folders for number, files in blanks(each).items()}
        self.given = functools.cache(self._given)
        self.running, self.judging = functools.cache(self._running), functools.cache(self._judging)

    def to_judge(self, each: Submission) -> set[str] | None:
        """See Store.to_judge."""
        grader, judges = self.running(each.lesson), self.judging(each.lesson)
        return self.store.to_judge(each, grader, judges, allowed(self.limits))

    def work(self, each: Submission, ids: set[str] | None) -> tasks.Work | Result:
        """What is to be done with a submission: all of it, or some exercises; the Result where it cannot be read."""
        if each.fault:
            return unreadable(each.lesson, each.fault)
        try:
            content = each.content()
        except collect.Gone as error:
            return failed(each.lesson, error.why)
        except collect.Unreadable as error:
            return unreadable(each.lesson, error.why)
        lesson = all_lessons.lesson(each.lesson)
        values, pack = lesson.values_of(self.secret, each.student), lesson.pack.folder if lesson.pack else None
        seed, release = seed_of(self.secret, each.digest), self._release(each.lesson, values)
        job = Job(each.lesson, content, seed, release, self.limits, self.sandboxed, pack=pack, values=values)
        if ids is None:
            return job
        evidence = self.store.evidence(each.student, each.lesson)
        return tasks.Again(job, {id: evidence.get(id, ()) for id in sorted(ids)})

    def save(self, each: Submission, graded: Graded, ids: set[str] | None, folder: str) -> bool:
        """Store what came; returns False where that would lose marks which stand, through a fault of ours."""
        before = self.store.result(each)
        if graded.result.status == INFRASTRUCTURE and before is not None and before.score is not None:
            return False
        judges = {id: judge for id, judge in self.judging(each.lesson).items() if ids is None or id in ids}
        if ids is None or before is None:
            result, code = _with_notes(graded.result, each), graded.code
            self.store.save(each, self.running(each.lesson), result, judges, graded.evidence, code, folder)
        else:
            self.store.save_again(each, with_marks(before, graded.result.exercises), judges, graded.evidence)
        return True

    def _running(self, lesson):
        return fingerprint.running(self.secret, self._release(lesson))

    def _release(self, lesson, values: Values | None = None):
        """What was given out of a lesson; to a student who has a variant, with these values."""
        if not values or lesson not in self.blanks:
            return self.given(lesson)
        return per_student.release_for(map(Path.read_bytes, self.blanks[lesson]), lesson, values)

    def _given(self, lesson):
        files = self.blanks.get(lesson)
        return release_of(map(Path.read_bytes, files), lesson) if files else Release()

    def _judging(self, lesson):
        exercises = all_lessons.lesson(lesson).exercises
        return {exercise.id: fingerprint.judging(self.secret, exercise) for exercise in exercises}


def _results(submissions, job_of, executor) -> Generator[tuple[Submission, Graded]]:
    """Pairs (submission, Graded) as they come; a few jobs at a time are under way, the slow ones alone at the end."""
    with _UnderWay(executor) as under_way:
        for each in submissions:
            job = job_of(each)
            if isinstance(job, Result):
                yield each, Graded(job)
                continue
            under_way.submit(each, job)
            if len(under_way.jobs) >= UNDER_WAY:
                yield from under_way.done()
        while under_way.jobs:
            yield from under_way.done()
        yield from under_way.again()


def _worth(graded):
    """Which of two gradings of one submission counts: where no limit took a mark, and the score is higher."""
    result = graded.result
    return result.score is not None, result.score or 0, not result.limits


class _UnderWay:
    """The jobs on an executor. One that fails is tried again; an executor that breaks is made anew."""

    def __init__(self, executor: MakesExecutor):
        self.executor, self.stack = executor, contextlib.ExitStack()
        self.jobs: dict[Future, tuple[Submission, tasks.Work]] = {}
        self.tries: dict[Submission, int] = {}
        self.slow: list[tuple[Submission, tasks.Work, Graded]] = []

    def __enter__(self):
        self.pool = self.stack.enter_context(self.executor())
        self.stack.callback(lambda: [future.cancel() for future in self.jobs])
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def submit(self, each: Submission, job: tasks.Work) -> None:
        """Begin a job."""
        self.jobs[self.pool.submit(tasks.graded, job)] = each, job

    def done(self) -> Iterator[tuple[Submission, Graded]]:
        """Wait for a job to end; what there is then, but for the slow ones, which wait for `again`."""
        ended, _ = wait(self.jobs, return_when=FIRST_COMPLETED)
        if any(isinstance(future.exception(), BrokenProcessPool) for future in ended):
            ended, self.pool = set(self.jobs), self.stack.enter_context(self.executor())
        for future in ended:
            each, job = self.jobs.pop(future)
            error = future.exception()
            if error is None:
                graded = future.result()
                if graded.slow:
                    self.slow.append((each, job, graded))
                else:
                    yield each, graded
                continue
            self.tries[each] = self.tries.get(each, 0) + 1
            if self.tries[each] < TRIES:
                self.submit(each, job)
            else:
                yield each, Graded(failed(each.lesson, f"{type(error).__name__}: {str(error)[:300]}"))

    def again(self) -> Iterator[tuple[Submission, Graded]]:
        """Grade the slow ones again, one at a time; the better of both gradings counts."""
        slow, self.slow = self.slow, []
        for each, job, before in slow:
            self.submit(each, job)
            found = []
            while self.jobs:
                found += [graded for _, graded in self.done()]
            found += [graded for _, _, graded in self.slow]
            self.slow.clear()
            yield each, max([before, *found], key=_worth)


def _with_notes(result, each):
    """The result with what is to be said of the file: a second one with answers to a lesson is somebody's to look at."""
    status = FLAGGED if each.also and not each.alone and result.status == GRADED else result.status
    return replace(result, status=status, notes=(*each.notes, *result.notes))
