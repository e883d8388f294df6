"""What several exercises of lesson 02 share."""

import math

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking import Count


def shape_counts(noise, b):
    """Four counts that show scale, centre and shape of Laplace noise."""
    size = np.abs(noise)
    return [
        Count.of(say("noises within ln 2 scales of 0"), size <= b * math.log(2), 0.5),
        Count.of(say("noises within 0.2 scales of 0"), size <= 0.2 * b, -math.expm1(-0.2)),
        Count.of(say("noises beyond 2 scales"), size > 2 * b, math.exp(-2)),
        Count.of(say("noises above 0"), noise > 0, 0.5),
    ]


def noise_scale(sensitivity, epsilon):
    return sensitivity / epsilon


def every_run_alike(noise):
    """Whether all runs have the same noise, and it looks like noise: about as much above 0 as below."""
    return bool(np.ptp(noise, axis=0).max() < 1e-9 and 0.2 < (noise > 0).mean() < 0.8)


def alike_in_all_runs(noise):
    """Whether every entry of every run has the same noise, and there is some."""
    return bool(np.ptp(noise) < 1e-9 and np.any(noise))


def is_constant(noise):
    return np.ptp(noise) <= 1e-9 * (1 + np.abs(noise).max())
