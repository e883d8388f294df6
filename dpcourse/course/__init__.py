"""The lessons of the course: every folder here is one, and what it holds is found from there.

An exercise has one id, of its lesson's word and its function: "composition/crossing". What people read is its number, which
is made here: a lesson's stands in its NAME, and an exercise's is its place in the lesson's EXERCISES, so that "1.3" is the
third of lesson 01. `find` takes either. Beside the lessons stand the packs in use (pack.py), from 50 on.
"""

import functools
import importlib
import importlib.util
import json
import os
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from pathlib import Path

from dpcourse.base.languages import ENGLISH, say
from dpcourse.checking import Exercise, GivenOut, Question, Variants
from dpcourse.course import pack as packs

Values = Mapping[str, dict]
"""The name of an exercise's function -> the values of its variant."""

IN_USE = "DPCOURSE_PACK"
"""The environment variable that names the folder of a pack which a process uses from its start."""
GLOSSARY = "glossary"  # the page beside the lessons that is none
OUTLINE = "outline.json"
"""In a lesson's folder, made by the build: what the lesson needs, its minutes and its goals."""


@dataclass(frozen=True)
class Lesson:
    """A lesson: its number, its name ("01-composition"), the word that is its folder here, its title.

    functions: the names of the functions that its exercises ask for, in order; each is a file of the folder.
    pack: the Pack that it is the lesson of, where it is not the course's own.
    """

    number: int
    name: str
    word: str
    title: str
    functions: tuple[str, ...]
    pack: packs.Pack | None = None

    @property
    def folder(self) -> Path:
        """Where the files of its exercises are."""
        return self.pack.folder / "exercises" if self.pack else Path(__file__).parent / self.word

    @functools.cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """Its exercises, in order; of one with variants the sample."""
        return self.exercises_with({})

    def exercises_with(self, values: Values) -> tuple[Exercise, ...]:
        """Its exercises, those with variants with these values. Raises ValueError for values that one has not."""
        return tuple(
            self._numbered(function, place, values.get(function)) for place, function in enumerate(self.functions, 1)
        )

    @functools.cached_property
    def variants(self) -> dict[str, Variants]:
        """function -> Variants, of the exercises that have a variant for each student."""
        made = {function: self.part(function).exercise for function in self.functions}
        found = {function: each for function, each in made.items() if isinstance(each, Variants)}
        names = [name for each in found.values() for name in each.sample]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"lesson {self.name}: two exercises have a variant {twice[0]}: give one another name")
        return found

    def sample(self) -> Values:
        """The values of its variants where nobody is named."""
        return {function: each.sample for function, each in self.variants.items()}

    def values_of(self, secret: bytes, student: str) -> Values:
        """The values of a student's variants; empty where no exercise has any."""
        return {
            function: each.of_student(secret, student, f"{self.name}/{function}")
            for function, each in self.variants.items()
        }

    @functools.cached_property
    def outline(self) -> dict | None:
        """What the lesson needs, its minutes and its goals; None for a pack, and before the first build."""
        file = self.folder / OUTLINE
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def goals(self, language: str) -> list[tuple[str, list[str]]]:
        """What one can do after the lesson, in a language, or else in English, and the ids of the exercises that show it.

        >>> lesson(0).goals("en")[0][1]
        ['start_here/keep_probability']
        """
        goals = self.outline["goals"] if self.outline else {ENGLISH: []}
        return [
            (can, [f"{self.word}/{function}" for function in checks])
            for can, checks in goals.get(language) or goals[ENGLISH]
        ]

    @functools.cached_property
    def quiz(self) -> tuple[Question, ...]:
        """The questions of its quiz; a pack may have none."""
        if not self.has("quiz"):
            return ()
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
        """The text with the name of an exercise of this lesson in braces made its number: fields of what is said.

        >>> lesson(0).with_numbers("Do {keep_probability} first.")
        'Do 0.1 first.'
        """
        numbers = {function: f"{self.number}.{place}" for place, function in enumerate(self.functions, 1)}
        named = {function: number for function, number in numbers.items() if f"{{{function}}}" in text}
        return say(text, **named) if named else text

    def _numbered(self, function, place, values):
        exercise = self.part(function).exercise
        if isinstance(exercise, Variants):
            exercise = exercise.exercise(values)
        if self.pack and self.pack.graded_only:
            exercise = replace(exercise, graded_only=True, hints_too=exercise.hints_too or self.pack.hints)
        slips = (replace(slip, message=self.with_numbers(slip.message)) for slip in exercise.misconceptions)
        return replace(
            exercise,
            id=f"{self.word}/{function}",
            number=f"{self.number}.{place}",
            folder=self.folder,
            hints=tuple(map(self.with_numbers, exercise.hints)),
            misconceptions=tuple(slips),
        )

    def part(self, name):
        """A module of the lesson's folder, such as "quiz" or "pictures"."""
        return importlib.import_module(f"{__name__}.{self.word}.{name}")

    def has(self, name: str) -> bool:
        """Whether the lesson's folder has a module of that name."""
        return importlib.util.find_spec(f"{__name__}.{self.word}.{name}") is not None

    def exercise(self, function: str) -> Exercise:
        """The exercise that asks for the function of that name; a ValueError names those that there are."""
        if function not in self.functions:
            raise ValueError(f"lesson {self.name} has no exercise {function!r}; it has {', '.join(self.functions)}")
        return self.exercises[self.functions.index(function)]


_packs: dict[Path, packs.Pack] = {}  # those in use, by their folders


def use_pack(folder: Path | str) -> Lesson:
    """Put the lesson of a pack beside those of the course, in this process; returns it.

    Using it again changes nothing. Raises ValueError where it is no pack, or its name or number is taken.
    """
    pack = packs.read(folder)
    if _packs.get(pack.folder) != pack:
        others = [each for each in lessons() if each.pack is None or each.pack.folder != pack.folder]
        if other := next((each for each in others if each.number == pack.number), None):
            raise ValueError(
                say(
                    "{file}: {number} is the number of {lesson}: take a free one",
                    file=pack.folder / packs.FILE,
                    number=pack.number,
                    lesson=other.name,
                )
            )
        if pack.word in {*(each.word for each in others), *(found.name for found in pkgutil.iter_modules(__path__))}:
            file, name = pack.folder / packs.FILE, repr(pack.name)
            raise ValueError(say("{file}: the name {name} is taken: choose another", file=file, name=name))
        _forget(pack.folder)
        name = f"{__name__}.{pack.word}"
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(pack.folder / "exercises")]
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        _packs[pack.folder] = pack
        lessons.cache_clear()
    return lesson(pack.number)


def _forget(folder):
    """Let go of what was imported of a pack that has changed its name."""
    if before := _packs.pop(folder, None):
        above = f"{__name__}.{before.word}"
        for name in [name for name in sys.modules if name == above or name.startswith(f"{above}.")]:
            del sys.modules[name]
        lessons.cache_clear()


@functools.cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, in order.

    >>> [lesson.name for lesson in lessons()][:2]
    ['00-start-here', '01-composition']
    """
    words = [found.name for found in pkgutil.iter_modules(__path__) if found.ispkg]
    folders = sorted((importlib.import_module(f"{__name__}.{word}") for word in words), key=lambda folder: folder.NAME)
    own = tuple(
        Lesson(int(folder.NAME[:2]), folder.NAME, folder.__name__.rpartition(".")[2], folder.TITLE, folder.EXERCISES)
        for folder in folders
    )
    in_use = sorted(_packs.values(), key=lambda each: each.number)
    return (*own, *(Lesson(each.number, each.lesson, each.word, each.title, each.functions, each) for each in in_use))


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


def find(name: str, values: dict | None = None) -> Exercise:
    """The exercise of that number, such as "0.1", or of that id, such as "start_here/keep_probability".

    values: of its variant, where it has any. Raises ValueError for others than it has, and for a name that no exercise has.

    >>> find("0.1").id, find("start_here/keep_probability").number
    ('start_here/keep_probability', '0.1')
    """
    if not isinstance(name, str):
        raise ValueError(
            say('an exercise is named in quotes, such as "{exercise}", not {given}', exercise=name, given=repr(name))
        )
    of = next((each for each in lessons() if name.startswith((f"{each.number}.", f"{each.word}/"))), None)
    found = next((each for each in of.exercises if name in (each.number, each.id)), None) if of else None
    if of is None or found is None:
        ends = (dict.fromkeys(each.exercises[i].number for i in (0, -1)) for each in lessons() if each.exercises)
        known = ", ".join(map("–".join, ends))
        raise ValueError(say("there is no exercise {exercise}; there are {known}", exercise=repr(name), known=known))
    if not values or isinstance(found, GivenOut):
        return found
    if found.function not in of.variants:
        names = ", ".join(values)
        raise ValueError(say("exercise {exercise} has no variants, and so no {names}", exercise=name, names=names))
    return of.exercises_with({found.function: values})[of.functions.index(found.function)]


def id_of(name: str) -> str:
    """The id of the exercise of that number or id; the name itself where the course has no such exercise any more.

    >>> id_of("0.1"), id_of("49.9")
    ('start_here/keep_probability', '49.9')
    """
    try:
        return find(name).id
    except ValueError:
        return name


def number_of(id: str) -> str:
    """The number of the exercise of that id; the id itself where the course has no such exercise any more.

    >>> number_of("start_here/keep_probability"), number_of("composition/gone")
    ('0.1', 'composition/gone')
    """
    try:
        return find(id).number
    except ValueError:
        return id


def of_student(name: str, secret: bytes, student: str) -> Exercise:
    """The exercise of that number or id as a student has it: with the values of their variant, where it has variants."""
    found = find(name)
    return find(name, lesson(found.lesson).values_of(secret, student).get(found.function))


if folder := os.environ.get(IN_USE):
    use_pack(folder)
