"""Three programs that train one weight on five rows and promise the same; A keeps its promise, B and C do not.

The lesson shows them too. Each is a function (filled, rng) -> published: filled says of each run whether Mia's row is filled,
and a row of `published` is one run, its updates and then the number in its log.
"""

import functools

import numpy as np

from dpcourse import pld
from dpcourse.tradeoff import TradeOff

N, RATE, SIGMA, CLIP_NORM, STEPS, LEARNING_RATE = 5, 0.1, 4.0, 1.0, 100, 0.01
ROWS = np.array([3.0, 0.4, -0.2, 0.1, -0.3])
"""Mia's is the first; of the others the tester knows that they are filled."""


def small_run(filled, rng, lazy=False):
    """Return the updates of all runs, shape (runs, STEPS), their last weights, and which rows are there.

    lazy: where nobody was drawn, the weight stays as it is.
    """
    there = np.ones((len(filled), N), dtype=bool)
    there[:, 0] = filled
    weights, updates = np.zeros(len(filled)), []
    for _ in range(STEPS):
        drawn = there & (rng.random(there.shape) < RATE)
        clipped = np.clip(weights[:, None] - ROWS, -CLIP_NORM, CLIP_NORM)
        noisy = np.sum(drawn * clipped, axis=1) + SIGMA * CLIP_NORM * rng.normal(size=len(filled))
        if lazy:
            noisy[~drawn.any(axis=1)] = 0
        updates.append(-LEARNING_RATE * noisy / (RATE * N))
        weights = weights + updates[-1]
    return np.array(updates).T, weights, there


def trainer_a(filled, rng):
    """Log how large an update is, in the mean."""
    updates, _, _ = small_run(filled, rng)
    return np.c_[updates, np.abs(updates).mean(axis=1)]


def trainer_b(filled, rng):
    """Log the same, and take no step where nobody was drawn."""
    updates, _, _ = small_run(filled, rng, lazy=True)
    return np.c_[updates, np.abs(updates).mean(axis=1)]


def trainer_c(filled, rng):
    """Log the last loss, the mean over the filled rows."""
    updates, weights, there = small_run(filled, rng)
    losses = (weights[:, None] - ROWS) ** 2 / 2
    return np.c_[updates, np.average(losses, axis=1, weights=there)]


TRAINERS = {"A": trainer_a, "B": trainer_b, "C": trainer_c}


@functools.cache
def promise() -> TradeOff:
    """Return the curve that all three promise, for both orders."""
    return pld.noisy_sgd(SIGMA, RATE, STEPS).tradeoff()
