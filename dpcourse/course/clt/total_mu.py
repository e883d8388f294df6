"""The bill for Gaussian answers."""

import math

import numpy as np

from dpcourse import gdp, pld, tradeoff
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, Whole, a_number, rounded
from dpcourse.tradeoff import TradeOff


def _draw_mus(rng):
    cases = []
    for size in (2, int(rng.integers(3, 6))):
        mus = rng.uniform(0.05, 1, size=size)
        cases.append({"mus": [rounded(mu) for mu in mus], "counts": rng.integers(2, 40, size=size).tolist()})
    return cases


def _mus(rule):
    return lambda mus, counts: float(rule(np.array(mus), np.array(counts)))


def _written(mus, counts):
    """As learners write it."""
    return math.sqrt(sum(n * mu**2 for mu, n in zip(mus, counts, strict=True)))


exercise = Exercise(
    title="The bill for Gaussian answers",
    good_for="planning an analysis with Gaussian noise: this is the exact bill, no bound and no limit",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"mus": Several(Number(0.01, 3), 1, 8), "counts": Several(Whole(1, 1000), like="mus")}),
    draw=_draw_mus,
    formulas=(_written,),
    reference=_mus(lambda m, n: math.sqrt((n * m**2).sum())),
    means={
        "n * mu ** 2": "the squares of all answers of that kind, added up",
        "m ** 2": "the square of each mu",
        "(n * m ** 2).sum()": "the sum of the squares of all mus",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(gdp.compose, TradeOff.__matmul__, TradeOff.power, tradeoff.product, pld.Curve.__init__),
    hints=(
        "In the plane every answer moves the point at a right angle to all others. Write the formula out for mus = [0.3, 0.4] and counts = "
        "[2, 1]: how many terms stand under the root, and which two are equal?",
        "Under the root, a mechanism that is used n times stands n times: 0.3^2 + 0.3^2 + 0.4^2. What does that make of the counts?",
    ),
    misconceptions=(
        Misconception(
            "added",
            "You added the mus. That is what epsilons do in the worst case. For Gaussians the squares add, and the root comes last.",
            _mus(lambda m, n: (n * m).sum()),
        ),
        Misconception(
            "counts forgotten",
            "Each mechanism entered once. It is used counts[i] times, so its square enters counts[i] times.",
            _mus(lambda m, n: math.sqrt((m**2).sum())),
        ),
        Misconception(
            "count squared",
            "You squared the count along with mu. n answers of the same mu make mu times the square root of n, not mu times n.",
            _mus(lambda m, n: math.sqrt(((n * m) ** 2).sum())),
        ),
        Misconception(
            "root forgotten",
            "That is the square of the total. Take the root at the end.",
            _mus(lambda m, n: (n * m**2).sum()),
        ),
        Misconception(
            "roots added",
            "You composed each mechanism with itself rightly, to mu times the root of n, and then added these. Add their squares, "
            "then take the root.",
            _mus(lambda m, n: (np.sqrt(n) * m).sum()),
        ),
        Misconception(
            "largest",
            "You took the largest. That would be the bill if every person were asked by one mechanism only.",
            _mus(lambda m, n: (np.sqrt(n) * m).max()),
        ),
        Misconception(
            "average mu",
            "You used the average mu for all answers. The square of an average is not the average of the squares.",
            _mus(lambda m, n: math.sqrt(n.sum()) * (n @ m) / n.sum()),
        ),
    ),
)
