"""What attacks see in the pictures of lesson 06, simulated, and what it proves."""

import functools
import math

import numpy as np
from scipy.special import ndtri

from dpcourse import audit, validate

CONFIDENCE, DELTA = 0.95, 1e-5


@functools.cache
def _noise():
    return np.random.default_rng(6).normal(size=(2, 10_000))


def scores(mu, runs):
    """Scores without Mia and with her: normal, mu apart, the same noise for every mu."""
    runs = validate.whole("runs", runs)
    out, within = _noise()[:, :runs]
    return out, within + validate.number("mu", mu, 0)


def seen(mu, runs):
    """(alpha, beta) at every threshold, as seen in the scores."""
    out, within = map(np.sort, scores(mu, runs))
    cuts = np.r_[-np.inf, np.sort(np.r_[out, within])]
    return 1 - np.searchsorted(out, cuts, side="right") / runs, np.searchsorted(within, cuts, side="right") / runs


@functools.lru_cache(maxsize=10_000)
def typically_proved(mu, runs):
    """The mu that is proved by scores which lie as evenly as they can."""
    even = ndtri((np.arange(runs) + 0.5) / runs)
    return audit.mu_lower_bound(even + mu, even, CONFIDENCE)


def one_run_scores(mu, canaries):
    """(scores, coins) of one run: canary i moves its own coordinate by mu if its coin is 1, and the noise is normal."""
    rng = np.random.default_rng(16)
    noise, coins = rng.normal(size=20_000)[:canaries], rng.integers(0, 2, 20_000)[:canaries]
    return noise + mu * coins, coins


@functools.lru_cache(maxsize=1000)
def right_guesses(mu, canaries):
    """How many of the first 1, 2, ... guesses are right, the most certain first."""
    values, coins = one_run_scores(mu, canaries)
    order = np.argsort(-np.abs(values - mu / 2))
    return np.cumsum((values > mu / 2)[order] == coins[order])


@functools.lru_cache(maxsize=10_000)
def one_run_epsilon(correct, guesses, canaries):
    """The epsilon that so many right guesses prove."""
    return audit.one_run_epsilon_lower_bound(correct, guesses, delta=DELTA, canaries=canaries, confidence=CONFIDENCE)


@functools.cache
def people():
    """Vectors of 40 people in the plane, most of them shorter than the clip norm."""
    return np.random.default_rng(3).normal(0, 0.45, size=(40, 2))


def canary_mus(length, angle):
    """The mu that a canary of so many clip norms shows in one round of a promised mu of 1, with each mistake."""
    length = validate.number("length", length, 0)
    turn = math.radians(validate.number("angle", angle))
    corner = np.clip(length * np.array([math.cos(turn), math.sin(turn)]), -1, 1)
    kept = min(1.0, length)
    return {
        "correct": kept,
        "half noise": 2 * kept,
        "coordinates": float(np.linalg.norm(corner)),
        "not clipped": length,
        "noise reused": kept,
    }
