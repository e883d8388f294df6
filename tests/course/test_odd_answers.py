"""What answers of every exercise can be that nobody would foresee."""

import numpy as np
import pytest

from dpcourse import course
from dpcourse.engine import (
    ERROR,
    WRONG,
)


@pytest.mark.parametrize("exercise", course.every_exercise(), ids=lambda exercise: exercise.id)
def test_an_array_of_booleans_never_breaks_the_check(exercise):
    """A comparison without `np.all` is the likeliest slip of all."""
    assert exercise.check(lambda *_: np.array([True, False]), rng=0).state in (WRONG, ERROR)
    assert exercise.check(lambda *_: np.array([True, False] * 500), rng=0).state in (WRONG, ERROR)
