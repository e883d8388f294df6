"""Who wins how often under each kind of noise: what the check of report noisy max compares with."""

import functools
import math

import numpy as np
from scipy.special import log_ndtr

from dpcourse import laplace


def gaussian_chances(counts, epsilon):
    """The chance of each place to have the largest of counts + N(0, 1/epsilon^2)."""
    x, place, times = np.unique((counts - np.max(counts)) * epsilon, return_inverse=True, return_counts=True)
    z = np.linspace(-9, 9, 1001)
    log_below = log_ndtr(z - x[:, None])
    log_wins = -((z - x[:, None]) ** 2) / 2 - math.log(2 * math.pi) / 2 + times @ log_below - log_below
    return np.trapezoid(np.exp(log_wins), z)[place]


def winner_only_chances(counts, epsilon):
    """The chances if the largest count alone gets Laplace noise: it stays, or the second wins."""
    first = np.argmax(counts)
    second = np.argmax(
        np.where(np.arange(len(counts)) == first, -np.inf, counts)
    )  # of equal ones, argmax takes the first
    chances = np.zeros(len(counts))
    chances[second] = math.exp(-epsilon * (counts[first] - counts[second])) / 2
    chances[first] = 1 - chances[second]
    return chances


def one_sided_chances(counts, epsilon):
    """The chance of each place to have the largest of counts + exponential noise of scale 1/epsilon."""
    x, place, times = np.unique((counts - np.max(counts)) * epsilon, return_inverse=True, return_counts=True)
    z = np.linspace(0, 45, 4501)[1:]
    log_below = np.log(-np.expm1(x[:, None] - z))
    log_wins = x[:, None] - z + times @ log_below - log_below
    return np.trapezoid(np.exp(log_wins), z)[place]


def gumbel_chances(counts, epsilon):
    """Those of the exponential mechanism: the largest of counts + Gumbel noise of scale 1/epsilon."""
    odds = np.exp((counts - np.max(counts)) * epsilon)
    return odds / odds.sum()


def _times(factor):
    """The chances with Laplace noise of factor(number of counts) times the right scale."""
    return lambda counts, epsilon: laplace.noisy_max_chances(counts, epsilon / factor(len(counts)))


def _remembered(law):
    """The law, which is asked for the same few tables by several misconceptions."""
    known = functools.lru_cache(16)(lambda counts, epsilon: law(np.array(counts), epsilon))
    return lambda counts, epsilon: known(tuple(np.asarray(counts).tolist()), epsilon)


def place_of(value):
    """The place that an answer names; -1 where it names none."""
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    return int(value) if whole and abs(value) < 2**53 else -1


def log_likelihood(places, chances):
    """The log-likelihood of the places that won; -inf where one is no place at all."""
    if not np.isin(places, np.arange(len(chances))).all():
        return -math.inf
    with np.errstate(divide="ignore"):
        return float(np.log(chances)[places].sum())


LAWS = {
    "winner only": winner_only_chances,
    "fraction turned over": lambda counts, epsilon: laplace.noisy_max_chances(counts, 1 / epsilon),
    "twice the noise": _times(lambda m: 2),
    "m times the noise": _times(lambda m: m),
    "root of m times the noise": _times(math.sqrt),
    "root of 2 times the noise": _times(lambda m: math.sqrt(2)),
    "half the noise": _times(lambda m: 0.5),
    "less noise": _times(lambda m: 0.8),  # so that it is not taken for noise of another law
    "one-sided": one_sided_chances,
    "Gumbel": gumbel_chances,
    "Gumbel of twice the scale": lambda counts, epsilon: gumbel_chances(counts, epsilon / 2),
    "Gaussian": gaussian_chances,
    "Gaussian of the same variance": lambda counts, epsilon: gaussian_chances(counts, epsilon / math.sqrt(2)),
    "shares": lambda counts, epsilon: laplace.noisy_max_chances(counts / max(1, counts.sum()), epsilon),
    "no counts": lambda counts, epsilon: np.full(len(counts), 1 / len(counts)),
}
LAWS = {name: _remembered(law) for name, law in LAWS.items()}
