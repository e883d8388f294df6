"""The Gaussian mechanism."""

import math

import numpy as np

from dpcourse import gdp, tradeoff
from dpcourse.checking import (
    AddedNoise,
    Audit,
    Domain,
    Misconception,
    Number,
    RandomExercise,
    Seed,
    Several,
    Whole,
    numbers_like,
    rounded,
)

RUNS, AUDITED = (300, 300), 300
LONG = 42, 49  # counts in the longer table: 12,600 noises or more show a scale 5 % off


def _draw_counts(rng):
    """A short and a long table, half of their counts 0, released RUNS + 1 times: the first two with the same seed.

    Then, for the audit, AUDITED times the long one under a weaker promise, and as often with Mia, who is in all counts.
    """
    seed = int(rng.integers(2**31))  # no two settings share one: their noises are counted together
    cases = []
    for size, runs in zip((2, int(rng.integers(*LONG))), RUNS, strict=True):
        counts = rng.integers(1, 30, size) * (rng.permutation(size) % 2)
        mu = rounded(rng.uniform(0.6, 0.7))
        cases += [{"counts": counts, "mu": mu, "rng": seed + run} for run in (0, *range(runs))]
        seed += runs
    mu = rounded(rng.uniform(1.9, 2.1))
    for mia in (0, 1):
        cases += [{"counts": counts + mia, "mu": mu, "rng": seed + mia * AUDITED + run} for run in range(AUDITED)]
    return cases


def _look_for_mia(cases, values):
    """An attack adds up the long table."""
    with np.errstate(over="ignore"):  # an answer may give numbers whose sum is no number any more
        totals = np.nan_to_num([float(np.sum(value)) for value in values[-2 * AUDITED :]])
    mu = cases[-1]["mu"]
    return Audit(f"G_{mu}", tradeoff.gaussian(mu), totals[AUDITED:], totals[:AUDITED])


law = AddedNoise("norm", lambda counts, mu: counts, lambda counts, mu: math.sqrt(len(counts)) / mu)


def _scale(scale):
    """Noise of another deviation: a function of the number of counts and of mu."""
    return law.with_scale(lambda counts, mu: scale(len(counts), mu))


def _with_numpy(counts, mu, rng):
    sigma = math.sqrt(len(counts)) / mu
    return counts + rng.normal(0, sigma, len(counts))


exercise = RandomExercise(
    title="The Gaussian mechanism",
    good_for="releasing a whole table of numbers under one promise",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"counts": Several(Whole(0, 30), 1, 100, array=True), "mu": Number(0.1, 3), "rng": Seed()}, most=12),
    draw=_draw_counts,
    reference=law.answer,
    formulas=(_with_numpy,),
    means={
        "math.sqrt(len(counts))": "by how much Mia can move the whole list, as a length",
        "math.sqrt(len(counts)) / mu": "the standard deviation of the noise",
    },
    law=law,
    returns=numbers_like("counts"),
    attack=_look_for_mia,
    forbidden=(gdp.mechanism,),
    hints=(
        "The noise has the deviation sensitivity / mu. How long is the vector by which Mia can move the m counts, at most?",
        "All m counts may change by 1: the length of (1, 1, …, 1) is sqrt(m). `rng.normal(0, sigma, len(counts))` draws one number for each count.",
    ),
    misconceptions=(
        Misconception(
            "one count only",
            "Your noise is enough for one count. There are m of them, and Mia may be in all: the whole list moves by up to sqrt(m).",
            _scale(lambda m, mu: 1 / mu),
        ),
        Misconception(
            "one too few",
            "Your noise is sqrt(m - 1)/mu. Nothing is lost to an average here: all m counts may change by 1, so the length is sqrt(m).",
            _scale(lambda m, mu: math.sqrt(m - 1) / mu),
        ),
        Misconception(
            "half",
            "Your noise is half of what it should be. Mia moves the list by up to sqrt(m), whatever the others are: sqrt(m) / mu.",
            _scale(lambda m, mu: math.sqrt(m) / (2 * mu)),
        ),
        Misconception(
            "l1 sensitivity",
            "Your noise is m/mu: you added up the m changes. Gaussian noise goes with the length of the change, which is sqrt(m) and not m.",
            _scale(lambda m, mu: m / mu),
        ),
        Misconception(
            "power before division",
            "Your noise is m/2 divided by mu. `m ** 1 / 2` is (m ** 1) / 2, because a power goes before a division: put the exponent into brackets.",
            _scale(lambda m, mu: m / 2 / mu),
        ),
        Misconception(
            "root of five",
            "Your noise is sqrt(5)/mu for every table. The experiment had five counts; here `counts` may be of any length.",
            _scale(lambda m, mu: math.sqrt(5) / mu),
        ),
        Misconception(
            "length of the counts",
            "You took the length of `counts` itself, as a vector, for the sensitivity. That shows in the noise how large the counts are. What counts is the length of the change that Mia can make.",
            law.with_scale(lambda counts, mu: np.linalg.norm(counts) / mu),
        ),
        Misconception(
            "mu for sigma",
            "You used mu as the deviation of the noise. mu measures what leaks: a smaller mu needs more noise, sqrt(m) / mu.",
            _scale(lambda m, mu: mu),
        ),
        Misconception(
            "times mu",
            "You multiplied by mu. A smaller mu is more private and needs more noise: divide, sqrt(m) / mu.",
            _scale(lambda m, mu: math.sqrt(m) * mu),
        ),
        Misconception(
            "divided by sqrt(m)",
            "You divided by sqrt(m). More counts about Mia leak more, so they need more noise: sqrt(m) / mu.",
            _scale(lambda m, mu: 1 / (mu * math.sqrt(m))),
        ),
    ),
)
