"""Noise that remembers (lesson 09): running sums of a stream, with noise that is partly taken back later.

Steps 1 to n add the vectors x_1 to x_n, and A x are their running sums. For A = B C the matrix mechanism releases
B (C x + z), z fresh normal noise: what a person can change is measured at C x, the *strategy* (sensitivity), and what the
noise does to the sums is measured at B, the *decoder* (error). With a lower-triangular C every release needs only what has come by then, and is
A x + A C^-1 z: the steps themselves, with the noise y = C^-1 z that remembers what it was before.

Neighbours: one person's contributions are emptied, vectors of norm at most 1, at most `participations` of them, at least
`separation` steps apart. With noise of deviation s the whole stream is (sensitivity / s)-GDP, also where later steps depend
on what was released before (Denisov et al. 2022, theorem 2.1). "Henzinger et al." is Henzinger, Upadhyay & Upadhyay (2023),
"Almost tight error bounds on differentially private continual counting".
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular, toeplitz
from scipy.optimize import minimize, nnls
from scipy.signal import correlate, lfilter

from dpcourse.base import validate
from dpcourse.pld.bounds import Bounds

EPS = np.finfo(float).eps
SMALLEST, LARGEST = 1e-60, 1e60
"""Of the numbers of a strategy in size: what their squares are is then told in doubles."""

# ---- what is released, and strategies


def running_sums(steps) -> np.ndarray:
    """Return A, the lower triangle of ones: A x are the running sums of x.

    steps: whole, >= 1. ValueError otherwise. Source: the definition.

    >>> (running_sums(3) @ [5, 1, 2]).tolist()
    [5.0, 6.0, 8.0]
    """
    return np.tri(validate.whole("steps", steps))


@dataclass(frozen=True)
class Filter:
    """A strategy that treats all steps alike: C is lower triangular, with c_(i-j) at row i and column j.

    The c are the coefficients of numerator(x) / denominator(x), of which so many `steps` are used; polynomials, the
    constant first, and that from 1e-60 to 1e60 in size, as nothing else is larger. ValueError otherwise.

    >>> Filter(4, (1,), (1, -0.5)).coefficients.tolist()
    [1.0, 0.5, 0.25, 0.125]
    """

    steps: int
    numerator: tuple[float, ...]
    denominator: tuple[float, ...] = (1.0,)

    def __post_init__(self):
        object.__setattr__(self, "steps", validate.whole("steps", self.steps))
        for name in ("numerator", "denominator"):
            values = validate.numbers(name, getattr(self, name))
            if values[0] == 0:
                raise ValueError(
                    f"{name} must not begin with 0 (of coefficients that is c_0), got {getattr(self, name)!r}"
                )
            if abs(values[0]) < SMALLEST or np.abs(values).max() > LARGEST:
                raise ValueError(
                    f"{name} must begin with a number from {SMALLEST} to {LARGEST} in size, and hold no larger one, "
                    f"got {getattr(self, name)!r}"
                )
            object.__setattr__(self, name, tuple(values.tolist()))

    @functools.cached_property
    def coefficients(self) -> np.ndarray:
        """The first column of C, c_0 to c_(steps - 1), each within 2^-255 of the quotient's and rounded once: what is claimed rests on them.

        ValueError where the denominator's inverse grows so fast that 512 binary digits do not tell.
        """
        return _exact_series(self.numerator, self.denominator, self.steps)

    def matrix(self) -> np.ndarray:
        """Return C, of shape (steps, steps)."""
        return np.tril(toeplitz(self.coefficients))

    @property
    def decoder(self) -> np.ndarray:
        """The first column of B = A C^-1, which is a filter too."""
        return _series(self.denominator, np.convolve(self.numerator, [1.0, -1.0]), self.steps)

    @property
    def memory(self) -> int:
        """How many vectors of noise `noise` keeps from one step to the next."""
        return min(max(len(self.numerator), len(self.denominator)), self.steps) - 1

    def noise(self, fresh: Iterable) -> Iterator:
        """Yield the noises y = C^-1 z, one for each fresh noise z: numbers, arrays or tensors.

        >>> list(Filter(3, (1, 0.5)).noise([1.0, 0.0, 0.0]))
        [1.0, -0.5, 0.25]
        """
        kept = None
        for z in itertools.islice(fresh, self.steps):
            y, kept = self.remembered(z, kept)
            yield y

    def remembered(self, z, kept: list | None = None) -> tuple[Any, list]:
        """Return the next noise, and the `memory` things of its kind that the one after it needs.

        z: fresh noise, a number, an array or a tensor; kept: what the noise before it left, None for the first. With a
        denominator all of it is in double precision, whatever z is: in float32 the roots of the numerator move out of the
        unit circle, and the noise is then that of another strategy. Source: the transposed direct form of a linear filter.

        >>> y, kept = Filter(3, (1, 0.5)).remembered(1.0)
        >>> Filter(3, (1, 0.5)).remembered(0.0, kept)
        (-0.5, [0.25])
        """
        size = self.memory + 1
        above, below = (_padded(values, size) for values in (self.denominator, self.numerator))
        z = _in_double(z) if len(self.denominator) > 1 else z
        kept = [0.0] * self.memory if kept is None else kept
        y = (above[0] * z + (kept[0] if kept else 0.0)) / below[0]
        rests = [*kept[1:], 0.0]
        return y, [rest + a * z - b * y for rest, a, b in zip(rests, above[1:], below[1:], strict=False)]


def identity(steps) -> Filter:
    """Return the strategy of fresh noise in every step: a running sum gathers all of it.

    steps: whole, >= 1. ValueError otherwise.

    >>> errors(identity(4)).round(3).tolist()
    [1.0, 1.414, 1.732, 2.0]
    """
    return Filter(steps, (1.0,))


def square_root(steps) -> Filter:
    """Return C with C C = A: the coefficients 1, 1/2, 3/8, ... of (1 - x)^(-1/2), each (2k - 1) / (2k) of the one before.

    steps: whole, >= 1. ValueError otherwise. Source: Bennett (1977); Fichtenberger, Henzinger & Upadhyay (2023).

    >>> square_root(4).coefficients.tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    k = np.arange(1, validate.whole("steps", steps))
    return Filter(steps, tuple(np.cumprod(np.r_[1.0, (2 * k - 1) / (2 * k)])))


def tree(steps) -> tuple[np.ndarray, np.ndarray]:
    """Return (decoder, strategy) of the binary tree: each row of the strategy sums an interval, decoder @ strategy is A.

    A running sum of t steps adds one interval for each 1 among the binary digits of t, all of them complete by then.
    Both hold 0s and 1s; intervals that no running sum needs are left out. steps: whole, >= 1. ValueError otherwise.
    Source: Dwork, Naor, Pitassi & Rothblum (2010); Chan, Shi & Song (2011).

    >>> decoder, strategy = tree(3)
    >>> strategy.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> decoder[2].tolist()
    [0.0, 1.0, 1.0]
    """
    steps = validate.whole("steps", steps)
    decoder, strategy = np.zeros((steps, steps)), np.zeros((steps, steps))
    for step in range(1, steps + 1):  # the interval that ends here is as long as the last 1 of the digits says
        first = step - (step & -step)
        strategy[step - 1, first:step] = 1
        decoder[step - 1] = decoder[first - 1] if first else 0
        decoder[step - 1, step - 1] = 1
    return decoder, strategy


# ---- sensitivity and error


def sensitivity(strategy, participations=1, separation=1) -> Bounds:
    """Return a certified interval of how far C x moves, in the L2 norm, when one person's contributions are emptied.

    strategy: a Filter, or a finite matrix of shape (any, steps); participations, separation: whole, >= 1. ValueError
    otherwise. Exact, but for rounding, for one participation; for Filters whose coefficients fall and are not negative
    (Kalinin & Lampert 2024, theorem 2); where columns that are `separation` apart have no row in common.
    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta & Xu (2023), theorem 2 and algorithm 3.

    >>> round(sensitivity(square_root(4)).upper ** 2, 6) == round(1 + 1 / 4 + 9 / 64 + 25 / 256, 6)
    True
    >>> sensitivity(identity(10), participations=3, separation=2).upper.__round__(6)
    1.732051
    """
    participations = validate.whole("participations", participations)
    separation = validate.whole("separation", separation)
    if isinstance(strategy, Filter):
        low, high = _of_filter(strategy, participations, separation)
        roundings = strategy.steps
    else:
        strategy = _matrix(strategy)
        low, high = _of_matrix(strategy, participations, separation)
        visits = min(participations, -(-strategy.shape[1] // separation))
        roundings = sum(strategy.shape) * visits**2  # of products that may cancel, in units of the longest column
    slack = 8 * EPS * roundings
    return Bounds(float(low * (1 - slack)), float(high * (1 + slack)))


def errors(strategy, participations=1, separation=1, decoder=None) -> np.ndarray:
    """Return the deviation of the noise on each running sum where all of them together are 1-GDP; over mu for mu-GDP.

    It is the sensitivity, its upper bound, times the length of each row of the decoder. strategy: a Filter, or a matrix;
    decoder: of shape (steps, rows of the strategy), decoder @ strategy = A; None: A C^-1, for a strategy that is lower
    triangular. ValueError otherwise. Source: Li, Miklau, Hay, McGregor & Rastogi (2015), the matrix mechanism.

    >>> decoder, strategy = tree(4)
    >>> errors(strategy, decoder=decoder).round(3).tolist()
    [1.732, 1.732, 2.449, 1.732]
    """
    size = sensitivity(strategy, participations, separation).upper
    if isinstance(strategy, Filter):
        return size * np.sqrt(np.cumsum(strategy.decoder**2))
    strategy = _matrix(strategy)
    sums = running_sums(strategy.shape[1])
    if decoder is None:
        if strategy.shape != sums.shape or np.triu(strategy, 1).any() or not np.diag(strategy).all():
            raise ValueError(
                "strategy must be square and lower triangular, with no 0 on its diagonal; else give decoder"
            )
        decoder = solve_triangular(strategy.T, sums.T).T
    decoder = _matrix(decoder, "decoder")
    if decoder.shape != strategy.shape[::-1] or not np.allclose(decoder @ strategy, sums, atol=1e-8):
        raise ValueError("decoder must give the running sums: decoder @ strategy must be the lower triangle of ones")
    return size * np.linalg.norm(decoder, axis=1)


def error(strategy, participations=1, separation=1, decoder=None) -> float:
    """Return the root mean square of `errors`: one number for all running sums, at 1-GDP.

    Arguments and ValueError as for `errors`.

    >>> round(error(identity(4)), 6) == round((10 / 4) ** 0.5, 6)
    True
    """
    return float(np.sqrt(np.mean(errors(strategy, participations, separation, decoder) ** 2)))


def error_at_least(steps, participations=1, separation=1) -> float:
    """Return a bound below the `error` of every factorisation: sqrt(participations) times A's nuclear norm over steps.

    Whatever the decoder and the strategy, triangular or not, where there is room for so many participations:
    participations * separation <= steps; all whole, >= 1. ValueError otherwise. The singular values of A are 1 / (2 sin((2j - 1) pi / (4 steps + 2))). Proof: the nuclear norm of A is at most the product of the Frobenius norms of
    B and C; and on the average over patterns whose places are all as likely, and over signs, a person moves the square of C x by
    participations / steps times the square of C's. Source: Henzinger et al., theorem 5, for one participation.

    >>> round(error_at_least(1), 6), round(error_at_least(1000), 4)
    (1.0, 2.9021)
    """
    steps, participations = validate.whole("steps", steps), validate.whole("participations", participations)
    separation = validate.whole("separation", separation)
    if participations * separation > steps:
        raise ValueError(
            f"participations times separation must be at most steps, {steps}: with less room nothing is proved; "
            f"got {participations} times {separation}"
        )
    angles = (2 * np.arange(1, steps + 1) - 1) * np.pi / (4 * steps + 2)
    return float(np.sqrt(participations) * np.sum(1 / (2 * np.sin(angles))) / steps * (1 - 8 * EPS * steps))


# ---- strategies that are searched for


def optimal(steps, tolerance=1e-9) -> np.ndarray:
    """Return the lower-triangular C whose `error` at one participation is the least of all factorisations.

    All of its columns have length 1. steps: whole, from 1 to 1000; tolerance: of the lengths, > 0. ValueError otherwise; takes seconds from 200 steps on.
    Source: Denisov, McMahan, Rush, Smith & Thakurta (2022), the fixed point of section 4.

    >>> C = optimal(8)
    >>> error_at_least(8) < error(C) < error(square_root(8))
    True
    """
    steps, tolerance = validate.whole("steps", steps), validate.number("tolerance", tolerance, 0, open_low=True)
    if steps > 1000:
        raise ValueError(f"steps must be at most 1000, got {steps}")
    sums = running_sums(steps)
    gram, weights = sums.T @ sums, np.ones(steps)
    for _ in range(10_000):
        root = np.sqrt(weights)
        values, vectors = np.linalg.eigh(root[:, None] * gram * root)
        middle = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        lengths = np.diag(middle) / weights  # the squares of the columns' lengths
        if np.abs(lengths - 1).max() < tolerance:
            break
        weights = np.diag(middle)
    else:
        raise ValueError(f"tolerance must be larger: after 10,000 rounds the lengths are not within {tolerance} of 1")
    of_columns = middle / np.outer(root, root)
    flipped = np.linalg.cholesky(of_columns[::-1, ::-1])
    strategy = flipped.T[::-1, ::-1]
    return strategy / np.linalg.norm(strategy, axis=0)


def banded(steps, bands, participations=1, separation=None) -> Filter:
    """Return the best Filter of so many coefficients that begin with 1 and fall: the least `error` that a search finds.

    steps: whole, >= 1; bands: whole, from 1 to steps; participations: whole, >= 1; separation: whole, >= 1, or None for as
    far apart as so many participations can be. ValueError otherwise. L-BFGS on the logarithm of the squared error.
    Source: Choquette-Choo et al. (2023); McKenna (2024), "Scaling up the banded matrix factorization mechanism".

    >>> best = banded(64, bands=8, participations=4)
    >>> best.memory, error(best, 4, 16) < error(identity(64), 4, 16)
    (7, True)
    """
    steps, bands = validate.whole("steps", steps), validate.whole("bands", bands)
    if bands > steps:
        raise ValueError(f"bands must be a whole number from 1 to steps, {steps}, got {bands}")
    participations, separation = _pattern(steps, participations, separation)
    counts = steps - np.arange(steps)  # how many running sums a coefficient of the decoder is in

    def objective(ratios):
        """The logarithm of the squared error, up to a constant, and its gradient, by each coefficient over the one before."""
        c = np.cumprod(np.r_[1.0, ratios])
        moved = _moved(_padded(c, steps), participations, separation)
        b = _series((1.0,), np.convolve(c, [1.0, -1.0]), steps)
        slope = _series((1.0,), np.convolve(np.convolve(c, c), [1.0, -1.0]), steps)
        size, noise = moved @ moved, counts @ b**2
        starts = np.arange(participations) * separation
        places = np.arange(1, bands)[:, None] + starts[starts < steps]
        of_size = 2 * np.where(places < steps, moved[np.minimum(places, steps - 1)], 0).sum(axis=1)
        of_noise = -2 * correlate(counts * b, slope, "full")[steps - 1 :][1:bands]
        of_c, of_ratios = of_size / size + of_noise / noise, np.zeros(bands)
        for i in range(bands - 2, -1, -1):  # a ratio is a factor of all coefficients behind it
            of_ratios[i] = of_c[i] + (ratios[i + 1] * of_ratios[i + 1] if i < bands - 2 else 0)
        return np.log(size) + np.log(noise), c[:-1] * of_ratios[:-1]

    k = np.arange(1, bands)
    start = (2 * k - 1) / (2 * k)  # the square root
    ratios = k
    if bands > 1:
        limits, options = [(0, 1)] * (bands - 1), {"ftol": 1e-14, "gtol": 1e-9}
        ratios = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    return Filter(steps, tuple(np.cumprod(np.r_[1.0, ratios])))


def blt(steps, buffers, participations=1, separation=None) -> Filter:
    """Return a buffered linear Toeplitz strategy: coefficients 1, then sums of `buffers` decaying powers, which a search finds.

    c_i = sum_j w_j d_j^(i-1) with w_j > 0 and 0 < d_j < 1, so the noise remembers `buffers` vectors, however many steps
    there are. steps: whole, >= 1; buffers: whole, from 1 to 10; participations: whole, >= 1; separation: as in `banded`. ValueError otherwise.
    Source: Dvijotham, McMahan, Pillutla, Steinke & Thakurta (2024); McMahan, Xu & Zhang (2024).

    >>> best = blt(256, buffers=3)
    >>> best.memory, error(best) < 1.02 * error(square_root(256))
    (3, True)
    """
    steps, buffers = validate.whole("steps", steps), validate.whole("buffers", buffers)
    if buffers > 10:
        raise ValueError(f"buffers must be a whole number from 1 to 10, got {buffers}")
    participations, separation = _pattern(steps, participations, separation)

    def strategy(x):
        decays, weights = 1 - np.exp(-np.exp(x[::2])), np.exp(x[1::2])
        below = np.poly(decays)  # the product of 1 - d x, constant first
        above = below.copy()
        for j, weight in enumerate(weights):
            above[1:] += weight * np.poly(np.delete(decays, j))
        return Filter(steps, tuple(above), tuple(below))

    def objective(x):
        with np.errstate(all="ignore"):
            try:
                found = strategy(x)
            except ValueError:  # weights that are too large for a filter
                return 1e3
            moved = _moved(_falling(_series(found.numerator, found.denominator, steps)), participations, separation)
            value = (moved @ moved) * (counts @ found.decoder**2)
        return np.log(value) if np.isfinite(value) else 1e3

    counts = steps - np.arange(steps)  # how many running sums a coefficient of the decoder is in

    def searched(start):
        return minimize(objective, start, method="L-BFGS-B", options={"maxiter": 300}).x

    slowest, found = min(0.5, 1 / steps), np.empty(0)
    root = square_root(max(steps, 2)).coefficients[1:]
    for size in range(1, buffers + 1):
        more = itertools.product(np.geomspace(0.7, slowest, 8), np.geomspace(0.3, 1e-3, 6))
        added = min(
            (np.r_[found, _logarithms(*pair)] for pair in more), key=objective
        )  # never worse by much than without
        rest = np.geomspace(0.6, slowest, size) if size > 1 else np.array([steps**-0.5])
        weights = nnls((1 - rest) ** np.arange(len(root))[:, None], root)[0]
        like_root = np.ravel(np.column_stack(_logarithms(rest, np.maximum(weights, 1e-3))))
        found = min(searched(added), searched(like_root), key=objective)
    return strategy(found)


# ---- within


def _series(numerator, denominator, steps):
    """Return the first coefficients of a quotient of polynomials."""
    impulse = np.zeros(steps)
    impulse[0] = 1
    return lfilter(numerator, denominator, impulse)


def _logarithms(rest, weight):
    """What `blt` searches over, for decays 1 - rest."""
    return np.log(-np.log(rest)), np.log(weight)


def _exact_series(numerator, denominator, steps):
    """Return what `_series` does, correctly rounded: there, roots of the denominator near each other cost nine digits of sixteen.

    In whole numbers of 2^-512, with a denominator that begins between 1/2 and 1. Whatever one step cuts off is in later
    ones by the coefficients of 1 / denominator, so these are computed too, and nothing is claimed where they add up to more than 2^256.
    """
    one = 1 << 512
    scale = one / Fraction(2) ** math.frexp(denominator[0])[1]
    above, first, below = (
        [int(Fraction(value) * scale) for value in values] for values in (numerator, denominator[:1], denominator[1:])
    )
    found, growth = [], [one]
    for i in range(steps):
        before = sum(value * found[i - k] for k, value in enumerate(below, 1) if k <= i)
        found.append(((above[i] if i < len(above) else 0) * one - before) // first[0])
        if i:
            growth.append(-sum(value * growth[i - k] for k, value in enumerate(below, 1) if k <= i) // first[0])
    if below and sum(map(abs, growth)) > one << 256:
        raise ValueError(
            f"denominator must have an inverse series that does not grow beyond all bounds, got {denominator!r}"
        )
    return np.array([float(Fraction(value, one)) for value in found])


def _in_double(z):
    if isinstance(z, np.ndarray):
        return z.astype(float, copy=False)
    return z.double() if hasattr(z, "double") else z


def _padded(values, size):
    return ([*values] + [0.0] * size)[:size]


def _matrix(values, name="strategy"):
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a Filter or a matrix of finite numbers, got {values!r}")
    array = array.astype(float)
    if array.any() and not SMALLEST <= np.abs(array).max() <= LARGEST:
        raise ValueError(f"{name} must have a largest entry from {SMALLEST} to {LARGEST} in size, got {values!r}")
    return array


def _pattern(steps, participations, separation):
    participations = validate.whole("participations", participations)
    if separation is None:
        return participations, max(1, steps // participations)
    return participations, validate.whole("separation", separation)


def _moved(coefficients, participations, separation):
    """Return what C x moves by when a person's contributions are all 1 and come as early as may be."""
    moved = np.zeros(len(coefficients))
    for start in range(0, min(participations * separation, len(moved)), separation):
        moved[start:] += np.asarray(coefficients)[: len(moved) - start]
    return moved


def _of_filter(strategy, participations, separation):
    """Bounds on the sensitivity of a Filter: below by one pattern, above by coefficients that are larger and fall."""
    c = strategy.coefficients
    low = np.linalg.norm(_moved(c, participations, separation))
    starts = np.arange(0, min(participations * separation, len(c)), separation)
    apart = np.sqrt(sum(np.sum(c[: len(c) - start] ** 2) for start in starts))  # of signs at random
    low = max(low, apart)
    if not c[separation:].any():  # columns that far apart have no row in common
        return apart, apart
    return low, np.linalg.norm(_moved(_falling(c), participations, separation))


def _falling(coefficients):
    """Return the least coefficients that fall, and are nowhere smaller in size."""
    return np.maximum.accumulate(np.abs(coefficients)[::-1])[::-1]


def _of_matrix(strategy, participations, separation):
    """Bounds on the sensitivity of a matrix: below by patterns, above by the largest sum of the products of columns."""
    products = strategy.T @ strategy
    steps = len(products)
    separation = min(separation, steps)
    place = np.arange(steps)
    far = np.abs(place[:, None] - place) >= separation
    others = _heaviest(np.where(far, np.abs(products), 0.0), participations - 1, separation)
    with_others = np.diag(products) + others
    high = np.sqrt(_heaviest(with_others[None], participations, separation)[0])
    low = np.sqrt(_heaviest(np.diag(products)[None], participations, separation)[0])  # of signs at random
    for start in range(steps):
        chosen = place[start::separation][:participations]
        low = max(low, np.linalg.norm(strategy[:, chosen].sum(axis=1)))
    return min(low, high), high


def _heaviest(weights, count, separation):
    """Return for each row the largest sum of at most `count` entries, not negative, at least `separation` places apart."""
    rows, steps = weights.shape
    best = np.zeros((rows, steps + separation))  # best[:, t]: of the entries before t - separation + 1
    for _ in range(min(count, -(-steps // separation))):
        chosen = weights + best[:, :steps]
        best = np.concatenate([np.zeros((rows, separation)), np.maximum.accumulate(chosen, axis=1)], axis=1)
    return best[:, -1]
