"""Plain data: what may cross from the learner's process to the judge, and how it is shown."""

import numbers
from typing import Any

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking.calling.messages import to_say

SHOWN = 8  # entries of an array in a text
DIGITS, ALL_DIGITS = 6, 17
LARGEST_ARRAY = 1_000_000
COPIED = {dict, list, tuple, np.ndarray, str}
A_KIND, AN_KIND, A_KIND_OF = to_say("a {kind}"), to_say("an {kind}"), to_say("a {kind} of {count}")
EMPTY = to_say("an empty {kind}")
AN_ARRAY = to_say("an array of shape {shape}")
VOWELS = {*"AEIOaeio"}  # not u, as in `ufunc`
TYPES = {
    bool: to_say("True or False"),
    str: to_say("text"),
    int: to_say("a number"),
    float: to_say("a number"),
    type(None): to_say("nothing"),
}


def copied(value: Any) -> Any:
    """A copy of plain data, a tenth of the time of copy.deepcopy; what else is in it stays what it is.

    Texts too are copied: two that are equal are not one object, as where they come from another process.

    >>> before = {"data": [1, [2]]}
    >>> after = copied(before)
    >>> after["data"][1].append(3)
    >>> before
    {'data': [1, [2]]}
    """
    kind = type(value)
    if kind is dict:
        return {name: copied(inside) for name, inside in value.items()}
    if kind in (list, tuple):
        return kind([copied(inside) if type(inside) in COPIED else inside for inside in value])
    if kind is str:
        return value[:1] + value[1:]
    return value.copy() if kind is np.ndarray else value


def plain(value):
    """The value as plain data (numbers, text, lists, real arrays); what is too large, or anything else, as {"type": its name}."""
    return _plain(value) if _fits(value) else {"type": type(value).__name__}


def _fits(value):
    """Whether lists, and lists within them, hold no more than LARGEST_ARRAY entries in all."""
    waiting, entries = [value], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, (list, tuple)):
            entries += len(one)
            if entries > LARGEST_ARRAY:
                return False
            waiting.extend(inside for inside in one if isinstance(inside, (list, tuple)))
    return True


def _plain(value):
    kind = type(value)  # exactly: of the many numbers in lists most are told at once
    if kind is float or (kind is int and -(2**63) < value < 2**63):
        return value
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
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else [_plain(item) for item in value]
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.ndim == 0 and array.dtype.kind in "biuf":
            return array.item()
        if array.dtype.kind in "biuf" and array.size <= LARGEST_ARRAY:
            return array
        if type(value) is np.ndarray and array.dtype.kind not in "biuf":  # of text, say
            return {"type": f"ndarray of {array.dtype.type.__name__.strip('_')}"}
    return {"type": type(value).__name__}


def alike(one, other):
    """Whether two values hold the same numbers in containers of the same kind; nan is like nan.

    >>> alike({"f": [1, 2]}, {"f": [1.0, 2.0]}), alike({"f": [1, 2]}, {"f": np.array([1, 2])})
    (True, False)
    """
    for kind in (dict, list, tuple, np.ndarray):
        if isinstance(one, kind) or isinstance(other, kind):
            if type(one) is not type(other):
                return False
            if kind is np.ndarray:
                return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")
            if kind is dict and list(one) != list(other):
                return False
            pairs = (one.values(), other.values()) if kind is dict else (one, other)
            return len(one) == len(other) and all(map(alike, *pairs))
    return bool(one == other) or (one != one and other != other)


def show(value: Any, digits: int = DIGITS) -> str:
    """A short text of plain data: numbers to six digits, long arrays cut."""
    return type_name(value) if isinstance(value, dict) and set(value) <= {"type"} else _shown(value, digits)


def show_apart(one: object, other: object) -> tuple[str, str]:
    """Short texts of two values that differ, with as many digits as it takes to see that.

    >>> show_apart(0.5, 0.25), show_apart(1.00000001, 1.0)
    (('0.5', '0.25'), ('1.00000001', '1'))
    """
    texts = ((show(one, digits), show(other, digits)) for digits in (DIGITS, 9, 12, ALL_DIGITS))
    return next((pair for pair in texts if pair[0] != pair[1]), (show(one), show(other)))


def _shown(value, digits):
    """The same as code, in every language."""
    if isinstance(value, np.bool_):
        value = bool(value)
    if isinstance(value, (bool, str)) or value is None:
        return repr(value)
    if isinstance(value, numbers.Integral):
        return str(value)
    if isinstance(value, numbers.Real):
        return f"{value:.{digits}g}"
    if isinstance(value, dict):
        if set(value) == {"type"}:
            return f"<{value['type']}>"
        return f"{{{', '.join(f'{key!r}: {_shown(entry, digits)}' for key, entry in value.items())}}}"
    shown = ", ".join(_shown(item, digits) for item in value[:SHOWN]) + (", …" if len(value) > SHOWN else "")
    return f"({shown})" if isinstance(value, tuple) else f"[{shown}]"


def type_name(value):
    """How a beginner calls the type of a value."""
    if isinstance(value, dict):
        return _a_kind(value["type"] if set(value) == {"type"} else "dict")
    if isinstance(value, np.ndarray):
        return say(AN_ARRAY, shape=str(value.shape))
    if isinstance(value, (list, tuple)):
        kind = type(value).__name__
        return say(A_KIND_OF, kind=kind, count=len(value)) if len(value) else say(EMPTY, kind=kind)
    return say(TYPES[type(value)]) if type(value) in TYPES else _a_kind(type(value).__name__)


def _a_kind(kind):
    return say(AN_KIND if kind[:1] in VOWELS else A_KIND, kind=kind)
