"""Numbers that coincide: as many and of the same kind as random ones, and no drawing anew without end."""

import numpy as np
import pytest

from dpcourse import course
from dpcourse.checking import OpenExercise, RandomExercise
from dpcourse.checking.cases import Cases
from dpcourse.checking.coinciding import OFTEN, WAYS, Coinciding
from dpcourse.checking.domain import Made

TWO, ALL, AT_END = WAYS
MADE = [
    (exercise, kind)
    for exercise in course.every_exercise()
    if exercise.domain is not None
    for kind in exercise.domain.kinds.values()
    if isinstance(kind, Made)
]


def coinciding(way, seed=0):
    return Coinciding(np.random.default_rng(seed), way)


@pytest.mark.parametrize(
    "draw", [lambda rng: rng.uniform(1, 2, 5), lambda rng: rng.normal(3, 1, 5), lambda rng: rng.integers(0, 1000, 5)]
)
def test_entries_coincide(draw):
    two, every = draw(coinciding(TWO)), draw(coinciding(ALL))
    assert len(set(two.tolist())) == 4
    assert two[0] == two[1]
    assert len(set(every.tolist())) == 1


def test_one_is_at_an_end():
    assert coinciding(AT_END).normal(3, 1, 5)[0] == 3
    drawn = coinciding(AT_END).uniform(1, 2, 5)
    assert drawn[0] == drawn.min()


@pytest.mark.parametrize("way", WAYS)
def test_probabilities_add_up_to_1(way):
    assert coinciding(way).dirichlet(np.ones(6)).sum() == pytest.approx(1)


@pytest.mark.parametrize("way", WAYS)
def test_who_draws_anew_until_entries_differ_comes_to_an_end(way):
    rng = coinciding(way)
    drawn = next(x for x in (rng.uniform(0, 1, 3) for _ in range(2 * OFTEN)) if len(set(x)) == 3 and x[0] > x.min())
    assert len(drawn) == 3


@pytest.mark.parametrize(("exercise", "kind"), MADE, ids=lambda each: getattr(each, "id", ""))
def test_what_is_made_with_them_is_an_input(exercise, kind):
    """The reference has a result there that may be one, and where it is not random, other forms of it have the same."""
    names = next(names for names, each in exercise.domain.kinds.items() if each is kind)
    for seed in range(3):
        made = (exercise.domain._case(np.random.default_rng(seed), {names: value}) for value in kind.corners())
        cases = Cases([case for case in made if case is not None])
        assert len(cases) == len(WAYS)
        right = cases.given(exercise.reference)
        assert [exercise.returns(value, case) for value, case in zip(right, cases, strict=True)] == [None] * len(WAYS)
        if not isinstance(exercise, (RandomExercise, OpenExercise)):
            for other in exercise.formulas:
                assert all(map(exercise.is_close, cases.given(other), right))
