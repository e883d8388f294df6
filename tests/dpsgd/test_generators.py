"""Seeds: streams of numbers that share nothing, from the whole state of the generator.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from dpcourse.dpsgd import generators

RARE = 1e-6


@pytest.mark.parametrize("generator", [-1, 1.5, "seed", True])
def test_bad_seeds_are_named(generator):
    with pytest.raises(ValueError, match="generator must be a whole number >= 0, got"):
        generators.make(generator, "noise")


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
