"""Rényi differential privacy of noisy SGD (lesson 06), the accountant that most libraries used first."""

import functools
import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from dpcourse.base import validate

LAPLACE = "laplace"  # in the place of a sample rate: noise that is Laplace and not Gaussian, for everybody


def epsilon(noise_multiplier, sample_rate, steps, delta, conversion="improved") -> float:
    """Return an epsilon for which noisy SGD is (epsilon, delta)-DP, by the best Rényi order.

    Neighbours differ by one person. noise_multiplier: > 0; sample_rate: in (0, 1]; steps: whole, >= 1; delta: in [0, 1].
    conversion: "classic" is the moments accountant, "improved" a later, smaller bound. ValueError otherwise.
    Source: one step as for divergence; steps add by Mironov (2017), proposition 1. Classic: Abadi et al. (2016),
    theorem 2, which is Mironov (2017), proposition 3. Improved: Balle, Barthe, Gaboardi, Hsu & Sato (2020), theorem 21.

    >>> round(epsilon(1.0, 0.01, 1000, 1e-5), 3), round(epsilon(1.0, 0.01, 1000, 1e-5, conversion="classic"), 3)
    (2.101, 2.538)
    """
    return epsilon_of_runs([(noise_multiplier, sample_rate, steps)], delta, conversion)


def epsilon_of_runs(runs, delta, conversion="improved") -> float:
    """Return an epsilon for several runs on the same people: at each order the runs' divergences add up.

    runs: a non-empty list of (noise_multiplier, sample_rate, steps); the other arguments and ValueError as for epsilon.
    Source: Mironov (2017), proposition 1, and the sources of epsilon.

    >>> round(epsilon_of_runs([(1.0, 0.01, 400), (1.0, 0.01, 600)], 1e-5), 3)
    2.101
    >>> round(epsilon_of_runs([(1.0, 0.01, 500), (0.7, 0.01, 500)], 1e-5), 3)
    4.552
    """
    delta = validate.number("delta", delta, 0, 1)
    if conversion not in CONVERSIONS:
        raise ValueError(f"conversion must be one of {sorted(CONVERSIONS)}, got {conversion!r}")
    if not runs:
        raise ValueError(f"runs must be a non-empty list of (noise_multiplier, sample_rate, steps), got {runs!r}")
    runs = [(*_sgd(noise, rate), validate.whole("steps", steps)) for noise, rate, steps in runs]
    if delta == 0:
        return math.inf
    convert = CONVERSIONS[conversion]

    def bound(log_excess):
        order = 1 + math.exp(log_excess)
        return convert(order, sum(steps * _divergence(noise, rate, order) for noise, rate, steps in runs), delta)

    grid = np.linspace(math.log(0.01), math.log(1e4), 40)
    best = int(np.argmin([bound(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    return max(0.0, float(minimize_scalar(bound, bounds=around, method="bounded", options={"xatol": 1e-6}).fun))


def divergence(noise_multiplier, sample_rate, order) -> float:
    """Return the Rényi divergence of one step, in nats, of its output with a person from that without: the larger one.

    noise_multiplier: > 0; sample_rate: in (0, 1], or "laplace" for Laplace noise of this scale at sensitivity 1; order: > 1, need not be whole. ValueError otherwise.
    Source: Mironov, Talwar & Zhang (2019), arXiv 1908.10530, section 3: the divergence, and why it is the larger one;
    Mironov (2017), table II, for Laplace.

    >>> round(divergence(2.0, 1.0, 3.5), 12) == 3.5 / (2 * 2.0**2)
    True
    >>> round(divergence(2.0, "laplace", 1e6), 4)  # nearly the largest loss, 1 / 2
    0.5
    """
    return _divergence(*_sgd(noise_multiplier, sample_rate), validate.number("order", order, 1, open_low=True))


def _sgd(noise_multiplier, sample_rate) -> tuple[float, float | str]:
    noise = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    if isinstance(sample_rate, str) and sample_rate == LAPLACE:
        return noise, LAPLACE
    return noise, validate.number("sample_rate", sample_rate, 0, 1, open_low=True)


def _divergence(noise_multiplier, sample_rate, order):
    """Return log E (1 - q + q e^((2z - 1) / (2 sigma^2)))^order / (order - 1), z from N(0, sigma^2).

    By the trapezoid rule, whose error is exponentially small: the integrand is analytic in a strip of half-width
    pi sigma^2, and beyond 40 sigma of the two peaks, z = 0 and z = order, nothing is left.
    """
    if sample_rate == LAPLACE:
        return _of_laplace(1 / noise_multiplier, order)
    if sample_rate == 1:
        return order / (2 * noise_multiplier**2)
    return _sampled(noise_multiplier, sample_rate, order)


def _of_laplace(epsilon, order):
    """Return the divergence of Laplace noise with scale 1 / epsilon and sensitivity 1. Source: Mironov (2017), table II.

    log (order e^((order - 1) epsilon) + (order - 1) e^(-order epsilon)) / (2 order - 1), without cancellation.
    """
    share = (order - 1) / (2 * order - 1)
    gain = (order - 1) * epsilon
    if gain > 1:
        return (gain + math.log1p(share * math.expm1(-(2 * order - 1) * epsilon))) / (order - 1)
    return math.log1p((1 - share) * math.expm1(gain) + share * math.expm1(-order * epsilon)) / (order - 1)


@functools.lru_cache(maxsize=8192)  # a search asks for the same orders again and again
def _sampled(sigma, q, order):
    step = min(sigma / 6, sigma**2 / 2)
    points = int((order + 80 * sigma) / step) + 1
    if points > 200_000:  # only the peaks
        return _whole_order(sigma, q, math.ceil(order))
    z = -40 * sigma + step * np.arange(points)
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + (2 * z - 1) / (2 * sigma**2))
    density = -((z / sigma) ** 2) / 2 - math.log(2 * math.pi) / 2 + math.log(step / sigma)
    # E ratio = 1, so the mean of (ratio^order - 1 - order (ratio - 1)) >= 0 is what is left, without cancellation
    excess = order * log_ratio
    small = np.abs(excess) < 1
    gain = np.where(small, np.expm1(np.where(small, excess, 0)) - order * np.expm1(np.where(small, log_ratio, 0)), 0.0)
    log_large = logsumexp(density[~small] + excess[~small]) if (~small).any() else -math.inf
    rest = float(np.sum(np.exp(density[small]) * gain[small]))
    rest -= float(np.sum(np.exp(density[~small]) * (1 + order * np.expm1(np.minimum(log_ratio[~small], 600)))))
    if log_large > 600:
        return log_large / (order - 1)
    return math.log1p(max(rest + math.exp(log_large), 0.0)) / (order - 1)


def _whole_order(sigma, q, order):
    """Return the divergence by the sum over k of C(order, k) (1 - q)^(order - k) q^k e^((k^2 - k) / (2 sigma^2)). Source: section 3.3."""
    k = np.arange(order + 1)
    log_choose = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = log_choose + (order - k) * math.log1p(-q) + k * math.log(q) + (k * k - k) / (2 * sigma**2)
    return float(logsumexp(terms)) / (order - 1)


def _classic(order, divergence, delta):
    return divergence - math.log(delta) / (order - 1)


def _improved(order, divergence, delta):
    return divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)


CONVERSIONS = {"classic": _classic, "improved": _improved}
