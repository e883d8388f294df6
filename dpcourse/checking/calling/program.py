"""A Python function taken apart and made anew: its own code, and that of the functions that it calls, changed or watched."""

import ast
import copy
import functools
import linecache
import math
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

MOST_UNITS = 12  # functions that are taken apart
MOST_ROUNDS, LONGEST = 20_000, 0.1  # of all loops of one call; seconds of one that is changed


class TooLong(Exception):
    """A function that was made anew goes round its loops too often."""


class Program:
    """A function and those that it is made of: called by it, enclosed in it, its defaults. Each is a unit, with its syntax.

    belongs(function): whether a function that it is made of is a unit too; others are called as they are.
    """

    def __init__(self, function: Callable, belongs: Callable[[types.FunctionType], bool]):
        self.main: Any = function
        self.units: dict[types.FunctionType, ast.AST] = {}
        self._belongs, self._left, self._ends = belongs, 0, math.inf
        self._add(function)

    def _add(self, function):
        if not isinstance(function, types.FunctionType) or function in self.units or len(self.units) > MOST_UNITS:
            return
        node = syntax_of(function)
        if node is None:
            return
        self.units[function] = node
        within = [cell.cell_contents for cell in function.__closure__ or () if not _is_empty(cell)]
        within += [function.__globals__.get(name) for name in names_in(node)]
        within += [getattr(function.__globals__[module], name, None) for module, name in _of_modules(node, function)]
        within += [default for default in function.__defaults__ or ()]
        for other in within:
            if isinstance(other, types.FunctionType) and self._belongs(other):
                self._add(other)

    def rebuilt(
        self, given: Mapping[str, object] | None = None, nodes: Mapping | None = None
    ) -> dict[types.FunctionType, types.FunctionType]:
        """Return the units made anew, in a world of their own, each under the one that it stands for.

        given: what this world has besides. nodes: the syntax of units that are to do something else. A call of what is
        made begins with `begin`; then its loops are counted.
        """
        nodes = self.units | dict(nodes or {})
        codes = {unit: compiled(node, unit) for unit, node in nodes.items()}
        worlds: dict[int, dict] = {}
        made: dict[types.FunctionType, types.FunctionType] = {}
        for unit in self.units:
            world = worlds.setdefault(
                id(unit.__globals__), dict(unit.__globals__) | {"__tick__": self._tick} | dict(given or {})
            )
            made[unit] = types.FunctionType(
                codes[unit], world, unit.__name__, unit.__defaults__, _cells(codes[unit], unit)
            )
            made[unit].__kwdefaults__ = unit.__kwdefaults__
        for unit, node in nodes.items():
            world = worlds[id(unit.__globals__)]
            for name in names_in(node):
                if self._is_unit(world.get(name)):
                    world[name] = made[world[name]]
            for module, name in _of_modules(node, unit):
                function: Any = getattr(unit.__globals__[module], name, None)
                if self._is_unit(function):
                    if isinstance(world[module], types.ModuleType):
                        world[module] = types.SimpleNamespace(**vars(world[module]))
                    setattr(world[module], name, made[function])
        for unit, new in made.items():
            for cell in new.__closure__ or ():
                if isinstance(cell.cell_contents, types.FunctionType) and cell.cell_contents in made:
                    cell.cell_contents = made[cell.cell_contents]
            new.__defaults__ = tuple(
                made.get(each, each) if isinstance(each, types.FunctionType) else each
                for each in unit.__defaults__ or ()
            )
        return made

    def begin(self, seconds: float = math.inf) -> None:
        """Count the loops of a call from here on; none of them begins another round after so many seconds.

        What doubles a list or an array in each round fills the memory long before its rounds are counted.
        """
        self._left, self._ends = MOST_ROUNDS, time.perf_counter() + seconds

    def _is_unit(self, it):
        return isinstance(it, types.FunctionType) and it in self.units

    def _tick(self):
        self._left -= 1
        if self._left < 0 or time.perf_counter() > self._ends:
            raise TooLong


def _cells(code, function):
    """Cells of its own for a function made anew, by name; None where it has none."""
    there = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return tuple(types.CellType(there[name].cell_contents) for name in code.co_freevars) or None


@functools.lru_cache(100)
def _functions(text):
    """The functions of a module, by the line in which each begins."""
    found: dict[int, list] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found.setdefault(_first_line(node), []).append(node)
    return found


def syntax_of(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    """Return a copy of the syntax of a function, without its docstring; None where its text cannot be read."""
    code = function.__code__
    try:
        functions = _functions("".join(linecache.getlines(code.co_filename)))
    except (OSError, SyntaxError, ValueError):
        return None
    found = [
        node
        for node in functions.get(code.co_firstlineno, ())
        if [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)] == list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    ]  # fmt: skip
    if len(found) > 1:  # several on a line: the one that compiles to the same
        found = [node for node in found if compiled(node, function, whole=False).co_code == code.co_code] or found
    if not found:
        return None
    node = copy.deepcopy(found[0])
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return node


def _first_line(node):
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


def _is_empty(cell):
    return cell == types.CellType()


def _of_modules(node, function):
    """(module, name) for every `module.name` in the node where the module is one of this package."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            module = function.__globals__.get(each.value.id)
            if isinstance(module, types.ModuleType) and module.__name__.startswith("dpcourse."):
                yield each.value.id, each.attr


def names_in(node: ast.AST) -> list[str]:
    """Return the names in the node, in the order of the text: the same in every run."""
    return list(dict.fromkeys(each.id for each in ast.walk(node) if isinstance(each, ast.Name)))


def compiled(node: ast.AST, function: types.FunctionType, whole: bool = True) -> types.CodeType:
    """Return the code of a function with this syntax and the free names of that function.

    whole: with its loops counted, and with all of these names, also those that it no longer uses.
    """
    free = function.__code__.co_freevars
    loops = [each for each in ast.walk(node) if isinstance(each, (ast.For, ast.While))] if whole else []
    for loop in loops:
        loop.body.insert(0, ast.Expr(ast.Call(ast.Name("__tick__", ast.Load()), [], [])))
    try:
        return _code_of(node, free, whole)
    finally:
        for loop in loops:
            loop.body.pop(0)


def _code_of(node, free, whole):
    body = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    if whole and free:
        body = [ast.If(ast.Constant(0), [ast.Expr(ast.Name(name, ast.Load())) for name in free], []), *body]
    inner = ast.FunctionDef("__inner__", node.args, body, [], lineno=1, col_offset=0)
    outer = ast.FunctionDef("__outer__", _with_names(free), [inner], [], lineno=1, col_offset=0)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    world: dict = {}
    exec(compile(module, "<made anew>", "exec"), {"__builtins__": __builtins__}, world)
    codes = world["__outer__"].__code__.co_consts
    return next(code for code in codes if isinstance(code, types.CodeType) and code.co_name == "__inner__")


def parameters_of(function: types.FunctionType) -> tuple[str, ...]:
    """Return the names of the parameters of a function."""
    return function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]


def _with_names(names):
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
