"""A stored result, as a gradebook and a report are given it."""

from pathlib import Path

from dpcourse.grading.collect import Submission
from dpcourse.grading.result import Result
from dpcourse.grading.store import Row, Store


def a_row(student="Kim Lee_77", result=Result("graded", (), 15, 15)) -> Row:  # noqa: B008
    with Store(":memory:") as store:
        store.save(Submission(student, 1, "x.ipynb", Path("x.ipynb"), ""), "grader", result)
        return next(store.rows())
