"""Grade one submission: have a worker run the cells and probe the answers, and judge the data that comes back.

This is the trusted side. It reads a student's code as text only; the worker's replies are data, and are doubted.
"""

import contextlib
import hmac
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpcourse import course
from dpcourse.engine import BLANK, ERROR, WRONG, Exercise
from dpcourse.grading import collect
from dpcourse.grading.given import Release, changes
from dpcourse.grading.outcomes import sound
from dpcourse.grading.result import (
    FLAGGED,
    GRADED,
    INFRASTRUCTURE,
    LIMIT,
    Result,
    result,
    told,
    unreadable,
    without_points,
)
from dpcourse.grading.sandbox import Limits, Stopped
from dpcourse.grading.sandbox.client import ENDED, Worker
from dpcourse.grading.similar import shingles
from dpcourse.probe import limits as time_limits

MOST_REPLAYS = 20
GRACE = 3.0
JUDGE_SECONDS = 60.0
REASON_SECONDS = 10.0  # what finding the reason for one mistake may take; where less is left, it is not looked for


@dataclass(frozen=True)
class Job:
    """All that is needed to grade one submission, wherever that happens. seed: of this submission's inputs."""

    lesson: int
    content: bytes
    seed: bytes
    release: Release = field(default_factory=Release)
    limits: Limits = field(default_factory=Limits)
    sandboxed: bool = True


def seed_of(secret: bytes, digest: str) -> bytes:
    """The seed of a submission's inputs: the same for the same content, and not to be guessed without the secret."""
    return hmac.digest(secret, digest.encode(), "sha256")


def cases_of(exercise: Exercise, seed: bytes) -> list[dict]:
    """The hidden inputs of an exercise."""
    return exercise.cases(_rng(exercise, seed))


def _rng(exercise, seed, what=""):
    return np.random.default_rng(int.from_bytes(hmac.digest(seed, f"{exercise.id}{what}".encode(), "sha256")))


def grade(job: Job) -> Result:
    """The Result of a job. Raises sandbox.Unavailable where no worker could be had."""
    try:
        cells = collect.code_cells(job.content)
    except collect.Unreadable as error:
        return unreadable(job.lesson, str(error))
    return _Grading(job, cells).result()


class _Grading:
    """One submission on its way to a result."""

    def __init__(self, job, cells):
        self.job, self.cells = job, cells
        self.exercises = course.lesson(job.lesson).exercises
        self.deadline = time.monotonic() + job.limits.seconds
        self.marks, self.errors = {}, {}
        self.wrong = []
        self.left_out, self.ours, self.given_up = {}, [], None
        self.suspects, self.cleared = {}, set()

    def result(self):
        """The Result, once all exercises are judged that can be."""
        self._play_until_judged()
        return result(
            self.job.lesson,
            self._status(),
            self._notes(),
            [self.marks.get(exercise.id) or self._unjudged(exercise) for exercise in self.exercises],
            [f"cell {number}: {error}" for number, error in sorted(self.errors.items())],
            shingles(self.cells, self.job.release),
        )

    def _play_until_judged(self):
        """Play the submission, again and again without the cell that ended it."""
        ended_before = False
        for _ in range(MOST_REPLAYS):
            self.step, self.left_running = None, []
            try:
                self._play()
                return
            except Stopped as stop:
                if time.monotonic() > self.deadline:
                    limit = f"{self.job.limits.seconds:g} seconds"
                    self.given_up = f"the time limit of the whole submission, {limit}, was reached"
                    return
                if str(stop) != ENDED or ended_before:  # once may be chance: what ends its worker does it again
                    self._leave_out(str(stop))
                ended_before = True
        self.given_up = f"it had to be stopped {MOST_REPLAYS} times"

    def _leave_out(self, reason):
        """Leave out a cell that left a thread running, else the step at which it stopped.

        Where it stops there all the same, the suspect was innocent.
        """
        if self.step in self.suspects:
            innocent = self.suspects.pop(self.step)
            self.cleared.add(innocent)
            del self.left_out[innocent]
            suspect = None
        else:
            suspect = next((cell for cell in reversed(self.left_running) if cell not in self.cleared), None)
        if suspect:
            self.suspects[self.step] = suspect
        self.left_out[suspect or self.step] = reason

    def _play(self):
        probes = [self._probe_spec(exercise) for exercise in self.exercises]
        with Worker(self.job.limits, probes, self.job.release.modules, self.job.sandboxed) as worker:
            for cell in self.cells:
                if cell not in self.left_out:
                    self._run(worker, cell)
            for exercise in self.exercises:
                if exercise.id not in self.marks and exercise.id not in self.left_out:
                    self.marks[exercise.id] = self._probe(worker, exercise)
            self._find_reasons(worker)

    def _run(self, worker, cell):
        self.step = cell
        reply = worker.ask({"cell": cell.code}, self._seconds(self.job.limits.cell_seconds))
        if isinstance(reply.get("error"), str):
            self.errors[cell.number] = reply["error"]
        if reply.get("left_running") is True:
            self.left_running.append(cell)

    def _probe(self, worker, exercise):
        self.step = exercise.id
        cases = cases_of(exercise, self.job.seed)
        request = {"probe": exercise.function, "cases": cases}
        reply = worker.ask(request, self._seconds(self._answer_seconds(exercise) + GRACE))
        if reply.get("outcomes") is None:
            return self._undefined(exercise)
        outcomes = sound(reply["outcomes"], self._answer_seconds(exercise))
        mark = self._judged(exercise, cases, outcomes)
        if mark.state == WRONG:
            self.wrong.append((exercise, cases, outcomes))
        return mark

    def _find_reasons(self, worker):
        """Ask the wrong answers for more, and say why they are wrong; their marks stand already, whatever comes now."""
        wrong, self.wrong = self.wrong, []
        with contextlib.suppress(Stopped):
            for exercise, cases, outcomes in wrong:
                if self.deadline - time.monotonic() < REASON_SECONDS:
                    return

                def ask(further, seconds, exercise=exercise):
                    request = {"probe": exercise.function, "cases": further, "seconds": seconds}
                    return sound(worker.ask(request, seconds + GRACE).get("outcomes"), seconds)

                mark = self._judged(exercise, cases, outcomes, ask, _rng(exercise, self.job.seed, "further"))
                if mark.state == self.marks[exercise.id].state:
                    self.marks[exercise.id] = mark

    def _probe_spec(self, exercise):
        return {
            "function": exercise.function,
            "forbidden": [_path(function) for function in exercise.forbidden],
            "counted": _path(exercise.needed.function) if exercise.needed else None,
            "seconds": self._answer_seconds(exercise),
        }

    def _answer_seconds(self, exercise):
        return min(exercise.seconds, self.job.limits.cell_seconds)

    def _seconds(self, most):
        return max(0.0, min(most, self.deadline - time.monotonic()))

    def _judged(self, exercise, cases, outcomes, ask=None, rng=None):
        try:
            with time_limits.time_limit(JUDGE_SECONDS):
                return told(exercise.judge(cases, outcomes, ask, rng))
        except Stopped:
            raise
        except (Exception, time_limits.TimeUp) as error:
            self.ours.append(f"{exercise.id}: the judge failed with {type(error).__name__}")
            return without_points(exercise, ERROR, "This could not be judged, through no fault of yours.")

    def _undefined(self, exercise):
        """The mark where no cell has defined the function: because one failed, or was left out, or nobody wrote it."""
        definition = re.compile(rf"^[ \t]*(def[ \t]+)?{exercise.function}[ \t]*[(=]", re.MULTILINE)
        for cell in reversed(self.cells):
            if definition.search(cell.code):
                if cell in self.left_out:
                    why = (
                        f"Cell {cell.number}, which defines `{exercise.function}`, was left out: {self.left_out[cell]}."
                    )
                    return without_points(exercise, ERROR, why)
                if cell.number in self.errors:
                    error = self.errors[cell.number]
                    why = f"Cell {cell.number}, which should define `{exercise.function}`, stopped with {error}"
                    return without_points(exercise, ERROR, why)
        return without_points(exercise, BLANK, f"No cell defines `{exercise.function}`.")

    def _unjudged(self, exercise):
        if exercise.id in self.left_out:
            why = f"Calling `{exercise.function}` had to be stopped: {self.left_out[exercise.id]}."
        else:
            why = f"This was not reached: {self.given_up}."
        return without_points(exercise, ERROR, why)

    def _status(self):
        if self.ours:
            return INFRASTRUCTURE
        if self.left_out or self.given_up:
            return LIMIT
        return FLAGGED if self._changes() else GRADED

    def _notes(self):
        stopped = [
            f"cell {step.number} was left out: {reason}"
            if isinstance(step, collect.Cell)
            else f"exercise {step} was stopped: {reason}"
            for step, reason in self.left_out.items()
        ]
        given_up = [self.given_up] if self.given_up else []
        return [*self.ours, *given_up, *stopped, *self._changes()]

    def _changes(self):
        return changes(self.cells, self.job.release.provided)


def _path(function: Callable) -> str:
    """How a worker is told of a function of the library."""
    return f"{function.__module__}:{function.__qualname__}"
