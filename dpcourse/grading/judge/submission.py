"""Grade one submission: have a worker run the cells and probe the answers, and judge the data that comes back.

This is the trusted side. It reads a student's code as text only; the worker's replies are data, and are doubted.
"""

from dataclasses import replace

from dpcourse import course
from dpcourse.base.languages import listed, say, sentences, to_say
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG
from dpcourse.grading import collect
from dpcourse.grading.judge.answers import Answers, judged_again
from dpcourse.grading.judge.causes import first_cause
from dpcourse.grading.judge.given import changes
from dpcourse.grading.judge.job import Job, allowed, cases_of, seed_of
from dpcourse.grading.judge.per_student import another_answer, another_notebook
from dpcourse.grading.judge.playing import Playing
from dpcourse.grading.judge.similar import shingles
from dpcourse.grading.judge.versions import OURS, newer_python_of, unknown_syntax
from dpcourse.grading.result import (
    FLAGGED,
    GRADED,
    LIMIT,
    UNJUDGED,
    Graded,
    result,
    unjudged,
    unreadable,
    without_points,
)
from dpcourse.grading.run import differences

__all__ = ["Job", "allowed", "cases_of", "grade", "judged_again", "seed_of"]


def grade(job: Job) -> Graded:
    """The Graded of a job. Raises sandbox.Unavailable where no worker could be had."""
    if job.pack:
        course.use_pack(job.pack)
    try:
        cells = collect.code_cells(job.content)
    except collect.Unreadable as error:
        return Graded(unreadable(job.lesson, error.why))
    return _Grading(job, cells).graded()


class _Grading:
    """One submission on its way to a result."""

    def __init__(self, job, cells):
        self.job, self.cells = job, cells
        self.answers = Answers(job)
        self.playing = Playing(job, cells, self.answers)
        self.newer: set[int] = set()  # cells in the syntax of a newer Python than this
        self.exhausted: list[str] = []  # which limits took a mark by an error
        self.began: dict[int, list[str]] = {}  # cell that stopped -> the exercises that lack what it should define

    def graded(self):
        """The Graded, once all exercises are judged that can be."""
        self.playing.play()
        self.newer = unknown_syntax(self.job.content, self.playing.errors)
        marks = [self._with_cause(self._mark(exercise)) for exercise in self.answers.exercises]
        self.exhausted = self._exhausted(marks)
        lost = self._limits_took(marks)
        found = result(
            self.job.lesson,
            self._status(),
            self._notes(any(mark.state in (WRONG, ERROR) for mark in marks)),
            marks,
            [
                say("cell {cell}: {error}", cell=number, error=error)
                for number, error in sorted(self.playing.errors.items())
            ],
            shingles(self.cells, self.job.release),
            allowed(self.job.limits) if lost else (),
        )
        return Graded(found, self.answers.evidence(), slow=lost and (self.playing.slow or self.answers.slow))

    def _mark(self, exercise):
        """The mark of an exercise, with what of the notebook itself stood in its way."""
        found = self.answers.marks.get(exercise.id)
        if found is None or found.state != RIGHT:
            for cell in self.playing.defining(exercise):
                if cell.number in self.newer:
                    return self._unknown_to_us(exercise, cell.number)
        if found is None or found.state == BLANK:
            found = self._prevented(exercise, found) or found
        if found is None:
            return without_points(exercise, BLANK, say("No cell defines `{function}`.", function=exercise.function))
        if found.state == UNJUDGED:
            return found
        if found.state == RIGHT:
            at = self.answers.right_at.get(exercise.id)
            clashes = [each for each in self._clashes(exercise) if at is not None and each.cell.number >= at]
        else:
            clashes = self._clashes_before(exercise)
        if not clashes:
            return found
        what = collect.in_a_row(each.in_words() for each in clashes)
        if found.state == RIGHT:
            more = say("Below its check {clashes}; it was right there, and that counts.", clashes=what)
        else:
            more = say("In your notebook {clashes}: your function uses it.", clashes=what)
        return replace(found, message=sentences([found.message, more]))

    def _with_cause(self, mark):
        """The mark, with the cell that stopped before it came to what the answer lacks."""
        if mark.state != ERROR:
            return mark
        stopped = self._stopped()
        found = first_cause(mark.message, self.playing.cells, stopped)
        if found is None:
            return mark
        cell, name = found
        if cell in self.newer:
            return self._unknown_to_us(next(each for each in self.answers.exercises if each.id == mark.id), cell)
        self.began.setdefault(cell, []).append(mark.number)
        why = say("{cause:A}; so `{name}` is not there.", cause=stopped[cell], name=name)
        return replace(mark, message=sentences([why, mark.message]))

    def _unknown_to_us(self, exercise, cell):
        """The mark of an exercise that depends on a cell which this Python cannot read, and another may."""
        message = to_say(
            "cell {cell} may be in syntax that Python {ours}, which grades, does not know: the notebook was written with "
            "Python {theirs}; grade it with Python {theirs} or newer"
        )
        why = say(message, cell=cell, ours=OURS, theirs=newer_python_of(self.job.content))
        return unjudged(exercise, why)

    def _stopped(self):
        """number of a cell -> that it stopped, and how, of those that did not come to their end."""
        playing, found = self.playing, {}
        for number, error in playing.errors.items():
            found[number] = say("cell {cell} stopped with {error}", cell=number, error=error)
        for number in playing.late:
            found[number] = self._late(number)
        for step, why in playing.left_out.items():
            if isinstance(step, collect.Cell):
                found[step.number] = say("cell {cell} was left out: {reason}", cell=step.number, reason=why)
        return found

    def _clashes(self, exercise):
        return self.playing.clashes.get(exercise.id, [])

    def _clashes_before(self, exercise):
        """The clashes that may have cost a mark: none stands below a check at which it was not right already."""
        mark = self.answers.marks.get(exercise.id)
        first = min(self.answers.probed_at[exercise.id], default=None)
        if mark is None or mark.state not in (WRONG, ERROR):
            return []
        return [each for each in self._clashes(exercise) if first is None or each.cell.number < first]

    def _prevented(self, exercise, blank):
        """The mark of an answer that could not be called as it should; None where nothing was in its way."""
        playing = self.playing
        if exercise.id in playing.left_out:
            why = say(
                "Calling `{function}` had to be stopped: {reason}.",
                function=exercise.function,
                reason=playing.left_out[exercise.id],
            )
            return without_points(exercise, ERROR, why)
        for cell in playing.defining(exercise):
            if why := self._stopped_in(cell, exercise.function, blank):
                return without_points(exercise, ERROR, why)
        if playing.was_called_at_end(exercise):
            return None
        return without_points(exercise, ERROR, say("This was not reached: {reason}.", reason=playing.given_up))

    def _stopped_in(self, cell, function, blank):
        """How a cell stopped that should define a function; None where it did not, or where what is there is blank."""
        playing, of = self.playing, {"cell": cell.number, "function": function}
        if cell in playing.left_out:
            message = to_say("Cell {cell}, which should define `{function}`, was left out: {reason}.")
            return say(message, reason=playing.left_out[cell], **of)
        if not blank and cell.number in playing.late:
            message = to_say(
                "Cell {cell}, which should define `{function}`, did not end within {seconds:g} seconds and was interrupted."
            )
            return say(message, seconds=self.job.limits.cell_seconds, **of)
        if not blank and cell.number in playing.errors:
            message = to_say("Cell {cell}, which should define `{function}`, stopped with {error}")
            return say(message, error=playing.errors[cell.number], **of)
        return None

    def _status(self):
        if self._met_a_limit():
            return LIMIT
        return FLAGGED if self._to_look_at() else GRADED

    def _notes(self, lost):
        """lost: whether a mark is."""
        began = [
            say(
                "{cause}; exercises that need what it should define: {exercises}",
                cause=self._stopped()[cell],
                exercises=listed(ids, "{first}, {then}"),
            )
            for cell, ids in sorted(self.began.items())
        ]
        functions = {exercise.function for exercise in self.answers.exercises}
        met_here = differences.in_words(self.playing.met, {cell.number for cell in self.cells}, functions, lost)
        given_up = [self.playing.given_up] if self.playing.given_up else []
        left_out = [self._left_out(step, reason) for step, reason in self.playing.left_out.items()]
        late = [self._late(number) for number in sorted(self.playing.late)]
        apart = [
            say(
                "cell {cell} was stopped, and then run statement by statement: {reason}",
                cell=cell.number,
                reason=reason,
            )
            for cell, reason in self.playing.ended.items()
            if cell not in self.playing.left_out and cell.number not in self.playing.late
        ]
        stopped = [*given_up, *left_out, *apart, *late, *self.exhausted]
        return [*began, *stopped, *met_here, *self._to_look_at()]

    def _met_a_limit(self):
        playing = self.playing
        return playing.left_out or playing.ended or playing.late or playing.given_up or self.exhausted

    def _exhausted(self, marks):
        """Which limits may have taken a mark though nothing had to be stopped: an error told of them."""
        lost = {mark.id for mark in marks if mark.state in (WRONG, ERROR)}
        cells = self.playing.exhausted.items() if lost else ()
        answers = self.answers.exhausted.items()
        return [
            *(say("cell {cell} met a limit: {reason}", cell=number, reason=say(why)) for number, why in sorted(cells)),
            *(
                say("exercise {exercise} met a limit: {reason}", exercise=course.number_of(id), reason=say(why))
                for id, why in answers
                if id in lost
            ),
        ]

    def _left_out(self, step, reason):
        if not isinstance(step, collect.Cell):
            return say("exercise {exercise} was stopped: {reason}", exercise=course.number_of(step), reason=reason)
        if step in self.playing.parts:
            return say(
                "cell {cell} was left out from its statement {place} on: {reason}",
                cell=step.number,
                place=len(self.playing.parts[step]) + 1,
                reason=reason,
            )
        return say("cell {cell} was left out: {reason}", cell=step.number, reason=reason)

    def _late(self, number):
        return say(
            "cell {cell} did not end within {seconds:g} seconds and was interrupted",
            cell=number,
            seconds=self.job.limits.cell_seconds,
        )

    def _to_look_at(self):
        """What an instructor should look at."""
        lost = [
            say("exercise {exercise}: {clash}", exercise=each.number, clash=clash.in_words())
            for each in self.answers.exercises
            for clash in self._clashes_before(each)
        ]
        return [*lost, *self.answers.own, *self._of_another_variant(), *changes(self.cells, self.job.release.provided)]

    def _of_another_variant(self):
        """Where the student has a variant: what is in the notebook of another one."""
        job, found = self.job, []
        if job.values:
            found = another_notebook(self.cells, job.lesson, job.values)
            for exercise in self.answers.exercises:
                mark = self.answers.marks.get(exercise.id)
                if mark is not None and mark.state == WRONG:
                    found += another_answer(exercise, job, self.answers.evidence().get(exercise.id, ()))
        return found

    def _limits_took(self, marks):
        return bool(self._met_a_limit() or self.answers.too_slow) and any(mark.state != RIGHT for mark in marks)
