"""Run the cells of one submission in a worker; where one ends its worker, run all again in another without it."""

import ast
import contextlib
import time
from dataclasses import dataclass

from dpcourse import course
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Exercise
from dpcourse.checking.calling.messages import lines, one_line
from dpcourse.grading.collect import Cell
from dpcourse.grading.judge import needed
from dpcourse.grading.judge.answers import GRACE, MOST_PROBES, Answers
from dpcourse.grading.judge.exhausted import limit_in
from dpcourse.grading.judge.given import defining, parsed
from dpcourse.grading.judge.job import Job
from dpcourse.grading.judge.outcomes import LONGEST_NAME
from dpcourse.grading.run import MOST_CHECKS, Stopped
from dpcourse.grading.run.client import CROWDED, ENDED, TIME_UP, Worker

MOST_REPLAYS = 20
MOST_CELLS = 2_000
MOST_STATEMENTS = 50  # of a cell that is run statement by statement
MOST_ERRORS = 100
MOST_CLASHES = 3
LOOK_SECONDS = 5.0


@dataclass(frozen=True)
class Part:
    """A statement of a cell, by its place."""

    cell: Cell
    place: int


@dataclass(frozen=True)
class Called:
    """An answer that was called: where a check stands, counted from 1, or at the end (0)."""

    exercise: str
    check: int = 0


@dataclass(frozen=True)
class Clash:
    """A name that an answer uses, and the cell since which it is gone, or means something else."""

    name: str
    cell: Cell
    gone: bool

    def in_words(self) -> str:
        """What it is, as a clause."""
        if not self.gone:
            return say("cell {cell} gives `{name}` another meaning", cell=self.cell.number, name=self.name)
        if "%reset" in self.cell.code:
            return say("after `%reset` in cell {cell} `{name}` is gone", cell=self.cell.number, name=self.name)
        return say("after cell {cell} `{name}` is gone", cell=self.cell.number, name=self.name)


class Playing:
    """A submission's way through its workers.

    needed: the numbers of the cells that have to be run, see `needed.to_run`.
    errors: cell number -> the error with which it stopped. late: the numbers of cells that were interrupted.
    left_out: cell, or id of an exercise -> why it was left out, the cell perhaps in part only. parts: cell -> those of
    its statements that are run, of a cell that ended its worker. ended: cell -> why it was stopped then.
    exhausted: the numbers of cells that stopped since a limit was met -> which.
    clashes: id of an exercise -> its clashes. met: what the worker says that it met, see `sandbox.met`.
    given_up: why not all was reached. slow: whether waiting for a core may have cost a mark.
    """

    def __init__(self, job: Job, cells: list[Cell], answers: Answers):
        self.job, self.cells, self.answers = job, cells[:MOST_CELLS], answers
        self.needed, _ = needed.to_run(self.cells, job.release)
        self.begun = time.monotonic()
        self.errors: dict[int, str] = {}
        self.late: set[int] = set()
        self.left_out: dict[Cell | str, str] = {}
        self.parts: dict[Cell, list[str]] = {}
        self.ended: dict[Cell, str] = {}
        self.exhausted: dict[int, str] = {}
        self.clashes: dict[str, list[Clash]] = {}
        self.met: list = []
        self.given_up = say("only {most:,} cells are run", most=MOST_CELLS) if len(cells) > MOST_CELLS else None
        self.slow = False
        self._suspects: dict[Cell | Part | Called, Cell] = {}
        self._cleared: set[Cell] = set()
        self._checks_done: dict[str, int] = {}
        self._ended: set[str] = set()  # exercises that have been called at the end
        self._processes = self._end_processes = False  # whether some run on between cells; whether they may not
        self._blamed: Cell | Part | Called | None = None  # where it stopped with them
        self._failed_in: dict[str, Cell] = {}  # in whose check an answer was stopped, or ran out of time

    def play(self) -> None:
        """Play the submission, again and again without what ended it, until all answers are judged that can be."""
        ended_before = False
        for _ in range(MOST_REPLAYS):
            try:
                self._play()
                return
            except Stopped as stop:
                self.slow = self.slow or (str(stop) == TIME_UP and self.worker.crowded)
                if self.answers.allowance.left() <= 0:
                    self.given_up = say(
                        "the time limit of the whole submission, {seconds:g} seconds, was reached",
                        seconds=self.job.limits.seconds,
                    )
                    self.slow = self.slow or self.worker.waited > CROWDED * (time.monotonic() - self.begun)
                    return
                by_chance = str(stop) == ENDED and not ended_before  # what ends its worker does it again
                if not by_chance and not self._try_without_processes():
                    self._leave_out(say(str(stop)))
                ended_before = True
        self.given_up = say("it had to be stopped {times} times", times=MOST_REPLAYS)

    def defining(self, exercise: Exercise) -> list[Cell]:
        """The cells that look as if they defined the function of an exercise, the last one first."""
        return list(reversed(defining(self.cells, exercise.function)))

    def was_called_at_end(self, exercise: Exercise) -> bool:
        """Whether the end was reached, and the exercise was looked at there."""
        return exercise.id in self._ended

    # ---- one worker

    def _play(self):
        self.left_running, self.calls, self.checks_seen = [], 0, {}
        self.worker = Worker(self.job.limits, self.answers.specs(), self.job.release.modules, self.job.sandboxed)
        begun = time.monotonic()
        with self.worker:
            self.answers.allowance.started(self.worker, time.monotonic() - begun)
            for cell in self.cells:
                if cell.number in self.needed:
                    self._run(cell)
            for exercise in self.answers.exercises:
                if exercise.id not in self._ended and self.answers.find(exercise.id) and self._is_new(exercise):
                    self._call_at_end(exercise)
            with contextlib.suppress(Stopped):
                self._look_for_clashes()
                self.answers.find_reasons(self.worker)

    def _run(self, cell):
        if cell in self.parts:
            for place, code in enumerate(self.parts[cell]):
                self._run_code(Part(cell, place), cell, code)
        elif cell not in self.left_out:
            self._run_code(cell, cell, cell.code)

    def _run_code(self, step, cell, code):
        self.step = step
        seconds = self._left(self.job.limits.cell_seconds)
        request = {"cell": code, "number": cell.number, "seconds": seconds, "end_processes": self._end_processes}
        reply = self.worker.ask(request, seconds + GRACE)
        while isinstance(reply.get("check"), str):
            self._check(reply["check"], cell)
            self.step = step
            go_on = {"go_on": True, "right": self.answers.is_right(course.id_of(reply["check"]))}
            reply = self.worker.ask(go_on, self._left(self.job.limits.cell_seconds) + GRACE)
        if reply.get("late") is True:
            self.late.add(cell.number)
            self.slow = self.slow or self.worker.crowded
            if seconds < self.job.limits.cell_seconds:
                self.answers.allowance.use_up()
        if isinstance(reply.get("error"), str) and len(self.errors) < MOST_ERRORS:
            self.errors[cell.number] = one_line(reply["error"])
            if limit := limit_in(lines(reply.get("because"))):
                self.exhausted[cell.number] = limit
        if reply.get("left_running") is True:
            self.left_running.append(cell)
        self._processes = self._processes or reply.get("processes") is True

    def _check(self, name, cell):
        """A cell calls `check`: probe the answer, where that may change its mark."""
        self.calls += 1
        if self.calls > MOST_CHECKS:
            raise Stopped(to_say("it called `check` too often"))
        exercise = self.answers.find(name)
        if exercise is None or exercise.id in self._ended:
            return
        id = exercise.id
        self.checks_seen[id] = number = self.checks_seen.get(id, 0) + 1
        if self._checks_done.get(id, 0) < number <= MOST_PROBES and self._is_new(exercise, cell):
            self.step = Called(id, number)
            self.cell_of_check = cell
            self.answers.probe_at_check(self.worker, exercise, cell.number)
            self._checks_done[id] = number
            if id in self.answers.too_slow:
                self._failed_in[id] = cell

    def _call_at_end(self, exercise):
        self.step = Called(exercise.id)
        self.answers.probe_at_end(self.worker, exercise)
        self._ended.add(exercise.id)

    def _is_new(self, exercise, here=None):
        """Whether an answer has not failed by time or worse in a check, or a cell below that one defines it anew."""
        failed = self._failed_in.get(exercise.id)
        last = here.number if here else self.cells[-1].number if self.cells else 0
        return failed is None or any(failed.number < cell.number <= last for cell in self.defining(exercise))

    def _look_for_clashes(self):
        reply = self.worker.ask({"clashes": True}, self._left(LOOK_SECONDS))
        told, self.met = reply.get("clashes"), _short(reply.get("met"))
        cells = {cell.number: cell for cell in self.cells}
        for exercise in self.answers.exercises:
            found = told.get(exercise.function) if isinstance(told, dict) else None
            for name, where in list(found.items())[:MOST_CLASHES] if isinstance(found, dict) else ():
                number, gone = where if isinstance(where, tuple) and len(where) == 2 else (None, None)
                if name.isidentifier() and type(number) is int and number in cells:
                    clash = Clash(one_line(name, LONGEST_NAME), cells[number], gone is True)
                    self.clashes.setdefault(exercise.id, []).append(clash)

    def _left(self, most):
        left = min(most, self.answers.allowance.left())
        if left <= 0:
            raise Stopped(TIME_UP)
        return left

    # ---- what ended a worker

    def _try_without_processes(self):
        """Whether to play again, with no process that runs on between cells, before anything is left out.

        Where it stops there all the same, they were innocent.
        """
        if self._processes and self._blamed is None:
            self._blamed, self._end_processes = self.step, True
            return True
        if self._blamed == self.step:
            self._end_processes = False
        return False

    def _leave_out(self, reason):
        """Leave out a cell that left a thread running, else the step at which it stopped.

        Where it stops there all the same, the suspect was innocent.
        """
        if self.step in self._suspects:
            innocent = self._suspects.pop(self.step)
            self._cleared.add(innocent)
            del self.left_out[innocent]
            suspect = None
        else:
            suspect = next((cell for cell in reversed(self.left_running) if cell not in self._cleared), None)
        if suspect:
            self._suspects[self.step] = suspect
            self.left_out[suspect] = reason
        else:
            self._leave_out_step(self.step, reason)

    def _leave_out_step(self, step, reason):
        if isinstance(step, Called):
            self.left_out[step.exercise] = reason
            if step.check:
                self._checks_done[step.exercise] = step.check
                self._failed_in[step.exercise] = self.cell_of_check
            else:
                self._ended.add(step.exercise)
        elif isinstance(step, Part):
            self.left_out[step.cell] = reason
            del self.parts[step.cell][step.place :]
        elif statements := _statements(step.code):
            self.parts[step], self.ended[step] = statements, reason  # now it shows at which of them it stops
        else:
            self.left_out[step] = reason


def _short(met):
    """What a worker says that it met, no word of it longer than a name may be."""
    rows = (each for each in met if isinstance(each, tuple)) if isinstance(met, list) else ()
    return [tuple(one_line(part, LONGEST_NAME) if isinstance(part, str) else part for part in row) for row in rows]


def _statements(code):
    """The statements of a cell, each as code; none where it has but one, too many, or magics."""
    tree = parsed(code)
    if tree is None or not 1 < len(tree.body) <= MOST_STATEMENTS:
        return []
    try:
        return [ast.unparse(each) for each in tree.body]
    except RecursionError:
        return []
