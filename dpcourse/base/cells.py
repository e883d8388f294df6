"""What a cell of a notebook is: the one that defines an exercise's function, the one that checks it, and what a cell calls.

The build, a release, the site, the grader and `solution` all ask here. A student's cell need not be Python. A cell with a value that differs from student to
student, {variant epsilon}, keeps the text with these braces in its metadata.
"""

import ast
import copy
import functools
import re
from collections.abc import Collection

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BLANK = "raise NotImplementedError"

VARIANT = re.compile(r"\{variant (?P<name>\w+)\}")
TEMPLATE = "variant"  # where in a cell's metadata, under "dpcourse", its text with {variant ...} stands
_DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_CHECK = re.compile(r'^check\("([\d.]+)"', re.MULTILINE)


def defined(code: str) -> tuple[str, ...]:
    """Return the names of the functions that a cell defines; the cell with an exercise's function holds its answer.

    >>> defined("def error_rates(mu, threshold):\\n    raise NotImplementedError")
    ('error_rates',)
    """
    return tuple(_DEFINITION.findall(code))


def checked(code: str) -> tuple[str, ...]:
    """Return the ids of the exercises that a cell checks.

    >>> checked('check("3.1", error_rates)\\n# hint("3.1")')
    ('3.1',)
    """
    return tuple(_CHECK.findall(code))


@functools.lru_cache(1000)
def calls(code: str) -> tuple[tuple[str, ast.Call], ...]:
    """Return (name, call) for each call in a cell, in the order in which they stand there; none of what is not Python.

    >>> [name for name, _ in calls("plots.show(plots.response, epsilon=max(1, {variant epsilon}))")]
    ['plots.show', 'max']
    """
    found = [node for node in ast.walk(_tree(code)) if isinstance(node, ast.Call)]
    in_order = sorted(found, key=lambda call: (call.lineno, call.col_offset))
    return tuple((ast.unparse(call.func), call) for call in in_order)


def called(code: str) -> list[str]:
    """Return the names that a cell calls, each as often as it does."""
    return [name for name, _ in calls(code)]


def without(code: str, names: Collection[str]) -> str:
    """Return the code without the statements that do nothing but import or call what has one of these names.

    >>> without("import math\\n\\nprogress()", {"progress"})
    'import math'
    """
    lines = code.split("\n")
    for node in reversed(_tree(code).body):
        asked: list[str] = []
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            asked = [ast.unparse(node.value.func)]
        if asked and {*asked} <= {*names}:
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip("\n")


def is_solved(code: str) -> bool:
    """Return whether a cell has solution marks."""
    return any(map(_is_mark, code.splitlines()))


def without_marks(code: str) -> str:
    """Return the code of a solved cell as somebody reads it."""
    return "\n".join(line for line in code.splitlines() if not _is_mark(line))


def blanked(code: str) -> str:
    """Return the code with each solution replaced by `raise NotImplementedError`.

    >>> print(blanked("def f(x):\\n    ### BEGIN SOLUTION\\n    return x\\n    ### END SOLUTION"))
    def f(x):
        raise NotImplementedError
    """
    kept, inside = [], False
    for line in code.splitlines():
        if line.strip() == BEGIN:
            inside = True
            kept.append(line[: line.index("#")] + BLANK)
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def without_variants(code: str) -> str:
    """Return the code with each {variant name} made a name as long as it, so that it is Python."""
    return VARIANT.sub(r"_variant_\g<name>_", code)


def filled(text: str, values: dict[str, object], as_code: bool = False) -> str:
    """Return the text with values for each {variant name}, in code as Python writes them. KeyError for other names.

    >>> filled("check(f, epsilon={variant epsilon})", {"epsilon": 0.5}, as_code=True)
    'check(f, epsilon=0.5)'
    """
    return VARIANT.sub(lambda found: (repr if as_code else str)(values[found["name"]]), text)


def with_values(notebook: dict, values: dict[str, object]) -> dict:
    """Return a blank lesson as one student has it: with that student's values, and no trace of other values."""
    made = copy.deepcopy(notebook)
    for cell in made["cells"]:
        if template := cell["metadata"].pop("dpcourse", {}).get(TEMPLATE):
            cell["source"] = filled(template, values, cell["cell_type"] == "code")
    return made


def _tree(code):
    try:
        return ast.parse(without_variants(code))
    except SyntaxError:
        return ast.Module([], [])


def _is_mark(line):
    return line.strip() in (BEGIN, END)
