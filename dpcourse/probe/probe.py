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

from dpcourse.probe import apart, errors, limits
from dpcourse.probe.values import alike, plain, type_name


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
        """What the answer does on each case: a list of outcomes (dicts of plain data); stops at the first failure.

        The answer runs here where a timer can interrupt it, else in a process of its own where it can be sent there.
        """
        if not limits.interruptible():
            try:
                return apart.call(self._probe, answer, cases, seconds=self.seconds)
            except limits.TimeUp:
                return [{"timeout": self.seconds}]
            except apart.Impossible:
                pass
        return self._probe(answer, cases)

    def _probe(self, answer, cases):
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
                outcome = {"raised": _raised(error, answer, tuple(case), self.forbidden)}
        if called:
            outcome = {"forbidden": called[0]}
        for name, now in zip(case, given, strict=True):
            if name != "rng" and not alike(case[name], now):
                outcome = {"changed": name}
        calls = {"calls": sum(counted.values())} if counted else {}
        if outside := _read_from_outside(answer, case):
            calls["outside"] = outside
        return outcome | calls | {"printed": printed.text, "printed_count": printed.count}


def arguments(case):
    """The arguments of a case, fresh copies, with the seed made a Generator."""
    fresh = copy.deepcopy(case)
    if "rng" in fresh:
        fresh["rng"] = np.random.default_rng(fresh["rng"])
    return fresh.values()


def _read_from_outside(answer, case):
    """The first argument of the exercise whose name the answer reads as a global, since its own parameter is called otherwise."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return None
    return next(
        (
            name
            for name in case
            if name in code.co_names
            and name not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
            and name in answer.__globals__
        ),
        None,
    )


def _unwritten(error, answer):
    """The outcome of NotImplementedError: the answer is blank, or it calls another function that is."""
    *_, last = traceback.walk_tb(error.__traceback__)
    if last[0].f_code is getattr(answer, "__code__", None):
        return {"blank": True}
    return {"raised": f"Your function calls `{last[0].f_code.co_name}`, which is not written yet."}


def _raised(error, answer, parameters, forbidden):
    """One or two sentences on an exception: what, where in the learner's own code, and what it often means."""
    code = getattr(answer, "__code__", None)
    file = getattr(code, "co_filename", None)
    where = line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = linecache.getline(file, frame.lineno).strip()
            where = f", at `{line}`" if line else f", in line {frame.lineno} of its cell"
    often = errors.meaning(
        error,
        {**getattr(answer, "__globals__", {}), **dict.fromkeys(getattr(code, "co_varnames", ()))},
        line,
        parameters,
        tuple(function.__name__ for function in forbidden),
    )
    said = str(error).splitlines()[0][:200] if str(error) else "no message"
    return f"Your function stopped with {type(error).__name__} ({said}){where}.{often and f' {often}'}"
