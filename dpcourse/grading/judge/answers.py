"""What the answers of one submission do, and what that is worth. Each is probed where its check stands, and at the end.

The better of the two counts, so that nothing that comes below a check takes what the check gave. Both times the inputs
are the same, and whoever means to cheat has seen them when the second probe comes. That buys him time, within the limits
of his cells, and tells him nothing of what is right, unless a function of the library does. So where an exercise forbids
such functions, which is watched while an answer is called, each probe has inputs of its own: a table that a cell fills
between two probes is of no use.

An answer that draws from the `rng` that it is given gives the same for the same inputs, so that a right one fails, and a
wrong one passes, with the probabilities of one probe. One that draws by itself, or is called on new inputs each time, is
tried up to MOST_PROBES times, and once more at the end: if right it fails no more often than at one probe,
`false_failure` at most; if wrong it passes at most so many times as often.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from dpcourse import course
from dpcourse.base.languages import fields_of, say, to_say
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG, Exercise
from dpcourse.checking.cases import Cases
from dpcourse.checking.exercise import FOR_MORE, Asked
from dpcourse.grading.judge.allowance import Allowance
from dpcourse.grading.judge.exhausted import limit_in
from dpcourse.grading.judge.guarded import Failed, at_work
from dpcourse.grading.judge.job import Job, cases_of, further_rng
from dpcourse.grading.judge.outcomes import sound
from dpcourse.grading.result import UNJUDGED, Mark, told, unjudged
from dpcourse.grading.run import wire
from dpcourse.grading.run.client import Worker

MOST_PROBES = 5  # of one exercise at checks that stand in the notebook; one more comes at the end
MOST_EVIDENCE = 8 * 2**20  # bytes, of one submission
GRACE = 3.0
REASON_SECONDS = 10.0  # what finding the reason for one mistake may take; where less is left, it is not looked for
NOT_ITS_OWN = {
    "copied": to_say(
        "exercise {exercise}: when it was called, a copy of `{name}` ran: see whether the answer is the student's own"
    ),
    "begun": to_say(
        "exercise {exercise}: when it was called, it began another program (`{name}`): see whether the answer is the "
        "student's own"
    ),
    "replaced": to_say(
        "`{name}`, by which answers are called, had been replaced: see whether the answers are the student's own"
    ),
}
WORTH = {BLANK: 0, ERROR: 1, WRONG: 2, UNJUDGED: 3, RIGHT: 4}  # what was not judged may have been right


class Answers:
    """The answers of one submission: they are probed and judged here.

    marks: exercise id -> the best Mark so far. right_at: exercise id -> the cell of the check at which it was right.
    allowance: what is left of the submission's time. probed_at: exercise id -> the cells at whose checks it was probed.
    too_slow: the ids of those that ran out of time when they were probed last. exhausted: the ids of those that stopped
    then since a limit was met -> which. own: why somebody should look whether right answers are the student's own. slow:
    whether waiting for a core may have cost one its mark.
    """

    def __init__(self, job: Job):
        self.job, self.allowance = job, Allowance(job.limits.seconds)
        every = course.lesson(job.lesson).exercises_with(job.values)
        self.exercises = [each for each in every if job.exercises is None or each.id in job.exercises]
        self.marks: dict[str, Mark] = {}
        self.right_at: dict[str, int] = {}
        self.probed_at: dict[str, list[int]] = {each.id: [] for each in self.exercises}
        self.too_slow: set[str] = set()
        self.own: dict[str, None] = {}
        self.exhausted: dict[str, str] = {}
        self.slow = False
        self._cases: dict[tuple[str, int], Cases] = {}  # by exercise and probe
        self._digests: dict[tuple[str, int], str] = {}
        self._judged: dict[str, dict[bytes, Mark]] = {each.id: {} for each in self.exercises}
        self._evidence: dict[str, list[list[dict]]] = {}
        self._bytes = 0
        self._wrong: dict[str, list[dict]] = {}  # what those did at the end whose reason is to be found

    def specs(self) -> list[dict]:
        """How the worker is told of what it will be asked to call."""
        return [spec_of(exercise, self._seconds_of(exercise)) for exercise in self.exercises]

    def find(self, name: str) -> Exercise | None:
        """The exercise of that number or id, where it is to be judged and not right yet."""
        found = next((each for each in self.exercises if name in (each.number, each.id)), None)
        return None if found is None or self.is_right(found.id) else found

    def is_right(self, id: str) -> bool:
        """Whether that exercise has its mark."""
        return id in self.marks and self.marks[id].state == RIGHT

    def probe_at_check(self, worker: Worker, exercise: Exercise, cell: int) -> None:
        """Probe what a cell has given to its check."""
        outcomes = self._probed(worker, exercise)
        if outcomes is not None and self._take(exercise, outcomes).state == RIGHT:
            self.right_at[exercise.id] = cell
        self.probed_at[exercise.id].append(cell)  # from here on it is the next probe

    def probe_at_end(self, worker: Worker, exercise: Exercise) -> None:
        """Probe the function of the exercise's name, if there is one."""
        outcomes = self._probed(worker, exercise)
        if outcomes is None:
            return
        mark = self._take(exercise, outcomes)
        if mark.state == WRONG and mark == self.marks[exercise.id] and self._evidence[exercise.id]:
            self._wrong[exercise.id] = outcomes

    def find_reasons(self, worker: Worker) -> None:
        """Ask the wrong answers for more, and say why they are wrong; their marks stand already, whatever comes now."""
        for exercise in self.exercises:
            if exercise.id in self._wrong and self.allowance.left() > REASON_SECONDS:
                self._find_reason(worker, exercise, self._wrong.pop(exercise.id))

    def evidence(self) -> dict[str, tuple[list[dict], ...]]:
        """What has been seen of each exercise, see result.Graded."""
        return {id: tuple(probes) for id, probes in self._evidence.items() if probes}

    def _find_reason(self, worker, exercise, outcomes):
        def ask(further, seconds):
            request = {"probe": exercise.function, "cases": further, "seconds": seconds}
            found = sound(worker.ask(request, seconds + GRACE).get("outcomes"), seconds)
            self._keep(exercise, asked(further), found)
            return found

        def watch(cases, seconds, exchanges):
            request = {"probe": exercise.function, "cases": cases, "seconds": seconds, "exchanges": exchanges}
            reply = worker.ask(request, seconds + GRACE).get("watched")
            found = reply if isinstance(reply, list) else []
            self._keep(exercise, asked([{"exchanges": exchanges}, *cases]), [{"watched": found}])
            return found

        mark = self._mark(exercise, outcomes, Asked(ask, watch))
        if mark.state == self.marks[exercise.id].state:
            self.marks[exercise.id] = mark

    def _probed(self, worker, exercise):
        """What an answer does on the hidden inputs; None where there is no answer, or its judge fails."""
        try:
            return self._tried(worker, exercise)
        except Failed as failure:
            self._note(exercise, _unjudged(exercise, failure))
            return None

    def _tried(self, worker, exercise):
        self._asked(exercise)  # what cannot be sent has no digest
        cases, replies = self._cases_of(exercise), list[object]()

        def ask(some, seconds):
            request = {"probe": exercise.function, "cases": some, "seconds": seconds}
            reply = worker.ask(request, max(0.0, min(seconds + GRACE, self.allowance.left())))
            replies.append(reply.get("outcomes"))
            return sound(replies[-1], seconds)

        outcomes = replace(exercise, seconds=self._seconds_of(exercise)).asked_on(cases[: cases.needed], ask)
        if replies[0] is None:
            return None
        cases = at_work(exercise.aimed, cases, outcomes)
        if len(outcomes) == cases.needed < len(cases) and "value" in outcomes[-1]:
            more = ask(cases[cases.needed :], FOR_MORE)
            outcomes += [outcome for outcome in more if "timeout" not in outcome]
        self.too_slow.discard(exercise.id)
        if any("timeout" in outcome for outcome in outcomes):
            self.too_slow.add(exercise.id)
            self.slow = self.slow or worker.crowded
        self.exhausted.pop(exercise.id, None)
        if limit := limit_in(error for outcome in outcomes for error in outcome.get("because", ())):
            self.exhausted[exercise.id] = limit
        return outcomes

    def _take(self, exercise, outcomes):
        """The mark of these outcomes, which counts where none is better; of the same outcomes it is the same."""
        known = self._judged[exercise.id]
        key = self._keep(exercise, self._asked(exercise), outcomes)
        if key not in known:
            known[key] = self._mark(exercise, outcomes)
        self._note(exercise, known[key])
        if known[key].state == WRONG:  # on what was drawn, whatever came later
            self.too_slow.discard(exercise.id)
        if known[key].state == RIGHT and (why := _whose(exercise, outcomes)):
            self.own[why] = None
        return known[key]

    def _note(self, exercise, mark):
        self.marks[exercise.id] = better(self.marks.get(exercise.id), mark)

    def _keep(self, exercise, asked, outcomes):
        """Keep what was asked and what came back, as long as it is not too much; returns a key of it."""
        probe = [{"asked": asked}, *outcomes]
        try:
            packed = wire.pack(probe)
        except wire.Garbled:
            packed = repr(probe).encode(errors="replace")
            self._bytes = MOST_EVIDENCE
        key = hashlib.sha256(packed).digest()
        kept = self._evidence.setdefault(exercise.id, [])
        if key not in self._judged[exercise.id]:
            self._bytes += len(packed)
            if self._bytes > MOST_EVIDENCE:
                kept.clear()
            else:
                kept.append(probe)
        return key

    def _mark(self, exercise, outcomes, ask=None):
        try:
            return judged(exercise, self._cases_of(exercise), outcomes, ask, further_rng(exercise, self.job.seed))
        except Failed as failure:
            return _unjudged(exercise, failure)

    def _cases_of(self, exercise):
        key = self._probe_of(exercise)
        if key not in self._cases:
            self._cases[key] = at_work(cases_of, exercise, self.job.seed, key[1])
        return self._cases[key]

    def _asked(self, exercise):
        """The digest of the hidden inputs."""
        key = self._probe_of(exercise)
        if key not in self._digests:
            self._digests[key] = at_work(asked, self._cases_of(exercise))
        return self._digests[key]

    def _probe_of(self, exercise):
        """The exercise, and its next probe where each has inputs of its own."""
        return exercise.id, len(self.probed_at[exercise.id]) if exercise.forbidden else 0

    def _seconds_of(self, exercise):
        return min(exercise.seconds, self.job.limits.cell_seconds)


def _whose(exercise, outcomes):
    """Why somebody should look whether an answer that must not call something is the student's own; no mark depends on it."""
    for kind, message in NOT_ITS_OWN.items() if exercise.forbidden else ():
        for outcome in outcomes:
            if kind in outcome:
                about = {"exercise": exercise.number, "name": outcome[kind]}
                return say(message, **{name: about[name] for name in fields_of(message)})
    return None


def better(before: Mark | None, now: Mark) -> Mark:
    """The better of two marks of one exercise; of two that are as good, the later."""
    if before is None or _worth(now) >= _worth(before):
        return now
    return before


def _worth(mark):
    return WORTH[mark.state], mark.misconception is not None


def _unjudged(exercise, failure):
    return unjudged(exercise, say("its judge failed: {reason}", reason=failure.why))


def judged(exercise: Exercise, cases: Cases, outcomes: list[dict], ask: Callable | None, rng) -> Mark:
    """The Mark of what an answer did; ask, rng: see Exercise.judge. Raises judge.Failed."""
    return at_work(lambda: told(exercise.judge(exercise.aimed(cases, outcomes), outcomes, ask, rng)))


def judged_again(exercise: Exercise, seed: bytes, evidence: tuple[list[dict], ...]) -> Mark | None:
    """The Mark of an exercise from what its answers did when they were probed (see result.Graded).

    exercise: as the student has it. None where they were asked other things than they would be today, or its judge
    fails: then the submission is to be graded again. The reason for a mistake is found as far as the answer was asked
    then for what is asked now.
    """
    known = {probe[0]["asked"]: probe[1:] for probe in evidence}
    mark = None
    try:
        for number in range(1 + MOST_PROBES if exercise.forbidden else 1):
            cases = at_work(cases_of, exercise, seed, number)
            digest = at_work(asked, cases)
            for probe in evidence if digest in known else ():
                if probe[0]["asked"] == digest:
                    now = judged(exercise, cases, probe[1:], _from(known), further_rng(exercise, seed))
                    mark = better(mark, now)
    except Failed:
        return None
    return mark


def _from(known):
    def watch(cases, seconds, exchanges):
        found = known.get(asked([{"exchanges": exchanges}, *cases]))
        return found[0]["watched"] if found else []

    return Asked(lambda further, seconds: known.get(asked(further), []), watch)


def asked(cases: list[dict]) -> str:
    """A digest of inputs."""
    return hashlib.sha256(wire.pack(cases)).hexdigest()[:32]


def spec_of(exercise: Exercise, seconds: float) -> dict:
    """How the worker is told of the answer to an exercise; seconds: its time limit."""
    return {
        "function": exercise.function,
        "forbidden": [path_of(function) for function in exercise.forbidden],
        "counted": path_of(exercise.needed.function) if exercise.needed else None,
        "seconds": seconds,
    }


def path_of(function: Callable | str) -> str:
    """How a worker is told of a function of the library."""
    return function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
