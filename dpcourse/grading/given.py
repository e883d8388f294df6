"""What was given out, and what of it a submission has changed."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.cells import defined
from dpcourse.grading import collect


@dataclass(frozen=True)
class Release:
    """What was given out: the code cells that are not a student's to write, and the names that a lesson imports."""

    provided: tuple[collect.Cell, ...] = ()
    modules: tuple[str, ...] = ()
    code: str = ""


def releases(folder: Path) -> dict[int, Release]:
    """lesson number -> Release, for the blank lessons that are in the folder of a course."""
    found = {}
    for lesson in course.lessons():
        for file in sorted((folder / "lessons").glob(f"{lesson.number:02}-*.ipynb"))[:1]:
            found[lesson.number] = release_of(file.read_bytes(), lesson.number)
    return found


def release_of(notebook: bytes, lesson: int) -> Release:
    """The Release that a blank lesson is; notebook: its bytes."""
    cells = collect.code_cells(notebook)
    functions = {exercise.function for exercise in course.lesson(lesson).exercises}
    provided, modules = [], set()
    for cell in cells:
        tree = ast.parse(cell.code)
        if not functions.intersection(defined(cell.code)):
            provided.append(cell)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return Release(tuple(provided), tuple(sorted(modules)), "\n".join(cell.code for cell in cells))


def changes(cells: Iterable[collect.Cell], provided: Iterable[collect.Cell]) -> list[str]:
    """What happened to the provided cells, in words: edited, missing, there more than once; nothing if nothing did.

    Comments, and calls of `hint` and `solution`, may be added and removed.
    """
    there = Counter(normal(cell.code) for cell in cells)
    given = Counter(normal(cell.code) for cell in provided)
    ids = {cell.id for cell in cells}
    said = []
    for cell in provided:
        code = normal(cell.code)
        if not code:
            continue
        first = code.splitlines()[0][:60]
        if not there[code]:
            said.append(f"the provided cell `{first}` {'was edited' if cell.id in ids else 'is missing'}")
        elif there[code] > given[code]:
            said.append(f"the provided cell `{first}` is there {there[code]} times")
            there[code] = given[code]
    return said


def normal(code: str) -> str:
    """Code without comments, and without what a student may add to a cell."""
    lines = [line.split(" #")[0].rstrip() for line in code.splitlines()]
    return "\n".join(line for line in lines if line and not re.match(r"\s*(#|hint\(|solution\()", line))
