"""Noise of whole numbers."""

import math
from dataclasses import replace

import numpy as np

from dpcourse import machine
from dpcourse.base.languages import say
from dpcourse.checking import Count, Domain, Misconception, Needed, RandomExercise, Seed, Whole
from dpcourse.course.machine.shared import whole_numbers

DRAWS, TAIL, SHORT = 8000, 3000, 40


RATIOS = ((4, 3), (7, 5), (10, 7), (3, 2), (8, 5))


SMALL = (1, 20)  # so that one number in 150 is above 100 in size


def _draw_discrete(rng):
    """Five runs: two short ones with the same seed, a long one, one whose small epsilon shows the tail, and one of a single number."""
    ratio = RATIOS[rng.integers(len(RATIOS))]
    seed = int(rng.integers(2**31))
    return [
        {"numerator": numerator, "denominator": denominator, "size": size, "rng": seed + run}
        for (numerator, denominator), size, run in (
            (ratio, SHORT, 0),
            (ratio, SHORT, 0),
            (ratio, DRAWS, 1),
            (SMALL, TAIL, 2),
            (ratio, 1, 3),
        )
    ]


def _q(case):
    return math.exp(-case["numerator"] / case["denominator"])


def _count_discrete(cases, values):
    first, again, x, wide = map(np.asarray, values[:4])
    size, far, signs, wide_signs = np.abs(x), np.abs(wide), np.sign(x[x != 0]), np.sign(wide[wide != 0])
    q, r = _q(cases[0]), _q(cases[3])
    return [
        Count.of(say("zeros"), x == 0, (1 - q) / (1 + q)),
        Count.of(say("numbers above 0"), x > 0, q / (1 + q)),
        Count.of(say("numbers below 0"), x < 0, q / (1 + q)),
        Count.of(say("numbers of size 2 or more"), size >= 2, 2 * q**2 / (1 + q)),
        Count.of(say("pairs in the list with both numbers above 0"), (x[0::2] > 0) & (x[1::2] > 0), (q / (1 + q)) ** 2),
        Count.of(say("numbers (other than 0) with the sign of the one before"), signs[1:] == signs[:-1], 0.5),
        Count.of(
            say("numbers (other than 0) with the sign of the one before, at a small epsilon"),
            wide_signs[1:] == wide_signs[:-1],
            0.5,
        ),
        Count.of(say("numbers of size 8 or more at a small epsilon"), far >= 8, 2 * r**8 / (1 + r)),
        Count.of(say("numbers of size 64 or more at a small epsilon"), far >= 64, 2 * r**64 / (1 + r)),
        Count.of(say("numbers of size 32 or more at a small epsilon"), far >= 32, 2 * r**32 / (1 + r)),
        Count.of(say("numbers of size 101 or more at a small epsilon"), far >= 101, 2 * r**101 / (1 + r)),
        Count.of(say("runs that come out the same with the same seed"), np.array_equal(first, again), 1.0),
        Count.of(say("runs that begin the same with another seed"), np.array_equal(first, x[:SHORT]), 0.0),
    ]


def _draws(sizes, signed=True):
    """Random signs times sizes(q, n, rng), as numpy draws them."""

    def code(numerator, denominator, size, rng):
        drawn = sizes(_q({"numerator": numerator, "denominator": denominator}), size, rng)
        return drawn * rng.choice([-1, 1], size=size) if signed else drawn

    return code


def _difference(q, n, rng):
    """A discrete Laplace draw as the difference of two geometric ones."""
    return rng.geometric(1 - q, n) - rng.geometric(1 - q, n)


def _share_of_repeated_signs(numbers):
    """How many numbers other than 0 have the sign of the one before; all, where there are too few to tell."""
    signs = np.sign([number for number in numbers if number])
    return float(np.mean(signs[1:] == signs[:-1])) if signs.size > SHORT else 1.0


def _rounded(cases, values):
    """Whether zeros and far numbers are as frequent as in rounded Laplace noise."""
    zeros, *_, far, _, _, _ = _count_discrete(cases, values)
    (_, _, main, wide) = (case["numerator"] / case["denominator"] for case in cases[:4])
    chances = (-math.expm1(-main / 2), math.exp(-31.5 * wide))
    return all(
        replace(count, chance=chance).p_value > 1e-6 for count, chance in zip((zeros, far), chances, strict=True)
    )


def _keep_the_sign(epsilon, n, rng):
    """A sign first, then sizes until one fits it: a 0 fits plus only."""
    plus, size = rng.choice([False, True], size=n), rng.geometric(-math.expm1(-epsilon), n)
    return np.where(plus, size - 1, -size)


def _one_for_minus_zero(numerator, denominator, size, rng):
    """Sizes with signs, of which each 0 with a minus is a 1."""
    minus, size = rng.choice([False, True], size=size), rng.geometric(-math.expm1(-numerator / denominator), size) - 1
    return np.where(minus & (size == 0), 1, np.where(minus, -size, size))


def _with_signs(chance):
    """Sizes with signs, minus with this chance, a function of e^-epsilon; a -0 is thrown away."""

    def code(numerator, denominator, size, rng):
        tries = 40 + 4 * size
        minus = rng.random(tries) < chance(_q({"numerator": numerator, "denominator": denominator}))
        sizes = rng.geometric(-math.expm1(-numerator / denominator), tries) - 1
        return np.where(minus, -sizes, sizes)[~(minus & (sizes == 0))][:size]

    return code


def _three_signs(numerator, denominator, size, rng):
    """A sign of -1, 0 and 1; a 0 with a minus is thrown away."""
    tries = 40 + 4 * size
    sign = rng.integers(-1, 2, tries)
    sizes = rng.geometric(-math.expm1(-numerator / denominator), tries) - 1
    return (sign * sizes)[(sizes > 0) | (sign >= 0)][:size]


def _zero_by_the_coin(numerator, denominator, size, rng):
    """A 0 is kept where the coin of the sizes shows heads once more."""
    tries = math.ceil(40 + size * (4 + 4 * denominator / numerator + 4 * numerator / denominator))
    q = _q({"numerator": numerator, "denominator": denominator})
    sizes = rng.geometric(1 - q, tries) - 1
    kept = sizes[(sizes > 0) | (rng.random(tries) < q)][:size]
    return kept * rng.choice([-1, 1], size=len(kept))


def _goes_on(numerator, denominator, size, rng):
    """Each size goes on from the one before."""
    drawn = _draws(lambda q, n, rng: rng.geometric(1 - q, n) - 1, signed=False)(numerator, denominator, size, rng)
    return np.cumsum(drawn) * rng.choice([-1, 1], size=size)


def _never_falls(cases, values):
    """Whether sizes, as they come, are never smaller than the ones before, and no few sizes."""
    steps = np.diff(np.abs(values[3]))
    return bool((steps >= 0).all() and (steps > 0).sum() > SHORT)


def _like(*codes):
    """recognise: whether the counts may be those of one of these."""
    return lambda cases, values: any(exercise.agrees(cases, values, code) for code in codes)


def _walk(q, n, rng):
    """As many steps up or down as a size has."""
    steps = rng.geometric(1 - q, n) - 1
    return 2 * rng.binomial(steps, 0.5) - steps


def _with_coins(numerator, denominator, size, rng):
    noise = []
    while len(noise) < size:
        n = 0
        while machine.coin(numerator, denominator, rng):
            n += 1
        negative = rng.integers(2) == 1
        if n == 0 and negative:
            continue
        noise.append(-n if negative else n)
    return noise


exercise = RandomExercise(
    title="Noise of whole numbers",
    good_for="a count that can be released without a leak in its low bits",
    difficulty=4,
    minutes=15,
    points=4,
    domain=Domain(
        {"numerator": Whole(1, 10), "denominator": Whole(1, 20), "size": Whole(1, 8000), "rng": Seed()}, most=4
    ),
    draw=_draw_discrete,
    seconds=30.0,
    reference=_draws(_difference, signed=False),
    formulas=(_with_coins,),
    returns=whole_numbers,
    compared=600,
    sample_size="size",
    counts=_count_discrete,
    forbidden=(machine.discrete_noise, machine.discrete_mechanism),
    needed=Needed(
        machine.coin,
        lambda case: case["size"],
        "What the check counts is right, but the numbers do not come from `machine.coin`. `rng.geometric`, "
        "`rng.random` and `math.log` begin with a double, which is the leak of section 2; a coin of your own, even an exact one, is not asked for.",
    ),
    hints=(
        "First the size: begin at 0, and while the coin shows heads go up by 1. So size n has probability q^n (1 - q).",
        "How often do you reach 0 with each sign, compared with +1 and -1?",
        "Then the sign: `rng.integers(2)` is 0 or 1. If the size is 0 and the sign is minus, forget both and begin anew.",
        "In code: a `while` loop until the list is long enough; in it `n = 0`, a `while machine.coin(numerator, denominator, rng): n += 1`, then the sign.",
    ),
    misconceptions=(
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your numbers come from somewhere else. Give `rng` to every coin, and draw the sign from it.",
            _draws(lambda q, n, rng: _difference(q, n, np.random.default_rng()), signed=False),
            recognise=lambda cases, values: not np.array_equal(*map(np.asarray, values[:2])),
        ),
        Misconception(
            "one toss",
            "Your sizes are 0 and 1 only: the coin is tossed once. Toss it again and again while it shows heads: `while`, not `if`.",
            _draws(lambda q, n, rng: (rng.random(n) < q).astype(int)),
            recognise=lambda cases, values: bool(np.abs(values[2]).max() == 1),
        ),
        Misconception(
            "two zeros",
            "Zero comes too often. It can be reached as +0 and as -0 (cutting a noise with fractions towards 0 does the same), or it is decided before the size is drawn. If there is a -0, throw it away and draw again, the size as well as the sign.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n) - 1),
        ),
        Misconception(
            "signs in turn",
            "Your signs take turns, so each follows from the one before. Draw each of them: `rng.integers(2)`.",
            _draws(lambda q, n, rng: (rng.geometric(1 - q, n) - 1) * (-1) ** np.arange(n), signed=False),
            recognise=lambda cases, values: _share_of_repeated_signs(values[3]) < 0.2,
        ),
        Misconception(
            "sign kept",
            "Minus comes as often as plus, though only plus has a zero. Either your negative numbers begin at -1, or you throw the size of a -0 away and keep its sign. Throw both away, and draw both anew.",
            lambda numerator, denominator, size, rng: _keep_the_sign(numerator / denominator, size, rng),
        ),
        Misconception(
            "one in place of -0",
            "Where a -0 comes you take 1 in its place, or -1. Throw it away, and draw the size and the sign anew.",
            _one_for_minus_zero,
            recognise=_like(_one_for_minus_zero, lambda *given: -_one_for_minus_zero(*given)),
        ),
        Misconception(
            "three signs",
            "Zero comes too often: your sign is -1, 0 or 1, and 0 makes a zero of every size. There are two signs: `rng.integers(2)`.",
            _three_signs,
        ),
        Misconception(
            "a zero by the coin",
            "Too many zeros are thrown away. Do you ask the coin of the sizes whether a zero is kept? Or has your noise its sign already, and gets another? A size of 0 is kept with plus and thrown away with minus, once.",
            _zero_by_the_coin,
            recognise=_like(_zero_by_the_coin),
        ),
        Misconception(
            "the size goes on",
            "Your sizes never fall: each begins where the one before has ended. Begin at 0 for each noise: `n = 0` belongs inside the loop.",
            _goes_on,
            recognise=_never_falls,
        ),
        Misconception(
            "two sizes added",
            "You add two sizes. Take their difference, and no sign is needed; or draw one size and a sign.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n) + rng.geometric(1 - q, n) - 2),
        ),
        Misconception(
            "a sign by the coin",
            "Plus and minus do not come equally often. `machine.coin(1, 2, rng)` is no fair coin: it shows heads with probability e^(-1/2), which is 0.61. For the sign use `rng.integers(2)`.",
            _with_signs(lambda q: math.exp(-0.5)),
            recognise=_like(_with_signs(lambda q: math.exp(-0.5)), _with_signs(lambda q: -math.expm1(-0.5))),
        ),
        Misconception(
            "a sign by the same coin",
            "Plus and minus do not come equally often: you toss for the sign with the coin of the sizes, which shows heads with probability e^-epsilon. For the sign use `rng.integers(2)`.",
            _with_signs(lambda q: q),
            recognise=_like(_with_signs(lambda q: q), _with_signs(lambda q: 1 - q)),
        ),
        Misconception(
            "half of epsilon",
            "Your noise is that of half of epsilon. Whether you take the difference of two sizes or draw a sign, the coin of each size has the whole epsilon.",
            lambda numerator, denominator, size, rng: _draws(_difference, signed=False)(
                numerator, 2 * denominator, size, rng
            ),
        ),
        Misconception(
            "a sign for each step",
            "You draw a sign for each step, and steps up and down cancel. Count the steps first; then draw one sign for the whole number.",
            _draws(_walk, signed=False),
        ),
        Misconception(
            "no zero",
            "Zero never comes. Either your sizes begin at 1, or you throw every zero away: only -0 must go.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n)),
        ),
        Misconception(
            "one-sided",
            "Your noise is never negative. Then an output below the count would prove a neighbour wrong. Draw a sign for each, before you keep it.",
            _draws(lambda q, n, rng: rng.geometric(1 - q, n) - 1, signed=False),
        ),
        Misconception(
            "fraction turned over",
            "Your coin shows heads with probability e^(-denominator/numerator). Epsilon is numerator/denominator.",
            lambda numerator, denominator, size, rng: _draws(_difference, signed=False)(
                denominator, numerator, size, rng
            ),
        ),
        Misconception(
            "rounded",
            "Your noise looks like rounded Laplace noise. It begins as a double with low bits, and zero has another probability. Use `machine.coin`.",
            lambda numerator, denominator, size, rng: np.round(rng.laplace(0, denominator / numerator, size)),
            recognise=_rounded,
        ),
        Misconception(
            "heads and tails swapped",
            "Your size grows while the coin shows tails. It grows while it shows heads, which has probability e^-epsilon.",
            lambda numerator, denominator, size, rng: _draws(_difference, signed=False)(
                -math.log(-math.expm1(-numerator / denominator)), 1, size, rng
            ),
        ),
    ),
)
