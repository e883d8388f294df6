"""Slips in the program: the reference with one change in its syntax tree, as functions that can be called.

A reference is taken as it runs: its own code, the functions of its file that it calls, and those that it was made with
(a closure). Each mutant changes one place in one of them. Loops are counted, so that a mutant ends.

Most mutants of a long program fail, change nothing that shows, or do the same as another. Which are worth trying is found
when the course is built, and stored in the folder of the exercise's lesson by what the program says: of a program that is
not there, all are tried.
"""

import ast
import copy
import functools
import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from dpcourse.base.languages import say, to_say
from dpcourse.checking.calling import program
from dpcourse.checking.calling.program import compiled, parameters_of
from dpcourse.checking.diagnosis.words import Change

OURS = "dpcourse."
FIRM = ("dpcourse.base.validate", "dpcourse.base.rounding")  # in which no learner's slip can be
STORED = "mutants.json"  # in the folder of a lesson: which mutants of its exercises are worth trying
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
    "ndtr": ("ndtri",), "sinh": ("cosh",), "tanh": ("sinh",), "cumsum": (), "mean": ("sum",), "sqrt": (), "len": ("max",),
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


class Program(program.Program):
    """A reference and all of ours that it is made of, ready to be changed."""

    def __init__(self, function: Callable):
        super().__init__(function, _is_ours)

    @property
    def key(self) -> str:
        """What the program says, and how it is changed, as a short hash."""
        written = [ast.unparse(node) for node in self.units.values()]
        return hashlib.blake2b(json.dumps([_how(), *written]).encode(), digest_size=8).hexdigest()

    def mutants(self, folder: Path | None = None) -> Iterator[tuple[Change, Callable]]:
        """(what is changed, the program with that change as a function): the single changes that are worth trying.

        folder: that of the exercise's lesson, where it is stored which these are; without it they are all.
        """
        return ((change, function) for _, change, function in self.numbered(stored(folder).get(self.key)))

    def numbered(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, Change, Callable]]:
        """All single changes in the order of the text, each with its place there; or those at the wanted places."""
        made, place = self.rebuilt(), -1
        written_out = {unit: _WrittenOut().visit(copy.deepcopy(node)) for unit, node in self.units.items()}
        told = parameters_of(self.main)  # names that a learner knows
        for unit, node in written_out.items():
            names = [name for name in parameters_of(unit) if name in told]
            for change in _each_change(node, names):
                place += 1
                if wanted is not None and place not in wanted:
                    continue
                try:
                    code = compiled(node, unit)
                except (SyntaxError, ValueError, TypeError, RecursionError):
                    continue
                yield place, change, self._with_code(made, unit, code)

    def _with_code(self, made, unit, code):
        """The rebuilt program as a function, in which one of its own has another code while it runs."""
        main, changed = made[self.main], made[unit]

        def call(*arguments):
            self.begin()
            before = changed.__code__
            changed.__code__ = code
            try:
                return main(*arguments)
            finally:
                changed.__code__ = before

        return call


def _is_ours(function):
    return function.__module__.startswith(OURS) and function.__module__ not in FIRM


@functools.cache
def _how():
    """What this module does: comments and layout change no key."""
    return ast.unparse(ast.parse(Path(__file__).read_text(encoding="utf-8")))


@functools.cache
def stored(folder: Path | None) -> dict[str, frozenset[int]]:
    """By the key of a program, which of its mutants are worth trying; nothing where the lesson's file cannot be read."""
    try:
        text = (folder / STORED).read_text(encoding="utf-8") if folder else "{}"
        return {key: frozenset(places) for of in json.loads(text).values() for key, places in of.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


class _WrittenOut(ast.NodeTransformer):
    """The same in the way that a learner writes it: exp(x) - 1 for expm1(x), log(1 + x) for log1p(x)."""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = _called(node)
        if name not in ("expm1", "log1p"):
            return node
        func = copy.copy(node.func)
        setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", name[:3])
        if name == "expm1":
            return ast.BinOp(ast.Call(func, node.args, []), ast.Sub(), ast.Constant(1))
        return ast.Call(func, [ast.BinOp(ast.Constant(1), ast.Add(), node.args[0])], [])


# ---- the changes


def _each_change(root, names) -> Iterator[Change]:
    """Make each change to the tree, say which it is, and take it back."""
    parents = {child: parent for parent in ast.walk(root) for child in ast.iter_child_nodes(parent)}
    for holder, key, place, node in list(_slots(root)):
        for change, new in list(_of_node(node, names, lambda it=node: _place(it, parents), parents)):
            _put(holder, key, place, new)
            yield change
            _put(holder, key, place, node)
    yield from _early_return(root)


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
        if isinstance(parent, ast.Call) and child in parent.args and _called(parent) in PLACES:
            return say(PLACES[_called(parent)])
        if isinstance(parent, ast.BinOp) and child is parent.right and isinstance(parent.op, ast.Div):
            return say("below the fraction line")
        if isinstance(parent, ast.BinOp) and child is parent.right and isinstance(parent.op, ast.Pow):
            return say("in the exponent")
        child, parent = parent, parents.get(parent)
    return ""


def _called(node):
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
            yield Change("dropped", {"what": say("a `not`")}, place()), operand
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


def _of_operation(node, names, place):
    left, op, right = node.left, node.op, node.right
    for swap in SWAPS.get(type(op), ()):
        fields = {"one": SIGNS[swap], "other": SIGNS[type(op)]}
        base = _as_float(left) if swap is ast.Pow else left
        yield Change("operator", fields, place()), ast.BinOp(base, swap(), right)
    if isinstance(op, (ast.Sub, ast.Div, ast.Pow)):
        yield Change("operands", {"one": SIGNS[type(op)]}, place()), ast.BinOp(right, op, left)
    yield Change("dropped", {"what": _named(right, names, op)}, place()), left
    if not isinstance(op, ast.Pow):
        yield Change("dropped", {"what": _named(left, names, op)}, place()), right
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
        if isinstance(one, ast.Call) and len(one.args) == 1 and _called(one) in WORDS:
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
    name = _called(node)
    if name in WORDS and WORDS[name] and node.args:
        for argument in node.args:
            if not isinstance(argument, (ast.GeneratorExp, ast.Starred)):
                yield Change("call dropped", {"what": say(WORDS[name])}, place()), argument
        for twin in TWINS.get(name, ()):
            func = copy.copy(node.func)
            setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", twin)
            fields = {"one": f"`{name}`", "other": f"`{twin}`"}
            yield Change("call replaced", fields, place()), ast.Call(func, node.args, node.keywords)
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


def _early_return(root):
    """What a function returns at its end, returned within its last loop already."""
    body = getattr(root, "body", [])
    if not isinstance(body, list) or not body or not isinstance(body[-1], ast.Return):
        return
    for loop in (each for each in body if isinstance(each, (ast.For, ast.While))):
        loop.body.append(body[-1])
        yield Change("early return")
        loop.body.pop()
