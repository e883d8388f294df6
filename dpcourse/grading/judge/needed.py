"""Which cells of a submission have to be run: the student's own, the checks, and whatever these depend on.

Most seconds of a lesson are spent in cells that are as they were given out, and that no answer needs. Names decide:

    A cell stays out if it is the lesson's own, as it was given out, and shares no name with a cell that runs: it binds
    none that such a cell takes, and takes none that such a cell binds.

Then what runs is the same without it. Objects pass from cell to cell by names, and by no name does either side get hold
of an object of the other's; so nothing that the cell binds is read there, and nothing that it changes is seen there.

A name may be shared where nothing behind it can change: it is bound by imports only, or by a plain `def` that itself
uses such names only. The generators of `random`, numpy and torch, which a process has but once, count as names that each
cell which speaks of them both takes and binds. A call of something imported whose value nobody keeps is made for what
it does, perhaps to numpy's settings; a cell with such a call always runs, as one does that sets an attribute or opens a
file. Assumed is that a lesson's own cells change the process in no other way.

Doubt runs all cells: where one of them, whoever wrote it, looks at the notebook in another way than by names, as with
`globals()`, a magic, or `import *`, or imports a module of which nothing is known. Who hides that gains nothing by it,
since marks come from answers. A cell that is not run costs no mark: neither by an error, nor by the time or the memory
that it would have used.
"""

import ast
import builtins
import functools
import itertools
import keyword
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpcourse.base.names import Names
from dpcourse.checking.calling.limits import TimeUp, time_limit
from dpcourse.grading.collect import Cell
from dpcourse.grading.judge.given import LONGEST_PARSED, Release, normal, parsed


def _words(text):
    return frozenset(text.split())


CHECK = "check"
MOST_CODE = 200_000  # characters of one notebook that are looked through
LONGEST_LINE = 2_000  # characters: what is longer may be nested more deeply than a compiler bears
MOST_SECONDS = 5.0  # for all that; a lesson takes a tenth of one

STATES = re.compile(
    r"\b(?:(?P<torch>torch|dpsgd)|(?P<random>random(?!\(|\.(?:default_rng|Generator|SeedSequence)\b)|rvs|sample))\b"
)
"""What speaks of a state of the process -> which; as a name it begins with a blank."""
WRITES = re.compile(r"open|\.to_(?!numpy$|list$|dict$)\w+")  # files
SHOWS = {
    *("print", "display", "plots", "tables", "widgets", "dpsgd", "report", "set_num_threads"),
    *("attack", CHECK, "goals", "hint", "language", "passed", "progress", "quiz", "solution"),
    *("at", "copyto", "fill_diagonal", "heapify", "heappush", "insort", "zeros_"),
}  # what changes nothing of the process, though its value is not kept

MODULES = _words("""
    abc array bisect cmath collections copy dataclasses datetime decimal enum fractions functools heapq itertools json
    math numbers operator pprint random re statistics string textwrap time typing warnings
    dpcourse IPython.display matplotlib numpy pandas scipy sklearn statsmodels.datasets statsmodels.stats torch
""")
"""Modules that look at no notebook; those that a lesson imports do not either."""
LOOKS = _words("""
    globals locals vars dir eval exec compile getattr setattr delattr get_type_hints __import__ __del__ __getattr__
    breakpoint get_ipython In Out exit quit
    .eval .query .attrgetter .sys .os .currentframe .f_globals .f_locals .gi_frame .seterrcall
""")
"""Names, and attributes, by which code sees names that it does not write down."""
TELLS_NOTHING = _words("""
    __name__ __doc__ __class__ __version__ __qualname__ __init__ __call__ __len__ __iter__ __next__ __enter__ __exit__
    __float__ __int__ __getitem__
""")
"""Attributes of that form that tell of no namespace."""
LAST_RESULTS = {"_", "__", "___"}  # whoever binds one himself may still find IPython's
ALWAYS_THERE = {*(name for name in dir(builtins) if name[0] != "_"), "__name__", "display"}

HARMLESS = re.compile(
    r"\A\s*%%(?:time|capture)[ \t]*$|^[ \t]*(?:%(?:matplotlib|pip|config InlineBackend)\b.*|![^\n${]*)$", re.M
)
"""Magics that touch no name: code is read as if they were not there."""
OF_IPYTHON = re.compile(r"[%!?]|^[ \t]*(?:>>>|In \[|[,;/])", re.M)


def to_run(cells: Sequence[Cell], release: Release) -> tuple[set[int], list[str]]:
    """(numbers of the cells that have to run, why all have to: nothing where they do not).

    cells: a submission's, in the order in which they run. release: what was given out.
    """
    every = {cell.number for cell in cells}
    if sum(len(cell.code) for cell in cells) > MOST_CODE:
        return every, ["there is too much code to look through"]
    try:
        with time_limit(MOST_SECONDS, inside={}):  # no code of a student's runs here, which might go on
            said = [_said(cell.code) for cell in cells]
            doubts = list(_doubts(cells, said, {*MODULES, *release.modules}))
            return (every, doubts) if doubts else (_needed(cells, said, release), [])
    except (Exception, TimeUp) as error:  # somebody's code that is stranger than all that was thought of
        kind = (
            TimeUp if isinstance(error, SystemError) else type(error)
        )  # Python's parser raises it where it is stopped
        return every, [f"the cells cannot be looked through: {kind.__name__}"]


def _needed(cells, said, release):
    """The numbers of the cells that have to be run, where nothing is in doubt."""
    given = {normal(cell.code) for cell in release.provided}
    own = {i for i, cell in enumerate(cells) if normal(cell.code) not in given or CHECK in said[i].uses}
    checks = [each for each in map(_said, {cell.code for cell in release.provided}) if CHECK in each.uses]
    at_the_end = frozenset().union(*(each.takes for each in checks))  # answers are called when all cells have run
    imported = frozenset().union(*(each.imports for each in said))
    acting = {i for i, each in enumerate(said) if each.sets or each.acts or each.calls & imported}
    may_hold = any(each.sets for each in said)  # a function may hold what was set
    plain = [each.imports | (each.functions if not may_hold and i not in acting else {}) for i, each in enumerate(said)]
    shared, running = _shared(said, plain), own | acting
    while True:
        taken = at_the_end.union(*(said[i].takes for i in running))
        bound = frozenset().union(*(said[i].binds for i in running)) - shared
        more = {i for i, each in enumerate(said) if each.binds & taken or each.takes & bound} - running
        if not more:
            return {cells[i].number for i in running}
        running |= more


def _shared(said, plain):
    """The names behind which nothing can change. plain: of each cell, name that it binds by imports or a plain `def` -> the names behind it."""
    bound = frozenset().union(*(each.binds for each in said))
    behind = {name: frozenset().union(*(each.get(name, ()) for each in plain)) & bound for name in bound}
    shared = {
        name
        for name in bound
        if all(name in mine for each, mine in zip(said, plain, strict=True) if name in each.binds)
    }
    while not_so := {name for name in shared if behind[name] - shared}:
        shared -= not_so
    return shared


@dataclass(frozen=True)
class _Said:
    """What a cell says. uses, takes, binds, imports, functions: see Names, with the states that it speaks of.

    calls: the names of what it calls and keeps no value of. acts: whether it does what no name tells. sets: whether it
    sets an attribute. modules: what it imports. looks: by what it may see names that it does not write down. first: the
    first word of a single line, which is a magic where it is no name. doubt: why all this may not be all.
    """

    uses: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    imports: dict[str, set[str]] = field(default_factory=dict)
    functions: dict[str, set[str]] = field(default_factory=dict)
    calls: frozenset[str] = frozenset()
    acts: bool = False
    sets: bool = False
    modules: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    first: str = ""
    doubt: str | None = None


@functools.lru_cache(maxsize=500)
def _said(code: str) -> _Said:
    """The _Said of the code of a cell, as IPython runs it; what has a syntax error does nothing."""
    if len(code) > LONGEST_PARSED or any(len(line) > LONGEST_LINE for line in code.splitlines()):
        return _Said(doubt="is too long to be looked through")
    plain = HARMLESS.sub("", code).strip()
    first = "" if "\n" in plain else "".join(re.findall(r"\A\w+", plain))
    tree = parsed(plain)
    if tree is None:
        may_be_magic = OF_IPYTHON.search(plain) or (first.isidentifier() and not keyword.iskeyword(first))
        return _Said(doubt="may be a magic") if may_be_magic else _Said()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _said_by(tree, Names.of(plain), first, has_magics=len(plain) < len(code.strip()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Said(doubt="cannot be looked through")


def _said_by(tree, names, first, has_magics):
    nodes = list(ast.walk(tree))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    changed = {_root(node) for node in attributes if not isinstance(node.ctx, ast.Load)} - {"self"}
    words = {node.id for node in nodes if isinstance(node, ast.Name)} | {f".{node.attr}" for node in attributes}
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    words |= {f"{dot}{name.rpartition('.')[2]}" for name in _modules(nodes) for dot in ("", ".")}
    hidden = {word for word in words if word[:3] == ".__" and word[1:] not in TELLS_NOTHING}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""  # a text speaks of nothing
    states = _states(ast.unparse(tree))
    return _Said(
        uses=names.uses,
        takes=names.takes | states,
        binds=names.binds | states | changed,
        imports={name: _states(path) for name, path in names.imports.items() if name not in changed},
        functions={name: used | states for name, used in names.functions.items()},
        calls=frozenset(map(_root, filter(_is_done, nodes))),
        acts=has_magics or any(map(WRITES.fullmatch, words)),
        sets=bool(changed),
        modules=tuple(_modules(nodes)),
        looks=tuple(sorted(LOOKS & (words | defined) | hidden)),
        first=first,
    )


def _states(text):
    """The states of the process that a text speaks of."""
    return {f" {found.lastgroup}" for found in STATES.finditer(text)}


def _is_done(node):
    """Whether a node is a call whose value nobody keeps, and that is not made to show something."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(attr=name) | ast.Name(id=name))):
            return not {name, _root(node)} & SHOWS
    return False


def _root(node):
    """The name with which an expression such as `a.b[c].d()` begins; "" where it begins with none."""
    while isinstance(node, (ast.Expr, ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _modules(nodes):
    """What is imported, by its whole name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{each.name}" for each in node.names)


def _doubts(cells, said, modules):
    """What in the cells is in doubt, in words."""
    named = ALWAYS_THERE.union(*(each.binds for each in said))
    for cell, each in zip(cells, said, strict=True):
        unknown = [name for name in each.modules if name.endswith("*") or not _is_within(name, modules)]
        shells = sorted(
            LAST_RESULTS & each.takes | {name for name in each.uses - named if name[0] == "_" or name == each.first}
        )
        if each.doubt:
            yield f"cell {cell.number} {each.doubt}"
        elif unknown:
            yield f"cell {cell.number} imports {unknown[0]}"
        elif each.looks or shells:
            yield f"cell {cell.number} uses `{[*each.looks, *shells][0]}`"


def _is_within(name, modules):
    """Whether a module is one of these, or in one of them, or something of theirs."""
    return any(each in modules for each in itertools.accumulate(name.split("."), "{}.{}".format))
