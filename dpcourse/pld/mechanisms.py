"""The mechanisms whose compositions the course asks about; each gives a Curve."""

from dpcourse.base import validate
from dpcourse.pld.curve import Curve
from dpcourse.pld.pairs import Gaussian, Group, Laplace, Randomized, Sampled


def noisy_sgd(noise_multiplier, sample_rate, steps, group=1) -> Curve:
    """Return noisy SGD: each step adds Gaussian noise to a sum over a Poisson sample; neighbours differ by one person.

    noise_multiplier: noise deviation / clipping norm, > 0; sample_rate: in (0, 1]; steps: whole, >= 1; group: how many
    people, or rows of one person, are in the data or not, all of them together, each drawn by a coin of their own:
    whole, >= 1. ValueError otherwise. Source: Abadi et al. (2016); Zhu, Dong & Wang (2022), theorem 11, and Ganesh
    (2024) for groups (the worst pairs).

    >>> round(noisy_sgd(1.0, 0.01, 1000).epsilon(1e-5).upper, 4)
    1.8282
    >>> round(noisy_sgd(1.0, 0.01, 1000, group=2).epsilon(1e-5).upper, 3)
    3.979
    """
    noise = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    rate, steps = validate.number("sample_rate", sample_rate, 0, 1, open_low=True), validate.whole("steps", steps)
    group = validate.whole("group", group)
    if rate == 1:
        return Curve([(Gaussian(group / noise), steps)])
    return Curve([(Sampled(1 / noise, rate) if group == 1 else Group(1 / noise, rate, group), steps)])


def gaussian(sigma, n=1) -> Curve:
    """Return n Gaussian mechanisms of sensitivity 1 and deviation sigma.

    sigma: > 0; n: whole, >= 1. ValueError otherwise. Source: Dong, Roth & Su (2022), corollary 3.3: one Gaussian mechanism of deviation sigma / sqrt(n).

    >>> round(gaussian(1.0, 1).epsilon(1e-5).upper, 6)
    4.377178
    """
    sigma = validate.number("sigma", sigma, 0, open_low=True)
    return Curve([(Gaussian(1 / sigma), validate.whole("n", n))])


def laplace(scale, n=1) -> Curve:
    """Return n Laplace mechanisms of sensitivity 1. scale: > 0; n: whole, >= 1. ValueError otherwise.

    Source: Dwork & Roth (2014), definition 3.3.

    >>> round(laplace(10.0, 100).epsilon(1e-5).upper, 5)
    4.22035
    """
    return Curve([(Laplace(1 / validate.number("scale", scale, 0, open_low=True)), validate.whole("n", n))])


def approx_dp(epsilon, delta=0.0, n=1) -> Curve:
    """Return n of the worst (epsilon, delta)-DP mechanisms. epsilon: > 0; delta: in [0, 1]; n: whole, >= 1.

    ValueError otherwise. Source: Kairouz, Oh & Viswanath (2015), theorem 3.3.

    >>> round(approx_dp(0.1, 0.0, 100).epsilon(1e-5).upper, 6)
    4.306791
    """
    epsilon, delta = validate.number("epsilon", epsilon, 0, open_low=True), validate.number("delta", delta, 0, 1)
    return Curve([(Randomized(epsilon, delta), validate.whole("n", n))])


def randomized_response(epsilon, n=1) -> Curve:
    """Return n randomized responses, each epsilon-DP. epsilon: > 0; n: whole, >= 1. ValueError otherwise.

    Source: Warner (1965); Kairouz, Oh & Viswanath (2015), theorem 3.3.

    >>> round(randomized_response(0.1, 100).delta(1.0).upper, 10)
    0.1256883902
    """
    return approx_dp(epsilon, 0.0, n)
