"""Whose a notebook is, and of which lesson."""

import shutil

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.grading import collect

NAMES = [file.name for file in sorted((ROOT / "lessons").glob("[0-9]*.ipynb"))]


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("Kim Lee.ipynb", "Kim Lee"),
        ("leekim_1234_98765_01-composition.ipynb", "leekim_1234"),
        ("leekim_LATE_1234_98765_01-composition-3.ipynb", "leekim_1234"),
        ("Kim Lee_77_assignsubmission_file_/01-composition.ipynb", "Kim Lee_77"),
        ("too_LATE_again/01-composition.ipynb", "too_LATE_again"),
        ("kim/01-composition/01-composition.ipynb", "kim"),
        ("dp-course-kimlee/lessons/01-composition.ipynb", "dp-course-kimlee"),
    ],
)
def test_students_are_told_by_the_names_that_an_lms_gives(tmp_path, path, student):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", tmp_path / path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "__MACOSX").mkdir()
    assert [(each.student, each.lesson) for each in collect.submissions(tmp_path)] == [(student, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_told_by_its_exercises_where_the_name_does_not(tmp_path, name):
    shutil.copy(ROOT / "lessons" / name, tmp_path / "kim.ipynb")
    (tmp_path / "lee.ipynb").write_text("not a notebook")
    assert [each.lesson for each in collect.submissions(tmp_path)] == [int(name[:2])] * 2


def test_the_glossary_beside_a_lesson_is_no_submission(tmp_path):
    (tmp_path / "kim" / "lessons").mkdir(parents=True)
    # in English alone: the same lesson in two languages is two versions of it
    for file in (ROOT / "lessons").glob("*.ipynb"):
        shutil.copy(file, tmp_path / "kim" / "lessons")
    found = [(each.student, each.lesson, each.also) for each in collect.submissions(tmp_path)]
    assert found == [("kim", lesson.number, ()) for lesson in course.lessons()]


def test_a_second_folder_without_notebooks_takes_nothing_from_a_student(tmp_path):
    for kind in ("file", "onlinetext"):
        (tmp_path / f"Kim Lee_77_assignsubmission_{kind}").mkdir()
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", tmp_path / "Kim Lee_77_assignsubmission_file")
    (tmp_path / "nothing").mkdir()
    found = {each.student: (each.fault, each.also) for each in collect.submissions(tmp_path)}
    assert found == {"Kim Lee_77": (None, ()), "nothing": ("there is no notebook in the folder", ())}


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"there is no notebook \(\.ipynb\)"):
        list(collect.submissions(tmp_path))
