"""How many runs it takes."""

import math

from scipy.optimize import brentq

from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, a_whole_number, rounded


def _draw_wanted(rng):
    return [
        {"epsilon": rounded(rng.uniform(low, low + 1), 1), "confidence": float(rng.choice([0.9, 0.95, 0.98, 0.99]))}
        for low in (1.0, 3.0, 6.0)
    ]


def _runs(rule):
    """A rule for (epsilon, risk)."""
    return lambda epsilon, confidence: int(rule(epsilon, 1 - confidence))


def _least_runs(epsilon, risk):
    return math.log(1 / risk) / math.log1p(math.exp(-epsilon))


def _after_one_error(epsilon, risk):
    """How many runs it takes if one of them is an error."""
    b = 1 / (1 + math.exp(epsilon))
    most = 20 * _least_runs(epsilon, risk) + 20
    return brentq(lambda n: n * math.log1p(-b) + math.log1p(n * b / (1 - b)) - math.log(risk), 1, most, xtol=1e-6)


def _written(epsilon, confidence):
    """As learners write it."""
    each = (1 - confidence) / 2
    return math.ceil(math.log(1 / each) / math.log1p(math.exp(-epsilon)))


exercise = Exercise(
    title="How many runs it takes",
    good_for="knowing before you begin what an audit can show at all",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain({"epsilon": Number(0.1, 8), "confidence": OneOf((0.9, 0.95, 0.98, 0.99))}),
    draw=_draw_wanted,
    formulas=(_written,),
    reference=_runs(lambda e, r: math.ceil(_least_runs(e, r / 2))),
    means={
        "(1 - confidence) / 2": "the risk that each of the two bounds may take",
        "math.log(1 / each) / math.log1p(math.exp(-epsilon))": "the number of runs, before it is rounded up",
    },
    returns=a_whole_number,
    possible=Number(0, math.inf),
    hints=(
        "With no error in n runs, both upper bounds are the same number b, which solves (1 - b)^n = risk / 2. Then ε is at least ln((1 - b) / b). "
        "How small must b be?",
        "b must be at most 1 / (1 + e^ε). Put that into (1 - b)^n = risk / 2, take logarithms of both sides, and round n up.",
    ),
    misconceptions=(
        Misconception(
            "rounded down",
            "Your number is one too small: with it ε is not proved yet. If you rounded down, take `math.ceil`; if you searched, return the end of the interval at which ε is proved.",
            _runs(lambda e, r: math.floor(_least_runs(e, r / 2))),
        ),
        Misconception(
            "union forgotten",
            "You gave each of the two bounds the whole risk. Both must hold at once: half of the risk each.",
            _runs(lambda e, r: math.ceil(_least_runs(e, r))),
        ),
        Misconception(
            "3 over n",
            "You took 3 / n for the bound, the rule of three. It is for one risk, 0.05, whatever `confidence` is, and not exact: solve (1 - b)^n = risk / 2.",
            _runs(lambda e, r: math.ceil(3 * (1 + math.exp(e)))),
        ),
        Misconception(
            "one forgotten",
            "You asked for an error rate of at most e^-ε. But ε comes from (1 - b) / b, and so b must be at most 1 / (1 + e^ε).",
            _runs(lambda e, r: math.ceil(math.log(r / 2) / math.log1p(-math.exp(-e)))),
        ),
        Misconception(
            "rule of three",
            "That is the rule of thumb, ln(2 / risk) times e^ε. It is close for a large ε only. Solve (1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) * math.exp(e))),
        ),
        Misconception(
            "rule of three, all the risk",
            "That is the rule of thumb, ln(1 / risk) times e^ε, with the whole risk for each of two bounds. Give each a half, and solve "
            "(1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(1 / r) * math.exp(e))),
        ),
        Misconception(
            "rule of three, plus one",
            "That is the rule of thumb, ln(2 / risk) times (1 + e^ε). It is close for a large ε only. Solve (1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) * (1 + math.exp(e)))),
        ),
        Misconception(
            "both groups",
            "You counted the runs with Mia and those without. The question is how many of each.",
            _runs(lambda e, r: 2 * math.ceil(_least_runs(e, r / 2))),
        ),
        Misconception(
            "root of the confidence",
            "You gave each bound the root of the confidence. That is true where the two groups of runs are independent, and saves "
            "one run in a hundred at most. Here each is to have half of the risk, which needs no independence.",
            _runs(lambda e, r: math.ceil(_least_runs(e, 1 - math.sqrt(1 - r)))),
        ),
        Misconception(
            "doubled",
            "You doubled the number of runs until ε was proved. Fewer are enough: search between the last two numbers, or solve (1 - b)^n = risk / 2.",
            _runs(lambda e, r: 2 ** math.ceil(math.log2(_least_runs(e, r / 2)))),
        ),
        Misconception(
            "risk for confidence",
            "You put the confidence where the risk belongs. (1 - b)^n is the chance of seeing no error by luck: risk / 2.",
            _runs(lambda e, r: math.ceil(_least_runs(e, (1 - r) / 2))),
        ),
        Misconception(
            "epsilon for e to the epsilon",
            "You took ε for the ratio of the probabilities. The ratio is e^ε.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) / math.log1p(1 / e))),
        ),
        Misconception(
            "base 2",
            "You took the logarithm of the odds to base 2, or 2^ε for e^ε. ε belongs to the natural logarithm: `math.log`, `math.exp`.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) / math.log1p(2**-e))),
        ),
        Misconception(
            "one error",
            "Your bounds are those after one error. This attack never errs: 0 errors, and the bound b solves (1 - b)^n = risk / 2.",
            _runs(lambda e, r: math.ceil(_after_one_error(e, r / 2))),
        ),
        Misconception(
            "Hoeffding",
            "You used Hoeffding's bound, with the square of the error rate. Where no error is seen a rate of b needs about 1/b runs, not 1/b².",
            _runs(lambda e, r: math.ceil(math.log(2 / r) / 2 * (1 + math.exp(e)) ** 2)),
        ),
    ),
)
