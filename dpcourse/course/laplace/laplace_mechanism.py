"""The Laplace mechanism."""

import math

import numpy as np

from dpcourse import laplace
from dpcourse.course.laplace.shared import every_run_alike, is_constant, noise_scale, shape_counts
from dpcourse.engine import Count, Misconception, Noise, RandomExercise, numbers_like, rounded

ENTRIES, FEW = 2000, 7


def _draw_mechanism(rng):
    """The same array three times, the first two with the same seed, and a short one; all scales in the misconceptions lie apart."""
    value = rng.integers(0, 100, size=ENTRIES).astype(float)
    seed, epsilon, sensitivity = int(rng.integers(2**31)), rounded(rng.uniform(0.2, 0.25)), rounded(rng.uniform(9, 12))
    runs = ((value, 0), (value, 0), (value, 1), (value[:FEW], 2))
    return [{"value": v, "sensitivity": sensitivity, "epsilon": epsilon, "rng": seed + run} for v, run in runs]


def _noises(cases, values):
    """The noises of the three runs on the long array."""
    return np.array([np.asarray(value) - case["value"] for case, value in zip(cases[:3], values[:3], strict=True)])


def _whole(values):
    return np.asarray(values) == np.round(values)


def _count_mechanism(cases, values):
    first, again, other = _noises(cases, values)
    b = cases[0]["sensitivity"] / cases[0]["epsilon"]
    both, half = np.concatenate([again, other]), b * math.log(2)
    pairs = np.abs(both.reshape(-1, 2)) > half
    front, back = both.reshape(2, 2, -1).swapaxes(0, 1)
    return [
        *shape_counts(both, b),
        Count.of("neighbours with noises of the same sign", both[0::2] * both[1::2] > 0, 0.5),
        Count.of("neighbours with noises of like size", pairs[:, 0] == pairs[:, 1], 0.5),
        Count.of("entries half the array apart with noises of the same sign", front * back > 0, 0.5),
        Count.of("entries with noises of the same sign in two runs", again * other > 0, 0.5),
        Count.of("entries without noise", both == 0, 0.0),
        Count.of("results that are whole numbers", _whole(values[1:3]), 0.0),
        Count.of("runs that come out the same with the same seed", np.array_equal(first, again), 1.0),
    ]


def _with_scale(scale):
    return lambda value, sensitivity, epsilon, rng: value + rng.laplace(0, scale(sensitivity, epsilon), len(value))


def _parameters(cases):
    return cases[0]["sensitivity"], cases[0]["epsilon"]


def _mean_size_is(size, cases, values):
    """Whether the noise is as large as Lap(size) noise is on average, to five standard errors."""
    noise = _noises(cases, values)[1:]
    return bool(abs(np.abs(noise).mean() / size - 1) < 5 / math.sqrt(noise.size))


exercise = RandomExercise(
    title="The Laplace mechanism",
    good_for="releasing any numbers whose sensitivity you know",
    difficulty=2,
    minutes=15,
    points=3,
    draw=_draw_mechanism,
    reference=laplace.mechanism,
    returns=numbers_like("value"),
    counts=_count_mechanism,
    noise=lambda cases, values: Noise("laplace", _noises(cases, values)[1:] / noise_scale(*_parameters(cases))),
    forbidden=(laplace.mechanism, laplace.scale),
    hints=(
        "By how much can one row move the answer, and how does epsilon enter?",
        "The scale is b = sensitivity / epsilon. `rng.laplace(0, b, n)` gives n independent noises of scale b.",
        "Every entry needs a noise of its own: as many as `len(value)`. Add them to `value`.",
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
            recognise=lambda cases, values: all(map(is_constant, _noises(cases, values))),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed. Whoever runs your code can take the noise off. Use the `rng` you are given.",
            lambda value, sensitivity, epsilon, rng: _with_scale(noise_scale)(
                value, sensitivity, epsilon, np.random.default_rng(0)
            ),
            recognise=lambda cases, values: every_run_alike(_noises(cases, values)),
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
            recognise=lambda cases, values: bool(
                np.min(values[0]) == 0 and 5 <= (np.asarray(values[0]) == 0).sum() < ENTRIES
            ),
        ),
        Misconception(
            "rounded",
            "You rounded the results. That is allowed, as post-processing, but here return the noisy numbers as they are.",
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
            recognise=lambda cases, values: _mean_size_is(1 / noise_scale(*_parameters(cases)), cases, values),
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
            recognise=lambda cases, values: _mean_size_is(math.prod(_parameters(cases)), cases, values),
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
