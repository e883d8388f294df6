"""The numbers that are written in a function: an answer that is wrong on some inputs only often tells them by such a number."""

import math
import types
from collections.abc import Iterator
from typing import Any

MOST, MOST_CODES = 24, 100


def written_in(function: object) -> list[float]:
    """Return the numbers in a function, and in what it calls of its own notebook or file, as they stand there: MOST at most.

    >>> few = 7
    >>> sorted(written_in(lambda x: x**2 if x > 12.5 else few))
    [2.0, 7.0, 12.5]
    """
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType):
        return []
    numbers = (float(number) for number in _numbers(function) if abs(number) < 2**53 and math.isfinite(number))
    return list(dict.fromkeys(numbers))[:MOST]


def _numbers(function) -> Iterator[float]:
    world, codes = function.__globals__, [function.__code__]
    for code in codes:  # which grows on the way
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType) and len(codes) < MOST_CODES:
                codes.append(constant)
            yield from _of(constant)
        for name in code.co_names:
            found = world.get(name)
            if isinstance(found, types.FunctionType) and found.__globals__ is world and found.__code__ not in codes:
                codes.append(found.__code__)
            yield from _of(found)


def _of(constant: Any) -> Iterator[float]:
    """A number, or those of a tuple or a set."""
    for each in constant if type(constant) in (tuple, frozenset) else (constant,):
        if type(each) in (int, float):
            yield each
