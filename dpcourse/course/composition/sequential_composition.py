"""The bill for several answers."""

import math

from dpcourse import composition, gdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, a_number, rounded


def _draw_epsilons(rng):
    """Two lists; the second holds one value twice, as happens when a question is asked again."""
    first, second = rng.uniform(0.1, 2, size=3), rng.uniform(0.1, 2, size=int(rng.integers(3, 7)))
    return [{"epsilons": [rounded(e) for e in epsilons]} for epsilons in (first, [*second, second[0]])]


exercise = Exercise(
    title="The bill for several answers",
    good_for="knowing what an analyst has spent after a day of queries",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"epsilons": Several(Number(0.01, 3), 1, 20)}),
    draw=_draw_epsilons,
    reference=composition.sequential,
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(composition.sequential, composition.basic, gdp.compose),
    hints=(
        "Each answer can multiply the odds by its own e^epsilon. What do the factors multiply to?",
        "e^a times e^b is e^(a + b). `sum` adds up a list.",
    ),
    misconceptions=(
        Misconception(
            "largest",
            "You took the largest epsilon. That is the bill when every answer is about other people; here all are about the same ones.",
            lambda epsilons: max(epsilons),
        ),
        Misconception(
            "multiplied",
            "You multiplied the epsilons. The likelihood ratios e^epsilon multiply, so their logarithms, the epsilons, add.",
            lambda epsilons: math.prod(epsilons),
        ),
        Misconception(
            "quadrature",
            "You added the squares and took the root, as for standard deviations of noise. In the worst case the losses simply add.",
            lambda epsilons: math.hypot(*epsilons),
        ),
        Misconception(
            "average",
            "You took the average. Then many answers would cost no more than one.",
            lambda epsilons: sum(epsilons) / len(epsilons),
        ),
        Misconception(
            "equal ones once",
            "You counted equal epsilons once. Asking again costs again.",
            lambda epsilons: sum(set(epsilons)),
        ),
        Misconception(
            "first times count",
            "You multiplied the first epsilon by the number of answers. Each answer has its own epsilon.",
            lambda epsilons: len(epsilons) * epsilons[0],
        ),
        Misconception(
            "ratio",
            "That is the bound e^epsilon on the likelihood ratio. The question is for epsilon, its logarithm.",
            lambda epsilons: math.exp(sum(epsilons)),
        ),
        Misconception(
            "first only",
            "You return the first epsilon. Is there a `return` inside the loop?",
            lambda epsilons: epsilons[0],
        ),
        Misconception(
            "last only",
            "You return the last epsilon. Does your loop begin the sum anew each time?",
            lambda epsilons: epsilons[-1],
        ),
    ),
)
