"""An exercise with many right answers, none of which the others are compared with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking import diagnosis
from dpcourse.checking.cases import Cases
from dpcourse.checking.exercise import Exercise, Misconception, recognised
from dpcourse.checking.verdict import Observation


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
        return (known for known in self.misconceptions if recognised(known, cases, values))

    def _diagnosed(self, cases, values, ask, rng, numbers):
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
