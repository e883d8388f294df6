"""The numbers of a class are those that numpy finds."""

import numpy as np
import pytest
from grading.rows import FULL, a_row, graded
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import course
from dpcourse.checking import BLANK, WRONG
from dpcourse.grading import result
from dpcourse.grading.out import report, spread
from dpcourse.grading.result import unjudged, with_marks

values = st.lists(st.floats(0, 100), min_size=1, max_size=40)


@given(values)
def test_mean_median_quartiles_and_deviation_are_those_of_numpy(scores):
    found = spread.spread(scores)
    assert [found.lower, found.median, found.upper] == pytest.approx(np.percentile(scores, [25, 50, 75]), abs=1e-9)
    assert (found.mean, found.lowest, found.highest) == pytest.approx((np.mean(scores), min(scores), max(scores)))
    assert found.deviation == pytest.approx(np.std(scores, ddof=1) if len(scores) > 1 else 0, abs=1e-9)


@given(st.lists(st.integers(0, 40)))
def test_the_histogram_counts_each_score_once(points):
    shares = [point / 40 for point in points]
    assert spread.bins(shares) == np.histogram(np.array(points), bins=np.arange(0, 41, 4))[0].tolist()


def test_of_nothing_there_is_no_spread():
    assert spread.spread([]) is None


def a_class():
    whole, half = graded(), graded(1, {"composition/worst_posterior": WRONG, "composition/composed_delta": BLANK})
    broken = with_marks(graded(), [unjudged(course.find("composition/worst_posterior"), "ValueError: x")])
    rows = [whole, whole, half, half, half, broken, result.missing(1), result.unreadable(1, "x")]
    return [a_row(f"student {number}", each) for number, each in enumerate(rows)]


def test_an_exercise_says_who_passed_and_the_mean_of_whom_it_was_judged():
    rows, points = a_class(), course.find("composition/worst_posterior").points
    found = report._of_exercise("composition/worst_posterior", rows)
    assert (found["passed"], found["mean"], found["out_of"], found["unjudged"]) == (2 / 5, points * 2 / 5, points, 1)
    assert found["counts"] == [2, 3, 0, 0]


def test_the_summary_says_mean_median_and_who_has_no_score_or_was_late():
    line, told = report.summary(a_class())
    less = (
        FULL - sum(course.find(id).points for id in ("composition/worst_posterior", "composition/composed_delta"))
    ) / FULL
    assert told["mean"] == round((2 + 3 * less) / 5, 4)
    assert told["median"] == round(less, 4)
    assert f"mean {told['mean']:.0%} and median {less:.0%} of the points; 2 not graded, 0 late." in line
