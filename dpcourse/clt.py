"""Lesson 04: the central limit theorem of privacy: many small losses together look Gaussian.

Theorem numbers without an author are those of Dong, Roth & Su (2022), "Gaussian differential privacy".
"""

import math

import numpy as np
from scipy.special import erf, ndtr

from dpcourse.base import validate
from dpcourse.tradeoff import TradeOff

BERRY_ESSEEN = 0.56  # Shevtsova (2010)


def functionals(f) -> tuple[float, float, float, float]:
    """Return (kl, kappa2, kappa3, kappa3_bar): -E L, E L^2, E|L|^3 and E|L - E L|^3 of L = log|f'(U)|, in nats.

    f: a TradeOff, else ValueError. All are infinite where f reaches 0 before alpha = 1. Exact for piecewise linear f,
    Gaussian and Laplace; otherwise by quadrature. Source: section 3.2, equations before theorem 3.4.

    >>> from dpcourse import tradeoff
    >>> [round(value, 8) for value in functionals(tradeoff.laplace(1.0))]
    [0.36787944, 0.79272335, 0.76617346, 0.69934765]
    """
    if not isinstance(f, TradeOff):
        raise ValueError(f"f must be a TradeOff, got {f!r}")
    if f.mu is not None:
        return _gaussian_functionals(f.mu)
    loss, weight = f.loss_law()
    if np.isneginf(loss).any():
        return (math.inf,) * 4
    kl = -float(weight @ loss)
    centred_loss, centred_weight = f.loss_law(split_at=-kl)
    bar = float(centred_weight @ np.abs(centred_loss + kl) ** 3)
    return kl, float(weight @ loss**2), float(weight @ np.abs(loss) ** 3), bar


def berry_esseen(curves) -> tuple[float, float]:
    """Return (mu, gamma), the Gaussian limit of a product of curves and a bound on the distance.

    If gamma < 1/2, then G_mu(alpha + gamma) - gamma <= product of the curves <= G_mu(alpha - gamma) + gamma for all alpha
    in [gamma, 1 - gamma].

    curves: a non-empty list of TradeOff, each symmetric; for others nothing is claimed. ValueError otherwise.
    Source: theorem 3.4, with the constant 0.56.

    >>> from dpcourse import tradeoff
    >>> [round(value, 6) for value in berry_esseen([tradeoff.laplace(0.1)] * 100)]
    [0.984391, 0.056874]
    """
    kl, kappa2, _, kappa3_bar = _each(curves)
    if math.isinf(kl.sum()):
        return math.inf, math.inf
    variance = float(np.sum(kappa2 - kl**2))
    if variance <= 0:
        return 0.0, 0.0
    return 2 * float(kl.sum()) / math.sqrt(variance), BERRY_ESSEEN * float(kappa3_bar.sum()) / variance**1.5


def limit(curves) -> float:
    """Return mu = 2 K / s of the Gaussian limit, with K the sum of kl and s^2 the sum of kappa2.

    curves: a non-empty list of TradeOff. ValueError otherwise. Source: theorem 3.5.

    >>> from dpcourse import tradeoff
    >>> round(limit([tradeoff.approx_dp(0.01)] * 10_000), 4)
    1.0
    """
    kl, kappa2, _, _ = _each(curves)
    if math.isinf(kl.sum()):
        return math.inf
    return 2 * float(kl.sum()) / math.sqrt(kappa2.sum()) if kappa2.sum() > 0 else 0.0


def noisy_sgd_mu(noise_multiplier, sample_rate, steps, sampling="poisson") -> float:
    """Return the mu of noisy SGD in the limit of many steps, sample_rate sqrt(steps) fixed: an approximation, no bound.

    noise_multiplier: > 0; sample_rate: in (0, 1]; steps: a real number > 0; sampling: "poisson" (each person by a
    coin) or "uniform" (batches of fixed size). ValueError otherwise.
    Source: Bu, Dong, Long & Su (2020), section 3.2 (Poisson); corollary 5.4 (uniform).

    >>> round(noisy_sgd_mu(1.0, 0.01, 1000), 6), round(noisy_sgd_mu(1.0, 0.01, 1000, sampling="uniform"), 6)
    (0.414522, 0.540795)
    """
    sigma = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    rate = validate.number("sample_rate", sample_rate, 0, 1, open_low=True)
    root = math.sqrt(validate.number("steps", steps, 0, open_low=True))
    if sampling == "poisson":
        return rate * root * math.sqrt(math.expm1(sigma**-2))
    if sampling == "uniform":
        spread = math.exp(sigma**-2) * ndtr(1.5 / sigma) + 3 * ndtr(-0.5 / sigma) - 2
        return rate * root * math.sqrt(2 * spread)
    raise ValueError(f"sampling must be 'poisson' or 'uniform', got {sampling!r}")


def approx_dp_limit(epsilons, deltas) -> tuple[float, float]:
    """Return (mu, delta) of the limit G_mu ⊗ f_{0, delta} of many (epsilon, delta)-DP answers, each small.

    mu = sqrt(sum of epsilon^2), delta = 1 - exp(-sum of deltas). epsilons: each >= 0; deltas: each in [0, 1], as
    many. ValueError otherwise. Source: theorem 3.7.

    >>> approx_dp_limit([0.3, 0.4], [0.0, 0.0])
    (0.5, 0.0)
    """
    epsilons, deltas = validate.numbers("epsilons", epsilons, 0), validate.numbers("deltas", deltas, 0, 1)
    if epsilons.size != deltas.size:
        raise ValueError(f"deltas must have one entry per epsilon ({epsilons.size}), got {deltas.size}")
    return math.hypot(*epsilons), -math.expm1(-math.fsum(deltas))


def _each(curves):
    """Return the functionals of each curve, as four arrays; a curve that occurs many times is computed once."""
    curves = list(curves) if isinstance(curves, (list, tuple)) else curves
    if not isinstance(curves, list) or not curves:
        raise ValueError(f"curves must be a non-empty list of TradeOff, got {curves!r}")
    known = {id(f): functionals(f) for f in {id(f): f for f in curves}.values()}
    return np.array([known[id(f)] for f in curves]).T


def _gaussian_functionals(mu):
    """Return the functionals of G_mu, whose privacy loss is N(-mu^2/2, mu^2)."""
    if mu == 0:
        return (0.0,) * 4
    mean = mu**2 / 2
    third = math.sqrt(2 / math.pi) * mu * (mean**2 + 2 * mu**2) * math.exp(-((mu / 2) ** 2) / 2)
    third += mean * (mean**2 + 3 * mu**2) * float(erf(mu / 2 / math.sqrt(2)))
    return mean, mean**2 + mu**2, third, math.sqrt(8 / math.pi) * mu**3
