"""Which cells the grader's Python cannot read since the notebook was written with a newer one: that is no mistake of theirs."""

import contextlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from dpcourse.grading.collect.notebook import LARGE
from dpcourse.grading.collect.reading import decoded

KEY, MOST_KEYS = b'"language_info"', 20  # of which the last is the notebook's, unless it stands in somebody's output
LONGEST = 2_000  # characters from the key to its version
TOLD = re.compile(
    rb'%s\s*:\s*\{(?:[^{}]|\{[^{}]{0,%d}\}){0,%d}?"version"\s*:\s*"(\d{1,3})\.(\d{1,3})\b' % (KEY, LONGEST, LONGEST)
)
NOT_READ = ("SyntaxError", "IndentationError", "TabError")  # names of errors that are there before a line has run
OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"


def python_of(content: bytes) -> str | None:
    """The Python that a notebook says it was written with; None where it tells none.

    >>> python_of(b'{"metadata": {"language_info": {"mode": {"version": 3}, "name": "python", "version": "3.13.1"}}}')
    '3.13'
    """
    end = len(content)
    for _ in range(MOST_KEYS):
        end = content.rfind(KEY, 0, end)
        if end < 0:
            break
        if told := TOLD.match(content, end):
            return b".".join(told.groups()).decode()
    return None


def newer_python_of(content: bytes) -> str | None:
    """The Python that a notebook was written with, where that is newer than this one and the course runs on it."""
    theirs = python_of(content)
    is_newer = theirs is not None and _numbers(theirs) > _numbers(OURS)
    return theirs if is_newer and _runs_on(theirs) else None


def unknown_syntax(content: bytes, errors: Mapping[int, str]) -> set[int]:
    """The cells that could not be read here, and perhaps could where they were written; none in a newer Python than there.

    errors: the number of a cell -> the error with which it stopped. An error that the notebook shows below its cell was
    one there too.
    """
    not_read = {number for number, error in errors.items() if error.startswith(NOT_READ)}
    return not_read - _not_read_there(content) if not_read and newer_python_of(content) else set()


def _numbers(version):
    return tuple(map(int, version.split(".")))


def _runs_on(version):
    """Whether the course runs on a Python; no notebook of it was written with another."""
    try:
        return SpecifierSet(importlib.metadata.metadata("dpcourse")["Requires-Python"] or "").contains(version)
    except (importlib.metadata.PackageNotFoundError, InvalidSpecifier):
        return True


def _not_read_there(content):
    """The numbers of the cells whose outputs show such an error; of a large notebook the outputs are not read."""
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError, AttributeError):
        cells = json.loads(decoded(content))["cells"] if len(content) <= LARGE else []
        return {number for number, cell in enumerate(cells, 1) for output in _outputs(cell) if _is_not_read(output)}
    return set()


def _outputs(cell):
    outputs = cell.get("outputs") if isinstance(cell, dict) else None
    return outputs if isinstance(outputs, list) else []


def _is_not_read(output):
    return isinstance(output, dict) and output.get("ename") in NOT_READ
