"""Which cells of a notebook others need, by the names that they bind and use: to run these, and not all."""

import ast
import functools
import symtable
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Names:
    """Of one cell: the names that it binds, and those that it takes from the cells above it."""

    bound: frozenset[str]
    taken: frozenset[str]

    @classmethod
    @functools.cache
    def of(cls, code: str) -> "Names":
        """Those of the code of a cell. What it uses only after it has bound it, it does not take from above."""
        top = symtable.symtable(code, "cell", "exec")
        bound = {
            each.get_name()
            for each in top.get_symbols()
            if each.is_assigned() or each.is_imported() or each.is_namespace()
        }
        used = {
            each.get_name()
            for table in _all(top)
            for each in table.get_symbols()
            if each.is_referenced() and (table is top or each.is_global())
        }
        said = _exercises(code)
        return cls(
            frozenset(bound | said["check"]), frozenset(used - bound | used & _used_first(code) | said["passed"])
        )


def _all(table):
    yield table
    for child in table.get_children():
        yield from _all(child)


def _exercises(code):
    """What a cell checks, and what it asks whether it is passed: what the first tells the second is a name as others are."""
    said = {"check": set(), "passed": set()}
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(ast.Name("check" | "passed" as call), [ast.Constant(exercise), *_]):
                said[call].add(f"{exercise} is passed")
    return said


def _used_first(code):
    """The names that a cell binds, and uses in a line before or in the same one."""
    used, bound = {}, {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            lines = used if isinstance(node.ctx, ast.Load) else bound
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return {name for name in used.keys() & bound.keys() if used[name] <= bound[name]}


def needed(codes: list[str], wanted: Iterable[int]) -> set[int]:
    """The wanted cells and those above that bind what they use, and what these use, and so on.

    >>> sorted(needed(["import math", "x = 2", "y = 3", "print(math.sqrt(x))"], {3}))
    [0, 1, 3]
    """
    names, found, new = list(map(Names.of, codes)), set(), set(wanted)
    while new:
        found |= new
        above = {(name, cell) for cell in new for name in names[cell].taken}
        new = {max((i for i in range(cell) if name in names[i].bound), default=cell) for name, cell in above} - found
    return found


def touched(codes: list[str], cells: Collection[int]) -> set[int]:
    """These cells and those that use a name that one of these binds.

    >>> sorted(touched(["def f(): pass", "x = 2", "f()", "print(x)"], {0}))
    [0, 2]
    """
    written = {name for cell in cells for name in Names.of(codes[cell]).bound}
    return {*cells, *(cell for cell, code in enumerate(codes) if Names.of(code).taken & written)}
