"""Noise that remembers."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, Several, numbers_like

COEFFICIENTS = to_say("{name}: 1 to 6 numbers, the first from 0.5 to 2, the others from -1 to 1")


def _any_coefficients(rng):
    more = int(rng.choice([*range(6), 5, 5]))  # many, so that there are more of them than steps often enough
    return np.r_[rng.uniform(0.5, 2), rng.uniform(-1, 1, size=more)].round(2)


def _draw(rng):
    return [
        {
            "fresh": rng.normal(size=steps).clip(-3, 3).round(2),
            "coefficients": np.r_[rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.9, size=bands - 1)].round(2),
        }
        for steps, bands in ((6, 3), (7, 4), (4, 5))
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


def _from_the_end(fresh, coefficients):
    """The loop in the place of `fresh`, which reads from the end of it where no noise came before."""
    made = np.array(fresh, dtype=float)
    for t in range(len(made)):
        for k in range(1, len(coefficients)):
            made[t] -= coefficients[k] * made[(t - k) % len(made)]
        made[t] /= coefficients[0]
    return made


def _while_there_are_coefficients(fresh, coefficients):
    first = len(coefficients)
    return np.r_[_remembering(fresh[:first], coefficients), np.asarray(fresh[first:], dtype=float) / coefficients[0]]


def _inverse_cut_off(fresh, coefficients):
    one = np.zeros(len(coefficients))
    one[0] = 1.0
    return np.convolve(fresh, _remembering(one, coefficients))[: len(fresh)]


exercise = Exercise(
    title="Noise that remembers",
    good_for="the loop that is written into every such training",
    difficulty=3,
    minutes=15,
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
            "You remember the last noise only. Each further coefficient looks one step further back: c_2 to the noise before the last, and so on.",
            _loop(most=1),
        ),
        Misconception(
            "reads from the end",
            "Where t - k is below 0, no noise came before, and there is nothing to remember. Python reads such an index from the *end* of the list: stop at k = t.",
            _from_the_end,
        ),
        Misconception(
            "forgets after the coefficients",
            "You remember only in as many steps as there are coefficients, and later ones get fresh noise. Also these look back, as far as the coefficients reach.",
            _while_there_are_coefficients,
        ),
        Misconception(
            "inverse cut off",
            "You cut C⁻¹ off after as many numbers as there are coefficients. C ends there, and its inverse does not: what y_t remembers was itself made of noise before it.",
            _inverse_cut_off,
        ),
        Misconception(
            "added up",
            "You added the noises up, as the running sums do. Asked for is y, what is added in each single step.",
            lambda fresh, coefficients: np.cumsum(_remembering(fresh, coefficients)),
        ),
    ),
)
