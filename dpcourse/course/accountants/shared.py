"""What several exercises of lesson 06 share."""

import functools

import numpy as np
from scipy.special import gammaln, logsumexp


@functools.lru_cache(maxsize=4096)
def divergence(noise_multiplier, sample_rate, order):
    """The Rényi divergence of one step at a whole order, by the binomial sum, in logarithms."""
    k = np.arange(order + 1)
    logs = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    logs += (order - k) * np.log1p(-sample_rate) + k * np.log(sample_rate) + k * (k - 1) / (2 * noise_multiplier**2)
    return float(logsumexp(logs)) / (order - 1)
