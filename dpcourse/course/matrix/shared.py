"""What several exercises of lesson 09 share."""

import math

import numpy as np

from dpcourse.base.languages import counted, say
from dpcourse.checking.calling.values import type_name
from dpcourse.checking.returns import in_a_row, so_many_numbers


def as_many_as_steps(value, case):
    """Ask for one array (or list) of finite numbers, one for each step."""
    steps = case["steps"]
    array = in_a_row(value, kinds="iuf")
    if array is None:
        return so_many_numbers(steps, type_name(value))
    if len(array) != steps:
        return counted(
            "Return {count} coefficient, one for each step, c_0 the first. You return {given}.",
            "Return {count} coefficients, one for each step, c_0 the first. You return {given}.",
            count=steps,
            given=len(array),
        )
    if not np.isfinite(array).all():
        return say("The result holds {value}. Look for a division by zero or an overflow.", value=_first_bad(array))
    return None


def _first_bad(array):
    return float(array[~np.isfinite(array)][0])


def root(steps):
    """The coefficients of the square root."""
    k = np.arange(1, steps)
    return np.cumprod(np.r_[1.0, (2 * k - 1) / (2 * k)])


def decoder_of(coefficients):
    """The first column of A C^-1, C the lower-triangular Toeplitz matrix of these coefficients."""
    c = np.asarray(coefficients, dtype=float)
    inverse = np.zeros(len(c))
    for t in range(len(c)):
        inverse[t] = ((t == 0) - c[1 : t + 1] @ inverse[:t][::-1]) / c[0]
    return np.cumsum(inverse)


def error_of(coefficients):
    """The root mean square error at mu = 1 and one participation, as it is in the lesson."""
    b = decoder_of(coefficients)
    of_sums = len(b) - np.arange(len(b))
    return math.sqrt(np.sum(np.square(coefficients)) * np.sum(of_sums * b**2) / len(b))
