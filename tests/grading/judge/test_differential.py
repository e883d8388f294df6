"""A hundred honest notebooks, in JupyterLab's own kernel and in the grader: the same exercises are right, in every one."""

import json

import nbformat
import pytest
from grading import given_out
from grading.judge.honest import EDITS, notebook
from nbclient import NotebookClient
from sandboxed import NEEDS_SANDBOX

from dpcourse import course
from dpcourse.grading.judge import submission
from dpcourse.grading.run import Limits, warm

ON_A_COMMIT = [next(iter(EDITS))]
FEWER = ("cached", "half of it", "wrong here and there")  # not all of their answers are right: a cache takes no list
LIMITS = Limits(cell_seconds=60, seconds=280)

pytestmark = NEEDS_SANDBOX


@pytest.fixture(scope="module", autouse=True)
def _warm_process():
    yield
    warm.close()


@pytest.fixture(scope="module")
def releases():
    return given_out.releases()


def passed_in_jupyter(content, folder, monkeypatch):
    """The names of the exercises that the checks call right when a kernel runs all cells in order."""
    monkeypatch.setenv("DPCOURSE_DATA", str(folder))
    client = NotebookClient(nbformat.reads(content.decode(), 4), timeout=600, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": str(folder)}})  # fmt: skip
    client.execute()
    file = folder / "progress.json"
    return set(json.loads(file.read_text())["done"]) if file.exists() else set()


def test_there_are_a_hundred_of_them_and_no_two_are_alike():
    assert len(EDITS) >= 100
    assert len({notebook(name) for name in EDITS}) == len(EDITS)


@pytest.mark.weekly("the solved lessons by both ways, half a minute; the cohort has them by one on a commit")
@pytest.mark.parametrize(
    "name",
    [
        *ON_A_COMMIT,
        *(
            pytest.param(each, marks=pytest.mark.weekly("a kernel for each; one shows the way"))
            for each in EDITS
            if each not in ON_A_COMMIT
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_grader_gives_what_the_checks_gave(name, releases, tmp_path, monkeypatch):
    lesson, content = notebook(name)
    passed = passed_in_jupyter(content, tmp_path, monkeypatch)
    result = submission.grade(
        submission.Job(lesson.number, content, b"seed of the test", releases[lesson.number], LIMITS)
    ).result
    right = {course.find(mark.id).function for mark in result.exercises if mark.state == "right"}
    assert {f"{lesson.word}/{function}" for function in right} == passed, result
    assert (len(passed) == len(lesson.functions)) == (name not in FEWER)
