"""Gaussian differential privacy against mpmath, published values, and its theorems."""

import math
import re

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import reference

from dpcourse import gdp

mus = st.floats(1e-4, 50)
totals = st.floats(0, 500)


def exact_delta(epsilon, mu):
    with mpmath.workdps(400 if mu < 0.01 else 60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


def test_published_values():
    """Closed forms; Balle & Wang (2018) by root finding."""
    published = reference["gdp"]
    epsilons = [float(epsilon) for epsilon in published["delta_mu_1"]]
    assert gdp.delta(epsilons, 1) == pytest.approx(list(published["delta_mu_1"].values()), rel=3e-10)
    for name, epsilon in published["epsilon_at_delta_1e-5"].items():
        assert gdp.epsilon(1e-5, float(name.removeprefix("mu_"))) == pytest.approx(epsilon, abs=5e-9)
    for epsilon, sigma in published["analytic_gaussian_sigma_at_delta_1e-5"].items():
        assert gdp.analytic_sigma(float(epsilon), 1e-5) == pytest.approx(sigma, abs=5e-9)
    classic = published["classic_gaussian_sigma_at_epsilon_1_delta_1e-5"]
    assert gdp.classic_sigma(1, 1e-5) == pytest.approx(classic, abs=5e-7)


@given(mu=mus, tails=st.floats(-5, 36))
def test_delta_agrees_with_mpmath(mu, tails):
    """From epsilon = 0 to where delta is near 1e-300."""
    epsilon = min(max(0.0, mu * (tails + mu / 2)), 500.0)
    exact = exact_delta(epsilon, mu)
    assume(exact > 1e-300)
    assert gdp.delta(epsilon, mu) == pytest.approx(float(exact), rel=1e-10)


@given(mu=mus, digits=st.floats(0, 300))
def test_epsilon_agrees_with_mpmath(mu, digits):
    """The delta of the answer is the one asked for, to 1e-10 of epsilon: delta falls between its two neighbours."""
    delta = 10.0**-digits
    epsilon = gdp.epsilon(delta, mu)
    if epsilon == 0:
        assert exact_delta(0, mu) <= delta * (1 + mpmath.mpf(10) ** -12)
    elif epsilon <= 500:
        wobble = 1e-10 * epsilon + 1e-15
        last = 2.0**-52 * delta  # delta is a double: near 1, that alone moves epsilon
        assert exact_delta(epsilon + wobble, mu) - last < delta < exact_delta(max(0, epsilon - wobble), mu) + last


@given(epsilon=st.one_of(st.just(0.0), st.floats(1e-6, 500)), digits=st.floats(0.05, 300))
def test_mu_agrees_with_mpmath(epsilon, digits):
    delta = 10.0**-digits
    mu = gdp.mu(epsilon, delta)
    assume(1e-4 <= mu <= 50)
    assert exact_delta(epsilon, mu * (1 - 1e-10)) < delta < exact_delta(epsilon, mu * (1 + 1e-10))


@given(mus=st.lists(st.floats(0, 10), min_size=1, max_size=6), epsilon=st.floats(0, 5))
def test_composition_is_rotation(mus, epsilon):
    """N(0, I) against N(mus, I) depends on the length of mus only: corollary 3.3."""
    assert gdp.compose(mus) == pytest.approx(np.linalg.norm(mus), rel=1e-14)
    assert gdp.delta(epsilon, gdp.compose(mus)) >= gdp.delta(epsilon, max(mus)) * (1 - 1e-12)
    assert gdp.group(gdp.compose(mus), 4) == pytest.approx(gdp.compose(mus * 16), rel=1e-12)


@given(sensitivity=st.floats(0.01, 100), mu=st.floats(0.01, 10))
def test_the_mechanism_adds_noise_of_the_right_size(sensitivity, mu):
    """Mean and variance of 40,000 numbers within six standard deviations."""
    noise = gdp.mechanism(np.zeros(40_000), sensitivity, mu, 5) / (sensitivity / mu)
    assert abs(noise.mean()) < 6 / 200
    assert abs(noise.var() - 1) < 6 * math.sqrt(2) / 200
    assert isinstance(gdp.mechanism(1.0, sensitivity, mu), float)


@given(epsilon=st.floats(0.01, 100), digits=st.floats(1, 20))
def test_analytic_noise_gives_exactly_delta_and_less_of_it(epsilon, digits):
    delta = 10.0**-digits
    sigma = gdp.analytic_sigma(epsilon, delta)
    assert gdp.delta(epsilon, gdp.sigma(1.0, 1 / sigma) ** -1) == pytest.approx(delta, rel=1e-9)
    assert gdp.analytic_sigma(epsilon, delta, 3.0) == pytest.approx(3 * sigma)
    if epsilon < 1:
        assert sigma < gdp.classic_sigma(epsilon, delta)


def test_ends():
    assert gdp.epsilon(1.0, 5.0) == gdp.epsilon(0.5, 1.0) == gdp.epsilon(0.0, 0.0) == 0
    assert gdp.epsilon(0.0, 1.0) == gdp.mu(1.0, 1.0) == math.inf
    assert gdp.mu(1.0, 0.0) == gdp.delta(0.0, 0.0) == 0
    assert gdp.delta(math.inf, 1.0) == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gdp.delta(-1, 1), "epsilon must be a number in [0, inf), got -1"),
        (lambda: gdp.delta(math.nan, 1), "epsilon must be a number in [0, inf), got nan"),
        (lambda: gdp.delta(1, -1), "mu must be a number in [0, inf), got -1"),
        (lambda: gdp.epsilon(1.5, 1), "delta must be a number in [0, 1], got 1.5"),
        (lambda: gdp.mu(-1, 0.1), "epsilon must be a number in [0, inf), got -1"),
        (lambda: gdp.compose([]), "mus must be a non-empty list of numbers, got []"),
        (lambda: gdp.group(1, 0), "k must be a whole number >= 1, got 0"),
        (lambda: gdp.sigma(1, 0), "mu must be a number in (0, inf), got 0"),
        (lambda: gdp.mechanism("x", 1, 1), "value must be a number or an array of numbers, got 'x'"),
        (lambda: gdp.classic_sigma(0, 0.1), "epsilon must be a number in (0, inf), got 0"),
        (lambda: gdp.analytic_sigma(1, 0), "delta must be a number in (0, 1], got 0"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()
