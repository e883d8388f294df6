"""Points that are not deserved: forged results, objects that lie, the library's own functions."""

from grading.kinds.making import FULL, LOST, NEED_MATH, RIGHT, WORKS, answer, body, first, notebook, solved, without
from grading.rows import POSTERIOR

FORGE = """
    import os
    for handle in range(3, 20):
        try:
            os.write(handle, {bytes})
        except OSError:
            pass
"""

DRIP = """
    import os, struct, time
    for handle in range(3, 20):
        try:
            os.write(handle, struct.pack(">QQ", 2**20, 0))
            while True:
                time.sleep(0.02)
                os.write(handle, b"[")
        except OSError:
            pass
"""


def library(name, code, score=None, status="graded", **about):
    """An answer to 1.1 that is not to call composition.sequential, and does; here is its body."""
    score = without("sequential_composition") if score is None else score
    return notebook(name, body(code, "sequential_composition", "epsilons"), status, score, **about)


def around(name, before, code, **about):
    """One that gets past the watch by what a cell above does: the points stay, as for a copy of the source, and a note
    asks to look."""
    cells = solved(first=before, sequential_composition=f"def sequential_composition(epsilons): {code}")
    return notebook(name, cells, "flagged", FULL, note="goes around", **about)


def before(name, code, answer, score=FULL, status="flagged", **about):
    """An answer to 1.1 that rests on what a cell above has made: with the points and a note, or without them."""
    cells = solved(first=code, sequential_composition=f"def sequential_composition(epsilons):\n    {answer}")
    return notebook(name, cells, status, score, **about)


COPIED = {"note": "a copy of `dpcourse.composition.sequential` ran"}
ITS_CODE = "import types\nf = composition.sequential\nmine = types.FunctionType(getattr(f, '__co' + 'de__').replace(co_name='mine'), vars(composition))\n"
FROM_TEXT = "start = text.index('def sequential(')\nfound = dict(vars(composition))\nexec(text[start : text.index('\\ndef ', start)], found)\nmine = found['sequential']"

SESSION = "import dpcourse\nsession = dpcourse.check.__self__\n"


def replies(name, what, status="graded", score=0):
    """Whatever is asked, the same reply, with the right nonce."""
    return first(name, SESSION + f"session._answer = lambda reply: session._reply({what})", score, status)


LIBRARY = [
    notebook("calls the library", solved(sequential_composition="sequential_composition = composition.sequential"), score=without("sequential_composition")),
    notebook("calls the library unwatched", body("import sys; sys.setprofile(None); return composition.sequential(epsilons)", "sequential_composition", "epsilons"), score=without("sequential_composition"), status="flagged"),
    notebook("calls the library in a thread", body("from concurrent.futures import ThreadPoolExecutor as T\nreturn T().submit(composition.sequential, epsilons).result()", "sequential_composition", "epsilons"), score=without("sequential_composition")),
    notebook("patches the library", solved(first="sequential = composition.sequential\ncomposition.sequential = None", sequential_composition="def sequential_composition(epsilons): return sequential(epsilons)"), score=without("sequential_composition")),
    library("calls the library by another name", "f = composition.sequential; return f(epsilons)"),
    library("calls the library from a helper", "def helper(x): return composition.sequential(x)\nreturn helper(epsilons)"),
    library("calls the library in a map", "return list(map(composition.sequential, [epsilons]))[0]"),
    library("calls a partial of the library", "import functools; return functools.partial(composition.sequential, epsilons)()"),
    library("calls a copy of the library's function", "import types; f = composition.sequential; return types.FunctionType(f.__code__, f.__globals__)(epsilons)", status="flagged"),
    library("loads the library anew", "import importlib; return importlib.reload(composition).sequential(epsilons)"),
    library("calls another function that calls it", "return composition.basic(epsilons, [0] * len(epsilons))[0]"),
    library("calls it, and catches that", "try: composition.sequential(epsilons)\nexcept BaseException: pass\nreturn sum(epsilons)"),
    library("has it called by an object", "class C:\n    def __index__(self): return int(composition.sequential(epsilons) * 0)\nreturn sum(epsilons) + [0][C()]"),
    library("reads the library's source", "import inspect; found = {}; exec('import math\\nfrom dpcourse.base import validate\\nimport numpy as np\\n' + inspect.getsource(composition.sequential), vars(composition) | found, found); return found['sequential'](epsilons)", status="flagged"),
    library("gives the library's code another name", "import types; f = composition.sequential; return types.FunctionType(f.__code__.replace(co_name='mine'), f.__globals__)(epsilons)", status="flagged"),
    library("ends the watch by ctypes", "import ctypes; ctypes.pythonapi.PyEval_SetProfile(None, None); return composition.sequential(epsilons)", status="flagged"),
    library("ends the watch by a partial", "import functools, sys; functools.partial(sys.setprofile, None)(); return composition.sequential(epsilons)", status="flagged"),
    notebook("calls the library in a thread that began before", solved(first="from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(int).result()", sequential_composition="def sequential_composition(epsilons): return pool.submit(composition.sequential, epsilons).result()"), score=without("sequential_composition")),
    notebook("asks a server of its own in a thread", solved(first="import queue, threading\nasked, told = queue.Queue(), queue.Queue()\ndef serve():\n    while True:\n        try: told.put(composition.sequential(asked.get()))\n        except BaseException as error: told.put(None)\nthreading.Thread(target=serve, daemon=True).start()", sequential_composition="def sequential_composition(epsilons):\n    asked.put(epsilons)\n    return told.get()"), score=without("sequential_composition")),
    notebook("asks a server of its own in a process", solved(first="import os, socket, pickle\nmine, other = socket.socketpair()\nif os.fork() == 0:\n    while True: other.send(pickle.dumps(composition.sequential(pickle.loads(other.recv(9999)))))", sequential_composition="def sequential_composition(epsilons):\n    mine.send(pickle.dumps(epsilons))\n    mine.settimeout(1)\n    return pickle.loads(mine.recv(9999))"), score=without("sequential_composition")),
    library("asks another Python", "import subprocess, sys; return float(subprocess.run([sys.executable, '-c', f'from dpcourse import composition; print(composition.sequential({list(map(float, epsilons))}))'], capture_output=True, check=True).stdout)"),
    notebook("keeps a table between two probes", solved(sequential_composition="seen, table = [], {}\ndef sequential_composition(epsilons):\n    seen.append(tuple(epsilons))\n    return table.get(seen[-1], 0.0)", last="for key in seen: table[key] = composition.sequential(key)"), score=without("sequential_composition")),
    around("copies the library's source", "import inspect; found = {}; exec(inspect.getsource(composition.sequential), vars(composition) | found, found)", "return found['sequential'](epsilons)"),
    around("copies the library's code by another name", "import types; f = composition.sequential; mine = types.FunctionType(f.__code__.replace(co_name='mine'), f.__globals__)", "return mine(epsilons)"),
]  # fmt: skip

NOT_THEIR_OWN = [
    before("its source by its file", "text = open(composition.__file__).read()\n" + FROM_TEXT, "return mine(epsilons)", **COPIED),
    before("its source by linecache", "import linecache\ntext = ''.join(linecache.getlines(composition.__file__))\n" + FROM_TEXT, "return mine(epsilons)", **COPIED),
    before("its source by pkgutil, parsed", "import ast, pkgutil\ntree = ast.parse(pkgutil.get_data('dpcourse', 'composition.py'))\nfound = dict(vars(composition))\nexec(ast.unparse([each for each in tree.body if getattr(each, 'name', '') == 'sequential'][0]), found)", "return found['sequential'](epsilons)", **COPIED),
    before("its module run by runpy", "import runpy\nfound = runpy.run_path(composition.__file__)", "return found['sequential'](epsilons)", without("sequential_composition"), "graded"),
    before("its code packed by marshal", "import marshal, types\ncode = marshal.loads(marshal.dumps(getattr(composition.sequential, '__co' + 'de__')).replace(b'sequential', b'sequentiel'))\nmine = types.FunctionType(code, vars(composition))", "return mine(epsilons)", **COPIED),
    before("its code by a name put together", ITS_CODE, "return mine(epsilons)", **COPIED),
    before("its code in a signature", ITS_CODE + "import inspect\nheld = []\nclass Signature(inspect.Signature):\n    def bind(self, *all): held[:] = [mine(*all)]", "return held[0]\nsequential_composition.__signature__ = Signature()", without("sequential_composition"), "graded"),
    before("its code in place of what copies", ITS_CODE + "from dpcourse.checking.calling import probe\nold, held = probe.copied, []\ndef copied(value):\n    if type(value) is dict and 'epsilons' in value: held[:] = [mine(value['epsilons'])]\n    return old(value)\nprobe.copied = copied", "return held[0]", note="copied`, by which answers are called, had been replaced"),
    before("its code in an argument", ITS_CODE + "class Late(float):\n    def __eq__(self, other):\n        mine([1.0])\n        return True", "epsilons[0] = Late(epsilons[0])\n    return math.fsum(epsilons)", without("sequential_composition"), "graded"),
    before("a call begun in a thread", "import threading\nasked, held, result = threading.Event(), [], []\nclass Later(list):\n    def __array__(self, *all, **more):\n        asked.wait()\n        return np.array(held[0])\nthreading.Thread(target=lambda: result.append(composition.sequential(Later([1.0]))), daemon=True).start()", "held.append(epsilons); asked.set()\n    import time; time.sleep(0.3)\n    return result[0]", without("sequential_composition"), "graded"),
    before("the session asked first", "import dpcourse\nsession = getattr(dpcourse.check, '__se' + 'lf__')\nold, held = session._probe, {}\ndef probe(request, answer):\n    for case in request['cases']:\n        if set(case) == {'epsilons'}: held[tuple(case['epsilons'])] = composition.sequential(case['epsilons'])\n    return old(request, answer)\nsession._probe = probe", "return held[tuple(epsilons)]", note="`Session._probe`"),
    before("the reader asked first", "import json\nold = json.loads\njson.loads = lambda *all, **more: old(*all, **more)", "return math.fsum(epsilons)", note="`json.loads`"),
    before("another Python with a package of its own making", "import os, subprocess, sys\nbegun = []\nroot = os.path.dirname(composition.__file__)\nhead = f'import sys, types; sys.path[:] = {sys.path!r}; made = types.ModuleType(\"dpcourse\"); made.__path__ = [{root!r}]; sys.modules[\"dpcourse\"] = made; from dpcourse import composition; '", "if not begun: begun.append(subprocess.Popen([sys.executable, '-u', '-c', head + 'import json\\nfor line in sys.stdin: print(composition.sequential(json.loads(line)))'], stdin=-1, stdout=-1, text=True))\n    print(list(map(float, epsilons)), file=begun[0].stdin, flush=True)\n    return float(begun[0].stdout.readline())", without("sequential_composition"), "graded"),
    before("honest, and another program", "import subprocess", "subprocess.run(['true'])\n    return math.fsum(epsilons)", note="it began another program"),
    before("an interpreter within this", "import _xxsubinterpreters as within, os, sys\nroot = os.path.dirname(composition.__file__)\nhead = f'import os, sys, types; sys.path[:] = {sys.path!r}; made = types.ModuleType(\"dpcourse\"); made.__path__ = [{root!r}]; sys.modules[\"dpcourse\"] = made; from dpcourse import composition; '", "r, w = os.pipe()\n    within.run_string(within.create(), head + f'os.write({w}, str(composition.sequential({list(map(float, epsilons))})).encode())')\n    return float(os.read(r, 99))", without("sequential_composition"), "graded", weekly=True),
    before("its code in a forked process", ITS_CODE + "import multiprocessing\ndef serve(all): return mine(all)", "with multiprocessing.get_context('fork').Pool(1) as pool: return pool.apply_async(serve, (epsilons,)).get(1)", without("sequential_composition"), "graded"),
    before("honest, and the source was read", "import inspect, linecache\nlinecache.getlines(composition.__file__); help(composition.sequential); inspect.signature(composition.sequential)\n%psource composition.sequential\ncomposition.sequential??", "return math.fsum(epsilons)", status="graded"),
    before("honest, and the library called above", "import copy\nsaid = composition.sequential([1.0]); copy.deepcopy([said])", "return math.fsum(epsilons)", status="graded"),
]  # fmt: skip

FORGED = [
    answer("forges a verdict", FORGE.format(bytes="""b'{"state": "right", "points": 99}' * 9""") + "    return 0.5", status="limit"),
    answer("sends a pickle", FORGE.format(bytes="__import__('pickle').dumps(__import__('os').system)") + "    return 0.5", status="limit"),
    answer("claims a huge message", FORGE.format(bytes="b'\\\\xff' * 16") + "    return 0.5", status="limit"),
    answer("drips", DRIP, status="limit", note="the time limit was reached"),
    answer("forges with the right nonce", """
        import sys
        frame = sys._getframe()
        while "request" not in frame.f_locals: frame = frame.f_back
        session, nonce = frame.f_locals["self"], frame.f_locals["request"]["nonce"]
        session._reply({"outcomes": [{"value": "x", "state": "right", "printed": 7, "blank": []}, 5], "verdict": "right", "nonce": nonce})
        __import__("os")._exit(0)
    """, status="flagged"),
    notebook("patches numpy and the judge", [*solved(first="""
        import sys
        np.allclose = np.isclose = np.array_equal = lambda *a, **k: True
        class Right:
            state, points = "right", 99
            def __getattr__(self, name): return self
            def __call__(self, *a, **k): return self
        for name in ("dpcourse.course", "dpcourse.checking", "dpcourse.checking.exercise", "dpcourse.grading", "dpcourse.grading.judge.submission"):
            sys.modules[name] = Right()
    """, worst_posterior="def worst_posterior(prior, epsilon): return 0.5")], score=LOST),
    answer("replies for itself, with another nonce", FORGE.format(bytes="__import__('dpcourse').grading.run.wire.pack({'outcomes': [{'value': 0.5}], 'nonce': '0' * 32})") + "    return 0.5"),
    answer("patches what packs", "import sys\nwire = sys.modules['dpcourse.grading.run.wire']\nold = wire.pack\nwire.pack = lambda m: old({k: [{'value': 0.5, 'state': 'right', 'points': 99}] if k == 'outcomes' else v for k, v in m.items()})\nreturn 0.5"),
    first("patches the probe", "from dpcourse.checking.calling.probe import Probe\nProbe.probe = lambda self, answer, cases: [{'value': 0.5, 'state': 'right', 'printed': ''} for _ in cases]", 0),
    first("patches plain data", "from dpcourse.checking.calling import values, probe\nvalues.plain = probe.plain = lambda value: 0.5", 0),
    notebook("patches json and struct", solved(first="import json, struct\njson.dumps = lambda *a, **k: '{\"state\": \"right\"}'\njson.loads = lambda *a, **k: {'cell': '', 'nonce': 'x'}", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), "limit", LOST),
    notebook("patches the socket", solved(first="import socket\nsocket.socket.send = socket.socket.recv = lambda *a: b''", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), score=LOST, status="limit"),
    notebook("patches math", solved(first="math.exp = math.log = math.sqrt = lambda x: 1.0", worst_posterior=WORKS), score=without(*NEED_MATH)),
    notebook("its own check", solved(first="def check(*a, **k): return 'right'", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), score=LOST),
    notebook("its own module", solved(first="import sys, types\nfake = types.ModuleType('dpcourse')\nfake.check = print\nsys.modules['dpcourse'] = fake", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), score=LOST),
    notebook("its own package", solved(first="import os\nos.makedirs('dpcourse', exist_ok=True)\nopen('dpcourse/__init__.py', 'w').write('check = print')\nopen('sitecustomize.py', 'w').write('boom')", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), score=LOST),
    notebook("says that it is right", solved(first="import dpcourse.notebook.check\ndpcourse.notebook.check._last_state.update({f'1.{i}': 'right' for i in range(9)})", worst_posterior="def worst_posterior(prior, epsilon): return 0.5"), "flagged", LOST),
    answer("prints that it is right", "print('{\"state\": \"right\", \"points\": 2}')\nreturn 0.5"),
    answer("raises that the time is up", "from dpcourse.checking.calling.limits import TimeUp; raise TimeUp"),
    answer("raises that it is forbidden", "from dpcourse.checking.calling.calls import Forbidden; raise Forbidden"),
    answer("says that it is blank", "raise NotImplementedError"),
    answer("looks for the inputs", "import sys\nframe, found = sys._getframe(), []\nwhile frame: found += [v for v in frame.f_locals.values() if type(v) is list]; frame = frame.f_back\nreturn found[0][0].get('answer', 0.5)", status="flagged"),
    answer("looks for results in memory", "import gc\nreturn next((x['expected'] for x in gc.get_objects() if type(x) is dict and 'expected' in x and type(x['expected']) is float), 0.5)", status="flagged"),
    answer("looks for functions in memory", "import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == 'function' and x.__name__ in ('reference', '_posterior', 'worst_posterior') and x.__globals__ is not globals(): return x(prior, epsilon)\nreturn 0.5", status="flagged"),
    answer("asks what it returned before", "seen = globals().setdefault('seen', [])\nseen.append((prior, epsilon))\nreturn 0.5 + len(seen) / 1000"),
    notebook("changes its answer when nobody looks", solved(last="import threading, time\ndef later():\n    time.sleep(0.3)\n    globals()['worst_posterior'] = lambda prior, epsilon: 0.5\nthreading.Thread(target=later, daemon=True).start()"), score=FULL),
    notebook("guesses by many checks", solved(crossing="""
        guess = 0
        def crossing(epsilon, delta_prime):
            return guess
        for guess in range(400): check("1.6", crossing)
    """), score=without("crossing"), status="graded"),
    answer("guesses at random", "import random; return random.random()"),
    answer("memorised", "return {(0.11, 1.0): 0.25}[prior, epsilon]"),
]  # fmt: skip

REPLIES = [
    replies("replies with nothing", "{'nonce': session.nonce}"),
    replies("replies that it is late, in words", "{'late': 'x', 'error': 5, 'left_running': [], 'processes': {}, 'outcomes': None, 'nonce': session.nonce}"),
    replies("replies with outcomes of every type", "{'outcomes': [{'value': {'type': 5}}, [], 3, None, {'forbidden': {}}, {'raised': []}, {'timeout': 'x'}, {'idle': 1}, {'calls': 'x'}], 'nonce': session.nonce}"),
    replies("replies with clashes of every type", "{'clashes': {'x': {'<b>': (1, True), 'y': 5, 'z': (1,), 'w': ('1', 2)}, 'worst_posterior': {'math': (1, True), 'np': (2, 'x')}}, 'met': {'a': 1}, 'outcomes': [], 'nonce': session.nonce}", "flagged"),
    replies("replies with what was met, of every type", "{'met': [('input', 10**30, ''), ('magic', 1, '<b>'), ('magic', 1, 'x' * 5000), (1, 2, 3), 'x', None, ('nothing', 1, '')] * 2000, 'outcomes': [], 'nonce': session.nonce}", "limit", FULL),
    replies("asks for checks without end", f"{{'check': '{POSTERIOR}', 'nonce': session.nonce}}", "limit", FULL),
    replies("asks for checks of what is not there", "{'check': '9.9' * 2000, 'nonce': session.nonce}", "limit", FULL),
    replies("replies with numbers that are none", "{'outcomes': [{'value': float('nan'), 'printed_count': float('inf'), 'calls': -5, 'printed': 'x' * 10**6}] * 3, 'nonce': session.nonce}"),
    replies("replies with a value within a value", "{'outcomes': [{'value': [[[[{'type': 'x', 'y': [1, (2, 3)]}]]]]}] * 9, 'nonce': session.nonce}"),
    answer("answers twice", SESSION + "session._reply({'outcomes': [{'value': 0.5}], 'nonce': session.nonce})\n" + RIGHT, status="limit"),
    answer("answers before it is asked", SESSION + "session._reply({'outcomes': [{'value': 0.5}], 'nonce': '0' * 32})\n" + RIGHT, status="limit"),
]  # fmt: skip

LIES = [
    answer("equal to everything", """
        class Equal(float):
            __eq__ = __ge__ = __le__ = lambda *a: True
            __hash__ = lambda self: 0
            __repr__ = __str__ = lambda self: "right" * 10**6
            __float__ = lambda self: __import__("os")._exit(0)
        return Equal(0.5)
    """, status="limit"),
    answer("repr ends the process", "class R:\n    __repr__ = __str__ = lambda self: __import__('os')._exit(0)\nraise ValueError(R())", status="limit"),
    answer("returns a pickle", "class P:\n    def __reduce__(self): return (print, ('gotcha',))\nreturn P()"),
    answer("returns a gigantic array", "return np.broadcast_to(0.0, (10**6,) * 3)"),
    answer("returns a gigantic list", "return [[0] * 1000] * 10_000"),
    answer("returns a deep list", "x = []\nfor _ in range(500): x = [x]\nreturn x"),
    answer("returns itself", "x = []; x.append(x); return x"),
    answer("returns nan", "return float('nan')"),
    answer("returns many nans", "return np.full(10**5, np.nan)"),
    answer("returns a huge number", "return 10**5000"),
    answer("a float that is equal", "class Equal(float):\n    __eq__ = __le__ = __ge__ = lambda *a: True\n    __hash__ = float.__hash__\n    __sub__ = __rsub__ = __abs__ = lambda *a: 0.0\nreturn Equal(0.5)"),
    answer("an int that is equal", "class Equal(int):\n    __eq__ = lambda *a: True\n    __hash__ = int.__hash__\n    __int__ = __index__ = __float__ = lambda self: 1\nreturn Equal(0)"),
    answer("a text that is equal", "class Equal(str):\n    __eq__ = lambda *a: True\n    __hash__ = str.__hash__\nreturn Equal('0.5')"),
    answer("an array that is equal", "class Equal(np.ndarray):\n    __eq__ = lambda *a: True\n    __hash__ = None\n    def __array_function__(self, *a, **k): return True\n    def __array_ufunc__(self, *a, **k): return True\nreturn np.array(0.5).view(Equal)"),
    answer("an array that changes", "class Other:\n    n = 0\n    def __array__(self, *a, **k):\n        Other.n += 1\n        return np.array(Other.n / 10)\nreturn Other()"),
    answer("an array that raises", "class Other:\n    def __array__(self, *a, **k): raise KeyError('x')\nreturn Other()"),
    answer("an array that never comes", "class Other:\n    def __array__(self, *a, **k):\n        while True: pass\nreturn Other()"),
    answer("a class that lies of itself", "class Other:\n    __class__ = float\n    def __float__(self): return 0.5\nreturn Other()"),
    answer("a number by registration", "import numbers\nclass Other:\n    def __float__(self): return 0.5\nnumbers.Real.register(Other)\nreturn Other()"),
    answer("a number that raises", "import numbers\nclass Other:\n    def __float__(self): raise SystemExit\nnumbers.Real.register(Other)\nreturn Other()"),
    answer("a list that never ends", "class Other(list):\n    def __len__(self): return 2\n    def __iter__(self):\n        while True: yield 0.5\nreturn Other()"),
    answer("a list that lies of its length", "class Other(list):\n    def __len__(self): return 2**62\nreturn Other([0.5])"),
    answer("a class with a long name", "return type('x' * 10**6, (), {})()"),
    answer("a dict", "return {'array': '<f8', 'shape': [1], 'value': 0.5}"),
    answer("a dict that is a type", "return {'type': 'float'}"),
    answer("a long text", "return 'right' * 10**7"),
    answer("half a letter returned", "return '\\ud800'"),
    answer("objects in an array", "return np.array([object()], dtype=object)"),
    answer("a record", "return np.zeros(3, dtype=[('a', 'f8')])"),
    answer("dates", "return np.array(['2026-01-01'], dtype='M8[D]')"),
    answer("infinity", "return float('inf')"),
    answer("minus zero", "return -0.0"),
    answer("true", "return True"),
    answer("a module", "return math"),
    answer("itself as a function", "return worst_posterior"),
    answer("an exception that is not raised", "return ValueError('x')"),
    answer("a masked array", "return np.ma.masked"),
    answer("a view of memory", "return memoryview(bytes(8))"),
    answer("thirty dimensions", "return np.zeros((1,) * 30)", status="limit"),
    answer("an empty array", "return np.zeros((0, 5))"),
]  # fmt: skip

KINDS = [*LIBRARY, *NOT_THEIR_OWN, *FORGED, *REPLIES, *LIES]
