"""The square root of the running sums."""

import math

import numpy as np

from dpcourse import matrix
from dpcourse.checking import Domain, Exercise, Misconception, Whole
from dpcourse.course.matrix.shared import as_many_as_steps, root


def _with_comb(steps):
    return np.array([math.comb(2 * k, k) / 4**k for k in range(steps)])


def _in_a_loop(steps):
    c = [1.0]
    for k in range(1, steps):
        c.append(c[-1] * (2 * k - 1) / (2 * k))
    return c


def _of_next(steps):
    k = np.arange(1, steps)
    return np.cumprod(np.r_[1.0, (2 * k + 1) / (2 * k + 2)])


def _overflowing(steps):
    """Products of whole numbers of 64 bits, which are too large for these from step 18 on."""
    k = np.arange(1, steps, dtype=np.int64)
    with np.errstate(all="ignore"):
        return np.r_[1.0, np.cumprod(2 * k - 1) / np.cumprod(2 * k)]


exercise = Exercise(
    title="The square root of the running sums",
    good_for="a strategy that you can write down, nearly as good as the best",
    difficulty=2,
    minutes=6,
    points=2,
    domain=Domain({"steps": Whole(1, 300)}),
    draw=lambda rng: [{"steps": int(rng.integers(5, 9))}, {"steps": int(rng.integers(20, 30))}],
    reference=root,
    formulas=(_with_comb, _in_a_loop),
    means={
        "c[-1]": "the coefficient before",
        "(2 * k - 1) / (2 * k)": "the factor from one coefficient to the next",
    },
    returns=as_many_as_steps,
    forbidden=(matrix.square_root,),
    hints=(
        "Multiply the series with itself: the coefficient of s must be 1, and it is c_0 c_1 + c_1 c_0. With c_0 = 1 that gives c_1. Each "
        "further one follows from those before. There is a simpler rule for it in the text.",
        "c_0 = 1, and c_k = c_(k-1) (2k - 1) / (2k) for k = 1, 2, …: a loop that appends to a list, or `np.cumprod` of the factors with a 1 in front.",
    ),
    misconceptions=(
        Misconception(
            "factors not multiplied",
            "You return the factors (2k - 1)/(2k). Each coefficient is the one *before* times its factor: multiply them up.",
            lambda steps: np.r_[1.0, (2 * np.arange(1, steps) - 1) / (2 * np.arange(1, steps))],
        ),
        Misconception(
            "one step ahead",
            "Your factors come one step too early: the first of them is 1/2, for k = 1. With yours the square of the series does not begin with 1 + s.",
            _of_next,
        ),
        Misconception(
            "without the first",
            "Your list lacks c_0 = 1, and so all others stand one place too early.",
            lambda steps: root(steps + 1)[1:],
        ),
        Misconception(
            "the inverse",
            "These are the coefficients of the inverse, (1 - s)^(1/2): what the noise takes back. The strategy itself is (1 - s)^(-1/2), and all of its "
            "coefficients are positive.",
            lambda steps: np.r_[1.0, -root(steps)[: steps - 1] / (2 * np.arange(1, steps))],
        ),
        Misconception(
            "roots of the entries",
            "You took the root of each entry of A, or gave A's own coefficients. A root C of a *matrix* has C C = A.",
            np.ones,
        ),
        Misconception(
            "whole numbers",
            "All your coefficients behind the first are 0. Did you divide by `//`, or keep them in an array of whole numbers, such as `np.ones(steps, dtype=int)`? Both cut off what is behind the point. "
            "(1, 0, 0, … is the strategy of fresh noise.)",
            lambda steps: np.r_[1.0, np.zeros(steps - 1)],
        ),
        Misconception(
            "signs alternate",
            "Your signs take turns. That is the series of (1 + s)^(-1/2); all coefficients of (1 - s)^(-1/2) are positive.",
            lambda steps: root(steps) * (-1.0) ** np.arange(steps),
        ),
        Misconception(
            "too large for whole numbers",
            "The first 17 coefficients are right. Behind them the products of whole numbers are too large for numpy's 64 bits. Multiply the fractions: "
            "their products stay below 1.",
            _overflowing,
        ),
        Misconception(
            "what they tend to",
            "You return 1 / sqrt(pi k). The coefficients come near it as k grows, and are a little smaller.",
            lambda steps: np.r_[1.0, 1 / np.sqrt(math.pi * np.arange(1, steps))],
        ),
        Misconception(
            "halved each time",
            "You halve the coefficient each time. That is the series of 1 / (1 - s/2). Here the factor is 1/2 only once, and then 3/4, 5/6, …",
            lambda steps: 0.5 ** np.arange(steps),
        ),
    ),
)
