"""How a kind of submission is made: the solved lesson 01 in short, with an answer or a cell of its own."""

import ast
import functools
import json
import textwrap
from dataclasses import dataclass

import slices
from support import ROOT

from dpcourse import course
from dpcourse.base.cells import checked, defined
from dpcourse.grading import collect

COURSE = ROOT / "dpcourse" / "course"
LESSON = course.lesson(1)
POINTS = {exercise.function: exercise.points for exercise in LESSON.exercises}
FULL = sum(POINTS.values())


# ---- the generator


@dataclass(frozen=True)
class Kind:
    """A submission: its file's name, what is in it (bytes, or a function that makes it), what it must get.

    note: words that one of its notes must hold. weekly: whether it is left to the week, for the time that it takes.
    """

    name: str
    content: object
    status: str
    score: int | None
    verdicts: tuple = ()
    note: str = ""
    weekly: bool = False


def all_cells_of(which, lesson=LESSON):
    notebook = json.loads((ROOT / which / f"{lesson.name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


def cells_of(which, lesson=LESSON):
    """The lesson in short: the cells that define an exercise's function or check it, and what these need."""
    return list(map(dict, _cells_of(which, lesson)))


NEED_MATH = tuple(
    function
    for function in LESSON.functions
    if any(function in defined(code) and "math." in code for code in map(source, all_cells_of("solutions")))
)


@functools.cache
def _cells_of(which, lesson):
    codes = list(map(source, all_cells_of("solutions", lesson)))
    written = {i for i, code in enumerate(codes) if set(lesson.functions).intersection(defined(code)) or checked(code)}
    cells = all_cells_of(which, lesson)
    return [cells[i] for i in sorted(slices.needed(codes, written))]


def written(cells, **about):
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | about).encode()


def cell(code):
    return {"cell_type": "code", "source": textwrap.dedent(code), "metadata": {}, "outputs": [], "id": "own"}


def defines(each, function):
    return f"def {function}(" in each["source"]


def solved(first=None, last=None, **answers):
    """The solved notebook with some answers replaced, and cells added behind the imports and at the end."""
    cells = cells_of("solutions")
    for function, code in answers.items():
        at = next(i for i, each in enumerate(cells) if defines(each, function))
        cells[at] = cell(code)
    cells[1:1] = [cell(first)] if first else []
    return cells + ([cell(last)] if last else [])


def body(code, function="worst_posterior", arguments="prior, epsilon"):
    """The solved notebook in which one answer has this body."""
    return solved(**{function: f"def {function}({arguments}):\n" + textwrap.indent(textwrap.dedent(code), "    ")})


def without(*functions):
    return FULL - sum(POINTS[function] for function in functions)


LOST = without("worst_posterior")  # the score of a submission of which that one answer is lost


def _closed(name, code, helpers):
    """An answer with what it calls inside it: those of two exercises may have the same names."""
    return f"def _{name}():\n{textwrap.indent(helpers, '    ')}\n    return {code}\n{name} = _{name}()"


def _helps(node):
    """Whether a statement of an exercise's source is something that its wrong answers may call."""
    match node:
        case ast.ImportFrom(module=module):
            return not module.startswith("dpcourse.")
        case ast.Assign(targets=[ast.Name(id="exercise")]) | ast.Assign(value=ast.Call(func=ast.Name(id="to_say"))):
            return False
    return isinstance(node, ast.FunctionDef | ast.Import | ast.Assign)


def misconceptions():
    """One submission for each place in the lists of misconceptions: every exercise is answered by the one in that place.

    The wrong answers are taken from the source of the exercises, so that each arrives as a student's code.
    """
    trees = {each: ast.parse((COURSE / LESSON.word / f"{each}.py").read_text(encoding="utf-8")) for each in POINTS}
    found, helpers = {}, {}
    for function, tree in trees.items():
        exercise = next(
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exercise"
        )
        options = {keyword.arg: keyword.value for keyword in exercise.keywords}
        helpers[function] = "\n".join(ast.unparse(node) for node in tree.body if _helps(node))
        found[function] = [ast.unparse(slip.args[2]) for slip in options["misconceptions"].elts]
    for place in range(max(map(len, found.values()))):
        slips = {name: codes[place] for name, codes in found.items() if place < len(codes)}
        cells = solved(**{name: _closed(name, code, helpers[name]) for name, code in slips.items()})
        expected = tuple(
            (exercise.id, exercise.misconceptions[place].name if exercise.function in slips else None)
            for exercise in LESSON.exercises
        )
        yield Kind(f"slip {place}.ipynb", written(cells), "graded", without(*slips), expected)


# ---- kinds with one thing of their own


def notebook(name, content, status="graded", score=FULL, **about):
    """A whole notebook: its cells, or its bytes."""
    return Kind(f"{name}.ipynb", content if isinstance(content, bytes) else written(content), status, score, **about)


def answer(name, code, score=LOST, status="graded", **about):
    """The body of one answer, worst_posterior(prior, epsilon)."""
    return notebook(name, body(code), status, score, **about)


def definition(name, code, score=LOST, status="graded", **about):
    """The cell that defines that answer."""
    return notebook(name, solved(worst_posterior=code), status, score, **about)


def first(name, code, score=FULL, status="graded", **about):
    """A cell of the student's own behind the imports."""
    return notebook(name, solved(first=code), status, score, **about)


def last(name, code, score=FULL, status="graded", **about):
    """A cell of the student's own at the end."""
    return notebook(name, solved(last=code), status, score, **about)


def held(name, attempt, **about):
    """An answer that is right only where an attempt succeeds: one that must not. The attempt is an expression or statements that set `found`."""
    code = attempt if "found =" in attempt else f"found = {attempt}"
    code = f"try:\n{textwrap.indent(textwrap.dedent(code).strip(), '    ')}\nexcept Exception: found = False\nif not found: return 0.123\n{RIGHT}"
    return answer(name, code, **about)


RIGHT = "odds = prior / (1 - prior) * math.exp(epsilon); return odds / (1 + odds)"
WORKS = f"def worst_posterior(prior, epsilon):\n    {RIGHT}\n"


def make(kind, folder):
    """Hand it in."""
    file = folder / kind.name
    if callable(kind.content):
        kind.content(file)
    elif isinstance(kind.content, dict):
        for name, content in kind.content.items():
            (file / name).parent.mkdir(parents=True, exist_ok=True)
            (file / name).write_bytes(content)
    else:
        file.write_bytes(kind.content)


def student(kind):
    """By what name the grader knows who handed it in."""
    return collect.student_of(kind.name.removesuffix(".ipynb"))
