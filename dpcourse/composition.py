"""Lessons 00 and 01: randomized response, and what several private answers cost together.

Every bound takes and returns privacy parameters in nats: epsilon >= 0 bounds the log of
a likelihood ratio, delta in [0, 1] is a probability.
"""

import math

import numpy as np
from scipy.special import gammaln

from dpcourse.base import validate


def randomized_response(bits, epsilon, rng=None) -> np.ndarray:
    """Keep each bit with probability e^epsilon / (1 + e^epsilon), else flip it: epsilon-DP for each bit.

    bits: 0s and 1s, shape (n,). epsilon: >= 0. rng: Generator, seed or None.
    Returns an int8 array of shape (n,). Raises ValueError for anything else.
    Source: Warner (1965); Dwork & Roth (2014), section 3.2, for the two-coin form.

    >>> randomized_response([0, 1, 1, 0], epsilon=1.0, rng=7).shape
    (4,)
    >>> bool((randomized_response([0, 1, 1, 0], epsilon=50.0, rng=7) == [0, 1, 1, 0]).all())
    True
    """
    bits = validate.bits("bits", bits)
    epsilon = validate.number("epsilon", epsilon, low=0)
    flip = np.random.default_rng(rng).random(bits.size) < 1 / (1 + np.exp(epsilon))
    return bits ^ flip


def debiased_mean(reports, epsilon) -> float:
    """Return the unbiased estimate of the true share of 1s behind the reports of randomized response.

    reports: 0s and 1s, shape (n,). epsilon: > 0. Returns a float, which may fall outside [0, 1].
    Raises ValueError for epsilon = 0, where the reports say nothing. Source: Warner (1965), equation 5.

    >>> round(debiased_mean([1, 1, 1, 0], epsilon=math.log(3)), 12)
    1.0
    """
    reports = validate.bits("reports", reports)
    epsilon = validate.number("epsilon", epsilon, low=0, open_low=True)
    keep = 1 / (1 + math.exp(-epsilon))
    return float((reports.mean() - (1 - keep)) / (2 * keep - 1))


def sequential(epsilons) -> float:
    """Return the epsilon of several pure answers about the same people: their sum.

    epsilons: each >= 0, any number of them. Raises ValueError otherwise.
    Source: Dwork & Roth (2014), theorem 3.14 and corollary 3.15.

    >>> sequential([0.5, 0.25, 0.25])
    1.0
    """
    return math.fsum(validate.numbers("epsilons", epsilons, low=0))


def parallel(epsilons) -> float:
    """Return the epsilon of one pure answer per block, when each person is in one block: the largest.

    Holds where neighbours differ by one person added or removed, and the blocks do not depend on the data.
    epsilons: one per block, each >= 0. Raises ValueError otherwise. Source: McSherry (2009), theorem 4.

    >>> parallel([0.5, 0.25, 0.25])
    0.5
    """
    return float(validate.numbers("epsilons", epsilons, low=0).max())


def basic(epsilons, deltas) -> tuple[float, float]:
    """Return (sum of the epsilons, sum of the deltas), the deltas cut off at 1.

    epsilons: each >= 0; deltas: each in [0, 1], as many. Raises ValueError otherwise.
    Source: Dwork & Roth (2014), theorem 3.16.

    >>> basic([0.5, 0.5], [1e-6, 1e-6])
    (1.0, 2e-06)
    """
    epsilons = validate.numbers("epsilons", epsilons, low=0)
    deltas = validate.numbers("deltas", deltas, low=0, high=1)
    if len(epsilons) != len(deltas):
        raise ValueError(f"deltas must have one entry per epsilon ({len(epsilons)}), got {len(deltas)}")
    return math.fsum(epsilons), min(1.0, math.fsum(deltas))


def advanced(epsilon, delta, k, delta_prime) -> tuple[float, float]:
    r"""Return (epsilon', delta') of k adaptive (epsilon, delta)-DP answers by advanced composition.

    epsilon' = sqrt(2 k ln(1/delta_prime)) epsilon + k epsilon (e^epsilon - 1), and k delta + delta_prime.
    epsilon: >= 0; delta: in [0, 1]; k: whole, >= 1; delta_prime, the slack: in (0, 1]. ValueError otherwise.
    Source: Dwork, Rothblum & Vadhan (2010), theorem III.3; Dwork & Roth (2014), theorem 3.20.

    >>> round(advanced(0.1, 0.0, 100, 1e-5)[0], 6)
    5.850235
    """
    epsilon, delta, k = _approximate(epsilon, delta, k)
    delta_prime = validate.number("delta_prime", delta_prime, low=0, high=1, open_low=True)
    slack = math.sqrt(2 * k * -math.log(delta_prime)) * epsilon
    return slack + k * epsilon * math.expm1(epsilon), min(1.0, k * delta + delta_prime)


def optimal(epsilon, delta, k, delta_total) -> float:
    """Return the smallest epsilon for which every k-fold composition of (epsilon, delta)-DP is (that, delta_total)-DP.

    epsilon: >= 0; delta, delta_total: in [0, 1]; k: whole, >= 1. ValueError otherwise.
    Returns 0 where delta_total already covers the worst case, infinity where it is below 1 - (1-delta)^k.
    Source: Kairouz, Oh & Viswanath (2015), theorem 3.3, solved between its grid points as well.

    >>> round(optimal(0.1, 0.0, 100, 1e-5), 6)
    4.306791
    """
    epsilon, delta, k = _approximate(epsilon, delta, k)
    delta_total = validate.number("delta_total", delta_total, low=0, high=1)
    certain = _any_failure(delta, k)
    if delta_total < certain:
        return math.inf
    if optimal_delta(epsilon, delta, k, 0.0) <= delta_total:
        return 0.0
    target = (delta_total - certain) / (1 - certain)
    loss, log_p = losses(epsilon, k)
    # Above loss[j+1] and up to loss[j], delta(e) = P[:j+1].sum() - exp(e) Q[:j+1].sum(), falling in e.
    log_p_sum = np.logaddexp.accumulate(log_p)
    log_q_sum = np.logaddexp.accumulate(log_p - loss)
    at_next = np.exp(log_p_sum[:-1]) * -np.expm1(loss[1:] + log_q_sum[:-1] - log_p_sum[:-1])
    j = int(np.argmax(at_next >= target)) if (at_next >= target).any() else k
    share = target * np.exp(-log_p_sum[j])
    if share >= 1:  # delta_total is 1 but for rounding
        return float(loss[j])
    return float(np.clip(log_p_sum[j] + np.log1p(-share) - log_q_sum[j], max(loss[min(j + 1, k)], 0.0), loss[j]))


def optimal_delta(epsilon, delta, k, epsilon_total) -> float:
    """Return the smallest delta for which every k-fold composition of (epsilon, delta)-DP is (epsilon_total, that)-DP.

    epsilon, epsilon_total: >= 0; delta: in [0, 1]; k: whole, >= 1. ValueError otherwise.
    Source: Kairouz, Oh & Viswanath (2015), theorem 3.3: the worst case is randomized response.

    >>> round(optimal_delta(0.1, 0.0, 100, 1.0), 10)
    0.1256883902
    """
    epsilon, delta, k = _approximate(epsilon, delta, k)
    epsilon_total = validate.number("epsilon_total", epsilon_total, low=0)
    loss, log_p = losses(epsilon, k)
    above = loss > epsilon_total
    spill = float(np.sum(np.exp(log_p[above]) * -np.expm1(epsilon_total - loss[above])))
    certain = _any_failure(delta, k)
    return min(1.0, certain + (1 - certain) * spill)


def losses(epsilon, k) -> tuple[np.ndarray, np.ndarray]:
    """Return what k randomized responses leak about one bit: the privacy losses and their log-probabilities.

    epsilon: >= 0; k: whole, >= 1. ValueError otherwise. Returns two arrays of shape (k + 1,): the loss
    (k - 2 flips) epsilon in nats, falling, and the log-probability of that many flips.
    Source: Kairouz, Oh & Viswanath (2015), proof of theorem 3.3.

    >>> loss, log_p = losses(math.log(3), 2)
    >>> (loss / math.log(3)).round(12).tolist(), np.exp(log_p).round(12).tolist()
    ([2.0, 0.0, -2.0], [0.5625, 0.375, 0.0625])
    """
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    flips = np.arange(k + 1)
    log_choose = gammaln(k + 1) - gammaln(flips + 1) - gammaln(k - flips + 1)
    return (k - 2 * flips) * epsilon, log_choose + (k - flips) * epsilon - k * np.logaddexp(0, epsilon)


def _approximate(epsilon, delta, k):
    return (
        validate.number("epsilon", epsilon, low=0),
        validate.number("delta", delta, low=0, high=1),
        validate.whole("k", k),
    )


def _any_failure(delta, k):
    """Return 1 - (1 - delta)^k, without losing a small delta."""
    return 1.0 if delta == 1 else -math.expm1(k * math.log1p(-delta))
