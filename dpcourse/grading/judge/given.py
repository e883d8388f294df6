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
from dpcourse.base.cells import called, defined
from dpcourse.base.languages import listed, say
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
    """What was given out: the code cells that are not a student's to write, and the names that a lesson imports.

    Where it was given out in several languages, the cells of all of them: a cell has the same id in each.
    """

    provided: tuple[collect.Cell, ...] = ()
    modules: tuple[str, ...] = ()
    code: str = ""


def blanks(folder: Path) -> dict[int, list[Path]]:
    """lesson number -> its blank notebooks in the folder of a course, one for each language, the English one first."""
    found = {each.number: f"{each.number:02}-*.ipynb" for each in course.lessons()}
    files = {
        number: [*sorted((folder / "lessons").glob(name))[:1], *sorted((folder / "lessons").glob(f"[!.]*/{name}"))]
        for number, name in found.items()
    }
    return {number: mine for number, mine in files.items() if mine}


def release_of(notebooks: Iterable[bytes], lesson: int) -> Release:
    """The Release that a blank lesson is; notebooks: its bytes in each language."""
    cells = [cell for notebook in notebooks for cell in collect.code_cells(notebook)]
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
    `solution` may be added and removed. A cell may be as it is in any language. And cells that use what serves to go
    around a check.
    """
    codes = {cell: normal(cell.code) for cell in cells}
    there, ids = Counter(codes.values()), {cell.id for cell in codes}
    given = _given(provided)
    forms = Counter(code for _, mine in given for code in mine)
    edited: list[str] = []
    missing: list[str] = []
    repeated: list[str] = []
    for cell, mine in given:
        first, times = _first_line(cell.code), sum(there[code] for code in mine)
        if "attack" in called(cell.code):  # whose rule is a learner's to change
            continue
        if not times:
            (edited if cell.id in ids else missing).append(first)
        elif times > max(forms[code] for code in mine):
            repeated.append(say("the provided cell `{cell}` is there {times} times", cell=first, times=times))
            there.subtract({code: there[code] - 1 for code in mine})  # it is said once
    return [
        *_edited(edited, len(given)),
        *_missing(missing, len(given)),
        *repeated,
        *(line for cell, code in codes.items() if code and code not in forms for line in _around(cell)),
    ]


def _given(provided):
    """(cell, its code in each language) of each cell that was given out and does anything."""
    found: dict[str, tuple[collect.Cell, set[str]]] = {}
    for number, cell in enumerate(provided):
        if code := normal(cell.code):
            found.setdefault(cell.id or f"cell {number}", (cell, set()))[1].add(code)
    return list(found.values())


def _edited(cells, count):
    if len(cells) == 1:
        yield say("the provided cell `{cell}` was edited", cell=cells[0])
    elif cells:
        yield say(
            "{edited} of {all} provided cells were edited: {cells}", edited=len(cells), all=count, cells=_some(cells)
        )


def _missing(cells, count):
    if len(cells) == 1:
        yield say("the provided cell `{cell}` is missing", cell=cells[0])
    elif cells:
        yield say(
            "{missing} of {all} provided cells are missing: {cells}", missing=len(cells), all=count, cells=_some(cells)
        )


def _some(cells):
    """A few provided cells, by their first lines."""
    return collect.some((f"`{cell}`" for cell in cells), MOST_NAMED)


def _first_line(code):
    lines = (line.strip() for line in code.splitlines())
    return next(line for line in lines if line and not line.startswith("#"))[:60]


def _around(cell):
    words = [word for word, pattern in AROUND.items() if re.search(pattern, re.sub(r"#.*", "", cell.code))]
    if words:
        yield say(
            "cell {cell} uses {names}: see whether an answer goes around what it is to do itself",
            cell=cell.number,
            names=listed([f"`{word}`" for word in words], "{first}, {then}"),
        )


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
    definition = re.compile(
        rf"^([^\w\n#]*(async[ \t]+)?def[ \t]+{function}\b|[ \t]*{function}[ \t]*[:=](?!=))", re.MULTILINE
    )
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
