"""Which cells of a submission have to be run: the student's own, the checks, and whatever these depend on.

Most seconds of a lesson are spent in cells that are as they were given out, and that no answer needs. Such a cell need
not be run where what is run is *the same* without it: every name that running code reads has the same value when it is
read. That holds for the set R of cells that `to_run` returns, by this argument.

Objects pass from cell to cell by names only, but for what the whole process shares. Call a name *safe* where every cell
that binds it does so by importing what MODULES knows, or by a plain `def` whose body reads safe names only and binds
none of the notebook's; a name that no cell binds (`len`) is safe as well. What a safe name stands for has no state that
a call could change; where a cell sets an attribute of anything but `self`, functions have some, and no function is safe.
`to_run` lets R grow until, for every cell S outside R,

 1. S binds no name that a cell of R may read as others left it;
 2. S reads no unsafe name, as others left it, that a cell of R binds.

Then no object that is not behind a safe name is within reach of both sides. For take the first moment at which a cell
outside R gets hold of an object of R's, or the other way round: it got it by a name, and 2 or 1 excludes that name. So
nothing that S does to its objects is seen in R, and nothing that it binds is read there. States of the process, such
as numpy's generator, files or all that torch holds, count as unsafe names that each user both binds and reads; every
cell of R reads the state PROCESS, so that a cell which sets it always runs, as does one that sets an attribute, which
may be a module's. The order of cells, and errors in them, do not matter.

What a cell reads and binds is known from its compiled code, unless it looks at the notebook in another way than by
names that it writes down: `globals()`, a frame, a magic, `import *`, a module of which nothing is known. Then, as in any
other doubt, all cells run. Assumed is that a lesson's own cells change nothing inside a module but by what ATTRIBUTES
names, and that nobody hides from this reading on purpose: who does gains nothing, for marks come from answers.

A cell that is not run costs no mark: neither by an error, nor by the time or the memory that it would have used.
"""

import builtins
from collections.abc import Iterable, Sequence

from dpcourse.checking.calling.limits import TimeUp, time_limit
from dpcourse.grading.collect import Cell
from dpcourse.grading.judge import known
from dpcourse.grading.judge.flow import Flow, flow
from dpcourse.grading.judge.given import Release, normal

CHECK = "check"
OF_IPYTHON = {"_", "__", "___"}  # the last results; whoever binds one himself may still find IPython's
ALWAYS_THERE = {"__name__", "display"}
MOST_CODE = 200_000  # characters of one notebook that are looked through
MOST_SECONDS = 5.0  # for that; a lesson takes a tenth of one


def to_run(cells: Sequence[Cell], release: Release) -> tuple[set[int], list[str]]:
    """(numbers of the cells that have to run, why all have to: nothing where they do not).

    cells: a submission's, in the order in which they run. release: what was given out.
    """
    every = {cell.number for cell in cells}
    if sum(len(cell.code) for cell in cells) > MOST_CODE:
        return every, ["there is too much code to look through"]
    try:
        with time_limit(MOST_SECONDS):
            flows = [flow(cell.code) for cell in cells]
            doubts = _doubts(cells, flows)
            return (every, doubts) if doubts else (_needed(cells, flows, release), [])
    except (Exception, TimeUp) as error:  # somebody's code that is stranger than all that was thought of
        return every, [f"the cells cannot be looked through: {type(error).__name__}"]


def _needed(cells, flows, release):
    """The numbers of the cells that have to be run, where nothing is in doubt."""
    given = {normal(cell.code) for cell in release.provided}
    own = {i for i, cell in enumerate(cells) if normal(cell.code) not in given or CHECK in flows[i].uses}
    checks = [flow(cell.code) for cell in release.provided if CHECK in flow(cell.code).uses]
    answers = frozenset().union(*(each.takes for each in checks))
    return {cells[i].number for i in _grown(own, flows, answers)}


def _doubts(cells, flows):
    """What in the cells is in doubt, in words."""
    named = {name for each in flows for name in each.binds}.union(dir(builtins), ALWAYS_THERE)
    said = []
    for cell, each in zip(cells, flows, strict=True):
        strange = [name for name in sorted(each.takes) if name in OF_IPYTHON or (name[0] == "_" and name not in named)]
        if each.word in each.takes - named:
            strange.append(each.word)
        if each.doubt or strange:
            said.append(f"cell {cell.number} {each.doubt or f'uses `{strange[0]}`, which is the shell to give'}")
    return said


def _grown(running, flows, answers):
    """The cells in R, which begins with `running`; answers: names that are read when all cells have run."""
    carried = _safe(flows)
    states = [each.states.union(*(carried.get(name, ()) for name in each.uses)) for each in flows]
    takes = [each.takes | states[i] for i, each in enumerate(flows)]
    binds = [each.binds | states[i] for i, each in enumerate(flows)]
    unsafe = frozenset().union(*binds) - carried.keys()
    running = set(running)
    while True:
        read = {known.PROCESS, *answers}.union(*(takes[i] for i in running))
        touched = frozenset().union(*(binds[i] for i in running)) & unsafe
        more = {i for i in range(len(flows)) if binds[i] & read or takes[i] & touched} - running
        if not more:
            return running
        running |= more


def _safe(flows: Iterable[Flow]) -> dict[str, frozenset[str]]:
    """safe name, of those that a cell binds -> the states that come with it."""
    bound = {name for each in flows for name in each.binds}
    brings = {}
    marked = any(each.marks for each in flows)
    for name in bound:
        binding = [
            (each.imports if marked else each.imports | each.functions).get(name)
            for each in flows
            if name in each.binds
        ]
        told = [each for each in binding if each is not None]
        if len(told) == len(binding):
            brings[name] = frozenset[str]().union(*told)
    while unsafe := {name for name, brought in brings.items() if brought & bound - brings.keys()}:
        for name in unsafe:
            del brings[name]
    while True:
        wider = {name: brought.union(*(brings.get(used, ()) for used in brought)) for name, brought in brings.items()}
        if wider == brings:
            return {name: frozenset(filter(known.is_state, brought)) for name, brought in brings.items()}
        brings = wider
