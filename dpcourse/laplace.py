"""Lesson 02: noise from the Laplace distribution, and what it hides.

Neighbouring data sets differ by one row added or removed. Lap(b) has the density e^(-|x|/b) / (2b) and the
variance 2 b^2. "Dwork & Roth" is Dwork & Roth (2014), "The algorithmic foundations of differential privacy".
"""

import itertools
import math

import numpy as np

from dpcourse.base import validate

# ---- sensitivity and the mechanism


def l1_sensitivity(query, database) -> float:
    """Return the largest l1 change of the query when one row of this database is removed, found by trying every row.

    This is the local sensitivity at this database, for removal only. It is a lower bound on the (global)
    sensitivity, which is a maximum over all databases: noise must be scaled to that one, never to this.
    query: a function of an array of rows -> number or array of numbers; database: at least one row.
    ValueError for an empty database. Source: Dwork & Roth, definition 3.1; Nissim, Raskhodnikova & Smith (2007).

    >>> l1_sensitivity(sum, [3.0, -5.0, 1.0])
    5.0
    """
    rows = np.asarray(database)
    if rows.ndim == 0 or len(rows) == 0:
        raise ValueError(f"database must have at least one row, got {database!r}")
    answer = np.asarray(query(rows), dtype=float)
    without = (np.asarray(query(np.delete(rows, row, axis=0)), dtype=float) for row in range(len(rows)))
    return max(float(np.abs(answer - other).sum()) for other in without)


def scale(sensitivity, epsilon) -> float:
    """Return the scale b = sensitivity / epsilon of Laplace noise that makes an answer epsilon-DP.

    sensitivity: in the l1 norm, >= 0; epsilon: > 0. ValueError otherwise. Source: Dwork & Roth, definition 3.3.

    >>> scale(2.0, epsilon=0.5)
    4.0
    """
    return validate.number("sensitivity", sensitivity, 0) / validate.number("epsilon", epsilon, 0, open_low=True)


def mechanism(value, sensitivity, epsilon, rng=None) -> float | np.ndarray:
    """Return the value with Laplace noise of scale sensitivity / epsilon on each number: epsilon-DP for real numbers.

    The noise is made of doubles, whose low bits leak (`machine.can_give` shows it): for learning and experiments. To
    release whole numbers, use `machine.discrete_mechanism`. value: finite numbers of any shape; sensitivity: of all
    of them together in the l1 norm, >= 0; epsilon: > 0. rng: Generator, seed or None. ValueError otherwise.
    Source: Dwork, McSherry, Nissim & Smith (2006); Dwork & Roth, theorem 3.6.

    >>> mechanism([1.0, 2.0], sensitivity=1.0, epsilon=1e9, rng=3).round(6).tolist()
    [1.0, 2.0]
    """
    value, b = _finite("value", value), scale(sensitivity, epsilon)
    noisy = value + np.random.default_rng(rng).laplace(0, b, value.shape)
    return float(noisy) if value.ndim == 0 else noisy


def log_density(output, value, b) -> float:
    """Return the logarithm of the joint density of value + Lap(b) noise at the output.

    output, value: numbers, or arrays of the same shape, over which the log-densities add up; b: > 0.
    ValueError otherwise. Source: Dwork & Roth, definition 3.2.

    >>> log_density(2.5, 3.0, 0.5)
    -1.0
    """
    output, value = _finite("output", output), _finite("value", value)
    b = validate.number("b", b, 0, open_low=True)
    if output.shape != value.shape:
        raise ValueError(f"output must have the shape {value.shape} of value, got {output.shape}")
    return float(-np.abs(output - value).sum() / b - output.size * math.log(2 * b))


def histogram(values, cells, epsilon, rng=None) -> np.ndarray:
    """Return the number of values in each cell, with Lap(1 / epsilon) noise: epsilon-DP where a person has one value.

    The cells must be fixed without a look at the data, else an empty cell tells by its absence. Values in no cell are
    not counted. The noise is made of doubles, as that of `mechanism`. values: a list; cells: distinct, at least one;
    epsilon: > 0. Returns an array in the order of the cells. ValueError otherwise.
    Source: Dwork & Roth, example 3.2.

    >>> histogram(["tea", "tea", "water"], ["water", "tea"], epsilon=1e9, rng=0).round(6).tolist()
    [1.0, 2.0]
    """
    cells = list(cells)
    place = {cell: i for i, cell in enumerate(cells)}
    if len(place) != len(cells) or not cells:
        raise ValueError(f"cells must be distinct, and at least one, got {cells!r}")
    counts = np.zeros(len(cells))
    for value in values:
        if value in place:
            counts[place[value]] += 1
    return np.asarray(mechanism(counts, 1.0, epsilon, rng))


# ---- accuracy


def error_bound(k, failure_probability, sensitivity, epsilon) -> float:
    """Return ln(k / failure_probability) sensitivity / epsilon: with probability 1 - failure_probability it bounds k noises.

    k: whole, >= 1; failure_probability: in (0, 1]; sensitivity: >= 0; epsilon: > 0. ValueError otherwise.
    Source: Dwork & Roth, theorem 3.8; the value is that of their example 3.3.

    >>> round(error_bound(10_000, 0.05, sensitivity=1, epsilon=1), 3)
    12.206
    """
    k = validate.whole("k", k)
    failure_probability = validate.number("failure_probability", failure_probability, 0, 1, open_low=True)
    return math.log(k / failure_probability) * scale(sensitivity, epsilon)


# ---- report noisy max


def report_noisy_max(counts, epsilon, rng=None) -> int:
    """Return the place (from 0) of the largest noisy count, Lap(1 / epsilon) noise on each: epsilon-DP if no more is told.

    Holds where one person changes each count by at most 1 and all in the same direction, such as counts under
    adding or removing a row, however many counts the person is in. Where some may rise while others fall: 2 epsilon-DP.
    counts: finite numbers, at least one; epsilon: > 0. rng: Generator, seed or None. ValueError otherwise.
    Source: Dwork & Roth, claim 3.9.

    >>> report_noisy_max([10, 500, 20], epsilon=1.0, rng=0)
    1
    """
    counts = validate.numbers("counts", counts)
    return int(np.argmax(mechanism(counts, 1.0, epsilon, rng)))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def noisy_max_chances(counts, epsilon) -> np.ndarray:
    """Return the chance of each place to be the one that `report_noisy_max` reports.

    counts: finite numbers, at least one; epsilon: > 0. ValueError otherwise. Integrates the density of the
    winner's noisy count times the chance that all others are below it; relative error below 1e-10 while
    the counts are within 100 / epsilon of each other. Source: Dwork & Roth, claim 3.9, whose mechanism this is.

    >>> noisy_max_chances([7.0, 7.0], epsilon=1.0).round(12).tolist()
    [0.5, 0.5]
    """
    counts = validate.numbers("counts", counts) * validate.number("epsilon", epsilon, 0, open_low=True)
    counts, place, times = np.unique(counts - counts.max(), return_inverse=True, return_counts=True)
    kinks = np.unique(np.concatenate([counts, [counts.min() - 45, 45.0]]))
    edges = np.concatenate(
        [np.linspace(a, b, 1 + math.ceil((b - a) / 4))[:-1] for a, b in itertools.pairwise(kinks)] + [[45.0]]
    )
    half = np.diff(edges) / 2
    z = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    x = z.ravel() - counts[:, None]
    log_below = np.where(x < 0, x - math.log(2), np.log1p(-np.exp(-np.abs(x)) / 2))
    log_wins = -np.abs(x) - math.log(2) + times @ log_below - log_below
    return (np.exp(log_wins) @ (half[:, None] * _WEIGHTS).ravel())[place]


def _finite(name, values):
    array = validate.reals(name, values)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {values!r}")
    return array
