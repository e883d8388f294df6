"""The pictures of the lessons, one file per lesson; `show` shows one."""

from dpcourse.plots.clt import MECHANISMS, limit, limit_error, product, settings
from dpcourse.plots.composition import bounds, majority_is_right, posterior, repeated, spill, walks
from dpcourse.plots.frame import as_image, show
from dpcourse.plots.start_here import neighbours, response, response_error

__all__ = [
    "MECHANISMS",
    "as_image",
    "bounds",
    "limit",
    "limit_error",
    "majority_is_right",
    "neighbours",
    "posterior",
    "product",
    "repeated",
    "response",
    "response_error",
    "settings",
    "show",
    "spill",
    "walks",
]
