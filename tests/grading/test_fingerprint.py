"""A stored result is good as long as all is the same that decides a mark."""

import shutil

import pytest

from dpcourse.grading import fingerprint
from dpcourse.grading.sandbox.library import PACKAGE

DECIDES = [
    "composition.py",
    "course/composition/worst_posterior.py",
    "course/laplace/shared.py",
    "engine/exercise.py",
    "grading/collect.py",
    "grading/given.py",
    "grading/outcomes.py",
    "grading/result.py",
    "grading/sandbox/client.py",
    "grading/sandbox/wire.py",
    "grading/sandbox/worker.py",
    "grading/similar.py",
    "grading/submission.py",
    "probe/probe.py",
    "probe/values.py",
]
DECIDES_NOTHING = [
    "authoring/release.py",
    "cli.py",
    "course/composition/pictures.py",
    "course/composition/quiz.py",
    "grading/gradebook.py",
    "grading/report.py",
]


@pytest.mark.parametrize("name", DECIDES + DECIDES_NOTHING)
def test_only_what_decides_a_mark_makes_results_old(name, tmp_path, monkeypatch):
    copy = tmp_path / "dpcourse"
    for file in {*DECIDES, *DECIDES_NOTHING}:
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / file, copy / file)
    monkeypatch.setattr(fingerprint, "PACKAGE", copy)
    before = fingerprint.fingerprint(b"secret")
    assert before == fingerprint.fingerprint(b"secret") != fingerprint.fingerprint(b"another")
    with open(copy / name, "a") as file:
        file.write("# changed\n")
    assert (fingerprint.fingerprint(b"secret") != before) == (name in DECIDES)


def test_a_name_that_decides_nothing_is_still_there():
    for pattern in fingerprint.DECIDES_NOTHING:
        assert list(PACKAGE.glob(pattern)), pattern
