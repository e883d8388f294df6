"""Losses on a grid, by rounding up."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of, rounded
from dpcourse.course.clt.shared import random_mechanism, two_arrays


def _draw_uneven(rng):
    """Losses as privacy_loss returns them: two at least fall into one cell, a cell between stays empty, and none is near a multiple.

    In the second case np.arange makes of decimals one multiple too many; in the third two losses are multiples already.
    """
    cases = []
    for outcomes in (6, int(rng.integers(7, 10))):
        while True:
            p, q = random_mechanism(rng, outcomes)
            loss, step = np.log(q / p), rounded(rng.uniform(0.2, 0.5))
            up, rest = np.ceil(loss / step), loss / step % 1
            occupied, spanned = len(set(up)), int(np.ptp(up)) + 1
            near = np.minimum(rest, 1 - rest).min() < 0.02
            sides = [set(rest[loss * sign > 0] > 0.5) for sign in (1, -1)]
            if occupied < outcomes < spanned and not near and sides == [{True, False}] * 2:
                longer = len(np.arange(up.min() * step, up.max() * step + step, step)) > spanned
                if longer or not cases:
                    break
        cases.append({"loss": loss, "mass": p, "step": step})
    return [*cases, _draw_multiples(rng)]


def _draw_multiples(rng):
    """Losses of which two are multiples of the step, on either side of 0, in doubles too; and no other is near one."""
    step = 0.25
    while True:
        p, q = random_mechanism(rng, 7)
        loss = np.log(q / p)
        whole = np.round(loss / step) * step
        first, last = 1, len(loss) - 2
        loss[[first, last]] = whole[[first, last]]
        off = np.abs(loss - whole) / step
        if whole[first] > 0 > whole[last] and (np.diff(loss) < 0).all() and (off > 0.02).sum() == len(loss) - 2:
            return {"loss": loss, "mass": p, "step": step}


def _gathered(towards, into=np.divide, weight=lambda mass: mass, early=0, back=np.multiply):
    """A rule for (loss, mass): `into` counts a loss in steps, `towards` rounds that, `back` makes losses of steps again."""

    def code(loss, mass, step):
        index = towards(into(loss, step)).astype(int)
        first = index.min() - early
        grid = np.arange(first, index.max() + 1)
        return back(grid, step), np.bincount(index - first, weights=weight(mass), minlength=len(grid))

    return code


def _overwritten(loss, mass, step):
    index = np.ceil(loss / step).astype(int)
    grid = np.arange(index.min(), index.max() + 1)
    total = np.zeros(len(grid))
    for i, m in zip(index - index.min(), mass, strict=True):
        total[i] = m
    return grid * step, total


def _occupied_only(loss, mass, step):
    grid, total = _gathered(np.ceil)(loss, mass, step)
    return grid[total > 0], total[total > 0]


def _from_the_lowest(loss, mass, step):
    grid = np.arange(loss.min(), loss.max() + step, step)
    return grid, np.bincount(np.searchsorted(grid, loss), weights=mass, minlength=len(grid))


def _ends_in_decimals(loss, mass, step):
    """np.arange with an end that is a multiple but for rounding, which at times is below it."""
    up = np.ceil(loss / step) * step
    grid = np.arange(up.min(), up.max() + step, step)
    return grid, np.bincount(np.round((up - up.min()) / step).astype(int), weights=mass, minlength=len(grid))


def _compared_as_decimals(loss, mass, step):
    """A loss of 0.6899999999999999 is not found at 0.69."""
    rounded_up = np.ceil(loss / step) * step
    grid = np.arange(rounded_up.min(), rounded_up.max() + step / 2, step)
    return grid, np.array([mass[rounded_up == multiple].sum() for multiple in grid])


def _loses_masses(cases, values):
    """recognise: each mass is right or 0, and some that are 0 should not be."""
    lost = 0
    for case, (_, mass) in zip(cases, values, strict=True):
        right = exercise.reference(**case)[1][: len(mass)]
        mass = np.array(mass)[: len(right)]
        if not np.all(np.isclose(mass, right) | (mass == 0)):
            return False
        lost += np.count_nonzero(mass == 0) - np.count_nonzero(right == 0)
    return lost > 0


def _no_multiples(cases, values):
    """recognise: losses that are no multiples of the step, but a step apart."""
    each = [np.array(loss) / case["step"] for case, (loss, _) in zip(cases, values, strict=True)]
    return all(
        steps.size > 1 and np.allclose(np.diff(steps), 1) and np.abs(steps - np.round(steps)).min() > 1e-6
        for steps in each
    )


LOSSES = to_say("`loss` of 2 to 12 outcomes, falling, and their `mass`; `step` from 0.05 to 1")


def _any_losses(rng):
    """No loss is a multiple of the step but for what rounding does, but now and then one is 0, or two are multiples of 0.25 in doubles too."""
    if rng.random() < 0.1:
        case = _draw_multiples(rng)
        return case["loss"], case["mass"], case["step"]
    while True:
        p, q = random_mechanism(rng, int(rng.integers(2, 13)))
        loss, step = np.log(q / p), rounded(rng.uniform(0.05, 1))
        if np.abs(loss / step - np.round(loss / step)).min() > 1e-7:
            if rng.random() < 0.4:
                loss[np.abs(loss).argmin()] = 0.0
            elif rng.random() < 0.3:  # hardly above a multiple
                i = int(rng.integers(len(loss)))
                loss[i] = step * (np.floor(loss[i] / step) + 2e-4)
                loss = -np.sort(-loss)
            return loss, p, step


def _written(loss, mass, step):
    """As learners write it."""
    index = np.ceil(loss / step).astype(int)
    grid = np.arange(index.min(), index.max() + 1)
    total = np.zeros(len(grid))
    np.add.at(total, index - index.min(), mass)
    return grid * step, total


exercise = Exercise(
    title="Round the losses up",
    good_for="every accountant: a guarantee may be too cautious, and never too bold",
    difficulty=2,
    minutes=20,
    points=2,
    domain=Domain({"loss, mass, step": Made(_any_losses, LOSSES)}),
    draw=_draw_uneven,
    formulas=(_written,),
    reference=_gathered(np.ceil),
    means={
        "loss / step": "each loss, counted in steps",
        "np.ceil(loss / step).astype(int)": "each loss in steps, rounded up",
        "index - index.min()": "the place of each loss on the grid",
        "np.arange(index.min(), index.max() + 1)": "every number of steps from the lowest to the highest",
    },
    returns=two_arrays,
    hints=(
        "Count in steps: `loss / step` says how many steps a loss is, and `np.ceil` rounds that up. With whole numbers you need "
        "not ask whether two decimals are equal.",
        "With `index = np.ceil(loss / step).astype(int)`, loss number i belongs to place `index[i] - index.min()`. There are "
        "`index.max() - index.min() + 1` places: begin with that many zeros. Two losses may have the same place.",
        "`np.add.at(total, places, mass)` adds every mass at its place; `total[places] = mass` would keep only the last one. "
        "What is left is the grid itself: all whole numbers from `index.min()` to `index.max()`, in steps.",
    ),
    misconceptions=(
        Misconception(
            "down",
            "You round down. Then every loss is said to be smaller than it is, delta comes out too small, and a promise made with it "
            "may be false. Round up: `np.ceil`.",
            _gathered(np.floor),
        ),
        Misconception(
            "to the nearest",
            "You round to the nearest multiple. That is closer to the truth on the whole, but some losses get smaller, so the result "
            "may lie below the true delta: no guarantee. Round up: `np.ceil`.",
            _gathered(np.round),
        ),
        Misconception(
            "towards 0",
            "`int` and `np.trunc` cut off the decimals, which rounds towards 0. Of the negative losses that is up, of the positive "
            "ones, which matter most, it is down. Use `np.ceil`.",
            _gathered(np.trunc),
        ),
        Misconception(
            "away from 0",
            "You round away from 0. Of the positive losses that is up, of the negative ones it is down. Up is to the right on "
            "both sides of 0: `np.ceil` of the loss with its sign.",
            _gathered(lambda x: np.sign(x) * np.ceil(np.abs(x))),
        ),
        Misconception(
            "one step too far",
            "You go to the next multiple but one: `loss // step + 1` is up already, and `np.ceil(...) + 1` is one step more. "
            "That is safe, but each answer then costs a whole step for nothing.",
            _gathered(lambda x: np.ceil(x) + 1),
        ),
        Misconception(
            "int and one more",
            "`int` and `np.trunc` cut off the decimals. With 1 added that is up for a positive loss, and one step too far for a negative one. "
            "Use `np.ceil`, or `math.ceil` for one number.",
            _gathered(lambda x: np.trunc(x) + 1),
        ),
        Misconception(
            "multiples move",
            "A loss that is a multiple of `step` already moves up by a whole step. It should stay: `//` or `int`, and 1 more, is up for all "
            "others only. `np.ceil` is up for all.",
            _gathered(lambda x: np.floor(x) + 1),
            recognise=any_of(
                _gathered(lambda x: np.floor(x) + 1), _gathered(lambda x: np.where(x > 0, np.floor(x) + 1, np.ceil(x)))
            ),
        ),
        Misconception(
            "masses overwritten",
            "Where several losses are rounded to one multiple, you keep the mass of one of them, and the masses no longer add up to 1. "
            "Add them: `np.add.at(total, places, mass)`, or a loop with `+=`.",
            _overwritten,
        ),
        Misconception(
            "occupied only",
            "You leave out the multiples between to which no loss was rounded. Then the losses are not evenly spaced, and the "
            "convolution of the next exercise would add them up wrongly. Keep these multiples, with mass 0.",
            _occupied_only,
        ),
        Misconception(
            "each loss by itself",
            "You round each loss, and keep one entry for each. Wanted is one entry for each multiple of the step, rising, with the "
            "masses of equal losses added.",
            lambda loss, mass, step: (np.ceil(loss / step) * step, mass),
        ),
        Misconception(
            "counted in steps",
            "Your losses are the numbers of steps. Multiply them by `step`.",
            _gathered(np.ceil, back=lambda grid, step: grid),
        ),
        Misconception(
            "from 0",
            "Your losses begin at 0. They begin at the lowest rounded loss, which is negative.",
            _gathered(np.ceil, back=lambda grid, step: (grid - grid[0]) * step),
        ),
        Misconception(
            "one multiple too many",
            "Your grid begins one step too low: it starts where the lowest loss would be rounded down to. Begin at the lowest of the "
            "losses after rounding.",
            _gathered(np.ceil, early=1),
        ),
        Misconception(
            "the highest left out",
            "Your losses end one multiple too early, and the mass of the largest loss is gone with it: `range(a, b)` and `np.arange(a, b)` "
            "leave b out.",
            lambda loss, mass, step: tuple(array[:-1] for array in _gathered(np.ceil)(loss, mass, step)),
        ),
        Misconception(
            "the end in decimals",
            "At times your losses have one multiple too many. `np.arange(low, high + step, step)` is made of decimals, and a rounding error decides "
            "whether it takes its end in. Count in whole numbers, `np.arange(first, last + 1)`, and multiply by `step`.",
            _ends_in_decimals,
        ),
        Misconception(
            "compared as decimals",
            "Some masses are lost. Do you compare decimals with `==`? 3 * 0.23 and 0.69 differ in the last digit of the computer, and such "
            "a loss is found nowhere. Count in whole steps, and multiply by `step` only at the end.",
            _compared_as_decimals,
            recognise=_loses_masses,
        ),
        Misconception(
            "not multiples",
            "Your losses are a step apart, but no multiples of `step`: they begin at the lowest loss as it is. Round that one up first.",
            _from_the_lowest,
            recognise=_no_multiples,
        ),
        Misconception(
            "rounded to whole numbers",
            "You round the loss itself up, to a whole number. First count it in steps: `np.ceil(loss / step)`.",
            _gathered(np.ceil, into=lambda loss, step: loss),
        ),
        Misconception(
            "times the step",
            "You multiply by the step before you round. How many steps a loss is, is loss / step; multiply by the step at the end.",
            _gathered(np.ceil, into=np.multiply, back=np.divide),
        ),
        Misconception(
            "how many, not how probable",
            "You count how many losses are rounded to each multiple. Add up their masses instead: `np.bincount` and `np.histogram` "
            "take them as `weights`.",
            _gathered(np.ceil, weight=np.ones_like),
        ),
        Misconception(
            "falling",
            "Your losses fall, as those of {privacy_loss} do. They are to rise: the exercise after this one takes `loss[0]` for the lowest.",
            lambda loss, mass, step: tuple(array[::-1] for array in _gathered(np.ceil)(loss, mass, step)),
        ),
        Misconception(
            "swapped",
            "The two arrays are in the wrong order: first the loss, then the mass.",
            lambda loss, mass, step: _gathered(np.ceil)(loss, mass, step)[::-1],
        ),
    ),
)
