"""What was given out, and what of it a submission has changed."""

import ast
import functools
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.cells import defined
from dpcourse.grading import collect

MOST_NAMED = 3  # of provided cells that one note is about
LONGEST_PARSED = 20_000  # characters: of longer code a tree may take hundreds of MiB
AROUND = {
    "getsource": r"\bgetsource(lines)?\b",
    "__code__": r"\b__code__\b",
    "ctypes": r"\bctypes\b",
    "cProfile": r"\bcProfile\b",
    "setprofile": r"\bsetprofile(_all_threads)?\b",
    "settrace": r"\bsettrace(_all_threads)?\b",
    "gc": r"\bget_(objects|referrers|referents)\b",
    "frames": r"\b(_getframe|_current_frames|currentframe|f_back|f_locals|tb_frame|gi_frame|cr_frame)\b",
    "subclasses": r"\b__subclasses__\b",
    "_last_state": r"\b_last_state\b",
}
"""What serves to go around a check: its name, and the pattern by which code is known to use it."""


@dataclass(frozen=True)
class Release:
    """What was given out: the code cells that are not a student's to write, and the names that a lesson imports."""

    provided: tuple[collect.Cell, ...] = ()
    modules: tuple[str, ...] = ()
    code: str = ""


def blanks(folder: Path) -> dict[int, Path]:
    """lesson number -> its blank notebook, in the folder of a course."""
    found = {each.number: sorted((folder / "lessons").glob(f"{each.number:02}-*.ipynb")) for each in course.lessons()}
    return {number: files[0] for number, files in found.items() if files}


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
    """What somebody should look at, in words; nothing if there is nothing. No mark depends on it.

    Provided cells that were edited, are missing, or are there more than once: comments, layout, and calls of `hint` and
    `solution` may be added and removed. And cells that use what serves to go around a check.
    """
    codes = {cell: normal(cell.code) for cell in cells}
    there, ids = Counter(codes.values()), {cell.id for cell in codes}
    given = Counter(normal(cell.code) for cell in provided)
    edited: list[str] = []
    missing: list[str] = []
    repeated: list[str] = []
    for cell in provided:
        code = normal(cell.code)
        if not code:
            continue
        first = _first_line(cell.code)
        if not there[code]:
            (edited if cell.id in ids else missing).append(first)
        elif there[code] > given[code]:
            repeated.append(f"the provided cell `{first}` is there {there[code]} times")
            there[code] = given[code]
    lacking = [
        *_of_several(edited, given, "was", "were", "edited"),
        *_of_several(missing, given, "is", "are", "missing"),
    ]
    return lacking + repeated + [line for cell, code in codes.items() if code not in given for line in _around(cell)]


def _of_several(cells, given, is_, are, what):
    """One note on provided cells, by their first lines."""
    if len(cells) == 1:
        yield f"the provided cell `{cells[0]}` {is_} {what}"
    elif cells:
        named = collect.some((f"`{cell}`" for cell in cells), MOST_NAMED)
        yield f"{len(cells)} of {given.total() - given['']} provided cells {are} {what}: {named}"


def _first_line(code):
    lines = (line.strip() for line in code.splitlines())
    return next(line for line in lines if line and not line.startswith("#"))[:60]


def _around(cell):
    words = [word for word, pattern in AROUND.items() if re.search(pattern, re.sub(r"#.*", "", cell.code))]
    if words:
        named = ", ".join(f"`{word}`" for word in words)
        yield f"cell {cell.number} uses {named}: see whether an answer goes around what it is to do itself"


@functools.lru_cache(maxsize=500)
def normal(code: str) -> str:
    """Code without comments and layout, and without what a student may add to a cell; empty where nothing is left.

    >>> normal("x = 'a'  # mine") == normal('hint("1.1"); x = "a"')
    True
    """
    tree = parsed(code)
    if tree is None:
        return code
    try:
        return "\n".join(ast.dump(each) for each in tree.body if not _is_asking(each))
    except RecursionError:
        return code


def defining(cells: Iterable[collect.Cell], function: str) -> list[collect.Cell]:
    """The cells that look as if they defined the function of that name, whatever else is in them.

    >>> [cell.number for cell in defining([collect.Cell(1, "", "f = abs"), collect.Cell(2, "", "f == 3")], "f")]
    [1]
    """
    definition = re.compile(rf"^[ \t]*((async[ \t]+)?def[ \t]+{function}\b|{function}[ \t]*[:=](?!=))", re.MULTILINE)
    return [cell for cell in cells if definition.search(cell.code)]


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of the code of a cell that somebody else wrote; None where it has none, or is too long for one."""
    if len(code) > LONGEST_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of what the student wrote: an unknown escape in a text, `is` with a number
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_asking(statement):
    """Whether a statement is a call of `hint` or `solution` with nothing but constants."""
    match statement:
        case ast.Expr(ast.Call(ast.Name("hint" | "solution"), arguments, options)):
            return all(isinstance(each, ast.Constant) for each in [*arguments, *(option.value for option in options)])
    return False
