"""Habits, machines and accidents: honest notebooks that pass their own checks in JupyterLab, or fail there too."""

import json

from grading.kinds.making import (
    FULL,
    RIGHT,
    WORKS,
    answer,
    body,
    cell,
    defines,
    definition,
    first,
    notebook,
    solved,
    written,
)

COMMENTS = "# 这里是我的解答 ({number})\n"


def merged(cells):
    """Each check in the cell of its answer."""
    found = []
    for each in cells:
        if each["source"].startswith("check(") and found:
            found[-1] = found[-1] | {"source": f"{found[-1]['source']}\n\n{each['source']}"}
        else:
            found.append(each)
    return found


def of_format_3(cells):
    sheet = [{"cell_type": "code", "input": each["source"], "language": "python", "metadata": {}, "outputs": []} for each in cells]  # fmt: skip
    return json.dumps(
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": sheet}]}
    ).encode()


def behind(code):
    """The answer as `mine`, and then what makes another function of it."""
    return WORKS.replace("worst_posterior", "mine") + code


ANSWERS = [
    definition("only by position", "def worst_posterior(prior, epsilon, /):\n    " + RIGHT, FULL),
    definition("only by name", "def worst_posterior(*, prior, epsilon):\n    " + RIGHT),
    definition("with several forms declared", "import typing\n@typing.overload\ndef worst_posterior(prior: int, epsilon: int) -> float: ...\n@typing.overload\ndef worst_posterior(prior: float, epsilon: float) -> float: ...\n" + WORKS, FULL),
    definition("by the type of its argument", "import functools\n@functools.singledispatch\n" + WORKS, FULL),
    definition("a frozen dataclass", "import dataclasses\n@dataclasses.dataclass(frozen=True, slots=True)\nclass Bet:\n    base: float = math.e\n    def __call__(self, prior, epsilon):\n        odds = prior / (1 - prior) * self.base**epsilon\n        return odds / (1 + odds)\nworst_posterior = Bet()", FULL),
    definition("a class that is a number", "class worst_posterior(float):\n    def __new__(cls, prior, epsilon):\n        odds = prior / (1 - prior) * math.exp(epsilon)\n        return super().__new__(cls, odds / (1 + odds))", FULL),
    definition("a generator that is sent its arguments", "def serve():\n    found = None\n    while True:\n        prior, epsilon = yield found\n        odds = prior / (1 - prior) * math.exp(epsilon)\n        found = odds / (1 + odds)\nserving = serve(); next(serving)\nworst_posterior = lambda prior, epsilon: serving.send((prior, epsilon))", FULL),
    definition("a function of numpy's making", behind("worst_posterior = np.frompyfunc(mine, 2, 1)"), FULL),
    definition("with errors of numpy's raised inside", "@np.errstate(all='raise')\n" + WORKS, FULL),
    definition("a chain of functions", "import functools\nsteps = [lambda x: (x[0] / (1 - x[0]), x[1]), lambda x: x[0] * math.exp(x[1]), lambda odds: odds / (1 + odds)]\ndef worst_posterior(*both): return functools.reduce(lambda value, step: step(value), steps, both)", FULL),
    definition("its own limit of time", "import functools, signal\ndef limited(f):\n    @functools.wraps(f)\n    def inner(*all):\n        before = signal.signal(signal.SIGALRM, lambda *a: (_ for _ in ()).throw(TimeoutError()))\n        signal.alarm(5)\n        try: return f(*all)\n        finally:\n            signal.alarm(0); signal.signal(signal.SIGALRM, before)\n    return inner\n@limited\n" + WORKS, FULL),
    definition("later types", "from __future__ import annotations\ndef worst_posterior(prior: NoSuchType, epsilon: Neither) -> list[Of[Those]]:\n    " + RIGHT, FULL),
    definition("pasted with prompts", "".join(f"{'>>>' if not i else '...'} {line}\n" for i, line in enumerate(WORKS.splitlines())), FULL),
    definition("pasted from a console", "In [7]: def worst_posterior(prior, epsilon):\n   ...:     odds = prior / (1 - prior) * math.exp(epsilon)\n   ...:     return odds / (1 + odds)\n", FULL),
    definition("help asked below", WORKS + "\nworst_posterior?\nmath.exp??\n?composition", FULL),
    definition("pages of paper", WORKS.replace("    odds", "\x0c    odds"), FULL),
    definition("another end of line in a comment", "# from a PDF:\u2028 odds of yes\x85 and no\x0b.\n" + WORKS, FULL),
    definition("quotes of a word processor", "def worst_posterior(prior, epsilon):\n    print(“odds”)\n    " + RIGHT),
    definition("a mark before its first line", "\ufeff" + WORKS),
    definition("two ways of one letter", "def na\u00efve(p): return p / (1 - p)\ndef worst_posterior(prior, epsilon):\n    odds = nai\u0308ve(prior) * math.exp(epsilon)\n    return odds / (1 + odds)", FULL),
    definition("in a module of its own", "import pathlib, sys\npathlib.Path('of_mine.py').write_text('import math\\n' + " + repr(WORKS) + ")\nsys.path.append('.')\nfrom of_mine import *", FULL),
    definition("captured and timed", "%%capture shown\n%%time\n" + WORKS, FULL),
    answer("a long number of numpy's", "odds = np.longdouble(prior) / (1 - prior) * np.exp(np.longdouble(epsilon)); return odds / (1 + odds)", FULL),
    answer("half the digits", "odds = np.float16(prior / (1 - prior)) * np.float16(math.exp(epsilon)); return odds / (1 + odds)"),
    answer("sixty digits on the way", "import decimal\nwith decimal.localcontext(prec=60):\n    odds = decimal.Decimal(prior) / (1 - decimal.Decimal(prior)) * decimal.Decimal(epsilon).exp()\n    return float(odds / (1 + odds))", FULL),
    answer("a loop of its own in a thread", "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def factor():\n    await asyncio.sleep(0)\n    return math.exp(epsilon)\nwith ThreadPoolExecutor(1) as pool: odds = prior / (1 - prior) * pool.submit(asyncio.run, factor()).result()\nreturn odds / (1 + odds)", FULL),
    answer("processes of its own", "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool: odds = prior / (1 - prior) * pool.map(math.exp, [epsilon])[0]\nreturn odds / (1 + odds)", FULL, weekly=True),
    answer("deep, with leave", "import sys\nsys.setrecursionlimit(20_000)\ndef power(n): return 1.0 if n == 0 else math.exp(epsilon / 3000) * power(n - 1)\nodds = prior / (1 - prior) * power(3000); return odds / (1 + odds)", FULL),
    answer("its output sent away", "import contextlib, os\nwith open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere): print(prior)\n" + RIGHT, FULL),
    answer("its warnings collected", "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always'); warnings.warn('x')\n" + RIGHT, FULL),
    answer("a symbol evaluated", "import sympy\np, e = sympy.symbols('p e')\nreturn sympy.Float((p * sympy.exp(e) / (1 - p + p * sympy.exp(e))).subs({p: prior, e: epsilon}).evalf(20))", FULL, weekly=True),
    notebook("a pair with names", solved(basic_composition="import typing\nclass Bill(typing.NamedTuple):\n    epsilon: float\n    delta: float\ndef basic_composition(epsilons, deltas): return Bill(sum(epsilons), min(1.0, sum(deltas)))")),
]  # fmt: skip

NOTEBOOKS = [
    notebook("each check in the cell of its answer", merged(solved()), "flagged"),
    notebook("comments in another language", [each | {"source": COMMENTS.format(number=i) + each["source"]} for i, each in enumerate(solved())]),
    notebook("of format 3", of_format_3(solved())),
    notebook("twenty megabytes of a picture", [each | {"outputs": [{"output_type": "display_data", "data": {"image/png": "iVBOR" * 4_000_000}, "metadata": {}}]} if defines(each, "crossing") else each for each in solved()], weekly=True),
    notebook("a thousand outputs", [each | {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["[{]}\\\"\n"]}] * 1000} for each in solved()]),
    notebook("a long line of data", solved(first="data = [" + "0.25, " * 30_000 + "]")),
    notebook("checks above their answers", [part for i, each in enumerate(solved()) for part in ([solved()[i + 1], each] if i + 1 < len(solved()) and solved()[i + 1]["source"].startswith("check(") else [] if each["source"].startswith("check(") else [each])]),
    notebook("from Kaggle", written([each | {"metadata": {"_uuid": "8f2839f25d086af736a60e9eeb907d3b93b6e0e5", "trusted": True, "execution": {"iopub.execute_input": "2026-10-01T00:00:00Z"}}} for each in solved(first="import os\nfor folder, _, names in os.walk('/kaggle/input'):\n    for name in names: print(os.path.join(folder, name))")], metadata={"kaggle": {"accelerator": "none", "isInternetEnabled": True}}, nbformat_minor=4)),
    notebook("with a newer Python", written(solved(), metadata={"language_info": {"name": "python", "version": "3.14.2"}})),
    notebook("with a Python of the future and a slip", written(body("return ("), metadata={"language_info": {"name": "python", "version": "3.99.0"}}), score=FULL - 2),
]  # fmt: skip

CELLS = [
    first("every result shown", "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'\n1; 2"),
    first("the debugger at each error", "%pdb on\n%xmode Verbose\n1 / 0"),
    first("other digits and no saving", "%precision 3\n%autosave 30\n%config InlineBackend.figure_format = 'retina'\n0.123456"),
    first("another drive", "from google.colab import drive, files\ndrive.mount('/content/drive')\nfiles.upload()"),
    first("what is called after each cell", "def after(result): raise ValueError(result)\nget_ipython().events.register('post_run_cell', after)\nget_ipython().events.register('pre_execute', lambda: 1 / 0)"),
    first("another way to show results", "import sys\nsys.displayhook = lambda value: print(repr(value)[:5])\nsys.excepthook = print\n'shown'"),
    first("a log in place of what is shown", "import sys\nsys.stdout = open('log.txt', 'w', buffering=1)\nprint('begun')"),
    first("all that is logged", "import logging, sys\nlogging.basicConfig(level=logging.DEBUG, stream=sys.stdout, force=True)\nlogging.getLogger('matplotlib').debug('x'); logging.captureWarnings(True)"),
    first("a language that is not there", "import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')"),
    first("silence", "import builtins\nbuiltins.print = lambda *a, **k: None"),
    first("warnings told in another way", "import warnings\nwarnings.showwarning = lambda *a, **k: 1 / 0\nwarnings.warn = lambda *a, **k: None"),
    first("old names of numpy's", "np.float, np.int, np.product = float, int, np.prod\nnp.float(np.product([2, 3]))"),
    first("errors of numpy's called", "np.seterrcall(lambda *a: print(a))\nnp.seterr(all='call')\nnp.zeros(1) / 0"),
    first("a number kept in its context", "import contextvars\nkept = contextvars.ContextVar('kept', default=1)\nkept.set(2)"),
    first("a column of widgets", "import ipywidgets\nout = ipywidgets.Output()\nwith out: print(1)\nipywidgets.VBox([ipywidgets.FloatSlider(description='ε'), out])"),
    first("a bar of its own", "from IPython.display import clear_output, display, HTML, Audio\nhandle = display(HTML('0 %'), display_id=True)\nfor i in range(3):\n    clear_output(wait=True); print('#' * i)\nhandle.update(HTML('100 %'))"),
    first("pictures that wait", "import matplotlib.pyplot as plt\nplt.ion(); plt.style.use('ggplot'); plt.rcParams['figure.dpi'] = 300\nplt.plot([1, 2]); plt.pause(0.01); plt.show(block=True)"),
    first("everything of the lesson's", "from dpcourse import *\nfrom dpcourse.composition import *"),
    first("its own place for packages", "import os, site, sys\nsys.path.insert(0, os.path.expanduser('~/lib')); site.addsitedir('.')\nos.environ['PYTHONPATH'] = '.'"),
    first("a fault told later", "import faulthandler\nfaulthandler.dump_traceback_later(3600)"),
]  # fmt: skip

KINDS = [
    *ANSWERS,
    *NOTEBOOKS,
    *CELLS,
    notebook("an empty cell between all", [part for each in solved() for part in (each, cell(""))]),
]
