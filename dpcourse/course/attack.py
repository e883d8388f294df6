"""What a lesson lets its learner attack: a mechanism that publishes something, with Mia in its data or without her."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.tradeoff import TradeOff


@dataclass(frozen=True)
class Attack:
    """A mechanism, as its attacker sees it, who knows all about the data but Mia's row.

    published: what one output is, in a sentence or two. inside, outside: the two words that the attacker may say of it.
    draw(rng, is_in, size): an array of outputs; is_in: a boolean array, shape (size,), whether Mia is in the data of each.
    promise(): the TradeOff below which no test lies. named: what the promise is called. shown(output): an output as text, where
    two decimals do not say it.
    """

    published: str
    inside: str
    outside: str
    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    promise: Callable[[], TradeOff]
    named: str
    shown: Callable[[Any], str] | None = None

    def outputs(self, rng: np.random.Generator | int | None, is_in: np.ndarray) -> np.ndarray:
        """Draw an output for each place of `is_in`, shape (size,) or (size, numbers of an output)."""
        return self.draw(np.random.default_rng(rng), np.asarray(is_in, dtype=bool))
