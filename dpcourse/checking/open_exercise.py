"""An exercise with many right answers, none of which the others are compared with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpcourse.base.languages import counted, listed, say, sentences
from dpcourse.checking import diagnosis
from dpcourse.checking.cases import Cases
from dpcourse.checking.exercise import Exercise, Misconception, recognised
from dpcourse.checking.verdict import Observation, Verdict


@dataclass(frozen=True, kw_only=True)
class OpenExercise(Exercise):
    """An exercise with many right answers, judged by a law instead of by the reference.

    law(value, case) -> (whether the value is right, what was seen of it in one line). Each misconception has a
    `recognise`: which wrong values it explains.
    parts(value, case), in place of a law: name -> the same of one part of the value. Parts of one name in several cases are
    one, and hold where all of them do; each is worth as many points, and a wrong answer earns those of the parts that hold.
    measure(value, case) -> a sentence, or nothing, about the first value that does not obey the law, where no misconception
    explains it: what takes longer than the law may.
    """

    law: Callable = None  # type: ignore[assignment]  # from the parts
    parts: Callable | None = None
    measure: Callable | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.law is None:
            if self.parts is None:
                raise ValueError("an open exercise needs a `law`, or `parts`, from which it follows; got neither")
            object.__setattr__(self, "law", _all_of(self.parts))

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

    def _wrong(self, cases, values, outcomes, ask, rng) -> Verdict:
        """Return the Verdict on a wrong answer; with parts, also the points and the names of those that hold."""
        verdict = super()._wrong(cases, values, outcomes, ask, rng)
        if self.parts is None:
            return verdict
        held = self.held(cases.drawn, values)
        names = [name for name, holds in held.items() if holds]
        earned = self.points * len(names) // len(held)
        if not names:
            return verdict
        right = counted(
            "right everywhere, for {count} point: {names}",
            "right everywhere, for {count} points: {names}",
            count=earned,
            names=listed(map(say, names)),
        )
        return replace(verdict, earned=earned, observed=(Observation(right), *verdict.observed))

    def held(self, cases: Cases, values: list) -> dict[str, bool]:
        """Return for each part, by its name, whether it holds in every case in which it is there."""
        found: dict[str, bool] = {}
        for case, value in zip(cases, values, strict=True):
            for name, (holds, _) in self.parts(value, case).items() if self.parts else ():
                found[name] = found.get(name, True) and bool(holds)
        return found

    def _proved(self, cases, values, ask):
        """Return None: what is right is not what the reference gives."""
        return

    def _wrong_somewhere(self, cases, values, ask, rng):
        return self._wrong(Cases(cases), values, [{}], ask, rng)

    def agrees(self, cases: Cases, values: list, function: Callable) -> bool:
        """Return whether every value obeys the law."""
        return all(self.law(value, case)[0] for case, value in zip(cases, values, strict=True))

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that recognise these values: there is no one right answer, and no one wrong one."""
        return (known for known in self.misconceptions if recognised(known, cases, values))

    def _diagnosed(self, cases, values, ask, rng, numbers):
        """Return what the law says of the first value that does not obey it."""
        seen = ((case, value, *self.law(value, case)) for case, value in zip(cases, values, strict=True))
        case, value, line = next(
            ((case, value, line) for case, value, right, line in seen if not right), ({}, None, "")
        )
        told = [say("This is not what was asked for: {line}", line=say(line))]
        if self.measure and line and (more := self.measure(value, case)):
            told = [say("{told}.", told=told[0]), more]
        return diagnosis.Diagnosis(sentences(told), diagnosis.MEASUREMENT)

    def observed(self, cases: Cases, values: list) -> tuple[Observation, ...]:
        """Return, for each case in which the law does not hold, the value and what the law says of it."""
        seen = [(case, value, *self.law(value, case)) for case, value in zip(cases, values, strict=True)]
        wrong = [(self._gave(case, value), say(line)) for case, value, right, line in seen if not right]
        return tuple(Observation(gave, say("{seen}: {line}", seen=gave, line=line)) for gave, line in wrong)


def _all_of(parts):
    """Return the law that all parts hold, which says what of those that do not."""

    def law(value, case):
        wrong = [line for holds, line in parts(value, case).values() if not holds]
        return not wrong, listed(wrong, "{first}; {then}", "{first}; {then}")

    return law
