"""What several exercises of lesson 07 share."""

import math

from scipy.special import betaincinv, ndtri

from dpcourse.checking import any_of

GRIDS = 1000, 100, 10_000, 999, 99, 9999
"""Steps from 0 to 1 of those who search on a grid."""


def upper_bound(errors, trials, confidence):
    return float(betaincinv(errors + 1, trials - errors, confidence)) if errors < trials else 1.0


def lower_bound(errors, trials, confidence):
    return float(betaincinv(errors, trials - errors + 1, 1 - confidence)) if errors else 0.0


def mu_of_errors(alpha, beta):
    return float(-ndtri(min(alpha, 1 - 1e-12)) - ndtri(min(beta, 1 - 1e-12)))


def next_on_grid(code):
    """The code and the `recognise` of a Misconception: in place of what `code` gives, the next larger number of a grid; 0 and 1 stay."""

    def of(steps):
        def coarse(*given, **named):
            exact = code(*given, **named)
            return exact if exact in (0, 1) else math.ceil(exact * steps) / steps

        return coarse

    return {"code": of(GRIDS[0]), "recognise": any_of(*map(of, GRIDS))}


def error_share(errors, trials, confidence):
    return errors / trials
