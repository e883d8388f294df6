"""Rounding outward: never to the wrong side, never further than one unit, and the text of a format where both apply."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpcourse.base import rounding

bounds = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-100, 100),
    st.builds(lambda whole, digits: whole / 10**digits, st.integers(-(10**6), 10**6), st.integers(0, 6)),
)
digit_counts = st.integers(0, 6)


@given(bound=bounds, digits=digit_counts)
@example(bound=0.29, digits=2)  # 0.29 * 100 is below 29
@example(bound=1.1, digits=1)
@example(bound=8.41, digits=2)
@example(bound=math.nextafter(0.57, 0), digits=2)  # and this times 100 is not below 57
@example(bound=-5e-324, digits=3)
@example(bound=1.7976931348623157e308, digits=6)
def test_rounding_is_outward_by_less_than_one_unit(bound, digits):
    down, up = rounding.down(bound, digits), rounding.up(bound, digits)
    assert float(down) <= bound <= float(up)
    shortest, unit = Fraction(repr(bound)), Fraction(1, 10**digits)
    assert shortest - unit < Fraction(down) <= shortest <= Fraction(up) < shortest + unit
    assert rounding.down(-bound, digits) == (up.removeprefix("-") if up.startswith("-") or float(up) == 0 else f"-{up}")


@given(whole=st.integers(-(10**9), 10**9), digits=digit_counts)
def test_what_has_few_digits_keeps_them(whole, digits):
    bound = whole / 10**digits
    assert rounding.down(bound, digits) == rounding.up(bound, digits) == f"{bound:.{digits}f}"


def test_infinite_bounds_and_zero():
    assert rounding.up(math.inf, 3) == "inf"
    assert rounding.down(-math.inf, 3) == "-inf"
    assert rounding.up(-0.0001, 3) == rounding.down(-0.0, 3) == "0.000"


@pytest.mark.parametrize(
    ("bound", "digits", "said"),
    [
        (math.nan, 3, "bound must be a number"),
        ("x", 3, "bound must be a number"),
        (1.0, -1, "digits must be a whole number >= 0, got -1"),
        (1.0, 41, "digits must be at most 40, got 41"),
    ],
)
def test_bad_input_is_refused(bound, digits, said):
    with pytest.raises(ValueError, match=said):
        rounding.up(bound, digits)
