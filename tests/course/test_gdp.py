"""Answers of lesson 03 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from course.judging import judged, judged_freely, named
from scipy import stats
from scipy.optimize import brentq
from support import by_profile

from dpcourse import course, gdp, tradeoff
from dpcourse.checking import RIGHT, WRONG

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(3).exercise
SEEDS = range(by_profile("checks of each answer", 1, 5))


def by_loop(p, q, reject):
    alpha = beta = 0
    for i in range(len(p)):
        alpha += p[i] * reject[i]
        beta += q[i] - q[i] * reject[i]
    return [alpha, beta]


def by_pieces(alpha, beta):
    for i in range(1, len(alpha) - 1):
        left = (beta[i] - beta[i - 1]) / (alpha[i] - alpha[i - 1])
        right = (beta[i + 1] - beta[i]) / (alpha[i + 1] - alpha[i])
        if left > right + 1e-9:
            return 0
    return int(max(beta + alpha) <= 1 + 1e-9)


def by_root_finding(epsilon, delta):
    return brentq(lambda mu: gdp.delta(epsilon, mu) / delta - 1, 1e-6, 50)


def corners(p, q, order):
    return np.r_[0, np.cumsum(p[order])], np.r_[1, 1 - np.cumsum(q[order])]


def by_ratio(ratio):
    return lambda p, q: corners(p, q, np.argsort(-ratio(p, q), kind="stable"))


def sorted_apart(way):
    return lambda p, q: corners(np.sort(p)[::way], np.sort(q)[::way], np.arange(len(p)))


def of_library(p, q):
    """At the alphas of the corners; where p is 0, the curve begins below 1."""
    with np.errstate(divide="ignore"):
        alpha = np.r_[0, np.cumsum(p[np.argsort(-q / p)])].clip(0, 1)
    beta = tradeoff.TradeOff.from_probabilities(p, q)(alpha)
    return alpha, np.r_[1, beta[1:]]


def best_of_all(out, inside, mu):
    tests = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    p, q = np.bincount(out, minlength=12) / len(out), np.bincount(inside, minlength=12) / len(inside)
    allowed = stats.norm.cdf(stats.norm.isf(np.minimum(tests @ p, 1)) - mu)
    return tests[np.argmax(allowed - (1 - tests) @ q)]


def one_by_one(counts, mu, rng):
    return [count + math.sqrt(len(counts)) / mu * rng.standard_normal() for count in counts]


def bends(alpha, beta):
    return np.diff(np.diff(beta) / np.diff(alpha))


def lawful_but(convex):
    return lambda alpha, beta: bool(
        convex(alpha, beta).all() and (beta <= 1 - alpha).all() and (np.diff(beta) <= 0).all()
    )


def normal_noise(scale):
    return lambda counts, mu, rng: counts + rng.normal(0, scale(len(counts), mu), len(counts))


def search(low, high, stop=0.0, wrong_way=False):
    def code(epsilon, delta):
        a, b = low, high
        for _ in range(100):
            middle = (a + b) / 2
            value = gdp.delta(epsilon, middle)
            if abs(value - delta) < stop:
                return middle
            a, b = (middle, b) if (value <= delta) != wrong_way else (a, middle)
        return a

    return code


WRONG_ANSWERS = {
    "skips p = 0": (
        "least_error_sum",
        lambda p, q: 1 - sum(abs(a - b) for a, b in zip(p, q, strict=True) if a > 0) / 2,
    ),
    "skips q = 0": (
        "least_error_sum",
        lambda p, q: 1 - sum(abs(a - b) for a, b in zip(p, q, strict=True) if b > 0) / 2,
    ),
    "last corner": ("is_tradeoff", lawful_but(lambda alpha, beta: bends(alpha, beta)[:-1] >= 0)),
    "first corner": ("is_tradeoff", lawful_but(lambda alpha, beta: bends(alpha, beta)[1:] >= 0)),
    "inner corners": ("is_tradeoff", lawful_but(lambda alpha, beta: bends(alpha, beta)[1:-1] >= 0)),
    "gradient": ("is_tradeoff", lawful_but(lambda alpha, beta: np.diff(np.gradient(beta, alpha)) >= -1e-9)),
    "two gradients": (
        "is_tradeoff",
        lawful_but(lambda alpha, beta: np.gradient(np.gradient(beta, alpha), alpha) >= -1e-9),
    ),
    "corner without delta": (
        "approx_dp_curve",
        lambda alpha, epsilon, delta: np.where(
            alpha < 1 / (1 + math.exp(epsilon)),
            1 - delta - math.exp(epsilon) * alpha,
            np.maximum(0, math.exp(-epsilon) * (1 - delta - alpha)),
        ),
    ),
    "root of m - 1": ("noisy_counts", normal_noise(lambda m, mu: math.sqrt(m - 1) / mu)),
}

RIGHT_ANSWERS = {
    "smaller one": ("least_error_sum", lambda p, q: np.minimum(p, q).sum()),
    "two laws imply the third": (
        "is_tradeoff",
        lambda alpha, beta: bool((bends(alpha, beta) >= 0).all() and (beta <= 1 - alpha).all()),
    ),
    "two pieces": (
        "approx_dp_curve",
        lambda alpha, epsilon, delta: np.where(
            alpha < (1 - delta) / (1 + math.exp(epsilon)),
            1 - delta - math.exp(epsilon) * alpha,
            np.maximum(0, math.exp(-epsilon) * (1 - delta - alpha)),
        ),
    ),
    "library's sigma": ("noisy_counts", normal_noise(lambda m, mu: gdp.sigma(math.sqrt(m), mu))),
    "root finder": ("largest_mu", lambda epsilon, delta: brentq(lambda m: gdp.delta(epsilon, m) - delta, 1e-6, 100)),
}

RECOGNISED = {
    "sorted apart, downwards": ("curve_of", "sorted apart", sorted_apart(-1)),
    "sorted apart, upwards": ("curve_of", "sorted apart", sorted_apart(1)),
    "q itself where p is 0": ("curve_of", "p = 0 last", by_ratio(lambda p, q: q / np.where(p > 0, p, 1))),
    "1 where p is 0": ("curve_of", "p = 0 last", by_ratio(lambda p, q: np.divide(q, p, np.ones(len(p)), where=p > 0))),
    "a low threshold": ("refuting_test", "threshold", lambda out, inside, mu: np.arange(12) < 3),
    "noise cut to whole numbers": (
        "noisy_counts",
        "rounded",
        lambda counts, mu, rng: counts + rng.normal(0, math.sqrt(len(counts)) / mu, len(counts)).astype(int),
    ),
    "wrong way to 100": ("largest_mu", "wrong way", search(0, 100, wrong_way=True)),
    "wrong way to 20": ("largest_mu", "wrong way", search(1e-6, 20, wrong_way=True)),
    "stop at 1e-12": ("largest_mu", "stops early", search(0, 10, stop=1e-12)),
    "stop at 1e-8": ("largest_mu", "stops early", search(0, 64, stop=1e-8)),
}


FREE_ANSWERS = {
    "the library's corners": ("curve_of", of_library),
    "by the best of all tests": ("refuting_test", best_of_all),
    "by loop": ("error_rates", by_loop),
    "sum of the smaller": ("least_error_sum", lambda p, q: sum(map(min, p, q))),
    "by pieces": ("is_tradeoff", by_pieces),
    "slopes and the end": (
        "is_tradeoff",
        lambda alpha, beta: np.all(np.diff(np.diff(beta) / np.diff(alpha)) > -1e-6) and beta[-1] == 0,
    ),
    "library's curve": (
        "approx_dp_curve",
        lambda alpha, epsilon, delta: [float(tradeoff.approx_dp(epsilon, delta).symmetrized()(a)) for a in alpha],
    ),
    "by scipy.stats": ("gaussian_curve", lambda alpha, mu: [1 - stats.norm.cdf(stats.norm.ppf(a) + mu) for a in alpha]),
    "one by one": ("noisy_counts", one_by_one),
    "by root finding": ("largest_mu", by_root_finding),
    "library's group": (
        "group_curve",
        lambda alpha, epsilon, delta, k: tradeoff.approx_dp(epsilon, delta).group(k)(alpha),
    ),
    "library's sigma of a family": ("group_sigma", lambda sensitivity, mu, k: gdp.sigma(k * sensitivity, mu)),
    "library's mu of a group": ("group_sigma", lambda sensitivity, mu, k: gdp.group(sensitivity, k) / mu),
}


@pytest.mark.parametrize(("exercise", "answer"), named(3, WRONG_ANSWERS))
def test_a_wrong_answer_never_passes(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == WRONG, verdict


@pytest.mark.parametrize(("exercise", "answer"), named(3, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == RIGHT, verdict


@pytest.mark.parametrize(("exercise", "answer"), named(3, FREE_ANSWERS))
def test_a_right_answer_passes_however_it_is_written_were_the_library_allowed(exercise, answer):
    for verdict in judged_freely(exercise, answer, SEEDS):
        assert verdict.state == RIGHT, verdict


@pytest.mark.parametrize(("exercise", "slip", "answer"), named(3, RECOGNISED))
def test_a_slip_is_recognised_in_another_form(exercise, slip, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert (verdict.state, verdict.misconception) == (WRONG, slip), verdict


@pytest.mark.one_case("each is checked many times")
@pytest.mark.parametrize(
    "digits", by_profile("digits to which a mu is rounded", [2], [0, 1, 2, 3]), ids="largest_mu: {} digits".format
)
def test_a_rounded_mu_is_not_taken_for_a_search_that_stops_early(digits):
    right = search(0, 64)
    for verdict in judged(exercise("largest_mu"), lambda epsilon, delta: round(right(epsilon, delta), digits), SEEDS):
        assert verdict.misconception is None, verdict


def test_noisy_counts_whose_noise_is_off_everywhere_are_shown_in_two_lines():
    (verdict,) = judged(exercise("noisy_counts"), normal_noise(lambda m, mu: math.sqrt(m / mu)), [1])
    assert (verdict.state, len(verdict.observed)) == (WRONG, 2), verdict


# ---- noisy_counts stands an audit


def halved(counts, mu, rng):
    return counts + rng.normal(0, math.sqrt(len(counts)) / mu / 2, len(counts))


def test_noisy_counts_with_half_of_the_noise_are_told_by_what_an_attacker_does_with_them():
    (verdict,) = judged(exercise("noisy_counts"), halved, [1])
    audit = verdict.audit
    assert verdict.misconception == "half"
    assert f"better than {audit.name} allows" in repr(verdict)
    assert audit.found.beta < audit.found.least == pytest.approx(audit.promise(audit.found.alpha))


def test_noisy_counts_without_noise_where_mia_is_in_all_are_found_and_the_audit_tells_what_that_gives_away():
    """Right noise on every table with a count of 0, none on the others: there is one only once Mia has joined all counts."""

    def leaks(counts, mu, rng):
        noise = rng.normal(0, math.sqrt(len(counts)) / mu, len(counts))
        return counts + (0 if min(counts) > 0 else noise)

    (verdict,) = judged(exercise("noisy_counts"), leaks, [1])
    assert verdict.state == WRONG, verdict
    assert verdict.audit is not None
    assert verdict.lines[0].startswith("entries without noise: ")
    assert "the misses would be at least" in verdict.lines[-1]


def test_noisy_counts_with_too_much_noise_are_wrong_and_no_audit_accuses_them():
    def doubled(counts, mu, rng):
        return counts + rng.normal(0, 2 * math.sqrt(len(counts)) / mu, len(counts))

    (verdict,) = judged(exercise("noisy_counts"), doubled, [1])
    assert verdict.state == WRONG, verdict
    assert verdict.audit is None
