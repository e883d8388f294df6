"""What several exercises of lesson 08 share."""

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking.calling.values import type_name


def whole_numbers(value, case):
    """Ask for a list of as many whole numbers as `size` says."""
    size = case["size"]
    if not isinstance(value, (list, tuple, np.ndarray)):
        return say(
            "Return a list (or array) of length {size}, of whole numbers, not {kind}.", size=size, kind=type_name(value)
        )
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return say("Return a list (or array) of length {size}, of whole numbers, and nothing else.", size=size)
    if array.ndim > 1:
        return say("Return a list (or array) of length {size}, of whole numbers, not of lists or tuples.", size=size)
    if array.shape != (size,):
        return say("Return a list (or array) of length {size}, not {count}.", size=size, count=len(value))
    if any(entry is None for entry in value):
        return say("Return a list (or array) of length {size}, of whole numbers; yours has a None in it.", size=size)
    if np.isfinite(array).all() and (array == np.round(array)).all():
        return None
    return say("Return a list (or array) of length {size}, of whole numbers; yours have fractions.", size=size)
