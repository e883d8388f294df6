"""The Laplace mechanism."""

import math

from dpcourse import laplace
from dpcourse.checking import (
    AddedNoise,
    Domain,
    Misconception,
    Number,
    RandomExercise,
    Seed,
    Several,
    Whole,
    numbers_like,
    rounded,
)

ENTRIES, FEW, FURTHER = 2000, 7, 12
"""Entries of the long array and of the short one; runs with noise about as large as 1. 28,000 noises show a scale 5 % off."""


def _draw_mechanism(rng):
    """A long array three times, the first two with the same seed; FURTHER times with little noise; a short one.

    All scales in the misconceptions lie apart. An offset of 1, or a scale rounded down, shows where there is little noise.
    """
    value = rng.integers(0, 100, size=ENTRIES).astype(float)
    seed, epsilon, sensitivity = int(rng.integers(2**31)), rounded(rng.uniform(0.2, 0.25)), rounded(rng.uniform(9, 12))
    little = {"sensitivity": rounded(rng.uniform(0.4, 0.5)), "epsilon": rounded(rng.uniform(0.83, 0.97))}
    much = {"sensitivity": sensitivity, "epsilon": epsilon}
    runs = [(value, much, 0), (value, much, 0), (value, much, 1)]
    runs += [(value, little, 3 + run) for run in range(FURTHER)]
    return [{"value": v, **given, "rng": seed + run} for v, given, run in (*runs, (value[:FEW], much, 2))]


law = AddedNoise(
    "laplace", lambda value, sensitivity, epsilon: value, lambda value, sensitivity, epsilon: sensitivity / epsilon
)


def _scale(scale):
    """Noise of another scale: a function of the sensitivity and of epsilon."""
    return law.with_scale(lambda value, sensitivity, epsilon: scale(sensitivity, epsilon))


def _with_numpy(value, sensitivity, epsilon, rng):
    return value + rng.laplace(0, sensitivity / epsilon, len(value))


exercise = RandomExercise(
    title="The Laplace mechanism",
    good_for="releasing any numbers whose sensitivity you know",
    difficulty=2,
    minutes=20,
    points=3,
    domain=Domain(
        {
            "value": Several(Whole(0, 100), 1, 2000, array=True),
            "sensitivity": Number(0.1, 20),
            "epsilon": Number(0.01, 3),
            "rng": Seed(),
        },
        most=12,
    ),
    draw=_draw_mechanism,
    reference=laplace.mechanism,
    formulas=(_with_numpy,),
    means={"sensitivity / epsilon": "the scale of the noise"},
    returns=numbers_like("value"),
    law=law,
    forbidden=(laplace.mechanism, laplace.scale),
    hints=(
        "Take sensitivity 2 and epsilon 0.5. The answer may move by 2, and for that the density may fall by a factor of e^0.5 only. How wide must it be?",
        "The formula of section 3 says the scale: the sensitivity stands above the line, epsilon below. It is that of all entries together, so do not count them again.",
        "`rng.laplace(0, b, n)` gives n independent noises of scale b. How many entries need one of their own?",
    ),
    misconceptions=(
        Misconception(
            "fraction turned over",
            "Your scale is epsilon / sensitivity. More privacy means a smaller epsilon and more noise: sensitivity / epsilon.",
            _scale(lambda sensitivity, epsilon: epsilon / sensitivity),
        ),
        Misconception(
            "sensitivity forgotten",
            "Your scale is 1 / epsilon, which hides a change of 1. One row may change this value by `sensitivity`.",
            _scale(lambda sensitivity, epsilon: 1 / epsilon),
        ),
        Misconception(
            "epsilon forgotten",
            "Your scale is the sensitivity, whatever epsilon is. Divide it by epsilon.",
            _scale(lambda sensitivity, epsilon: sensitivity),
        ),
        Misconception(
            "multiplied",
            "Your scale is sensitivity times epsilon. Divide by epsilon: a smaller epsilon means more noise.",
            _scale(lambda sensitivity, epsilon: sensitivity * epsilon),
        ),
        Misconception(
            "standard deviation",  # in place of the slip that every law has
            "Your noise is 1.41 to 1.44 times as large as it should be. It is the root of 2 times b if you put the standard deviation where the scale b belongs, "
            "and b / ln 2 if you took a logarithm to base 2 for the natural one.",
            _scale(lambda sensitivity, epsilon: (math.sqrt(2) + 1 / math.log(2)) / 2 * sensitivity / epsilon),
        ),
        Misconception(
            "number of entries",
            "You also multiplied the scale by the number of entries. The sensitivity is that of all entries together; they are counted in it already.",
            law.with_scale(lambda value, sensitivity, epsilon: len(value) * sensitivity / epsilon),
        ),
        Misconception(
            "shared out among the entries",
            "You divided the scale by the number of entries. One row may spend all of the `sensitivity` on one entry: each needs the whole scale.",
            law.with_scale(lambda value, sensitivity, epsilon: sensitivity / epsilon / len(value)),
        ),
    ),
)
