"""Plain data: what may cross from the learner's process to the judge, what an answer may return, how it is shown."""

import math
import numbers

import numpy as np

LARGEST_ARRAY = 1_000_000


# ---- what an answer may return: value, case -> None or a complaint


def a_number(value, case):
    """A finite real number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return "Return one number, not an array that holds one number: `float(...)` takes it out."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return f"Return one number, not {type_name(value)}."
    if not math.isfinite(value):
        return f"The result is {value}. Look for a division by zero, an overflow, or the logarithm of something <= 0."
    return None


def a_whole_number(value, case):
    """A whole number, as an int or a float without a fraction."""
    complaint = a_number(value, case)
    if complaint is None and value != int(value):
        return f"Return a whole number, not {value}."
    return complaint


def several(*names):
    """As many finite numbers as there are names, in this order."""

    def complain(value, case):
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != len(names):
            count = {2: "two", 3: "three", 4: "four"}[len(names)]
            return f"Return {count} numbers, `{', '.join(names)}`, not {type_name(value)}."
        for name, number in zip(names, value, strict=True):
            complaint = a_number(plain(number), case)
            if complaint:
                return f"{name}: {complaint}"
        return None

    return complain


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

    return _one_each(argument, "number", "iuf", fault)


def bits_like(argument):
    """An array of 0s and 1s, as long as the argument of that name."""

    def fault(array):
        return None if np.isin(array, (0, 1)).all() else "Return 0s and 1s only. The opposite of a bit is `1 - bit`."

    return _one_each(argument, "bit", "biuf", fault)


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


# ---- inputs


def rounded(value, digits=2):
    """A plain float with few digits, as an input that a learner can read."""
    return round(float(value), digits)


# ---- plain data


def plain(value):
    """The value as plain data (numbers, text, lists, real arrays); anything else as {"type": its name}."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < 2**63 else float("inf")
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (list, tuple)) and len(value) <= LARGEST_ARRAY:
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else [plain(item) for item in value]
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.ndim == 0 and array.dtype.kind in "biuf":
            return array.item()
        if array.dtype.kind in "biuf" and array.size <= LARGEST_ARRAY:
            return array
    return {"type": type(value).__name__}


def show(value):
    """A short text of plain data: numbers to six digits, long arrays cut."""
    if isinstance(value, np.bool_):
        value = bool(value)
    if isinstance(value, (bool, str)) or value is None:
        return repr(value)
    if isinstance(value, numbers.Integral):
        return str(value)
    if isinstance(value, numbers.Real):
        return f"{value:.6g}"
    if isinstance(value, dict):
        if set(value) <= {"type"}:
            return f"a {value.get('type', 'dict')}"
        return f"{{{', '.join(f'{key!r}: {show(entry)}' for key, entry in value.items())}}}"
    shown = ", ".join(show(item) for item in value[:8]) + (", …" if len(value) > 8 else "")
    return f"({shown})" if isinstance(value, tuple) else f"[{shown}]"


def type_name(value):
    """How a beginner calls the type of a value."""
    if isinstance(value, dict):
        return f"a {value['type']}" if set(value) == {"type"} else "a dict"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return {bool: "True or False", str: "text", int: "a number", float: "a number", type(None): "nothing"}.get(
        type(value), f"a {type(value).__name__}"
    )
