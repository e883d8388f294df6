"""What the expressions of a function give while it runs, and what the function gives where one of them gives something else.

Both run where the function runs, and know nothing of what is right. A place is an expression that is read; its number is
its place in the text. Whatever a function does to what it is watched by, it changes words that are said of it, no mark.
"""

import ast
import copy
import math
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcourse.checking.calling.mending import Mending
from dpcourse.checking.calling.program import LONGEST, TooLong
from dpcourse.checking.calling.values import plain

MOST_PLACES = 300
MOST_GIVEN = 120  # values of one place in one call that are kept
MOST_ENTRIES = 2_000  # of a value that is kept
MOST_STEPS = 50_000  # of one call
LEFT_OUT = (ast.Constant, ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.Slice, ast.Lambda)


@dataclass(frozen=True)
class Place:
    """An expression: its text, its line where its function was written, the numbers of the places that it is made of.

    begins: whether it is what a name has before a loop that gives the name other values.
    """

    text: str
    line: int
    parts: tuple[int, ...] = ()
    begins: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it is a name, which gives nothing new."""
        return self.text.isidentifier()


class Watched:
    """A function whose expressions are watched. Where its text cannot be read it has no places.

    belongs(function): whether a function that it calls is watched too; those of its own notebook or file, if not given.
    most: values of one place in one call that are kept.
    """

    def __init__(
        self, function: Callable, belongs: Callable[[types.FunctionType], bool] | None = None, most: int = MOST_GIVEN
    ):
        self.most = most
        function = getattr(function, "__wrapped__", function)
        world = getattr(function, "__globals__", None)
        self.program = Mending(function, belongs or (lambda other: other.__globals__ is world))
        self.places: list[Place] = []
        self._kept: dict[int, list | None] = {}
        self._instead: dict[int, Iterator] = {}
        self._left = 0
        nodes = {unit: _Recorder(self.places, unit).of(node) for unit, node in self.program.units.items()}
        self._main = self.program.rebuilt({"__record__": self._record}, nodes).get(self.program.main)

    def steps(self, arguments: Sequence) -> list[list | None]:
        """Call it; return for each place what it gave, one value after the other, and None where that is not kept."""
        self._kept = {number: [] for number in range(len(self.places))}
        self._call(arguments)
        given, self._kept = self._kept, {}
        return [None if each is None or len(each) > self.most else each for each in given.values()]

    def exchanged(self, numbers: Sequence[int], values: Sequence, arguments: Sequence) -> object:
        """Call it with other values at these places, at each of them one after the other; return what it gives, or None."""
        self._instead = {number: iter(values) for number in numbers}
        try:
            return plain(self._call(arguments, LONGEST))
        finally:
            self._instead = {}

    def _call(self, arguments, seconds=math.inf):
        if self._main is None:
            return None
        self._left = MOST_STEPS
        self.program.begin(seconds)
        try:
            return self._main(*arguments)
        except (Exception, SystemExit):
            return None

    def _record(self, number, value):
        self._left -= 1
        if self._left < 0:
            raise TooLong
        if number in self._instead:
            return copy.deepcopy(next(self._instead[number], value))
        given = self._kept.get(number)
        if given is not None and len(given) <= self.most:
            kept = _kept(value)
            if kept is None:
                self._kept[number] = None
            else:
                given.append(kept)
        return value


class _Recorder(ast.NodeTransformer):
    """Puts each expression that is read into a call of __record__(number, value)."""

    def __init__(self, places, function):
        world = function.__globals__
        self.places = places
        self.no_values = {name for name in _names(function.__code__) if isinstance(world.get(name), types.ModuleType)}
        self.beginnings: set[ast.AST] = set()

    def of(self, node):
        node = copy.deepcopy(node)
        self.beginnings = set(_beginnings(node))
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_FunctionDef(self, node):
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node):
        node.value = node.value and self.visit(node.value)
        return node

    def visit(self, node):
        if not isinstance(node, ast.expr) or isinstance(node, (ast.JoinedStr, ast.Constant)):
            return super().visit(node)
        text, line, begins = ast.unparse(node), node.lineno, node in self.beginnings
        if isinstance(node, ast.Call):
            self._visit_call(node)
        else:
            self.generic_visit(node)
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        is_module = isinstance(node, ast.Name) and node.id in self.no_values
        if not is_read or is_module or isinstance(node, LEFT_OUT) or len(self.places) >= MOST_PLACES:
            return node
        number = len(self.places)
        self.places.append(Place(text, line, tuple(_parts(node)), begins))
        call = ast.Call(ast.Name("__record__", ast.Load()), [ast.Constant(number), node], [])
        call.number = number  # for the parts of what it stands in
        return ast.copy_location(call, node)

    def _visit_call(self, node):
        """What is called is no step, but what a method is of."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(each) for each in node.args]
        node.keywords = [self.visit(each) for each in node.keywords]


def _names(code):
    """Yield the names that code reads from outside, with those of the functions that are made in it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _beginnings(root):
    """Yield the expressions whose names a loop behind them gives other values, which are not made of the old ones."""
    for block in (getattr(node, name, None) for node in ast.walk(root) for name in ("body", "orelse")):
        for i, statement in enumerate(block if isinstance(block, list) else ()):
            loops = [
                loop for each in block[i + 1 :] for loop in ast.walk(each) if isinstance(loop, (ast.For, ast.While))
            ]
            for name, value in _assigned(statement):
                anew = [
                    new for loop in loops for each in ast.walk(loop) for other, new in _assigned(each) if other == name
                ]
                if anew and not any(
                    isinstance(each, ast.Name) and each.id == name for new in anew for each in ast.walk(new)
                ):
                    yield value


def _assigned(statement):
    """Yield (name, expression) of an assignment, of several names too."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        if isinstance(target, ast.Name):
            yield target.id, statement.value
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            yield from (
                (one.id, value)
                for one, value in zip(target.elts, statement.value.elts, strict=False)
                if isinstance(one, ast.Name)
            )


def _parts(node):
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "number"):
            yield child.number
        else:
            yield from _parts(child)


def _kept(value):
    """A copy of a value as plain data; None where it is no numbers, or too many."""
    if isinstance(value, (bool, int, float, np.generic)):
        return plain(value) if np.ndim(value) == 0 else None
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= MOST_ENTRIES and value.dtype.kind in "biuf" else None
    if isinstance(value, (list, tuple)) and len(value) <= MOST_ENTRIES:
        kept = plain(value)
        try:
            return kept if np.asarray(kept).dtype.kind in "biuf" else None
        except ValueError:
            return None
    return None
