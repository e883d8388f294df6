"""Both directions at once."""

import numpy as np

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number
from dpcourse.course.dpsgd.shared import random_curve
from dpcourse.tradeoff import TradeOff


def _draw_hull(rng):
    """Sampled curves that are not symmetric, at an alpha under the bridge and at one outside; both directions of the slip."""
    cases = []
    for turned in (False, True):
        alpha, beta = random_curve(rng, 5)
        p = rng.uniform(0.4, 0.9)
        beta = p * beta + (1 - p) * (1 - alpha)
        if turned:
            alpha, beta = beta[::-1].copy(), alpha[::-1].copy()
        x = np.sort(np.r_[alpha, beta])
        lower = np.array([_two_sided(alpha, beta, a) for a in x])
        flat = np.minimum(np.interp(x, alpha, beta), np.interp(x, beta[::-1], alpha[::-1])) - lower
        bridge = x[np.argmax(flat)]
        for at in (float(bridge), float(rng.uniform(0.02, 0.98))):
            cases.append({"alpha": alpha, "beta": beta, "at": round(at, 3)})
    return cases


def _points(alpha, beta):
    x, y = np.r_[alpha, beta], np.r_[beta, alpha]
    order = np.lexsort((-y, x))
    return x[order], y[order]


def _two_sided(alpha, beta, at):
    """The lowest chord at `at` between any two corners of g and of its inverse."""
    x, y = _points(alpha, beta)
    left, right = np.nonzero(x <= at)[0], np.nonzero(x > at)[0]
    if not right.size:
        return float(y[left].min())
    x0, y0, x1, y1 = x[left][:, None], y[left][:, None], x[right], y[right]
    return float((y0 + (at - x0) / (x1 - x0) * (y1 - y0)).min())


def _of_both(rule):
    """A rule for f(at) and its inverse at `at`."""
    return lambda alpha, beta, at: float(rule(np.interp(at, alpha, beta), np.interp(at, beta[::-1], alpha[::-1])))


def _any_of(*codes):
    """recognise: the values are those of one of these."""
    return lambda cases, values: any(
        all(abs(value - code(**case)) < 1e-9 for case, value in zip(cases, values, strict=True)) for code in codes
    )


def _hull_with(alpha, beta, other_alpha, other_beta, at):
    """The lower hull at `at` of the corners of g and of a second curve."""
    x, y = np.r_[alpha, other_alpha], np.r_[beta, other_beta]
    return float(_chords(x, y, at).min())


def _on_a_grid(alpha, beta, at):
    """The lower hull at `at` of the smaller of both curves on a grid."""
    x = np.linspace(0, 1, 101)
    return float(_chords(x, np.minimum(np.interp(x, alpha, beta), np.interp(x, beta[::-1], alpha[::-1])), at).min())


def _lines(alpha, beta, at):
    return _chords(*_points(alpha, beta), at)


def _chords(x, y, at):
    left, right = np.nonzero(x <= at)[0], np.nonzero(x > at)[0]
    x0, y0, x1, y1 = x[left][:, None], y[left][:, None], x[right], y[right]
    return y0 + (at - x0) / (x1 - x0) * (y1 - y0)


def _from_the_end(x, y, at):
    """Lines with the slopes of the chords that have the height of the right corner above the left one."""
    left, right = np.nonzero(x <= at)[0], np.nonzero(x > at)[0]
    x0, y0, x1, y1 = x[left][:, None], y[left][:, None], x[right], y[right]
    return y1 + (at - x0) / (x1 - x0) * (y1 - y0)


CURVE = to_say("{name}: 3 to 9 points of a sampled curve, from (0, 1) to (1, 0)")


def _any_curve(rng):
    """Never guessing alone, a straight line, of which a hull cannot be drawn."""
    beta = alpha = np.zeros(1)
    while np.ptp(alpha + beta) < 1e-6:
        alpha, beta = random_curve(rng, int(rng.integers(2, 9)))
    p = rng.uniform(0.1, 1)
    beta = p * beta + (1 - p) * (1 - alpha)
    return (alpha, beta) if rng.random() < 0.5 else (beta[::-1].copy(), alpha[::-1].copy())


exercise = Exercise(
    title="Both directions at once",
    good_for="one guarantee for both orders of the neighbours, where each order has its own curve",
    difficulty=4,
    minutes=30,
    points=4,
    domain=Domain({"alpha, beta": Made(_any_curve, CURVE), "at": Number(0, 0.999)}),
    draw=_draw_hull,
    reference=_two_sided,
    means={
        "y0 + (at - x0) / (x1 - x0) * (y1 - y0)": "how high each line through a corner on the left of `at` and one on its right is at `at`",
    },
    returns=a_number,
    possible=Number(0, 1),
    rtol=1e-5,
    forbidden=(tradeoff.envelope, TradeOff.subsampled),
    hints=(
        "The corners of the inverse are the corners of g with the two coordinates exchanged. Put all corners into one set. The largest "
        "convex function below all of them is their lower convex hull.",
        "The rope runs straight from one corner to the next that it touches. So at a given alpha it is a piece of a line through two corners. On which "
        "sides of alpha do the two lie? Of all lines through such a pair, which one is the rope at this alpha?",
        "`x = np.r_[alpha, beta]` and `y = np.r_[beta, alpha]` hold all corners. For each pair i, j with x[i] <= at < x[j]: how high is "
        "the line through both at `at`? Keep the smallest.",
    ),
    misconceptions=(
        Misconception(
            "minimum only",
            "You took the smaller of g and its inverse. Where the two cross it has a kink upwards, so it is not convex and no trade-off "
            "function. Take the largest convex function below it: the hull.",
            _of_both(min),
        ),
        Misconception(
            "one direction",
            "Your result is g itself. Either you returned it, or your second curve is nowhere below it, and so is not the inverse: `np.interp` "
            "needs rising x, and neither 1 / g nor the curve through (1 - alpha, 1 - beta) is the inverse. Adding Mia and removing her must both "
            "be covered.",
            _of_both(lambda f, inverse: f),
            recognise=_any_of(
                lambda alpha, beta, at: np.interp(at, alpha, beta),
                lambda alpha, beta, at: min(np.interp(at, alpha, beta), np.interp(at, beta, alpha)),
            ),
        ),
        Misconception(
            "other direction",
            "Your result is the inverse of g. It bounds one direction only; adding Mia and removing her must both be covered. (Of two curves that "
            "are not called yet `np.minimum` takes one whole curve: compare their values at `at`.)",
            _of_both(lambda f, inverse: inverse),
        ),
        Misconception(
            "falling numbers",
            "`np.interp` needs rising x, and `beta` falls: what it gives then means nothing. Turn both arrays round, `[::-1]`. And that is one "
            "direction only.",
            lambda alpha, beta, at: float(np.interp(at, beta, alpha)),
        ),
        Misconception(
            "maximum",
            "You took the larger of g and its inverse. That was right in lesson 03, where the promise held for both orders of the neighbours. "
            "Here g bounds one order and its inverse the other, so only the smaller is safe.",
            _of_both(max),
        ),
        Misconception(
            "average",
            "You took the average of g and its inverse. Somebody who tests in the worse direction does better than that.",
            _of_both(lambda f, inverse: (f + inverse) / 2),
        ),
        Misconception(
            "joined in order",
            "You joined all corners in the order of alpha. Some of them lie above the hull and must be left out.",
            lambda alpha, beta, at: float(np.interp(at, *_points(alpha, beta))),
        ),
        Misconception(
            "not the inverse",
            "Your result is 0: your second curve goes through (0, 0). Did you take 1 - g, or g(1 - alpha), or give `np.interp` numbers that fall? The inverse exchanges the "
            "two axes: its corners are (beta, alpha), turned round for `np.interp`.",
            lambda alpha, beta, at: _hull_with(alpha, beta, alpha, 1 - beta, at),
        ),
        Misconception(
            "from right to left",
            "Your second curve is g(1 - alpha), which is g from right to left. The inverse exchanges the two axes: its corners are (beta, alpha).",
            lambda alpha, beta, at: float(min(np.interp(at, alpha, beta), np.interp(1 - at, alpha, beta))),
        ),
        Misconception(
            "tangent throughout",
            "Your result is on the common tangent of both curves, of slope -1, throughout. The hull follows it only between the two points where "
            "it touches them. Outside it follows the lower curve.",
            lambda alpha, beta, at: float(max(0.0, np.min(alpha + beta) - at)),
        ),
        Misconception(
            "highest line",
            "You took the highest of the lines between corners. The lowest is the hull.",
            lambda alpha, beta, at: _lines(alpha, beta, at).max(),
        ),
        Misconception(
            "from the other end",
            "Your lines start at the height of one corner, but count the way from the other: to `y[j]` belongs `at - x[j]`.",
            lambda alpha, beta, at: float(_from_the_end(*_points(alpha, beta), at).min()),
        ),
        Misconception(
            "corners of f only",
            "You took the smaller of both curves at the corners of g only. The inverse has corners of its own, at the betas; they belong to the set as well.",
            lambda alpha, beta, at: float(
                _chords(alpha, np.minimum(beta, np.interp(alpha, beta[::-1], alpha[::-1])), at).min()
            ),
        ),
        Misconception(
            "nearly",
            "Nearly, but not exactly. Did you work on a grid, or with slopes of your own choice? They miss the corners of the curves. Work "
            "with the corners themselves.",
            lambda alpha, beta, at: _on_a_grid(alpha, beta, at),
            recognise=lambda cases, values: all(
                min(abs(value - _two_sided(**case)) / 5e-3, abs(value - _on_a_grid(**case)) / 1e-9) < 1
                for case, value in zip(cases, values, strict=True)
            ),
        ),
    ),
)
