"""The central limit theorem of privacy: closed forms, published values, mpmath, and the theorem itself."""

import math
import re

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import examples, reference

from dpcourse import clt, gdp
from dpcourse.tradeoff import TradeOff, approx_dp, gaussian, identity, laplace

pytestmark = pytest.mark.in_turn("seconds of convolutions")

STANDARD = reference["noisy_sgd_standard"]["at_delta_1e-5"]


def test_published_values():
    """Closed forms of Laplace noise, randomized response and noisy SGD."""
    one = reference["laplace"]["functionals_theta_1"]
    assert clt.functionals(laplace(1)) == pytest.approx(list(one.values()), abs=5e-9)
    many, flips = reference["laplace"]["n_fold_theta_0.1_n_100"], reference["randomized_response"]["epsilon0_0.1_k_100"]
    for curve, row in ((laplace(0.1), many), (approx_dp(0.1), flips)):
        published = row["berry_esseen_mu"], row["berry_esseen_gamma"]
        assert clt.berry_esseen([curve] * 100) == pytest.approx(published, abs=5e-7)
    mu, _ = clt.berry_esseen([laplace(0.1)] * 100)
    assert gdp.epsilon(1e-5, mu) == pytest.approx(many["clt_epsilon_1e-5"], abs=5e-6)
    assert clt.noisy_sgd_mu(1.0, 0.01, 1000) == pytest.approx(STANDARD["clt_mu"], abs=5e-7)


def test_clt_epsilons_of_noisy_sgd():
    """The rows of Bu, Dong, Long & Su (2020) have steps that are not whole."""
    rate = 256 / 60_000
    settings_of = [(1.0, 0.01, 1000, STANDARD["clt_poisson"])]
    for row in reference["noisy_sgd_more"]:
        settings_of.append((row["noise_multiplier"], row["sample_rate"], row["steps"], row["clt"]))
    for row in reference["bu_2020_mnist"]["rows"]:
        if "clt" in row:
            settings_of.append((row["noise_multiplier"], rate, row["epochs"] / rate, row["clt"]))
    assert len(settings_of) == 7
    for noise, sample_rate, steps, published in settings_of:
        assert gdp.epsilon(1e-5, clt.noisy_sgd_mu(noise, sample_rate, steps)) == pytest.approx(published, abs=5e-6)


@examples(20, part=5)
@given(mu=st.floats(0.01, 5))
def test_laplace_and_gaussian_agree_with_mpmath(mu):
    """Integrals over the noise, not over alpha: L = log q/p at a sample of P."""
    m = mpmath.mpf(mu)
    losses = {
        laplace(mu): (lambda x: mpmath.exp(-abs(x)) / 2, lambda x: abs(x) - abs(x - m), [0, m]),
        gaussian(mu): (mpmath.npdf, lambda x: m * x - m**2 / 2, [0, m / 2]),
    }
    for f, (density, loss, corners) in losses.items():
        kl = -_mean(loss, density, corners)
        turn = mpmath.mpf(m / 2 - kl / 2) if f is not None and "laplace" in repr(f) else m / 2 - kl / m
        absolute = _mean(lambda x, loss=loss: abs(loss(x)) ** 3, density, [*corners, m / 2])
        bar = _mean(lambda x, loss=loss, kl=kl: abs(loss(x) + kl) ** 3, density, [*corners, turn])
        exact = [kl, _mean(lambda x, loss=loss: loss(x) ** 2, density, corners), absolute, bar]
        assert clt.functionals(f) == pytest.approx([float(value) for value in exact], rel=1e-9, abs=1e-13)


def _mean(value, density, corners):
    return mpmath.quad(lambda x: value(x) * density(x), [-mpmath.inf, -20, *sorted(corners), 30, mpmath.inf])


@given(epsilon=st.floats(0.01, 8))
def test_approx_dp_is_two_atoms(epsilon):
    """Dong, Roth & Su (2022), proof of theorem 3.6."""
    q = 1 / (1 + math.exp(epsilon))
    kl = epsilon * math.tanh(epsilon / 2)
    bar = q * (epsilon + kl) ** 3 + (1 - q) * (epsilon - kl) ** 3
    assert clt.functionals(approx_dp(epsilon)) == pytest.approx([kl, epsilon**2, epsilon**3, bar], rel=1e-12)


@settings(max_examples=15)
@given(epsilon=st.floats(0.2, 4), p=st.floats(0.05, 0.95))
def test_quadrature_agrees_with_the_exact_sum_of_a_piecewise_line(epsilon, p):
    """C_p of f_{epsilon, 0} has four corners: as a subsampled curve, and as points."""
    smooth = approx_dp(epsilon).subsampled(p)
    alpha = np.r_[0, smooth.kinks(), 1]
    exact = clt.functionals(TradeOff.from_points(alpha, smooth(alpha), repair=True))
    assert clt.functionals(smooth) == pytest.approx(exact, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("mu", "p"), [(1.0, 0.1), (2.0, 0.5), (0.3, 0.02)])
def test_a_subsampled_gaussian_agrees_with_mpmath(mu, p):
    """C_p of G_mu is symmetric: its steep half, seen from P and from Q, and no loss between (equation 13)."""
    edge = -mpmath.mpf(mu) / 2

    def loss(z):
        return mpmath.log(p * mpmath.exp(-mu * z - mpmath.mpf(mu) ** 2 / 2) + 1 - p)

    def mean(value):
        return mpmath.quad(lambda z: mpmath.npdf(z) * value(loss(z)), [-mpmath.inf, -20, -8, -3 + edge, edge])

    kl = mean(lambda x: x * (mpmath.exp(x) - 1))
    flat = 1 - mean(lambda x: 1 + mpmath.exp(x))
    exact = [
        kl,
        mean(lambda x: x**2 * (1 + mpmath.exp(x))),
        mean(lambda x: x**3 * (1 + mpmath.exp(x))),
        mean(lambda x: abs(x + kl) ** 3 + mpmath.exp(x) * abs(x - kl) ** 3) + flat * kl**3,
    ]
    assert clt.functionals(gaussian(mu).subsampled(p)) == pytest.approx([float(x) for x in exact], rel=1e-5)


def test_infinite_where_a_mechanism_can_fail():
    for f in (approx_dp(1, 1e-6), TradeOff.from_points([0, 0.5], [1, 0]), TradeOff.from_points([0.5], [0])):
        assert clt.functionals(f) == (math.inf,) * 4
    assert clt.berry_esseen([approx_dp(1, 1e-6)]) == (math.inf, math.inf)
    assert clt.limit([identity(), approx_dp(1, 1e-6)]) == math.inf


@settings(max_examples=10)
@given(theta=st.floats(0.02, 0.2), n=st.integers(50, 200))
def test_theorem_3_4_holds(theta, n):
    for f in (laplace(theta), approx_dp(theta)):
        mu, gamma = clt.berry_esseen([f] * n)
        assert gamma < 0.5
        alpha = np.linspace(gamma, 1 - gamma, 101)
        middle = f.power(n)(alpha)
        assert (middle <= gaussian(mu)(alpha - gamma) + gamma + 1e-9).all()
        assert (middle >= gaussian(mu)(alpha + gamma) - gamma - 1e-9).all()


@given(mu=st.floats(0.01, 3), n=st.integers(1, 30))
def test_gaussians_are_their_own_limit(mu, n):
    assert clt.berry_esseen([gaussian(mu)] * n)[0] == pytest.approx(mu * math.sqrt(n))
    assert clt.limit([gaussian(1e-3)] * n) == pytest.approx(1e-3 * math.sqrt(n), rel=1e-6)
    assert clt.limit([identity()]) == 0
    assert clt.berry_esseen([identity()]) == (0, 0)


@given(noise=st.floats(0.4, 20), rate=st.floats(1e-4, 1), steps=st.floats(1, 1e5))
def test_poisson_sampling_is_the_second_moment_of_the_density_ratio(noise, rate, steps):
    """chi^2(N(1/noise, 1) || N(0, 1)), by quadrature; and smaller than for batches of fixed size."""
    node, weight = np.polynomial.hermite_e.hermegauss(120)
    spread = float(weight @ np.expm1(node / noise - noise**-2 / 2) ** 2) / math.sqrt(2 * math.pi)
    assert clt.noisy_sgd_mu(noise, rate, steps) == pytest.approx(rate * math.sqrt(steps * spread), rel=1e-6)
    assert clt.noisy_sgd_mu(noise, rate, steps) < clt.noisy_sgd_mu(noise, rate, steps, sampling="uniform")


def test_many_small_approx_dp_answers_approach_their_limit():
    epsilons, deltas = np.full(2000, 0.02), np.full(2000, 1e-6)
    mu, delta = clt.approx_dp_limit(epsilons, deltas)
    assert (mu, delta) == pytest.approx((0.02 * math.sqrt(2000), 1 - math.exp(-2e-3)))
    alpha = np.linspace(0.01, 0.9, 20)
    assert approx_dp(0.02, 1e-6).power(2000)(alpha) == pytest.approx(
        (gaussian(mu) @ approx_dp(0, delta))(alpha), abs=1e-4
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: clt.functionals(1), "f must be a TradeOff, got 1"),
        (lambda: clt.berry_esseen([]), "curves must be a non-empty list of TradeOff, got []"),
        (lambda: clt.limit(gaussian(1)), "curves must be a non-empty list of TradeOff, got gaussian(1.0)"),
        (lambda: clt.noisy_sgd_mu(0, 0.1, 10), "noise_multiplier must be a number in (0, inf), got 0"),
        (lambda: clt.noisy_sgd_mu(1, 0, 10), "sample_rate must be a number in (0, 1], got 0"),
        (lambda: clt.noisy_sgd_mu(1, 0.1, 0), "steps must be a number in (0, inf), got 0"),
        (lambda: clt.noisy_sgd_mu(1, 0.1, 1, sampling="x"), "sampling must be 'poisson' or 'uniform', got 'x'"),
        (lambda: clt.approx_dp_limit([1, 2], [0.1]), "deltas must have one entry per epsilon (2), got 1"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()
