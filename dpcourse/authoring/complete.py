"""What a lesson's folder and source lack: one sentence for each, saying what to add where.

The folders are read and not imported, so that a lesson half made is told what comes next.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from dpcourse.authoring.source import SourceError, sources
from dpcourse.authoring.uses import lesson_words
from dpcourse.base.modules import Modules
from dpcourse.course import pack

SAID = {
    "NAME": 'NAME = "07-name", the name of its source in solutions/',
    "TITLE": 'TITLE = "A title", which stands after its number everywhere',
    "EXERCISES": 'EXERCISES = ("a_function", ...), the functions that its exercises ask for, in order',
}
FILES = {
    "quiz.py": "its questions, as `QUIZ`",
    "pictures.py": "its pictures, even if there are none yet",
    "glossary.toml": "a row for each symbol and term that it introduces",
    "journey.py": "the wrong answer that the journey through the course gives first, as `SLIP`",
}


def omissions(root: Path, modules: Modules) -> Iterator[SourceError]:
    """What is missing of the lessons: in their folders in dpcourse/course/, and of their sources in solutions/."""
    if pack.is_pack(root):
        yield from _of_pack(root, modules, pack.read(root))
        return
    names: dict[str, str] = {}
    for word in lesson_words(modules):
        folder = modules.folder / "course" / word
        said = _said(modules, word)
        yield from _of_folder(modules, folder, said)
        name = str(said.get("NAME", ""))
        if other := names.get(name[:2]):
            yield SourceError(folder / "__init__.py", 1, f"{name[:2]} is the number of {other}: give NAME a free one")
        elif name:
            names[name[:2]] = name
            if not (source := root / "solutions" / f"{name}.md").exists():
                yield SourceError(source, 1, f"is missing: write the source of the lesson in {folder}")
    for source in sources(root):
        if source.stem not in names.values():
            there = modules.folder / "course"
            yield SourceError(
                source, 1, f'is no lesson\'s source: add a folder to {there} with `NAME = "{source.stem}"`'
            )


def _of_pack(root, modules, said):
    file = root / pack.FILE
    yield from _of_exercises(modules, root / "exercises", said.word, said.functions, file, "exercises")
    if not (source := root / "solutions" / f"{said.lesson}.md").exists():
        yield SourceError(source, 1, f"is missing: write the source of the lesson that {file} names")
    for source in sources(root):
        if source.stem != said.lesson:
            yield SourceError(source, 1, f"is no lesson's source: {file} names {said.lesson}")


def _said(modules, word):
    """What the folder of a lesson says in plain words: name -> value."""
    said = {}
    for node in modules.tree(f"{modules.name}.course.{word}").body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                said[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return said


def _of_folder(modules, folder, said):
    init = folder / "__init__.py"
    for name, example in SAID.items():
        if name not in said:
            yield SourceError(init, 1, f"does not say {name}: add {example}")
    if "NAME" in said and not re.fullmatch(r"\d\d-[a-z0-9-]+", str(said["NAME"])):
        yield SourceError(init, 1, f'NAME must be two digits and words, such as "07-name", got {said["NAME"]!r}')
    exercises = said.get("EXERCISES", ())
    if not isinstance(exercises, tuple):
        yield SourceError(init, 1, f"EXERCISES must be a tuple, such as ({exercises!r},)")
        return
    yield from _of_exercises(modules, folder, folder.name, exercises, init, "EXERCISES")
    for name, what in FILES.items():
        if not (folder / name).exists():
            yield SourceError(folder / name, 1, f"is missing: write it, with {what}")


def _of_exercises(modules, folder, word, exercises, init, order):
    """The files of a lesson's exercises; order: what names them, in the file `init`."""
    of_file = f"{modules.name}.course.{word}."
    for name in sorted({name for name in exercises if exercises.count(name) > 1}):
        yield SourceError(init, 1, f"{order} names {name} more than once: take it out where its turn is not")
    for name in exercises:
        if not modules.has(of_file + name):
            yield SourceError(init, 1, f"{order} names {name}: write {folder / name}.py, with the object `exercise`")
        elif "exercise" not in modules.names(of_file + name):
            yield SourceError(folder / f"{name}.py", 1, "has no `exercise`: give the exercise this name")
    for file in sorted(folder.glob("*.py")):
        if file.stem not in (*exercises, "__init__") and "exercise" in modules.names(of_file + file.stem):
            yield SourceError(file, 1, f'holds an exercise: add "{file.stem}" to {order} in {init}, where its turn is')
