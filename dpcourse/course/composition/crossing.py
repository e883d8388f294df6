"""Where advanced beats basic."""

import math

from dpcourse.checking import Domain, Exercise, Misconception, Number, a_whole_number, rounded


def _crossing(epsilon, delta_prime, drift=math.expm1, log=math.log):
    """The smallest k with sqrt(2 k L) + k drift(epsilon) < k, where L = log(1/delta_prime)."""
    threshold = 2 * log(1 / delta_prime) / (1 - drift(epsilon)) ** 2
    return math.floor(threshold) + 1


def _draw_crossing(rng):
    return [
        {"epsilon": rounded(epsilon), "delta_prime": 10.0 ** -int(rng.integers(4, 10))}
        for epsilon in (0.1, rng.uniform(0.2, 0.35), rng.uniform(0.4, 0.5))
    ] + [
        {"epsilon": 0.5, "delta_prime": 1e-9},  # its answer, 336, is beyond a loop that ends too early
        {"epsilon": 0.05, "delta_prime": 0.1},  # its answer, 6, is below one that begins too late
    ]


exercise = Exercise(
    title="Where advanced beats basic",
    good_for="choosing the bound before you promise it to anybody",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"epsilon": Number(0.01, 0.5), "delta_prime": Number(1e-10, 0.1)}),
    draw=_draw_crossing,
    reference=_crossing,
    means={
        "drift(epsilon)": "e^ε - 1",
        "1 - drift(epsilon)": "what e^ε - 1 leaves of 1",
        "log(1 / delta_prime)": "ln(1/δ')",
        "2 * log(1 / delta_prime) / (1 - drift(epsilon)) ** 2": "the k at which both bounds are equal",
    },
    returns=a_whole_number,
    hints=(
        "A loop over k = 1, 2, 3 … that returns at the first k where the advanced epsilon is below k epsilon will do.",
        "In the loop you need two numbers for each k: the first that advanced composition gives, and k epsilon. Or on paper: divide both sides by "
        "epsilon and by sqrt(k). That leaves sqrt(2 ln(1/delta_prime)) < sqrt(k) (2 - e^epsilon), to be solved for k.",
    ),
    misconceptions=(
        Misconception(
            "one too low",
            "One too low: at your k basic is still the smaller one. The question is for the first k at which advanced wins.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime) - 1,
        ),
        Misconception(
            "one too high",
            "One too high: at k - 1 advanced already wins.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime) + 1,
        ),
        Misconception(
            "2 forgotten",
            "The 2 under the root is missing: see the formula of advanced composition.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, log=lambda x: math.log(x) / 2),
        ),
        Misconception(
            "k forgotten under the root",
            "The k under your root is missing; or, on paper, you solved for the root of k and did not square it.",
            lambda epsilon, delta_prime: (
                math.floor(math.sqrt(2 * math.log(1 / delta_prime)) / (1 - math.expm1(epsilon))) + 1
            ),
        ),
        Misconception(
            "no drift",
            "You compared sqrt(2 k ln(1/delta_prime)) epsilon alone with k epsilon. Advanced has a second term, k epsilon (e^epsilon - 1).",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, drift=lambda e: 0.0),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, log=math.log10),
        ),
        Misconception(
            "delta compared",
            "You compared the delta of advanced composition with k epsilon. Its epsilon is the first of the two numbers, `[0]`.",
            lambda epsilon, delta_prime: math.floor(delta_prime / epsilon) + 1,
        ),
        Misconception(
            "k = 0",
            "You returned 0. With no answer both bounds are 0; begin at k = 1.",
            lambda epsilon, delta_prime: 0,
        ),
        Misconception(
            "k = 1",
            "You returned 1, where basic is still the smaller one. Print the two numbers that you compare at k = 1: that of advanced composition, "
            "spread and drift, is the larger one.",
            lambda epsilon, delta_prime: 1,
        ),
        Misconception(
            "k = 2",
            "You compared sqrt(k) with k. The constants matter: advanced has sqrt(2 ln(1/delta_prime)) in front of its root.",
            lambda epsilon, delta_prime: 2,
        ),
        Misconception(
            "smaller drift",
            "You used the smaller drift, k epsilon tanh(epsilon/2). This exercise asks for the formula of advanced composition, with k epsilon (e^epsilon - 1).",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, drift=lambda e: math.tanh(e / 2)),
        ),
    ),
)
