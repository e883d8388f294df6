"""From μ to (ε, δ), far out in the tails."""

import math

import numpy as np
from scipy.special import erf, log_ndtr, ndtr

from dpcourse import gdp, pld, tradeoff
from dpcourse.engine import Exercise, Misconception, a_number, rounded


def _draw_tails(rng):
    """The middle, and two places so far out that 1 - Phi is 0 in floating point and Phi(-x) is not."""
    far, large = rng.uniform(0.4, 2), rng.uniform(15, 22)
    return [
        {"epsilon": rounded(rng.uniform(0.5, 2)), "mu": rounded(rng.uniform(0.5, 1.5))},
        {"epsilon": rounded(far * (rng.uniform(10, 14) + far / 2)), "mu": rounded(far)},
        {"epsilon": rounded(large * (rng.uniform(9.5, 11) + large / 2)), "mu": rounded(large)},
    ]


def _delta(
    upper=lambda epsilon, mu: -epsilon / mu + mu / 2,
    lower=lambda epsilon, mu: -epsilon / mu - mu / 2,
    weight=lambda epsilon: epsilon,
    sign=-1,
):
    """Phi(upper) - e^weight Phi(lower) with a part replaced."""

    def code(epsilon, mu):
        with np.errstate(over="ignore"):
            second = np.exp(weight(epsilon) + log_ndtr(lower(epsilon, mu)))
            return float(np.minimum(ndtr(upper(epsilon, mu)) + sign * second, 1e300))

    return code


def _one_minus(first=True, second=True):
    """Tails as 1 - Phi(x), as a naive answer takes them."""

    def code(epsilon, mu):
        high, low = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        p = (1 + erf(-high / math.sqrt(2))) / 2 if first else ndtr(-high)
        q = (1 + erf(-low / math.sqrt(2))) / 2 if second else ndtr(-low)
        return float(p - math.exp(epsilon) * q)

    return code


exercise = Exercise(
    title="From μ to (ε, δ), far out in the tails",
    good_for="reporting a Gaussian guarantee to somebody who thinks in ε and δ",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_tails,
    reference=gdp.delta,
    formulas=(lambda epsilon, mu: ndtr(-epsilon / mu + mu / 2) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2),),
    returns=a_number,
    forbidden=(gdp.delta, gdp.epsilon, tradeoff.TradeOff.delta, tradeoff.log_delta, pld.Curve.__init__),
    atol=0.0,
    hints=(
        "`norm.cdf(x)` is Phi(x). Write both terms with Phi of something negative, exactly as in the formula.",
        "Do not turn Phi(-x) into 1 - Phi(x): near 1 a float has a spacing of 1e-16, and a smaller tail is rounded away.",
        "One line: `norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)`.",
    ),
    misconceptions=(
        Misconception(
            "1 - cdf",
            "Your result is right in the middle, and 0 far out, where delta is tiny. Possible causes: a tail computed as 1 - cdf (or by erf), which near 1 is rounded away; a result that you round; a sum over a grid that is too coarse or too short. Write each tail as Phi of something negative.",
            _one_minus(),
        ),
        Misconception(
            "1 - cdf in the first term",
            "Right in the middle, and off far out: the first term is computed as 1 - cdf, which rounds a tiny tail to 0. Use Phi(-x) there too.",
            _one_minus(second=False),
        ),
        Misconception(
            "1 - cdf in the second term",
            "Right in the middle, and off far out: the second term is computed as 1 - cdf, which rounds a tiny tail to 0. Use Phi(-x) there too.",
            _one_minus(first=False),
        ),
        Misconception(
            "mu/2 exchanged",
            "The signs of mu/2 are exchanged: + mu/2 in the first term, - mu/2 in the one with e^epsilon. Yours is negative.",
            _delta(upper=lambda epsilon, mu: -epsilon / mu - mu / 2, lower=lambda epsilon, mu: -epsilon / mu + mu / 2),
        ),
        Misconception(
            "sign of epsilon",
            "You have + epsilon/mu in the Phis. Both hold - epsilon/mu: a larger epsilon must leave a smaller delta.",
            _delta(upper=lambda epsilon, mu: epsilon / mu + mu / 2, lower=lambda epsilon, mu: epsilon / mu - mu / 2),
        ),
        Misconception(
            "tail only",
            "That is the first term alone, the chance of a loss above epsilon. What e^epsilon covers is taken away: - e^epsilon Phi(-epsilon/mu - mu/2).",
            lambda epsilon, mu: float(ndtr(-epsilon / mu + mu / 2)),
        ),
        Misconception(
            "e^epsilon forgotten",
            "The factor e^epsilon before the second Phi is missing.",
            _delta(weight=lambda epsilon: 0.0),
        ),
        Misconception(
            "e^-epsilon",
            "You multiplied the second term by e^-epsilon. It is e^epsilon.",
            _delta(weight=lambda epsilon: -epsilon),
        ),
        Misconception(
            "added",
            "You added the two terms. The second one is taken away.",
            _delta(sign=1),
        ),
        Misconception(
            "epsilon times mu",
            "You multiplied epsilon by mu inside the Phis. It is epsilon / mu.",
            _delta(upper=lambda epsilon, mu: -epsilon * mu + mu / 2, lower=lambda epsilon, mu: -epsilon * mu - mu / 2),
        ),
        Misconception(
            "half of mu squared",
            "You used mu squared over 2. The loss has the mean mu^2/2, but it is divided by its deviation mu: mu/2.",
            _delta(
                upper=lambda epsilon, mu: -epsilon / mu + mu**2 / 2,
                lower=lambda epsilon, mu: -epsilon / mu - mu**2 / 2,
            ),
        ),
        Misconception(
            "half forgotten",
            "You have mu where mu/2 belongs.",
            _delta(upper=lambda epsilon, mu: -epsilon / mu + mu, lower=lambda epsilon, mu: -epsilon / mu - mu),
        ),
    ),
)
