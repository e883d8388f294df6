"""A result survives being stored, and those that the first edition stored can be read."""

import json

from grading.rows import a_row

from dpcourse import course
from dpcourse.grading.collect import Submission
from dpcourse.grading.result import from_json, result, told, without_points
from dpcourse.grading.store import Store

FIRST_EDITION = (
    '{"status": "limit", "notes": ["cell 3 was left out: the time limit was reached"], "score": 2, "points": 15, "exercises": '
    '[{"id": "1.3", "state": "right", "points": 2, "out_of": 2, "message": "Right on inputs drawn just now.", "misconception": null, '
    '"seen": [], "observed": [], "printed": "", "override": null}, {"id": "1.4", "state": "wrong", "points": 0, "out_of": 2, '
    '"message": "No.", "misconception": "odds", "seen": ["f(1) gave 2"], "observed": ["f(1) gave 2; right is 3"], "printed": "x", '
    '"override": "shown on paper"}], "errors": ["cell 2: NameError: x"], "shingles": ["00aa", "00ab"]}'
)


def test_what_the_first_edition_stored_is_read_and_written_as_it_was():
    assert from_json(FIRST_EDITION).as_json() == FIRST_EDITION
    assert from_json(FIRST_EDITION).exercises[1].override == "shown on paper"


def test_a_database_of_the_first_edition_opens(tmp_path):
    with Store(tmp_path / "grades.sqlite") as store:
        store.database.execute(
            "INSERT INTO results VALUES ('kim', 1, 'kim.ipynb', 'digest', 'grader', ?)", [FIRST_EDITION]
        )
        store.override("kim", "1.5", 1, "shown")
    with Store(tmp_path / "grades.sqlite") as store:
        (row,) = store.rows()
    assert [(mark.id, mark.points) for mark in row.result.exercises] == [("1.3", 2), ("1.4", 0), ("1.5", 1)]
    assert row.result.score == 3


def test_a_result_survives_being_stored():
    exercise = course.find("1.3")
    marks = [told(exercise.check(exercise.misconceptions[0].code, rng=1)), without_points(exercise, "error", "It was stopped.")]  # fmt: skip
    made = result(1, "graded", ["a note"], marks, ["cell 2: NameError"], ["00aa"])
    assert a_row(result=made).result == made
    assert json.loads(made.as_json()).keys() == json.loads(FIRST_EDITION).keys()


def test_a_result_is_settled_unless_it_failed_through_a_fault_of_ours(tmp_path):
    handed_in = Submission("kim", 1, "x.ipynb", tmp_path, "digest")
    with Store(":memory:") as store:
        for status, settled in (("graded", True), ("infrastructure", False), ("unreadable", True)):
            store.save(handed_in, "grader", result(1, status))
            assert store.is_settled(handed_in, "grader") == settled
            assert not store.is_settled(handed_in, "another grader")
