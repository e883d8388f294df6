"""A result survives being stored."""

from grading.rows import POSTERIOR

from dpcourse import course
from dpcourse.grading.result import Mark, from_json, result, told, with_marks, without_points


def _a_result():
    exercise = course.find("composition/worst_posterior")
    marks = [told(exercise.check(exercise.misconceptions[0].code, rng=1)), without_points(course.find("composition/advanced_composition"), "error", "It was stopped.")]  # fmt: skip
    return result(1, "graded", ["a note"], marks, ["cell 2: NameError"], ["00aa"])


def test_a_result_survives_being_stored():
    made = _a_result()
    assert from_json(made.as_json()) == made
    assert made.exercises[0].found_by == "misconception"


def test_marks_put_in_place_of_others_leave_the_rest_and_the_order():
    found = with_marks(
        _a_result(),
        [
            Mark("composition/advanced_composition", "right", 2, 2, ""),
            Mark("composition/privacy_bill", "right", 2, 2, ""),
        ],
    )
    assert [(mark.id, mark.state) for mark in found.exercises] == [
        ("composition/privacy_bill", "right"),
        ("composition/worst_posterior", "wrong"),
        ("composition/advanced_composition", "right"),
    ]
    assert found.score == 4


def test_a_mark_that_was_stored_by_its_number_is_that_of_the_exercise():
    stored = result(1, "graded", marks=[Mark(POSTERIOR, "right", 2, 2, ""), Mark("1.99", "right", 2, 2, "")]).as_json()
    assert [mark.id for mark in from_json(stored).exercises] == ["composition/worst_posterior", "1.99"]
