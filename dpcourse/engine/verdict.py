"""What is said of one answer."""

import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcourse.engine import display

if TYPE_CHECKING:
    from dpcourse.audit import Refutation
    from dpcourse.engine.exercise import Exercise

RIGHT, WRONG, BLANK, ERROR = "right", "wrong", "not attempted", "error"
RECEIVED = "received"  # it runs; who judges it is not here
LOOKS = {  # mark, colour
    RIGHT: ("✓", display.RIGHT_COLOUR),
    WRONG: ("✗", display.WRONG_COLOUR),
    BLANK: ("○", display.BLANK_COLOUR),
    ERROR: ("!", display.ERROR_COLOUR),
    RECEIVED: ("●", display.ASIDE_COLOUR),
}


@dataclass(frozen=True)
class Observation:
    """Something that was seen of an answer, in one line; right: how the line ends where that gives the right answer away."""

    seen: str
    right: str = ""

    def __str__(self) -> str:
        return self.seen + self.right


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
    found: "Refutation | None" = None

    def at(self, confidence: float) -> "Audit":
        """The same with what is found at that confidence."""
        from dpcourse.audit import refutation  # scipy comes with it: not before somebody attacks

        return replace(self, found=refutation(self.promise, self.scores_in, self.scores_out, confidence))

    def __str__(self) -> str:
        if self.found is None:
            return f"An audit found nothing against {self.name}."
        alpha, beta, least = self.found.as_text
        return (
            f"An audit, {len(self.scores_in)} releases with one person more and {len(self.scores_out)} without: this test tells your "
            f"neighbours apart better than {self.name} allows. False alarms are at most {alpha} and misses at most "
            f"{beta} (with confidence {self.found.confidence:g}); with {self.name} the misses would be at least {least}."
        )


@dataclass(frozen=True)
class Verdict:
    """What is said of one answer: its state, one message, what was observed, and points.

    misconception: the name of the one that the answer has. printed: the first lines that the function printed.
    audit: the Audit that the answer did not stand, if there was one. found_by: of a wrong answer, by what the reason was
    found: "misconception", "explanation", "measurement", or "case" where only an input can be shown on which it is wrong.
    """

    exercise: "Exercise"
    state: str
    message: str
    observed: tuple[Observation, ...] = ()
    misconception: str | None = None
    printed: str = ""
    audit: Audit | None = None
    found_by: str | None = None

    @property
    def points(self) -> int:
        return self.exercise.points if self.state == RIGHT else 0

    @property
    def headline(self) -> str:
        points = f"{self.exercise.points} point{'s' * (self.exercise.points != 1)}"
        said = {
            RIGHT: f"passed ({points})",
            WRONG: "not yet",
            BLANK: "not attempted",
            ERROR: "could not be judged",
            RECEIVED: f"received ({points} to be had)",
        }
        return f"{self.exercise.id} {self.exercise.title}: {said[self.state]}"

    @property
    def lines(self) -> tuple[str, ...]:
        """All that was observed, with what is right, and what the audit found: for the learner, and the instructor."""
        return (*map(str, self.observed), *self._audited())

    @property
    def seen(self) -> tuple[str, ...]:
        """The same without what is right."""
        return (*(observation.seen for observation in self.observed), *self._audited())

    def __repr__(self) -> str:
        return "\n".join([self.headline, self.message, *self.lines, *self._next(), *self._printed()])

    def _repr_html_(self) -> str:
        observed = [f"<code>{html.escape(str(observation))}</code>" for observation in self.observed]
        return display.panel(
            *LOOKS[self.state],
            self.headline,
            self.message,
            [*observed, *map(html.escape, self._audited())],
            [*map(display.paragraph, self._next()), *map(display.preformatted, self._printed())],
        )

    def _audited(self):
        if self.audit:
            yield str(self.audit)

    def _printed(self):
        if self.printed:
            yield f"Printed by your function:\n{self.printed}"

    def _next(self):
        if self.state in (WRONG, ERROR) and self.exercise.hints:
            yield f'For help, run `hint("{self.exercise.id}")` in a cell.'
