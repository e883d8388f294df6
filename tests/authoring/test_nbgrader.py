"""The nbgrader course: its hidden tests believe nothing that a notebook can set, and nobody sees another's progress."""

import importlib.util
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from grading import given_out
from support import ROOT

from dpcourse import course
from dpcourse.authoring import release
from dpcourse.base import cells
from dpcourse.grading.judge import submission

NAME = "00-start-here"
FILE = Path(NAME, f"{NAME}.ipynb")
POINTS = {exercise.function: exercise.points for exercise in course.lesson(0).exercises}
FORGED = {
    "a state that is set": "import dpcourse.notebook.check\ndpcourse.notebook.check._last_state.update({'0.1': 'right'})",
    "a dict of their own": "import dpcourse.notebook.check\nclass Right(dict):\n    get = lambda self, *a: 'right'\ndpcourse.notebook.check._last_state = Right()",
    "a check of their own": "from dpcourse.checking import Exercise\nclass Right: state, audit = 'right', None\nExercise.check = lambda *a, **k: Right()",
    "a passed of their own": "import dpcourse\ndpcourse.passed = lambda name: True",
    "a reference of their own": "from dpcourse.checking import Exercise\nExercise.agrees = lambda *a: True",
}
IMPORTS = "from dpcourse import attack, check"
ONE_OF_MANY = pytest.mark.weekly("a kernel for each way; one shows that it is closed")
WRONG = "def keep_probability(epsilon):\n    return 0.5"


def source():
    solved = json.loads((ROOT / "solutions" / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    return release.as_nbgrader_source(solved, 0)


def handed_in(first=None, answer=None):
    """The solved notebook with a cell behind the imports, and with the first answer replaced."""
    notebook = source()
    if answer:
        next(each for each in notebook["cells"] if "def keep_probability(" in each["source"])["source"] = answer
    if first:
        next(each for each in notebook["cells"] if IMPORTS in each["source"])["source"] += f"\n{first}\n"
    return notebook


def right(notebook, function, folder):
    """Whether the locked cell of an exercise lets an answer pass; only what it needs runs, in a process of its own."""
    exercise = course.lesson(0).exercise(function)
    codes = ["".join(each["source"]) for each in notebook["cells"] if each["cell_type"] == "code"]
    mine = [
        code
        for code in codes
        if IMPORTS in code or function in cells.defined(code) or exercise.number in cells.checked(code)
    ]
    program = "\n".join(code.replace("progress()", "") for code in mine)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DPCOURSE_DATA": str(folder / "data")}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, cwd=folder, env=environment)  # fmt: skip
    assert done.returncode == 0 or "AssertionError" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.weekly("two kernels; the one that is closed to a change of dpcourse is on a commit")
def test_a_right_answer_passes_and_a_wrong_one_does_not(tmp_path):
    assert right(handed_in(), "keep_probability", tmp_path)
    assert not right(handed_in(answer=WRONG), "keep_probability", tmp_path)


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.parametrize("how", [pytest.param(each, marks=[] if "dict" in each else ONE_OF_MANY) for each in FORGED])  # fmt: skip
def test_a_notebook_that_changes_dpcourse_in_memory_gets_no_points_for_it(how, tmp_path):
    assert not right(handed_in(FORGED[how], WRONG), "keep_probability", tmp_path)


@pytest.mark.weekly("nbgrader's kernel, once more")
def test_a_dpcourse_that_is_handed_in_beside_the_notebook_is_found(tmp_path):
    shutil.copytree(ROOT / "dpcourse", tmp_path / "dpcourse", ignore=shutil.ignore_patterns("__pycache__"))
    first = "import sys\nsys.path.insert(0, '')"
    assert not right(handed_in(first), "keep_probability", tmp_path)
    shutil.rmtree(tmp_path / "dpcourse")
    assert right(handed_in(first), "keep_probability", tmp_path)


def test_the_export_says_how_its_kernel_finds_dpcourse_and_keeps_progress_apart(tmp_path):
    release.nbgrader_course(ROOT, tmp_path / "made", [0])
    told = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    for words in ("jupyter kernelspec list", "PYTHON -m pip install -r requirements.txt", "nbgrader autograde", "dpcourse grade submitted"):  # fmt: skip
        assert words in told
    settings = (tmp_path / "made" / "nbgrader_config.py").read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPCOURSE_DATA", "elsewhere")
        exec(settings, {"get_config": lambda: _Anything()})
        assert not Path(os.environ["DPCOURSE_DATA"]).is_absolute()


class _Anything:
    def __getattr__(self, name):
        self.__dict__[name] = _Anything()
        return self.__dict__[name]


@pytest.mark.weekly("nbgrader grades a class of three")
@pytest.mark.skipif(importlib.util.find_spec("nbgrader") is None, reason="nbgrader is not installed")
def test_a_class_of_three_gets_the_marks_that_the_grader_gives_and_sees_nobody_elses_progress(tmp_path):
    """One right, one wrong in the first answer, one who says that it is right."""
    folder = tmp_path / "course"
    release.nbgrader_course(ROOT, folder, [0])
    notebooks = {
        "ann": handed_in(),
        "bob": handed_in(answer=WRONG),
        "eve": handed_in(FORGED["a dict of their own"], WRONG),
    }
    environment = {name: value for name, value in os.environ.items() if name != "DPCOURSE_DATA"}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }

    def nbgrader(*arguments):
        done = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=folder, env=environment, capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    nbgrader("generate_assignment", NAME)
    for student, notebook in notebooks.items():
        (folder / "submitted" / student / NAME).mkdir(parents=True)
        (folder / "submitted" / student / FILE).write_text(json.dumps(notebook), encoding="utf-8")
    nbgrader("autograde", NAME)
    nbgrader("generate_feedback", NAME)
    query = (
        "SELECT submitted_assignment.student_id, sum(auto_score) FROM grade JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id "
        "JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id GROUP BY 1"
    )
    with sqlite3.connect(folder / "gradebook.db") as database:
        theirs = dict(database.execute(query))
    ours = {student: _ours(notebook) for student, notebook in notebooks.items()}
    full = sum(POINTS.values())
    assert (
        theirs
        == ours
        == {"ann": full, "bob": full - POINTS["keep_probability"], "eve": full - POINTS["keep_probability"]}
    )
    count = len(POINTS)
    for student in notebooks:
        page = (folder / "feedback" / student / FILE).with_suffix(".html").read_text(encoding="utf-8")
        assert (f"{count} of {count}" in page) == (student == "ann")


def _ours(notebook):
    job = submission.Job(0, json.dumps(notebook).encode(), b"seed", given_out.releases()[0])
    return submission.grade(job).result.score
