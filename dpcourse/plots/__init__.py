"""The pictures of the lessons, one file per lesson; `show` shows one."""

from dpcourse.plots.composition import bounds, majority_is_right, posterior, repeated, spill, walks
from dpcourse.plots.frame import as_image, show
from dpcourse.plots.start_here import neighbours, response, response_error

__all__ = [
    "as_image",
    "bounds",
    "majority_is_right",
    "neighbours",
    "posterior",
    "repeated",
    "response",
    "response_error",
    "show",
    "spill",
    "walks",
]
