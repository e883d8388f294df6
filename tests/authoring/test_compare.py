"""`dpcourse build --check`: what is not as the sources give it, where it differs, and what to run."""

import json
import shutil

import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse.authoring import build, compare
from dpcourse.commands import app


def run(*arguments):
    return CliRunner().invoke(app, ["build", "--check", *map(str, arguments)])


@pytest.mark.in_turn("seconds of reading sources")
def test_check_is_content_with_what_was_built(built):
    result = run("--root", built.root)
    assert result.exit_code == 0, result.output
    assert "1 lesson is as its source says." in result.output


@pytest.mark.parametrize("folder", ["lessons", "solutions"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cells: cells[1].update(source="import os"), "differs in its source: 'import os', not"),
        (lambda cells: cells[4].update(id="other"), "cell 4 ("),
        (lambda cells: cells[4]["metadata"].clear(), "differs in its metadata"),
        (lambda cells: cells.pop(), "cells, not"),
        (lambda cells: cells.append(dict(cells[0])), "cells, not"),
    ],
)
def test_check_names_the_file_and_the_first_cell_that_differs(built, folder, change, said):
    path = built.root / folder / "00-start.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook["cells"])
    path.write_text(json.dumps(notebook))
    result = run("--root", built.root)
    assert result.exit_code == 1
    assert f"{folder}/00-start.ipynb: cell " in result.output
    assert said in result.output
    assert "run `dpcourse build 00-start`" in result.output


def test_of_a_long_text_the_part_is_shown_where_the_two_part(built):
    built.edit(("{closing}", f"{'Words that nobody has changed. ' * 9}Here is one. {'And so on. ' * 9}\n\n{{closing}}"))
    build.build(built.root)
    built.edit(("Here is one.", "Here was one."))
    for said in build.differences(built.root):
        assert "differs in its source: '…y has changed. Here is one. And so on." in said
        assert "…', not '…y has changed. Here was one. And so on." in said


def test_check_sees_missing_broken_and_leftover_notebooks_and_a_changed_source(built):
    (built.root / "lessons" / "00-start.ipynb").unlink()
    (built.root / "solutions" / "00-start.ipynb").write_text("{")
    shutil.copy(built.source, built.root / "lessons" / "03-old.ipynb")
    broken, missing, left = build.differences(built.root)
    assert broken.startswith("solutions/00-start.ipynb: is not a notebook")
    assert missing == "lessons/00-start.ipynb: is missing: run `dpcourse build 00-start`"
    assert left == "lessons/03-old.ipynb: there is no solutions/03-old.md: write it, or remove this file"


def test_check_sees_a_changed_source(built):
    built.edit(("seven", "eight"))
    both = build.differences(built.root)
    assert len(both) == 2
    assert all("differs in its source: 'print(\"seven\", 7)', not 'print(\"eight\", 7)'" in line for line in both)


def test_check_says_all_that_is_wrong_and_not_only_the_first(two_lessons):
    two_lessons.edit(("def keep", "def kept"))
    two_lessons.edit(("7)", "7"), file=two_lessons.second)
    first, second, *_ = build.differences(two_lessons.root)
    assert "stands below no solution" in first
    assert "not valid Python" in second


def test_check_does_not_look_at_executed_outputs(built):
    path = built.root / "solutions" / "00-start.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"][-3]["outputs"] = []
    path.write_text(json.dumps(notebook))
    assert build.differences(built.root) == []


def test_the_committed_notebooks_are_what_their_sources_give(record_property):
    """What is behind in a translation is no fault; it is told at the end of the tests."""
    assert build.differences(ROOT) == []
    record_property("behind", compare.behind(ROOT))


def test_where_something_is_missing_nobody_asks_what_is_behind(built, monkeypatch):
    """It would be imported."""

    def fails(language):
        raise ModuleNotFoundError("dpcourse.course.start_here.quiz")

    monkeypatch.setattr(compare, "_spoken", lambda root: ["xx"])
    monkeypatch.setattr(compare.catalogues, "behind", fails)
    monkeypatch.setattr(compare.font, "behind", lambda root, language: ())
    built.module("course/start_here/quiz").unlink()
    assert compare.behind(built.root) == []
    assert any("quiz" in line for line in compare.differences(built.root))
