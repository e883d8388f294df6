"""The count behind the noise of a clock's seed."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, a_whole_number

LONGEST, NEAR, FAR = 40, 1e-8, 1e-4
TOLD = to_say(
    "a true count from 0 to 1000; `b` from 0.5 to 20; `first` and `last` seconds since 1970, `last` at most 40 above `first`"
)
NAMES = ("output", "b", "first", "last")


def _noise(second, b):
    return np.random.default_rng(second).laplace(0, b)


def _away(output, noise):
    """How far from a whole number the output is without this noise."""
    return abs(output - noise - round(output - noise))


def _release(rng, place=None):
    """(output, b, first, last): drawn anew until one second alone explains the output."""
    while True:
        b, count = float(np.round(rng.uniform(0.5, 20), 2)), int(rng.integers(0, 1001))
        first, span = int(rng.integers(1_700_000_000, 1_900_000_000)), int(rng.integers(0, LONGEST + 1))
        second = first + (int(rng.integers(0, span + 1)) if place is None else span * place)
        output = count + _noise(second, b)
        away = sorted(_away(output, _noise(first + i, b)) for i in range(span + 1))
        if away[0] < NEAR and (span == 0 or away[1] > FAR):
            return output, b, first, first + span


def _draw(rng):
    """The seed is that of the first second, of the last, and some between."""
    return [dict(zip(NAMES, _release(rng, place), strict=True)) for place in (0, 1, *[None] * 10)]


def _behind(output, b, first, last, noise=_noise, sign=1):
    found = [output - sign * noise(second, b) for second in range(first, last + 1)]
    return round(min(found, key=lambda count: abs(count - round(count))))


def _with_numpy(output, b, first, last):
    for second in range(first, last + 1):
        count = output - np.random.default_rng(second).laplace(0, b)
        if abs(count - round(count)) < 1e-6:
            return round(count)
    return None


def _one_generator(output, b, first, last):
    rng = np.random.default_rng(first)
    return round(min((output - rng.laplace(0, b) for _ in range(first, last + 1)), key=lambda c: abs(c - round(c))))


def _seed(output, b, first, last):
    return min(range(first, last + 1), key=lambda second: _away(output, _noise(second, b)))


exercise = Exercise(
    title="The count behind a seed",
    good_for="taking the noise off a release whose seed came from a clock",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"output, b, first, last": Made(_release, TOLD)}, most=60),
    draw=_draw,
    reference=_behind,
    formulas=(_with_numpy,),
    returns=a_whole_number,
    rtol=0.0,
    atol=0.25,
    hints=(
        "There are `last - first + 1` seconds, and so as many noises that it may have been. Try each: `np.random.default_rng(second).laplace(0, b)`.",
        "You do not know the count. But you know that it is a whole number: which of the noises leaves one when it is taken off the output?",
        "A double is rounded, so ask `abs(count - round(count)) < 1e-6`, and return `round(count)` for the second that passes.",
    ),
    misconceptions=(
        Misconception(
            "no attack",
            "You rounded the output. The noise is still in it: find the second whose noise leaves a whole number, and take that noise off.",
            lambda output, b, first, last: round(output),
        ),
        Misconception(
            "the seed itself",
            "You return the second. It is the right one; with it take the noise off the output, and return the count that is left.",
            _seed,
        ),
        Misconception(
            "noise added again",
            "You added the noise to the output. It is in there already: take it off.",
            lambda output, b, first, last: round(output + _noise(_seed(output, b, first, last), b)),
        ),
        Misconception(
            "scale forgotten",
            "You drew noise of scale 1. This release has the scale b: `laplace(0, b)`.",
            lambda output, b, first, last: _behind(output, b, first, last, lambda second, b: _noise(second, 1.0)),
        ),
        Misconception(
            "one generator for all",
            "You made one generator and drew from it again and again. Each second is a seed of its own: make a new `np.random.default_rng(second)` for each.",
            _one_generator,
        ),
        Misconception(
            "the last second left out",
            "You never try the last second. `range(first, last)` ends before it: write `range(first, last + 1)`.",
            lambda output, b, first, last: _behind(output, b, first, max(first, last - 1)),
        ),
        Misconception(
            "the first second only",
            "You tried the first second only. The release may have come at any second up to `last`.",
            lambda output, b, first, last: _behind(output, b, first, first),
        ),
        Misconception(
            "the last second only",
            "You tried the last second only: each turn of the loop writes over what the one before has found.",
            lambda output, b, first, last: _behind(output, b, last, last),
        ),
        Misconception(
            "cut off",
            "You cut off what stands behind the point. Doubles are rounded, and 41 may come out as 40.9999999: `round` it, not `int`.",
            lambda output, b, first, last: int(output - _noise(_seed(output, b, first, last), b)),
        ),
    ),
)
