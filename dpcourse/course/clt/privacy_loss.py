"""From a curve to its privacy loss."""

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of
from dpcourse.course.clt.shared import random_mechanism, two_arrays
from dpcourse.tradeoff import TradeOff, curves


def _loss_and_mass(value, case):
    """Two arrays with one entry for each piece."""
    complaint = two_arrays(value, case)
    if complaint:
        return complaint
    pieces = len(case["alpha"]) - 1
    if len(value[0]) != pieces:
        return say(
            "loss and mass must have one entry for each straight piece: {pieces} here, for {points} points.",
            pieces=pieces,
            points=pieces + 1,
        )
    return None


_loss_and_mass.names = two_arrays.names


def _draw_points(rng):
    cases = []
    for outcomes in (3, int(rng.integers(4, 7))):
        p, q = random_mechanism(rng, outcomes)
        alpha, beta = np.r_[0, np.cumsum(p)], np.r_[1, 1 - np.cumsum(q)]
        alpha[-1], beta[-1] = 1, 0
        cases.append({"alpha": alpha, "beta": beta})
    return cases


def _pieces(rule):
    """A rule for (loss, mass) from the widths and the falls of the pieces."""
    return lambda alpha, beta: rule(np.diff(alpha), -np.diff(beta))


POINTS = to_say("{name}: at most 13 points of a trade-off function, from (0, 1) to (1, 0)")


def _any_points(rng):
    p, q = random_mechanism(rng, int(rng.integers(1, 13)))
    if rng.random() < 0.3:
        p = rng.dirichlet(np.full(len(q), 0.3)).clip(1e-4)  # and some pieces are narrow
        p /= p.sum()
        order = np.argsort(-q / p)
        p, q = p[order], q[order]
    alpha, beta = np.r_[0, np.cumsum(p)], np.r_[1, 1 - np.cumsum(q)]
    alpha[-1], beta[-1] = 1, 0
    return alpha, beta


exercise = Exercise(
    title="From a curve to its privacy loss",
    good_for="everything that follows: sums of random numbers are easier than products of curves",
    difficulty=2,
    minutes=20,
    points=2,
    domain=Domain({"alpha, beta": Made(_any_points, POINTS)}),
    draw=_draw_points,
    reference=_pieces(lambda width, fall: (np.log(fall / width), width)),
    means={
        "-np.diff(beta)": "what beta falls by on each piece",
        "np.diff(alpha)": "the width of each piece",
        "fall / width": "how steep each piece is",
    },
    returns=_loss_and_mass,
    forbidden=(TradeOff.log_slope, TradeOff.loss_law, curves.Points.__init__),
    hints=(
        "Try it on the curve of the cell above: the points are (0, 1), (0.25, 0.25), (1, 0). The first piece goes 0.25 to the right and falls "
        "by 0.75. The cell says what its loss and its mass are.",
        "`np.diff` gives the steps from each point to the next: as many as there are pieces. Which of `np.diff(alpha)` and `np.diff(beta)` "
        "is negative? The logarithm wants the size of the slope, and U is uniform on the axis of alpha.",
    ),
    misconceptions=(
        Misconception(
            "sign",
            "Your losses have the wrong sign. L is log|f'|, the logarithm of fall over width: large where the curve is steep.",
            _pieces(lambda width, fall: (np.log(width / fall), width)),
        ),
        Misconception(
            "mass under Q",
            "Your masses are those under Q, by which beta falls. U is drawn uniformly from the alpha axis: use the widths.",
            _pieces(lambda width, fall: (np.log(fall / width), fall)),
        ),
        Misconception(
            "no logarithm",
            "Your losses are the slopes themselves. The loss is the logarithm of the slope, so that it adds where ratios multiply.",
            _pieces(lambda width, fall: (fall / width, width)),
        ),
        Misconception(
            "fall only",
            "You took the logarithm of the fall alone. The slope is the fall divided by the width of the piece.",
            _pieces(lambda width, fall: (np.log(fall), width)),
        ),
        Misconception(
            "slopes at the points",
            "`np.gradient` gives a slope for each point, an average of those of the two pieces beside it. A piece has a slope of its own: its "
            "fall over its width.",
            lambda alpha, beta: (np.log(-np.gradient(beta, alpha))[:-1], np.diff(alpha)),
            recognise=any_of(
                lambda alpha, beta: (np.log(-np.gradient(beta, alpha))[:-1], np.diff(alpha)),
                lambda alpha, beta: (np.log(-np.gradient(beta, alpha))[1:], np.diff(alpha)),
            ),
        ),
        Misconception(
            "slope from the left end",
            "Your losses are right for the first piece only: you take each slope from the point (0, 1) on. Take the fall and the width of the piece itself.",
            _pieces(lambda width, fall: (np.log(np.cumsum(fall) / np.cumsum(width)), width)),
        ),
        Misconception(
            "equal masses",
            "You gave every piece the same mass. A piece has as much mass as it is wide.",
            _pieces(lambda width, fall: (np.log(fall / width), np.full(width.size, 1 / width.size))),
        ),
        Misconception(
            "places as masses",
            "Your masses are the places where the pieces end. Those are sums; the mass of one piece is the difference.",
            _pieces(lambda width, fall: (np.log(fall / width), np.cumsum(width))),
        ),
        Misconception(
            "swapped",
            "The two arrays are in the wrong order: first the loss, then the mass.",
            _pieces(lambda width, fall: (width, np.log(fall / width))),
        ),
    ),
)
