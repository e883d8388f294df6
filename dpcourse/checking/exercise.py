"""What an exercise is and how an answer is judged.

An answer goes through two steps that share plain data only, so that they can run in two processes:
`probe` calls the learner's function on cases drawn afresh; `judge` never sees the function, only the
outcomes. A wrong answer that behaves like a known misconception gets that misconception's message.
"""

import contextlib
import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dpcourse.base.languages import listed, say, sentences, to_say
from dpcourse.checking import diagnosis
from dpcourse.checking.calling.messages import heard
from dpcourse.checking.calling.probe import Probe, arguments, function_of, made
from dpcourse.checking.calling.values import SHOWN, plain, show, show_apart
from dpcourse.checking.cases import Cases
from dpcourse.checking.domain import Domain, Number, size
from dpcourse.checking.verdict import BLANK, ERROR, RIGHT, WRONG, Audit, Heading, Observation, Verdict

MOST_PRINTED, MOST_LINES = 500, 8
NOTHING = to_say(
    "Your function returned nothing (None). Either a path through it does not end in a `return`, or what it returns is still None."
)
UNKNOWN = to_say("The result is not right. Compare it with the right one on the input shown here.")
MISCONCEPTION = "misconception"
FURTHER = 3  # draws on which a misconception is confirmed
SLACK = 1e-9  # of what is impossible, for rounding
NOT_EVERYWHERE = to_say("It is right on the first inputs, but not on all that the task allows.")
FOR_AGAIN, FOR_PLAIN, FOR_SEARCHED = (
    0.3,
    0.5,
    0.9,
)  # seconds for a wrong answer: the first inputs again, the plainest, those from all over the domain
PORTIONS, FOR_REST = 4, 3.0  # how often a slow one is asked on for what every answer is asked for; seconds of each time
FOR_MORE = 2.0  # seconds for one that has been right until then: only one that takes 15 ms a call is asked for less
LEAST_IN_PART = 8  # inputs on which a misconception gives the same, where an answer is right on others


@dataclass(frozen=True)
class Misconception:
    """A named wrong answer: `code` makes the mistake, `message` tells it to the learner who made it.

    recognise(cases, values) -> bool: only where `code` is one of many answers that make the mistake.
    """

    name: str
    message: str
    code: Callable
    recognise: Callable | None = None

    @property
    def asks(self) -> bool:
        """Whether its message asks, since other mistakes show the same: what is proved of an answer's text goes before it."""
        return "?" in self.message


def any_of(*codes: Callable) -> Callable:
    """Return a `recognise`: whether the values, which are not all 0, are those of one of these codes."""

    def alike(value, wrong) -> bool:
        return np.shape(value) == np.shape(wrong) and np.allclose(value, wrong, rtol=1e-6, atol=1e-12)

    return lambda cases, values: (
        any(map(np.any, values))
        and any(
            all(alike(value, code(*arguments(case))) for case, value in zip(cases, values, strict=True))
            for code in codes
        )
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
    shows_right: whether the right result stands beside a wrong one; not where the inputs are few and all is a matter of reading.
    possible: between what a right result always is; a wrong one that is not is told so, where no reason for it is found.
    means: what an argument, or an expression of these functions, is in words ("the drift"): a learner whose answer has
    something else in its place is told so.
    domain: what the inputs may be, which the header prints; before an answer passes, it is tried on inputs from all over it,
    and of a wrong one the smallest input is shown on which it is wrong.
    draw(rng) -> list of cases, each a dict argument -> plain value; from the domain, if it is not given. A case's `rng`
    holds a seed; one with a `ledger` is a training run, whose parts are made by calling.training.
    returns(value, case) -> None, or a complaint about type, shape or range. returned_nothing: the complaint about a None.
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
    shows_right: bool = True
    possible: Number | None = None
    formulas: tuple[Callable, ...] = ()
    means: Mapping[str, str] = field(default_factory=dict)
    forbidden: tuple[Callable | str, ...] = ()
    instead: str = to_say("write it yourself")
    returned_nothing: str = NOTHING
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
        outcomes = self.probe(answer, cases.drawn)
        return self.judge(self.aimed(cases, outcomes), outcomes, self._asking(answer), rng)

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
        if self.domain is None:
            return Cases(drawn)
        every = (self.domain.searched(rng), self.domain.more(rng))
        searched, more = ([{name: case[name] for name in drawn[0]} for case in cases] for cases in every)
        return Cases(drawn, searched, more, seed=int(rng.spawn(1)[0].integers(2**62)))

    def aimed(self, cases: Cases, outcomes: list[dict]) -> Cases:
        """Return these cases, some of the last of which are about the numbers that this answer speaks of."""
        numbers = outcomes[0].get("numbers") if outcomes else None
        if not numbers or cases.seed is None or self.domain is None:
            return cases
        aimed = self.domain.aimed(numbers, np.random.default_rng(cases.seed))
        return cases.aimed([{name: case[name] for name in cases[0]} for case in aimed])

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
        if stopped := self._stopped(drawn, outcomes[: len(drawn)], ask):
            return stopped
        values = [outcome["value"] for outcome in outcomes[: len(drawn)]]
        if not self.agrees(drawn, values, self.reference):
            return self._wrong(cases, values, outcomes, ask, rng)
        if searched and ask is not None and len(outcomes) == len(drawn):
            outcomes = [*outcomes, *self.asked_on(cases[len(drawn) : cases.needed], ask)]
            if len(outcomes) == cases.needed < len(cases) and "value" in outcomes[-1]:
                outcomes = [*outcomes, *ask(cases[cases.needed :], FOR_MORE)]
        if len(outcomes) > cases.needed and "timeout" in outcomes[-1]:
            outcomes = outcomes[:-1]
        if cases.needed <= len(outcomes) < len(cases):  # there was no time for more
            cases = Cases(drawn, cases[len(drawn) : len(outcomes)])
        if stopped := self._stopped(cases, outcomes, ask):
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

    def asked_on(self, cases: list[dict], ask: Callable[[list[dict], float], list[dict]]) -> list[dict]:
        """Return the outcomes on these cases, within `seconds`: one that is slow, and not endless, is asked on for the rest of them."""
        outcomes, stopped, seconds = list[dict](), list[dict](), self.seconds
        for further in reversed(range(PORTIONS)):
            portion = ask(cases[len(outcomes) :], seconds)
            outcomes += portion or stopped
            if not further or len(portion) < 2 or "timeout" not in portion[-1]:
                break
            stopped = [outcomes.pop()]
            seconds = min(FOR_REST, self.seconds)
        return outcomes

    def _stopped(self, cases, outcomes, ask):
        """Return the Verdict on an answer that did not give, for each of the cases, something that can be judged."""
        for case, outcome in zip(cases, outcomes, strict=False):
            if outcome.get("blank"):
                return self.blank()
            complaint = self._complaint(case, outcome)
            if complaint:
                begun = self._first_not_finite(case, outcome, ask)
                told = sentences([complaint, begun]) if begun else complaint
                return Verdict(self.heading, ERROR, told, self._tried(case, outcome))
        if len(outcomes) != len(cases):
            given = {"number_given": len(outcomes), "number_asked": len(cases)}
            message = say("Your function gave {number_given} answers to {number_asked} questions.", **given)
            return Verdict(self.heading, ERROR, message)
        return None

    def _first_not_finite(self, case, outcome, ask):
        """Return in a sentence where an answer first gave what is no finite number, if its result on this case is none."""
        watch = getattr(ask, "watch", None)
        if watch is None or "value" not in outcome:
            return None
        return diagnosis.first_not_finite(case, outcome["value"], watch)

    def _wrong(self, cases, values, outcomes, ask, rng):
        """Return the Verdict on an answer that gave these values on what was drawn, which are not right."""
        outside, (further, known) = outcomes[0].get("outside"), self.further(cases, outcomes, ask)
        cases = cases.drawn
        if again := self._another_time(cases, values, ask):
            return again
        tried, given = self.smallest(Cases([*cases, *further]), [*values, *known], ask)
        first, value, seen = Cases(tried[:1]), given[:1], ""
        every = Cases([*first, *cases, *further, *tried[1:]]), [*value, *values, *known, *given[1:]]
        misconception, proved = (
            next((each for each in self.alike(cases, values) if self.confirmed(each, ask, rng)), None),
            None,
        )
        in_part = self.in_part(Cases([*cases, *further]), [*values, *known]) if misconception is None else None
        is_elsewhere = misconception is None or self.is_elsewhere(misconception, further, known)
        if in_part or (misconception and (misconception.asks or not is_elsewhere)):
            misconception, proved = misconception or in_part, self._proved(*every, ask)
        if proved:  # what is like a misconception in part only, or in what it shows, may have another reason
            misconception, message, found_by = None, proved.message, proved.found_by
        elif misconception:
            message, found_by = say(misconception.message), MISCONCEPTION
        elif outside:
            message = say(
                "Your function reads `{outside}` from outside: its own parameter is called otherwise. Name its parameters as the task does, `{call}`.",
                outside=outside,
                call=f"{self.function}({', '.join(cases[0])})",
            )
            found_by = diagnosis.EXPLANATION
        else:
            found = self.diagnose(*every, ask, rng, outcomes[0].get("numbers", ()))
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

    def _proved(self, cases, values, ask):
        """Return what in the text of a wrong answer is proved to be wrong, on the first of these cases; None where nothing is."""
        if (watch := getattr(ask, "watch", None)) is None:
            return None
        found = diagnosis.in_its_text(self, list(cases), list(values), watch)
        return found if found and found.found_by == diagnosis.PLACE else None

    def _another_time(self, cases, values, ask):
        """Return the Verdict on an answer that gives something else where it is called again with the same."""
        if ask is None or "rng" in cases[0]:
            return None
        first, last = cases[0], cases[-1]
        again = self._values([last, first], ask([last, first], FOR_AGAIN))  # which may come from a fresh process
        if len(again) < 2 or self.is_close(again[1], values[0]):
            return None
        one, other = show_apart(values[0], again[1])
        message = say(
            "Called again with the same, your function gives another result. Does something live on from one call to the next: "
            "a list or a dictionary that is made outside of it or in its `def` line, a global name, or noise?"
        )
        seen = say("{call} gave {one}, and later {other}", call=self.call(first), one=one, other=other)
        return Verdict(self.heading, WRONG, message, (Observation(seen),), found_by=diagnosis.EXPLANATION)

    def _wrong_somewhere(self, cases, values, ask, rng):
        """Return the Verdict on an answer that is right on what was drawn, and not on all that was searched."""
        wrong = [not self.is_close(*pair) for pair in zip(values, cases.given(self.reference), strict=True)]
        order = sorted(range(len(cases)), key=lambda i: (not wrong[i], size(cases[i])))
        cases, values = Cases(cases[i] for i in order), [values[i] for i in order]
        tried, given = self.smallest(cases, values, ask)
        first, value = Cases(tried[:1]), given[:1]
        found = self.diagnose(Cases([*first, *cases, *tried[1:]]), [*value, *values, *given[1:]], ask, rng)
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
        """Return the smallest case on which the answer is known to be wrong, then the plain ones, and what it gives; it is asked for these."""
        if ask is None or self.domain is None:
            return Cases([]), []
        plainest = self.domain.plain(np.random.default_rng(0))
        plainest = [{name: case[name] for name in cases[0]} for case in plainest]
        given = self._values(plainest, ask(plainest, FOR_PLAIN))
        tried = Cases([*plainest[: len(given)], *cases])
        expected = tried.given(self.reference)
        wrong = [i for i, value in enumerate([*given, *values]) if not self.is_close(value, expected[i])]
        least = min(wrong, key=lambda i: size(tried[i]))
        others = [i for i in range(len(given)) if i != least]
        return Cases([tried[least], *(tried[i] for i in others)]), [
            [*given, *values][least],
            *(given[i] for i in others),
        ]

    def diagnose(
        self, cases: Cases, values: list, ask: Callable | None, rng, numbers: Sequence[float] = ()
    ) -> diagnosis.Diagnosis:
        """Return why an answer is wrong that has none of the misconceptions; numbers: that are written in it."""
        try:
            found = self._diagnosed(cases, values, ask, rng, numbers)
        except Exception as error:  # the answer is wrong all the same: whoever wrote it is told so
            warnings.warn(f"exercise {self.id}: the diagnosis failed with {error!r}", RuntimeWarning, stacklevel=2)
            found = None
        return found or diagnosis.Diagnosis(say(UNKNOWN), diagnosis.CASE)

    def _diagnosed(self, cases, values, ask, rng, numbers) -> diagnosis.Diagnosis | None:
        asked = None if ask is None else lambda further, seconds: self._values(further, ask(further, seconds))
        return diagnosis.diagnose(self, cases, values, asked, rng, getattr(ask, "watch", None), numbers)

    def _values(self, cases, outcomes):
        """Return the values on the first of these cases, up to a case on which nothing was returned that can be judged."""
        pairs = zip(cases, outcomes, strict=False)
        good = itertools.takewhile(lambda pair: "value" in pair[1] and not self._complaint(*pair), pairs)
        return [outcome["value"] for _, outcome in good]

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that these values may come from: first those whose code gives the very same."""
        same = [known for known in self.misconceptions if self.agrees(cases, values, known.code)]
        yield from same
        yield from (known for known in self.misconceptions if known not in same and recognised(known, cases, values))

    def is_elsewhere(self, misconception: Misconception, further: Cases, known: list) -> bool:
        """Return whether a misconception is what is wrong on further cases too: on half of those at least on which the answer is wrong."""
        if misconception.recognise is not None:
            return True
        try:
            right, its = further.given(self.reference), further.given(misconception.code)
        except Exception:  # its code is for what is drawn
            return True
        wrong = [i for i, wanted in enumerate(right[: len(known)]) if not self.is_close(known[i], wanted)]
        return len(wrong) < LEAST_IN_PART or 2 * sum(self.is_close(known[i], plain(its[i])) for i in wrong) >= len(
            wrong
        )

    def in_part(self, cases: Cases, values: list) -> Misconception | None:
        """Return the misconception from which all comes that is wrong, where an answer does some special cases right."""
        right = cases.given(self.reference)
        wrong = [i for i, wanted in enumerate(right) if not self.is_close(values[i], wanted)]
        if len(wrong) < LEAST_IN_PART or all(isinstance(wanted, bool) for wanted in right):
            return None  # of two values each that is wrong is the other, whatever came to it
        if len({show(values[i]) for i in wrong}) == 1:
            return None  # and one number, a 0 say, comes of many causes
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
        return all(recognised(misconception, Cases(further), some) for further, some in whole)

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
                if not self.shows_right:
                    return (Observation(gave),)
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
        """Return whether a value is another one, as close as a number must be; a text is only like itself."""
        if type(value) is float and type(expected) is float:  # as below, and 20 times as fast
            apart = abs(value - expected) if math.isfinite(expected) else math.inf
            return value == expected or apart <= self.atol + self.rtol * abs(expected)
        try:
            value, expected = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
        except (TypeError, ValueError):  # no numbers, or arrays that are not alike in shape
            if isinstance(value, str) and isinstance(expected, str):
                return value == expected
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
                return say(self.returned_nothing)
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


def recognised(misconception: Misconception, cases: Cases, values: list) -> bool:
    """Return whether these values show this misconception by its `recognise`."""
    if misconception.recognise is None:
        return False
    try:
        return bool(misconception.recognise(cases, values))
    except Exception as error:  # the answer is wrong all the same, and another reason may be found
        warnings.warn(f"{misconception.name!r} was not looked for: {error!r}", RuntimeWarning, stacklevel=2)
        return False


def _printed(outcomes):
    """Return the first lines of what was printed over all cases, and how much there was."""
    text = "".join(outcome.get("printed", "") for outcome in outcomes)
    count = sum(outcome.get("printed_count", 0) for outcome in outcomes)
    first = "\n".join(text[:MOST_PRINTED].splitlines()[:MOST_LINES])
    if len(first) >= count - 1:
        return first
    return say("{first}\n… ({count:,} characters in all)", first=first, count=count)
