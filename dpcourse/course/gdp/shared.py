"""What several exercises of lesson 03 share."""

import numpy as np


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
