"""Answers of lesson 03 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from dpcourse import course, gdp
from dpcourse.engine import RIGHT, WRONG


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
    "skips p = 0": ("3.2", lambda p, q: 1 - sum(abs(a - b) for a, b in zip(p, q, strict=True) if a > 0) / 2),
    "skips q = 0": ("3.2", lambda p, q: 1 - sum(abs(a - b) for a, b in zip(p, q, strict=True) if b > 0) / 2),
    "last corner": ("3.3", lawful_but(lambda alpha, beta: bends(alpha, beta)[:-1] >= 0)),
    "first corner": ("3.3", lawful_but(lambda alpha, beta: bends(alpha, beta)[1:] >= 0)),
    "inner corners": ("3.3", lawful_but(lambda alpha, beta: bends(alpha, beta)[1:-1] >= 0)),
    "gradient": ("3.3", lawful_but(lambda alpha, beta: np.diff(np.gradient(beta, alpha)) >= -1e-9)),
    "two gradients": ("3.3", lawful_but(lambda alpha, beta: np.gradient(np.gradient(beta, alpha), alpha) >= -1e-9)),
    "corner without delta": (
        "3.4",
        lambda alpha, epsilon, delta: np.where(
            alpha < 1 / (1 + math.exp(epsilon)),
            1 - delta - math.exp(epsilon) * alpha,
            np.maximum(0, math.exp(-epsilon) * (1 - delta - alpha)),
        ),
    ),
    "root of m - 1": ("3.6", normal_noise(lambda m, mu: math.sqrt(m - 1) / mu)),
}

RIGHT_ANSWERS = {
    "smaller one": ("3.2", lambda p, q: np.minimum(p, q).sum()),
    "two laws imply the third": (
        "3.3",
        lambda alpha, beta: bool((bends(alpha, beta) >= 0).all() and (beta <= 1 - alpha).all()),
    ),
    "two pieces": (
        "3.4",
        lambda alpha, epsilon, delta: np.where(
            alpha < (1 - delta) / (1 + math.exp(epsilon)),
            1 - delta - math.exp(epsilon) * alpha,
            np.maximum(0, math.exp(-epsilon) * (1 - delta - alpha)),
        ),
    ),
    "library's sigma": ("3.6", normal_noise(lambda m, mu: gdp.sigma(math.sqrt(m), mu))),
    "root finder": ("3.8", lambda epsilon, delta: brentq(lambda m: gdp.delta(epsilon, m) - delta, 1e-6, 100)),
    "library's sigma of a family": ("3.10", lambda sensitivity, mu, k: gdp.sigma(k * sensitivity, mu)),
}

RECOGNISED = {
    "noise cut to whole numbers": (
        "3.6",
        "rounded",
        lambda counts, mu, rng: counts + rng.normal(0, math.sqrt(len(counts)) / mu, len(counts)).astype(int),
    ),
    "wrong way to 100": ("3.8", "wrong way", search(0, 100, wrong_way=True)),
    "wrong way to 20": ("3.8", "wrong way", search(1e-6, 20, wrong_way=True)),
    "stop at 1e-12": ("3.8", "stops early", search(0, 10, stop=1e-12)),
    "stop at 1e-8": ("3.8", "stops early", search(0, 64, stop=1e-8)),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_a_wrong_answer_never_passes(name):
    number, code = WRONG_ANSWERS[name]
    assert {course.find(number).check(code, rng=seed).state for seed in range(12)} == {WRONG}


@pytest.mark.parametrize("name", RIGHT_ANSWERS)
def test_a_right_answer_in_another_form_passes(name):
    number, code = RIGHT_ANSWERS[name]
    assert {course.find(number).check(code, rng=seed).state for seed in range(12)} == {RIGHT}


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_slip_is_recognised_in_another_form(name):
    number, slip, code = RECOGNISED[name]
    assert [course.find(number).check(code, rng=seed).misconception for seed in range(12)] == [slip] * 12


def test_a_rounded_mu_is_not_taken_for_a_search_that_stops_early():
    right = search(0, 64)
    for digits in (0, 1, 2, 3):
        verdicts = [
            course.find("3.8").check(lambda epsilon, delta, n=digits: round(right(epsilon, delta), n), rng=seed)
            for seed in range(12)
        ]
        assert {verdict.misconception for verdict in verdicts} == {None}


def test_noise_that_is_off_everywhere_is_shown_in_two_lines():
    verdict = course.find("3.6").check(normal_noise(lambda m, mu: math.sqrt(m / mu)), rng=1)
    assert (verdict.state, len(verdict.observed)) == (WRONG, 2)


# ---- 3.6 stands an audit


def halved(counts, mu, rng):
    return counts + rng.normal(0, math.sqrt(len(counts)) / mu / 2, len(counts))


def test_half_of_the_noise_is_told_by_what_an_attacker_does_with_it():
    verdict = course.find("3.6").check(halved, rng=1)
    audit = verdict.audit
    assert verdict.misconception == "half"
    assert f"better than {audit.name} allows" in repr(verdict)
    assert audit.found.beta < audit.found.least == pytest.approx(audit.promise(audit.found.alpha))


def test_an_answer_that_leaks_where_nobody_counts_is_found_by_the_audit_alone():
    """Right noise on every table with a count of 0, none on the others: there is one only once Mia has joined all counts."""

    def leaks(counts, mu, rng):
        noise = rng.normal(0, math.sqrt(len(counts)) / mu, len(counts))
        return counts + (0 if min(counts) > 0 else noise)

    verdict = course.find("3.6").check(leaks, rng=1)
    assert verdict.state == "wrong"
    assert verdict.audit is not None
    assert len(verdict.observed) == 1


def test_too_much_noise_is_wrong_and_no_audit_accuses_it():
    def doubled(counts, mu, rng):
        return counts + rng.normal(0, 2 * math.sqrt(len(counts)) / mu, len(counts))

    verdict = course.find("3.6").check(doubled, rng=1)
    assert verdict.state == "wrong"
    assert verdict.audit is None
