"""Certified composition: the bounds hold against closed forms, dp-accounting and published values, and are narrow."""

import math
import re

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import integrate, stats
from support import by_profile, examples, reference

from dpcourse import composition, gdp, pld, rdp, tradeoff
from dpcourse.pld import fourier, grid, pairs, search

pytestmark = pytest.mark.in_turn("seconds of convolutions")

GRIDS = by_profile("grids on which a width is tried that cannot be met", 2, None)
noises, rates = st.floats(0.4, 20), st.floats(-5, 0).map(lambda digits: 10.0**digits)
step_counts = st.floats(0, 5).map(lambda digits: round(10.0**digits))
deltas = st.floats(-12, -3).map(lambda digits: 10.0**digits)


class Hidden(pairs.Pair):
    """A Gaussian pair that `Curve` does not recognise, so that it takes the long way."""

    def __init__(self, mu):
        self.normal = pairs.Gaussian(mu)
        self.over, self.nodes = self.normal.over, self.normal.nodes


def theirs(noise, rate, steps, spacing, pessimistic):
    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise, sampling_prob=rate, value_discretization_interval=spacing, pessimistic_estimate=pessimistic
    )
    return one.self_compose(steps)


# ---- published values: tests/reference.json, by dp-accounting 0.6.0 with grid 2e-5

STANDARD = reference["noisy_sgd_standard"]
BU = reference["bu_2020_mnist"]
RATE = 256 / 60_000  # of Bu, Dong, Long & Su (2020)


def published():
    """(noise, rate, steps, delta, epsilon, one unit of its last digit and the grid of theirs)"""
    for delta, epsilon in STANDARD["epsilon_at_delta"].items():
        yield 1.0, 0.01, 1000, float(delta), epsilon, 1.1e-5
    for row in reference["noisy_sgd_more"]:
        finer = 0.62203 if row["exact"] == 0.62205 else row["exact"]  # theirs is by grid 1e-4; 2e-5 gives this
        yield row["noise_multiplier"], row["sample_rate"], row["steps"], row["delta"], finer, 1.1e-5
    for row in BU["rows"]:
        if "exact" in row:
            yield row["noise_multiplier"], RATE, math.ceil(row["epochs"] / RATE), 1e-5, row["exact"], 1.1e-5
    yield 0.6, 0.01, 10_000, 1e-5, 23.017572, 1.1e-5  # dp-accounting 0.6.0, between its two estimates
    for noise in (1.06, 1.3):
        yield noise, RATE, 4688, 1e-5, BU["figure_4"][0][f"exact_sigma_{noise}"], 6e-5


@pytest.mark.parametrize(("noise", "rate", "steps", "delta", "epsilon", "printed"), list(published()))
def test_published_epsilons(noise, rate, steps, delta, epsilon, printed):
    lower, upper = pld.noisy_sgd(noise, rate, steps).epsilon(delta)
    assert lower - printed <= epsilon <= upper + printed
    assert upper - lower <= 1e-3 * upper


def test_each_direction_by_itself():
    """A person removed, and one added; the answer is the worse of the two."""
    for direction, name in enumerate(("remove", "add")):
        one_sided = pld.noisy_sgd(1.0, 0.01, 1000)
        one_sided._directions = one_sided._directions[direction : direction + 1]
        lower, upper = one_sided.epsilon(1e-5)
        assert lower - 1.1e-5 <= STANDARD["at_delta_1e-5"][name] <= upper + 1.1e-5


def test_published_deltas():
    curve = pld.noisy_sgd(1.0, 0.01, 1000)
    for epsilon, delta in STANDARD["delta_at_epsilon"].items():
        lower, upper = curve.delta(float(epsilon))
        assert lower * (1 - 2e-5) <= delta <= upper * (1 + 2e-5)
        assert upper - lower <= 1e-3 * upper
    at_the_clt = curve.delta(STANDARD["at_delta_1e-5"]["clt_poisson"]).lower
    assert at_the_clt == pytest.approx(STANDARD["true_delta_at_the_clt_epsilon"], rel=2e-3)


def test_published_laplace_and_randomized_response():
    many = reference["laplace"]["n_fold_theta_0.1_n_100"]
    lower, upper = pld.laplace(10.0, 100).epsilon(1e-5, width=1e-6)
    assert lower - 1e-6 < many["epsilon_1e-5"] < upper + 1e-6
    for epsilon in (0, 1, 2):
        delta = many[f"delta_{epsilon}"]
        assert pld.laplace(10.0, 100).delta(epsilon, width=1e-6) == pytest.approx((delta, delta), abs=2e-8)
    flips = reference["randomized_response"]["epsilon0_0.1_k_100"]
    assert pld.randomized_response(0.1, 100).epsilon(1e-5) == pytest.approx((flips["epsilon_1e-5"],) * 2, abs=6e-7)
    for epsilon in (1, 2):
        lower, upper = pld.randomized_response(0.1, 100).delta(epsilon)
        assert lower * (1 - 3e-10) <= flips[f"delta_at_{epsilon}"] <= upper * (1 + 3e-10)


def test_the_upper_end_is_near_the_truth():
    """At most 1e-4 above it, at the default width."""
    assert 23.017572 < pld.noisy_sgd(0.6, 0.01, 10_000).epsilon(1e-5).upper < 23.017572 + 1e-4


# ---- compositions that have a closed form


@examples(40)
@example(mu=1.0, n=6331, digits=100.0)
@given(mu=st.floats(-4, 0.5).map(lambda d: 10.0**d), n=st.integers(2, 100_000), digits=st.floats(2, 100))
def test_gaussians_the_long_way_hold_the_closed_form(mu, n, digits):
    delta = 10.0**-digits
    exact = gdp.epsilon(delta, mu * math.sqrt(n))
    assume(exact > 1e-3 * mu * math.sqrt(n))
    lower, upper = pld.Curve([(Hidden(mu), n)]).epsilon(delta)
    assert lower <= exact <= upper <= 1.001 * lower
    lower, upper = pld.Curve([(Hidden(mu), n)]).delta(exact, width=1e-3)
    assert lower <= delta * (1 + 1e-9)
    assert delta * (1 - 1e-9) <= upper <= 1.0011 * lower


@examples(20)
@given(
    epsilon=st.floats(0.01, 2),
    delta=st.one_of(st.just(0.0), st.floats(1e-9, 1e-6)),
    n=st.integers(2, 2000),
    share=st.floats(0, 0.9),
)
def test_randomized_response_holds_the_closed_form(epsilon, delta, n, share):
    """Kairouz, Oh & Viswanath (2015), theorem 3.3, in composition.py; the interval is a point but for rounding."""
    total = share * epsilon * n
    exact = composition.optimal_delta(epsilon, delta, n, total)
    assume(exact > 1e-200)
    lower, upper = pld.approx_dp(epsilon, delta, n).delta(total)
    assert lower * (1 - 1e-9) <= exact <= upper * (1 + 1e-9)
    assert upper - lower <= 1e-6 * upper


def test_a_small_delta_at_infinity_is_not_lost_in_rounding():
    """By mpmath, 50 digits: Kairouz, Oh & Viswanath (2015), theorem 3.3. The bound was once 1e-9 too low here."""
    with mpmath.workdps(50):
        epsilon, delta, n, total = mpmath.mpf(0.01), mpmath.mpf(1e-9), 55, mpmath.mpf(0.275)
        keep = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        spilled = sum(
            mpmath.binomial(n, j)
            * max(0, keep ** (n - j) * (1 - keep) ** j - mpmath.exp(total) * keep**j * (1 - keep) ** (n - j))
            for j in range(n + 1)
        )
        exact = float(1 - (1 - delta) ** n * (1 - spilled))
    lower, upper = pld.approx_dp(0.01, 1e-9, 55).delta(0.275)
    assert lower <= exact <= upper
    assert upper - lower <= 1e-6 * upper


@examples(10)
@given(scale=st.floats(0.3, 30), n=st.integers(2, 500), digits=st.floats(2, 9))
@example(scale=0.5, n=2, digits=4.0)
@example(scale=0.30078125, n=247, digits=9.0)
def test_laplace_agrees_with_dp_accounting(scale, n, digits):
    lower, upper = pld.laplace(scale, n).epsilon(10.0**-digits)
    one = privacy_loss_distribution.from_laplace_mechanism(scale, value_discretization_interval=1 / scale / 100)
    two = privacy_loss_distribution.from_laplace_mechanism(
        scale, value_discretization_interval=1 / scale / 100, pessimistic_estimate=False
    )
    with np.errstate(over="ignore"):  # theirs divides by masses that are nearly 0
        high, low = (peer.self_compose(n).get_epsilon_for_delta(10.0**-digits) for peer in (one, two))
    assert lower <= high * (1 + 1e-9) + 1e-9
    assert upper >= low * (1 - 1e-9) - 1e-9


@examples(20)
@given(mu=st.floats(-2, 1).map(lambda d: 10.0**d), digits=st.floats(0.05, 6))
@example(mu=2.0, digits=4.0)
def test_two_laplace_steps_hold_the_integral_up_to_the_largest_loss(mu, digits):
    """Where only the outcomes of the largest loss are left, of which no grid of a plain width shows much."""

    def single(epsilon):
        return -math.expm1((abs(epsilon) - mu) / 2) * math.exp(min(epsilon, 0)) - math.expm1(min(epsilon, 0))

    epsilon = 2 * mu * (1 - 10.0**-digits)
    start = max(epsilon - mu, -mu)
    between = integrate.quad(
        lambda loss: math.exp((loss - mu) / 2) / 4 * single(epsilon - loss), start, mu, epsabs=0, epsrel=1e-9
    )
    exact = single(epsilon - mu) / 2 + between[0]
    lower, upper = pld.laplace(1 / mu, 2).delta(epsilon)
    assert lower * (1 - 1e-8) <= exact <= upper * (1 + 1e-8)
    assert upper <= 1.0011 * lower or 2 * mu - epsilon < 1e-5  # where rounding of the losses shows
    lower, upper = pld.laplace(1 / mu, 2).epsilon(exact)
    assert lower * (1 - 1e-8) <= epsilon <= upper * (1 + 1e-8)
    assert upper <= 1.0011 * lower


@examples(6)
@given(a=st.floats(0.5, 2), b=st.floats(0.5, 2), n=st.integers(1, 40), total=st.floats(0, 2))
def test_compositions_of_different_mechanisms(a, b, n, total):
    """Laplace and Gaussian noise together, against the tensor product of their trade-off functions."""
    curve = pld.laplace(10 * a, n) @ pld.gaussian(10 * b, n) @ pld.randomized_response(0.1)
    product = tradeoff.laplace(0.1 / a).power(n) @ tradeoff.gaussian(0.1 / b).power(n) @ tradeoff.approx_dp(0.1)
    lower, upper = curve.delta(total)
    assert lower * (1 - 1e-4) - 1e-6 <= product.delta(total) <= upper * (1 + 1e-4) + 1e-6
    assert upper - lower <= 1e-3 * upper


@examples(8)
@given(mu=st.floats(0.2, 8), b=st.floats(0.5, 3), share=st.floats(0, 1))
def test_the_tensor_product_agrees_far_out(mu, b, share):
    """Not only near the middle: at losses where the other distribution has nearly nothing left."""
    curve, product = pld.gaussian(1 / mu) @ pld.laplace(b), tradeoff.gaussian(mu) @ tradeoff.laplace(1 / b)
    epsilon = share * (mu**2 / 2 + 5 * mu)
    lower, upper = curve.delta(epsilon, 0.01)
    assert lower * (1 - 1e-3) - 1e-12 <= product.delta(epsilon) <= upper * (1 + 1e-3) + 1e-12


# ---- noisy SGD


@examples(12)
@given(noise=noises, rate=rates, steps=step_counts, digits=st.floats(3, 9))
def test_noisy_sgd_agrees_with_dp_accounting(noise, rate, steps, digits):
    """Their optimistic and pessimistic estimates, on a coarse grid; both of them hold the truth."""
    delta = 10.0**-digits
    lower, upper = pld.noisy_sgd(noise, rate, steps).epsilon(delta)
    assume(0.05 < upper < 50)
    try:
        safe, optimistic = (
            theirs(noise, rate, steps, upper / 500, way).get_epsilon_for_delta(delta) for way in (True, False)
        )
    except OverflowError:  # theirs, for many steps
        assume(False)
    assert lower <= safe * (1 + 1e-9)
    assert upper >= optimistic * (1 - 1e-9)


@examples(15)
@given(noise=noises, rate=rates, steps=step_counts, delta=deltas)
def test_the_interval_is_narrow_by_default(noise, rate, steps, delta):
    """Except where delta all but suffices, or rate and delta are both tiny: there a width may be refused."""
    assume(rate >= 1e-3 or delta >= 1e-9)
    curve = pld.noisy_sgd(noise, rate, steps)
    assume(not 0.9 * delta < curve.delta(0.0).upper < 1.2 * delta)
    lower, upper = curve.epsilon(delta)
    assert 0 <= lower <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.weekly("a minute of convolutions")
@examples(8)
@given(noise=st.floats(0.5, 3), rate=st.floats(1e-3, 0.1), steps=st.integers(10, 10_000), digits=st.floats(4, 10))
def test_a_narrower_interval_lies_within_a_wider_one(noise, rate, steps, digits):
    curve = pld.noisy_sgd(noise, rate, steps)
    assume(curve.delta(0.0).lower > 2 * 10.0**-digits)
    wide, narrow = curve.epsilon(10.0**-digits), curve.epsilon(10.0**-digits, width=1e-5)
    assert narrow.upper - narrow.lower <= 1e-5 * narrow.upper
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper


@pytest.mark.weekly("seconds of convolutions")
@examples(10, part=10)
@given(noise=st.floats(0.5, 5), rate=st.floats(0.003, 0.5), steps=st.integers(50, 5000), epsilon=st.floats(0, 4))
def test_more_noise_fewer_steps_and_smaller_samples_are_more_private(noise, rate, steps, epsilon):
    curve = pld.noisy_sgd(noise, rate, steps)
    assume(curve.delta(epsilon).lower > 1e-100)
    upper = curve.delta(epsilon).upper
    for better in ((1.1 * noise, rate, steps), (noise, rate / 1.1, steps), (noise, rate, steps - 1)):
        assert pld.noisy_sgd(*better).delta(epsilon, width=0.5).lower <= upper


@examples(8)
@given(
    noise=st.floats(0.5, 5),
    rate=st.floats(0.003, 0.5),
    steps=st.integers(50, 5000),
    epsilons=st.lists(st.floats(0, 4), min_size=1, max_size=12),
)
def test_many_epsilons_at_once_are_bounded_as_each_alone(noise, rate, steps, epsilons):
    curve = pld.noisy_sgd(noise, rate, steps)
    assume(curve.delta(max(epsilons), 0.5).lower > 1e-100)
    lower, upper = curve.delta(epsilons, 0.01)
    assert lower.shape == upper.shape == (len(epsilons),)
    assert (upper - lower <= 0.01 * upper).all()
    for i, epsilon in enumerate(epsilons):
        alone = curve.delta(epsilon)
        assert lower[i] <= alone.upper
        assert alone.lower <= upper[i]


def test_an_end_that_a_grid_cannot_give_is_the_trivial_one(monkeypatch):
    """Nothing is promised where nothing was computed: delta lies between 0 and 1."""

    def none(*_):
        raise grid.Unfit

    curve = pld.noisy_sgd(1.0, 0.01, 100)
    computed = curve._ends(curve._directions[0], np.array([0.0, 1.0]), True, 1e-4, np.zeros(2))
    monkeypatch.setattr(fourier.Composed, "delta", lambda *_: math.inf)
    assert curve._ends(curve._directions[0], np.array([0.0, 1.0]), True, 1e-4, np.zeros(2)).tolist() == [1, 1]
    monkeypatch.setattr(search, "measure", none)
    assert curve._ends(curve._directions[0], np.array([0.0, 1.0]), True, 1e-4, np.zeros(2)).tolist() == [1, 1]
    assert curve._ends(curve._directions[0], np.array([0.0, 1.0]), False, 1e-4, np.zeros(2)).tolist() == [0, 0]
    assert (computed < 1).all()


def test_many_epsilons_of_one_step_and_beyond_the_largest_loss():
    lower, upper = pld.gaussian(1.0).delta([0, 1])
    for ends in (lower, upper):
        assert ends == pytest.approx([gdp.delta(0, 1.0), gdp.delta(1, 1.0)], rel=1e-12)
    lower, upper = pld.laplace(2.0, 4).delta([3.0, 1.0, 2.0])
    assert lower[[0, 2]].tolist() == upper[[0, 2]].tolist() == [0, 0]
    assert 0 < lower[1] <= upper[1] <= 1.001 * lower[1]


# ---- the trade-off curve


def test_published_tradeoff():
    curve = pld.noisy_sgd(1.0, 0.01, 1000).tradeoff()
    for alpha, beta in STANDARD["tradeoff_beta_at_alpha"].items():
        assert curve(float(alpha)) == pytest.approx(beta, abs=2e-5)


def test_the_tradeoff_at_small_alpha_takes_both_directions():
    """Noise 0.5, rate 0.002, 10,000 steps: the supremum of lines through dp-accounting's delta, both directions."""
    curve = pld.noisy_sgd(0.5, 0.002, 10_000).tradeoff()
    epsilon = np.linspace(0, 12, 600)
    bounds = []
    for pessimistic in (True, False):
        delta = np.array(theirs(0.5, 0.002, 10_000, 2e-3, pessimistic).get_delta_for_epsilon(epsilon))
        bounds.append([np.max(1 - delta - np.exp(epsilon) * alpha) for alpha in (1e-4, 1e-3)])
    for alpha, safe, optimistic in zip((1e-4, 1e-3), *bounds, strict=True):
        assert safe - 1e-5 <= curve(alpha) <= optimistic + 1e-5
        assert curve.inverse()(alpha) == pytest.approx(curve(alpha), abs=1e-9)


@examples(6)
@given(mu=st.floats(0.01, 0.2), n=st.integers(10, 400))
def test_the_tradeoff_is_safe_and_near(mu, n):
    alpha = np.r_[1e-8, 1e-4, np.linspace(0.01, 1, 50)]
    curve, exact = pld.Curve([(Hidden(mu), n)]).tradeoff()(alpha), tradeoff.gaussian(mu * math.sqrt(n))(alpha)
    assert (curve <= exact + 1e-12).all()
    assert curve == pytest.approx(exact, abs=2e-4)


# ---- ends, bad input


def test_ends():
    curve = pld.noisy_sgd(1.0, 0.01, 100)
    assert curve.epsilon(0) == (math.inf, math.inf)
    assert curve.epsilon(1) == curve.epsilon(0.5) == (0, 0)
    assert pld.laplace(2.0, 4).epsilon(0) == (2, 2)
    assert pld.laplace(2.0, 4).delta(2.0) == (0, 0)
    assert pld.approx_dp(0.1, 1e-3, 10).epsilon(1e-3) == (math.inf, math.inf)
    assert pld.Bounds(math.inf, math.inf).width == 0
    assert pld.gaussian(1.0).power(4).epsilon(1e-5).upper == pytest.approx(gdp.epsilon(1e-5, 2.0), rel=1e-9)
    with pytest.raises(TypeError):
        curve @ 2


def test_a_width_that_cannot_be_met_is_refused(monkeypatch):
    monkeypatch.setattr(search, "ATTEMPTS", search.ATTEMPTS[:GRIDS])
    curve = pld.noisy_sgd(1.0, 0.01, 100)
    with pytest.raises(
        pld.Unreachable, match=r"^width 1e-13 of epsilon cannot be met with \d+ grid points: it lies in "
    ) as refused:
        curve.epsilon(1e-5, width=1e-13)
    reached, wide = refused.value.bounds, curve.epsilon(1e-5)
    assert wide.lower <= reached.lower <= reached.upper <= wide.upper


def test_a_delta_that_has_no_digits_is_an_interval_and_an_error_only_of_a_width_that_was_asked_for(monkeypatch):
    """For halving a noise multiplier by it: as small as that, nobody asks for digits, and one grid is enough."""
    monkeypatch.setattr(search, "ATTEMPTS", search.ATTEMPTS[:GRIDS])
    narrow, tried = search.DeltaSide.narrow, []
    monkeypatch.setattr(search.DeltaSide, "narrow", lambda *given: tried.append(given) or narrow(*given))
    curve = pld.noisy_sgd(8.0, 0.01, 1000)
    lower, upper = curve.delta(3.0)
    assert 0 <= lower <= upper < 1e-100
    once = len(tried)
    for epsilon in ([3.0], 3.0):
        tried.clear()
        with pytest.raises(pld.Unreachable, match=r"^width 0.001 of delta cannot be met .*: it lies in \["):
            curve.delta(epsilon, width=1e-3)
    assert len(tried) > once
    assert np.array_equal(curve.delta([3.0]).upper < 1e-100, [True])


@pytest.mark.parametrize(("mu", "rate"), [(30.0, 0.01), (100.0, 1e-5), (1e-8, 1e-4)])
def test_losses_that_doubles_cannot_hold_have_no_upper_bound(mu, rate):
    """e^loss overflows, or the loss drowns beside 1: no crash, and no guess."""
    curve = pld.Curve([(pairs.Gaussian(mu), 1), (pairs.Sampled(mu, rate), 100)])
    assert curve.epsilon(1e-20, width=1).upper == math.inf


@pytest.mark.parametrize("noise", [1e-2, 1e-5, 1e-7, 1e-9])
def test_of_hardly_any_noise_the_bound_is_no_guess(noise):
    """One step is told exactly, however large e^epsilon is; of several, where the losses are beyond a double, nothing is."""
    lower, upper = pld.noisy_sgd(noise, 0.1, 1).epsilon(1e-5)
    alone = pld.noisy_sgd(noise, 1.0, 1).epsilon(1e-4)  # drawn one time in ten, she has delta / 10
    assert lower == pytest.approx(alone.lower + math.log(0.1), rel=1e-9)
    assert upper == pytest.approx(lower, rel=1e-9)
    assert pld.noisy_sgd(noise, 0.1, 5).epsilon(1e-5, width=1).upper == math.inf


def test_a_loss_that_hardly_varies_in_one_direction_is_no_obstacle():
    """With hardly any noise the loss without Mia is ln(1 - p) a step, but for once in a universe."""
    lower, upper = pld.noisy_sgd(0.01, 0.1, 60).epsilon(1e-5, width=1)
    assert lower < rdp.epsilon(0.01, 0.1, 60, 1e-5)
    assert upper > 6 / (2 * 0.01**2), "she is drawn six times or so"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pld.noisy_sgd(0, 0.1, 1), "noise_multiplier must be a number in (0, inf), got 0"),
        (lambda: pld.noisy_sgd(1, 0, 1), "sample_rate must be a number in (0, 1], got 0"),
        (lambda: pld.noisy_sgd(1, 0.1, 0.5), "steps must be a whole number >= 1, got 0.5"),
        (lambda: pld.gaussian(-1), "sigma must be a number in (0, inf), got -1"),
        (lambda: pld.laplace(1, 0), "n must be a whole number >= 1, got 0"),
        (lambda: pld.approx_dp(0.1, 2), "delta must be a number in [0, 1], got 2"),
        (lambda: pld.randomized_response(0), "epsilon must be a number in (0, inf), got 0"),
        (lambda: pld.gaussian(1).delta(-1), "epsilon must be a number in [0, inf), got -1"),
        (lambda: pld.gaussian(1).delta([0.5, -1]), "every entry of epsilon must be a number in [0, inf), got -1.0"),
        (lambda: pld.gaussian(1).epsilon(math.nan), "delta must be a number in [0, 1], got nan"),
        (lambda: pld.gaussian(1).epsilon(0.1, width=0), "width must be a number in (0, inf), got 0"),
        (lambda: pld.gaussian(1).power(1.5), "n must be a whole number >= 1, got 1.5"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()


# ---- groups


@examples(12)
@given(noise=st.floats(0.4, 5), rate=st.floats(1e-3, 0.9), size=st.integers(1, 12), epsilon=st.floats(0, 8))
def test_one_step_of_a_group_holds_the_integral(noise, rate, size, epsilon):
    """delta by quadrature over the outputs, in both directions: what one density has above e^epsilon times the other."""
    share = stats.binom.pmf(range(size + 1), size, rate)

    x = np.linspace(-12, 12 + size / noise, 40_001)
    there, here = share @ stats.norm.pdf(x - np.arange(size + 1)[:, None] / noise), stats.norm.pdf(x)
    orders = ((there, here), (here, there))
    exact = max(integrate.simpson(np.maximum(0, p - math.exp(epsilon) * q), x=x) for p, q in orders)
    lower, upper = pld.noisy_sgd(noise, rate, 1, group=size).delta(epsilon)
    assert lower - 1e-7 <= exact <= upper + 1e-7


def test_delta_is_at_most_1_whatever_the_grids_say():
    for noise, rate, steps, epsilon in ((0.02, 0.5, 2, 1.0), (0.5, 0.5, 1000, 0.0)):
        assert pld.noisy_sgd(noise, rate, steps).delta(epsilon).upper <= 1


@pytest.mark.weekly("seconds of convolutions by another accountant")
@examples(12)
@given(noise=st.floats(0.8, 5), rate=st.floats(1e-3, 0.3), size=st.integers(1, 6), steps=st.integers(2, 200))
def test_a_group_agrees_with_dp_accounting(noise, rate, size, steps):
    share = list(stats.binom.pmf(range(size + 1), size, rate))
    lower, upper = pld.noisy_sgd(noise, rate, steps, group=size).epsilon(1e-5)
    high, low = (
        privacy_loss_distribution.from_mixture_gaussian_mechanism(
            noise, list(range(size + 1)), share, value_discretization_interval=1e-2, pessimistic_estimate=way
        )
        .self_compose(steps)
        .get_epsilon_for_delta(1e-5)
        for way in (True, False)
    )
    assert lower <= high * (1 + 1e-9) + 1e-9
    assert upper >= low * (1 - 1e-9) - 1e-9


@examples(12)
@given(noise=st.floats(0.4, 20), rate=st.floats(1e-4, 0.95), steps=st.integers(1, 5000))
def test_a_group_of_one_is_one_and_a_larger_one_knows_more(noise, rate, steps):
    one, alone = pld.noisy_sgd(noise, rate, steps), pld.Curve([(pairs.Group(1 / noise, rate, 1), steps)])
    assert alone.epsilon(1e-5).lower <= one.epsilon(1e-5).upper
    assert one.epsilon(1e-5).lower <= alone.epsilon(1e-5).upper
    two = pld.noisy_sgd(noise, rate, steps, group=2).epsilon(1e-5)
    assert two.upper >= one.epsilon(1e-5).lower
    assert two.lower <= pld.gaussian(noise / 2, steps).epsilon(1e-5).upper  # without coins


def test_a_group_all_of_whom_are_always_drawn_is_a_gaussian():
    assert pld.noisy_sgd(2.0, 1.0, 9, group=3).epsilon(1e-6) == pld.gaussian(2.0 / 3, 9).epsilon(1e-6)
