"""What an answer may return: functions (value, case) -> None, or a complaint in words.

Each also says what it asks for: `asked`, in words, and `written`, the code that makes it, by which it is given out.
"""

import math
import numbers

import numpy as np

from dpcourse.probe.values import plain, type_name


def _asks(asked, written):
    def decorated(complain):
        complain.asked, complain.written = asked, written
        return complain

    return decorated


@_asks("one number", "a_number")
def a_number(value, case):
    """A finite real number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return "Return one number, not an array that holds one number: `float(...)` takes it out."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return f"Return one number, not {type_name(value)}."
    if not math.isfinite(value):
        return f"The result is {value}. Look for a division by zero, an overflow, or the logarithm of something <= 0."
    return None


@_asks("one whole number", "a_whole_number")
def a_whole_number(value, case):
    """A whole number, as an int or a float without a fraction."""
    complaint = a_number(value, case)
    if complaint is None and value != int(value):
        return f"Return a whole number, not {value}."
    return complaint


def several(*names):
    """As many finite numbers as there are names, in this order."""

    @_asks(f"{len(names)} numbers, `{', '.join(names)}`", f"several({', '.join(map(repr, names))})")
    def complain(value, case):
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != len(names):
            count = {2: "two", 3: "three", 4: "four"}[len(names)]
            return f"Return {count} numbers, `{', '.join(names)}`, not {type_name(value)}."
        for name, number in zip(names, value, strict=True):
            complaint = a_number(plain(number), case)
            if complaint:
                return f"{name}: {complaint}"
        return None

    complain.names = names
    return complain


@_asks("True or False", "true_or_false")
def true_or_false(value, case):
    """One truth value; a number passes too and is compared as one, so that 1 is True."""
    if isinstance(value, np.ndarray):
        return "Return one True or False, not an array: `np.all(...)` is True where every entry is."
    if not isinstance(value, numbers.Real):
        return f"Return True or False, not {type_name(value)}."
    return None


def numbers_like(argument):
    """An array (or list) of finite numbers, as long as the argument of that name."""

    def fault(array):
        if not np.isfinite(array).all():
            return f"The result holds {array[~np.isfinite(array)][0]}. Look for a division by zero or an overflow."
        return None

    return _asks(f"one number for each in `{argument}`", f"numbers_like({argument!r})")(
        _one_each(argument, "number", "iuf", fault)
    )


def bits_like(argument):
    """An array of 0s and 1s, as long as the argument of that name."""

    def fault(array):
        return None if np.isin(array, (0, 1)).all() else "Return 0s and 1s only. The opposite of a bit is `1 - bit`."

    return _asks(f"one bit for each in `{argument}`", f"bits_like({argument!r})")(
        _one_each(argument, "bit", "biuf", fault)
    )


def _one_each(argument, what, kinds, fault):
    """One array with as many entries as the argument has, of those kinds of numpy, and without `fault`."""

    def complain(value, case):
        expected = len(case[argument])
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.asarray(None)
        if array.ndim != 1 or array.dtype.kind not in kinds:
            return f"Return one array (or list) of {expected} {what}s, not {type_name(value)}."
        if len(array) != expected:
            return f"Return one {what} for each of the {expected} in `{argument}`, not {len(array)}."
        return fault(array)

    return complain
