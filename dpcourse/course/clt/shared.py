"""What several exercises of lesson 04 share."""

import functools
import math

import numpy as np

from dpcourse import clt, gdp, pld
from dpcourse.base import validate
from dpcourse.base.languages import say
from dpcourse.checking.calling.values import type_name


def random_mechanism(rng, outcomes):
    """P and Q of a mechanism, sorted from the outcome that speaks most for Q to the one that speaks most for P."""
    p, q = rng.dirichlet(np.full(outcomes, 3)), rng.dirichlet(np.full(outcomes, 3))
    order = np.argsort(-q / p)
    return p[order], q[order]


def two_arrays(value, case):
    """Arrays `loss, mass` of one length, of finite numbers."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 2:
        return say("Return two arrays, `loss, mass`, not {type}.", type=type_name(value))
    for name, array in zip(("loss", "mass"), value, strict=True):
        try:
            array = np.asarray(array, dtype=float)
        except (TypeError, ValueError):
            return say("{name} must be an array of numbers, not {type}.", name=name, type=type_name(array))
        if array.ndim != 1:
            return say(
                "{name} must be an array of numbers, and yours has the shape {shape}.",
                name=name,
                shape=str(array.shape),
            )
        if not np.isfinite(array).all():
            return say(
                "{name} has entries that are not finite. Is there a division by 0, or the logarithm of something that is "
                "negative or 0?",
                name=name,
            )
    if len(value[0]) != len(value[1]):
        return say(
            "loss and mass must have as many entries as each other; yours have {losses} and {masses}.",
            losses=len(value[0]),
            masses=len(value[1]),
        )
    return None


two_arrays.names = ("loss", "mass")  # by which a diagnosis calls them


def skewness(noise_multiplier):
    """skew(X) of section 8."""
    u = math.exp(noise_multiplier**-2)
    return (u**3 - 3 * u + 2) / (u - 1) ** 1.5


@functools.lru_cache(maxsize=64)
def certified(noise_multiplier, sample_rate, steps, delta):
    """What the limit says and the certified interval of epsilon; the interval is None where none was found."""
    noise_multiplier, sample_rate = float(noise_multiplier), float(sample_rate)
    steps = validate.whole("steps", steps)
    limit = gdp.epsilon(delta, clt.noisy_sgd_mu(noise_multiplier, sample_rate, steps))
    try:
        return limit, pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)
    except ValueError:
        return limit, None
