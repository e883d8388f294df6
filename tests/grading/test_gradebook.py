"""Gradebooks have the columns that are imported, no zero for what was not graded, and no formula."""

import csv
import io

import pytest
from grading.rows import a_row

from dpcourse.grading import gradebook, result


def test_the_gradebooks_have_the_columns_that_canvas_and_moodle_import():
    rows = [a_row(), a_row("leekim_1234", result.failed(1, "x"))]
    canvas = list(csv.reader(io.StringIO(gradebook.canvas(rows, [1]))))
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01 Composition"]
    assert canvas[1][0].strip() == "Points Possible"
    assert canvas[2:] == [["Kim Lee", "77", "", "", "", "15"], ["leekim", "1234", "", "", "", ""]]
    moodle = list(csv.DictReader(io.StringIO(gradebook.moodle(rows))))
    assert [(line["Identifier"], line["Grade"]) for line in moodle] == [
        ("Participant 77", "15"),
        ("Participant 1234", ""),
    ]
    assert moodle[0]["Last modified (grade)"] == "-"


@pytest.mark.parametrize("status", ["unreadable", "infrastructure"])
def test_what_was_not_graded_is_never_a_zero(status):
    found = result.unreadable(1, "x") if status == "unreadable" else result.failed(1, "x")
    assert (found.status, found.score) == (status, None)
    line = next(csv.DictReader(io.StringIO(gradebook.plain([a_row(result=found)]))))
    assert line["score"] == ""


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_gradebook_is_a_formula(start):
    text = gradebook.plain([a_row(f'{start}HYPERLINK("http://evil"), x')])
    assert list(csv.reader(io.StringIO(text)))[1][0].startswith(f"'{start}")
