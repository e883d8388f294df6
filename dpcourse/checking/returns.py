"""What an answer may return: functions (value, case) -> None, or a complaint in words.

Each function has `asked`, a message that says what it asks for, with the fields of the message, and `written`, the code
by which the function is given out.
"""

import math
import numbers

import numpy as np

from dpcourse.base.languages import counted, say, to_say
from dpcourse.checking.calling.values import plain, type_name


def _asks(asked, written, **fields):
    def decorated(complain):
        complain.asked, complain.written = (asked, fields), written
        return complain

    return decorated


@_asks(to_say("one number"), "a_number")
def a_number(value, case):
    """Ask for a finite real number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return say("Return one number, not an array that holds one number: `float(...)` takes it out.")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return say("Return one number, not {given}.", given=type_name(value))
    if not math.isfinite(value):
        return say(
            "The result is {value}, and a right one is finite. Do you return it yourself in some case? Else look for a division by zero, an overflow, or the logarithm of something <= 0.",
            value=value,
        )
    return None


@_asks(to_say("one whole number"), "a_whole_number")
def a_whole_number(value, case):
    """Ask for a whole number, as an int or a float without a fraction."""
    complaint = a_number(value, case)
    if complaint is None and value != int(value):
        return say("Return a whole number, not {value}.", value=value)
    return complaint


SEVERAL = {
    2: to_say("Return two numbers, `{names}`, not {given}."),
    3: to_say("Return three numbers, `{names}`, not {given}."),
    4: to_say("Return four numbers, `{names}`, not {given}."),
}


def several(*names):
    """Ask for as many finite numbers as there are names, in this order."""

    in_order = ", ".join(names)

    @_asks(
        to_say("{count} numbers, `{names}`"),
        f"several({', '.join(map(repr, names))})",
        count=len(names),
        names=in_order,
    )
    def complain(value, case):
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != len(names):
            return say(SEVERAL[len(names)], names=in_order, given=type_name(value))
        for name, number in zip(names, value, strict=True):
            complaint = a_number(number if isinstance(number, dict) else plain(number), case)  # a dict says the type
            if complaint:
                return say("{name}: {complaint}", name=name, complaint=complaint)
        return None

    complain.names = names
    return complain


@_asks(to_say("True or False"), "true_or_false")
def true_or_false(value, case):
    """Ask for one truth value; a number passes too and is compared as one, so that 1 is True."""
    if isinstance(value, np.ndarray):
        return say("Return one True or False, not an array: `np.all(...)` is True where every entry is.")
    if not isinstance(value, numbers.Real):
        return say("Return True or False, not {given}.", given=type_name(value))
    if value not in (0, 1):
        return say("Return True or False, not {given}.", given=value)
    return None


def numbers_like(argument):
    """Ask for an array (or list) of finite numbers, as long as the argument of that name."""

    def fault(array):
        if not np.isfinite(array).all():
            value = array[~np.isfinite(array)][0]
            return say("The result holds {value}. Look for a division by zero or an overflow.", value=float(value))
        return None

    asked = to_say("one number for each in `{argument}`")
    complain = _one_each(argument, NUMBERS, "iuf", fault)
    return _asks(asked, f"numbers_like({argument!r})", argument=argument)(complain)


def bits_like(argument):
    """Ask for an array of 0s and 1s, as long as the argument of that name."""

    def fault(array):
        if np.isin(array, (0, 1)).all():
            return None
        return say("Return 0s and 1s only. The opposite of a bit is `1 - bit`.")

    asked = to_say("one bit for each in `{argument}`")
    complain = _one_each(argument, BITS, "biuf", fault)
    return _asks(asked, f"bits_like({argument!r})", argument=argument)(complain)


def in_a_row(value, kinds="biuf"):
    """Return numbers in a list or an array with one axis, of those kinds of numpy, as an array; None for anything else.

    >>> in_a_row([1, 0]), in_a_row([[1], [0, 1]]), in_a_row([0.5], kinds="biu")
    (array([1, 0]), None, None)
    """
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    return array if array.ndim == 1 and array.dtype.kind in kinds else None


def so_many_numbers(count: int, given: str) -> str:
    """Return that an array of so many numbers is asked for, and what was given."""
    return counted(
        "Return one array (or list) of {count} number, not {given}.",
        "Return one array (or list) of {count} numbers, not {given}.",
        count=count,
        given=given,
    )


def so_many_bits(count: int, given: str) -> str:
    """Return that an array of so many bits is asked for, and what was given."""
    return counted(
        "Return one array (or list) of {count} bit, not {given}.",
        "Return one array (or list) of {count} bits, not {given}.",
        count=count,
        given=given,
    )


NUMBERS = so_many_numbers, to_say("Return one number for each of the {expected} in `{argument}`, not {given}.")
BITS = so_many_bits, to_say("Return one bit for each of the {expected} in `{argument}`, not {given}.")


def _one_each(argument, complaints, kinds, fault):
    """Ask for one array with as many entries as the argument has, of those kinds of numpy, and without `fault`.

    complaints: (how many, what was given) -> what is said of what is no such array; what is said of one of another length.
    """

    def complain(value, case):
        expected = len(case[argument])
        array = in_a_row(value, kinds)
        if array is None:
            return complaints[0](expected, type_name(value))
        if len(array) != expected:
            return say(complaints[1], expected=expected, argument=argument, given=len(array))
        return fault(array)

    return complain
