"""A pack as it is given out: what is graded only without its judge, the rest as it stands, and no trace of the first."""

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpcourse.authoring.uses import modules_of
from dpcourse.base.files import write_atomically
from dpcourse.checking import RECEIVED, Exercise, GivenOut
from dpcourse.course import Lesson

__all__ = ["RECEIVED", "module", "public", "put", "traces"]

SHORTEST_TRACE = 12  # characters: shorter code and shorter names stand anywhere
PARTS = ("quiz", "pictures")
INIT = '"""Lesson {number:02}."""\n\nNAME = "{name}"\nTITLE = {title!r}\nEXERCISES = {functions!r}\n'
MODULE = '''"""The judge of this exercise is not given out: your instructor has it."""

{imports}
exercise = GivenOut(
    title={title!r},
    good_for={good_for!r},
    difficulty={difficulty},
    minutes={minutes},
    points={points},
    seconds={seconds},
    returns={returns},
    hints={hints!r},
    examples={examples},
)
'''


def public(exercise: Exercise) -> GivenOut:
    """What a learner's check knows of an exercise that is graded only."""
    same = ("id", "number", "title", "good_for", "difficulty", "minutes", "points", "seconds", "returns", "examples")
    hints = exercise.hints if exercise.hints_too else ()
    return GivenOut(**{name: getattr(exercise, name) for name in same}, hints=hints)


def module(exercise: Exercise) -> str:
    """The same as the file that is given out in place of the exercise's. Raises ValueError where it cannot be written."""
    said = public(exercise)
    returns = getattr(said.returns, "written", None)
    if returns is None:
        raise ValueError(
            f"{exercise.function} is graded only, and its `returns` cannot be given out: use one of dpcourse.checking, such as a_number"
        )
    examples = _written(said.examples)
    imports = "import numpy as np\n\n" if "np.array(" in examples else ""
    names = ", ".join(sorted(["GivenOut", returns.partition("(")[0]]))
    fields = {name: getattr(said, name) for name in ("title", "good_for", "difficulty", "minutes", "points", "seconds", "hints")}  # fmt: skip
    return MODULE.format(
        imports=f"{imports}from dpcourse.checking import {names}\n", returns=returns, examples=examples, **fields
    )


def _written(value):
    """A value as Python reads it back. Raises ValueError."""
    if isinstance(value, np.ndarray):
        return f"np.array({_written(value.tolist())})"
    if isinstance(value, np.generic):
        return _written(value.item())
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_written(each)}, " for each in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise ValueError(f"an example may hold numbers, texts, lists, dicts and arrays, and not {value!r}")


def put(lesson: Lesson, package: Path) -> None:
    """Put the lesson of a pack into a copy of the package, where it is found as every lesson is.

    Raises ValueError where what is to stay secret would be given out with it.
    """
    folder = package / "course" / lesson.word
    folder.mkdir()
    said = {"number": lesson.number, "title": lesson.title, "name": lesson.name, "functions": lesson.functions}
    write_atomically(folder / "__init__.py", INIT.format(**said))
    secret = {exercise.function for exercise in lesson.exercises if exercise.graded_only}
    for exercise in lesson.exercises:
        if exercise.graded_only:
            write_atomically(folder / f"{exercise.function}.py", module(exercise))
    for name in _given_out(lesson, secret):
        shutil.copyfile(lesson.folder / name, folder / name)


def _given_out(lesson, secret):
    """The names of the files that are copied: what is not secret, what that imports, and its data."""
    modules, above = modules_of(lesson.pack.folder), f"dpcourse.course.{lesson.word}."
    wanted = {f"{above}{name}" for name in (*lesson.functions, *PARTS) if name not in secret}
    names = sorted(
        each.removeprefix(above) for each in modules.reached(filter(modules.has, wanted)) if each.startswith(above)
    )
    for name in names:
        if name in secret:
            raise ValueError(f"{name} is graded only, but a file that is given out imports it: move what both need into another file")  # fmt: skip
        yield f"{name}.py"
        yield from (data.name for data in modules.data(f"{above}{name}"))
    if (lesson.folder / "glossary.toml").exists():
        yield "glossary.toml"


def traces(lesson: Lesson, files: list[Path]) -> Iterator[str]:
    """What of the exercises that are graded only stands in files that are given out, each in a sentence.

    Looked for are the names and messages of their misconceptions, their hints, and each expression of their code.
    """
    texts = {file: _read(file) for file in files}
    for exercise in lesson.exercises:
        if not exercise.graded_only:
            continue
        said = module(exercise)
        told = "\n".join([exercise.title, exercise.good_for, *public(exercise).hints, ast.unparse(ast.parse(said))])
        for what in _secrets((lesson.folder / f"{exercise.function}.py").read_text(encoding="utf-8")):
            if what in told:
                continue
            for file in files:
                if what in texts[file]:
                    yield f"{file.name} holds {what!r}, which is part of {exercise.function}, and that is graded only"


def _secrets(text):
    """The texts and the pieces of code in the file of an exercise that tell of its answer."""
    tree = ast.parse(text)
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if id(node) in spoken:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        elif isinstance(node, ast.Lambda):
            found = ast.unparse(node.body)
        elif isinstance(node, (ast.Return, ast.Assign, ast.AugAssign)) and node.value and not _is_call(node.value):
            found = ast.unparse(node.value)
        else:
            continue
        if len(found) >= SHORTEST_TRACE:
            yield found


def _is_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Exercise")


def _read(file):
    """The text of a file, of a notebook that of its cells too, and its code as `_secrets` writes it."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".py":
        return f"{text}\n{ast.unparse(ast.parse(text))}"
    if file.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    code = [ast.unparse(ast.parse(source)) for cell, source in zip(cells, sources, strict=True) if cell["cell_type"] == "code"]  # fmt: skip
    return "\n".join([text, *sources, *code])
