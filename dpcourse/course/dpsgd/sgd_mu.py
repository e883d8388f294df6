"""The limit's μ of a training run."""

import math

from scipy.special import ndtr

from dpcourse import clt
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Whole, a_number, rounded


def _draw_run(rng):
    return [
        {
            "noise_multiplier": rounded(rng.uniform(low, low + 0.4)),
            "batch": int(rng.choice([64, 128, 256, 512])),
            "n": int(rng.integers(20, 80)) * 1000,
            "epochs": int(rng.integers(10, 90)),
        }
        for low in (0.6, 1.1)
    ]


def _mu(rule):
    """A rule for (sigma, p, T, batch, n, epochs)."""
    return lambda noise_multiplier, batch, n, epochs: float(
        rule(noise_multiplier, batch / n, epochs * n / batch, batch, n, epochs)
    )


def _of_rounded_steps(cases, values):
    """recognise: every value is that of the steps rounded, of a run or of an epoch, up, down or to the nearest."""
    rules = [
        rule
        for whole in (round, math.floor, math.ceil)
        for rule in (
            _mu(lambda s, p, t, b, n, e, whole=whole: p * math.sqrt(whole(t) * math.expm1(1 / s**2))),
            _mu(lambda s, p, t, b, n, e, whole=whole: p * math.sqrt(e * whole(n / b) * math.expm1(1 / s**2))),
        )
    ]
    return any(
        all(math.isclose(value, rule(**case), rel_tol=1e-9) for case, value in zip(cases, values, strict=True))
        for rule in rules
    )


exercise = Exercise(
    title="The limit's μ of a training run",
    good_for="checking in one line what a paper claims",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {
            "noise_multiplier": Number(0.5, 3),
            "batch": OneOf((64, 128, 256, 512)),
            "n": Whole(1000, 100_000),
            "epochs": Whole(1, 100),
        }
    ),
    draw=_draw_run,
    reference=_mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(1 / s**2))),
    formulas=(
        lambda noise_multiplier, batch, n, epochs: (
            batch / n * math.sqrt(epochs * n / batch * (math.exp(1 / noise_multiplier**2) - 1))
        ),
    ),
    means={
        "batch / n": "the sample rate, the chance of each person in each step",
        "epochs * n / batch": "the number of steps",
        "math.exp(1 / noise_multiplier ** 2) - 1": "e to the power of 1/noise_multiplier², minus 1",
        "epochs * n / batch * (math.exp(1 / noise_multiplier ** 2) - 1)": "what stands under the root: that for every step",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(clt.noisy_sgd_mu,),
    hints=(
        "The formula wants the sample rate p and the number of steps T. How many batches make one epoch?",
        "p = batch / n and T = epochs * n / batch. Which of the two stands under the root in the formula, and which before it?",
    ),
    misconceptions=(
        Misconception(
            "steps rounded",
            "You rounded the number of steps, of the run or of an epoch (`round`, `int` or `//`). Here it need not be whole: T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(e * (n // b) * math.expm1(1 / s**2))),
            recognise=_of_rounded_steps,
        ),
        Misconception(
            "epochs for steps",
            "You put the epochs where the steps belong. One epoch has n / batch steps, so T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(e * math.expm1(1 / s**2))),
        ),
        Misconception(
            "root forgotten",
            "You forgot the root. mu is p times the root of T (e^(1/sigma²) - 1).",
            _mu(lambda s, p, t, b, n, e: p * t * math.expm1(1 / s**2)),
        ),
        Misconception(
            "root of steps only",
            "You took the root of T alone. The root is over the whole product T (e^(1/sigma²) - 1).",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t) * math.expm1(1 / s**2)),
        ),
        Misconception(
            "rate under the root",
            "You put p under the root. It stands before it: in the sum of squares p is squared.",
            _mu(lambda s, p, t, b, n, e: math.sqrt(p * t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps before the root",
            "You put T before the root. It is under the root: the squares of the steps add up.",
            _mu(lambda s, p, t, b, n, e: p * t * math.sqrt(math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps upside down",
            "You multiplied the epochs by batch / n, or you squared p; both give the same. One epoch has n / batch steps, and p stands before the "
            "root as it is.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(e * b / n * math.expm1(1 / s**2))),
        ),
        Misconception(
            "minus one outside",
            "You took 1 off at the end. It is taken off e^(1/sigma²), before T multiplies.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.exp(1 / s**2) - 1)),
        ),
        Misconception(
            "minus one forgotten",
            "You left out the - 1. With much noise e^(1/sigma²) goes to 1, and mu must go to 0.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.exp(1 / s**2))),
        ),
        Misconception(
            "exponent",
            "Your exponent is 1/sigma. It is 1/sigma².",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(1 / s))),
        ),
        Misconception(
            "sigma squared above",
            "Your exponent is sigma². It is 1/sigma²: more noise, smaller mu.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t * math.expm1(s**2))),
        ),
        Misconception(
            "small exponent",
            "You replaced e^(1/sigma²) - 1 by 1/sigma². That holds for much noise only.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(t) / s),
        ),
        Misconception(
            "not sampled",
            "You left out p. It stands before the root: whoever is drawn more seldom is hidden better.",
            _mu(lambda s, p, t, b, n, e: math.sqrt(t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "batch for rate",
            "You put the batch where the sample rate belongs. p = batch / n.",
            _mu(lambda s, p, t, b, n, e: b * math.sqrt(t * math.expm1(1 / s**2))),
        ),
        Misconception(
            "steps of one epoch",
            "You counted the steps of one epoch. T = epochs * n / batch.",
            _mu(lambda s, p, t, b, n, e: p * math.sqrt(n / b * math.expm1(1 / s**2))),
        ),
        Misconception(
            "uniform batches",
            "That is the limit for batches of fixed size. Here every person tosses a coin.",
            _mu(
                lambda s, p, t, b, n, e: (
                    p * math.sqrt(2 * t * (math.exp(s**-2) * ndtr(1.5 / s) + 3 * ndtr(-0.5 / s) - 2))
                )
            ),
        ),
    ),
)
