"""No cell of a CSV is a formula for any spreadsheet, and a name stays as its owner writes it."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.grading.outputs.tables import as_csv, harmless

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
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
            st.text(st.sampled_from(SIGNS + DIVIDERS + "\r\n\"'a1(\xa0\u3000"), max_size=12), min_size=1, max_size=3
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_cell_is_a_formula_whatever_divider_is_taken(divider, lines):
    found = cells(as_csv(lines), divider)
    assert not [cell for cell in found if cell.lstrip().startswith(tuple(SIGNS))]


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
