"""The noise of a plan that promises something to a person."""

import math

from dpcourse import gdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, any_of, rounded


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


def _shared_by_steps(delta_too):
    """ε shared out among the steps, and perhaps δ; the noise for one step's share."""
    return lambda epsilon, delta, rows_each, steps: (
        rows_each / gdp.mu(epsilon / steps, delta / steps if delta_too else delta)
    )


def _shared_by_rows(delta_too):
    """ε shared out among her rows, and perhaps δ by the rule for groups; the noise for the share of one row."""

    def code(epsilon, delta, rows_each, steps):
        share = epsilon / rows_each
        parts = sum(math.exp(j * share) for j in range(rows_each)) if delta_too else 1
        return math.sqrt(steps) / gdp.mu(share, delta / parts)

    return code


def _advanced(epsilon, delta, rows_each, steps):
    return rows_each / gdp.mu(epsilon / math.sqrt(2 * steps * math.log(1 / delta)), delta)


def _by_zcdp(epsilon, delta):
    """The μ whose ρ = μ²/2 gives this ε by the formula for zCDP."""
    log = math.log(1 / delta)
    return math.sqrt(2) * (math.sqrt(log + epsilon) - math.sqrt(log))


exercise = Exercise(
    title="The noise of a plan",
    good_for="planning a training before anything is looked at, for a person and not for a row",
    difficulty=2,
    minutes=5,
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
            "ε / steps",
            "You shared ε out among the steps. Where noise is Gaussian ε does not divide: the squares of μ add up. So take the μ of the whole budget, `gdp.mu(epsilon, delta)`; of a single step it may be 1/sqrt(steps) of that.",
            _shared_by_steps(False),
            recognise=any_of(_shared_by_steps(False), _shared_by_steps(True)),
        ),
        Misconception(
            "ε / rows",
            "You shared ε out among her rows. The μ of ε / rows_each is not μ / rows_each. Her rows stand in one sum and move it `rows_each` times as far, so it is μ that is multiplied by their number: take the μ of the whole budget.",
            _shared_by_rows(False),
        ),
        Misconception(
            "the rule for groups",
            "You planned for one row, with ε and δ by the rule for groups ({same_unit}). That is proved, but it is more noise than is needed: of Gaussian noise more is known than a pair (ε, δ). Her rows multiply μ by their number, and the μ of the whole budget is `gdp.mu(epsilon, delta)`.",
            _shared_by_rows(True),
        ),
        Misconception(
            "advanced composition",
            "You found the ε of a step by advanced composition. That theorem knows nothing of the noise. Where it is Gaussian the squares of μ add up, and nothing is lost: take the μ of the whole budget, `gdp.mu(epsilon, delta)`.",
            _advanced,
        ),
        Misconception(
            "by zCDP",
            "You found μ by the formula for zCDP. That is proved, but it is more noise than is needed: for Gaussian noise the exact μ of the budget is `gdp.mu(epsilon, delta)`.",
            _with(mu=_by_zcdp),
        ),
        Misconception(
            "upside down",
            "Upside down: the smaller the μ that is allowed, the more noise is needed.",
            lambda epsilon, delta, rows_each, steps: gdp.mu(epsilon, delta) / (rows_each * math.sqrt(steps)),
        ),
    ),
)
