"""Gaussian differential privacy (lesson 03): one number, mu, for the privacy of a mechanism.

mu-GDP says that telling two neighbouring data sets apart is at least as hard as telling N(0, 1) from N(mu, 1).
"Dong et al." is Dong, Roth & Su (2022), "Gaussian differential privacy".
"""

import math

import numpy as np
from scipy.optimize import brentq

from dpcourse.base import validate
from dpcourse.tradeoff import log_gaussian_delta


def delta(epsilon, mu) -> float | np.ndarray:
    """Return delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), without cancellation.

    epsilon: >= 0, any shape; mu: >= 0. ValueError otherwise. Relative error below 1e-10 down to 1e-300.
    Source: Dong et al., corollary 2.13; Balle & Wang (2018), theorem 8.

    >>> round(delta(1.0, mu=1.0), 10)
    0.1269367375
    """
    epsilon, mu = validate.reals("epsilon", epsilon, 0), validate.number("mu", mu, 0)
    values = np.exp(log_gaussian_delta(epsilon, mu))
    return float(values) if values.ndim == 0 else values


def epsilon(delta, mu) -> float:
    """Return the smallest epsilon for which mu-GDP implies (epsilon, delta)-DP; 0 where delta already suffices.

    delta: in [0, 1] (infinity for 0, unless mu = 0); mu: >= 0. ValueError otherwise.
    Source: Dong et al., corollary 2.13, solved for epsilon.

    >>> round(epsilon(1e-5, mu=1.0), 7)
    4.3771781
    """
    delta, mu = validate.number("delta", delta, 0, 1), validate.number("mu", mu, 0)
    if mu == 0 or (delta > 0 and math.log(delta) >= log_gaussian_delta(0.0, mu)):
        return 0.0
    if delta == 0:
        return math.inf
    high = mu**2 / 2 + mu * math.sqrt(-2 * math.log(delta)) + mu  # Phi(-x) <= exp(-x^2 / 2)
    return _root(lambda e: float(log_gaussian_delta(e, mu)) - math.log(delta), 0.0, high)


def mu(epsilon, delta) -> float:
    """Return the largest mu for which mu-GDP implies (epsilon, delta)-DP.

    epsilon: >= 0; delta: in [0, 1] (0 gives 0, 1 gives infinity). ValueError otherwise.
    Source: Dong et al., corollary 2.13, solved for mu.

    >>> round(mu(1.0, 0.1269367375), 8)
    1.0
    """
    epsilon, delta = validate.number("epsilon", epsilon, 0), validate.number("delta", delta, 0, 1)
    if delta in (0, 1):
        return math.inf if delta else 0.0
    high = 1.0
    while log_gaussian_delta(epsilon, high) < math.log(delta):
        high *= 2
    low = min(high / 2, 1.0)
    while log_gaussian_delta(epsilon, low) > math.log(delta):
        low /= 2
    log_mu = _root(
        lambda x: float(log_gaussian_delta(epsilon, math.exp(x))) - math.log(delta), math.log(low), math.log(high)
    )
    return math.exp(log_mu)


def compose(mus) -> float:
    """Return the mu of several mu_i-GDP answers about the same people: the root of the sum of squares.

    mus: each >= 0, any number of them. ValueError otherwise. Source: Dong et al., corollary 3.3.

    >>> compose([3.0, 4.0])
    5.0
    """
    return math.hypot(*validate.numbers("mus", mus, low=0))


def group(mu, k) -> float:
    """Return the mu of a group of k people: k mu.

    mu: >= 0; k: whole, >= 1. ValueError otherwise. Source: Dong et al., theorem 2.14.

    >>> group(0.5, 4)
    2.0
    """
    return validate.whole("k", k) * validate.number("mu", mu, 0)


def sigma(sensitivity, mu) -> float:
    """Return the standard deviation of Gaussian noise that makes an answer mu-GDP: sensitivity / mu.

    sensitivity: in the L2 norm, >= 0; mu: > 0. ValueError otherwise. Source: Dong et al., theorem 2.7.

    >>> sigma(1.0, mu=0.5)
    2.0
    """
    return validate.number("sensitivity", sensitivity, 0) / validate.number("mu", mu, 0, open_low=True)


def mechanism(value, sensitivity, mu, rng=None) -> float | np.ndarray:
    """Return the value with Gaussian noise of deviation sensitivity / mu on each number: mu-GDP for real numbers.

    The noise is made of doubles, whose low bits may leak, as those of `laplace.mechanism` do: for learning and
    experiments. value: numbers of any shape; sensitivity: of all of them together in the L2 norm, >= 0; mu: > 0.
    rng: Generator, seed or None. ValueError otherwise. Source: Dong et al., theorem 2.7.

    >>> mechanism([1.0, 2.0], sensitivity=1.0, mu=1e9, rng=3).round(6).tolist()
    [1.0, 2.0]
    """
    value, scale = validate.reals("value", value), sigma(sensitivity, mu)
    noisy = value + np.random.default_rng(rng).normal(0, scale, value.shape)
    return float(noisy) if value.ndim == 0 else noisy


def classic_sigma(epsilon, delta, sensitivity=1.0) -> float:
    """Return sqrt(2 ln(1.25/delta)) sensitivity / epsilon: enough for (epsilon, delta)-DP, proved for epsilon < 1 only.

    epsilon: > 0; delta: in (0, 1]; sensitivity: >= 0. ValueError otherwise.
    Source: Dwork & Roth (2014), theorem 3.22 and appendix A.

    >>> round(classic_sigma(1.0, 1e-5), 6)
    4.844805
    """
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    delta = validate.number("delta", delta, 0, 1, open_low=True)
    return math.sqrt(2 * math.log(1.25 / delta)) * validate.number("sensitivity", sensitivity, 0) / epsilon


def analytic_sigma(epsilon, delta, sensitivity=1.0) -> float:
    """Return the smallest deviation of Gaussian noise that gives (epsilon, delta)-DP.

    epsilon: >= 0; delta: in (0, 1]; sensitivity: >= 0. ValueError otherwise.
    Source: Balle & Wang (2018), theorem 9.

    >>> round(analytic_sigma(1.0, 1e-5), 8)
    3.73063163
    """
    delta = validate.number("delta", delta, 0, 1, open_low=True)
    return validate.number("sensitivity", sensitivity, 0) / mu(epsilon, delta)


def _root(function, low, high):
    return float(
        brentq(
            function,
            low,
            high,
            xtol=1e-15 * min(high, 1.0) if high > 0 else 1e-15,
            rtol=4 * np.finfo(float).eps,
            maxiter=500,
        )
    )
