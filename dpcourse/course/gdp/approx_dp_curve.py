"""The curve of (ε, δ)-DP."""

import math

import numpy as np

from dpcourse import tradeoff
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, numbers_like, rounded


def _draw_approx(rng):
    """A few alphas on each of the three lines, and one between the corner and where it would be without delta."""
    cases = []
    for low, high in ((0.3, 0.9), (1.2, 2.0)):
        epsilon, delta = rounded(rng.uniform(low, high)), rounded(rng.uniform(0.05, 0.25))
        without = 1 / (1 + math.exp(epsilon))
        corner = (1 - delta) * without
        between = (corner + min(without, (1 - delta) * math.exp(-epsilon))) / 2  # where the steep line is above 0
        alpha = np.r_[
            0, rng.uniform(0.1, 0.9, 2) * corner, between, rng.uniform(without, 1 - delta, 2), 1 - delta / 2, 1
        ]
        cases.append({"alpha": np.sort(alpha.round(4)), "epsilon": epsilon, "delta": delta})
    return cases


def _first(alpha, epsilon, delta):
    return 1 - delta - math.exp(epsilon) * alpha


def _second(alpha, epsilon, delta):
    return math.exp(-epsilon) * (1 - delta - alpha)


def _highest(*lines):
    return np.maximum.reduce([np.zeros_like(lines[0]), *lines])


exercise = Exercise(
    title="The curve of (ε, δ)-DP",
    good_for="drawing any (ε, δ) promise beside any other mechanism",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {"alpha": Several(Number(0, 1), 1, 20, array=True), "epsilon": Number(0, 3), "delta": Number(0, 0.5)}
    ),
    draw=_draw_approx,
    reference=lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta)),
    means={
        "1 - delta - math.exp(epsilon) * alpha": "the steep line",
        "math.exp(-epsilon) * (1 - delta - alpha)": "the flat line",
        "math.exp(-epsilon)": "the slope of the flat line, without its sign",
        "math.exp(epsilon)": "the slope of the steep line, without its sign",
    },
    returns=numbers_like("alpha"),
    possible=Number(0, 1),
    forbidden=(tradeoff.approx_dp, tradeoff.TradeOff.__call__, tradeoff.curves.Points.beta),
    hints=(
        "At alpha = 0 the steep line is the highest, and at alpha = 1 the 0 is. You need not know where they cross: compute all lines at every alpha, and take the highest at each.",
        "The steep one is `1 - delta - np.exp(epsilon) * alpha`. `np.maximum(a, b)` takes the larger one at each place; use it twice.",
    ),
    misconceptions=(
        Misconception(
            "steep line only",
            "Your curve is the steep line and 0 alone. The third line, e^-epsilon (1 - delta - alpha), is missing, or lost: e^-epsilon multiplies the whole bracket, and `np.maximum` compares two arrays only (into a third it writes the result).",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta)),
        ),
        Misconception(
            "flat line only",
            "Your curve is the flat line and 0 alone. The steep line, 1 - delta - e^epsilon alpha, is missing, or never the larger one as you wrote it. It is the higher one for small alpha; alpha stands beside e^epsilon, not in the exponent.",
            lambda alpha, epsilon, delta: _highest(_second(alpha, epsilon, delta)),
        ),
        Misconception(
            "max with 0 left out",
            "Your curve falls below 0 near alpha = 1. An error rate cannot: the largest of the three has a 0 among them.",
            lambda alpha, epsilon, delta: np.maximum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta)),
        ),
        Misconception(
            "delta dropped",
            "That is the curve for delta = 0. With delta it starts at 1 - delta: both lines hold 1 - delta.",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, 0), _second(alpha, epsilon, 0)),
        ),
        Misconception(
            "delta in one line only",
            "Delta is missing in the third line: e^-epsilon (1 - delta - alpha).",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta), _second(alpha, epsilon, 0)),
        ),
        Misconception(
            "delta outside the bracket",
            "In the third line delta stands outside the bracket. It is e^-epsilon (1 - delta - alpha): delta is shrunk too.",
            lambda alpha, epsilon, delta: _highest(
                _first(alpha, epsilon, delta), math.exp(-epsilon) * (1 - alpha) - delta
            ),
        ),
        Misconception(
            "bracket in the steep line",
            "In one of your lines e^epsilon multiplies the whole bracket. In the steep line it belongs to alpha alone, and the bracket of the flat line has e^-epsilon.",
            lambda alpha, epsilon, delta: _highest(
                math.exp(epsilon) * (1 - delta - alpha), _second(alpha, epsilon, delta)
            ),
        ),
        Misconception(
            "lines added",
            "You added the two lines. Each is a lower bound on beta by itself: take the larger one at each alpha.",
            lambda alpha, epsilon, delta: (
                _highest(_first(alpha, epsilon, delta)) + _highest(_second(alpha, epsilon, delta))
            ),
        ),
        Misconception(
            "lines exchanged at the corner",
            "You take the flat line left of the corner 1/(1 + e^epsilon), and the steep one right of it. It is the other way round, and with delta the corner lies elsewhere. Taking the maximum needs no corner at all.",
            lambda alpha, epsilon, delta: _highest(
                np.where(
                    alpha < 1 / (1 + math.exp(epsilon)), _second(alpha, epsilon, delta), _first(alpha, epsilon, delta)
                )
            ),
        ),
        Misconception(
            "smallest",
            "You took the smallest of the three. Each line is a lower bound on beta, so the largest one counts.",
            lambda alpha, epsilon, delta: np.minimum(
                0, np.minimum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta))
            ),
        ),
        Misconception(
            "smaller line",
            "You took the smaller of the two lines and cut it off at 0. Each line is a lower bound on beta: take the larger.",
            lambda alpha, epsilon, delta: _highest(
                np.minimum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta))
            ),
        ),
        Misconception(
            "corner without delta",
            "You change lines at 1/(1 + e^epsilon). With delta the lines meet at (1 - delta)/(1 + e^epsilon). Taking the maximum needs no corner at all.",
            lambda alpha, epsilon, delta: _highest(
                np.where(
                    alpha < 1 / (1 + math.exp(epsilon)), _first(alpha, epsilon, delta), _second(alpha, epsilon, delta)
                )
            ),
        ),
        Misconception(
            "no exponential",
            "You used epsilon as the slope. The slope is e^epsilon, and e^-epsilon in the other line.",
            lambda alpha, epsilon, delta: _highest(1 - delta - epsilon * alpha, (1 - delta - alpha) / epsilon),
        ),
        Misconception(
            "sign of epsilon",
            "The signs of epsilon are exchanged: e^epsilon belongs to 1 - delta - e^epsilon alpha, and e^-epsilon to the other line.",
            lambda alpha, epsilon, delta: _highest(_first(alpha, -epsilon, delta), _second(alpha, -epsilon, delta)),
        ),
    ),
)
