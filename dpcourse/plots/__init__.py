"""The pictures of the lessons, one file per lesson; `show` shows one."""

from dpcourse.plots.composition import bounds, majority_is_right, posterior, repeated, spill, walks
from dpcourse.plots.frame import as_image, show
from dpcourse.plots.laplace import (
    coupling,
    histogram_release,
    laplace_pair,
    low_bits,
    noise_per_count,
    noisy_max_or_all,
    worst_error,
)
from dpcourse.plots.start_here import neighbours, response, response_error

__all__ = [
    "as_image",
    "bounds",
    "coupling",
    "histogram_release",
    "laplace_pair",
    "low_bits",
    "majority_is_right",
    "neighbours",
    "noise_per_count",
    "noisy_max_or_all",
    "posterior",
    "repeated",
    "response",
    "response_error",
    "show",
    "spill",
    "walks",
    "worst_error",
]
