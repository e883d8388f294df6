"""A curve for a whole family."""

import math

import numpy as np

from dpcourse import tradeoff
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, Whole, numbers_like, rounded


def _draw_group(rng):
    cases = []
    for k in (int(rng.integers(2, 4)), int(rng.integers(4, 6))):
        epsilon, delta = rounded(rng.uniform(0.15, 0.4)), rounded(rng.uniform(0.01, 0.04), 3)
        alpha = np.r_[rng.uniform(0.01, 0.1, 2), rng.uniform(0.15, 0.5, 3), rng.uniform(0.5, 0.8), 1 - delta / 2]
        alpha.sort()  # at the last one the curve is 0
        cases.append({"alpha": alpha.round(4), "epsilon": epsilon, "delta": delta, "k": k})
    return cases


def _times(f, alpha, k):
    """f applied k times."""
    for _ in range(k):
        alpha = f(np.clip(alpha, 0, 1))
    return alpha


def _group(extra=0):
    def code(alpha, epsilon, delta, k):
        f = tradeoff.approx_dp(epsilon, delta)
        return 1 - _times(lambda x: 1 - f(x), alpha, k + extra)

    return code


def _as_group(make):
    """The value at alpha of the trade-off function make(epsilon, delta, k)."""
    return lambda alpha, epsilon, delta, k: make(epsilon, delta, k)(alpha)


exercise = Exercise(
    title="A curve for a whole family",
    good_for="stating what a mechanism promises to people whose data move together",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {
            "alpha": Several(Number(0, 1), 1, 20, array=True),
            "epsilon": Number(0.01, 1),
            "delta": Number(0, 0.1),
            "k": Whole(1, 6),
        }
    ),
    draw=_draw_group,
    reference=_group(),
    means={
        "f(x)": "the curve of one person at what the last one has left",
        "1 - f(x)": "1 less the curve of one person, at what the last one has left",
    },
    returns=numbers_like("alpha"),
    possible=Number(0, 1),
    forbidden=(tradeoff.TradeOff.group, tradeoff.curves.Kind.group, tradeoff.curves.Group.__init__),
    hints=(
        "Follow one alpha for k = 2: x_1 = 1 - f(alpha) is the most often that a test says “in” one person further. It is the false alarm of the next step: x_2 = 1 - f(x_1).",
        "Start with `x = alpha`. How many such steps are there? What comes out is how often the test says “in” for the other table; beta is the rest.",
    ),
    misconceptions=(
        Misconception(
            "one person",
            "That is the curve of one person. For k people apply 1 - f k times.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(epsilon, delta)),
        ),
        Misconception(
            "one time too few",
            "You applied 1 - f only k - 1 times. From the table to one with k people changed there are k steps.",
            _group(-1),
        ),
        Misconception(
            "one time too many",
            "You applied 1 - f k + 1 times. From the table to one with k people changed there are k steps.",
            _group(1),
        ),
        Misconception(
            "power of numbers",
            "You took the k-th power of the number 1 - f(alpha). The little circle means: apply the function k times.",
            _as_group(lambda epsilon, delta, k: lambda alpha: 1 - (1 - tradeoff.approx_dp(epsilon, delta)(alpha)) ** k),
        ),
        Misconception(
            "f itself repeated",
            "You applied f k times. f swaps the roles of the two errors at each step; it is 1 - f that has to be repeated.",
            _as_group(lambda epsilon, delta, k: lambda alpha: _times(tradeoff.approx_dp(epsilon, delta), alpha, k)),
        ),
        Misconception(
            "last 1 - left out",
            "That is the power. In the end beta is 1 minus it.",
            lambda alpha, epsilon, delta, k: 1 - _group()(alpha, epsilon, delta, k),
        ),
        Misconception(
            "k epsilon, k delta",
            "You used the curve of (k epsilon, k delta). Its delta is too small for a group, and its middle too low: repeat 1 - f instead.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(k * epsilon, min(1, k * delta))),
        ),
        Misconception(
            "bound for groups",
            "That is the (epsilon, delta) bound for groups. It is true, and as a pair hardly to be improved, but its curve lies below that of the group: repeat 1 - f instead.",
            _as_group(
                lambda epsilon, delta, k: tradeoff.approx_dp(
                    k * epsilon, min(1, delta * math.expm1(k * epsilon) / math.expm1(epsilon))
                )
            ),
        ),
        Misconception(
            "k epsilon, delta",
            "You multiplied epsilon by k and left delta. Every step of the chain adds to delta as well: repeat 1 - f instead.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(k * epsilon, delta)),
        ),
        Misconception(
            "square root of k",
            "You multiplied epsilon by sqrt(k). A root belongs to many independent answers; k people may all push one answer the same way.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(math.sqrt(k) * epsilon, delta)),
        ),
        Misconception(
            "composition",
            "That is the curve of k answers about one person. Here one answer is about k people.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(epsilon, delta).power(k)),
        ),
    ),
)
