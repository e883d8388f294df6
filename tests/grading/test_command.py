"""`dpcourse grade`: what it grades, remembers, refuses and says."""

import csv
import json
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from grading.called import call, scores
from grading.rows import COMPOSED, FULL, POSTERIOR
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.commands import app
from dpcourse.grading import cohort
from dpcourse.grading.judge import fingerprint, submission
from dpcourse.grading.judge.job import allowed
from dpcourse.grading.keep import database, store
from dpcourse.grading.marks.settings import TEMPLATE
from dpcourse.grading.result import Graded, Mark, failed, result, unjudged, with_marks
from dpcourse.grading.run import bubblewrap, executors


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


def test_grading_refuses_without_a_sandbox_unless_told_to(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(bubblewrap, "missing", lambda: "bubblewrap is not installed")
    refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "--no-sandbox" in refused.stderr
    assert not quick
    assert call(small, "--out", tmp_path / "out", "--no-sandbox").exit_code == 0
    assert not any(job.sandboxed for job in quick)


def test_a_second_run_in_the_same_folder_is_refused(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    (tmp_path / "out").mkdir()
    with store.running(tmp_path / "out"):
        refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "is at work" in refused.stderr
    assert not quick


def test_the_json_summary_is_all_that_is_printed(quick, small, tmp_path):
    result = call(small, "--out", tmp_path / "out", "--json")
    told = json.loads(result.stdout)
    assert told["statuses"] == {"graded": 2}
    assert (told["submissions"], told["graded_now"], told["not_graded"]) == (2, 2, [])
    assert result.stderr == ""
    again = call("--out", tmp_path / "out", "--json")
    assert (again.exit_code, len(quick)) == (0, 2)
    assert json.loads(again.stdout) | {"graded_now": 2} == told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Which folder?"),
        (["nowhere"], "nowhere is no folder"),
        (["--explain", "ann", POSTERIOR], "There are no grades"),
        (["SMALL", "--lesson", "77"], "lesson must be one of"),
        (["SMALL", "--seconds", "0"], "--seconds must be a number of seconds above 0, not 0"),
        (["SMALL", "--seconds", "-5"], "--seconds must be"),
        (["SMALL", "--seconds", "nan"], "--seconds must be"),
        (["SMALL", "--seconds", "inf"], "--seconds must be"),
        (["SMALL", "--cell-seconds", "0"], "--cell-seconds must be"),
        (["SMALL", "--cell-seconds", "-1"], "--cell-seconds must be"),
        (["SMALL", "--memory", "0"], "--memory must be at least 256 (MiB), not 0"),
        (["SMALL", "--config", "nowhere.toml"], "nowhere.toml"),
        (["--merge", "nowhere"], "nowhere is no database of grades"),
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


# ---- what is graded again, and what is only judged again


@pytest.fixture
def changed(monkeypatch):
    """changed(what, id): as if the code were another that runs notebooks, or that judges one exercise."""
    running, judging = fingerprint.running, fingerprint.judging

    def change(what, id=None):
        if what == "running":
            monkeypatch.setattr(fingerprint, "running", lambda *of: running(*of) + "x")
        else:
            monkeypatch.setattr(
                fingerprint, "judging", lambda secret, exercise: judging(secret, exercise) + "x" * (exercise.id == id)
            )

    return change


def moves(out):
    with open(out / "changes.csv", encoding="utf-8-sig") as file:
        return [list(line.values())[1:] for line in csv.DictReader(file)]


def test_a_changed_judge_judges_that_exercise_from_what_is_stored(quick, small, tmp_path, changed):
    out = tmp_path / "out"
    call(small, "--out", out)
    changed("judging", "composition/composed_delta")
    told = call(small, "--out", out)
    assert (told.exit_code, len(quick)) == (0, 2)
    assert scores(out) == {"ann": ("graded", "1.5"), "bob": ("graded", "0.5")}
    why = "judged again: the exercise, or what judges it, has changed"
    assert sorted(moves(out)) == [["ann", "1", COMPOSED, "3 of 4", "1.5 of 4", why], ["bob", "1", COMPOSED, "1 of 4", "0.5 of 4", why]]  # fmt: skip
    assert f"ann, exercise {COMPOSED}: 3 of 4, now 1.5 of 4 ({why})" in told.stdout
    call(small, "--out", out)
    assert scores(out)["ann"] == ("graded", "1.5")
    assert len(moves(out)) == 2


def test_what_cannot_be_judged_from_what_is_stored_is_run_for_that_exercise_alone(quick, small, tmp_path, changed):
    call(small, "--out", tmp_path / "out")
    changed("judging", "composition/worst_posterior")  # of which the quick grader keeps nothing
    call(small, "--out", tmp_path / "out")
    assert [job.exercises for job in quick] == [
        None,
        None,
        ("composition/worst_posterior",),
        ("composition/worst_posterior",),
    ]
    assert scores(tmp_path / "out")["ann"] == ("graded", "3")
    assert call(small, "--out", tmp_path / "out").exit_code == 0
    assert len(quick) == 4


def test_a_change_of_what_runs_notebooks_runs_them_all(quick, small, tmp_path, changed):
    call(small, "--out", tmp_path / "out")
    changed("running")
    call(small, "--out", tmp_path / "out")
    assert [job.exercises for job in quick] == [None] * 4
    assert moves(tmp_path / "out") == []


def test_a_mark_that_stands_is_not_lost_when_grading_again_fails(quick, small, tmp_path, changed, monkeypatch):
    call(small, "--out", tmp_path / "out")
    changed("running")
    with monkeypatch.context() as broken:
        broken.setattr(submission, "grade", lambda job: Graded(failed(1, "no worker")))
        told = call(small, "--out", tmp_path / "out")
        assert told.exit_code == 1
        assert "Not graded: ann, bob" in told.stderr
    assert scores(tmp_path / "out") == {"ann": ("graded", "3"), "bob": ("graded", "1")}
    assert call(small, "--out", tmp_path / "out").exit_code == 0
    assert len(quick) == 4


def test_a_judge_that_fails_is_told_everywhere_and_judges_just_its_exercise_when_it_is_mended(
    quick, small, tmp_path, monkeypatch
):
    out, grade = tmp_path / "out", submission.grade
    why = "its judge failed: ValueError: x"

    def without_a_judge(job):
        graded = grade(job)
        return replace(
            graded, result=with_marks(graded.result, [unjudged(course.find("composition/worst_posterior"), why)])
        )

    monkeypatch.setattr(submission, "grade", without_a_judge)
    told = call(small, "--out", out)
    assert told.exit_code == 1
    assert f"Exercise {POSTERIOR} could not be judged for 2 students: {why}. Mend that" in told.stderr
    assert f"exercise {POSTERIOR}: its judge failed: ValueError: x: ann, bob" in told.stderr
    assert scores(out) == {"ann": ("infrastructure", ""), "bob": ("infrastructure", "")}
    assert "ValueError: x" in (out / "gradebook.csv").read_text()
    assert "ValueError: x" in (out / "report.html").read_text()
    assert [line.split(",")[4:6] for line in (out / "marks.csv").read_text().splitlines() if f",{POSTERIOR}," in line] == [["not judged", ""]] * 2  # fmt: skip
    assert "its judge failed: ValueError: x" in call("--out", out, "--explain", "ann", POSTERIOR).stdout
    told = json.loads(call(small, "--out", out, "--json").stdout)
    assert told["not_judged"] == [{"exercise": POSTERIOR, "reason": why, "students": ["ann", "bob"]}]
    assert told["why_not_graded"]["ann"] == f"exercise {POSTERIOR}: its judge failed: ValueError: x"
    mended = Mark("composition/worst_posterior", "right", 2, 2, "Right.")
    monkeypatch.setattr(
        submission, "grade", lambda job: replace(grade(job), result=result(1, "graded", marks=[mended]))
    )
    assert call(small, "--out", out).exit_code == 0
    assert [job.exercises for job in quick] == [None, None, *[("composition/worst_posterior",)] * 4]
    assert scores(out) == {"ann": ("graded", "5"), "bob": ("graded", "3")}


def test_exercises_that_cannot_be_read_are_told_in_a_line_and_nothing_is_done(quick, small, tmp_path, monkeypatch):
    def fails(lesson, values):
        raise SyntaxError("invalid syntax (odds_after.py, line 9)")

    lesson = course.lesson(0)
    monkeypatch.delitem(vars(lesson), "exercises", raising=False)
    monkeypatch.setattr(type(lesson), "exercises_with", fails)
    told = call(small, "--out", tmp_path / "out")
    assert told.exit_code == 2
    assert told.stderr == (
        "The exercises of lesson 0 cannot be read: SyntaxError: invalid syntax (odds_after.py, line 9). Mend them; "
        "nothing was done.\n"
    )
    assert not (tmp_path / "out").exists()


def test_whoever_is_not_graded_is_named_with_the_reason(quick, small, tmp_path, changed, monkeypatch):
    out = tmp_path / "out"
    call(small, "--out", out)
    changed("running")
    monkeypatch.setattr(submission, "grade", lambda job: Graded(failed(1, "no worker")))
    told = call(small, "--out", out)
    assert "  what was graded before stands, since: no worker: ann, bob" in told.stderr
    assert scores(out)["ann"] == ("graded", "3")


def test_higher_limits_grade_again_what_a_limit_has_taken(quick, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    grade = submission.grade

    def limited(job):
        graded = grade(job)
        return replace(graded, result=replace(graded.result, status="limit", limits=allowed(job.limits)))

    monkeypatch.setattr(submission, "grade", limited)
    call(small, "--out", out)
    call(small, "--out", out)
    assert len(quick) == 2
    call(small, "--out", out, "--seconds", "600")
    assert len(quick) == 4


# ---- course.toml


def test_course_toml_counts_without_a_notebook_being_run(quick, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    call(small, "--out", out)
    (tmp_path / "course.toml").write_text(f'[points]\n"{COMPOSED}" = 8')
    told = call("--out", out)
    assert (told.exit_code, len(quick)) == (0, 2)
    assert scores(out) == {"ann": ("graded", "6"), "bob": ("graded", "2")}
    assert f"ann, exercise {COMPOSED}: 3 of 4, now 6 of 8 (course.toml: its points)" in told.stdout
    assert "Marks are as course.toml says." in told.stdout
    (tmp_path / "course.toml").write_text(f'excluded = ["{COMPOSED}"]\nextensions.kim.1 = 2030-01-01')
    told = call("--out", out)
    assert scores(out)["ann"] == ("graded", "0")
    assert "course.toml: does not count" in told.stdout
    assert "'kim' has more time, and is not in the class" in told.stdout
    (tmp_path / "course.toml").write_text("late.share = 0.1\nlessons.1.deadline = 2030-01-01")
    assert "Nothing is taken for lateness from 2 submissions" in call("--out", out).stdout
    (tmp_path / "mine.toml").write_text("exclude = []")
    told = call("--out", out, "--config", "mine.toml")
    assert (told.exit_code, told.stderr) == (2, "mine.toml, line 1: 'exclude' is not a key. Did you mean 'excluded'?\n")


def test_points_that_the_exercise_itself_has_changed_are_not_put_down_to_course_toml(
    quick, small, tmp_path, changed, monkeypatch
):
    out = tmp_path / "out"
    call(small, "--out", out)
    exercises = tuple(
        replace(each, points=6) if each.id == "composition/composed_delta" else each
        for each in course.lesson(1).exercises
    )
    monkeypatch.setitem(vars(course.lesson(1)), "exercises", exercises)
    changed("judging", "composition/composed_delta")
    call(small, "--out", out)
    assert sorted(line[2:] for line in moves(out)) == [
        [COMPOSED, "1 of 4", "0.75 of 6", "the exercise has 6 points now, before 4"],
        [COMPOSED, "3 of 4", "2.25 of 6", "the exercise has 6 points now, before 4"],
    ]
    (tmp_path / "mine.toml").write_text(f'points."{COMPOSED}" = 12')
    call("--out", out, "--config", tmp_path / "mine.toml")
    assert {line[-1] for line in moves(out)[:2]} == {"course.toml: its points"}
    call("--out", out)
    assert {line[-1] for line in moves(out)[:2]} == {"course.toml: its points"}


def test_a_course_toml_among_submissions_is_not_taken_and_that_is_said(quick, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    (small / "deeper").mkdir()
    for folder in (small, small / "deeper"):
        (folder / "course.toml").write_text(f'[points]\n"{COMPOSED}" = 80')
    for here, arguments in ((small, ["."]), (small / "deeper", [".."]), (small, []), (small, [small])):
        monkeypatch.chdir(here)
        told = call(*arguments, "--out", out)
        assert "course.toml is not taken: it lies among the submissions" in told.stdout
        assert scores(out)["ann"] == ("graded", "3")
    monkeypatch.chdir(small)
    assert "Marks are as course.toml says" in call(".", "--out", out, "--config", "course.toml").stdout
    assert scores(out)["ann"] == ("graded", "60")


def test_course_toml_remembers_what_would_be_typed_each_week(quick, tmp_path, monkeypatch):
    course, class_ = tmp_path / "course", tmp_path / "class"
    for folder in (course, class_):
        folder.mkdir()
    for name in ("hw1-ann-7.ipynb", "hw1-bob-8.ipynb", "leekim_1234_98765_x.ipynb"):
        (class_ / name).write_text("check('1.1') z")
    (course / "class.csv").write_text("student,id\nAnn,7\nBob,8\nCat,9\n")
    (course / "cat.csv").write_text("student\nCat\n")
    settings = course / "course.toml"
    settings.write_text(f'roster = "class.csv"\npattern = "hw1-{{name}}-{{number}}"\ncourse = "{ROOT}"')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    told = call(class_, "--config", settings)
    assert scores(elsewhere / "grades").keys() == {"Ann_7", "Bob_8", "Cat_9"}
    assert "leekim_1234_98765_x.ipynb: its name is not as the pattern 'hw1-{name}-{number}' says" in told.stderr
    told = call(class_, "--config", settings, "--roster", course / "cat.csv", "--out", "typed")
    assert "nobody in the roster cat.csv is ann_7" in told.stderr
    for line, says in (
        ('roster = "none.csv"', "course.toml, roster: there is no file"),
        ('pattern = "{who}"', "course.toml, pattern: '{who}' has {who} where it cannot be"),
        ('course = "."', "course.toml, course: there is no lesson in"),
        ("roster = 3", "course.toml, line 1: roster must be a text in quotes"),
        ('rooster = "class.csv"', "line 1: 'rooster' is not a key. Did you mean 'roster'?"),
    ):
        settings.write_text(line)
        told = call(class_, "--config", settings, "--out", "none")
        assert (told.exit_code, Path("none").exists()) == (2, False)
        assert says in told.stderr


def test_the_template_of_course_toml_is_printed(tmp_path):
    told = call("--settings", "--out", tmp_path / "out")
    assert told.stdout == TEMPLATE
    assert not (tmp_path / "out").exists()


# ---- the class


def test_whoever_is_in_the_roster_has_a_row_and_can_be_given_points(quick, small, tmp_path):
    out, roster = tmp_path / "out", tmp_path / "roster.csv"
    roster.write_text("student\nann\nbob\ncat\n")
    assert call(small, "--out", out, "--roster", roster).exit_code == 0
    assert scores(out)["cat"] == ("missing", "")
    assert call("--out", out, "--override", "cat", POSTERIOR, "2", "by mail").exit_code == 0
    assert scores(out)["cat"] == ("missing", "2")
    (small / "cat.pdf").touch()
    call(small, "--out", out, "--roster", roster)
    assert scores(out)["cat"] == ("unreadable", "2")
    call("--out", out, "--undo", "cat", POSTERIOR)
    moved = call("--out", out, "--override", "cat", POSTERIOR, "2", "by mail").stdout
    assert f"cat, lesson 1: no score, now 2 of {FULL} (an exercise was set by hand)" in moved
    (small / "cat.pdf").unlink()
    (small / "cat.ipynb").write_text("check('1.1') zz")
    call(small, "--out", out, "--roster", roster)
    assert scores(out)["cat"] == ("graded", "4")


def test_what_is_no_longer_in_the_folder_stays_and_is_marked(quick, small, tmp_path):
    out = tmp_path / "out"
    call(small, "--out", out)
    (small / "bob.ipynb").rename(small / "bobby.ipynb")
    call(small, "--out", out)
    with store.opened(out) as opened:
        assert {row.student: row.stale for row in opened.rows()} == {"ann": False, "bob": True, "bobby": False}
    (small / "bobby.ipynb").rename(small / "bob.ipynb")
    call(small, "--out", out)
    with store.opened(out) as opened:
        assert {row.student: row.stale for row in opened.rows()} == {"ann": False, "bob": False, "bobby": True}
    assert len(quick) == 3


def test_files_that_are_not_read_are_named_and_make_the_status_1(quick, small, tmp_path):
    (small / "cat.pdf").write_text("x")
    told = call(small, "--out", tmp_path / "out")
    assert told.exit_code == 1
    assert "Not read: cat.pdf: " in told.stderr
    assert json.loads(call(small, "--out", tmp_path / "out", "--json").stdout)["unread"][0]["path"] == "cat.pdf"


# ---- when the database cannot be used


def test_a_damaged_database_is_put_aside_and_its_copy_takes_its_place(quick, small, tmp_path):
    out = tmp_path / "out"
    call(small, "--out", out)
    call("--out", out, "--override", "bob", POSTERIOR, "2", "shown")
    content = bytearray((out / store.DATABASE).read_bytes())
    content[:16] = b"no more a header"
    (out / store.DATABASE).write_bytes(content)
    told = call(small, "--out", out)
    assert (told.exit_code, "is damaged" in told.stderr, "is in its place: give the same" in told.stderr) == (
        2,
        True,
        True,
    )
    (aside,) = out.glob("grades.sqlite.damaged-*")
    assert aside.read_bytes() == content
    assert (
        stat.S_IMODE((out / database.COPY).stat().st_mode)
        == stat.S_IMODE((out / store.DATABASE).stat().st_mode)
        == 0o600
    )
    assert call(small, "--out", out).exit_code == 0
    assert (len(quick), scores(out)) == (2, {"ann": ("graded", "3"), "bob": ("graded", "3")})


@pytest.mark.parametrize("copy", [None, b"", b"as damaged as what it is a copy of" * 99])
def test_a_damaged_database_without_a_copy_is_put_aside_and_all_is_graded(quick, small, tmp_path, copy):
    out = tmp_path / "out"
    call(small, "--out", out)
    (out / store.DATABASE).write_bytes(b"no more a database" * 999)
    (out / database.COPY).unlink()
    if copy is not None:
        (out / database.COPY).write_bytes(copy)
    told = call(small, "--out", out)
    assert (told.exit_code, "There is no copy of it: grade again." in told.stderr) == (2, True)
    assert call(small, "--out", out).exit_code == 0
    assert (len(quick), scores(out)) == (4, {"ann": ("graded", "3"), "bob": ("graded", "1")})


def test_whoever_is_forgotten_is_in_no_copy(quick, small, tmp_path):
    out = tmp_path / "out"
    call(small, "--out", out)
    assert b"bob.ipynb" in (out / database.COPY).read_bytes()
    assert call("--out", out, "--forget", "bob").exit_code == 0
    assert b"bob.ipynb" not in (out / database.COPY).read_bytes()


@pytest.mark.parametrize("damaged", ["'{'", "CAST(x'7bff' AS TEXT)"])
def test_a_damaged_row_is_graded_again(quick, small, tmp_path, damaged):
    out = tmp_path / "out"
    call(small, "--out", out)
    with store.opened(out) as opened:
        opened.database.execute(f"UPDATE results SET result = {damaged} WHERE student = 'bob'")
    told = call("--out", out)
    assert told.exit_code == 1
    assert "Not graded: bob" in told.stderr
    assert call(small, "--out", out).exit_code == 0
    assert (len(quick), scores(out)["bob"]) == (3, ("graded", "1"))


def test_a_full_disk_loses_nothing(quick, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    call(small, "--out", out)
    for number in range(20):
        (small / f"student{number:03}.ipynb").write_text(f"check('1.1') {number}z")
    real = store.connected

    def connected(file):
        connection = real(file)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        return connection

    with monkeypatch.context() as full:
        full.setattr(store, "connected", connected)
        told = call(small, "--out", out)
        assert told.exit_code == 2
        assert told.stderr.splitlines()[-1].startswith("The disk is full. Nothing that was graded before is lost")
    before = len(quick)
    assert before > 2
    assert call(small, "--out", out).exit_code == 0
    assert len(scores(out)) == 22
    assert len(quick) < before + 20  # what was stored before it was full is not graded again


def test_a_locked_database_and_one_of_a_later_edition_are_told_in_a_line(quick, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    call(small, "--out", out)
    monkeypatch.setattr(database, "WAITS", 0.05)
    with store.opened(out) as other, other.at_once():
        told = call(small, "--out", out, "--again")
    assert (told.exit_code, len(told.stderr.splitlines()[-1:])) == (2, 1)
    assert "is locked by another program" in told.stderr
    with store.opened(out) as opened:
        opened.database.execute("PRAGMA user_version = 99")
    assert "a later edition of dpcourse" in call(small, "--out", out).stderr


def test_the_readmes_two_lines_do_what_it_says(quick, small, tmp_path, monkeypatch):
    for name in ("LICENSE", "dpcourse", "lessons", "pyproject.toml", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    small.rename(tmp_path / "submissions")
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"`dpcourse ((?:release|grade) [^`]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [line.split()[0] for line in lines] == ["release", "grade"]
    for line in lines:
        assert CliRunner().invoke(app, line.split()).exit_code == 0
    assert (tmp_path / "handout" / "lessons" / "00-start-here.ipynb").exists()
    assert scores(tmp_path / "grades") == {"ann": ("graded", "3"), "bob": ("graded", "1")}
