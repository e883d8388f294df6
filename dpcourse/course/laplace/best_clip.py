"""The clip that costs least."""

import itertools
import math

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, a_number, rounded

PEOPLE, CLIPS = 120, 60
CUT = ((4, 25), (4, 25), (4, 25), (8, 16), (0, 1), (0, 1))
"""From and below which whole number lie the entries cut by the best clip of each table, about 1 / epsilon; the last budgets cut none."""


def _draw(rng):
    """Tables in which few entries are much larger than the rest, at small budgets and at large ones.

    Where the budget is small, who counts too much noise ends at the smallest clip; where it is large, they do not. No
    1 / epsilon is near a whole number: at one, all clips between two entries would be equally good. The rule of 1 / epsilon
    entries above the clip, however it is read, leads to another clip in some table.
    """
    while True:
        cases = [_table(rng, fewest, most) for fewest, most in CUT]
        if not _follows_the_rule(cases, [_right(**case) for case in cases]):
            return cases


def _table(rng, fewest, most):
    values = np.round(rng.lognormal(rng.uniform(1, 5), 1, size=PEOPLE), 2)
    clips = np.round(np.geomspace(0.6, 1.3 * values.max(), CLIPS) * rng.uniform(1, 1.05, size=CLIPS), 2)
    epsilon = rounded(1 / (rng.integers(fewest, most) + rng.uniform(0.4, 0.6)), 4)
    return {"values": values.tolist(), "clips": clips.tolist(), "epsilon": epsilon}


def _by_the_rule(values, clips, epsilon):
    """The clip that has 1 / epsilon entries above it, by each reading of that rule for a list of clips."""
    clips, largest, found = np.sort(clips), np.sort(values)[::-1], {}
    numbers = {"": 1 / epsilon, "floor": 1 // epsilon, "ceil": math.ceil(1 / epsilon), "round": round(1 / epsilon)}
    for (reading, wanted), counts in itertools.product(numbers.items(), (np.greater, np.greater_equal)):
        above, reading = counts(largest[:, None], clips).sum(axis=0), f"{reading} {counts.__name__}"
        off = np.abs(above - wanted)
        nearest = np.flatnonzero(off == off.min())
        found[f"nearest {reading}, first"], found[f"nearest {reading}, last"] = clips[nearest[0]], clips[nearest[-1]]
        found[f"at most {reading}"] = clips[np.argmax(above <= wanted)]
        found[f"at least {reading}"] = clips[max(0, np.count_nonzero(above >= wanted) - 1)]
        entry = largest[min(int(wanted), len(largest) - 1)]
        found[f"entry {reading}"] = clips[np.argmin(np.abs(clips - entry))]
    return {reading: float(clip) for reading, clip in found.items()}


def _follows_the_rule(cases, values):
    """Whether one reading of the rule explains every clip."""
    found = [_by_the_rule(**case) for case in cases]
    return any(all(each[reading] == value for each, value in zip(found, values, strict=True)) for reading in found[0])


def _bias(values, clip):
    """How much the clipped sum falls short."""
    return np.maximum(np.asarray(values) - clip, 0).sum()


def _least(error):
    """The clip with the smallest error(values, clip, epsilon)."""
    return lambda values, clips, epsilon: min(clips, key=lambda clip: error(np.asarray(values), clip, epsilon))


_right = _least(lambda values, clip, epsilon: _bias(values, clip) + clip / epsilon)


TABLE = to_say("1 to 120 `values`, none below 0, and 1 to 60 `clips` above 0; `epsilon` from 0.02 to 3")


def _any_table(rng):
    """A table of any size, of small numbers or large ones; now and then all clips are above them. No other clip is as good as the best one."""
    while True:
        unit = 10.0 ** rng.integers(5)
        values = unit * np.round(rng.lognormal(1, 1, size=int(rng.integers(1, PEOPLE + 1))), int(rng.choice([0, 2])))
        least, most = (0.3 * unit, 1.3 * values.max()) if rng.random() < 0.9 else (1.1 * values.max(), 3 * values.max())
        drawn = rng.uniform(least, most + 0.3 * unit, size=int(rng.integers(1, CLIPS + 1)))
        clips = np.unique(np.maximum(np.round(drawn, 2), 0.01))
        epsilon = rounded(math.exp(rng.uniform(math.log(0.02), math.log(3))), 4)
        errors = np.sort([_bias(values, clip) + clip / epsilon for clip in clips])
        if len(clips) == 1 or errors[1] - errors[0] > 1e-6 * errors[1]:
            return values.tolist(), rng.permutation(clips).tolist(), epsilon


exercise = Exercise(
    title="The clip that costs least",
    good_for="setting limits where the data have none",
    difficulty=3,
    minutes=12,
    points=3,
    domain=Domain({"values, clips, epsilon": Made(_any_table, TABLE)}),
    draw=_draw,
    reference=_right,
    formulas=(
        lambda values, clips, epsilon: min(
            clips, key=lambda clip: sum(max(value - clip, 0) for value in values) + clip / epsilon
        ),
    ),
    means={
        "clip / epsilon": "the mean size of the noise of each clip",
        "np.maximum(np.asarray(values) - clip, 0).sum()": "what each clip takes off all values together",
    },
    returns=a_number,
    hints=(
        "Take one clip and write down its two errors. Which entries are changed by it, and by how much? Which noise does a sum of entries between 0 and the clip get?",
        "An entry above the clip loses `value - clip`, any other loses 0: add these up. The noise has the scale clip / epsilon, which is its mean size.",
        "`min(clips, key=total)` returns the clip at which a function `total(clip)` is smallest. What does `total` return?",
    ),
    misconceptions=(
        Misconception(
            "the rule of 1 / epsilon",
            "You took the clip with about 1 / epsilon entries above it. That says where the best clip of all numbers lies. In a list it leaves two, one next to the other, "
            "and says nothing of which is better: compute bias plus noise at every clip, and compare.",
            lambda values, clips, epsilon: _by_the_rule(values, clips, epsilon)["at most  greater"],
            recognise=_follows_the_rule,
        ),
        Misconception(
            "noise only",
            "You took the clip with the least noise, the smallest. It cuts nearly every entry. Add what the sum loses.",
            lambda values, clips, epsilon: min(clips),
        ),
        Misconception(
            "bias only",
            "You took the first clip that cuts nothing. So there is no noise in your error, the same for every clip, or far too little (that of a mean, or of the largest entry that is left): whatever the entries are, add clip / epsilon.",
            _least(lambda values, clip, epsilon: _bias(values, clip)),
        ),
        Misconception(
            "largest",
            "You took the largest clip of all. Its noise is as large as it can be. What a small clip loses counts for each entry above it, and entries below "
            "it lose 0, not a negative amount.",
            lambda values, clips, epsilon: max(clips),
        ),
        Misconception(
            "fraction turned over",
            "Your noise grows with epsilon: the scale is clip / epsilon, not clip times epsilon.",
            _least(lambda values, clip, epsilon: _bias(values, clip) + clip * epsilon),
        ),
        Misconception(
            "epsilon forgotten",
            "Your noise is the clip, whatever epsilon is. Its scale is clip / epsilon.",
            _least(lambda values, clip, epsilon: _bias(values, clip) + clip),
        ),
        Misconception(
            "standard deviation",
            "You added the standard deviation of the noise, the root of 2 times its scale. Here its mean size is wanted: the scale itself.",
            _least(lambda values, clip, epsilon: _bias(values, clip) + math.sqrt(2) * clip / epsilon),
        ),
        Misconception(
            "variance",
            "You added the variance of the noise to a bias that is no square. Add its mean size, clip / epsilon.",
            _least(lambda values, clip, epsilon: _bias(values, clip) + 2 * (clip / epsilon) ** 2),
        ),
        Misconception(
            "squares",
            "You added squares. That is another error, the mean square; asked for is the bias plus the mean size of the noise.",
            _least(lambda values, clip, epsilon: _bias(values, clip) ** 2 + 2 * (clip / epsilon) ** 2),
        ),
        Misconception(
            "squares of the sizes",
            "You added squares, or took the length of two sides. Asked for is the plain sum: the bias plus the mean size of the noise.",
            _least(lambda values, clip, epsilon: math.hypot(_bias(values, clip), clip / epsilon)),
        ),
        Misconception(
            "entries thrown away",
            "You count an entry above the clip as lost altogether. Clipping keeps `clip` of it; only value - clip is lost.",
            _least(lambda values, clip, epsilon: values[values > clip].sum() + clip / epsilon),
        ),
        Misconception(
            "number of entries",
            "You counted how many entries are cut. The sum falls short by how much they lose: value - clip for each.",
            _least(lambda values, clip, epsilon: (values > clip).sum() + clip / epsilon),
        ),
        Misconception(
            "mean bias",
            "Your noise counts once for every entry, or your bias is that of the mean. The sum is one number: it gets one noise, and it falls short by "
            "all that is cut off.",
            _least(lambda values, clip, epsilon: _bias(values, clip) / len(values) + clip / epsilon),
        ),
        Misconception(
            "distance to the clip",
            "You added |value - clip| for all entries. Those below the clip are not changed: they lose 0.",
            _least(lambda values, clip, epsilon: np.abs(values - clip).sum() + clip / epsilon),
        ),
        Misconception(
            "larger of the two",
            "You looked at the larger of the two errors, or for the clip at which they are equal. They add up: take their sum.",
            _least(lambda values, clip, epsilon: max(_bias(values, clip), clip / epsilon)),
        ),
        Misconception(
            "the error",
            "That is the smallest error. Return the clip at which it is reached: `min(clips, key=...)`.",
            lambda values, clips, epsilon: float(min(_bias(values, clip) + clip / epsilon for clip in clips)),
        ),
        Misconception(
            "the place",
            "That is the place of the clip in the list. Return the clip itself.",
            lambda values, clips, epsilon: clips.index(_right(values, clips, epsilon)),
        ),
    ),
)
