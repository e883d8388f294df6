"""Where a notebook takes from an answer what it uses: `sum = 0` in a later cell, `%reset`, another helper of that name.

Only names, types and the code of functions are looked at: nothing of a student's is called.
"""

import builtins
import dis
import types

GONE = object()
MOST_NAMES = 200


class Uses:
    """The global names that an answer uses, through the notebook's own functions too, and what they were."""

    def __init__(self, answer: object, namespace: dict):
        self.namespace = namespace
        self.were: dict[str, object] = {}
        self.clashes: dict[str, tuple[int, bool]] = {}
        self._add(answer)

    def look(self, cell: int) -> None:
        """Note what has another meaning since a cell ran, by its number."""
        for name, was in list(self.were.items()):
            now = self._value(name)
            if now is was:
                continue
            if was is GONE:
                self.were[name] = now
                self._add(now)
            elif name not in self.clashes and not _means_the_same(was, now):
                self.clashes[name] = (cell, now is GONE)

    def _add(self, function):
        waiting = [function]
        while waiting and len(self.were) < MOST_NAMES:
            function = waiting.pop()
            if type(function) is types.FunctionType and function.__globals__ is self.namespace:
                for name in _read(function.__code__) - self.were.keys():
                    self.were[name] = self._value(name)
                    waiting.append(self.were[name])

    def _value(self, name):
        return self.namespace.get(name, getattr(builtins, name, GONE))


def _read(code):
    """The global names that code reads, with the code of what is defined in it."""
    found, codes = set(), [code]
    while codes:
        code = codes.pop()
        found |= {each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        codes += [const for const in code.co_consts if type(const) is types.CodeType]
    return found


def _means_the_same(was, now):
    """Whether it is of one kind; two functions are where they have the same code. Numbers may change."""
    if type(was) is not type(now):
        return False
    if type(was) is types.FunctionType:
        return was.__code__ == now.__code__
    return not isinstance(was, (types.ModuleType, types.BuiltinFunctionType, type))
