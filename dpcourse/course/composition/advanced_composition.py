"""Advanced composition."""

import math

from dpcourse import composition
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, rounded, several


def _draw_advanced(rng):
    """Two settings: few answers, where basic composition is smaller, and many."""
    return [
        {
            "epsilon": rounded(rng.uniform(0.05, 0.5)),
            "delta": float(f"{10 ** rng.uniform(-8, -6):.1e}"),
            "k": int(k),
            "delta_prime": float(f"{10 ** rng.uniform(-6, -3):.1e}"),
        }
        for k in (rng.integers(3, 9), rng.integers(100, 300))
    ]


def _advanced(
    root, drift=lambda epsilon, k: k * epsilon * math.expm1(epsilon), failure=lambda delta, k, slack: k * delta + slack
):
    """Advanced composition with one of its three parts replaced."""

    def code(epsilon, delta, k, delta_prime):
        return root(epsilon, k, delta_prime) + drift(epsilon, k), failure(delta, k, delta_prime)

    return code


def _root(epsilon, k, slack):
    return math.sqrt(2 * k * math.log(1 / slack)) * epsilon


exercise = Exercise(
    title="Advanced composition",
    good_for="a budget that grows with the square root of the number of answers",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {
            "epsilon": Number(0.01, 1),
            "delta": Number(1e-10, 1e-4),
            "k": Whole(1, 1000),
            "delta_prime": Number(1e-10, 0.1),
        }
    ),
    draw=_draw_advanced,
    reference=composition.advanced,
    formulas=(
        lambda epsilon, delta, k, delta_prime: (
            math.sqrt(2 * k * math.log(1 / delta_prime)) * epsilon + k * epsilon * (math.exp(epsilon) - 1),
            k * delta + delta_prime,
        ),
    ),
    means={
        "epsilon": "of a single answer",
        "delta": "of a single answer",
        "delta_prime": "the slack, the chance that the walk strays too far",
        "k": "the number of answers",
        "math.log(1 / delta_prime)": "the logarithm of 1 over the slack",
        "math.sqrt(2 * k * math.log(1 / delta_prime)) * epsilon": "the spread",
        "k * epsilon * (math.exp(epsilon) - 1)": "the drift",
        "k * delta": "what k answers may spill together",
    },
    returns=several("epsilon", "delta"),
    possible=Number(0, math.inf),
    forbidden=(composition.advanced,),
    hints=(
        "Compute the two terms apart and print them. For epsilon 0.1, k 100 and delta_prime 1e-5 the spread is 4.80 and the drift 1.05.",
        "Under the root stand three factors: 2, k and a logarithm, `math.log(1 / delta_prime)`; epsilon stands outside. In the drift the 1 "
        "is taken from e^epsilon, not from its exponent. Then the second number: each of the k answers may spill its delta, and the walk "
        "may stray once.",
    ),
    misconceptions=(
        Misconception(
            "log of 1/epsilon",
            "You took ln(1/epsilon). The logarithm is of 1/delta_prime: the slack is the chance that the walk strays further than the bound.",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * k * math.log(1 / epsilon)) * epsilon),
        ),
        Misconception(
            "log of 1/delta",
            "You took ln(1/delta). The slack is delta_prime, which you choose; delta is what a single answer may spill.",
            lambda epsilon, delta, k, delta_prime: (
                _advanced(_root)(epsilon, delta, k, delta)[0],
                k * delta + delta_prime,
            ),
        ),
        Misconception(
            "smaller of two",
            "You returned basic composition where it is smaller. When you promise something, do; here return advanced composition itself.",
            lambda epsilon, delta, k, delta_prime: (
                min(k * epsilon, _advanced(_root)(epsilon, delta, k, delta_prime)[0]),
                k * delta + delta_prime,
            ),
        ),
        Misconception(
            "2 forgotten",
            "The 2 under the root is missing: sqrt(2 k ln(1/delta_prime)).",
            _advanced(lambda epsilon, k, slack: math.sqrt(k * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "2 outside the root",
            "Your 2 stands outside the root. It belongs under it, with k and the logarithm.",
            _advanced(lambda epsilon, k, slack: 2 * math.sqrt(k * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "k in the logarithm",
            "You took ln(k / delta_prime). The slack is for the whole walk, not for each of its steps, so k has no place in the logarithm.",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * k * math.log(k / slack)) * epsilon),
        ),
        Misconception(
            "basic epsilon",
            "Your epsilon is k epsilon, which is basic composition. Advanced composition has a root of k, and a drift.",
            lambda epsilon, delta, k, delta_prime: (k * epsilon, k * delta + delta_prime),
        ),
        Misconception(
            "k outside the root",
            "Your k stands outside the root, so the bound grows with k again. Put it under the root: sqrt(2 k ln(1/delta_prime)).",
            _advanced(lambda epsilon, k, slack: k * math.sqrt(2 * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * k * math.log10(1 / slack)) * epsilon),
        ),
        Misconception(
            "no drift",
            "The second term, k epsilon (e^epsilon - 1), is missing. The losses drift upward; the root covers only their spread.",
            _advanced(_root, drift=lambda epsilon, k: 0.0),
        ),
        Misconception(
            "drift with e^epsilon",
            "In the second term you have e^epsilon where e^epsilon - 1 belongs. For a small epsilon that is nearly 1 in place of nearly 0.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon * math.exp(epsilon)),
        ),
        Misconception(
            "drift without epsilon",
            "In the second term epsilon is missing as a factor: k epsilon (e^epsilon - 1).",
            _advanced(_root, drift=lambda epsilon, k: k * math.expm1(epsilon)),
        ),
        Misconception(
            "drift without k",
            "In the second term k is missing as a factor: k epsilon (e^epsilon - 1).",
            _advanced(_root, drift=lambda epsilon, k: epsilon * math.expm1(epsilon)),
        ),
        Misconception(
            "brackets",
            "You took e^(epsilon - 1). It is e^epsilon, minus 1: `math.exp(epsilon) - 1`.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon * math.exp(epsilon - 1)),
        ),
        Misconception(
            "drift approximated",
            "You used epsilon squared for epsilon (e^epsilon - 1). For a small epsilon they are nearly the same; this theorem has the second.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon**2),
        ),
        Misconception(
            "no slack",
            "Your delta is k delta. The slack counts as well: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: k * delta),
        ),
        Misconception(
            "slack k times",
            "You added the slack once for each answer. It is spent once, for the whole walk: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: k * (delta + slack)),
        ),
        Misconception(
            "only the slack",
            "Your delta is delta_prime alone. The k answers may spill as well, each its delta: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: slack),
        ),
        Misconception(
            "one delta",
            "You added delta once. It belongs there k times, once for each answer: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: delta + slack),
        ),
        Misconception(
            "k not under the root",
            "The k under the root is missing: sqrt(2 k ln(1/delta_prime)).",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "smaller drift",
            "You used the smaller drift, k epsilon tanh(epsilon/2). It is true as well; this exercise asks for the older one, k epsilon (e^epsilon - 1).",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon * math.tanh(epsilon / 2)),
        ),
    ),
)
