"""Lesson 02: noise from the Laplace distribution, and what it hides.

Neighbouring data sets differ by one row added or removed. Lap(b) has the density e^(-|x|/b) / (2b) and the
variance 2 b^2. "Dwork & Roth" is Dwork & Roth (2014), "The algorithmic foundations of differential privacy".
"""

import itertools
import math
from fractions import Fraction

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

    The noise is made of doubles, and its low bits leak (see `can_give`): for learning and experiments. To
    release whole numbers, use `discrete_mechanism`. value: finite numbers of any shape; sensitivity: of all of
    them together in the l1 norm, >= 0; epsilon: > 0. rng: Generator, seed or None. ValueError otherwise.
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


# ---- floating point: the leak, and the mend

_UNIFORMS = 2**53


def textbook_noise(j, b) -> float:
    """Return the Laplace noise that numpy makes of its uniform number j / 2^53, to the last bit.

    j: whole, 0 < j < 2^53; b: > 0. ValueError otherwise. The inverse of the distribution function, computed
    in doubles. Source: Mironov (2012), on samplers of this kind.

    >>> textbook_noise(2**51, b=1.0) == math.log(0.5)
    True
    """
    j, b = validate.whole("j", j), validate.number("b", b, 0, open_low=True)
    if j >= _UNIFORMS:
        raise ValueError(f"j must be below 2^53, got {j!r}")
    u = j / _UNIFORMS
    return -b * math.log(2 - u - u) if u >= 0.5 else b * math.log(u + u)


def noises_near(value, output, b) -> list[float]:
    """Return textbook noises, rising; if any noise gives this double when added to the value, one of these does.

    These noises belong to the numbers j around the one that real arithmetic gives: as many as it takes to have the output
    between the sums at both ends, or at one end. The noise rises with j, so no j outside gives what no j inside gives. value, output: finite numbers; b: > 0. ValueError otherwise. Source: the attack of Mironov (2012).

    >>> textbook_noise(12345, 1.0) in noises_near(0.0, textbook_noise(12345, 1.0), 1.0)
    True
    """
    value, output = (float(_finite(name, x)) for name, x in (("value", value), ("output", output)))
    b = validate.number("b", b, 0, open_low=True)
    noise = output - value
    half_tail = math.exp(-abs(noise) / b) / 2
    middle = round((1 - half_tail if noise >= 0 else half_tail) * _UNIFORMS)
    reach = 4
    while True:
        first, last = max(1, middle - reach), min(_UNIFORMS - 1, middle + reach)
        low, high = (value + textbook_noise(j, b) for j in (first, last))
        below, above = low < output or first == 1, output < high or last == _UNIFORMS - 1
        if (below and above) or output in (low, high):
            return [textbook_noise(j, b) for j in range(first, last + 1)]
        reach *= 4


def can_give(value, output, b) -> bool:
    """Return whether value + textbook_noise(j, b) is this very double for any of the 2^53 - 1 numbers j.

    value, output: finite numbers; b: > 0. ValueError otherwise. Source: the attack of Mironov (2012).

    >>> can_give(0.0, textbook_noise(12345, 1.0), 1.0)
    True
    """
    return any(value + noise == output for noise in noises_near(value, output, b))


def coin(numerator, denominator, rng=None) -> bool:
    """Return True with probability e^(-numerator/denominator), exactly: no double is ever computed.

    Exact if the bits of `rng` are; numpy's generators are good for statistics but can be predicted, so a real
    release needs bits of the operating system (Python's `secrets`). numerator: whole, >= 0; denominator:
    whole, >= 1. rng: Generator, seed or None. ValueError otherwise.
    Source: Canonne, Kamath & Steinke (2020), algorithm 1.

    >>> coin(0, 1), coin(1000, 1, rng=0)
    (True, False)
    """
    numerator, denominator = validate.whole("numerator", numerator, 0), validate.whole("denominator", denominator)
    rng, (wholes, rest) = np.random.default_rng(rng), divmod(numerator, denominator)
    return all(_small_coin(1, 1, rng) for _ in range(wholes)) and _small_coin(rest, denominator, rng)


def discrete_noise(epsilon, size=None, rng=None) -> int | np.ndarray:
    """Draw whole numbers x with probability proportional to e^(-epsilon |x|), exactly: computed in whole numbers only.

    epsilon: > 0, a float (taken as the fraction that it is) or a Fraction. size: None for one number, else how
    many (an array). rng: Generator, seed or None; see `coin` on what "exactly" needs of it. ValueError otherwise.
    Source: Ghosh, Roughgarden & Sundararajan (2009) for the distribution; Canonne, Kamath & Steinke (2020),
    algorithm 2, for the way to draw it.

    >>> discrete_noise(50.0, size=3, rng=0).tolist()
    [0, 0, 0]
    """
    noise = _discrete(_fraction("epsilon", epsilon), 1 if size is None else validate.whole("size", size, 0), rng)
    return int(noise[0]) if size is None else noise


def discrete_mechanism(value, sensitivity, epsilon, rng=None) -> int | np.ndarray:
    """Add discrete Laplace noise, epsilon / sensitivity per unit, to whole numbers: epsilon-DP, to the last bit.

    value: whole numbers of any shape; sensitivity: of all of them together in the l1 norm, whole, >= 1;
    epsilon: > 0. rng: Generator, seed or None; see `coin`. ValueError otherwise.
    Source: Ghosh, Roughgarden & Sundararajan (2009), for one count.

    >>> discrete_mechanism([3, 40], sensitivity=1, epsilon=50.0, rng=0).tolist()
    [3, 40]
    """
    value = np.asarray(value)
    if value.dtype.kind not in "biu":
        raise ValueError(f"value must be a whole number or an array of whole numbers, got {value!r}")
    ratio = _fraction("epsilon", epsilon) / validate.whole("sensitivity", sensitivity)
    noisy = value.astype(np.int64) + np.reshape(discrete_noise(ratio, value.size, rng), value.shape)
    return int(noisy) if value.ndim == 0 else noisy


def _discrete(ratio, size, rng):
    """Draw with e^(-ratio |x|): the number of units of 1/denominator is geometric, then cut into numerators."""
    steps, units, rng = ratio.numerator, ratio.denominator, np.random.default_rng(rng)
    drawn = []
    while len(drawn) < size:
        rest = _below(units, size - len(drawn), rng)
        rest = rest[_small_coins(rest, units, rng)]
        wholes = _heads_in_a_row(rest.size, rng)
        negative = _below(2, rest.size, rng) == 1
        for units_of_rest, whole, minus in zip(rest.tolist(), wholes.tolist(), negative.tolist(), strict=True):
            amount = (units_of_rest + units * whole) // steps
            if amount or not minus:  # else zero would be drawn twice as often as it should be
                drawn.append(-amount if minus else amount)
    return np.array(drawn, dtype=np.int64)


def _heads_in_a_row(coins, rng):
    """Return how often each of these coins of e^-1 shows heads before its first tails."""
    heads, tossed = np.zeros(coins, dtype=np.int64), np.arange(coins)
    while tossed.size:
        tossed = tossed[_small_coins(np.ones_like(tossed), 1, rng)]
        heads[tossed] += 1
    return heads


def _small_coin(numerator, denominator, rng):
    """Toss the coin of `coin`, for a fraction in [0, 1]: the alternating series as a game."""
    k = 1
    while _below(denominator * k, None, rng) < numerator:
        k += 1
    return k % 2 == 1


def _small_coins(numerators, denominator, rng):
    """Toss many coins of `_small_coin` at once: a hundred times as fast; for one coin slower."""
    heads, playing, k = np.zeros(len(numerators), dtype=bool), np.arange(len(numerators)), 1
    while playing.size:
        on = _below(denominator * k, playing.size, rng) < numerators[playing]
        heads[playing[~on]] = k % 2 == 1
        playing, k = playing[on], k + 1
    return heads


def _below(n, size, rng):
    """Draw uniform whole numbers in [0, n): numpy's up to 2^63, beyond that by rejection. size: None for one."""
    if n <= 2**63:
        return rng.integers(n, size=size)
    drawn, bits = [], (n - 1).bit_length()
    while len(drawn) < (size or 1):
        x = int.from_bytes(rng.bytes(-(-bits // 8)), "little") >> (-bits % 8)
        if x < n:
            drawn.append(x)
    return drawn[0] if size is None else np.array(drawn, dtype=object)


def _fraction(name, value):
    if isinstance(value, Fraction) and value > 0:
        return value
    return Fraction(validate.number(name, value, 0, open_low=True, open_high=True))


def _finite(name, values):
    array = validate.reals(name, values)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {values!r}")
    return array
