"""Answers of lesson 08 that pass where they should not, or are refused where they should pass."""

import math
from fractions import Fraction

import numpy as np
import pytest
from course.judging import drawn, judged, named

from dpcourse import course, machine
from dpcourse.checking import RIGHT, WRONG, Exercise
from dpcourse.checking.cases import Cases

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(8).exercise
SEEDS, FEW_SEEDS = 40, 4


@pytest.mark.parametrize("function", [each.function for each in course.lesson(8).exercises if type(each) is Exercise])
def test_no_misconception_fails_on_inputs_that_are_drawn(function):
    """Whatever is drawn: an error in one of them would fail the check of every answer."""
    for seed in range(FEW_SEEDS):
        cases = Cases(exercise(function).draw(np.random.default_rng(seed)))
        for misconception in exercise(function).misconceptions:
            assert len(cases.given(misconception.code)) == len(cases)


# ---- whole_noise


def by_the_library(numerator, denominator, size, rng):
    return machine.discrete_noise(Fraction(numerator, denominator), size, rng)


def test_whole_noise_has_the_law_of_the_exact_sampler():
    whole_noise = exercise("whole_noise")
    for seed in range(3):
        cases = drawn(whole_noise.id, seed).drawn
        assert whole_noise.agrees(cases, cases.given(by_the_library), whole_noise.reference)


def by_tosses(toss, rng, size, cut=math.inf, alternate=False):
    """Whole noise by tosses, with sizes up to `cut`, or signs that take turns."""
    noise, sign = [], 1
    while len(noise) < size:
        n = 0
        while n < cut and toss():
            n += 1
        negative = rng.integers(2) == 1
        if n == 0 and negative:
            continue
        if alternate and n:
            negative, sign = sign < 0, -sign
        noise.append(-n if negative else n)
    return noise


def by_coin(**options):
    """Whole noise by tosses of the coin that is wanted."""
    return lambda a, d, size, rng: by_tosses(lambda: machine.coin(a, d, rng), rng, size, **options)


def by_doubles(a, d, size, rng):
    return by_tosses(lambda: rng.random() < math.exp(-a / d), rng, size)


def by_geometric(a, d, size, rng):
    return rng.geometric(-math.expm1(-a / d), size) - rng.geometric(-math.expm1(-a / d), size)


def by_logarithm(a, d, size, rng):
    return [x - y for x, y in np.floor(-np.log(1 - rng.random((size, 2))) * d / a)]


@pytest.mark.weekly("millions of tosses; that noise must come from the coin is tried on a commit")
def test_whole_noise_from_the_coin_is_right():
    (verdict,) = judged(exercise("whole_noise"), by_coin(), [1])
    assert verdict.state == RIGHT, verdict


@pytest.mark.parametrize("answer", [by_doubles, by_geometric, by_logarithm])
def test_whole_noise_must_come_from_the_coin(answer):
    (verdict,) = judged(exercise("whole_noise"), answer, [1])
    message = exercise("whole_noise").needed.message
    assert (verdict.state, verdict.message, verdict.points) == (WRONG, message, 0), verdict


@pytest.mark.weekly("many checks of a random answer")
def test_a_short_result_that_is_the_same_with_turned_coins_by_accident_is_no_fault():
    whole_noise = exercise("whole_noise")
    cases = drawn(whole_noise.id, 1)
    outcomes = whole_noise.probe(whole_noise.formulas[0], cases)
    outcomes[len(cases.drawn)]["idle"] = True
    assert whole_noise.judge(cases, outcomes).state == RIGHT
    outcomes[0]["idle"] = True
    assert whole_noise.judge(cases, outcomes).state == WRONG


# ---- rules_out


def test_an_output_is_ruled_out_where_no_noise_of_the_sampler_gives_it():
    """Against sets of all sums; the library's attack on 53 bits agrees."""
    rules_out = exercise("rules_out")
    for seed in range(3):
        for case in drawn(rules_out.id, seed):
            sums = {case["count"] + noise for noise in case["noises"]}
            assert rules_out.reference(**case) == (case["output"] not in sums)
    for z in 1.0 + np.random.default_rng(6).laplace(0, 1.0, 100):
        for count in (0.0, 1.0):
            ruled_out = rules_out.reference(z, count, machine.noises_near(count, z, 1.0))
            assert ruled_out == (not machine.can_give(count, z, 1.0))


# ---- mia_is_in


def test_the_rings_tell_the_sum_and_noise_of_another_kind_does_not():
    """Of 60 releases: all by the noise of float32 rings, and about half by noise of doubles of the same size."""
    mia_is_in, rng = exercise("mia_is_in"), np.random.default_rng(3)
    right = {"rings": 0, "doubles": 0}
    for run in range(60):
        without = rng.uniform(-3, 3, (30, 2))
        sums = without + rng.uniform(0.05, 0.5, (30, 2)), without
        for kind, noise in (("rings", machine.ring_pairs(30, 10, rng)), ("doubles", rng.normal(size=(30, 2)))):
            output = (sums[run % 2].astype(np.float32) + np.float32(2) * noise.astype(np.float32)).astype(float)
            right[kind] += mia_is_in.reference(output, *sums, 2.0, 10) == (run % 2 == 0)
    assert right["rings"] == 60
    assert 12 <= right["doubles"] <= 48


# ---- float_change


def test_the_change_of_a_float_sum_is_that_of_exact_rounding():
    """Each addition in fractions, then rounded to 11 binary digits, ties to even."""

    def rounded(x):
        unit = Fraction(2) ** max(0, int(x).bit_length() - 11)
        return round(x / unit) * unit

    def total(values):
        result = Fraction(0)
        for value in values:
            result = rounded(result + value)
        return result

    float_change = exercise("float_change")
    for case in drawn(float_change.id, 2):
        values = case["values"]
        wanted = max(abs(total(values) - total(values[:i] + values[i + 1 :])) for i in range(len(values)))
        assert float_change.reference(values) == wanted


# ---- next_number, count_behind


@pytest.mark.weekly("many checks of a random answer")
def test_the_check_of_the_next_number_never_fails_and_takes_any_two_steps():
    """Also those that find a from the last three outputs: no two in a row are the same."""

    def from_the_last(outputs, m):
        x, y, z = outputs[-3:]
        return (z + (z - y) * pow(y - x, -1, m) * (z - y)) % m

    next_number = exercise("next_number")
    for seed in range(SEEDS):
        assert next_number.check(from_the_last, rng=seed).state == RIGHT
        assert next_number.check(lambda outputs, m: outputs[0], rng=seed).state == WRONG


def test_the_next_number_is_that_of_the_generator():
    next_number, rng = exercise("next_number"), np.random.default_rng(4)
    for m in (101, 65537, 2147483647):
        for _ in range(20):
            a, c, x = int(rng.integers(2, m)), int(rng.integers(1, m)), int(rng.integers(m))
            outputs = [x]
            for _ in range(5):
                outputs.append((a * outputs[-1] + c) % m)
            if outputs[0] != outputs[1]:
                assert next_number.reference(outputs[:-1], m) == outputs[-1]


def test_the_count_behind_a_seed_is_the_count():
    count_behind = exercise("count_behind")
    for second in (1_800_000_000, 1_800_000_013, 1_800_000_040):
        output = 417 + np.random.default_rng(second).laplace(0, 12.5)
        assert count_behind.reference(output, 12.5, [1_800_000_000 + i for i in range(41)]) == 417


# ---- in_by_time


def test_output_and_time_tell_all_and_each_alone_tells_no_more_than_is_promised():
    in_by_time, rng = exercise("in_by_time"), np.random.default_rng(5)
    is_in = rng.integers(0, 2, 2000)
    noise = machine.discrete_noise(0.5, 2000, rng)
    times = 2.5 * (np.abs(noise) + rng.uniform(-0.2, 0.2, 2000))
    assert (in_by_time.reference(10 + is_in + noise, times, 10, 2.5) == is_in).all()
    assert abs(np.corrcoef(times, is_in)[0, 1]) < 0.12


# ---- whole_gaussian


def gaussian_by_the_library(variance, size, rng):
    return machine.discrete_gaussian(variance, size, rng)


def rejected(keep=lambda y, v, t, rng: machine.coin((abs(y) * t - v) ** 2, 2 * v * t * t, rng), cut=math.inf):
    """Discrete Gaussian noise by rejection, with sizes up to `cut`."""

    def answer(variance, size, rng):
        noise, t = [], math.isqrt(variance) + 1
        while len(noise) < size:
            y = machine.discrete_noise(Fraction(1, t), None, rng)
            if abs(y) <= cut and keep(y, variance, t, rng):
                noise.append(y)
        return noise

    return answer


def test_whole_gaussian_has_the_law_of_the_exact_sampler():
    whole_gaussian = exercise("whole_gaussian")
    for seed in range(2):
        cases = drawn(whole_gaussian.id, seed).drawn
        assert whole_gaussian.agrees(cases, cases.given(gaussian_by_the_library), whole_gaussian.reference)


@pytest.mark.weekly("millions of tosses")
def test_whole_gaussian_by_rejection_is_right():
    (verdict,) = judged(exercise("whole_gaussian"), rejected(), [1])
    assert verdict.state == RIGHT, verdict


def test_rounded_noise_of_doubles_is_no_whole_gaussian():
    (verdict,) = judged(
        exercise("whole_gaussian"),
        lambda variance, size, rng: np.round(rng.normal(0, math.sqrt(variance), size)).astype(int),
        [1],
    )
    assert verdict.state == WRONG


# ---- slips


WRONG_ANSWERS = {
    "the library": ("whole_noise", by_the_library),
    "the library's Gaussian": ("whole_gaussian", gaussian_by_the_library),
    "Gaussian cut at 5": ("whole_gaussian", rejected(cut=5)),
    "Gaussian by a coin of doubles": (
        "whole_gaussian",
        rejected(lambda y, v, t, rng: rng.random() < math.exp(-((abs(y) - v / t) ** 2) / (2 * v))),
    ),
    "cut at 4": ("whole_noise", by_coin(cut=4)),
    "cut at 15": ("whole_noise", by_coin(cut=15)),
    "signs take turns": ("whole_noise", by_coin(alternate=True)),
}


@pytest.mark.parametrize(("exercise", "answer"), named(8, WRONG_ANSWERS))
def test_a_wrong_answer_never_passes(exercise, answer):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.state != RIGHT, verdict
