"""Undo the lies on average."""

import math

import numpy as np

from dpcourse import composition
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Several, a_number
from dpcourse.course.start_here.shared import keep_chance


def _draw_reports(rng):
    """Three surveys of 40 to 80 people; in two of them nearly all report the same: the estimate leaves [0, 1]."""
    cases = []
    for share in (rng.uniform(0.4, 0.6), 0.97, 0.03):
        reports = (rng.permutation(n := int(rng.integers(40, 81))) < round(share * n)).astype(np.int8)
        cases.append({"reports": reports, "epsilon": round(float(rng.uniform(0.5, 1.5)), 2)})
    return cases


def _estimate(mean, keep):
    return (mean - (1 - keep)) / (2 * keep - 1)


def _undone(reports, epsilon):
    """As learners write it."""
    keep, mean = math.exp(epsilon) / (1 + math.exp(epsilon)), sum(reports) / len(reports)
    return (mean - (1 - keep)) / (keep - (1 - keep))


exercise = Exercise(
    title="Undo the lies on average",
    good_for="getting a true statistic out of protected answers",
    difficulty=2,
    minutes=10,
    points=2,
    domain=Domain({"reports": Several(OneOf((0, 1)), 1, 100, array=True), "epsilon": Number(0.1, 3)}),
    draw=_draw_reports,
    reference=composition.debiased_mean,
    formulas=(_undone,),
    means={
        "1 - keep": "the chance to flip a bit",
        "sum(reports) / len(reports)": "the mean of the reports",
        "math.exp(epsilon) / (1 + math.exp(epsilon))": "the chance to keep a bit",
        "len(reports)": "the number of reports",
        "keep - (1 - keep)": "the chance to keep less the chance to flip",
    },
    returns=a_number,
    forbidden=(composition.debiased_mean,),
    hints=(
        "Look at the two ends. If nobody has a 1, the mean of the reports is about 1 - p; if everybody has, it is about p. The mean of yours lies between: how far along?",
        "Sorted by t, the chance of a 1 is (1 - p) + t (2 p - 1). Set it equal to the mean of the reports, and solve for t.",
    ),
    misconceptions=(
        Misconception(
            "raw mean",
            "That is the share of 1s among the reports. The flips pull it towards one half; pull it back.",
            lambda reports, epsilon: np.mean(reports),
        ),
        Misconception(
            "not centred",
            "You divide by 2p - 1 but do not first take away the share 1 - p of 1s that the flips alone make.",
            lambda reports, epsilon: np.mean(reports) / (2 * keep_chance(epsilon) - 1),
        ),
        Misconception(
            "p taken away",
            "You take away p, the chance to keep. Take away 1 - p: that is the mean of the reports when nobody has a 1.",
            lambda reports, epsilon: (np.mean(reports) - keep_chance(epsilon)) / (2 * keep_chance(epsilon) - 1),
        ),
        Misconception(
            "divided by p",
            "You divide by p. From nobody to everybody the mean of the reports rises from 1 - p to p, which is a rise of 2p - 1.",
            lambda reports, epsilon: (np.mean(reports) - (1 - keep_chance(epsilon))) / keep_chance(epsilon),
        ),
        Misconception(
            "not divided",
            "You took away 1 - p and stopped there. From nobody to everybody the mean rises by 2p - 1 only: divide by that.",
            lambda reports, epsilon: np.mean(reports) - (1 - keep_chance(epsilon)),
        ),
        Misconception(
            "brackets above",
            "Brackets are missing above the line: only 1 - p is divided. Put the whole difference into brackets.",
            lambda reports, epsilon: np.mean(reports) - (1 - keep_chance(epsilon)) / (2 * keep_chance(epsilon) - 1),
        ),
        Misconception(
            "brackets below",
            "Brackets are missing below the line: a / 2 * p - 1 is ((a / 2) * p) - 1. Write a / (2 * p - 1).",
            lambda reports, epsilon: (np.mean(reports) - (1 - keep_chance(epsilon))) / 2 * keep_chance(epsilon) - 1,
        ),
        Misconception(
            "p cancels below",
            "Your line below is -1, whatever p is: in p - 1 - p the two p cancel. Put 1 - p into brackets.",
            lambda reports, epsilon: (1 - keep_chance(epsilon)) - np.mean(reports),
        ),
        Misconception(
            "mean rounded down",
            "Your mean of `reports` is a whole number: `//` rounds down. Divide with `/`.",
            lambda reports, epsilon: _estimate(np.sum(reports) // len(reports), keep_chance(epsilon)),
        ),
        Misconception(
            "sum of the reports",
            "You took the number of 1s where the share of 1s belongs. Divide it by the number of `reports` first.",
            lambda reports, epsilon: _estimate(np.sum(reports), keep_chance(epsilon)),
        ),
        Misconception(
            "epsilon for p",
            "You used `epsilon` itself as the chance to keep. It is the logarithm of p / (1 - p): compute p first.",
            lambda reports, epsilon: _estimate(np.mean(reports), np.float64(epsilon)),
        ),
        Misconception(
            "forward",
            "That is the share of 1s that one more round of flips would give. Here the flips are to be undone. Print your p as well: "
            "it lies between 1/2 and 1.",
            lambda reports, epsilon: (
                np.mean(reports) * keep_chance(epsilon) + (1 - np.mean(reports)) * (1 - keep_chance(epsilon))
            ),
        ),
        Misconception(
            "cut off below",
            "You cut the estimate off at 0. That is allowed, but then it is no longer right on average: "
            "here return the unbiased estimate, even where it is negative.",
            lambda reports, epsilon: max(0.0, _estimate(np.mean(reports), keep_chance(epsilon))),
        ),
        Misconception(
            "cut off",
            "You cut the estimate off at 0 or 1. That is allowed, but then it is no longer right on average: "
            "here return the unbiased estimate, even where it falls outside [0, 1].",
            lambda reports, epsilon: min(1.0, max(0.0, _estimate(np.mean(reports), keep_chance(epsilon)))),
        ),
        Misconception(
            "count",
            "That is the estimated number of people. Divide by how many there are.",
            lambda reports, epsilon: len(reports) * _estimate(np.mean(reports), keep_chance(epsilon)),
        ),
        Misconception(
            "e^epsilon for p",
            "You used e^epsilon as the chance to keep. It is the ratio p / (1 - p): compute p first.",
            lambda reports, epsilon: _estimate(np.mean(reports), math.exp(epsilon)),
        ),
        Misconception(
            "divided by p at once",
            "You divided the mean of the reports by p. Among the reports of yes are flipped noes too: first take their share away.",
            lambda reports, epsilon: np.mean(reports) / keep_chance(epsilon),
        ),
    ),
)
