"""A mean by two budgets."""

import math

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import (
    Count,
    Domain,
    Misconception,
    Noise,
    Number,
    RandomExercise,
    Seed,
    Several,
    a_number,
    rounded,
)

PEOPLE = 60
SETTINGS = slice(1, 1501), slice(1501, 3001), slice(3001, 4001), slice(4001, 5001)
"""The runs in which the noise of the sum is seen alone, that of the count, both, and that of the sum with another table: so many that a scale
20 % off shows."""
LARGE = 60.0  # a budget at which one of the two noises is so small that the other can be seen alone
ON_SUM, ON_NUMBER = to_say("on the sum"), to_say("on the number of people")
PLACES = (-2.2, -0.3, 0.5, 2.2)  # in scales, at which the frequencies are counted


def _draw(rng):
    """A table whose lower limit is the farther one: many times with a noisy sum and with a noisy count, some times with both.

    Some entries lie outside of either limit, and where the noise of the sum is seen alone none comes near one: its scale
    is that of the limits, whatever is in the table. In another table the upper limit is the farther one, and an array of whole
    numbers, of which many lie above it, cuts what is written into it. The first run is made twice with the same seed.
    """
    low, high = -rounded(rng.uniform(8, 10)), rounded(rng.uniform(4, 5))
    values = np.zeros(PEOPLE)
    while not _tells(values, low, high):
        values = np.round(rng.choice([-7, -2, 2], size=PEOPLE) * rng.gamma(3, 0.6, size=PEOPLE) + 0.5, 2)
    small = rounded(rng.uniform(0.35, 0.45))
    other = rounded(0.9 * small * -low / abs(np.clip(values, low, high).mean()))  # both noises move the mean as far
    budgets = [(small, LARGE), (LARGE, small), (other, small)]
    seed, given = int(rng.integers(2**31)), {"low": low, "high": high}
    tables = {LARGE: np.clip(values, 0.7 * low, 0.7 * high)}
    settings = [
        budgets[0],
        *(budget for budget, runs in zip(budgets, SETTINGS, strict=False) for _ in range(runs.start, runs.stop)),
    ]
    cases = [
        {"values": tables.get(for_count, values), **given, "epsilon_sum": for_sum, "epsilon_count": for_count}
        for for_sum, for_count in settings
    ]
    cases += [_other_table(rng)] * (SETTINGS[-1].stop - SETTINGS[-1].start)
    return [case | {"rng": seed + max(0, run - 1)} for run, case in enumerate(cases)]


def _other_table(rng):
    entries = np.r_[
        rng.integers(11, 30, size=24), rng.integers(-30, -5, size=4), rng.integers(-4, 10, size=PEOPLE - 28)
    ]
    limits = {"low": -rounded(rng.uniform(4.4, 4.6)), "high": rounded(rng.uniform(9.4, 9.6))}
    return {
        "values": rng.permutation(entries),
        **limits,
        "epsilon_sum": rounded(rng.uniform(0.6, 0.7)),
        "epsilon_count": LARGE,
    }


def _tells(values, low, high):
    """Whether the entries beyond either limit are enough that to clip at one alone shows; and the sum, that a whole number does."""
    beyond = np.maximum(low - values, 0).sum(), np.maximum(values - high, 0).sum()
    return min(beyond) > 10 and abs(np.clip(values, low, high).sum()) > 100


def _groups(cases, values):
    """(the case, the means) of each setting."""
    means = np.asarray(values, dtype=float)
    return [(cases[runs.start], means[runs]) for runs in SETTINGS]


def _truth(case):
    """The clipped sum, the scale of its noise, the number of people, the scale of its noise."""
    total = np.clip(case["values"], case["low"], case["high"]).sum()
    farther = max(abs(case["low"]), abs(case["high"]))
    return float(total), farther / case["epsilon_sum"], len(case["values"]), 1 / case["epsilon_count"]


def _chance_below(case, mean):
    """Pr[(total + Lap(b)) / (people + Lap(c)) <= mean], the number of people being above 0 all but surely.

    It is Pr[Lap(b) - mean Lap(c) <= people mean - total], the law of a sum of two Laplace noises of unlike scales.
    """
    total, b, people, c = _truth(case)
    x, c = people * mean - total, abs(mean) * c
    tail = (b * b * math.exp(-abs(x) / b) - c * c * math.exp(-abs(x) / c)) / (2 * (b * b - c * c))
    return 1 - tail if x >= 0 else tail


def _places(case):
    """Means at which frequencies are counted: PLACES scales of what the sum's noise and the count's do together."""
    total, b, people, c = _truth(case)
    return [(total + place * (b + c * abs(total) / people)) / people for place in PLACES]


def _count(cases, values):
    means = _groups(cases, values)
    counts = [
        Count.of(
            say("means {with_budgets} that are at most {place:.3f}", with_budgets=_with_budgets(case), place=place),
            row <= place,
            _chance_below(case, place),
        )
        for case, row in means
        for place in _places(case)
    ]
    above = [row > _places(case)[1] for case, row in means]
    pairs = [(row[0::2] == row[1::2], _of_pairs(case)) for row, (case, _) in zip(above, means, strict=True)]
    noises = np.concatenate(list(_noises(cases, values).values()))
    return [
        *counts,
        *(_far_off(case, row) for case, row in means),
        Count.of(say("noises within 0.3 scales of 0"), np.abs(noises) <= 0.3, -math.expm1(-0.3)),
        *(
            Count.of(
                say(
                    "runs {with_budgets} that fall on the same side as the run before", with_budgets=_with_budgets(case)
                ),
                alike,
                chance,
            )
            for (alike, chance), (case, _) in zip(pairs, means, strict=True)
        ),
        Count.of(
            say("noisy numbers of people within a quarter of a whole number"),
            _near_whole(cases, values),
            _by_chance(cases),
        ),
        Count.of(say("pairs of runs, each with its own `rng`, that give the same mean"), _equal(means), 0.0),
        Count.of(say("runs that come out the same with the same seed"), values[0] == values[1], 1.0),
    ]


def _of_count(cases):
    """A case in which the noise of the count is seen alone."""
    return cases[SETTINGS[1].start]


def _far_off(case, row):
    """The count of what lies beyond all places, to both sides."""
    ends = sorted((_places(case)[0], _places(case)[-1]))
    chance = 1 - _chance_below(case, ends[1]) + _chance_below(case, ends[0])
    return Count.of(
        say(
            "means {with_budgets} beyond {low:.3f} or {high:.3f}",
            with_budgets=_with_budgets(case),
            low=ends[0],
            high=ends[1],
        ),
        (row <= ends[0]) | (row > ends[1]),
        chance,
    )


def _near_whole(cases, values):
    """Whether the number by which the sum was divided, where the sum has hardly any noise, is nearly whole."""
    noise = _noises(cases, values)[ON_NUMBER] * _truth(_of_count(cases))[3]
    return np.abs(noise - np.round(noise)) < 0.25


def _by_chance(cases):
    """The same of Laplace noise on a whole number."""
    c = _truth(_of_count(cases))[3]
    return 1 - math.sinh(0.25 / c) / math.sinh(0.5 / c)


def _of_pairs(case):
    chance = _chance_below(case, _places(case)[1])
    return chance**2 + (1 - chance) ** 2


def _equal(means):
    return np.concatenate([row[:-1] == row[1:] for _, row in means])


def _exact_of_each_table(cases, values):
    """Whether a table has one mean, whatever the budgets and the run."""
    tables = {}
    for case, row in _groups(cases, values):
        tables.setdefault(np.asarray(case["values"]).tobytes(), []).extend(row)
    return all(np.ptp(row) < 1e-9 for row in tables.values())


def _with_budgets(case):
    return say(
        "with epsilon_sum {epsilon_sum:g} and epsilon_count {epsilon_count:g}",
        epsilon_sum=case["epsilon_sum"],
        epsilon_count=case["epsilon_count"],
    )


def _noises(cases, values):
    """The noise of the sum where that of the count is small, and the other way round: each in its right scales."""
    (of_sum, sums), (of_count, counts), *_ = _groups(cases, values)
    total, b, people, _ = _truth(of_sum)
    clipped, _, _, c = _truth(of_count)
    with np.errstate(divide="ignore"):
        return {
            ON_SUM: (sums * people - total) / b,
            ON_NUMBER: (clipped / np.where(counts == 0, np.nan, counts) - people) / c,
        }


def _on_the_mean(number):
    """recognise: whether so many noises, drawn by `rng.laplace`, are added to the exact mean: every mean is the same sum of them."""

    def recognise(cases, values):
        for runs, (case, means) in zip(SETTINGS, _groups(cases, values), strict=True):
            noises = np.array([np.random.default_rng(each["rng"]).laplace(size=2) for each in cases[runs]])
            off = means - np.clip(case["values"], case["low"], case["high"]).mean()
            sizes = np.linalg.lstsq(noises, off, rcond=None)[0]
            exact = np.abs(noises @ sizes - off).max() <= 1e-9 * np.abs(sizes).max()
            if not exact or (np.abs(sizes) > 1e-9).sum() != number:
                return False
        return True

    return recognise


def _likeness(cases, values, law):
    """For each noise, where it is seen alone, its correlations with the first and the second number of the generator's law."""
    for runs, noise in zip(SETTINGS, _noises(cases, values).values(), strict=False):
        drawn = np.array([getattr(np.random.default_rng(case["rng"]), law)(size=2) for case in cases[runs]])
        yield [abs(np.corrcoef(noise, each)[0, 1]) for each in drawn.T]


def _drawn_by_normal(cases, values):
    return all(max(likeness) > 0.95 for likeness in _likeness(cases, values, "normal"))


def _drawn_once(cases, values):
    return all(likeness[0] > 0.95 for likeness in _likeness(cases, values, "laplace"))


def _mean(noises=None, clip=np.clip, divide=lambda total, people: total / people):
    """A mean with noises(b, c, rng) -> (noise of the sum, noise of the number of people), made for epsilons."""

    def code(values, low, high, epsilon_sum, epsilon_count, rng):
        kept = clip(np.asarray(values), low, high)
        farther = max(abs(low), abs(high))
        first, second = noises(rng, low, high, farther, epsilon_sum, epsilon_count)
        return float(divide(kept.sum() + first, len(kept) + second))

    return code


def _scaled(of_sum, of_count):
    """Two independent noises whose scales are functions of (low, high, the farther limit, epsilon_sum, epsilon_count)."""
    return lambda rng, *given: (rng.laplace(0, of_sum(*given)), rng.laplace(0, of_count(*given)))


def _sum_scale(low, high, farther, epsilon_sum, epsilon_count):
    return farther / epsilon_sum


def _count_scale(low, high, farther, epsilon_sum, epsilon_count):
    return 1 / epsilon_count


_both = _scaled(_sum_scale, _count_scale)


def _one_noise(rng, low, high, farther, epsilon_sum, epsilon_count):
    noise = rng.laplace()
    return noise * farther / epsilon_sum, noise / epsilon_count


def _as_they_are(values, low, high):
    return values


def _above(values, low, high):
    return np.minimum(values, high)


def _clipped_by(clip):
    """recognise: whether the noise of the number has its right size, the sum being that of the entries as `clip` leaves them."""

    def recognise(cases, values):
        _, (case, means), *_ = _groups(cases, values)
        total = clip(np.asarray(case["values"]), case["low"], case["high"]).sum()
        noise = (total / np.where(means == 0, np.nan, means) - PEOPLE) * case["epsilon_count"]
        return bool(abs(np.median(noise)) < 1 / 6 and 0.8 < np.abs(noise).mean() < 1.25)

    return recognise


def _dropped(values, low, high):
    return values[(values >= low) & (values <= high)]


def _sum_first(values, low, high, epsilon_sum, epsilon_count, rng):
    total = np.clip(values, low, high).sum() + rng.laplace(0, max(abs(low), abs(high)) / epsilon_sum)
    people = len(values) + rng.laplace(0, 1 / epsilon_count)
    return total / people


def _number_first(values, low, high, epsilon_sum, epsilon_count, rng):
    people = len(values) + rng.laplace(0, 1 / epsilon_count)
    return (np.clip(values, low, high).sum() + rng.laplace(0, max(abs(low), abs(high)) / epsilon_sum)) / people


exercise = RandomExercise(
    title="A mean by two budgets",
    good_for="publishing an average where the number of people is a secret too",
    difficulty=3,
    minutes=12,
    points=3,
    domain=Domain(
        {
            "values": Several(Number(-100, 100), 1, 200, array=True),
            "low": Number(-10, 0),
            "high": Number(1, 60),
            "epsilon_sum": Number(0.05, 60),
            "epsilon_count": Number(0.05, 60),
            "rng": Seed(),
        },
        most=12,
    ),
    draw=_draw,
    reference=_mean(_both),
    formulas=(_sum_first, _number_first),
    means={
        "np.clip(values, low, high)": "the values, each clipped at `low` and at `high`",
        "max(abs(low), abs(high))": "the most by which one person can change the sum",
        "max(abs(low), abs(high)) / epsilon_sum": "the scale of the noise on the sum",
        "1 / epsilon_count": "the scale of the noise on the number of people",
        "len(values) + rng.laplace(0, 1 / epsilon_count)": "the noisy number of people",
    },
    returns=a_number,
    counts=_count,
    noise=lambda cases, values: Noise.of_groups(
        "laplace", {say(where): noise for where, noise in _noises(cases, values).items()}
    ),
    hints=(
        "What does somebody see who knows the exact number of people, with Mia and without her? Both numbers of the fraction are about people.",
        "Clip every value first. One row moves the sum of the clipped values by the larger of |low| and |high|, and the number of rows by 1.",
        "Each of the two gets a noise of its own, the sum by `epsilon_sum`, the number by `epsilon_count`. Then divide one noisy number by the other.",
    ),
    misconceptions=(
        Misconception(
            "nothing random",
            "Your mean is exact: there is no noise in it. The sum needs one, and the number of people another.",
            lambda values, low, high, epsilon_sum, epsilon_count, rng: float(np.clip(values, low, high).mean()),
            recognise=_exact_of_each_table,
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda values, low, high, epsilon_sum, epsilon_count, rng: _mean(_both)(
                values, low, high, epsilon_sum, epsilon_count, np.random.default_rng()
            ),
            recognise=lambda cases, values: values[0] != values[1],
        ),
        Misconception(
            "own seed",
            "The noise is the same in every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda values, low, high, epsilon_sum, epsilon_count, rng: _mean(_both)(
                values, low, high, epsilon_sum, epsilon_count, np.random.default_rng(0)
            ),
            recognise=lambda cases, values: all(np.ptp(row) < 1e-9 for _, row in _groups(cases, values)),
        ),
        Misconception(
            "the sum",
            "You returned the noisy sum. Divide it by the noisy number of people.",
            _mean(_both, divide=lambda total, people: total),
        ),
        Misconception(
            "Gaussian",
            "You added Gaussian noise. Its tails fall faster, so far out the ratio of the densities passes e^epsilon. Use `rng.laplace`.",
            _mean(lambda rng, *given: (rng.normal(0, _sum_scale(*given)), rng.normal(0, _count_scale(*given)))),
            recognise=_drawn_by_normal,
        ),
        Misconception(
            "exact number of people",
            "You divide by the exact number of people (or add one noise to the mean, which is the same). Whether Mia is one of them is the "
            "secret: give the number its own noise, by `epsilon_count`.",
            _mean(lambda rng, *given: (rng.laplace(0, _sum_scale(*given)), 0)),
            recognise=_on_the_mean(1),
        ),
        Misconception(
            "two noises on the mean",
            "You calculate the exact mean and add two noises to it. The mean is the sum divided by the number of people, and that number is a "
            "secret: add one noise to the sum, the other to the number, and then divide.",
            lambda values, low, high, epsilon_sum, epsilon_count, rng: float(
                np.clip(values, low, high).mean()
                + rng.laplace(0, -low / len(values) / epsilon_sum)
                + rng.laplace(0, 1 / epsilon_count)
            ),
            recognise=_on_the_mean(2),
        ),
        Misconception(
            "exact sum",
            "Only the number of people has noise. One row changes the sum too: give it its own noise, by `epsilon_sum`.",
            _mean(lambda rng, *given: (0, rng.laplace(0, _count_scale(*given)))),
        ),
        Misconception(
            "rounded",
            "You rounded the noisy number of people. That is allowed, as post-processing, but here divide by it as it is.",
            _mean(_both, divide=lambda total, people: total / round(people)),
            recognise=lambda cases, values: bool(
                _near_whole(cases, values).mean() > 0.85
                and 0.5 < np.abs(_noises(cases, values)[ON_NUMBER]).mean() < 2  # as of a number that has noise
            ),
        ),
        Misconception(
            "not clipped",
            "You do not clip the values. Then one row can change the sum by any amount, and your noise hides only what lies between the limits.",
            _mean(_both, clip=_as_they_are),
            recognise=_clipped_by(_as_they_are),
        ),
        Misconception(
            "one side clipped",
            "You clip at the upper limit only. Values below `low` must be raised to it, or one row can lower the sum by any amount.",
            _mean(_both, clip=_above),
            recognise=_clipped_by(_above),
        ),
        Misconception(
            "thrown away",
            "You throw away the values outside the limits. Clipping moves each to the nearest limit, and the person stays in the count.",
            _mean(_both, clip=_dropped),
        ),
        Misconception(
            "thrown away from the sum",
            "You leave the values outside the limits out of the sum, as if they were 0. Clipping moves each to the nearest limit.",
            _mean(_both, clip=lambda values, low, high: np.where((values >= low) & (values <= high), values, 0)),
        ),
        Misconception(
            "replaced",
            "Your noise on the sum has the scale (high - low) / epsilon_sum. That is for a row that is replaced. Here one comes or goes: the "
            "larger of |low| and |high|.",
            _mean(_scaled(lambda low, high, farther, e, d: (high - low) / e, _count_scale)),
        ),
        Misconception(
            "high only",
            "Your noise on the sum has the scale high / epsilon_sum. The lower limit may be farther from 0: take the larger of |low| and |high|.",
            _mean(_scaled(lambda low, high, farther, e, d: high / e, _count_scale)),
        ),
        Misconception(
            "sensitivity forgotten",
            "Your noise on the sum has the scale 1 / epsilon_sum. One row changes the sum by the larger of |low| and |high|.",
            _mean(_scaled(lambda low, high, farther, e, d: 1 / e, _count_scale)),
        ),
        Misconception(
            "same sensitivity for both",
            "Your noise on the number of people has the scale of the sum's sensitivity, or of both together. Each has a budget of its own, and a number of people changes by 1.",
            _mean(_scaled(_sum_scale, lambda low, high, farther, e, d: farther / d)),
        ),
        Misconception(
            "budgets exchanged",
            "You took `epsilon_count` for the sum and `epsilon_sum` for the number of people.",
            _mean(_scaled(lambda low, high, farther, e, d: farther / d, lambda low, high, farther, e, d: 1 / e)),
        ),
        Misconception(
            "all for each",
            "You gave each of the two noises the whole budget, epsilon_sum + epsilon_count. What is spent on one is not there for the other.",
            _mean(
                _scaled(
                    lambda low, high, farther, e, d: farther / (e + d),
                    lambda low, high, farther, e, d: 1 / (e + d),
                )
            ),
        ),
        Misconception(
            "fractions turned over",
            "Your noise grows with epsilon. More privacy means a smaller epsilon and more noise: divide by it.",
            _mean(_scaled(lambda low, high, farther, e, d: farther * e, lambda low, high, farther, e, d: d)),
        ),
        Misconception(
            "standard deviation",
            "You gave standard deviations, the root of 2 times the scale. numpy's `laplace` wants the scale itself.",
            _mean(
                _scaled(
                    lambda *given: math.sqrt(2) * _sum_scale(*given), lambda *given: math.sqrt(2) * _count_scale(*given)
                )
            ),
        ),
        Misconception(
            "one noise for both",
            "You drew one noise and used it for both. Then the two numbers together give it away. Draw twice.",
            _mean(_one_noise),
            recognise=_drawn_once,
        ),
        Misconception(
            "turned over",
            "You divided the number of people by the sum. A mean is the sum divided by the number.",
            _mean(_both, divide=lambda total, people: people / total),
        ),
    ),
)
