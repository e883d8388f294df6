"""Answers of lesson 02 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from course.judging import drawn, judged, named

from dpcourse import course
from dpcourse.checking import RIGHT
from dpcourse.course.laplace import private_mean

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(2).exercise


# ---- best_clip


def test_the_best_clip_gives_back_as_much_as_it_costs():
    """Between entries the error is a straight line, whose slope is 1 / epsilon less the number of entries above."""
    best_clip = exercise("best_clip")
    for case in drawn(best_clip.id, 3):
        clips, values = np.sort(case["clips"]), np.array(case["values"])
        place = np.searchsorted(clips, best_clip.reference(**case))
        if 0 < place < len(clips) - 1:
            assert (values > clips[place + 1]).sum() <= 1 / case["epsilon"] <= (values > clips[place - 1]).sum()


# ---- private_mean


@pytest.mark.parametrize("setting", [runs.start for runs in private_mean.SETTINGS])
def test_a_mean_has_the_chances_that_its_check_expects(setting):
    """Simulated with numpy's Laplace noise, of the three settings: sum noisy, count noisy, both."""
    case = drawn("laplace/private_mean", 5)[setting]
    rng, runs = np.random.default_rng(1), 200_000
    clipped = np.clip(case["values"], case["low"], case["high"])
    total = clipped.sum() + rng.laplace(0, max(-case["low"], case["high"]) / case["epsilon_sum"], runs)
    means = total / (len(clipped) + rng.laplace(0, 1 / case["epsilon_count"], runs))
    for mean in np.quantile(means, [0.05, 0.3, 0.6, 0.97]):
        assert private_mean._chance_below(case, mean) == pytest.approx((means <= mean).mean(), abs=0.005)


def test_the_chance_of_a_nearly_whole_number_is_that_of_laplace_noise():
    cases = drawn("laplace/private_mean", 5)
    noise = np.random.default_rng(2).laplace(0, 1 / cases[private_mean.SETTINGS[1].start]["epsilon_count"], 1_000_000)
    assert private_mean._by_chance(cases) == pytest.approx((np.abs(noise - np.round(noise)) < 0.25).mean(), abs=0.003)


# ---- slips that once passed


def counted(values, cells, epsilon, rng):
    return np.array([values.count(cell) for cell in cells]) + rng.laplace(0, 1 / epsilon, len(cells))


def with_total(after):
    """A histogram that is changed afterwards, in knowledge of the total."""
    return lambda values, cells, epsilon, rng: after(counted(values, cells, epsilon, rng), len(values))


def exponential(values, cells, epsilon, rng):
    return np.array([values.count(cell) for cell in cells]) + rng.exponential(1 / epsilon, len(cells))


def with_noise(noise):
    """The Laplace mechanism with that noise: noise(scale, length, rng)."""
    return lambda value, sensitivity, epsilon, rng: value + noise(sensitivity / epsilon, len(value), rng)


def elected_by(noise):
    """An election with that noise on the counts: noise(counts, scale, rng)."""
    return lambda counts, epsilon, rng: int(np.argmax(counts + noise(counts, 1 / epsilon, rng)))


WRONG_ANSWERS = {
    "fixed length": ("laplace_mechanism", with_noise(lambda b, n, rng: rng.laplace(0, b, 2000))),
    "antithetic": (
        "laplace_mechanism",
        with_noise(lambda b, n, rng: (lambda half: np.r_[half, -half][:n])(rng.laplace(0, b, (n + 1) // 2))),
    ),
    "missing somewhere": (
        "laplace_mechanism",
        with_noise(lambda b, n, rng: rng.laplace(0, b, n) * (np.arange(n) > 0)),
    ),
    "rounded": ("laplace_mechanism", with_noise(lambda b, n, rng: np.round(rng.laplace(0, b, n)))),
}

MESSAGES = {
    "scaled to the total": (
        "private_histogram",
        "exact total",
        with_total(lambda noisy, total: noisy * total / noisy.sum()),
    ),
    "shifted to the total": (
        "private_histogram",
        "exact total",
        with_total(lambda noisy, total: noisy + (total - noisy.sum()) / noisy.size),
    ),
    "last cell from the total": (
        "private_histogram",
        "exact total",
        with_total(lambda noisy, total: np.append(noisy[:-1], total - noisy[:-1].sum())),
    ),
    "exponential, never too low and yet not cut off": ("private_histogram", "one-sided", exponential),
    "absolute, never too low and yet not cut off": (
        "private_histogram",
        "absolute value",
        lambda values, cells, epsilon, rng: abs(counted(values, cells, epsilon, rng)),
    ),
    "a generator of its own": (
        "report_noisy_max",
        "generator ignored",
        elected_by(lambda counts, b, rng: np.random.default_rng().laplace(0, b, len(counts))),
    ),
    "normal of the same variance": (
        "report_noisy_max",
        "Gaussian",
        elected_by(lambda counts, b, rng: rng.normal(0, math.sqrt(2) * b, len(counts))),
    ),
    "none for the leader": (
        "report_noisy_max",
        "leader without noise",
        elected_by(lambda counts, b, rng: rng.laplace(0, b, len(counts)) * (np.arange(len(counts)) != counts.argmax())),
    ),
    "noise alone": (
        "report_noisy_max",
        "no counts",
        elected_by(lambda counts, b, rng: rng.laplace(0, b, len(counts)) - counts),
    ),
}


@pytest.mark.parametrize(("exercise", "answer"), named(2, WRONG_ANSWERS))
def test_a_wrong_answer_never_passes(exercise, answer):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.state != RIGHT, verdict


@pytest.mark.one_case("each takes seconds of draws")
@pytest.mark.parametrize(("exercise", "slip", "answer"), named(2, MESSAGES))
def test_a_slip_is_recognised_in_another_form(exercise, slip, answer):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.misconception == slip, verdict
