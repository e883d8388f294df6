"""From a row to a person with several rows."""

import functools
import math
import numbers

from dpcourse import gdp
from dpcourse.base.languages import say
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, rounded, several


def _draw_units(rng):
    """Few rows and many; in the last delta is capped."""
    rows = [(0.3, 0.9, 2, 4), (0.2, 0.5, 5, 9), (1.6, 2.0, 14, 20)]
    return [
        {
            "epsilon": rounded(rng.uniform(*row[:2])),
            "delta": float(f"{10 ** rng.uniform(-7, -5):.1e}"),
            "rows": int(rng.integers(*row[2:])),
        }
        for row in rows
    ]


def _spilled(epsilon, delta, rows):
    return delta * sum(math.exp(j * epsilon) for j in range(rows))


def _written(epsilon, delta, rows):
    spilled = delta * sum(math.exp(j * epsilon) for j in range(rows))
    return rows * epsilon, min(1.0, spilled)


def _closed(epsilon, delta, rows):
    """As learners write it."""
    return rows * epsilon, min(1.0, delta * (math.exp(rows * epsilon) - 1) / (math.exp(epsilon) - 1))


def _with(epsilon_of=lambda epsilon, rows: rows * epsilon, delta_of=_spilled, cap=1.0):
    return lambda epsilon, delta, rows: (epsilon_of(epsilon, rows), min(cap, delta_of(epsilon, delta, rows)))


TWO = several("epsilon", "delta")


@functools.wraps(TWO, assigned=())
def _two(value, case):
    """Two finite numbers; who writes an infinite ε where δ is 1 is told what is asked for there."""
    are_two = isinstance(value, (list, tuple)) and all(isinstance(one, numbers.Real) for one in value)
    if are_two and tuple(value) == (math.inf, 1):
        return say(
            "epsilon: where δ is 1 you return inf. With δ = 1 nothing is promised, whatever ε is. What is asked for is `rows * epsilon`, there too."
        )
    return TWO(value, case)


def _is_above_1(cases, values):
    """recognise: whether all is right but for a δ above 1 where it should be 1."""
    pairs = [(value, _written(**case)) for case, value in zip(cases, values, strict=True)]
    return any(value[1] > 1 for value, _ in pairs) and all(
        math.isclose(value[0], right[0], rel_tol=1e-6)
        and (math.isclose(value[1], right[1], rel_tol=1e-6) or (right[1] == 1 and value[1] > 1))
        for value, right in pairs
    )


exercise = Exercise(
    title="From a row to a person",
    good_for="turning a promise for one row into one for a person who has several",
    difficulty=2,
    minutes=6,
    points=2,
    domain=Domain({"epsilon": Number(0.1, 2), "delta": Number(1e-12, 1e-4), "rows": Whole(1, 20)}),
    draw=_draw_units,
    reference=_written,
    formulas=(_closed,),
    means={
        "rows * epsilon": "the ε of all her rows",
        "j * epsilon": "the ε of one row, times the rows before",
    },
    returns=_two,
    possible=Number(0, math.inf),
    hints=(
        "Change one row after the other. One row: Pr ≤ e^ε Pr' + δ. Put the same inequality for the second row into the right side. What becomes of the first δ, and what of the second?",
        "After two rows it is e^2ε Pr'' + e^ε δ + δ. After `rows` of them the δ are δ + e^ε δ + e^2ε δ and so on, with `rows` terms. A δ above 1 says no more than 1: `min(1.0, ...)`.",
    ),
    misconceptions=(
        Misconception(
            "δ times the rows",
            "Your ε is right, and your δ is only `rows` times that of a row. The δ of the second row is multiplied by e^ε on its way through the first, the third by e^2ε, and so on.",
            _with(delta_of=lambda epsilon, delta, rows: delta * rows),
        ),
        Misconception(
            "δ unchanged",
            "Your ε is right, and δ stays what it was. Each further row adds to it: at the j-th it is e^((j-1)ε) δ more.",
            _with(delta_of=lambda epsilon, delta, rows: delta),
        ),
        Misconception(
            "ε by the root",
            "You multiplied ε by the root of the rows, as for several answers about one row. Here several rows change at once, and ε is multiplied by their number.",
            _with(epsilon_of=lambda epsilon, rows: math.sqrt(rows) * epsilon),
        ),
        Misconception(
            "the largest term for all",
            "Your ε is right, and your δ is true and too large: you took the last term, the largest, for all of them. Add up the terms as they are.",
            _with(delta_of=lambda epsilon, delta, rows: delta * rows * math.exp((rows - 1) * epsilon)),
        ),
        Misconception(
            "one term too many",
            "Your δ has one term too many: it goes up to e^(rows ε). The last of `rows` terms is e^((rows - 1)ε).",
            _with(delta_of=lambda epsilon, delta, rows: delta * sum(math.exp(j * epsilon) for j in range(rows + 1))),
        ),
        Misconception(
            "e to the k ε alone",
            "Your δ has one term only, e^(rows ε). There is one for each row, from 1 to e^((rows - 1)ε).",
            _with(delta_of=lambda epsilon, delta, rows: delta * math.exp(rows * epsilon)),
        ),
        Misconception(
            "the last term alone",
            "Your ε is right, and your δ has one term only, the last, e^((rows - 1)ε). There is one for each row, beginning with 1: add them up.",
            _with(delta_of=lambda epsilon, delta, rows: delta * math.exp((rows - 1) * epsilon)),
        ),
        Misconception(
            "not capped",
            "Your δ is above 1 for many rows. A probability never is: such a promise says nothing, and δ = 1 says the same.",
            _with(cap=math.inf),
            recognise=_is_above_1,
        ),
        Misconception(
            "the step of two rows again",
            "Your ε is right. But you multiply δ by 1 + e^ε for each further row, and that is right for the second row only. The j-th row adds one term, e^((j-1)ε) δ.",
            _with(delta_of=lambda epsilon, delta, rows: delta * (1 + math.exp(epsilon)) ** (rows - 1)),
        ),
        Misconception(
            "as if Gaussian",
            "You took the ε that k rows have where the noise is Gaussian, at the same δ. Of this program nothing is known but its (ε, δ), and for other programs with that pair your ε is too small.",
            lambda epsilon, delta, rows: (gdp.epsilon(delta, rows * gdp.mu(epsilon, delta)), delta),
        ),
        Misconception(
            "the row's own promise",
            "This is the promise for one row. She has several, and all of them may change.",
            lambda epsilon, delta, rows: (epsilon, delta),
        ),
    ),
)
