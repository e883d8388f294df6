"""A private histogram."""

import math

import numpy as np

from dpcourse import laplace
from dpcourse.base.languages import say, to_say
from dpcourse.checking import (
    AddedNoise,
    Domain,
    Made,
    Misconception,
    Number,
    RandomExercise,
    Seed,
    numbers_like,
    rounded,
)

RUNS, CELLS, PEOPLE = 600, 40, 150  # 24,000 noises show a scale 5 % off


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


law = AddedNoise(
    "laplace", lambda values, cells, epsilon: _tally(values, cells), lambda values, cells, epsilon: 1 / epsilon
)


def _cell_noises(cases, values):
    """The noise of each cell in each run, of shape (1 + RUNS, CELLS), and which cells are empty."""
    true = _tally(cases[0]["values"], cases[0]["cells"])
    return np.array([np.asarray(value) - true for value in values]), true == 0


def _an_array_of_cells(value, case):
    if isinstance(value, dict):
        return say("Return an array of numbers in the order of `cells`, not a dict.")
    if isinstance(value, (list, tuple)) and value and all(isinstance(entry, (list, tuple)) for entry in value):
        return say(
            "Return one array (or list) of {cells} numbers in the order of `cells`; yours holds a list or a tuple "
            "for each.",
            cells=len(case["cells"]),
        )
    complaint = numbers_like("cells")(value, case)
    if complaint and isinstance(value, (list, tuple, np.ndarray)) and 0 < len(value) < len(case["cells"]):
        return say(
            "You returned {returned} numbers for {cells} cells. Each cell needs a noisy one, also a cell in which nobody is: "
            "its absence would be exact.",
            returned=len(value),
            cells=len(case["cells"]),
        )
    return complaint


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
    cells = [f"{letter}{number}" for letter in "abcd" for number in range(12)][: rng.integers(2, CELLS + 1)]
    return [cells[i] for i in rng.integers(0, len(cells), size=int(rng.integers(1, PEOPLE + 1)))], cells


def _counted(values, cells, epsilon, rng):
    counts = np.array([values.count(cell) for cell in cells])
    return counts + rng.laplace(0, 1 / epsilon, len(cells))


exercise = RandomExercise(
    title="A private histogram",
    good_for="the most common private release there is",
    difficulty=2,
    minutes=20,
    points=3,
    domain=Domain({"values, cells": Made(_any_cells, CELLS_TOLD), "epsilon": Number(0.1, 3), "rng": Seed()}, most=12),
    draw=_draw_histogram,
    reference=laplace.histogram,
    formulas=(_counted,),
    means={
        "1 / epsilon": "the scale of the noise",
        "[values.count(cell) for cell in cells]": "the number of people in each cell",
    },
    returns=_an_array_of_cells,
    law=law,
    forbidden=(laplace.histogram,),
    hints=(
        "One person comes or goes. How many counts of the list change, and by how much? So what is the l1 sensitivity of the whole list?",
        "She is in one cell, so the list changes by 1, however many cells there are. That gives the scale of the noise.",
        "`[values.count(cell) for cell in cells]` counts, also the cells in which nobody is. Which of them need noise?",
    ),
    misconceptions=(
        Misconception(
            "noise for each person",
            "Full cells have much noise and empty cells have none: those show an exact 0. Is a noise added for every person, or does its scale "
            "grow with the count? Add one noise for each cell, of one scale for all.",
            lambda values, cells, epsilon, rng: np.array(
                [n + rng.laplace(0, 1 / epsilon, n).sum() for n in _tally(values, cells)]
            ),
            recognise=lambda cases, values: _for_each_person(*_cell_noises(cases, values), cases[0]["epsilon"]),
        ),
        Misconception(
            "empty cells exact",
            "Cells in which nobody is have an exact 0. The first person to enter such a cell would be seen. Every cell needs noise.",
            lambda values, cells, epsilon, rng: np.where(
                _tally(values, cells) > 0, law.answer(values, cells, epsilon, rng), 0
            ),
            recognise=lambda cases, values: _only_in_full_cells(*_cell_noises(cases, values)),
        ),
        Misconception(
            "sensitivity per cell",
            "Your noise has the scale (number of cells) / epsilon. One person is in one cell only, so the sensitivity is 1 however many cells there are.",
            law.with_scale(lambda values, cells, epsilon: len(cells) / epsilon),
        ),
        Misconception(
            "replaced",
            "Your noise has the scale 2 / epsilon. That is for neighbours with one person replaced, who leaves a cell and enters another. Here one is added or removed.",
            law.with_scale(lambda values, cells, epsilon: 2 / epsilon),
        ),
        Misconception(
            "budget split",
            "Your noise has the scale 1 / (epsilon · cells) or 1 / (epsilon · people). The sensitivity shrinks with neither.",
            law.with_scale(lambda values, cells, epsilon: 1 / (epsilon * len(values))),
            recognise=lambda cases, values: any(_scale_is(1 / n, cases, values) for n in (CELLS, PEOPLE)),
        ),
        Misconception(
            "fraction turned over",
            "Your noise has the scale epsilon. More privacy means a smaller epsilon and more noise: 1 / epsilon.",
            law.with_scale(lambda values, cells, epsilon: epsilon),
        ),
        Misconception(
            "sorted",
            "Your cells are in alphabetical order. Return the counts in the order of `cells`.",
            law.around(lambda values, cells, epsilon: _tally(values, sorted(cells))),
            recognise=lambda cases, values: _close_to(cases, values, sorted(cases[0]["cells"])),
        ),
        Misconception(
            "shares",
            "You divided by the number of people. Return counts. (A share would also need the number of people, which is itself a secret here.)",
            law.after(lambda noisy: noisy / PEOPLE),
            recognise=lambda cases, values: bool(0 < np.abs(values[0]).max() < 1.5),
        ),
    ),
)
