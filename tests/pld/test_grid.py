"""One step on a grid: its measures are above, or below, the truth everywhere."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcourse.pld import pairs
from dpcourse.pld.grid import Unfit, grid, measure

noises, rates = st.floats(0.4, 20), st.floats(-5, 0).map(lambda digits: 10.0**digits)


@settings(max_examples=60)
@given(
    noise=noises,
    rate=rates,
    spacing=st.floats(-4, -0.5),
    back=st.booleans(),
    upper=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_a_discretized_step_keeps_its_order_everywhere(noise, rate, spacing, back, upper, seed):
    pair = pairs.Sampled(1 / noise, rate) if rate < 1 else pairs.Gaussian(1 / noise)
    pair = pair.reversed() if back else pair
    low, high = pair.ends(1e-20)
    try:
        found = measure(pair, grid(pair, max((high - low) * 10**spacing, 1e-12), (low, high)), upper)
    except Unfit:
        assume(False)
    epsilon = np.sort(np.random.default_rng(seed).uniform(low, high, 300))
    over = epsilon.astype(np.longdouble)[:, None] - found.loss
    own = found.infinite + (np.maximum(0, -np.expm1(over)) * found.mass).sum(axis=1)
    truth = np.where(epsilon >= 0, pair.over(np.maximum(epsilon, 0))[0], pair.under(np.minimum(epsilon, 0))[0])
    truth = truth - np.where(epsilon >= 0, 0, np.expm1(epsilon))
    rounding = 1e-12 * truth
    assert (own >= truth - rounding).all() if upper else (own <= truth + rounding).all()
    assert float(found.mass.sum() + found.infinite) == pytest.approx(1, abs=1e-9)
