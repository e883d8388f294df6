"""Parts of an answer: each is worth as many points, and holds only where it holds in every case."""

import dataclasses

import pytest

from dpcourse.checking import RIGHT, WRONG, Domain, Misconception, Number, OpenExercise, several
from dpcourse.grading.result import told


def parts(value, case):
    one, other = value
    first = ("a third", one == case["x"] / 3, f"one: {one}")
    name = "large" if case["x"] > 1 else "small"
    return {
        first[0]: first[1:],
        name: (other == 2 * case["x"], f"other: {other}"),
    }


EXERCISE = OpenExercise(
    id="demo/split",
    number="1.1",
    title="Split",
    good_for="a test",
    difficulty=1,
    minutes=1,
    points=6,
    domain=Domain({"x": Number(0, 2)}, most=0),
    draw=lambda rng: [{"x": 0.5}, {"x": 1.5}, {"x": 2.0}],
    reference=lambda x: (x / 3, 2 * x),
    returns=several("one", "other"),
    parts=parts,
    hints=("h", "h"),
    misconceptions=(
        Misconception(
            "nothing", "You return zeros.", lambda x: (0, 0), recognise=lambda cases, values: not any(map(any, values))
        ),
    ),
)


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (lambda x: (x / 3, 2 * x), 6),
        (lambda x: (x / 3, 2.0), 2),
        (lambda x: (x / 3, 2 * min(x, 1.5)), 4),
        (lambda x: (0.5, 2 * x), 4),
        (lambda x: (x / 3 if x < 2 else 0, 2 * x if x < 1 else 0), 2),
        (lambda x: (0, 0), 0),
    ],
)
def test_points_are_those_of_the_parts_that_hold_everywhere(answer, points):
    verdict = EXERCISE.check(answer, 0)
    assert verdict.points == points, verdict
    assert verdict.state == (RIGHT if points == 6 else WRONG)
    assert told(verdict).points == points, "and so in the gradebook"
    if 0 < points < 6:
        assert f"right everywhere, for {points} points" in repr(verdict)


def test_what_does_not_hold_is_said():
    verdict = EXERCISE.check(lambda x: (x / 3, 2.5), 0)
    assert "other: 2.5" in repr(verdict)
    assert "one:" not in repr(verdict)


def test_an_open_exercise_needs_a_law_or_parts():
    with pytest.raises(ValueError, match="needs a `law`, or `parts`"):
        dataclasses.replace(EXERCISE, parts=None, law=None)
