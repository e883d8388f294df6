"""CSV files: harmless in every spreadsheet, whichever divider it takes.

A spreadsheet takes a cell for a formula that begins with one of a few signs, and where a cell begins depends on the
divider it was told: ours is a comma, but in many countries Excel takes a semicolon, and LibreOffice what was ticked
last. So such a sign gets an apostrophe before it wherever any divider could begin a cell. Names as people have them
hold none of that ("Jean-Luc O'Neill" stays as it is), and an LMS finds a student by the number beside the name.
"""

import csv
import io
import re
from collections.abc import Iterable

UTF8 = "\ufeff"  # with it begins a file that Excel is to read as UTF-8
BEGINS_A_FORMULA = re.compile(r'(?<![^\s,;|"])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])')


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """CSV of lines of cells: text, made harmless, and numbers."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[harmless(cell) for cell in line] for line in lines])
    return stream.getvalue()


def harmless(cell: object) -> object:
    """The cell on one line; with an apostrophe before each sign with which a spreadsheet could take it for a formula.

    >>> harmless("=1+1"), harmless("Kim;=HYPERLINK(1)"), harmless("Jean-Luc"), harmless(-3)
    ("'=1+1", "Kim;'=HYPERLINK(1)", 'Jean-Luc', -3)
    """
    return BEGINS_A_FORMULA.sub("'", " ".join(cell.splitlines())) if isinstance(cell, str) else cell


def short(text: str, most: int = 300) -> str:
    """Text on one line, cut where it is long.

    >>> short("a \\n b"), short("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def number(value: float) -> str:
    """A number of points as text, with two decimals at most.

    >>> number(15), number(7.5), number(20 / 3), number(1234567.0)
    ('15', '7.5', '6.67', '1234567')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
