"""The names that cells share: what a cell reads is what the text above it means, also where a reader goes back and runs it again."""

import dis
import re
from types import CodeType
from typing import NamedTuple

import jupytext
import pytest
from support import ROOT

from dpcourse.authoring.source import sources

every_source = pytest.mark.parametrize("file", sources(ROOT), ids=lambda file: file.stem)


class Names(NamedTuple):
    """The names of a cell.

    read: those that it reads before it binds them, by itself or in a function. bound: name -> "loop" or "import", where this
    bound it last, or "". functions: name of a function of this cell -> the names that it reads.
    """

    read: set[str]
    bound: dict[str, str]
    functions: dict[str, set[str]]


def names_of(code):
    """The Names of the code of a cell, read off its bytecode."""
    names, before, looping = Names(set(), {}, {}), "", False
    for step in dis.get_instructions(compile(code, "cell", "exec")):
        if step.opname == "STORE_NAME":
            names.bound[step.argval] = "loop" if looping else "import" if before.startswith("IMPORT_") else ""
        elif step.opname == "LOAD_NAME" and step.argval not in names.bound:
            names.read.add(step.argval)
        elif isinstance(step.argval, CodeType) and step.argval.co_name.startswith("<"):  # a lambda, a comprehension
            names.read.update(read_in(step.argval) - set(names.bound))
        elif isinstance(step.argval, CodeType):
            names.functions[step.argval.co_name] = read_in(step.argval)
        looping = step.opname == "FOR_ITER" or (looping and step.opname.startswith(("UNPACK_", "STORE_", "EXTENDED_")))
        before = step.opname
    for read in names.functions.values():
        names.read.update(read - set(names.bound))
    return names


def read_in(code):
    """The names outside a function that it, or one within it, reads."""
    mine = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return mine.union(*(read_in(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def shared(codes):
    """(name, the cell that reads it, {cell that binds it: Names.bound}) where an earlier one binds it; cells by their places."""
    cells = [names_of(re.sub(r"^[%!].*", "pass", code, flags=re.MULTILINE)) for code in codes]
    functions = {name: read for cell in cells for name, read in cell.functions.items()}
    for place, cell in enumerate(cells):
        read, asked = set(), list(cell.read | set(cell.functions))
        while asked:  # whoever calls a function reads what it reads
            if (name := asked.pop()) not in read:
                read.add(name)
                asked += functions.get(name, ())
        for name in sorted(read - (set(cell.bound) - cell.read)):
            binding = {other: cells[other].bound[name] for other in range(len(cells)) if name in cells[other].bound}
            if any(other < place for other in binding):
                yield name, place, binding


def shared_in(file):
    return shared([cell.source for cell in jupytext.read(file, fmt="md:myst").cells if cell.cell_type == "code"])


@every_source
def test_no_cell_reads_the_variable_of_a_loop_in_a_cell_before_it(file):
    """A loop ends somewhere, and its variable keeps the last value: no reader of the cell behind it knows which."""
    for name, place, binding in shared_in(file):
        last = max(other for other in binding if other < place)
        assert binding[last] != "loop", f"code cell {place + 1} reads {name}, a loop's variable in code cell {last + 1}"


@every_source
def test_a_name_that_another_cell_reads_is_bound_in_one_cell_only(file):
    """So a cell that is run again, after all others or before them, says what it said; an import may stand twice."""
    wrong = {
        f"{name}, read in code cell {place + 1}, is bound in the code cells {', '.join(str(other + 1) for other in binding)}"
        for name, place, binding in shared_in(file)
        if len(binding) > 1 and set(binding.values()) != {"import"}
    }
    assert not wrong, "\n".join(sorted(wrong))


@pytest.mark.parametrize(
    ("codes", "name", "binding"),
    [
        (["m = 6", "for m in (1, 500):\n    print(m)", "print(m)"], "m", {0: "", 1: "loop"}),
        (["for a, (b, c) in rows:\n    x = a", "b"], "b", {0: "loop"}),
        (
            ["rate = 1\ndef noise():\n    return rate", "rate = 2", "def more():\n    return noise()"],
            "rate",
            {0: "", 1: ""},
        ),
        (["n = 1", "n = n + 1"], "n", {0: "", 1: ""}),
        (["import math", "import math\nmath.pi"], "math", None),
        (["n = 1", "n = 2\nprint(n)"], "n", None),
        (["k = 1", "print([k for k in range(3)], (lambda k: k)(3))"], "k", None),
        (["print(k)", "k = 1"], "k", None),
    ],
)
def test_what_these_cells_share(codes, name, binding):
    assert [found[2] for found in shared(codes) if found[0] == name][-1:] == ([binding] if binding else [])
