"""Single changes of a function in its syntax tree: of a right one they are slips, of a wrong one they may mend it.

A function is taken as it runs: its own code, the functions that it calls, and those that it was made with (a closure).
Each change is made at one place in one of them. Loops are counted, so that what is changed ends.
"""

import ast
import copy
import types
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from dpcourse.base.languages import say, to_say
from dpcourse.checking.calling import program
from dpcourse.checking.calling.program import LONGEST, compiled

MOST_NAMES = 8  # of which each is put in the place of each other


@dataclass(frozen=True)
class Change:
    """What is changed: its kind, the fields of a sentence about it, and where in a formula it is, in words."""

    kind: str
    fields: dict[str, object] = field(default_factory=dict)
    place: str = ""


WORDS = {  # function -> what it makes
    name: what
    for names, what in {
        "sqrt": to_say("the square root"), "log log1p log2 log10": to_say("the logarithm"), "exp expm1": to_say("the exponential"),
        "abs absolute": to_say("the absolute value"), "sum": to_say("the sum"), "max maximum": to_say("the maximum"),
        "min minimum": to_say("the minimum"), "ceil": to_say("the rounding up"), "floor int": to_say("the rounding down"),
        "ndtr": to_say("the normal distribution function"), "ndtri": to_say("the normal quantile"),
        "len": to_say("the number of entries"), "cumsum": to_say("the running sum"), "mean": to_say("the mean"),
        "prod": to_say("the product"), "round": to_say("the rounding"), "sorted sort": to_say("the sorting"),
        "set": to_say("the set"), "clip": to_say("the clipping"), "norm": to_say("the length"), "float": "",
    }.items()
    for name in names.split()
}  # fmt: skip
PLACES = {  # function -> where its argument stands
    name: where
    for names, where in {
        "sqrt": to_say("under the square root"), "log log1p": to_say("inside the logarithm"), "exp expm1": to_say("in the exponent"),
        "sum": to_say("in what is added up"), "max": to_say("inside the maximum"), "min": to_say("inside the minimum"),
        "ndtr": to_say("inside the normal distribution function"), "ndtri": to_say("inside the normal quantile"),
    }.items()
    for name in names.split()
}  # fmt: skip
TWINS = {
    "expm1": ("exp",), "exp": ("expm1",), "log1p": ("log",), "log": ("log10", "log2", "log1p"), "max": ("min", "sum"), "min": ("max",),
    "sum": ("max", "len"), "maximum": ("minimum",), "minimum": ("maximum",), "ceil": ("floor",), "floor": ("ceil",),
    "ndtr": ("ndtri",), "sinh": ("cosh",), "tanh": ("sinh",), "mean": ("sum",), "len": ("max",),
    "any": ("all",), "all": ("any",), "argmax": ("argmin",), "argmin": ("argmax",), "ppf": ("isf",), "isf": ("ppf",),
    "cdf": ("sf", "pmf"), "sf": ("cdf", "pmf"), "pmf": ("cdf", "sf"), "pdf": ("cdf", "sf"), "median": ("mean",),
}  # fmt: skip
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
SWAPS = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add, ast.Pow), ast.Div: (ast.Mult, ast.FloorDiv),
    ast.Pow: (ast.Mult,), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.MatMult: (ast.Mult,),
}  # fmt: skip


class Changing(program.Program):
    """A function and all that it is made of, ready to be changed."""

    def numbered(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, Change, ast.AST, Callable]]:
        """All single changes in the order of the text, or those at the wanted places: (its place, what is changed, the
        expression or statement that it changes, the function with that change)."""
        made = self.rebuilt()
        for place, (unit, node, change, old) in enumerate(self.changes()):
            if wanted is not None and place not in wanted:
                continue
            try:
                code = compiled(node, unit)
            except (SyntaxError, ValueError, TypeError, RecursionError):
                continue
            yield place, change, old, self._with_code(made, unit, code)

    def changes(self) -> Iterator[tuple[types.FunctionType, ast.AST, Change, ast.AST]]:
        """All single changes in the order of the text: (the unit, its syntax with the change, what is changed, of what)."""
        for unit, node in {unit: self.written(copy.deepcopy(node)) for unit, node in self.units.items()}.items():
            for change, old in each_change(node, self.exchangeable(unit)):
                yield unit, node, change, old

    def written(self, node: Any) -> Any:
        """Return the syntax of a unit as it is to be changed."""
        return node

    def exchangeable(self, unit: types.FunctionType) -> list[str]:
        """Return the names in a unit of which each may stand in the place of another."""
        return list(unit.__code__.co_varnames[:MOST_NAMES])

    def _with_code(self, made, unit, code):
        """The rebuilt program as a function, in which one of its own has another code while it runs."""
        main, changed = made[self.main], made[unit]

        def call(*arguments):
            self.begin(LONGEST)
            before = changed.__code__
            changed.__code__ = code
            try:
                return main(*arguments)
            finally:
                changed.__code__ = before

        return call


def each_change(root: Any, names: list[str]) -> Iterator[tuple[Change, ast.AST]]:
    """Make each change to the tree, say which it is and of what, and take it back. names: those that may be exchanged."""
    parents = {child: parent for parent in ast.walk(root) for child in ast.iter_child_nodes(parent)}
    for holder, key, place, node in list(_slots(root)):
        for change, new in list(_of_node(node, names, lambda it=node: _place(it, parents), parents)):
            _put(holder, key, place, new)
            yield change, node
            _put(holder, key, place, node)
    yield from _of_statements(root)


def _slots(root):
    """(parent, field, index or None, node) of all expressions, and of operators' nodes through their owner."""
    for parent in ast.walk(root):
        if isinstance(parent, (ast.arguments, ast.arg, ast.keyword)) and not isinstance(parent, ast.keyword):
            continue
        for key, value in ast.iter_fields(parent):
            if isinstance(value, ast.expr):
                yield parent, key, None, value
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield parent, key, i, item


def _put(holder, key, place, node):
    if place is None:
        setattr(holder, key, node)
    else:
        getattr(holder, key)[place] = node


def _place(node, parents):
    """Where in the formula a node stands, in words, or nothing."""
    child, parent = node, parents.get(node)
    while parent is not None:
        if isinstance(parent, ast.Call) and child in parent.args and called(parent) in PLACES:
            return say(PLACES[called(parent)])
        if isinstance(parent, ast.BinOp) and child is parent.right and isinstance(parent.op, ast.Div):
            return say("below the fraction line")
        if isinstance(parent, ast.BinOp) and child is parent.right and isinstance(parent.op, ast.Pow):
            return say("in the exponent")
        child, parent = parent, parents.get(parent)
    return ""


def called(node: ast.Call) -> str:
    """Return the name of the function that is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _of_node(node, names, place, parents):
    """(change, the node in its place), for each change of one expression."""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    match node:
        case ast.BinOp():
            yield from _of_operation(node, names, place)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield Change("sign", place=place()), operand
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change("dropped", {"what": say("a `not`"), "part": "`not`"}, place()), operand
        case ast.Call():
            yield from _of_call(node, place)
        case ast.Constant(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
            for other in dict.fromkeys((value + 1, value - 1, 2 * value, value / 2, 0, 1)):
                if other != value:
                    yield Change("constant", {"value": f"{other:g}"}, place()), ast.Constant(other)
        case ast.Constant(value=bool(value)):
            yield Change("constant", {"value": str(not value)}, place()), ast.Constant(not value)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for swap in SWAPS.get(type(op), ()):
                fields = {"one": SIGNS[swap], "other": SIGNS[type(op)]}
                yield Change("comparison", fields, place()), ast.Compare(left, [swap()], [right])
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            signs = ("or", "and") if isinstance(op, ast.And) else ("and", "or")
            yield Change("operator", {"one": signs[0], "other": signs[1]}, place()), ast.BoolOp(other, values)
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                new = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                yield Change("condition dropped", place=place()), new
        case ast.IfExp(body=body, orelse=orelse):
            yield Change("condition dropped", place=place()), body
            yield Change("condition dropped", place=place()), orelse
        case ast.Name(id=name) if name in names:
            for other in names:
                if other != name:
                    yield (
                        Change("other name", {"one": name, "other": other}, place()),
                        ast.Name(other, ast.Load()),
                    )
        case ast.Subscript(value=value, slice=ast.Slice()):
            yield Change("range", place=place()), value
        case ast.GeneratorExp(elt=elt, generators=[one]) | ast.ListComp(elt=elt, generators=[one]) if one.ifs:
            bare = ast.comprehension(one.target, one.iter, [], 0)
            yield Change("condition dropped", place=place()), type(node)(elt, [bare])
    if isinstance(node, (ast.BinOp, ast.Call, ast.Name)) and not isinstance(parents.get(node), ast.Attribute):
        is_number = not isinstance(node, ast.Name) or node.id in names
        if is_number and not (isinstance(parents.get(node), ast.Call) and parents[node].func is node):
            yield Change("sign", place=place()), ast.UnaryOp(ast.USub(), node)
            yield Change("part factor", {"factor": "2"}, place()), ast.BinOp(ast.Constant(2), ast.Mult(), node)
            yield (
                Change("part factor", {"factor": "1/2"}, place()),
                ast.BinOp(node, ast.Div(), ast.Constant(2)),
            )
            yield (
                Change("added", {"what": say("a square")}, place()),
                ast.BinOp(_as_float(node), ast.Pow(), ast.Constant(2)),
            )
            yield (
                Change("added", {"what": say("a square root")}, place()),
                ast.BinOp(node, ast.Pow(), ast.Constant(0.5)),
            )
            yield Change("added", {"what": say("a complement, 1 minus something,")}, place()), ast.BinOp(ast.Constant(1), ast.Sub(), node)  # fmt: skip
            yield Change("added", {"what": say("an inverse, 1 over something,")}, place()), ast.BinOp(ast.Constant(1), ast.Div(), node)  # fmt: skip


def _as_float(node):
    """The same as no whole number: the power of one, taken in a loop, grows without bound and cannot be stopped."""
    return ast.BinOp(ast.Constant(1.0), ast.Mult(), node)


SIDES: dict[type | None, tuple[str, str]] = {  # of an operation: what a side of it is, and what it is where it is a whole number
    ast.Add: (to_say("a term"), to_say("a term {number}")), ast.Mult: (to_say("a factor"), to_say("a factor {number}")),
    ast.Pow: (to_say("the power"), to_say("the power {number}")), None: (to_say("a part"), to_say("a part {number}")),
}  # fmt: skip
SIDES |= {ast.Sub: SIDES[ast.Add], ast.Div: SIDES[ast.Mult]}


def _named(node, names, op):
    """A side of an operation by its name, where it is an argument or a number."""
    if isinstance(node, ast.Name) and node.id in names:
        return f"`{node.id}`"
    side, of_number = SIDES.get(type(op), SIDES[None])
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return say(of_number, number=node.value)
    return say(side)


def _code(*parts):
    """Signs and syntax, one behind the other as code."""
    return f"`{' '.join(part if isinstance(part, str) else ast.unparse(part) for part in parts).strip()}`"


def _of_operation(node, names, place):
    left, op, right = node.left, node.op, node.right
    for swap in SWAPS.get(type(op), ()):
        fields = {"one": SIGNS[swap], "other": SIGNS[type(op)]}
        base = _as_float(left) if swap is ast.Pow else left
        yield Change("operator", fields, place()), ast.BinOp(base, swap(), right)
    if isinstance(op, (ast.Sub, ast.Div, ast.Pow)):
        yield Change("operands", {"one": SIGNS[type(op)]}, place()), ast.BinOp(right, op, left)
    sign = SIGNS.get(type(op), "")
    of_right = {"what": _named(right, names, op), "part": _code(sign, right)}
    yield Change("dropped", of_right, place()), left
    if not isinstance(op, ast.Pow):
        of_left = {"what": _named(left, names, op), "part": _code(left, sign)}
        yield Change("dropped", of_left, place()), right
    bracket = Change("bracket", place=place())
    yield from ((bracket, new) for new in _without_brackets(node))
    for one, other, first in ((left, right, True), (right, left, False)):
        if isinstance(one, ast.BinOp) and type(one.op) is not type(op):
            if first:  # (a ∘ b) · c -> a ∘ (b · c)
                yield bracket, ast.BinOp(one.left, one.op, ast.BinOp(one.right, op, other))
            else:  # a · (b ∘ c) -> (a · b) ∘ c
                yield bracket, ast.BinOp(ast.BinOp(other, op, one.left), one.op, one.right)
        if isinstance(one, ast.BinOp) and not first and isinstance(op, (ast.Div, ast.Sub)):
            yield bracket, ast.BinOp(ast.BinOp(other, op, one.left), one.op, one.right)
        if isinstance(one, ast.Call) and len(one.args) == 1 and called(one) in WORDS:
            inside = ast.BinOp(one.args[0], op, other) if first else ast.BinOp(other, op, one.args[0])
            yield bracket, ast.Call(one.func, [inside], one.keywords)


def _without_brackets(node):
    """An operation with one pair of brackets around a side of it, or of a part of it, left out."""
    for parent in ast.walk(node):
        for key in ("left", "right") if isinstance(parent, ast.BinOp) else ():
            inner = getattr(parent, key)
            if not isinstance(inner, ast.BinOp):
                continue
            setattr(parent, key, ast.Name("__inner__", ast.Load()))
            text = ast.unparse(node)
            setattr(parent, key, inner)
            new = ast.parse(text.replace("__inner__", ast.unparse(inner)), mode="eval").body
            if ast.dump(new) != ast.dump(node):
                yield new


def _of_call(node, place):
    name = called(node)
    if name in WORDS and WORDS[name] and node.args:
        for argument in node.args:
            if not isinstance(argument, (ast.GeneratorExp, ast.Starred)):
                yield Change("call dropped", {"what": say(WORDS[name]), "one": f"`{name}`"}, place()), argument
    for twin in TWINS.get(name, ()):
        func = copy.copy(node.func)
        setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", twin)
        fields = {"one": f"`{name}`", "other": f"`{twin}`"}
        yield Change("call replaced", fields, place()), ast.Call(func, node.args, node.keywords)
    for i in range(len(node.args) - 1):
        args = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        yield Change("arguments", place=place()), ast.Call(node.func, args, node.keywords)
    if name in WORDS and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
        inner = node.args[0]
        bracket = Change("bracket", place=place())
        yield bracket, ast.BinOp(ast.Call(node.func, [inner.left], node.keywords), inner.op, inner.right)
        yield bracket, ast.BinOp(inner.left, inner.op, ast.Call(node.func, [inner.right], node.keywords))
    if name in ("range", "arange"):
        for i, argument in enumerate(node.args[:2]):
            for op in (ast.Add(), ast.Sub()):
                args = [*node.args]
                args[i] = ast.BinOp(argument, op, ast.Constant(1))
                yield Change("range", place=place()), ast.Call(node.func, args, node.keywords)
        if len(node.args) > 1:
            for op in (ast.Add(), ast.Sub()):
                moved = [ast.BinOp(argument, op, ast.Constant(1)) for argument in node.args[:2]]
                yield Change("range", place=place()), ast.Call(node.func, [*moved, *node.args[2:]], node.keywords)


def _of_statements(root):
    """Changes of what is done and in which order: loops that end too early, or go on."""
    body = getattr(root, "body", [])
    if not isinstance(body, list):  # of a lambda
        return
    if body and isinstance(last := body[-1], ast.Return):
        for loop in (each for each in body if isinstance(each, (ast.For, ast.While))):
            loop.body.append(last)
            yield Change("early return"), last
            loop.body.pop()
    for within, i in list(_statements(root)):
        statement, inner = within[i], getattr(within[i], "body", [])
        if isinstance(statement, (ast.Break, ast.Continue)):
            for other in (ast.Pass(), ast.Continue()) if isinstance(statement, ast.Break) else (ast.Pass(),):
                within[i] = other
                yield Change("jump dropped"), statement
            within[i] = statement
        elif isinstance(statement, ast.AugAssign):
            op, before = statement.op, copy.copy(statement)
            for swap in SWAPS.get(type(op), ()):
                statement.op = swap()
                yield Change("operator", {"one": SIGNS[swap], "other": SIGNS[type(op)]}), before
            statement.op = op
        elif isinstance(statement, ast.If):
            test = statement.test
            for always in (False, True):
                statement.test = ast.Constant(always)
                yield Change("condition dropped", {"done": "always" if always else "never"}), test
            statement.test = test
        elif isinstance(statement, (ast.For, ast.While)) and len(inner) > 1 and isinstance(inner[-1], ast.Return):
            within.insert(i + 1, inner.pop())
            yield Change("late return"), within[i + 1]
            inner.append(within.pop(i + 1))


def _statements(root):
    """(a list of statements, a place in it), for each statement of a function."""
    for node in ast.walk(root):
        for name in ("body", "orelse"):
            if isinstance(within := getattr(node, name, None), list):
                yield from ((within, i) for i in range(len(within)))
