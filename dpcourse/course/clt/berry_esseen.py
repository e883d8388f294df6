"""How far from Gaussian?."""

import math

import numpy as np

from dpcourse import clt
from dpcourse.engine import Exercise, Misconception, rounded, several


def _draw_functionals(rng):
    """Different mechanisms, each with a small loss: gamma below one half, between that and 1, and above 1."""
    cases = []
    large, any_size = rng.integers(5, 9), rng.integers(3, 9)
    for size, low, high in ((3, 0.58, 0.63), (int(large), 0.95, 1.1), (int(any_size), 2, 2.5)):
        spread = rng.uniform(0.1, 0.3, size=size)
        cases.append(
            {
                "kl": [rounded(x, 5) for x in spread**2 / 2 * rng.uniform(0.9, 1, size=size)],
                "kappa2": [rounded(x, 5) for x in spread**2],
                "kappa3_bar": [rounded(x, 6) for x in spread**3 * math.sqrt(size) * rng.uniform(low, high, size=size)],
            }
        )
    return cases


def _bound(
    variance=lambda kl, kappa2: kappa2.sum() - (kl**2).sum(),
    mu=lambda kl, v: 2 * kl.sum() / math.sqrt(v),
    gamma=lambda bar, v: clt.BERRY_ESSEEN * bar.sum() / v**1.5,
):
    def code(kl, kappa2, kappa3_bar):
        kl, kappa2, kappa3_bar = np.array(kl), np.array(kappa2), np.array(kappa3_bar)
        v = float(variance(kl, kappa2))
        return float(mu(kl, v)), float(gamma(kappa3_bar, v))

    return code


exercise = Exercise(
    title="How far from Gaussian?",
    good_for="a central limit theorem that says how wrong it can be",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_functionals,
    reference=_bound(),
    returns=several("mu", "gamma"),
    forbidden=(clt.berry_esseen,),
    hints=(
        "Begin with the variance of the total loss. Variances of independent steps add: each step has kappa2 - kl^2.",
        "mu is twice the sum of the kls over the root of that variance. gamma is 0.56 times the sum of the kappa3_bars over the "
        "variance to the power 3/2.",
    ),
    misconceptions=(
        Misconception(
            "square of the sum",
            "In the variance you subtract the square of the sum of the kls. Each step has its own variance: subtract the sum of the squares.",
            _bound(lambda kl, kappa2: kappa2.sum() - kl.sum() ** 2),
        ),
        Misconception(
            "kl not squared",
            "You subtract the kls as they are, and so mu and gamma are both off. A variance is the mean of the square less the mean squared: subtract the sum of the kl^2.",
            _bound(lambda kl, kappa2: abs(kappa2.sum() - kl.sum())),
        ),
        Misconception(
            "nothing subtracted",
            "You took the sum of kappa2 for the variance. That is right in the limit, section 6; here subtract the sum of the kl^2.",
            _bound(lambda kl, kappa2: kappa2.sum()),
        ),
        Misconception(
            "2 forgotten",
            "mu is twice the sum of the kls over the root: for a Gaussian kl is mu^2 / 2.",
            _bound(mu=lambda kl, v: kl.sum() / math.sqrt(v)),
        ),
        Misconception(
            "root forgotten",
            "In mu you divide by the variance. Divide by its root.",
            _bound(mu=lambda kl, v: 2 * kl.sum() / v),
        ),
        Misconception(
            "0.56 forgotten",
            "gamma lacks the constant 0.56 of Berry and Esseen's theorem.",
            _bound(gamma=lambda bar, v: bar.sum() / v**1.5),
        ),
        Misconception(
            "constant for equal steps",
            "0.4748 is the constant for equal steps. These steps differ, and for those it is 0.56.",
            _bound(gamma=lambda bar, v: 0.4748 * bar.sum() / v**1.5),
        ),
        Misconception(
            "variance to the power 3",
            "In gamma you took the variance to the power 3. It is the standard deviation to the power 3, so the variance to the power 3/2.",
            _bound(gamma=lambda bar, v: 0.56 * bar.sum() / v**3),
        ),
        Misconception(
            "cut off at one half",
            "You return at most 1/2 for gamma. Above that the theorem says nothing, but gamma is what it is: a caller wants to see how far off.",
            _bound(gamma=lambda bar, v: min(0.5, clt.BERRY_ESSEEN * bar.sum() / v**1.5)),
        ),
        Misconception(
            "averages",
            "You averaged over the steps, so that the number of answers drops out. Add up: mu grows like the square root of their number.",
            lambda kl, kappa2, kappa3_bar: _bound(
                lambda kl, kappa2: kappa2.mean() - (kl**2).mean(),
                lambda kl, v: 2 * kl.mean() / math.sqrt(v),
                lambda bar, v: 0.56 * bar.mean() / v**1.5,
            )(kl, kappa2, kappa3_bar),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first mu, then gamma.",
            lambda kl, kappa2, kappa3_bar: _bound()(kl, kappa2, kappa3_bar)[::-1],
        ),
    ),
)
