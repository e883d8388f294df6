"""A single step, whose delta has a closed form."""

import numpy as np
from scipy.optimize import brentq

from dpcourse.pld.grid import LARGEST_LOSS
from dpcourse.pld.pairs import slack

ROOT = 1e-14  # relative: how closely the epsilon of a single step is solved for
BEYOND_ROOT = 1e-13  # ten times that, by which the solution is moved outward: it may lie on either side


def closed_delta(pair, epsilon, sign):
    """Return delta of a single step, moved by what its evaluation may be off."""
    h, p, q = (float(x) for x in pair.over(np.array(epsilon)))
    return min(max(h + sign * float(slack(np.array(h), p, q, min(epsilon, LARGEST_LOSS))), 0.0), 1.0)


def closed_epsilon(pair, delta, sign):
    """Return epsilon of a single step, from its delta."""

    def excess(epsilon):
        return closed_delta(pair, epsilon, sign) - delta

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    root = float(brentq(excess, 0.0, high, xtol=1e-300, rtol=ROOT, maxiter=1000))
    return root * (1 + sign * BEYOND_ROOT)
