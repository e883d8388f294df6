"""`dpcourse grade`: what it grades, remembers, refuses and says."""

import csv
import json
import re
from dataclasses import replace

import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse.cli import app
from dpcourse.grading import cohort, executors, store, submission
from dpcourse.grading.result import result
from dpcourse.grading.sandbox import Unavailable, bubblewrap


def call(*arguments):
    return CliRunner().invoke(app, ["grade", *map(str, arguments)])


@pytest.fixture
def quick(monkeypatch):
    """Grade without workers: the score is the number of letters `z` in the file."""
    from concurrent.futures import ThreadPoolExecutor

    graded = []

    def count(job):
        graded.append(job)
        if b"fault of ours" in job.content:
            raise Unavailable("no worker")
        return replace(result(job.lesson, "graded"), score=job.content.count(b"z"))

    monkeypatch.setattr(submission, "grade", count)
    monkeypatch.setattr(executors, "local", lambda workers: ThreadPoolExecutor(1))
    monkeypatch.setattr(bubblewrap, "missing", lambda: None)
    return graded


def scores(out):
    with open(out / "gradebook.csv", encoding="utf-8") as file:
        return {line["student"]: (line["status"], line["score"]) for line in csv.DictReader(file)}


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.ipynb").write_text("check('1.1') zzz")
    (folder / "bob.ipynb").write_text("check('1.1') z")
    return folder


def test_what_is_graded_is_not_graded_twice_and_what_changed_is(quick, small, tmp_path):
    out = tmp_path / "out"
    assert call(small, "--out", out).exit_code == 0
    assert scores(out) == {"ann": ("graded", "3"), "bob": ("graded", "1")}
    before = (out / "gradebook.csv").read_bytes()
    assert call(small, "--out", out).exit_code == 0
    assert len(quick) == 2
    assert (out / "gradebook.csv").read_bytes() == before
    (small / "bob.ipynb").write_text("check('1.1') zz")
    call(small, "--out", out)
    assert len(quick) == 3
    assert scores(out)["bob"] == ("graded", "2")
    call(small, "--out", out, "--again")
    assert len(quick) == 5


def test_a_fault_of_ours_is_tried_again_and_then_told(quick, small, tmp_path):
    out = tmp_path / "out"
    (small / "cat.ipynb").write_text("fault of ours")
    result = call(small, "--out", out)
    assert result.exit_code == 1
    assert "Not graded: cat" in result.stderr
    assert len(quick) == 2 + cohort.TRIES
    assert scores(out) == {"ann": ("graded", "3"), "bob": ("graded", "1"), "cat": ("infrastructure", "")}
    (small / "cat.ipynb").write_text("fault of nobody's z")
    assert call(small, "--out", out).exit_code == 0
    assert scores(out)["cat"] == ("graded", "1")


def test_when_a_worker_process_dies_its_submissions_are_graded_by_another(quick, small, tmp_path, monkeypatch):
    from concurrent.futures import Future, ThreadPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    class Dying(ThreadPoolExecutor):
        def submit(self, *job):
            future = Future()
            future.set_exception(BrokenProcessPool("a process died"))
            return future

    pools = iter([Dying(1), ThreadPoolExecutor(1)])
    monkeypatch.setattr(executors, "local", lambda workers: next(pools))
    assert call(small, "--out", tmp_path / "out").exit_code == 0
    assert scores(tmp_path / "out") == {"ann": ("graded", "3"), "bob": ("graded", "1")}


def test_an_override_needs_a_reason_and_survives_regrading(quick, small, tmp_path):
    out = tmp_path / "out"
    call(small, "--out", out)
    assert call("--out", out, "--override", "bob", "1.3", "1.5", " ").exit_code == 2
    assert call("--out", out, "--override", "bob", "1.3", "9", "x").exit_code == 2
    assert call("--out", out, "--override", "nobody", "1.3", "1", "x").exit_code == 2
    assert call("--out", out, "--override", "bob", "1.3", "1.5", "shown <on> paper").exit_code == 0
    assert scores(out)["bob"] == ("graded", "1.5")
    call(small, "--out", out, "--again")
    assert scores(out)["bob"] == ("graded", "1.5")
    told = call("--out", out, "--explain", "bob", "1.3")
    assert "set by hand: shown <on> paper" in told.stdout
    assert "shown &lt;on&gt; paper" in next((out / "feedback").glob("bob*")).read_text(encoding="utf-8")


def test_grading_refuses_without_a_sandbox_unless_told_to(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(bubblewrap, "missing", lambda: "bubblewrap is not installed")
    refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "--no-sandbox" in refused.stderr
    assert not quick
    assert call(small, "--out", tmp_path / "out", "--no-sandbox").exit_code == 0
    assert not any(job.sandboxed for job in quick)


def test_a_second_grader_in_the_same_folder_is_refused(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with store.opened(tmp_path / "out"):
        refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "is at work" in refused.stderr


def test_the_json_summary_is_all_that_is_printed(quick, small, tmp_path):
    result = call(small, "--out", tmp_path / "out", "--json")
    told = json.loads(result.stdout)
    assert told["statuses"] == {"graded": 2}
    assert (told["submissions"], told["graded_now"], told["not_graded"]) == (2, 2, [])
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Which folder?"),
        (["nowhere"], "nowhere is no folder"),
        (["--explain", "ann", "1.3"], "There are no grades"),
        (["SMALL", "--lesson", "77"], "lesson must be one of"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(quick, small, tmp_path, arguments, said):
    arguments = [small if argument == "SMALL" else argument for argument in arguments]
    result = call(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_inputs_follow_the_secret_in_a_file(quick, small, tmp_path):
    seed, out = tmp_path / "seed", tmp_path / "out"
    seed.write_text("too short")
    assert call(small, "--out", out, "--seed-file", seed).exit_code == 2
    for secret, graded in (("long enough a secret", 2), ("long enough a secret", 2), ("another of that length", 4)):
        seed.write_text(secret)
        assert call(small, "--out", out, "--seed-file", seed).exit_code == 0
        assert len(quick) == graded
    assert len({job.seed for job in quick}) == 4


def test_the_readmes_two_lines_do_what_it_says(quick, small, tmp_path, monkeypatch):
    for name in ("LICENSE", "dpcourse", "lessons", "pyproject.toml", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    small.rename(tmp_path / "submissions")
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^\.venv/bin/dpcourse (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["release", "grade"]
    for line in lines:
        assert CliRunner().invoke(app, line.split()).exit_code == 0
    assert (tmp_path / "handout" / "lessons" / "00-start-here.ipynb").exists()
    assert scores(tmp_path / "grades") == {"ann": ("graded", "3"), "bob": ("graded", "1")}
