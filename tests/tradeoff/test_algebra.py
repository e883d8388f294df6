"""Trade-off functions: closed forms, the laws of the algebra, duality, and independent computations."""

import math
import re

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import laplace as laplace_distribution
from scipy.stats import norm
from support import by_profile, examples, reference

from dpcourse import composition, tradeoff
from dpcourse.tradeoff import TradeOff, approx_dp, gaussian, identity, laplace

ALPHA = np.r_[0, 1e-9, 1e-5, np.linspace(1e-3, 1, by_profile("error rates at which curves are compared", 100, 400))]
alphas = st.floats(0, 1)
mus = st.floats(0.05, 6)
shares = st.floats(0.01, 1)
product_error = 1e-4  # what the grid of a product without a closed form may cost where a loss has atoms


@st.composite
def points(draw):
    """A trade-off function with up to six corners, seldom symmetric."""
    hundredths = st.integers(0, 100).map(lambda i: i / 100)
    corners = [(draw(hundredths), draw(hundredths)) for _ in range(draw(st.integers(1, 6)))]
    alpha = np.array([a for a, _ in corners])
    return TradeOff.from_points(alpha, [(1 - a) * b for a, b in corners], repair=True)


simple = st.one_of(
    st.builds(gaussian, mus),
    st.builds(laplace, mus),
    st.builds(approx_dp, st.floats(0.05, 5), st.one_of(st.just(0.0), st.floats(1e-6, 0.5))),
    points(),
)
symmetric = st.one_of(st.builds(gaussian, mus), st.builds(laplace, mus), st.builds(approx_dp, st.floats(0.05, 5)))
kinds = st.one_of(
    simple,
    st.builds(lambda f, p: f.mixed(p), simple, shares),
    st.builds(lambda f, p: f.subsampled(p), symmetric, shares),
    st.builds(lambda f, k: f.group(k), simple, st.integers(1, 4)),
    st.builds(lambda f: f.symmetrized(), points()),
)


# ---- closed forms


def test_published_values():
    for epsilon, delta in reference["gdp"]["delta_mu_1"].items():
        assert gaussian(1).delta(float(epsilon)) == pytest.approx(delta, rel=3e-10)
    for name, epsilon in reference["gdp"]["epsilon_at_delta_1e-5"].items():
        assert gaussian(float(name.removeprefix("mu_"))).epsilon(1e-5) == pytest.approx(epsilon, abs=5e-9)
    for alpha, beta in reference["laplace"]["tradeoff_theta_1"].items():
        assert laplace(1)(float(alpha)) == pytest.approx(beta, abs=5e-9)


@given(mu=mus, alpha=alphas)
def test_gaussian_and_laplace_are_the_tests_of_shifted_noise(mu, alpha):
    """The likelihood ratio of a shift rises, so the best test rejects above a threshold."""
    assert gaussian(mu)(alpha) == pytest.approx(norm.cdf(norm.isf(alpha) - mu), rel=1e-9, abs=1e-15)
    assert laplace(mu)(alpha) == pytest.approx(
        laplace_distribution.cdf(laplace_distribution.isf(alpha) - mu), rel=1e-9, abs=1e-12
    )


@given(epsilon=st.floats(0, 5), delta=st.floats(0, 1), alpha=alphas)
def test_approx_dp_is_its_two_lines(epsilon, delta, alpha):
    lines = max(0, 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))
    assert approx_dp(epsilon, delta)(alpha) == pytest.approx(lines, abs=1e-14)


@given(mu=st.floats(1e-4, 50), epsilon=st.floats(0, 500))
def test_gaussian_delta_agrees_with_mpmath(mu, epsilon):
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)
    if exact > 1e-300:
        assert gaussian(mu).delta(epsilon) == pytest.approx(float(exact), rel=1e-10)


# ---- every trade-off function


@examples(20)
@given(f=kinds)
def test_it_is_convex_falling_and_below_the_diagonal(f):
    alpha = np.linspace(0, 1, 801)
    beta = f(alpha)
    assert (np.diff(beta) <= 1e-15).all()
    assert (beta <= 1 - alpha).all()
    assert (np.diff(beta, 2) >= -1e-9).all()
    assert f(1.0) == 0


@examples(20)
@given(f=kinds)
def test_the_inverse_of_the_inverse_is_the_function(f):
    once, twice = f.inverse(), f.inverse().inverse()
    assert twice(ALPHA) == pytest.approx(f(ALPHA), abs=1e-12)
    inside = ALPHA[(f(ALPHA) > 1e-6) & (ALPHA > 1e-3)]
    assert once(f(inside)) == pytest.approx(inside, abs=1e-8)


@examples(20)
@given(f=kinds)
def test_symmetrizing_is_the_larger_of_both_and_changes_nothing_twice(f):
    s = f.symmetrized()
    assert s(ALPHA) == pytest.approx(np.maximum(f(ALPHA), f.inverse()(ALPHA)), abs=1e-12)
    assert s.inverse()(ALPHA) == pytest.approx(s(ALPHA), abs=1e-12)
    assert s >= f


@examples(20)
@given(f=kinds, epsilon=st.floats(0, 6))
def test_delta_is_the_supremum_over_tests(f, epsilon):
    """Proposition 2.12, against a search on a grid, and within its best cells."""
    alpha = np.unique(np.r_[0, np.geomspace(1e-12, 1, 3000), f.kinks()])
    gains = 1 - f(alpha) - math.exp(epsilon) * alpha
    best = int(np.argmax(gains))
    alpha = np.linspace(alpha[max(best - 1, 0)], alpha[min(best + 1, alpha.size - 1)], 3000)
    searched = max(gains[best], np.max(1 - f(alpha) - math.exp(epsilon) * alpha))
    assert f.delta(epsilon) == pytest.approx(searched, abs=1e-9, rel=1e-5)
    assert f.delta(epsilon) >= searched - 1e-12


@examples(20)
@given(f=kinds)
def test_the_curve_comes_back_from_delta(f):
    """Duality: the curve is the supremum of its supporting lines, those of f for small alpha and of f^-1 for large."""
    epsilon = np.linspace(0, 12, 601)
    alpha = np.linspace(0.02, 0.98, 25)
    lines = 1 - f.delta(epsilon)[:, None] - np.exp(epsilon)[:, None] * alpha
    mirrored = np.exp(-epsilon)[:, None] * (1 - f.inverse().delta(epsilon)[:, None] - alpha)
    spacing = epsilon[1]  # the best line is at most that far from one on the grid
    assert np.maximum(lines.max(axis=0), mirrored.max(axis=0)).clip(0) == pytest.approx(f(alpha), abs=spacing)


@examples(20)
@given(f=kinds, delta=st.floats(1e-9, 0.9))
def test_epsilon_inverts_delta(f, delta):
    epsilon = f.epsilon(delta)
    if epsilon == 0:
        assert f.delta(0.0) <= delta
    elif epsilon == math.inf:
        assert f.delta(500.0) > delta
    else:
        assert f.delta(epsilon) == pytest.approx(delta, rel=1e-6, abs=1e-13)


@examples(20)
@given(f=kinds, alpha=st.floats(1e-3, 0.99))
def test_the_privacy_loss_is_the_slope(f, alpha):
    """Between the secants to the left and to the right."""
    h = 1e-4
    left, right = (f(alpha - h) - f(alpha)) / h, (f(alpha) - f(min(1.0, alpha + h))) / min(h, 1 - alpha)
    assert right - 1e-9 <= math.exp(f.log_slope(alpha)) * (1 + 1e-9) + 1e-9
    assert math.exp(f.log_slope(alpha)) <= left * (1 + 1e-9) + 1e-9


# ---- order


@examples(20)
@given(f=kinds)
def test_order(f):
    assert f >= f
    assert identity() >= f
    assert f >= TradeOff.from_points([0.0], [0.0])


@examples(20)
@given(mu=mus, more=st.floats(0.01, 1))
def test_a_larger_shift_is_less_private(mu, more):
    assert gaussian(mu) >= gaussian(mu + more)
    assert not gaussian(mu + more) >= gaussian(mu)
    assert laplace(mu) >= approx_dp(mu)
    assert gaussian(mu) <= identity()


# ---- subsampling


@examples(20)
@given(f=symmetric, p=shares)
def test_subsampling_amplifies_and_stays_symmetric(f, p):
    c = f.subsampled(p)
    assert (c(ALPHA) >= f(ALPHA) - 1e-12).all()
    assert c.inverse()(ALPHA) == pytest.approx(c(ALPHA), abs=1e-12)
    assert (c(ALPHA) <= np.minimum(f.mixed(p)(ALPHA), f.mixed(p).inverse()(ALPHA)) + 1e-12).all()


@examples(20)
@given(f=symmetric, p=shares)
def test_subsampling_is_the_convex_envelope(f, p):
    """Equation 13 against the envelope of many points of min{f_p, f_p^-1}."""
    mixed = f.mixed(p)
    alpha = np.unique(
        np.r_[np.linspace(0, 1, 4001), np.geomspace(1e-12, 0.01, 1000), mixed.kinks(), mixed.inverse().kinks()]
    )
    envelope = TradeOff.from_points(alpha, np.minimum(mixed(alpha), mixed.inverse()(alpha)), repair=True)
    assert f.subsampled(p)(ALPHA) == pytest.approx(envelope(ALPHA), abs=2e-4)
    assert (f.subsampled(p)(alpha) <= envelope(alpha) + 1e-12).all()


@examples(20)
@given(f=points(), p=st.floats(0.05, 0.95))
def test_subsampling_what_is_not_symmetric(f, p):
    c = f.subsampled(p)
    assert c.inverse()(ALPHA) == pytest.approx(c(ALPHA), abs=1e-3)
    assert (c(ALPHA) <= f.mixed(p)(ALPHA) + 1e-3).all()


@examples(20)
@given(epsilon=st.floats(0.05, 5), p=shares, total=st.floats(0, 5))
def test_subsampling_pure_privacy(epsilon, p, total):
    """Balle, Barthe & Gaboardi (2018): epsilon becomes log(1 + p (e^epsilon - 1))."""
    amplified = math.log1p(p * math.expm1(epsilon))
    assert approx_dp(epsilon).subsampled(p).delta(amplified) == pytest.approx(0, abs=1e-12)
    assert approx_dp(epsilon).subsampled(p).delta(total) == pytest.approx(
        p * approx_dp(epsilon).delta(max(0, math.log1p(math.expm1(total) / p))), abs=1e-12
    )


# ---- groups


@examples(20)
@given(mu=mus, epsilon=st.floats(0.05, 2), k=st.integers(1, 5))
def test_groups(mu, epsilon, k):
    """Theorem 2.14: G_mu becomes G_{k mu}; f_{epsilon, 0} is at least f_{k epsilon, 0}; k noises shift k times."""
    assert gaussian(mu).group(k)(ALPHA) == pytest.approx(gaussian(k * mu)(ALPHA), abs=1e-12)
    assert approx_dp(epsilon).group(k) >= approx_dp(k * epsilon)
    direct = ALPHA
    for _ in range(k):
        direct = 1 - laplace(epsilon)(direct)
    assert laplace(epsilon).group(k)(ALPHA) == pytest.approx(1 - direct, abs=1e-12)


@examples(20)
@given(f=kinds, j=st.integers(1, 3), k=st.integers(1, 3))
def test_groups_of_groups(f, j, k):
    assert f.group(j).group(k)(ALPHA) == pytest.approx(f.group(j * k)(ALPHA), abs=1e-9)
    assert f >= f.group(k)


# ---- the tensor product


@given(a=mus, b=mus, n=st.integers(1, 50))
def test_products_of_gaussians_are_exact(a, b, n):
    assert (gaussian(a) @ gaussian(b))(ALPHA) == pytest.approx(gaussian(math.hypot(a, b))(ALPHA), abs=1e-14)
    assert gaussian(a).power(n)(ALPHA) == pytest.approx(gaussian(a * math.sqrt(n))(ALPHA), abs=1e-13)


@examples(20)
@given(f=kinds, delta=st.floats(0, 1), epsilon=st.floats(0, 4), alpha=alphas)
def test_identity_and_certain_failure(f, delta, epsilon, alpha):
    """Id is the 1 of the product, and a (0, delta) part shrinks the curve: equation 12."""
    assert (f @ identity())(alpha) == pytest.approx(f(alpha), abs=1e-13)
    failing = f @ approx_dp(0, delta)
    shrunk = (1 - delta) * f(min(1.0, alpha / (1 - delta))) if alpha < 1 - delta else 0.0
    assert failing(alpha) == pytest.approx(shrunk, abs=1e-12)
    assert failing.delta(epsilon) == pytest.approx(delta + (1 - delta) * f.delta(epsilon), abs=1e-12)


@examples(12)
@given(f=simple, g=simple)
def test_the_product_commutes_falls_and_turns_round(f, g):
    product = f @ g
    assert product(ALPHA) == pytest.approx((g @ f)(ALPHA), abs=1e-9)
    assert (product(ALPHA) <= np.minimum(f(ALPHA), g(ALPHA)) + product_error).all()
    turned = f.inverse() @ g.inverse()
    assert product.inverse()(ALPHA[3:]) == pytest.approx(turned(ALPHA[3:]), abs=product_error)


@examples(8)
@given(f=simple, g=simple, h=simple)
def test_the_product_associates(f, g, h):
    assert ((f @ g) @ h)(ALPHA[3:]) == pytest.approx((f @ (g @ h))(ALPHA[3:]), abs=product_error)


@examples(10)
@given(f=simple, mu=mus, more=st.floats(0.1, 2))
def test_the_product_is_monotone(f, mu, more):
    assert ((f @ laplace(mu))(ALPHA) >= (f @ laplace(mu + more))(ALPHA) - product_error).all()


@examples(10)
@given(f=simple, n=st.integers(1, 4))
def test_a_power_is_a_repeated_product(f, n):
    product = f
    for _ in range(n - 1):
        product = product @ f
    assert f.power(n)(ALPHA[3:]) == pytest.approx(product(ALPHA[3:]), abs=product_error)


@examples(15)
@given(epsilon=st.floats(0.05, 1), delta=st.floats(0, 1e-2), n=st.integers(1, 60), total=st.floats(0, 5))
def test_powers_of_approx_dp_agree_with_kairouz_oh_viswanath(epsilon, delta, n, total):
    """Theorem 3.3 of Kairouz, Oh & Viswanath (2015), in composition.py."""
    assert approx_dp(epsilon, delta).power(n).delta(total) == pytest.approx(
        composition.optimal_delta(epsilon, delta, n, total), abs=1e-11
    )


@examples(6)
@given(scale=st.floats(0.5, 20), n=st.integers(2, 60), total=st.floats(0, 3))
def test_powers_of_laplace_agree_with_dp_accounting(scale, n, total):
    theirs = [
        privacy_loss_distribution.from_laplace_mechanism(
            scale, value_discretization_interval=1e-3, pessimistic_estimate=pessimistic
        ).self_compose(n)
        for pessimistic in (False, True)
    ]
    low, high = (t.get_delta_for_epsilon(total) for t in theirs)
    assert low - 1e-7 <= laplace(1 / scale).power(n).delta(total) <= high + 1e-7


def test_published_powers_of_laplace():
    many, published = laplace(0.1).power(100), reference["laplace"]["n_fold_theta_0.1_n_100"]
    for epsilon in (0, 1, 2):
        assert many.delta(epsilon) == pytest.approx(published[f"delta_{epsilon}"], abs=2e-7)
    assert many.epsilon(1e-5) == pytest.approx(published["epsilon_1e-5"], abs=5e-5)


# ---- points and samples


@given(f=points())
def test_points_come_back(f):
    again = TradeOff.from_points(f.kind.alphas, f.kind.betas)
    assert again(ALPHA) == pytest.approx(f(ALPHA), abs=1e-15)


@given(raw=st.lists(st.tuples(alphas, alphas), min_size=1, max_size=12))
@example(
    raw=[(0.0, 0.5), (1.1125369292536007e-308, 0.0), (2.225073858507203e-309, 0.75)]
)  # slopes without a difference
def test_repair_is_the_largest_trade_off_function_below_the_points(raw):
    alpha, beta = np.array(raw).T
    f = TradeOff.from_points(alpha, beta, repair=True)
    assert (f(alpha) <= np.minimum(beta, 1 - alpha) + 1e-12).all()
    for a, b in zip(f.kind.alphas, f.kind.betas, strict=True):  # each corner is one of the points, or an end
        assert (a, b) in {(0, 1), (1, 0)} or min(np.hypot(alpha - a, beta - b)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_give_the_best_of_all_tests(seed):
    """Every vertex is a test without coins; none of the 2^6 tests lies below."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    p[0], q[1] = 0, 0
    p, q = p / p.sum(), q / q.sum()
    f = TradeOff.from_probabilities(p, q)
    tests = (np.arange(64)[:, None] >> np.arange(6)) & 1
    alpha, beta = np.minimum(tests @ p, 1), (1 - tests) @ q
    assert (beta >= f(alpha) - 1e-12).all()
    for vertex in [0.0, *f.kinks()]:
        assert np.abs(alpha - vertex).min() < 1e-12
        assert beta[np.abs(alpha - vertex) < 1e-12].min() == pytest.approx(f(vertex), abs=1e-12)
    assert f.delta(0.0) == pytest.approx(np.abs(p - q).sum() / 2)
    assert f.inverse()(alpha) == pytest.approx(TradeOff.from_probabilities(q, p)(alpha), abs=1e-9)


def test_samples_approach_the_closed_form():
    """Uniformly within 0.01: six standard deviations of 100,000 samples."""
    rng = np.random.default_rng(5)
    f = TradeOff.from_samples(rng.normal(size=100_000), rng.normal(1.0, size=100_000))
    assert f(ALPHA) == pytest.approx(gaussian(1.0)(ALPHA), abs=0.01)


@given(p=st.lists(st.integers(0, 5), min_size=1, max_size=30), q=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_samples_give_the_best_threshold_tests(p, q):
    f = TradeOff.from_samples(p, q)
    for threshold in range(7):
        alpha, beta = np.mean(np.array(p) >= threshold), np.mean(np.array(q) < threshold)
        assert f(alpha) <= beta + 1e-12


# ---- bad input


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gaussian(-1), "mu must be a number in [0, inf), got -1"),
        (lambda: laplace(math.nan), "mu must be a number in [0, inf), got nan"),
        (lambda: approx_dp(-1), "epsilon must be a number in [0, inf), got -1"),
        (lambda: approx_dp(1, 1.1), "delta must be a number in [0, 1], got 1.1"),
        (lambda: gaussian(1)(1.1), "alpha must be a number in [0, 1], got 1.1"),
        (lambda: gaussian(1)([0.1, math.nan]), "alpha must be a number in [0, 1], got nan"),
        (lambda: gaussian(1)("x"), "alpha must be a number or an array of numbers, got 'x'"),
        (lambda: gaussian(1).delta(-0.1), "epsilon must be a number in [0, inf), got -0.1"),
        (lambda: gaussian(1).epsilon(2), "delta must be a number in [0, 1], got 2"),
        (lambda: gaussian(1).mixed(2), "p must be a number in [0, 1], got 2"),
        (lambda: gaussian(1).subsampled(-1), "p must be a number in [0, 1], got -1"),
        (lambda: gaussian(1).group(1.5), "k must be a whole number >= 1, got 1.5"),
        (lambda: laplace(1).power(0), "n must be a whole number >= 1, got 0"),
        (lambda: TradeOff.from_points([0.1, 0.2], [0.3]), "beta must have one entry per alpha (2), got 1"),
        (
            lambda: TradeOff.from_points([0.1, 0.1], [0.3, 0.2]),
            "alpha must rise; it is not so at alpha = 0.1, beta = 0.2",
        ),
        (
            lambda: TradeOff.from_points([0.1, 0.5], [0.3, 0.6]),
            "beta must be at most 1 - alpha; it is not so at alpha = 0.5, beta = 0.6",
        ),
        (
            lambda: TradeOff.from_points([0.1, 0.5], [0.3, 0.4]),
            "beta must not rise; it is not so at alpha = 0.5, beta = 0.4",
        ),
        (
            lambda: TradeOff.from_points([0.1, 0.5, 0.8], [0.6, 0.45, 0.1]),
            "the points must be convex, but the curve bends down at alpha = 0.5, beta = 0.45; repair=True takes the envelope",
        ),
        (lambda: TradeOff.from_probabilities([1], [0.5, 0.5]), "q must have one entry per p (1), got 2"),
        (
            lambda: TradeOff.from_probabilities([0.5, 0.4], [1, 0]),
            "p must be probabilities with the sum 1, got the sum 0.9",
        ),
        (
            lambda: TradeOff.from_probabilities([1, 0], [1.5, -0.5]),
            "every entry of q must be a number in [0, 1], got 1.5",
        ),
        (lambda: TradeOff.from_samples([], [1]), "p_scores must be a non-empty list of numbers, got []"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()


def test_only_trade_off_functions_multiply_and_compare():
    with pytest.raises(TypeError):
        gaussian(1) @ 2
    with pytest.raises(TypeError):
        gaussian(1) >= 2  # noqa: B015
    assert repr(gaussian(1.0)) == "gaussian(1.0)"
    assert tradeoff.log_gaussian_delta(1.0, 0.0) == -math.inf
