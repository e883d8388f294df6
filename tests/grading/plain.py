"""Plain data, as it crosses from a worker to the grader."""

import numpy as np
from hypothesis import strategies as st


def same(one, other):
    """Equality of plain data; nan is nan, and arrays are equal with their types."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")  # fmt: skip
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or one != one)


arrays = st.builds(
    lambda values, kind: np.array(values).astype(kind),
    st.lists(st.integers(-100, 100), max_size=5),
    st.sampled_from(["<i8", "<f8", "<f4", "|b1", "<u2"]),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text() | arrays,
    lambda items: st.lists(items, max_size=4) | st.tuples(items, items) | st.dictionaries(st.text(), items, max_size=3),
    max_leaves=12,
)
