"""What an answer may return, and what is said of everything else."""

import math

import numpy as np

from dpcourse.checking import (
    a_whole_number,
    bits_like,
    numbers_like,
    several,
    true_or_false,
)


def test_return_types():
    assert a_whole_number(3.0, {}) is None
    assert "not 2.5" in a_whole_number(2.5, {})
    pair = several("epsilon", "delta")
    assert pair([1.0, 2.0], {}) is None
    assert pair(np.array([1.0, 2.0]), {}) is None
    assert "`epsilon, delta`, not a number" in pair(3.0, {})
    assert pair([1.0, math.nan], {}).startswith("delta: The result is nan")
    bits = bits_like("bits")
    case = {"bits": np.zeros(3)}
    assert bits([0, 1, 1], case) is None
    assert bits(np.array([True, False, True]), case) is None
    assert "each of the 3" in bits([0, 1], case)
    assert "0s and 1s" in bits([0, 1, 2], case)
    assert "one array" in bits([[0, 1, 1]], case)
    assert "one array" in bits([[0], [1, 1]], case)
    assert "one array" in bits("011", case)
    assert "one array" in bits([0, None, 1], case)
    assert true_or_false(True, {}) is None
    assert true_or_false(1, {}) is None
    assert "not text" in true_or_false("yes", {})
    assert "not 10" in true_or_false(10, {})
    assert "np.all" in true_or_false(np.array([True]), {})
    numbers = numbers_like("bits")
    assert numbers([0.5, 1, 2], case) is None
    assert numbers(np.array([0.5, 1, 2]), case) is None
    assert "each of the 3" in numbers([0.5, 1], case)
    assert "holds nan" in numbers([0.5, math.nan, 1], case)
    assert "one array" in numbers([[1, 2, 3]], case)
    assert "one array" in numbers([[1], [2, 3]], case)
    assert "one array" in numbers(np.array([1j, 2, 3]), case)


def test_one_number_is_told_in_the_singular():
    case = {"x": [0]}
    assert "of 1 number, not" in numbers_like("x")("a", case)
    assert "of 1 bit, not" in bits_like("x")("a", case)
