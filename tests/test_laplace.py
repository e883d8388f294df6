"""laplace.py against closed forms, scipy, mpmath, counting, and the laws that the theorems state."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcourse import laplace
from dpcourse.checking.statistics import binomial_p_value

pytestmark = pytest.mark.in_turn("seconds of numbers")

RARE = 1e-9
finite = st.floats(-50, 50)
tables = st.lists(st.integers(0, 30), min_size=2, max_size=5)


# ---- sensitivity and the mechanism


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=8))
def test_the_local_sensitivity_of_sums_is_the_largest_row(rows):
    rows = np.array(rows)
    assert laplace.l1_sensitivity(lambda d: d.sum(axis=0), rows) == pytest.approx(np.abs(rows).sum(axis=1).max())


def test_the_local_sensitivity_of_a_mean_depends_on_the_table():
    assert laplace.l1_sensitivity(np.mean, [0.0, 0.0, 3.0]) == 1.0
    assert laplace.l1_sensitivity(np.mean, [1.0, 1.0, 1.0]) == 0.0
    assert laplace.l1_sensitivity(len, ["a", "b"]) == 1.0


def test_the_noise_is_laplace_of_scale_sensitivity_over_epsilon_and_independent():
    noise = laplace.mechanism(np.full((2, 20_000), 7.0), sensitivity=3.0, epsilon=0.5, rng=1) - 7.0
    assert stats.kstest(noise.ravel(), stats.laplace(scale=6.0).cdf).pvalue > 1e-6
    assert abs(np.corrcoef(noise)[0, 1]) < 5 / math.sqrt(20_000)


def test_a_number_gives_a_number_and_an_array_its_shape():
    assert type(laplace.mechanism(3, 1, 1.0, rng=0)) is float
    assert laplace.mechanism([[1, 2, 3]], 1, 1.0, rng=0).shape == (1, 3)
    assert laplace.mechanism(3, 1, 1.0, rng=5) == laplace.mechanism(3, 1, 1.0, rng=np.random.default_rng(5))


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=4), st.floats(0.1, 20))
def test_the_log_density_is_that_of_independent_laplace_variables(pairs, b):
    output, value = np.array(pairs).T
    assume((np.abs(output - value) < 600 * b).all())  # scipy takes the logarithm of a density that underflows
    assert laplace.log_density(output, value, b) == pytest.approx(stats.laplace(value, b).logpdf(output).sum())


@given(
    st.lists(st.tuples(finite, finite, st.floats(-3, 3)), min_size=1, max_size=4),
    st.floats(0.05, 5),
)
def test_theorem_3_6_the_loss_never_passes_epsilon(triples, epsilon):
    output, value, step = np.array(triples).T
    sensitivity = np.abs(step).sum() + 1e-3
    b = laplace.scale(sensitivity, epsilon)
    loss = laplace.log_density(output, value, b) - laplace.log_density(output, value + step, b)
    assert abs(loss) <= epsilon * (1 + 1e-9) + 1e-9


def test_a_histogram_counts_every_cell_in_order_and_hides_the_empty_ones():
    values, cells = ["b", "a", "b", "elsewhere"], ["a", "b", "c"]
    assert laplace.histogram(values, cells, 1e9, rng=1).round(6).tolist() == [1, 2, 0]
    noise = np.array([laplace.histogram(values, cells, 0.5, rng=seed) for seed in range(3000)]) - [1, 2, 0]
    assert stats.kstest(noise.ravel(), stats.laplace(scale=2.0).cdf).pvalue > 1e-6
    assert (noise[:, 2] != 0).all()


# ---- accuracy


def test_the_names_example_of_the_book():
    assert laplace.error_bound(10_000, 0.05, sensitivity=1, epsilon=1) == pytest.approx(12.206, abs=5e-4)


@given(st.integers(1, 10_000), st.floats(0.001, 1), st.floats(0.1, 10), st.floats(0.05, 5))
def test_theorem_3_8_bounds_the_exact_chance_and_is_nearly_tight(k, failure, sensitivity, epsilon):
    t = laplace.error_bound(k, failure, sensitivity, epsilon) * epsilon / sensitivity
    exact = -math.expm1(k * math.log1p(-math.exp(-t))) if t else 1.0
    assert failure * (1 - failure / 2) - 1e-9 <= exact <= failure * (1 + 1e-9)


# ---- report noisy max


def test_the_chances_of_two_options_have_a_closed_form():
    for gap in (0.0, 0.3, 4.0, 30.0):
        loses = math.exp(-gap) / 2 * (1 + gap / 2)
        assert laplace.noisy_max_chances([5 + gap, 5], 1.0) == pytest.approx([1 - loses, loses], rel=1e-12)


@pytest.mark.one_case("integrals in high precision")
@pytest.mark.parametrize("counts", [[3, 3, 0, -7], [0, 1, 2, 3, 40], [0, 90, 60]])
def test_the_chances_are_those_of_numerical_integration_in_high_precision(counts):
    epsilon = 0.8

    def below(x):
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    with mpmath.workdps(30):
        scaled = [mpmath.mpf(c) * mpmath.mpf(epsilon) for c in counts]
        shifts = (-90, -30, -10, 0, 10, 30, 90)
        kinks = sorted({c + shift for c in scaled for shift in shifts})
        for i, chance in enumerate(laplace.noisy_max_chances(counts, epsilon)):
            others = [c for j, c in enumerate(scaled) if j != i]

            def density(z, at=scaled[i], others=others):
                return mpmath.exp(-abs(z - at)) / 2 * mpmath.fprod(below(z - c) for c in others)

            assert chance == pytest.approx(float(mpmath.quad(density, kinks)), rel=1e-10)


@given(tables, st.floats(0.05, 3))
def test_the_chances_add_up_to_one(counts, epsilon):
    assert laplace.noisy_max_chances(counts, epsilon).sum() == pytest.approx(1, abs=1e-12)


def test_the_mechanism_has_these_chances():
    counts, runs, rng = [10, 12, 9, 3], 20_000, np.random.default_rng(1)
    wins = np.bincount([laplace.report_noisy_max(counts, 0.4, rng) for _ in range(runs)], minlength=4)
    for won, chance in zip(wins, laplace.noisy_max_chances(counts, 0.4), strict=True):
        assert binomial_p_value(int(won), runs, chance) > RARE


@given(tables, st.floats(0.1, 2))
@settings(max_examples=30, deadline=None)
def test_claim_3_9_one_row_added_never_costs_more_than_epsilon_and_two_directions_cost_at_most_two(counts, epsilon):
    before = laplace.noisy_max_chances(counts, epsilon)
    for changes, most in (((0, 1), epsilon), ((-1, 0, 1), 2 * epsilon)):
        for change in itertools.islice(itertools.product(changes, repeat=len(counts)), 60):
            after = laplace.noisy_max_chances(np.add(counts, change), epsilon)
            assert np.abs(np.log(after / before)).max() <= most + 1e-8


def test_both_bounds_of_claim_3_9_are_reached():
    far, epsilon = [0, 30, 30, 30], 0.5
    before = laplace.noisy_max_chances(far, epsilon)[0]
    for change, cost in (([1, 0, 0, 0], epsilon), ([1, -1, -1, -1], 2 * epsilon)):
        after = laplace.noisy_max_chances(np.add(far, change), epsilon)[0]
        assert math.log(after / before) == pytest.approx(cost, abs=0.01)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laplace.l1_sensitivity(len, []), "database must have at least one row"),
        (lambda: laplace.mechanism(1.0, -1, 1.0), "sensitivity must be"),
        (lambda: laplace.mechanism(1.0, 1, 0), "epsilon must be"),
        (lambda: laplace.mechanism([1.0, math.inf], 1, 1.0), "value must be finite"),
        (lambda: laplace.mechanism("many", 1, 1.0), "value must be a number"),
        (lambda: laplace.log_density([1.0], [1.0, 2.0], 1.0), "output must have the shape"),
        (lambda: laplace.histogram(["a"], ["a", "a"], 1.0), "cells must be distinct"),
        (lambda: laplace.histogram(["a"], [], 1.0), "cells must be distinct"),
        (lambda: laplace.error_bound(0, 0.1, 1, 1), "k must be a whole number"),
        (lambda: laplace.error_bound(5, 0, 1, 1), "failure_probability must be"),
        (lambda: laplace.report_noisy_max([], 1.0), "counts must be"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
