"""The moments accountant of lesson 06, section 1: its exercises against dp-accounting, and what the text says of it."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given
from hypothesis import strategies as st
from support import by_profile, examples

from dpcourse import clt, course, gdp, pld, rdp
from dpcourse.course.accountants.shared import divergence
from dpcourse.tradeoff import gaussian

pytestmark = pytest.mark.in_turn("seconds of convolutions")

exercise = course.lesson(6).exercise
noises, rates = st.floats(0.5, 8), st.floats(1e-3, 0.3)
DELTA, WHOLE = 1e-5, range(2, 257)
SEEDS = range(by_profile("checks of each answer", 1, 5))


def theirs(noise, rate, orders):
    """The divergences of one step by dp-accounting."""
    return np.array(rdp_privacy_accountant._compute_rdp_poisson_subsampled_gaussian(rate, noise, list(orders)))


def share(noise, rate, order):
    """Of what the expectation has above 1, the share of the third term."""
    third = math.comb(order, 2) * rate**2 * math.expm1(1 / noise**2)
    return third / math.expm1((order - 1) * divergence(noise, rate, order))


# ---- the exercises


@pytest.mark.parametrize("seed", SEEDS)
def test_the_divergence_is_that_of_dp_accounting(seed):
    renyi = exercise("renyi_divergence")
    for case in renyi.cases(np.random.default_rng(seed)):
        (expected,) = theirs(case["noise_multiplier"], case["sample_rate"], [case["order"]])
        for code in (renyi.reference, *renyi.formulas):
            assert code(**case) == pytest.approx(expected, rel=1e-9)


def test_the_divergence_of_a_high_order_has_terms_that_are_no_doubles():
    cases = exercise("renyi_divergence").cases(np.random.default_rng(0))
    exponents = [case["order"] * (case["order"] - 1) / (2 * case["noise_multiplier"] ** 2) for case in cases]
    assert max(exponents) > math.log(np.finfo(float).max)
    assert 200 * 199 / (2 * 0.5**2) == 79_600  # in the text


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_order_is_that_of_the_divergences_of_dp_accounting(seed):
    best = exercise("best_order")
    for case in best.draw(np.random.default_rng(seed)):
        divergences = theirs(case["noise_multiplier"], case["sample_rate"], WHOLE)
        bounds = case["steps"] * divergences - math.log(case["delta"]) / (np.array(WHOLE) - 1)
        order, epsilon = best.reference(**case)
        assert order == WHOLE[int(np.argmin(bounds))]
        assert epsilon == pytest.approx(bounds.min(), rel=1e-9)


@examples(30)
@given(noise=noises, rate=rates, steps=st.integers(1, 20_000), digits=st.floats(4, 10))
def test_whole_orders_give_a_little_more_and_the_bound_falls_then_rises(noise, rate, steps, digits):
    """(order - 1) D is convex in the order, so whoever stops where the bound first rises has the best order."""
    delta = 10.0**-digits
    bounds = [steps * divergence(noise, rate, a) - math.log(delta) / (a - 1) for a in range(2, 120)]
    best = int(np.argmin(bounds))
    assert rdp.epsilon(noise, rate, steps, delta, conversion="classic") <= bounds[best] * (1 + 1e-9)
    assert (np.diff(bounds[: best + 1]) <= 1e-9).all()
    assert (np.diff(bounds[best:]) >= -1e-9).all()


@examples(30)
@given(noise=noises, rate=rates)
def test_the_share_of_the_third_term_begins_at_all_and_falls(noise, rate):
    shares = np.array([share(noise, rate, a) for a in range(2, 40) if a * divergence(noise, rate, a) < 700])
    assert shares[0] == pytest.approx(1, rel=1e-6)
    assert (np.diff(shares) < 1e-6).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_order_is_the_last_with_the_share(seed):
    """By 50 digits: the means of the powers of X one by one, each of them positive from the second on."""
    last = exercise("last_order")
    for case in last.cases(np.random.default_rng(seed)):
        order = last.reference(**case)
        with mpmath.workdps(50):
            s, p = mpmath.mpf(case["noise_multiplier"]), mpmath.mpf(case["sample_rate"])
            power = [mpmath.exp(i * (i - 1) / (2 * s**2)) for i in range(order + 2)]
            means = [
                sum((-1) ** (j - i) * mpmath.binomial(j, i) * power[i] for i in range(j + 1)) for j in range(order + 2)
            ]
            assert abs(means[1]) < 1e-40
            assert min(means[2:]) > 0
            for a, holds in ((order, True), (order + 1, False)):
                terms = [mpmath.binomial(a, j) * p**j * means[j] for j in range(2, a + 1)]
                assert (terms[0] >= case["share"] * sum(terms)) == holds


# ---- what the accountant tends to


@examples(15)
@given(noise=st.floats(0.7, 5), root=st.floats(0.1, 2), digits=st.floats(3, 10))
def test_the_classic_bound_tends_to_that_of_the_limit(noise, root, digits):
    """And from above: it stays above its limit, which is above the epsilon of G_mu."""
    delta, log = 10.0**-digits, digits * math.log(10)
    mu = clt.noisy_sgd_mu(noise, root / 1e5, 1e10)
    limit = mu**2 / 2 + mu * math.sqrt(2 * log)
    best = 1 + math.sqrt(2 * log) / mu
    assert best * mu**2 / 2 + log / (best - 1) == pytest.approx(limit)
    assert rdp.epsilon(1 / mu, 1, 1, delta, conversion="classic") == pytest.approx(limit, rel=1e-6)
    if best > 0.5 * noise**2 * math.log(1e5 / root):
        return  # an order so high needs even more steps
    bounds = [
        rdp.epsilon(noise, root / math.sqrt(steps), steps, delta, conversion="classic") for steps in (10**6, 10**10)
    ]
    assert bounds[0] >= bounds[1] * (1 - 1e-9)
    assert bounds[1] == pytest.approx(limit, rel=0.02)
    assert min(bounds[1], limit) > gdp.epsilon(delta, mu)


def test_the_numbers_of_the_limit_in_the_lesson():
    """Section 5's run, p sqrt(T) = 0.5 at sigma 1, delta 1e-5."""
    mu = 0.5 * math.sqrt(math.e - 1)
    assert round(mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / DELTA)), 2) == 3.36
    assert round(gdp.epsilon(DELTA, mu), 2) == 2.70
    steps = 10**9
    classic = rdp.epsilon(1.0, 0.5 / math.sqrt(steps), steps, DELTA, conversion="classic")
    improved = rdp.epsilon(1.0, 0.5 / math.sqrt(steps), steps, DELTA)
    assert classic == pytest.approx(3.36, abs=5e-3)
    assert 2.9 < improved < 2.95  # between the limit's and the classic one


@pytest.mark.parametrize("order", [1.5, 2, 5, 8])
def test_at_a_fixed_order_the_divergence_of_a_run_goes_to_that_of_the_gaussian(order):
    mu = clt.noisy_sgd_mu(1.0, 0.5, 1)
    steps = 10**8
    run = steps * rdp.divergence(1.0, 0.5 / math.sqrt(steps), order)
    assert run == pytest.approx(order * mu**2 / 2, rel=5e-3)


def test_the_curve_that_moments_know_lies_below_the_certified_one_and_far_below_the_limit():
    steps, rate = 1000, 0.5 / math.sqrt(1000)
    alpha, orders, epsilons = np.linspace(0, 1, 201), 1 + np.geomspace(0.05, 60, 50), np.linspace(0, 12, 300)[:, None]
    divergences = steps * np.array([rdp.divergence(1.0, rate, a) for a in orders])
    delta = np.exp(np.minimum(0, np.min((orders - 1) * (divergences - epsilons), axis=1, keepdims=True)))
    lines = np.maximum(1 - delta - np.exp(epsilons) * alpha, np.exp(-epsilons) * (1 - delta - alpha))
    known = np.maximum(0, lines).max(axis=0)
    limit = gaussian(clt.noisy_sgd_mu(1.0, rate, steps))(alpha)
    assert (known <= pld.noisy_sgd(1.0, rate, steps).tradeoff()(alpha) + 1e-9).all()
    assert (known <= limit + 1e-12).all()
    assert (limit - known).max() > 0.4


def test_the_mu_of_uniform_batches_is_the_limit_of_a_bound_that_counts_both_directions_in_each_step():
    """2K/s of lesson 04, for C_p(G_{1/sigma}) composed with itself."""
    for noise in (0.7, 1.0, 2.0):
        found = []
        for steps in (10**3, 10**6):
            rate = 0.5 / math.sqrt(steps)
            kl, kappa2, _, _ = clt.functionals(gaussian(1 / noise).subsampled(rate))
            limit = clt.noisy_sgd_mu(noise, rate, steps, sampling="uniform")
            found.append(2 * steps * kl / math.sqrt(steps * (kappa2 - kl**2)) / limit - 1)
        assert abs(found[1]) < abs(found[0]) / 10
        assert found[1] == pytest.approx(0, abs=0.01)


# ---- the conversions, and the paper's numbers


@examples(30)
@given(order=st.floats(1.05, 100), excess=st.floats(1e-6, 7))
def test_the_reason_of_the_improved_conversion(order, excess):
    """1 - e^-x <= (1/a) ((a-1)/a)^(a-1) e^((a-1) x) for x > 0, with equality at ln(a / (a - 1))."""
    factor = ((order - 1) / order) ** (order - 1) / order
    at = math.log(order / (order - 1))
    assert -math.expm1(-excess) <= factor * math.exp((order - 1) * excess) * (1 + 1e-12)
    assert -math.expm1(-at) == pytest.approx(factor * math.exp((order - 1) * at))
    classic, improved = (
        rdp.CONVERSIONS[name](order, 0.3, DELTA / by) for name, by in (("classic", factor), ("improved", 1))
    )
    assert improved == pytest.approx(classic)


def test_the_papers_largest_epsilon_is_that_of_orders_in_tenths():
    """Bu, Dong, Long & Su (2020): 32.40 at noise 0.5; whole orders would have given more, all orders give less."""
    rate, steps = 256 / 60_000, 23_438

    def best(orders):
        return min(steps * rdp.divergence(0.5, rate, a) - math.log(DELTA) / (a - 1) for a in orders)

    assert round(best(1 + np.arange(1, 100) / 10), 2) == 32.40
    assert best(WHOLE) > 34
    assert rdp.epsilon(0.5, rate, steps, DELTA, conversion="classic") < 32.36


@pytest.mark.weekly("many draws")
def test_each_draw_of_best_order_asks_for_the_last_order_once():
    exercise = course.lesson(6).exercise("best_order")
    for seed in range(20):
        best = [exercise.reference(**case)[0] for case in exercise.draw(np.random.default_rng(seed))]
        first, low, high, last = best
        assert first == 2 < 3 <= low <= 20 < 70 <= high <= 240
        assert last == 256
