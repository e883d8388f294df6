"""Progress: kept over kernels, written atomically, and never lost silently."""

import html
import json
import multiprocessing
import os
import re
import sys

import pytest
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.base.files import data_folder, write_atomically
from dpcourse.commands import app, learner
from dpcourse.notebook import progress
from dpcourse.notebook.progress import Kept, Progress, keep, kept, record

QUESTIONS = len(course.lesson(0).quiz)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_nothing_is_done_at_first():
    assert kept().done == set()
    assert repr(Progress()).startswith(f"00 Start here: 0 of 3 exercises, 0 of {QUESTIONS} quiz questions")


def test_what_is_recorded_stays(folder):
    record("start_here/keep_probability")
    record("start_here/q2")
    record("start_here/keep_probability")
    assert kept().done == {"start_here/keep_probability", "start_here/q2"}
    written = json.loads((folder / "progress.json").read_text())["done"]
    assert written == ["start_here/keep_probability", "start_here/q2"]
    assert repr(Progress()).startswith(f"00 Start here: 1 of 3 exercises, 1 of {QUESTIONS} quiz questions")
    assert "1 of 3" in Progress()._repr_html_()


def test_what_was_done_before_an_exercise_went_to_another_lesson_stays_done(folder):
    folder.mkdir(parents=True)
    told = {"done": ["laplace/whole_noise"], "tried": ["laplace/rules_out"], "last": "laplace/rules_out"}
    write_atomically(folder / "progress.json", json.dumps(told))
    assert kept() == Kept(frozenset({"machine/whole_noise"}), frozenset({"machine/rules_out"}), {}, "machine/rules_out")
    assert Progress().stopped_in().word == "machine"
    for name in progress.MOVED.values():
        assert any(name in row.names for row in Progress().rows), f"{name} is no exercise of today"


def test_what_was_tried_and_what_comes_next_is_said_with_links():
    assert repr(Progress()).endswith("Next: 0.1 " + course.find("0.1").title)
    record("gdp/largest_mu", is_right=False)
    record("composition/crossing")
    tried, following = course.find("gdp/largest_mu"), course.find("1.1")
    assert repr(Progress()).splitlines()[-2:] == [
        f"Tried, and not passed yet: {tried.number} {tried.title}",
        f"Next: {following.number} {following.title}",
    ]
    link = f"<a href='01-composition.ipynb'>{following.number} {html.escape(following.title)}</a>"
    assert link in Progress()._repr_html_()
    record("gdp/largest_mu")
    assert "Tried" not in repr(Progress())


def test_start_opens_the_lesson_in_which_the_learner_stopped():
    names = [f"{lesson.name}.ipynb" for lesson in course.lessons()]
    assert learner._stopped_at(names) == names[0]
    record("gdp/largest_mu", is_right=False)
    assert learner._stopped_at(names) == "03-gdp.ipynb"
    assert learner._stopped_at(names[:2]) == names[0], "a folder may lack it"


def test_when_all_is_done_nothing_comes_next():
    keep(Kept(frozenset(exercise.id for exercise in course.every_exercise())))
    assert "Next" not in repr(Progress())


def test_the_largest_mu_of_each_lesson_is_kept():
    for word, mu in (("gdp", 1.2), ("clt", 0.4), ("gdp", 0.7)):
        keep(Kept(proved={word: mu}))
    assert kept().proved == {"clt": 0.4, "gdp": 1.2}
    assert "a μ of 1.20, in 03" in repr(Progress())
    keep(Kept(proved={"gdp": 1.2589}))
    assert "a μ of 1.25, in 03" in repr(Progress()), "what is proved is rounded down"


def test_each_lesson_is_a_link():
    assert re.findall("<th scope='row' style='text-align:left'><a href='(.+?).ipynb'>", Progress()._repr_html_()) == [
        lesson.name for lesson in course.lessons()
    ]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[1]",
        b'{"passed": 3}',
        b'{"passed": [3]}',
        b'{"done": [3]}',
        b'{"done": [], "proved": {"gdp": NaN}}',
        b'{"done": [], "proved": 3}',
        b'{"done": [], "last": 3}',
        b'{"passed": ["x.y"]}',
        b'{"other": []}',
        b"\xff\xfe",
        b"null",
    ],
)
def test_a_damaged_file_is_set_aside_and_said(folder, capsys, damage):
    folder.mkdir()
    (folder / "progress.json").write_bytes(damage)
    (folder / "progress.damaged-1.json").write_text("an older one")
    record("composition/sequential_composition")
    assert kept().done == {"composition/sequential_composition"}
    assert (folder / "progress.damaged-2.json").read_bytes() == damage
    assert (folder / "progress.damaged-1.json").read_text() == "an older one"
    assert "progress.damaged-2.json" in capsys.readouterr().out


def test_names_of_exercises_that_are_gone_do_no_harm(folder):
    folder.mkdir()
    write_atomically(folder / "progress.json", json.dumps({"done": ["gdp/gone"]}))
    assert "0 of 3" in repr(Progress())
    record("start_here/keep_probability")
    assert kept().done == {"gdp/gone", "start_here/keep_probability"}


def test_a_folder_that_cannot_be_written_is_said_and_not_raised(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "file"))
    record("start_here/keep_probability")
    assert "Your progress cannot be saved" in capsys.readouterr().out


def test_an_interrupted_write_leaves_the_old_file_and_no_litter(folder, monkeypatch):
    record("start_here/keep_probability")
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(folder / "progress.json", "half")
    assert kept().done == {"start_here/keep_probability"}
    assert sorted(path.name for path in folder.iterdir()) == ["progress.json", "progress.lock"]


def test_in_a_browser_tab_progress_is_kept_without_a_lock(folder, monkeypatch):
    """The kernel there puts an empty module in the place of fcntl, by which a file would be locked."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setitem(sys.modules, "filelock", None)
    record("composition/q1")
    assert [path.name for path in folder.iterdir()] == ["progress.json"]
    assert kept().done == {"composition/q1"}


def _record_many(names):
    for name in names:
        record(name)


@pytest.mark.in_turn("seconds of kernels or draws")
def test_two_kernels_at_once_lose_nothing():
    names = [[f"{lesson.word}/q{i}" for i in range(25)] for lesson in course.lessons()[:4]]
    workers = [multiprocessing.get_context("spawn").Process(target=_record_many, args=(part,)) for part in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert kept().done == {name for part in names for name in part}


def test_a_progress_on_show_is_redrawn(monkeypatch):
    shown = []

    class Handle:
        def update(self, new):
            shown.append(repr(new))

    monkeypatch.setattr(progress, "_shown", [(Handle(), Progress)])
    record("start_here/randomized_response")
    assert shown[0].startswith("00 Start here: 1 of 3")


def test_the_command_shows_what_is_done_and_exports_it_into_a_new_file(folder, tmp_path):
    folder.mkdir()
    write_atomically(folder / "progress.json", json.dumps({"done": ["start_here/keep_probability", "start_here/q2", "gdp/gone"]}))  # fmt: skip
    file = tmp_path / "mine.json"
    said = CliRunner().invoke(app, ["progress", "--export", str(file)])
    assert said.exit_code == 0
    assert said.stdout.startswith("00 Start here: 1 of 3 exercises, 1 of")
    exported = json.loads(file.read_text(encoding="utf-8"))
    assert [each["lesson"] for each in exported["lessons"]] == [lesson.name for lesson in course.lessons()]
    first = exported["lessons"][0]
    assert first["exercises"] == {"keep_probability": True, "randomized_response": False, "estimate_share": False}
    assert [name for name, is_done in first["quiz"].items() if is_done] == ["q2"]
    assert exported["of other editions"] == ["gdp/gone"]
    before = file.read_bytes()
    again = CliRunner().invoke(app, ["progress", "--export", str(file)])
    assert (again.exit_code, "is there already, and was not touched" in again.stderr) == (1, True)
    assert file.read_bytes() == before
    assert CliRunner().invoke(app, ["progress"]).stdout == said.stdout.removesuffix(f"Written to {file}.\n")


def test_what_was_exported_is_added_elsewhere_and_nothing_else_is(folder, tmp_path, monkeypatch):
    record("gdp/largest_mu", is_right=False)
    keep(Kept(proved={"gdp": 1.5}))
    file, other = tmp_path / "mine.json", tmp_path / "other.json"
    assert CliRunner().invoke(app, ["progress", "--export", str(file)]).exit_code == 0
    before = kept()
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "elsewhere"))
    record("start_here/keep_probability")
    assert CliRunner().invoke(app, ["progress", "--import", str(file)]).exit_code == 0
    both = kept()
    assert (both.done, both.tried, both.proved) == ({"start_here/keep_probability"}, before.tried, {"gdp": 1.5})
    for damage in ("", "[]", "{}", '{"kept": 3}', '{"kept": {"done": [3]}}'):
        other.write_text(damage)
        said = CliRunner().invoke(app, ["progress", "--import", str(other)])
        assert (said.exit_code, "nothing was added" in said.stderr) == (1, True), damage
    assert kept() == both


def test_without_the_variable_the_users_data_folder_is_used(monkeypatch):
    monkeypatch.delenv("DPCOURSE_DATA")
    assert data_folder().name == "dpcourse"
    assert data_folder().is_absolute()
