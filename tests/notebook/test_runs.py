"""A function that is older than the cell which was to define it, in IPython; a check says so, and does not judge it."""

import json
import subprocess
import sys

import pytest

from dpcourse import check
from dpcourse.notebook import runs

BEFORE, ANEW = "def f(x):\n    return x", "def f(x):\n    return 2 * x"
UNREADABLE = ANEW.replace(":", "")

OUTLIVED = {
    "a sign is missing": ([UNREADABLE], "SyntaxError 1"),
    "the rest is missing": (["def f(x):\n    return (2 * x"], "SyntaxError 2"),
    "a line is not indented": (["def f(x):\nreturn 1"], "IndentationError 2"),
    "a line is indented otherwise": (["def f(x):\n    y = x\n  return y"], "IndentationError 3"),
    "a line above is not right": ([f"import math\nnot_there + 1\n{ANEW}"], "NameError 2"),
    "an error of something that it calls": ([f"import json\njson.loads('')\n{ANEW}"], "JSONDecodeError 2"),
    "a magic is not there": ([f"%not_there\n{ANEW}"], "UsageError 1"),
    "the cell is timed": ([f"%%time\n1 / 0\n{ANEW}"], "ZeroDivisionError None"),
    "somebody stopped it": ([f"raise KeyboardInterrupt\n{ANEW}"], "KeyboardInterrupt 1"),
    "in its decorator": (["@not_there\n" + ANEW], "NameError 1"),
    "in a default": ([ANEW.replace("x)", "x=not_there)")], "NameError 1"),
    "the second of two functions": ([f"def g(): pass\n1 / 0\n{ANEW}"], "ZeroDivisionError 2"),
    "a lambda": (["1 / 0\nf = lambda x: 2 * x"], "ZeroDivisionError 1"),
    "a coroutine": (["1 / 0\nasync def f(x): pass"], "ZeroDivisionError 1"),
    "cells in between": ([UNREADABLE, "x = 1", "x +", "1 / 0"], "SyntaxError 1"),
    "it failed twice": ([UNREADABLE, f"1 / 0\n{ANEW}"], "ZeroDivisionError 1"),
    "it ran inside another": ([f"get_ipython().run_cell({UNREADABLE!r})"], "SyntaxError 1"),
}
DEFINED_LAST = {
    "nothing failed": [],
    "mended": [UNREADABLE, ANEW],
    "mended to what it was": [UNREADABLE, BEFORE],
    "other cells failed": ["1 / 0", "def g(:", "print(f(1)", "g = f(", "f == ("],
    "it failed behind": [f"{ANEW}\n1 / 0"],
    "the first of two functions": [f"{ANEW}\n1 / 0\ndef g(): pass"],
    "another function is meant": [UNREADABLE, "f = lambda x: 2 * x"],
    "it comes from elsewhere": [UNREADABLE, "from math import exp as f"],
    "deleted, and written anew": ["del f", UNREADABLE, ANEW],
    "another f": ["class C:\n    def f(self): pass", "if False:\n    def f(x): pass"],
    "no function": ["f = 1", "f = (", "f = None", "f = ("],
}

RUN = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from dpcourse.notebook import runs
assert "IPython" in sys.modules
runs.watch()
def found(cells):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for cell in cells:
            shell.run_cell(cell)
    failure = runs.outlived(shell.user_ns["f"])
    return failure and f"{failure.error} {failure.line}"
print(json.dumps({name: found(cells) for name, cells in json.load(sys.stdin).items()}))
"""


def test_a_function_outlives_a_cell_that_was_to_define_it_and_failed_before():
    """All in one process, as a notebook goes on."""
    cases = {name: [BEFORE, *cells] for name, (cells, _) in OUTLIVED.items()}
    cases |= {name: [BEFORE, *cells] for name, cells in DEFINED_LAST.items()}
    run = subprocess.run([sys.executable, "-c", RUN], input=json.dumps(cases), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    wanted = {name: error for name, (_, error) in OUTLIVED.items()} | dict.fromkeys(DEFINED_LAST)
    assert json.loads(run.stdout) == wanted


@pytest.mark.parametrize(("line", "told"), [(3, "SyntaxError, in its line 3."), (None, "SyntaxError.")])
def test_such_a_function_is_not_judged(line, told, monkeypatch, capsys):
    failure = runs.Failure("keep_probability", "SyntaxError", line)
    monkeypatch.setattr(runs, "outlived", lambda answer: failure)
    check("0.1", print)
    said = capsys.readouterr().out
    assert "0.1 How often to keep the truth: not judged" in said
    assert f"The last cell that was to define `keep_probability` ended with an error: {told}" in said
    assert "still the function of before" in said


def test_outside_ipython_nothing_is_known():
    code = "import sys, dpcourse; from dpcourse.notebook import runs; print(runs.outlived(print), 'IPython' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "None False\n"
