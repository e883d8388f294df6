"""What several exercises of lesson 03 share."""

import numpy as np


def random_probabilities(rng, size):
    """Probabilities in whole percent, each at least one percent, that add up to 1."""
    percent = 1 + rng.multinomial(100 - size, rng.dirichlet(np.ones(size)))
    return [int(value) / 100 for value in percent]
