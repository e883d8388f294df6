"""Seeds: streams of numbers that share nothing, from the whole state of the generator.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import contextlib
import math

import numpy as np
import pytest
import torch
from scipy import stats

from dpcourse.dpsgd import generators

RARE = 1e-6


@pytest.mark.parametrize("generator", [-1, 1.5, True])
def test_bad_seeds_are_named(generator):
    with pytest.raises(ValueError, match="generator must be a whole number >= 0, got"):
        generators.make(generator, "noise")


class Elsewhere(torch.Generator):
    device = torch.device("cuda")


def test_a_generator_on_a_gpu_is_refused_at_once():
    with pytest.raises(ValueError, match=r"generator must be on the cpu, got one on cuda: .* from seeds"):
        generators.make(Elsewhere(), "noise")


def test_seeds_for_devices_have_64_fair_bits_and_are_never_the_same():
    generator = generators.make(1, "noise")
    seeds = np.array([generators.seed_from(generator) for _ in range(4000)], dtype=np.uint64)
    assert len(set(seeds)) == 4000
    counts = (seeds[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).sum(0)
    low, high = stats.binom.interval(1 - RARE / 64, 4000, 0.5)
    assert low <= counts.min()
    assert counts.max() <= high


def test_on_the_cpu_numbers_come_from_the_generator_itself():
    generator = torch.Generator()
    assert generators.for_device(generator, torch.device("cpu")) is generator


def test_borrowed_generators_come_back_as_they_were():
    before = torch.get_rng_state()
    found = []
    for _ in range(2):
        with contextlib.suppress(KeyError), generators.borrowed(torch.device("cpu"), seed=0):
            found.append(torch.rand(5))
            raise KeyError("in the middle")
    assert torch.equal(*found)
    assert torch.equal(before, torch.get_rng_state())


def test_seeds_and_purposes_do_not_share_numbers():
    """Whether two streams are shifted copies or correlated: no number twice, and products that sum to about 0."""
    made = [(seed, purpose) for seed in (0, 1, 2**32) for purpose in ("noise", "coins", "weights")]
    streams = np.stack([torch.randn(4000, generator=generators.make(*how), dtype=torch.float64) for how in made])
    assert len(np.unique(streams)) == streams.size
    products = (streams @ streams.T / math.sqrt(4000))[np.triu_indices(len(made), 1)]
    assert np.abs(products).max() <= stats.norm.isf(RARE / 2 / len(products))


def test_the_whole_state_of_the_generator_depends_on_the_seed():
    """Two seeds share no more words of the Mersenne twister than chance; torch's manual_seed has only 2^32 states."""
    one, other = (generators.make(seed, "noise").get_state().numpy()[24:5016].view(np.uint64) for seed in (1, 2))
    assert (one != other).sum() >= 623
    assert one.max() < 2**32


def test_a_macs_own_generator_is_kept_too(monkeypatch):
    its = torch.Generator()
    monkeypatch.setattr(torch.mps, "_get_default_mps_generator", lambda: its)
    assert generators.of_torch(torch.device("mps")) == [torch.default_generator, its]
    assert generators.of_torch(torch.device("cpu")) == [torch.default_generator]
