"""What several exercises of lesson 04 share."""

import functools
import math

import numpy as np

from dpcourse import clt, gdp, pld, validate
from dpcourse.engine import several


def random_mechanism(rng, outcomes):
    """P and Q of a mechanism, sorted from the outcome that speaks most for Q to the one that speaks most for P."""
    p, q = rng.dirichlet(np.full(outcomes, 3)), rng.dirichlet(np.full(outcomes, 3))
    order = np.argsort(-q / p)
    return p[order], q[order]


def two_k_over_s(mu=lambda k, s2: 2 * k / math.sqrt(s2), kl=lambda e: e * np.tanh(e / 2), kappa2=lambda e: e**2):
    def code(epsilons):
        e = np.array(epsilons)
        return float(mu(kl(e).sum(), kappa2(e).sum()))

    return code


RANGES = {"noise_multiplier": (1, 10), "sample_rate": (1e-4, 0.05), "steps": (100, 20_000)}


MARGIN = 0.2  # how wrong the limit has to be


CLOSE = 0.02  # up to where the two are called equal


def setting_within(ranges):
    """(noise_multiplier, sample_rate, steps), each within its range."""

    def returns(value, case):
        complaint = several(*ranges)(value, case)
        if complaint:
            return complaint
        for (name, (low, high)), number in zip(ranges.items(), value, strict=True):
            if not low <= number <= high:
                return f"{name} must be from {low:g} to {high:,g} here, and yours is {number:g}."
        if value[2] != int(value[2]):
            return f"steps must be a whole number, not {value[2]}."
        return None

    return returns


@functools.lru_cache(maxsize=64)
def certified(noise_multiplier, sample_rate, steps, delta):
    """What the limit says and the certified interval of epsilon; the interval is None where none was found."""
    noise_multiplier, sample_rate = float(noise_multiplier), float(sample_rate)
    steps = validate.whole("steps", steps)
    said = gdp.epsilon(delta, clt.noisy_sgd_mu(noise_multiplier, sample_rate, steps))
    try:
        return said, pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)
    except ValueError:
        return said, None


def relative_error(value, case):
    """The least and the most that the limit can be above the truth, as a share of the truth; None if not known."""
    said, bounds = certified(*map(float, value), case["delta"])
    if bounds is None or bounds.lower <= 0:
        return None
    return said / bounds.upper - 1, said / bounds.lower - 1


def wrong_by_margin(sign):
    """The law: sign times the error of the limit is above MARGIN, whatever in the certified interval the truth is."""

    def law(value, case):
        error = relative_error(value, case)
        if error is None:
            return False, "no epsilon above 0 is certified for this setting, so there is nothing to compare with"
        said, bounds = certified(*map(float, value), case["delta"])
        least, most = sorted(sign * end for end in error)
        line = f"the limit says {said:.4g}, the truth is certified between {bounds.lower:.6g} and {bounds.upper:.6g}"
        return least > MARGIN, line + ("; whether that is 20 % cannot be decided" if least <= MARGIN < most else "")

    return law


def any_error(low, high, sign):
    """recognise: in some case the error, in the wanted direction, certainly lies between low and high."""

    def recognise(cases, values):
        errors = [relative_error(value, case) for case, value in zip(cases, values, strict=True)]
        signed = [sorted(sign * end for end in error) for error in errors if error is not None]
        return any(low < least and most < high for least, most in signed)

    return recognise


def draw_delta(rng):
    return [{"delta": float(f"{10 ** rng.uniform(low, low + 1):.1e}")} for low in (-6, -8)]
