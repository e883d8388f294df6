"""One step on a grid: its measures are above, or below, the truth everywhere."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcourse.pld import pairs
from dpcourse.pld.grid import Unfit, grid, measure

noises, rates = st.floats(0.4, 20), st.floats(-5, 0).map(lambda digits: 10.0**digits)


def hockey_stick(found, epsilon):
    """The sum of mass (1 - e^(epsilon - loss)) over the losses above epsilon, to 18 digits.

    With S_i this sum at the loss l_i, and P_i the mass from l_i on: S_i = e^(l_i - l_(i+1)) S_(i+1) + (1 - e^(l_i - l_(i+1)))
    P_(i+1), where nothing cancels; so S_i e^-l_i is a sum from the right.
    """
    loss, mass = found.loss.astype(np.longdouble), found.mass.astype(np.longdouble)
    tail = np.r_[np.cumsum(mass[::-1])[::-1], 0]
    terms = -np.expm1(-np.diff(loss)) * tail[1:-1] * np.exp(-loss[:-1])
    at_loss = np.r_[np.cumsum(terms[::-1])[::-1], 0] * np.exp(loss)
    above = np.searchsorted(found.loss, epsilon, side="right")  # the lowest loss above epsilon
    gap = np.r_[loss, np.inf][above] - epsilon
    return found.infinite + np.r_[at_loss, 0][above] * np.exp(-gap) - tail[above] * np.expm1(-gap)


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
    own = hockey_stick(found, epsilon)
    truth = np.where(epsilon >= 0, pair.over(np.maximum(epsilon, 0))[0], pair.under(np.minimum(epsilon, 0))[0])
    truth = truth - np.where(epsilon >= 0, 0, np.expm1(epsilon))
    rounding = 1e-12 * truth
    assert (own >= truth - rounding).all() if upper else (own <= truth + rounding).all()
    assert float(found.mass.sum() + found.infinite) == pytest.approx(1, abs=1e-9)
