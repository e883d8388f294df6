"""In or out by an output and the time that it took."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of, bits_like

TOLD = to_say(
    "1 to 40 `outputs`, whole numbers, and as many `times`; `times[i]` is `step` times the size of the noise in `outputs[i]`, up to an error "
    "of less than a fifth of `step`; `count` from 0 to 100; `step` from 0.1 to 10"
)
NAMES = ("outputs", "times", "count", "step")


def _watched(rng, size=None):
    """(outputs, times, count, step): some with Mia, whose count is one more."""
    size = int(rng.integers(1, 41)) if size is None else size
    count, step = int(rng.integers(0, 101)), float(np.round(rng.uniform(0.1, 10), 2))
    is_in, jitter = rng.integers(0, 2, size=size), rng.uniform(-0.2, 0.2, size=size)
    jitter *= rng.random(size) < 0.7  # now and then the clock is right
    noise = rng.geometric(0.3, size=size) - rng.geometric(0.3, size=size)
    return count + is_in + noise, step * (np.abs(noise) + jitter), count, step


def _draw(rng):
    return [dict(zip(NAMES, _watched(rng, size), strict=True)) for size in (6, 8, 15, 25, 40, 40)]


def _nearer(outputs, times, count, step):
    """1 where the time fits the noise that a count of one more leaves, better than that of the count itself."""
    steps = np.asarray(times) / step
    apart = [np.abs(np.abs(np.asarray(outputs) - centre) - steps) for centre in (count, count + 1)]
    return (apart[1] < apart[0]).astype(int)


def _with_numpy(outputs, times, count, step):
    sizes = np.round(times / step)
    return (np.abs(outputs - count - 1) == sizes).astype(int)


def _all_alike(cases, values):
    """Whether each result is the same number again and again, and not the same for all cases."""
    return len({min(value) for value in values}) > 1 and all(min(value) == max(value) for value in values)


def _longer(by):
    """In where the time is longer, by so many steps, than it is without Mia."""

    def code(outputs, times, count, step):
        return (np.asarray(times) / step > np.abs(np.asarray(outputs) - count) + by).astype(int)

    return code


exercise = Exercise(
    title="In or out by the time it took",
    good_for="telling whether the time of a release may be shown to anybody",
    difficulty=2,
    minutes=8,
    points=2,
    domain=Domain({"outputs, times, count, step": Made(_watched, TOLD)}),
    draw=_draw,
    reference=_nearer,
    formulas=(_with_numpy,),
    means={
        "np.round(times / step)": "how many steps each time tells",
        "np.abs(outputs - count - 1)": "the size of each noise if Mia is in",
    },
    returns=bits_like("outputs"),
    hints=(
        "The time says how large the noise is, but not its sign: `np.round(times / step)`.",
        "If Mia is out the noise is `outputs - count`, and if she is in, `outputs - count - 1`. Of which is the size what the time says?",
    ),
    misconceptions=(
        Misconception(
            "turned over",
            "You return 1 where the time fits the count without Mia. Return 1 where it fits `count + 1`.",
            lambda *given: 1 - _nearer(*given),
        ),
        Misconception(
            "no time",
            "You did not look at the times, or take the noise for larger by one than it is, which comes to the same. An output alone says little: together with its time it says all.",
            lambda outputs, times, count, step: (np.asarray(outputs) > count).astype(int),
        ),
        Misconception(
            "longer with her",
            "You take it that with Mia the time is longer. Above `count` it is shorter: there she leaves one less for the noise, `outputs - count - 1`. Compare the time with the size of that.",
            _longer(0.5),
            recognise=any_of(_longer(0.5), _longer(0.2), _longer(0)),
        ),
        Misconception(
            "time alone",
            "You decide by the time alone. It says how large the noise was, and that has nothing to do with Mia: only together with the output it tells.",
            lambda outputs, times, count, step: (np.asarray(times) / step >= 0.5).astype(int),
        ),
        Misconception(
            "noise upwards only",
            "You take it that the noise is never negative, or you have the sign of the 1 wrong where it is. The time says its size: compare `np.abs(outputs - count - 1)` with it.",
            lambda outputs, times, count, step: (
                np.asarray(outputs) - count - 1 == np.round(np.asarray(times) / step)
            ).astype(int),
        ),
        Misconception(
            "step forgotten",
            "You compare the noise with the time itself. One unit of noise takes `step`: divide by it.",
            lambda outputs, times, count, step: _nearer(outputs, times, count, 1.0),
        ),
        Misconception(
            "cut off",
            "You cut off what stands behind the point. A time may be a little too short: round to the nearest whole number, `np.round(times / step)`.",
            lambda outputs, times, count, step: (
                np.abs(np.asarray(outputs) - count - 1) == np.trunc(np.asarray(times) / step)
            ).astype(int),
        ),
        Misconception(
            "equal to the last bit",
            "You ask for times that are equal to the last bit. A clock is not so exact: round to whole steps first, or ask which of the two noises is nearer.",
            lambda outputs, times, count, step: (
                step * np.abs(np.asarray(outputs) - count - 1) == np.asarray(times)
            ).astype(int),
        ),
        Misconception(
            "a tolerance without step",
            "You leave 0.2 of the unit of time for the clock's error. It is a fifth of `step`, so leave `0.2 * step`, or divide the times by `step` first.",
            lambda outputs, times, count, step: (
                np.abs(np.asarray(times) - step * np.abs(np.asarray(outputs) - count - 1)) < 0.2
            ).astype(int),
        ),
        Misconception(
            "no sign at the count",
            "Where an output is `count` itself, `np.sign` is 0, and you take nothing off. Compare sizes, which need no sign: `np.abs(outputs - count - 1)`.",
            lambda outputs, times, count, step: (
                np.asarray(outputs) - np.sign(np.asarray(outputs) - count) * np.round(np.asarray(times) / step)
                == count + 1
            ).astype(int),
        ),
        Misconception(
            "one answer for all",
            "All numbers of one result are the same. Each release may be with Mia or without her: give each its own.",
            lambda outputs, times, count, step: np.full(
                len(outputs), int(2 * _nearer(outputs, times, count, step).mean() > 1)
            ),
            recognise=_all_alike,
        ),
        Misconception(
            "two more",
            "You compare with `count + 2`. If Mia is in, the true count is `count + 1`.",
            lambda outputs, times, count, step: _nearer(outputs, times, count + 1, step),
        ),
    ),
)
