"""Answers of lesson 06 that pass where they should not, are refused where they should pass, or get a message of another."""

import numpy as np
import pytest
from course.judging import judged, named
from scipy.optimize import brentq

from dpcourse import course, pld
from dpcourse.checking import ERROR, RIGHT

exercise = course.lesson(6).exercise


def noise_by_brentq(epsilon, delta, sample_rate, steps):
    return np.float64(
        1.001
        * brentq(lambda s: pld.noisy_sgd(s, sample_rate, steps).epsilon(delta).upper - epsilon, 0.4, 100, rtol=1e-4)
    )


RIGHT_ANSWERS = {
    "by brentq": ("noise_for_budget", noise_by_brentq),
    "ones and zeros": ("in_order", lambda run: np.array(exercise("in_order").reference(run), dtype=int)),
}


@pytest.mark.parametrize(("exercise", "answer"), named(6, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    (verdict,) = judged(exercise, answer, [0])
    assert verdict.state == RIGHT, verdict


COMPLAINTS = {
    "no noise": ("noise_for_budget", lambda epsilon, delta, sample_rate, steps: 0.0, "must be from 0.4 to 100"),
    "four": ("in_order", lambda run: [True] * 4, "five True or False"),
    "words": ("in_order", lambda run: ["yes"] * 5, "Each of the five must be True or False"),
}


@pytest.mark.parametrize(("exercise", "answer", "said"), named(6, COMPLAINTS))
def test_what_cannot_be_judged_is_said_with_a_way_out(exercise, answer, said):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.state == ERROR, verdict
    assert said in verdict.message


def test_noise_for_budget_shows_bounds_on_epsilon_rounded_outwards():
    budget = exercise("noise_for_budget")
    case = {"epsilon": 1.5, "delta": 1e-5, "sample_rate": 0.015, "steps": 300}
    noise = budget.reference(**case) / 1.0001 * (1 - 1e-5)  # over the budget by a hair
    good, line = budget.law(noise, case)
    shown = float(line.split("at most ")[1].split(",")[0])
    assert not good
    assert shown > case["epsilon"]
    assert shown >= pld.noisy_sgd(noise, 0.015, 300).epsilon(1e-5).upper


def test_in_order_shows_the_run_that_was_misjudged():
    (verdict,) = judged(exercise("in_order"), lambda run: [False] * 5, [0])
    assert "'noise_std': " in verdict.observed[0].seen
