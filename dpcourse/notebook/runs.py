"""Functions that are older than the last cell that was to define them.

Such a cell ended with an error, so the function of before is still there, and a verdict on that function would be about
another text than the one in front of the learner.
"""

import re
import sys
from dataclasses import dataclass
from typing import Any

_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)
"""What a cell is to define, even one that Python cannot read."""


@dataclass(frozen=True)
class Failure:
    """The error by which the cell ended that was to define a function anew: its name, and its line in the cell if any."""

    function: str
    error: str
    line: int | None


class Runs:
    """The runs of cells in an IPython shell: which functions have outlived a run that was to define them anew."""

    def __init__(self, shell: Any):
        self.shell = shell
        self.before: dict[int, dict[str, object]] = {}  # a run that has begun -> what the names that it defines were
        self.outlived: dict[str, tuple[object, Failure]] = {}
        shell.events.register("pre_run_cell", self.begins)
        shell.events.register("post_run_cell", self.ended)

    def begins(self, info: Any) -> None:
        """Note what the cell is to define, as it is before."""
        names = {name for found in _DEFINED.findall(info.raw_cell) for name in found if name}
        self.before[id(info)] = {name: self.shell.user_ns[name] for name in names if name in self.shell.user_ns}

    def ended(self, result: Any) -> None:
        """Note the functions that an error has left as they were; a function that the cell has defined all the same is new."""
        error = result.error_before_exec or result.error_in_exec
        for name, function in self.before.pop(id(result.info), {}).items():
            if error is not None and callable(function):
                line = None if result.info.raw_cell.startswith("%%") else self._line(error)
                self.outlived[name] = function, Failure(name, _public_name(error), line)

    def _line(self, error):
        """Return the line of the cell in which an error is, or was raised."""
        if isinstance(error, SyntaxError):
            return error.lineno
        frame = error.__traceback__
        while frame and frame.tb_frame.f_globals is not self.shell.user_ns:
            frame = frame.tb_next
        return frame and frame.tb_lineno


def _public_name(error):
    """Return the name by which Python shows an error; from 3.13 on some syntax errors are of a class that it hides."""
    return next(kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("_"))


_runs: list[Runs] = []


def watch() -> None:
    """Look at the cells that are run from now on, where this is a notebook or IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        _runs[:] = [Runs(shell)]


def defined() -> set[str]:
    """Return the names that the notebook has defined; none where this is none."""
    return {name for runs in _runs for name in runs.shell.user_ns}


def outlived(function: object) -> Failure | None:
    """Return how the cell ended that was to define a function anew; None for a function that was defined last."""
    return next((failure for runs in _runs for kept, failure in runs.outlived.values() if kept is function), None)
