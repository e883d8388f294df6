"""A class, graded in one run: each gets the status and the score that stand beside its kind, and nothing else changes.

The run must not change anything outside its output folder, and leaves every other mark as it is without the hostile.
All that is graded here shares one pool of processes, whose start takes longer than grading a lesson.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from grading.kinds import ALL, KINDS, TOPICS
from grading.kinds.making import FULL, cells_of, make, misconceptions, student, written
from grading.rows import POSTERIOR
from sandboxed import NEEDS_SANDBOX
from support import ROOT, by_profile, by_turns
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.commands import app
from dpcourse.grading import cohort
from dpcourse.grading.keep.store import DATABASE, opened
from dpcourse.grading.out import gradebook, report
from dpcourse.grading.run import Limits, executors

LIMITS = Limits(cell_seconds=4, seconds=90, memory=2**29)
IN_SHORT = by_profile(
    "lessons graded in short: cells that define or check an exercise, and what these need", True, False
)
SOLVED = by_turns("solved lessons graded", [course.lesson(5), course.lesson(10)], course.lessons())
"""On a commit the one that imports torch, and the one whose exercises have parts; lesson 01 is a class of its own."""

pytestmark = NEEDS_SANDBOX


@pytest.fixture(scope="module")
def pool():
    with executors.local(3) as pool:
        yield pool


# ---- the hostile and the others


def photographed(folder):
    """What is in a folder: names, modes, times, links and contents."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            about = os.lstat(file := os.path.join(path, name))
            content = b""
            if not os.path.islink(file) and os.path.isfile(file) and about.st_size < 2**24:
                content = Path(file).read_bytes()
            found[file] = (about.st_mode, about.st_mtime_ns, about.st_size, hashlib.sha256(content).hexdigest())
    return found


def hand_in(kinds, folder):
    folder.mkdir()
    for kind in kinds:
        make(kind, folder)


def course_in_short(folder):
    """A course that gives out the lessons without what takes its time and is not needed to grade them."""
    for which in ("lessons", "solutions"):
        (folder / which).mkdir(parents=True)
        for lesson in course.lessons():
            (folder / which / f"{lesson.name}.ipynb").write_bytes(written(cells_of(which, lesson)))
    return folder


@pytest.fixture(scope="module")
def in_short(tmp_path_factory):
    return course_in_short(tmp_path_factory.mktemp("course"))


def graded(pool, folder, out, given_out):
    with opened(out) as store:
        store.secret("a secret of the tests")
        cohort.grade_class(
            folder, store, lambda: contextlib.nullcontext(pool), lesson=1, limits=LIMITS, course=given_out
        )
        rows = list(store.rows())
        gradebook.write(rows, out)
        report.write(rows, out)
    return {row.student: row.result for row in rows}


@pytest.fixture(scope="module")
def the_class(pool, in_short, tmp_path_factory):
    """The whole class, graded once: (results, what changed outside the output folder)."""
    base = tmp_path_factory.mktemp("class")
    hand_in(KINDS, base / "submissions")
    (base / "neighbour").mkdir()
    (base / "neighbour" / "precious.txt").write_text("precious")
    watched = [base, ROOT / "solutions", ROOT / "lessons", ROOT / "dpcourse"]
    before = [photographed(folder) for folder in watched]
    results = graded(pool, base / "submissions", base / "out", in_short)
    after = [photographed(folder) for folder in watched]
    changed = {
        file
        for old, new in zip(before, after, strict=True)
        for file in old.keys() | new.keys()
        if old.get(file) != new.get(file) and not file.startswith(str(base / "out")) and "__pycache__" not in file
    }
    return results, changed


def test_everybody_is_there_once(the_class):
    results, _ = the_class
    assert sorted(results) == sorted(map(student, KINDS))


def test_there_are_many_kinds_and_some_of_each_topic_on_each_commit():
    assert len({kind.name for kind in ALL}) == len(ALL) >= 500
    graded = {kind.name for kind in KINDS}
    assert all(sum(kind.name in graded for kind in kinds) >= 4 for kinds in TOPICS.values())


@pytest.mark.every_case
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: ascii(kind.name))
def test_each_gets_its_status_and_its_score(the_class, kind):
    result = the_class[0][student(kind)]
    assert (result.status, result.score) == (kind.status, kind.score), result
    assert result.points == FULL
    assert kind.note in "; ".join(result.notes)


def test_each_misconception_is_named(the_class):
    for kind in misconceptions():
        if kind not in KINDS:
            continue
        got = tuple((mark.id, mark.misconception) for mark in the_class[0][student(kind)].exercises)
        assert got == kind.verdicts


def test_nothing_outside_the_output_folder_changes(the_class):
    assert the_class[1] == set()


def test_no_process_is_left(the_class):
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [
            p.info
            for p in psutil.process_iter(["cmdline", "ppid"])
            if "sleep 3600" in " ".join(p.info["cmdline"] or [])
        ]
        if not left:
            return
        time.sleep(0.1)
    pytest.fail(f"left behind: {left}")


@pytest.mark.weekly("eight are graded once more")
def test_the_marks_of_the_others_are_what_they_are_without_the_hostile(pool, in_short, the_class, tmp_path):
    harmless = [kind for kind in TOPICS["ordinary"] if kind in KINDS][:8]
    hand_in(harmless, tmp_path / "submissions")
    alone = graded(pool, tmp_path / "submissions", tmp_path / "out", in_short)
    for kind in harmless:
        assert alone[student(kind)] == the_class[0][student(kind)]


# ---- whole lessons


def call(*arguments):
    return CliRunner().invoke(app, ["grade", *map(str, arguments)])


@pytest.fixture(scope="module")
def the_lessons(pool, in_short, tmp_path_factory):
    """Lessons handed in solved, and one blank: the output folder. On a commit, the lessons in short."""
    base = tmp_path_factory.mktemp("lessons")
    given_out = in_short if IN_SHORT else ROOT
    for name in ("solved", "blank"):
        (base / "class" / name).mkdir(parents=True)
    for lesson in SOLVED:
        shutil.copy(given_out / "solutions" / f"{lesson.name}.ipynb", base / "class" / "solved")
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", base / "class" / "blank")
    before = photographed(base / "class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executors, "local", lambda workers: contextlib.nullcontext(pool))
        assert call(base / "class", "--out", base / "out", "--course", given_out).exit_code == 0
    assert photographed(base / "class") == before
    return base / "out"


@pytest.mark.every_case
@pytest.mark.parametrize("lesson", SOLVED, ids=lambda lesson: lesson.name)
def test_a_solved_lesson_gets_all_points(the_lessons, lesson):
    with opened(the_lessons) as store:
        solved = next(row.result for row in store.rows("solved") if row.lesson == lesson.number)
    points = sum(exercise.points for exercise in lesson.exercises)
    assert (solved.status, solved.score, solved.points) == ("graded", points, points), solved
    assert solved.errors == ()


def test_the_marks_can_be_explained_and_the_secret_is_the_graders_alone(the_lessons):
    told = call("--out", the_lessons, "--explain", "blank", POSTERIOR).stdout
    assert f"{POSTERIOR} The most that an attacker can come to believe: not attempted, 0 of 2 points" in told
    assert re.search(r"asked: \d+ inputs, such as worst_posterior\(prior=", told)
    assert (the_lessons / DATABASE).stat().st_mode & 0o777 == 0o600


@pytest.mark.weekly("a grading of six is killed and goes on")
def test_a_run_that_is_killed_goes_on_where_it_was():
    script = ROOT / "tests" / "benchmarks" / "kill_and_resume.py"
    done = subprocess.run([sys.executable, script, "--submissions", "6", "--kills", "1", "--jobs", "1"], capture_output=True, text=True, cwd=ROOT)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "byte-identical" in done.stdout
