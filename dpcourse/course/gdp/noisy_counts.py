"""The Gaussian mechanism."""

import math

import numpy as np
from scipy.special import ndtr

from dpcourse import gdp, tradeoff
from dpcourse.base.languages import say
from dpcourse.checking import (
    Audit,
    Count,
    Domain,
    Misconception,
    Noise,
    Number,
    RandomExercise,
    Seed,
    Several,
    Whole,
    numbers_like,
    rounded,
)

RUNS, WITHIN, AUDITED = (300, 300), (0.05, 0.3, 1, 2, 3), 300
LONG = 42, 49  # counts in the longer table: 12,600 noises or more show a scale 5 % off


def _draw_counts(rng):
    """A short and a long table, half of their counts 0, released RUNS + 1 times: the first two with the same seed.

    Then, for the audit, AUDITED times the long one under a weaker promise, and as often with Mia, who is in all counts.
    """
    seed = int(rng.integers(2**31))
    cases = []
    for size, runs in zip((2, int(rng.integers(*LONG))), RUNS, strict=True):
        counts = rng.integers(1, 30, size) * (rng.permutation(size) % 2)
        mu = rounded(rng.uniform(0.6, 0.7))
        cases += [{"counts": counts, "mu": mu, "rng": seed + run} for run in (0, *range(runs))]
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


def _noise(cases, values):
    """The two tables' noise in units of sqrt(m)/mu: pairs (the repeated release, array of all others)."""
    tables = []
    for part in (slice(0, RUNS[0] + 1), slice(RUNS[0] + 1, sum(RUNS) + 2)):
        again, *noise = (_in_units(case, value) for case, value in zip(cases[part], values[part], strict=True))
        tables.append((again, np.array(noise)))
    return tables


def _in_units(case, value):
    """A release's noise in units of sqrt(m)/mu."""
    return (np.asarray(value, dtype=float) - case["counts"]) * case["mu"] / math.sqrt(len(case["counts"]))


def _count_noise(cases, values):
    counts = []
    tables = (cases[0]["counts"], cases[RUNS[0] + 1]["counts"])
    for (again, noise), true in zip(_noise(cases, values), tables, strict=True):
        m, down = noise.shape[1], noise < 0
        size, left, right = np.abs(noise), down[:, 0:-1:2], down[:, 1::2]
        counts += [
            Count.of(say("{m} counts: noise below 0", m=m), down, 0.5),
            *(
                Count.of(say("{m} counts: noise within {c} times sqrt(m)/mu", m=m, c=c), size < c, _within(c))
                for c in WITHIN
            ),
            Count.of(
                say("{m} counts: noise within 1 times sqrt(m)/mu where the count is 0", m=m),
                size[:, true == 0] < 1,
                _within(1),
            ),
            Count.of(say("{m} counts: counts next to each other with noise of the same sign", m=m), left == right, 0.5),
            Count.of(
                say("{m} counts: counts with noise of the same sign in two releases", m=m),
                down[0::2] == down[1::2],
                0.5,
            ),
            Count.of(
                say("{m} counts: releases that come out the same with the same seed", m=m),
                (again == noise[0]).all(),
                1.0,
            ),
        ]
    weaker = zip(cases[-2 * AUDITED : -AUDITED], values[-2 * AUDITED : -AUDITED], strict=True)
    within = [abs(_in_units(case, value)) < 1 for case, value in weaker]
    return [*counts, Count.of(say("weaker promise: noise within 1 times sqrt(m)/mu"), within, _within(1))]


def _within(c):
    """The chance of normal noise to be within c deviations of 0."""
    return 2 * float(ndtr(c)) - 1


def _normal(scale):
    return lambda counts, mu, rng: counts + rng.normal(0, scale(len(counts), mu), len(counts))


def _right_scale(m, mu):
    return math.sqrt(m) / mu


def _same_noise_every_time(cases, values):
    return np.any(values[0]) and all(
        (abs(noise - noise[0]) < 1e-9).all() and np.ptp(noise[0]) > 0 for _, noise in _noise(cases, values)
    )


def _one_noise_for_all(cases, values):
    return all((np.ptp(noise, axis=1) < 1e-9).all() and np.ptp(noise[:, 0]) > 0 for _, noise in _noise(cases, values))


def _not_from_the_generator(cases, values):
    return any((again != noise[0]).any() for again, noise in _noise(cases, values))


def _cut_off(cases, values):
    values = np.concatenate([np.asarray(value, dtype=float) for value in values])
    return bool((values >= 0).all() and 0.01 < (values == 0).mean() < 0.9)


def _rounded(cases, values):
    values = [np.asarray(value, dtype=float) for value in values]
    varied = np.ptp(values[: RUNS[0]], axis=0).any()  # the first table's releases are not all alike
    return varied and all((value == value.round(3)).all() for value in values)


def _no_noise(cases, values):
    return all((noise == 0).all() for _, noise in _noise(cases, values))


exercise = RandomExercise(
    title="The Gaussian mechanism",
    good_for="releasing a whole table of numbers under one promise",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain({"counts": Several(Whole(0, 30), 1, 100, array=True), "mu": Number(0.1, 3), "rng": Seed()}, most=12),
    draw=_draw_counts,
    reference=_normal(_right_scale),
    returns=numbers_like("counts"),
    counts=_count_noise,
    noise=lambda cases, values: Noise.of_groups(
        "norm", {say("with {m} counts", m=noise.shape[1]): noise for _, noise in _noise(cases, values)}
    ),
    attack=_look_for_mia,
    forbidden=(gdp.mechanism,),
    hints=(
        "The noise has the deviation sensitivity / mu. How long is the vector by which Mia can move the m counts, at most?",
        "All m counts may change by 1: the length of (1, 1, …, 1) is sqrt(m). `rng.normal(0, sigma, len(counts))` draws one number for each count.",
    ),
    misconceptions=(
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda counts, mu, rng: _normal(_right_scale)(counts, mu, np.random.default_rng()),
            recognise=_not_from_the_generator,
        ),
        Misconception(
            "own seed",
            "The noise is the same at every run: you made a generator with a fixed seed. Whoever knows it can take the noise away. Use the `rng` you are given.",
            lambda counts, mu, rng: _normal(_right_scale)(counts, mu, np.random.default_rng(0)),
            recognise=_same_noise_every_time,
        ),
        Misconception(
            "no noise",
            "You return the counts as they are.",
            lambda counts, mu, rng: counts,
            recognise=_no_noise,
        ),
        Misconception(
            "one noise for all",
            "Every count gets the same noise, so the differences between counts are exact. Draw one number for each count.",
            lambda counts, mu, rng: counts + rng.normal(0, _right_scale(len(counts), mu)),
            recognise=_one_noise_for_all,
        ),
        Misconception(
            "cut off at 0",
            "You cut the noisy counts off at 0. That is allowed, as post-processing, but then they are no longer right on average: here return them as they are.",
            lambda counts, mu, rng: np.maximum(0, _normal(_right_scale)(counts, mu, rng)),
            recognise=_cut_off,
        ),
        Misconception(
            "rounded",
            "You rounded the noisy counts. That is allowed, as post-processing, but here return them as they are: a caller can still round them.",
            lambda counts, mu, rng: np.round(_normal(_right_scale)(counts, mu, rng)),
            recognise=_rounded,
        ),
        Misconception(
            "counts forgotten",
            "You return the noise alone, without the counts. Add the two.",
            lambda counts, mu, rng: rng.normal(0, _right_scale(len(counts), mu), len(counts)),
        ),
        Misconception(
            "one count only",
            "Your noise is enough for one count. There are m of them, and Mia may be in all: the whole list moves by up to sqrt(m).",
            _normal(lambda m, mu: 1 / mu),
        ),
        Misconception(
            "one too few",
            "Your noise is sqrt(m - 1)/mu. Nothing is lost to an average here: all m counts may change by 1, so the length is sqrt(m).",
            _normal(lambda m, mu: math.sqrt(m - 1) / mu),
        ),
        Misconception(
            "half",
            "Your noise is half of what it should be. Mia moves the list by up to sqrt(m), whatever the others are: sqrt(m) / mu.",
            _normal(lambda m, mu: math.sqrt(m) / (2 * mu)),
        ),
        Misconception(
            "l1 sensitivity",
            "Your noise is m/mu: you added up the m changes. Gaussian noise goes with the length of the change, which is sqrt(m) and not m.",
            _normal(lambda m, mu: m / mu),
        ),
        Misconception(
            "power before division",
            "Your noise is m/2 divided by mu. `m ** 1 / 2` is (m ** 1) / 2, because a power goes before a division: put the exponent into brackets.",
            _normal(lambda m, mu: m / 2 / mu),
        ),
        Misconception(
            "root of five",
            "Your noise is sqrt(5)/mu for every table. The experiment had five counts; here `counts` may be of any length.",
            _normal(lambda m, mu: math.sqrt(5) / mu),
        ),
        Misconception(
            "length of the counts",
            "You took the length of `counts` itself, as a vector, for the sensitivity. That shows in the noise how large the counts are. What counts is the length of the change that Mia can make.",
            lambda counts, mu, rng: counts + rng.normal(0, np.linalg.norm(counts) / mu, len(counts)),
        ),
        Misconception(
            "variance for deviation",
            "Your deviation is the square of what it should be. `rng.normal` takes the standard deviation, not the variance.",
            _normal(lambda m, mu: m / mu**2),
        ),
        Misconception(
            "mu for sigma",
            "You used mu as the deviation of the noise. mu measures what leaks: a smaller mu needs more noise, sqrt(m) / mu.",
            _normal(lambda m, mu: mu),
        ),
        Misconception(
            "times mu",
            "You multiplied by mu. A smaller mu is more private and needs more noise: divide, sqrt(m) / mu.",
            _normal(lambda m, mu: math.sqrt(m) * mu),
        ),
        Misconception(
            "divided by sqrt(m)",
            "You divided by sqrt(m). More counts about Mia leak more, so they need more noise: sqrt(m) / mu.",
            _normal(lambda m, mu: 1 / (mu * math.sqrt(m))),
        ),
        Misconception(
            "laplace",
            "That is Laplace noise of scale sqrt(m)/mu. Here it must be Gaussian: `rng.normal`.",
            lambda counts, mu, rng: counts + rng.laplace(0, _right_scale(len(counts), mu), len(counts)),
        ),
        Misconception(
            "upwards only",
            "Your noise is never below 0, so every count comes out too large. Use it with its sign.",
            lambda counts, mu, rng: counts + abs(rng.normal(0, _right_scale(len(counts), mu), len(counts))),
        ),
    ),
)
