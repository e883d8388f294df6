"""Slips in the program: the reference with one change in its syntax tree, as functions that can be called.

Most mutants of a long program fail, change nothing that shows, or do the same as another. Which are worth trying is found
when the course is built, and stored in the folder of the exercise's lesson by what the program says: of a program that is
not there, all are tried.
"""

import ast
import copy
import functools
import hashlib
import json
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dpcourse.checking.calling import changes
from dpcourse.checking.calling.changes import Changing, called
from dpcourse.checking.calling.program import parameters_of
from dpcourse.checking.diagnosis.words import Change

OURS = "dpcourse."
FIRM = ("dpcourse.base.validate", "dpcourse.base.rounding")  # in which no learner's slip can be
STORED = "mutants.json"  # in the folder of a lesson: which mutants of its exercises are worth trying


class Program(Changing):
    """A reference and all of ours that it is made of."""

    def __init__(self, function: Callable):
        super().__init__(function, _is_ours)

    @property
    def key(self) -> str:
        """What the program says, and how it is changed, as a short hash."""
        written = [ast.unparse(node) for node in self.units.values()]
        return hashlib.blake2b(json.dumps([_how(), *written]).encode(), digest_size=8).hexdigest()

    def mutants(self, folder: Path | None = None) -> Iterator[tuple[Change, Callable]]:
        """(what is changed, the program with that change as a function): the single changes that are worth trying.

        folder: that of the exercise's lesson, where it is stored which these are; without it they are all.
        """
        wanted = stored(folder).get(self.key)
        return ((Change.of(change), function) for _, change, _, function in self.numbered(wanted))

    def written(self, node: Any) -> Any:
        """Return the syntax in the way that a learner writes it."""
        return _WrittenOut().visit(node)

    def exchangeable(self, unit: types.FunctionType) -> list[str]:
        """Return the parameters of the unit that a learner knows."""
        return [name for name in parameters_of(unit) if name in parameters_of(self.main)]


def _is_ours(function):
    return function.__module__.startswith(OURS) and function.__module__ not in FIRM


@functools.cache
def _how():
    """How programs are changed: comments and layout change no key."""
    files = (Path(__file__), Path(changes.__file__))
    return "\n".join(ast.unparse(ast.parse(file.read_text(encoding="utf-8"))) for file in files)


@functools.cache
def stored(folder: Path | None) -> dict[str, frozenset[int]]:
    """By the key of a program, which of its mutants are worth trying; nothing where the lesson's file cannot be read."""
    try:
        text = (folder / STORED).read_text(encoding="utf-8") if folder else "{}"
        return {key: frozenset(places) for of in json.loads(text).values() for key, places in of.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


class _WrittenOut(ast.NodeTransformer):
    """The same in the way that a learner writes it: exp(x) - 1 for expm1(x), log(1 + x) for log1p(x)."""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = called(node)
        if name not in ("expm1", "log1p"):
            return node
        func = copy.copy(node.func)
        setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", name[:3])
        if name == "expm1":
            return ast.BinOp(ast.Call(func, node.args, []), ast.Sub(), ast.Constant(1))
        return ast.Call(func, [ast.BinOp(ast.Constant(1), ast.Add(), node.args[0])], [])
