"""The lessons of the course: every folder here is one, and what it holds is found from there.

A lesson's number stands in its NAME, and an exercise's number is its place in the lesson's EXERCISES: "1.3" is the
third of lesson 01. Nothing else says a number.
"""

import functools
import importlib
import pkgutil
from dataclasses import dataclass, replace

from dpcourse.engine import Exercise, Question

GLOSSARY = "glossary"  # the page beside the lessons that is none


@dataclass(frozen=True)
class Lesson:
    """A lesson: its number, its name ("01-composition"), the word that is its folder here, its title.

    functions: the names of the functions that its exercises ask for, in order; each is a file of the folder.
    """

    number: int
    name: str
    word: str
    title: str
    functions: tuple[str, ...]

    @functools.cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """Its exercises, in order."""
        return tuple(self._numbered(function, place) for place, function in enumerate(self.functions, 1))

    @functools.cached_property
    def quiz(self) -> tuple[Question, ...]:
        """The questions of its quiz."""
        return tuple(
            Question(
                self.with_numbers(question.text),
                tuple(
                    replace(option, text=self.with_numbers(option.text), why=self.with_numbers(option.why))
                    for option in question.options
                ),
            )
            for question in self.part("quiz").QUIZ
        )

    def with_numbers(self, text: str) -> str:
        """The text with the name of an exercise of this lesson in braces made its number.

        >>> lesson(1).with_numbers("Do {privacy_bill} first.")
        'Do 1.2 first.'
        """
        for place, function in enumerate(self.functions, 1):
            text = text.replace(f"{{{function}}}", f"{self.number}.{place}")
        return text

    def _numbered(self, function, place):
        exercise = self.part(function).exercise
        slips = (replace(slip, message=self.with_numbers(slip.message)) for slip in exercise.misconceptions)
        return replace(
            exercise,
            id=f"{self.number}.{place}",
            function=function,
            hints=tuple(map(self.with_numbers, exercise.hints)),
            misconceptions=tuple(slips),
        )

    def part(self, name):
        """A module of the lesson's folder, such as "quiz" or "pictures"."""
        return importlib.import_module(f"{__name__}.{self.word}.{name}")

    def exercise(self, function: str) -> Exercise:
        """The exercise that asks for the function of that name; a ValueError names those that there are."""
        if function not in self.functions:
            raise ValueError(f"lesson {self.name} has no exercise {function!r}; it has {', '.join(self.functions)}")
        return self.exercises[self.functions.index(function)]


@functools.cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, in order.

    >>> [lesson.name for lesson in lessons()][:2]
    ['00-start-here', '01-composition']
    """
    words = [found.name for found in pkgutil.iter_modules(__path__) if found.ispkg]
    folders = sorted((importlib.import_module(f"{__name__}.{word}") for word in words), key=lambda folder: folder.NAME)
    return tuple(
        Lesson(int(folder.NAME[:2]), folder.NAME, folder.__name__.rpartition(".")[2], folder.TITLE, folder.EXERCISES)
        for folder in folders
    )


def lesson(number: int) -> Lesson:
    """The lesson of that number; a ValueError names those that there are.

    >>> lesson(1).title
    'Composition'
    """
    known = {each.number: each for each in lessons()}
    if number not in known:
        raise ValueError(f"lesson must be one of {list(known)}, got {number!r}")
    return known[number]


def every_exercise() -> tuple[Exercise, ...]:
    """All exercises, in the order of the course."""
    return tuple(exercise for each in lessons() for exercise in each.exercises)


def find(exercise_id: str) -> Exercise:
    """The exercise of that id; a ValueError names those that there are.

    >>> find("0.1").function
    'keep_probability'
    """
    if not isinstance(exercise_id, str):
        raise ValueError(f'an exercise is named in quotes, such as "{exercise_id}", not {exercise_id!r}')
    known = {exercise.id: exercise for exercise in every_exercise()}
    if exercise_id not in known:
        raise ValueError(f"there is no exercise {exercise_id!r}; there are {', '.join(known)}")
    return known[exercise_id]
