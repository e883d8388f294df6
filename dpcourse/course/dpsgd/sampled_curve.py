"""The curve of a sampled mechanism."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, numbers_like, rounded
from dpcourse.course.dpsgd.shared import random_curve
from dpcourse.tradeoff import TradeOff, curves


def _draw_mixed(rng):
    """Two curves; Mia is drawn less often than not, and more often."""
    cases = []
    for pieces, low in ((4, 0.1), (6, 0.55)):
        alpha, beta = random_curve(rng, pieces)
        cases.append({"alpha": alpha, "beta": beta, "p": rounded(rng.uniform(low, low + 0.35))})
    return cases


CURVE = to_say("{name}: 2 to 9 points of a trade-off function, from (0, 1) to (1, 0)")


def _any_curve(rng):
    return random_curve(rng, int(rng.integers(1, 9)))


exercise = Exercise(
    title="The curve of a sampled mechanism",
    good_for="reading off what tossing a coin for Mia is worth",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"alpha, beta": Made(_any_curve, CURVE), "p": Number(0, 1)}),
    draw=_draw_mixed,
    reference=lambda alpha, beta, p: p * beta + (1 - p) * (1 - alpha),
    means={
        "1 - alpha": "the curve of the runs without Mia: guessing",
        "p * beta": "the part of the runs in which she was drawn",
        "(1 - p) * (1 - alpha)": "the part of the runs in which she was not drawn",
        "1 - p": "the chance that she was not drawn",
    },
    returns=numbers_like("alpha"),
    possible=Number(0, 1),
    forbidden=(TradeOff.mixed, TradeOff.subsampled, curves.Mixed.__init__),
    hints=(
        "With probability p the mechanism with the curve f runs on Mia's data, otherwise nothing about her is used. Which curve belongs to that?",
        "An answer that tells nothing has the curve Id(alpha) = 1 - alpha. Both curves are taken at the same alpha and added: with which weights?",
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
            "smaller part",
            "You took the smaller of the two parts. Mia may be drawn or not, and the tester misses in both cases: the parts are added.",
            lambda alpha, beta, p: np.minimum(p * beta, (1 - p) * (1 - alpha)),
        ),
        Misconception(
            "larger part",
            "You took the larger of the two parts. Mia may be drawn or not, and the tester misses in both cases: the parts are added.",
            lambda alpha, beta, p: np.maximum(p * beta, (1 - p) * (1 - alpha)),
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
            "powers",
            "You multiplied powers of the two curves. Mia is drawn or not, and the tester misses in either case: the chances are added, each with its weight.",
            lambda alpha, beta, p: beta**p * (1 - alpha) ** (1 - p),
        ),
        Misconception(
            "p as a distance",
            "You went down from the line 1 - alpha by p itself. It is the part p of the way from the line down to f: p f + (1 - p) Id.",
            lambda alpha, beta, p: np.maximum(beta, 1 - alpha - p),
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
