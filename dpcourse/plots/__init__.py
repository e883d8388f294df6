"""The pictures of the lessons, one file per lesson; `show` shows one."""

from dpcourse.plots.audit import attack, audited, band, canary, gap, one_run
from dpcourse.plots.clt import MECHANISMS, limit, limit_error, product, settings
from dpcourse.plots.composition import bounds, majority_is_right, posterior, repeated, spill, walks
from dpcourse.plots.dpsgd import accountants, clipping, noise_needed, run_settings, sampled, training
from dpcourse.plots.frame import as_image, show
from dpcourse.plots.gdp import (
    approx_dp_lines,
    candidates,
    duality,
    group_limit,
    noise_sizes,
    one_sided,
    symmetry,
    two_errors,
    which_are_fdp,
)
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
    "MECHANISMS",
    "accountants",
    "approx_dp_lines",
    "as_image",
    "attack",
    "audited",
    "band",
    "bounds",
    "canary",
    "candidates",
    "clipping",
    "coupling",
    "duality",
    "gap",
    "group_limit",
    "histogram_release",
    "laplace_pair",
    "limit",
    "limit_error",
    "low_bits",
    "majority_is_right",
    "neighbours",
    "noise_needed",
    "noise_per_count",
    "noise_sizes",
    "noisy_max_or_all",
    "one_run",
    "one_sided",
    "posterior",
    "product",
    "repeated",
    "response",
    "response_error",
    "run_settings",
    "sampled",
    "settings",
    "show",
    "spill",
    "symmetry",
    "training",
    "two_errors",
    "walks",
    "which_are_fdp",
    "worst_error",
]
