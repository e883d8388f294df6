"""The exact tests on counts keep their level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpcourse.checking.statistics import binomial_p_value, times_as_large, two_sample_p_value, unlike_samples


@given(trials=st.integers(1, 60), chance=st.floats(0.01, 0.99), level=st.floats(1e-9, 0.5))
def test_binomial_test_rejects_at_most_at_its_level(trials, chance, level):
    """Exactly: the law's own probability of the rejected outcomes."""
    rejected = [x for x in range(trials + 1) if binomial_p_value(x, trials, chance) < level]
    assert stats.binom.pmf(rejected, trials, chance).sum() <= level * (1 + 1e-9)


def test_binomial_test_with_certain_outcomes():
    assert binomial_p_value(5, 5, 1.0) == 1
    assert binomial_p_value(4, 5, 1.0) == 0


@given(n=st.integers(1, 25), m=st.integers(1, 25), total=st.integers(0, 50), level=st.floats(1e-9, 0.5))
def test_two_sample_test_rejects_at_most_at_its_level(n, m, total, level):
    total = min(total, n + m)
    possible = range(max(0, total - m), min(n, total) + 1)
    rejected = [a for a in possible if two_sample_p_value(a, n, total - a, m) < level]
    assert stats.hypergeom.pmf(rejected, n + m, total, n).sum() <= level * (1 + 1e-9)


def test_halves_that_mirror_each_other_and_numbers_that_come_again_are_seen():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        one, other = (np.round(rng.laplace(0, 1.2, 600)) for _ in range(2))
        assert unlike_samples(list(one), list(other)) is None
        mirrored, again = np.r_[one[:300], -one[:300]], np.resize(one[:420], 600)
        assert "half the list apart" in unlike_samples(list(mirrored), list(other))
        assert "equal to the one that stands 420 before" in unlike_samples(list(again), list(other))


@pytest.mark.parametrize("times", [0.5, 0.9, 1.2, 3.0])
def test_how_many_times_as_large_numbers_are_is_told_where_it_is_no_accident(times):
    rng = np.random.default_rng(5)
    assert times_as_large(times * rng.laplace(size=20_000), rng.laplace(size=20_000)) == pytest.approx(times, rel=0.04)
    assert times_as_large(times * rng.laplace(size=100), rng.laplace(size=100)) is None, "of few nothing is told"


def test_of_equal_laws_no_size_is_told():
    rng = np.random.default_rng(6)
    assert all(times_as_large(rng.laplace(size=600), rng.laplace(size=900)) is None for _ in range(2000))
