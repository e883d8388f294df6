"""What lies beneath a call of an answer: functions that a learner's code could put others in the place of."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping


class Beneath:
    """The functions of some modules, and the methods of their classes and of one object, as they are now.

    >>> import copy
    >>> beneath, before = Beneath(["copy"]), copy.deepcopy
    >>> copy.deepcopy = lambda value: value
    >>> beneath.replaced()
    ['copy.deepcopy']
    >>> copy.deepcopy = before
    >>> beneath.replaced()
    []
    """

    def __init__(self, modules: Iterable[str], owner: object = None):
        self.modules, self.owner = {name: sys.modules[name] for name in modules}, owner
        self.before = dict(self._functions())

    def replaced(self) -> list[str]:
        """The names of those in whose place there is another now, or other code."""
        now = dict(self._functions())
        return [name for name, function in self.before.items() if now.get(name) != function]

    def _functions(self) -> Iterator[tuple[str, tuple]]:
        for of, module in self.modules.items():
            for name, value in _called(vars(module)):
                yield f"{of}.{name}", _identity(value)
                if isinstance(value, type) and value.__module__ == of:
                    for method, function in _called(vars(value)):
                        yield f"{of}.{name}.{method}", _identity(function)
        for name, _ in _called(vars(type(self.owner))) if self.owner else ():
            yield f"{type(self.owner).__name__}.{name}", _identity(getattr(self.owner, name))


def _called(names: Mapping) -> Iterator[tuple[str, Callable]]:
    return ((name, value) for name, value in list(names.items()) if callable(value) or isinstance(value, staticmethod))


def _identity(function):
    """What is the same as long as the function does what it did."""
    function = getattr(function, "__func__", function)
    return id(function), id(getattr(function, "__code__", None))
