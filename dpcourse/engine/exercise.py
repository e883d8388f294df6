"""What an exercise is and how an answer is judged.

An answer goes through two steps that share plain data only, so that they can run in two processes:
`probe` calls the learner's function on inputs drawn afresh; `judge` never sees the function, only what
it gave. A wrong answer that behaves like a known misconception gets that misconception's message.
"""

import html
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpcourse.probe.probe import Probe, arguments
from dpcourse.probe.values import plain, show

RIGHT, WRONG, BLANK, ERROR = "right", "wrong", "not attempted", "error"
MOST_PRINTED, MOST_LINES = 500, 8
CONVINCED = 0.999  # of an audit that is shown beside an answer known to be wrong


@dataclass(frozen=True)
class Misconception:
    """A named wrong answer: `code` makes the mistake, `message` tells it to the learner who made it.

    recognise(cases, values) -> bool: only where `code` is one of many answers that make the mistake.
    """

    name: str
    message: str
    code: Callable
    recognise: Callable | None = None


@dataclass(frozen=True)
class Verdict:
    """What is said of one answer: its state, one message, what was observed, and points.

    withheld: how each line of `observed` ends where the end gives the right answer away.
    audit: the Audit that the answer did not stand, if there was one.
    """

    exercise: "Exercise"
    state: str
    message: str
    observed: tuple[str, ...] = ()
    misconception: str | None = None
    printed: str = ""
    withheld: tuple[str, ...] = ()
    audit: "Audit | None" = None

    @property
    def seen(self):
        """What was observed, without what is right."""
        pairs = itertools.zip_longest(self.observed, self.withheld, fillvalue="")
        return tuple(line.removesuffix(end) for line, end in pairs)

    @property
    def points(self):
        return self.exercise.points if self.state == RIGHT else 0

    @property
    def headline(self):
        points = f"{self.exercise.points} point{'s' * (self.exercise.points != 1)}"
        said = {RIGHT: f"passed ({points})", WRONG: "not yet", BLANK: "not attempted", ERROR: "could not be judged"}
        return f"{self.exercise.id} {self.exercise.title}: {said[self.state]}"

    def __repr__(self):
        return "\n".join([self.headline, self.message, *self.observed, *self._next(), *self._printed()])

    def _repr_html_(self):
        mark, colour = {
            RIGHT: ("✓", "#1b7f3b"),
            WRONG: ("✗", "#b3261e"),
            BLANK: ("○", "#5f6368"),
            ERROR: ("!", "#9a5b00"),
        }[self.state]
        audit = str(self.audit)  # a sentence; the other lines are calls and numbers
        lines = (html.escape(line) if line == audit else f"<code>{html.escape(line)}</code>" for line in self.observed)
        observed = "".join(f"<li>{line}</li>" for line in lines)
        after = "".join(f"<p style='margin:.3em 0'>{as_code(line)}</p>" for line in self._next())
        printed = "".join(f"<pre style='margin:.3em 0'>{html.escape(text)}</pre>" for text in self._printed())
        return (
            f"<div role='status' style='border-left:4px solid {colour};padding:.3em .8em;margin:.3em 0'>"
            f"<p style='margin:.3em 0'><strong><span aria-hidden='true'>{mark}</span> "
            f"{html.escape(self.headline)}</strong></p>"
            f"<p style='margin:.3em 0'>{as_code(self.message)}</p>"
            f"{f'<ul style=margin:.3em>{observed}</ul>' if observed else ''}{after}{printed}</div>"
        )

    def _printed(self):
        if self.printed:
            yield f"Printed by your function:\n{self.printed}"

    def _next(self):
        if self.state in (WRONG, ERROR) and self.exercise.hints:
            yield f'For help, run `hint("{self.exercise.id}")` in a cell.'


@dataclass(frozen=True)
class Audit:
    """What an attack on an answer is given, and what it found.

    promise: the TradeOff that the answer was to keep, and its name. scores_in, scores_out: scores of its releases with
    one person and without. found: an audit.Refutation, or None.
    """

    name: str
    promise: Callable
    scores_in: np.ndarray
    scores_out: np.ndarray
    found: object = None

    def at(self, confidence):
        """The same with what is found at that confidence."""
        from dpcourse.audit import refutation

        return replace(self, found=refutation(self.promise, self.scores_in, self.scores_out, confidence))

    def __str__(self):
        alpha, beta, least = self.found.as_text
        return (
            f"An audit, {len(self.scores_in)} releases with one person more and {len(self.scores_out)} without: this test tells your "
            f"neighbours apart better than {self.name} allows. False alarms are at most {alpha} and misses at most "
            f"{beta} (with confidence {self.found.confidence:g}); with {self.name} the misses would be at least {least}."
        )


@dataclass(frozen=True)
class Option:
    """One option of a quiz question, and why it is right or wrong."""

    text: str
    right: bool
    why: str

    @property
    def reply(self):
        return f"✓ Right. {self.why}" if self.right else f"✗ Not quite. {self.why}"


@dataclass(frozen=True)
class Question:
    """A quiz question; exactly one option is right."""

    text: str
    options: tuple[Option, ...]


def as_code(text):
    """HTML of a line of text in which `code` stands in backticks."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


@dataclass(frozen=True, kw_only=True)
class Exercise(Probe):
    """One exercise: what the learner sees of it, how inputs are drawn, and how what comes back is judged.

    reference: a right answer. How an answer is called stands in Probe.
    draw(rng) -> list of cases, each a dict argument -> plain value. A case's `rng` holds a seed.
    returns(value, case) -> None, or a complaint about type, shape or range.
    rtol, atol: how close a number must be.
    """

    id: str = ""
    title: str
    good_for: str
    difficulty: int
    minutes: int
    points: int
    draw: Callable
    reference: Callable
    returns: Callable
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    rtol: float = 1e-6
    atol: float = 1e-12

    @property
    def lesson(self) -> int:
        """The number of its lesson."""
        return int(self.id.partition(".")[0])

    def blank(self):
        """The verdict on an answer that nobody has begun."""
        message = f"Write the body of `{self.function}`, run its cell, then run this cell again."
        return Verdict(self, BLANK, message)

    def check(self, answer, rng=None):
        """Draw inputs, probe the answer on them, and judge. rng: Generator, seed or None."""
        cases = self.cases(np.random.default_rng(rng))
        return self.judge(cases, self.probe(answer, cases))

    def cases(self, rng):
        """Inputs on which the reference and the misconceptions all differ: drawn again until they do."""
        codes = [self.reference, *(slip.code for slip in self.misconceptions)]
        for _ in range(100):
            cases = self.draw(rng)
            results = [[plain(code(*arguments(case))) for case in cases] for code in codes]
            if not any(self._same(one, other) for one, other in itertools.combinations(results, 2)):
                return cases
        raise RuntimeError(f"exercise {self.id}: no inputs in 100 draws tell its misconceptions apart")

    def judge(self, cases, outcomes):
        """The Verdict on what came back, from data alone."""
        return replace(self._judge(cases, outcomes), printed=_printed(outcomes))

    def _judge(self, cases, outcomes):
        for case, outcome in zip(cases, outcomes, strict=False):
            if outcome.get("blank"):
                return self.blank()
            complaint = self._complaint(case, outcome)
            if complaint:
                return Verdict(self, ERROR, complaint, (self._tried(case, outcome),))
        if len(outcomes) != len(cases):
            return Verdict(self, ERROR, f"Your function gave {len(outcomes)} answers to {len(cases)} questions.")
        values = [outcome["value"] for outcome in outcomes]
        if self.agrees(cases, values, self.reference):
            for case, outcome in zip(cases, outcomes, strict=True):
                if "calls" in outcome and outcome["calls"] < self.needed[1](case):
                    return Verdict(self, WRONG, self.needed[2], (self._tried(case, outcome),))
            return Verdict(self, RIGHT, "Right on inputs drawn just now.")
        told = self.observed(cases, values)
        told = {"observed": tuple(map("".join, told)), "withheld": tuple(end for _, end in told)}
        audit = self.audit(cases, values)
        if audit is not None:
            told |= {"observed": (*told["observed"], str(audit)), "audit": audit}
        for slip in self.misconceptions:
            if self.behaves_like(slip, cases, values):
                return Verdict(self, WRONG, slip.message, misconception=slip.name, **told)
        return Verdict(self, WRONG, self.unknown_mistake(cases, values), **told)

    def unknown_mistake(self, cases, values):
        """What can be said where no misconception fits: slips that occur with every number, or nothing."""
        expected = [plain(self.reference(*arguments(case))) for case in cases]
        if all(isinstance(item, bool) for item in (expected[0] if isinstance(expected[0], list) else expected[:1])):
            right = sum(map(self._close, values, expected))
            return f"Right on {right} of {len(cases)} inputs, and the mistake is none that we know."
        for digits in range(7):
            if self._same(values, [np.round(value, digits) for value in expected]):
                return "Right, but rounded. Return the number as it is; a caller can still round it."
        if self._same(values, [np.negative(value) for value in expected]):
            return "Right, but with the opposite sign."
        if self._same(values, [np.multiply(value, 100) for value in expected]):
            return "Right, but 100 times too large. Return a share, not a percentage."
        if isinstance(expected[0], tuple) and all(np.shape(value) == np.shape(expected[0]) for value in values):
            good = [
                i
                for i, right in enumerate(zip(*expected, strict=True), 1)
                if self._same([value[i - 1] for value in values], right)
            ]
            if good:
                return f"Of the numbers you return, number {good[0]} is right. Look at the other."
        return "The result is not right, and it is none of the mistakes that we know."

    def behaves_like(self, slip, cases, values):
        """Whether these values are what the misconception gives."""
        if slip.recognise is not None:
            return slip.recognise(cases, values)
        return self.agrees(cases, values, slip.code)

    def agrees(self, cases, values, function):
        """Whether these values are those of `function`, on every case."""
        return self._same(values, [plain(function(*arguments(case))) for case in cases])

    def observed(self, cases, values):
        """The first case on which the answer is off, in one pair: what it gave, and what is right."""
        for case, value in zip(cases, values, strict=True):
            expected = plain(self.reference(*arguments(case)))
            if not self._close(value, expected):
                return ((f"{self.call(case)} gave {show(value)}", f"; right is {show(expected)}"),)
        return ()

    def audit(self, cases, values):
        """The Audit that a wrong answer did not stand; without an attack there is none."""

    def _same(self, values, others):
        return all(self._close(value, other) for value, other in zip(values, others, strict=True))

    def _close(self, value, expected):
        try:
            value, expected = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
        except (TypeError, ValueError):
            return False
        return value.shape == expected.shape and np.allclose(value, expected, self.rtol, self.atol)

    def _complaint(self, case, outcome):
        match outcome:
            case {"timeout": seconds}:
                return (
                    f"Your function did not finish: the limit is {seconds:g} seconds for one check. "
                    "Is there a loop that never ends, or one that could be an array operation?"
                )
            case {"not_callable": kind}:
                return f"`check` needs the function itself, not {kind}: write its name without brackets behind it."
            case {"signature": signature}:
                return f"Your function must take these arguments, in this order: `{signature}`."
            case {"forbidden": name}:
                return f"Your function calls `{name}`, which is the very thing to write here. Write it yourself."
            case {"changed": name}:
                return (
                    f"Your function changes `{name}`, which belongs to the caller. Work on a copy, or build a new one."
                )
            case {"raised": raised}:
                return raised
            case {"value": None, "printed_count": count} if count:
                return "Your function printed something and returned nothing (None). Use `return` in place of `print`."
            case {"value": None}:
                return "Your function returned nothing (None). Does every path through it end in a `return`?"
            case {"value": value}:
                return self.returns(value, case)
        return "Your function gave no result."

    def call(self, case):
        """A case as the call that it is, as text."""
        shown = (f"{name}={f'default_rng({value})' if name == 'rng' else show(value)}" for name, value in case.items())
        return f"{self.function}({', '.join(shown)})"

    def _tried(self, case, outcome):
        if "value" in outcome:
            return f"{self.call(case)} gave {show(outcome['value'])}"
        return f"tried with {self.call(case)}"


@dataclass(frozen=True, kw_only=True)
class RandomExercise(Exercise):
    """An exercise whose right answers are random, judged by exact binomial tests on counts.

    counts(cases, values) -> list of (what was counted, successes, trials).
    chances(cases) -> list of the probabilities of a success under a right answer, in the same order.
    attack(cases, values) -> Audit, where the answer is a mechanism with a promise: who does not keep it is wrong.
    A right answer fails with probability at most `false_failure`, shared evenly between the counts and the audit.
    """

    counts: Callable
    chances: Callable
    attack: Callable | None = None
    false_failure: float = 1e-6

    def cases(self, rng):
        """Inputs drawn once: counts, not single values, tell random answers apart."""
        return self.draw(rng)

    def agrees(self, cases, values, function):
        """Whether every count is one that `function` could have given; only its law is used for the reference."""
        if function is self.reference:
            return not self._too_rare(cases, values) and self._audited(cases, values, 1 - self._limit(cases)) is None
        other = [plain(function(*arguments(case))) for case in cases]
        pairs = zip(self.counts(cases, values), self.counts(cases, other), strict=True)
        limit = self._limit(cases)
        return all(two_sample_p_value(a, n, b, m) >= limit for (_, a, n), (_, b, m) in pairs)

    def unknown_mistake(self, cases, values):
        return "The reports are not what they should be, and it is none of the mistakes that we know."

    def observed(self, cases, values):
        """For each count that a right answer would hardly ever give, two at most: the count, and what is expected."""
        return tuple(
            (f"{what}: {successes} of {trials}", f", expected about {chance * trials:.0f}")
            for (what, successes, trials), chance in self._too_rare(cases, values)[:2]
        )

    def _too_rare(self, cases, values):
        limit = self._limit(cases)
        pairs = zip(self.counts(cases, values), self.chances(cases), strict=True)
        return [(count, chance) for count, chance in pairs if binomial_p_value(*count[1:], chance) < limit]

    def audit(self, cases, values):
        """What an audit finds at the confidence CONVINCED, which is less than a mark would need."""
        return self._audited(cases, values, CONVINCED)

    def _audited(self, cases, values, confidence):
        audit = self.attack(cases, values).at(confidence) if self.attack else None
        return audit if audit and audit.found else None

    def _limit(self, cases):
        """The false-failure rate of each count and of the audit."""
        return self.false_failure / (len(self.chances(cases)) + (self.attack is not None))


@dataclass(frozen=True, kw_only=True)
class OpenExercise(Exercise):
    """An exercise with many right answers, judged by a law instead of by the reference.

    law(value, case) -> (whether the value is right, what was seen of it in one line). Each misconception has a
    `recognise`: which wrong values it explains.
    """

    law: Callable

    def cases(self, rng):
        """Inputs drawn once: different answers may all be right."""
        return self.draw(rng)

    def agrees(self, cases, values, function):
        """Whether every value obeys the law."""
        return all(self.law(value, case)[0] for case, value in zip(cases, values, strict=True))

    def unknown_mistake(self, cases, values):
        return "This is not what was asked for, and it is none of the mistakes that we know."

    def observed(self, cases, values):
        """For each case in which the law does not hold: what the answer gave, and what the law says of it."""
        seen = [(case, value, *self.law(value, case)) for case, value in zip(cases, values, strict=True)]
        return tuple(
            (f"{self.call(case)} gave {show(value)}", f": {line}") for case, value, right, line in seen if not right
        )


def binomial_p_value(successes, trials, chance):
    """Two-sided p-value: twice the smaller tail of Binomial(trials, chance) that holds `successes`, at most 1.

    Under the law itself it is at most t with probability at most t. Source: Clopper & Pearson (1934).

    >>> binomial_p_value(0, 10, 0.5) == 2 * 0.5**10
    True
    """
    from scipy.special import bdtr, bdtrc

    below = bdtr(successes, trials, chance)
    above = bdtrc(successes - 1, trials, chance) if successes else 1.0
    return float(min(1.0, 2 * min(below, above)))


def two_sample_p_value(a, n, b, m):
    """Two-sided exact p-value of a successes in n against b in m, given a + b. Source: Fisher (1935).

    >>> two_sample_p_value(5, 10, 5, 10)
    1.0
    """
    from scipy.stats import hypergeom

    law = hypergeom(n + m, a + b, n)
    return float(min(1.0, 2 * min(law.cdf(a), law.sf(a - 1))))


def _printed(outcomes):
    """The first lines of what was printed over all cases, and how much there was."""
    text = "".join(outcome.get("printed", "") for outcome in outcomes)
    count = sum(outcome.get("printed_count", 0) for outcome in outcomes)
    first = "\n".join(text[:MOST_PRINTED].splitlines()[:MOST_LINES])
    return first if len(first) >= count - 1 else f"{first}\n… ({count:,} characters in all)"
