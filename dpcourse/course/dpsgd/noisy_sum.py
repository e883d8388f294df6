"""Noise on the sum."""

import math

import numpy as np
from scipy.special import ndtri

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Count, Domain, Made, Misconception, Noise, Number, RandomExercise, Seed, rounded
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


HALF = -float(ndtri(0.25))  # half of all normal noise is within so many deviations


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


def _noise_of(cases, values):
    """The noise in each run, shape (runs, weights), without the first run, which is only there to be repeated."""
    return np.array([np.asarray(v) - c["clipped"].sum(axis=0) for c, v in zip(cases[1:], values[1:], strict=True)])


def _count_sum(cases, values):
    noise = _noise_of(cases, values)
    deviation = cases[0]["noise_multiplier"] * cases[0]["clip_norm"]
    size, empty = np.abs(noise) / deviation, np.abs(noise[1 + RUNS :]) / deviation
    large, sums = size > HALF, cases[1]["clipped"].sum(axis=0)
    at_large_sums = ~large[: 1 + RUNS, sums > np.median(sums)]
    return [
        Count.of(say("noises within 0.67 deviations of 0"), ~large, 0.5),
        Count.of(say("noises within 0.2 deviations of 0"), size <= 0.2, math.erf(0.2 / math.sqrt(2))),
        Count.of(say("noises beyond 2 deviations"), size > 2, math.erfc(2 / math.sqrt(2))),
        Count.of(say("noises above 0"), noise > 0, 0.5),
        Count.of(say("noises within 0.67 deviations of 0 where nobody was drawn"), empty <= HALF, 0.5),
        Count.of(say("noises within 0.67 deviations of 0 at the weights with the larger sums"), at_large_sums, 0.5),
        Count.of(say("neighbouring weights with noises of the same sign"), noise[:, 0::2] * noise[:, 1::2] > 0, 0.5),
        Count.of(say("neighbouring weights with noises of like size"), large[:, 0::2] == large[:, 1::2], 0.5),
        Count.of(say("first and last weight with noises of the same sign"), noise[:, 0] * noise[:, -1] > 0, 0.5),
        Count.of(say("neighbouring runs with noises of the same sign"), noise[1:-1:2] * noise[2::2] > 0, 0.5),
        Count.of(say("entries without noise"), noise == 0, 0.0),
        Count.of(say("runs that come out the same with the same seed"), np.array_equal(values[0], values[1]), 1.0),
    ]


def _with_deviation(deviation):
    """clipped.sum + normal noise of this deviation: a function of (people, noise_multiplier, clip_norm)."""

    def code(clipped, noise_multiplier, clip_norm, rng):
        size = deviation(len(clipped), noise_multiplier, clip_norm)
        return clipped.sum(axis=0) + rng.normal(0, size, clipped.shape[1])

    return code


def _deviation_is(deviation):
    """recognise: the runs with people have noise of this size, to five standard errors."""

    def recognise(cases, values):
        noise = _noise_of(cases, values)[1 : 1 + RUNS]
        case = cases[0]
        wanted = deviation(len(case["clipped"]), case["noise_multiplier"], case["clip_norm"])
        return bool(abs(noise.std() / wanted - 1) < 5 / math.sqrt(2 * noise.size) and abs(noise.mean()) < wanted / 4)

    return recognise


def _slip_of_size(name, message, deviation):
    return Misconception(name, message, _with_deviation(deviation), recognise=_deviation_is(deviation))


def _clipped_sum(clipped, clip_norm):
    total = clipped.sum(axis=0)
    return total / max(1, np.linalg.norm(total) / clip_norm)


CENTRES = {
    "sum": lambda clipped, clip_norm: clipped.sum(axis=0),
    "mean": lambda clipped, clip_norm: clipped.mean(axis=0),
    "nothing": lambda clipped, clip_norm: 0 * clipped[0],
    "all entries": lambda clipped, clip_norm: 0 * clipped[0] + clipped.sum(),
    "clipped sum": _clipped_sum,
}


def _around(centre, share=lambda people: 1.0):
    """recognise: the runs with people have this centre and no other, and noise of `share` times the right deviation."""

    def recognise(cases, values):
        clipped, clip_norm = cases[0]["clipped"], cases[0]["clip_norm"]
        outputs = np.array(values[2 : 2 + RUNS])
        middle = outputs.mean(axis=0)
        off = {name: np.linalg.norm(middle - known(clipped, clip_norm)) for name, known in CENTRES.items()}
        size = share(len(clipped)) * cases[0]["noise_multiplier"] * clip_norm
        near = off[centre] < 2 * size * math.sqrt(WEIGHTS / RUNS)  # twice as far off as by chance
        fits = abs((outputs - middle).std() / size - 1) < 5 / math.sqrt(2 * outputs.size)
        return bool(min(off, key=off.get) == centre and near and fits)

    return recognise


ROWS = to_say("{name}: a row of 1 to 10 numbers for each of 0 to 8 people")


def _any_rows(rng):
    return (rng.normal(size=(int(rng.integers(0, 9)), int(rng.integers(1, 11)))) / 50).round(3)


exercise = RandomExercise(
    title="Noise on the sum",
    good_for="the other line that makes training private, and the one in which most slips are made",
    difficulty=2,
    minutes=10,
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
    reference=_with_deviation(lambda people, sigma, r: sigma * r),
    returns=_one_per_weight,
    forbidden=(audit._noisy_sums,),
    counts=_count_sum,
    noise=lambda cases, values: Noise(
        "norm", _noise_of(cases, values) / (cases[0]["noise_multiplier"] * cases[0]["clip_norm"])
    ),
    hints=(
        "By how much can one person move the sum of the clipped gradients? The noise multiplier says how many times as large the noise is.",
        "One person moves it by clip_norm at most, and the noise is noise_multiplier times as large. `rng.normal(0, deviation, d)` draws d "
        "independent noises: how many weights are there? Also an empty batch gets noise.",
    ),
    misconceptions=(
        Misconception(
            "nothing random",
            "You returned the sum itself, without noise.",
            lambda clipped, noise_multiplier, clip_norm, rng: clipped.sum(axis=0),
            recognise=lambda cases, values: bool((_noise_of(cases, values) == 0).all()),
        ),
        Misconception(
            "one noise for all weights",
            "You drew one noise and added it to every weight. The differences between weights are then exact. Draw one for each column.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum(axis=0) + rng.normal(0, noise_multiplier * clip_norm)
            ),
            recognise=lambda cases, values: bool(np.ptp(_noise_of(cases, values), axis=1).max() < 1e-9),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed. Whoever runs your code can take the noise off. "
            "Use the `rng` you are given.",
            lambda clipped, noise_multiplier, clip_norm, rng: _with_deviation(lambda people, sigma, r: sigma * r)(
                clipped, noise_multiplier, clip_norm, np.random.default_rng(0)
            ),
            recognise=lambda cases, values: bool(np.ptp(_noise_of(cases, values), axis=0).max() < 1e-9),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda clipped, noise_multiplier, clip_norm, rng: _with_deviation(lambda people, sigma, r: sigma * r)(
                clipped, noise_multiplier, clip_norm, np.random.default_rng()
            ),
            recognise=lambda cases, values: not np.array_equal(values[0], values[1]),
        ),
        Misconception(
            "empty batch without noise",
            "Where nobody was drawn you returned zeros. Then everybody sees that the batch was empty, and Mia was not in it. Noise is "
            "added whoever was drawn.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum(axis=0)
                + (rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1]) if len(clipped) else 0)
            ),
            recognise=lambda cases, values: bool(
                (_noise_of(cases, values)[1 + RUNS :] == 0).all()
                and _deviation_is(lambda people, sigma, r: sigma * r)(cases, values)
            ),
        ),
        Misconception(
            "mean",
            "You added the noise to the mean of the gradients. It belongs on the sum: dividing by the number drawn, which is secret, comes "
            "with a leak of its own.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum(axis=0) / max(1, len(clipped))
                + rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1])
            ),
            recognise=_around("mean"),
        ),
        Misconception(
            "mean of all",
            "You divided the noisy sum by the number of people in the batch. Return the noisy sum; the division comes later, and by another number.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                (clipped.sum(axis=0) + rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1]))
                / max(1, len(clipped))
            ),
            recognise=_around("mean", lambda people: 1 / people),
        ),
        Misconception(
            "noise alone",
            "You returned the noise alone. Add it to the sum of the rows.",
            lambda clipped, noise_multiplier, clip_norm, rng: rng.normal(
                0, noise_multiplier * clip_norm, clipped.shape[1]
            ),
            recognise=_around("nothing"),
        ),
        Misconception(
            "all entries added",
            "You added up all entries of `clipped` to one number. Each weight has a sum of its own, over the people: `axis=0`.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum() + rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1])
            ),
            recognise=_around("all entries"),
        ),
        Misconception(
            "sum clipped",
            "You clipped the sum as well. It may be longer than `clip_norm`: only what one person adds to it must not be.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                _clipped_sum(clipped, clip_norm) + rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1])
            ),
            recognise=_around("clipped sum"),
        ),
        _slip_of_size(
            "variance",
            "Your noise has the variance noise_multiplier * clip_norm. That is to be the standard deviation, which is what numpy's `normal` takes.",
            lambda people, sigma, r: math.sqrt(sigma * r),
        ),
        _slip_of_size(
            "noise for each person",
            "You added noise to every person's gradient. The noise of the sum then grows with the root of the number of people: mostly it is "
            "far too much, and its amount tells how many were drawn. In an empty batch there is none. Add noise once, to the sum.",
            lambda people, sigma, r: math.sqrt(people) * sigma * r,
        ),
        _slip_of_size(
            "clip norm forgotten",
            "Your noise has the deviation noise_multiplier. It must be a multiple of what one person can change: multiply by clip_norm.",
            lambda people, sigma, r: sigma,
        ),
        _slip_of_size(
            "multiplier forgotten",
            "Your noise has the deviation clip_norm. Multiply by the noise multiplier.",
            lambda people, sigma, r: r,
        ),
        _slip_of_size(
            "divided by the people",
            "You divided the noise by the number of people. One person moves the sum by up to clip_norm, however many others there are.",
            lambda people, sigma, r: sigma * r / max(1, people),
        ),
        _slip_of_size(
            "squared",
            "Your noise has the deviation (noise_multiplier * clip_norm) squared. That is the variance; numpy's `normal` takes the deviation.",
            lambda people, sigma, r: (sigma * r) ** 2,
        ),
        _slip_of_size(
            "twice",
            "Your noise is made for a sum that moves by 2 * clip_norm. That is so if a person is replaced; here a row is filled or empty, "
            "and the sum moves by clip_norm.",
            lambda people, sigma, r: 2 * sigma * r,
        ),
        Misconception(
            "Laplace",
            "You drew Laplace noise. It does not fit to the l2 norm and to G of mu; draw normal noise.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                clipped.sum(axis=0) + rng.laplace(0, noise_multiplier * clip_norm, clipped.shape[1])
            ),
        ),
    ),
)
