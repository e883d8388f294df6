"""What an exercise is and how an answer is judged.

An answer goes through two steps that share plain data only, so that they can run in two processes:
`probe` calls the learner's function on cases drawn afresh; `judge` never sees the function, only the
outcomes. A wrong answer that behaves like a known misconception gets that misconception's message.
"""

import contextlib
import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from dpcourse.base.languages import listed, say, sentences, to_say
from dpcourse.checking import diagnosis
from dpcourse.checking.calling.messages import heard
from dpcourse.checking.calling.probe import Probe, arguments, function_of, made
from dpcourse.checking.calling.values import SHOWN, plain, show, show_apart
from dpcourse.checking.cases import Cases
from dpcourse.checking.diagnosis.noise import Noise
from dpcourse.checking.domain import Domain, Number, size
from dpcourse.checking.law import AddedNoise, Around
from dpcourse.checking.statistics import TOO_RARE, Count, are_of_two_laws, features, two_sample_p_value
from dpcourse.checking.verdict import BLANK, ERROR, RIGHT, WRONG, Audit, Heading, Observation, Verdict

MOST_PRINTED, MOST_LINES = 500, 8
UNKNOWN = to_say("The result is not right. Compare it with the right one on the input shown here.")
MISCONCEPTION = "misconception"
FURTHER = 3  # draws on which a misconception is confirmed
SLACK = 1e-9  # of what is impossible, for rounding
POINTS = 14
BY_DRAWS, SOME_DRAWN, LEAST_WRONG = 30, 400, 5  # inputs on which an answer is compared with one that draws the same
OTHER_SEEDS = (
    2**31
)  # away from an answer's: right results are independent of its own, so that -noise is as right as noise
NOT_EVERYWHERE = to_say("It is right on the first inputs, but not on all that the task allows.")
OF_ANOTHER_LAW = to_say(
    "It is right on the first inputs, but not on all that the task allows: there your results come from another law."
)
FOR_PLAIN, FOR_SEARCHED = 0.5, 0.9  # seconds for a wrong answer: the plainest inputs, those from all over the domain
PORTIONS, FOR_REST = 4, 3.0  # how often a slow one is asked on for what every answer is asked for; seconds of each time
FOR_MORE = 2.0  # seconds for one that has been right until then: only one that takes 15 ms a call is asked for less
LEAST_IN_PART = 8  # inputs on which a misconception gives the same, where an answer is right on others
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


def any_of(*codes: Callable) -> Callable:
    """Return a `recognise`: whether the values, which are not all 0, are those of one of these codes."""

    def alike(value, wrong) -> bool:
        return np.shape(value) == np.shape(wrong) and np.allclose(value, wrong, rtol=1e-6, atol=1e-12)

    return lambda cases, values: (
        any(map(np.any, values))
        and any(all(alike(value, code(**case)) for case, value in zip(cases, values, strict=True)) for code in codes)
    )


@dataclass(frozen=True)
class Needed:
    """A Python function with values True or False that an answer has to call, at least `least(case)` times, and to heed.

    message: for learners whose answer does not.
    """

    function: Callable
    least: Callable
    message: str


@dataclass(frozen=True)
class Asked:
    """An answer that can be asked for more: for its outcomes on cases, and for what its expressions give (Probe.watch)."""

    outcomes: Callable[[list[dict], float], list[dict]]
    watch: Callable[..., list] | None = None

    def __call__(self, cases: list[dict], seconds: float) -> list[dict]:
        return self.outcomes(cases, seconds)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise: what the learner sees of it, how inputs are drawn, and how what comes back is judged.

    id: "gdp/error_rates", its lesson's word and the learner's function, which it has for ever. number: "3.1", what a reader
    reads, which changes as exercises come in between. folder: where the files of its lesson are. The course sets these.
    reference: a right answer. misconceptions: wrong ones, the most telling first.
    formulas: the same as learners write it, where the reference is written otherwise; slips in these are looked for too.
    possible: between what a right result always is; a wrong one that is not is told so, where no reason for it is found.
    means: what an argument, or an expression of these functions, is in words ("the drift"): a learner whose answer has
    something else in its place is told so.
    domain: what the inputs may be, which the header prints; before an answer passes, it is tried on inputs from all over it,
    and of a wrong one the smallest input is shown on which it is wrong.
    draw(rng) -> list of cases, each a dict argument -> plain value; from the domain, if it is not given. A case's `rng`
    holds a seed; one with a `ledger` is a training run, whose parts are made by calling.training.
    returns(value, case) -> None, or a complaint about type, shape or range.
    forbidden: Python functions that the answer must not call, or "module:name" of what is not to be imported here; instead: what to do. needed: one that it has to call.
    seconds: the time limit of one check. rtol, atol: how close a number must be.
    graded_only: the judge is not given out: a learner's check says only that the answer runs on `examples`, cases that
    everybody may see. hints_too: the hints are given out with it all the same.
    """

    id: str = ""
    number: str = ""
    folder: Path | None = None
    title: str
    good_for: str
    difficulty: int
    minutes: int
    points: int
    draw: Callable = None  # type: ignore[assignment]  # from the domain
    reference: Callable
    returns: Callable
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    domain: Domain | None = None
    possible: Number | None = None
    formulas: tuple[Callable, ...] = ()
    means: Mapping[str, str] = field(default_factory=dict)
    forbidden: tuple[Callable | str, ...] = ()
    instead: str = to_say("write it yourself")
    needed: Needed | None = None
    seconds: float = 10.0
    rtol: float = 1e-6
    atol: float = 1e-12
    graded_only: bool = False
    examples: tuple[dict, ...] = ()
    hints_too: bool = False

    def __post_init__(self):
        if self.draw is None:
            if self.domain is None:
                raise ValueError("an exercise needs a domain, from which its inputs are drawn, or `draw`; got neither")
            object.__setattr__(self, "draw", self.domain.draw)

    @property
    def function(self) -> str:
        """The name of the learner's function."""
        return self.id.rpartition("/")[2]

    @property
    def lesson(self) -> int:
        """The number of its lesson."""
        return int(self.number.partition(".")[0])

    @property
    def heading(self) -> Heading:
        """What a verdict says of it."""
        return Heading(self.id, self.number, self.title, self.points, bool(self.hints))

    @property
    def forbidden_functions(self) -> tuple[Callable, ...]:
        """The functions of `forbidden`; what is named there is imported."""
        return tuple(function_of(each) if isinstance(each, str) else each for each in self.forbidden)

    def blank(self) -> Verdict:
        """Return the verdict on an answer that nobody has begun."""
        message = say("Write the body of `{function}`, run its cell, then run this cell again.", function=self.function)
        return Verdict(self.heading, BLANK, message)

    def check(self, answer: object, rng: np.random.Generator | int | None = None) -> Verdict:
        """Draw inputs, probe the answer on them, and judge. rng: Generator, seed or None."""
        rng = np.random.default_rng(rng)
        cases = self.cases(rng)
        return self.judge(cases, self.probe(answer, cases.drawn), self._asking(answer), rng)

    def _asking(self, answer):
        """Return how `judge` asks the answer for more."""
        return Asked(
            lambda further, seconds: replace(self, seconds=min(seconds, self.seconds)).probe(answer, further),
            lambda cases, seconds, exchanges: Probe(self.function, seconds=seconds).watch(answer, cases, exchanges),
        )

    def cases(self, rng: np.random.Generator) -> Cases:
        """Draw cases on which the reference and the misconceptions all differ; draw again until they do."""
        codes = [self.reference, *(misconception.code for misconception in self.misconceptions)]
        for _ in range(100):
            cases = Cases(self.draw(rng))
            if not any(self._same(*map(cases.given, pair)) for pair in itertools.combinations(codes, 2)):
                return self.with_searched(cases, rng)
        raise RuntimeError(f"exercise {self.id}: no inputs in 100 draws tell its misconceptions apart")

    def with_searched(self, drawn: Iterable[dict], rng: np.random.Generator) -> Cases:
        """Return these cases, and those from all over the domain that are tried before an answer passes."""
        drawn = list(drawn)
        searched, more = (self.domain.searched(rng), self.domain.more(rng)) if self.domain else ([], [])
        in_order = [[{name: case[name] for name in drawn[0]} for case in cases] for cases in (searched, more)]
        return Cases(drawn, *in_order)

    def probe(self, answer: object, cases: list[dict]) -> list[dict]:
        """Return the outcome of the answer on each case; Probe does the work, wherever the learner's code runs."""
        counted = self.needed.function if self.needed else None
        there = self._forbidden_there()
        outcomes = Probe(self.function, there, counted, self.seconds).probe(answer, cases)
        if self._forbidden_there() != there:  # the answer itself has imported what it must not call
            outcomes = Probe(self.function, self._forbidden_there(), counted, self.seconds).probe(answer, cases)
        return outcomes

    def _forbidden_there(self):
        """Return the forbidden functions that can be called yet: to import the others would take seconds, and memory."""
        named = {each: each.partition(":")[0] for each in self.forbidden if isinstance(each, str)}
        there = [each for each in self.forbidden if each not in named or named[each] in sys.modules]
        return replace(self, forbidden=tuple(there)).forbidden_functions

    def judge(
        self,
        cases: list[dict],
        outcomes: list[dict],
        ask: Callable[[list[dict], float], list[dict]] | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> Verdict:
        """Return the Verdict on what came back, from data alone.

        ask(cases, seconds): the outcomes of the same answer on further cases, within so many seconds, with which the
        reason for a mistake is found; without it, less can be said of one. rng: draws these cases.
        """
        known = cases if isinstance(cases, Cases) else Cases(cases)
        return replace(self._judge(known, outcomes, ask, rng), printed=_printed(outcomes))

    def _judge(self, cases, outcomes, ask, rng):
        drawn, searched = cases.drawn, cases[len(cases.drawn) :]
        if stopped := self._stopped(drawn, outcomes[: len(drawn)]):
            return stopped
        values = [outcome["value"] for outcome in outcomes[: len(drawn)]]
        if not self.agrees(drawn, values, self.reference):
            return self._wrong(cases, values, outcomes, ask, rng)
        if searched and ask is not None and len(outcomes) == len(drawn):
            outcomes = [*outcomes, *self._asked_on(cases[len(drawn) : cases.needed], ask)]
            if len(outcomes) == cases.needed < len(cases) and "value" in outcomes[-1]:
                outcomes = [*outcomes, *ask(cases[cases.needed :], FOR_MORE)]
        if len(outcomes) > cases.needed and "timeout" in outcomes[-1]:
            outcomes = outcomes[:-1]
        if cases.needed <= len(outcomes) < len(cases):  # there was no time for more
            cases = Cases(drawn, cases[len(drawn) : len(outcomes)])
        if stopped := self._stopped(cases, outcomes):
            return stopped
        for i, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
            idle = i == 0 and outcome.get("idle")  # of what is searched, a short result may be the same by accident
            if self.needed and (idle or outcome.get("calls", 0) < self.needed.least(case)):
                tried = self._tried(case, outcome)
                return Verdict(self.heading, WRONG, say(self.needed.message), tried, found_by=MISCONCEPTION)
        values = [outcome["value"] for outcome in outcomes]
        if self.holds(cases, values):
            return Verdict(self.heading, RIGHT, say("Right on inputs drawn just now."))
        return self._wrong_somewhere(cases, values, ask, rng)

    def _asked_on(self, cases, ask):
        """Return the outcomes on these cases: one that is slow, and not endless, is asked on for the rest of them."""
        outcomes, seconds = [], self.seconds
        for further in reversed(range(PORTIONS)):
            outcomes += (portion := ask(cases[len(outcomes) :], seconds))
            if not further or len(portion) < 2 or "timeout" not in portion[-1]:
                break
            outcomes.pop()
            seconds = min(FOR_REST, self.seconds)
        return outcomes

    def _stopped(self, cases, outcomes):
        """Return the Verdict on an answer that did not give, for each of the cases, something that can be judged."""
        for case, outcome in zip(cases, outcomes, strict=False):
            if outcome.get("blank"):
                return self.blank()
            complaint = self._complaint(case, outcome)
            if complaint:
                return Verdict(self.heading, ERROR, complaint, self._tried(case, outcome))
        if len(outcomes) != len(cases):
            given = {"number_given": len(outcomes), "number_asked": len(cases)}
            message = say("Your function gave {number_given} answers to {number_asked} questions.", **given)
            return Verdict(self.heading, ERROR, message)
        return None

    def _wrong(self, cases, values, outcomes, ask, rng):
        """Return the Verdict on an answer that gave these values on what was drawn, which are not right."""
        outside, (further, known) = outcomes[0].get("outside"), self.further(cases, outcomes, ask)
        cases = cases.drawn
        misconception = next(
            (known for known in self.alike(cases, values) if self.confirmed(known, ask, rng)),
            None,
        ) or self.in_part(Cases([*cases, *further]), [*values, *known])
        first, value = self.smallest(Cases([*cases, *further]), [*values, *known], ask)
        seen = ""
        if misconception:
            message, found_by = say(misconception.message), MISCONCEPTION
        elif outside:
            message = say(
                "Your function reads `{outside}` from outside: its own parameter is called otherwise. Name its parameters as the task does, `{call}`.",
                outside=outside,
                call=f"{self.function}({', '.join(cases[0])})",
            )
            found_by = diagnosis.EXPLANATION
        else:
            found = self.diagnose(Cases([*first, *cases, *further]), [*value, *values, *known], ask, rng)
            message, found_by, seen = self._with_impossible([*value, *values][0], found), found.found_by, found.seen
        return Verdict(
            self.heading,
            WRONG,
            message,
            (*([Observation(seen)] if seen else []), *self.observed(first or cases, value or values)),
            misconception.name if misconception else None,
            audit=self.audit(cases, values),
            found_by=found_by,
        )

    def _wrong_somewhere(self, cases, values, ask, rng):
        """Return the Verdict on an answer that is right on what was drawn, and not on all that was searched."""
        wrong = [not self.is_close(*pair) for pair in zip(values, cases.given(self.reference), strict=True)]
        order = sorted(range(len(cases)), key=lambda i: (not wrong[i], size(cases[i])))
        cases, values = Cases(cases[i] for i in order), [values[i] for i in order]
        first, value = self.smallest(cases, values, ask)
        found = self.diagnose(Cases([*first, *cases]), [*value, *values], ask, rng)
        found = replace(found, message=self._with_impossible([*value, *values][0], found))
        message = sentences([say(NOT_EVERYWHERE), found.message])
        return Verdict(
            self.heading, WRONG, message, self.observed(first or cases, value or values), found_by=found.found_by
        )

    def _with_impossible(self, value, found):
        """Return what was found, after what no right result can be and this one is; where the reason is known that says nothing new."""
        if self.possible is None or found.found_by not in (diagnosis.MEASUREMENT, diagnosis.CASE):
            return found.message
        numbers = np.ravel(np.asarray(value, dtype=float))
        low, high = self.possible.low, self.possible.high
        above, below = numbers[numbers > high + SLACK], numbers[numbers < low - SLACK]
        if above.size:
            told = [say("A right result is never above {high:g}, and yours is {value:.6g}.", high=high, value=above[0])]
        elif below.size:
            told = [say("A right result is never below {low:g}, and yours is {value:.6g}.", low=low, value=below[0])]
        else:
            told = []
        return sentences([*told, found.message])

    def further(self, cases: Cases, outcomes: list[dict], ask: Callable | None) -> tuple[Cases, list]:
        """Return the searched cases on which it is known what a wrong answer gives, with that; it is asked for them."""
        searched, given = cases[len(cases.drawn) :], outcomes[len(cases.drawn) :]
        if not given and searched and ask is not None:
            given = ask(searched, FOR_SEARCHED)
        values = self._values(searched, given)
        return Cases(searched[: len(values)]), values

    def smallest(self, cases: Cases, values: list, ask: Callable | None) -> tuple[Cases, list]:
        """Return the smallest case on which the answer is known to be wrong, and what it gives; it is asked for plain ones."""
        if ask is None or self.domain is None:
            return Cases([]), []
        plainest = self.domain.plain(np.random.default_rng(0))
        plainest = [{name: case[name] for name in cases[0]} for case in plainest]
        given = self._values(plainest, ask(plainest, FOR_PLAIN))
        tried = Cases([*plainest[: len(given)], *cases])
        expected = tried.given(self.reference)
        wrong = [i for i, value in enumerate([*given, *values]) if not self.is_close(value, expected[i])]
        least = min(wrong, key=lambda i: size(tried[i]))
        return Cases([tried[least]]), [[*given, *values][least]]

    def diagnose(self, cases: Cases, values: list, ask: Callable | None, rng) -> diagnosis.Diagnosis:
        """Return why an answer is wrong that has none of the misconceptions."""
        asked = None if ask is None else lambda further, seconds: self._values(further, ask(further, seconds))
        try:
            found = diagnosis.diagnose(self, cases, values, asked, rng, getattr(ask, "watch", None))
        except Exception as error:  # the answer is wrong all the same: whoever wrote it is told so
            warnings.warn(f"exercise {self.id}: the diagnosis failed with {error!r}", RuntimeWarning, stacklevel=2)
            found = None
        return found or diagnosis.Diagnosis(say(UNKNOWN), diagnosis.CASE)

    def _values(self, cases, outcomes):
        """Return the values on the first of these cases, up to a case on which nothing was returned that can be judged."""
        pairs = zip(cases, outcomes, strict=False)
        good = itertools.takewhile(lambda pair: "value" in pair[1] and not self._complaint(*pair), pairs)
        return [outcome["value"] for _, outcome in good]

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that these values may come from: first those whose code gives the very same."""
        same = [known for known in self.misconceptions if self.agrees(cases, values, known.code)]
        yield from same
        yield from (known for known in self.misconceptions if known not in same and _recognised(known, cases, values))

    def in_part(self, cases: Cases, values: list) -> Misconception | None:
        """Return the misconception from which all comes that is wrong, where an answer does some special cases right."""
        right = cases.given(self.reference)
        wrong = [i for i, wanted in enumerate(right) if not self.is_close(values[i], wanted)]
        if len(wrong) < LEAST_IN_PART or all(isinstance(wanted, bool) for wanted in right):
            return None  # of two values each that is wrong is the other, whatever came to it
        for known in self.misconceptions:
            with contextlib.suppress(Exception):  # code that is wrong may fail on a corner
                if all(self.is_close(values[i], plain(known.code(*arguments(cases[i])))) for i in wrong):
                    return known
        return None

    def confirmed(self, misconception: Misconception, ask: Callable | None, rng) -> bool:
        """Return whether an answer that behaves like a misconception does so on further draws, as far as it can be asked."""
        if ask is None:
            return True
        rng = np.random.default_rng(rng)
        draws = [self.draw(rng) for _ in range(FURTHER)]
        values = self._values(every := [case for further in draws for case in further], ask(every, 1.0))
        if misconception.recognise is None:
            return all(
                self.is_close(value, plain(misconception.code(*arguments(case))))
                for case, value in zip(every, values, strict=False)
            )
        given = iter(values)
        of_draws = [(further, list(itertools.islice(given, len(further)))) for further in draws]
        whole = [(further, some) for further, some in of_draws if len(some) == len(further)]
        return all(misconception.recognise(Cases(further), some) for further, some in whole)

    def holds(self, cases: Cases, values: list) -> bool:
        """Return whether these values are right on every case, the searched ones too."""
        return self.agrees(cases, values, self.reference)

    def agrees(self, cases: Cases, values: list, function: Callable) -> bool:
        """Return whether these values are those of `function`, on every case."""
        return self._same(values, cases.given(function))

    def observed(self, cases: Cases, values: list) -> tuple[Observation, ...]:
        """Return the first case on which the answer is off: what it gave, and what is right."""
        for case, value, expected in zip(cases, values, cases.given(self.reference), strict=True):
            if not self.is_close(value, expected):
                mine, right = show_apart(value, expected)
                gave = say("{call} gave {value}", call=self.call(case), value=mine)
                whole = say("{seen}; right is {right}", seen=gave, right=right)
                return (Observation(gave, listed([whole, *self._first_apart(value, expected)], "{first}; {then}")),)
        return ()

    def _first_apart(self, value, expected):
        """Yield where a long array first differs, if that is beyond what is shown of it."""
        if np.shape(value) == np.shape(expected) and np.ndim(value) == 1:
            place = int(
                np.argmin(
                    np.isclose(np.asarray(value, dtype=float), np.asarray(expected, dtype=float), self.rtol, self.atol)
                )
            )
            if place >= SHOWN:
                given, right = show_apart(value[place], expected[place])
                yield say("they first differ at entry {place}, counted from 0: {given}, and {right} is right", place=place, given=given, right=right)  # fmt: skip

    def audit(self, cases: Cases, values: list) -> Audit | None:
        """Return the Audit that a wrong answer did not stand; None without an attack."""
        return None

    def _same(self, values, others):
        return all(self.is_close(value, other) for value, other in zip(values, others, strict=True))

    def is_close(self, value: object, expected: object) -> bool:
        """Return whether a value is another one, as close as a number must be."""
        try:
            value, expected = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
        except (TypeError, ValueError):  # no numbers, or arrays that are not alike in shape
            if not isinstance(value, (list, tuple)) or not isinstance(expected, (list, tuple)):
                return False
            return len(value) == len(expected) and all(map(self.is_close, value, expected))
        return value.shape == expected.shape and np.allclose(value, expected, self.rtol, self.atol)

    def _complaint(self, case, outcome):
        match outcome:
            case {"timeout": seconds}:
                return say(
                    "Your function did not finish: the limit is {seconds:g} seconds for one check. "
                    "Is there a loop that never ends, or one that could be an array operation?",
                    seconds=seconds,
                )
            case {"not_callable": kind}:
                return say(
                    "`check` needs the function itself, not {given}: write its name without brackets behind it.",
                    given=heard(kind),
                )
            case {"signature": signature}:
                return say(
                    "Your function must take these arguments, in this order: `{signature}`.", signature=signature
                )
            case {"forbidden": name}:
                return say(
                    "Your function calls `{name}`. Here you are to do without it: {instead}.",
                    name=name,
                    instead=say(self.instead),
                )
            case {"changed": name}:
                return say(
                    "Your function changes `{name}`, which belongs to the caller. Work on a copy, or build a new one.",
                    name=name,
                )
            case {"raised": raised}:
                return heard(raised)
            case {"value": None, "printed_count": count} if count:
                return say(
                    "Your function printed something and returned nothing (None). Use `return` in place of `print`."
                )
            case {"value": None}:
                return say("Your function returned nothing (None). Does every path through it end in a `return`?")
            case {"value": value}:
                return self.returns(value, case)
        return say("Your function gave no result.")

    def call(self, case: dict) -> str:
        """Return a case as the call that it is, as text."""
        shown = {name: show(value) for name, value in case.items()} | dict.fromkeys(made(case), "…")
        if "rng" in case:
            shown["rng"] = f"default_rng({case['rng']})"
        return f"{self.function}({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def _tried(self, case, outcome):
        if "value" in outcome:
            return (Observation(self._gave(case, outcome["value"])),)
        return (Observation(say("tried with {call}", call=self.call(case))),)

    def _gave(self, case, value):
        return say("{call} gave {value}", call=self.call(case), value=show(value))


@dataclass(frozen=True, kw_only=True)
class RandomExercise(Exercise):
    """An exercise whose right answers are random, judged by exact binomial tests on counts.

    law: what a right answer adds noise to, and which; counts, noise and the slips of every noise follow from it. Else:
    counts(cases, values) -> list of Count, as many for any values.
    noise(cases, values) -> Noise, where the answer adds some: its scale is tested too, and what differs is measured.
    attack(cases, values) -> Audit, where the answer is a mechanism with a promise: an answer that breaks the promise is
    wrong.
    A right answer fails with probability at most `false_failure`, shared evenly between the counts and the audit.
    compared: how many times an answer is asked for each of POINTS inputs from all over the domain, before it passes, and
    compared with the reference; 0 where it takes too long, or where results are no numbers.
    """

    law: AddedNoise | None = None
    counts: Callable[[Cases, list], list[Count]] = None  # type: ignore[assignment]  # from the law
    noise: Callable[[Cases, list], Noise] | None = None
    attack: Callable[[Cases, list], Audit] | None = None
    false_failure: float = 1e-6
    compared: int = 250

    def __post_init__(self):
        super().__post_init__()
        if self.law is None:
            return
        own = {known.name for known in self.misconceptions}
        slips = [Misconception(*slip) for slip in self.law.slips() if slip[0] not in own]
        known = [*slips, *self.misconceptions]
        elsewhere = [each.code.exact for each in known if isinstance(each.code, Around)]
        for i, each in enumerate(known):
            if isinstance(each.code, Around) and each.recognise is None:
                known[i] = replace(each, recognise=self.law.lies_around(each.code.exact, elsewhere))
        object.__setattr__(self, "misconceptions", tuple(known))
        object.__setattr__(self, "counts", self.law.counts)
        object.__setattr__(self, "noise", self.law.noise)

    def cases(self, rng: np.random.Generator) -> Cases:
        """Draw cases once: counts, not single values, tell random answers apart."""
        return self.with_searched(self.draw(rng), rng)

    def with_searched(self, drawn: Iterable[dict], rng: np.random.Generator) -> Cases:
        """Return these cases, some from all over the domain, and POINTS of these again and again."""
        cases = super().with_searched(drawn, rng)
        if self.domain is None or not self.compared:
            return cases
        seed, like = int(rng.integers(2**30)), cases[0]
        points = self._points(like, rng, POINTS)
        again = [case | {"rng": seed + run} for case in points for run in range(self.compared)]
        return Cases(cases.drawn, [*cases[len(cases.drawn) : cases.needed], *again])

    def holds(self, cases: Cases, values: list) -> bool:
        """Return whether the searched values are of the type and of the law of right ones."""
        return next(self._unlike(cases, values), None) is None

    def _wrong_somewhere(self, cases, values, ask, rng):
        message, line = next(self._unlike(cases, values))
        found = self._by_its_draws(cases.drawn, values[: len(cases.drawn)], ask, rng)
        if found is None:
            return Verdict(self.heading, WRONG, message, (Observation(line),), found_by=diagnosis.MEASUREMENT)
        seen = Observation(line), Observation(found.seen)
        return Verdict(self.heading, WRONG, sentences([message, found.message]), seen, found_by=found.found_by)

    def _unlike(self, cases, values):
        """Yield a message, and what was seen, where searched values are cut to whole numbers or have another law."""
        first = len(cases.drawn)
        searched = Cases(cases[first:])
        elsewhere = Cases(case | {"rng": case["rng"] + OTHER_SEEDS} if "rng" in case else case for case in searched)
        given, right = values[first:], elsewhere.given(self.reference)
        for case, value, wanted in zip(searched, given, right, strict=True):
            if _is_cut(value, wanted):
                yield say(diagnosis.OF_WHOLE_NUMBERS), self._gave(case, value)
        if not self.compared:
            return
        if self.law is not None:
            yield from self._noise_unlike(searched, given)
        begin = len(searched) % self.compared if len(searched) >= self.compared else len(searched)
        for at in range(begin, len(searched), self.compared):
            some = slice(at, at + self.compared)
            for told, mine, theirs in features(given[some], right[some]):
                if are_of_two_laws(mine, theirs):
                    low, high, right_low, right_high = (
                        float(q) for x in (mine, theirs) for q in np.quantile(x, (0.25, 0.75))
                    )
                    fields = {"call": self.call(searched[at]), "times": self.compared, "low": low, "high": high, "right_low": right_low, "right_high": right_high}  # fmt: skip
                    yield say(OF_ANOTHER_LAW), say(told, **fields)

    def _noise_unlike(self, searched, values):
        """Yield the same where noise of the right law would hardly ever be of such a size."""
        for setting in self.law.settings(searched, values):
            noise = Noise(self.law.family, setting.noise)
            if len(setting.values) >= self.compared and noise.p_value < TOO_RARE:
                call = self.call(setting.given | {"rng": 0})
                yield (
                    say(OF_ANOTHER_LAW),
                    say("{call}, {times} times: {noise}", call=call, times=self.compared, noise=noise.as_sentence),
                )

    def further(self, cases: Cases, outcomes: list[dict], ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: counts are of what was drawn."""
        return Cases([]), []

    def in_part(self, cases: Cases, values: list) -> Misconception | None:
        """Return None: no single value is right or wrong."""
        return None

    def smallest(self, cases: Cases, values: list, ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: no single one is wrong."""
        return Cases([]), []

    def agrees(self, cases: Cases, values: list, function: Callable) -> bool:
        """Return whether `function` could have given every count; the reference's own law is used for the reference."""
        counts = self.counts(cases, values)
        if function is self.reference:
            return not self._too_rare(cases, values) and self._audited(cases, values, 1 - self._limit(counts)) is None
        pairs = zip(counts, self.counts(cases, cases.given(function)), strict=True)
        limit = self._limit(counts)
        alike = all(
            two_sample_p_value(one.successes, one.trials, other.successes, other.trials) >= limit
            for one, other in pairs
        )
        if not (alike and self.noise):
            return alike
        return self.noise(cases, values).is_as_large(self.noise(cases, cases.given(function)))

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that these values may come from, in their order: counts seldom tell one from all others."""
        for known in self.misconceptions:
            if _recognised(known, cases, values) if known.recognise else self.agrees(cases, values, known.code):
                yield known

    def confirmed(self, misconception: Misconception, ask: Callable | None, rng) -> bool:
        """Return True: the counts have confirmed it already."""
        return True

    def diagnose(self, cases: Cases, values: list, ask: Callable | None, rng) -> diagnosis.Diagnosis:
        """Return why an answer is wrong; else what is measured of its noise, and the counts that a right one would hardly ever give."""
        found, measured = self._by_its_draws(cases, values, ask, rng), self._measured(cases, values)
        if found is None:
            return measured
        if found.found_by == diagnosis.MEASUREMENT:  # it is known where, and not what
            return replace(found, message=sentences([measured.message, found.message]))
        return found

    def _by_its_draws(self, cases, values, ask, rng):
        """Return why an answer is wrong that draws what a right one draws; None where it draws something else, and is told nothing.

        With one seed the two give the same numbers up to where the answer leaves the way: then no result is random.
        """
        watch = getattr(ask, "watch", None)
        if watch is None or self.domain is None:
            return None
        points = self._points(cases[0], np.random.default_rng(rng), BY_DRAWS)
        known = slice(None, None, 1 + len(cases) // SOME_DRAWN)
        values = [*self._values(points, ask(points, FOR_SEARCHED)), *values[known]]
        every = Cases([*points[: len(values) - len(cases[known])], *cases[known]])
        given = {each.name: getattr(self, each.name) for each in fields(Exercise)}
        for right in self.formulas or (self.reference,):
            good = [self.is_close(*pair) for pair in zip(values, every.given(right), strict=True)]
            wrong, others = ([i for i, each in enumerate(good) if each is which] for which in (False, True))
            if len(wrong) >= LEAST_WRONG:
                chosen = [*wrong[: BY_DRAWS // 2], *others[: BY_DRAWS // 2]]
                alike = Exercise(**given | {"reference": right, "misconceptions": ()})
                asked = [every[i] for i in chosen], [values[i] for i in chosen]
                found = diagnosis.in_its_text(alike, *asked, watch)
                if found is not None:
                    return replace(found, seen=say("tried with {call}", call=self.call(every[wrong[0]])))
        return None

    def _points(self, like, rng, count):
        """So many cases from all over the domain, each with its arguments in the order of a case."""
        return [{name: case[name] for name in like} for case in self.domain.points(rng, count)]

    def _measured(self, cases, values):
        rare = self._too_rare(cases, values)
        told = [count.as_sentence for count in rare[:1] if count.impossible]
        noise = list(self.noise(cases, values).sentences()) if self.noise else []
        others = rare[len(told) : 2 - min(len(noise), 1)]
        told += noise + [each.as_sentence for each in others if not noise or isinstance(each, Count)]
        if not told:
            return diagnosis.Diagnosis(say(UNKNOWN), diagnosis.CASE)
        return diagnosis.Diagnosis(sentences(told[:3]), diagnosis.MEASUREMENT)

    def observed(self, cases: Cases, values: list) -> tuple[Observation, ...]:
        """Return at most two counts that a right answer would hardly ever give, each with what is expected; else how large its noise is."""
        rare = self._too_rare(cases, values)[:2]
        counts = tuple(
            Observation(
                count.seen, say("{seen}, expected about {expected:.0f}", seen=count.seen, expected=count.expected)
            )
            for count in rare
            if isinstance(count, Count)
        )
        return counts or tuple(Observation(noise.as_sentence) for noise in rare)

    def _too_rare(self, cases, values):
        """Return the counts, and the Noise, that a right answer would hardly ever give."""
        counts = self.counts(cases, values)
        seen = [*counts, *([self.noise(cases, values)] if self.noise else [])]
        limit = self._limit(counts)
        rare = [each for each in seen if each.p_value < limit]
        return sorted(rare, key=lambda each: not each.impossible)  # what cannot be tells most

    def audit(self, cases: Cases, values: list) -> Audit | None:
        """Return what an audit finds at the confidence CONVINCED, which is less than a mark would need."""
        return self._audited(cases, values, CONVINCED)

    def _audited(self, cases, values, confidence):
        audit = self.attack(cases, values).at(confidence) if self.attack else None
        return audit if audit and audit.found else None

    def _limit(self, counts):
        """Return the false-failure rate of each count, of the noise and of the audit."""
        return self.false_failure / (len(counts) + (self.noise is not None) + (self.attack is not None))


@dataclass(frozen=True, kw_only=True)
class OpenExercise(Exercise):
    """An exercise with many right answers, judged by a law instead of by the reference.

    law(value, case) -> (whether the value is right, what was seen of it in one line). Each misconception has a
    `recognise`: which wrong values it explains.
    """

    law: Callable

    def cases(self, rng: np.random.Generator) -> Cases:
        """Draw cases once: different answers may all be right."""
        return self.with_searched(self.draw(rng), rng)

    def further(self, cases: Cases, outcomes: list[dict], ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: what is not right is told of those that were drawn."""
        return Cases([]), []

    def in_part(self, cases: Cases, values: list) -> Misconception | None:
        """Return None: no single value is right or wrong."""
        return None

    def confirmed(self, misconception: Misconception, ask: Callable | None, rng) -> bool:
        """Return True: there is no one wrong answer that could be confirmed."""
        return True

    def smallest(self, cases: Cases, values: list, ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: what the law says of each is told."""
        return Cases([]), []

    def _wrong_somewhere(self, cases, values, ask, rng):
        return self._wrong(Cases(cases), values, [{}], ask, rng)

    def agrees(self, cases: Cases, values: list, function: Callable) -> bool:
        """Return whether every value obeys the law."""
        return all(self.law(value, case)[0] for case, value in zip(cases, values, strict=True))

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that recognise these values: there is no one right answer, and no one wrong one."""
        return (known for known in self.misconceptions if _recognised(known, cases, values))

    def diagnose(self, cases: Cases, values: list, ask: Callable | None, rng) -> diagnosis.Diagnosis:
        """Return what the law says of the first value that does not obey it."""
        seen = (self.law(value, case) for case, value in zip(cases, values, strict=True))
        line = next((line for right, line in seen if not right), "")
        message = say("This is not what was asked for: {line}", line=say(line))
        return diagnosis.Diagnosis(message, diagnosis.MEASUREMENT)

    def observed(self, cases: Cases, values: list) -> tuple[Observation, ...]:
        """Return, for each case in which the law does not hold, the value and what the law says of it."""
        seen = [(case, value, *self.law(value, case)) for case, value in zip(cases, values, strict=True)]
        wrong = [(self._gave(case, value), say(line)) for case, value, right, line in seen if not right]
        return tuple(Observation(gave, say("{seen}: {line}", seen=gave, line=line)) for gave, line in wrong)


def _is_cut(value, right):
    """Whether a value is an array of whole numbers by its type, and the right one has fractions."""
    if not (isinstance(value, np.ndarray) and isinstance(right, np.ndarray) and right.dtype.kind == "f"):
        return False
    return value.dtype.kind in "iu" and bool((right != np.round(right)).any())


def _recognised(misconception, cases, values):
    return misconception.recognise is not None and misconception.recognise(cases, values)


def _printed(outcomes):
    """Return the first lines of what was printed over all cases, and how much there was."""
    text = "".join(outcome.get("printed", "") for outcome in outcomes)
    count = sum(outcome.get("printed_count", 0) for outcome in outcomes)
    first = "\n".join(text[:MOST_PRINTED].splitlines()[:MOST_LINES])
    if len(first) >= count - 1:
        return first
    return say("{first}\n… ({count:,} characters in all)", first=first, count=count)
