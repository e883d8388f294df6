"""Answers of lesson 04 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from course.judging import judged, named
from support import WEEKLY

from dpcourse import clt, course, gdp, pld
from dpcourse.course.clt import shared
from dpcourse.engine import ERROR, RIGHT, WRONG

exercise = course.lesson(4).exercise
SEEDS = range(20 if WEEKLY else 1)


# ---- judged by the certified interval


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        (pld.Bounds(2.0, 2.001), True, False),  # the limit, 1.5, is 25 % below
        (pld.Bounds(1.8, 1.801), False, False),  # 17 % below
        (pld.Bounds(1.7, 2.0), False, False),  # between 12 % and 25 % below: undecided
        (pld.Bounds(1.2, 1.201), False, True),  # 25 % above
        (pld.Bounds(1.2, 1.3), False, False),  # between 15 % and 25 % above: undecided
        (pld.Bounds(0.0, 0.0), False, False),
        (None, False, False),
    ],
)
def test_too_low_and_too_high_count_only_what_is_certain(monkeypatch, bounds, low, high):
    """By the definition of an error of 20 %, for every truth in the interval."""
    monkeypatch.setattr(shared, "certified", lambda *setting: (1.5, bounds))
    too_low, too_high = exercise("too_low"), exercise("too_high")
    setting, case = (1.0, 0.01, 1000), {"delta": 1e-5}
    assert too_low.law(setting, case)[0] is low
    assert too_high.law(setting, case)[0] is high
    told = [each.law(setting, case)[1] for each in (too_low, too_high)]
    undecided = bounds in (pld.Bounds(1.7, 2.0), pld.Bounds(1.2, 1.3))
    assert any("cannot be decided" in line for line in told) is undecided
    if bounds is None or bounds.lower == 0:
        assert "nothing to compare with" in told[0]


def test_too_low_and_too_high_have_many_right_settings_and_a_search_with_the_library_is_allowed():
    def searched(delta):
        for noise in (2.0, 1.5, 1.2, 1.0):
            limit = gdp.epsilon(delta, clt.noisy_sgd_mu(noise, 0.01, 100))
            if limit < 0.75 * pld.noisy_sgd(noise, 0.01, 100).epsilon(delta).lower:
                return noise, 0.01, 100
        return None

    for answer in (lambda delta: [1.0, 0.005, 200], lambda delta: np.array([1.0, 0.01, 100]), searched):
        (verdict,) = judged(exercise("too_low"), answer, [1])
        assert verdict.state == RIGHT, verdict
    (verdict,) = judged(exercise("too_high"), lambda delta: (0.62, 0.05, 20_000.0), [1])
    assert verdict.state == RIGHT, verdict
    (verdict,) = judged(exercise("too_high"), searched, [1])
    assert verdict.state == WRONG, verdict


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((0.4, 0.01, 1000), "noise_multiplier must be from 1 to 10 here, and yours is 0.4"),
        ((1, 1, 1000), "sample_rate must be from 0.0001 to 0.05 here, and yours is 1"),
        ((1, 0.01, 10), "steps must be from 100 to 20,000 here, and yours is 10"),
        ((1, 0.01, 1000.5), "steps must be a whole number, not 1000.5"),
        ((1, 0.01), "Return three numbers, `noise_multiplier, sample_rate, steps`"),
        ((1, 0.01, "many"), "steps: Return one number, not text"),
    ],
)
def test_too_low_refuses_a_setting_out_of_range(answer, said):
    (verdict,) = judged(exercise("too_low"), lambda delta: answer, [0])
    assert verdict.state == ERROR, verdict
    assert said in verdict.message


# ---- right answers in another form


def by_fft(loss, mass, n, epsilon):
    size = n * (len(mass) - 1) + 1
    total = np.fft.irfft(np.fft.rfft(mass, size) ** n, size)
    delta = 0.0
    for i, probability in enumerate(total):
        delta += max(probability * (math.exp(n * loss[0] + i * (loss[1] - loss[0])) - math.exp(epsilon)), 0)
    return delta


def of_reference(function, form):
    """The reference's values in another type."""
    return lambda *arguments: form(exercise(function).reference(*arguments))


RIGHT_ANSWERS = {
    "truth values of numpy": (
        "laws_that_hold",
        of_reference("laws_that_hold", lambda laws: tuple(map(np.bool_, laws))),
    ),
    "one by one": (
        "total_mu",
        lambda mus, counts: np.sqrt(sum(m**2 for m, n in zip(mus, counts, strict=True) for _ in range(n))),
    ),
    "lists": ("privacy_loss", of_reference("privacy_loss", lambda pair: [[float(x) for x in a] for a in pair])),
    "by Fourier transform": ("composed_delta", by_fft),
    "an array": ("functionals", of_reference("functionals", np.array)),
    "a list of numpy's numbers": (
        "berry_esseen",
        of_reference("berry_esseen", lambda pair: list(map(np.float64, pair))),
    ),
}


@pytest.mark.parametrize(("exercise", "answer"), named(4, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == RIGHT, verdict
