"""Changes that may mend a wrong answer, beside those by which slips are made of a right one (changes)."""

import ast
import copy
import itertools
import math
import types
from collections.abc import Iterator

from dpcourse.base.languages import say
from dpcourse.checking.calling.changes import Change, Changing, called

RANGES, BOUNDS = ("range", "arange"), ("min", "max")
TWINS = {
    "min": ("mean",),
    "max": ("mean",),
    "mean": ("min", "max"),
    "sum": ("mean",),
    "normal": ("laplace",),
    "count_nonzero": ("size",),
}
"""Function -> what may belong in its place, beside those of `changes`."""
ASKS_LITTLE = {
    "count_nonzero",
    "nonzero",
    "flatnonzero",
    "zeros_like",
    "ones_like",
    "full_like",
    "len",
    "size",
    "shape",
}
"""Functions that ask of their argument only what is 0, or how many entries there are: what mends them inside is an accident."""
WITHOUT_VALUES = {"zeros", "zeros_like", "empty", "empty_like"}
"""Functions whose arrays have no values yet: what mends them, a square say, which takes fractions, is an accident."""
OF_VALUES = {"sign", "added", "part factor"}  # changes by which a value becomes another
OF_NO_RANGE = {"sign", "added"}  # changes by which a range only becomes empty, or ends a little later
TAKEN_FOR = {"log2": "log", "log10": "log", "float32": "float64", "float16": "float64"}
"""Name -> what most often belongs in its place."""


class Mending(Changing):
    """An answer and all that it is made of, ready to be mended."""

    def changes(self) -> Iterator[tuple[types.FunctionType, ast.AST, Change, ast.AST]]:
        """All single changes: first those of `Changing`, then these."""
        ranges = {unit: list(_arguments_of(RANGES, node)) for unit, node in self.units.items()}
        counted = {unit: list(_arguments_of(ASKS_LITTLE, node)) for unit, node in self.units.items()}
        for unit, node, change, old in super().changes():
            is_counted = change.kind in OF_VALUES and _span(old) in counted[unit]
            if not _is_in_vain(change, old, ranges[unit]) and not is_counted:
                yield unit, node, change, old
        for unit, node in {unit: self.written(copy.deepcopy(node)) for unit, node in self.units.items()}.items():
            for change, old in itertools.chain(
                _of_bounds(node),
                _of_names_of_one(node),
                _of_twins(node),
                _of_statements(node),
                _of_both_returns(node),
                _of_masks(node),
                _everywhere(node),
                _of_starts(node),
                _of_all_ranges(node),
            ):
                yield unit, node, change, old


def _arguments_of(functions, root):
    """Where the arguments of these functions begin and end in the text."""
    for node in ast.walk(root):
        if isinstance(node, ast.Call) and called(node) in functions:
            yield from map(_span, node.args)


def _span(node):
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _is_in_vain(change, old, ranges):
    """Whether a change is of nothing yet, or only ends a loop that should not be there: another sign of a count, a range that ends elsewhere."""
    if change.kind in OF_VALUES and isinstance(old, ast.Call) and called(old) in WITHOUT_VALUES:
        return True
    if change.kind not in OF_NO_RANGE:
        return False
    if isinstance(old, ast.Call) and called(old) == "len":
        return True
    begin, end = _span(old)
    return any(first <= begin and end <= last for first, last in ranges)


def _of_names_of_one(root) -> Iterator[tuple[Change, ast.AST]]:
    """Of names that are given one value together, let each have a value of its own; put it back."""
    for node in ast.walk(root):
        match node:
            case ast.Assign(targets=[_, _, *_] as targets, value=ast.Call() | ast.List() | ast.BinOp() as value):
                before = copy.deepcopy(node)
                node.targets = [ast.Tuple(targets, ast.Store())]
                node.value = ast.Tuple([copy.deepcopy(value) for _ in targets], ast.Load())
                yield Change("names of one"), before
                node.targets, node.value = targets, value


def _of_twins(root) -> Iterator[tuple[Change, ast.AST]]:
    """Call one of TWINS in the place of a function; put it back."""
    for node in [each for each in ast.walk(root) if isinstance(each, ast.Call)]:
        name, key = called(node), "attr" if isinstance(node.func, ast.Attribute) else "id"
        twins = TWINS.get(name, ())
        if (
            name == "normal" and not node.args
        ):  # else its deviation would be taken for an array to write to, and end the process
            twins = (*twins, "random")
        for twin in twins:
            before = copy.deepcopy(node)
            setattr(node.func, key, twin)
            yield Change("call replaced", {"one": f"`{name}`", "other": f"`{twin}`"}), before
            setattr(node.func, key, name)


def _of_both_returns(root) -> Iterator[tuple[Change, ast.AST]]:
    """Of an `if` in a loop that returns in any case, let one of the two stand behind the loop; put it back."""
    for within in _blocks(root):
        for i in [i for i, each in enumerate(within) if isinstance(each, (ast.For, ast.While))]:
            for choice in [each for each in within[i].body if isinstance(each, ast.If)]:
                branches = (choice.orelse, choice.body)
                returns = all(each and isinstance(each[-1], ast.Return) for each in branches)
                for branch in branches if returns else ():
                    last, branch[-1] = branch[-1], ast.Pass()
                    within.insert(i + 1, last)
                    yield Change("late return"), last
                    branch[-1] = within.pop(i + 1)


def _blocks(root) -> list[list]:
    """Return all lists of statements."""
    found = (getattr(node, name, None) for node in ast.walk(root) for name in ("body", "orelse"))
    return [each for each in found if isinstance(each, list)]


def _of_statements(root) -> Iterator[tuple[Change, ast.AST]]:
    """Leave out one statement that changes a name that has a value already: `n += 1`, `x = x / 2`; put it back."""
    for within in _blocks(root):
        for i, statement in enumerate(within):
            if _changes_a_name(statement):
                within[i] = ast.Pass()
                yield Change("statement dropped"), statement
                within[i] = statement


def _changes_a_name(statement):
    match statement:
        case ast.AugAssign():
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
    return False


def _of_masks(root) -> Iterator[tuple[Change, ast.AST]]:
    """Let a comparison that gets a name, by which entries are chosen, hold for every entry; take it back."""
    for node in list(ast.walk(root)):
        match node:
            case ast.Assign(value=ast.Compare() as mask):
                node.value = ast.Compare(mask.left, [ast.Eq()], [mask.left])
                yield Change("condition dropped"), mask
                node.value = mask


def _of_all_ranges(root) -> Iterator[tuple[Change, ast.AST]]:
    """End all ranges one later, or one earlier, where there are several; take it back."""
    ranges = [node for node in ast.walk(root) if isinstance(node, ast.Call) and called(node) in RANGES and node.args]
    as_written = [copy.deepcopy(node) for node in ranges]
    for op in (ast.Add(), ast.Sub()) if len(ranges) > 1 else ():
        for node in ranges:
            end = min(1, len(node.args) - 1)
            node.args[end] = ast.BinOp(node.args[end], op, ast.Constant(1))
        yield Change("all ranges"), as_written[0]
        for node, before in zip(ranges, as_written, strict=True):
            node.args = list(before.args)


def _of_starts(root) -> Iterator[tuple[Change, ast.AST]]:
    """Begin a search, for the largest value or for the smallest, before all values and not at a number; put it back."""
    comparisons = [node for node in ast.walk(root) if isinstance(node, ast.Compare)]
    compared = {
        each.id for node in comparisons for each in (node.left, *node.comparators) if isinstance(each, ast.Name)
    }
    for name, start in [each for node in ast.walk(root) for each in _numbers_given_a_name(node)]:
        as_written, is_negative = copy.deepcopy(start), isinstance(start, ast.UnaryOp)
        number = start.operand if is_negative else start
        value = number.value
        for extreme, side in ((-math.inf, say("below")), (math.inf, say("above"))) if name in compared else ():
            number.value = -extreme if is_negative else extreme
            yield Change("start", {"side": side}), as_written
        number.value = value


def _numbers_given_a_name(node):
    """(name, number) for each number that gets a name: `best = 0`, `best, place = -1, 0`."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            pairs = zip(names, values, strict=False)
        case ast.Assign(targets=[name], value=value):
            pairs = [(name, value)]
        case _:
            return
    for pair in pairs:
        match pair:
            case ast.Name(id=name), ast.Constant(value=int() | float()) as number:
                yield name, number
            case ast.Name(id=name), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())) as number:
                yield name, number


def _everywhere(root) -> Iterator[tuple[Change, ast.AST]]:
    """Put at all its places at once what a name, or the division that cuts, is most often taken for; take it back."""
    divisions = [node for node in ast.walk(root) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)]
    for node in divisions:
        node.op = ast.Div()
    if divisions:
        yield Change("everywhere", {"one": "`/`", "other": "`//`"}), divisions[0]
    for node in divisions:
        node.op = ast.FloorDiv()
    for name, other in TAKEN_FOR.items():
        named = [(each, key) for each in ast.walk(root) for key in ("id", "attr") if getattr(each, key, None) == name]
        for each, key in named:
            setattr(each, key, other)
        if named:
            yield Change("everywhere", {"one": f"`{other}`", "other": f"`{name}`"}), named[0][0]
        for each, key in named:
            setattr(each, key, name)


def _of_bounds(root) -> Iterator[tuple[Change, ast.AST]]:
    """Move by one what a range ends or begins at where that is the smaller, or the larger, of several numbers; take it back."""
    ranges = [node for node in ast.walk(root) if isinstance(node, ast.Call) and called(node) in RANGES]
    as_written = {node: copy.deepcopy(node) for node in ranges}
    for node in ranges:
        bounds = [each for each in node.args if isinstance(each, ast.Call) and called(each) in BOUNDS]
        for bound in bounds:
            for i, argument in enumerate(bound.args if len(bound.args) > 1 else ()):
                for op in (ast.Add(), ast.Sub()):
                    bound.args[i] = ast.BinOp(argument, op, ast.Constant(1))
                    yield Change("range"), as_written[node]
                bound.args[i] = argument
