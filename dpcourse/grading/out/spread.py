"""How the scores of a class are spread: what a dean asks for."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpcourse.grading.keep.store import Row
from dpcourse.grading.result import Mark, is_ours

BINS = 10


@dataclass(frozen=True)
class Spread:
    """Some numbers in a few: mean, median, quartiles, standard deviation (of a sample; 0 of one), lowest and highest."""

    count: int
    mean: float
    median: float
    lower: float
    upper: float
    deviation: float
    lowest: float
    highest: float


def spread(values: Iterable[float]) -> Spread | None:
    """The Spread of some numbers; None where there is none. A quartile between two numbers is interpolated.

    >>> found = spread([1, 2, 3, 6])
    >>> found.mean, found.median, found.lower, found.upper
    (3.0, 2.5, 1.75, 3.75)
    """
    found = sorted(map(float, values))
    if not found:
        return None
    lower, median, upper = statistics.quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
    deviation = statistics.stdev(found) if len(found) > 1 else 0.0
    return Spread(len(found), statistics.fmean(found), median, lower, upper, deviation, found[0], found[-1])


def shares(rows: Iterable[Row]) -> list[float]:
    """The scores as shares of the points, of those that have one."""
    return [row.result.score / row.result.points for row in rows if row.result.score is not None and row.result.points]


def bins(shares: Iterable[float]) -> list[int]:
    """How many shares lie in each tenth, from 0 on; what is exactly between two is in the upper, 1 and more in the last.

    >>> bins([0, 0.05, 0.1, 0.95, 1, 1.2])
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    """
    found = [0] * BINS
    for share in shares:
        found[min(math.floor(share * BINS + 1e-9), BINS - 1)] += 1
    return found


def judged(rows: Sequence[Row], exercise_id: str) -> list[Mark]:
    """The marks of an exercise, of all for whom it counts and was judged, or set by hand."""
    marks = (mark for row in rows for mark in row.result.exercises if mark.id == exercise_id)
    return [mark for mark in marks if not is_ours(mark)]
