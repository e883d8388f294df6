"""What a lesson lets its learner attack: a mechanism that publishes something, with Mia in its data or without her."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.base.languages import to_say
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
    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    promise: Callable[[], TradeOff]
    named: str
    inside: str = to_say("in")
    outside: str = to_say("out")
    shown: Callable[[Any], str] | None = None

    def outputs(self, rng: np.random.Generator | int | None, is_in: np.ndarray) -> np.ndarray:
        """Draw an output for each place of `is_in`, shape (size,) or (size, numbers of an output)."""
        return self.draw(np.random.default_rng(rng), np.asarray(is_in, dtype=bool))


def trained(
    rng: np.random.Generator,
    is_in: np.ndarray,
    rows: np.ndarray,
    classes: np.ndarray,
    *,
    noise: float,
    rate: float,
    steps: int,
    lr: float,
) -> np.ndarray:
    """Train a logistic model by noisy SGD for each place of `is_in`, all side by side; returns weights, a row for each.

    rows, classes (1 or -1): everybody's, Mia's last; hers is empty where she is not in. Gradients are clipped to length 1.
    """
    filled = np.ones((len(is_in), len(rows)))
    filled[:, -1] = is_in
    weights = np.zeros((len(is_in), rows.shape[1]))
    for _ in range(steps):
        batch = filled * (rng.random(filled.shape) < rate)
        slopes = -classes / (1 + np.exp(classes * (weights @ rows.T)))
        gradients = slopes[..., None] * rows
        lengths = np.linalg.norm(gradients, axis=-1)
        clipped = gradients / np.maximum(lengths, 1)[..., None]
        total = np.einsum("ij,ijk->ik", batch, clipped) + rng.normal(0, noise, weights.shape)
        weights -= lr * total / (rate * len(rows))
    return weights
