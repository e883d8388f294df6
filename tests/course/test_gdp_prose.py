"""What lessons 02 and 03 state in words and formulas, each law compared with a computation of its own."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq, linprog

from dpcourse import gdp, laplace, tradeoff

ALPHA = np.unique(np.r_[np.geomspace(1e-12, 0.5, 2000), np.linspace(0, 1, 4001)[1:-1]])


def gaussian(alpha, mu):
    return stats.norm.cdf(stats.norm.ppf(1 - alpha) - mu)


def pure(alpha, epsilon, delta=0.0):
    return np.maximum(0, np.maximum(1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha)))


def of_laplace(alpha, epsilon):
    """The curve of Laplace noise by its thresholds: scale 1, centres 0 and epsilon."""
    return stats.laplace.cdf(stats.laplace.ppf(1 - alpha) - epsilon)


def spill(epsilon, mu):
    """The delta of N(0, 1) and N(mu, 1) by integration."""

    def above(x):
        return max(0.0, stats.norm.pdf(x - mu) - math.exp(epsilon) * stats.norm.pdf(x))

    start = epsilon / mu + mu / 2
    return quad(above, start, start + 12, epsabs=0, epsrel=1e-8, limit=200)[0]


# ---- lesson 02


def test_a_mean_of_rows_that_may_be_replaced_has_the_sensitivity_that_is_said():
    low, high, rows = -1.0, 3.0, 3
    entries = np.linspace(low, high, 5)
    largest = 0.0
    for table in itertools.product(entries, repeat=rows):
        for row, entry in itertools.product(range(rows), entries):
            other = [*table[:row], entry, *table[row + 1 :]]
            largest = max(largest, abs(np.mean(other) - np.mean(table)))
    assert largest == pytest.approx((high - low) / rows)


def test_tables_as_counts_are_one_apart_or_two_where_a_row_is_replaced():
    rows = ["a", "a", "b"]
    counts = {name: np.array([table.count(kind) for kind in "abc"]) for name, table in
              {"here": rows, "more": [*rows, "c"], "replaced": ["a", "c", "b"]}.items()}  # fmt: skip
    assert np.abs(counts["more"] - counts["here"]).sum() == 1
    assert np.abs(counts["replaced"] - counts["here"]).sum() == 2


@pytest.mark.parametrize("b", [0.4, 3.0])
def test_half_of_all_noises_lie_within_b_ln_2(b):
    reach = b * math.log(2)
    assert stats.laplace.cdf(reach, scale=b) - stats.laplace.cdf(-reach, scale=b) == pytest.approx(0.5)


@pytest.mark.parametrize("k", [1, 2])
def test_the_joint_density_needs_one_factor_for_each_number(k):
    b, step = 1.5, 0.5
    axis = np.arange(-20, 20, step) + step / 2
    points = itertools.product(axis, repeat=k)
    total = sum(math.exp(laplace.log_density(np.array(z), np.zeros(k), b)) for z in points) * step**k
    assert total == pytest.approx(1, rel=0.01)
    once = math.exp(laplace.log_density(np.zeros(k), np.zeros(k), b)) * (2 * b) ** (k - 1)
    assert once == pytest.approx(1 / (2 * b)), "a single factor is too much by (2b)^(k-1)"


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 2.0])
def test_cutting_an_empty_cell_off_at_0_halves_the_error_and_moves_it_up(epsilon):
    b = 1 / epsilon
    cut = quad(lambda x: x * stats.laplace.pdf(x, scale=b), 0, np.inf)[0]
    size = 2 * quad(lambda x: x * stats.laplace.pdf(x, scale=b), 0, np.inf)[0]
    assert size == pytest.approx(b)
    assert cut == pytest.approx(b / 2), "both its mean size and its mean"


@pytest.mark.parametrize("threshold", [-4.0, -1.0, -0.3, 0.0, 1.0, 7.0])
def test_a_threshold_higher_by_1_costs_at_most_the_factor(threshold):
    epsilon = 0.5
    law = stats.laplace(scale=1 / epsilon)
    kept = law.sf(threshold + 1) / law.sf(threshold)
    assert kept >= math.exp(-epsilon) * (1 - 1e-12)
    assert (abs(kept - math.exp(-epsilon)) < 1e-12) == (threshold >= 0), "exactly so from 0 on, less is lost below"


def test_the_largest_of_counts_that_fall_by_0_to_1_falls_by_0_to_1():
    rng = np.random.default_rng(0)
    counts = rng.normal(0, 2, size=(10_000, 5))
    fallen = counts - rng.random((10_000, 5))
    lost = counts.max(axis=1) - fallen.max(axis=1)
    assert lost.min() >= 0
    assert lost.max() <= 1


@pytest.mark.parametrize(
    ("epsilon", "delta", "times"), [(10.0, 1e-6, 1.9), (8.0, 0.01, 1.78)], ids=["10, 1e-6", "8, 0.01"]
)
def test_the_classic_formula_breaks_its_promise_for_large_epsilon(epsilon, delta, times):
    classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert classic == pytest.approx(gdp.classic_sigma(epsilon, delta))
    assert spill(epsilon, 1 / classic) / delta == pytest.approx(times, abs=0.01)


def delta_of_laplace(b, m, epsilon, parts=1000):
    """The delta of m counts with Lap(b) noise each, from the losses rounded to a grid, means kept, and an FFT."""
    step = 1 / (b * parts)
    loss = (np.arange(2 * parts + 1) - parts) * step  # under "with": 1/b with chance 1/2, and so on
    inner = np.linspace(-1 / b, 1 / b, 20 * parts + 1)
    middle, mass = (inner[1:] + inner[:-1]) / 2, np.diff(np.exp(inner / 2)) * math.exp(-1 / (2 * b)) / 2
    law = np.zeros(loss.size)
    at = (middle + 1 / b) / step
    left = np.floor(at).astype(int)
    np.add.at(law, left, mass * (left + 1 - at))
    np.add.at(law, left + 1, mass * (at - left))
    law[-1] += 0.5
    law[0] += math.exp(-1 / b) / 2
    assert law.sum() == pytest.approx(1)
    size = 2 ** math.ceil(math.log2(2 * parts * m + 1))
    composed = np.fft.irfft(np.fft.rfft(law, size) ** m, size)[: 2 * parts * m + 1]
    total = (np.arange(composed.size) - parts * m) * step
    above = total > epsilon
    return (composed[above] * -np.expm1(epsilon - total[above])).sum()


@pytest.mark.parametrize(("m", "deviation"), [(100, 113), (1000, 360)])
def test_laplace_noise_that_may_spend_delta_is_as_small_as_the_lesson_prints(m, deviation):
    assert delta_of_laplace(deviation / math.sqrt(2), m, 0.5) < 1e-6, "rounded up it keeps the promise"
    assert delta_of_laplace((deviation - 1) / math.sqrt(2), m, 0.5) > 1e-6, "and no whole number less does"


def test_laplace_noise_by_gaussian_noise_at_equal_delta_is_near_the_root_of_2():
    sigma = brentq(lambda s: spill(0.5, math.sqrt(1000) / s) - 1e-6, 200, 300)
    assert math.ceil(sigma) == 255
    assert 359.7 / sigma == pytest.approx(math.sqrt(2), abs=0.005)
    assert math.ceil(brentq(lambda s: spill(0.5, 10 / s) - 1e-6, 50, 100)) == 81
    assert 3 < math.sqrt(10) < 3.2, "ten times as many counts, about three times the noise"


@pytest.mark.parametrize("u", [1e-9, 0.2, 0.5, 0.9, 1 - 1e-9])
def test_the_textbook_sampler_inverts_the_distribution_function(u):
    b = 2.5
    said = b * math.log(2 * u) if u < 0.5 else -b * math.log(2 - 2 * u)
    assert said == pytest.approx(stats.laplace.ppf(u, scale=b))


# ---- lesson 03, sections 2 to 6


def test_a_threshold_with_a_coin_reaches_the_minimum_at_every_alpha():
    rng = np.random.default_rng(1)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        p[0], q[1] = 0, 0
        p, q = p / p.sum(), q / q.sum()
        with np.errstate(divide="ignore"):
            ratio = np.where(p > 0, q / np.where(p > 0, p, 1), np.inf)
        for alpha in rng.random(4):
            t = min(r for r in [0.0, *ratio] if p[ratio > r].sum() <= alpha)
            phi, tie = (ratio > t).astype(float), ratio == t
            phi[tie] = (alpha - p @ phi) / p[tie].sum()
            assert p @ phi == pytest.approx(alpha), "its false alarm is alpha exactly"
            best = linprog(-q, A_ub=[p], b_ub=[alpha], bounds=[(0, 1)] * 5)
            assert 1 - q @ phi == pytest.approx(1 + best.fun, abs=1e-9), "and no test misses less"


def test_near_0_a_curve_is_continuous_even_if_the_ratio_is_unbounded():
    """Q with density 1/(2 sqrt x) against the uniform P: the parts below and above a ratio t, as in law 2."""
    for alpha, t in itertools.product([1e-2, 1e-4, 1e-8], [1.0, 10.0, 1e3]):
        cut = min(1, 1 / (4 * t**2))  # the ratio is above t left of here
        power = math.sqrt(alpha)
        assert power <= t * alpha + math.sqrt(cut)


def test_the_small_example_of_an_inverse():
    grid = np.linspace(0, 1, 100_001)
    f = np.maximum(0, 0.6 - 3 * grid)
    curve = tradeoff.TradeOff.from_points([0, 0.2, 1], [0.6, 0, 0])
    for alpha in (0.0, 0.1, 0.15, 0.3, 0.6, 0.9):
        inverse = grid[f <= alpha + 1e-12].min()
        assert curve.inverse()(alpha) == pytest.approx(inverse, abs=1e-4)
        assert curve.inverse()(alpha) == pytest.approx(max(0, 0.2 - alpha / 3))
        assert curve.symmetrized()(alpha) == pytest.approx(max(0, 0.6 - 3 * alpha, 0.2 - alpha / 3))
    assert pytest.approx(0.15) == 0.6 - 3 * 0.15


def test_the_inverse_of_a_maximum_is_the_maximum_of_the_inverses():
    grid = np.linspace(0, 1, 2001)
    f, g = (1 - grid) ** 3 * 0.9, np.maximum(0, 0.7 - 1.1 * grid)
    for alpha in np.linspace(0, 1, 50):
        of_f, of_g, of_both = (grid[curve <= alpha].min() for curve in (f, g, np.maximum(f, g)))
        assert of_both == max(of_f, of_g)


def test_a_curve_known_in_one_order_says_nothing_of_its_inverse():
    """Mia's row is used with chance 0.3: thresholds are the best tests, so these points are the curve."""
    t = np.linspace(-8, 9, 20_001)
    alpha, beta = stats.norm.sf(t), 0.7 * stats.norm.cdf(t) + 0.3 * stats.norm.cdf(t - 1)
    gap = np.interp(ALPHA, alpha[::-1], beta[::-1]) - np.interp(ALPHA, beta, alpha)
    assert (round(-gap.min(), 3), round(gap.max(), 3)) == (0.052, 0.040)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.3, 0.2), (1.0, 0.1), (3.0, 0.0), (0.5, 1.0)])
def test_the_curve_of_approximate_dp_keeps_the_four_laws(epsilon, delta):
    alpha = np.linspace(0, 1, 1001)
    f = pure(alpha, epsilon, delta)
    assert (np.diff(f) <= 0).all()
    assert (np.diff(f, 2) >= -1e-12).all()
    assert np.abs(np.diff(f)).max() <= math.exp(epsilon) / 1000 + 1e-12, "no jumps"
    assert (f <= 1 - alpha + 1e-12).all()


# ---- lesson 03, section 8


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_delta_is_1_plus_the_conjugate(epsilon):
    alpha = stats.norm.cdf(np.linspace(-8, 8, 100_001))
    conjugate = (-math.exp(epsilon) * alpha - gaussian(alpha, 1.0)).max()
    assert 1 + conjugate == pytest.approx(spill(epsilon, 1.0), rel=1e-5)
    conjugate = (-math.exp(epsilon) * alpha - of_laplace(alpha, 1.0)).max()
    at = max(0.0, (1 + epsilon) / 2)  # where the density around 1 is e^epsilon times the one around 0
    exact = max(0.0, stats.laplace.sf(at - 1) - math.exp(epsilon) * stats.laplace.sf(at))
    assert 1 + conjugate == pytest.approx(exact if epsilon < 1 else 0.0, abs=1e-6)


def test_the_mechanism_of_one_pair_is_mu_gdp_for_no_mu():
    start = 1 - spill(1.0, 1.0)
    assert round(start, 4) == 0.8731
    for mu in (0.1, 1.0, 5.0, 30.0):
        alpha = stats.norm.sf(mu + 3)  # far enough left: here G_mu is above 0.998
        assert gaussian(alpha, mu) > start >= pure(alpha, 1.0, 1 - start)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 1.0, 4.0])
def test_pure_dp_is_gdp_from_the_mu_that_is_said(epsilon):
    mu = 2 * stats.norm.ppf(math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert (gaussian(ALPHA, mu) <= pure(ALPHA, epsilon) + 1e-12).all()
    corner = 1 / (1 + math.exp(epsilon))
    assert gaussian(corner, 0.999 * mu) > corner, "and no smaller one does"
    if epsilon <= 0.1:
        assert mu / epsilon == pytest.approx(1.25, abs=0.005)


def test_k_answers_that_are_pure_are_root_k_mu_gdp():
    """The exact curve of 100 randomized responses, by counting flips, against the Gaussian one."""
    for epsilon, k in ((0.1, 100), (0.5, 7)):
        mu = 2 * stats.norm.ppf(1 / (1 + math.exp(-epsilon)))
        keep = 1 / (1 + math.exp(-epsilon))
        ones = np.arange(k, -1, -1)  # with Mia a report is 1 with chance `keep`
        alpha = np.cumsum(stats.binom.pmf(ones, k, 1 - keep))[:-1]
        beta = 1 - np.cumsum(stats.binom.pmf(ones, k, keep))[:-1]
        inner = (alpha > 1e-15) & (alpha < 1 - 1e-12)
        assert (beta[inner] >= gaussian(alpha[inner], math.sqrt(k) * mu) - 1e-12).all()


# ---- lesson 03, sections 9 and 10


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_the_map_of_pure_dp_and_that_of_laplace_noise_differ_in_one_step_as_is_said(epsilon):
    corner, first = 1 / (1 + math.exp(epsilon)), math.exp(-epsilon) / 2
    difference = of_laplace(ALPHA, epsilon) - pure(ALPHA, epsilon)  # the maps are 1 minus these
    left, right = (first <= ALPHA) & (corner >= ALPHA), (corner <= ALPHA) & (ALPHA <= 0.5)
    shrunk = math.exp(-epsilon) / (4 * ALPHA)
    assert difference[left] == pytest.approx((shrunk * (2 * math.exp(epsilon) * ALPHA - 1) ** 2)[left], abs=1e-12)
    assert difference[right] == pytest.approx((shrunk * (1 - 2 * ALPHA) ** 2)[right], abs=1e-12)
    assert difference[~left & ~right] == pytest.approx(0, abs=1e-12)
    peak = (1 + math.exp(-epsilon)) * math.tanh(epsilon / 2) ** 2 / 4
    assert difference.max() <= peak + 1e-12
    assert of_laplace(corner, epsilon) - corner == pytest.approx(peak)
    assert peak <= epsilon**2 / 8


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_a_group_of_pure_dp_is_as_near_to_laplace_noise_as_is_said(k):
    for whole in (0.5, 2.0, 4.0):
        x = ALPHA
        for _ in range(k):
            x = 1 - pure(x, whole / k)
        assert np.abs(1 - x - of_laplace(ALPHA, whole)).max() <= whole**2 / (8 * k**2)


def group(epsilon, delta, k):
    x = np.r_[0, ALPHA, 1]
    for _ in range(k):
        x = 1 - pure(x, epsilon, delta)
    return 1 - x


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(0.3, 0.02, 3), (1.0, 0.01, 2), (0.5, 1e-5, 4), (0.1, 0.1, 5)])
def test_the_pair_for_groups_holds_and_is_tight_where_the_steps_stay_left_of_the_corner(epsilon, delta, k):
    of_pair = delta * sum(math.exp(i * epsilon) for i in range(k))
    assert of_pair == pytest.approx(delta * math.expm1(k * epsilon) / math.expm1(epsilon))
    curve, alpha = group(epsilon, delta, k), np.r_[0, ALPHA, 1]
    assert (curve >= pure(alpha, k * epsilon, of_pair) - 1e-12).all()
    least = (1 - curve - math.exp(k * epsilon) * alpha).max()
    last = delta * sum(math.exp(i * epsilon) for i in range(k - 1))  # after k - 1 steps from 0
    small = last <= (1 - delta) / (1 + math.exp(epsilon))
    assert (least == pytest.approx(of_pair, abs=1e-10)) == small
    if (epsilon, delta, k) == (0.3, 0.02, 3):
        assert round((curve - pure(alpha, k * epsilon, of_pair)).max(), 3) == 0.069
        assert round(of_pair, 5) == 0.08344


def test_two_mechanisms_of_the_same_epsilon_do_not_protect_alike():
    assert round((of_laplace(ALPHA, 1.0) - pure(ALPHA, 1.0)).max(), 3) == 0.073
    for f, corner, printed in (
        (pure, 1 / (1 + math.e), 1.233),
        (of_laplace, math.exp(-0.5) / 2, 1.031),
    ):
        assert f(corner, 1.0) == pytest.approx(corner), "where the curve meets its mirror line"
        least = 2 * stats.norm.ppf(1 - corner)
        assert printed - 0.001 < least <= printed
        assert (f(ALPHA, 1.0) >= gaussian(ALPHA, least) - 1e-12).all()


def test_the_test_in_numbers_is_the_best_one():
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    reject = np.array([0, 0.5, 1])
    assert p @ reject == pytest.approx(0.25)
    assert 1 - q @ reject == pytest.approx(0.35) == tradeoff.TradeOff.from_probabilities(p, q)(0.25)
