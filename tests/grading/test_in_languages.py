"""A class of which each hands in the lesson in a language of their own, and that is reported in any."""

import csv
import html
import json
import re
import shutil
import zipfile
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from dataclasses import replace

import made_up_language
import pytest
from grading.rows import CANVAS, a_row
from sandboxed import NEEDS_SANDBOX
from support import ROOT

from dpcourse.base.languages import ENGLISH, again, say, speaking
from dpcourse.commands import grade_steps
from dpcourse.commands.grade_options import Options
from dpcourse.grading import cohort, collect
from dpcourse.grading.judge import given, needed
from dpcourse.grading.judge.tasks import language_of
from dpcourse.grading.keep.store import opened
from dpcourse.grading.marks.settings import TEMPLATE, parse
from dpcourse.grading.out import feedback, returned
from dpcourse.grading.result import Mark, Result, from_json, missing, result

NAME = "00-start-here.ipynb"
NAMES = ("ann", "bao", "chen")


class AtOnce(Executor):
    """Does each job when it is asked to."""

    def submit(self, function, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


def with_answer(file, function, code):
    """A notebook with another answer to an exercise."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if f"def {function}(" in cell["source"]:
            cell["source"] = code
    return json.dumps(notebook)


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """The folder of grades of a class: one in English, one in Chinese, one in Chinese with mistakes."""
    folder = tmp_path_factory.mktemp("class")
    shutil.copy(ROOT / "solutions" / NAME, folder / "ann.ipynb")
    shutil.copy(ROOT / "solutions" / "zh" / NAME, folder / "bao.ipynb")
    wrong = "def keep_probability(epsilon):\n    return epsilon / missing"
    (folder / "chen.ipynb").write_text(with_answer(ROOT / "solutions" / "zh" / NAME, "keep_probability", wrong))
    out = tmp_path_factory.mktemp("grades")
    with opened(out) as store:
        cohort.grade_class(folder, store, lambda: nullcontext(AtOnce()))
    return out


def rows(out):
    with opened(out) as store:
        return {row.student: row.result for row in store.rows()}


def reported(out, language=None):
    """Write what is stored anew, all students in that language; the texts of their pages and of the report, without code."""
    with opened(out) as store:
        store.set_languages(NAMES, dict.fromkeys(NAMES, language or made_up_language.LANGUAGE))
    with made_up_language.spoken() if language is None else nullcontext():
        grade_steps.run_command(Options(out=out, language=language))
    with opened(out) as store:
        store.set_languages(NAMES, {})
    files = {file.stem.partition("-")[0]: file.read_text(encoding="utf-8") for file in out.rglob("*.html")}
    return {name: words(text) for name, text in files.items()}


def words(page):
    text = re.sub(r"<(style|code|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


def table(file):
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return [line[:1] + line[3:6] for line in csv.reader(lines)]


@pytest.mark.weekly("two classes are graded in sandboxes")
@NEEDS_SANDBOX
def test_the_same_answers_get_the_same_marks_in_every_language_and_no_flag(grades):
    found = rows(grades)
    assert {found[name].status for name in found} == {"graded"}
    assert found["ann"].notes == found["bao"].notes == ()
    assert found["ann"].errors == found["bao"].errors == ()
    assert found["ann"].score == found["bao"].score == found["ann"].points
    assert [(mark.state, mark.points) for mark in found["ann"].exercises] == [
        (mark.state, mark.points) for mark in found["bao"].exercises
    ]


@pytest.mark.weekly("a class is graded for it; each message is tried by itself on a commit")
@NEEDS_SANDBOX
def test_a_class_that_is_graded_can_be_reported_in_another_language(grades, capsys):
    english = reported(grades, ENGLISH)
    told = capsys.readouterr().out
    assert "Your function stopped with NameError (name 'missing' is not defined)" in english["chen"]
    marks = (grades / "marks.csv").read_text(encoding="utf-8-sig")
    columns = (grades / "canvas-00.csv").read_text()
    other = reported(grades)
    for name in ("ann", "bao", "chen"):
        outside = made_up_language.outside(other[name])
        assert not made_up_language.has_words(outside), outside
    outside = made_up_language.outside(other["report"]).replace("A mechanism, and ε in one picture", "")  # a heading
    assert set(re.findall(r"[a-z]{2,}", outside)) <= {"ann", "bao", "chen"}
    assert "⟦Your function stopped with NameError (name 'missing' is not defined)" in other["chen"]
    assert made_up_language.outside(capsys.readouterr().out).split() == []
    assert "⟦graded⟧" in (grades / "gradebook.csv").read_text(encoding="utf-8")
    assert (grades / "canvas-00.csv").read_text() == columns
    assert reported(grades, ENGLISH) == english
    assert capsys.readouterr().out == told
    assert (grades / "marks.csv").read_text(encoding="utf-8-sig") == marks
    assert len((grades / "changes.csv").read_text().splitlines()) == 1


@pytest.mark.in_turn("seconds in a sandbox")
@NEEDS_SANDBOX
def test_students_are_told_in_the_language_of_their_notebook_and_the_instructor_in_another(grades):
    grade_steps.run_command(Options(out=grades))
    assert spoken_to(grades) == {"ann": "en", "bao": "zh", "chen": "zh"}
    assert '<html lang="en">' in (grades / "report.html").read_text(encoding="utf-8")
    with zipfile.ZipFile(grades / "feedback-00.zip") as archive:
        pages = {name.partition("-")[0]: archive.read(name).decode() for name in archive.namelist()}
    assert {name: LANG.search(page)[1] for name, page in pages.items()} == {"ann": "en", "bao": "zh", "chen": "zh"}


@NEEDS_SANDBOX
def test_the_roster_s_language_comes_first_and_grades_nothing_anew(grades, tmp_path):
    with opened(grades) as store:
        store.set_languages(NAMES, {"ann": "zh", "bao": "en"})
        before = rows(grades)
        grade_steps.run_command(Options(out=grades))
        assert spoken_to(grades) == {"ann": "zh", "bao": "en", "chen": "zh"}
        assert rows(grades) == before
        store.set_languages(NAMES, {})


LANG = re.compile(r'<html lang="(\w+)">')


def spoken_to(out):
    """The language of each student's page."""
    pages = sorted((out / "feedback").glob("*.html"))
    return {page.stem.partition("-")[0]: LANG.search(page.read_text(encoding="utf-8"))[1] for page in pages}


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("from dpcourse import check", "en"),
        ("import dpcourse\ndpcourse.language('zh')", "zh"),
        ('from dpcourse import language\nlanguage("zh")\nlanguage( "en" )', "en"),
        ("import math", ""),
        ('# language("zh")', ""),
        ('def my_language(x): pass\nmy_language("zh")', ""),
    ],
)
def test_a_notebook_speaks_as_the_library_does_in_it(code, language):
    assert language_of([collect.Cell(1, "", code)]) == language


def test_who_has_neither_roster_nor_notebook_is_told_in_the_language_of_the_class():
    chinese = parse('language = "zh"')
    row = a_row(result=missing(1))
    assert feedback.language_of([row], chinese) == "zh"
    assert feedback.language_of([row], parse("")) == "en"
    assert feedback.language_of([replace(row, language="xx")], chinese) == "zh"  # one that is not there
    assert feedback.language_of([replace(row, language="en")], chinese) == "en"
    newest = [replace(row, language="en"), replace(row, lesson=2, language="zh"), replace(row, lesson=3)]
    assert feedback.language_of(newest, parse("")) == "zh"


def test_a_page_a_notebook_and_a_comment_are_in_the_student_s_language():
    row = a_row(language="zh", file=CANVAS.format(name="k", number=1))
    for text in (
        feedback.page("k", [row], parse("")),
        returned.notebook(row, parse("")),
        returned.comment(row, parse("")),
    ):
        assert "组合" in text


def test_what_is_stored_is_the_same_in_every_language():
    def made():
        clash = say("cell {cell} gives `{name}` another meaning", cell=3, name="sum")
        mark = Mark(
            "start_here/keep_probability",
            "wrong",
            0,
            1,
            say("In your notebook {clashes}: your function uses it.", clashes=clash),
        )
        return result(0, "graded", ["{plain}"], [mark], ["cell 2: KeyError: '{0.x}'"])

    stored = made().as_json()
    with made_up_language.spoken():
        assert made().as_json() == stored
        found = from_json(stored)
        assert found.exercises[0].message == made().exercises[0].message
        assert found.exercises[0].message.startswith("⟦In your notebook ⟦cell 3")
        assert (found.notes, found.errors) == (("{plain}",), ("cell 2: KeyError: '{0.x}'",))
    assert from_json(stored) == made()


def test_what_cannot_be_stored_in_parts_is_stored_in_english():
    with made_up_language.spoken():
        text = say("the given {thing}", thing={"message": "{x.__class__}", "fields": {}})
        stored = json.loads(Result("graded", (text,), 0, 0).as_json())
    assert stored["notes"] == ["the given {'message': '{x.__class__}', 'fields': {}}"]


def test_a_provided_cell_is_as_it_was_given_out_in_any_language():
    release = given.release_of([file.read_bytes() for file in given.blanks(ROOT)[0]], 0)
    for language in ("", "zh"):
        solved = collect.code_cells((ROOT / "solutions" / language / NAME).read_bytes())
        assert given.changes(solved, release.provided) == []
        running, doubts = needed.to_run(solved, release)
        assert (len(running) < len(solved), doubts) == (True, [])
        cell = next(each for each in solved if any(each.id == other.id for other in release.provided))
        edited = [collect.Cell(each.number, each.id, "x = 1" if each == cell else each.code) for each in solved]
        [note] = given.changes(edited, release.provided)
        assert note.endswith("was edited")
    both = [*solved, *collect.code_cells((ROOT / "solutions" / NAME).read_bytes())]
    assert any("is there 2 times" in note for note in given.changes(both, release.provided))


@pytest.mark.parametrize("begun", ["", "zh"])
def test_of_two_languages_the_one_with_answers_counts(tmp_path, begun):
    """The whole folder of the lessons may be handed in: the other language is there as it was given out."""
    for language in ("", "zh"):
        folder = tmp_path / "kim" / "lessons" / language
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / ("solutions" if language == begun else "lessons") / language / NAME, folder)
    [found] = collect.submissions(tmp_path)
    assert found.file == "/".join(filter(None, ["kim/lessons", begun, NAME]))
    assert found.alone
    assert "answers are written in it" in found.notes[0]


def test_answers_in_two_languages_are_two_versions(tmp_path):
    for name in ("kim_1_98_00-start-here.ipynb", "kim_1_99_00-start-here-1.ipynb"):
        language = "zh" if "_99_" in name else ""
        shutil.copy(ROOT / "solutions" / language / NAME, tmp_path / name)
    [found] = collect.submissions(tmp_path)
    assert (found.file, found.also) == ("kim_1_99_00-start-here-1.ipynb", ("kim_1_98_00-start-here.ipynb",))
    assert not found.alone
    (tmp_path / "kim_1_98_00-start-here.ipynb").write_text("")  # what cannot be read may have held answers
    [found] = collect.submissions(tmp_path)
    assert not found.alone


def test_a_fault_has_the_same_digest_in_every_language(tmp_path):
    (tmp_path / "kim.ipynb").write_text("")
    (tmp_path / "lee").mkdir()
    (tmp_path / "lee" / "00-start-here.ipynb").symlink_to("/etc")
    english = [(each.digest, each.fault) for each in collect.submissions(tmp_path, 0)]
    with made_up_language.spoken():
        other = [(each.digest, each.fault) for each in collect.submissions(tmp_path, 0)]
    assert [digest for digest, _ in english] == [digest for digest, _ in other]
    assert [again(fault, ENGLISH) for _, fault in other if fault] == [fault for _, fault in english if fault] != []


def test_course_toml_says_the_same_in_every_language():
    with speaking("zh"):
        assert parse(again(TEMPLATE)) == parse(TEMPLATE)
