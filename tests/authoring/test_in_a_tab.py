"""The lessons of JupyterLite in Pyodide itself, with stubs for what only its own server has: numpy, scipy, matplotlib.

in_a_tab.py runs there. What it cannot try is what these stubs cannot do: the mathematics, the pictures, and with them most
checks. `pytest -s` prints which.
"""

import ast
import functools
import json
import shutil
import subprocess
import sysconfig
import tomllib

import pytest
from support import ROOT

from dpcourse import course as lessons
from dpcourse.authoring import answers, lite
from dpcourse.base.modules import Modules

PYODIDE = "pyodide@314.0.7"  # that of JupyterLite's kernel 0.8.6
BLOCKED = ["dpcourse.dpsgd", "filelock", "jupyter_core", "jupytext", "loky", "nbformat", "pandas", "psutil", "sklearn"]
BLOCKED += ["statsmodels", "torch", "tqdm", "typer"]
"""Packages that a tab does not have, and what needs them."""
pytestmark = pytest.mark.weekly("Pyodide is fetched by npm, and imports all that the lessons use")


@functools.cache
def cells(number):
    """The code cells of a lesson as it is written for a tab; the first one installs."""
    file = ROOT / f"lessons/{lessons.lesson(number).name}.ipynb"
    notebook = lite.in_a_tab(json.loads(file.read_text(encoding="utf-8")), file.stem, "en")
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def imports():
    """The modules of others that the lessons import, and those of the course that this reaches."""
    package, mine, others = Modules(ROOT / "dpcourse"), set(), set()
    for number in lite.NUMBERS:
        lesson = lessons.lesson(number)
        for cell in cells(number)[1:]:
            mine |= package.imported(ast.parse(cell))
            others |= {name for node in imported(cell) for name in modules_of(node) if not name.startswith("dpcourse")}
        parts = (*lesson.functions, "pictures", "attack", "quiz", "in_a_tab")
        mine |= {f"dpcourse.course.{lesson.word}.{part}" for part in parts if lesson.has(part)}
    mine |= {f"dpcourse.notebook.{file.stem}" for file in (ROOT / "dpcourse/notebook").glob("[a-z]*.py")}
    return [*sorted(others), *sorted(package.reached(mine))]


def imported(cell):
    return [node for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Import | ast.ImportFrom)]


def modules_of(node):
    return [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]


def corpus():
    """Of each exercise a right answer and a wrong one; those without numpy first."""
    for number in lite.NUMBERS:
        lesson = lessons.lesson(number)
        given = sorted(answers.corpus(ROOT, number), key=lambda answer: "np." in answer.code)
        names = "\n".join(ast.unparse(node) for cell in cells(number)[1:] for node in imported(cell))
        for function in lesson.functions:
            for right in (True, False):
                answer = next(each for each in given if each.exercise == function and each.right == right)
                told = {"label": answer.label, "code": answer.code, "right": right, "imports": names}
                yield {"exercise": f"{lesson.word}/{function}", **told}


@pytest.fixture(scope="module")
def pyodide(tmp_path_factory):
    """Where Pyodide is on this machine."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("no node and npm on this machine: apt-get install nodejs npm")
    folder = tmp_path_factory.mktemp("npm")
    done = subprocess.run(["npm", "install", "--silent", "--prefix", folder, PYODIDE], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "node_modules/pyodide/pyodide.mjs"


@pytest.fixture(scope="module")
def result(pyodide, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tab")
    task = {
        "installed": {"cell": cells(0)[0], "packages": "/packages"},
        "requirements": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"],
        "prepare": {"blocked": BLOCKED},
        "tried": {"imports": imports(), "answers": list(corpus())},
    }
    (folder / "task.json").write_text(json.dumps(task))
    mounts = {
        "/course": ROOT,
        "/task": folder,
        "/tests": ROOT / "tests/authoring",
        "/packages": sysconfig.get_path("purelib"),
    }
    command = ["node", ROOT / "tests/authoring/in_a_tab.mjs", pyodide, "/tests/in_a_tab.py", "/task/task.json"]
    command += [f"{place}={on_this_machine}" for place, on_this_machine in mounts.items()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_module_that_the_lessons_use_is_imported(result):
    print(f"\n{result['imported']} modules in {result['seconds']:.0f} s")
    assert result["failed"] == {}
    assert result["imported"] == len(imports())


def test_what_can_be_checked_without_numpy_is_judged_as_everywhere(result):
    ran, lacking = [], []
    for check in result["checks"]:
        (lacking if check["lacks"] else ran).append(check)
    for check in ran:
        assert check["said"] == ("right" if check["right"] else "wrong"), check
        assert check["exercise"] in result["done"] or not check["right"]
    for check in ran:
        print(f"checked   {check['exercise']}: {check['label']}")
    for check in lacking:
        print(f"not tried {check['exercise']}: {check['label']}: {', '.join(check['lacks'])}")
    assert {"start_here/keep_probability", "gdp/group_sigma"} <= {check["exercise"] for check in ran}


def test_the_wheel_asks_for_nothing_that_a_tab_does_not_need(result):
    assert result["needs"] == ["ipython", "ipywidgets", "matplotlib", "numpy", "packaging", "platformdirs", "scipy"]


def test_the_cell_that_installs_says_what_did_not_come(result):
    assert "cdn.jsdelivr.net" in result["installed"]
    assert "No module named 'scipy'" in result["installed"]


def test_progress_is_kept_and_the_set_up_check_works_without_what_a_tab_lacks(result):
    """JupyterLite puts an empty module in the place of fcntl, with which no file can be locked."""
    assert "start_here/keep_probability" in result["done"]
    assert "MISSING" not in result["doctor"]
    assert result["doctor"].startswith("OK      Python: 3.14")
