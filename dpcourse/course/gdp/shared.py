"""What several exercises of lesson 03 share."""

import numpy as np

from dpcourse.base.languages import to_say


def random_probabilities(rng, size):
    """Probabilities in whole percent, each at least one percent, that add up to 1."""
    percent = 1 + rng.multinomial(100 - size, rng.dirichlet(np.ones(size)))
    return [int(value) / 100 for value in percent]


def some_probabilities(rng, size):
    """The same for any number of outputs, now and then with a 0."""
    percent = np.array([100]) if size == 1 else 1 + rng.multinomial(100 - size, rng.dirichlet(np.ones(size)))
    if size > 1 and rng.random() < 0.3:
        to, gone = rng.permutation(size)[:2]
        percent[to], percent[gone] = percent[to] + percent[gone], 0
    return [int(value) / 100 for value in percent]


def some_corners(rng):
    """The corners of the trade-off function of two such lists, from where it leaves alpha = 0 to where it reaches beta = 0."""
    size = int(rng.integers(1, 8))
    p, q = (np.array(some_probabilities(rng, size)) for _ in range(2))
    p, q = p[p + q > 0], q[p + q > 0]
    with np.errstate(divide="ignore"):
        order = np.argsort(-q / p, kind="stable")
    alpha, beta = np.r_[0, np.cumsum(p[order])].round(2), (1 - np.r_[0, np.cumsum(q[order])]).round(2) + 0.0
    return tuple(each[(p == 0).sum() : len(each) - (q == 0).sum()] for each in (alpha, beta))


CORNERS = to_say(
    "{name}: the 1 to 8 corners of a trade-off function, from left to right; `alpha` rises from 0, and `beta` falls to 0"
)
