"""Answers of lesson 04 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from course.judging import judged, named
from scipy import stats
from scipy.optimize import brentq
from support import by_profile

from dpcourse import clt, course, gdp, pld, tradeoff
from dpcourse.checking import ERROR, RIGHT, WRONG
from dpcourse.course.clt import too_high
from dpcourse.course.clt.shared import skewness

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(4).exercise
SEEDS = range(by_profile("checks of each answer", 1, 5))


# ---- judged by the certified interval


@pytest.mark.parametrize(
    ("bounds", "high"),
    [
        (pld.Bounds(2.0, 2.001), False),  # the limit, 1.5, is 25 % below
        (pld.Bounds(1.2, 1.201), True),  # 25 % above
        (pld.Bounds(1.2, 1.3), False),  # between 15 % and 25 % above: undecided
        (pld.Bounds(0.0, 0.0), False),
        (None, False),
    ],
)
def test_too_high_counts_only_what_is_certain(monkeypatch, bounds, high):
    """By the definition of an error of 20 %, for every truth in the interval."""
    monkeypatch.setattr(too_high, "certified", lambda *setting: (1.5, bounds))
    right, told = exercise("too_high").law((1.0, 0.01, 1000), {"delta": 1e-5})
    assert right is high
    assert ("cannot be decided" in told) is (bounds == pld.Bounds(1.2, 1.3))
    assert ("nothing to compare with" in told) is (bounds is None or bounds.lower == 0)


def test_too_high_has_many_right_settings_and_a_search_with_the_library_is_allowed():
    def searched(delta):
        for steps in (5000, 10_000, 20_000):
            limit = gdp.epsilon(delta, clt.noisy_sgd_mu(0.6, 0.05, steps))
            if limit > 1.25 * pld.noisy_sgd(0.6, 0.05, steps).epsilon(delta).upper:
                return 0.6, 0.05, steps
        return None

    for answer in (lambda delta: np.array([0.62, 0.05, 20_000.0]), searched):
        (verdict,) = judged(exercise("too_high"), answer, [1])
        assert verdict.state == RIGHT, verdict
    (verdict,) = judged(exercise("too_high"), lambda delta: (1, 0.01, 100), [1])
    assert verdict.state == WRONG, verdict


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((0.4, 0.01, 1000), "noise_multiplier must be from 0.6 to 10 here, and yours is 0.4"),
        ((1, 1, 1000), "sample_rate must be from 0.0001 to 0.05 here, and yours is 1"),
        ((1, 0.01, 10), "steps must be from 100 to 20,000 here, and yours is 10"),
        ((1, 0.01, 1000.5), "steps must be a whole number, not 1000.5"),
        ((1, 0.01), "Return three numbers, `noise_multiplier, sample_rate, steps`"),
        ((1, 0.01, "many"), "steps: Return one number, not text"),
    ],
)
def test_too_high_refuses_a_setting_out_of_range(answer, said):
    (verdict,) = judged(exercise("too_high"), lambda delta: answer, [0])
    assert verdict.state == ERROR, verdict
    assert said in verdict.message


# ---- the prediction


def test_the_rule_of_thumb_predicts_where_the_limit_breaks():
    """From any row of the lesson's table, with the error that pld finds there; and what is predicted is what pld finds."""
    for sigma, steps in [(2.0, 100), (2.0, 1000), (2.0, 10_000), (1.0, 1000), (1.0, 10_000)]:
        exact = pld.noisy_sgd(sigma, 0.01, steps).epsilon(1e-5).upper
        off = 1 - gdp.epsilon(1e-5, clt.noisy_sgd_mu(sigma, 0.01, steps)) / exact
        factor = off * math.sqrt(steps) / skewness(sigma)
        for verdict in judged(exercise("breaking_steps"), lambda n, e, c=factor: (c * skewness(n) / e) ** 2, SEEDS):
            assert verdict.state == RIGHT, (sigma, steps, verdict)


@pytest.mark.parametrize("wrong_by", [0.4, 2.6])
def test_a_prediction_by_which_the_error_misses_its_mark_is_refused(wrong_by):
    """The error goes with the root of the steps: 1.5 times too large or too small are 2.25 times too few or too many."""
    right = exercise("breaking_steps").reference
    (verdict,) = judged(exercise("breaking_steps"), lambda n, e: wrong_by * right(n, e), [0])
    assert (verdict.state, verdict.misconception) == (WRONG, "the factor"), verdict


def test_a_prediction_of_millions_of_steps_is_not_measured():
    (verdict,) = judged(exercise("breaking_steps"), lambda noise_multiplier, error: 1e300, [0])
    assert verdict.state == WRONG
    assert "more than 1,000,000 steps" in str(verdict)


# ---- the running accountant: 4.3, 4.4 and 4.5 as the lesson chains them


def delta_of_days(one, other, n, total):
    """delta(total) of n days with two randomized responses each: the noes to each question are binomial."""
    flips = np.arange(n + 1)
    loss = one * (n - 2 * flips)[:, None] + other * (n - 2 * flips)
    q = np.outer(*(stats.binom.pmf(flips, n, 1 / (1 + math.exp(epsilon))) for epsilon in (one, other)))
    return float((q * np.maximum(-np.expm1(total - loss), 0)).sum())


@pytest.mark.parametrize("seed", range(6))
def test_three_exercises_make_an_accountant_that_is_never_below_the_truth(seed):
    rng = np.random.default_rng(seed)
    one, other, n = rng.uniform(0.1, 0.3), rng.uniform(0.05, 0.2), int(rng.integers(20, 40))
    keep = [1 / (1 + math.exp(-epsilon)) for epsilon in (one, other)]
    p = np.outer([keep[0], 1 - keep[0]], [keep[1], 1 - keep[1]]).ravel()
    order = np.argsort(-p[::-1] / p)
    alpha, beta = np.r_[0, np.cumsum(p[order])], np.r_[1, 1 - np.cumsum(p[::-1][order])]
    loss, mass = exercise("privacy_loss").reference(alpha, beta)
    total = gdp.epsilon(1e-4, math.sqrt(n * (one**2 + other**2)))
    exact, found = delta_of_days(one, other, n, total), []
    for step in (0.1, 0.01, 0.001):
        losses, masses = exercise("on_grid").reference(loss, mass, step)
        assert masses.sum() == pytest.approx(1)
        assert np.diff(losses) == pytest.approx(step)
        found.append(exercise("composed_delta").reference(losses, masses, n, total))
    assert min(found) >= exact * (1 - 1e-9)
    assert found[-1] == pytest.approx(exact, rel=0.3)


def test_the_month_of_two_questions_a_day():
    """What sections 3 and 6 say of it: the limit is safe here, by a few percent, and the accountant nearer."""
    one, other = math.log(1.2), math.log(1.15)
    exact = brentq(lambda total: delta_of_days(one, other, 30, total) - 1e-5, 1, 9)
    mu = clt.limit([tradeoff.approx_dp(one), tradeoff.approx_dp(other)] * 30)
    assert exact == pytest.approx(5.516, abs=0.001)
    assert 1.02 < gdp.epsilon(1e-5, mu) / exact < 1.05
    assert gdp.delta(exact, mu) > 1.5e-5


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
        "proved_band",
        of_reference("proved_band", lambda pair: list(map(np.float64, pair))),
    ),
    "lists of losses": ("on_grid", of_reference("on_grid", lambda pair: [list(map(float, a)) for a in pair])),
}


@pytest.mark.parametrize(("exercise", "answer"), named(4, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == RIGHT, verdict
