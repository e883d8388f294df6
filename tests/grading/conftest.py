"""What the tests of the command share: a grader that runs nothing, and a small class."""

import pytest

from dpcourse.grading.judge import fingerprint, submission
from dpcourse.grading.result import Graded, Mark, result
from dpcourse.grading.run import Unavailable, bubblewrap, executors


@pytest.fixture
def quick(monkeypatch):
    """Grade without workers: the score is the number of letters `z` in the file, and half of it when judged again."""
    from concurrent.futures import ThreadPoolExecutor

    graded = []

    def count(job):
        graded.append(job)
        if b"fault of ours" in job.content:
            raise Unavailable("no worker")
        zs = job.content.count(b"z")
        mark = Mark("composition/composed_delta", "wrong", zs, 4, "As many points as letters.")
        return Graded(result(job.lesson, "graded", marks=[mark]), {"composition/composed_delta": ([{"zs": zs}],)})

    def judged_again(exercise, seed, evidence):
        return Mark("composition/composed_delta", "wrong", evidence[0][0]["zs"] / 2, 4, "Half as many.")

    monkeypatch.setattr(submission, "grade", count)
    monkeypatch.setattr(submission, "judged_again", judged_again)
    monkeypatch.setattr(fingerprint, "running", lambda secret, release: secret.hex())
    monkeypatch.setattr(fingerprint, "judging", lambda secret, exercise: exercise.id)
    monkeypatch.setattr(executors, "local", lambda workers: ThreadPoolExecutor(1))
    monkeypatch.setattr(bubblewrap, "missing", lambda: None)
    return graded


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.ipynb").write_text("check('1.1') zzz")
    (folder / "bob.ipynb").write_text("check('1.1') z")
    return folder
