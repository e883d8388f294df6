"""How far off is the worst of k answers?."""

import math

from dpcourse import laplace
from dpcourse.course.laplace.shared import noise_scale
from dpcourse.engine import Exercise, Misconception, a_number, rounded


def _draw_error(rng):
    return [
        {
            "k": int(k),
            "failure_probability": rounded(rng.uniform(0.02, 0.3)),
            "sensitivity": int(rng.integers(2, 6)),
            "epsilon": rounded(rng.uniform(0.2, 0.9)),
        }
        for k in (rng.integers(5, 30), rng.integers(500, 20_000))
    ]


def _error(size):
    """size(k, failure probability) times the scale."""
    return lambda k, failure_probability, sensitivity, epsilon: (
        size(k, failure_probability) * noise_scale(sensitivity, epsilon)
    )


exercise = Exercise(
    title="How far off is the worst of k answers?",
    good_for="telling the readers of a private table how much of it is noise",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_error,
    reference=laplace.error_bound,
    formulas=(
        lambda k, failure_probability, sensitivity, epsilon: sensitivity / epsilon * math.log(k / failure_probability),
    ),
    returns=a_number,
    forbidden=(laplace.error_bound,),
    hints=(
        "One noise is t scales or more from 0 with probability e^-t. For k of them the union bound gives k e^-t.",
        "Set k e^-t equal to the failure probability and solve for t. Then multiply by the scale.",
    ),
    misconceptions=(
        Misconception(
            "union bound forgotten",
            "You left k out: ln(1 / failure) bounds the error of one answer. All k must be near: ln(k / failure).",
            _error(lambda k, failure: -math.log(failure)),
        ),
        Misconception(
            "k outside",
            "Your k stands outside the logarithm. The failure probability is divided by k, so k belongs inside: ln(k / failure).",
            _error(lambda k, failure: -k * math.log(failure)),
        ),
        Misconception(
            "exact",
            "You used that the noises are independent, and got the exact quantile. It is right, and slightly smaller. "
            "Here return the union bound of theorem 3.8, which needs no independence.",
            _error(lambda k, failure: -math.log(-math.expm1(math.log1p(-failure) / k))),
        ),
        Misconception(
            "confidence",
            "You took 1 - failure for the failure: for 95 % confidence it is 0.05 that stands below k.",
            _error(lambda k, failure: math.log(k / (1 - failure))),
        ),
        Misconception(
            "multiplied inside",
            "You took ln(k · failure). A rarer failure must give a larger bound: ln(k / failure).",
            _error(lambda k, failure: math.log(k * failure)),
        ),
        Misconception(
            "brackets",
            "Only k stands inside your logarithm: log(k) / failure. Put the whole fraction inside: log(k / failure).",
            _error(lambda k, failure: math.log(k) / failure),
        ),
        Misconception(
            "both tails",
            "You counted two tails. The tail e^-t counts both sides already: ln(k / failure).",
            _error(lambda k, failure: math.log(2 * k / failure)),
        ),
        Misconception(
            "scale turned over",
            "You multiplied by epsilon / sensitivity. The scale of the noise is sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: (
                math.log(k / failure_probability) * epsilon / sensitivity
            ),
        ),
        Misconception(
            "sensitivity forgotten",
            "You left the sensitivity out. The scale of the noise is sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: math.log(k / failure_probability) / epsilon,
        ),
        Misconception(
            "number of scales",
            "That is the number of scales, t. Multiply it by the scale, sensitivity / epsilon.",
            lambda k, failure_probability, sensitivity, epsilon: math.log(k / failure_probability),
        ),
        Misconception(
            "k in the scale",
            "You also multiplied the scale by k. The sensitivity is that of all k answers together; they are counted in it already.",
            lambda k, failure_probability, sensitivity, epsilon: (
                math.log(k / failure_probability) * k * sensitivity / epsilon
            ),
        ),
    ),
)
