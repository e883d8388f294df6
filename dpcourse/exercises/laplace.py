"""Exercises and quiz of lesson 02: the Laplace mechanism."""

import math

import numpy as np
from scipy.special import log_ndtr

from dpcourse import laplace
from dpcourse.exercises.engine import Exercise, Misconception, Option, Question, RandomExercise, binomial_p_value
from dpcourse.exercises.values import a_number, numbers_like, rounded, type_name

TITLE = "Laplace"


# ---- 2.1 sensitivity


def _draw_bounds(rng):
    """Four columns: one of each sign, and two that cross 0 with the longer arm on either side."""
    cases = []
    for _ in range(2):
        a = [rounded(x) for x in rng.uniform(1, 9, size=8)]
        columns = [
            (a[0], a[0] + a[1]),
            (-a[2] - a[3], -a[3]),
            (-a[4] - 1, min(a[4], a[5])),
            (-min(a[6], a[7]), a[6] + 1),
        ]
        columns = [columns[i] for i in rng.permutation(4)]
        cases.append({"lows": [rounded(low) for low, _ in columns], "highs": [rounded(high) for _, high in columns]})
    return cases


def _largest(lows, highs):
    return [max(abs(low), abs(high)) for low, high in zip(lows, highs, strict=True)]


sensitivity = Exercise(
    id="2.1",
    title="The sensitivity of several sums",
    function="sum_sensitivity",
    good_for="the number that every noise in this lesson is scaled to",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_bounds,
    reference=lambda lows, highs: sum(_largest(lows, highs)),
    returns=a_number,
    hints=(
        "Begin with one column. A new row adds its entry to the sum. Which entry between low and high changes the sum most, up or down?",
        "One column changes by at most max(|low|, |high|). The same row is in all columns, so the changes add up.",
    ),
    misconceptions=(
        Misconception(
            "replaced",
            "You went from one end to the other, high - low. That is the change when a row is replaced. Here a row comes or goes; it does not move.",
            lambda lows, highs: sum(highs) - sum(lows),
        ),
        Misconception(
            "high only",
            "You used the upper ends only. An entry of -7 changes a sum by more than one of 3: take the larger of |low| and |high|.",
            lambda lows, highs: sum(abs(high) for high in highs),
        ),
        Misconception(
            "signed",
            "You added the upper ends with their signs, so that some columns lower the sensitivity. Changes count by their size.",
            lambda lows, highs: sum(highs),
        ),
        Misconception(
            "single worst column",
            "You took the worst column alone. The same row changes all sums at once, and the l1 norm adds the changes.",
            lambda lows, highs: max(_largest(lows, highs)),
        ),
        Misconception(
            "l2",
            "You took the root of the sum of squares: the l2 norm, which Gaussian noise needs. Laplace noise needs l1: add the sizes.",
            lambda lows, highs: math.hypot(*_largest(lows, highs)),
        ),
        Misconception(
            "both ends",
            "You added |low| and |high|. One row has one entry in each column: it is at one end, not at both.",
            lambda lows, highs: sum(map(abs, lows)) + sum(map(abs, highs)),
        ),
        Misconception(
            "one end for all columns",
            "The row may be at the upper end in one column and at the lower in another: take the larger in each column, then add.",
            lambda lows, highs: max(sum(map(abs, lows)), sum(map(abs, highs))),
        ),
        Misconception(
            "average",
            "You averaged over the columns. The l1 norm is the sum.",
            lambda lows, highs: sum(_largest(lows, highs)) / len(lows),
        ),
        Misconception(
            "count",
            "You returned the number of columns. That is right for counts, where an entry is 0 or 1; these entries are larger.",
            lambda lows, highs: len(lows),
        ),
    ),
)


# ---- 2.2 the mechanism


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


def _shape_counts(noise, b):
    """Four counts that show scale, centre and shape of Laplace noise, with their chances."""
    size, trials = np.abs(noise), noise.size
    return [
        ("noises within ln 2 scales of 0", int((size <= b * math.log(2)).sum()), trials),
        ("noises within 0.2 scales of 0", int((size <= 0.2 * b).sum()), trials),
        ("noises beyond 2 scales", int((size > 2 * b).sum()), trials),
        ("noises above 0", int((noise > 0).sum()), trials),
    ]


SHAPE_CHANCES = [0.5, -math.expm1(-0.2), math.exp(-2), 0.5]


def _count_mechanism(cases, values):
    first, again, other = _noises(cases, values)
    b = cases[0]["sensitivity"] / cases[0]["epsilon"]
    both, half = np.concatenate([again, other]), b * math.log(2)
    pairs = np.abs(both.reshape(-1, 2)) > half
    front, back = both.reshape(2, 2, -1).swapaxes(0, 1)
    return [
        *_shape_counts(both, b),
        ("neighbours with noises of the same sign", int((both[0::2] * both[1::2] > 0).sum()), ENTRIES),
        ("neighbours with noises of like size", int((pairs[:, 0] == pairs[:, 1]).sum()), ENTRIES),
        ("entries half the array apart with noises of the same sign", int((front * back > 0).sum()), ENTRIES),
        ("entries with noises of the same sign in two runs", int((again * other > 0).sum()), ENTRIES),
        ("entries without noise", int((both == 0).sum()), both.size),
        ("results that are whole numbers", int(_whole(values[1:3]).sum()), both.size),
        ("runs that come out the same with the same seed", int(np.array_equal(first, again)), 1),
    ]


def _with_scale(scale):
    return lambda value, sensitivity, epsilon, rng: value + rng.laplace(0, scale(sensitivity, epsilon), len(value))


def _b(sensitivity, epsilon):
    return sensitivity / epsilon


def _parameters(cases):
    return cases[0]["sensitivity"], cases[0]["epsilon"]


def _mean_size_is(size, cases, values):
    """Whether the noise is as large as Lap(size) noise is on average, to five standard errors."""
    noise = _noises(cases, values)[1:]
    return bool(abs(np.abs(noise).mean() / size - 1) < 5 / math.sqrt(noise.size))


def _every_run_alike(noise):
    """Whether all runs have the same noise, and it looks like noise: about as much above 0 as below."""
    return bool(np.ptp(noise, axis=0).max() < 1e-9 and 0.2 < (noise > 0).mean() < 0.8)


def _constant(noise):
    return np.ptp(noise) <= 1e-9 * (1 + np.abs(noise).max())


mechanism = RandomExercise(
    id="2.2",
    title="The Laplace mechanism",
    function="laplace_mechanism",
    good_for="releasing any numbers whose sensitivity you know",
    difficulty=2,
    minutes=15,
    points=3,
    draw=_draw_mechanism,
    reference=laplace.mechanism,
    returns=numbers_like("value"),
    counts=_count_mechanism,
    chances=lambda cases: [*SHAPE_CHANCES, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0],
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
            lambda value, sensitivity, epsilon, rng: value + rng.laplace(0, _b(sensitivity, epsilon)),
            recognise=lambda cases, values: all(map(_constant, _noises(cases, values))),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed. Whoever runs your code can take the noise off. Use the `rng` you are given.",
            lambda value, sensitivity, epsilon, rng: _with_scale(_b)(
                value, sensitivity, epsilon, np.random.default_rng(0)
            ),
            recognise=lambda cases, values: _every_run_alike(_noises(cases, values)),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda value, sensitivity, epsilon, rng: _with_scale(_b)(
                value, sensitivity, epsilon, np.random.default_rng()
            ),
            recognise=lambda cases, values: not np.array_equal(*_noises(cases, values)[:2]),
        ),
        Misconception(
            "cut off",
            "You cut the results off at 0. That is allowed, as post-processing, but it is one step too many here: return the noisy numbers as they are.",
            lambda value, sensitivity, epsilon, rng: np.maximum(0, _with_scale(_b)(value, sensitivity, epsilon, rng)),
            recognise=lambda cases, values: bool(
                np.min(values[0]) == 0 and 5 <= (np.asarray(values[0]) == 0).sum() < ENTRIES
            ),
        ),
        Misconception(
            "rounded",
            "You rounded the results. That is allowed, as post-processing, but here return the noisy numbers as they are.",
            lambda value, sensitivity, epsilon, rng: np.round(_with_scale(_b)(value, sensitivity, epsilon, rng)),
            recognise=lambda cases, values: bool(
                _whole(values[1:3]).all() and np.any(values[1]) and (_noises(cases, values) != 0).any()
            ),
        ),
        Misconception(
            "fraction turned over",
            "Your scale is epsilon / sensitivity. More privacy means a smaller epsilon and more noise: sensitivity / epsilon.",
            _with_scale(lambda sensitivity, epsilon: epsilon / sensitivity),
            recognise=lambda cases, values: _mean_size_is(1 / _b(*_parameters(cases)), cases, values),
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
            _with_scale(lambda sensitivity, epsilon: 2 * _b(sensitivity, epsilon) ** 2),
        ),
        Misconception(
            "standard deviation",
            "You gave the standard deviation, b times the root of 2, where numpy's `laplace` wants the scale b itself.",
            _with_scale(lambda sensitivity, epsilon: math.sqrt(2) * _b(sensitivity, epsilon)),
        ),
        Misconception(
            "number of entries",
            "You also multiplied the scale by the number of entries. The sensitivity is that of all entries together; they are counted in it already.",
            lambda value, sensitivity, epsilon, rng: (
                value + rng.laplace(0, len(value) * _b(sensitivity, epsilon), len(value))
            ),
        ),
        Misconception(
            "Gaussian",
            "You added Gaussian noise. Its tails fall faster, so far out the ratio of the densities passes e^epsilon. Use `rng.laplace`.",
            lambda value, sensitivity, epsilon, rng: value + rng.normal(0, _b(sensitivity, epsilon), len(value)),
        ),
        Misconception(
            "one-sided",
            "Your noise is never negative, as that of `rng.exponential`. An output below the value would prove a neighbour wrong. Use `rng.laplace`.",
            lambda value, sensitivity, epsilon, rng: value + rng.exponential(_b(sensitivity, epsilon), len(value)),
        ),
        Misconception(
            "value forgotten",
            "You returned the noise alone. Add it to `value`.",
            lambda value, sensitivity, epsilon, rng: rng.laplace(0, _b(sensitivity, epsilon), len(value)),
        ),
    ),
)


# ---- 2.3 density ratio


def _draw_loss(rng):
    """Two neighbouring answers of three numbers, and outputs around them; l1 distance below the sensitivity."""
    cases = []
    for _ in range(2):
        value = rng.integers(5, 40, size=3).astype(float)
        step = rng.uniform(0.5, 2, size=3) * rng.choice([-1, 1], size=3)
        cases.append(
            {
                "output": [rounded(x) for x in value + step * rng.uniform(-0.6, 1.6, size=3)],
                "value": value.tolist(),
                "neighbour": [rounded(x) for x in value + step],
                "sensitivity": rounded(np.abs(step).sum() + rng.uniform(0.2, 1)),
                "epsilon": rounded(rng.uniform(0.3, 0.9)),
            }
        )
    return cases


def _loss(distance, after=lambda loss: loss):
    """after(epsilon / sensitivity * (distance(output - neighbour) - distance(output - value)))."""

    def code(output, value, neighbour, sensitivity, epsilon):
        z, x, y = map(np.asarray, (output, value, neighbour))
        return after(float(epsilon / sensitivity * (distance(z - y) - distance(z - x))))

    return code


def _l1(x):
    return np.abs(x).sum()


def _log_of_sums(output, value, neighbour, sensitivity, epsilon):
    b = _b(sensitivity, epsilon)
    ours, theirs = (np.exp(-np.abs(np.subtract(output, x)) / b).sum() for x in (value, neighbour))
    return float(np.log(ours / theirs))


privacy_loss = Exercise(
    id="2.3",
    title="The privacy loss of one output",
    function="privacy_loss",
    good_for="seeing what a single published table says about Mia, and the proof of theorem 3.6",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_loss,
    reference=_loss(_l1),
    returns=a_number,
    forbidden=(laplace.log_density,),
    hints=(
        "The scale is b = sensitivity / epsilon. The log-density of one number z with true answer x is -|z - x| / b - ln(2b). Add over the numbers.",
        "Take the difference of the two sums. The ln(2b) cancel, and (sum of |z - y|) - (sum of |z - x|), divided by b, is left.",
    ),
    misconceptions=(
        Misconception(
            "turned over",
            "You divided the density under the neighbour by that under the value. It is the other way round: the value above, the neighbour below.",
            _loss(_l1, lambda loss: -loss),
        ),
        Misconception(
            "ratio",
            "That is the ratio of the densities. The privacy loss is its logarithm.",
            _loss(_l1, math.exp),
        ),
        Misconception(
            "size only",
            "You took the absolute value. The loss has a sign: negative where the output speaks for the neighbour.",
            _loss(_l1, abs),
        ),
        Misconception(
            "worst case",
            "That is the largest loss that any output could have for these two answers. The question is for this output.",
            lambda output, value, neighbour, sensitivity, epsilon: (
                epsilon / sensitivity * _l1(np.subtract(value, neighbour))
            ),
        ),
        Misconception(
            "signed distances",
            "You left out the absolute values: the density depends on the distance |z - x| in each entry.",
            _loss(np.sum),
        ),
        Misconception(
            "l2",
            "You took Euclidean distances. The entries have independent noises, so their log-densities add: sums of absolute values.",
            _loss(np.linalg.norm),
        ),
        Misconception(
            "squares",
            "You squared the distances. That is the Gaussian density; in Laplace's the distance stands without a square.",
            _loss(lambda x: (x**2).sum()),
        ),
        Misconception(
            "largest entry",
            "You looked at the largest distance only. Every entry is published, so the losses of all of them add.",
            _loss(lambda x: np.abs(x).max()),
        ),
        Misconception(
            "average",
            "You divided by the number of entries (an average, or a sensitivity multiplied by it). The entries' densities multiply, so the logarithms add.",
            _loss(lambda x: np.abs(x).mean()),
        ),
        Misconception(
            "sum of densities",
            "Independent densities multiply; you added them. The logarithm of a product is a sum of logarithms.",
            _log_of_sums,
        ),
        Misconception(
            "sensitivity forgotten",
            "You multiplied by epsilon but did not divide by the sensitivity: the scale is sensitivity / epsilon.",
            lambda output, value, neighbour, sensitivity, epsilon: (
                sensitivity * _loss(_l1)(output, value, neighbour, sensitivity, epsilon)
            ),
        ),
        Misconception(
            "scale turned over",
            "You multiplied by the scale b where you should divide by it: the density is e^(-|z - x| / b) / (2b).",
            lambda output, value, neighbour, sensitivity, epsilon: (
                _b(sensitivity, epsilon) ** 2 * _loss(_l1)(output, value, neighbour, sensitivity, epsilon)
            ),
        ),
    ),
)


# ---- 2.4 m counts


def _draw_counts(rng):
    return [
        {"m": int(rng.integers(12, 40)), "at_most": int(at_most), "error": rounded(rng.uniform(3, 20))}
        for at_most in (rng.integers(3, 5), rng.integers(5, 8))
    ]


counts = Exercise(
    id="2.4",
    title="The budget for many counts",
    function="epsilon_for_counts",
    good_for="saying what a table of counts costs before you promise it",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_counts,
    reference=lambda m, at_most, error: at_most / error,
    returns=a_number,
    hints=(
        "How far can one woman move all m counts together, in the l1 norm? She is in at most `at_most` of them.",
        "The expected size of Lap(b) is b. Set b = at_most / epsilon equal to error, and solve for epsilon.",
    ),
    misconceptions=(
        Misconception(
            "all counts",
            "You took m as the sensitivity. That is the worst case if nothing else is known. Here one woman is in at most `at_most` counts.",
            lambda m, at_most, error: m / error,
        ),
        Misconception(
            "one count",
            "You took 1 as the sensitivity. One woman may be in several counts, and each of them changes by 1.",
            lambda m, at_most, error: 1 / error,
        ),
        Misconception(
            "turned over",
            "You divided the error by the sensitivity. b = at_most / epsilon gives epsilon = at_most / error.",
            lambda m, at_most, error: error / at_most,
        ),
        Misconception(
            "l2",
            "You took the root of `at_most`, the l2 norm. Laplace noise is scaled to the l1 norm, which adds the changes.",
            lambda m, at_most, error: math.sqrt(at_most) / error,
        ),
        Misconception(
            "standard deviation",
            "You set the standard deviation, b times the root of 2, equal to `error`. The question is for the expected absolute error, which is b.",
            lambda m, at_most, error: math.sqrt(2) * at_most / error,
        ),
        Misconception(
            "variance",
            "You set the variance, 2 b^2, equal to `error`. The question is for the expected absolute error, which is b.",
            lambda m, at_most, error: at_most * math.sqrt(2 / error),
        ),
        Misconception(
            "m on top",
            "You multiplied by m as well. The m counts are in the l1 norm already: a woman who is not in a count does not change it.",
            lambda m, at_most, error: m * at_most / error,
        ),
        Misconception(
            "error summed",
            "You spread `error` over the m counts. It is asked for each count, not for their sum.",
            lambda m, at_most, error: at_most / (m * error),
        ),
        Misconception(
            "replaced",
            "You counted every change twice, as if a woman were replaced by another. Here one is added or removed.",
            lambda m, at_most, error: 2 * at_most / error,
        ),
    ),
)


# ---- 2.5 histogram


RUNS, CELLS, PEOPLE = 60, 40, 150
EXACT = 1e-9  # a noisy total is that near to the true one in any of the runs with probability 3e-9


def _draw_histogram(rng):
    """61 runs on the same 150 people, the first two with the same seed; a third of the 40 cells is empty."""
    cells = [f"{letter}{number}" for letter in "abcd" for number in range(10)]
    cells = [cells[i] for i in rng.permutation(CELLS)]
    values = [cells[i] for i in rng.integers(0, CELLS * 2 // 3, size=PEOPLE)]
    cells = [cells[i] for i in rng.permutation(CELLS)]
    seed, epsilon = int(rng.integers(2**31)), rounded(rng.uniform(0.3, 0.6))
    return [{"values": values, "cells": cells, "epsilon": epsilon, "rng": seed + run} for run in (0, *range(RUNS))]


def _tally(values, cells):
    return np.array([values.count(cell) for cell in cells])


def _cell_noises(cases, values):
    """The noise of each cell in each run, of shape (1 + RUNS, CELLS), and which cells are empty."""
    true = _tally(cases[0]["values"], cases[0]["cells"])
    return np.array([np.asarray(value) - true for value in values]), true == 0


def _count_histogram(cases, values):
    noise, empty = _cell_noises(cases, values)
    first, again, runs = noise[0], noise[1], noise[1:]
    in_empty = runs[:, empty]
    half = runs.size // 2
    return [
        *_shape_counts(runs, 1 / cases[0]["epsilon"]),
        ("histograms with an exact total", int((np.abs(runs.sum(axis=1)) < EXACT).sum()), RUNS),
        ("cells without noise", int((runs == 0).sum()), runs.size),
        ("noises above 0 in empty cells", int((in_empty > 0).sum()), in_empty.size),
        ("neighbouring cells with noises of the same sign", int((runs[:, 0::2] * runs[:, 1::2] > 0).sum()), half),
        ("cells with noises of the same sign in two runs", int((runs[0::2] * runs[1::2] > 0).sum()), half),
        ("runs that come out the same with the same seed", int(np.array_equal(first, again)), 1),
    ]


def _an_array_of_cells(value, case):
    if isinstance(value, dict):
        return "Return an array of numbers in the order of `cells`, not a dict."
    complaint = numbers_like("cells")(value, case)
    if complaint and isinstance(value, (list, tuple, np.ndarray)) and 0 < len(value) < CELLS:
        return f"You returned {len(value)} of {CELLS} cells. Cells in which nobody is need a noisy number as well: their absence would be exact."
    return complaint


def _histogram(scale=lambda epsilon, cells: 1 / epsilon, after=lambda noisy, true, rng: noisy):
    def code(values, cells, epsilon, rng):
        true = _tally(values, cells)
        return after(true + rng.laplace(0, scale(epsilon, cells), len(cells)), true, rng)

    return code


histogram = RandomExercise(
    id="2.5",
    title="A private histogram",
    function="private_histogram",
    good_for="the most common private release there is",
    difficulty=2,
    minutes=15,
    points=3,
    draw=_draw_histogram,
    reference=laplace.histogram,
    returns=_an_array_of_cells,
    counts=_count_histogram,
    chances=lambda cases: [*SHAPE_CHANCES, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0],
    forbidden=(laplace.histogram,),
    hints=(
        "One person comes or goes. How many counts of the list change, and by how much? So what is the l1 sensitivity of the whole list?",
        "It is 1. Count, `[values.count(cell) for cell in cells]`, and add noise of scale 1 / epsilon to every cell, the empty ones too.",
    ),
    misconceptions=(
        Misconception(
            "nothing random",
            "You returned the exact counts, without noise.",
            lambda values, cells, epsilon, rng: _tally(values, cells),
            recognise=lambda cases, values: bool((_cell_noises(cases, values)[0] == 0).all()),
        ),
        Misconception(
            "empty cells exact",
            "Cells in which nobody is have an exact 0. The first person to enter such a cell would be seen. Every cell needs noise.",
            _histogram(after=lambda noisy, true, rng: np.where(true > 0, noisy, 0)),
            recognise=lambda cases, values: _only_in_full_cells(*_cell_noises(cases, values)),
        ),
        Misconception(
            "one noise for all",
            "You drew one noise for all cells. The differences between cells are then exact. Draw `len(cells)` noises.",
            lambda values, cells, epsilon, rng: _tally(values, cells) + rng.laplace(0, 1 / epsilon),
            recognise=lambda cases, values: all(map(_constant, _cell_noises(cases, values)[0])),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda values, cells, epsilon, rng: _histogram()(values, cells, epsilon, np.random.default_rng(0)),
            recognise=lambda cases, values: _every_run_alike(_cell_noises(cases, values)[0]),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda values, cells, epsilon, rng: _histogram()(values, cells, epsilon, np.random.default_rng()),
            recognise=lambda cases, values: not np.array_equal(*_cell_noises(cases, values)[0][:2]),
        ),
        Misconception(
            "rounded",
            "You rounded the noisy counts. That is allowed, as post-processing, but here return them as they are.",
            _histogram(after=lambda noisy, true, rng: np.round(noisy)),
            recognise=lambda cases, values: bool(
                all((np.asarray(value) == np.round(value)).all() for value in values) and np.min(values[0]) < 0
            ),
        ),
        Misconception(
            "cut off",
            "You cut the counts off at 0. That is allowed, as post-processing, but then empty cells are too high on average: here return them as they are.",
            _histogram(after=lambda noisy, true, rng: np.maximum(0, noisy)),
            recognise=lambda cases, values: bool(
                np.min(values) == 0 and np.any(values) and (_cell_noises(cases, values)[0] < 0).any()
            ),
        ),
        Misconception(
            "exact total",
            "Your counts add up to the exact number of people. Whether Mia is among them is the secret; leave the total noisy.",
            _histogram(after=lambda noisy, true, rng: noisy * true.sum() / noisy.sum()),
            recognise=lambda cases, values: bool((np.abs(_cell_noises(cases, values)[0].sum(axis=1)) < EXACT).all()),
        ),
        Misconception(
            "one-sided",
            "Your results are never below the true count. An output below it would prove a neighbour wrong. Use `rng.laplace`.",
            _histogram(after=lambda noisy, true, rng: true + np.abs(noisy - true)),
            recognise=lambda cases, values: bool((_cell_noises(cases, values)[0] > 0).all()),
        ),
        Misconception(
            "absolute value",
            "You took the absolute value of the noisy counts. That is allowed, as post-processing, but then empty cells are too high on average: "
            "here return negative results as they are.",
            _histogram(after=lambda noisy, true, rng: np.abs(noisy)),
            recognise=lambda cases, values: bool(np.min(values) > 0 and (_cell_noises(cases, values)[0] < 0).any()),
        ),
        Misconception(
            "sensitivity per cell",
            "Your noise has the scale (number of cells) / epsilon. One person is in one cell only, so the sensitivity is 1 however many cells there are.",
            _histogram(lambda epsilon, cells: len(cells) / epsilon),
        ),
        Misconception(
            "replaced",
            "Your noise has the scale 2 / epsilon. That is for neighbours with one person replaced, who leaves a cell and enters another. Here one is added or removed.",
            _histogram(lambda epsilon, cells: 2 / epsilon),
        ),
        Misconception(
            "budget split",
            "Your noise has the scale 1 / (epsilon · cells) or 1 / (epsilon · people). The sensitivity shrinks with neither.",
            lambda values, cells, epsilon, rng: (
                _tally(values, cells) + rng.laplace(0, 1 / (epsilon * len(values)), len(cells))
            ),
            recognise=lambda cases, values: any(_scale_is(1 / n, cases, values) for n in (CELLS, PEOPLE)),
        ),
        Misconception(
            "standard deviation",
            "Your noise has the scale b times the root of 2, its standard deviation. numpy's `laplace` wants the scale b = 1 / epsilon itself.",
            _histogram(lambda epsilon, cells: math.sqrt(2) / epsilon),
        ),
        Misconception(
            "Gaussian",
            "You added Gaussian noise. Its tails fall faster, so far out the ratio of the densities passes e^epsilon. Use `rng.laplace`.",
            lambda values, cells, epsilon, rng: _tally(values, cells) + rng.normal(0, 1 / epsilon, len(cells)),
        ),
        Misconception(
            "fraction turned over",
            "Your noise has the scale epsilon. More privacy means a smaller epsilon and more noise: 1 / epsilon.",
            _histogram(lambda epsilon, cells: epsilon),
        ),
        Misconception(
            "sorted",
            "Your cells are in alphabetical order. Return the counts in the order of `cells`.",
            lambda values, cells, epsilon, rng: _histogram()(values, sorted(cells), epsilon, rng),
            recognise=lambda cases, values: _close_to(cases, values, sorted(cases[0]["cells"])),
        ),
        Misconception(
            "shares",
            "You divided by the number of people. Return counts. (A share would also need the number of people, which is itself a secret here.)",
            _histogram(after=lambda noisy, true, rng: noisy / PEOPLE),
            recognise=lambda cases, values: bool(0 < np.abs(values[0]).max() < 1.5),
        ),
        Misconception(
            "noise only",
            "You returned the noise alone. Add it to the counts.",
            lambda values, cells, epsilon, rng: rng.laplace(0, 1 / epsilon, len(cells)),
            recognise=lambda cases, values: bool(np.any(values)) and _close_to(cases, values, []),
        ),
    ),
)


def _only_in_full_cells(noise, empty):
    return bool((noise[:, empty] == 0).all() and 0.4 < (noise[:, ~empty] > 0).mean() < 0.6)


def _scale_is(b, cases, values):
    """Whether the noise is as large as Lap(b / epsilon) noise is on average, to five standard errors."""
    noise = _cell_noises(cases, values)[0][1:]
    return bool(abs(np.abs(noise).mean() * cases[0]["epsilon"] / b - 1) < 5 / math.sqrt(noise.size))


def _close_to(cases, values, cells):
    """Whether the means over the runs are as near to the counts of these cells, in this order, as chance allows (no cells: to 0)."""
    mean, true = np.mean(values, axis=0), _tally(cases[0]["values"], cells) if cells else 0
    return bool(np.abs(mean - true).mean() < 3 / cases[0]["epsilon"] / math.sqrt(RUNS))


# ---- 2.6 accuracy


def _draw_error(rng):
    return [
        {
            "k": int(k),
            "failure_probability": rounded(rng.uniform(0.02, 0.3)),
            "sensitivity": int(rng.integers(2, 6)),
            "epsilon": rounded(rng.uniform(0.2, 0.9)),
        }
        for k in (rng.integers(5, 30), rng.integers(500, 20_000))
    ]


def _error(size):
    """size(k, failure probability) times the scale."""
    return lambda k, failure_probability, sensitivity, epsilon: size(k, failure_probability) * _b(sensitivity, epsilon)


error = Exercise(
    id="2.6",
    title="How far off is the worst of k answers?",
    function="error_bound",
    good_for="telling the readers of a private table how much of it is noise",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_error,
    reference=laplace.error_bound,
    returns=a_number,
    forbidden=(laplace.error_bound,),
    hints=(
        "One noise is t scales or more from 0 with probability e^-t. For k of them the union bound gives k e^-t.",
        "Set k e^-t equal to the failure probability and solve for t. Then multiply by the scale.",
    ),
    misconceptions=(
        Misconception(
            "union bound forgotten",
            "You left k out: ln(1 / failure) bounds the error of one answer. All k must be near: ln(k / failure).",
            _error(lambda k, failure: -math.log(failure)),
        ),
        Misconception(
            "k outside",
            "Your k stands outside the logarithm. The failure probability is divided by k, so k belongs inside: ln(k / failure).",
            _error(lambda k, failure: -k * math.log(failure)),
        ),
        Misconception(
            "exact",
            "You used that the noises are independent, and got the exact quantile. It is right, and slightly smaller. "
            "Here return the union bound of theorem 3.8, which needs no independence.",
            _error(lambda k, failure: -math.log(-math.expm1(math.log1p(-failure) / k))),
        ),
        Misconception(
            "confidence",
            "You took 1 - failure for the failure: for 95 % confidence it is 0.05 that stands below k.",
            _error(lambda k, failure: math.log(k / (1 - failure))),
        ),
        Misconception(
            "multiplied inside",
            "You took ln(k · failure). A rarer failure must give a larger bound: ln(k / failure).",
            _error(lambda k, failure: math.log(k * failure)),
        ),
        Misconception(
            "brackets",
            "Only k stands inside your logarithm: log(k) / failure. Put the whole fraction inside: log(k / failure).",
            _error(lambda k, failure: math.log(k) / failure),
        ),
        Misconception(
            "both tails",
            "You counted two tails. The tail e^-t counts both sides already: ln(k / failure).",
            _error(lambda k, failure: math.log(2 * k / failure)),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            _error(lambda k, failure: math.log10(k / failure)),
        ),
        Misconception(
            "base two",
            "You took the logarithm to base 2. It is the natural one, `math.log`.",
            _error(lambda k, failure: math.log2(k / failure)),
        ),
        Misconception(
            "scale turned over",
            "You multiplied by epsilon / sensitivity. The scale of the noise is sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: (
                math.log(k / failure_probability) * epsilon / sensitivity
            ),
        ),
        Misconception(
            "sensitivity forgotten",
            "You left the sensitivity out. The scale of the noise is sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: math.log(k / failure_probability) / epsilon,
        ),
        Misconception(
            "number of scales",
            "That is the number of scales, t. Multiply it by the scale, sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: math.log(k / failure_probability),
        ),
        Misconception(
            "k in the scale",
            "You also multiplied the scale by k. The sensitivity is that of all k answers together; they are counted in it already.",
            lambda k, failure_probability, sensitivity, epsilon: (
                math.log(k / failure_probability) * k * sensitivity / epsilon
            ),
        ),
    ),
)


# ---- 2.7 report noisy max


AGAIN, MANY, WIDE, NEAR, EQUAL, OPTIONS = 3, 1000, 130, 120, 230, 10


def _draw_noisy_max(rng):
    """483 elections: 3 with the same seed and equal counts, 130 with a clear leader of 1,000, 120 close ones, 230 with equal counts.

    In a close one two are 2 behind, one 5, and six are so far behind that they win by a mistake only.
    """
    epsilon = rounded(rng.uniform(0.5, 0.6))
    base = int(rng.integers(300, 900))
    wide, equal = np.full(MANY, base), np.full(OPTIONS, base)
    wide[rng.integers(MANY)] += round(8 / epsilon)
    near = base - round(60 / epsilon) - rng.integers(0, 4, size=OPTIONS)
    contenders = rng.permutation(np.arange(1, OPTIONS - 1))[:4]
    near[contenders] = base - np.array([0, 2, 2, 5])
    seed = int(rng.integers(2**31))
    tables = [*[np.full(MANY, base)] * AGAIN, *[wide] * WIDE, *[near] * NEAR, *[equal] * EQUAL]
    runs = [*[0] * AGAIN, *range(1, 1 + WIDE + NEAR + EQUAL)]
    return [{"counts": table, "epsilon": epsilon, "rng": seed + run} for table, run in zip(tables, runs, strict=True)]


def _place(value):
    """The place that an answer names; -1 where it names none."""
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    return int(value) if whole and abs(value) < 2**53 else -1


def _elections(cases, values):
    """The places reported in the four kinds of elections: repeated, wide, near, equal."""
    places = np.array([_place(value) for value in values])
    return np.split(places, np.cumsum([AGAIN, WIDE, NEAR]))


def _count_noisy_max(cases, values):
    repeated, wide, close, equal = _elections(cases, values)
    second, first = np.argsort(cases[AGAIN + WIDE]["counts"])[-2:]
    return [
        ("reports of the leader among 1,000 options", int((wide == np.argmax(cases[AGAIN]["counts"])).sum()), WIDE),
        ("reports of the leader where the lead is small", int((close == first).sum()), NEAR),
        ("reports of the second where the lead is small", int((close == second).sum()), NEAR),
        ("reports of the first place where all counts are equal", int((equal == 0).sum()), EQUAL),
        ("runs that come out the same with the same seed", int(np.ptp(repeated) == 0), 1),
    ]


def _chances_noisy_max(cases, chances=laplace.noisy_max_chances):
    wide, near = cases[AGAIN]["counts"], cases[AGAIN + WIDE]["counts"]
    leads, close = (chances(counts, cases[0]["epsilon"]) for counts in (wide, near))
    second, first = np.argsort(near)[-2:]
    return [leads[np.argmax(wide)], close[first], close[second], 1 / OPTIONS, 1.0]


def _a_place(value, case):
    """One number; tables and pairs pass too, since they have messages of their own."""
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) in (2, len(case["counts"])):
        return None
    return a_number(value, case)


def _noisy(noise):
    """Report the place of the largest of counts + noise(rng, epsilon, m)."""
    return lambda counts, epsilon, rng: int(np.argmax(counts + noise(rng, epsilon, len(counts))))


def _always(test):
    return lambda cases, values: all(test(value, case) for case, value in zip(cases, values, strict=True))


def _length(value):
    return len(value) if isinstance(value, (list, tuple, np.ndarray)) else 0


def _leads_always(cases, values):
    return all(_place(value) == np.argmax(case["counts"]) for case, value in zip(cases, values, strict=True))


def _gaussian_chances(counts, epsilon):
    """The chance of each place to have the largest of counts + N(0, 1/epsilon^2)."""
    x, place, times = np.unique((counts - np.max(counts)) * epsilon, return_inverse=True, return_counts=True)
    z = np.linspace(-9, 9, 1001)
    log_below = log_ndtr(z - x[:, None])
    log_wins = -((z - x[:, None]) ** 2) / 2 - math.log(2 * math.pi) / 2 + times @ log_below - log_below
    return np.trapezoid(np.exp(log_wins), z)[place]


def _winner_only_chances(counts, epsilon):
    """The chances if the largest count alone gets Laplace noise: it stays, or the second wins."""
    first = np.argmax(counts)
    second = np.argmax(
        np.where(np.arange(len(counts)) == first, -np.inf, counts)
    )  # of equal ones, argmax takes the first
    chances = np.zeros(len(counts))
    chances[second] = math.exp(-epsilon * (counts[first] - counts[second])) / 2
    chances[first] = 1 - chances[second]
    return chances


LAWS = {
    "winner only": _winner_only_chances,
    "fraction turned over": lambda counts, epsilon: laplace.noisy_max_chances(counts, 1 / epsilon),
    "twice the noise": lambda counts, epsilon: laplace.noisy_max_chances(counts, epsilon / 2),
    "m times the noise": lambda counts, epsilon: laplace.noisy_max_chances(counts, epsilon / len(counts)),
    "Gaussian": _gaussian_chances,
    "Gaussian of the same variance": lambda counts, epsilon: _gaussian_chances(counts, epsilon / math.sqrt(2)),
    "no counts": lambda counts, epsilon: np.full(len(counts), 1 / len(counts)),
}


def _most_likely(*names):
    """Whether one of these laws explains the winners best, and not too badly: no count is rarer than 1 in a million."""

    def recognise(cases, values):
        fits = {law: _rarest_and_likelihood(cases, values, chances) for law, chances in LAWS.items()}
        best = max(fits, key=lambda law: fits[law][1])
        return best in names and fits[best][0] > 1e-6

    return recognise


def _rarest_and_likelihood(cases, values, chances):
    """The smallest p-value of the first three counts under a law, and the log-likelihood of the winners counted there."""
    _, wide, close, _ = _elections(cases, values)
    counted = _count_noisy_max(cases, values)[:3]
    law = _chances_noisy_max(cases, chances)[:3]
    rarest = min(binomial_p_value(*count[1:], chance) for count, chance in zip(counted, law, strict=True))
    likelihood = 0.0
    for places, counts in ((wide, cases[AGAIN]["counts"]), (close, cases[AGAIN + WIDE]["counts"])):
        if not np.isin(places, np.arange(len(counts))).all():
            return 0.0, -math.inf
        with np.errstate(divide="ignore"):
            likelihood += np.log(chances(counts, cases[0]["epsilon"]))[places].sum()
    return rarest, float(likelihood)


def _leaders_never(cases, values):
    """Whether none of the four who lead the close elections ever wins, and each winner is an option."""
    _, wide, close, _ = _elections(cases, values)
    behind = np.argsort(cases[AGAIN + WIDE]["counts"])[:-4]
    return bool(np.isin(close, behind).all() and (wide >= 0).all())


def _first_place_rare(cases, values):
    _, wide, _, equal = _elections(cases, values)
    leads = (wide == np.argmax(cases[AGAIN]["counts"])).mean()
    return bool((equal == 0).mean() < 0.03 and leads > 0.5)


def _counts_from_one(cases, values):
    places = set(np.concatenate(_elections(cases, values)[2:]).tolist())
    return OPTIONS in places and places <= set(range(1, OPTIONS + 1))


noisy_max = RandomExercise(
    id="2.7",
    title="Report noisy max",
    function="report_noisy_max",
    good_for="finding the best of many options at the price of one",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_noisy_max,
    reference=laplace.report_noisy_max,
    returns=_a_place,
    counts=_count_noisy_max,
    chances=_chances_noisy_max,
    forbidden=(laplace.report_noisy_max,),
    hints=(
        "Add a noise of its own to each count, `rng.laplace(0, b, len(counts))`. Which b? The proof above the exercise says.",
        "b = 1 / epsilon, however many counts there are. `np.argmax` gives the place of the largest. Return that, and nothing else.",
    ),
    misconceptions=(
        Misconception(
            "all noisy counts",
            "You returned all the noisy counts. With noise of scale 1 / epsilon that costs m epsilon. Only the place of the largest may leave.",
            lambda counts, epsilon, rng: counts + rng.laplace(0, 1 / epsilon, len(counts)),
            recognise=_always(lambda value, case: _length(value) == len(case["counts"])),
        ),
        Misconception(
            "noisy maximum too",
            "You returned two things. The noisy maximum must not leave with the place: the proof hides which threshold was passed, and the maximum shows it.",
            lambda counts, epsilon, rng: (0, float(np.max(counts + rng.laplace(0, 1 / epsilon, len(counts))))),
            recognise=_always(lambda value, case: _length(value) == 2),
        ),
        Misconception(
            "value instead of place",
            "You returned the noisy maximum itself. Return its place: `np.argmax`, not `np.max`.",
            lambda counts, epsilon, rng: float(np.max(counts + rng.laplace(0, 1 / epsilon, len(counts)))),
            recognise=_always(lambda value, case: isinstance(value, float) and value != int(value)),
        ),
        Misconception(
            "true count of the winner",
            "You returned the true count of the winner. It is exact, so it is not private. Return the place alone.",
            lambda counts, epsilon, rng: counts[np.argmax(counts + rng.laplace(0, 1 / epsilon, len(counts)))],
            recognise=_always(lambda value, case: _place(value) in case["counts"]),
        ),
        Misconception(
            "counted from 1",
            "Your places run from 1. In Python the first place is 0.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(counts, epsilon, rng) + 1,
            recognise=_counts_from_one,
        ),
        Misconception(
            "always the leader",
            "You always report the true leader: either there is no noise, or all counts get the same noise, which changes nothing. Each count needs its own.",
            lambda counts, epsilon, rng: int(np.argmax(counts + rng.laplace(0, 1 / epsilon))),
            recognise=_leads_always,
        ),
        Misconception(
            "own seed",
            "Equal counts gave the same winner in every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng(5)
            ),
            recognise=lambda cases, values: all(np.ptp(places) == 0 for places in _elections(cases, values)[2:]),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave different winners: your noise comes from somewhere else. Draw it from `rng`.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng()
            ),
            recognise=lambda cases, values: bool(np.ptp(_elections(cases, values)[0]) > 0),
        ),
        Misconception(
            "leader without noise",
            "The leader gets no noise, or another noise than the rest: where all counts were equal, the first place should win as often as "
            "any other. Each count needs a noise of its own, the largest too.",
            lambda counts, epsilon, rng: int(
                np.argmax(
                    counts + (np.arange(len(counts)) != np.argmax(counts)) * rng.laplace(0, 1 / epsilon, len(counts))
                )
            ),
            recognise=_first_place_rare,
        ),
        Misconception(
            "smallest",
            "You report the smallest noisy count. The question is for the largest: `np.argmax`.",
            lambda counts, epsilon, rng: int(np.argmin(counts + rng.laplace(0, 1 / epsilon, len(counts)))),
            recognise=_leaders_never,
        ),
        Misconception(
            "no counts",
            "Your winner hardly depends on the counts: did you add the noise to them, and not to shares?",
            lambda counts, epsilon, rng: int(
                np.argmax(counts / counts.sum() + rng.laplace(0, 1 / epsilon, len(counts)))
            ),
            recognise=_most_likely("no counts"),
        ),
        Misconception(
            "winner only",
            "You added noise to the largest count only. Then nobody but the true leader and the second can win. Each count needs a noise.",
            lambda counts, epsilon, rng: int(
                np.argmax(counts + (counts == counts.max()) * rng.laplace(0, 1 / epsilon, len(counts)))
            ),
            recognise=_most_likely("winner only"),
        ),
        Misconception(
            "fraction turned over",
            "Your noise has the scale epsilon. More privacy means a smaller epsilon and more noise: 1 / epsilon.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, epsilon, m)),
            recognise=_most_likely("fraction turned over"),
        ),
        Misconception(
            "twice the noise",
            "Your noise has the scale 2 / epsilon. That is needed where one person may raise a count and lower another. "
            "These counts all move the same way, and 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, 2 / epsilon, m)),
            recognise=_most_likely("twice the noise"),
        ),
        Misconception(
            "m times the noise",
            "Your noise has the scale m / epsilon, as if all counts were released. Only the place leaves: 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, m / epsilon, m)),
            recognise=_most_likely("m times the noise"),
        ),
        Misconception(
            "Gaussian",
            "Your noise looks Gaussian. The step of the proof from r* to r* + 1 costs e^epsilon for Laplace noise only.",
            _noisy(lambda rng, epsilon, m: rng.normal(0, 1 / epsilon, m)),
            recognise=_most_likely("Gaussian", "Gaussian of the same variance"),
        ),
    ),
)


# ---- 2.8 discrete noise


DRAWS, TAIL, SHORT = 1600, 120, 40
RATIOS = ((11, 8), (7, 5), (10, 7), (3, 2), (8, 5))
SMALL = (1, 8)


def _draw_discrete(rng):
    """Four runs: two short ones with the same seed, a long one, and one whose small epsilon shows the tail."""
    ratio = RATIOS[rng.integers(len(RATIOS))]
    seed = int(rng.integers(2**31))
    return [
        {"numerator": numerator, "denominator": denominator, "size": size, "rng": seed + run}
        for (numerator, denominator), size, run in (
            (ratio, SHORT, 0),
            (ratio, SHORT, 0),
            (ratio, DRAWS, 1),
            (SMALL, TAIL, 2),
        )
    ]


def _q(case):
    return math.exp(-case["numerator"] / case["denominator"])


def _count_discrete(cases, values):
    first, again, x, wide = map(np.asarray, values)
    size, far, signs = np.abs(x), np.abs(wide), np.sign(x[x != 0])
    return [
        ("zeros", int((x == 0).sum()), DRAWS),
        ("numbers above 0", int((x > 0).sum()), DRAWS),
        ("numbers of size 2 or more", int((size >= 2).sum()), DRAWS),
        ("neighbours in the list both above 0", int(((x[0::2] > 0) & (x[1::2] > 0)).sum()), DRAWS // 2),
        (
            "numbers (other than 0) with the sign of the one before",
            int((signs[1:] == signs[:-1]).sum()),
            len(signs[1:]),
        ),
        ("numbers of size 4 or more at a small epsilon", int((far >= 4).sum()), TAIL),
        ("numbers of size 16 or more at a small epsilon", int((far >= 16).sum()), TAIL),
        ("runs that come out the same with the same seed", int(np.array_equal(first, again)), 1),
    ]


def _chances_discrete(cases):
    q, r = _q(cases[0]), _q(cases[-1])
    tails = (2 * r**4 / (1 + r), 2 * r**16 / (1 + r))
    return [(1 - q) / (1 + q), q / (1 + q), 2 * q**2 / (1 + q), (q / (1 + q)) ** 2, 0.5, *tails, 1.0]


def _whole_numbers(value, case):
    complaint = _whole_list(value, case["size"])
    return complaint and f"Return a list (or array) of {case['size']} whole numbers{complaint}."


def _whole_list(value, size):
    if not isinstance(value, (list, tuple, np.ndarray)):
        return f", not {type_name(value)}"
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return ", and nothing else"
    if array.shape != (size,):
        return f", not {len(value)}"
    return None if np.isfinite(array).all() and (array == np.round(array)).all() else "; yours have fractions"


def _draws(sizes, signed=True):
    """Random signs times sizes(q, n, rng), as numpy draws them."""

    def code(numerator, denominator, size, rng):
        drawn = sizes(_q({"numerator": numerator, "denominator": denominator}), size, rng)
        return drawn * rng.choice([-1, 1], size=size) if signed else drawn

    return code


def _difference(q, n, rng):
    """A discrete Laplace draw as the difference of two geometric ones."""
    return rng.geometric(1 - q, n) - rng.geometric(1 - q, n)


def _rounded(cases, values):
    """Whether zeros and far numbers are as frequent as in rounded Laplace noise."""
    zeros, _, _, _, _, _, far, _ = _count_discrete(cases, values)
    (_, _, main, wide) = (case["numerator"] / case["denominator"] for case in cases)
    chances = (-math.expm1(-main / 2), math.exp(-15.5 * wide))
    return all(binomial_p_value(*count[1:], chance) > 1e-6 for count, chance in zip((zeros, far), chances, strict=True))


def _keep_the_sign(epsilon, n, rng):
    """A sign first, then sizes until one fits it: a 0 fits plus only."""
    plus, size = rng.choice([False, True], size=n), rng.geometric(-math.expm1(-epsilon), n)
    return np.where(plus, size - 1, -size)


discrete = RandomExercise(
    id="2.8",
    title="Noise of whole numbers",
    function="whole_noise",
    good_for="a count that can be released without a leak in its low bits",
    difficulty=4,
    minutes=25,
    points=4,
    draw=_draw_discrete,
    reference=_draws(_difference, signed=False),
    returns=_whole_numbers,
    counts=_count_discrete,
    chances=_chances_discrete,
    forbidden=(laplace.discrete_noise, laplace.discrete_mechanism),
    needed=(
        laplace.coin,
        lambda case: case["size"],
        "The numbers have the right frequencies, but they do not come from `laplace.coin`. `rng.geometric`, `rng.random` and `math.log` "
        "begin with a double, which is the leak of section 10.",
    ),
    hints=(
        "First the size: begin at 0, and while the coin shows heads go up by 1. So size n has probability q^n (1 - q).",
        "How often do you reach 0 with each sign, compared with +1 and -1?",
        "Then the sign: `rng.integers(2)` is 0 or 1. If the size is 0 and the sign is minus, forget both and begin anew.",
        "In code: a `while` loop until the list is long enough; in it `n = 0`, a `while laplace.coin(numerator, denominator, rng): n += 1`, then the sign.",
    ),
    misconceptions=(
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your numbers come from somewhere else. Give `rng` to every coin, and draw the sign from it.",
            _draws(lambda q, n, rng: _difference(q, n, np.random.default_rng()), signed=False),
            recognise=lambda cases, values: not np.array_equal(*map(np.asarray, values[:2])),
        ),
        Misconception(
            "one toss",
            "Your sizes are 0 and 1 only: the coin is tossed once. Toss it again and again while it shows heads: `while`, not `if`.",
            _draws(lambda q, n, rng: (rng.random(n) < q).astype(int)),
            recognise=lambda cases, values: bool(np.abs(values[2]).max() == 1),
        ),
        Misconception(
            "two zeros",
            "Zero comes too often: it can be reached as +0 and as -0 (cutting a noise with fractions towards 0 does the same). Throw -0 away and draw again.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n) - 1),
        ),
        Misconception(
            "sign kept",
            "Throw the sign away together with the size: else minus is as frequent as plus, though it has no zero.",
            lambda numerator, denominator, size, rng: _keep_the_sign(numerator / denominator, size, rng),
        ),
        Misconception(
            "no zero",
            "Zero never comes. Either your sizes begin at 1, or you throw every zero away: only -0 must go.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n)),
        ),
        Misconception(
            "one-sided",
            "Your noise is never negative. Then an output below the count would prove a neighbour wrong. Draw a sign.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n) - 1, signed=False),
        ),
        Misconception(
            "fraction turned over",
            "Your coin shows heads with probability e^(-denominator/numerator). Epsilon is numerator/denominator.",
            lambda numerator, denominator, size, rng: _draws(_difference, signed=False)(
                denominator, numerator, size, rng
            ),
        ),
        Misconception(
            "rounded",
            "Your noise looks like rounded Laplace noise. It begins as a double with low bits, and zero has another probability. Use `laplace.coin`.",
            lambda numerator, denominator, size, rng: np.round(rng.laplace(0, denominator / numerator, size)),
            recognise=_rounded,
        ),
        Misconception(
            "heads and tails swapped",
            "Your size grows while the coin shows tails. It grows while it shows heads, which has probability e^-epsilon.",
            lambda numerator, denominator, size, rng: _draws(_difference, signed=False)(
                -math.log(-math.expm1(-numerator / denominator)), 1, size, rng
            ),
        ),
    ),
)

EXERCISES = (sensitivity, mechanism, privacy_loss, counts, histogram, error, noisy_max, discrete)

QUIZ = (
    Question(
        "A query returns the total hours of all rows, where hours are clipped to lie between 0 and 24. What is its l1 sensitivity, if a row is added or removed?",
        (
            Option(
                "1, since one row comes or goes.",
                False,
                "That is the sensitivity of a count. Here the row brings its hours.",
            ),
            Option("24.", True, "One row adds at most 24, and at least 0. The data at hand play no part."),
            Option(
                "The largest number of hours in the table.",
                False,
                "That is the local sensitivity at this table. Noise scaled to it would itself tell about the largest row.",
            ),
        ),
    ),
    Question(
        "You double the number of cells of a private histogram, at the same ε. What happens to the noise in each cell?",
        (
            Option(
                "Nothing. A person is still in one cell.",
                True,
                "The sensitivity is 1 however many cells there are. What gets worse is that the cells are smaller.",
            ),
            Option(
                "Its scale doubles.", False, "It would if a person could be in all cells, as with overlapping counts."
            ),
            Option(
                "It is halved, since each cell holds fewer people.",
                False,
                "The noise hides one person, and one person is as large in a small cell.",
            ),
        ),
    ),
    Question(
        "Laplace noise of scale 10 is added to a count. What is its standard deviation?",
        (
            Option("10", False, "10 is the scale, which is also the expected absolute error."),
            Option("200", False, "That is the variance, 2b²."),
            Option("14.1", True, "The root of the variance 2b² = 200."),
        ),
    ),
    Question(
        "Report noisy max picks one of 1,000 conditions, at ε = 1. How much noise does each count get?",
        (
            Option(
                "Lap(1000), since Mia may have all the conditions.",
                False,
                "That is for releasing all counts. One place tells much less.",
            ),
            Option(
                "Lap(1), as if there were one count.",
                True,
                "The proof moves one threshold by 1, whatever the number of counts.",
            ),
            Option(
                "None: a place is not a number.",
                False,
                "Without noise, one row can decide who leads, and then it shows.",
            ),
        ),
    ),
    Question(
        "And if the noisy maximum is published together with the winner, from the same noise?",
        (
            Option(
                "It is free, since the maximum is noisy anyway.",
                False,
                "A maximum that is very low says that every noisy count was low: up to m times ε.",
            ),
            Option(
                "ε no longer holds. Draw fresh noise for that count, and pay for it.",
                True,
                "A fresh noisy count of the winner costs another ε, by composition.",
            ),
            Option("ε is halved.", False, "More output never protects better."),
        ),
    ),
    Question(
        "A library draws Laplace noise as in the textbook, in doubles, with the right scale, and publishes all 64 bits. What does theorem 3.6 promise for it?",
        (
            Option(
                "ε, because the scale is right.",
                False,
                "The theorem is about real numbers. Here some doubles can come from one neighbour only.",
            ),
            Option(
                "A little more than ε, by rounding errors of 10⁻¹⁶.",
                False,
                "The ratio for an output that only one neighbour can give is infinite, not slightly larger.",
            ),
            Option(
                "Nothing: some outputs rule a neighbour out for certain.",
                True,
                "One such output is enough to break pure ε-DP. Use noise on a grid, sampled with whole numbers.",
            ),
        ),
    ),
)
