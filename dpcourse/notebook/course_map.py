"""The map of the course: which lesson leads to which, how long each takes, and where the learner is."""

import json
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.notebook.progress import Progress

OUTLINE = Path(course.__file__).with_name("outline.json")
"""What `dpcourse build` has read and counted in the sources, which a learner may not have: for each lesson, by its name,
the numbers of those that it builds on, and its minutes. The map is never stored in a notebook, so no notebook changes
because another lesson does."""


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
    """Return the lessons that the outline knows, in order; without any progress as for nobody who learns.

    >>> [stage.needs for stage in stages()][:2]
    [(), (0,)]
    """
    known = json.loads(OUTLINE.read_text(encoding="utf-8"))
    passed = {row.lesson.number: len(row.passed) for row in (progress.rows if progress else ())}
    return [
        Stage(
            number=lesson.number,
            title=lesson.title,
            needs=tuple(known[lesson.name]["needs"]),
            minutes=known[lesson.name]["minutes"],
            passed=passed.get(lesson.number),
            exercises=len(lesson.functions),
        )
        for lesson in course.lessons()
        if lesson.name in known
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
