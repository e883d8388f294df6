"""Rounding outward: a bound that is printed with few digits is still a bound.

A double stands for the shortest decimal that is read back as it, so 0.3 to one digit is 0.3 in both directions. Rounding
that decimal, rather than a product like 1000 * 0.3, makes no error of its own.
"""

import decimal
import math

from dpcourse.base import validate

DIGITS = 350  # before and after the point together: more than a double has before it, and than anybody prints after it


def up(bound, digits) -> str:
    """Return an upper bound as text with `digits` after the point; read back, it is never less than the bound.

    bound: a number, infinite ones included; digits: whole, 0 to 40. ValueError otherwise.

    >>> up(0.1234, 3), up(0.2, 3), up(-0.1234, 3), up(1.005, 2), up(float("inf"), 2)
    ('0.124', '0.200', '-0.123', '1.01', 'inf')
    """
    return _rounded(bound, digits, decimal.ROUND_CEILING)


def down(bound, digits) -> str:
    """Return a lower bound as text with `digits` after the point; read back, it is never more than the bound.

    bound: a number, infinite ones included; digits: whole, 0 to 40. ValueError otherwise.

    >>> down(0.1239, 3), down(0.3, 1), down(-0.1234, 3), down(0.29, 2), down(5, 0)
    ('0.123', '0.3', '-0.124', '0.29', '5')
    """
    return _rounded(bound, digits, decimal.ROUND_FLOOR)


def _rounded(bound, digits, towards):
    bound = float(validate.reals("bound", bound))
    digits = validate.whole("digits", digits, 0)
    if digits > 40:
        raise ValueError(f"digits must be at most 40, got {digits}")
    if math.isinf(bound):
        return str(bound)
    return f"{rounded(decimal.Decimal(repr(bound)), digits, towards):f}"


def rounded(number: decimal.Decimal, digits: int, towards: str) -> decimal.Decimal:
    """Return a decimal with `digits` after the point, no minus before zero; towards: a way of rounding of `decimal`.

    >>> rounded(decimal.Decimal("0.125"), 2, decimal.ROUND_CEILING), rounded(decimal.Decimal("-0.1"), 0, decimal.ROUND_UP)
    (Decimal('0.13'), Decimal('-1'))
    """
    context = decimal.Context(prec=DIGITS, rounding=towards)
    found = number.quantize(decimal.Decimal(1).scaleb(-digits), context=context)
    return found if found else abs(found)
