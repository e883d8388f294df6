"""The inspection of a run: each fault is found, and no other; false alarms are as rare as is said."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpcourse import dpsgd
from dpcourse.dpsgd import inspection
from dpcourse.dpsgd.inspection import FALSE_ALARM_RATE

pytestmark = pytest.mark.in_turn("seconds of training")


def recorded(sizes=None, steps=300, noise=1.0, rate=0.05, written=None, spread=1.0):
    """A record such as fit makes, of so many steps; what is not given is drawn as it should be."""
    rng = np.random.default_rng(1)
    people, count = 1000, 500
    sizes = rng.binomial(people, rate, steps).tolist() if sizes is None else sizes
    ledger = dpsgd.Ledger(1e-5).after(noise, rate, written or steps)
    return dpsgd.Run(
        {
            "people": people,
            "expected_batch": people * rate,
            "noise_multiplier": noise,
            "clip_norm": 2.0,
            "weights": count,
        },
        batches=sizes,
        losses=[1.0] * steps,
        lengths=[0.6 * 2.0 * size for size in sizes],
        noises=(spread * noise * 2.0 * np.sqrt(rng.chisquare(count, steps) / count)).tolist(),
        at=[steps],
        scores=[0.9],
        epsilons=[ledger.epsilon()],
        ledger=ledger.state_dict(),
    )


def wrong_in(run):
    return [check.what for check in dpsgd.inspect(run) if not check.ok]


@functools.cache
def honest():
    return recorded()


MEAN, SPREAD = "people in a batch, on average", "people in a batch, from step to step"
CLIPPED, NOISE = "length of the clipped sum", "noise on the sum"
LEDGER, EPSILON = "steps in the ledger", "epsilon, computed anew"


def test_a_run_as_it_should_be_passes():
    assert wrong_in(honest()) == []
    assert "✗" not in repr(dpsgd.inspect(honest()))


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"batches": [50] * 300}, [SPREAD]),
        ({"batches": [64] * 300}, [MEAN, SPREAD]),
        ({"batches": ([53] * 18 + [46]) * 15 + [53] * 15}, [MEAN, SPREAD]),  # 19 batches of 53 in an epoch of 1,000
        ({"batches": [0, 100] * 150}, [SPREAD]),
        ({"batches": [size // 2 for size in honest().batches]}, [MEAN, SPREAD]),
        ({"noises": [noise / 2 for noise in honest().noises]}, [NOISE]),
        ({"noises": [noise * 1.02 for noise in honest().noises]}, [NOISE]),
        ({"lengths": [2.01 * size for size in honest().batches]}, [CLIPPED]),
        ({"lengths": [*honest().lengths[:-1], 150.0]}, [CLIPPED]),
        ({"epsilons": [honest().epsilon - 0.01]}, [EPSILON]),
        ({"ledger": honest().ledger | {"budget": honest().epsilon - 0.01}}, [EPSILON]),
        ({"ledger": honest().ledger | {"runs": [[1.0, 0.05, 299]]}}, [LEDGER]),
        ({"ledger": honest().ledger | {"runs": [[1.1, 0.05, 300]]}}, [LEDGER]),
        ({"ledger": honest().ledger | {"runs": [[1.0, 0.05, 600]]}}, [EPSILON]),
    ],
)
def test_each_fault_is_found_and_no_other(changes, wrong):
    """Of clipping the lengths are told, when they are set; else they follow the sizes."""
    run = replace(honest(), **changes)
    if "batches" in changes:
        run.lengths = [0.6 * 2.0 * size for size in run.batches]
    assert wrong_in(run) == wrong


@pytest.mark.parametrize(("rate", "steps"), [(0.01, 1), (0.01, 2), (0.001, 2), (0.2, 1), (1.0, 2)])
def test_false_alarms_about_the_batches_of_short_runs(rate, steps):
    """Exactly: the probability of all sizes that raise one, by running through them."""
    size = stats.binom(1000, rate)
    usual = [k for k in range(1001) if size.pmf(k) > FALSE_ALARM_RATE / 100]
    run = recorded(steps=steps, rate=rate)
    alarms = dict.fromkeys((MEAN, SPREAD), 1 - sum(size.pmf(usual)) ** steps)
    for sizes in itertools.combinations_with_replacement(usual, steps):
        run.batches, run.lengths = list(sizes), [0.0] * steps
        for check in (inspection._coins(run), inspection._spread(run)):
            if not check.ok:
                alarms[check.what] += len(set(itertools.permutations(sizes))) * np.prod(size.pmf(sizes))
    assert max(alarms.values()) <= FALSE_ALARM_RATE * (1 + 1e-6) + 1e-9


def test_a_run_without_a_step_cannot_be_inspected():
    with pytest.raises(ValueError, match="run must have at least one step, got none"):
        dpsgd.inspect(dpsgd.Run({}))
