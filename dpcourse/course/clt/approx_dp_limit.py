"""Many answers, each with a small chance to fail."""

import math

from dpcourse import clt
from dpcourse.course.clt.shared import (
    two_k_over_s,
)
from dpcourse.engine import Exercise, Misconception, rounded, several


def _draw_approx(rng):
    cases = []
    for size in (2, int(rng.integers(3, 7))):
        epsilons = [rounded(e) for e in rng.uniform(0.05, 0.5, size=size)]
        cases.append({"epsilons": epsilons, "deltas": [rounded(d, 3) for d in rng.uniform(0.01, 0.04, size=size)]})
    return cases


def _mu_and(delta):
    return lambda epsilons, deltas: (math.hypot(*epsilons), float(delta(deltas)))


exercise = Exercise(
    title="Many answers, each with a small chance to fail",
    good_for="seeing that the deltas are not blurred by the central limit theorem: they stay beside the Gaussian",
    difficulty=1,
    minutes=10,
    points=1,
    draw=_draw_approx,
    reference=_mu_and(lambda deltas: -math.expm1(-sum(deltas))),
    returns=several("mu", "delta"),
    forbidden=(clt.approx_dp_limit,),
    hints=(
        "Split each curve into its pure part and its failing part. The pure parts go to a Gaussian, whose mu you know from the end of "
        "section 6. Nothing fails with probability (1 - delta_1)(1 - delta_2)...",
        "In the limit of many small deltas that product is e^-(sum of deltas). So delta is 1 minus that. mu is the root of the sum of "
        "epsilon^2.",
    ),
    misconceptions=(
        Misconception(
            "sum of deltas",
            "Your delta is the sum. That is basic composition's bound. The chance that anything fails is 1 - e^-(sum) in the limit.",
            _mu_and(sum),
        ),
        Misconception(
            "finite product",
            "1 - (1 - delta_1)(1 - delta_2)… is exact for these answers. The exercise asks for its limit for many small deltas, 1 - e^-(sum).",
            _mu_and(lambda deltas: 1 - math.prod(1 - d for d in deltas)),
        ),
        Misconception(
            "delta dropped",
            "Your delta is 0. The Gaussian takes in the epsilons only; the chances to fail remain beside it.",
            _mu_and(lambda deltas: 0.0),
        ),
        Misconception(
            "chance of no failure",
            "e^-(sum of deltas) is the chance that nothing fails. delta is the chance that something does: 1 minus it.",
            _mu_and(lambda deltas: math.exp(-sum(deltas))),
        ),
        Misconception(
            "sign in the exponent",
            "The exponent has the wrong sign. 1 - e^-(sum) lies between 0 and 1; 1 - e^(+sum) is negative.",
            _mu_and(lambda deltas: -math.expm1(sum(deltas))),
        ),
        Misconception(
            "bracket in the wrong place",
            "Your delta is e^(1 - sum), which is above 1. The 1 does not belong in the exponent: subtract from 1 the chance that nothing fails.",
            _mu_and(lambda deltas: math.exp(1 - sum(deltas))),
        ),
        Misconception(
            "largest delta",
            "You took the largest delta. Every answer has its own chance to fail.",
            _mu_and(max),
        ),
        Misconception(
            "quadrature of deltas",
            "You added the deltas in quadrature, as the epsilons. A failure is not a random walk: the chances to fail go into 1 - e^-(sum).",
            _mu_and(lambda deltas: math.hypot(*deltas)),
        ),
        Misconception(
            "2 K / s",
            "Your mu is the 2 K / s of the exercise before. Here the epsilons go to 0, and mu is the root of the sum of their squares.",
            lambda epsilons, deltas: (two_k_over_s()(epsilons), -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "root forgotten",
            "Your mu is the sum of the squares of the epsilons. Take the root.",
            lambda epsilons, deltas: (math.hypot(*epsilons) ** 2, -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "epsilons added",
            "You added the epsilons. Their losses are random walks, so they add in quadrature: the root of the sum of the squares.",
            lambda epsilons, deltas: (sum(epsilons), -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first mu, then delta.",
            lambda epsilons, deltas: (-math.expm1(-sum(deltas)), math.hypot(*epsilons)),
        ),
    ),
)
