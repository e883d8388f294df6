"""A stored result is good as long as all is the same that decides its marks; and no more is redone than has to be."""

import shutil

import pytest

from dpcourse import course
from dpcourse.base.modules import Modules
from dpcourse.grading.judge import fingerprint
from dpcourse.grading.judge.given import Release
from dpcourse.grading.run.library import PACKAGE

pytestmark = pytest.mark.in_turn("seconds in a sandbox")

RUNS, JUDGES = "running", "composition/worst_posterior"
OTHERS = BASIC, _ = "composition/basic_composition", "laplace/sum_sensitivity"
CHANGES = {  # of a module: which of the fingerprints above are others then
    "composition.py": {RUNS, BASIC},  # of which worst_posterior knows nothing
    "course/composition/worst_posterior.py": {JUDGES},
    "course/composition/advanced_composition.py": set(),
    "course/composition/__init__.py": {JUDGES, BASIC},
    "course/composition/pictures.py": set(),
    "course/composition/quiz.py": set(),
    "checking/exercise.py": {JUDGES, *OTHERS},
    "course/composition/mutants.json": {JUDGES, BASIC},
    "checking/calling/probe.py": {RUNS, JUDGES, *OTHERS},
    "grading/judge/given.py": {RUNS},
    "grading/judge/job.py": {RUNS},
    "grading/judge/outcomes.py": {RUNS},
    "grading/judge/submission.py": {RUNS},
    "grading/collect/notebook.py": {RUNS},
    "grading/run/worker.py": {RUNS},
    "grading/run/wire.py": {RUNS},
    "dpsgd/sampling.py": {RUNS},
    "rdp.py": {RUNS},
    "authoring/release.py": set(),
    "commands/author.py": set(),
    "notebook/doctor.py": set(),
    "base/modules.py": set(),
    "grading/cohort.py": set(),
    "commands/grade_steps.py": set(),
    "grading/out/gradebook.py": set(),
    "grading/marks/marking.py": set(),
    "grading/out/report.py": set(),
    "grading/marks/settings.py": set(),
    "grading/keep/store.py": set(),
    "grading/judge/tasks.py": set(),
}


def prints(modules, secret=b"secret"):
    exercises = {id: fingerprint.judging(secret, course.find(id), modules) for id in (JUDGES, *OTHERS)}
    return {RUNS: fingerprint.running(secret, Release(), modules)} | exercises


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    copy = tmp_path_factory.mktemp("package") / "dpcourse"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def before(copy):
    return prints(Changed(copy, ""))


class Changed(Modules):
    """The package with one line more in one of its files; what the others say is read once for all."""

    read = Modules(PACKAGE)

    def __init__(self, folder, name):
        super().__init__(folder)
        self.changed = folder / name

    def said(self, module):
        return super().said(module) if self.file(module) == self.changed else self.read.said(module)

    def imports(self, module):
        return self.read.imports(module)


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_redone_follows_what_has_changed(name, copy, before):
    text = (copy / name).read_bytes()
    (copy / name).write_bytes(text + (b"\n" if name.endswith("json") else b"\nchanged = 1\n"))
    after = prints(Changed(copy, name))
    (copy / name).write_bytes(text)
    assert {each for each in after if after[each] != before[each]} == CHANGES[name]


def test_comments_and_docstrings_decide_nothing(copy):
    file = copy / "course/composition/worst_posterior.py"
    before, text = prints(Changed(copy, "")), file.read_text(encoding="utf-8")
    file.write_text('"""Another line."""' + text[text.index('"""', 3) + 3 :] + "\n# a comment\n", encoding="utf-8")
    assert prints(Changed(copy, file.relative_to(copy))) == before
    file.write_text(text, encoding="utf-8")


def test_another_secret_is_another_grader(copy):
    one, other = (prints(Changed(copy, ""), secret) for secret in (b"one", b"other"))
    assert not any(one[each] == other[each] for each in one)


def test_what_was_given_out_decides(copy):
    modules = Changed(copy, "")
    assert fingerprint.running(b"", Release(code="x"), modules) != fingerprint.running(b"", Release(), modules)


@pytest.mark.weekly("a process of its own imports each judge")
def test_the_judge_of_each_exercise_is_the_one_that_is_imported():
    for exercise in course.every_exercise():
        module = f"dpcourse.course.{course.lesson(exercise.lesson).word}.{exercise.function}"
        judges = fingerprint.that_judge(Changed.read, module)
        assert {module, "dpcourse.checking.exercise", "dpcourse.checking.diagnosis.mutants"} <= judges
        assert not any(each.startswith(("dpcourse.grading", "dpcourse.authoring")) for each in judges)
