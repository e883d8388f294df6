"""The build: one source, two notebooks, the same bytes every time; what is wrong in a source is said with its line."""

import json
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course as real
from dpcourse.authoring import build, fill, navigation
from dpcourse.authoring.source import read
from dpcourse.base import cells
from dpcourse.commands import app
from dpcourse.notebook import aria

CHECK = 'check("0.1", keep_probability)\n# hint("0.1")\n# solution("0.1")'


@pytest.mark.in_turn("seconds of reading sources")
def test_a_lesson_is_blank_where_its_solution_is_solved(built):
    solved, blank = built.notebooks()
    assert [cell.id for cell in solved.cells] == [cell.id for cell in blank.cells]
    different = [(a.source, b.source) for a, b in zip(solved.cells, blank.cells, strict=True) if a.source != b.source]
    assert len(different) == 1
    assert different[0][1] == "def keep_probability(epsilon):\n    raise NotImplementedError"
    assert "return 1 / (1" not in json.dumps(blank)
    for notebook in (solved, blank):
        nbformat.validate(notebook)


def test_outputs(built):
    solved, blank = built.notebooks()
    says = {cell.source: cell.outputs for cell in blank.cells if cell.cell_type == "code"}
    assert [bool(outputs) for outputs in says.values()] == [False, False, True, False, False]
    assert ": not attempted" in says[CHECK][0].data["text/plain"]
    printed = [cell.outputs for cell in solved.cells if cell.cell_type == "code"]
    assert ": passed (1 point)" in printed[2][0].data["text/plain"]
    assert printed[3][0].text == "seven 7\n"
    assert printed[4] == [], "its output differs from run to run, and is left out"


def test_checks_are_compared_by_nbval(built):
    for notebook in built.notebooks():
        tags = {cell.source: cell.metadata.get("tags", []) for cell in notebook.cells}
        assert tags[CHECK] == ["nbval-check-output"]


def test_code_that_a_source_folds_is_folded_in_both_notebooks(course):
    course.edit((":tags: [nbval-check-output]", ":tags: [nbval-check-output]\n:jupyter: {source_hidden: true}"))
    page = build.read(course.source)
    for notebook in (page.solved, page.blank):
        folded = [cell.source for cell in notebook.cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
        assert folded == ['print("seven", 7)']


def test_markdown_is_filled(built):
    text = "\n".join(cell.source for cell in built.notebooks()[1].cells if cell.cell_type == "markdown")
    assert "# 00 A lesson: the only one" in text
    assert "- do it (exercise 0.1)" in text
    assert "**Time:** about 15 minutes: 5 to read, 10 for the exercises." in text
    assert "### Exercise 0.1: How often to keep the truth" in text
    assert "Difficulty ●○○○○ (1 of 5) · about 6 minutes · 1 point" in text
    assert "{" not in text


def test_the_number_of_an_exercise_is_written_wherever_its_name_stands(course):
    """In prose, in code, in the text of a print; of this lesson and of another; braces of LaTeX and Python are theirs."""
    prose = 'See {keep_probability}, `hint("{keep_probability}", 2)` and ({start_here/keep_probability}): $x_{tot} \\mathrm{kl}^{f}$'
    code = 'if passed("keep_probability"):\n    print(f"{7} {math.pi}", "Pass {keep_probability}.")'
    course.edit(("{closing}", f"{prose}\n\n```{{code-cell}} ipython3\n{code}\n```"))
    *_, markdown, last = build.read(course.source).blank.cells
    assert markdown.source == 'See 0.1, `hint("0.1", 2)` and (0.1): $x_{tot} \\mathrm{kl}^{f}$'
    assert last.source == 'if passed("0.1"):\n    print(f"{7} {math.pi}", "Pass 0.1.")'


def test_the_order_of_the_exercises_gives_their_numbers(monkeypatch):
    """What stands in the source stays as it is when an exercise is put in the middle."""
    source = ROOT / "solutions" / "03-gdp.md"
    before = real.lessons()
    lesson = real.lesson(3)
    swapped = (*lesson.functions[:2][::-1], *lesson.functions[2:])
    other = type(lesson)(3, lesson.name, lesson.word, lesson.title, swapped)
    monkeypatch.setattr(real, "lessons", lambda: tuple(other if each is lesson else each for each in before))
    text = "\n".join(cell.source for cell in fill.filled(source, read(source)).cells)
    assert "(exercises 3.2, 3.1" in text
    assert 'check("3.1", least_error_sum)' in text
    assert 'check("3.2", error_rates)' in text


def test_pages_are_linked(two_lessons, runs):
    """Two lessons and a glossary: what stands at the top and at the end, on the home page and in README."""
    home, second, glossary = two_lessons.source, two_lessons.second, two_lessons.glossary
    home.write_text(home.read_text().replace("{closing}", "{contents}\n\n+++\n\n## 1. All of it\n\n{closing}"))
    glossary.write_text(glossary.read_text() + "\n00 §1, 00 §2, 99 §1, 2014 §1\n")
    first, last = "[00 A lesson](00-start-here.ipynb)", "[01 Another lesson](01-next.ipynb)"
    assert navigation.links(home) == f"Next: {last} · [Glossary](glossary.ipynb)"
    links = f"Previous: {first} · [All lessons](00-start-here.ipynb) · [Glossary](glossary.ipynb)"
    assert navigation.links(second) == links
    assert fill.opening(second).splitlines()[:3] == ["# 01 Another lesson: x", "", links]
    with pytest.raises(build.SourceError, match=r"glossary\.md:5: 00 §2: lesson 00-start-here has no section 2"):
        build.build(two_lessons.root, names=["glossary"])
    glossary.write_text(glossary.read_text().replace("00 §2, ", ""))
    assert build.build(two_lessons.root, names=["glossary", "00-start-here"]) == ["00-start-here", "glossary"]
    assert runs == ["00-start-here"]
    for folder in ("lessons", "solutions"):
        (cell,) = nbformat.read(two_lessons.root / folder / "glossary.ipynb", as_version=4).cells
        linked = "[00 §1](00-start-here.ipynb#cell-id=section-1), 99 §1, 2014 §1"
        assert cell.source == f"# Glossary\n\n[All lessons](00-start-here.ipynb)\n\n{linked}"
        parts = nbformat.read(two_lessons.root / folder / "00-start-here.ipynb", as_version=4).cells
        assert [cell.source for cell in parts if cell.id == "section-1"] == [
            f"## 1. All of it\n\n{navigation.links(home)}"
        ]
        row = "<ul><li>do it</li></ul> **You need first:** nothing | 1 |"
        assert f"| {first} | {row}\n| {last} | {row}" in parts[-2].source


def test_the_table_of_lessons_in_readme_is_made_from_their_sources(built):
    readme = built.root / "README.md"
    marks = "<!-- lessons: made by `dpcourse build` -->\n", "<!-- end of lessons -->"
    readme.write_text(f"# Title\n\n{marks[0]}old{marks[1]}\n\n<b>after</b>\n")
    assert build.build(built.root) == []
    row = "| [00 A lesson](lessons/00-start.ipynb) | what a lesson is | [solved](solutions/00-start.ipynb) | 1 |"
    hours = "In all about 0 hours: 0 to read, 0 for the exercises."
    table = f"| lesson | you learn | | hours |\n|:--|:--|:--|--:|\n{row}\n\n{hours}"
    assert readme.read_text() == f"# Title\n\n{marks[0]}\n{table}\n\n{marks[1]}\n\n<b>after</b>\n"
    assert build.differences(built.root) == []
    built.edit(("what a lesson is", "something else"))
    said = "README.md: its table of lessons is not what their sources give: run `dpcourse build`"
    assert build.differences(built.root) == [said]
    readme.write_text("# Title\n")
    with pytest.raises(build.SourceError, match=r"README\.md:1: has no table of lessons between"):
        build.build(built.root)


LIVELY = """
```{code-cell} ipython3
from dpcourse import plots, quiz, widgets

print(sum({"a", "b"} == {"b", "a"} for _ in range(3)), {"a", "b"})
plots.show(plots.response, epsilon=1.0)
widgets.explore(plots.response, epsilon=widgets.slider("ε", 0.0, 5.0, 1.0, step=0.1))
quiz(0)
```

{closing}"""


@pytest.mark.weekly("builds a course twice; that nothing changes is seen by the comparison of all notebooks")
def test_the_same_bytes_twice_without_paths_or_times(course):
    """A page with a set, a picture, sliders, a quiz, and a check on inputs drawn anew."""
    course.edit(("{closing}", LIVELY))
    build.build(course.root)
    first = course.files()
    build.build(course.root, fresh=True)
    second = course.files()
    for file, content in first.items():
        assert second[file].splitlines() == content.splitlines(), file
    assert second == first
    text = b"".join(first.values()).decode()
    for unwanted in (str(course.root), str(Path.home()), "iopub", "2026-", aria.WITHOUT_WIDGETS):
        assert unwanted not in text


def section(source, begin, end):
    return source[source.index(begin) : source.index(end)]


CELL = "```{code-cell} ipython3\n"


@pytest.mark.parametrize(
    ("changes", "at", "said"),
    [
        ([("    ### END SOLUTION\n", "")], "BEGIN SOLUTION", "`### BEGIN SOLUTION` without `### END SOLUTION`"),
        ([("    ### BEGIN SOLUTION\n", "")], "END SOLUTION", "`### END SOLUTION` without `### BEGIN SOLUTION`"),
        ([("### END SOLUTION", "### BEGIN SOLUTION")], "BEGIN SOLUTION", "inside a solution that begins in line"),
        ([("{closing}", "{check keep_probability}")], "{check", "`{check keep_probability}` stands here again"),
        (
            [("{closing}", "{exercise keep_probability}")],
            "{exercise",
            "`{exercise keep_probability}` stands here again",
        ),
        (
            [("{check keep_probability}", f"{CELL}print(1)\n```")],
            "def keep",
            "this solution cell has no check: add a line `{check keep_probability}` below it",
        ),
        (
            [("def keep_probability", "def keep")],
            "{check keep",
            "`{check keep_probability}` stands below no solution: a cell before it must define `keep_probability`",
        ),
        (
            [("{check keep_probability}", '```{code-cell} ipython3\ncheck("keep_probability", keep_probability)\n```')],
            'check("keep',
            "write `{check keep_probability}` on a line of its own",
        ),
        (
            [("{check keep_probability}", "{check keep}")],
            "{check",
            "there is no exercise 'keep' in lesson 00-start; there are keep_probability",
        ),
        ([("{closing}", "See {keep}.")], "{keep}", "there is no exercise 'keep' in lesson 00-start"),
        ([("{closing}", "See {sums/keep}.")], "{sums", "there is no lesson 'sums'; there are start_here"),
        ([('"seven", 7', '"Pass {keep}."')], "{keep}", "there is no exercise 'keep'"),
        ([('"seven", 7', 'passed("0.1")')], "passed", "there is no exercise '0.1'"),
        (
            [("{closing}", "{ending}")],
            "{ending}",
            "there is no {ending} to fill in on a line of its own; there are {op",
        ),
        ([("[keep_probability]", "[keep]")], "goals:", "there is no exercise 'keep' in lesson 00-start"),
        (
            [("checks: [keep_probability]", "checks: []")],
            "goals:",
            "the goal 'do it' names no exercise in its `checks`",
        ),
        (
            [("{exercise keep_probability}", "{exercise keep_probability}\n\n## 1. Hidden")],
            "## 1.",
            "a numbered section must begin a cell",
        ),
        ([('"seven", 7', "7 +")], "7 +", "not valid Python"),
        ([("import math", "from dpcourse import gdb")], "gdb", "dpcourse has no `gdb`; is it `gdp`?"),
        ([("import math", "from dpcourse.gdb import x")], "gdb", "dpcourse has no `gdb`; is it `gdp`?"),
        (
            [('print("seven", 7)', "from dpcourse import gdp\ngdp.sigmaa(1)")],
            "sigmaa",
            "dpcourse.gdp has no `sigmaa`; is it `sigma`?",
        ),
        (
            [('print("seven", 7)', "from dpcourse import plots\nplots.spred")],
            "spred",
            "dpcourse.plots has no `spred`; is it `spread`?",
        ),
        ([("dpcourse:\n", "course:\n")], None, "the front matter has no `dpcourse:` with title, learn, needs, goals"),
        ([("  learn:", "  minutes: 5\n  learn:")], "minutes: 5", "take `minutes` out of the front matter"),
        ([("  learn: what a lesson is\n", "")], None, "the front matter has no `dpcourse:` with learn"),
        ([("  needs: nothing", '  needs: "nothing')], "goals:", "the front matter is not valid YAML"),
        (
            [("{exercise keep_probability}\n", "")],
            None,
            "no header for exercise keep_probability, which `EXERCISES` in dpcourse/course/start_here/__init__.py names: add a line `{exercise keep_probability}`",
        ),
    ],
)
def test_what_is_wrong_in_a_source_is_said_with_file_and_line_and_nothing_is_written(course, changes, at, said):
    course.edit(*changes)
    with pytest.raises(build.SourceError) as raised:
        build.build(course.root)
    assert str(raised.value).startswith(f"{course.source}:{course.line_of(at) if at else 1}: ")
    assert said in str(raised.value)
    assert course.files() == {}


def test_an_exercise_without_solution_and_check_is_named(course):
    source = course.source.read_text()
    course.edit((section(source, f"{CELL}def", "```{code-cell} ipython3\n:tags: [nbval"), ""))
    said = (
        "no check for exercise keep_probability, which .* names: add a line `{check keep_probability}` below the cell"
    )
    with pytest.raises(build.SourceError, match=f":1: {said}"):
        build.build(course.root)


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.one_case("each starts a kernel")
@pytest.mark.parametrize(
    ("change", "at", "said"),
    [
        (('"seven", 7', "1 / 0"), "1 / 0", "the cell fails with ZeroDivisionError: division by zero"),
        (("return 1 / (1", "return 2 / (1"), "{check", "the solution does not pass its check"),
        (('print("seven", 7)', 'import sys; print("oh", file=sys.stderr)'), "oh", "the cell writes to stderr: oh"),
    ],
)
def test_a_source_that_fails_when_it_is_executed_leaves_the_notebooks_of_before(built, change, at, said):
    before = built.files()
    built.edit(change)
    with pytest.raises(build.SourceError) as raised:
        build.build(built.root)
    assert str(raised.value).startswith(f"{built.source}:{built.line_of(at)}: ")
    assert said in str(raised.value)
    assert built.files() == before


def test_exercises_stand_in_the_order_of_their_lesson(tmp_path):
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions", ignore=shutil.ignore_patterns("*.ipynb"))
    copy = tmp_path / "solutions" / "03-gdp.md"
    source = copy.read_text(encoding="utf-8")
    first, second = "{exercise error_rates}", "{exercise least_error_sum}"
    copy.write_text(source.replace(first, "{}").replace(second, first).replace("{}", second, 1), encoding="utf-8")
    line = source[: source.index(first)].count("\n") + 1
    with pytest.raises(build.SourceError) as raised:
        build.read(copy, build.modules_of(ROOT))
    assert str(raised.value).startswith(f"{copy}:{line}: least_error_sum stands where ")


# ---- the command


def run(*arguments):
    return CliRunner().invoke(app, ["build", *map(str, arguments)])


def test_the_command_reports_errors_without_a_traceback(course):
    course.edit(("    ### END SOLUTION\n", ""))
    result = run("--root", course.root)
    assert result.exit_code == 1
    assert f"{course.source}:{course.line_of('BEGIN')}" in result.output
    assert "Traceback" not in result.output


def test_without_jupytext_the_command_says_how_to_get_it(course, monkeypatch):
    course.edit(("    ### END SOLUTION\n", "    ### END SOLUTION\n\n"))  # which nobody has parsed
    monkeypatch.setitem(sys.modules, "jupytext", None)
    monkeypatch.delitem(sys.modules, "jupytext.myst", raising=False)
    result = run("--root", course.root)
    assert result.exit_code == 2
    assert f"needs jupytext: run `{sys.executable} -m pip install jupytext`" in result.output


# ---- the course itself


@pytest.mark.weekly("a whole lesson is built twice; a page with all kinds of cells is on a commit")
def test_a_lesson_builds_to_the_same_bytes_twice(tmp_path):
    """One with random draws, pictures, sliders and a quiz; all of them would take minutes."""
    source, built = ROOT / "solutions" / "01-composition.md", []
    for folder in (tmp_path / "one", tmp_path / "two"):
        (folder / "solutions").mkdir(parents=True)
        page = build.read(shutil.copy(source, folder / "solutions"), build.modules_of(ROOT))
        built.append(build.as_text(build.execute.executed(page)))
    assert built[0] == built[1]


def test_the_marks_that_no_learner_sees_are_told_from_other_comments():
    code = f"def f(x):\n    {cells.BEGIN}\n    ### why\n    return x\n    {cells.END}"
    assert cells.without_marks(code) == "def f(x):\n    ### why\n    return x"
    assert cells.is_solved(code)
    assert not cells.is_solved(cells.blanked(code))
