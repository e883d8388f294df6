"""The learner's side of a check: call a function on inputs and write down what it did, as plain data.

This runs wherever the learner's code runs, and knows nothing of what is right.
"""

import copy
import inspect
import linecache
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcourse.probe import limits
from dpcourse.probe.values import plain, type_name


@dataclass(frozen=True)
class Probe:
    """How an answer is called.

    function: the name of the function that the learner writes.
    forbidden: Python functions that the answer must not call. counted: one whose calls are counted.
    seconds: the time limit of one check.
    """

    function: str
    forbidden: tuple[Callable, ...] = ()
    counted: Callable | None = None
    seconds: float = 10.0

    def probe(self, answer, cases):
        """What the answer does on each case: a list of outcomes (dicts of plain data); stops at the first failure."""
        outcomes = []
        deadline = time.monotonic() + self.seconds
        for case in cases:
            outcomes.append(self._outcome(answer, case, deadline))
            if "value" not in outcomes[-1]:
                break
        return outcomes

    def _outcome(self, answer, case, deadline):
        if not callable(answer):
            return {"not_callable": type_name(answer)}
        given = list(arguments(case))
        try:
            inspect.signature(answer).bind(*given)
        except (TypeError, ValueError):
            return {"signature": f"{self.function}({', '.join(case)})"}
        left = max(0.001, deadline - time.monotonic())
        counted = {self.counted.__code__: 0} if self.counted else {}
        with limits.captured_output() as printed, limits.forbidding(self.forbidden, counted) as called:
            try:
                with limits.time_limit(left):
                    outcome = {"value": plain(answer(*given))}
            except NotImplementedError as error:
                outcome = _unwritten(error, answer)
            except limits.Forbidden:
                outcome = {}
            except limits.TimeUp:
                outcome = {"timeout": self.seconds}
            except (Exception, SystemExit) as error:
                outcome = {"raised": _raised(error, answer)}
        if called:
            outcome = {"forbidden": called[0]}
        for name, now in zip(case, given, strict=True):
            if name != "rng" and not np.array_equal(
                np.asarray(case[name], dtype=object), np.asarray(now, dtype=object)
            ):
                outcome = {"changed": name}
        calls = {"calls": sum(counted.values())} if counted else {}
        return outcome | calls | {"printed": printed.text, "printed_count": printed.count}


def arguments(case):
    """The arguments of a case, fresh copies, with the seed made a Generator."""
    fresh = copy.deepcopy(case)
    if "rng" in fresh:
        fresh["rng"] = np.random.default_rng(fresh["rng"])
    return fresh.values()


def _unwritten(error, answer):
    """The outcome of NotImplementedError: the answer is blank, or it calls another function that is."""
    *_, last = traceback.walk_tb(error.__traceback__)
    if last[0].f_code is getattr(answer, "__code__", None):
        return {"blank": True}
    return {"raised": f"Your function calls `{last[0].f_code.co_name}`, which is not written yet."}


def _raised(error, answer):
    """One or two sentences on an exception: what, where in the learner's own code, and what it often means."""
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = linecache.getline(file, frame.lineno).strip()
            where = f", at `{line}`" if line else f", in line {frame.lineno} of its cell"
    often = {
        "NameError": " Is the name spelled right, and has the cell that defines it been run?",
        "ZeroDivisionError": " Something below a fraction line is 0.",
        "OverflowError": " A number became too large: can you work with its logarithm?",
        "KeyError": " The dict has nothing under that key yet: `d.get(key, 0)` gives 0 instead.",
        "RecursionError": " The function calls itself without end.",
        "IndexError": " A position lies outside a list or an array.",
        "SystemExit": " Do not call `exit` or `quit` in an answer.",
    }.get(type(error).__name__, "")
    if "truth value of an array" in str(error):
        often = (
            " `if`, `max`, `min`, `and` and `or` need one True or False, and here is an array of them. "
            "`np.where`, `np.maximum` and `np.minimum` work entry by entry."
        )
    elif "math domain" in str(error) or "positive input" in str(error):
        often = " Is it the logarithm of something <= 0, or the root of something negative? Note that ln(1/x) = -ln(x) >= 0 for x <= 1."
    elif "broadcast" in str(error):
        often = " Two arrays have different lengths."
    said = str(error).splitlines()[0][:200] if str(error) else "no message"
    return f"Your function stopped with {type(error).__name__} ({said}){where}.{often}"
