"""A submission that others may have slowed down is graded once more, alone, and the better of both counts."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from dpcourse.checking import RIGHT, WRONG
from dpcourse.grading import cohort
from dpcourse.grading.judge import tasks
from dpcourse.grading.result import Graded, Mark, failed, result


def got(points, limits=()):
    return result(
        1,
        "graded",
        marks=[Mark("composition/sequential_composition", RIGHT if points else WRONG, points, 2, "")],
        limits=limits,
    )


@pytest.mark.parametrize(
    ("first", "again", "counts"),
    [
        (got(0, (4, 9, 1)), got(2), got(2)),
        (got(2, (4, 9, 1)), got(0), got(2, (4, 9, 1))),
        (got(0, (4, 9, 1)), got(0), got(0)),
        (got(0, (4, 9, 1)), failed(1, "no worker"), got(0, (4, 9, 1))),
    ],
)
def test_the_slow_are_graded_alone_at_the_end_and_the_better_counts(monkeypatch, first, again, counts):
    under_way, alone, seen = set(), [], []

    def graded(name):
        under_way.add(name)
        alone.append((name, len(under_way) == 1 and len(seen) == 3))
        under_way.remove(name)
        tried = [each for each, _ in alone].count(name)
        slow = name == "slow"
        return Graded(again if slow and tried == 2 else first if slow else got(1), slow=slow)

    monkeypatch.setattr(tasks, "graded", graded)
    for each, found in cohort._results(["a", "slow", "b", "c"], lambda each: each, lambda: ThreadPoolExecutor(1)):
        seen.append((each, found.result))
    assert sorted(seen[:3], key=str) == [(each, got(1)) for each in "abc"]
    assert seen[3:] == [("slow", counts)]
    assert alone[-1] == ("slow", True)
    assert len(alone) == 5
