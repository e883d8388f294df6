"""Which cells need to run: with the others left out, all that running code reads is the same."""

import builtins
import collections
import contextlib
import dis
import inspect
import itertools
import json
import random
import re
import sys
import time
import tomllib
import types
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from grading.given_out import releases
from hypothesis import given
from hypothesis import strategies as st
from ipywidgets import Widget
from sandboxed import NEEDS_SANDBOX
from support import ROOT, by_turns, examples

from dpcourse import course
from dpcourse.base.names import Names
from dpcourse.grading import collect
from dpcourse.grading.judge import needed, submission
from dpcourse.grading.judge.given import Release
from dpcourse.grading.run import warm

GIVEN_OUT = releases()


def numbered(codes):
    return [collect.Cell(number, "", code) for number, code in enumerate(codes, 1)]


def run_with(own, lesson=0):
    """(cells that run, reasons) where a student adds these cells, and below them the answers, to a solved lesson."""
    solved = collect.code_cells(next((ROOT / "solutions").glob(f"{lesson:02}-*.ipynb")).read_bytes())
    cells = numbered([cell.code for cell in solved[:2]] + own + [cell.code for cell in solved[2:]])
    running, reasons = needed.to_run(cells, GIVEN_OUT[lesson])
    return [cell for cell in cells if cell.number in running], reasons


# ---- the laws, on small notebooks of all kinds


NAMES = "abcdefgh"
STATEMENTS = """
{x} = [1] | {x} = {y} | {x}.append(2) | {x} += [3] | {x}[0].append(4) | {x} = [{y}, [5]] | {x}, {y} = {y}, {x}
def {x}(v={y}): return v | def {x}(): return {y} | def {x}(v=7): return v | def {x}(v): v.append(1); return v
def {x}():¶    global {y}¶    {y} = [9] | {x} = {y}() | {x}({y}) | {x} = lambda: {y} | {x} = lambda v={y}: v
def {x}(v=0):¶    def inner(): return {y}¶    return inner | def {x}(v=[]): v.append({y}); return v
def {x}():¶    w = [0]¶    def inner():¶        nonlocal w¶        w = w + [1]¶        return w¶    return inner
@(lambda h: [h, {y}])¶def {x}(): pass | @(lambda h: h)¶def {x}(): return {y} | del {x} | {x} = next({y}) | {x} = iter({y})
for {x} in [[1], [2]]: {y} = {x} | with memoryview(b"") as {x}: pass | with open("/dev/null") as {x}: {y} = [{x}]
try: 1 / 0¶except ZeroDivisionError as {x}: pass | try:¶    {x} = {y}¶    {x}.append(5)¶except Exception: {x} = [7]
try: raise ExceptionGroup("", [ValueError()])¶except* ValueError as {x}: {y} = [6]
class {x}:¶    v = {y} | {x} = {y}() | {x}.v = {y} | {x}.v.append(1) | class {x}:¶    def __call__(self): return {y}
{x} = [{y} for _ in range(2)] | [{x} := w for w in ([1], [2])] | {x} = ({y} for w in range(2)) | {x} = [lambda: {y}]
{x} = {{w: {y} for w in range(2)}} | {x} = [[{y} for v in range(2)] for w in range(2)] | ({x} := {y}) | {x}: {y} = [1]
match [[1], 2]:¶    case [{x}, *{y}]: pass | if {x}: {y} = [4] | while {x}: {x} = {x}[1:]; {y} = {x} | assert {x} | f"{{{x}}}"
def {x}(v: {y} = 1) -> {y}: return v | if not {x}: raise ValueError | {x} = {y} if {y} else {x} | async def {x}(): return {y}
import random¶{x} = random.random() | import random¶random.seed(3) | import numpy as np¶{x} = np.random.random()
import numpy as np¶np.random.seed(3) | import numpy as np¶{x} = np.random.default_rng(3) | {x} = {y}.random()
import math as m¶{x} = m.floor(2.5) | from math import floor as {x} | from math import ceil as {x} | m = {x} | {x} = m.ceil(1.5)
"""
STATEMENTS = [each.strip().replace("¶", "\n") for line in STATEMENTS.strip().splitlines() for each in line.split(" | ")]
statements = st.builds(
    lambda code, x, y: code.format(x=x, y=y),
    st.sampled_from(STATEMENTS),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
)
looks = st.sampled_from(NAMES).map("look({0})".format)
provided = st.tuples(st.just(False), st.lists(statements, min_size=1, max_size=2).map("\n".join))
own = st.tuples(st.just(True), st.lists(looks | looks | statements, min_size=1, max_size=2).map("\n".join))
notebooks = st.lists(provided | provided | provided | own, min_size=2, max_size=7)
FIRST = (
    "a = [1]\nb = [[2]]\nd = a\ndef c(v=3): return v\ndef f(v): return [v]\ndef g(): return f\ne = lambda: b\nh = [3]"
)


def shown(value, depth=3):
    """A value as text, that of what a function returns, and all that is in an object."""
    if depth == 0:
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[shown(each, depth - 1) for each in list(value)]}"  # one of them, called, may append to it
    if isinstance(value, dict):
        return str({key: shown(each, depth - 1) for key, each in list(value.items())})
    if isinstance(value, types.FunctionType):
        with contextlib.suppress(Exception):
            return f"function {shown(value(), depth - 1)} {shown(vars(value), depth - 1)}"
        return f"function {shown(vars(value), depth - 1)}"
    if isinstance(value, (int, float, str, types.BuiltinFunctionType)):
        return repr(value)
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        return f"{type(value).__name__} {np.asarray(value).shape} {hash(np.asarray(value).tobytes())}"
    inside = vars(value) if hasattr(value, "__dict__") and not isinstance(value, types.ModuleType) else {}
    return f"{type(value).__name__} {[shown(each, depth - 1) for name, each in inside.items() if name[:2] != '__']}"


NUMBER = re.compile(r"^\d+: (?=\w+Error$)")  # of the cell, in what `seen` says of an error


def seen(cells, running):
    """What the cells with these numbers see with `look`, in order, and how each of them ends."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - as the worker does
    found = []
    names = {
        "__name__": "__main__",
        "__builtins__": vars(builtins) | {"look": lambda value: found.append(shown(value))},
    }
    for cell in cells:
        if cell.number in running:
            try:
                bits, ticks = np.random.default_rng(cell.number).bytes, itertools.count(0.0)
                with mock.patch("os.urandom", bits), mock.patch("time.perf_counter", ticks.__next__):
                    exec(cell.code, names)  # else it sees other bits in each run, and another time
            except Exception as error:
                found.append(f"{cell.number}: {type(error).__name__}")
    Widget.close_all()  # the bits are the same each time, and so are their ids: left to the collector, each fails to close
    return found


left_out_in_all = collections.Counter()


@pytest.mark.weekly("600 lessons of chance, run whole and in part; that marks are the same is tried on a commit")
@pytest.mark.filterwarnings("ignore:coroutine")  # pytest would keep each, with all the names of its notebook
@examples(6_000, part=10, deadline=None)
@given(notebooks)
def test_running_code_sees_the_same(notebook):
    notebook = [*((False, line) for line in FIRST.splitlines()), *notebook]
    cells = numbered([code for _, code in notebook])
    own = {cell.number for cell, (is_own, _) in zip(cells, notebook, strict=True) if is_own}
    running, reasons = needed.to_run(cells, Release(tuple(cell for cell in cells if cell.number not in own)))
    every = {cell.number for cell in cells}
    assert own - _same_as_provided(cells, own) <= running <= every
    assert not reasons or running == every
    left_out_in_all.update({"left out": len(every - running), "run": len(running)})
    all_seen = seen(cells, every)
    if running == every:
        return
    of_running = [each for each in all_seen if not each.startswith(tuple(f"{n}: " for n in every - running))]
    assert seen(cells, running) == of_running


def _same_as_provided(cells, own):
    given_out = {needed.normal(cell.code) for cell in cells if cell.number not in own}
    return {cell.number for cell in cells if needed.normal(cell.code) in given_out}


def test_the_law_above_left_out_many_cells():
    if left_out_in_all:
        assert left_out_in_all["left out"] > 0.1 * left_out_in_all["run"]


NUMPY, PANDAS, TORCH = "import numpy as np\n", "import pandas as pd\n", "import torch\n"
LAST_RUNS = [  # provided cells, the student's, and which of the provided have to run
    (["a = [1]", "b = a", "b.append(2)", "c = [3]"], "print(a)", {1, 2, 3}),
    (["a = [1]", "b = [a]", "c = b[0]", "c.append(2)", "d = 4"], "print(a)", {1, 2, 3, 4}),
    (["a = [1]", "b = [2]", "a.append(b)", "b.append(3)"], "print(a)", {1, 2, 3, 4}),
    (["a = [1]", "a = 2\nprint(a)", "b = 3"], "def f(): return a", {1, 2}),
    (["a = [1]", "b = 2"], "if not 1:\n    a = 2\nprint(a)", {1}),
    (["a = [1]", "b = 2"], "for a in []: pass\nprint(a)", {1}),
    (["a = [1]", "b = 2"], "while 0:\n    a = 2\nprint(a)", {1}),
    (["a = [1]", "b = 2"], "try:\n    1 / 0\n    a = 2\nexcept ZeroDivisionError: pass\nprint(a)", {1}),
    (["a = [1]", "b = 2"], "try: 1 / 0\nexcept ZeroDivisionError as a: pass\nprint(a)", {1}),
    (["a = [1]", "b = 2"], "a = 3\nprint(a)\ndel a", set()),
    (["a = [1]", "b = 2"], "del a", {1}),
    (["a = [1]", "b = 2"], "a = 3\nprint([a for _ in [a]])", set()),
    (["a = [1]", "b = 2"], "a = 3\nf = lambda: a", {1}),
    (["def f(): return 1", "g = f", "g.x = 1"], "print(f.x)", {1, 2, 3}),
    (["b = [1]", "def f(): b.append(1)", "f()"], "print(b)", {1, 2, 3}),
    (["b = [1]", "def f(): b.append(1)", "def g(): f()", "g()"], "print(b)", {1, 2, 3, 4}),
    (["def f(v=[]): v.append(1); return v", "f()"], "print(f())", {1, 2}),
    (["def f(v=0): return v", "f()"], "print(f())", {1}),
    (["@list\ndef f(): pass", "f.append(1)"], "print(f)", {1, 2}),
    (["def f():\n    global a\n    a = 2", "f()"], "print(a)", {1, 2}),
    (["print(len([1]))", "b = len([2])"], "len = 3", {1, 2}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], NUMPY + "print(np.random.random())", {1}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], NUMPY + "r = np.random\nprint(r.random())", {1}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], "from numpy.random import normal\nprint(normal())", {1}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], "from scipy.stats import norm\nprint(norm.rvs())", {1}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], NUMPY + "print(np.random.default_rng(3).random())", {1}),
    ([NUMPY + "np.random.seed(3)", "b = 2"], "def f():\n    from numpy.random import normal\n    return normal()", {1}),
    (["import random\nrandom.seed(3)", "b = 2"], "import random\nprint(random.random())", {1}),
    ([TORCH + "torch.manual_seed(3)", "b = 2"], TORCH + "print(torch.rand(2))", {1}),
    ([TORCH + "torch.manual_seed(3)", "b = 2"], "from dpcourse import dpsgd\nprint(dpsgd.digits())", {1}),
    ([TORCH + "torch.manual_seed(3)", "b = 2"], "print(3)", {1}),
    ([NUMPY + "np.seterr(all='raise')", "b = 2"], "print(3)", {1}),
    ([NUMPY + "np.sin(1)", "b = 2"], NUMPY + "np.sin = 3", {1}),
    (["def f(): return 1", "b = f"], "def g():\n    global f\n    f = 2\ng()\nprint(f)", {1, 2}),
    (["from numpy import seterr", "seterr(all='raise')", "b = 2"], "print(3)", {1, 2}),
    (["import warnings", "warnings.simplefilter('error')", "b = 2"], "print(3)", {1, 2}),
    (["from pandas import DataFrame", "DataFrame.a = 2", "b = 2"], "import pandas as pd\nprint(pd.DataFrame().a)", {1, 2}),
    (["import math", "b = math", "b.pi = 3", "c = 2"], "from math import pi\nprint(pi)", {1, 2, 3}),
    (["import numbers", "numbers.Real.register(str)", "b = 2"], "print(3)", {1, 2}),
    ([PANDAS + "a = pd.Series([1, 2])", "a.sample(1)", "b = 2"], NUMPY + "print(np.random.random())", {1, 2}),
    (["from scipy import stats", "stats.bootstrap(([1, 2],), max)", "b = 2"], NUMPY + "print(np.random.random())", {1, 2}),
    (["from scipy.special import ndtr", "ndtr(1)", "c = ndtr(1)"], NUMPY + "print(np.random.random())", {1, 2}),
    ([TORCH + "torch.manual_seed(3)", "b = 2"], "def f(x): return x.clone().normal_()", {1}),
    ([TORCH + "torch.set_default_dtype(torch.float64)", "b = 2"], "print(3)", {1}),
    (["import matplotlib.pyplot as plt", "plt.plot([9])", "b = 2"], PANDAS + "print(pd.Series([1]).plot().get_ylim())", {1, 2}),
    ([NUMPY + "np.save('a', [1])", "b = 2"], NUMPY + "print(np.load('a.npy'))", {1}),
    (["from numpy import save", "save('a', [1])", "b = 2"], "print(open('a.npy', 'rb').read())", {1, 2}),
    (["!echo 3 > a", "b = 2"], "print(open('a').read())", {1}),
    (["b = f()", "print(a)"], "def f():\n    global a\n    a = 2\nprint(a)", {1, 2}),
]  # fmt: skip


@pytest.mark.parametrize(("provided", "own", "of_the_provided"), LAST_RUNS)
def test_a_cell_runs_where_the_students_may_see_it(provided, own, of_the_provided):
    cells = numbered([*provided, own])
    running, reasons = needed.to_run(cells, Release(tuple(cells[:-1])))
    assert reasons == []
    assert running == of_the_provided | {len(cells)}


# ---- the course's own lessons


@pytest.mark.parametrize("lesson", course.lessons(), ids=lambda lesson: lesson.name)
@pytest.mark.parametrize("which", ["lessons", "solutions"])
def test_of_a_lesson_only_imports_answers_what_these_call_and_checks_run(lesson, which):
    cells = collect.code_cells((ROOT / which / f"{lesson.name}.ipynb").read_bytes())
    running, reasons = needed.to_run(cells, GIVEN_OUT[lesson.number])
    assert reasons == []
    answers = {f"def {exercise.function}(" for exercise in lesson.exercises}
    called = set().union(*(names_of(cell.code) for cell in cells if any(each in cell.code for each in answers)))
    helpers = {f"def {name}(" for name in called}
    for cell in cells:
        must = any(each in cell.code for each in (*answers, *helpers, "check(", "import check", "check, "))
        assert (cell.number in running) == must, cell.code


def names_of(code):
    """The global names that the functions of a cell read; a parameter is none, nor an attribute."""
    return set().union(*(_names(part) for part in compile(code, "cell", "exec").co_consts if inspect.iscode(part)))


def _names(code):
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*(_names(part) for part in code.co_consts if inspect.iscode(part)))


def test_what_a_student_reads_is_run_and_what_made_it():
    running, reasons = run_with(["print(survey)"])
    assert reasons == []
    assert any(cell.code.startswith("from dpcourse import surveys") for cell in running)
    assert not any("rng = np.random.default_rng(0)" in cell.code for cell in running)


def test_a_student_who_calls_a_lessons_function_late_gets_it_run():
    running, _ = run_with(["def mine(n):\n    return standard_error(1, n)"])
    assert any(cell.code.startswith("def standard_error") for cell in running)


def test_a_cell_with_a_changed_line_is_the_students():
    provided = numbered(["x = [1]", "x.append(2)", "y = 3"])
    assert needed.to_run(provided, Release(tuple(provided))) == (set(), [])
    changed = [*provided[:2], collect.Cell(3, "", "y = x")]
    assert needed.to_run(changed, Release(tuple(provided))) == ({1, 2, 3}, [])
    assert needed.to_run(numbered(["x  =  [1] # a comment"]), Release(tuple(provided))) == (set(), [])


# ---- marks, and values, with and without


SILENT = (
    *("dpcourse.check", "dpcourse.progress", "dpcourse.quiz"),
    *("dpcourse.plots.show", "dpcourse.tables.show", "dpcourse.widgets.explore"),
)


def handed_in(lesson, seed):
    """A notebook of a student's: answers solved, blank and wrong, cells that moved, and cells of the student's own."""
    rng = random.Random(seed)
    blank, solved = (
        [cell.code for cell in collect.code_cells((ROOT / which / f"{lesson.name}.ipynb").read_bytes())]
        for which in ("lessons", "solutions")
    )
    others = tomllib.loads((ROOT / "tests" / "answers" / f"{lesson.name}.toml").read_text(encoding="utf-8"))["answer"]
    codes = [rng.choice(pair) for pair in zip(blank, solved, strict=True)]
    for i, code in enumerate(codes):
        answers = [each["code"] for each in others if f"def {each['exercise']}(" in code]
        if answers and rng.random() < 0.4:
            codes[i] = rng.choice(answers)
    names = sorted({name for cell in GIVEN_OUT[lesson.number].provided for name in Names.of(cell.code).binds})
    for _ in range(3):
        code = rng.choice(["print({0})", "{0} = 3", "def mine(): return {0}\nmine()", "{0}.append(1)", "del {0}"])
        codes.insert(rng.randrange(len(codes)), code.format(rng.choice(names)))
    i, j = rng.sample(range(len(codes)), 2)
    codes[i], codes[j] = codes[j], codes[i]
    cells = [{"cell_type": "code", "source": code, "metadata": {}, "outputs": []} for code in codes]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture(scope="module")
def _one_warm_process():
    yield
    warm.close()


def told(mark):
    """A mark without what was printed: numpy prints a warning once in a process, here or in a cell of the lesson's own."""
    return replace(mark, printed="")


@pytest.mark.usefixtures("_one_warm_process")
@NEEDS_SANDBOX
@pytest.mark.parametrize(
    "lesson",
    by_turns("lessons graded with and without the cells that need not run", course.lessons()[:1], course.lessons()),
    ids=lambda each: each.name,
)
@pytest.mark.parametrize("seed", range(1))
def test_marks_are_the_same(lesson, seed, monkeypatch):
    job = submission.Job(lesson.number, handed_in(lesson, seed), b"seed", GIVEN_OUT[lesson.number])
    quick = submission.grade(job).result
    monkeypatch.setattr(needed, "to_run", lambda cells, release: ({cell.number for cell in cells}, []))
    slow = submission.grade(job).result
    assert (quick.status, quick.notes) == (slow.status, slow.notes)
    assert [told(mark) for mark in quick.exercises] == [told(mark) for mark in slow.exercises]
    assert set(quick.errors) <= set(slow.errors)


@pytest.mark.weekly("every cell of a lesson runs")
@pytest.mark.parametrize("lesson", course.lessons(), ids=lambda each: each.name)
def test_whatever_of_a_lesson_is_read_is_the_same(lesson, monkeypatch):
    for name in SILENT:
        monkeypatch.setattr(name, lambda *arguments, **options: None)
    given_out = GIVEN_OUT[lesson.number]
    blank = [cell.code for cell in collect.code_cells((ROOT / "lessons" / f"{lesson.name}.ipynb").read_bytes())]
    names = sorted({name for cell in given_out.provided for name in Names.of(cell.code).binds})
    every = numbered([*blank, *(f"shown = look({name})" for name in names)])
    of_all = seen(every, {cell.number for cell in every})[-len(names) :]
    for name in random.Random(0).sample(names, 6):
        cells = numbered([*blank, f"shown = look({name})"])
        running, reasons = needed.to_run(cells, given_out)
        assert reasons == []
        here, there = (NUMBER.sub("", text) for text in (seen(cells, running)[-1], of_all[names.index(name)]))
        assert here == there, name


# ---- who looks at the notebook in another way than by names that are written down


LOOKING = """
globals() | locals() | vars() | dir() | eval("1") | exec("x = 1") | compile("1", "", "eval") | getattr(np, "sin")
setattr(f, "x", 1) | delattr(f, "x") | breakpoint() | __import__("sys") | __builtins__ | In[-1] | Out | _ | __ | ___ | _i1 | _1
import sys | import os | import gc | import inspect | import builtins | import __main__ | import ctypes | import types
import importlib | import pickle | import dill | import traceback | import threading | import helpers | import IPython
from math import * | from numpy import * | from sys import modules | from . import x | import numpy.lib.mine as os; import os
from operator import attrgetter | import operator; operator.attrgetter("x") | import warnings; warnings.sys.modules
def f(): pass¶f.__globals__ | f.__closure__ | f.__code__ | (lambda: 0).__globals__["x"] | np.__dict__ | f.__self__
(i for i in "a").gi_frame.f_locals | try: 1 / 0¶except Exception as e: e.__traceback__.tb_frame.f_globals
get_ipython().user_ns | %who | %whos | %reset -f | %run mine.py | %store x | %%writefile a.py¶x = 1
%%bash¶ls | %%timeit¶f() | %timeit f() | !ls $HOME | !echo {x} | x = %who_ls | x = !ls $y | f? | who | whos | reset -f | %autoreload 2
time f(3) | timeit f(3) | run mine.py | %config InteractiveShell.autocall = 2
np._globals | class A:¶    def __del__(self): pass | import pandas as pd; pd.eval("@x") | survey.query("a > @x")
from typing import get_type_hints | __loader__ | __spec__ | from __future__ import annotations
import dataclasses; dataclasses.inspect.currentframe() | import functools; functools.sys
"""
LOOKING = [each.replace("¶", "\n") for line in LOOKING.strip().splitlines() for each in line.split(" | ")]


@pytest.mark.parametrize("code", LOOKING)
def test_everything_runs_where_somebody_looks_around(code):
    cells = numbered(["x = [1]", "print(x)", code])
    running, reasons = needed.to_run(cells, Release(tuple(cells[:2])))
    assert running == {1, 2, 3}
    assert len(reasons) == 1
    assert reasons[0].startswith("cell 3 ")


HARMLESS = """
%matplotlib inline | %config InlineBackend.figure_format = "retina" | %config InlineBackend.figure_format = 'svg' | !pip install numpy | %%time¶y = 2 | %%capture¶print(3)
if __name__ == "__main__":¶    print(1) | import matplotlib.pyplot as plt¶plt.plot([1]) | y: int = 2 | def f(: | return ( | 1 +
import random¶y = random.random() | class A:¶    def __init__(self): self.y = 2¶    def __call__(self): return self.y¶A()()
from functools import lru_cache¶@lru_cache¶def g(n): return n | print("äöü", 中文 := 1) | await_ = 3 | async def g(): return 1
"""
HARMLESS = [each.replace("¶", "\n") for line in HARMLESS.strip().splitlines() for each in line.split(" | ")]


@pytest.mark.parametrize("code", HARMLESS)
def test_what_students_often_write_is_understood(code):
    cells = numbered(["x = [1]", "print(x)", code])
    assert needed.to_run(cells, Release(tuple(cells[:2]))) == ({3}, [])


@pytest.mark.parametrize("code", ["x=" + "(" * 1_900, "x=(\n" + "1+\n" * 4_000 + "1)", "y" + ".a" * 9_000, "x = 1\n" * 9_000, "x=" + "-" * 1_900 + "1", "lambda: " * 400 + "1", "\ud800", "\0", "".join(f"a{i}=1\n" for i in range(2_000))])  # fmt: skip
def test_code_that_is_made_to_break_a_compiler_is_borne(code):
    cells = numbered(["x = [1]", code])
    running, _ = needed.to_run(cells, Release(tuple(cells[:1])))
    assert 2 in running


def test_code_that_is_made_to_cost_time_is_not_looked_through_for_long(monkeypatch):
    monkeypatch.setattr(needed, "MOST_SECONDS", 0.1)
    cells = numbered([f"try: a{i} = 1\nexcept E: b\n" * 800 for i in range(10)])
    begun, filters = time.process_time(), list(warnings.filters)
    running, reasons = needed.to_run(cells, Release(tuple(cells)))
    assert running == {cell.number for cell in cells}
    assert reasons == ["the cells cannot be looked through: TimeUp"]
    assert time.process_time() - begun < 5
    assert (sys.exc_info()[0], warnings.filters) == (None, filters), "and nothing of it is left behind"


def test_a_fault_of_ours_runs_everything(monkeypatch):
    monkeypatch.setattr(needed, "_said", lambda code: 1 / 0)
    assert needed.to_run(numbered(["x = 1"]), Release(tuple(numbered(["x = 1"])))) == (
        {1},
        ["the cells cannot be looked through: ZeroDivisionError"],
    )
