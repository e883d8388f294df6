"""Gaussian noise of whole numbers."""

import functools
import math
from fractions import Fraction

import numpy as np

from dpcourse import machine
from dpcourse.base.languages import say
from dpcourse.checking import Count, Domain, Misconception, Needed, RandomExercise, Seed, Whole
from dpcourse.course.machine.shared import whole_numbers

DRAWS, BETWEEN, WIDE, SHORT, SINGLE = 9000, 7000, 1000, 20, 40
RARE = 1e-6
SMALL, MIDDLE, LARGE = (
    1,
    5,
    48,
)  # variances: none is a multiple of its t, so σ²/t is a fraction, 5 nor of its root cut off; at 1 a change by one is seen soonest


def _draw(rng):
    """Two short runs with the same seed, a long one, one whose variance is large, one between; and some of a single number, which
    no fixed number of tries is sure to give."""
    seed = int(rng.integers(2**31))
    return [
        {"variance": own, "size": size, "rng": seed + run}
        for own, size, run in (
            (SMALL, SHORT, 0),
            (SMALL, SHORT, 0),
            (SMALL, DRAWS, 1),
            (LARGE, WIDE, 2),
            (MIDDLE, BETWEEN, 3),
            *((SMALL, 1, 4 + run) for run in range(SINGLE)),
        )
    ]


def _law(variance):
    """(numbers, their chances)."""
    numbers = np.arange(-math.ceil(12 * math.sqrt(variance)), math.ceil(12 * math.sqrt(variance)) + 1)
    return numbers, machine.discrete_gaussian_chances(numbers, variance)


def _counts(cases, values, law=_law):
    first, again, x, wide, between = map(np.asarray, values[:5])
    (numbers, chances), (all_wide, chances_wide), (all_between, chances_between) = (
        law(cases[i]["variance"]) for i in (2, 3, 4)
    )

    def chance(test):
        return float(chances[test(numbers)].sum())

    def chance_wide(test):
        return float(chances_wide[test(all_wide)].sum())

    signs = np.sign(x[x != 0])
    beyond = 1 + math.ceil(math.sqrt(cases[2]["variance"]))
    positive = chance(lambda n: n > 0)
    return [
        Count.of(say("zeros"), x == 0, chance(lambda n: n == 0)),
        Count.of(say("numbers above 0"), x > 0, positive),
        Count.of(say("numbers below 0"), x < 0, positive),
        Count.of(say("numbers of size 1"), np.abs(x) == 1, chance(lambda n: np.abs(n) == 1)),
        Count.of(
            say("numbers of size {size} or more", size=beyond),
            np.abs(x) >= beyond,
            chance(lambda n: np.abs(n) >= beyond),
        ),
        Count.of(say("pairs in the list with both numbers above 0"), (x[0::2] > 0) & (x[1::2] > 0), positive**2),
        Count.of(say("numbers (other than 0) with the sign of the one before"), signs[1:] == signs[:-1], 0.5),
        Count.of(
            say("numbers of size 3 or less at a large variance"),
            np.abs(wide) <= 3,
            chance_wide(lambda n: np.abs(n) <= 3),
        ),
        Count.of(
            say("numbers of size 9 or more at a large variance"),
            np.abs(wide) >= 9,
            chance_wide(lambda n: np.abs(n) >= 9),
        ),
        Count.of(
            say("numbers of size 17 or more at a large variance"),
            np.abs(wide) >= 17,
            chance_wide(lambda n: np.abs(n) >= 17),
        ),
        *(
            Count.of(
                say("numbers of size {size} or more at a variance of {variance}", size=size, variance=MIDDLE),
                np.abs(between) >= size,
                float(chances_between[np.abs(all_between) >= size].sum()),
            )
            for size in (1, 2, 4, 7)
        ),
        Count.of(say("runs that come out the same with the same seed"), np.array_equal(first, again), 1.0),
        Count.of(say("runs that begin the same with another seed"), np.array_equal(first, x[:SHORT]), 0.0),
    ]


def _by_weights(weights):
    """Draw whole numbers with these weights: weights(numbers, variance)."""

    def code(variance, size, rng):
        numbers = np.arange(-160, 161)
        chances = np.exp(weights(numbers, variance) - np.max(weights(numbers, variance)))
        return rng.choice(numbers, size=size, p=chances / chances.sum())

    return code


def _steps(variance):
    return math.isqrt(variance) + 1


def _gaussian(numbers, variance):
    return -(numbers.astype(float) ** 2) / (2 * variance)


def _laplace(numbers, variance):
    return -np.abs(numbers) / _steps(variance)


def _are_nearly_all_kept(cases, values):
    """Whether sizes at a large variance are those of the draws, of which some are to be thrown away."""
    variance, wide = cases[3]["variance"], np.abs(values[3])
    numbers = np.arange(-60 * _steps(variance), 60 * _steps(variance) + 1)
    chances = np.exp(_laplace(numbers, variance))
    chances /= chances.sum()
    sizes = [Count.of("", wide >= least, float(chances[np.abs(numbers) >= least].sum())) for least in (4, 9, 17)]
    return all(size.p_value > RARE for size in sizes)


def _has_law(*kinds):
    """recognise: whether the counts are those of one of these weights."""

    def law(weights, variance):
        numbers = np.arange(-160, 161)
        chances = np.exp(weights(numbers, variance) - np.max(weights(numbers, variance)))
        return numbers, chances / chances.sum()

    def recognise(cases, values):
        return any(
            all(count.p_value > RARE for count in _counts(cases, values, functools.partial(law, weights)))
            for weights in kinds
        )

    return recognise


def _kept_around(centre, scale=lambda v: 2 * v):
    """The weights where the coin is for e^-((|y| - centre)^2 / scale)."""
    return lambda n, v: _laplace(n, v) - (np.abs(n) - centre(v)) ** 2 / scale(v)


def _a_sign_once_more(numbers, variance):
    """The weights where y loses its sign and gets another, and a zero with a minus is thrown away."""
    return _gaussian(numbers, variance) - np.log(2) * (numbers == 0)


def _whole_exponent(numbers, variance):
    """The weights where the exponent is cut to a whole number."""
    t = _steps(variance)
    return _laplace(numbers, variance) - (np.abs(numbers) * t - variance) ** 2 // (2 * variance * t * t)


_AROUND_T = _kept_around(_steps)
_AROUND_T_OF_T = _kept_around(_steps, lambda v: 2 * _steps(v) ** 2)
_AROUND_A_WHOLE = _kept_around(lambda v: v // _steps(v))
_AROUND_VARIANCE = _kept_around(lambda v: v)


def _too_many_zeros(variance, size, rng):
    """What is not kept becomes 0."""
    proposed = _by_weights(_laplace)(variance, size, rng)
    t = _steps(variance)
    kept = rng.random(size) < np.exp(-((np.abs(proposed) - variance / t) ** 2) / (2 * variance))
    return np.where(kept, proposed, 0)


def _with_coins(variance, size, rng):
    t = math.isqrt(variance) + 1
    noise = []
    while len(noise) < size:
        y = machine.discrete_noise(Fraction(1, t), None, rng)
        if machine.coin((abs(y) * t - variance) ** 2, 2 * variance * t**2, rng):
            noise.append(y)
    return noise


exercise = RandomExercise(
    title="Gaussian noise of whole numbers",
    good_for="many counts at once, with noise that a machine can draw exactly",
    difficulty=4,
    minutes=14,
    points=4,
    domain=Domain({"variance": Whole(1, 60), "size": Whole(1, 9000), "rng": Seed()}, most=4),
    draw=_draw,
    reference=_by_weights(_gaussian),
    formulas=(_with_coins,),
    returns=whole_numbers,
    compared=600,
    sample_size="size",
    counts=_counts,
    seconds=30.0,
    forbidden=(machine.discrete_gaussian,),
    needed=Needed(
        machine.coin,
        lambda case: case["size"],
        "The numbers do not come from `machine.coin`. `rng.normal`, `rng.choice`, `rng.random` and `math.exp` work with doubles. Gaussian noise that is rounded has not "
        "even the right law: at σ² = 1 it is 0 with probability 0.383, and 0.399 is right. A coin of your own is not asked for.",
    ),
    hints=(
        "Draw y by `machine.discrete_noise(Fraction(1, t), None, rng)`. Then toss one coin: heads, and y is kept; tails, and a new y is drawn.",
        "The coin is for e^(-(|y| - σ²/t)² / (2σ²)). Written with whole numbers: (|y| t - variance)² over 2 variance t².",
        "In code: a `while` loop until the list is long enough; in it y, and `if machine.coin((abs(y) * t - variance) ** 2, 2 * variance * t * t, rng): noise.append(y)`.",
    ),
    misconceptions=(
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your numbers come from somewhere else. Give `rng` to every draw and to every coin.",
            lambda variance, size, rng: _by_weights(_gaussian)(variance, size, np.random.default_rng()),
            recognise=lambda cases, values: not np.array_equal(*map(np.asarray, values[:2])),
        ),
        Misconception(
            "every draw kept",
            "Your noise is that of `machine.discrete_noise`, or nearly so: few y are thrown away. Either a y is kept at tails, or the coin is tossed again for the same y; then throw it "
            "away at tails, and draw a new one. Or the y that you keep is not the one that you tossed for. Or your coin's exponent is too small: with whole numbers it is (|y| t - variance)² over 2 variance t².",
            _by_weights(_laplace),
            recognise=_are_nearly_all_kept,
        ),
        Misconception(
            "zero for what is thrown away",
            "Zero comes far too often: what the coin throws away becomes a 0. Draw a new y in its place.",
            _too_many_zeros,
        ),
        Misconception(
            "the coin without its centre",
            "Your coin is for e^(-y²/(2σ²)), and y itself comes with e^(-|y|/t): together that is neither. The coin's exponent is (|y| - σ²/t)²/(2σ²): the factor "
            "that the draw has too much falls out.",
            _by_weights(lambda n, v: _gaussian(n, v) + _laplace(n, v)),
        ),
        Misconception(
            "the sign in the coin",
            "You put y into the coin with its sign. Negative numbers are then too rare: take `abs(y)`.",
            _by_weights(lambda n, v: _laplace(n, v) - (n - v / _steps(v)) ** 2 / (2 * v)),
        ),
        Misconception(
            "heads and tails swapped",
            "You keep y where the coin shows tails. Keep it at heads.",
            _by_weights(
                lambda n, v: (
                    _laplace(n, v) + np.log(-np.expm1(-np.maximum(1e-12, (np.abs(n) - v / _steps(v)) ** 2 / (2 * v))))
                )
            ),
        ),
        Misconception(
            "t in the place of 1/t",
            "Your y are far too small: `machine.discrete_noise` wants the ε of the noise, which is 1/t. `Fraction(1, t)` is one t-th; `Fraction(t)` is t.",
            _by_weights(lambda n, v: -np.abs(n) * _steps(v) - (np.abs(n) - v / _steps(v)) ** 2 / (2 * v)),
        ),
        Misconception(
            "another centre",
            "Your coin takes something else than σ²/t off |y|, such as t or σ². Only with σ²/t the terms with |y| cancel: (|y| - σ²/t)²/(2σ²) is (|y| t - variance)² over 2 variance t².",
            _by_weights(_AROUND_T),
            recognise=_has_law(_AROUND_T, _AROUND_T_OF_T, _AROUND_VARIANCE),
        ),
        Misconception(
            "a sign once more",
            "Zero is too rare: y has its sign already. If you draw another for its size and throw -0 away, half of the zeros are lost.",
            _by_weights(_a_sign_once_more),
        ),
        Misconception(
            "a whole exponent",
            "Your coin's exponent is cut to a whole number, by `//` or by `int`. `machine.coin` takes it as a fraction of two whole numbers: give it both.",
            _by_weights(_whole_exponent),
        ),
        Misconception(
            "one-sided",
            "Your noise is never negative. Then an output below the count would prove a neighbour wrong.",
            lambda variance, size, rng: np.abs(_by_weights(_gaussian)(variance, size, rng)),
        ),
        Misconception(
            "variance for deviation",
            "Your noise has the deviation `variance`. Its square is the variance: in the formulas σ² is `variance`, not σ.",
            _by_weights(lambda n, v: -(n.astype(float) ** 2) / (2.0 * v * v)),
        ),
        Misconception(
            "twice the exponent",
            "Your coin's exponent is twice what it should be: a 2 is missing below. With whole numbers it is (|y| t - variance)² over 2 variance t².",
            _by_weights(lambda n, v: _laplace(n, v) - (np.abs(n) - v / _steps(v)) ** 2 / v),
        ),
        Misconception(
            "a centre cut to a whole number",
            "Your numbers are those of `variance // t` in place of σ²/t, which is a fraction, or of a y that was drawn with another t than the coin's. "
            "|y| - σ²/t is (|y| t - variance) / t, and there is one t.",
            _by_weights(_AROUND_A_WHOLE),
            recognise=_has_law(_AROUND_A_WHOLE, _kept_around(math.sqrt), _kept_around(lambda v: v / math.isqrt(v))),
        ),
        Misconception(
            "t not below",
            "In your coin's exponent t² is missing below. |y| - σ²/t is (|y| t - σ²) / t, so its square has t² below.",
            _by_weights(lambda n, v: _laplace(n, v) - (np.abs(n) * _steps(v) - v) ** 2 / (2 * v)),
        ),
        Misconception(
            "t not squared",
            "In your coin's exponent t stands below, and not its square. |y| - σ²/t is (|y| t - σ²) / t, so its square has t² below.",
            _by_weights(lambda n, v: _laplace(n, v) - (np.abs(n) * _steps(v) - v) ** 2 / (2 * v * _steps(v))),
        ),
    ),
)
