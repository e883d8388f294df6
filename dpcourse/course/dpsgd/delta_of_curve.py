"""The delta that a curve of straight pieces promises."""

import numpy as np

from dpcourse import tradeoff
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of, rounded
from dpcourse.course.dpsgd.shared import CORNERS, some_corners


def _steep(alpha, beta, epsilon):
    """What the steep line asks for at each corner."""
    return 1 - beta - np.exp(epsilon) * alpha


def _flat(alpha, beta, epsilon):
    return 1 - alpha - np.exp(epsilon) * beta


def _delta(alpha, beta, epsilon):
    return float(np.maximum(_steep(alpha, beta, epsilon), _flat(alpha, beta, epsilon)).max())


def _added(alpha, beta, epsilon):
    return float(_steep(alpha, beta, epsilon).max() + _flat(alpha, beta, epsilon).max())


def _draw(rng):
    """Each line decides twice, at an inner corner; and once an output that gives Mia away."""
    cases = []
    while len(cases) < 5:
        alpha, beta = some_corners(rng)
        epsilon = rounded(rng.uniform(0.1, 1) if len(cases) < 4 else rng.uniform(2, 3))
        steep, flat = _steep(alpha, beta, epsilon).max(), _flat(alpha, beta, epsilon).max()
        known = max(1 - beta[0], 1 - alpha[-1])
        first, second = (steep, flat) if len(cases) % 2 else (flat, steep)
        inside = len(cases) < 4 and len(alpha) > 3 and first > second + 0.02 and first > known + 0.02
        if inside or (len(cases) == 4 and _delta(alpha, beta, epsilon) == known > 0):
            cases.append({"alpha": alpha, "beta": beta, "epsilon": epsilon})
    return cases


exercise = Exercise(
    title="The δ of a curve",
    good_for="reading an (ε, δ) promise off a picture",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"alpha, beta": Made(some_corners, CORNERS), "epsilon": Number(0, 3)}),
    draw=_draw,
    reference=_delta,
    formulas=(
        lambda alpha, beta, epsilon: max(
            np.max(1 - beta - np.exp(epsilon) * alpha), np.max(1 - alpha - np.exp(epsilon) * beta)
        ),
    ),
    means={
        "1 - beta - np.exp(epsilon) * alpha": "what the steep line asks for at each corner",
        "1 - alpha - np.exp(epsilon) * beta": "what the flat line asks for at each corner",
    },
    returns=a_number,
    possible=Number(0, 1),
    forbidden=(tradeoff.TradeOff.delta,),
    hints=(
        "Compute what each line asks for at every corner. Delta has to be at least the largest of all these numbers.",
        "The steep line lies below the corner if 1 - delta - e^epsilon alpha <= beta. Solve this for delta. Then do the same for the flat line, e^-epsilon (1 - delta - alpha) <= beta.",
        "`1 - beta - np.exp(epsilon) * alpha` is an array with one number for each corner, and `.max()` takes the largest of an array. The flat line gives the same with alpha and beta exchanged.",
    ),
    misconceptions=(
        Misconception(
            "steep line only",
            "You looked at the steep line alone. The flat one has to lie below the curve too: it belongs to the neighbours in the other order, and here it may ask for the larger delta.",
            lambda alpha, beta, epsilon: _steep(alpha, beta, epsilon).max(),
        ),
        Misconception(
            "flat line only",
            "You looked at the flat line alone. The steep one has to lie below the curve too, and here it may ask for the larger delta.",
            lambda alpha, beta, epsilon: _flat(alpha, beta, epsilon).max(),
        ),
        Misconception(
            "both added",
            "You added what the two lines ask for. The larger of the two is enough for both lines.",
            _added,
            recognise=any_of(_added, lambda *given: min(1.0, _added(*given))),
        ),
        Misconception(
            "smaller of both",
            "You took the smaller of what the two lines ask for. Both have to lie below the curve: take the larger.",
            lambda alpha, beta, epsilon: min(_steep(alpha, beta, epsilon).max(), _flat(alpha, beta, epsilon).max()),
        ),
        Misconception(
            "added up",
            "You added up what several corners or both lines ask for, or took a mean. Each corner is one test by itself, with all its outputs: the line and the corner that ask for the most decide alone.",
            lambda alpha, beta, epsilon: np.maximum(0, _steep(alpha, beta, epsilon)).sum(),
            recognise=any_of(
                lambda alpha, beta, epsilon: np.maximum(0, _steep(alpha, beta, epsilon)).sum(),
                lambda alpha, beta, epsilon: _steep(alpha, beta, epsilon).max() + _flat(alpha, beta, epsilon).max(),
                lambda alpha, beta, epsilon: (
                    (_steep(alpha, beta, epsilon).max() + _flat(alpha, beta, epsilon).max()) / 2
                ),
            ),
        ),
        Misconception(
            "where the line starts",
            "That is the height at which the highest line leaves the axis, 1 - delta. Delta is what is missing to 1.",
            lambda alpha, beta, epsilon: 1 - _delta(alpha, beta, epsilon),
        ),
        Misconception(
            "first corner",
            "You looked at the first corner alone. That is what is left of delta for a huge epsilon; another corner may ask for more.",
            lambda alpha, beta, epsilon: 1 - beta[0],
        ),
        Misconception(
            "best corner for epsilon 0",
            "You chose the corner with the smallest alpha + beta, and asked there alone. That is the best test for epsilon = 0. With a steeper line another corner may ask for more: ask at all of them.",
            lambda alpha, beta, epsilon: max(0.0, _steep(alpha, beta, epsilon)[np.argmin(alpha + beta)]),
            recognise=any_of(
                lambda alpha, beta, epsilon: max(0.0, _steep(alpha, beta, epsilon)[np.argmin(alpha + beta)]),
                lambda alpha, beta, epsilon: _steep(alpha, beta, epsilon)[np.argmin(alpha + beta)],
                lambda alpha, beta, epsilon: max(
                    line(alpha, beta, epsilon)[np.argmin(alpha + beta)] for line in (_steep, _flat)
                ),
            ),
        ),
        Misconception(
            "epsilon as slope",
            "Your lines fall by epsilon where they have to fall by e^epsilon.",
            lambda alpha, beta, epsilon: max((1 - beta - epsilon * alpha).max(), (1 - alpha - epsilon * beta).max()),
        ),
        Misconception(
            "inner corners only",
            "You left out the first and the last corner. What is missing there to 1 is the chance of an output that gives Mia away for certain, in or out: no epsilon pays for that.",
            lambda alpha, beta, epsilon: max(0.0, _delta(alpha[1:-1], beta[1:-1], epsilon)) if len(alpha) > 2 else 0.0,
        ),
        Misconception(
            "without epsilon",
            "That is delta for epsilon = 0, the largest advantage of any test. With epsilon alpha is multiplied by e^epsilon.",
            lambda alpha, beta, epsilon: _delta(alpha, beta, 0.0),
        ),
    ),
)
