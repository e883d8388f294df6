"""The sensitivity of several sums."""

import math

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, rounded


def _draw_bounds(rng):
    """Four columns: one of each sign, and two that cross 0 with the longer arm on either side."""
    cases = []
    for _ in range(2):
        a = [rounded(x) for x in rng.uniform(1, 9, size=8)]
        columns = [
            (a[0], a[0] + a[1]),
            (-a[2] - a[3], -a[3]),
            (-a[4] - 1, min(a[4], a[5])),
            (-min(a[6], a[7]), a[6] + 1),
        ]
        columns = [columns[i] for i in rng.permutation(4)]
        cases.append({"lows": [rounded(low) for low, _ in columns], "highs": [rounded(high) for _, high in columns]})
    return cases


def _largest(lows, highs):
    return [max(abs(low), abs(high)) for low, high in zip(lows, highs, strict=True)]


BOUNDS = to_say("{name}: of 1 to 8 columns, from -10 to 10, no low above its high")


def _any_bounds(rng):
    """Columns of any kind: limits that are equal, or as far from 0, or one of which is 0; now and then with all their digits."""
    digits = rounded if rng.random() < 0.8 else float
    ends = [sorted(digits(x) for x in rng.uniform(-10, 10, 2)) for _ in range(rng.integers(1, 9))]
    lows, highs = np.array(ends).T
    size = np.abs(lows)
    kind = rng.choice(5, size=len(ends), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    ways = [(lows, highs), (lows, lows), (0 * size, size), (-size, 0 * size), (-size, size)]
    return [np.choose(kind, each).tolist() for each in zip(*ways, strict=True)]


def _written(lows, highs):
    """As learners write it."""
    return sum(max(abs(low), abs(high)) for low, high in zip(lows, highs, strict=True))


exercise = Exercise(
    title="The sensitivity of several sums",
    good_for="the number that every noise in this lesson is scaled to",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"lows, highs": Made(_any_bounds, BOUNDS)}),
    draw=_draw_bounds,
    formulas=(_written,),
    reference=lambda lows, highs: sum(_largest(lows, highs)),
    means={
        "max(abs(low), abs(high))": "the most by which one person can change that column's sum",
        "abs(low)": "the size of the low end",
        "abs(high)": "the size of the high end",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "Begin with one column. A new row adds its entry to the sum. Which entry between low and high changes the sum most, up or down?",
        "A new row changes the sum of a column by the size of its entry, up or down. What is the most where low = -5 and high = 2? The same row is in all columns: what does the l1 norm do with their changes?",
    ),
    misconceptions=(
        Misconception(
            "replaced",
            "You went from one end to the other, high - low. That is the change when a row is replaced. Here a row comes or goes; it does not move.",
            lambda lows, highs: sum(highs) - sum(lows),
        ),
        Misconception(
            "high only",
            "You used the upper ends only. An entry of -7 changes a sum by more than one of 3: take the larger of |low| and |high|.",
            lambda lows, highs: sum(abs(high) for high in highs),
        ),
        Misconception(
            "signed",
            "You added the upper ends with their signs, so that some columns lower the sensitivity. Changes count by their size.",
            lambda lows, highs: sum(highs),
        ),
        Misconception(
            "single worst column",
            "You took the worst column alone. The same row changes all sums at once, and the l1 norm adds the changes.",
            lambda lows, highs: max(_largest(lows, highs)),
        ),
        Misconception(
            "l2",
            "You took the root of the sum of squares: the l2 norm, which Gaussian noise needs. Laplace noise needs l1: add the sizes.",
            lambda lows, highs: math.hypot(*_largest(lows, highs)),
        ),
        Misconception(
            "both ends",
            "You added |low| and |high|. One row has one entry in each column: it is at one end, not at both.",
            lambda lows, highs: sum(map(abs, lows)) + sum(map(abs, highs)),
        ),
        Misconception(
            "one end for all columns",
            "The row may be at the upper end in one column and at the lower in another: take the larger in each column, then add.",
            lambda lows, highs: max(sum(map(abs, lows)), sum(map(abs, highs))),
        ),
        Misconception(
            "average",
            "You averaged over the columns. The l1 norm is the sum.",
            lambda lows, highs: sum(_largest(lows, highs)) / len(lows),
        ),
        Misconception(
            "count",
            "You returned the number of columns. That is right for counts, where an entry is 0 or 1; these entries are larger.",
            lambda lows, highs: len(lows),
        ),
    ),
)
