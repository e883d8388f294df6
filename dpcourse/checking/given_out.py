"""An exercise that only the instructor can judge, as learners have it: it says whether an answer runs, no more."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking.exercise import Exercise
from dpcourse.checking.verdict import ERROR, RECEIVED, Verdict


@dataclass(frozen=True, kw_only=True)
class GivenOut(Exercise):
    """What is given out of an exercise that is `graded_only`: its header, and `examples` to call an answer on.

    The object holds no draw, no reference and no misconceptions, and so can say no more than that an answer is received.
    """

    draw: Callable = lambda rng: []
    reference: Callable = lambda *_: None
    misconceptions: tuple = ()
    hints: tuple[str, ...] = ()
    graded_only: bool = True

    def check(self, answer: object, rng: np.random.Generator | int | None = None) -> Verdict:
        """Call the answer on the examples, and say whether it runs and returns what is asked for."""
        cases = list(self.examples)
        return self.judge(cases, self.probe(answer, cases))

    def _judge(self, cases, outcomes, ask, rng):
        for case, outcome in zip(cases, outcomes, strict=False):
            if outcome.get("blank"):
                return self.blank()
            if complaint := self._complaint(case, outcome):
                return Verdict(self.heading, ERROR, complaint, self._tried(case, outcome))
        if not cases or len(outcomes) != len(cases):
            return Verdict(self.heading, ERROR, say("Your function gave no result."))
        asked, fields = getattr(self.returns, "asked", (to_say("something"), {}))
        message = say(
            "Received. It runs, and returns {asked}, as asked. The marks are made later.", asked=say(asked, **fields)
        )
        return Verdict(self.heading, RECEIVED, message, self._tried(cases[0], outcomes[0]))
