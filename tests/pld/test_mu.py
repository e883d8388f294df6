"""A mu that is certified down to a delta, and the distance of G_mu: against closed forms, dp-accounting and simulation."""

import math
import re

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from support import examples

from dpcourse import composition, gdp, pld, tradeoff
from dpcourse.pld import mu as the_module
from dpcourse.pld import pairs
from dpcourse.tradeoff import log_gaussian_delta

pytestmark = pytest.mark.in_turn("seconds of convolutions")

noises, rates = st.floats(0.6, 4), st.floats(-3, -0.05).map(lambda digits: 10.0**digits)
deltas = st.floats(-9, -2).map(lambda digits: 10.0**digits)


class Hidden(pairs.Pair):
    """A Gaussian pair that `Curve` does not recognise, so that it takes the long way."""

    def __init__(self, mu):
        self.normal = pairs.Gaussian(mu)
        self.over, self.nodes = self.normal.over, self.normal.nodes


def one_step(noise, rate, epsilon):
    """delta of one step of noisy SGD, the worse direction, by Gaussians' deltas: Balle, Barthe & Gaboardi (2018).

    The other direction has delta(epsilon) = 1 - e^epsilon + e^epsilon delta(-epsilon), of the first.
    """
    up = np.log1p(np.expm1(epsilon) / rate)
    removed = rate * gdp.delta(up, 1 / noise)
    ratio = np.maximum(1 + np.expm1(-epsilon) / rate, 1e-15)
    below = ratio * gdp.delta(-np.log(ratio), 1 / noise)  # E (ratio - Lambda)_+ of the Gaussian
    return np.maximum(removed, np.exp(epsilon) * rate * below)


def reaches(mu, epsilon, profile, delta):
    """Whether the delta of G_mu is at least the profile's, at each epsilon where that is above delta."""
    seen = profile > delta
    return bool((gdp.delta(epsilon, mu)[seen] >= profile[seen]).all())


# ---- mu


@examples(10, part=5)
@given(mu=st.floats(-2.5, 0.5).map(lambda d: 10.0**d), n=st.integers(2, 1000), delta=deltas)
def test_gaussians_have_their_mu_at_every_delta(mu, n, delta):
    exact = mu * math.sqrt(n)
    if gdp.delta(0.0, exact) < 2 * delta or exact > 6:
        return
    lower, upper = pld.Curve([(Hidden(mu), n)]).mu(delta)
    assert lower <= exact <= upper <= 1.001 * lower
    lower, upper = pld.gaussian(1 / mu, n).mu(delta)
    assert lower <= exact <= upper <= (1 + 1e-14) * lower


def test_every_step_taken_is_a_gaussian():
    lower, upper = pld.noisy_sgd(2.0, 1.0, 9).mu(1e-6)
    assert lower <= 1.5 <= upper < 1.5 + 1e-12
    assert pld.noisy_sgd(2.0, 1.0, 9).distance(upper).upper < 1e-4


def test_a_pure_answer_has_the_mu_of_its_corner():
    """2 Phi^-1(e^epsilon / (1 + e^epsilon)): Liu, Sun, Jiang & Kong (2022)."""
    for epsilon in (0.1, 1.0, 3.0):
        lower, upper = pld.randomized_response(epsilon).mu(1e-5)
        assert lower <= 2 * stats.norm.ppf(1 / (1 + math.exp(-epsilon))) <= upper <= 1.001 * lower


@examples(20, part=5)
@given(noise=noises, rate=rates, delta=deltas)
@example(noise=0.75, rate=0.001, delta=1e-7)
def test_one_step_agrees_with_a_fine_grid(noise, rate, delta):
    """And with a point just before delta is reached, where mu is often largest, and which a grid misses."""
    reached = pld.noisy_sgd(noise, rate, 1).epsilon(delta)
    epsilon = np.r_[np.linspace(0, max(reached.upper, 1e-3), 400), 0.9999 * reached.lower]
    profile = one_step(noise, rate, epsilon)
    lower, upper = pld.noisy_sgd(noise, rate, 1).mu(delta)
    assert reaches(upper, epsilon, profile, delta)
    if profile[0] > 1.01 * delta:  # the grid may miss the place by a little
        assert not reaches(0.998 * lower, epsilon, profile, delta)
    else:
        assert lower == 0 or profile[0] > 0.99 * delta


@pytest.mark.weekly("seconds of convolutions by another accountant")
@examples(10, part=5)
@given(noise=st.floats(0.8, 3), rate=st.floats(0.01, 0.5), steps=st.integers(5, 300), digits=st.floats(2, 6))
def test_it_agrees_with_dp_accounting(noise, rate, steps, digits):
    """Staircases through their pessimistic and their optimistic delta, which hold the truth between them."""
    delta = 10.0**-digits
    run = pld.noisy_sgd(noise, rate, steps)
    lower, upper = run.mu(delta)
    epsilon = np.linspace(0, 1.2 * run.epsilon(delta).upper + 0.01, 100)
    above, below = (
        np.array(
            privacy_loss_distribution.from_gaussian_mechanism(
                noise, sampling_prob=rate, value_discretization_interval=1e-3, pessimistic_estimate=way
            )
            .self_compose(steps)
            .get_delta_for_epsilon(epsilon)
        )
        for way in (True, False)
    )
    assert lower == 0 or not reaches(lower * (1 - 1e-9), epsilon[1:], above[:-1], delta)
    assert reaches(upper * (1 + 1e-9), epsilon, below, delta)


@examples(10, part=5)
@given(noise=noises, rate=rates, steps=st.integers(1, 2000), delta=deltas, share=st.floats(0, 1.2))
@example(noise=1.0, rate=10.0**-0.25, steps=484, delta=0.01, share=0.0)
@example(noise=1.0, rate=10.0**-0.25, steps=483, delta=0.01, share=0.0)
def test_it_holds_at_every_epsilon(noise, rate, steps, delta, share):
    """delta(epsilon) <= max(delta of G_mu, delta), by bounds that were computed for this epsilon alone."""
    run = pld.noisy_sgd(noise, rate, steps)
    try:
        lower, upper = run.mu(delta)
        assert upper - lower <= 1e-3 * upper
    except pld.Unreachable as refused:  # only where the docstring says so, and what was reached holds too
        lower, upper = refused.bounds
        assert run.delta(0.0).upper > 1 - 1e-3
        if math.isinf(upper):
            return
    epsilon = share * run.epsilon(delta, 0.1).upper
    assert run.delta(epsilon).lower <= max(gdp.delta(epsilon, upper), delta)


@pytest.mark.weekly("twenty seconds of convolutions")
@pytest.mark.parametrize(("noise", "rate", "steps"), [(1.0, 0.5, 4)])
def test_no_mu_below_that_of_all_steps_holds_at_every_delta(noise, rate, steps):
    """With probability p^T the person is in every batch, so delta(eps) >= p^T delta of G_(sqrt T / sigma)(eps + T ln 1/p)."""
    run, most, before = pld.noisy_sgd(noise, rate, steps), math.sqrt(steps) / noise, 0.0
    for delta in (1e-3, 1e-30):
        upper = run.mu(delta, 0.01).upper
        epsilon = np.linspace(0, run.epsilon(delta, 0.01).upper, 50)
        by_law = rate**steps * gdp.delta(epsilon - steps * math.log(rate), most)
        assert reaches(upper, epsilon, by_law, delta)
        assert before < upper <= most * 1.01
        before = upper
    assert not reaches(0.7 * most, epsilon, by_law, delta)


# ---- hypothesis tests that are run


def simulated(noise, rate, steps, runs, rng):
    """The privacy loss of runs without the person, and with."""
    without = rng.normal(0, noise, (runs, steps))
    present = rng.normal(0, noise, (runs, steps)) + (rng.random((runs, steps)) < rate)
    return (np.log1p(rate * np.expm1((x - 0.5) / noise**2)).sum(axis=1) for x in (without, present))


def certain_delta(p_loss, q_loss, epsilon, risk):
    """What delta is at least, by the test `loss > epsilon`: Clopper-Pearson bounds on both errors. Both directions."""
    found = []
    for null, other in ((p_loss, q_loss), (-q_loss, -p_loss)):
        false, true = np.sum(null > epsilon), np.sum(other > epsilon)
        alpha = stats.beta.ppf(1 - risk / 4, false + 1, max(null.size - false, 1))
        power = stats.beta.ppf(risk / 4, max(true, 1), other.size - true + 1) if true else 0.0
        found.append(power - math.exp(epsilon) * alpha)
    return max(found)


@examples(15, part=5)
@given(
    noise=st.floats(0.5, 3),
    rate=st.floats(0.05, 0.9),
    steps=st.integers(1, 12),
    delta=st.floats(-4, -1.5).map(lambda digits: 10.0**digits),
    seed=st.integers(0, 2**32),
)
def test_no_test_that_is_run_beats_it(noise, rate, steps, delta, seed):
    """A right bound fails in one of 10^7 of these: 10 epsilons, each at a risk of 10^-8."""
    p_loss, q_loss = simulated(noise, rate, steps, 20_000, np.random.default_rng(seed))
    run = pld.noisy_sgd(noise, rate, steps)
    upper = run.mu(delta, 0.01).upper
    for epsilon in np.linspace(0, run.epsilon(delta, 0.1).upper, 10):
        assert certain_delta(p_loss, q_loss, epsilon, 1e-8) <= max(gdp.delta(epsilon, upper), delta)


def test_a_mu_that_is_six_percent_smaller_is_refuted_by_tests_that_are_run():
    p_loss, q_loss = simulated(1.0, 0.3, 8, 200_000, np.random.default_rng(0))
    lower, upper = pld.noisy_sgd(1.0, 0.3, 8).mu(0.05)
    epsilons = np.linspace(0, pld.noisy_sgd(1.0, 0.3, 8).epsilon(0.05).lower, 20)
    refuted = {
        mu: any(certain_delta(p_loss, q_loss, e, 1e-6) > max(gdp.delta(e, mu), 0.05) for e in epsilons)
        for mu in (0.94 * lower, upper)
    }
    assert list(refuted.values()) == [True, False]


# ---- what it is good for


@examples(5, part=5)
@given(noise=st.floats(0.8, 3), rate=st.floats(0.01, 0.3), share=st.floats(0, 1))
def test_it_composes_as_a_gaussian_and_a_failure(noise, rate, share):
    one, two = pld.noisy_sgd(noise, rate, 50), pld.randomized_response(0.4, 3)
    mus, failures = [one.mu(1e-4).upper, two.mu(1e-3).upper], (1e-4, 1e-3)
    epsilon = 3 * share
    both = 1 - (1 - failures[0]) * (1 - failures[1]) * (1 - gdp.delta(epsilon, gdp.compose(mus)))
    assert (one @ two).delta(epsilon, 0.01).lower <= both


# ---- the distance


@examples(10, part=5)
@given(noise=st.floats(0.5, 2), rate=st.floats(0.05, 0.9), factor=st.floats(0.9, 2))
def test_the_distance_is_the_least_shift_of_the_curve(noise, rate, factor):
    """By the definition, f(alpha + kappa) - kappa <= G_mu(alpha) at every alpha of a grid, for the exact curve of a step."""
    f, alpha = tradeoff.gaussian(1 / noise).subsampled(rate), np.r_[0, np.geomspace(1e-6, 0.999, 4000)]
    run = pld.noisy_sgd(noise, rate, 1)
    mu = factor * run.mu(1e-5).upper
    below = tradeoff.gaussian(mu)(alpha)
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        enough = (f(np.minimum(alpha + middle, 1)) - middle <= below).all()
        low, high = (low, middle) if enough else (middle, high)
    lower, upper = run.distance(mu)
    assert lower - 1e-5 <= high <= upper + 1e-6
    assert upper - lower <= 2e-4


@pytest.mark.weekly("seconds of convolutions")
def test_the_distance_of_many_steps_is_the_largest_difference_of_bayes_errors():
    run = pld.noisy_sgd(1.0, 0.05, 200)
    epsilon = np.linspace(0, 8, 100)
    lower, upper = run.delta(epsilon, 0.1)
    for mu in (0.9, 3.0):
        found = [np.max((gdp.delta(epsilon, mu) - end) / (1 + np.exp(epsilon))) for end in (upper, lower)]
        least, most = run.distance(mu)
        assert found[0] - 1e-3 <= most
        assert least <= max(found[1], 0) + 1e-3
        assert most - least <= 2e-3
    assert run.distance(0) == (0, 0)
    assert run.distance(0.1).upper < 1e-6


def test_the_distance_of_a_failure_and_of_a_largest_loss():
    """G_mu below what can only fail, or only tell so much: Bayes errors in closed form."""
    for curve, profile in (
        (pld.approx_dp(1.0, 0.01), lambda e: 0.01 + 0.99 * np.maximum(math.e - np.exp(e), 0) / (1 + math.e)),
        (pld.laplace(1.0), lambda e: np.maximum(1 - np.exp((e - 1) / 2), 0)),
    ):
        epsilon = np.linspace(0, 12, 20_000)
        exact = np.max((gdp.delta(epsilon, 2.0) - profile(epsilon)) / (1 + np.exp(epsilon)))
        lower, upper = curve.distance(2.0)
        assert exact - 1e-3 <= lower <= exact + 1e-12
        assert exact - 1e-7 <= upper <= exact + 2e-4


@examples(24, part=6)
@given(epsilon=st.floats(0.05, 6), delta=st.sampled_from([0.0, 1e-9, 1e-3]), k=st.integers(1, 4), mu=st.floats(0.01, 6))
def test_the_distance_is_an_upper_bound_for_every_curve(epsilon, delta, k, mu):
    """Without any tolerance, also where the largest difference lies behind all that G_mu says: Bayes errors in closed form."""
    grid = np.linspace(0, k * epsilon + 3, 400)
    gaussian = np.exp([log_gaussian_delta(e, mu) for e in grid])
    exact = [composition.optimal_delta(epsilon, delta, k, float(e)) for e in grid]
    found = np.max((gaussian - exact) / (1 + np.exp(grid)))
    assert found * (1 - 1e-9) <= pld.approx_dp(epsilon, delta, k).distance(mu).upper


# ---- ends, bad input


def test_ends():
    run = pld.noisy_sgd(1.0, 0.01, 100)
    assert run.mu(0.5) == (0, 0)
    assert pld.approx_dp(0.1, 1e-3, 10).mu(1e-3) == (math.inf, math.inf)
    assert pld.approx_dp(0.1, 1e-3).mu(2e-3).upper < 0.13


def test_a_width_that_cannot_be_met_is_refused(monkeypatch):
    monkeypatch.setattr(the_module, "ROUNDS", 1)
    run = pld.noisy_sgd(1.0, 0.01, 100)
    with pytest.raises(
        pld.Unreachable, match=r"^width 1e-08 of mu cannot be met with \d+ epsilons: it lies in \["
    ) as no:
        run.mu(1e-3, width=1e-8)
    reached, wide = no.value.bounds, run.mu(1e-3)
    assert wide.lower <= reached.upper
    assert reached.lower <= wide.upper


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pld.gaussian(1).mu(0), "delta must be a number in (0, 1), got 0"),
        (lambda: pld.gaussian(1).mu(1.0), "delta must be a number in (0, 1), got 1.0"),
        (lambda: pld.gaussian(1).mu(math.nan), "delta must be a number in (0, 1), got nan"),
        (lambda: pld.gaussian(1).mu(1e-5, width=0), "width must be a number in (0, inf), got 0"),
        (lambda: pld.gaussian(1).distance(-1), "mu must be a number in [0, inf), got -1"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()
