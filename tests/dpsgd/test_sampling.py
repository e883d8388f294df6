"""Poisson batches: the law of their sizes, of each person, of pairs and of steps in a row.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import math

import numpy as np
import pytest
from scipy import stats

from dpcourse import dpsgd

RARE = 1e-6


def test_sizes_are_binomial_and_everyone_is_as_likely():
    """Chi-squared tests of the sizes and of each person's number of batches, and of pairs of people and of steps."""
    n, rate, steps = 40, 0.15, 6000
    drawn = np.zeros((steps, n))
    for row, batch in zip(drawn, dpsgd.poisson_batches(n, rate, steps, generator=1), strict=True):
        row[batch] = 1
    sizes, edges = drawn.sum(1), np.arange(2, 12)
    cells = np.diff(stats.binom.cdf([-1, *edges, n], n, rate))
    counts = np.histogram(sizes, [-0.5, *(edges + 0.5), n + 0.5])[0]
    assert stats.chisquare(counts, cells * steps).pvalue > RARE
    deviation = math.sqrt(rate * (1 - rate))
    standard = (drawn - rate) / deviation
    limit = stats.norm.isf(RARE / 2 / n**2) * math.sqrt(steps)
    assert np.abs(standard.sum(0)).max() <= limit
    together = standard.T @ standard
    assert np.abs(together[np.triu_indices(n, 1)]).max() <= limit
    in_a_row = standard[:-1].T @ standard[1:]
    assert np.abs(in_a_row).max() <= limit


def test_batches_may_be_empty_or_everybody():
    empty = sum(len(batch) == 0 for batch in dpsgd.poisson_batches(3, 0.1, 2000, generator=2))
    low, high = stats.binom.interval(1 - RARE, 2000, 0.9**3)
    assert low <= empty <= high
    assert all(batch.tolist() == [0, 1, 2] for batch in dpsgd.poisson_batches(3, 1.0, 5, generator=2))


def test_batches_repeat_with_the_seed_only():
    draws = [[batch.tolist() for batch in dpsgd.poisson_batches(50, 0.5, 3, seed)] for seed in (1, 1, 2, None, None)]
    assert draws[0] == draws[1]
    assert draws.count(draws[2]) == draws.count(draws[3]) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"steps": 0}, "steps must be a whole number >= 1, got 0"),
        ({"sample_rate": 0}, r"sample_rate must be a number in \(0, 1\], got 0"),
        ({"sample_rate": 1.1}, "sample_rate must be"),
        ({"generator": -1}, "generator must be a whole number >= 0, got -1"),
    ],
)
def test_bad_sampling_is_named_at_once(wrong, says):
    with pytest.raises(ValueError, match=says):
        dpsgd.poisson_batches(**{"n": 10, "sample_rate": 0.5, "steps": 2} | wrong)
