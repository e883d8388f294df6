"""What the code of one cell takes from the rest of its notebook, and what it gives to it.

The code is compiled, never executed: the names that Python would load and store are read from the bytecode, so that no
rule of scopes is told here a second time.
"""

import ast
import contextlib
import dis
import functools
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType

from dpcourse.grading.judge import known
from dpcourse.grading.judge.given import LONGEST_PARSED, parsed

LONGEST_LINE = 2_000  # characters: what is longer may be nested more deeply than a compiler bears
MOST_COPIES = 10  # of the nodes of a syntax tree, on an average: the compiler writes a `finally` down several times
MOST_TRANSFORMED = 50_000  # characters: IPython reads the whole cell again for each of its magics
DUNDER = re.compile(r"__[a-z]")
TEXT = r"""('[^'$\\{]*'|"[^"$\\{]*")"""  # without a name of the notebook's in it
MAGIC = rf"run_line_magic\('(matplotlib|pip)', {TEXT}|run_line_magic\('config', (?=.InlineBackend\.){TEXT}"
HARMLESS = re.compile(rf"get_ipython\(\)\.({MAGIC}|system\((?=.pip ){TEXT})\)")
SHELL = re.compile(rf"get_ipython\(\)\.system\({TEXT}\)")  # of the notebook it can change no more than its files
AROUND = re.compile(r"\A\s*%%(time|capture)[ \t]*\n")  # the rest of the cell runs as if it were not there
MAY_BE_MAGIC = re.compile(r"(?!def\b|return\b|\d)\w+[ \t]+[^\s=,].*\Z")  # IPython takes `time f(3)` for `%time f(3)`

OF_MAGICS = ("!", "%", "?")
LOADS = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
OWN = ("LOAD_FAST", "LOAD_DEREF")  # of a function that runs
SETS = {"STORE_ATTR", "DELETE_ATTR"}
BINDS = {"STORE_NAME", "STORE_GLOBAL"}
DELETES = {"DELETE_NAME", "DELETE_GLOBAL"}
LEAVES = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}  # whatever the condition
AT_ONCE = {"<listcomp>", "<setcomp>", "<dictcomp>"}


@dataclass(frozen=True)
class Flow:
    """What a cell takes and gives.

    takes: names that it may read, or delete, as other cells left them. uses: all names that it reads. binds: names that
    it may bind, delete, or set an attribute of. imports: names that it binds by imports alone -> the states that come
    with them. functions: names that it binds by one plain `def` alone -> the names that its body uses, and its
    states. marks: whether it may set an attribute of what another cell made, or of what a module holds. states: states
    of the process that it may read or change. word: the first word of a single line, which is a magic where it is no
    name. doubt: why all this may not be all; None where it is.
    """

    takes: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    imports: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, frozenset[str]] = field(default_factory=dict)
    states: frozenset[str] = frozenset()
    marks: bool = False
    word: str | None = None
    doubt: str | None = None


class _Doubt(Exception):
    """Code of which not all can be told; says why."""


@functools.lru_cache(maxsize=500)
def flow(code: str) -> Flow:
    """The Flow of the code of a cell, as IPython runs it; what has a syntax error does nothing.

    >>> sorted(flow("y = [x + i for i in range(3)]").takes)
    ['range', 'x']
    """
    try:
        tree = _tree(code)
        return Flow() if tree is None else _flow(tree, code)
    except _Doubt as doubt:
        return Flow(doubt=str(doubt))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Flow(doubt="cannot be looked through")


def _tree(code):
    """The syntax tree of what IPython makes of a cell; None where that has a syntax error."""
    if len(code) > LONGEST_PARSED or any(len(line) > LONGEST_LINE for line in code.splitlines()):
        raise _Doubt("is too long to be looked through")
    tree = parsed(code)
    if tree is not None:
        return tree
    if len(code) * sum(map(code.count, OF_MAGICS)) > MOST_TRANSFORMED:
        raise _Doubt("has too many magics to be looked through")
    from IPython.core.inputtransformer2 import TransformerManager

    made = HARMLESS.sub("None", TransformerManager().transform_cell(AROUND.sub("", code, count=1)))
    with contextlib.suppress(SyntaxError), _silently():
        return ast.parse(SHELL.sub("open", made))
    if MAY_BE_MAGIC.match(code.strip()):
        raise _Doubt("may be a magic")
    return None


@contextlib.contextmanager
def _silently():
    """Say nothing of what is strange in a student's code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _flow(tree, code):
    if _compiled(tree)[0] > MOST_COPIES * sum(1 for _ in ast.walk(tree)):
        raise _Doubt("has too much in its `finally` parts to be looked through")
    with _silently():
        top = compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    codes = list(_all(top))
    stored = [step.argval for step in _steps(top) if step.opname in BINDS]
    changed = {name for code in codes for name in _changed(code, top)}
    imports = _imports(tree)
    marks = any([_marks(code) for code in codes])
    alone = {name for name in stored if name not in changed}
    lines = code.strip().splitlines()
    return Flow(
        takes=frozenset(_taken(top)),
        uses=frozenset(_loaded(codes)),
        binds=frozenset({*stored, *changed}),
        imports={
            name: frozenset().union(*states)
            for name, states in imports.items()
            if name in alone and stored.count(name) == len(states)
        },
        functions={
            name: brings for name, brings in _plain_functions(tree, top) if name in alone and stored.count(name) == 1
        },
        states=frozenset(_states(codes) | _flat(imports) | ({known.PROCESS} if marks else set())),
        marks=marks,
        word=re.match(r"\w*", lines[0])[0] if len(lines) == 1 else None,
    )


def _compiled(node):
    """How many nodes, and how many ways out of a block, there are in code as it is compiled.

    The body of a `finally` is there once for each way out of its `try`: twenty in each other are a million.
    """
    nodes, ways = 1, int(isinstance(node, (ast.Return, ast.Break, ast.Continue)))
    last = node.finalbody if isinstance(node, (ast.Try, ast.TryStar)) else []
    for child in ast.iter_child_nodes(node):
        if child not in last:
            more, out = _compiled(child)
            nodes, ways = nodes + more, ways + out
    copies = ways + 2
    for child in last:
        more, out = _compiled(child)
        nodes, ways = nodes + copies * more, ways + copies * out
    return nodes, ways


# ---- names


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in _inner(code):
        yield from _all(inner)


def _inner(code):
    return (each for each in code.co_consts if isinstance(each, CodeType))


@functools.lru_cache(maxsize=64)
def _steps(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _loaded(codes: Iterable[CodeType]) -> set[str]:
    """The names that code reads as the notebook's, or as those of a class body."""
    return {step.argval for code in codes for step in _steps(code) if step.opname in LOADS | DELETES}


def _changed(code, top):
    """Names of the notebook's that code deletes, binds inside a function, or sets an attribute of."""
    for before, step in _pairs(code):
        inside = step.opname == "STORE_GLOBAL" and code is not top
        if step.opname in DELETES or inside or step.argval == "__annotations__":
            yield step.argval
        elif step.opname in SETS and before.opname in LOADS:
            yield before.argval


def _marks(code):
    """Whether code sets an attribute of anything but `self`."""
    for before, step in _pairs(code):
        if step.opname in SETS:
            if before.opname not in LOADS and not before.opname.startswith(OWN):
                raise _Doubt(f"sets an attribute `{step.argval}` of what has no name")
            if "self" not in (before.argval, *(before.argval if isinstance(before.argval, tuple) else ())):
                return True
    return False


def _pairs(code):
    steps = _steps(code)
    return zip([steps[0], *steps], steps, strict=False)


def _taken(top):
    """Names that the cell reads before it has surely bound them, or reads in code that may run later."""
    bits = {name: 1 << i for i, name in enumerate({each.argval for each in _steps(top) if each.opname in BINDS})}
    for step, bound in zip(_steps(top), _surely_bound(top, bits), strict=True):
        if step.opname in LOADS | DELETES:
            read = {step.argval}
        elif isinstance(step.argval, CodeType):
            read = _loaded(_all(step.argval))
            bound = bound if _runs_at_once(step.argval) else 0
        else:
            continue
        yield from (name for name in read if not bits.get(name, 0) & bound)


def _runs_at_once(code):
    """Whether code is a comprehension that is run where it stands, and makes nothing that runs later."""
    return code.co_name in AT_ONCE and all(map(_runs_at_once, _inner(code)))


def _surely_bound(code, bits):
    """For each step the names that the cell has bound before it, whatever way the run took there, as bits."""
    steps = _steps(code)
    at = {step.offset: i for i, step in enumerate(steps)}
    ways = [(i, way) for i, step in enumerate(steps) for way in _next(i, step, at) if way < len(steps)]
    thrown = [
        (i, at[entry.target])
        for entry in dis.Bytecode(code).exception_entries
        for i in range(at[entry.start], at.get(entry.end, len(steps)))
    ]
    bound = [0] + [-1] * (len(steps) - 1)
    before: list[int] = []
    while bound != before:
        before = list(bound)
        for i, way in ways:
            bound[way] &= _after(bound[i], steps[i], bits)
        for i, target in thrown:
            bound[target] &= bound[i]
    return bound


def _next(i, step, at):
    if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
        yield at[step.argval]
    if step.opname not in LEAVES | JUMPS:
        yield i + 1


def _after(bound, step, bits):
    if step.opname in BINDS:
        return bound | bits[step.argval]
    return bound & ~bits.get(step.argval, 0) if step.opname in DELETES else bound


# ---- what else a cell does


def _imports(tree):
    """name -> the states of each import that binds it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name.partition(".")[0], []).append(_states_of(alias.name))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.level or alias.name == "*":
                    raise _Doubt(f"imports {alias.name} from {'.' * node.level}{node.module or ''}")
                found.setdefault(alias.asname or alias.name, []).append(_states_of(f"{node.module}.{alias.name}"))
    return found


def _states_of(module):
    try:
        return known.states_of(module)
    except KeyError:
        raise _Doubt(f"imports {module}") from None


def _flat(imports):
    return {state for each in imports.values() for states in each for state in states}


def _plain_functions(tree, top):
    """Pairs of the name of a function that is no more than its code, and the names and states that its code brings.

    No decorator, constants as defaults, and no name of the notebook's that it binds.
    """
    codes = {(code.co_name, code.co_firstlineno): list(_all(code)) for code in _inner(top)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            body = codes.get((node.name, node.lineno))  # None behind an endless loop: the compiler leaves it out
            if body is None or any(name for code in body for name in _changed(code, top)):
                continue
            if all(isinstance(each, ast.Constant) for each in defaults):
                yield node.name, frozenset(_loaded(body) | _states(body) | _flat(_imports(node)))


def _states(codes):
    """The states that attributes tell of; raises _Doubt where code may see names in another way than by naming them."""
    found = set()
    for code in codes:
        if any(isinstance(each, str) and DUNDER.search(each.replace("__main__", "")) for each in code.co_consts):
            raise _Doubt("has a text with a name such as __this__")
        for before, step in _pairs(code):
            if _is_module_random(before) and step.argval not in known.OF_GENERATORS:
                found.add(known.DRAWN_BY_NUMPY)
            if step.opcode not in dis.hasname:
                continue
            if step.opname.startswith(
                ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER", "STORE_ATTR", "DELETE_ATTR", "IMPORT_")
            ):
                _refuse_attribute(step, before)
                found.add(known.ATTRIBUTES.get(step.argval))
            elif step.argval in known.NAMES_THAT_SEE_ALL:
                raise _Doubt(f"uses `{step.argval}`")
            else:
                found.add(known.NAMES.get(step.argval))
    return found - {None}


def _is_module_random(step):
    """Whether a step takes an attribute `random` to do something with it but calling it."""
    calls = step.opname == "LOAD_METHOD" or (
        sys.version_info >= (3, 12) and step.opname == "LOAD_ATTR" and step.arg & 1
    )
    return step.argval == "random" and step.opname in ("LOAD_ATTR", "IMPORT_FROM") and not calls


def _refuse_attribute(step, before):
    name = step.argval
    private = name.startswith("_") and name not in known.DUNDERS
    if private and not name.startswith("__") and before.opname.startswith(OWN):
        return  # of an object of the code's own
    if private or name in known.ATTRIBUTES_THAT_SEE_ALL:
        raise _Doubt(f"uses `.{name}`")
