"""What attacks see in the pictures of lesson 07, simulated, and what it proves."""

import functools
import math
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from dpcourse import audit
from dpcourse.base import validate
from dpcourse.base.languages import to_say
from dpcourse.base.packaged import Table

CONFIDENCE = 0.95


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


# The mu that one run proves: for canaries and the share guessed for, by the share of guesses that are right.
ONE_RUN = Table(Path(__file__).with_name("one_run.npz"), ("canaries", "share"))


def guesses_of(canaries, share):
    """How many guesses a share of the canaries is: one at least."""
    return max(1, round(share * canaries))


def _right_counts(canaries, share):
    """The numbers of right guesses for which ONE_RUN holds the mu that is proved."""
    return np.round(ONE_RUN["right"] * guesses_of(canaries, share))


def ceiling(canaries):
    """The mu that one run proves if all guesses are right, for each share in ONE_RUN: no run proves more."""
    return ONE_RUN["mu"][ONE_RUN.place(canaries=canaries)][:, -1]


@functools.lru_cache(maxsize=1000)
def mean_proved(mu, canaries):
    """The mean of the mu that one run proves, over many runs, for each share in ONE_RUN.

    By symmetry every canary may be one that is in: it is guessed rightly where its score lies above the middle.
    """
    runs = 200_000 // canaries
    score = np.random.default_rng(17).normal(mu / 2, 1, (runs, canaries))
    surest_first = np.take_along_axis(score, np.argsort(-np.abs(score), axis=1), axis=1)
    right = np.cumsum(surest_first > 0, axis=1)
    return np.array(
        [
            np.interp(right[:, guesses_of(canaries, share) - 1], _right_counts(canaries, share), proved).mean()
            for share, proved in zip(ONE_RUN["share"], ONE_RUN["mu"][ONE_RUN.place(canaries=canaries)], strict=True)
        ]
    )


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
        to_say("correct"): kept,
        to_say("half noise"): 2 * kept,
        to_say("coordinates"): float(np.linalg.norm(corner)),
        to_say("not clipped"): length,
        to_say("noise reused"): kept,
    }


def prove():
    """Compute ONE_RUN anew and store it; about twenty seconds. The tests compute some of it again."""

    def values(canaries, share):
        guesses = guesses_of(canaries, share)
        counts = np.round(right * guesses).astype(int)
        return {"mu": [audit.one_run_mu_lower_bound(int(count), guesses, canaries) for count in counts]}

    right = np.linspace(0.5, 1, 21)
    ONE_RUN.make(values, canaries=[100, 300, 1000, 3000], share=np.r_[np.geomspace(0.01, 0.8, 12), 1.0], right=right)


if __name__ == "__main__":  # python -m dpcourse.course.audit.simulated
    prove()
