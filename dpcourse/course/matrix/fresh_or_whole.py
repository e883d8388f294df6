"""Two simple ways to release running sums."""

import math

from dpcourse import matrix
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, any_of, several


def _draw(rng):
    return [
        {"steps": int(rng.integers(*span)), "mu": float(f"{rng.uniform(*of):.3g}")}
        for span, of in (((5, 20), (0.3, 0.9)), ((30, 300), (1.2, 4)))
    ]


def _both(fresh, whole):
    return lambda steps, mu: (float(fresh(steps, mu)), float(whole(steps, mu)))


def _fresh(steps, mu):
    return math.sqrt((steps + 1) / 2) / mu


def _whole(steps, mu):
    return math.sqrt(steps) / mu


def _mean_of_lengths(steps, mu):
    return sum(map(math.sqrt, range(1, steps + 1))) / steps / mu


exercise = Exercise(
    title="Two simple ways",
    good_for="knowing what the cleverer ways have to beat",
    difficulty=1,
    minutes=7,
    points=1,
    domain=Domain({"steps": Whole(1, 10_000), "mu": Number(0.1, 5)}),
    draw=_draw,
    reference=lambda steps, mu: (math.sqrt((steps + 1) / 2) / mu, math.sqrt(steps) / mu),
    means={
        "(steps + 1) / 2": "the mean of 1, 2, …, steps",
        "math.sqrt((steps + 1) / 2) / mu": "the root mean square error of fresh noise in each step",
        "math.sqrt(steps)": "how far Mia moves all the running sums together, as a length",
    },
    returns=several("fresh", "whole"),
    forbidden=(matrix.error, matrix.errors),
    hints=(
        "Fresh: Mia changes one step by 1, so which deviation has the noise of a step? The running sum of t steps holds t of these noises. "
        "Whole: if Mia comes in the first step, she changes every running sum by 1. How long is that change?",
        "Fresh: the squares of the deviations are t / mu² for t = 1, …, steps. Their mean is (steps + 1) / 2 / mu², and the error is its root. "
        "Whole: every sum has the same deviation, the length of the change divided by mu.",
    ),
    misconceptions=(
        Misconception(
            "the last sum only",
            "For fresh noise you give the deviation of the last running sum. It is the largest: the sum of t steps holds t noises, and the "
            "error is the root of the mean of the squares over all sums.",
            _both(lambda steps, mu: math.sqrt(steps) / mu, _whole),
        ),
        Misconception(
            "mean of the deviations",
            "For fresh noise you took the mean of the deviations. The error here is a root mean square: the mean of their squares, and then the root.",
            _both(_mean_of_lengths, _whole),
        ),
        Misconception(
            "one step's noise",
            "For fresh noise you give the deviation of the noise of one step. A running sum of t steps holds t of them.",
            _both(lambda steps, mu: 1 / mu, _whole),
        ),
        Misconception(
            "one sum for all",
            "For noise on the whole sums you let Mia change one number by 1. She changes every running sum from her step on, and the "
            "noise must hide all these changes together.",
            _both(_fresh, lambda steps, mu: 1 / mu),
        ),
        Misconception(
            "an average day",
            "For noise on the whole sums your result is a mean over the steps in which Mia may come. The noise must hide her whenever she comes: take the worst step, the first, in which she changes all the sums.",
            _both(_fresh, _fresh),
            recognise=any_of(_both(_fresh, _fresh), _both(_fresh, _mean_of_lengths)),
        ),
        Misconception(
            "sums of 0 steps and more",
            "For fresh noise your result is that of running sums of 0, 1, …, `steps` - 1 noises. The sum of t steps holds t noises, and t goes from 1 to `steps`.",
            _both(lambda steps, mu: math.sqrt((steps - 1) / 2) / mu, _whole),
        ),
        Misconception(
            "changes added",
            "For noise on the whole sums you added up the changes. With Gaussian noise the sensitivity is a length: the root of the sum of their squares.",
            _both(_fresh, lambda steps, mu: steps / mu),
        ),
        Misconception(
            "exchanged",
            "You give the two the other way round. First comes fresh noise in each step, then noise on each whole sum.",
            _both(_whole, _fresh),
        ),
        Misconception(
            "the root of the sum",
            "For fresh noise your result is sqrt(steps) times too large. Either you forgot the mean: you took the root of the *sum* of the squares. Or you let Mia "
            "come in every step: she comes once, and changes one step by 1.",
            _both(lambda steps, mu: math.sqrt(steps) * math.sqrt((steps + 1) / 2) / mu, _whole),
        ),
    ),
)
