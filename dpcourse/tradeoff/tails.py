"""The tails of the Gaussian trade-off function."""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def log_delta(epsilon, mu):
    """Return log delta of G_mu at epsilon >= 0: what `log_gaussian_delta` of the package tells."""
    epsilon = np.asarray(epsilon, dtype=float)
    if mu == 0:
        return np.full_like(epsilon, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _log_delta(epsilon, mu)


def _log_delta(epsilon, mu):
    a = epsilon / mu - mu / 2
    tail = np.maximum(a, -mu / 2 if mu <= 1 else 0.0)
    if mu <= 1:  # integrate -m'(t) = 1 - t m(t) from a to a + mu, for the difference would cancel
        t = tail[..., None] + mu * (NODES + 1) / 2
        difference = mu / 2 * (WEIGHTS * _falling_mills(t)).sum(axis=-1)
    else:
        difference = _mills(tail) - _mills(tail + mu)
    in_tail = np.log(difference) - tail**2 / 2 - math.log(2 * math.pi) / 2
    log_p = log_ndtr(-a)
    near_one = log_p + np.log(-np.expm1(epsilon + log_ndtr(-a - mu) - log_p))
    return np.where(a < tail, near_one, in_tail)


def _mills(t):
    return math.sqrt(math.pi / 2) * erfcx(t / math.sqrt(2))


def _falling_mills(t):
    """Return 1 - t m(t); for large t by its asymptotic series, where the difference would cancel."""
    square = np.maximum(t, 30.0) ** -2.0
    series = square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square * (1 - 9 * square * (1 - 11 * square)))))
    return np.where(t > 30, series, 1 - t * _mills(t))
