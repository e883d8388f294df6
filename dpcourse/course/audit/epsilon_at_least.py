"""The ε that an attack proves."""

import math

from dpcourse import audit
from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number, rounded


def _draw_bounds(rng):
    """Few false alarms, few misses, nothing proved; and cases in which 1 - delta - beta is negative, and 0."""
    rows = [
        (0.01, 0.05, 0.3, 0.5),
        (0.3, 0.5, 0.01, 0.05),
        (0.45, 0.55, 0.56, 0.6),
        (0.04, 0.06, 0.96, 0.99),
        (0.04, 0.06, 0.95, 0.95),
    ]
    deltas = [rng.uniform(0.01, 0.05), rng.uniform(0.01, 0.05), rng.uniform(0.001, 0.01), 0.05, 0.05]
    return [
        {"alpha": rounded(rng.uniform(*row[:2]), 4), "beta": rounded(rng.uniform(*row[2:]), 4), "delta": rounded(d, 3)}
        for row, d in zip(rows, deltas, strict=True)
    ]


def _logs(
    one=lambda a, b, d: (1 - d - b) / a, other=lambda a, b, d: (1 - d - a) / b, join=max, log=math.log, least=0.0
):
    def code(alpha, beta, delta):
        return float(max(least, join(*(log(max(rule(alpha, beta, delta), 1e-6)) for rule in (one, other)))))

    return code


def _written(alpha, beta, delta):
    """As learners write it."""
    one, other = (1 - delta - beta) / alpha, (1 - delta - alpha) / beta
    return math.log(max(1.0, one, other))


exercise = Exercise(
    title="The ε that an attack proves",
    good_for="stating an audit in the words of (ε, δ)",
    difficulty=2,
    minutes=10,
    points=2,
    domain=Domain({"alpha": Number(0.001, 0.999), "beta": Number(0.001, 0.999), "delta": Number(0, 0.1)}),
    draw=_draw_bounds,
    formulas=(_written,),
    reference=_logs(),
    means={
        "(1 - delta - beta) / alpha": "the ratio that few false alarms prove",
        "(1 - delta - alpha) / beta": "the ratio that few misses prove",
        "max(1.0, one, other)": "the larger of the two ratios, and 1 at least",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(audit.epsilon_lower_bound, audit.largest_log_ratio),
    hints=(
        "(ε, δ)-DP says two things of every test: 1 - beta <= e^ε alpha + delta, and the same with alpha and beta exchanged. Solve each for ε.",
        "The first gives ln((1 - delta - beta) / alpha), and the second its mirror image. Both are proved, so which of them counts? Before taking a "
        "logarithm see to it that its argument is positive.",
    ),
    misconceptions=(
        Misconception(
            "first direction only",
            "You used 1 - beta <= e^ε alpha + delta only. The promise holds in both directions, and here the other one proves more: exchange "
            "alpha and beta, and take the larger.",
            _logs(join=lambda first, second: first),
        ),
        Misconception(
            "second direction only",
            "You used 1 - alpha <= e^ε beta + delta only. The promise holds in both directions, and here the other one proves more: exchange "
            "alpha and beta, and take the larger.",
            _logs(join=lambda first, second: second),
        ),
        Misconception(
            "smaller",
            "You took the smaller of the two. Each of them is proved, so the larger is.",
            _logs(join=min),
        ),
        Misconception(
            "sum",
            "You added up the two directions. Both are about the same ε: take the larger.",
            _logs(join=lambda first, second: first + second),
        ),
        Misconception(
            "delta forgotten",
            "You forgot delta. With probability delta everything may be given away, and only what exceeds that speaks for an ε.",
            _logs(lambda a, b, d: (1 - b) / a, lambda a, b, d: (1 - a) / b),
        ),
        Misconception(
            "delta added",
            "You added delta where it must be taken off: 1 - beta <= e^ε alpha + delta, so e^ε >= (1 - delta - beta) / alpha.",
            _logs(lambda a, b, d: (1 + d - b) / a, lambda a, b, d: (1 + d - a) / b),
        ),
        Misconception(
            "delta below",
            "You added delta to the error below the fraction line. It is taken off above: 1 - delta - beta.",
            _logs(lambda a, b, d: (1 - b) / (a + d), lambda a, b, d: (1 - a) / (b + d)),
        ),
        Misconception(
            "delta off the end",
            "You took delta off ε. It is a probability, and is taken off the probability 1 - beta, before the logarithm.",
            lambda alpha, beta, delta: max(0.0, math.log(max((1 - beta) / alpha, (1 - alpha) / beta)) - delta),
        ),
        Misconception(
            "no logarithm",
            "You returned e^ε. Take the logarithm.",
            _logs(log=lambda ratio: ratio),
        ),
        Misconception(
            "negative",
            "One of your results is negative. Where the attack is no better than guessing nothing is proved: the bound is 0.",
            _logs(least=-math.inf),
        ),
        Misconception(
            "hits over misses",
            'You divided by 1 - alpha, or by the errors of the same direction: the ratio is that of saying "in" with Mia, 1 - beta, to saying '
            '"in" without her, alpha.',
            _logs(lambda a, b, d: (1 - d - b) / b, lambda a, b, d: (1 - d - a) / a),
        ),
        Misconception(
            "mean error",
            "You put the mean of both errors for each of them. That throws away which one is small, and that is where ε is.",
            _logs(lambda a, b, d: (1 - d - (a + b) / 2) / ((a + b) / 2), lambda a, b, d: 0.0),
        ),
    ),
)
