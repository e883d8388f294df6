"""How many random numbers are drawn is read off the Generator, whatever was drawn."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.checking.calling.draws import since


@given(st.integers(0, 2**32), st.integers(0, 2**40))
def test_it_is_how_far_the_generator_has_gone(seed, count):
    rng = np.random.default_rng(seed)
    rng.bit_generator.advance(count)
    assert since(seed, rng) == count


def test_of_another_generator_nothing_is_told():
    assert since(1, np.random.default_rng(2)) is None
    assert since(1, np.random.Generator(np.random.MT19937(1))) is None


def test_of_what_children_draw_nothing_is_known():
    rng = np.random.default_rng(3)
    rng.spawn(1)
    assert since(3, rng) is None
