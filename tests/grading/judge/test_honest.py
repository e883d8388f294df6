"""Honest notebooks that are odd: what a check in JupyterLab gives stays, whatever else the notebook does.

Each is a few cells of lesson 00 around two answers that are right.
"""

import json
import textwrap

import pytest
from sandboxed import NEEDS_SANDBOX
from support import by_profile

from dpcourse import course
from dpcourse.checking import BLANK, ERROR, RIGHT, WRONG
from dpcourse.grading.judge import submission
from dpcourse.grading.judge.submission import Job
from dpcourse.grading.run import Limits, warm

pytestmark = pytest.mark.in_turn("seconds in a sandbox")

IMPORTS = """
import math
import numpy as np
from dpcourse import check, hint, progress, quiz, solution
"""
ODDS = """
def odds(epsilon):
    return math.exp(epsilon)

def keep_probability(epsilon):
    return odds(epsilon) / sum([1, odds(epsilon)])
"""
SHARE = """
def estimate_share(reports, epsilon):
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return (np.mean(reports) - (1 - keep)) / (2 * keep - 1)
"""
CHECK, CHECK_SHARE = 'check("0.1", keep_probability)', 'check("0.3", estimate_share)'
CHECKS = by_profile("checks below an answer: one, or also none", (CHECK,), (CHECK, ""))
BLANK_ANSWER = "def keep_probability(epsilon):\n    raise NotImplementedError"
HONEST = (IMPORTS, ODDS, CHECK, SHARE, CHECK_SHARE)


@pytest.fixture(scope="module", autouse=True)
def _one_warm_process():
    yield
    warm.close()


def notebook(cells):
    given = [{"cell_type": "code", "source": textwrap.dedent(code), "metadata": {}, "outputs": []} for code in cells]
    return json.dumps({"cells": given, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def graded(*cells, ids=("start_here/keep_probability", "start_here/estimate_share"), limits=Limits(cell_seconds=20)):  # noqa: B008
    return submission.grade(Job(0, notebook(cells), b"seed", limits=limits, exercises=ids))


def states(found):
    return {mark.id: mark.state for mark in found.result.exercises}


def message(found, id="start_here/keep_probability"):
    return next(mark.message for mark in found.result.exercises if mark.id == id)


def body(code):
    return "def keep_probability(epsilon):\n" + textwrap.indent(textwrap.dedent(code), "    ")


def below_the_check(code):
    return (*HONEST, code)


def above(code):
    """At the top of the cell with the imports, all of which are needed."""
    return (textwrap.dedent(code) + IMPORTS, *HONEST[1:])


LATER = {
    "a name of Python's": "sum = 0",
    "a helper's name": "def odds(epsilon): return 1",
    "star import": "from numpy import *\nfrom math import *",
    "reset": "%reset -f",
    "deleted": "del math, np",
    "the answer's own name": "keep_probability = 3\nestimate_share = None",
    "a lesson's own cell": "odds, _ = 3, 4",
    "a module's function": "math.exp = None",
}


def most_weekly(kinds, *on_a_commit):
    marks = {
        name: () if name in on_a_commit else pytest.mark.weekly("one or two of each kind show the way")
        for name in kinds
    }
    return pytest.mark.parametrize("code", [pytest.param(kinds[name], marks=marks[name], id=name) for name in kinds])


@NEEDS_SANDBOX
@most_weekly(LATER, "a name of Python's", "the answer's own name")
def test_what_comes_below_a_check_takes_nothing(code):
    found = graded(*below_the_check(code))
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert found.result.status == "graded", found.result.notes


FRONT_ENDS = {
    "matplotlib widget": "%matplotlib widget",
    "matplotlib notebook": "%matplotlib notebook",
    "matplotlib inline and a format": "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'",
    "matplotlib qt": "%matplotlib qt\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "another backend": "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.switch_backend('QtAgg')",
    "pylab": "%pylab inline",
    "an extension": "%load_ext nb_black\n%load_ext autoreload\n%autoreload 2\n%lprun -f x x()",
    "faulthandler": "import faulthandler\nfaulthandler.enable()",
    "the stream": """
        import sys
        assert sys.stdout.encoding.lower() == "utf-8" and not sys.stdout.isatty()
        sys.stdout.buffer.write(b"x")
        sys.stdout.flush()
        assert sys.stdout.fileno() > 0 and sys.stderr.errors
        import subprocess
        subprocess.run(["ls"], stdout=sys.stdout, check=True)
    """,
    "the shell": "!ls\nfiles = !ls\nget_ipython().system('ls')\n%cd .\n%pip --version",
    "asked for input": "name = input('Your name? ')\nimport getpass",
    "asked where it is": "import sys\nassert 'ipykernel' in sys.modules\nassert get_ipython().__class__.__name__ == 'ZMQInteractiveShell'",
    "shown": "from IPython.display import HTML, clear_output\ndisplay(HTML('x'), 3)\nclear_output()",
    "awaited": "import asyncio\nawait asyncio.sleep(0)\ntask = asyncio.create_task(asyncio.sleep(0))\nawait task",
    "a task of the loop": "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0))",
    "panels": "from dpcourse import hint, quiz, solution, progress, plots\nassert hint('0.1') is quiz(0) is progress() is solution('0.1') is None",
    "the kernel": "kernel = get_ipython().kernel\nassert kernel.shell is get_ipython()\nkernel.do_shutdown(True)\nkernel.session.session",
    "who it is": "import getpass, os, pathlib, pwd\nassert getpass.getuser() and pwd.getpwuid(os.getuid()).pw_name\ndel os.environ['HOME']\nassert pathlib.Path.home().is_dir()",
    "nobody types": "from getpass import getpass\nassert getpass('Key: ') == input() == ''",
    "the last result": "3 + 4\n",
}


@NEEDS_SANDBOX
def test_what_works_in_jupyterlab_works_here_together():
    found = graded(*map(textwrap.dedent, FRONT_ENDS.values()), *HONEST)
    assert found.result.errors == ()
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert found.result.status == "graded"


@NEEDS_SANDBOX
@most_weekly(FRONT_ENDS)
def test_what_works_in_jupyterlab_works_here_in_the_cell_of_the_imports(code):
    found = graded(*above(code))
    assert found.result.errors == ()
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert found.result.status == "graded"


@NEEDS_SANDBOX
def test_magics_of_cells_files_and_last_results():
    found = graded(
        IMPORTS,
        "%%writefile helpers.py\nimport math\ndef odds(epsilon): return math.exp(epsilon)",
        "%%time\nfrom helpers import odds",
        "%%capture seen\nprint('here')",
        "assert seen.stdout == 'here\\n'\n3 + 4",
        "assert _ == 7 and In and get_ipython() is not None",
        "%%time\ndef keep_probability(epsilon):\n    return odds(epsilon) / (1 + odds(epsilon))",
        f"%%capture\n{CHECK}",
        SHARE,
    )
    assert found.result.errors == ()
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}


IN_ANSWERS = {
    "threads": "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(4) as pool: return list(pool.map(lambda e: odds(e) / (1 + odds(e)), [epsilon] * 8))[0]",
    "processes": "from concurrent.futures import ProcessPoolExecutor as Pool\nwith Pool(2) as pool: x = pool.submit(math.exp, epsilon).result()\nreturn x / (1 + x)",
    "a command": "import subprocess\nx = float(subprocess.run(['python', '-c', f'import math; print(math.exp({epsilon!r}))'], capture_output=True, text=True, check=True).stdout)\nreturn x / (1 + x)",
    "display": "display(epsilon); get_ipython()\nreturn odds(epsilon) / (1 + odds(epsilon))",
    "flushed": "import sys; print('x', file=sys.stderr, flush=True); sys.stdout.buffer.write(b'y')\nreturn odds(epsilon) / (1 + odds(epsilon))",
    "a check inside": "check('0.1', keep_probability)\nreturn odds(epsilon) / (1 + odds(epsilon))",
}


@NEEDS_SANDBOX
@most_weekly(IN_ANSWERS, "processes")
def test_an_answer_may_use_what_it_could_use_in_jupyterlab(code):
    for checks in CHECKS:
        found = graded(IMPORTS, ODDS + body(code), checks, ids=("start_here/keep_probability",))
        assert states(found) == {"start_here/keep_probability": RIGHT}, found.result
        assert found.result.status == "graded"


POOL = """
from concurrent.futures import ProcessPoolExecutor
pool = ProcessPoolExecutor(2)
list(pool.map(math.sqrt, [1, 4]))
"""
BY_POOL = body("x = pool.submit(math.exp, epsilon).result()\nreturn x / (1 + x)")
SHARE_BY_POOL = SHARE.replace("math.exp(epsilon)", "pool.submit(math.exp, epsilon).result()")


@NEEDS_SANDBOX
def test_processes_live_on_from_cell_to_cell():
    found = graded(
        IMPORTS, POOL, BY_POOL, "assert pool.submit(abs, -1).result() == 1", CHECK, ids=("start_here/keep_probability",)
    )
    assert (states(found), found.result.errors, found.result.notes) == ({"start_here/keep_probability": RIGHT}, (), ())


HOLDS = """
import os, time
if os.fork() == 0:
    held = bytearray(3 * 10**8)
    held[::4096] = bytes(len(held[::4096]))
    time.sleep(60)
"""
NEEDS = "import time\nmine = bytearray(3 * 10**8)\nmine[::4096] = bytes(len(mine[::4096]))\ntime.sleep(0.5)"
ENDED = {  # kind of `met.SAYS` -> cells, and what is told of the processes that the second one had left running
    "busy": (
        ("import subprocess\nspinning = subprocess.Popen(['sh', '-c', 'while :; do :; done'])", body("return spinning.wait()"), CHECK),
        "ended when `keep_probability` was called, for they were busy still: wait for them in that cell",
    ),
    "forbids": (
        (POOL, SHARE_BY_POOL, CHECK_SHARE),
        "ended when `estimate_share` was called, which must not use all of the library: let it make its pool itself",
    ),
    "many": (
        ("import subprocess\nidle = [subprocess.Popen(['sleep', '100']) for _ in range(40)]", "assert not any(each.poll() is None for each in idle)", body("return 0")),
        "ended, for there were too many: end them in that cell, or make a pool of fewer",
    ),
    "limit": (
        (HOLDS, f"{NEEDS}\n{SHARE}", body("return 0")),
        "ended, for a limit was reached with them: make a pool in the cell that uses it, and end it there",
    ),
}  # fmt: skip


@pytest.mark.one_case("each is graded in a sandbox")
@NEEDS_SANDBOX
@pytest.mark.parametrize("kind", ENDED)
def test_what_would_take_from_the_answers_is_ended_and_that_is_said(kind):
    cells, told = ENDED[kind]
    found = graded(IMPORTS, *cells, limits=Limits(cell_seconds=20, memory=512 * 2**20))
    assert (states(found)["start_here/estimate_share"] == RIGHT) == (kind == "limit")
    assert found.result.notes == (f"the processes that cell 2 had left running were {told}",)
    assert (found.result.status, found.result.errors) == ("graded", ())


@NEEDS_SANDBOX
def test_processes_without_which_a_limit_is_reached_all_the_same_live_on():
    found = graded(IMPORTS, POOL, "__import__('os')._exit(0)", BY_POOL, CHECK, ids=("start_here/keep_probability",))
    assert states(found) == {"start_here/keep_probability": RIGHT}
    assert found.result.notes == ("cell 3 was left out: it ended the process that ran it",)


@NEEDS_SANDBOX
def test_any_function_may_be_checked_and_the_better_of_both_counts():
    assert states(
        graded(
            IMPORTS,
            ODDS.replace("keep_probability", "mine"),
            'check("0.1", mine)',
            ids=("start_here/keep_probability",),
        )
    ) == {"start_here/keep_probability": RIGHT}
    wrong = body("return 0.5")
    for cells, state in (
        ((BLANK_ANSWER, CHECK, ODDS), RIGHT),
        ((wrong, CHECK, ODDS), RIGHT),
        ((ODDS, CHECK, wrong), RIGHT),
        ((wrong, CHECK, wrong, CHECK, ODDS + CHECK + "\nkeep_probability = None"), RIGHT),
        ((wrong, CHECK, "%reset -f"), WRONG),
        ((wrong, CHECK, BLANK_ANSWER), WRONG),
        ((BLANK_ANSWER, CHECK), BLANK),
        (("check('0.1')", "check('0.1', 3)", "check('49.9', odds)", "check(None, 3)"), ERROR),
    ):
        assert states(graded(IMPORTS, *cells, ids=("start_here/keep_probability",))) == {
            "start_here/keep_probability": state
        }, cells


@NEEDS_SANDBOX
def test_a_cell_may_wait_for_an_answer_to_be_right():
    gated = f"assert passed('0.1') and not passed('0.3')\n{SHARE}"
    given = IMPORTS.replace("check,", "check, passed,")
    assert states(graded(given, ODDS, CHECK, gated)) == {
        "start_here/keep_probability": RIGHT,
        "start_here/estimate_share": RIGHT,
    }
    assert states(graded(given, ODDS, gated, CHECK)) == {
        "start_here/keep_probability": RIGHT,
        "start_here/estimate_share": ERROR,
    }
    assert states(graded(given, body("return 0.5"), CHECK, gated)) == {
        "start_here/keep_probability": WRONG,
        "start_here/estimate_share": ERROR,
    }
    ends = body("import os; os._exit(0)")  # all cells run again, and what was right is not probed again
    assert states(graded(given, SHARE, CHECK_SHARE, f"assert passed('0.3')\n{ends}", CHECK)) == {
        "start_here/keep_probability": ERROR,
        "start_here/estimate_share": RIGHT,
    }


@NEEDS_SANDBOX
def test_an_error_below_takes_no_definition_and_no_check_above_it():
    found = graded(IMPORTS, ODDS + CHECK + ".message", SHARE + "1 / 0\n" + CHECK_SHARE)
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert [error.partition(":")[2].split(":")[0] for error in found.result.errors] == [
        " AttributeError",
        " ZeroDivisionError",
    ]


@NEEDS_SANDBOX
def test_a_check_in_a_thread_or_in_another_process_is_none():
    found = graded(
        IMPORTS,
        ODDS,
        f"import threading, os\nthread = threading.Thread(target=lambda: {CHECK})\nthread.start(); thread.join()",
        f"if not os.fork(): {CHECK}\nos.wait()",
        "keep_probability = None",
        ids=("start_here/keep_probability",),
    )
    assert states(found) == {"start_here/keep_probability": ERROR} or states(found) == {
        "start_here/keep_probability": RIGHT
    }
    assert len(found.evidence["start_here/keep_probability"]) == 1


# ---- what the student's own notebook takes


@NEEDS_SANDBOX
def test_a_notebook_that_takes_a_mark_is_told_by_what():
    found = graded(IMPORTS, ODDS, SHARE, "sum = 0", "%reset -f")
    assert states(found) == {"start_here/keep_probability": ERROR, "start_here/estimate_share": ERROR}
    assert found.result.status == "flagged"
    assert "cell 4 gives `sum` another meaning" in message(found)
    assert "after `%reset` in cell 5 `math` is gone" in message(found)
    assert "exercise 0.1: cell 4 gives `sum` another meaning" in found.result.notes
    kept = graded(IMPORTS, ODDS, CHECK, "sum = 0", ids=("start_here/keep_probability",))
    assert states(kept) == {"start_here/keep_probability": RIGHT}
    assert "Below its check cell 4 gives `sum` another meaning; it was right there" in message(kept)
    assert "meaning" not in message(
        graded(IMPORTS, ODDS, CHECK, "x = sum", "math.pi", ODDS, ids=("start_here/keep_probability",))
    )


@NEEDS_SANDBOX
def test_the_cell_with_which_it_began_is_named_first():
    scaled = SHARE.replace("np.mean", "scale * np.mean")
    found = graded("import nothing_here\n" + IMPORTS, ODDS, "scale = odds(1)", scaled)
    began = "ell 1 stopped with ModuleNotFoundError: No module named 'nothing_here'"
    assert states(found) == {"start_here/keep_probability": ERROR, "start_here/estimate_share": ERROR}
    assert message(found).startswith(f"C{began}; so `math` is not there. Your function stopped with NameError")
    assert found.result.notes == (f"c{began}; exercises that need what it should define: 0.1, 0.3",)
    by_another = graded(IMPORTS, "1 / 0\nunit = 1", "scale = unit", scaled, ids=("start_here/estimate_share",))
    began = "Cell 2 stopped with ZeroDivisionError: division by zero; so `scale` is not there. Your function"
    assert message(by_another, "start_here/estimate_share").startswith(began)
    own_fault = graded(IMPORTS, "1 / 0", ODDS.replace("math", "maths"), ids=("start_here/keep_probability",))
    assert message(own_fault).startswith("Your function stopped with NameError (name 'maths' is not defined)")
    assert own_fault.result.notes == ()


@NEEDS_SANDBOX
def test_who_asked_for_input_is_told_where_a_mark_is_lost():
    asks = "epsilon_0 = float(input('epsilon? '))"
    lost = graded(IMPORTS, asks, body("return epsilon_0"), SHARE)
    assert "cell 2 asked for input: nobody types here, and it got an empty line" in lost.result.notes
    assert message(lost).startswith("Cell 2 stopped with ValueError: could not convert string to float: ''")
    in_answer = graded(IMPORTS, body("return float(input())"), ids=("start_here/keep_probability",))
    assert in_answer.result.notes == (
        "`keep_probability` asked for input: nobody types here, and it got an empty line",
    )
    assert graded(IMPORTS, "name = input()", ODDS, ids=("start_here/keep_probability",)).result.notes == ()


@NEEDS_SANDBOX
def test_a_cell_under_a_magic_that_is_not_here_runs_where_it_defines_something():
    found = graded(
        f"%%black -l 100\n{IMPORTS}", f"\n%%memit\n{ODDS}\n%time 3", CHECK, "%%sql\nselect 1", "%%mermaid\ngraph", SHARE
    )
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert found.result.notes == tuple(
        f"cell {cell} begins with `%%{magic}`, which is not here: the rest of the cell was run as Python"
        for cell, magic in ((1, "black"), (2, "memit"))
    )
    assert [error.split(": ")[:2] for error in found.result.errors] == [
        ["cell 4", "UsageError"],
        ["cell 5", "UsageError"],
    ]


# ---- limits of time

SHORT = Limits(cell_seconds=1, seconds=60)


@NEEDS_SANDBOX
def test_a_slow_cell_is_interrupted_and_keeps_what_it_defined():
    slow = (
        "import time\ntry:\n    while True: time.sleep(0.01)\nexcept: pass\nwhile True: pass\nkeep_probability = None"
    )
    found = graded(IMPORTS, ODDS + slow, CHECK, ids=("start_here/keep_probability",), limits=SHORT)
    assert states(found) == {"start_here/keep_probability": RIGHT}
    assert found.result.status == "limit"
    assert found.result.notes == ("cell 2 did not end within 1 seconds and was interrupted",)
    assert found.result.limits == ()


@NEEDS_SANDBOX
def test_what_a_library_makes_of_the_end_of_the_time_is_that_end():
    library = "import time\\ntry: time.sleep(60)\\nexcept BaseException: raise ValueError"
    found = graded(IMPORTS, ODDS, CHECK, f"exec('{library}', {{}})", ids=("start_here/keep_probability",), limits=SHORT)
    assert found.result.status == "limit"
    assert found.result.notes == ("cell 4 did not end within 1 seconds and was interrupted",)


@pytest.mark.weekly("waits for a limit; other limits are met on a commit")
@NEEDS_SANDBOX
def test_a_cell_that_cannot_be_interrupted_is_cut_where_it_hangs():
    slow = """
def hang():
    import signal, time
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    time.sleep(60)

hang(); keep_probability = None
"""
    found = graded(IMPORTS, ODDS + slow, CHECK, SHARE, limits=SHORT)
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": RIGHT}
    assert found.result.notes == ("cell 2 was left out from its statement 4 on: the time limit was reached",)


@NEEDS_SANDBOX
def test_what_was_right_at_its_check_counts_when_the_time_is_over():
    found = graded(
        IMPORTS, ODDS, CHECK, "import time; time.sleep(60)", SHARE, limits=Limits(cell_seconds=60, seconds=2.5)
    )
    assert states(found) == {"start_here/keep_probability": RIGHT, "start_here/estimate_share": ERROR}
    assert found.result.status == "limit"
    assert "the time limit of the whole submission, 2.5 seconds, was reached" in message(
        found, "start_here/estimate_share"
    )
    assert found.result.limits == (60, 2.5, Limits().memory)


@pytest.mark.weekly("waits for a limit twice")
@NEEDS_SANDBOX
def test_an_answer_that_never_ends_is_called_again_only_where_it_is_written_anew():
    endless = body("while True: pass")
    found = graded(IMPORTS, endless, CHECK, ids=("start_here/keep_probability",), limits=SHORT)
    assert states(found) == {"start_here/keep_probability": ERROR}
    assert found.result.status == "graded"
    assert found.result.limits == (1, 60, Limits().memory)
    assert len(found.evidence["start_here/keep_probability"]) == 1
    assert states(graded(IMPORTS, endless, CHECK, ODDS, ids=("start_here/keep_probability",), limits=SHORT)) == {
        "start_here/keep_probability": RIGHT
    }


@NEEDS_SANDBOX
def test_an_answer_that_ends_its_worker_at_a_check_loses_itself_only():
    found = graded(IMPORTS, body("import os; os._exit(0)"), CHECK, SHARE, CHECK_SHARE)
    assert states(found) == {"start_here/keep_probability": ERROR, "start_here/estimate_share": RIGHT}
    assert found.result.status == "limit"
    assert found.result.notes == ("exercise 0.1 was stopped: it ended the process that ran it",)


# ---- judged again


@NEEDS_SANDBOX
def test_what_was_seen_can_be_judged_again_without_running_a_line(monkeypatch):
    found = graded(IMPORTS, body("return math.exp(epsilon)"), CHECK, SHARE)
    monkeypatch.setattr("dpcourse.grading.run.client.Worker.__init__", None)
    for mark in found.result.exercises:
        exercise = course.find(mark.id)
        assert submission.judged_again(exercise, b"seed", found.evidence[mark.id]) == mark
        assert submission.judged_again(exercise, b"another", found.evidence[mark.id]) is None


TWO_LESS = body("return (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1)")
PART_OF_IT = body("return 0.6 * math.expm1(epsilon) / (math.exp(epsilon) + 1)")
REPAIRED = "Line 2: `- 1` is too much in `math.exp(epsilon) - 1`."
PLACED = "Only `0.6 * math.expm1(epsilon)` in line 2 is not what is needed"


AT_A_NUMBER = body("return 0.0 if epsilon == 1.2345 else math.exp(epsilon) / (1 + math.exp(epsilon))")


@NEEDS_SANDBOX
def test_what_is_wrong_at_a_number_that_it_speaks_of_does_not_pass_here_either(monkeypatch):
    found = graded(IMPORTS, AT_A_NUMBER, CHECK, ids=("start_here/keep_probability",))
    [mark] = found.result.exercises
    assert mark.state == WRONG
    assert "keep_probability(epsilon=1.2345) gave 0" in mark.seen[0]
    monkeypatch.setattr("dpcourse.grading.run.client.Worker.__init__", None)
    assert submission.judged_again(course.find(mark.id), b"seed", found.evidence[mark.id]) == mark


@NEEDS_SANDBOX
@pytest.mark.parametrize(("answer", "told"), [(TWO_LESS, REPAIRED), (PART_OF_IT, PLACED)])
def test_what_is_wrong_and_where_is_told_as_in_a_notebook_and_when_it_is_judged_again(monkeypatch, answer, told):
    found = graded(IMPORTS, answer, CHECK, ids=("start_here/keep_probability",))
    [mark] = found.result.exercises
    assert (mark.state, mark.found_by) == (WRONG, "place")
    assert told in mark.message
    monkeypatch.setattr("dpcourse.grading.run.client.Worker.__init__", None)
    again = submission.judged_again(course.find(mark.id), b"seed", found.evidence[mark.id])
    assert again == mark


KEPT_BY = "def randomized_response(bits, epsilon, rng):\n    keep = rng.random(len(bits)) < math.exp(epsilon) / (2 + math.exp(epsilon))\n    return np.where(keep, bits, 1 - bits)"


@pytest.mark.weekly("a random answer in a sandbox; what is told of it is tried on a commit without one")
@NEEDS_SANDBOX
def test_a_random_answer_is_told_by_its_draws_and_when_it_is_judged_again(monkeypatch):
    check = 'check("0.2", randomized_response)'
    found = graded(IMPORTS, KEPT_BY, check, ids=("start_here/randomized_response",))
    [mark] = found.result.exercises
    assert "Line 2: `2` is the wrong value" in mark.message
    monkeypatch.setattr("dpcourse.grading.run.client.Worker.__init__", None)
    assert submission.judged_again(course.find(mark.id), b"seed", found.evidence[mark.id]) == mark


@NEEDS_SANDBOX
def test_an_answer_that_breaks_what_watches_it_is_wrong_all_the_same():
    spoil = "import dpcourse.checking.calling.steps as steps\nsteps.Watched.steps = lambda *given: 1 / 0"
    found = graded(IMPORTS, spoil, TWO_LESS, CHECK, ids=("start_here/keep_probability",))
    assert states(found) == {"start_here/keep_probability": WRONG}


@pytest.mark.weekly("a lesson in a sandbox, more than once")
@NEEDS_SANDBOX
def test_where_functions_are_forbidden_each_probe_has_inputs_of_its_own():
    seen = "seen = []\ndef estimate_share(reports, epsilon):\n    seen.append(np.asarray(reports).tobytes())\n    return 0.5"
    right = SHARE + "\nhonest = estimate_share\ndef estimate_share(reports, epsilon):\n    assert len(reports) < 30 or np.ptp(reports) == 0 or np.asarray(reports).tobytes() not in seen\n    return honest(reports, epsilon)"  # fmt: skip
    for last in (CHECK_SHARE, "pass"):  # it is right at another check, or at the end
        found = graded(IMPORTS, seen, CHECK_SHARE, CHECK_SHARE, right, last, ids=("start_here/estimate_share",))
        assert states(found) == {"start_here/estimate_share": RIGHT}, found
        [mark] = found.result.exercises
        assert (
            submission.judged_again(
                course.find("start_here/estimate_share"), b"seed", found.evidence["start_here/estimate_share"]
            )
            == mark
        )
