"""What a pair of distributions gives is as near to the truth as `slack` says: by mpmath, 60 digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import examples

from dpcourse.pld import pairs
from dpcourse.pld.grid import LARGEST_LOSS

pytestmark = pytest.mark.in_turn("seconds of convolutions")


def exact(loss, mu):
    """h of the Gaussian pair at a loss."""
    a = loss / mpmath.mpf(mu) - mpmath.mpf(mu) / 2
    return (mpmath.erfc(a / mpmath.sqrt(2)) - mpmath.exp(loss) * mpmath.erfc((a + mu) / mpmath.sqrt(2))) / 2


def near(found, truth, epsilon):
    h, p, q = (float(x) for x in found)
    if truth < 1e-290:  # doubles end
        return h < 1e-280
    return abs(h - truth) <= float(pairs.slack(np.array(h), p, q, min(epsilon, LARGEST_LOSS)))


mus, tails = st.floats(-2, 2.3).map(lambda d: 10.0**d), st.floats(0, 1)


@given(mu=mus, share=tails)
def test_a_gaussian_is_within_its_slack(mu, share):
    """Also beyond mu = 20, where ndtr would be off by hundreds of units in the last place."""
    epsilon = share * (mu**2 / 2 + 12 * mu)
    with mpmath.workdps(60):
        assert near(pairs.Gaussian(mu).over(np.array(epsilon)), exact(mpmath.mpf(epsilon), mu), epsilon)


@example(mu=10.0**2.25, rate=0.5, share=1.0)
@example(mu=100.0, rate=0.1, share=0.9)  # a loss of 5,000: e^loss is no double
@given(mu=st.floats(-1.5, 2.3).map(lambda d: 10.0**d), rate=st.floats(1e-4, 0.999), share=tails)
def test_a_sampled_gaussian_is_within_its_slack(mu, rate, share):
    """On both sides of 0; below, also near the smallest loss, where the naive formula cancels."""
    pair = pairs.Sampled(mu, rate)
    with mpmath.workdps(60):
        epsilon = share * (mu**2 / 2 + 8 * mu)
        inner = mpmath.log(1 + mpmath.expm1(mpmath.mpf(epsilon)) / mpmath.mpf(rate))
        assert near(pair.over(np.array(epsilon)), rate * exact(inner, mu), epsilon)
        epsilon = math.log1p(rate * math.expm1(-25 * share))
        ratio = 1 + mpmath.expm1(mpmath.mpf(epsilon)) / mpmath.mpf(rate)
        assert near(pair.under(np.array(epsilon)), rate * ratio * exact(-mpmath.log(ratio), mu), epsilon)


def exact_of_group(pair, epsilon):
    """h of a group's pair, or below 0 k, with 60 digits."""
    with mpmath.workdps(60):
        chance, mu = mpmath.mpf(pair.rate), mpmath.mpf(pair.mu)
        share = [
            mpmath.binomial(pair.size, j) * chance**j * (1 - chance) ** (pair.size - j) for j in range(pair.size + 1)
        ]

        def loss(x):
            return mpmath.log(sum(s * mpmath.exp(j * mu * x - (j * mu) ** 2 / 2) for j, s in enumerate(share)))

        low, high = mpmath.mpf(-60), mpmath.mpf(60)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if loss(middle) < epsilon else (low, middle)
        side = 1 if epsilon >= 0 else -1
        p = sum(s * mpmath.ncdf(side * (j * mu - low)) for j, s in enumerate(share))
        return side * (p - mpmath.exp(epsilon) * mpmath.ncdf(-side * low))


@examples(120)
@given(digits=st.floats(-1.3, 0.5), rate=st.floats(1e-3, 0.95), size=st.integers(2, 14), place=st.floats(-0.999, 5))
def test_a_group_is_within_its_slack(digits, rate, size, place):
    pair = pairs.Group(10.0**digits, rate, size)
    epsilon = place if place >= 0 else -place * pair.least
    found = (pair.over if epsilon >= 0 else pair.under)(np.array(epsilon))
    assert near(found, exact_of_group(pair, epsilon), epsilon)
