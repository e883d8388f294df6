"""The build: one source, two notebooks, the same bytes every time; what is wrong in a source is said with its line."""

import json
import shutil
import sys
import time
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from dpcourse.authoring import build, navigation
from dpcourse.cli import app
from dpcourse.course import lesson as lesson_of

ROOT = Path(__file__).parents[1]

SOURCE = """---
kernelspec: {display_name: Python 3, language: python, name: python3}
dpcourse:
  title: "00 A lesson: the only one"
  learn: what a lesson is
  minutes: 5
  needs: nothing
  goals: [{can: "do it", checks: ["0.1"]}]
---

{opening}

```{code-cell} ipython3
import math
from dpcourse import check
```

{exercise 0.1}

```{code-cell} ipython3
def keep_probability(epsilon):
    ### BEGIN SOLUTION
    return 1 / (1 + math.exp(-epsilon))
    ### END SOLUTION
```

```{code-cell} ipython3
check("0.1", keep_probability)
```

```{code-cell} ipython3
:tags: [nbval-check-output]
print("seven", 7)
```

{closing}
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one short lesson with one exercise."""
    module = lesson_of(0)
    monkeypatch.setattr(module, "EXERCISES", (module.keep_probability,))
    (tmp_path / "solutions").mkdir()
    source = tmp_path / "solutions" / "00-start.md"
    source.write_text(SOURCE, encoding="utf-8")
    return tmp_path


def edited(course, *changes):
    source = course / "solutions" / "00-start.md"
    text = source.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    source.write_text(text, encoding="utf-8")
    return source


def line_of(source, text):
    """The number of the last line that holds the text."""
    return [i for i, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1) if text in line][-1]


def notebooks(course):
    return [nbformat.read(course / folder / "00-start.ipynb", as_version=4) for folder in ("solutions", "lessons")]


def test_a_lesson_is_blank_where_its_solution_is_solved(course):
    assert build.build(course) == ["00-start"]
    solved, blank = notebooks(course)
    assert [cell.id for cell in solved.cells] == [cell.id for cell in blank.cells]
    different = [(a.source, b.source) for a, b in zip(solved.cells, blank.cells, strict=True) if a.source != b.source]
    assert len(different) == 1
    assert different[0][1] == "def keep_probability(epsilon):\n    raise NotImplementedError"
    assert "return 1 / (1" not in json.dumps(blank)
    for notebook in (solved, blank):
        nbformat.validate(notebook)


def test_outputs(course):
    build.build(course)
    solved, blank = notebooks(course)
    says = {cell.source: [output for output in cell.outputs] for cell in blank.cells if cell.cell_type == "code"}
    assert [bool(outputs) for outputs in says.values()] == [False, False, True, False]
    assert ": not attempted" in says['check("0.1", keep_probability)'][0].data["text/plain"]
    printed = [cell.outputs for cell in solved.cells if cell.cell_type == "code"]
    assert ": passed (1 point)" in printed[2][0].data["text/plain"]
    assert printed[3][0].text == "seven 7\n"


def test_checks_are_compared_by_nbval(course):
    build.build(course)
    for notebook in notebooks(course):
        tags = {cell.source: cell.metadata.get("tags", []) for cell in notebook.cells}
        assert tags['check("0.1", keep_probability)'] == ["nbval-check-output"]


def test_markdown_is_filled(course):
    build.build(course)
    text = "\n".join(cell.source for cell in notebooks(course)[1].cells if cell.cell_type == "markdown")
    assert "# 00 A lesson: the only one" in text
    assert "- do it (exercise 0.1)" in text
    assert "### Exercise 0.1: How often to keep the truth" in text
    assert "Difficulty ●○○○○ (1 of 5) · about 5 minutes · 1 point" in text
    assert "{" not in text


def test_pages_are_linked(course):
    """Two lessons and a glossary: what stands at the top and at the end, on the home page and in README."""
    source = course / "solutions" / "00-start.md"
    home = source.rename(course / "solutions" / "00-start-here.md")
    home.write_text(home.read_text().replace("{closing}", "{contents}\n\n+++\n\n## 1. All of it\n\n{closing}"))
    (course / "solutions" / "01-next.md").write_text(SOURCE.replace("00 A", "01 Another").replace("the only one", "x"))
    glossary = course / "solutions" / "glossary.md"
    glossary.write_text("# Glossary\n\n{closing}\n\n00 §1, 00 §2, 99 §1, 2014 §1\n")
    first, last = "[00 A lesson](00-start-here.ipynb)", "[01 Another lesson](01-next.ipynb)"
    assert navigation.links(home) == f"Next: {last} · [Glossary](glossary.ipynb)"
    second = f"Previous: {first} · [All lessons](00-start-here.ipynb) · [Glossary](glossary.ipynb)"
    assert navigation.links(course / "solutions" / "01-next.md") == second
    assert build.opening(course / "solutions" / "01-next.md").splitlines()[:3] == ["# 01 Another lesson: x", "", second]
    with pytest.raises(build.SourceError, match=r"glossary\.md:5: 00 §2: lesson 00-start-here has no section 2"):
        build.build(course, names=["glossary"])
    glossary.write_text(glossary.read_text().replace("00 §2, ", ""))
    assert build.build(course, names=["glossary", "00-start-here"]) == ["00-start-here", "glossary"]
    for folder in ("lessons", "solutions"):
        (cell,) = nbformat.read(course / folder / "glossary.ipynb", as_version=4).cells
        linked = "[00 §1](00-start-here.ipynb#cell-id=section-1), 99 §1, 2014 §1"
        assert cell.source == f"# Glossary\n\n[All lessons](00-start-here.ipynb)\n\n{linked}"
        cells = nbformat.read(course / folder / "00-start-here.ipynb", as_version=4).cells
        assert [cell.source for cell in cells if cell.id == "section-1"] == [
            f"## 1. All of it\n\n{navigation.links(home)}"
        ]
        row = "<ul><li>do it</li></ul> **You need first:** nothing | 5 |"
        assert f"| {first} | {row}\n| {last} | {row}" in cells[-2].source


def test_the_table_of_lessons_in_readme_is_made_from_their_front_matter(course):
    readme = course / "README.md"
    marks = "<!-- lessons: made by `dpcourse build` -->\n", "<!-- end of lessons -->"
    readme.write_text(f"# Title\n\n{marks[0]}old{marks[1]}\n\n<b>after</b>\n")
    build.build(course)
    row = "| [00 A lesson](lessons/00-start.ipynb) | what a lesson is | 5 |"
    table = f"| lesson | you learn | minutes |\n|---|---|---|\n{row}"
    assert readme.read_text() == f"# Title\n\n{marks[0]}\n{table}\n\n{marks[1]}\n\n<b>after</b>\n"
    assert build.differences(course) == []
    edited(course, ("what a lesson is", "something else"))
    assert build.differences(course) == ["README.md: its table of lessons is not what their front matter gives"]
    readme.write_text("# Title\n")
    with pytest.raises(build.SourceError, match=r"README\.md:1: has no table of lessons between"):
        build.build(course)


def contents(course):
    return {path.relative_to(course): path.read_bytes() for path in course.glob("*/*.ipynb")}


def test_the_same_bytes_twice_without_paths_or_times(course):
    build.build(course)
    first = contents(course)
    build.build(course, fresh=True)
    assert contents(course) == first
    text = b"".join(first.values()).decode()
    for unwanted in (str(course), str(Path.home()), "iopub", "2026-"):
        assert unwanted not in text


def test_only_what_is_out_of_date_is_built(course):
    assert build.build(course) == ["00-start"]
    assert build.build(course) == []
    edited(course, ("seven", "eight"))
    assert build.build(course) == ["00-start"]
    (course / "lessons" / "00-start.ipynb").unlink()
    assert build.build(course) == ["00-start"]
    assert build.build(course, names=["00-start"]) == []
    assert build.build(course, fresh=True) == ["00-start"]
    with pytest.raises(ValueError, match="there is no lesson '05-x'; there are 00-start"):
        build.build(course, names=["05-x"])


PASSES = 'check("0.1", keep_probability)\n```\n'


@pytest.mark.parametrize(
    ("changes", "at", "said"),
    [
        ([("    ### END SOLUTION\n", "")], "BEGIN SOLUTION", "`### BEGIN SOLUTION` without `### END SOLUTION`"),
        ([("    ### BEGIN SOLUTION\n", "")], "END SOLUTION", "`### END SOLUTION` without `### BEGIN SOLUTION`"),
        ([("### END SOLUTION", "### BEGIN SOLUTION")], "BEGIN SOLUTION", "inside a solution that begins in line"),
        (
            [(PASSES, PASSES + "\n```{code-cell} ipython3\n" + PASSES.replace(")\n", ")  # again\n"))],
            "again",
            "exercise 0.1 is checked a second time",
        ),
        ([('check("0.1", keep_probability)', "print(1)")], "def keep", "this solution cell has no check"),
        (
            [("def keep_probability", "def keep")],
            'check("0.1"',
            "must be given `keep_probability`, defined in the solution cell before",
        ),
        ([('check("0.1", keep', 'check("0.9", keep')], 'check("0.9"', "there is no exercise '0.9'; there are 0.1"),
        ([("{exercise 0.1}\n", "{exercise 0.1}\n\n## 1. Hidden\n")], "## 1.", "a numbered section must begin a cell"),
        ([('"seven", 7', "1 / 0")], "1 / 0", "the cell fails with ZeroDivisionError: division by zero"),
        ([('"seven", 7', "7 +")], "7 +", "not valid Python"),
        ([("return 1 / (1", "return 2 / (1")], 'check("0.1"', "the solution does not pass its check"),
        ([('print("seven", 7)', 'import sys; print("oh", file=sys.stderr)')], "oh", "the cell writes to stderr: oh"),
        ([("dpcourse:\n", "course:\n")], None, "the front matter has no `dpcourse:` with title, learn, minutes"),
        ([("  learn: what a lesson is\n", "")], None, "the front matter has no `dpcourse:` with learn"),
        (
            [
                (
                    SOURCE[
                        SOURCE.index("```{code-cell} ipython3\ndef") : SOURCE.index("```{code-cell} ipython3\n:tags")
                    ],
                    "",
                )
            ],
            None,
            "no check for exercise 0.1",
        ),
    ],
)
def test_what_is_wrong_in_a_source_is_said_with_file_and_line_and_nothing_is_written(course, changes, at, said):
    source = edited(course, *changes)
    with pytest.raises(build.SourceError) as raised:
        build.build(course)
    assert str(raised.value).startswith(f"{source}:{line_of(source, at) if at else 1}: ")
    assert said in str(raised.value)
    assert [path.name for path in course.rglob("*") if path.is_file()] == ["00-start.md"]


def test_a_failing_source_leaves_the_notebooks_of_before(course):
    build.build(course)
    before = contents(course)
    edited(course, ('"seven", 7', "1 / 0"))
    with pytest.raises(build.SourceError):
        build.build(course)
    assert contents(course) == before


def test_output_that_differs_from_run_to_run_can_be_left_out(course):
    edited(course, (":tags: [nbval-check-output]", ":tags: [remove-output]"))
    build.build(course)
    assert notebooks(course)[0].cells[-2].outputs == []


# ---- dpcourse build --check


def run(*arguments):
    return CliRunner().invoke(app, ["build", *map(str, arguments)])


def test_check_is_content_with_what_was_built(course):
    build.build(course)
    result = run("--check", "--root", course)
    assert result.exit_code == 0, result.output
    assert "1 lessons are as their sources say." in result.output


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
def test_check_names_the_file_and_the_first_cell_that_differs(course, folder, change, said):
    build.build(course)
    path = course / folder / "00-start.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook["cells"])
    path.write_text(json.dumps(notebook))
    result = run("--check", "--root", course)
    assert result.exit_code == 1
    assert f"{folder}/00-start.ipynb: cell " in result.output
    assert said in result.output


def test_check_sees_missing_broken_and_leftover_notebooks_and_a_changed_source(course):
    build.build(course)
    (course / "lessons" / "00-start.ipynb").unlink()
    (course / "solutions" / "00-start.ipynb").write_text("{")
    shutil.copy(course / "solutions" / "00-start.md", course / "lessons" / "03-old.ipynb")
    assert build.differences(course)[0].startswith("solutions/00-start.ipynb: is not a notebook")
    assert build.differences(course)[1:] == [
        "lessons/00-start.ipynb: is missing",
        "lessons/03-old.ipynb: there is no solutions/03-old.md",
    ]
    build.build(course)
    edited(course, ("seven", "eight"))
    *both, _ = build.differences(course)
    assert len(both) == 2
    assert all("differs in its source: 'print(\"seven\", 7)', not 'print(\"eight\", 7)'" in line for line in both)


def test_check_does_not_look_at_executed_outputs(course):
    build.build(course)
    path = course / "solutions" / "00-start.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"][-2]["outputs"] = []
    path.write_text(json.dumps(notebook))
    assert build.differences(course) == []


def test_the_command_reports_errors_without_a_traceback(course):
    source = edited(course, ("    ### END SOLUTION\n", ""))
    result = run("--root", course)
    assert result.exit_code == 1
    assert f"{source}:{line_of(source, 'BEGIN')}" in result.output
    assert "Traceback" not in result.output


def test_without_jupytext_the_command_says_how_to_get_it(course, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupytext", None)
    result = run("--root", course)
    assert result.exit_code == 2
    assert f"needs jupytext: run `{sys.executable} -m pip install -r tests/requirements.txt`" in result.output


# ---- the course itself


def test_the_committed_notebooks_are_what_their_sources_give_and_checking_is_quick():
    began = time.perf_counter()
    assert build.differences(ROOT) == []
    assert time.perf_counter() - began < 5


def test_a_lesson_builds_to_the_same_bytes_twice(tmp_path):
    """One with random draws, pictures, sliders and a quiz; all of them would take minutes."""
    built = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        (folder / "solutions").mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / "01-composition.md", folder / "solutions")
        build.build(folder)
        built.append(contents(folder))
    assert built[0] == built[1]
    assert len(built[0]) == 2
