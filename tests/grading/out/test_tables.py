"""No cell of a CSV is a formula for any spreadsheet, and a name stays as its owner writes it."""

import csv
import io
import re
import string
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.grading.out.tables import as_csv, harmless

EVERY = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
SIGNS = "".join(sign for sign in EVERY if unicodedata.normalize("NFKC", sign)[:1] in tuple("=+-@"))
UNSEEN = "".join(sign for sign in EVERY if unicodedata.category(sign) in ("Cf", "Cc") and not sign.isspace())
UNSEEN = re.sub(
    "[\u0600-\u0605\u06dd\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f]", "", UNSEEN
)  # are seen
DIVIDERS = ",;\t| "


def cells(text: str, divider: str) -> list[str]:
    """All cells that a spreadsheet may find which takes this divider, whatever it makes of quotation marks."""
    careful = [cell for line in csv.reader(io.StringIO(text), delimiter=divider) for cell in line]
    careless = [cell for line in re.split(r"[\r\n]", text) for cell in line.split(divider)]
    return careful + [cell.strip('"') for cell in careless]


@pytest.mark.parametrize("divider", DIVIDERS)
@given(
    lines=st.lists(
        st.lists(
            st.text(st.sampled_from(SIGNS + DIVIDERS + "\r\n\"'a1(\xa0\u3000\u200b\ufeff\xad"), max_size=12),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_cell_is_a_formula_whatever_divider_is_taken(divider, lines):
    found = cells(as_csv(lines), divider)
    assert not [
        cell for cell in found if cell.strip(string.whitespace + "\xa0\u3000" + UNSEEN).startswith(tuple(SIGNS))
    ]


@pytest.mark.parametrize("unseen", ["", *UNSEEN[::7]])
def test_every_sign_that_becomes_one_of_a_formula_gets_an_apostrophe_and_no_letter_does(unseen):
    for sign in SIGNS:
        assert harmless(f"{unseen}{sign}1") == f"'{unseen}{sign}1"
    assert harmless(f"{unseen}Kim") == f"{unseen}Kim"


@pytest.mark.parametrize(
    "evil", ["Kim;=HYPERLINK(1)", "\uff1dcmd|' /C calc'!A0", "\t=1", "  @SUM(1)", "a\n=1", 'x;"=1"']
)
def test_what_was_a_formula_once_is_none(evil):
    assert harmless(evil) != evil
    assert harmless(harmless(evil)) == harmless(evil)


@given(
    st.from_regex(r"(?!-)[\w'’.]+(-\w+)?( [\w'’.]+(-\w+)?){0,3}", fullmatch=True),
    st.integers(1, 10**9),
)
def test_the_names_that_people_have_survive(name, number):
    [line] = csv.reader(io.StringIO(as_csv([(name, number)])))
    assert line == [name, str(number)]
