"""Grade a class: every submission is a job on an executor, every result is stored as it comes."""

import contextlib
import ctypes
import hashlib
import multiprocessing
import os
import signal
import sys
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from filelock import FileLock

from dpcourse.grading import collect, grade, handout, sandbox
from dpcourse.grading.store import Store

DATABASE = "grades.sqlite"
TRIES = 3
PATIENCE = 5
UNDER_WAY = 100


@contextlib.contextmanager
def opened(out):
    """The Store in an output folder, held by one grader at a time. Raises filelock.Timeout where another has it."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / DATABASE).touch(mode=0o600)  # it holds the secret
    with FileLock(out / ".lock", timeout=PATIENCE), Store(out / DATABASE) as store:
        yield store


def grade_class(
    folder,
    store,
    executor,
    lesson=None,
    limits=None,
    sandboxed=True,
    course=None,
    again=False,
    progress=lambda items, total: items,
):
    """Grade what is not graded yet, and store it; returns how many submissions that were.

    executor: a function that makes a concurrent.futures.Executor, as a context manager. lesson: the number of the
    lesson that all submissions are, or None. course: the folder that holds lessons/. again: grade anew what is graded.
    progress(items, total): wraps the results as they come.
    """
    secret = store.secret()
    releases = _releases(Path(course) if course else sandbox.PACKAGE.parent)
    grader = fingerprint(secret)
    submissions = list(collect.submissions(folder, lesson))
    to_do = [each for each in submissions if again or not store.is_settled(each, grader)]
    jobs = (
        (each, _job(each, secret, releases.get(each.lesson, handout.Release()), limits or sandbox.Limits(), sandboxed))
        for each in to_do
    )
    for submission, result in progress(_results(jobs, executor), len(to_do)):
        store.save(submission, grader, _with_others(result, submission))
    return len(to_do)


def _job(submission, secret, release, limits, sandboxed):
    """The Job of a submission, or the result where it cannot be read."""
    if submission.fault:
        return grade.unreadable(submission.lesson, submission.fault)
    try:
        content = submission.content()
    except collect.Unreadable as error:
        return grade.failed(submission.lesson, str(error))
    seed = grade.seed_of(secret, submission.digest)
    return grade.Job(submission.lesson, content, seed, release, limits, sandboxed)


def _results(jobs, executor):
    """Pairs (submission, result) as they come; a few jobs at a time are under way. A job that fails is tried again."""
    waiting, tries = {}, {}
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(executor())
        stack.callback(lambda: [future.cancel() for future in waiting])
        jobs = iter(jobs)
        while True:
            for submission, job in jobs:
                if not isinstance(job, grade.Job):
                    yield submission, job
                    continue
                waiting[pool.submit(grade.grade, job)] = submission, job
                if len(waiting) >= UNDER_WAY:
                    break
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done, pool = set(waiting), stack.enter_context(executor())
            for future in done:
                submission, job = waiting.pop(future)
                error = future.exception()
                if error is None:
                    yield submission, future.result()
                    continue
                tries[submission] = tries.get(submission, 0) + 1
                if tries[submission] < TRIES:
                    waiting[pool.submit(grade.grade, job)] = submission, job
                else:
                    yield submission, grade.failed(submission.lesson, f"{type(error).__name__}: {str(error)[:300]}")


def _with_others(result, submission):
    if not submission.also:
        return result
    note = f"{len(submission.also) + 1} notebooks of this lesson; graded is {submission.file}, not {', '.join(submission.also)}"
    status = grade.FLAGGED if result["status"] == grade.GRADED else result["status"]
    return result | {"status": status, "notes": [note, *result["notes"]]}


def fingerprint(secret):
    """What a stored result depends on beside the submission: the secret, and the code that asks and judges."""
    digest = hashlib.sha256(secret)
    for file in sorted(sandbox.PACKAGE.rglob("*.py")):
        if file.parent.name not in ("authoring", "grading") and file.name != "pictures.py":
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _releases(course):
    """lesson number -> Release, for the blank lessons that are in the course's folder."""
    found = {}
    for number in range(len(course.lessons())):
        for file in sorted((course / "lessons").glob(f"{number:02}-*.ipynb"))[:1]:
            found[number] = handout.release_of(file.read_bytes(), number)
    return found


# ---- executors


def local(workers=None):
    """A pool of processes on this machine; one for each core if their number is not given."""
    return ProcessPoolExecutor(
        workers or os.cpu_count() or 1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_end_with_the_parent,
        initargs=(os.getpid(),),
    )


def _end_with_the_parent(parent):
    """Die when the grader is killed, and with this process its sandboxes; leave Ctrl-C to the grader."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ctypes.c_ulong(1), ctypes.c_ulong(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(1)


@contextlib.contextmanager
def on_dask(address):
    """The executor of a Dask cluster, whose machines have dpcourse and bubblewrap. Raises OSError where none answers."""
    from distributed import Client

    with Client(address, timeout=30) as client, client.get_executor(pure=False) as pool:
        yield pool
