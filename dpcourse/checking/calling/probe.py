"""The learner's side of a check: call a function on inputs and write down what it did, as plain data.

This runs wherever the learner's code runs, and knows nothing of what is right.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import linecache
import operator
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.base.languages import as_data, say, sentences
from dpcourse.checking.calling import apart, calls, draws, errors, limits, messages, numbers, output, training
from dpcourse.checking.calling.steps import Watched
from dpcourse.checking.calling.values import alike, copied, plain, type_name

PLAIN = {bool, int, float, str, type(None), dict, list, tuple, np.ndarray, *np.sctypeDict.values()}
MEMORY = 2**28  # bytes that an answer may have beside the process's while something in it is changed
TURNED = 1.0  # seconds for an answer whose `counted` is turned: it may never end then


@dataclass(frozen=True)
class Probe:
    """How an answer is called.

    function: the name of the function that the learner writes.
    forbidden: Python functions that the answer must not call. counted: one that gives True or False, whose calls are
    counted; an answer that gives the same where it gives the opposite is idle: it calls it, and does not listen.
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
        outcomes, clock, process = [], limits.Clock(self.seconds), os.getpid()
        counted = {self.counted.__code__: 0} if self.counted else {}
        try:
            with (
                output.captured() as printed,
                calls.forbidding(self.forbidden, counted) as called,
                limits.time_limit(self.seconds, clock=clock) as limit,
                np.errstate(all="ignore"),  # it is asked about corners too, of which numpy would warn
            ):
                for case in cases:
                    outcomes.append({})
                    outcome = self._outcome(answer, case, called, limit, is_first=len(outcomes) == 1)
                    if os.getpid() != process:  # the answer has forked: its child ends here, before it does so again
                        os._exit(0)
                    outcomes[-1] = _with_all_seen(outcome, answer, case, called, counted, printed)
                    if "value" not in outcomes[-1]:
                        break
        except limits.TimeUp:
            outcomes[-1:] = [_with_all_seen({"timeout": self.seconds}, answer, {}, called, counted, printed)]
        if outcomes and "value" in outcomes[0]:
            outcomes[0]["numbers"] = numbers.written_in(answer)
        if self.counted and outcomes and "value" in outcomes[0]:
            outcomes[0]["idle"] = self._is_idle(answer, cases[0], outcomes[0]["value"], clock)
        return outcomes

    def watch(self, answer: Callable, cases: list[dict], exchanges: list | None) -> list:
        """Return what the expressions of the answer give: its places, then for each case what each gave (calling.steps).

        exchanges: lists of places and, for each case, of the values that these are given instead, or numbers of changes of
        the answer (calling.changes); then return for each what the answer gives on the cases, as far as it comes within
        the time; for a change with its number before it. None: then return what changes there are, each as its number, its
        kind, the fields of its sentence, the text that it changes and the line. Nothing where no timer can interrupt it:
        with other values it may never end.
        """
        if not limits.interruptible():
            return []
        if not exchanges:  # the first that is asked: what the answer calls may be another than when it was checked last
            _watched.cache_clear()
        watched, found = _watched(answer), list[Any]()
        with contextlib.suppress(limits.TimeUp), output.captured(), limits.time_limit(self.seconds):
            if exchanges is None:
                for number, (_, _, change, old) in enumerate(watched.program.changes()):
                    fields = {name: as_data(value) for name, value in change.fields.items()}
                    found.append([number, change.kind, fields, ast.unparse(old), old.lineno])
                return found
            if exchanges and isinstance(exchanges[0], int):
                with _bounded():
                    for number, _, _, function in watched.program.numbered(exchanges):
                        found.append([number, [_given(function, list(arguments(case))) for case in cases]])
                return found
            if not exchanges:
                found.append([[each.text, each.line, list(each.parts), each.begins] for each in watched.places])
                for case in cases:
                    found.append(watched.steps(list(arguments(case))))
            for numbers, values in exchanges:
                of_cases = zip(values, cases, strict=True)
                with _bounded():
                    found.append([watched.exchanged(numbers, given, list(arguments(case))) for given, case in of_cases])
        return found

    def _is_idle(self, answer, case, value, clock):
        """Whether the answer gives this value also where what `counted` gives is turned into its opposite."""
        with calls.turned(self.counted) as turned, output.captured():
            try:
                with limits.time_limit(max(0.001, min(TURNED, clock.left()))):
                    return alike(value, plain(answer(*arguments(case)))) and bool(turned)
            except (Exception, SystemExit, limits.TimeUp):
                return False

    def _outcome(self, answer, case, called, limit, is_first):
        if not callable(answer):
            return {"not_callable": as_data(type_name(answer))}
        with called:
            given = list(arguments(case))
        try:
            if is_first and not _takes(answer, given):
                return {"signature": f"{self.function}({', '.join(case)})"}
            outcome = {"value": plain(answer(*given))}
            if is_first and (count := drawn(case, given)) is not None:
                outcome["drawn"] = count
        except NotImplementedError as error:
            outcome = _unwritten(error, answer)
        except calls.Forbidden:
            outcome = {}
        except (Exception, SystemExit) as error:
            if limit.is_why(error):
                raise limits.TimeUp from error
            raised = as_data(_raised(error, answer, case, self.forbidden))
            outcome = {"raised": raised, "because": errors.chain(error)}
        with called:
            changed = [
                name
                for name, now in zip(case, given, strict=True)
                if name not in made(case) and _is_changed(case[name], now)
            ]
        return {"changed": changed[-1]} if changed else outcome


def _with_all_seen(outcome, answer, case, called, counted, printed):
    """An outcome with what was called, read from outside and printed meanwhile; the next begins anew."""
    if called:
        outcome = {"forbidden": called[0]}
    also = {"calls": sum(counted.values())} if counted else {}
    if called.copies:
        also["copied"] = called.copies[0]
    if called.begun:
        also["begun"] = called.begun[0]
    if outside := _read_from_outside(answer, case):
        also["outside"] = outside
    seen = {"printed": printed.text, "printed_count": printed.count}
    counted.update(dict.fromkeys(counted, 0))
    printed.text, printed.count = "", 0
    return outcome | also | seen


@contextlib.contextmanager
def _bounded():
    """For what nobody has written as it runs: no whole number is made of inf, nor an array that memory cannot hold."""
    with np.errstate(invalid="raise"), limits.memory_limit(MEMORY):
        yield


def _given(function, arguments):
    """What a changed answer gives; nothing where it fails."""
    try:
        return plain(function(*arguments))
    except (Exception, SystemExit):
        return None


@functools.lru_cache(1)
def _watched(answer):
    return Watched(answer)


def function_of(path: str) -> Callable:
    """The function that "module:qualified.name" names; its module is imported.

    >>> function_of("math:log2")(8)
    3.0
    """
    module, _, name = path.partition(":")
    return operator.attrgetter(name)(importlib.import_module(module))


def _takes(answer, given):
    """Whether a function may be called with these arguments; True where Python does not tell."""
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*given)
    except TypeError:
        return False
    return True


def arguments(case):
    """The arguments of a case, fresh copies, with the seed made a Generator, and a training run's parts made."""
    fresh = copied(case)
    if "rng" in fresh:
        fresh["rng"] = np.random.default_rng(fresh["rng"])
    if "ledger" in fresh:
        fresh |= training.parts(fresh)
    return fresh.values()


def drawn(case, given):
    """How many random numbers have been taken from the Generator among these arguments of a case; None where that cannot be told."""
    generators = [each for each in given if isinstance(each, np.random.Generator)]
    return draws.since(case["rng"], generators[0]) if "rng" in case and generators else None


def made(case):
    """The names of those arguments that are no plain data, but made from it."""
    return {name for name in case if name == "rng" or ("ledger" in case and name in ("ledger", "gradients"))}


def _is_changed(before, now):
    """Whether an argument is not what it was; what is not plain is no part of one, and is asked nothing."""
    return not _types(now) <= PLAIN or not alike(before, now)


def _types(value):
    """The types of a value, and of whatever is in it."""
    inside = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return {type(value)}.union(*map(_types, inside))


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
    if last[0].f_code is getattr(getattr(answer, "__wrapped__", answer), "__code__", None):  # a cache, a decorator
        return {"blank": True}
    return {"raised": as_data(say(messages.UNWRITTEN, name=last[0].f_code.co_name))}


def _raised(error, answer, case, forbidden):
    """One or two sentences on an exception: what, where in the learner's own code, and what it often means."""
    try:
        str(error)
    except Exception:
        return say(messages.SILENT, kind=type(error).__name__)
    code = getattr(answer, "__code__", None)
    file = getattr(code, "co_filename", None)
    line, message, where = "", messages.STOPPED, {}
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = linecache.getline(file, frame.lineno).strip()
            message = messages.STOPPED_AT if line else messages.STOPPED_IN_LINE
            where = {"line": line[: messages.LONGEST]} if line else {"number": frame.lineno}
    often = errors.meaning(
        error,
        {**getattr(answer, "__globals__", {}), **dict.fromkeys(getattr(code, "co_varnames", ()))},
        line,
        case,
        tuple(function.__name__ for function in forbidden),
    )
    told = str(error).splitlines()[0][:200] if str(error) else say(messages.NO_MESSAGE)
    stopped = say(message, kind=type(error).__name__, message=told, **where)
    return sentences([stopped, often] if often else [stopped])
