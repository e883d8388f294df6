"""A curve, made symmetric."""

import numpy as np

from dpcourse import tradeoff
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, Several, any_of, numbers_like
from dpcourse.course.dpsgd.shared import CORNERS, some_corners


def _there(alpha, beta, at):
    return np.interp(at, alpha, beta)


def _back(alpha, beta, at):
    """The inverse."""
    return np.interp(at, beta[::-1], alpha[::-1])


def _symmetrized(alpha, beta, at):
    return np.maximum(_there(alpha, beta, at), _back(alpha, beta, at))


def _joined(corners, alpha, beta, at):
    return np.interp(at, corners, _symmetrized(alpha, beta, corners))


exercise = Exercise(
    title="A curve for both orders",
    good_for="getting all out of a promise that holds for both orders of the neighbours",
    difficulty=2,
    minutes=10,
    points=2,
    domain=Domain({"alpha, beta": Made(some_corners, CORNERS), "at": Several(Number(0, 1), 1, 20, array=True)}),
    reference=_symmetrized,
    formulas=(
        lambda alpha, beta, at: np.maximum(np.interp(at, alpha, beta), np.interp(at, beta[::-1], alpha[::-1])),
        lambda alpha, beta, at: np.maximum(np.interp(at, alpha, beta), np.interp(at, np.flip(beta), np.flip(alpha))),
    ),
    means={
        "np.interp(at, alpha, beta)": "the curve itself",
        "np.interp(at, beta[::-1], alpha[::-1])": "its inverse",
        "beta[::-1]": "beta from right to left, so that it rises",
        "alpha[::-1]": "alpha from right to left",
    },
    returns=numbers_like("at"),
    possible=Number(0, 1),
    forbidden=(tradeoff.TradeOff.inverse, tradeoff.TradeOff.symmetrized),
    hints=(
        "Exchange the two numbers of every corner: these are the corners of the inverse. It has to be asked at the same places as the curve itself.",
        "`np.interp(x, xs, ys)` wants `xs` to rise; it does not say so if they fall. Betas fall, so turn both lists round: `beta[::-1]` and `alpha[::-1]`.",
        "`np.maximum(a, b)` takes the larger of two arrays at each place. Where a curve has reached 0, `np.interp` gives the 0 of its last corner, as it should.",
    ),
    misconceptions=(
        Misconception(
            "not turned round",
            "The corners of your inverse run from right to left. `np.interp` wants the places to rise, and gives nonsense without a word where they fall: turn both lists round, `beta[::-1]` and `alpha[::-1]`.",
            lambda alpha, beta, at: np.maximum(_there(alpha, beta, at), np.interp(at, beta, alpha)),
        ),
        Misconception(
            "one list turned round",
            "Your betas rise, and your alphas rise too. Each alpha belongs to its beta, and the largest alpha to the smallest beta: turn both lists round.",
            lambda alpha, beta, at: np.maximum(_there(alpha, beta, at), np.interp(at, beta[::-1], alpha)),
        ),
        Misconception(
            "curve itself",
            "That is the curve as it was given, or what never differs from it. Its inverse is missing: where that is higher, it counts.",
            _there,
        ),
        Misconception(
            "inverse only",
            "That is the inverse alone. Both promises hold, so at each place the higher one counts.",
            _back,
        ),
        Misconception(
            "smaller",
            "You took the smaller of the curve and its inverse. Both are lower bounds on beta, so the larger one counts.",
            lambda alpha, beta, at: np.minimum(_there(alpha, beta, at), _back(alpha, beta, at)),
        ),
        Misconception(
            "mean",
            "You took the mean of the curve and its inverse. Both are lower bounds on beta, so the larger one counts.",
            lambda alpha, beta, at: (_there(alpha, beta, at) + _back(alpha, beta, at)) / 2,
        ),
        Misconception(
            "maximum at the corners",
            "You took the larger curve at the corners, and joined these points by straight lines. Where the two curves cross there is a corner that neither has: compute both at every place in `at`, then take the larger.",
            lambda alpha, beta, at: _joined(alpha, alpha, beta, at),
            recognise=any_of(
                lambda alpha, beta, at: _joined(alpha, alpha, beta, at),
                lambda alpha, beta, at: _joined(np.sort(np.r_[alpha, beta]), alpha, beta, at),
            ),
        ),
        Misconception(
            "mirrored at the middle",
            "You took alpha to 1 - alpha. The inverse is mirrored at the diagonal: it exchanges alpha and beta of every corner.",
            lambda alpha, beta, at: np.maximum(_there(alpha, beta, at), _there(alpha, beta, 1 - at)),
        ),
        Misconception(
            "one over",
            "You divided 1 by the curve. Here f^-1 is no power: it is the curve with its two axes exchanged.",
            lambda alpha, beta, at: np.maximum(
                _there(alpha, beta, at), 1 / np.maximum(_there(alpha, beta, at), 1e-300)
            ),
        ),
    ),
)
