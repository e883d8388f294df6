"""A table that is stored is the one that was computed; a setting that it lacks is named."""

import re

import numpy as np
import pytest

from dpcourse.base.packaged import Table


@pytest.fixture
def table(tmp_path):
    made = Table(tmp_path / "sums.npz", ("x", "y"))
    made.make(lambda x, y: {"sum": x + y, "product": [x * y, x * y / 2]}, x=[1, 2, 5], y=[0.5, 7], part=[1.0, 0.5])
    return Table(made.file, made.axes)


def test_the_values_of_a_setting_are_found_at_its_place(table):
    for x in (1, 2, 5):
        for y in (0.5, 7):
            assert table["sum"][table.place(x=x, y=y)] == x + y
            assert table["product"][table.place(y=y, x=x)].tolist() == [x * y, x * y / 2]
    assert table["sum"][table.place(x=2)].tolist() == [2.5, 9]


def test_settings_are_those_of_the_axes(table):
    assert table.settings() == {"x": [1, 2, 5], "y": [0.5, 7.0]}
    assert table["part"].tolist() == [1.0, 0.5]


def test_a_setting_that_is_not_stored_is_named(table):
    with pytest.raises(ValueError, match=re.escape("x must be one of [1, 2, 5], got 3")):
        table.place(x=3, y=7)


def test_what_is_whole_is_given_whole_to_what_computes(tmp_path):
    def values(k):
        assert type(k) is int
        return {"it": k}

    Table(tmp_path / "t.npz", ("k",)).make(values, k=np.array([3, 4]))
