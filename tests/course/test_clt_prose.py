"""What lesson 04 says in words of adaptive answers, of asymmetric curves, of the limit's conditions and of where it fails."""

import math

import numpy as np
import pytest
from scipy import stats

from dpcourse import clt, course, gdp, pld, tradeoff
from dpcourse.course.clt import pictures

ALPHA = np.linspace(0, 1, 1001)


def curve_of(p, q):
    """T(p, q) at ALPHA, by the ratio test on two lists of probabilities; what p never gives costs no false alarm."""
    free, seen = q[p == 0].sum(), p > 0
    p, q = p[seen], q[seen]
    order = np.argsort(-q / p)
    return np.interp(ALPHA, np.r_[0, np.cumsum(p[order])], 1 - free - np.r_[0, np.cumsum(q[order])])


def off(sigma, rate, steps, delta=1e-5):
    """The error of the limit, and the exact epsilon."""
    upper = pld.noisy_sgd(sigma, rate, steps).epsilon(delta).upper
    return gdp.epsilon(delta, clt.noisy_sgd_mu(sigma, rate, steps)) / upper - 1, upper


def skewness(sigma):
    return float(stats.lognorm(1 / sigma).stats("s"))


# ---- composition


@pytest.mark.parametrize("seed", range(5))
def test_an_answer_that_depends_on_the_first_does_not_go_below_the_product(seed):
    """Whatever the first answer was, the second is some processing of one pair: so it is g-DP, and no more than that."""
    rng = np.random.default_rng(seed)
    first, pair = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(3), 2)
    processed = [pair @ rng.dirichlet(np.full(3, 0.3), 3) for _ in range(4)]
    both = [np.concatenate([first[side][o] * processed[o][side] for o in range(4)]) for side in (0, 1)]
    product = [np.outer(first[side], pair[side]).ravel() for side in (0, 1)]
    assert (curve_of(*both) >= curve_of(*product) - 1e-12).all()


def test_two_plans_that_keep_a_promise_break_it_when_chosen_after_a_look():
    monday, plan_a, plan_b = tradeoff.approx_dp(math.log(3)), tradeoff.approx_dp(0.446), tradeoff.approx_dp(0, 0.02)
    assert (monday @ plan_a).delta(1.5) <= 0.02
    assert (monday @ plan_b).delta(1.5) == pytest.approx(0.02, abs=1e-12)
    after_in = 3 / 4 * plan_a.delta(1.5 - math.log(3))
    after_out = 1 / 4 * plan_b.delta(1.5 + math.log(3))
    assert after_in + after_out == pytest.approx(0.02495, abs=1e-5), "the table says 0.0250"
    assert plan_a.delta(1.5 + math.log(3)) == 0, "plan A spends all its delta after an 'in'"


def test_for_an_asymmetric_curve_the_product_is_not_the_best_statement():
    f = tradeoff.TradeOff.from_points([0, 0.1, 0.4, 1], [0.9, 0.5, 0.1, 0])

    def squared(beta):
        p, q = np.full(1000, 0.001), -np.diff(beta)
        p, q = np.r_[0, p], np.r_[1 - beta[0], q]  # the output that P never gives
        return curve_of(np.outer(p, p).ravel(), np.outer(q, q).ravel())

    once = f(ALPHA)
    symmetric = np.maximum(once, f.inverse()(ALPHA))
    product, better = squared(once), squared(symmetric)
    turned = np.maximum(product, (f @ f).inverse()(ALPHA))
    assert (better - product).max() == pytest.approx(0.19, abs=0.002)
    assert (better - turned).max() == pytest.approx(0.10, abs=0.002)
    assert (better - product).min() > -0.002


def test_the_curve_below_both_orders_of_a_sample_costs_seven_percent():
    f = tradeoff.gaussian(0.1)
    safe = clt.functionals(f.subsampled(0.1))
    for order in (f.mixed(0.1), f.mixed(0.1).inverse()):
        kl, kappa2, _, _ = clt.functionals(order)
        assert round(safe[0] / kl - 1, 2) == round(safe[1] / kappa2 - 1, 2) == 0.07
        assert (f.subsampled(0.1)(ALPHA) <= order(ALPHA) + 1e-12).all()


# ---- the limit


@pytest.mark.parametrize(("n", "away"), [(10, 0.215), (100, 0.204), (1000, 0.204)])
def test_answers_that_are_seldom_loud_stay_away_from_the_limit(n, away):
    """The law of the total loss by n convolutions; it lies on multiples of 3."""
    lie = 1 / n / (1 + math.exp(3))
    mass = np.array([1 / n - lie, 1 - 1 / n, lie])  # under P, of the losses -3, 0, 3
    total = mass
    for _ in range(n - 1):
        total = np.convolve(total, mass)
    exact = curve_of(total, total[::-1])  # symmetric: under Q it is mirrored
    mu = 2 * 3 * math.tanh(1.5) / 3
    assert np.abs(exact - tradeoff.gaussian(mu)(ALPHA)).max() == pytest.approx(away, abs=0.001)
    assert n * (mass * np.abs([-3, 0, 3]) ** 3).sum() == pytest.approx(27), "the sum of kappa_3"


def test_one_loud_answer_has_the_same_sums_and_all_are_silent_with_probability_37_percent():
    loud, mu = tradeoff.approx_dp(3.0), clt.limit([tradeoff.approx_dp(3.0)])
    assert mu == pytest.approx(2 * math.tanh(1.5))
    assert np.abs(loud(ALPHA) - tradeoff.gaussian(mu)(ALPHA)).max() == pytest.approx(0.395, abs=0.001)
    assert round((1 - 1 / 1000) ** 1000, 2) == 0.37


# ---- how wrong the limit is


@pytest.mark.parametrize("sigma", [0.5, 0.6, 0.8, 1.0, 2.0, 4.0])
def test_skewness_of_the_density_ratio(sigma):
    u = math.exp(sigma**-2)
    assert (u**3 - 3 * u + 2) / (u - 1) ** 1.5 == pytest.approx(skewness(sigma), rel=1e-9), "1 + X is log-normal"


def test_the_sample_rate_does_not_change_the_shape_of_a_small_loss():
    """The loss of a step, ln(1 + pX) under P, by quadrature: for small p it is as skew as X."""
    z = np.linspace(-12, 12, 200_001)
    weight = stats.norm.pdf(z)
    weight /= weight.sum()
    for sigma in (1.0, 2.0):
        for rate in (1e-3, 1e-4, 1e-5):
            loss = np.log1p(rate * np.expm1(z / sigma - sigma**-2 / 2))
            centred = loss - weight @ loss
            skew = weight @ centred**3 / (weight @ centred**2) ** 1.5
            assert skew == pytest.approx(skewness(sigma), rel=0.05)


def test_steps_and_noise_are_the_levers_of_the_limits_error_and_the_rate_is_not():
    base, fewer, less_noise = off(2, 0.01, 1000)[0], off(2, 0.01, 100)[0], off(1, 0.01, 1000)[0]
    assert fewer < 2.5 * base < 0
    assert less_noise < 2.5 * base < 0
    for rate in (0.03, 0.003, 0.001):
        assert off(2, rate, 1000)[0] == pytest.approx(base, abs=0.005), "within half a point"
    assert 1000 / skewness(1) ** 2 == pytest.approx(26, abs=0.5), "26 times skew(X)^2"
    assert -0.13 < off(1, 0.001, 1000)[0] < off(1, 0.03, 1000)[0] < -0.07, "about a tenth"


def test_the_sign_of_the_limits_error_may_depend_on_delta():
    deltas = pictures.TABLE["delta"]
    _, upper = pictures.certified(0.5, 0.01, 1000)
    mu = clt.noisy_sgd_mu(0.5, 0.01, 1000)
    error = [gdp.epsilon(float(delta), mu) / exact - 1 for delta, exact in zip(deltas, upper, strict=True)]
    assert [error[int(np.argmin(abs(np.log10(deltas) + d)))] > 0 for d in (2, 3, 5, 8)] == [True, True, False, False]


def test_the_limit_is_far_too_high_only_where_epsilon_is_large():
    for rate, steps in [(0.05, 110), (0.03, 350), (0.01, 5000)]:
        error, exact = off(0.5, rate, steps)
        assert error > 0.2, "about where +20 % begins"
        assert 18.5 < exact < 29.5, "19 to 29"
        assert off(0.5, rate, round(0.9 * steps))[0] < 0.2
    error, exact = off(0.6, 0.05, 820)
    assert error > 0.2
    assert exact > 30, "with sigma = 0.6 it begins above 30"
    assert off(0.6, 0.05, 800)[0] < 0.2
    settings = pictures.settings()
    at = int(np.argmin(abs(np.log10(pictures.TABLE["delta"]) + 5)))
    high = []
    for sigma in settings["noise_multiplier"]:
        for rate in settings["sample_rate"]:
            for steps in settings["steps"]:
                exact = pictures.certified(sigma, rate, steps)[1][at]
                if gdp.epsilon(1e-5, clt.noisy_sgd_mu(sigma, rate, steps)) > 1.2 * exact:
                    high.append(exact)
    assert len(high) >= 5
    assert min(high) > 30


def test_the_error_is_nearly_in_proportion_to_the_skewness_over_the_root_of_the_steps():
    factors = [
        -off(sigma, 0.01, T)[0] * math.sqrt(T) / skewness(sigma) for sigma, T in [(2, 100), (2, 10_000), (1, 1000)]
    ]
    assert max(factors) < 1.2 * min(factors)
    assert 0.5 < min(factors) < max(factors) < 0.667, "half to two thirds of skew(X) / sqrt(T)"


def test_the_rule_carries_down_to_sigma_1_and_then_the_sign_turns():
    exercise = course.lesson(4).exercise("breaking_steps")
    errors = [off(sigma, 0.01, round(exercise.reference(sigma, 0.1)))[0] for sigma in (2, 1.5, 1, 0.8, 0.7, 0.6)]
    assert all(abs(error + 0.1) < 0.012 for error in errors[:3])
    assert errors[3] < errors[4] < 0 < errors[5]


def test_what_4_9_says_of_a_wrong_prediction_never_names_the_rate_as_a_lever():
    exercise = course.lesson(4).exercise("breaking_steps")
    said = [*exercise.hints, *(slip.message for slip in exercise.misconceptions)]
    assert not any("sample_rate" in line for line in said)
    assert sum("skew(X)" in line for line in said) >= 3
    assert f"{skewness(1):.2f} at sigma = 1, {skewness(2):.2f} at 2" in " ".join(said)
    assert f"is {skewness(2) / 10:.3f}." in said[1]
