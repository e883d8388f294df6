"""The map of the course: which lesson leads to which, how long each takes, and where the learner is."""

from collections.abc import Mapping
from dataclasses import dataclass

from dpcourse import course


@dataclass(frozen=True)
class Stage:
    """A lesson on the map: number and title, the numbers of the lessons that it builds on, its minutes.

    passed, exercises: how many of its exercises the learner has passed, of how many; passed is None where nobody learns.
    """

    number: int
    title: str
    needs: tuple[int, ...]
    minutes: int
    passed: int | None
    exercises: int


def stages(passed: Mapping[int, int] | None = None) -> list[Stage]:
    """Return the lessons that have an outline, in order. passed: lesson number -> exercises passed; None: nobody learns.

    >>> [stage.needs for stage in stages()][:2]
    [(), (0,)]
    """
    return [
        Stage(
            number=lesson.number,
            title=lesson.title,
            needs=tuple(lesson.outline["needs"]),
            minutes=lesson.outline["minutes"],
            passed=None if passed is None else passed.get(lesson.number, 0),
            exercises=len(lesson.functions),
        )
        for lesson in course.lessons()
        if lesson.outline
    ]


@dataclass(frozen=True)
class CourseMap:
    """The map as a picture. passed: as for `stages`; here: the number of the lesson that is marked, None for none."""

    passed: Mapping[int, int]
    here: int | None

    def _repr_mimebundle_(self, include=None, exclude=None):
        from dpcourse import plots

        return plots.as_output(plots.course_map, stages=stages(self.passed), here=self.here)
