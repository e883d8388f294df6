"""Which of two sums a float32 release came from: the rings of Box and Muller's noise."""

import math

import numpy as np

from dpcourse import machine
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of, true_or_false

CASES = 24
LIKE, UNLIKE = (
    0.06,
    0.12,
)  # how far from whole numbers the ring numbers of the true sum are at most, and of the other at least
NOT_FAR = 0.18  # from whole numbers, on average, where points that may lie anywhere are 0.25 away
NEAR = 0.1  # from a whole number: a point that lies anywhere is as near in one of five cases
TOLD = to_say(
    "`bits` from 8 to 12; `sigma` from 0.5 to 4; the arrays have 12 to 40 rows of two numbers, from -3.5 to 3.5 in "
    "`without`, and each larger by 0.05 to 0.5 in `with_mia`; noise and `output` are rounded to float32"
)


def _errors(output, total, sigma, bits):
    """How far the ring numbers are above whole ones, or below."""
    k = 2.0**bits * np.exp(-np.square((output - total) / sigma).sum(axis=1) / 2)
    return k - np.round(k)


def _off(output, total, sigma, bits):
    """How far the ring numbers are from whole ones, on average."""
    return float(np.abs(_errors(output, total, sigma, bits)).mean())


def _release(rng, is_in=None, most=math.inf, outermost=False):
    """(output, with_mia, without, sigma, bits): drawn anew until the rings tell which sum it is.

    most: how far from whole numbers the ring numbers of the other sum are at most. outermost: whether the first row is on the
    first ring, where rounding makes its number a little less than 1.
    """
    while True:
        bits, pairs = int(rng.integers(8, 13)), int(rng.integers(12, 41))
        sigma = float(np.round(rng.uniform(0.5, 4), 2))
        without = np.round(rng.uniform(-3, 3, (pairs, 2)), 3)
        with_mia = np.round(without + rng.uniform(0.05, 0.5, (pairs, 2)), 3)
        true = bool(rng.random() < 0.5) if is_in is None else is_in
        noise = np.float32(sigma) * machine.ring_pairs(pairs, bits, rng)
        if outermost:
            radius, angle = np.sqrt(-2 * np.log(np.float32(2.0**-bits))), rng.uniform(0, 2 * math.pi)
            noise[0] = np.float32(sigma) * radius * np.float32([math.cos(angle), math.sin(angle)])
        output = ((with_mia if true else without).astype(np.float32) + noise).astype(float)
        right, wrong = (
            _off(output, total, sigma, bits) for total in ((with_mia, without) if true else (without, with_mia))
        )
        true_sum = with_mia if true else without
        below_1 = 2.0**bits * np.exp(-np.square((output[0] - true_sum[0]) / sigma).sum() / 2) < 1
        if right < LIKE and UNLIKE < wrong < most and (below_1 or not outermost):
            return output, with_mia, without, sigma, bits


SHIFTS = np.round(np.arange(50, 501, 3) / 1000, 3)  # what Mia may add to a number


def _misleading(rng, is_in, signed):
    """A release whose first row lies nearer to a ring of the wrong sum than of the right one; signed: where the first row
    makes up for how far the others are from rings of the wrong sum, above and below."""
    while True:
        output, with_mia, without, sigma, bits = _release(rng, is_in)
        right, wrong = (with_mia, without) if is_in else (without, with_mia)
        x, y = (np.round(right[0, i] + (-SHIFTS if is_in else SHIFTS), 3) for i in (0, 1))
        k = 2.0**bits * np.exp(-(((output[0, 0] - x[:, None]) / sigma) ** 2 + ((output[0, 1] - y) / sigma) ** 2) / 2)
        others = _errors(output[1:], wrong[1:], sigma, bits).sum() if signed else 0.0
        row, column = np.unravel_index(np.argmin(np.abs(k - np.round(k) + others)), k.shape)
        wrong[0] = x[row], y[column]
        errors = [_errors(output, total, sigma, bits) for total in (right, wrong)]
        nearness = [abs(each.sum()) if signed else abs(each[0]) for each in errors]
        if nearness[1] < nearness[0] and np.abs(errors[1]).mean() > UNLIKE:
            return output, with_mia, without, sigma, bits


def _draw(rng):
    """As many with her as without, in any order; of each kind some in which one row misleads, some in which the wrong sum is not far
    from rings, and one with a row on the first ring."""
    names = ("output", "with_mia", "without", "sigma", "bits")
    drawn = [_misleading(rng, is_in, signed) for is_in in (False, True) for signed in (False, True) for _ in range(2)]
    drawn += [_release(rng, is_in, most=NOT_FAR) for is_in in (False, True) for _ in range(2)]
    drawn += [_release(rng, is_in, outermost=True) for is_in in (False, True)]
    drawn += [_release(rng, bool(i % 2)) for i in range(CASES - len(drawn))]
    return [dict(zip(names, drawn[i], strict=True)) for i in rng.permutation(CASES)]


def _by_rings(numbers, apart=np.mean):
    """Say "in" where numbers(z, bits) of the noise with Mia are nearer to whole ones than without her."""

    def code(output, with_mia, without, sigma, bits):
        off = [np.asarray(numbers((output - total) / sigma, bits)) for total in (with_mia, without)]
        with_her, without_her = (float(apart(np.abs(k - np.round(k)))) for k in off)
        return with_her < without_her

    return code


def _compared(off):
    """Say "in" where off(output, total, sigma, bits) is smaller with the sum with Mia than with the other."""
    return lambda output, with_mia, without, sigma, bits: bool(
        off(output, with_mia, sigma, bits) < off(output, without, sigma, bits)
    )


def _with_signs(output, total, sigma, bits):
    return abs(_errors(output, total, sigma, bits).mean())


def _above_the_whole_below(output, total, sigma, bits):
    return (_errors(output, total, sigma, bits) % 1).mean()


def _of_the_first_row(output, total, sigma, bits):
    return _off(output[:1], total[:1], sigma, bits)


def _power_of_2(z, bits):
    return 2.0 ** (bits - np.square(z).sum(axis=1) / 2)


def _off_by_the_first_row(output, with_mia, without, sigma, bits):
    return _off(output[:1], with_mia[:1], sigma, bits)


def _near_by_the_first_row(*given):
    return _off_by_the_first_row(*given) < NEAR


def _by_the_first_row(cases, values):
    """Whether "in" is said where the first row is nearer to a ring of the sum with Mia than some tolerance."""
    off: dict[bool, list] = {True: [], False: []}
    for case, value in zip(cases, values, strict=True):
        off[bool(value)].append(_off_by_the_first_row(**case))
    return bool(off[True] and off[False]) and max(off[True]) < min(off[False])


def _with_numpy(output, with_mia, without, sigma, bits):
    def off(total):
        z = (output - total) / sigma
        k = 2**bits * np.exp(-(z**2).sum(axis=1) / 2)
        return np.abs(k - np.round(k)).mean()

    return bool(off(with_mia) < off(without))


exercise = Exercise(
    title="Which table it came from",
    good_for="breaking a certified step of training that a library made in float32",
    difficulty=4,
    minutes=16,
    points=4,
    domain=Domain({"output, with_mia, without, sigma, bits": Made(_release, TOLD)}, most=60),
    draw=_draw,
    reference=_by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z).sum(axis=1) / 2)),
    formulas=(_with_numpy,),
    means={
        "(output - total) / sigma": "what is left of the output when a sum is taken off, in deviations",
        "np.square(z).sum(axis=1)": "r² of each row, for each of the two sums",
        "2.0 ** bits * np.exp(-np.square(z).sum(axis=1) / 2)": "k of each row, for each of the two sums",
        "np.abs(k - np.round(k))": "how far each k is from a whole number",
    },
    returns=true_or_false,
    forbidden=(machine.ring_numbers,),
    hints=(
        "Take a sum off the output, and divide by sigma. If it is the right sum, rows of noise are left; of the other, rows of something else.",
        "A row (x, y) of the noise has x² + y² = -2 ln(k / 2^bits), and k is a whole number. Solve for k: one number for each row.",
        "`k = 2**bits * np.exp(-(z**2).sum(axis=1) / 2)` and `np.abs(k - np.round(k)).mean()` say how far from whole numbers they are. Do it for both "
        "sums, and compare: floats are rounded, so it is not exactly 0 for the right one.",
    ),
    misconceptions=(
        Misconception(
            "turned over",
            "You say True where the output comes from the sum without Mia. Return True where the noise that is left *with* her sum lies on the rings.",
            lambda *given: not _with_numpy(*given),
        ),
        Misconception(
            "the nearer sum",
            "You ask which sum is nearer to the output. That is the test which the certificate allows for: with so much noise it is often wrong. Ask of the "
            "noise that is left whether it lies on the rings.",
            lambda output, with_mia, without, sigma, bits: bool(
                np.square(output - with_mia).sum() < np.square(output - without).sum()
            ),
        ),
        Misconception(
            "sigma left in",
            "You did not divide by sigma. The rings are those of noise of deviation 1: `(output - total) / sigma`.",
            lambda output, with_mia, without, sigma, bits: _with_numpy(output, with_mia, without, 1.0, bits),
        ),
        Misconception(
            "no half",
            "In k = 2^bits e^(-r²/2) you left out the 1/2, so your numbers are nowhere whole.",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z).sum(axis=1))),
        ),
        Misconception(
            "radius not squared",
            "You put the radius where its square belongs: k = 2^bits e^(-r²/2) with r² = x² + y².",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.sqrt(np.square(z).sum(axis=1)) / 2)),
        ),
        Misconception(
            "one number at a time",
            "You took each number by itself. Only a whole row, x² + y², says which ring it is on: add up over `axis=1`.",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z) / 2)),
        ),
        Misconception(
            "all rows together",
            "You added up the squares of all rows. Each row is a point of its own, on a ring of its own: `axis=1`.",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z).sum() / 2)),
        ),
        Misconception(
            "columns in place of rows",
            "You added up over the rows, `axis=0`. A point is one row: add its two squares, `axis=1`.",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z).sum(axis=0) / 2)),
        ),
        Misconception(
            "24 bits",
            "You count with 2^24 rings. Here are 2^bits of them; with more the numbers come out large, and rounding hides whether they are whole.",
            _by_rings(lambda z, bits: 2.0**24 * np.exp(-np.square(z).sum(axis=1) / 2)),
        ),
        Misconception(
            "the first row only",
            "You decide by the first row. One pair says little, since any point may lie near a ring by accident: take the mean over all rows.",
            _near_by_the_first_row,
            recognise=_by_the_first_row,
        ),
        Misconception(
            "the first row of both",
            "You compare the two sums by their first rows. One row decides nothing for certain, since any point may lie near a ring by accident: take the mean over all rows.",
            _compared(_of_the_first_row),
        ),
        Misconception(
            "signs left in",
            "You add up how far k is from whole numbers with the sign, so what is above and what is below cancels. Take the size of each first: `np.abs(k - np.round(k)).mean()`.",
            _compared(_with_signs),
        ),
        Misconception(
            "from below only",
            "You ask how far k is above the whole number below it, as `k % 1` and `k - int(k)` do. A k that floats have made a little too small, such as 6.9999, then "
            "counts as far away: take the distance to the nearest, `np.abs(k - np.round(k))`.",
            _compared(_above_the_whole_below),
        ),
        Misconception(
            "sigma not squared",
            "You divided the square by sigma. Divide by sigma before you square, or divide the square by sigma².",
            lambda output, with_mia, without, sigma, bits: _with_numpy(output, with_mia, without, sigma**0.5, bits),
        ),
        Misconception(
            "base 2",
            "Your k is 2^(bits - r²/2). The power of r is one of e: k = 2^bits e^(-r²/2).",
            _by_rings(_power_of_2),
            recognise=any_of(_by_rings(_power_of_2), _by_rings(_power_of_2, np.max)),
        ),
        Misconception(
            "numbers of different rows",
            "Your pairs are made of numbers that do not stand in one row. The noise of a pair is one row of the array: leave the rows as they are.",
            _by_rings(lambda z, bits: 2.0**bits * np.exp(-np.square(z.T.reshape(-1, 2)).sum(axis=1) / 2)),
        ),
        Misconception(
            "always in",
            "You always say True. Compare the two sums: the right one leaves rows on rings, and the other does not.",
            lambda *given: True,
        ),
        Misconception(
            "always out",
            "You always say False. Either your test is too strict: noise and output are rounded to float32, and k is only as exact as they are, so it comes near a whole number, but may miss "
            "it by more than a small tolerance. Ask which sum comes nearer to whole numbers. Or you choose rows and none is left: the mean of no numbers is nan, and a comparison with nan is False.",
            lambda *given: False,
        ),
    ),
)
