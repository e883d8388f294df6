"""Basic composition."""

import math

from dpcourse import composition
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, rounded, several


def _draw_pairs(rng):
    """Two pipelines. The largest answer stands twice in the middle: a set would count it once, and it is neither first nor last."""
    cases = []
    for size, digits in ((3, 3.5), (int(rng.integers(4, 7)), 7)):  # of the first three the product is seen not to be 0
        deltas = sorted((float(f"{10 ** rng.uniform(-digits, -2):.2e}") for _ in range(size)), reverse=True)
        epsilons = sorted((rounded(e) for e in rng.uniform(0.1, 1, size=size)), reverse=True)
        order = [1, 0, 0, *rng.permutation(range(2, size)).tolist()]
        cases.append({"epsilons": [epsilons[i] for i in order], "deltas": [deltas[i] for i in order]})
    return cases


exercise = Exercise(
    title="Basic composition",
    good_for="the first bound to write down for any pipeline",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain(
        {"epsilons": Several(Number(0.01, 2), 1, 10), "deltas": Several(Number(1e-9, 0.01), like="epsilons")}
    ),
    draw=_draw_pairs,
    reference=composition.basic,
    returns=several("epsilon", "delta"),
    possible=Number(0, math.inf),
    forbidden=(composition.basic, composition.sequential),
    hints=(
        "Think of two answers, each with a delta of 0.01: each may spill that much. How much can the two spill together, at most?",
        "Together they spill at most the sum, so the deltas add up. The epsilons behave as in {sequential_composition}. Return two numbers: "
        "`return epsilon, delta`.",
    ),
    misconceptions=(
        Misconception(
            "largest delta",
            "You took the largest delta. Each answer may spill its own delta, so the deltas add up.",
            lambda epsilons, deltas: (sum(epsilons), max(deltas)),
        ),
        Misconception(
            "last delta",
            "Your delta is that of the last answer alone: is there an `=` in the loop where `+=` belongs?",
            lambda epsilons, deltas: (sum(epsilons), deltas[-1]),
        ),
        Misconception(
            "equal ones once",
            "You counted equal answers once. Asking again costs again.",
            lambda epsilons, deltas: (sum(set(epsilons)), sum(set(deltas))),
        ),
        Misconception(
            "deltas multiplied",
            "You multiplied the deltas, as if all answers had to spill at once. One that spills is enough: add.",
            lambda epsilons, deltas: (sum(epsilons), math.prod(deltas)),
        ),
        Misconception(
            "delta dropped",
            "Your delta is 0. Answers that may spill do not become pure by being several.",
            lambda epsilons, deltas: (sum(epsilons), 0.0),
        ),
        Misconception(
            "independent failures",
            "1 - (1 - delta_1)(1 - delta_2)… is a little smaller, and it is what optimal composition gives. Basic composition just adds.",
            lambda epsilons, deltas: (sum(epsilons), 1 - math.prod(1 - delta for delta in deltas)),
        ),
        Misconception(
            "largest epsilon",
            "You took the largest epsilon. These answers are about the same people, so the epsilons add.",
            lambda epsilons, deltas: (max(epsilons), sum(deltas)),
        ),
    ),
)
