"""The map of the course: which lesson leads to which, how long each takes, and where the learner is."""

from dataclasses import dataclass

from dpcourse import course
from dpcourse.notebook.progress import Progress


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


def stages(progress: Progress | None = None) -> list[Stage]:
    """Return the lessons that have an outline, in order; without any progress as for nobody who learns.

    >>> [stage.needs for stage in stages()][:2]
    [(), (0,)]
    """
    passed = {row.lesson.number: len(row.passed) for row in (progress.rows if progress else ())}
    return [
        Stage(
            number=lesson.number,
            title=lesson.title,
            needs=tuple(lesson.outline["needs"]),
            minutes=lesson.outline["minutes"],
            passed=passed.get(lesson.number),
            exercises=len(lesson.functions),
        )
        for lesson in course.lessons()
        if lesson.outline
    ]


class CourseMap:
    """The map as a picture, with what the learner has done."""

    def __init__(self):
        self.progress = Progress()

    @property
    def here(self) -> int | None:
        """The number of the lesson in which the next exercise is; None where all are done."""
        following = self.progress.next()
        return course.find(following).lesson if following else None

    def _repr_mimebundle_(self, include=None, exclude=None):
        from dpcourse import plots

        return plots.as_output(plots.course_map, stages=stages(self.progress), here=self.here)
