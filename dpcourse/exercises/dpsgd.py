"""Exercises and quiz of lesson 05: DP-SGD."""

import functools
import math
from collections import Counter

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from dpcourse import clt, gdp, pld, rdp, tradeoff
from dpcourse.exercises.engine import Exercise, Misconception, OpenExercise, Option, Question, RandomExercise
from dpcourse.exercises.values import a_number, numbers_like, rounded, type_name
from dpcourse.tradeoff import TradeOff

TITLE = "DP-SGD"


# ---- what an answer may return


def _as_array(value):
    """The value as an array; an array of objects where it is none, or ragged."""
    try:
        return np.asarray(value) if isinstance(value, (list, tuple, np.ndarray)) else np.asarray(None)
    except ValueError:
        return np.asarray(None)


def _array_like(argument):
    """An array of finite numbers, of the shape of the argument of that name."""

    def complain(value, case):
        shape = case[argument].shape
        array = _as_array(value)
        if array.dtype.kind not in "iuf":
            return f"Return an array of numbers of the shape of `{argument}`, {shape}, not {type_name(value)}."
        if array.shape != shape:
            return f"Return an array of the shape of `{argument}`, {shape}, not {array.shape}."
        if not np.isfinite(array).all():
            return f"The result holds {array[~np.isfinite(array)][0]}. A gradient may be 0: its norm is 0, and 0 / 0 is not a number."
        return None

    return complain


def _one_per_weight(value, case):
    """One number for each column of `clipped`."""
    array = _as_array(value)
    columns = case["clipped"].shape[1]
    if array.dtype.kind not in "iuf" or array.shape != (columns,):
        return f"Return one array of {columns} numbers, one for each weight (column), not {type_name(value)}."
    return (
        None
        if np.isfinite(array).all()
        else "The result holds numbers that are not finite. There may be 0 people: their sum is 0, but a mean over nobody is 0 / 0."
    )


def _batches(value, case):
    """One array of indices of people for each step."""
    steps, n = case["steps"], case["n"]
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != steps:
        return f"Return a list with one array of indices for each of the {steps} steps, not {type_name(value)}."
    for batch in value:
        array = _as_array(batch)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            what = (
                "True and False; `np.flatnonzero` turns them into indices"
                if array.dtype.kind == "b"
                else type_name(batch)
            )
            return f"Each batch must be an array of indices (whole numbers), not {what}."
        if array.size == n > 2 and set(array.tolist()) <= {0, 1}:
            return f"A batch of yours holds {n} zeros and ones, one for each person. Return the indices of the ones: `np.flatnonzero` finds them."
        if array.size and not (array.min() >= 0 and array.max() < n):
            return f"The indices must be from 0 to n - 1 = {n - 1}; there is {array.max() if array.max() >= n else array.min()}."
    return None


def _new_weights(value, case):
    """As many finite numbers as there are weights; says so where an empty batch was divided by 0."""
    complaint = numbers_like("weights")(value, case)
    if complaint and "holds" in complaint and len(case["gradients"]) == 0:
        return "Here nobody was drawn, and the result is not finite: you divided by the number drawn. Divide by `expected_batch`."
    return complaint


# ---- 5.1 clipping


def _draw_gradients(rng):
    """Gradients of which some are long, some short, one is 0, and one is short but has a long neighbour."""
    cases = []
    for people, weights in ((5, 3), (6, 4)):
        clip_norm = rounded(rng.uniform(0.5, 3))
        directions = rng.normal(size=(people, weights))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lengths = clip_norm * np.r_[rng.uniform(1.3, 4, size=people - 3), rng.uniform(0.2, 0.8, size=2), 0]
        cases.append({"gradients": rng.permutation(lengths[:, None] * directions), "clip_norm": clip_norm})
    return cases


def _norms(gradients, order=2):
    return np.linalg.norm(gradients, ord=order, axis=1, keepdims=True)


def _clipped(gradients, clip_norm):
    return gradients / np.maximum(1, _norms(gradients) / clip_norm)


clip = Exercise(
    id="5.1",
    title="Clip each person's gradient",
    function="clip",
    good_for="the one line that gives training a sensitivity at all",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_gradients,
    reference=_clipped,
    returns=_array_like("gradients"),
    hints=(
        "A row is one person's gradient. Its length is `np.linalg.norm(gradients, axis=1, keepdims=True)`, one number for each row. "
        "Which rows are to be changed, and by which factor?",
        "Divide each row by max(1, its norm / clip_norm). For a short row, and for a row of zeros, this is a division by 1.",
    ),
    misconceptions=(
        Misconception(
            "each coordinate",
            "You clipped each coordinate by itself. A row of d numbers could still have the norm clip_norm times the root of d, and its "
            "direction changes. Clip the norm of the whole row.",
            lambda gradients, clip_norm: np.clip(gradients, -clip_norm, clip_norm),
        ),
        Misconception(
            "short ones stretched",
            "You gave every gradient the norm clip_norm, so short ones were made longer. Clipping makes long ones shorter and leaves short "
            "ones as they are.",
            lambda gradients, clip_norm: gradients * clip_norm / np.maximum(_norms(gradients), 1e-12),
        ),
        Misconception(
            "whole batch",
            "You clipped all rows by one factor, from the norm of the whole array. Then a person's factor depends on who else is in the "
            "batch. Every row has a factor of its own: `axis=1`.",
            lambda gradients, clip_norm: gradients / max(1, np.linalg.norm(gradients) / clip_norm),
        ),
        Misconception(
            "mean clipped",
            "You clipped the mean of the gradients. One person can turn it round completely. Clip each person's gradient, before anything is added.",
            lambda gradients, clip_norm: gradients / max(1, np.linalg.norm(gradients.mean(axis=0)) / clip_norm),
        ),
        Misconception(
            "columns",
            "You clipped the columns. A column is one weight, over all people; a row is one person. The norm is taken along `axis=1`.",
            lambda gradients, clip_norm: _clipped(gradients.T, clip_norm).T,
        ),
        Misconception(
            "long ones dropped",
            "You set long gradients to 0. That is private too, but it throws away those who have most to say. Shorten them to clip_norm.",
            lambda gradients, clip_norm: np.where(_norms(gradients) > clip_norm, 0, gradients),
        ),
        Misconception(
            "l1 norm",
            "You took the l1 norm, the sum of absolute values. Gaussian noise goes with the l2 norm.",
            lambda gradients, clip_norm: gradients / np.maximum(1, _norms(gradients, 1) / clip_norm),
        ),
        Misconception(
            "largest entry",
            "You took the largest entry as the length of a row. The l2 norm is the root of the sum of squares.",
            lambda gradients, clip_norm: gradients / np.maximum(1, _norms(gradients, np.inf) / clip_norm),
        ),
        Misconception(
            "root forgotten",
            "You used the square of the norm. Take the root: `np.linalg.norm` does.",
            lambda gradients, clip_norm: gradients / np.maximum(1, _norms(gradients) ** 2 / clip_norm),
        ),
        Misconception(
            "shared among people",
            "You clipped to clip_norm divided by the number of people. Each person's own gradient may have the norm clip_norm.",
            lambda gradients, clip_norm: _clipped(gradients, clip_norm / len(gradients)),
        ),
        Misconception(
            "length one",
            "Your long gradients end with length 1. Divide by norm / clip_norm, so that they end with length clip_norm.",
            lambda gradients, clip_norm: np.where(
                _norms(gradients) > clip_norm, gradients / np.maximum(_norms(gradients), 1e-12), gradients
            ),
        ),
        Misconception(
            "not clipped",
            "You returned the gradients as they are. Those longer than clip_norm must be shortened to it.",
            lambda gradients, clip_norm: gradients + 0.0,
        ),
    ),
)


# ---- 5.2 noise

RUNS, EMPTY_RUNS, WEIGHTS = 400, 100, 20
HALF = -float(ndtri(0.25))  # half of all normal noise is within so many deviations


def _draw_sum(rng):
    """Two runs with the same seed, 400 with seeds of their own, and 100 in which nobody was drawn."""
    people = int(rng.integers(5, 9))
    clip_norm = rounded(rng.uniform(2.6, 3.4))
    noise_multiplier = rounded(rng.uniform(1.3, 1.7))
    directions = np.abs(rng.normal(size=(people, WEIGHTS))) + 0.3
    clipped = (clip_norm * directions / np.linalg.norm(directions, axis=1, keepdims=True)).round(3)
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
    large = size > HALF
    return [
        ("noises within 0.67 deviations of 0", int((~large).sum()), noise.size),
        ("noises within 0.2 deviations of 0", int((size <= 0.2).sum()), noise.size),
        ("noises beyond 2 deviations", int((size > 2).sum()), noise.size),
        ("noises above 0", int((noise > 0).sum()), noise.size),
        ("noises within 0.67 deviations of 0 where nobody was drawn", int((empty <= HALF).sum()), empty.size),
        (
            "neighbouring weights with noises of the same sign",
            int((noise[:, 0::2] * noise[:, 1::2] > 0).sum()),
            noise.size // 2,
        ),
        (
            "neighbouring weights with noises of like size",
            int((large[:, 0::2] == large[:, 1::2]).sum()),
            noise.size // 2,
        ),
        ("first and last weight with noises of the same sign", int((noise[:, 0] * noise[:, -1] > 0).sum()), len(noise)),
        (
            "neighbouring runs with noises of the same sign",
            int((noise[1:-1:2] * noise[2::2] > 0).sum()),
            noise[2::2].size,
        ),
        ("entries without noise", int((noise == 0).sum()), noise.size),
        ("runs that come out the same with the same seed", int(np.array_equal(values[0], values[1])), 1),
    ]


SUM_CHANCES = [
    0.5,
    math.erf(0.2 / math.sqrt(2)),
    math.erfc(2 / math.sqrt(2)),
    0.5,
    0.5,
    0.5,
    0.5,
    0.5,
    0.5,
    0.0,
    1.0,
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


noisy_sum = RandomExercise(
    id="5.2",
    title="Noise on the sum",
    function="noisy_sum",
    good_for="the other line that makes training private, and the one in which most slips are made",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_sum,
    reference=_with_deviation(lambda people, sigma, r: sigma * r),
    returns=_one_per_weight,
    counts=_count_sum,
    chances=lambda cases: SUM_CHANCES,
    hints=(
        "By how much can one person move the sum of the clipped gradients? The noise multiplier says how many times as large the noise is.",
        "The standard deviation is noise_multiplier * clip_norm. `rng.normal(0, deviation, d)` draws d independent noises; d is "
        "`clipped.shape[1]`. Also an empty batch gets noise.",
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
            recognise=lambda cases, values: _around(cases, values, CENTRES[1], 1.0),
        ),
        Misconception(
            "mean of all",
            "You divided the noisy sum by the number of people in the batch. Return the noisy sum; the division comes later, and by another number.",
            lambda clipped, noise_multiplier, clip_norm, rng: (
                (clipped.sum(axis=0) + rng.normal(0, noise_multiplier * clip_norm, clipped.shape[1]))
                / max(1, len(clipped))
            ),
            recognise=lambda cases, values: _around(cases, values, CENTRES[1], 1 / len(cases[0]["clipped"])),
        ),
        Misconception(
            "noise alone",
            "You returned the noise alone. Add it to the sum of the rows.",
            lambda clipped, noise_multiplier, clip_norm, rng: rng.normal(
                0, noise_multiplier * clip_norm, clipped.shape[1]
            ),
            recognise=lambda cases, values: _around(cases, values, CENTRES[2], 1.0),
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
            "Your noise is made for a sum that moves by 2 * clip_norm. That is so if a person is replaced; here one is added or removed, "
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


CENTRES = (
    lambda clipped: clipped.sum(axis=0),
    lambda clipped: clipped.mean(axis=0),
    lambda clipped: 0 * clipped[0],
)


def _around(cases, values, centre, share):
    """Whether the runs with people have this centre, of three, and noise of `share` times the right deviation."""
    case, outputs = cases[0], np.array(values[2 : 2 + RUNS])
    off = {known: np.linalg.norm(outputs.mean(axis=0) - known(case["clipped"])) for known in CENTRES}
    size = share * case["noise_multiplier"] * case["clip_norm"]
    spread = (outputs - centre(case["clipped"])).std()
    return min(off, key=off.get) is centre and bool(abs(spread / size - 1) < 5 / math.sqrt(2 * outputs.size))


# ---- 5.3 Poisson batches


def _draw_batches(rng):
    """A small data set, in which batches are often empty, twice with one seed and once with another; and one in which most are drawn."""
    few = {"n": int(rng.integers(12, 16)) * 2, "sample_rate": rounded(rng.uniform(0.09, 0.11)), "steps": 600}
    many = {"n": int(rng.integers(45, 60)) * 2, "sample_rate": rounded(rng.uniform(0.6, 0.7)), "steps": 600}
    seed, second, third = rng.integers(2**31, size=3).tolist()
    return [few | {"rng": seed}, few | {"rng": seed}, few | {"rng": second}, many | {"rng": third}]


def _joins(case, value):
    """How often each person is in each batch: an array of shape (steps, n)."""
    joins = np.zeros((case["steps"], case["n"]), dtype=int)
    for step, batch in enumerate(value):
        np.add.at(joins[step], np.asarray(batch, dtype=int), 1)
    return joins


def _usual(case):
    """The sizes of a batch between its quartiles: (low, high, chance)."""
    law = binom(case["n"], case["sample_rate"])
    low, high = law.ppf([0.25, 0.75])
    return low, high, float(law.cdf(high) - law.cdf(low - 1))


def _count_batches(cases, values):
    counts = []
    for i in (1, 3):
        times = _joins(cases[i], values[i])
        joins, sizes = times > 0, times.sum(axis=1)
        low, high, _ = _usual(cases[i])
        name = f"n = {cases[i]['n']}: "
        counts += [
            (f"{name}people drawn, over all batches", int(joins.sum()), joins.size),
            (f"{name}batches with the first person", int(joins[:, 0].sum()), len(joins)),
            (f"{name}batches with the last person", int(joins[:, -1].sum()), len(joins)),
            (f"{name}batches that are empty", int((sizes == 0).sum()), sizes.size),
            (
                f"{name}batches of {low:.0f} to {high:.0f} people",
                int(((low <= sizes) & (sizes <= high)).sum()),
                sizes.size,
            ),
            (f"{name}neighbours drawn together", int((joins[:, 0::2] & joins[:, 1::2]).sum()), joins[:, 0::2].size),
            (f"{name}people drawn two steps running", int((joins[0::2] & joins[1::2]).sum()), joins[0::2].size),
            (f"{name}people more than once in a batch", int((times > 1).sum()), times.size),
        ]
    return [
        *counts,
        ("results that come out the same with the same seed", int(_alike(values[0], values[1])), 1),
        ("batches that were drawn before", _repeats(values[3]), len(values[3]) - 1),
        ("results that come out the same with another seed", int(_alike(values[0], values[2])), 1),
    ]


def _repeats(batches):
    """How many of the batches are equal to an earlier one."""
    return len(batches) - len({tuple(np.asarray(batch).tolist()) for batch in batches})


def _round_and_round(batches):
    """Whether a few batches come again and again, all of them equally often."""
    times = Counter(tuple(np.asarray(batch).tolist()) for batch in batches).values()
    return len(times) > 2 and min(times) >= 2 and max(times) - min(times) <= 1


def _dealt(case, batches):
    """Whether nobody is in two batches of the same epoch, with or without a short batch at its end."""
    joins, size = _joins(case, batches), max(map(len, batches))
    lengths = {case["n"] // size, -(-case["n"] // size)} if size else set()
    epochs = [joins[: len(joins) // length * length].reshape(-1, length, case["n"]) for length in lengths if length > 1]
    return any(bool((epoch.sum(axis=1) <= 1).all()) for epoch in epochs)


def _alike(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _batch_chances(cases):
    chances = []
    for case in (cases[1], cases[3]):
        p = case["sample_rate"]
        chances += [p, p, p, (1 - p) ** case["n"], _usual(case)[2], p**2, p**2, 0.0]
    return [*chances, 1.0, 0.0, 0.0]


def _each_step(draw):
    return lambda n, sample_rate, steps, rng: [draw(n, sample_rate, rng) for _ in range(steps)]


def _coins(n, sample_rate, rng):
    return np.flatnonzero(rng.random(n) < sample_rate)


def _coins_until_somebody(n, sample_rate, rng):
    while not (batch := _coins(n, sample_rate, rng)).size:
        pass
    return batch


def _epoch(sample_rate):
    return max(5, round(1 / sample_rate))


def _repeated(batches, steps):
    return [batches[step % len(batches)] for step in range(steps)]


def _expected(n, sample_rate):
    return max(1, round(n * sample_rate))


def _shuffled(n, sample_rate, steps, rng):
    size, batches = _expected(n, sample_rate), []
    while len(batches) < steps:
        order = rng.permutation(n)
        batches += [order[i : i + size] for i in range(0, n - size + 1, size)]
    return batches[:steps]


poisson = RandomExercise(
    id="5.3",
    title="Batches by coin tosses",
    function="poisson_batches",
    good_for="sampling as the theorems mean it: what most data loaders do is something else",
    difficulty=2,
    minutes=15,
    points=3,
    draw=_draw_batches,
    reference=_each_step(_coins),
    returns=_batches,
    counts=_count_batches,
    chances=_batch_chances,
    hints=(
        "For one batch: how many random numbers do you need if every person tosses a coin of her own? `rng.random(n) < sample_rate` is "
        "True with probability sample_rate, n times independently.",
        "`np.flatnonzero(rng.random(n) < sample_rate)` is one batch: nothing more, whatever its size is. Make one for each step.",
    ),
    misconceptions=(
        Misconception(
            "own seed",
            "Two different seeds gave the same coins: you made a generator with a fixed seed. Who is drawn must be secret. Use the `rng` "
            "you are given, and do not make a new one for each step.",
            lambda n, sample_rate, steps, rng: _each_step(_coins)(n, sample_rate, steps, np.random.default_rng(0)),
            recognise=lambda cases, values: _alike(values[0], values[2]) and not _same_batch(cases, values),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your coins come from somewhere else. Draw them from `rng`.",
            lambda n, sample_rate, steps, rng: _each_step(_coins)(n, sample_rate, steps, np.random.default_rng()),
            recognise=lambda cases, values: not _alike(values[0], values[1]),
        ),
        Misconception(
            "same batch",
            "Every step has the same batch. The coins are tossed anew in each step.",
            lambda n, sample_rate, steps, rng: [_coins(n, sample_rate, rng)] * steps,
            recognise=lambda cases, values: _same_batch(cases, values),
        ),
        Misconception(
            "one epoch repeated",
            "You drew the batches of one epoch and went round them again and again. Whoever was in a batch with Mia is so in every "
            "epoch. The coins are tossed anew in each step.",
            lambda n, sample_rate, steps, rng: _repeated(
                _each_step(_coins)(n, sample_rate, _epoch(sample_rate), rng), steps
            ),
            recognise=lambda cases, values: _round_and_round(values[3]),
        ),
        Misconception(
            "fixed size",
            "All your batches have the same size. Then people are not independent: whoever is in takes another's place. Let each person "
            "toss her own coin; the size comes out as it will.",
            _each_step(lambda n, p, rng: rng.choice(n, _expected(n, p), replace=False)),
            recognise=lambda cases, values: _of_one_size(cases, values) and not _dealt(cases[1], values[1]),
        ),
        Misconception(
            "with replacement",
            "Somebody is in a batch more than once, with more weight than the clipping allows. One coin for each person: in or out.",
            _each_step(lambda n, p, rng: rng.integers(n, size=_expected(n, p))),
            recognise=lambda cases, values: bool((_joins(cases[3], values[3]) > 1).any()),
        ),
        Misconception(
            "shuffled epochs",
            "You shuffled the people and dealt them out, once each per epoch. That is how most data loaders do it, and it is another "
            "mechanism with another, weaker guarantee. Here everybody tosses a coin in every step.",
            _shuffled,
            recognise=lambda cases, values: _dealt(cases[1], values[1]),
        ),
        Misconception(
            "one coin for all",
            "You tossed one coin for all people: a batch is everybody or nobody. Each person needs a coin of her own.",
            _each_step(lambda n, p, rng: np.arange(n) if rng.random() < p else np.arange(0)),
            recognise=lambda cases, values: set(_joins(cases[3], values[3]).mean(axis=1).tolist()) <= {0.0, 1.0},
        ),
        Misconception(
            "empty batches drawn again",
            "None of your batches is empty, where some should be. An empty batch is drawn with a known probability and is accounted for. "
            "Drawing again, or putting somebody in, changes everybody's chances.",
            _each_step(_coins_until_somebody),
        ),
        Misconception(
            "size from a Poisson law",
            "You drew the size of the batch from a Poisson distribution and then the people. Poisson sampling only has its name from "
            "there: every person tosses a coin, so the size is binomial.",
            _each_step(lambda n, p, rng: rng.permutation(n)[: rng.poisson(n * p)]),
        ),
        Misconception(
            "first person left out",
            "The first person, with index 0, is never drawn. Indices go from 0 to n - 1.",
            _each_step(lambda n, p, rng: 1 + _coins(n - 1, p, rng)),
        ),
        Misconception(
            "complement",
            "You kept those whose coin came up with probability 1 - sample_rate. `rng.random(n) < sample_rate` is True with probability sample_rate.",
            _each_step(lambda n, p, rng: _coins(n, 1 - p, rng)),
        ),
    ),
)


def _of_one_size(cases, values):
    """Whether all batches have one size, and nobody is in one twice."""
    joins = [_joins(cases[i], values[i]) for i in (1, 3)]
    return all(np.ptp(times.sum(axis=1)) == 0 and times.max() <= 1 for times in joins)


def _same_batch(cases, values):
    return bool((np.ptp(_joins(cases[3], values[3]), axis=0) == 0).all())


# ---- 5.4 one step of NoisySGD


def _draw_step(rng):
    """Two batches, with more and with fewer people than expected, and an empty one."""
    cases = []
    for people in (int(rng.integers(5, 8)), int(rng.integers(2, 4)), 0):
        clip_norm = rounded(rng.uniform(0.5, 2))
        directions = rng.normal(size=(people, 3))
        lengths = clip_norm * rng.uniform(1.2, 3, size=(people, 1))
        gradients = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths
        if people:
            gradients[-1] *= 0.3
        cases.append(
            {
                "weights": rng.normal(size=3).round(2),
                "gradients": gradients.round(3),
                "noise": rng.normal(size=3).round(3),
                "learning_rate": rounded(rng.uniform(0.1, 0.6)),
                "noise_multiplier": rounded(rng.uniform(0.6, 2)),
                "clip_norm": clip_norm,
                "expected_batch": rounded(rng.uniform(3.6, 4.4)),
            }
        )
    return cases


def _step(
    clipped=_clipped,
    deviation=lambda sigma, r, people: sigma * r,
    divisor=lambda expected, people: expected,
    noise_share=lambda expected, people: 1.0,
    sign=-1,
):
    """A step of NoisySGD, with some of its parts replaced."""

    def code(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch):
        people = len(gradients)
        total = clipped(gradients, clip_norm).sum(axis=0) if people else np.zeros(len(weights))
        size = deviation(noise_multiplier, clip_norm, people) * noise_share(expected_batch, people)
        return weights + sign * learning_rate * (total + size * noise) / divisor(expected_batch, people)

    return code


def _mean_clipped(gradients, clip_norm):
    """Rows that add up to the number of people times the clipped mean."""
    return np.repeat(_clipped(gradients.mean(axis=0, keepdims=True), clip_norm), len(gradients), axis=0)


sgd_step = Exercise(
    id="5.4",
    title="One step of NoisySGD",
    function="noisy_sgd_step",
    good_for="the whole algorithm in four lines",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_step,
    reference=_step(),
    returns=_new_weights,
    hints=(
        "Clip as in 5.1, add up over the people, add the noise, divide, step. By what is divided, if the number of people drawn is secret?",
        "The noise on the sum is noise_multiplier * clip_norm * noise. Divide everything by expected_batch. The weights move by "
        "-learning_rate times that.",
        "For an empty batch the sum is `np.zeros(len(weights))`; `gradients.sum(axis=0)` gives that by itself. Noise is added all the same.",
    ),
    misconceptions=(
        Misconception(
            "number drawn",
            "You divided by the number of people drawn. It is secret, random, and may be 0; and who knows it can see whether Mia came. "
            "Divide by the expected batch, which is public.",
            _step(divisor=lambda expected, people: max(1, people)),
        ),
        Misconception(
            "clipped the mean",
            "You clipped the mean of the gradients. Then one person can change the result by twice the clip norm, not by a share of it. "
            "Clip each person's gradient before adding up.",
            _step(clipped=_mean_clipped),
        ),
        Misconception(
            "not clipped",
            "You did not clip. Without clipping one person can move the sum by any amount, and no noise hides that.",
            _step(clipped=lambda gradients, clip_norm: gradients),
        ),
        Misconception(
            "clip norm not in the noise",
            "Your noise has the deviation noise_multiplier. It must be noise_multiplier * clip_norm.",
            _step(deviation=lambda sigma, r, people: sigma),
        ),
        Misconception(
            "multiplier not in the noise",
            "You multiplied the noise by clip_norm only. Multiply by noise_multiplier as well.",
            _step(deviation=lambda sigma, r, people: r),
        ),
        Misconception(
            "noise as it is",
            "You added the noise as it is. It has the deviation 1; on the sum it must have noise_multiplier * clip_norm.",
            _step(deviation=lambda sigma, r, people: 1.0),
        ),
        Misconception(
            "clipped the sum",
            "You clipped the sum of the gradients. Then one person can turn the whole step round, and everybody else has no say. Clip each "
            "person's gradient before adding up.",
            _step(clipped=lambda g, r: np.repeat(_clipped(g.sum(axis=0, keepdims=True), r) / len(g), len(g), axis=0)),
        ),
        Misconception(
            "whole batch",
            "You clipped all rows by one factor, from the norm of the whole array. Every row has a norm of its own: `axis=1`.",
            _step(clipped=lambda g, r: g / max(1, np.linalg.norm(g) / r)),
        ),
        Misconception(
            "learning rate forgotten",
            "You left out the learning rate. The weights move by -learning_rate times the noisy mean.",
            lambda weights, gradients, noise, learning_rate, *rest: _step()(weights, gradients, noise, 1.0, *rest),
        ),
        Misconception(
            "noise without the learning rate",
            "You multiplied the gradients by the learning rate, but not the noise. The noise is on the sum; both are divided and multiplied alike.",
            lambda weights, gradients, noise, learning_rate, *rest: _step()(
                weights, gradients, noise / learning_rate, learning_rate, *rest
            ),
        ),
        Misconception(
            "noise after dividing",
            "You added the noise after dividing by the expected batch, so there is expected_batch times too much of it. Noise goes on the "
            "sum; then all is divided.",
            _step(noise_share=lambda expected, people: expected),
        ),
        Misconception(
            "noise for each person",
            "You added the noise once for each person. It is added once, to the sum.",
            _step(deviation=lambda sigma, r, people: sigma * r * people),
        ),
        Misconception(
            "empty batch skipped",
            "Where nobody was drawn you left the weights as they are. Then everybody sees that the batch was empty. The noise is added all the same.",
            lambda weights, gradients, *rest: _step()(weights, gradients, *rest) if len(gradients) else weights + 0.0,
        ),
        Misconception(
            "uphill",
            "You went up the gradient. The loss falls against it: weights minus learning_rate times the gradient.",
            _step(sign=1),
        ),
        Misconception(
            "no noise",
            "You added no noise. Clipping alone hides nobody.",
            _step(deviation=lambda sigma, r, people: 0.0),
        ),
        Misconception(
            "clipped to the share",
            "You clipped each gradient to clip_norm / expected_batch and did the rest with clip_norm. Clip to clip_norm; the division comes at the end.",
            lambda weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch: _step(
                clipped=lambda g, r: _clipped(g, r / expected_batch)
            )(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch),
        ),
        Misconception(
            "not divided",
            "You did not divide by the expected batch. The step is along the average gradient.",
            _step(divisor=lambda expected, people: 1),
        ),
        Misconception(
            "each coordinate",
            "You clipped each coordinate by itself. Clip the norm of each person's whole gradient.",
            _step(clipped=lambda gradients, clip_norm: np.clip(gradients, -clip_norm, clip_norm)),
        ),
        Misconception(
            "short ones stretched",
            "You gave every gradient the norm clip_norm. Only longer ones are changed.",
            _step(clipped=lambda g, r: r * g / np.maximum(_norms(g), 1e-12)),
        ),
    ),
)


# ---- 5.5 NoisyAdam

BETA1, BETA2, TINY = 0.9, 0.999, 1e-8


def _draw_adam(rng):
    """Two runs, and one whose gradients are so small that the 1e-8 counts."""
    cases = []
    for steps, scale, digits in ((2, 1, 2), (4, 1, 2), (2, 1e-7, 12)):
        cases.append(
            {
                "weights": rng.normal(size=3).round(2),
                "sums": (rng.normal(size=(steps, 3)) * 3 * scale).round(digits),
                "noises": (rng.normal(size=(steps, 3)) * 2 * scale).round(digits),
                "expected_batch": rounded(rng.uniform(4, 20), 1),
                "learning_rate": rounded(rng.uniform(0.05, 0.3)),
            }
        )
    return cases


def _adam(
    gradient=lambda s, z, b: (s + z) / b,
    squared=lambda s, z, b: ((s + z) / b) ** 2,
    corrected=(True, True),
    root=np.sqrt,
    betas=(BETA1, BETA2),
    keeps=True,
    sign=-1,
    after=lambda z, b: 0.0,
):
    """NoisyAdam, with some of its parts replaced."""

    def code(weights, sums, noises, expected_batch, learning_rate):
        weights, m, u = np.array(weights, dtype=float), 0.0, 0.0
        for t, (s, z) in enumerate(zip(sums, noises, strict=True), 1):
            m, u = (m, u) if keeps else (0.0, 0.0)
            m = betas[0] * m + (1 - betas[0]) * gradient(s, z, expected_batch)
            u = betas[1] * u + (1 - betas[1]) * squared(s, z, expected_batch)
            m_now = (m + after(z, expected_batch)) / (1 - betas[0] ** t if corrected[0] else 1)
            u_now = u / (1 - betas[1] ** t if corrected[1] else 1)
            weights = weights + sign * learning_rate * m_now / (root(u_now) + TINY)
        return weights

    return code


adam = Exercise(
    id="5.5",
    title="NoisyAdam",
    function="noisy_adam",
    good_for="seeing that a cleverer optimizer costs no privacy, as long as it sees only what has noise on it",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_adam,
    reference=_adam(),
    returns=numbers_like("weights"),
    rtol=1e-5,
    hints=(
        "First make the noisy gradient of each step, (sum + noise) / expected_batch, and forget the rest. Then it is Adam as everywhere.",
        "Keep m and u, both 0 at first. In step t = 1, 2, …: m = 0.9 m + 0.1 g, u = 0.999 u + 0.001 g², and then the weights move by "
        "-learning_rate * m̂ / (√û + 1e-8), with m̂ = m / (1 - 0.9^t) and û = u / (1 - 0.999^t).",
    ),
    misconceptions=(
        Misconception(
            "exact second moment",
            "Your second moment comes from gradients without noise. Then the step lengths tell what the noise hides: that is not private. "
            "Adam may see the noisy gradient only.",
            _adam(squared=lambda s, z, b: (s / b) ** 2),
        ),
        Misconception(
            "exact first moment",
            "Your first moment comes from gradients without noise, so the exact sum is in the weights. Adam may see the noisy gradient only.",
            _adam(gradient=lambda s, z, b: s / b),
        ),
        Misconception(
            "no noise at all",
            "Your gradients have no noise. Each is (sum + noise) / expected_batch.",
            _adam(gradient=lambda s, z, b: s / b, squared=lambda s, z, b: (s / b) ** 2),
        ),
        Misconception(
            "noise on the moment",
            "You added the noise to the first moment instead of to the gradient. It belongs on each gradient, before anything is averaged.",
            _adam(gradient=lambda s, z, b: s / b, squared=lambda s, z, b: (s / b) ** 2, after=lambda z, b: z / b),
        ),
        Misconception(
            "noise not divided",
            "You divided the sum by the expected batch, but not the noise. The noise is on the sum; both are divided.",
            _adam(gradient=lambda s, z, b: s / b + z, squared=lambda s, z, b: (s / b + z) ** 2),
        ),
        Misconception(
            "not divided",
            "You did not divide by the expected batch. Adam's steps hardly depend on the scale of the gradients, so this shows only where "
            "they are as small as the 1e-8. The formula has it all the same.",
            _adam(gradient=lambda s, z, b: s + z, squared=lambda s, z, b: (s + z) ** 2),
        ),
        Misconception(
            "1e-8 under the root",
            "You put the 1e-8 under the root. It is added to the root.",
            _adam(root=lambda u: np.sqrt(u + TINY) - TINY),
        ),
        Misconception(
            "1e-8 left out",
            "You left out the 1e-8 in the divisor. It counts where gradients are very small, and where one is 0 you would divide 0 by 0.",
            _adam(root=lambda u: np.sqrt(u) - TINY),
        ),
        Misconception(
            "no bias correction",
            "You left out the bias correction. m and u begin at 0 and are too small at first: divide m by 1 - 0.9^t and u by 1 - 0.999^t.",
            _adam(corrected=(False, False)),
        ),
        Misconception(
            "one correction",
            "You corrected the first moment only. u is too small at first as well, and far more so: divide it by 1 - 0.999^t.",
            _adam(corrected=(True, False)),
        ),
        Misconception(
            "root forgotten",
            "You divided by u itself. Divide by its root, so that the step does not depend on the scale of the loss.",
            _adam(root=lambda u: u),
        ),
        Misconception(
            "moments begin anew",
            "m and u begin at 0 in every step. They are kept from step to step; only the loop's start sets them to 0.",
            _adam(keeps=False),
        ),
        Misconception(
            "betas exchanged",
            "You used 0.999 for m and 0.9 for u. It is the other way round: the squares are averaged over longer.",
            _adam(betas=(BETA2, BETA1)),
        ),
        Misconception(
            "uphill",
            "You went up the gradient. The sign before learning_rate is minus.",
            _adam(sign=1),
        ),
        Misconception(
            "plain SGD",
            "That is NoisySGD: the weights move along the noisy gradient itself. Adam moves along m̂ / (√û + 1e-8).",
            lambda weights, sums, noises, expected_batch, learning_rate: (
                weights - learning_rate * np.add(sums, noises).sum(axis=0) / expected_batch
            ),
        ),
        Misconception(
            "size instead of square",
            "u averages the size of the gradient. It must average its square.",
            _adam(squared=lambda s, z, b: abs((s + z) / b)),
        ),
    ),
)


# ---- 5.6 the curve of a sampled mechanism


def _convex_curve(rng, pieces):
    """(alpha, beta): a trade-off function through random points, from (0, 1) to (1, 0), that is not symmetric."""
    p, q = rng.dirichlet(np.full(pieces, 2)), rng.dirichlet(np.full(pieces, 2))
    order = np.argsort(-q / p)
    alpha, beta = np.r_[0, np.cumsum(p[order])], np.r_[1, 1 - np.cumsum(q[order])]
    alpha[-1], beta[-1] = 1, 0
    return alpha, beta


def _draw_mixed(rng):
    cases = []
    for pieces in (4, 6):
        alpha, beta = _convex_curve(rng, pieces)
        cases.append({"alpha": alpha, "beta": beta, "p": rounded(rng.uniform(0.1, 0.45))})
    return cases


mixed = Exercise(
    id="5.6",
    title="The curve of a sampled mechanism",
    function="sampled_curve",
    good_for="reading off what tossing a coin for Mia is worth",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_mixed,
    reference=lambda alpha, beta, p: p * beta + (1 - p) * (1 - alpha),
    returns=numbers_like("alpha"),
    forbidden=(TradeOff.mixed, TradeOff.subsampled),
    hints=(
        "With probability p the mechanism with the curve f runs on Mia's data, otherwise nothing about her is used. Which curve belongs to that?",
        "Id(alpha) = 1 - alpha, the curve of an answer that tells nothing. Mix: p f + (1 - p) Id, at the same alpha.",
    ),
    misconceptions=(
        Misconception(
            "weights exchanged",
            "You gave f the weight 1 - p. Mia is drawn with probability p, and only then her data are used.",
            lambda alpha, beta, p: (1 - p) * beta + p * (1 - alpha),
        ),
        Misconception(
            "second part forgotten",
            "You returned p f alone. With probability 1 - p the tester sees nothing about Mia, and then misses with 1 - alpha.",
            lambda alpha, beta, p: p * beta,
        ),
        Misconception(
            "Id is alpha",
            "You took Id(alpha) = alpha. In this course Id is the curve of an answer that tells nothing, 1 - alpha.",
            lambda alpha, beta, p: p * beta + (1 - p) * alpha,
        ),
        Misconception(
            "always missed",
            "You took 1 for the case in which Mia is not drawn. Even blind guessing finds her with probability alpha: 1 - alpha is left.",
            lambda alpha, beta, p: p * beta + (1 - p),
        ),
        Misconception(
            "alpha scaled",
            "You evaluated f at p alpha, or so. The tester does not know whether Mia was drawn; alpha stays, and the betas are mixed.",
            lambda alpha, beta, p: np.interp(p * alpha, alpha, beta),
        ),
        Misconception(
            "not sampled",
            "You returned f itself. That is the curve where Mia is always drawn.",
            lambda alpha, beta, p: beta + 0.0,
        ),
        Misconception(
            "both sides",
            "You took the smaller of f_p and its inverse. That comes in the next section; here one direction is wanted, f_p.",
            lambda alpha, beta, p: np.minimum(
                p * beta + (1 - p) * (1 - alpha),
                np.interp(alpha, (p * beta + (1 - p) * (1 - alpha))[::-1], alpha[::-1]),
            ),
        ),
        Misconception(
            "larger of both",
            "You took the larger of f and Id, or of f_p and its inverse. The curve is a mixture with weights, at each alpha.",
            lambda alpha, beta, p: np.maximum(beta, 1 - alpha),
        ),
    ),
)


# ---- 5.7 the double conjugate


def _draw_hull(rng):
    """Sampled curves that are not symmetric, at an alpha under the bridge and at one outside; both directions of the slip."""
    cases = []
    for turned in (False, True):
        alpha, beta = _convex_curve(rng, 5)
        p = rng.uniform(0.4, 0.9)
        beta = p * beta + (1 - p) * (1 - alpha)
        if turned:
            alpha, beta = beta[::-1].copy(), alpha[::-1].copy()
        x = np.sort(np.r_[alpha, beta])
        lower = np.array([_two_sided(alpha, beta, a) for a in x])
        flat = np.minimum(np.interp(x, alpha, beta), np.interp(x, beta[::-1], alpha[::-1])) - lower
        bridge = x[np.argmax(flat)]
        for at in (float(bridge), float(rng.uniform(0.02, 0.98))):
            cases.append({"alpha": alpha, "beta": beta, "at": round(at, 3)})
    return cases


def _points(alpha, beta):
    x, y = np.r_[alpha, beta], np.r_[beta, alpha]
    order = np.lexsort((-y, x))
    return x[order], y[order]


def _two_sided(alpha, beta, at):
    """The lowest chord at `at` between any two corners of f and of its inverse."""
    x, y = _points(alpha, beta)
    left, right = np.nonzero(x <= at)[0], np.nonzero(x > at)[0]
    if not right.size:
        return float(y[left].min())
    x0, y0, x1, y1 = x[left][:, None], y[left][:, None], x[right], y[right]
    return float((y0 + (at - x0) / (x1 - x0) * (y1 - y0)).min())


def _of_both(rule):
    """A rule for f(at) and its inverse at `at`."""
    return lambda alpha, beta, at: float(rule(np.interp(at, alpha, beta), np.interp(at, beta[::-1], alpha[::-1])))


hull = Exercise(
    id="5.7",
    title="Both directions at once",
    function="two_sided",
    good_for="the curve that a guarantee for adding and removing a person must lie above",
    difficulty=4,
    minutes=25,
    points=4,
    draw=_draw_hull,
    reference=_two_sided,
    returns=a_number,
    rtol=1e-5,
    forbidden=(tradeoff._envelope, TradeOff.subsampled, TradeOff.inverse),
    hints=(
        "The corners of the inverse are the corners of f with the two coordinates exchanged. Put all corners into one set. The largest "
        "convex function below all of them is their lower convex hull.",
        "At a given alpha the hull is the lowest of all straight lines between two corners, one at or left of alpha and one right of it. Try all pairs.",
        "`x = np.r_[alpha, beta]`, `y = np.r_[beta, alpha]`; for each pair i, j with x[i] <= at < x[j] the line is at "
        "y[i] + (at - x[i]) / (x[j] - x[i]) * (y[j] - y[i]). Return the smallest.",
    ),
    misconceptions=(
        Misconception(
            "minimum only",
            "You took the smaller of f and its inverse. Where the two cross it has a kink upwards, so it is not convex and no trade-off "
            "function. Take the largest convex function below it: the hull.",
            _of_both(min),
        ),
        Misconception(
            "one direction",
            "You returned f itself. It bounds one direction only; adding Mia and removing her must both be covered.",
            _of_both(lambda f, inverse: f),
        ),
        Misconception(
            "other direction",
            "You returned the inverse of f. It bounds one direction only; adding Mia and removing her must both be covered.",
            _of_both(lambda f, inverse: inverse),
        ),
        Misconception(
            "maximum",
            "You took the larger of f and its inverse. That was right in lesson 03, where f-DP held for both orders of the neighbours. "
            "Here f bounds one order and its inverse the other, so only the smaller is safe.",
            _of_both(max),
        ),
        Misconception(
            "average",
            "You took the average of f and its inverse. Somebody who tests in the worse direction does better than that.",
            _of_both(lambda f, inverse: (f + inverse) / 2),
        ),
        Misconception(
            "joined in order",
            "You joined all corners in the order of alpha. Some of them lie above the hull and must be left out.",
            lambda alpha, beta, at: float(np.interp(at, *_points(alpha, beta))),
        ),
        Misconception(
            "not the inverse",
            "Your result is 0: your second curve goes through (0, 0). For 1 - f and for f(1 - alpha) that is so. The inverse exchanges the "
            "two axes: its corners are (beta, alpha).",
            lambda alpha, beta, at: _hull_with(alpha, beta, alpha, 1 - beta, at),
        ),
        Misconception(
            "highest line",
            "You took the highest of the lines between corners. The lowest is the hull.",
            lambda alpha, beta, at: _lines(alpha, beta, at).max(),
        ),
        Misconception(
            "corners of f only",
            "You took the smaller of both curves at the corners of f only. The inverse has corners of its own, at the betas; they belong to the set as well.",
            lambda alpha, beta, at: float(
                _chords(alpha, np.minimum(beta, np.interp(alpha, beta[::-1], alpha[::-1])), at).min()
            ),
        ),
        Misconception(
            "nearly",
            "Nearly, but not exactly. Did you work on a grid, or with slopes of your own choice? They miss the corners of the curves. Work "
            "with the corners themselves.",
            lambda alpha, beta, at: _on_a_grid(alpha, beta, at),
            recognise=lambda cases, values: all(
                min(abs(value - _two_sided(**case)) / 5e-3, abs(value - _on_a_grid(**case)) / 1e-9) < 1
                for case, value in zip(cases, values, strict=True)
            ),
        ),
    ),
)


def _hull_with(alpha, beta, other_alpha, other_beta, at):
    """The lower hull at `at` of the corners of f and of a second curve."""
    x, y = np.r_[alpha, other_alpha], np.r_[beta, other_beta]
    return float(_chords(x, y, at).min())


def _on_a_grid(alpha, beta, at):
    """The lower hull at `at` of the smaller of both curves on a grid."""
    x = np.linspace(0, 1, 101)
    return float(_chords(x, np.minimum(np.interp(x, alpha, beta), np.interp(x, beta[::-1], alpha[::-1])), at).min())


def _lines(alpha, beta, at):
    return _chords(*_points(alpha, beta), at)


def _chords(x, y, at):
    left, right = np.nonzero(x <= at)[0], np.nonzero(x > at)[0]
    x0, y0, x1, y1 = x[left][:, None], y[left][:, None], x[right], y[right]
    return y0 + (at - x0) / (x1 - x0) * (y1 - y0)


# ---- 5.8 mu


def _draw_run(rng):
    return [
        {
            "noise_multiplier": rounded(rng.uniform(low, low + 0.4)),
            "batch": int(rng.choice([64, 128, 256, 512])),
            "n": int(rng.integers(20, 80)) * 1000,
            "epochs": int(rng.integers(10, 90)),
        }
        for low in (0.6, 1.1)
    ]


def _mu(rule):
    """A rule for (sigma, p, T, batch, n, epochs)."""
    return lambda noise_multiplier, batch, n, epochs: float(
        rule(noise_multiplier, batch / n, epochs * n / batch, batch, n, epochs)
    )


sgd_mu = Exercise(
    id="5.8",
    title="The limit's μ of a training run",
    function="sgd_mu",
    good_for="checking in one line what a paper claims",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_run,
    reference=_mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(1 / s**2))),
    returns=a_number,
    forbidden=(clt.noisy_sgd_mu,),
    hints=(
        "The formula wants the sample rate p and the number of steps T. How many batches make one epoch?",
        "p = batch / n and T = epochs * n / batch. Then p times the root of T (e^(1/sigma²) - 1).",
    ),
    misconceptions=(
        Misconception(
            "epochs for steps",
            "You put the epochs where the steps belong. One epoch has n / batch steps, so T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(e * math.expm1(1 / s**2))),
        ),
        Misconception(
            "root forgotten",
            "You forgot the root. mu is p times the root of T (e^(1/sigma²) - 1).",
            _mu(lambda s, p, t, b, n, e: p * t * math.expm1(1 / s**2)),
        ),
        Misconception(
            "root of steps only",
            "You took the root of T alone. The root is over the whole product T (e^(1/sigma²) - 1).",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t) * math.expm1(1 / s**2)),
        ),
        Misconception(
            "rate under the root",
            "You put p under the root. It stands before it: in the sum of squares p is squared.",
            _mu(lambda s, p, t, b, n, e: math.sqrt(p * t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps before the root",
            "You put T before the root. It is under the root: the squares of the steps add up.",
            _mu(lambda s, p, t, b, n, e: p * t * math.sqrt(math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps upside down",
            "You multiplied the epochs by batch / n. One epoch has n / batch steps, so T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(e * b / n * math.expm1(1 / s**2))),
        ),
        Misconception(
            "minus one outside",
            "You took 1 off at the end. It is taken off e^(1/sigma²), before T multiplies.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.exp(1 / s**2) - 1)),
        ),
        Misconception(
            "minus one forgotten",
            "You left out the - 1. With much noise e^(1/sigma²) goes to 1, and mu must go to 0.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.exp(1 / s**2))),
        ),
        Misconception(
            "exponent",
            "Your exponent is 1/sigma. It is 1/sigma².",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(1 / s))),
        ),
        Misconception(
            "sigma squared above",
            "Your exponent is sigma². It is 1/sigma²: more noise, smaller mu.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(s**2))),
        ),
        Misconception(
            "small exponent",
            "You replaced e^(1/sigma²) - 1 by 1/sigma². That holds for much noise only.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t) / s),
        ),
        Misconception(
            "not sampled",
            "You left out p. That is the mu-like sum for a person who is in every batch.",
            _mu(lambda s, p, t, b, n, e: math.sqrt(t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "batch for rate",
            "You put the batch where the sample rate belongs. p = batch / n.",
            _mu(lambda s, p, t, b, n, e: b * math.sqrt(t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps of one epoch",
            "You counted the steps of one epoch. T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(n / b * math.expm1(1 / s**2))),
        ),
        Misconception(
            "uniform batches",
            "That is the limit for batches of fixed size. Here every person tosses a coin.",
            _mu(
                lambda s, p, t, b, n, e: (
                    p * math.sqrt(2 * t * (math.exp(s**-2) * ndtr(1.5 / s) + 3 * ndtr(-0.5 / s) - 2))
                )
            ),
        ),
    ),
)


# ---- 5.9 the noise for a budget

LEAST_NOISE, MOST_NOISE, WASTE = 0.4, 100.0, 0.01


def _draw_budget(rng):
    return [
        {
            "epsilon": rounded(rng.uniform(*epsilons), 1),
            "delta": 1e-5,
            "sample_rate": rounded(rng.uniform(*rates), 3),
            "steps": int(rng.integers(*steps)),
        }
        for epsilons, rates, steps in (((1, 2), (0.01, 0.02), (100, 400)), ((3, 5), (0.03, 0.06), (200, 800)))
    ]


def _a_noise(value, case):
    complaint = a_number(value, case)
    if complaint is None and not LEAST_NOISE <= value <= MOST_NOISE:
        return f"The noise multiplier must be from {LEAST_NOISE:g} to {MOST_NOISE:g} here, and yours is {value:.4g}."
    return complaint


@functools.lru_cache(maxsize=4096)
def _certified(noise_multiplier, sample_rate, steps, delta):
    return pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)


@functools.lru_cache(maxsize=1024)
def _least_noise(accountant, epsilon, delta, sample_rate, steps):
    """The noise at which the accountant says epsilon, to 1e-5 of itself."""

    def excess(log_noise):
        said = ACCOUNTANTS[accountant](math.exp(log_noise), sample_rate, steps, delta)
        return math.log(max(said, 1e-9) / epsilon)

    return math.exp(brentq(excess, math.log(LEAST_NOISE), math.log(MOST_NOISE), xtol=1e-5))


ACCOUNTANTS = {
    "exact": lambda s, p, t, d: _certified(s, p, t, d).upper,
    "limit": lambda s, p, t, d: gdp.epsilon(d, clt.noisy_sgd_mu(s, p, t)),
    "classic": lambda s, p, t, d: rdp.epsilon(s, p, t, d, conversion="classic"),
    "improved": lambda s, p, t, d: rdp.epsilon(s, p, t, d),
    "one step": lambda s, p, t, d: _certified(s, p, 1, d).upper,
    "not sampled": lambda s, p, t, d: gdp.epsilon(d, math.sqrt(t) / s),
}


def _by(accountant):
    return lambda epsilon, delta, sample_rate, steps: (
        1.0001 * _least_noise(accountant, epsilon, delta, sample_rate, steps)
    )


def _is_by(accountant):
    """recognise: with every noise the accountant says what was asked for, to one percent."""

    def recognise(cases, values):
        setting = [(case["sample_rate"], case["steps"], case["delta"]) for case in cases]
        said = [ACCOUNTANTS[accountant](float(value), *rest) for value, rest in zip(values, setting, strict=True)]
        return all(abs(epsilon / case["epsilon"] - 1) < 0.01 for epsilon, case in zip(said, cases, strict=True))

    return recognise


def _enough_and_no_more(value, case):
    """The law: certainly within the budget, and with 1 % less noise certainly not."""
    epsilon, setting = case["epsilon"], (case["sample_rate"], case["steps"], case["delta"])
    upper = _certified(float(value), *setting).upper
    less = _certified((1 - WASTE) * float(value), *setting).lower
    line = f"epsilon is certainly at most {_rounded_up(upper)}, with {WASTE:.0%} less noise certainly at least {_rounded_down(less)}"
    return upper <= epsilon < less, line


def _rounded_up(number):
    """Six digits after the point, never less than the number itself."""
    return f"{math.ceil(number * 1e6) / 1e6:.6f}"


def _rounded_down(number):
    return f"{math.floor(number * 1e6) / 1e6:.6f}"


def _any_over(cases, values):
    return any(
        _certified(float(value), case["sample_rate"], case["steps"], case["delta"]).upper > case["epsilon"]
        for case, value in zip(cases, values, strict=True)
    )


def _hair_short(cases, values):
    """Over the budget somewhere, and everywhere within 2 % of the least noise."""
    near = all(abs(value / _by("exact")(**case) - 1) < 0.02 for case, value in zip(cases, values, strict=True))
    return near and _any_over(cases, values)


budget = OpenExercise(
    id="5.9",
    title="The noise for a budget",
    function="noise_for_budget",
    good_for="planning a run: the question that comes before every private training",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_budget,
    reference=_by("exact"),
    returns=_a_noise,
    law=_enough_and_no_more,
    seconds=30.0,
    hints=(
        "`pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)` gives two numbers. Which of them is a guarantee? It falls "
        "as the noise grows.",
        "Halve an interval: begin with 0.4 and 100; if the upper end at the middle is at most epsilon, the middle is the new right end, "
        "else the new left end. After 15 rounds return the right end, which is on the safe side.",
    ),
    misconceptions=(
        Misconception(
            "limit",
            "You planned with the mu of the limit. It is an approximation: here it asks for less noise than the promise needs. "
            "Plan with the upper end of pld's interval.",
            _by("limit"),
            recognise=_is_by("limit"),
        ),
        Misconception(
            "moments accountant",
            "You planned with the moments accountant. The promise holds, but it costs more noise than it must. pld certifies with less.",
            _by("classic"),
            recognise=_is_by("classic"),
        ),
        Misconception(
            "Rényi",
            "You planned with Rényi's bound in its improved form. The promise holds, but it costs more noise than it must. pld certifies with less.",
            _by("improved"),
            recognise=_is_by("improved"),
        ),
        Misconception(
            "one step",
            "This noise is enough for one step. There are `steps` of them.",
            lambda epsilon, delta, sample_rate, steps: max(
                LEAST_NOISE, 1.0001 * _first_enough("one step", epsilon, delta, sample_rate, steps)
            ),
            recognise=lambda cases, values: all(
                abs(value / max(LEAST_NOISE, _first_enough("one step", **case)) - 1) < 0.01
                for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "not sampled",
            "You planned for a Mia who is in every batch. She is drawn with probability sample_rate only, and that is worth a lot.",
            _by("not sampled"),
            recognise=_is_by("not sampled"),
        ),
        Misconception(
            "a hair short",
            "Nearly: but with this noise the promise is not certain. Did you round down, stop on the wrong side, or take the lower end of the "
            "interval? Return a number for which the upper end is at most epsilon.",
            lambda epsilon, delta, sample_rate, steps: (
                0.995 * _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_hair_short,
        ),
        Misconception(
            "too little",
            "This noise is too small: the upper end of pld's interval is larger than the budget.",
            lambda epsilon, delta, sample_rate, steps: max(
                LEAST_NOISE, 0.8 * _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_any_over,
        ),
        Misconception(
            "too much",
            "The promise holds, but there is more noise than it needs: with 1 % less it would hold as well.",
            lambda epsilon, delta, sample_rate, steps: 2.2 * _least_noise("exact", epsilon, delta, sample_rate, steps),
            recognise=lambda cases, values: not _any_over(cases, values),
        ),
    ),
)


def _first_enough(accountant, epsilon, delta, sample_rate, steps):
    """The least noise of the range for which the accountant is content."""
    if ACCOUNTANTS[accountant](LEAST_NOISE, sample_rate, steps, delta) <= epsilon:
        return LEAST_NOISE
    return _least_noise(accountant, epsilon, delta, sample_rate, steps)


# ---- 5.10 traps

ONES = ("each person", "each layer of each person", "the mean of the batch")
SAMPLINGS = ("poisson", "fixed size", "shuffled")
PARTS = ("clipping", "normalization", "noise", "division", "sampling")


def _draw_traps(rng):
    """Runs: in turn each part is broken or looks so; the rest is drawn."""
    runs = [
        _run(rng),
        _run(rng, clipped=ONES[1], factor=1.0),
        _run(rng, clipped=ONES[1], factor=1.05),
        _run(rng, clipped=ONES[1], factor="once"),
        _run(rng, clipped=ONES[2]),
        _run(rng, normalization="batch norm"),
        _run(rng, normalization="group norm"),
        _run(rng, neighbours="replace", drawn="fixed size", factor="once"),
        _run(rng, neighbours="replace", drawn="fixed size", factor=1.0),
        _run(rng, neighbours="add or remove", factor=0.8, divided_by="number drawn"),
        _run(rng, drawn="shuffled", accounted="poisson"),
        _run(rng, drawn="fixed size", accounted="poisson", factor=1.4),
        _run(rng, neighbours="add or remove", clipped=ONES[0], factor=0.8, drawn="poisson"),
        _run(rng, neighbours="replace", clipped=ONES[1], drawn="fixed size", factor=1.0),
        _run(rng, neighbours="replace", drawn="fixed size", factor=0.8),
        _run(rng, drawn="poisson", accounted="fixed size"),
        _run(rng, drawn="shuffled", accounted="shuffled"),
    ]
    return [{"run": runs[i]} for i in rng.permutation(len(runs))]


def _run(rng, factor=None, **fixed):
    """A run in which everything is in order but what is fixed. factor: noise over what is needed; "once": sensitivity clip_norm."""
    drawn = fixed.get("drawn", "poisson")
    run = {
        "clip_norm": rounded(rng.uniform(0.5, 2)),
        "clipped": ONES[0],
        "layers": int(rng.choice([4, 9])),
        "normalization": str(rng.choice(["none", "group norm"])),
        "neighbours": "replace" if drawn == "fixed size" else "add or remove",
        "noise_multiplier": rounded(rng.uniform(0.7, 2)),
        "divided_by": "expected batch",
        "drawn": drawn,
        "accounted": drawn,
    } | fixed
    needed = run["noise_multiplier"] * (run["clip_norm"] if factor == "once" else _sensitivity(run))
    share = 1.0 if factor == "once" else factor or float(rng.choice([1.0, 1.1]))
    run["noise_std"] = float(share * needed * (1 + 1e-12))  # enough, in whatever order a learner multiplies
    return run


def _sensitivity(run, layers=math.sqrt, twice=2):
    times = layers(run["layers"]) if run["clipped"] == ONES[1] else 1
    return run["clip_norm"] * times * (twice if run["neighbours"] == "replace" else 1)


def _in_order(
    clipping=lambda run: run["clipped"] != ONES[2],
    normalization=lambda run: run["normalization"] != "batch norm",
    sensitivity=_sensitivity,
    division=lambda run: run["divided_by"] == "expected batch",
    sampling=lambda run: run["drawn"] == run["accounted"],
    noise=lambda noise, needed: noise >= needed,
):
    """The right five answers for a run, with some of them replaced."""
    return lambda run: [
        bool(clipping(run)),
        bool(normalization(run)),
        bool(noise(run["noise_std"], run["noise_multiplier"] * sensitivity(run))),
        bool(division(run)),
        bool(sampling(run)),
    ]


def _five(value, case):
    """Five entries, each True or False, 1 or 0."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != len(PARTS):
        return f"Return a list of five True or False, for {', '.join(PARTS)}, not {type_name(value)}."
    if not all(isinstance(entry, (bool, int, float, np.bool_, np.number)) and entry in (0, 1) for entry in value):
        return f"Each of the five must be True or False: {', '.join(PARTS)}."
    return None


traps = Exercise(
    id="5.10",
    title="Spot the trap",
    function="in_order",
    good_for="reading somebody else's training code before you believe its epsilon",
    difficulty=3,
    minutes=25,
    points=4,
    draw=_draw_traps,
    reference=_in_order(),
    returns=_five,
    hints=(
        "Take one part at a time. For the noise ask: by how much can one person change the sum, given how it is clipped and who counts as "
        "a neighbour? noise_std must be at least noise_multiplier times that.",
        "Clipped layer by layer to R, the whole gradient of a person has a norm of up to R times the root of the number of layers. "
        "Replacing a person takes one gradient out and puts another in: twice as much.",
        "clipping: not the mean. normalization: not batch norm. division: the expected batch. sampling: drawn as accounted. "
        "noise: noise_std >= noise_multiplier * clip_norm * (√layers if layer by layer) * (2 if replaced).",
    ),
    misconceptions=(
        Misconception(
            "replaced is once",
            "You took clip_norm as the change when a person is replaced. One gradient goes and another comes: 2 * clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity(run, twice=1)),
        ),
        Misconception(
            "replaced is the root of two",
            "You took the root of 2 times clip_norm where a person is replaced. The two gradients need not be at right angles: if they are "
            "opposite, the sum moves by 2 * clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity(run, twice=math.sqrt(2))),
        ),
        Misconception(
            "always twice",
            "You took 2 * clip_norm throughout. Where a person is added or removed only one gradient comes or goes: clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity({**run, "neighbours": "replace"})),
        ),
        Misconception(
            "layers forgotten",
            "You took clip_norm as the norm of a gradient that was clipped layer by layer. With L layers of norm R each, the whole has a "
            "norm of up to R times the root of L.",
            _in_order(sensitivity=lambda run: _sensitivity(run, layers=lambda count: 1)),
        ),
        Misconception(
            "layers added",
            "You multiplied by the number of layers. Squares of norms add, so it is the root of their number.",
            _in_order(sensitivity=lambda run: _sensitivity(run, layers=lambda count: count)),
        ),
        Misconception(
            "layers always",
            "You multiplied by the root of the number of layers also where each person's whole gradient is clipped. There the norm is at "
            "most clip_norm, however many layers there are.",
            _in_order(sensitivity=lambda run: _sensitivity({**run, "clipped": ONES[1]})),
        ),
        Misconception(
            "layers forbidden",
            "You call clipping layer by layer a fault. It bounds each person's gradient, and so it is allowed; it only asks for more noise.",
            _in_order(clipping=lambda run: run["clipped"] == ONES[0]),
        ),
        Misconception(
            "mean allowed",
            "You let clipping of the mean pass. It does not bound what each person adds: one person can turn the clipped mean round, and with "
            "it the share of everybody else.",
            _in_order(clipping=lambda run: True),
        ),
        Misconception(
            "batch norm allowed",
            "You let batch norm pass. It mixes the people of a batch, so one person changes everybody's gradients, and clipping one's own "
            "does not bound that.",
            _in_order(normalization=lambda run: True),
        ),
        Misconception(
            "group norm forbidden",
            "You call group norm a fault. It normalizes within one person's own data and mixes nobody.",
            _in_order(normalization=lambda run: run["normalization"] == "none"),
        ),
        Misconception(
            "number drawn allowed",
            "You let division by the number drawn pass. That number is secret and changes with Mia; the noise was not made for it.",
            _in_order(division=lambda run: True),
        ),
        Misconception(
            "shuffled is Poisson",
            "You let batches pass that were drawn in one way and accounted for in another. The guarantee belongs to the way of drawing "
            "that was accounted for.",
            _in_order(sampling=lambda run: True),
        ),
        Misconception(
            "Poisson only",
            "You let only Poisson sampling pass. Batches of fixed size are in order if they are accounted for as such.",
            _in_order(sampling=lambda run: run["drawn"] == run["accounted"] == "poisson"),
        ),
        Misconception(
            "Poisson always",
            "You let Poisson batches pass however they were accounted for. The epsilon of a fixed size is that of another mechanism, and is "
            "meant for other neighbours.",
            _in_order(sampling=lambda run: run["drawn"] in ("poisson", run["accounted"])),
        ),
        Misconception(
            "shuffling forbidden",
            "You object to shuffled batches also where they are accounted for as shuffled. That is another mechanism with another epsilon, "
            "but an honest one.",
            _in_order(sampling=lambda run: run["drawn"] == run["accounted"] != "shuffled"),
        ),
        Misconception(
            "only shuffling",
            "You object to shuffling only. Also a fixed size that is accounted for as Poisson is another mechanism than the one accounted for.",
            _in_order(sampling=lambda run: run["drawn"] != "shuffled"),
        ),
        Misconception(
            "exactly as much",
            "You ask for exactly the noise needed. More noise is in order too: the promise then holds with something to spare.",
            _in_order(noise=lambda noise, needed: math.isclose(noise, needed)),
        ),
        Misconception(
            "multiplier as deviation",
            "You compared noise_std with noise_multiplier itself. It must be at least noise_multiplier times what one person can change.",
            _in_order(sensitivity=lambda run: 1.0),
        ),
        Misconception(
            "all in order",
            "You say that everything is in order in every run. It is not: look at one part at a time.",
            lambda run: [True] * 5,
        ),
    ),
)

EXERCISES = (clip, noisy_sum, poisson, sgd_step, adam, mixed, hull, sgd_mu, budget, traps)

QUIZ = (
    Question(
        "Which number may the noisy sum be divided by?",
        (
            Option(
                "The number of people drawn: that makes it a mean.",
                False,
                "It is secret, it changes with Mia, and it may be 0. The noise was made for the sum, not for this quotient.",
            ),
            Option(
                "Any number that is public, such as p·n, the expected batch.",
                True,
                "Dividing by a public number is post-processing. It changes the learning rate, not the privacy.",
            ),
            Option(
                "None: dividing makes the noise smaller, and the privacy worse.",
                False,
                "It makes the sum smaller in the same proportion. What counts is the noise relative to what Mia can change.",
            ),
        ),
    ),
    Question(
        "A colleague replaces SGD by Adam, feeding it the same noisy gradients. What does that cost?",
        (
            Option("Nothing.", True, "Adam only computes with what is already noisy: post-processing."),
            Option(
                "Twice the budget, for two moments are kept.",
                False,
                "Both moments are functions of the same noisy gradients. Nothing new is asked of the data.",
            ),
            Option(
                "It depends on β₁ and β₂.",
                False,
                "Whatever the βs are, they never touch the data. They change how well it learns.",
            ),
        ),
    ),
    Question(
        "Mia is in a batch with probability p. Why is one step not simply p times as bad, f_p = p f + (1-p) Id, for every neighbour?",
        (
            Option(
                "Because batches may be empty.",
                False,
                "They may, but that is in the formula already: it averages over all batches.",
            ),
            Option(
                "Because f_p holds for large data sets only.",
                False,
                "It holds for any size. It comes from convexity, not from a limit.",
            ),
            Option(
                "Because f_p bounds one direction, and the other one has the inverse curve.",
                True,
                "Without Mia against with her is f_p, with her against without is its inverse. A guarantee needs both: min{f_p, f_p⁻¹}**.",
            ),
        ),
    ),
    Question(
        "Two networks, one trained with σ = 1.3 and ε = 1.34 by the moments accountant, the other with σ = 1.06 and ε = 1.34 by the CLT; same batches, same 20 epochs. Which is more private?",
        (
            Option(
                "Neither: both have ε = 1.34.",
                False,
                "The two numbers come from two rulers. Measured by one ruler, the exact one, they differ.",
            ),
            Option("The one with σ = 1.3.", True, "More noise, all else equal: exactly ε is 1.01 against 1.41."),
            Option(
                "The one with σ = 1.06: its analysis is better.",
                False,
                "An analysis does not change the mechanism. Less noise hides less, whoever computes.",
            ),
        ),
    ),
    Question(
        "Your data loader shuffles the people once per epoch and deals them out. You report the ε of Poisson sampling. What is wrong?",
        (
            Option(
                "The ε belongs to a mechanism that did not run.",
                True,
                "Shuffling is another way of sampling. Its exact ε can be much larger, and is hard to compute.",
            ),
            Option(
                "Nothing: on average everybody is drawn equally often.",
                False,
                "On average, yes. But privacy is about the worst case, and people dealt out once per epoch are not independent.",
            ),
            Option(
                "Only the last, smaller batch of each epoch.",
                False,
                "That is a second slip. The first one is in every batch.",
            ),
        ),
    ),
    Question(
        "In a private training run, which of these tells something about Mia that the ledger does not count?",
        (
            Option(
                "The weights after every step.",
                False,
                "All of them are counted: the theorem is about the whole sequence of noisy steps.",
            ),
            Option(
                "The noise multiplier, the sample rate and the number of steps.",
                False,
                "They were chosen without looking at the data, so they tell nothing.",
            ),
            Option(
                "The exact training loss, drawn while it runs.",
                True,
                "It is a function of the private data without any noise. Show it to those who may see the data, and publish it to nobody.",
            ),
        ),
    ),
)
