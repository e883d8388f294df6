"""What you can do now: goals by exercises that are passed, in both languages, and as one file to keep."""

import re

import pytest

from dpcourse import course, goals
from dpcourse.base.languages import speaking
from dpcourse.notebook.goals import Goals
from dpcourse.notebook.progress import Kept, keep, record

EVERY = [(lesson, can, ids) for lesson in course.lessons() for can, ids in lesson.goals("en")]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))
    return tmp_path


def test_every_exercise_shows_one_goal():
    """In every language the same ones."""
    shown = [id for _, _, ids in EVERY for id in ids]
    assert sorted(shown) == sorted(exercise.id for exercise in course.every_exercise())
    for lesson in course.lessons():
        assert [ids for _, ids in lesson.goals("zh")] == [ids for _, ids in lesson.goals("en")]
        assert lesson.goals("a language that is not there") == lesson.goals("en")


def test_a_goal_is_reached_when_all_its_exercises_are_passed():
    _, can, ids = next(each for each in EVERY if len(each[2]) > 1)
    for id in ids[1:]:
        record(id)
    assert f"○ {can} ({len(ids) - 1} of {len(ids)} exercises)" in repr(Goals())
    record(ids[0], is_right=False)
    assert "✓" not in repr(Goals())
    record(ids[0])
    page = Goals()
    assert f"✓ {can}" in repr(page)
    assert page.reached == 1
    assert repr(page).startswith(f"What you can do now: 1 of {len(EVERY)} goals")
    assert repr(Goals("Mia <3")).startswith("What Mia <3 can do: 1 of")
    assert "Mia &lt;3" in Goals("Mia <3").page()


def test_what_an_attack_has_proved_stands_with_its_lesson_rounded_down():
    keep(Kept(proved={"gdp": 1.2589}))
    lines = repr(Goals()).splitlines()
    (at,) = [place for place, line in enumerate(lines) if line == "Proved by an attack: a μ of 1.25"]
    assert [line for line in lines[:at] if re.match(r"\d\d ", line)][-1].startswith("03 ")


def test_it_is_said_in_the_language_that_is_chosen(folder):
    with speaking("zh"):
        page = Goals()
        assert course.lesson(3).goals("zh")[0][0] in repr(page)
        assert "<html lang='zh'>" in page.page()
        assert not re.search("[A-Za-z]{3,}.*goals", page.headline())


def test_it_is_saved_as_one_file_that_is_never_written_over(folder, capsys):
    file = folder / "mine.html"
    goals("Mia", save=file)
    assert file.read_text(encoding="utf-8") == Goals("Mia").page()
    assert not re.search(r"(?:src|href)=", file.read_text(encoding="utf-8")), "it needs no other file"
    before = file.read_text(encoding="utf-8")
    record(EVERY[0][2][0])
    goals("Mia", save=file)
    assert "is there already" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == before
    goals(save=folder / "mine.txt")
    assert "must end in" in capsys.readouterr().out
    assert not (folder / "mine.txt").exists()
