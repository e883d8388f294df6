"""What a class got wrong, in the order in which to say it in class."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.base import cells
from dpcourse.base.languages import say, to_say
from dpcourse.checking import ERROR, WRONG
from dpcourse.grading.keep.store import Row
from dpcourse.grading.out.gradebook import exercise_of, title_of
from dpcourse.grading.result import Mark, in_course, in_english

UNEXPLAINED = ("case", "measurement", "place", None)  # of a Mark's found_by: what is said is of this answer alone
DOES_NOT_WORK = to_say("does not work")
COMMON_WORDS = 4  # letters of a word that says something


@dataclass(frozen=True)
class Mistake:
    """A mistake that students made in an exercise: its name, what they are told, who made it.

    hint: the exercise's hint that fits it best; section: the part of the lesson that leads to the exercise.
    """

    id: str
    title: str
    name: str
    message: str
    students: tuple[str, ...]
    hint: str
    section: str

    @property
    def number(self) -> str:
        """The number of the exercise."""
        return course.number_of(self.id)


@dataclass(frozen=True)
class Unexplained:
    """A wrong answer for which no reason was found: whose, the code, what was observed of it."""

    student: str
    code: str
    observed: tuple[str, ...]
    message: str


def mistakes(rows: Iterable[Row], sections: Mapping[str, str]) -> list[Mistake]:
    """The mistakes that were recognised in one lesson, those that most students made first.

    sections: exercise id -> the heading of its part of the lesson.
    """
    whose: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for mark in row.result.exercises:
            if known := _mistake(mark):
                whose.setdefault((mark.id, *known), []).append(row.student)
    found = [
        Mistake(id, title_of(id), name, message, tuple(students), hint_for(id, message), sections.get(id, ""))
        for (id, name, message), students in whose.items()
    ]
    return sorted(found, key=lambda each: (-len(each.students), in_course(each.id), each.name))


def _mistake(mark: Mark):
    """(name, message) of a mistake that is known; None where there is none, or no reason for it was found."""
    if mark.state == ERROR:
        return say(DOES_NOT_WORK), mark.message
    if mark.state == WRONG and (mark.misconception or mark.found_by not in UNEXPLAINED):
        return mark.misconception or "", _message(mark)
    return None


def _message(mark):
    """The message of a misconception as the course has it, so that all who have it are counted together."""
    exercise = exercise_of(mark.id)
    messages = {slip.name: slip.message for slip in exercise.misconceptions} if exercise else {}
    return say(messages[mark.misconception]) if mark.misconception in messages else mark.message


def unexplained(rows: Iterable[Row], answers) -> dict[str, list[Unexplained]]:
    """exercise id -> the wrong answers for which no reason was found; the exercise with most of them first.

    answers(student, lesson): exercise id -> the student's code.
    """
    found: dict[str, list[Unexplained]] = {}
    for row in rows:
        mine = [
            m for m in row.result.exercises if m.state == WRONG and not m.misconception and m.found_by in UNEXPLAINED
        ]
        code = answers(row.student, row.lesson) if mine else {}
        for mark in mine:
            each = Unexplained(row.student, code.get(mark.id, ""), mark.observed, mark.message)
            found.setdefault(mark.id, []).append(each)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), in_course(item[0]))))


def hint_for(exercise_id: str, message: str) -> str:
    """The hint of an exercise that speaks of the same things as a message; the first where none does."""
    exercise = exercise_of(exercise_id)
    hints: Sequence[str] = exercise.hints if exercise else ()
    words = _words(in_english(message))
    found = max(hints, key=lambda hint: len(words & _words(in_english(hint))), default="")
    return say(found) if found else ""


def _words(text):
    return {word.lower() for word in re.findall(r"\w+", text) if len(word) >= COMMON_WORDS}


def sections(notebook: Path) -> dict[str, str]:
    """exercise id -> the heading of the part of a lesson in which it is checked; nothing where there is no notebook."""
    try:
        found = json.loads(notebook.read_bytes())["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    heading, of = "", {}
    for cell in found:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heading = (re.findall(r"^## (.+)$", text, re.MULTILINE) or [heading])[-1]
        else:
            of.update(dict.fromkeys(map(course.id_of, cells.checked(text)), heading))
    return of


def states(rows: Iterable[Row], exercise_id: str) -> Counter:
    """How many answers to an exercise have which state."""
    return Counter(mark.state for row in rows for mark in row.result.exercises if mark.id == exercise_id)
