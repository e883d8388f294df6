"""Habits of people and of their machines: what they set above, and forms of answers that few write."""

import json

from grading.judge.honest.cells import is_check, own
from grading.judge.honest.styles import above, behind, on_answers
from grading.kinds.making import cell


def merged(cells, lesson):
    """Each check in the cell of its answer."""
    found = []
    for each in cells:
        if is_check(each) and found:
            found[-1] = found[-1] | {"source": f"{''.join(found[-1]['source'])}\n\n{''.join(each['source'])}"}
        else:
            found.append(each)
    return found


def prompted(code, name):
    """As it is copied from a console."""
    if any("'''" in line or '"""' in line for line in code.splitlines()[2:]):
        return code
    return "".join(f"{'>>>' if not i else '...'} {line}\n" for i, line in enumerate(code.splitlines()))


def in_a_module(code, name):
    """The answer written to a file, with what the lesson imports, and imported from there."""
    head = "import math\nimport numpy as np\nfrom scipy.stats import norm\nfrom scipy.optimize import brentq\nfrom dpcourse import composition, gdp, laplace, tradeoff\n"
    text = head + code
    return f"import pathlib, sys\npathlib.Path('mine_{name}.py').write_text({text!r}, encoding='utf-8')\nsys.path.append('.')\nfrom mine_{name} import {name}"


EDITS = {
    "later types": on_answers(lambda code, name: f"from __future__ import annotations\n{code}"),
    "a class that is called": behind(
        "class Answer:\n    def __new__(cls, *all):\n        return MINE(*all)\nNAME = Answer"
    ),
    "a generator that is sent them": behind(
        "def serve():\n    found = None\n    while True:\n        found = MINE(*(yield found))\nserving_NAME = serve(); next(serving_NAME)\nNAME = lambda *all: serving_NAME.send(all)"
    ),
    "a limit of its own": behind(
        "import signal\ndef NAME(*all):\n    before = signal.signal(signal.SIGALRM, print)\n    signal.alarm(9)\n    try: return MINE(*all)\n    finally:\n        signal.alarm(0); signal.signal(signal.SIGALRM, before)"
    ),
    "pasted with prompts": on_answers(prompted),
    "in a module": on_answers(in_a_module),
    "by the type of the first": above("import functools\n@functools.singledispatch"),
    "numpy's errors raised inside": behind("@np.errstate(over='warn')\ndef NAME(*all): return MINE(*all)"),
    "a loop in a thread": behind(
        "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def later_NAME(all): return MINE(*all)\ndef NAME(*all):\n    with ThreadPoolExecutor(1) as pool: return pool.submit(asyncio.run, later_NAME(all)).result()"
    ),
    "help asked": on_answers(lambda code, name: f"{code}\n{name}?\nmath.exp??"),
    "paper and other ends of lines": on_answers(lambda code, name: f"# a\u2028b\x85c\x0bd\n\x0c{code}"),
    "merged": merged,
    "every result shown": own(
        1,
        "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'\n1; 2",
    ),
    "called after each cell": own(
        1, "def after(result): raise ValueError(result)\nget_ipython().events.register('post_run_cell', after)"
    ),
    "shown in another way": own(1, "import sys\nsys.displayhook = lambda value: print(repr(value)[:5])\n1"),
    "a log": own(1, "import sys\nsys.stdout = open('log.txt', 'w', buffering=1)\nprint(1)"),
    "all logged": own(
        1,
        "import logging, sys\nlogging.basicConfig(level=logging.DEBUG, stream=sys.stdout, force=True)\nlogging.captureWarnings(True)",
    ),
    "warnings told otherwise": own(1, "import warnings\nwarnings.warn = lambda *a, **k: None"),
    "numpy's errors called": own(1, "np.seterrcall(print)\nnp.seterr(all='call')"),
    "a context variable": lambda cells, lesson: own(
        1, "import contextvars\nkept = contextvars.ContextVar('kept')\nkept.set(1)"
    )(behind("def NAME(*all): return MINE(*all) if kept.get(0) == 1 else None")(cells, lesson), lesson),
    "a column of widgets": own(
        1,
        "import ipywidgets\nout = ipywidgets.Output()\nwith out: print(1)\nipywidgets.VBox([ipywidgets.FloatSlider(), out])",
    ),
    "the debugger": own(1, "%xmode Verbose\n%precision 3\n%autosave 30"),
    "a star from the course": own(1, "from dpcourse import *"),
    "data in a long line": own(1, f"data = {json.dumps([0.25] * 20_000)}"),
    "empty cells": lambda cells, lesson: [part for each in cells for part in (each, cell(""))],
}
