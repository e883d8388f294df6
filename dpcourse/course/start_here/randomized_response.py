"""Randomized response."""

import math

import numpy as np
from scipy.stats import binom

from dpcourse import composition
from dpcourse.base.languages import say
from dpcourse.checking import Count, Domain, Misconception, Number, OneOf, RandomExercise, Seed, Several, bits_like
from dpcourse.course.start_here.shared import keep_chance

SURVEYS, PEOPLE = 400, 200  # so many that an epsilon 5 % off shows
SMALL, LARGE = (
    slice(401, 441),
    slice(441, 601),
)  # surveys at a smaller epsilon, and at a larger one, where a chance in whole percents is off by one


def _draw_respond(rng):
    """401 surveys of the same 200 people: the first two with the same seed, every other with its own; and some at a smaller epsilon and a larger one."""
    epsilon = rng.choice([rng.uniform(1.45, 1.55), rng.uniform(1.6, 1.7)])  # where a small fault moves the chance most
    epsilons = [epsilon] * (1 + SURVEYS)
    epsilons += [rng.uniform(0.75, 0.9)] * (SMALL.stop - SMALL.start) + [2.76] * (LARGE.stop - LARGE.start)
    bits = rng.permutation(PEOPLE) % 2
    seed = int(rng.integers(2**31))
    return [
        {"bits": bits, "epsilon": round(float(each), 2), "rng": seed + max(0, run - 1)}
        for run, each in enumerate(epsilons)
    ]


def _flips(cases, values, surveys=slice(1 + SURVEYS)):
    """Which bits each survey flipped: booleans of shape (1 + SURVEYS, PEOPLE)."""
    some = zip(cases[surveys], values[surveys], strict=True)
    return np.array([np.asarray(value) != case["bits"] for case, value in some])


def _usual_flips(epsilon):
    """The middle numbers of flips in one survey: about two thirds of the surveys have one of them."""
    keep = keep_chance(epsilon)
    mean, spread = PEOPLE * (1 - keep), math.sqrt(PEOPLE * keep * (1 - keep))
    return math.ceil(mean - spread), math.floor(mean + spread)


def _count_respond(cases, values):
    again, *flips = _flips(cases, values)
    flips = np.array(flips)
    ones = cases[0]["bits"] == 1
    keep = keep_chance(cases[0]["epsilon"])
    alike = keep**2 + (1 - keep) ** 2
    low, high = _usual_flips(cases[0]["epsilon"])
    usual = binom.cdf(high, PEOPLE, 1 - keep) - binom.cdf(low - 1, PEOPLE, 1 - keep)
    numbers = flips.sum(axis=1)
    by_fifties = flips.reshape(len(flips), -1, 2, 50)
    return [
        Count.of(say("true 1s that were kept"), ~flips[:, ones], keep),
        Count.of(say("true 0s that were kept"), ~flips[:, ~ones], keep),
        Count.of(say("people who were kept"), ~flips, keep),
        Count.of(
            say("people half the list apart who were both kept or both flipped"),
            flips[:, : PEOPLE // 2] == flips[:, PEOPLE // 2 :],
            alike,
        ),
        Count.of(
            say("neighbours in the list who were both kept or both flipped"), flips[:, 0::2] == flips[:, 1::2], alike
        ),
        Count.of(
            say("people 50 apart who were both kept or both flipped"),
            by_fifties[..., 0, :] == by_fifties[..., 1, :],
            alike,
        ),
        Count.of(say("people who were kept in two surveys or flipped in both"), flips[0::2] == flips[1::2], alike),
        Count.of(
            say("surveys with {low} to {high} flips", low=low, high=high), (numbers >= low) & (numbers <= high), usual
        ),
        Count.of(say("surveys in which the first person was kept"), ~flips[:, 0], keep),
        Count.of(say("surveys in which the last person was kept"), ~flips[:, -1], keep),
        Count.of(say("surveys that come out the same with the same seed"), (flips[0] == again).all(), 1.0),
        *(
            Count.of(
                say("people who were kept at `epsilon = {epsilon:g}`", epsilon=cases[some.start]["epsilon"]),
                ~_flips(cases, values, some),
                keep_chance(cases[some.start]["epsilon"]),
            )
            for some in (SMALL, LARGE)
        ),
    ]


def _with_keep(keep):
    def code(bits, epsilon, rng):
        return np.where(rng.random(len(bits)) < keep(epsilon), bits, 1 - bits)

    return code


def _same_flips_every_time(cases, values):
    flips = _flips(cases, values)
    ones = cases[0]["bits"] == 1
    mixed = 0 < flips[0][ones].mean() < 1 and 0 < flips[0][~ones].mean() < 1
    return bool(mixed and (flips == flips[0]).all())


def _fixed_number(cases, values):
    flips = _flips(cases, values)
    numbers = flips.sum(axis=1)
    return bool((numbers == numbers[0]).all() and 0 < numbers[0] < PEOPLE and (flips != flips[0]).any())


def _ignores_the_generator(cases, values):
    first, again, *_ = _flips(cases, values)
    return bool((first != again).any())


def _one_coin(cases, values):
    flipped = _flips(cases, values).mean(axis=1)
    return bool(np.isin(flipped, (0, 1)).all() and 0 < flipped.mean() < 1)


def _kept(bits, epsilon, rng):
    keep = rng.random(len(bits)) < math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.where(keep, bits, 1 - bits)


exercise = RandomExercise(
    title="Randomized response",
    good_for="your first private mechanism; surveys have used it for decades",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {"bits": Several(OneOf((0, 1)), 1, 200, array=True), "epsilon": Number(0.1, 3), "rng": Seed()}, most=12
    ),
    draw=_draw_respond,
    reference=composition.randomized_response,
    formulas=(_kept,),
    means={"math.exp(epsilon) / (1 + math.exp(epsilon))": "the chance to keep a bit"},
    returns=bits_like("bits"),
    counts=_count_respond,
    forbidden=(composition.randomized_response,),
    hints=(
        "Every person needs a coin of their own. `rng.random(len(bits))` gives one number in [0, 1) for each person.",
        "A number is below p with probability p. Where it is, keep the bit; elsewhere give `1 - bit`. `np.where` does both.",
    ),
    misconceptions=(
        Misconception(
            "fixed number",
            "The number of flips is the same in every survey. Then one person more with a 1 makes some results impossible, "
            "and that is private for no epsilon. Let each person's own coin decide.",
            lambda bits, epsilon, rng: bits ^ (rng.permutation(len(bits)) >= round(len(bits) * keep_chance(epsilon))),
            recognise=_fixed_number,
        ),
        Misconception(
            "one coin for all",
            "One coin decides for everybody: all bits are kept, or all are flipped. Toss one coin for each person.",
            lambda bits, epsilon, rng: bits if rng.random() < keep_chance(epsilon) else 1 - bits,
            recognise=_one_coin,
        ),
        Misconception(
            "own seed",
            "The same people are flipped at every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda bits, epsilon, rng: _with_keep(keep_chance)(bits, epsilon, np.random.default_rng(0)),
            recognise=_same_flips_every_time,
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your coins come from somewhere else. Draw them from `rng`.",
            lambda bits, epsilon, rng: _with_keep(keep_chance)(bits, epsilon, np.random.default_rng()),
            recognise=_ignores_the_generator,
        ),
        Misconception(
            "flips too often",
            "You keep with the chance that belongs to flipping, so most reports are lies. Keep with e^epsilon / (1 + e^epsilon).",
            _with_keep(lambda epsilon: 1 - keep_chance(epsilon)),
        ),
        Misconception(
            "flip e^-epsilon",
            "You flip with probability e^-epsilon. Then keep / flip is e^epsilon - 1, not e^epsilon.",
            _with_keep(lambda epsilon: 1 - math.exp(-epsilon)),
        ),
        Misconception(
            "fixed coin",
            "You keep the truth with a probability near 3/4, which fits epsilon = ln 3 only. Is your coin fixed, do you compare it with "
            "`epsilon` itself, or do you draw it with `rng.normal` in place of `rng.random`?",
            _with_keep(lambda epsilon: 0.75),
        ),
        Misconception(
            "random instead of flipped",
            "Where you do not keep the bit you report a fair coin, or somebody's bit, which is the truth half of the time. Report 1 - bit there.",
            _with_keep(lambda epsilon: (1 + keep_chance(epsilon)) / 2),
        ),
        Misconception(
            "only the 1s",
            "You protect the 1s only. Then a reported 1 is certainly true: the ratio of the chances is infinite, not e^epsilon.",
            lambda bits, epsilon, rng: np.where((bits == 1) & (rng.random(len(bits)) >= keep_chance(epsilon)), 0, bits),
        ),
        Misconception(
            "nothing random",
            "Every report is the true bit. That is exact, and it hides nobody. Is your probability to keep above 1, is your coin always 0, "
            "or do you return `bits` as they came?",
            lambda bits, epsilon, rng: bits,
        ),
        Misconception(
            "bits not used",
            "A yes is as likely in your reports where the true bit is 0 as where it is 1, so they say nothing of `bits`. Either you report the coins themselves, or a 0 is kept with the chance with which it should be flipped: keep both with the same chance.",
            lambda bits, epsilon, rng: (rng.random(len(bits)) < keep_chance(epsilon)).astype(int),
        ),
        Misconception(
            "only the 0s",
            "You protect the 0s only. Then a reported 0 is certainly true: the ratio of the chances is infinite, not e^epsilon.",
            lambda bits, epsilon, rng: np.where((bits == 0) & (rng.random(len(bits)) >= keep_chance(epsilon)), 1, bits),
        ),
    ),
)
