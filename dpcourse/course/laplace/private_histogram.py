"""A private histogram."""

import math

import numpy as np

from dpcourse import laplace
from dpcourse.base.languages import say, to_say
from dpcourse.checking import (
    Count,
    Domain,
    Made,
    Misconception,
    Noise,
    Number,
    RandomExercise,
    Seed,
    numbers_like,
    rounded,
)
from dpcourse.course.laplace.shared import alike_in_all_runs, every_run_alike, is_constant, shape_counts

RUNS, CELLS, PEOPLE = 600, 40, 150  # 24,000 noises show a scale 5 % off


EXACT = 1e-9  # a noisy total is that near to the true one in any of the runs with probability 3e-8


def _draw_histogram(rng):
    """601 runs on the same 150 people, the first two with the same seed; a third of the 40 cells is empty."""
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
    return [
        *shape_counts(runs, 1 / cases[0]["epsilon"]),
        Count.of(say("histograms with an exact total"), np.abs(runs.sum(axis=1)) < EXACT, 0.0),
        Count.of(say("cells without noise"), runs == 0, 0.0),
        Count.of(say("noises above 0 in empty cells"), in_empty > 0, 0.5),
        Count.of(
            say("noises within ln 2 scales of 0 in empty cells"),
            np.abs(in_empty) <= math.log(2) / cases[0]["epsilon"],
            0.5,
        ),
        Count.of(say("neighbouring cells with noises of the same sign"), runs[:, 0::2] * runs[:, 1::2] > 0, 0.5),
        Count.of(say("cells with noises of the same sign in two runs"), runs[0::2] * runs[1::2] > 0, 0.5),
        Count.of(say("runs that come out the same with the same seed"), np.array_equal(first, again), 1.0),
    ]


def _an_array_of_cells(value, case):
    if isinstance(value, dict):
        return say("Return an array of numbers in the order of `cells`, not a dict.")
    if isinstance(value, (list, tuple)) and value and all(isinstance(entry, (list, tuple)) for entry in value):
        return say(
            "Return one array (or list) of {cells} numbers in the order of `cells`; yours holds a list or a tuple "
            "for each.",
            cells=CELLS,
        )
    complaint = numbers_like("cells")(value, case)
    if complaint and isinstance(value, (list, tuple, np.ndarray)) and 0 < len(value) < CELLS:
        return say(
            "You returned {returned} of {cells} cells. Cells in which nobody is need a noisy number as well: "
            "their absence would be exact.",
            returned=len(value),
            cells=CELLS,
        )
    return complaint


def _histogram(scale=lambda epsilon, cells: 1 / epsilon, after=lambda noisy, true, rng: noisy):
    def code(values, cells, epsilon, rng):
        true = _tally(values, cells)
        return after(true + rng.laplace(0, scale(epsilon, cells), len(cells)), true, rng)

    return code


def _for_each_person(noise, empty, epsilon):
    """Whether the noise is in full cells only, and there much larger than one noise is."""
    full = noise[:, ~empty]
    return bool((noise[:, empty] == 0).all() and 0.4 < (full > 0).mean() < 0.6 and np.abs(full).mean() > 1.4 / epsilon)


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


CELLS_TOLD = to_say("`values` of 1 to 150 people; 2 to 40 `cells`")


def _any_cells(rng):
    cells = [f"{letter}{number}" for letter in "abcd" for number in range(10)][: rng.integers(2, CELLS + 1)]
    return [cells[i] for i in rng.integers(0, len(cells), size=int(rng.integers(1, PEOPLE + 1)))], cells


exercise = RandomExercise(
    title="A private histogram",
    good_for="the most common private release there is",
    difficulty=2,
    minutes=15,
    points=3,
    domain=Domain({"values, cells": Made(_any_cells, CELLS_TOLD), "epsilon": Number(0.1, 3), "rng": Seed()}, most=12),
    draw=_draw_histogram,
    reference=laplace.histogram,
    returns=_an_array_of_cells,
    counts=_count_histogram,
    noise=lambda cases, values: Noise("laplace", _cell_noises(cases, values)[0][1:] * cases[0]["epsilon"]),
    forbidden=(laplace.histogram,),
    hints=(
        "One person comes or goes. How many counts of the list change, and by how much? So what is the l1 sensitivity of the whole list?",
        "She is in one cell, so the list changes by 1, however many cells there are. That gives the scale of the noise.",
        "`[values.count(cell) for cell in cells]` counts, also the cells in which nobody is. Which of them need noise?",
    ),
    misconceptions=(
        Misconception(
            "nothing random",
            "You returned the exact counts, without noise.",
            lambda values, cells, epsilon, rng: _tally(values, cells),
            recognise=lambda cases, values: bool((_cell_noises(cases, values)[0] == 0).all()),
        ),
        Misconception(
            "noise for each person",
            "You added a noise for every person, so full cells have many and empty cells have none: those show an exact 0. "
            "Add one noise for each cell.",
            lambda values, cells, epsilon, rng: np.array(
                [n + rng.laplace(0, 1 / epsilon, n).sum() for n in _tally(values, cells)]
            ),
            recognise=lambda cases, values: _for_each_person(*_cell_noises(cases, values), cases[0]["epsilon"]),
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
            recognise=lambda cases, values: (
                all(map(is_constant, _cell_noises(cases, values)[0]))
                and not alike_in_all_runs(_cell_noises(cases, values)[0])
            ),
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed, or you add a fixed number. Use the `rng` you are given.",
            lambda values, cells, epsilon, rng: _histogram()(values, cells, epsilon, np.random.default_rng(0)),
            recognise=lambda cases, values: (
                every_run_alike(_cell_noises(cases, values)[0]) or alike_in_all_runs(_cell_noises(cases, values)[0])
            ),
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
            "exact total",
            "Your counts add up to the exact number of people. Whether Mia is among them is the secret; leave the total noisy.",
            _histogram(after=lambda noisy, true, rng: noisy * true.sum() / noisy.sum()),
            recognise=lambda cases, values: bool((np.abs(_cell_noises(cases, values)[0].sum(axis=1)) < EXACT).all()),
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
            "You returned the noise alone, or you added it to shares. Add it to the counts.",
            lambda values, cells, epsilon, rng: rng.laplace(0, 1 / epsilon, len(cells)),
            recognise=lambda cases, values: bool(np.any(values)) and _close_to(cases, values, []),
        ),
    ),
)
