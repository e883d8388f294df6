"""Refuse bad input where it enters: each function returns the value, or raises ValueError with name, value and range."""

import math
import operator

import numpy as np


def number(name, value, low=-math.inf, high=math.inf, *, open_low=False, open_high=False) -> float:
    """Return a real number between `low` and `high`; NaN never passes.

    >>> number("epsilon", 1, low=0)
    1.0
    >>> number("epsilon", -1, low=0)
    Traceback (most recent call last):
    ValueError: epsilon must be a number in [0, inf), got -1
    """
    try:
        as_float = float(value)
    except (TypeError, ValueError):
        as_float = math.nan
    above = as_float > low if open_low else as_float >= low
    below = as_float < high if open_high or math.isinf(high) else as_float <= high
    if not (above and below):
        left = "(" if open_low or math.isinf(low) else "["
        right = ")" if open_high or math.isinf(high) else "]"
        raise ValueError(f"{name} must be a number in {left}{low:g}, {high:g}{right}, got {value!r}")
    return as_float


def numbers(name, values, low=-math.inf, high=math.inf) -> np.ndarray:
    """Return a non-empty one-dimensional array of real numbers between `low` and `high`.

    >>> numbers("epsilons", [0.1, 0.2], low=0)
    array([0.1, 0.2])
    """
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a non-empty list of numbers, got {values!r}")
    for value in array[~((array >= low) & (array <= high) & np.isfinite(array))][:1].tolist():
        number(f"every entry of {name}", value, low, high)
    return array.astype(float)


def whole(name, value, low=1) -> int:
    """Return a whole number of at least `low`; 3.0 passes as 3, 2.5 does not.

    >>> whole("k", 3.0)
    3
    >>> whole("k", 0)
    Traceback (most recent call last):
    ValueError: k must be a whole number >= 1, got 0
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = int(value) if isinstance(value, (float, np.floating)) and float(value).is_integer() else low - 1
    if isinstance(value, (bool, np.bool_)) or count < low:
        raise ValueError(f"{name} must be a whole number >= {low}, got {value!r}")
    return count


def bits(name, values) -> np.ndarray:
    """Return a one-dimensional array of 0s and 1s (booleans pass), as int8.

    >>> bits("bits", [True, False])
    array([1, 0], dtype=int8)
    """
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be a list of 0s and 1s, got {values!r}")
    return array.astype(np.int8)


def reals(name, values, low=-math.inf, high=math.inf) -> np.ndarray:
    """Return real numbers between `low` and `high`, with infinities where the range has these: an array of any shape.

    >>> reals("alpha", [[0, 0.5], [1, 1]], 0, 1).shape
    (2, 2)
    >>> reals("alpha", 1.5, 0, 1)
    Traceback (most recent call last):
    ValueError: alpha must be a number in [0, 1], got 1.5
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a number or an array of numbers, got {values!r}")
    for value in array[~((array >= low) & (array <= high))][:1].tolist():
        number(name, value, low, high)
    return array.astype(float)
