"""Changes that may mend a wrong answer, beside those by which slips are made of a right one (changes)."""

import ast
import copy
import types
from collections.abc import Iterator

from dpcourse.checking.calling.changes import Change, Changing, called

RANGES, BOUNDS = ("range", "arange"), ("min", "max")


class Mending(Changing):
    """An answer and all that it is made of, ready to be mended."""

    def changes(self) -> Iterator[tuple[types.FunctionType, ast.AST, Change, ast.AST]]:
        """All single changes: first those of `Changing`, then these."""
        yield from super().changes()
        for unit, node in {unit: self.written(copy.deepcopy(node)) for unit, node in self.units.items()}.items():
            for change, old in _of_bounds(node):
                yield unit, node, change, old


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
