"""The curve of Gaussian noise."""

import numpy as np
from scipy.special import ndtr, ndtri

from dpcourse import tradeoff
from dpcourse.base.languages import say
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, numbers_like, rounded


def _draw_gaussian(rng):
    return [
        {"alpha": np.sort(rng.uniform(0.02, 0.98, 5)).round(3), "mu": rounded(mu)}
        for mu in (rng.uniform(0.3, 0.8), rng.uniform(1.3, 2.5))
    ]


def _within_reach(value, case):
    """Numbers; where one is nan, `norm.ppf` was most likely asked for no probability."""
    complaint = numbers_like("alpha")(value, case)
    if complaint and "nan" in complaint:
        return say(
            "The result holds nan, which is what `norm.ppf` gives outside of 0 to 1. It takes a probability and gives a place; "
            "`norm.cdf` takes a place and gives a probability. mu is no probability."
        )
    return complaint


exercise = Exercise(
    title="The curve of Gaussian noise",
    good_for="the one curve that the rest of the course measures everything by",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"alpha": Several(Number(0.001, 0.999), 1, 20, array=True), "mu": Number(0.01, 5)}),
    draw=_draw_gaussian,
    reference=lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu),
    means={
        "mu": "the distance of the two means, in standard deviations",
        "ndtri(1 - alpha)": "the threshold that raises a false alarm with chance alpha",
        "ndtri(1 - alpha) - mu": "the threshold, seen from the other mean",
    },
    returns=_within_reach,
    possible=Number(0, 1),
    forbidden=(tradeoff.gaussian, tradeoff.TradeOff.__call__, tradeoff.Gaussian.beta),
    hints=(
        "Check by hand: at alpha = 0.5 the threshold is 0, and N(1, 1) stays below 0 with chance 0.16. First the threshold, then the chance.",
        "The threshold is `norm.ppf(1 - alpha)`. N(mu, 1) is below t when a standard normal is below t - mu.",
    ),
    misconceptions=(
        Misconception(
            "plus mu",
            "You added mu. N(mu, 1) lies further right, so it stays below the threshold less often: Phi(t - mu).",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) + mu),
        ),
        Misconception(
            "threshold of alpha",
            "Your result is that of a threshold that has alpha below it. Does yours have alpha above it, Phi^-1(1 - alpha)? Or is mu added to it, and the result taken from 1?",
            lambda alpha, mu: ndtr(ndtri(alpha) - mu),
        ),
        Misconception(
            "power",
            "That is the power, the chance to find Mia when she is there. Beta is the chance to miss her: 1 minus that.",
            lambda alpha, mu: 1 - ndtr(ndtri(1 - alpha) - mu),
        ),
        Misconception(
            "mu outside",
            "You took mu away from a probability. It moves the threshold: it belongs inside the outer Phi.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha)) - mu,
        ),
        Misconception(
            "mu squared",
            "You used mu squared. mu is the distance of the two means, in standard deviations.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu**2),
        ),
        Misconception(
            "half of mu",
            "You used mu/2. The means are 0 and mu; mu/2 is only where the two densities cross.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu / 2),
        ),
        Misconception(
            "sigma for mu",
            "You moved by 1/mu, which is the noise for sensitivity 1. The two normals here have deviation 1 already and differ by mu.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - 1 / mu),
        ),
        Misconception(
            "two-sided",
            "You gave each side alpha/2, as a two-sided test does. Mia can only move the number to the right, so the best test has one threshold, with all of alpha above it.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha / 2) - mu) - ndtr(-ndtri(1 - alpha / 2) - mu),
        ),
        Misconception(
            "mu as deviation",
            "You gave the second normal the deviation mu. Its deviation is 1, and mu is its mean: `loc` of `norm.cdf`, the argument before `scale`.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) / mu),
        ),
        Misconception(
            "mu ignored",
            "That is 1 - alpha, the curve of perfect privacy. mu must lower it.",
            lambda alpha, mu: 1 - alpha,
        ),
    ),
)
