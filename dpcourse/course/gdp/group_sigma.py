"""Noise for a whole family."""

import math

from dpcourse import gdp, laplace
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, rounded


def _draw_family(rng):
    return [
        {
            "sensitivity": rounded(rng.uniform(2, 9)),
            "mu": rounded(mu),
            "k": int(k),
        }
        for mu, k in ((rng.uniform(0.2, 0.8), rng.integers(3, 7)), (rng.uniform(1.2, 2), rng.integers(2, 7)))
    ]


exercise = Exercise(
    title="Noise for a whole family",
    good_for="protecting households, or people with several rows",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"sensitivity": Number(0.1, 20), "mu": Number(0.05, 5), "k": Whole(1, 20)}),
    draw=_draw_family,
    reference=lambda sensitivity, mu, k: k * sensitivity / mu,
    means={
        "sensitivity": "of one person",
        "k * sensitivity": "the sensitivity to a group",
        "k": "the size of the group",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(gdp.group, gdp.sigma, laplace.scale),
    hints=(
        "An answer that is ν-GDP for one person is (k ν)-GDP for k people. Which ν makes k ν equal to mu?",
        "Promise mu / k to each single person. Which sigma does the Gaussian mechanism need for that?",
    ),
    misconceptions=(
        Misconception(
            "one person",
            "That is the noise for one person. For a family of k it would be (k mu)-GDP only.",
            lambda sensitivity, mu, k: sensitivity / mu,
        ),
        Misconception(
            "square root of k",
            "You multiplied by sqrt(k). The changes of k people may all go the same way and add up: k, not its root.",
            lambda sensitivity, mu, k: math.sqrt(k) * sensitivity / mu,
        ),
        Misconception(
            "k - 1",
            "You have k - 1 where k belongs: all k people may change the answer, the first one as well.",
            lambda sensitivity, mu, k: (k - 1) * sensitivity / mu,
        ),
        Misconception(
            "two people",
            "That is the noise for two people. The family has `k`.",
            lambda sensitivity, mu, k: 2 * sensitivity / mu,
        ),
        Misconception(
            "divided by k",
            "You divided by k. A family is harder to hide than one person: it needs more noise.",
            lambda sensitivity, mu, k: sensitivity / (mu * k),
        ),
        Misconception(
            "times mu",
            "You multiplied by mu. A smaller mu needs more noise: divide by it.",
            lambda sensitivity, mu, k: k * sensitivity * mu,
        ),
        Misconception(
            "variance",
            "That is the variance. The question is for sigma, the standard deviation.",
            lambda sensitivity, mu, k: (k * sensitivity / mu) ** 2,
        ),
        Misconception(
            "sensitivity forgotten",
            "The sensitivity is missing: one person may change the answer by that much.",
            lambda sensitivity, mu, k: k / mu,
        ),
        Misconception(
            "mu of the group",
            "That is k mu, what a family has if the noise was made for one person. The question is for sigma.",
            lambda sensitivity, mu, k: k * mu,
        ),
    ),
)
