"""The verdict: what is said of one answer."""

import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcourse.base.languages import counted, say, to_say
from dpcourse.checking import display

if TYPE_CHECKING:
    from dpcourse.audit import Refutation

RIGHT, WRONG, BLANK, ERROR = "right", "wrong", "not attempted", "error"
RECEIVED = "received"  # it runs; who judges it is not here
FOUND = {
    RIGHT: to_say("{exercise}: passed ({points})"),
    WRONG: to_say("{exercise}: not yet"),
    BLANK: to_say("{exercise}: not attempted"),
    ERROR: to_say("{exercise}: could not be judged"),
    RECEIVED: to_say("{exercise}: received ({points} to be had)"),
}
LOOKS = {  # mark, colour
    RIGHT: ("✓", display.RIGHT_COLOUR),
    WRONG: ("✗", display.WRONG_COLOUR),
    BLANK: ("○", display.BLANK_COLOUR),
    ERROR: ("!", display.ERROR_COLOUR),
    RECEIVED: ("●", display.ASIDE_COLOUR),
}


@dataclass(frozen=True)
class Observation:
    """One thing that was seen of an answer, in one line; whole: the same line with what is right, if that can be said."""

    seen: str
    whole: str = ""

    @property
    def line(self) -> str:
        """All of it."""
        return self.whole or self.seen


@dataclass(frozen=True)
class Audit:
    """An attack on an answer: what it is given, and what it found.

    promise: the TradeOff that the answer was to keep, and its name. scores_in, scores_out: scores of its releases with
    one person and without. found: an audit.Refutation, or None.
    """

    name: str
    promise: Callable
    scores_in: np.ndarray
    scores_out: np.ndarray
    found: "Refutation | None" = None

    def at(self, confidence: float) -> "Audit":
        """Return the same with what is found at that confidence."""
        from dpcourse.audit import refutation  # scipy comes with it: not before somebody attacks

        return replace(self, found=refutation(self.promise, self.scores_in, self.scores_out, confidence))

    @property
    def line(self) -> str:
        """What it found, in words."""
        if self.found is None:
            return say("An audit found nothing against {promise}.", promise=self.name)
        alpha, beta, least = self.found.as_text
        return say(
            "An audit, {number_in} releases with one person more and {number_out} without: this test tells your "
            "neighbours apart better than {promise} allows. False alarms are at most {alpha} and misses at most "
            "{beta} (with confidence {confidence:g}); with {promise} the misses would be at least {least}.",
            number_in=len(self.scores_in),
            number_out=len(self.scores_out),
            promise=self.name,
            alpha=alpha,
            beta=beta,
            confidence=self.found.confidence,
            least=least,
        )


@dataclass(frozen=True)
class Heading:
    """What a verdict says of the exercise: its id and number, its title in English, its points, and whether there are hints."""

    id: str
    number: str
    title: str
    points: int
    has_hints: bool


@dataclass(frozen=True)
class Verdict:
    """What is said of one answer: its state, one message, what was observed, and points.

    misconception: the name of the one that the answer has. printed: the first lines that the function printed.
    audit: the Audit that the answer did not stand, if there was one. found_by: of a wrong answer, by what the reason was
    found: "misconception", "explanation", "place" (the one expression that is wrong), "measurement", or "case" where only
    an input can be shown on which it is wrong. earned: the points of a wrong answer, for the parts of it that are right.
    """

    exercise: Heading
    state: str
    message: str
    observed: tuple[Observation, ...] = ()
    misconception: str | None = None
    printed: str = ""
    audit: Audit | None = None
    found_by: str | None = None
    earned: int = 0

    @property
    def points(self) -> int:
        return self.exercise.points if self.state == RIGHT else self.earned

    @property
    def headline(self) -> str:
        exercise = say("{number} {title}", number=self.exercise.number, title=say(self.exercise.title))
        points = counted("{count} point", "{count} points", count=self.exercise.points)
        return say(FOUND[self.state], exercise=exercise, points=points)

    @property
    def lines(self) -> tuple[str, ...]:
        """All that was observed, with what is right, and what the audit found: for the learner, and the instructor."""
        return (*(observation.line for observation in self.observed), *self._audited())

    @property
    def seen(self) -> tuple[str, ...]:
        """The same without what is right."""
        return (*(observation.seen for observation in self.observed), *self._audited())

    def __repr__(self) -> str:
        return "\n".join([self.headline, self.message, *self.lines, *self._next(), *self._printed()])

    def _repr_html_(self) -> str:
        observed = [f"<code>{html.escape(observation.line)}</code>" for observation in self.observed]
        return display.panel(
            *LOOKS[self.state],
            self.headline,
            self.message,
            [*observed, *map(html.escape, self._audited())],
            [*map(display.paragraph, self._next()), *map(display.preformatted, self._printed())],
        )

    def _audited(self):
        if self.audit:
            yield self.audit.line

    def _printed(self):
        if self.printed:
            yield say("Printed by your function:\n{printed}", printed=self.printed)

    def _next(self):
        if self.state in (WRONG, ERROR) and self.exercise.has_hints:
            yield say('For help, run `hint("{exercise}")` in a cell.', exercise=self.exercise.number)
