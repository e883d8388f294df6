"""Lesson 01's mathematics: laws, closed forms, published values, and dp-accounting."""

import itertools
import math
import re

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import accountant, common, privacy_loss_distribution
from hypothesis import assume, given
from hypothesis import strategies as st
from support import reference

from dpcourse import composition

epsilons = st.floats(0.01, 3)
small_deltas = st.one_of(st.just(0.0), st.floats(1e-10, 1e-5))
counts = st.integers(1, 150)
lists = st.lists(st.floats(0, 5), min_size=1, max_size=8)


# ---- published values: Kairouz, Oh & Viswanath (2015), closed form


def test_published_values_of_randomized_response():
    published = reference["randomized_response"]["epsilon0_0.1_k_100"]
    assert composition.optimal_delta(0.1, 0, 100, 1.0) == pytest.approx(published["delta_at_1"], abs=5e-11)
    assert composition.optimal_delta(0.1, 0, 100, 2.0) == pytest.approx(published["delta_at_2"], abs=5e-12)
    assert composition.optimal(0.1, 0, 100, 1e-5) == pytest.approx(published["epsilon_1e-5"], abs=5e-7)
    advanced, _ = composition.advanced(0.1, 0, 100, 1e-5)
    assert advanced == pytest.approx(published["advanced_composition_1e-5"], abs=5e-7)


# ---- randomized response


@given(epsilon=epsilons)
def test_randomized_response_keeps_with_the_right_chance(epsilon):
    n = 40_000
    kept = composition.randomized_response(np.ones(n, dtype=int), epsilon, 11).sum()
    chance = 1 / (1 + math.exp(-epsilon))
    assert abs(kept - n * chance) < 6 * math.sqrt(n * chance * (1 - chance)) + 1


def test_randomized_response_repeats_with_the_seed_and_takes_a_generator():
    bits = np.tile([0, 1], 50)
    first = composition.randomized_response(bits, 0.5, np.random.default_rng(3))
    assert (first == composition.randomized_response(bits, 0.5, 3)).all()
    assert (first != composition.randomized_response(bits, 0.5, 4)).any()


@given(epsilon=st.floats(0.05, 3), share=st.floats(0, 1))
def test_debiased_mean_inverts_the_expected_report(epsilon, share):
    """Feed it a survey whose reports have exactly the expected share: the truth comes back."""
    keep = 1 / (1 + math.exp(-epsilon))
    n = 100_000
    reports = np.arange(n) < round(n * (share * keep + (1 - share) * (1 - keep)))
    assert composition.debiased_mean(reports, epsilon) == pytest.approx(share, abs=1 / n / (2 * keep - 1))


# ---- sums and maxima


@given(first=lists, second=lists)
def test_sequential_adds_and_parallel_takes_the_larger(first, second):
    together = first + second
    assert composition.sequential(together) == pytest.approx(
        composition.sequential(first) + composition.sequential(second)
    )
    assert composition.parallel(together) == max(composition.parallel(first), composition.parallel(second))
    assert composition.parallel(together) <= composition.sequential(together)


@given(first=lists)
def test_basic_without_deltas_is_sequential(first):
    assert composition.basic(first, [0] * len(first)) == (composition.sequential(first), 0)


def test_a_delta_is_a_probability():
    assert composition.basic([1, 1], [0.7, 0.7])[1] == 1
    assert composition.advanced(1, 0.5, 3, 0.1)[1] == 1


# ---- optimal composition


def brute_force_delta(epsilon, delta, k, epsilon_total):
    """The hockey-stick divergence of the worst mechanism, over all its 4^k outputs (delta: everything is told)."""
    keep = mpmath.e**epsilon / (1 + mpmath.e**epsilon)
    p = [mpmath.mpf(delta), mpmath.mpf(0), (1 - delta) * keep, (1 - delta) * (1 - keep)]
    q = [mpmath.mpf(0), mpmath.mpf(delta), (1 - delta) * (1 - keep), (1 - delta) * keep]
    total = mpmath.mpf(0)
    for outputs in itertools.product(range(4), repeat=k):
        total += max(
            0, mpmath.fprod(p[o] for o in outputs) - mpmath.e**epsilon_total * mpmath.fprod(q[o] for o in outputs)
        )
    return float(total)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k", "total"), [(0.5, 0, 1, 0.2), (0.7, 1e-3, 3, 1.0), (1.5, 0.1, 4, 0.0), (0.2, 1e-6, 5, 0.9)]
)
def test_optimal_delta_is_the_divergence_of_the_worst_mechanism(epsilon, delta, k, total):
    assert composition.optimal_delta(epsilon, delta, k, total) == pytest.approx(
        brute_force_delta(epsilon, delta, k, total), rel=1e-12
    )


@given(epsilon=epsilons, delta=small_deltas, k=counts, delta_total=st.floats(1e-4, 0.5))
def test_optimal_agrees_with_dp_accounting(epsilon, delta, k, delta_total):
    """Its privacy loss distribution is exact on a grid of step epsilon; it overflows where k epsilon > 700."""
    assume(k * epsilon < 700 and delta_total > 1.01 * k * delta)
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=epsilon
    )
    theirs = one.self_compose(k, tail_mass_truncation=0)
    assert composition.optimal(epsilon, delta, k, delta_total) == pytest.approx(
        theirs.get_epsilon_for_delta(delta_total), rel=1e-9, abs=1e-9
    )
    total = 0.3 * k * epsilon
    assert composition.optimal_delta(epsilon, delta, k, total) == pytest.approx(
        theirs.get_delta_for_epsilon(total), rel=1e-9, abs=1e-9
    )


@given(epsilon=epsilons, delta=small_deltas, k=st.integers(1, 60), i=st.integers(0, 29))
def test_optimal_agrees_with_theorem_3_3_on_its_grid(epsilon, delta, k, i):
    """dp-accounting's advanced_composition is the theorem as printed, which speaks of epsilon = (k - 2i) epsilon only."""
    assume(k - 2 * i >= 0)
    on_grid = (k - 2 * i) * epsilon
    delta_total = composition.optimal_delta(epsilon, delta, k, on_grid)
    rounding = 1e-13  # theirs computes 1 - (1 - delta)^k directly
    assume(
        k - 2 * i < 2
        or composition.optimal_delta(epsilon, delta, k, on_grid - 2 * epsilon) > delta_total + 2 * rounding
    )
    assume(delta_total < 0.9)  # near 1, delta no longer determines epsilon to nine digits,
    assume(composition.optimal_delta(epsilon, 0, k, on_grid) > 1e-6 * k * delta)  # nor where the failures hide the rest
    theirs = accountant.advanced_composition(
        common.DifferentialPrivacyParameters(epsilon, delta), k, delta_total + rounding
    )
    assert theirs == pytest.approx(on_grid, rel=1e-9)
    assert composition.optimal(epsilon, delta, k, delta_total) == pytest.approx(on_grid, rel=1e-9, abs=1e-9)


@given(epsilon=epsilons, delta=small_deltas, k=st.integers(1, 2000), share=st.floats(0, 1))
def test_optimal_and_optimal_delta_are_inverse(epsilon, delta, k, share):
    total = share * k * epsilon
    delta_total = composition.optimal_delta(epsilon, delta, k, total)
    assume(delta_total > composition.optimal_delta(epsilon, delta, k, k * epsilon) * (1 + 1e-6) + 1e-300)
    assume(delta_total < 1 - 1e-9)  # nearer to 1, delta no longer determines epsilon
    back = composition.optimal(epsilon, delta, k, delta_total)
    assert composition.optimal_delta(epsilon, delta, k, back) == pytest.approx(delta_total, rel=1e-9)


@given(epsilon=epsilons, delta=small_deltas, k=counts, slack=st.floats(1e-12, 0.5))
def test_optimal_is_below_every_bound(epsilon, delta, k, slack):
    bound, bound_delta = composition.advanced(epsilon, delta, k, slack)
    assert composition.optimal(epsilon, delta, k, bound_delta) <= bound + 1e-12
    basic, basic_delta = composition.basic([epsilon] * k, [delta] * k)
    assert composition.optimal(epsilon, delta, k, basic_delta) <= basic + 1e-12


@given(epsilon=epsilons, k=st.integers(2, 300), delta_total=st.floats(1e-12, 0.5))
def test_optimal_grows_with_epsilon_and_k_and_falls_with_delta(epsilon, k, delta_total):
    here = composition.optimal(epsilon, 0, k, delta_total)
    assert here <= composition.optimal(1.1 * epsilon, 0, k, delta_total) + 1e-12
    assert composition.optimal(epsilon, 0, k - 1, delta_total) <= here + 1e-12
    assert composition.optimal(epsilon, 0, k, min(1, 2 * delta_total)) <= here + 1e-12


def test_optimal_at_its_ends():
    nearly = composition.optimal_delta(1.6, 0, 159, 15.9)  # 1 but for rounding: an upper bound, on the grid
    assert 15.9 <= composition.optimal(1.6, 0, 159, nearly) < 40
    assert composition.optimal(0.5, 0, 4, 0) == pytest.approx(2.0)
    assert composition.optimal(0.5, 1e-3, 4, 1e-3) == math.inf
    assert composition.optimal(0.5, 0, 4, 1) == 0
    assert composition.optimal(0, 0, 4, 0) == 0
    assert composition.optimal(0.01, 0, 100_000, 1e-5) < composition.advanced(0.01, 0, 100_000, 1e-5)[0]


@given(epsilon=epsilons, k=counts)
def test_losses_are_a_distribution_whose_ratio_is_the_loss(epsilon, k):
    loss, log_p = composition.losses(epsilon, k)
    assert np.exp(log_p).sum() == pytest.approx(1, rel=1e-10)
    assert log_p - log_p[::-1] == pytest.approx(loss, rel=1e-9, abs=1e-9)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: composition.advanced(-1, 0, 5, 1e-5), "epsilon must be a number in [0, inf), got -1"),
        (lambda: composition.advanced(math.nan, 0, 5, 1e-5), "epsilon must be a number in [0, inf), got nan"),
        (lambda: composition.advanced(math.inf, 0, 5, 1e-5), "epsilon must be a number in [0, inf), got inf"),
        (lambda: composition.advanced(1, 2, 5, 1e-5), "delta must be a number in [0, 1], got 2"),
        (lambda: composition.advanced(1, 0, 5, 0), "delta_prime must be a number in (0, 1], got 0"),
        (lambda: composition.advanced(1, 0, 0, 1e-5), "k must be a whole number >= 1, got 0"),
        (lambda: composition.advanced(1, 0, 2.5, 1e-5), "k must be a whole number >= 1, got 2.5"),
        (lambda: composition.optimal(1, 0, True, 1e-5), "k must be a whole number >= 1, got True"),
        (lambda: composition.optimal(1, 0, 5, 1.5), "delta_total must be a number in [0, 1], got 1.5"),
        (lambda: composition.optimal_delta("x", 0, 5, 1), "epsilon must be a number in [0, inf), got 'x'"),
        (lambda: composition.sequential([]), "epsilons must be a non-empty list of numbers, got []"),
        (lambda: composition.sequential([0.1, -2]), "every entry of epsilons must be a number in [0, inf), got -2.0"),
        (lambda: composition.parallel([[1, 2]]), "epsilons must be a non-empty list of numbers, got [[1, 2]]"),
        (lambda: composition.basic([1, 2], [0.1]), "deltas must have one entry per epsilon (2), got 1"),
        (lambda: composition.randomized_response([0, 2], 1), "bits must be a list of 0s and 1s, got [0, 2]"),
        (lambda: composition.debiased_mean([0, 1], 0), "epsilon must be a number in (0, inf), got 0"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()
