"""CSV files: harmless in every spreadsheet, whichever divider it takes.

A spreadsheet takes a cell for a formula whose first visible sign is one of =, +, -, @, or becomes one of them where text
is normalised (NFKC), as in full width. Where a cell begins depends on the divider it was told: ours is a comma, but in
many countries Excel takes a semicolon, and LibreOffice what was ticked last. So such a sign gets an apostrophe before it
wherever any divider could begin a cell, and no cell holds a tab or a line. Names as people have them
hold none of that ("Jean-Luc O'Neill" stays as it is), and an LMS finds a student by the number beside the name.
"""

import csv
import io
import re
from collections.abc import Iterable

UTF8 = "\ufeff"  # with it begins a file that Excel is to read as UTF-8
SIGNS = r"=+\-@\u207a\u207c\u208a\u208c\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
"""The signs with which a formula begins, for a class of a regular expression."""
UNSEEN = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
BEGINS_A_FORMULA = re.compile(rf'(?<![^\s,;|"])(?=[{UNSEEN}]*[{SIGNS}])')


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
    return BEGINS_A_FORMULA.sub("'", " ".join(cell.splitlines()).replace("\t", " ")) if isinstance(cell, str) else cell


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
