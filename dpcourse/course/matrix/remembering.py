"""Noise that remembers."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, Several, numbers_like

COEFFICIENTS = to_say("{name}: 1 to 6 numbers, the first from 0.5 to 2, the others from -1 to 1")


def _any_coefficients(rng):
    return np.r_[rng.uniform(0.5, 2), rng.uniform(-1, 1, size=int(rng.integers(0, 6)))].round(2)


def _draw(rng):
    return [
        {
            "fresh": rng.normal(size=steps).round(2),
            "coefficients": np.r_[rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.9, size=bands - 1)].round(2),
        }
        for steps, bands in ((6, 3), (7, 4))
    ]


def _remembering(fresh, coefficients):
    made = []
    for t, z in enumerate(fresh):
        back = range(1, min(t, len(coefficients) - 1) + 1)
        remembered = sum(coefficients[k] * made[t - k] for k in back)
        made.append((z - remembered) / coefficients[0])
    return np.array(made, dtype=float)


def _toeplitz(fresh, coefficients):
    """C of as many steps as there are fresh noises."""
    c = np.zeros(len(fresh))
    size = min(len(fresh), len(coefficients))
    c[:size] = coefficients[:size]
    lag = np.arange(len(c))[:, None] - np.arange(len(c))
    return np.where(lag >= 0, c[np.maximum(lag, 0)], 0.0)


def _solved(fresh, coefficients):
    return np.linalg.solve(_toeplitz(fresh, coefficients), fresh)


def _loop(of_fresh=False, sign=-1, divide=True, most=None, divided_last=True):
    """The loop with one thing done otherwise."""

    def rule(fresh, coefficients):
        made = []
        for t, z in enumerate(fresh):
            back = range(1, min(t, len(coefficients) - 1, most or t) + 1)
            kept = fresh if of_fresh else made
            remembered = sum(coefficients[k] * kept[t - k] for k in back)
            if not divide:
                made.append(z + sign * remembered)
            elif divided_last:
                made.append((z + sign * remembered) / coefficients[0])
            else:
                made.append(z / coefficients[0] + sign * remembered)
        return np.array(made, dtype=float)

    return rule


exercise = Exercise(
    title="Noise that remembers",
    good_for="the loop that is written into every such training",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {
            "fresh": Several(Number(-3, 3), 1, 8, array=True),
            "coefficients": Made(_any_coefficients, COEFFICIENTS),
        }
    ),
    draw=_draw,
    reference=_remembering,
    formulas=(_solved,),
    means={
        "sum((coefficients[k] * made[t - k] for k in back))": "what is remembered of the noises that were made before",
        "z - remembered": "the fresh noise, less what is remembered",
    },
    returns=numbers_like("fresh"),
    hints=(
        "Row t of C y = z says: c_0 y_t + c_1 y_(t-1) + c_2 y_(t-2) + … = z_t. Everything in it is known when y_t is to be made, but y_t itself.",
        "Solve the row for y_t: (z_t - c_1 y_(t-1) - c_2 y_(t-2) - …) / c_0. Keep the y in a list. In the first steps there are fewer of them than "
        "coefficients, and in late steps more.",
    ),
    misconceptions=(
        Misconception(
            "remembers the fresh noise",
            "You subtract fresh noises z of earlier steps. What is remembered are the noises y that were *made* and added: row t of C y = z holds y's.",
            _loop(of_fresh=True),
        ),
        Misconception(
            "C times z",
            "You computed C z. Wanted is the y with C y = z, that is C⁻¹ z: earlier noise is taken back, not added again.",
            lambda fresh, coefficients: _toeplitz(fresh, coefficients) @ fresh,
        ),
        Misconception(
            "plus",
            "You add what is remembered. In c_0 y_t + c_1 y_(t-1) + … = z_t it stands on the other side: subtract it.",
            _loop(sign=1),
        ),
        Misconception(
            "not divided",
            "You did not divide by c_0, the first coefficient. Here it need not be 1.",
            _loop(divide=False),
        ),
        Misconception(
            "divided too early",
            "You divide only the fresh noise by c_0. The whole difference is divided: c_0 y_t = z_t - c_1 y_(t-1) - …",
            _loop(divided_last=False),
        ),
        Misconception(
            "remembers one",
            "You remember the last noise only. Each coefficient asks for one more: c_2 for the noise before the last, and so on.",
            _loop(most=1),
        ),
        Misconception(
            "added up",
            "You added the noises up, as the running sums do. Asked for is y, what is added in each single step.",
            lambda fresh, coefficients: np.cumsum(_remembering(fresh, coefficients)),
        ),
    ),
)
