"""A result survives being stored, and what the first edition stored can be read."""

import json

from grading.first_edition import RESULT
from grading.rows import a_row

from dpcourse import course
from dpcourse.grading.result import from_json, result, told, without_points


def test_what_the_first_edition_stored_is_read_and_written_as_it_was():
    assert from_json(RESULT).as_json() == RESULT
    assert from_json(RESULT).exercises[1].override == "shown on paper"


def test_a_result_survives_being_stored():
    exercise = course.find("1.3")
    marks = [told(exercise.check(exercise.misconceptions[0].code, rng=1)), without_points(exercise, "error", "It was stopped.")]  # fmt: skip
    made = result(1, "graded", ["a note"], marks, ["cell 2: NameError"], ["00aa"])
    assert a_row(result=made).result == made
    assert json.loads(made.as_json()).keys() == json.loads(RESULT).keys()
