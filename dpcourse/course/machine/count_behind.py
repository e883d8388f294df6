"""The count behind the noise of a clock's seed."""

import functools

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, a_whole_number

LONGEST, MOST, NEAR, FAR, CASES = 40, 1000, 1e-8, 1e-4, 13
WIDE = 0.3  # from a whole number: what nobody calls near
NEARLY = 4e-4  # from a whole number: more than doubles are off, and no more than three digits show
SELDOM = 0.1
TOLD = to_say("a true count from 0 to 1000; `b` from 0.5 to 20; 1 to 40 `seconds` in a row, counted from 1970 on")
NAMES = ("output", "b", "seconds")


def _noise(second, b):
    return b * _of_scale_1(second)


@functools.lru_cache(maxsize=1024)
def _of_scale_1(second):
    return np.random.default_rng(second).laplace()


def _away(number):
    """How far a number is from a whole one."""
    return abs(number - round(number))


def _left(output, b, seconds, noise=_noise):
    """What the noise of each second leaves of the output."""
    return [output - noise(second, b) for second in seconds]


def _release(rng, place=None, true_count=None):
    """(output, b, seconds): drawn anew until one second alone explains the output; place: 0 for the first of them, -1 for the last.

    Now and then the first second, which is another, leaves a number that is nearly whole.
    """
    while True:
        b, count = float(np.round(rng.uniform(0.5, 20), 2)), int(rng.integers(0, MOST + 1))
        count = count if true_count is None else true_count
        first, size = int(rng.integers(1_700_000_000, 1_900_000_000)), int(rng.integers(1, LONGEST + 1))
        seconds = [first + i for i in range(size)]
        true = seconds[int(rng.integers(size)) if place is None else place]
        apart = _noise(true, 1.0) - _noise(first, 1.0)
        nearly = (round(b * apart) + NEARLY) / apart if apart else b
        b = nearly if rng.random() < SELDOM and 0.5 <= nearly <= 20 else b
        output = count + _noise(true, b)
        away = sorted(map(_away, _left(output, b, seconds)))
        if away[0] < NEAR and (size == 1 or away[1] > FAR):
            return output, b, seconds


def _draw(rng):
    """The seed is that of the first second, of the last, and some between; another leaves a number that is nearly whole; one count is 0, and
    one the largest, which comes out larger by a hair; in two releases the sum was rounded down so that it shows."""
    drawn = [_release(rng, place) for place in (0, -1, *[None] * 6)]
    drawn += [_such(_nearly_whole, rng), _release(rng, true_count=0), _such(_too_large, rng, true_count=MOST)]
    drawn += [_such(_rounded_down, rng) for _ in range(CASES - len(drawn))]
    return [dict(zip(NAMES, each, strict=True)) for each in drawn]


def _such(holds, rng, **kind):
    """The first of such releases of which this holds."""
    while not holds(*(release := _release(rng, **kind))):
        pass
    return release


def _nearly_whole(output, b, seconds):
    return NEAR < _away(output - _noise(seconds[0], b)) < 2 * NEARLY


def _too_large(output, b, seconds):
    return min(_left(output, b, seconds), key=_away) > MOST


def _rounded_down(*release):
    return _behind(*release) not in (_exact(*release), _from_below(*release), _cut_off(*release))


def _behind(output, b, seconds):
    return round(min(_left(output, b, seconds), key=_away))


def _with_numpy(output, b, seconds):
    for second in seconds:
        count = output - np.random.default_rng(second).laplace(0, b)
        if abs(count - round(count)) < 1e-6:
            return round(count)
    return None


def _exact(output, b, seconds):
    """With the first second that leaves a whole number to the last bit; where none does, the output."""
    return next((round(count) for count in _left(output, b, seconds) if count == round(count)), round(output))


def _from_below(output, b, seconds):
    """With the second that leaves the least above a whole number."""
    return round(min(_left(output, b, seconds), key=lambda count: count % 1))


def _cut_off(output, b, seconds):
    """With what stands behind the point cut off."""
    return int(min(_left(output, b, seconds), key=_away))


def _wide(output, b, seconds):
    """With the first second that leaves a number nearly whole."""
    return next(round(count) for count in _left(output, b, seconds) if _away(count) < 0.1)


def _too_early(cases, values):
    """Whether one room is too wide in all cases: each value is that of the first second which leaves a number so near to a whole one."""
    left = [_left(*case.values()) for case in cases]
    away = [list(map(_away, numbers)) for numbers in left]
    rooms = sorted({each for distances in away for each in distances if WIDE > each > NEAR})

    def first(numbers, distances, room):
        return next((round(number) for number, each in zip(numbers, distances, strict=True) if each <= room), None)

    return any(
        all(first(*pair, room) == value for *pair, value in zip(left, away, values, strict=True)) for room in rooms
    )


def _one_generator(output, b, seconds):
    rng = np.random.default_rng(seconds[0])
    return round(min(_left(output, b, seconds, lambda second, b: rng.laplace(0, b)), key=_away))


def _seed(output, b, seconds):
    return min(seconds, key=lambda second: _away(output - _noise(second, b)))


exercise = Exercise(
    title="The count behind a seed",
    good_for="taking the noise off a release whose seed came from a clock",
    difficulty=2,
    minutes=8,
    points=2,
    domain=Domain({"output, b, seconds": Made(_release, TOLD)}, most=60),
    draw=_draw,
    reference=_behind,
    formulas=(_with_numpy,),
    means={
        "noise(second, b)": "the noise of each second",
        "output - noise(second, b)": "the count that is left with the noise of each second",
    },
    returns=a_whole_number,
    returned_nothing=to_say(
        "Your function returned nothing (None): for some input no noise passes your test, or a path through it ends without a `return`. Look at three things. A machine has rounded the sum, so 41 "
        "may come back as 40.9999999: a test for a number that is whole to the last bit needs a little room, such as 1e-6. Every one of the `seconds` has to be tried, the last too. And a count may be "
        "any whole number from 0 to 1000, both included."
    ),
    rtol=0.0,
    atol=0.25,
    hints=(
        "There are as many noises that it may have been as there are `seconds`. Try each: `np.random.default_rng(second).laplace(0, b)`.",
        "You do not know the count. But you know that it is a whole number: which of the noises leaves one when it is taken off the output?",
        "A double is rounded, so ask `abs(count - round(count)) < 1e-6`, and return `round(count)` for the second that passes.",
    ),
    misconceptions=(
        Misconception(
            "no attack",
            "Your result is the output, rounded. Either you take no noise off, or none of your noises left a whole number. Each second is a seed of its own, the noise has the scale b, and it is "
            "taken off.",
            lambda output, b, seconds: round(output),
        ),
        Misconception(
            "the seed itself",
            "You return the second. It is the right one; with it take the noise off the output, and return the count that is left.",
            _seed,
        ),
        Misconception(
            "noise added again",
            "You added the noise to the output. It is in there already: take it off.",
            lambda output, b, seconds: round(output + _noise(_seed(output, b, seconds), b)),
        ),
        Misconception(
            "scale forgotten",
            "You drew noise of scale 1. This release has the scale b: `laplace(0, b)`.",
            lambda output, b, seconds: round(
                min(_left(output, b, seconds, lambda second, b: _noise(second, 1.0)), key=_away)
            ),
        ),
        Misconception(
            "one generator for all",
            "You made one generator and drew from it again and again. Each second is a seed of its own: make a new `np.random.default_rng(second)` for each.",
            _one_generator,
        ),
        Misconception(
            "the first second only",
            "You tried the first second only. Any of the `seconds` may be that of the release.",
            lambda output, b, seconds: round(output - _noise(seconds[0], b)),
        ),
        Misconception(
            "the last second only",
            "You tried the last second only: each turn of the loop writes over what the one before has found.",
            lambda output, b, seconds: round(output - _noise(seconds[-1], b)),
        ),
        Misconception(
            "the smallest noise",
            "You took off the smallest of the noises. The right one is that which leaves a whole number.",
            lambda output, b, seconds: round(output - min((_noise(second, b) for second in seconds), key=abs)),
        ),
        Misconception(
            "mean of all",
            "You took off the mean of all noises. The right noise is that of one second, the one which leaves a whole number.",
            lambda output, b, seconds: round(float(np.mean(_left(output, b, seconds)))),
        ),
        Misconception(
            "equal to the last bit",
            "You ask for a number that is whole to the last bit. The machine has rounded the sum, so now and then 41 comes back as 40.9999999: leave a little room, such as 1e-6.",
            _exact,
        ),
        Misconception(
            "too much room",
            "You take the first second that leaves a number nearly whole, and nearly is too wide: other seconds fit by accident. Doubles are exact to fifteen digits: 1e-6 is room enough.",
            _wide,
            recognise=_too_early,
        ),
        Misconception(
            "from below only",
            "You ask how far a number is above the whole one below it. A machine has rounded the sum, and 41 may come back as 40.9999999, which is near 41: take `abs(count - round(count))`.",
            _from_below,
        ),
        Misconception(
            "cut off",
            "You cut off what stands behind the point. Doubles are rounded, and 41 may come out as 40.9999999: `round` it, not `int`.",
            _cut_off,
        ),
    ),
)
