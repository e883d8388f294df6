"""The tables of the lessons; `show` shows one.

A table is a dict: the header of each column, and what stands below it. It is shown as HTML, which a screen reader reads
cell by cell with its headers, and as the same table in plain text, which nbval compares and a terminal prints.
"""

import decimal
import html
import math
import numbers
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpcourse.base import rounding, validate
from dpcourse.base.languages import say, to_say

DIGITS = 3
MOST_DIGITS = 9
LEAST = 5  # em: a column is never made narrower by a narrow page, if its text is as wide
SMALL, LARGE = -4, 9
"""Floats below and from this power of ten on are shown with one."""
WORDS = {True: to_say("yes"), False: to_say("no"), None: "–"}
BETWEEN = "   "
FIGURE, POINT = "\u2007", "\u2008"  # blanks as wide as a digit and as a point, where white space is kept
EXACTLY = decimal.Context(prec=rounding.DIGITS)
NEAREST = decimal.ROUND_HALF_EVEN
ALIKE = decimal.Context(prec=MOST_DIGITS + 1, rounding=NEAREST)
"""The last bits of a float differ from machine to machine: what is rounded to the nearest is first taken without them."""
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def show(
    columns: Mapping[str, Iterable],
    digits: int | Mapping[str, int] = DIGITS,
    *,
    up: str | Iterable[str] = (),
    down: str | Iterable[str] = (),
    caption: str | None = None,
) -> None:
    """Show a table; outside of a notebook, print it.

    columns: header -> column, from left to right; all columns are as long as the first. Whole numbers are shown whole,
    floats with `digits` significant digits (1 to 9; never with less than their whole part, nor with more digits than
    they have), text as it is, truth as yes or no, None and nan as a dash. digits: of all columns, or header -> digits
    where it is not 3. up, down: headers of columns that hold upper and lower bounds; these are rounded up and down, so
    that what is shown is a bound too. All else is rounded to the nearest. A first column of text names the rows.
    ValueError, which names the column, for anything else.

    >>> show({"k": [1, 1000], "ε at most": [0.1234, 2.5], "δ": [0.0, 5.83e-9], "pure": [True, False]}, up="ε at most")
        k   ε at most          δ   pure
        1       0.124          0   yes
    1,000       2.500   5.83e-09   no
    """
    from IPython.display import display

    display(Table(columns, digits, up=up, down=down, caption=caption))


class Cell(NamedTuple):
    """What stands in one cell, in the plain twin and in HTML."""

    plain: str
    html: str


@dataclass(frozen=True)
class Column:
    """A column as it is shown: of text, on the left, or else on the right."""

    header: str
    cells: list[Cell]
    is_text: bool


class Table:
    """A table as text and as HTML; takes what `show` takes."""

    def __init__(self, columns, digits=DIGITS, *, up=(), down=(), caption=None):
        values = _values_of(columns)
        up, down = _headers("up", up, values), _headers("down", down, values)
        if both := up & down:
            raise ValueError(f"{_named(both)} cannot be rounded both up and down")
        self.caption = caption
        self.columns = [
            _column(header, column, digits_of, _towards(header, up, down))
            for (header, column), digits_of in zip(values.items(), _digits(digits, values), strict=True)
        ]

    def __repr__(self):
        lines = list(map(self._line, [[column.header for column in self.columns], *self._rows("plain")]))
        return "\n".join(([self.caption] if self.caption else []) + lines)

    def _line(self, texts):
        padded = []
        for text, column in zip(texts, self.columns, strict=True):
            there = (column.header, *(cell.plain for cell in column.cells))
            blank = " " * (max(map(_width, there)) - _width(text))
            padded.append(text + blank if column.is_text else blank + text)
        return BETWEEN.join(padded).rstrip()

    def _repr_html_(self):
        caption = html.escape(self.caption or "")
        head = "".join(
            f"<th scope='col' {_style(each, f';min-width:{_least(each):g}em')}>{html.escape(each.header)}</th>"
            for each in self.columns
        )
        body = "".join(f"<tr>{''.join(map(self._cell, row, range(len(row))))}</tr>\n" for row in self._rows("html"))
        return (
            f"<div class='dpcourse-table' tabindex='0' role='group' aria-label='{caption or html.escape(say('Table'))}' "
            f"style='overflow-x:auto'>\n<table style='margin:0;table-layout:auto;font-variant-numeric:tabular-nums'>\n"
            + (f"<caption style='text-align:left'>{caption}</caption>\n" if caption else "")
            + f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>"
        )

    def _cell(self, text, place):
        column = self.columns[place]
        if place == 0 and column.is_text:
            return f"<th scope='row' {_style(column, ';font-weight:normal')}>{text}</th>"
        return f"<td {_style(column, '' if column.is_text else ';white-space:pre')}>{text}</td>"

    def _rows(self, form):
        return zip(*([getattr(cell, form) for cell in column.cells] for column in self.columns), strict=True)


def _style(column, more=""):
    """Return the style of a column's cells; colours and borders are left to the page."""
    return f"style='text-align:{'left' if column.is_text else 'right'}{more}'"


def _least(column):
    """Return the least width of a column, in em: a language that may break a line at every sign would make it one sign wide."""
    texts = [column.header, *(cell.plain for cell in column.cells)] if column.is_text else [column.header]
    return min(max(map(_width, texts)) / 2, LEAST)


def _width(text):
    """Return the columns that a text takes in a terminal: two for a Chinese sign, none for an accent over another sign."""
    return sum((unicodedata.east_asian_width(sign) in "WF") + (not unicodedata.combining(sign)) for sign in text)


# ---- what is asked for


def _values_of(columns):
    """Return header -> values of its column, as Python has them."""
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(f"a table must be a dict of columns, header -> values, at least one; got {columns!r}")
    values = {header: _values(header, column) for header, column in columns.items()}
    first = next(iter(values))
    for header, column in values.items():
        if len(column) != len(values[first]):
            raise ValueError(
                f"all columns must be of one length: {first!r} has {len(values[first])} values, {header!r} {len(column)}"
            )
    return values


def _values(header, column):
    if not isinstance(header, str) or len(header.splitlines()) != 1:
        raise ValueError(f"a header must be a line of text, got {header!r}")
    if hasattr(column, "__array__"):
        column = np.asarray(column)
        if column.ndim > 1:
            raise ValueError(f"column {header!r} must be a list of values, got an array of shape {column.shape}")
        column = column.tolist()
    if not isinstance(column, Iterable) or isinstance(column, str | bytes):
        raise ValueError(f"column {header!r} must be a list of values, one for each row, got {column!r}")
    return [_value(header, value) for value in column]


def _value(header, value):
    """Return a value as None, text, True, False, a whole number or a float that is not nan."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return None if math.isnan(value) else float(value)
    raise ValueError(f"column {header!r} must hold numbers, text, True, False and None, got {value!r}")


def _headers(name, given, values):
    found = {given} if isinstance(given, str) else set(given)
    _require_known(name, found, values)
    for header in found:
        if any(isinstance(value, str | bool) for value in values[header]):
            raise ValueError(f"{name} names {header!r}, which must be a column of numbers")
    return found


def _require_known(name, headers, values):
    if unknown := [header for header in headers if header not in values]:
        raise ValueError(f"{name} names {_named(unknown)}, and the headers are {_named(values)}")


def _digits(digits, values):
    """Return the digits of each column."""
    if isinstance(digits, Mapping):
        _require_known("digits", digits, values)
        counts = [digits.get(header, DIGITS) for header in values]
    else:
        counts = [digits] * len(values)
    for count in counts:
        if validate.whole("digits", count) > MOST_DIGITS:
            raise ValueError(f"digits must be at most {MOST_DIGITS}, got {count}")
    return counts


def _towards(header, up, down):
    if header in up:
        return decimal.ROUND_CEILING
    return decimal.ROUND_FLOOR if header in down else NEAREST


def _named(headers):
    return ", ".join(map(repr, headers))


# ---- values -> cells


def _column(header, values, digits, towards):
    is_number = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    given = [value for value, number in zip(values, is_number, strict=True) if number]
    of_numbers = _of_numbers(given, digits, towards)
    cells = [next(of_numbers) if number else _of_text(value) for value, number in zip(values, is_number, strict=True)]
    return Column(header, cells, is_text=not given)


def _of_text(value):
    text = " ".join(value.splitlines()) if isinstance(value, str) else say(WORDS[value])
    return Cell(text, html.escape(text))


def _of_numbers(values, digits, towards):
    """Yield a cell for each number of a column."""
    exact = [_exact(value, towards) for value in values]
    powers = [_needs_a_power(value, number) for value, number in zip(values, exact, strict=True)]
    of_powers = [len(_shortest(number).digits) for number, power in zip(exact, powers, strict=True) if power]
    of_mantissas = min(digits, max(of_powers, default=1)) - 1
    others = [number for number, power in zip(exact, powers, strict=True) if number.is_finite() and not power]
    of_others = _decimals(others, digits)
    longest, one_by_one = max(of_others, default=0), iter(of_others)
    for number, power in zip(exact, powers, strict=True):
        if number.is_infinite():
            yield _of_number("-∞" if number < 0 else "∞")
        elif power:
            yield _of_number(_with_a_power(number, of_mantissas, towards))
        else:
            decimals = next(one_by_one)
            blank = (POINT if longest and not decimals else "") + FIGURE * (longest - decimals)
            yield _of_number(f"{rounding.rounded(number, decimals, towards):,f}", blank)


def _exact(value, towards):
    number = decimal.Decimal(repr(value))
    return ALIKE.plus(number) if isinstance(value, float) and towards == NEAREST else number


def _needs_a_power(value, number):
    return isinstance(value, float) and number.is_normal() and not SMALL <= number.adjusted() < LARGE


def _decimals(exact, digits):
    """Return how many digits of each number stand after the point: the same for all, unless one gets two too many."""
    wanted = [digits - 1 - number.adjusted() for number in exact]
    own = [max(0, min(most, -_shortest(number).exponent)) for most, number in zip(wanted, exact, strict=True)]
    longest = max(own, default=0)
    is_close = all(longest <= most + 1 for most, number in zip(wanted, exact, strict=True) if number)
    return [longest] * len(own) if is_close else own


def _shortest(number):
    """Return a decimal, as (sign, digits, exponent), without zeros at its end."""
    return number.normalize(EXACTLY).as_tuple()


def _with_a_power(number, decimals, towards):
    power = number.adjusted()
    mantissa = rounding.rounded(number.scaleb(-power, EXACTLY), decimals, towards)
    if mantissa.adjusted() == 1:  # rounded to 10
        mantissa, power = rounding.rounded(mantissa.scaleb(-1, EXACTLY), decimals, towards), power + 1
    return f"{mantissa}e{power:+03}"


def _of_number(plain, blank=""):
    mantissa, _, power = plain.partition("e")
    page = mantissa.replace("-", "−") + (f" × 10{str(int(power)).translate(SUPERSCRIPT)}" if power else "")
    return Cell(plain + " " * len(blank), page + blank)
