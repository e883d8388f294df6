"""The noise of a training without coins."""

import functools
import math

import numpy as np

from dpcourse import gdp
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, OneOf, Whole, a_number, any_of

COEFFICIENTS = to_say("{name}: an array of 1 to 20 numbers, the first 1, the others from 0 to 1")


def _any_coefficients(rng):
    return np.r_[1.0, np.sort(rng.uniform(0, 1, size=int(rng.integers(0, 20))))[::-1]].round(2)


def _draw(rng):
    return [
        {
            "coefficients": np.r_[1.0, np.sort(rng.uniform(0.1, 0.8, size=bands - 1))[::-1]].round(2),
            "participations": int(rng.integers(3, 12)),
            "epsilon": float(f"{rng.uniform(*of):.3g}"),
            "delta": delta,
        }
        for bands, of, delta in ((4, (0.6, 1.5), 1e-5), (6, (3, 8), 1e-6))
    ]


_mu = functools.lru_cache(maxsize=4096)(gdp.mu)


def _by(rule):
    """A rule of (the coefficients, participations, mu, epsilon, delta)."""
    return lambda coefficients, participations, epsilon, delta: float(
        rule(np.asarray(coefficients), participations, _mu(epsilon, delta), epsilon, delta)
    )


def _split(both):
    """ε, and δ too or not, in equal shares."""
    return lambda coefficients, participations, epsilon, delta: float(
        np.linalg.norm(coefficients) / _mu(epsilon / participations, delta / participations if both else delta)
    )


def _written(coefficients, participations, epsilon, delta):
    sensitivity = math.sqrt(participations) * np.linalg.norm(coefficients)
    return sensitivity / _mu(epsilon, delta)


exercise = Exercise(
    title="The noise of a training without coins",
    good_for="planning a run: from ε to the deviation that stands in the code",
    difficulty=2,
    minutes=9,
    points=2,
    domain=Domain(
        {
            "coefficients": Made(_any_coefficients, COEFFICIENTS),
            "participations": Whole(1, 50),
            "epsilon": Number(0.1, 10),
            "delta": OneOf((1e-5, 1e-6, 1e-8)),
        }
    ),
    draw=_draw,
    reference=_by(lambda c, k, mu, epsilon, delta: math.sqrt(k) * np.linalg.norm(c) / mu),
    formulas=(_written,),
    means={
        "math.sqrt(participations) * np.linalg.norm(coefficients)": "the sensitivity, for visits whose columns have no row in common",
        "_mu(epsilon, delta)": "the largest μ that keeps (ε, δ)",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "μ is sensitivity over deviation. `gdp.mu(epsilon, delta)` gives the largest μ that the budget allows. What is the sensitivity, if the columns of "
        "two visits have no row in common?",
        "The squares of such columns add up: the sensitivity is sqrt(participations) times the length of a column, `np.linalg.norm(coefficients)`. Divide it by μ.",
    ),
    misconceptions=(
        Misconception(
            "one epoch",
            "You pay for one visit. Mia is in a batch of every epoch, and the squares of what her visits change add up.",
            _by(lambda c, k, mu, epsilon, delta: np.linalg.norm(c) / mu),
        ),
        Misconception(
            "epochs, not their root",
            "You multiplied by the number of visits. Their columns have no row in common, so their *squares* add up: the root of the number.",
            _by(lambda c, k, mu, epsilon, delta: k * np.linalg.norm(c) / mu),
        ),
        Misconception(
            "fresh noise",
            "You forgot the strategy: with these coefficients Mia moves C x in several rows, by the length of a column.",
            _by(lambda c, k, mu, epsilon, delta: math.sqrt(k) / mu),
        ),
        Misconception(
            "coefficients added",
            "You added up the coefficients. For Gaussian noise the length of the column counts: the root of the sum of squares.",
            _by(lambda c, k, mu, epsilon, delta: math.sqrt(k) * np.sum(c) / mu),
        ),
        Misconception(
            "the square of the length",
            "You took the sum of the squares of the coefficients, and not its root. The sensitivity is the length of a column.",
            _by(lambda c, k, mu, epsilon, delta: math.sqrt(k) * np.sum(c**2) / mu),
        ),
        Misconception(
            "epsilon for mu",
            "You divided by ε. What divides the sensitivity is μ, and `gdp.mu(epsilon, delta)` finds it.",
            _by(lambda c, k, mu, epsilon, delta: math.sqrt(k) * np.linalg.norm(c) / epsilon),
        ),
        Misconception(
            "upside down",
            "You divided μ by the sensitivity. That is no deviation: more visits need *more* noise.",
            _by(lambda c, k, mu, epsilon, delta: mu / (math.sqrt(k) * np.linalg.norm(c))),
        ),
        Misconception(
            "classic formula",
            "You used the classic formula for Gaussian noise. It asks for too much, and for ε above 1 it is not proved. Use `gdp.mu(epsilon, delta)`.",
            _by(
                lambda c, k, mu, epsilon, delta: (
                    math.sqrt(k) * np.linalg.norm(c) * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
                )
            ),
        ),
        Misconception(
            "budget split over the epochs",
            "You gave each visit an equal share of ε, as by basic composition. For Gaussian noise ε is not divided: the visits are one answer with a longer change, "
            "and it is the squares of their μ that add up.",
            _split(True),
            recognise=any_of(_split(True), _split(False)),
        ),
        Misconception(
            "through zCDP",
            "You went through zero-concentrated privacy. That is proved, and asks for more noise than is needed: `gdp.mu(epsilon, delta)` is exact for Gaussian noise.",
            _by(
                lambda c, k, mu, epsilon, delta: (
                    math.sqrt(k / 2)
                    * np.linalg.norm(c)
                    / (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta)))
                )
            ),
        ),
    ),
)
