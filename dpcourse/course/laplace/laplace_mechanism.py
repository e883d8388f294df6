"""The Laplace mechanism."""

import math

import numpy as np

from dpcourse import laplace
from dpcourse.base.languages import say
from dpcourse.checking import (
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
from dpcourse.course.laplace.shared import alike_in_all_runs, every_run_alike, is_constant, noise_scale, shape_counts

ENTRIES, FEW, FURTHER = 2000, 7, 12
"""Entries of the long array and of the short one; runs with noise about as large as 1. 28,000 noises show a scale 5 % off."""


def _draw_mechanism(rng):
    """A long array three times, the first two with the same seed; FURTHER times with little noise; a short one.

    All scales in the misconceptions lie apart. An offset of 1, or a scale rounded down, shows where there is little noise.
    """
    value = rng.integers(0, 100, size=ENTRIES).astype(float)
    seed, epsilon, sensitivity = int(rng.integers(2**31)), rounded(rng.uniform(0.2, 0.25)), rounded(rng.uniform(9, 12))
    little = {"sensitivity": rounded(rng.uniform(0.4, 0.5)), "epsilon": rounded(rng.uniform(0.83, 0.97))}
    much = {"sensitivity": sensitivity, "epsilon": epsilon}
    runs = [(value, much, 0), (value, much, 0), (value, much, 1)]
    runs += [(value, little, 3 + run) for run in range(FURTHER)]
    return [{"value": v, **given, "rng": seed + run} for v, given, run in (*runs, (value[:FEW], much, 2))]


def _noises(cases, values):
    """The noises of the first three runs on the long array."""
    return np.array([np.asarray(value) - case["value"] for case, value in zip(cases[:3], values[:3], strict=True)])


def _in_scales(cases, values):
    """The noises of all different runs on the long array, each in scales of its own: of shape (2 + FURTHER, ENTRIES)."""
    seen = zip(cases[1:-1], values[1:-1], strict=True)
    return np.array([(np.asarray(value) - case["value"]) / noise_scale(*_parameters(case)) for case, value in seen])


def _by_setting(cases, values):
    """The same by sensitivity and epsilon, in words."""
    runs = _in_scales(cases, values)
    much, little = (
        say("with sensitivity {sensitivity} and epsilon {epsilon}", sensitivity=sensitivity, epsilon=epsilon)
        for sensitivity, epsilon in map(_parameters, (cases[1], cases[-2]))
    )
    return {much: runs[:2], little: runs[2:]}


def _whole(values):
    return np.asarray(values) == np.round(values)


def _equal_runs(runs):
    """Of each two runs, whether they have the same noise: seen at the first entries."""
    start = runs[:, :9]
    apart = np.abs(start[:, None] - start[None]).max(axis=2)
    return apart[np.triu_indices(len(runs), 1)] < 1e-9


def _count_mechanism(cases, values):
    first, again, _ = _noises(cases, values)
    runs = _in_scales(cases, values)
    noise, large = runs.ravel(), np.abs(runs) > math.log(2)
    pairs = large.reshape(-1, 2)
    front, back = runs.reshape(len(runs), 2, -1).swapaxes(0, 1)
    return [
        *shape_counts(noise, 1),
        Count.of(say("neighbours with noises of the same sign"), noise[0::2] * noise[1::2] > 0, 0.5),
        Count.of(say("neighbours with noises of like size"), pairs[:, 0] == pairs[:, 1], 0.5),
        Count.of(say("entries half the array apart with noises of the same sign"), front * back > 0, 0.5),
        Count.of(say("entries with noises of the same sign in two runs"), runs[0::2] * runs[1::2] > 0, 0.5),
        Count.of(say("noises beyond ln 2 scales at values of 50 and more"), large[:, cases[0]["value"] >= 50], 0.5),
        Count.of(say("entries without noise"), noise == 0, 0.0),
        Count.of(say("results that are whole numbers"), _whole(values[1:-1]), 0.0),
        Count.of(say("pairs of runs, each with its own `rng`, that have the same noise"), _equal_runs(runs), 0.0),
        Count.of(say("runs that come out the same with the same seed"), np.array_equal(first, again), 1.0),
    ]


def _with_scale(scale):
    return lambda value, sensitivity, epsilon, rng: value + rng.laplace(0, scale(sensitivity, epsilon), len(value))


def _parameters(case):
    return case["sensitivity"], case["epsilon"]


def _mean_size_is(scale, cases, values):
    """Whether the noise with much and with little is as large as Lap(scale) noise is on average, to five standard errors."""
    runs = np.abs(_in_scales(cases, values))
    right = np.array([noise_scale(*_parameters(case)) / scale(*_parameters(case)) for case in cases[1:-1]])
    return all(abs(part.mean() - 1) < 5 / math.sqrt(part.size) for part in np.split(runs * right[:, None], [2]))


def _one_sign_for_each_run(cases, values):
    runs = _in_scales(cases, values)
    above = (runs > 0).mean(axis=1)
    return bool(np.isin(above, (0, 1)).all() and 0 < above.mean() < 1 and runs.all())


exercise = RandomExercise(
    title="The Laplace mechanism",
    good_for="releasing any numbers whose sensitivity you know",
    difficulty=2,
    minutes=15,
    points=3,
    domain=Domain(
        {
            "value": Several(Whole(0, 100), 1, 2000, array=True),
            "sensitivity": Number(0.1, 20),
            "epsilon": Number(0.01, 3),
            "rng": Seed(),
        },
        most=12,
    ),
    draw=_draw_mechanism,
    reference=laplace.mechanism,
    returns=numbers_like("value"),
    counts=_count_mechanism,
    noise=lambda cases, values: Noise.of_groups("laplace", _by_setting(cases, values)),
    forbidden=(laplace.mechanism, laplace.scale),
    hints=(
        "Take sensitivity 2 and epsilon 0.5. The answer may move by 2, and for that the density may fall by a factor of e^0.5 only. How wide must it be?",
        "The formula of section 3 says the scale: the sensitivity stands above the line, epsilon below. It is that of all entries together, so do not count them again.",
        "`rng.laplace(0, b, n)` gives n independent noises of scale b. How many entries need one of their own?",
    ),
    misconceptions=(
        Misconception(
            "nothing random",
            "You returned the value itself, without noise.",
            lambda value, sensitivity, epsilon, rng: value + 0.0,
            recognise=lambda cases, values: bool((_noises(cases, values) == 0).all()),
        ),
        Misconception(
            "one noise for all",
            "You drew one noise and added it to every entry. The differences between entries are then exact. Draw `len(value)` noises.",
            lambda value, sensitivity, epsilon, rng: value + rng.laplace(0, noise_scale(sensitivity, epsilon)),
            recognise=lambda cases, values: (
                all(map(is_constant, _noises(cases, values))) and not alike_in_all_runs(_noises(cases, values))
            ),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed, or you add a fixed number. Whoever runs your code can take the noise off. Use the `rng` you are given.",
            lambda value, sensitivity, epsilon, rng: _with_scale(noise_scale)(
                value, sensitivity, epsilon, np.random.default_rng(0)
            ),
            recognise=lambda cases, values: (
                every_run_alike(_noises(cases, values)) or alike_in_all_runs(_noises(cases, values))
            ),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda value, sensitivity, epsilon, rng: _with_scale(noise_scale)(
                value, sensitivity, epsilon, np.random.default_rng()
            ),
            recognise=lambda cases, values: not np.array_equal(*_noises(cases, values)[:2]),
        ),
        Misconception(
            "cut off",
            "You cut the results off at 0. That is allowed, as post-processing, but it is one step too many here: return the noisy numbers as they are.",
            lambda value, sensitivity, epsilon, rng: np.maximum(
                0, _with_scale(noise_scale)(value, sensitivity, epsilon, rng)
            ),
            recognise=lambda cases, values: (
                bool(np.min(values[0]) == 0 and ((np.asarray(values[0]) == 0) & (cases[0]["value"] > 0)).sum() >= 5)
                and np.any(values[0])
            ),
        ),
        Misconception(
            "rounded",
            "Your results are whole numbers: you rounded them, or your noise is whole. Rounding is allowed, as post-processing, but here return "
            "numbers with Laplace noise as they are.",
            lambda value, sensitivity, epsilon, rng: np.round(
                _with_scale(noise_scale)(value, sensitivity, epsilon, rng)
            ),
            recognise=lambda cases, values: bool(
                _whole(values[1:3]).all() and np.any(values[1]) and (_noises(cases, values) != 0).any()
            ),
        ),
        Misconception(
            "fraction turned over",
            "Your scale is epsilon / sensitivity. More privacy means a smaller epsilon and more noise: sensitivity / epsilon.",
            _with_scale(lambda sensitivity, epsilon: epsilon / sensitivity),
            recognise=lambda cases, values: _mean_size_is(lambda s, epsilon: epsilon / s, cases, values),
        ),
        Misconception(
            "sensitivity forgotten",
            "Your scale is 1 / epsilon, which hides a change of 1. One row may change this value by `sensitivity`.",
            _with_scale(lambda sensitivity, epsilon: 1 / epsilon),
        ),
        Misconception(
            "epsilon forgotten",
            "Your scale is the sensitivity, whatever epsilon is. Divide it by epsilon.",
            _with_scale(lambda sensitivity, epsilon: sensitivity),
        ),
        Misconception(
            "multiplied",
            "Your scale is sensitivity times epsilon. Divide by epsilon: a smaller epsilon means more noise.",
            _with_scale(lambda sensitivity, epsilon: sensitivity * epsilon),
            recognise=lambda cases, values: _mean_size_is(lambda s, epsilon: s * epsilon, cases, values),
        ),
        Misconception(
            "variance",
            "You gave the variance, 2 b^2, where numpy's `laplace` wants the scale b.",
            _with_scale(lambda sensitivity, epsilon: 2 * noise_scale(sensitivity, epsilon) ** 2),
        ),
        Misconception(
            "standard deviation",
            "You gave the standard deviation, b times the root of 2, where numpy's `laplace` wants the scale b itself.",
            _with_scale(lambda sensitivity, epsilon: math.sqrt(2) * noise_scale(sensitivity, epsilon)),
        ),
        Misconception(
            "number of entries",
            "You also multiplied the scale by the number of entries. The sensitivity is that of all entries together; they are counted in it already.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.laplace(0, len(value) * noise_scale(sensitivity, epsilon), len(value))
            ),
        ),
        Misconception(
            "shared out among the entries",
            "You divided the scale by the number of entries. One row may spend all of the `sensitivity` on one entry: each needs the whole scale.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.laplace(0, noise_scale(sensitivity, epsilon) / len(value), len(value))
            ),
            recognise=lambda cases, values: _mean_size_is(lambda s, epsilon: s / epsilon / ENTRIES, cases, values),
        ),
        Misconception(
            "one sign for all",
            "All noises of one run have the same sign. Each entry needs a sign of its own; `rng.laplace` gives it one.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.choice([-1, 1]) * rng.exponential(noise_scale(sensitivity, epsilon), len(value))
            ),
            recognise=_one_sign_for_each_run,
        ),
        Misconception(
            "Gaussian",
            "You added Gaussian noise. Its tails fall faster, so far out the ratio of the densities passes e^epsilon. Use `rng.laplace`.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.normal(0, noise_scale(sensitivity, epsilon), len(value))
            ),
        ),
        Misconception(
            "one-sided",
            "Your noise is never negative, as that of `rng.exponential`. An output below the value would prove a neighbour wrong. Use `rng.laplace`.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.exponential(noise_scale(sensitivity, epsilon), len(value))
            ),
        ),
        Misconception(
            "value forgotten",
            "You returned the noise alone. Add it to `value`.",
            lambda value, sensitivity, epsilon, rng: rng.laplace(0, noise_scale(sensitivity, epsilon), len(value)),
        ),
    ),
)
