"""Clip each person's gradient."""

import numpy as np

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, rounded
from dpcourse.checking.calling.values import type_name
from dpcourse.course.dpsgd.shared import as_array, clipped_rows, row_norms


def _array_like(argument):
    """An array of finite numbers, of the shape of the argument of that name."""

    def complain(value, case):
        shape = case[argument].shape
        array = as_array(value)
        if array.dtype.kind not in "iuf":
            return say(
                "Return an array of numbers of the shape of `{argument}`, {shape}, not {type}.",
                argument=argument,
                shape=str(shape),
                type=type_name(value),
            )
        if array.shape != shape:
            return say(
                "Return an array of the shape of `{argument}`, {shape}, not {other_shape}.",
                argument=argument,
                shape=str(shape),
                other_shape=str(array.shape),
            )
        given = row_norms(case[argument])
        with np.errstate(invalid="ignore"):
            longer = (row_norms(array) > 1.001 * given) & (given > 0)
        if not np.isfinite(array).all() and longer.any():
            return say(
                "You made short gradients longer; clipping leaves them as they are. (And one whose norm is 0 becomes 0 / 0 with you.)"
            )
        if not np.isfinite(array).all():
            return say(
                "The result holds {no_number}. A gradient may be 0: its norm is 0, and 0 / 0 is not a number.",
                no_number=array[~np.isfinite(array)][0],
            )
        return None

    return complain


def _draw_gradients(rng):
    """Gradients of which some are long, some short, one is 0, and one is short but has a long neighbour."""
    cases = []
    for people, weights in ((5, 3), (6, 4)):
        clip_norm = rounded(rng.uniform(0.5, 3))
        directions = rng.normal(size=(people, weights))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lengths = clip_norm * np.r_[rng.uniform(1.3, 4, size=people - 3), rng.uniform(0.2, 0.8, size=2), 0]
        cases.append({"gradients": rng.permutation(lengths[:, None] * directions), "clip_norm": clip_norm})
    return cases


GRADIENTS = to_say("{name}: a row of 1 to 6 numbers for each of 1 to 8 people; a row may be 0")


def _any_gradients(rng):
    people = int(rng.integers(1, 9))
    return rng.normal(size=(people, int(rng.integers(1, 7)))) * rng.choice([0, 0.1, 1, 5], size=(people, 1))


def _written(gradients, clip_norm):
    """As learners write it."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients / np.maximum(1, norms / clip_norm)


exercise = Exercise(
    title="Clip each person's gradient",
    good_for="the one line that gives training a sensitivity at all",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"gradients": Made(_any_gradients, GRADIENTS), "clip_norm": Number(0.1, 5)}),
    draw=_draw_gradients,
    formulas=(_written,),
    reference=clipped_rows,
    means={
        "np.linalg.norm(gradients, axis=1, keepdims=True)": "the length of each person's gradient",
        "norms / clip_norm": "how many times as long as allowed each gradient is",
        "np.maximum(1, norms / clip_norm)": "by what each gradient is divided: 1 where it is short enough",
    },
    returns=_array_like("gradients"),
    forbidden=(audit.clipped,),
    hints=(
        "A row is one person's gradient. Its length is `np.linalg.norm(gradients, axis=1, keepdims=True)`, one number for each row. "
        "Which rows are to be changed, and by which factor?",
        "A long row is to end with length clip_norm: by which number is it divided? A short row, and a row of zeros, is divided by 1. "
        "`np.maximum` takes the larger of two, entry by entry.",
    ),
    misconceptions=(
        Misconception(
            "each coordinate",
            "You clipped each coordinate by itself. A row of d numbers could still have the norm clip_norm times the root of d, and its "
            "direction changes. Clip the norm of the whole row.",
            lambda gradients, clip_norm: np.clip(gradients, -clip_norm, clip_norm),
        ),
        Misconception(
            "short ones stretched",
            "You gave every gradient the norm clip_norm, so short ones were made longer. Clipping makes long ones shorter and leaves short "
            "ones as they are.",
            lambda gradients, clip_norm: gradients * clip_norm / np.maximum(row_norms(gradients), 1e-12),
        ),
        Misconception(
            "whole batch",
            "You clipped all rows by one factor, from the norm of the whole array. Then a person's factor depends on who else is in the "
            "batch. Every row has a factor of its own: `axis=1`.",
            lambda gradients, clip_norm: gradients / max(1, np.linalg.norm(gradients) / clip_norm),
        ),
        Misconception(
            "mean clipped",
            "You clipped the mean of the gradients. One person can turn it round completely. Clip each person's gradient, before anything is added.",
            lambda gradients, clip_norm: gradients / max(1, np.linalg.norm(gradients.mean(axis=0)) / clip_norm),
        ),
        Misconception(
            "columns",
            "You clipped the columns. A column is one weight, over all people; a row is one person. The norm is taken along `axis=1`.",
            lambda gradients, clip_norm: clipped_rows(gradients.T, clip_norm).T,
        ),
        Misconception(
            "long ones dropped",
            "You set long gradients to 0. That is private too, but it throws away those who have most to say. Shorten them to clip_norm.",
            lambda gradients, clip_norm: np.where(row_norms(gradients) > clip_norm, 0, gradients),
        ),
        Misconception(
            "l1 norm",
            "You took the l1 norm, the sum of absolute values. Gaussian noise goes with the l2 norm.",
            lambda gradients, clip_norm: gradients / np.maximum(1, row_norms(gradients, 1) / clip_norm),
        ),
        Misconception(
            "largest entry",
            "You took the largest entry as the length of a row. The l2 norm is the root of the sum of squares.",
            lambda gradients, clip_norm: gradients / np.maximum(1, row_norms(gradients, np.inf) / clip_norm),
        ),
        Misconception(
            "root forgotten",
            "You used the square of the norm. Take the root: `np.linalg.norm` does.",
            lambda gradients, clip_norm: gradients / np.maximum(1, row_norms(gradients) ** 2 / clip_norm),
        ),
        Misconception(
            "shared among people",
            "You clipped to clip_norm divided by the number of people. Each person's own gradient may have the norm clip_norm.",
            lambda gradients, clip_norm: clipped_rows(gradients, clip_norm / len(gradients)),
        ),
        Misconception(
            "length one",
            "Your long gradients end with length 1. Divide by norm / clip_norm, so that they end with length clip_norm.",
            lambda gradients, clip_norm: np.where(
                row_norms(gradients) > clip_norm, gradients / np.maximum(row_norms(gradients), 1e-12), gradients
            ),
        ),
        Misconception(
            "not clipped",
            "You returned the gradients as they are. Those longer than clip_norm must be shortened to it.",
            lambda gradients, clip_norm: gradients + 0.0,
        ),
    ),
)
