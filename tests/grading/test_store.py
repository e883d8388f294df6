"""What is stored of a class, and what is not graded twice."""

from grading.first_edition import RESULT

from dpcourse.grading.collect import Submission
from dpcourse.grading.result import result
from dpcourse.grading.store import Store


def test_a_database_of_the_first_edition_opens(tmp_path):
    with Store(tmp_path / "grades.sqlite") as store:
        store.database.execute("INSERT INTO results VALUES ('kim', 1, 'kim.ipynb', 'digest', 'grader', ?)", [RESULT])
        store.override("kim", "1.5", 1, "shown")
    with Store(tmp_path / "grades.sqlite") as store:
        (row,) = store.rows()
    assert [(mark.id, mark.points) for mark in row.result.exercises] == [("1.3", 2), ("1.4", 0), ("1.5", 1)]
    assert row.result.score == 3


def test_a_result_is_settled_unless_it_failed_through_a_fault_of_ours(tmp_path):
    handed_in = Submission("kim", 1, "x.ipynb", tmp_path, "digest")
    with Store(":memory:") as store:
        for status, settled in (("graded", True), ("infrastructure", False), ("unreadable", True)):
            store.save(handed_in, "grader", result(1, status))
            assert store.is_settled(handed_in, "grader") == settled
            assert not store.is_settled(handed_in, "another grader")
