"""Noise on the sum."""

import math

import numpy as np

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import AddedNoise, Domain, Made, Misconception, Number, RandomExercise, Seed, rounded
from dpcourse.checking.calling.values import type_name
from dpcourse.course.dpsgd.shared import as_array


def _one_per_weight(value, case):
    """One number for each column of `clipped`."""
    array = as_array(value)
    columns = case["clipped"].shape[1]
    if array.dtype.kind not in "iuf" or array.shape != (columns,):
        return say(
            "Return one array of {columns} numbers, one for each weight (column), not {type}.",
            columns=columns,
            type=type_name(value),
        )
    return (
        None
        if np.isfinite(array).all()
        else say(
            "The result holds numbers that are not finite. There may be 0 people: their sum is 0, but a mean over nobody is 0 / 0."
        )
    )


RUNS, EMPTY_RUNS, WEIGHTS = 500, 100, 20  # 12,000 noises show a deviation 5 % off


def _draw_sum(rng):
    """Two runs with the same seed, 500 with seeds of their own, and 100 in which nobody was drawn. All rows are shorter than clip_norm."""
    people = int(rng.integers(5, 9))
    clip_norm = rounded(rng.uniform(2.6, 3.4))
    noise_multiplier = rounded(rng.uniform(1.3, 1.7))
    directions = np.abs(rng.normal(size=(people, WEIGHTS))) + 0.3
    lengths = clip_norm * rng.uniform(0.5, 0.8, size=(people, 1))
    clipped = (lengths * directions / np.linalg.norm(directions, axis=1, keepdims=True)).round(3)
    seeds = rng.integers(2**31, size=1 + RUNS + EMPTY_RUNS).tolist()
    given = {"noise_multiplier": noise_multiplier, "clip_norm": clip_norm}
    full = [{"clipped": clipped, **given, "rng": seed} for seed in (seeds[0], *seeds[: 1 + RUNS])]
    return full + [{"clipped": clipped[:0], **given, "rng": seed} for seed in seeds[1 + RUNS :]]


law = AddedNoise(
    "norm",
    lambda clipped, noise_multiplier, clip_norm: clipped.sum(axis=0),
    lambda clipped, noise_multiplier, clip_norm: noise_multiplier * clip_norm,
)


def _scale(deviation):
    """Noise of another deviation: a function of the number of people, the noise multiplier and the clip norm."""
    return law.with_scale(
        lambda clipped, noise_multiplier, clip_norm: deviation(len(clipped), noise_multiplier, clip_norm)
    )


def _noise_of_the_right_size(cases, values):
    """Whether the runs with people have noise of the right size, to five standard errors."""
    clipped, deviation = cases[0]["clipped"].sum(axis=0), cases[0]["noise_multiplier"] * cases[0]["clip_norm"]
    noise = (np.array(values[2 : 2 + RUNS]) - clipped) / deviation
    return bool(abs(noise.std() - 1) < 5 / math.sqrt(2 * noise.size) and abs(noise.mean()) < 1 / 4)


def _clipped_sum(clipped, noise_multiplier, clip_norm):
    total = clipped.sum(axis=0)
    return total / max(1, np.linalg.norm(total) / clip_norm)


def _mean(clipped, noise_multiplier, clip_norm):
    return clipped.sum(axis=0) / max(1, len(clipped))


ROWS = to_say("{name}: a row of 1 to 10 numbers for each of 0 to 8 people")


def _any_rows(rng):
    return (rng.normal(size=(int(rng.integers(0, 9)), int(rng.integers(1, 11)))) / 50).round(3)


def _with_numpy(clipped, noise_multiplier, clip_norm, rng):
    deviation = noise_multiplier * clip_norm
    return clipped.sum(axis=0) + rng.normal(0, deviation, size=clipped.shape[1])


exercise = RandomExercise(
    title="Noise on the sum",
    good_for="the other line that makes training private, and the one in which most slips are made",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {
            "clipped": Made(_any_rows, ROWS),
            "noise_multiplier": Number(0.1, 5),
            "clip_norm": Number(0.1, 5),
            "rng": Seed(),
        },
        most=12,
    ),
    draw=_draw_sum,
    reference=law.answer,
    formulas=(_with_numpy,),
    means={
        "noise_multiplier * clip_norm": "the standard deviation of the noise",
        "clipped.sum(axis=0)": "the sum over people, a number for each weight",
    },
    law=law,
    returns=_one_per_weight,
    forbidden=(audit._noisy_sums,),
    hints=(
        "By how much can one person move the sum of the clipped gradients? The noise multiplier says how many times as large the noise is.",
        "One person moves it by clip_norm at most, and the noise is noise_multiplier times as large. `rng.normal(0, deviation, d)` draws d "
        "independent noises: how many weights are there? Also an empty batch gets noise.",
    ),
    misconceptions=(
        Misconception(
            "empty batch without noise",
            "Where nobody was drawn you returned zeros. Then everybody sees that the batch was empty, and Mia was not in it. Noise is "
            "added whoever was drawn.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum(axis=0)
                + (rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1]) if len(clipped) else 0)
            ),
            recognise=lambda cases, values: bool(
                not np.any(values[2 + RUNS :]) and _noise_of_the_right_size(cases, values)
            ),
        ),
        Misconception(
            "mean",
            "You added the noise to the mean of the gradients. It belongs on the sum: dividing by the number drawn, which is secret, comes "
            "with a leak of its own.",
            law.around(_mean),
        ),
        Misconception(
            "mean of all",
            "You divided the noisy sum by the number of people in the batch. Return the noisy sum; the division comes later, and by another number.",
            lambda *given: law.answer(*given) / max(1, len(given[0])),
        ),
        Misconception(
            "all entries added",
            "You added up all entries of `clipped` to one number. Each weight has a sum of its own, over the people: `axis=0`.",
            law.around(lambda clipped, noise_multiplier, clip_norm: np.full(clipped.shape[1], clipped.sum())),
        ),
        Misconception(
            "sum clipped",
            "You clipped the sum as well. It may be longer than `clip_norm`: only what one person adds to it must not be.",
            law.around(_clipped_sum),
        ),
        Misconception(
            "noise for each person",
            "You added noise to every person's gradient. The noise of the sum then grows with the root of the number of people: mostly it is "
            "far too much, and its amount tells how many were drawn. In an empty batch there is none. Add noise once, to the sum.",
            _scale(lambda people, sigma, r: math.sqrt(people) * sigma * r),
        ),
        Misconception(
            "clip norm forgotten",
            "Your noise has the deviation noise_multiplier. It must be a multiple of what one person can change: multiply by clip_norm.",
            _scale(lambda people, sigma, r: sigma),
        ),
        Misconception(
            "multiplier forgotten",
            "Your noise has the deviation clip_norm. Multiply by the noise multiplier.",
            _scale(lambda people, sigma, r: r),
        ),
        Misconception(
            "divided by the people",
            "You divided the noise by the number of people. One person moves the sum by up to clip_norm, however many others there are.",
            _scale(lambda people, sigma, r: sigma * r / max(1, people)),
        ),
        Misconception(
            "twice",
            "Your noise is made for a sum that moves by 2 * clip_norm. That is so if a person is replaced; here a row is filled or empty, "
            "and the sum moves by clip_norm.",
            _scale(lambda people, sigma, r: 2 * sigma * r),
        ),
    ),
)
