"""Tables: what a cell says of its number, in both forms; the structure that a screen reader needs; what nbval compares."""

import decimal
import html.parser
import math
import re
from collections import Counter

import nbformat
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from nbval.plugin import IPyNbCell, IPyNbFile

from dpcourse import tables

FROM_HTML = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-2000, 2000),
    st.builds(lambda whole, power: whole / 10**power, st.integers(-2000, 2000), st.integers(0, 9)),
)
numbers = st.one_of(floats, st.integers(-(10**12), 10**12))
digit_counts = st.integers(1, 9)


class Elements(html.parser.HTMLParser):
    """What is in a page: (tag, attributes) of each element, and (tag, scope, text) of the cells, row by row."""

    def __init__(self, page):
        super().__init__()
        self.found, self.open, self.rows, self.caption = [], [], [], ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append((tag, dict(attributes).get("scope"), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1:] in (["th"], ["td"]):
            tag, scope, before = self.rows[-1].pop()
            self.rows[-1].append((tag, scope, before + text))
        if self.open[-1:] == ["caption"]:
            self.caption += text


def plain(values, digits=3, **rounded):
    """A column of the plain twin, cell by cell."""
    lines = repr(tables.Table({"x": values}, digits, **rounded)).splitlines()
    return [line.strip() for line in lines[1:]]


def read(text):
    return decimal.Decimal(text.replace(",", ""))


def unit(text):
    """One of the last digit of a number."""
    return decimal.Decimal(1).scaleb(read(text).as_tuple().exponent)


def exactly(number):
    return decimal.Decimal(repr(number))


# ---- numbers


@given(column=st.lists(numbers, min_size=1, max_size=6), digits=digit_counts)
@example(column=[9.995e-9, 9.996e-9], digits=3)
@example(column=[0.5, 12.25, 1000.125], digits=2)
@example(column=[-0.0, 5e-324, 1.7976931348623157e308], digits=9)
def test_a_number_is_within_half_a_unit_of_its_last_digit(column, digits):
    for number, text in zip(column, plain(column, digits), strict=True):
        last_bits = abs(exactly(number)) * decimal.Decimal("1e-9")
        assert abs(read(text) - exactly(number)) <= unit(text) / 2 + (last_bits if isinstance(number, float) else 0)


@given(column=st.lists(numbers, min_size=1, max_size=6), digits=digit_counts)
@example(column=[0.30000000000000004, 0.1234], digits=3)
@example(column=[9.991e-9, -9.999e-9], digits=3)
@example(column=[1e9, 123456789012.5], digits=1)
def test_an_upper_bound_is_one_and_so_is_a_lower_bound(column, digits):
    for number, above, below in zip(
        column, plain(column, digits, up="x"), plain(column, digits, down=["x"]), strict=True
    ):
        assert 0 <= read(above) - exactly(number) < unit(above)
        assert 0 <= exactly(number) - read(below) < unit(below)
        assert float(above.replace(",", "")) >= number >= float(below.replace(",", ""))


@given(column=st.lists(floats.filter(bool), min_size=1, max_size=6), digits=digit_counts)
def test_digits_are_as_many_as_asked_for_or_as_the_number_has(column, digits):
    for number, text in zip(column, plain(column, digits), strict=True):
        significant = len(re.sub(r"e.*|[-,.]", "", text).lstrip("0"))
        whole = len(re.sub(r"[.e].*|[-,]", "", text).lstrip("0"))
        assert significant <= max(digits + 1 + (float(text.replace(",", "")) != number), whole)
        assert significant >= digits or math.isclose(read(text), exactly(number), rel_tol=1e-9)


@given(column=st.lists(st.floats(1, 10, exclude_max=True), min_size=1, max_size=6), scale=st.integers(-4, 7))
def test_numbers_of_one_size_have_one_number_of_decimals(column, scale):
    found = plain([number * 10.0**scale for number in column])
    assert len({len(text.partition(".")[2]) for text in found if "e" not in text}) <= 1


@given(column=st.lists(st.floats(1e-4, 1e8), min_size=1, max_size=6), other=st.integers(0, 10**6))
def test_points_stand_in_one_column(column, other):
    lines = repr(tables.Table({"x": [*column, other], "end": ["|"] * (len(column) + 1)})).splitlines()[1:]
    places = {re.match(r" *[\d,]*", line).end() for line in lines}
    assert len(places) == 1


def test_known_numbers():
    assert plain([0.1, 0.5, 1, math.log(3), 3, 10]) == ["0.10", "0.50", "1.00", "1.10", "3.00", "10.00"]
    assert plain([5.83e-9, 1e-5, 0.25]) == ["5.83e-09", "1.00e-05", "0.25"]
    assert plain([1234.5, 0.125, 7], 2) == ["1,234", "0.12", "7"]
    assert plain([1_000_000, -12]) == ["1,000,000", "-12"]
    assert plain([3.5e10, math.inf, -math.inf]) == ["3.5e+10", "∞", "-∞"]
    assert plain([9.996e-9]) == ["1.00e-08"]
    assert plain([0.1234, 0.12], up="x") == ["0.124", "0.120"]
    assert plain([], 3) == []


def test_the_last_bits_in_which_machines_differ_are_not_seen():
    near = [math.nextafter(value, value + step) for value in (1.0, 0.3, 0.125, 1e-4) for step in (-1, 1)]
    assert plain(near, 2) == plain([value for value in (1.0, 0.3, 0.125, 1e-4) for _ in range(2)], 2)


def test_digits_are_of_all_columns_or_of_those_named():
    columns = {"a": [1 / 3], "b": [1 / 3]}
    assert repr(tables.Table(columns, 5)).splitlines()[1].split() == ["0.33333", "0.33333"]
    assert repr(tables.Table(columns, {"b": 1})).splitlines()[1].split() == ["0.333", "0.3"]


# ---- everything else


def test_words_stand_for_truth_and_for_nothing():
    assert plain([True, np.bool_(False), None, "as it is"]) == ["yes", "no", "–", "as it is"]
    assert plain([1.5, math.nan, None, np.float32(0.5), np.int8(3)]) == ["1.5", "–", "–", "0.5", "3.0"]


def test_a_column_is_a_list_an_array_a_range_or_the_keys_of_a_dict():
    kinds = ([0, 1, 2], (0, 1, 2), range(3), np.arange(3), {0: "a", 1: "b", 2: "c"}, (each for each in range(3)))
    assert {tuple(plain(kind)) for kind in kinds} == {("0", "1", "2")}


def test_a_wide_sign_takes_two_columns_and_an_accent_none():
    table = tables.Table({"机制": ["隐私", "x"], "ε̂": [1, 10]})
    assert repr(table) == "机制    ε̂\n隐私    1\nx      10"


labels = st.text(st.sampled_from("ab <>&'\"`$é隐"), min_size=1, max_size=8).filter(str.strip)


@given(
    headers=st.lists(labels, min_size=1, max_size=4, unique=True),
    names=st.lists(labels, min_size=1, max_size=4),
    data=st.data(),
)
def test_both_forms_hold_the_same_cells_below_header_cells(headers, names, data):
    others = [
        data.draw(st.lists(st.one_of(numbers, st.none()), min_size=len(names), max_size=len(names)))
        for _ in headers[1:]
    ]
    table = tables.Table(dict(zip(headers, [names, *others], strict=True)), caption="<ε> & 'δ'")
    page = Elements(table._repr_html_())
    assert page.caption == "<ε> & 'δ'" == repr(table).splitlines()[0]
    assert [[tag, scope] for row in page.rows[:1] for tag, scope, _ in row] == [["th", "col"]] * len(headers)
    assert [row[0][:2] for row in page.rows[1:]] == [("th", "row")] * len(names)
    assert {cell[:2] for row in page.rows[1:] for cell in row[1:]} <= {("td", None)}
    assert [text for _, _, text in page.rows[0]] == headers
    for line, row in zip(repr(table).splitlines()[1:], page.rows, strict=True):
        said = "".join(text for _, _, text in row).translate(FROM_HTML).replace(" × 10", "e")
        assert re.sub(r"\s", "", said) == re.sub(r"\s|(?<=e)\+|(?<=e-)0|(?<=e\+)0", "", line)


def test_html_is_what_a_phone_and_a_screen_reader_need():
    table = tables.Table({"name": ["a"], "δ": [5.83e-9], "note": ["b"]})
    page = Elements(table._repr_html_())
    [box] = [attributes for tag, attributes in page.found if tag == "div"]
    assert box["style"] == "overflow-x:auto"
    assert (box["tabindex"], box["role"], box["aria-label"]) == ("0", "group", "Table")
    tags = Counter(tag for tag, _ in page.found)
    assert tags == {"div": 1, "table": 1, "thead": 1, "tbody": 1, "tr": 2, "th": 4, "td": 2}
    said = page.rows[1]
    assert said == [("th", "row", "a"), ("td", None, "5.83 × 10⁻⁹"), ("td", None, "b")]
    styles = [attributes["style"] for tag, attributes in page.found if tag in ("th", "td")]
    assert [re.search("text-align:([a-z]+)", style)[1] for style in styles] == ["left", "right", "left"] * 2
    assert ["white-space:pre" in style for style in styles] == [False, False, False, False, True, False]
    assert not re.search("color|background", table._repr_html_())


def test_no_column_is_made_one_sign_wide_by_a_narrow_page():
    """As Chinese would be, whose lines may break at every sign; a column of short words needs less."""
    page = Elements(tables.Table({"机制": ["随机响应，每人一次"], "隐私损失": [0.5], "说明": ["好"]})._repr_html_())
    widths = [re.findall("min-width:(.+?)em", each["style"]) for tag, each in page.found if tag in ("th", "td")]
    assert widths == [["5"], ["4"], ["2"], [], [], []]


def test_numbers_in_the_first_column_name_no_rows():
    page = Elements(tables.Table({"k": [1], "n": [2]})._repr_html_())
    assert page.rows[1] == [("td", None, "1"), ("td", None, "2")]


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({}, {}, "a table must be a dict of columns, header -> values, at least one; got {}"),
        ([1], {}, r"a table must be a dict of columns, header -> values, at least one; got \[1\]"),
        ({"a": [1], "b": [1, 2]}, {}, "all columns must be of one length: 'a' has 1 values, 'b' 2"),
        ({"a": 3}, {}, "column 'a' must be a list of values, one for each row, got 3"),
        ({"a": np.float64(3)}, {}, "column 'a' must be a list of values, one for each row, got 3.0"),
        ({"a": "text"}, {}, "column 'a' must be a list of values, one for each row, got 'text'"),
        ({"a": np.ones((2, 3))}, {}, r"column 'a' must be a list of values, got an array of shape \(2, 3\)"),
        ({"a": [[1]]}, {}, r"column 'a' must hold numbers, text, True, False and None, got \[1\]"),
        ({"a": [1j]}, {}, "column 'a' must hold numbers, text, True, False and None, got 1j"),
        ({1: [1]}, {}, "a header must be a line of text, got 1"),
        ({"": [1]}, {}, "a header must be a line of text, got ''"),
        ({"a": [1], "b": [1]}, {"digits": {"c": 2}}, "digits names 'c', and the headers are 'a', 'b'"),
        ({"a": [1]}, {"digits": 0}, "digits must be a whole number >= 1, got 0"),
        ({"a": [1]}, {"digits": {"a": 10}}, "digits must be at most 9, got 10"),
        ({"a": [1]}, {"up": "ε"}, "up names 'ε', and the headers are 'a'"),
        ({"a": [1]}, {"down": ("ε",)}, "down names 'ε', and the headers are 'a'"),
        ({"a": [1, "x"]}, {"up": "a"}, "up names 'a', which must be a column of numbers"),
        ({"a": [1]}, {"up": "a", "down": "a"}, "'a' cannot be rounded both up and down"),
    ],
)
def test_bad_input_is_refused_with_the_name_of_the_column(columns, options, said):
    with pytest.raises(ValueError, match=said):
        tables.show(columns, **options)


# ---- where it is shown


def test_outside_of_a_notebook_the_plain_twin_is_printed(capsys):
    assert tables.show({"k": [1]}) is None
    assert capsys.readouterr().out == "k\n1\n"


@pytest.fixture
def cell(request, tmp_path):
    """A cell of a notebook, as pytest collects it with nbval and our conftest."""
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    file = IPyNbFile.from_parent(request.session, path=path)
    request.config.hook.pytest_collectstart(collector=file)
    return IPyNbCell.from_parent(file, name="0", cell_num=0, cell=None, options={})


def shown(columns, **change):
    """The output of a cell that shows a table, as a kernel sends it."""
    data, _ = DisplayFormatter().format(tables.Table(columns))
    return [nbformat.v4.new_output("display_data", data | change)]


def test_nbval_compares_the_plain_twin_alone(cell):
    assert set(shown({"k": [1]})[0].data) == {"text/plain", "text/html"}
    assert cell.compare_outputs(shown({"k": [1]}, **{"text/html": "another look"}), shown({"k": [1]}))
    assert not cell.compare_outputs(shown({"k": [2]}), shown({"k": [1]}))
