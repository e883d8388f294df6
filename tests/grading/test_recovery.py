"""What goes wrong around a run: a disk that is full for real, two runs at once, files that a crash has left."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from grading.called import call, scores
from grading.rows import POSTERIOR
from support import ROOT, by_profile

from dpcourse.grading.keep.store import DATABASE, Store

MANY = 40
FREE = by_profile("bytes left on a disk", (0, 250_000), (0, 6_000, 30_000, 60_000, 100_000, 160_000, 250_000))
WRITTEN = ("gradebook.csv", "marks.csv", "report.html", "feedback-01.zip")


@pytest.fixture
def many(tmp_path):
    """A class of 40 whose scores differ, and a secret, so that two runs give the same bytes."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(MANY):
        (folder / f"student{number:02}.ipynb").write_text(f"check('1.1') {'z' * (number % 5)} {number}")
    (tmp_path / "secret").write_text("a secret that nobody guesses")
    return folder


def grade(folder, out, *more):
    return call(folder, "--out", out, "--seed-file", folder.parent / "secret", *more)


def written(out):
    files = [out / name for name in WRITTEN] + sorted((out / "feedback").iterdir())
    return {file.relative_to(out): file.read_bytes() for file in files}


@pytest.fixture
def whole(quick, many, tmp_path):
    """What a run leaves that nothing went wrong with."""
    assert grade(many, tmp_path / "whole").exit_code == 0
    found = written(tmp_path / "whole")
    quick.clear()
    return found


@pytest.fixture
def disk(tmp_path):
    """A disk of 8 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("a disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk, free):
    """Leave so many bytes free."""
    with open(disk / "filler", "wb", buffering=0) as stream:
        with contextlib.suppress(OSError):
            while stream.write(bytes(4096)):
                pass
        stream.truncate(stream.tell() - free)


@pytest.mark.in_turn("seconds in a sandbox")
@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is mounted as Linux does")
@pytest.mark.parametrize("free", FREE)
def test_a_disk_that_fills_up_is_told_in_a_line_and_loses_nothing(quick, many, whole, disk, free):
    out = disk / "out"
    fill(disk, free)
    told = grade(many, out)
    assert told.exit_code == 2, told.output
    assert told.stderr.splitlines()[-1].startswith("The disk is full. Nothing that was graded before is lost"), (
        told.stderr
    )
    assert not [file for file in out.rglob(".*.*") if file.is_file() and file.suffix != ".lock"]  # halves of files
    before = len(quick)
    (disk / "filler").unlink()
    kept = stored(out)
    told = grade(many, out)
    assert told.exit_code == 0, told.output
    assert written(out) == whole
    assert len(quick) == before + MANY - kept  # what was stored before is not graded again
    assert kept > 0 or free < max(FREE)


def stored(out):
    """How many results there are."""
    if not (out / DATABASE).exists() or not (out / DATABASE).stat().st_size:
        return 0
    with Store(out / DATABASE) as store:
        return sum(1 for _ in store.rows())


GRADER = f"""
import sys, time
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from dpcourse.commands import app
from dpcourse.grading.run import executors
from dpcourse.grading.judge import submission
from dpcourse.grading.result import Graded, Mark, result

def count(job):
    with open("graded", "a") as file:
        file.write(str(hash(job.content)) + "\\n")
    time.sleep(0.05)
    mark = Mark("composition/composed_delta", "wrong", job.content.count(b"z"), 4, "As many points as letters.")
    return Graded(result(job.lesson, "graded", marks=[mark]), {{"composition/composed_delta": ([{{"zs": 1}}],)}})

submission.grade = count
executors.local = lambda workers: ThreadPoolExecutor(1)
Path(sys.argv[-1]).touch()
app(["grade", "many", "--no-sandbox", "--seed-file", "secret"])
"""


def starts(folder, name):
    (folder / "grader.py").write_text(GRADER)
    command = [sys.executable, "grader.py", name]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until(true, seconds=600):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def graded(folder):
    return (folder / "graded").read_text().splitlines() if (folder / "graded").exists() else []


@pytest.mark.weekly("runs as processes of their own, one of them killed")
def test_two_runs_at_once_grade_nothing_twice_and_marks_are_set_meanwhile(quick, many, tmp_path):
    runs = [starts(tmp_path, name) for name in ("one", "other")]
    until(lambda: len(graded(tmp_path)) > 5)
    out = tmp_path / "grades"
    assert call("--out", out, "--override", "student00", POSTERIOR, "1", "on paper").exit_code == 0
    assert "on paper" in call("--out", out, "--explain", "student00", POSTERIOR).stdout
    assert "student00" in (out / "report.html").read_text(encoding="utf-8")
    ended = [run.communicate(timeout=600) for run in runs]
    statuses = sorted(run.returncode for run in runs)
    assert statuses in ([0, 0], [0, 2]), ended
    if statuses == [0, 2]:
        assert any("Another `dpcourse grade` is at work in grades: wait for it." in said for _, said in ended)
    assert len(graded(tmp_path)) == len(set(graded(tmp_path))) == MANY
    expected = {f"student{number:02}": ("graded", str(number % 5 + (number == 0))) for number in range(MANY)}
    assert scores(out) == expected


@pytest.mark.weekly("runs as processes of their own, one of them killed")
def test_a_run_that_is_killed_leaves_a_log_that_the_next_one_reads(quick, many, tmp_path):
    run = starts(tmp_path, "one")
    until(lambda: len(graded(tmp_path)) > 20)
    run.kill()
    run.communicate()
    assert (tmp_path / "grades" / f"{DATABASE}-wal").stat().st_size
    before = len(graded(tmp_path))
    done = starts(tmp_path, "other")
    _, said = done.communicate(timeout=600)
    assert done.returncode == 0, said
    assert MANY <= len(graded(tmp_path)) <= before + MANY - 19
    assert len(scores(tmp_path / "grades")) == MANY


@pytest.mark.parametrize("left", by_profile("places at which a database is cut off", [0.6], [0.3, 0.6, 0.9]))
def test_of_a_database_that_was_cut_off_nothing_is_guessed_and_nothing_is_lost(quick, many, whole, tmp_path, left):
    out = tmp_path / "out"
    assert grade(many, out).exit_code == 0
    file = out / DATABASE
    os.truncate(file, int(file.stat().st_size * left))
    for ending in ("-wal", "-shm"):
        (out / f"{DATABASE}{ending}").unlink(missing_ok=True)
    refused = grade(many, out)
    assert refused.exit_code == 2
    assert "is damaged" in refused.stderr
    [aside] = out.glob(f"{DATABASE}.damaged-*")
    assert call("--merge", aside, "--out", out).exit_code == 2  # it cannot be read
    before = len(quick)
    told = grade(many, out)
    assert told.exit_code == 0, told.output
    assert written(out) == whole
    assert len(quick) == before


@pytest.mark.in_turn("seconds in a sandbox")
def test_a_log_beside_the_database_counts_and_one_of_another_database_does_no_harm(quick, many, whole, tmp_path):
    out, copy = tmp_path / "out", tmp_path / "copy"
    assert grade(many, out).exit_code == 0
    with contextlib.closing(sqlite3.connect(out / DATABASE)) as held:
        held.execute("SELECT count(*) FROM results").fetchone()
        assert call("--out", out, "--override", "student01", POSTERIOR, "2", "on paper").exit_code == 0
        copy.mkdir()
        for ending in ("", "-wal"):
            shutil.copy(out / f"{DATABASE}{ending}", copy)
        assert (copy / f"{DATABASE}-wal").stat().st_size
    assert call("--out", copy).exit_code == 0
    assert scores(copy)["student01"] == ("graded", "3")
    assert call("--out", copy, "--undo", "student01", POSTERIOR).exit_code == 0
    (copy / f"{DATABASE}-wal").write_bytes(bytes(range(256)) * 500)
    assert grade(many, copy).exit_code == 0
    assert {name: text for name, text in written(copy).items() if name.name != "report.html"} == {
        name: text for name, text in whole.items() if name.name != "report.html"
    }


TABLES = ["results", "about", "answers", "by_hand", "shown", "moves"]


@pytest.mark.parametrize("table", by_profile("tables that are damaged", TABLES[:1], TABLES))
def test_whichever_table_is_damaged_nothing_is_lost(quick, many, whole, tmp_path, table):
    out = tmp_path / "out"
    assert grade(many, out).exit_code == 0
    assert call("--out", out, "--override", "student01", POSTERIOR, "2", "on paper").exit_code == 0
    with contextlib.closing(sqlite3.connect(out / DATABASE)) as held:
        held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
        [page] = held.execute(query, [table]).fetchone()
    with (out / DATABASE).open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    assert grade(many, out).exit_code == 2
    assert len(list(out.glob(f"{DATABASE}.damaged-*"))) == 1
    before = len(quick)
    told = grade(many, out)
    assert told.exit_code == 0, told.output
    assert len(quick) == before
    assert scores(out) == {
        f"student{number:02}": ("graded", str(3 if number == 1 else number % 5)) for number in range(MANY)
    }
