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

FILE = "pack.toml"
FIRST, LAST = 50, 99
KEYS = {"name": str, "title": str, "number": int, "exercises": list, "graded_only": bool, "hints": bool}
OPTIONAL = {"graded_only": False, "hints": False}
EXAMPLES = {"name": '"exam"', "title": '"Exam"', "number": "50", "exercises": '["odds_after"]'}
PARTS = ("pictures", "quiz", "shared")  # files of a lesson beside its exercises
PLAIN = {str: "a text in quotes", int: "a whole number", list: "a list in square brackets", bool: "true or false"}


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
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{folder} is no pack, for it has no {FILE}: `dpcourse new-pack NAME` makes one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{file} cannot be read: {error}") from None
    if found := complaint(said):
        raise ValueError(f"{file}: {found}")
    said = OPTIONAL | said
    exercises = tuple(said["exercises"])
    return Pack(folder, said["name"], said["title"], said["number"], exercises, said["graded_only"], said["hints"])


def complaint(said: dict) -> str | None:
    """What is wrong with what a pack.toml says, in words; None where nothing is."""
    return next(_complaints(said), None)


def _complaints(said):
    for key in said:
        if key not in KEYS:
            yield f"there is no key {key!r}; the keys are {', '.join(KEYS)}"
    for key, kind in KEYS.items():
        if key not in said and key not in OPTIONAL:
            yield f"does not say {key}: add a line `{key} = {EXAMPLES[key]}`"
        if key in said and type(said[key]) is not kind:
            yield f"{key} must be {PLAIN[kind]}, got {said[key]!r}"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", said["name"]):
        yield f'name must be small letters, digits and "-", such as "exam-1", got {said["name"]!r}'
    if not FIRST <= said["number"] <= LAST:
        yield f"number must be from {FIRST} to {LAST}: the course's own lessons have those below, got {said['number']}"
    if not said["title"].strip():
        yield "title must not be empty: it stands after the number everywhere"
    names = said["exercises"]
    if not names:
        yield 'exercises must name at least one function, such as ["odds_after"]'
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            yield f"exercises must be names of functions, got {name!r}"
        elif other := _taken(name):
            yield f"exercises names {name}, and no function of a student's can be called so: {other}. Choose another name"
        if names.count(name) > 1:
            yield f"exercises names {name} more than once"


def _taken(name):
    """What else is called so, in words: a student's function of that name would take its place, or could not be written."""
    if keyword.iskeyword(name):
        return "it is a word of Python's own"
    if name in PARTS:
        return f"exercises/{name}.py is another part of the lesson"
    if name in dir(builtins):
        return "Python has a function or a name of its own for it"
    package = importlib.import_module(__name__.partition(".")[0])
    given = getattr(package, "__all__", ())  # not there yet where a process begins with a pack: its parent has looked
    if name in given or name in {each.name for each in pkgutil.iter_modules(package.__path__)}:
        return "notebooks import it from the course"
    return None
