"""A class that is right, wrong, broken and hostile: every kind is one submission of lesson 01.

Beside each stands the status and the score that it must get. To think of a new way to cheat is to add a kind.
"""

import ast
import json
import os
import socket
import textwrap
from dataclasses import dataclass

import slices
from support import ROOT

from dpcourse import course
from dpcourse.cells import checked, defined
from dpcourse.grading import collect

COURSE = ROOT / "dpcourse" / "course"
LESSON = course.lesson(1)
POINTS = {exercise.function: exercise.points for exercise in LESSON.exercises}
FULL = sum(POINTS.values())


# ---- the generator


@dataclass(frozen=True)
class Kind:
    """A submission: its file's name, what is in it (bytes, or a function that makes it), what it must get."""

    name: str
    content: object
    status: str
    score: int | None
    verdicts: tuple = ()
    note: str = ""


def all_cells_of(which, lesson=LESSON):
    notebook = json.loads((ROOT / which / f"{lesson.name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def cells_of(which, lesson=LESSON):
    """The lesson in short: the cells that define an exercise's function or check it, and what these need."""
    codes = ["".join(cell["source"]) for cell in all_cells_of("solutions", lesson)]
    written = {i for i, code in enumerate(codes) if set(lesson.functions).intersection(defined(code)) or checked(code)}
    cells = all_cells_of(which, lesson)
    return [cells[i] for i in sorted(slices.needed(codes, written))]


def written(cells, **about):
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | about).encode()


def cell(code):
    return {"cell_type": "code", "source": textwrap.dedent(code), "metadata": {}, "outputs": [], "id": "own"}


def defines(each, function):
    return f"def {function}(" in each["source"]


def solved(first=None, last=None, **answers):
    """The solved notebook with some answers replaced, and cells added behind the imports and at the end."""
    cells = cells_of("solutions")
    for function, code in answers.items():
        at = next(i for i, each in enumerate(cells) if defines(each, function))
        cells[at] = cell(code)
    cells[1:1] = [cell(first)] if first else []
    return cells + ([cell(last)] if last else [])


def body(code, function="worst_posterior", arguments="prior, epsilon"):
    """The solved notebook in which one answer has this body."""
    return solved(**{function: f"def {function}({arguments}):\n" + textwrap.indent(textwrap.dedent(code), "    ")})


def without(*functions):
    return FULL - sum(POINTS[function] for function in functions)


LOST = without("worst_posterior")  # the score of a submission of which that one answer is lost


def misconceptions():
    """One submission for each place in the lists of misconceptions: every exercise is answered by the one in that place.

    The wrong answers are taken from the source of the exercises, so that each arrives as a student's code.
    """
    trees = {each: ast.parse((COURSE / LESSON.word / f"{each}.py").read_text(encoding="utf-8")) for each in POINTS}
    functions = (node for tree in trees.values() for node in tree.body if isinstance(node, ast.FunctionDef))
    helpers = "\n".join(map(ast.unparse, functions))
    found = {}
    for function, tree in trees.items():
        exercise = next(
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exercise"
        )
        options = {keyword.arg: keyword.value for keyword in exercise.keywords}
        found[function] = [ast.unparse(slip.args[2]) for slip in options["misconceptions"].elts]
    for place in range(max(map(len, found.values()))):
        slips = {name: codes[place] for name, codes in found.items() if place < len(codes)}
        cells = solved(**{name: f"{name} = {code}" for name, code in slips.items()}, first=helpers)
        expected = tuple(
            (exercise.id, exercise.misconceptions[place].name if exercise.function in slips else None)
            for exercise in LESSON.exercises
        )
        yield Kind(f"slip {place}.ipynb", written(cells), "graded", without(*slips), expected)


def sparse(size):
    def make(file):
        with open(file, "wb") as stream:
            stream.truncate(size)

    return make


def link(target):
    return lambda file: os.symlink(target, file)


FORGE = """
    import os
    for handle in range(3, 20):
        try:
            os.write(handle, {bytes})
        except OSError:
            pass
"""

RIGHT = "odds = prior / (1 - prior) * math.exp(epsilon); return odds / (1 + odds)"
SERVER = socket.create_server(("127.0.0.1", 0))  # it would be there for whoever has a network
CONNECT = f"""
    import socket
    socket.create_connection(("127.0.0.1", {SERVER.getsockname()[1]}), 1)
    {RIGHT}
"""
STEAL = f"""
    import glob, json, os
    for folder in ({str(ROOT)!r}, "/proc/1/root/" + {str(ROOT)!r}, "/proc/1/cwd", "..", "/tmp", os.path.expanduser("~")):
        for file in glob.glob(folder + "/**/01-composition.ipynb", recursive=True):
            for each in json.load(open(file))["cells"]:
                if "def worst_posterior" in each["source"] and "NotImplementedError" not in each["source"]:
                    exec(each["source"], globals())
                    return globals()["worst_posterior"](prior, epsilon)
"""

UNBLOCK = """
import sys
for name in [name for name, module in sys.modules.items() if module is None]: del sys.modules[name]
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

NOT_A_NOTEBOOK = [
    Kind("not json.ipynb", b"%PDF-1.4 \xff\xfe not json", "unreadable", None),
    Kind("empty.ipynb", b"", "unreadable", None),
    Kind("format 3.ipynb", b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "unreadable", None),
    Kind("format 99.ipynb", written([], nbformat=99), "unreadable", None),
    Kind("a list.ipynb", b"[1, 2, 3]", "unreadable", None),
    Kind("deep.ipynb", b"[" * 200_000, "unreadable", None),
    Kind("long number.ipynb", b'{"cells": ' + b"9" * 10_000 + b"}", "unreadable", None),
    Kind("source is a number.ipynb", written([{"cell_type": "code", "source": 7}]), "unreadable", None),
    Kind("too large.ipynb", sparse(100 * 2**20), "unreadable", None),
    Kind("link to another.ipynb", link("right.ipynb"), "unreadable", None),
    Kind("link to the system.ipynb", link("/etc/passwd"), "unreadable", None),
    Kind("link to a folder", link("/etc"), "unreadable", None),
    Kind("pipe.ipynb", os.mkfifo, "unreadable", None),
    Kind("a folder without a notebook", os.mkdir, "unreadable", None),
]

ORDINARY = [
    Kind("right.ipynb", written(all_cells_of("solutions")), "graded", FULL),
    Kind("blank.ipynb", written(all_cells_of("lessons")), "graded", 0),
    Kind("in short.ipynb", written(solved()), "graded", FULL),
    Kind("wrong.ipynb", written(body("return 0.123")), "graded", LOST),
    Kind("syntax error.ipynb", written(body("return (")), "graded", LOST),
    Kind("renamed.ipynb", written(solved(worst_posterior="def posterior(prior, epsilon): pass")), "graded", LOST),
    Kind("warns.ipynb", written(body("import warnings; warnings.warn('careful'); " + RIGHT)), "graded", FULL),
    Kind("reads input.ipynb", written(body("return float(input('belief? '))")), "graded", LOST),
    Kind("blank copy below.ipynb", written(solved(last="def worst_posterior(prior, epsilon): raise NotImplementedError")), "graded", FULL),
    Kind("backwards.ipynb", written(solved()[::-1]), "graded", FULL),
    Kind("checks deleted.ipynb", written([each for each in solved() if not each["source"].startswith("check(")]), "flagged", FULL),
    Kind("checks twice.ipynb", written([each for each in solved() for _ in range(1 + each["source"].startswith("check("))]), "flagged", FULL),
    Kind("checks edited.ipynb", written([{**each, "source": each["source"].replace("check(", "print(")} for each in solved()]), "flagged", FULL),
    Kind("hint taken.ipynb", written([{**each, "source": each["source"].replace("# hint", "hint")} for each in solved()]), "graded", FULL),
    Kind("magics.ipynb", written(solved(first="%matplotlib inline\n!ls /\n%timeit -n1 -r1 1+1\nx = !whoami", last="%%bash\necho hello")), "graded", FULL),
    Kind("Ünï çødé 名前 🎲.ipynb", written(solved()), "graded", FULL),
    Kind(os.fsdecode(b"latin-1 \xe9\xe8.ipynb"), written(solved()), "graded", FULL),
    Kind("line\nbreak \x1b[2J.ipynb", written(solved()), "graded", FULL),
    Kind('=HYPERLINK("http:¦¦evil","x"), a, b.ipynb', written(solved()), "graded", FULL),
    Kind("Kim Lee_101_assignsubmission_file", {"01-composition.ipynb": written(solved())}, "graded", FULL),
    Kind("Kim Lee_102_assignsubmission_file", {"01-composition.ipynb": written(cells_of("lessons"))}, "graded", 0),
    Kind("leekim_201_9001_01-composition-2.ipynb", written(solved()), "graded", FULL),
    Kind("leekim_LATE_202_9002_01-composition.ipynb", written(cells_of("lessons")), "graded", 0),
    Kind("two of them", {"01-composition.ipynb": written(solved()), "old/01-composition-Copy1.ipynb": b""}, "flagged", FULL),
]  # fmt: skip

HOSTILE = [
    Kind("prints 100 MB.ipynb", written(solved(first="line = 'x' * 2**20\nfor _ in range(100): print(line)")), "graded", FULL),
    Kind("prints 100 MB in an answer.ipynb", written(body("print('x' * 10**8)")), "graded", LOST),
    Kind("endless answer.ipynb", written(body("while True: pass")), "graded", LOST),
    Kind("endless answer that catches all.ipynb", written(body("while True:\n    try:\n        while True: pass\n    except BaseException: pass")), "graded", LOST),
    Kind("endless answer without signals.ipynb", written(body("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass")), "limit", LOST),
    Kind("endless cell.ipynb", written(solved(worst_posterior="while True: pass\ndef worst_posterior(prior, epsilon): pass")), "limit", LOST),
    Kind("endless recursion.ipynb", written(body("return worst_posterior(prior, epsilon)")), "graded", LOST),
    Kind("stack overflow.ipynb", written(body("import sys; sys.setrecursionlimit(10**9)\ndef f(x): return sorted([x], key=f)\nreturn f(0)")), "limit", LOST),
    Kind("memory bomb.ipynb", written(body("return len([0] * 10**10)")), "graded", LOST),
    Kind("memory bomb of many.ipynb", written(solved(worst_posterior="import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        x = bytearray(10**8)\n        x[::4096] = bytes(len(x[::4096]))\n        time.sleep(60)\ntime.sleep(60)")), "limit", LOST, note="the memory limit was reached"),
    Kind("fork bomb.ipynb", written(solved(first="import os\nfor _ in range(7):\n    try: os.fork()\n    except OSError: break")), "graded", FULL),
    Kind("fork bomb of the shell's.ipynb", written(solved(first="!bash -c ':(){ :|:& };:' &")), "graded", FULL),
    Kind("sleeping thread.ipynb", written(solved(first="import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()")), "graded", FULL),
    Kind("thread that ends all later.ipynb", written(solved(first="import threading, os\nthreading.Timer(0.05, os._exit, [0]).start()", last="import time\ntime.sleep(0.5)")), "limit", FULL),
    Kind("background process.ipynb", written(solved(first="import subprocess\nsubprocess.Popen(['sleep', '3600'], start_new_session=True)")), "graded", FULL),
    Kind("ends the process in a cell.ipynb", written(solved(worst_posterior="import os\nos._exit(0)\ndef worst_posterior(prior, epsilon): pass")), "limit", LOST),
    Kind("ends the process in an answer.ipynb", written(body("import os; os._exit(0)")), "limit", LOST),
    Kind("kills the parent.ipynb", written(body("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")), "limit", LOST),
    Kind("kills everything.ipynb", written(solved(first="import os, signal\nos.kill(-1, signal.SIGKILL)")), "graded", FULL),
    Kind("segfault.ipynb", written(body("import ctypes; ctypes.string_at(0)")), "limit", LOST),
    Kind("exits.ipynb", written(solved(first="raise SystemExit", last="raise KeyboardInterrupt")), "graded", FULL),
    Kind("deletes everything.ipynb", written(solved(first=f"!chmod 000 / /usr /etc {ROOT} ~; rm -rf --no-preserve-root /etc {ROOT}/solutions {ROOT}/tests ~")), "graded", FULL),
    Kind("fills the disk.ipynb", written(body("for i in range(10):\n    with open(f'/tmp/{i}', 'wb') as file: file.write(bytes(2**25))\n" + RIGHT)), "graded", LOST),
    Kind("writes a large file.ipynb", written(body("with open('/tmp/large', 'wb') as file: file.write(bytes(2**27))\n" + RIGHT)), "graded", LOST),
    Kind("two hundred processes.ipynb", written(solved(worst_posterior="import subprocess\nfor _ in range(200): subprocess.Popen(['sleep', '3600'])\ndef worst_posterior(prior, epsilon):\n    " + RIGHT)), "graded", LOST),
    Kind("reads the solutions.ipynb", written(body(STEAL)), "graded", LOST),
    Kind("asks the exercises.ipynb", written(body("from dpcourse import exercises; return exercises.find('1.3').reference(prior, epsilon)")), "graded", LOST),
    Kind("asks the course.ipynb", written(body("from dpcourse import course; return course.find('1.3').reference(prior, epsilon)")), "graded", LOST),
    Kind("asks the course that others have imported.ipynb", written(body("from dpcourse import notebook; return notebook.course.find('1.3').reference(prior, epsilon)")), "graded", LOST),
    Kind("imports the exercise.ipynb", written(body("from dpcourse.course.composition.worst_posterior import exercise; return exercise.reference(prior, epsilon)")), "graded", LOST),
    Kind("imports the exercise past all that blocks it.ipynb", written(body(UNBLOCK + "from dpcourse.course.composition.worst_posterior import exercise; return exercise.reference(prior, epsilon)")), "graded", LOST),
    Kind("asks the engine.ipynb", written(body(UNBLOCK + "from dpcourse.engine import exercise; " + RIGHT)), "graded", LOST),
    Kind("asks the grader.ipynb", written(body(UNBLOCK + "from dpcourse.grading import submission; " + RIGHT)), "graded", LOST),
    Kind("asks the builder.ipynb", written(body(UNBLOCK + "from dpcourse.authoring import release; " + RIGHT)), "graded", LOST),
    Kind("reads the exercise.ipynb", written(body(f"found = {{}}; exec(open({str(COURSE / 'composition' / 'worst_posterior.py')!r}).read(), found); return found['exercise'].reference(prior, epsilon)")), "graded", LOST),
    Kind("asks the lessons' memory.ipynb", written(body("import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == 'Lesson' and x.number == 1: return x.exercises[2].reference(prior, epsilon)")), "graded", LOST),
    Kind("asks the exercises' memory.ipynb", written(body("import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == 'Exercise': return x.reference(prior, epsilon)")), "graded", LOST),
    Kind("network.ipynb", written(body(CONNECT)), "graded", LOST),
    Kind("calls the library.ipynb", written(solved(sequential_composition="sequential_composition = composition.sequential")), "graded", without("sequential_composition")),
    Kind("calls the library unwatched.ipynb", written(body("import sys; sys.setprofile(None); return composition.sequential(epsilons)", "sequential_composition", "epsilons")), "graded", without("sequential_composition")),
    Kind("calls the library in a thread.ipynb", written(body("from concurrent.futures import ThreadPoolExecutor as T\nreturn T().submit(composition.sequential, epsilons).result()", "sequential_composition", "epsilons")), "graded", without("sequential_composition")),
    Kind("patches the library.ipynb", written(solved(first="sequential = composition.sequential\ncomposition.sequential = None", sequential_composition="def sequential_composition(epsilons): return sequential(epsilons)")), "graded", without("sequential_composition")),
    Kind("patches numpy and the engine.ipynb", written([*solved(first="""
        import sys
        np.allclose = np.isclose = np.array_equal = lambda *a, **k: True
        class Right:
            state, points = "right", 99
            def __getattr__(self, name): return self
            def __call__(self, *a, **k): return self
        for name in ("dpcourse.exercises", "dpcourse.exercises.engine", "dpcourse.classroom", "dpcourse.classroom.grade",
                     "dpcourse.course", "dpcourse.engine", "dpcourse.engine.exercise", "dpcourse.grading", "dpcourse.grading.submission"):
            sys.modules[name] = Right()
    """, worst_posterior="def worst_posterior(prior, epsilon): return 0.5")]), "graded", LOST),
    Kind("forges a verdict.ipynb", written(body(FORGE.format(bytes="""b'{"state": "right", "points": 99}' * 9""") + "    return 0.5")), "limit", LOST),
    Kind("sends a pickle.ipynb", written(body(FORGE.format(bytes="__import__('pickle').dumps(__import__('os').system)") + "    return 0.5")), "limit", LOST),
    Kind("claims a huge message.ipynb", written(body(FORGE.format(bytes="b'\\\\xff' * 16") + "    return 0.5")), "limit", LOST),
    Kind("drips.ipynb", written(body(DRIP)), "limit", LOST, note="the time limit was reached"),
    Kind("forges with the right nonce.ipynb", written(body("""
        import sys
        frame = sys._getframe()
        while "request" not in frame.f_locals: frame = frame.f_back
        session, nonce = frame.f_locals["self"], frame.f_locals["request"]["nonce"]
        session._reply({"outcomes": [{"value": "x", "state": "right", "printed": 7, "blank": []}, 5], "verdict": "right", "nonce": nonce})
        __import__("os")._exit(0)
    """)), "graded", LOST),
    Kind("returns a pickle.ipynb", written(body("class P:\n    def __reduce__(self): return (print, ('gotcha',))\nreturn P()")), "graded", LOST),
    Kind("returns a gigantic array.ipynb", written(body("return np.broadcast_to(0.0, (10**6,) * 3)")), "graded", LOST),
    Kind("returns a gigantic list.ipynb", written(body("return [[0] * 1000] * 10_000")), "graded", LOST),
    Kind("returns a deep list.ipynb", written(body("x = []\nfor _ in range(500): x = [x]\nreturn x")), "graded", LOST),
    Kind("returns itself.ipynb", written(body("x = []; x.append(x); return x")), "graded", LOST),
    Kind("returns nan.ipynb", written(body("return float('nan')")), "graded", LOST),
    Kind("returns many nans.ipynb", written(body("return np.full(10**5, np.nan)")), "graded", LOST),
    Kind("returns a huge number.ipynb", written(body("return 10**5000")), "graded", LOST),
    Kind("equal to everything.ipynb", written(body("""
        class Equal(float):
            __eq__ = __ge__ = __le__ = lambda *a: True
            __hash__ = lambda self: 0
            __repr__ = __str__ = lambda self: "right" * 10**6
            __float__ = lambda self: __import__("os")._exit(0)
        return Equal(0.5)
    """)), "limit", LOST),
    Kind("repr ends the process.ipynb", written(body("class R:\n    __repr__ = __str__ = lambda self: __import__('os')._exit(0)\nraise ValueError(R())")), "limit", LOST),
    Kind("HTML in an answer.ipynb", written(body("raise ValueError('<script>alert(1)</script><img src=x onerror=alert(2)>')")), "graded", LOST),
    Kind("blanks later cells.ipynb", written(solved(first="get_ipython().input_transformers_post.append(lambda lines: [])")), "graded", FULL),
    Kind("blanks later cells before that.ipynb", written(solved(first="get_ipython().input_transformer_manager.cleanup_transforms.append(lambda lines: [])")), "graded", FULL),
    Kind("blanks later cells after that.ipynb", written(solved(first="import ast\nclass Blank(ast.NodeTransformer):\n    def visit(self, node): return ast.Module([], [])\nget_ipython().ast_transformers.append(Blank())")), "graded", FULL),
    Kind("closes every file.ipynb", written(solved(worst_posterior="import os\nos.closerange(0, 1000)\ndef worst_posterior(prior, epsilon): pass")), "limit", LOST),
    Kind("breaks what prints.ipynb", written(solved(first="import sys, builtins\nsys.stdout = sys.stderr = None\nbuiltins.print = None\ndel sys.path[:]")), "graded", FULL),
    Kind("memorised.ipynb", written(body("return {(0.11, 1.0): 0.25}[prior, epsilon]")), "graded", LOST),
]  # fmt: skip

KINDS = [*NOT_A_NOTEBOOK, *ORDINARY, *misconceptions(), *HOSTILE]


def make(kind, folder):
    file = folder / kind.name
    if callable(kind.content):
        kind.content(file)
    elif isinstance(kind.content, dict):
        for name, content in kind.content.items():
            (file / name).parent.mkdir(parents=True, exist_ok=True)
            (file / name).write_bytes(content)
    else:
        file.write_bytes(kind.content)


def student(kind):
    return collect.student_of(kind.name.removesuffix(".ipynb"))
