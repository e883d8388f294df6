"""Plain data: what crosses from a learner's process to the judge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.checking.calling.values import plain, show, type_name


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4),
    )
)
def test_plain_data_stays_as_it_is_and_can_be_shown(value):
    assert repr(plain(plain(value))) == repr(plain(value))
    assert isinstance(show(plain(value)), str)


def test_anything_else_becomes_its_type_name():
    assert plain(object()) == {"type": "object"}
    assert plain([1, {2}]) == [1, {"type": "set"}]
    assert plain(np.float64(2)) == 2.0
    assert plain(np.array(3)) == 3
    assert plain(np.array(["a"])) == {"type": "ndarray of str"}
    assert plain(list(range(2_000_000))) == {"type": "list"}


@pytest.mark.in_turn("seconds of waiting")
def test_lists_within_lists_may_hold_no_more_in_all_than_one_array():
    shared = [0] * 1000
    for _ in range(3):
        shared = [shared] * 1000  # 10^12 numbers in three lists
    endless: list = []
    endless.append(endless)
    assert plain(shared) == plain(endless) == {"type": "list"}
    assert plain([[0] * 1000] * 900) == [[0] * 1000] * 900


def test_a_type_has_its_article_and_an_empty_list_is_called_so():
    kinds = {"an OptimizeResult": {"type": "OptimizeResult"}, "a set": {"type": "set"}, "a ufunc": {"type": "ufunc"}}
    others = {"an empty list": [], "an empty tuple": (), "a list of 2": [1, 2]}
    assert {name: type_name(value) for name, value in (kinds | others).items()} == {
        name: name for name in kinds | others
    }
