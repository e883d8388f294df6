"""The noise of a plan that promises something to a person."""

import math

from dpcourse import gdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, rounded


def _draw_plans(rng):
    return [
        {
            "epsilon": rounded(rng.uniform(*epsilons)),
            "delta": float(f"{10 ** rng.uniform(-8, -5):.1e}"),
            "rows_each": int(rng.integers(*rows)),
            "steps": int(rng.integers(*steps)),
        }
        for epsilons, rows, steps in (
            ((0.5, 1.5), (2, 5), (20, 60)),
            ((2, 4), (5, 12), (100, 300)),
            ((5, 8), (3, 7), (5, 15)),
        )
    ]


def _written(epsilon, delta, rows_each, steps):
    mu = gdp.mu(epsilon, delta)
    return rows_each * math.sqrt(steps) / mu


def _with(rows=lambda k: k, steps_of=math.sqrt, mu=gdp.mu):
    return lambda epsilon, delta, rows_each, steps: rows(rows_each) * steps_of(steps) / mu(epsilon, delta)


exercise = Exercise(
    title="The noise of a plan",
    good_for="planning a training before anything is looked at, for a person and not for a row",
    difficulty=2,
    minutes=10,
    points=2,
    domain=Domain(
        {
            "epsilon": Number(0.1, 10),
            "delta": Number(1e-10, 1e-4),
            "rows_each": Whole(1, 20),
            "steps": Whole(1, 500),
        }
    ),
    draw=_draw_plans,
    reference=_written,
    means={
        "gdp.mu(epsilon, delta)": "the μ that the budget allows to all steps",
        "rows_each * math.sqrt(steps)": "the μ that all steps would have with a noise multiplier of 1",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "How far can one person move the clipped sum of a step, in units of the clip norm, if she has `rows_each` rows and all of them are in it?",
        "A step with noise multiplier σ is Gaussian with μ = rows_each / σ. For several answers the squares of μ add up. Set the μ of all steps to what the budget allows, `gdp.mu(epsilon, delta)`, and solve for σ.",
    ),
    misconceptions=(
        Misconception(
            "one row",
            "This is the plan for one row. All rows of a person may stand in the same sum, so she moves it `rows_each` times as far.",
            _with(rows=lambda k: 1),
        ),
        Misconception(
            "the root of the rows",
            "You took the root of the rows. Several answers about one row add up by squares. Several rows in one sum do not: their gradients may all point the same way.",
            _with(rows=math.sqrt),
        ),
        Misconception(
            "the steps themselves",
            "You multiplied by the steps. For Gaussian answers the squares of μ add up, so the noise grows with their root.",
            _with(steps_of=lambda steps: steps),
        ),
        Misconception(
            "one step",
            "This is enough for one step. There are `steps` of them.",
            _with(steps_of=lambda steps: 1),
        ),
        Misconception(
            "ε for μ",
            "You divided by epsilon. The budget is (ε, δ): the μ that it allows is `gdp.mu(epsilon, delta)`.",
            _with(mu=lambda epsilon, delta: epsilon),
        ),
        Misconception(
            "the textbook noise",
            "You used the noise of the textbook, the root of 2 ln(1.25 / δ), over ε. It is proved for ε below 1 only, and it wastes noise there: the exact μ is `gdp.mu(epsilon, delta)`.",
            _with(mu=lambda epsilon, delta: epsilon / math.sqrt(2 * math.log(1.25 / delta))),
        ),
        Misconception(
            "upside down",
            "Upside down: the smaller the μ that is allowed, the more noise is needed.",
            lambda epsilon, delta, rows_each, steps: gdp.mu(epsilon, delta) / (rows_each * math.sqrt(steps)),
        ),
    ),
)
