"""Answers of lesson 06 that pass where they should not, are refused where they should pass, or get a message of another."""

import itertools
import math

import numpy as np
import pytest
from course.judging import drawn, judged, named
from scipy.optimize import brentq

from dpcourse import course, pld
from dpcourse.checking import ERROR, RIGHT
from dpcourse.course.accountants.loops import LOOPS

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(6).exercise


def noise_by_brentq(epsilon, delta, sample_rate, steps):
    return np.float64(
        1.001
        * brentq(lambda s: pld.noisy_sgd(s, sample_rate, steps).epsilon(delta).upper - epsilon, 0.4, 100, rtol=1e-4)
    )


RIGHT_ANSWERS = {
    "by brentq": ("noise_for_budget", noise_by_brentq),
    "an array": ("broken_line", lambda loop: np.array(exercise("broken_line").reference(loop))),
}


@pytest.mark.parametrize(("exercise", "answer"), named(6, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    (verdict,) = judged(exercise, answer, [0])
    assert verdict.state == RIGHT, verdict


COMPLAINTS = {
    "no noise": ("noise_for_budget", lambda epsilon, delta, sample_rate, steps: 0.0, "must be from 0.4 to 100"),
    "a line alone": ("broken_line", lambda loop: 6, "two numbers, `line, factor`"),
    "None for no factor": ("broken_line", lambda loop: (8, None), "write `math.inf`, not None"),
    "words": ("broken_line", lambda loop: (6, "twice"), "factor: write a number, not text"),
    "no number": ("broken_line", lambda loop: (6, math.nan), "factor: the result is nan"),
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


def test_noise_for_budget_says_for_which_delta_the_noise_would_be_right():
    budget = exercise("noise_for_budget")
    case = {"epsilon": 1.5, "delta": 1e-5, "sample_rate": 0.015, "steps": 300}
    good, line = budget.law(budget.reference(**case | {"delta": 1e-5 / 300}), case)
    assert not good
    assert float(line.split("for a delta of about ")[1]) == pytest.approx(1e-5 / 300, rel=0.01)
    assert "for a delta" not in budget.law(budget.reference(**case), case)[1]


@pytest.mark.parametrize(
    ("setting", "times"), [("batch", 0.8), ("batch", 2.5), ("noise_multiplier", 0.5), ("noise_multiplier", 1.3)]
)
def test_a_report_says_of_which_other_run_its_epsilon_is(setting, times):
    report = exercise("report")
    (case,) = (case for case in report.draw(np.random.default_rng(4))[:1])
    settings = case["settings"]
    other = report.reference(settings | {setting: times * settings[setting]})
    seen = report.measure((other[0], *report.reference(settings)[1:]), case)
    assert not report.measure(report.reference(settings), case)
    name = "sample rate" if setting == "batch" else setting.replace("_", " ")
    own = settings["batch"] / settings["rows"] if setting == "batch" else settings[setting]
    assert float(seen.split(f"{name} of about ")[1].split(" ")[0]) == pytest.approx(times * own, rel=0.01)


def test_broken_line_shows_the_first_loop_that_was_misjudged():
    right = exercise("broken_line").reference
    verdict = exercise("broken_line").check(lambda loop: (4, 2.0) if loop in "BDF" else right(loop), 0)
    assert "loop='B'" in verdict.observed[0].seen


@pytest.mark.parametrize("loop", LOOPS)
def test_whatever_pair_is_given_for_a_loop_the_reply_is_about_that_loop(loop):
    broken_line, cases = exercise("broken_line"), drawn(exercise("broken_line").id, 0).drawn
    of_any_loop = {"the share that counts", "broken and left"}
    lines = range(len(LOOPS[loop].splitlines()) + 1)
    factors = (0.1, 0.25, 0.5, 1, math.sqrt(2), 2, 3, 4, 8, 9, 16, 100, 200, 2000, math.inf)
    for pair in itertools.product(lines, factors):
        if pair != broken_line.reference(loop):
            values = [pair if case["loop"] == loop else broken_line.reference(**case) for case in cases]
            told = next(broken_line.alike(cases, values))
            about = told.name.startswith(f"{loop}: ") and f"loop {loop}".lower() in told.message.lower()
            assert about or told.name in of_any_loop, (pair, told)
