"""Where what an answer lacks should have come from: a cell that stopped before it got there."""

import re
from collections.abc import Mapping, Sequence

from dpcourse.grading.collect import Cell

NOT_DEFINED = re.compile(r"\bname '(\w{1,100})' is not defined")


def first_cause(text: str, cells: Sequence[Cell], stopped: Mapping[int, str]) -> tuple[int, str] | None:
    """(the number of the cell with which it began that a name is not defined, the name); None where that is not told.

    text: a message of an error. stopped: number of a cell -> how it stopped. A name may be missing since a cell stopped
    for want of another, and so on. Code is read as text: a cell that stopped counts where it holds the name, or a star
    of an import, and did not stop for want of this very name.

    >>> cells = [Cell(1, "", "import nothing_here\\nimport math"), Cell(2, "", "scale = math.pi")]
    >>> stopped = {1: "stopped with ModuleNotFoundError", 2: "stopped with NameError: name 'math' is not defined"}
    >>> first_cause("name 'scale' is not defined", cells, stopped)
    (1, 'scale')
    """
    cause, sought = None, list[str]()
    while (missing := NOT_DEFINED.search(text)) and missing[1] not in sought:
        sought.append(missing[1])
        number = next((cell.number for cell in cells if _was_to_bind(cell, missing[1], stopped)), None)
        if number is None:
            break
        cause, text = number, stopped[number]
    return None if cause is None else (cause, sought[0])


def _was_to_bind(cell, name, stopped):
    if cell.number not in stopped or name in NOT_DEFINED.findall(stopped[cell.number]):
        return False
    return re.search(rf"\b{name}\b|\bimport[ \t]*\*", cell.code) is not None
