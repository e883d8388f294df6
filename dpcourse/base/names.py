"""The names by which the cells of a notebook depend on each other: what a cell takes from the others, what it gives them.

Python's own `symtable` says what is a name of the notebook and what is a function's; no rule of scopes is told here.
"""

import ast
import copy
import functools
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCKS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), ("body", "orelse")),
    **dict.fromkeys((ast.With, ast.AsyncWith), ("body",)),
}  # statements with blocks, each of which is run from its beginning
_BINDS = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.For, ast.AsyncFor, ast.With, ast.AsyncWith),
)  # statements that surely bind their names, to who comes behind their first line
_AT_ONCE = ("listcomp", "setcomp", "dictcomp")  # scopes whose code runs where it stands


@dataclass(frozen=True)
class Names:
    """The names of a cell that are the notebook's.

    uses: those that it reads, or deletes. takes: those of them that it may find as another cell left them: it reads
    them before it has surely bound them, or in a function, which may be called later. binds: those that it may bind
    or delete. imports: those of them that it binds by imports alone -> what it imports. functions: those that it binds
    alone by a `def` that is no more than its code -> the names that this code uses.

    >>> names = Names.of("import math\\nx = math.sqrt(y)\\ndef f(v): return v + x")
    >>> sorted(names.takes), sorted(names.binds), names.imports, names.functions
    (['x', 'y'], ['f', 'math', 'x'], {'math': 'math'}, {'f': frozenset({'x'})})
    """

    uses: frozenset[str]
    takes: frozenset[str]
    binds: frozenset[str]
    imports: dict[str, str]
    functions: dict[str, frozenset[str]]

    @classmethod
    @functools.lru_cache(maxsize=500)
    def of(cls, code: str) -> "Names":
        """The Names of the code of a cell. Raises SyntaxError, ValueError or RecursionError where it cannot be read."""
        body = ast.parse(code).body
        statements = list(map(_Statement, body))
        by = {name: [each for each in statements if name in each.binds] for each in statements for name in each.binds}
        return cls(
            uses=frozenset().union(*(each.later | each.at_once for each in statements)),
            takes=frozenset(_taken(body, set())),
            binds=frozenset(by),
            imports={
                name: " ".join(each.imports[name] for each in binding)
                for name, binding in by.items()
                if all(name in each.imports for each in binding)
            },
            functions={name: frozenset(each.later) for name, [each, *more] in by.items() if each.is_plain and not more},
        )


def _taken(body, surely):
    """What statements take that are run one after the other. surely: the names that are bound before; these grow."""
    taken = set()
    for node in body:
        blocks = _BLOCKS.get(type(node), ())
        line = copy.copy(node)
        for block in blocks:
            setattr(line, block, [ast.Pass()])
        each = _Statement(line)
        taken |= each.later | each.at_once - surely
        for block in blocks:
            taken |= _taken(getattr(node, block), surely | each.surely if block == "body" else set(surely))
        if not blocks:
            surely |= each.surely
    return taken


class _Statement:
    """The names of one statement; at_once: those that it reads where it stands, later: those that its functions read."""

    def __init__(self, node: ast.stmt):
        self.at_once, self.later, self.binds, here = set[str](), set[str](), set[str](), set[str]()
        nodes = list(ast.walk(node))
        paths = dict(_imported(nodes))
        self.imports: dict[str, str] = {}
        for table, is_at_once in _scopes(symtable.symtable(ast.unparse(node), "<cell>", "exec")):
            is_module = table.get_type() == "module"
            for each in table.get_symbols():
                name = each.get_name()
                if not (is_module or each.is_global()):
                    continue
                if each.is_referenced():
                    (self.at_once if is_at_once else self.later).add(name)
                if each.is_assigned() or each.is_imported() or each.is_namespace():
                    self.binds.add(name)
                    here |= {name} if is_module else set()
                if is_module and each.is_imported() and not each.is_assigned():
                    self.imports[name] = paths[name]
        changed = _changed(nodes) & self.binds
        (self.at_once if isinstance(node, (ast.AugAssign, ast.Delete)) else self.later).update(changed)
        is_sure = isinstance(node, _BINDS) and not any(isinstance(each, ast.NamedExpr) for each in nodes)
        self.surely = here if is_sure and getattr(node, "value", True) else set()
        self.is_plain = isinstance(node, ast.FunctionDef) and self.binds == {node.name} and _is_plain(node)


def _scopes(table, is_at_once=True) -> Iterator[tuple[symtable.SymbolTable, bool]]:
    """(scope, whether its code runs where it stands) of a table and all that are in it."""
    yield table, is_at_once
    for child in table.get_children():
        yield from _scopes(child, is_at_once and child.get_name() in _AT_ONCE)


def _imported(nodes):
    """Pairs (name that an import binds, what it imports)."""
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for each in node.names:
                yield each.asname or each.name.partition(".")[0], module + each.name


def _changed(nodes):
    """Names that are read where they are bound or deleted, `x += 1` and `del x`, of which symtable tells the latter only."""
    targets = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    deleted = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)]
    return {each.id for each in (*targets, *deleted) if isinstance(each, ast.Name)}


def _is_plain(function):
    """Whether a function is no more than its code: not decorated, with constants as defaults."""
    defaults = filter(None, (*function.args.defaults, *function.args.kw_defaults))
    return not function.decorator_list and all(isinstance(each, ast.Constant) for each in defaults)
