"""A pack: an instructor's own lesson, in a folder outside the course.

pack.toml             name, title, number, exercises; graded_only, hints (README.md of a new pack explains them)
exercises/            a file for each exercise, as in a lesson of the course; quiz.py, pictures.py, shared.py if wanted
solutions/50-exam.md  the source of the lesson, from which the notebooks are built
answers.toml          right and wrong answers, which `dpcourse try` tries
"""

import builtins
import importlib
import keyword
import os
import pkgutil
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from dpcourse.base.languages import say, to_say

FILE = "pack.toml"
FIRST, LAST = 50, 99
KEYS = {"name": str, "title": str, "number": int, "exercises": list, "graded_only": bool, "hints": bool}
OPTIONAL = {"graded_only": False, "hints": False}
EXAMPLES = {"name": '"exam"', "title": '"Exam"', "number": "50", "exercises": '["odds_after"]'}
PARTS = ("pictures", "quiz", "shared")  # files of a lesson beside its exercises
PLAIN = {
    str: to_say("a text in quotes"),
    int: to_say("a whole number"),
    list: to_say("a list in square brackets"),
    bool: to_say("true or false"),
}


@dataclass(frozen=True)
class Pack:
    """What pack.toml says; functions: the exercises, in order. All of them are graded_only, and tell hints, if it says so."""

    folder: Path
    name: str
    title: str
    number: int
    functions: tuple[str, ...]
    graded_only: bool
    hints: bool

    @property
    def word(self) -> str:
        """The name under which its exercises are imported, as `dpcourse.course.WORD`."""
        return self.name.replace("-", "_")

    @property
    def lesson(self) -> str:
        """The name of its lesson, such as "50-exam"."""
        return f"{self.number:02}-{self.name}"


def is_pack(folder: Path) -> bool:
    """Whether a folder is a pack."""
    return (folder / FILE).is_file()


def read(folder: Path | str) -> Pack:
    """The Pack in a folder. Raises ValueError, which says in a sentence what is wrong where."""
    folder = Path(os.path.realpath(folder))
    file = folder / FILE
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            say(
                "{folder} is no pack, for it has no {file}: `dpcourse new-pack NAME` makes one",
                folder=folder,
                file=FILE,
            )
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(say("{file} cannot be read: {error}", file=file, error=error)) from None
    if found := complaint(told):
        raise ValueError(f"{file}: {found}")
    told = OPTIONAL | told
    exercises = tuple(told["exercises"])
    return Pack(folder, told["name"], told["title"], told["number"], exercises, told["graded_only"], told["hints"])


def complaint(told: dict) -> str | None:
    """What is wrong with what a pack.toml says, in words; None where nothing is."""
    return next(_complaints(told), None)


def _complaints(told):
    for key in told:
        if key not in KEYS:
            yield say("there is no key {key}; the keys are {keys}", key=repr(key), keys=", ".join(KEYS))
    for key, kind in KEYS.items():
        if key not in told and key not in OPTIONAL:
            yield say("does not say {key}: add a line `{key} = {example}`", key=key, example=EXAMPLES[key])
        if key in told and type(told[key]) is not kind:
            yield say("{key} must be {kind}, got {given}", key=key, kind=say(PLAIN[kind]), given=repr(told[key]))
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", told["name"]):
        yield say('name must be small letters, digits and "-", such as "exam-1", got {given}', given=repr(told["name"]))
    if not FIRST <= told["number"] <= LAST:
        yield say(
            "number must be from {first} to {last}: the course's own lessons have those below, got {given}",
            first=FIRST,
            last=LAST,
            given=told["number"],
        )
    if not told["title"].strip():
        yield say("title must not be empty: it stands after the number everywhere")
    names = told["exercises"]
    if not names:
        yield say('exercises must name at least one function, such as ["odds_after"]')
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            yield say("exercises must be names of functions, got {given}", given=repr(name))
        elif other := _taken(name):
            yield say(
                "exercises names {name}, and no function of a student's can be called so: {other}. Choose another name",
                name=name,
                other=other,
            )
        if names.count(name) > 1:
            yield say("exercises names {name} more than once", name=name)


def _taken(name):
    """What else is called so, in words: a student's function of that name would take its place, or could not be written."""
    if keyword.iskeyword(name):
        return say("it is a word of Python's own")
    if name in PARTS:
        return say("exercises/{name}.py is another part of the lesson", name=name)
    if name in dir(builtins):
        return say("Python has a function or a name of its own for it")
    package = importlib.import_module(__name__.partition(".")[0])
    given = getattr(package, "__all__", ())  # not there yet where a process begins with a pack: its parent has looked
    if name in given or name in {each.name for each in pkgutil.iter_modules(package.__path__)}:
        return say("notebooks import it from the course")
    return None
