"""A pack is graded as the course's lessons are, each student by their own variant; who hands in another's is named."""

import json

import pytest
from authoring.packs import exam, practice
from grading.judge.exams import EPSILONS, handed_in, told
from sandboxed import NEEDS_SANDBOX
from support import ROOT

from dpcourse import course
from dpcourse.authoring import execute
from dpcourse.base import cells
from dpcourse.grading import collect
from dpcourse.grading.judge import per_student
from dpcourse.grading.judge.answers import asked
from dpcourse.grading.judge.given import changes
from dpcourse.grading.judge.job import Job, cases_of
from dpcourse.grading.run import bubblewrap


@pytest.fixture(scope="module")
def final(tmp_path_factory):
    """The folder of an exam, lesson 61, built without a kernel, and in use."""
    folder = exam(tmp_path_factory.mktemp("pack") / "final", 61)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "executed", lambda page: page.solved)
        assert told("build", "--pack", folder)[0] == 0
    course.use_pack(folder)
    yield folder
    course._forget(folder.resolve())


def blank(final):
    return (final / "lessons" / "61-final.ipynb").read_bytes()


def of(epsilon):
    return {"odds_after": {"epsilon": epsilon}}


def theirs(final, epsilon):
    """The blank notebook of somebody with this epsilon."""
    return json.dumps(cells.with_values(json.loads(blank(final)), {"epsilon": epsilon})).encode()


def test_what_was_given_out_is_what_each_student_got(final):
    for epsilon in EPSILONS:
        release = per_student.release_for([blank(final)], 61, of(epsilon))
        assert f'check("61.1", odds_after, epsilon={epsilon})' in release.code
        for other in EPSILONS:
            found = collect.code_cells(handed_in(theirs(final, other), other))
            assert bool(changes(found, release.provided)) == (other != epsilon)


def test_a_notebook_of_another_variant_is_named(final):
    for mine in EPSILONS:
        for other in EPSILONS:
            found = per_student.another_notebook(collect.code_cells(theirs(final, other)), 61, of(mine))
            assert len(found) == (mine != other)
            assert all(f"epsilon {other}; this student's is epsilon {mine}" in note for note in found)


@pytest.mark.parametrize("code", ["check(", "check()", "check('61.1', f, **x)", "check('61.1', f, epsilon=x)", "check('0.1', f, epsilon=9)", "nothing", '"61.1"; ' + "(" * 3000])  # fmt: skip
def test_a_cell_that_names_no_values_is_no_notebook_of_anybody(final, code):
    assert per_student.another_notebook([collect.Cell(1, "a", code)], 61, of(0.5)) == []


def test_an_answer_for_another_variant_is_named_and_no_other(final):
    job = Job(61, b"", b"a seed", values=of(0.5))
    exercise = course.find("61.1", {"epsilon": 0.5})
    for answer in (1.25, 2.0, 0.5, 9):
        evidence, cases = [], cases_of(exercise, job.seed)
        outcomes = [{"value": case["odds"] * 2.718281828459045**answer} for case in cases]
        evidence = ([{"asked": "something else"}, *outcomes], [{"asked": asked(cases)}, *outcomes])
        found = per_student.another_answer(exercise, job, evidence)
        is_another = answer in (1.25, 2.0)
        assert len(found) == is_another
        assert all(f"right for epsilon {answer}" in note for note in found)
    for strange in (
        [],
        [{}],
        [{"value": None}] * 2,
        [{"value": "x"}, {"value": [1, 2]}],
        [{"value": float("nan")}] * 2,
    ):
        assert per_student.another_answer(exercise, job, ([{"asked": asked(cases)}, *strange],)) == []
    assert per_student.another_answer(exercise, Job(61, b"", b"a seed"), evidence) == []


@NEEDS_SANDBOX
def test_a_pack_within_the_reach_of_students_code_is_refused(tmp_path, monkeypatch):
    assert bubblewrap.shows(ROOT / "dpcourse" / "checking" / "calling")
    folder = practice(tmp_path / "more")
    assert not bubblewrap.shows(folder)
    (tmp_path / "submissions").mkdir()
    monkeypatch.setattr(bubblewrap, "shows", lambda folder: True)
    try:
        status, said = told(
            "grade", tmp_path / "submissions", "--pack", folder, "--lesson", 50, "--out", tmp_path / "grades"
        )
    finally:
        course._forget(folder.resolve())
    assert (status, "and there the answers are: move the pack" in said) == (2, True), said
