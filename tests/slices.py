"""Which cells of a notebook others need, by the names that they bind and use: to run these, and not all."""

from collections.abc import Collection, Iterable

from dpcourse.base.names import Names


def needed(codes: list[str], wanted: Iterable[int]) -> set[int]:
    """The wanted cells and those above that bind what they use, and what these use, and so on.

    >>> sorted(needed(["import math", "x = 2", "y = 3", "print(math.sqrt(x))"], {3}))
    [0, 1, 3]
    """
    names, found, new = list(map(Names.of, codes)), set(), set(wanted)
    while new:
        found |= new
        above = {(name, cell) for cell in new for name in names[cell].takes}
        new = {max((i for i in range(cell) if name in names[i].binds), default=cell) for name, cell in above} - found
    return found


def touched(codes: list[str], cells: Collection[int]) -> set[int]:
    """These cells and those that use a name that one of these binds.

    >>> sorted(touched(["def f(): pass", "x = 2", "f()", "print(x)"], {0}))
    [0, 2]
    """
    written = {name for cell in cells for name in Names.of(codes[cell]).binds}
    return {*cells, *(cell for cell, code in enumerate(codes) if Names.of(code).takes & written)}
