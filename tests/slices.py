"""Which cells of a notebook others need, by the names that they bind and use: to run these, and not all."""

import ast
from collections.abc import Collection, Iterable

from dpcourse.base.names import Names


def _names(code):
    """(what a cell takes, what it binds): its names, and the exercises whose checks tell the cells that ask `passed`."""
    names, said = Names.of(code), {"check": set(), "passed": set()}
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(ast.Name("check" | "passed" as call), [ast.Constant(exercise), *_]):
                said[call].add(f"{exercise} is passed")
    return names.takes | said["passed"], names.binds | said["check"]


def needed(codes: list[str], wanted: Iterable[int]) -> set[int]:
    """The wanted cells and those above that bind what they use, and what these use, and so on.

    >>> sorted(needed(["import math", "x = 2", "y = 3", "print(math.sqrt(x))"], {3}))
    [0, 1, 3]
    >>> sorted(needed(["def f(): pass", "check('1.1', f)", "check('1.2', f)", "if passed('1.1'): print(2)"], {3}))
    [0, 1, 3]
    """
    names, found, new = list(map(_names, codes)), set(), set(wanted)
    while new:
        found |= new
        above = {(name, cell) for cell in new for name in names[cell][0]}
        new = {max((i for i in range(cell) if name in names[i][1]), default=cell) for name, cell in above} - found
    return found


def touched(codes: list[str], cells: Collection[int]) -> set[int]:
    """These cells and those that use a name that one of these binds.

    >>> sorted(touched(["def f(): pass", "x = 2", "f()", "print(x)"], {0}))
    [0, 2]
    """
    written = {name for cell in cells for name in _names(codes[cell])[1]}
    return {*cells, *(cell for cell, code in enumerate(codes) if _names(code)[0] & written)}
