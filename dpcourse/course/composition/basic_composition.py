"""Basic composition."""

import math

from dpcourse import composition
from dpcourse.engine import Exercise, Misconception, rounded, several


def _draw_pairs(rng):
    cases = []
    for size in (2, int(rng.integers(3, 7))):  # the last answer repeats the first: a set of them would count it once
        deltas = [float(f"{10 ** rng.uniform(-7, -2):.2e}") for _ in range(size)]
        epsilons = [rounded(e) for e in rng.uniform(0.1, 1, size=size)]
        cases.append({"epsilons": [*epsilons, epsilons[0]], "deltas": [*deltas, deltas[0]]})
    return cases


exercise = Exercise(
    title="Basic composition",
    good_for="the first bound to write down for any pipeline",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_pairs,
    reference=composition.basic,
    returns=several("epsilon", "delta"),
    forbidden=(composition.basic, composition.sequential),
    hints=(
        "Both parameters follow the same rule.",
        "Return two sums, first of the epsilons, then of the deltas: `return a, b`.",
    ),
    misconceptions=(
        Misconception(
            "largest delta",
            "You took the largest delta. Each answer has its own chance to fail, so the chances add up.",
            lambda epsilons, deltas: (sum(epsilons), max(deltas)),
        ),
        Misconception(
            "deltas multiplied",
            "You multiplied the deltas, which is the chance that all answers fail at once. One failure is enough: add.",
            lambda epsilons, deltas: (sum(epsilons), math.prod(deltas)),
        ),
        Misconception(
            "delta dropped",
            "Your delta is 0. Answers that may fail do not become pure by being several.",
            lambda epsilons, deltas: (sum(epsilons), 0.0),
        ),
        Misconception(
            "independent failures",
            "1 - (1 - delta_1)(1 - delta_2)… is a little smaller, and it is what optimal composition gives. Basic composition just adds.",
            lambda epsilons, deltas: (sum(epsilons), 1 - math.prod(1 - delta for delta in deltas)),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first epsilon, then delta.",
            lambda epsilons, deltas: (sum(deltas), sum(epsilons)),
        ),
        Misconception(
            "largest epsilon",
            "You took the largest epsilon. These answers are about the same people, so the epsilons add.",
            lambda epsilons, deltas: (max(epsilons), sum(deltas)),
        ),
    ),
)
