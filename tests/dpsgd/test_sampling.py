"""Poisson batches: the law of their sizes, of each person, of pairs and of steps in a row.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import math
import re

import numpy as np
import pytest
from scipy import stats
from support import by_profile

from dpcourse import dpsgd
from dpcourse.dpsgd import sampling

pytestmark = pytest.mark.in_turn("seconds of training")

RARE = 1e-6
RUNS = by_profile("runs of Poisson batches that are not refused", 50, 1_000)


@pytest.fixture(params=["a coin each", "the size first"])
def way(request, monkeypatch):
    """Both ways to draw: of few people, and of many."""
    monkeypatch.setattr(sampling, "MANY", 0 if request.param == "the size first" else 10**9)


@pytest.mark.usefixtures("way")
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


@pytest.mark.usefixtures("way")
def test_batches_may_be_empty_or_everybody():
    empty = sum(len(batch) == 0 for batch in dpsgd.poisson_batches(3, 0.1, 2000, generator=2))
    low, high = stats.binom.interval(1 - RARE, 2000, 0.9**3)
    assert low <= empty <= high
    assert all(batch.tolist() == [0, 1, 2] for batch in dpsgd.poisson_batches(3, 1.0, 5, generator=2))


@pytest.mark.usefixtures("way")
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


# ---- sizes that no coins give


def steps_until_noticed(people, rate, size_of, most=400):
    """After how many steps a run of such sizes is refused, and what is said; (None, "") where it is not."""
    sizes = sampling.Sizes(people, rate)
    for step in range(1, most + 1):
        try:
            sizes.note(size_of(step))
        except ValueError as error:
            return step, str(error)
    return None, ""


@pytest.mark.parametrize(
    ("people", "rate", "size_of", "within", "says"),
    [
        (300, 0.1, lambda step: 60, 3, "has a batch of 60 people, .* where 30.0 a step are expected"),
        (300, 0.1, lambda step: 15, 8, "has a batch of 15 people"),
        (300, 0.1, lambda step: 0, 1, "step 1 has a batch of 0 people"),
        (300, 0.1, lambda step: 300, 1, "step 1 has a batch of 300 people"),
        (300, 0.1, lambda step: 30, 25, "batches have 29 to 31 people, where 23% are expected: shuffled batches"),
        (60_000, 0.04, lambda step: 2400, 25, "shuffled batches do not differ in size"),
        (310, 0.1, lambda step: 10 if step % 11 == 0 else 30, 25, "people"),
    ],
    ids=["twice as many", "half", "nobody", "everybody", "shuffled", "shuffled, many", "shuffled, the last is short"],
)
def test_batches_that_are_no_poisson_sample_are_noticed(people, rate, size_of, within, says):
    step, said = steps_until_noticed(people, rate, size_of)
    assert step <= within, step
    assert re.search(says, said), said


@pytest.mark.parametrize(("people", "rate"), [(300, 0.1), (3, 0.1), (1, 0.5), (60_000, 0.04), (40, 0.97), (7, 1.0)])
def test_poisson_batches_are_not_refused(people, rate):
    """1,000 runs of 100 steps: the chance of a false alarm in any is 1e-6."""
    sizes = np.random.default_rng(0).binomial(people, rate, (RUNS, 100))
    for run in sizes:
        assert steps_until_noticed(people, rate, lambda step, run=run: int(run[step - 1]), 100) == (None, "")


def test_false_alarms_are_as_rare_as_promised(monkeypatch):
    """At a rate of 5 % for a run, in which they can be counted: 95 % and more of the runs pass, up to chance."""
    monkeypatch.setattr(sampling, "FALSE_ALARM_RATE", 0.05)
    runs = 400
    sizes = np.random.default_rng(1).binomial(300, 0.1, (runs, 40))
    alarms = sum(
        steps_until_noticed(300, 0.1, lambda step, run=run: int(run[step - 1]), 40)[0] is not None for run in sizes
    )
    assert 0 < alarms <= stats.binom.isf(RARE, runs, 0.05)


def test_the_middle_is_what_the_law_says():
    for people, rate in ((300, 0.1), (3, 0.1), (60_000, 0.04), (5, 1.0)):
        first, last, middle = sampling.middle_sizes(people, rate)
        assert middle == pytest.approx(sum(stats.binom.pmf(range(first, last + 1), people, rate)))
        assert stats.binom.cdf(first - 1, people, rate) < 0.4 <= stats.binom.cdf(first, people, rate)
