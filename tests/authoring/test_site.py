"""The static site: whole, readable without scripts or a network, without a solution among the lessons."""

import html.parser
import itertools
import json
import re
import shutil
from urllib.parse import unquote, urlsplit

import jupytext
import nbformat
import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse import cli, tables
from dpcourse.authoring import build, site
from dpcourse.cells import BEGIN, END
from dpcourse.course import lesson as lesson_of

FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
LOADS = {"img": "src", "link": "href", "script": "src", "iframe": "src", "source": "srcset", "object": "data"}


class Elements(html.parser.HTMLParser):
    """The elements of a page, as (tag, attributes), its text outside of code, and the text of its code cells."""

    def __init__(self, file):
        super().__init__()
        self.found, self.text, self.code, self.within = [], "", "", []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag in ("pre", "code"):
            self.within.append(tag)

    def handle_endtag(self, tag):
        if tag in ("pre", "code"):
            self.within.pop()

    def handle_data(self, text):
        if not self.within:
            self.text += text
        elif "pre" in self.within:
            self.code += text

    def all(self, *tags):
        return [attributes for tag, attributes in self.found if tag in tags]


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The folders of both sites of this course."""
    folder = tmp_path_factory.mktemp("sites")
    for kind in ("lessons", "solutions"):
        site.write(ROOT, folder / kind, solved=kind == "solutions")
    return folder


@pytest.fixture(scope="module")
def pages(sites):
    return {file: Elements(file) for file in sorted(sites.glob("*/*.html"))}


def test_every_notebook_has_its_page_in_both_sites(sites):
    names = {file.stem for file in (ROOT / "lessons").glob("*.ipynb")} | {"index"}
    for kind in ("lessons", "solutions"):
        assert {file.stem for file in (sites / kind).glob("*.html")} == names


def test_every_link_and_anchor_leads_somewhere(pages):
    anchors = {file: {attributes.get("id") for _, attributes in page.found} for file, page in pages.items()}
    for file, page in pages.items():
        for attributes in page.all("a"):
            link = urlsplit(attributes["href"])
            if link.scheme in ("http", "https"):
                continue
            target = file.parent / unquote(link.path) if link.path else file
            assert target in pages, (file, attributes)
            assert not link.fragment or unquote(link.fragment) in anchors[target], (file, attributes)


def test_an_id_is_given_once(pages):
    for file, page in pages.items():
        ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
        assert len(ids) == len(set(ids)), file


def test_a_page_loads_only_files_of_its_own_site_and_no_script(pages):
    for file, page in pages.items():
        assert not page.all("script", "iframe", "object")
        assert not [name for _, attributes in page.found for name in attributes if name.startswith("on")]
        for tag, attributes in page.found:
            if tag in LOADS:
                assert (file.parent / attributes[LOADS[tag]]).is_file(), (file, attributes)
    for folder in {file.parent for file in pages}:
        assert "url(http" not in (folder / "site.css").read_text(encoding="utf-8")


def test_every_lesson_has_its_still_figures_with_alt_text(pages):
    for file, page in pages.items():
        images = page.all("img")
        assert all(len(image["alt"]) > 60 and int(image["width"]) > 0 for image in images)
        source = ROOT / "solutions" / f"{file.stem}.md"
        if source.exists():
            code = "".join(cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code")
            assert len(images) >= code.count("plots.show(") - code.count("if passed("), file


def test_formulas_are_mathml_and_none_is_left_as_latex(pages):
    for file, page in pages.items():
        if file.stem[:2].isdigit():
            notebook = nbformat.read(ROOT / file.parent.name / f"{file.stem}.ipynb", 4)
            said = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
            assert len(page.all("math")) == len(FORMULA.findall(said)), file
            assert "$" not in page.text
            assert "\\" not in page.text


def test_headings_go_down_one_step_at_a_time(pages):
    for file, page in pages.items():
        levels = [int(tag[1]) for tag, _ in page.found if tag in ("h1", "h2", "h3", "h4", "h5", "h6")]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), file


def test_the_lessons_hold_no_solution(sites, pages):
    for source in build.sources(ROOT):
        lesson = (sites / "lessons" / f"{source.stem}.html").read_text(encoding="utf-8")
        assert "passed (" not in lesson
        assert "<summary>Solution" not in lesson
        shown, solved = (pages[sites / kind / f"{source.stem}.html"].code for kind in ("lessons", "solutions"))
        for line in _solution_lines(source):
            assert line in solved
            assert line not in shown


def _solution_lines(source):
    """The lines that stand between solution marks and nowhere else."""
    inside, lines, others = False, set(), set()
    for line in source.read_text(encoding="utf-8").splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif len(line.strip()) > 20:
            (lines if inside else others).add(line.strip())
    return {line for line in lines if not any(line in other for other in others)}


def test_hints_unfold_under_each_exercise_and_solutions_on_their_own_site(sites):
    for number, source in enumerate(build.sources(ROOT)):
        lesson, solved = (
            (sites / kind / f"{source.stem}.html").read_text(encoding="utf-8") for kind in ("lessons", "solutions")
        )
        tasks = lesson_of(number).exercises
        for page in (lesson, solved):
            assert page.count("<summary>Hint") == sum(len(task.hints) for task in tasks)
        assert lesson.count(": not attempted") == len(tasks)
        assert solved.count("<summary>Solution</summary>") == len(tasks)


def test_the_same_notebooks_give_the_same_site(sites, tmp_path):
    site.write(ROOT, tmp_path / "again")
    for file in (sites / "lessons").rglob("*"):
        if file.is_file():
            again = tmp_path / "again" / file.relative_to(sites / "lessons")
            assert again.read_bytes() == file.read_bytes()


# ---- a small course


def notebook(*cells):
    kinds = {"#": "markdown"}
    return json.dumps(
        {
            "cells": [
                {"cell_type": kinds.get(text[0], "code"), "id": str(i), "source": text, "outputs": list(outputs)}
                for i, (text, *outputs) in enumerate(cells)
            ]
        }
    )


def printed(text):
    return {"output_type": "stream", "name": "stdout", "text": [text]}


@pytest.fixture
def course(tmp_path):
    """A lesson whose solution prints, with a glossary beside it."""
    course = tmp_path / "course"
    for folder in ("lessons", "solutions"):
        (course / folder).mkdir(parents=True)
    title = ["# 00 One\n\nRead [the glossary](glossary.ipynb#Terms)."]
    (course / "lessons" / "00-one.ipynb").write_text(
        notebook(title, ["print(1)"], ["raise NotImplementedError"], ["if passed('0.1'): print(2)"])
    )
    (course / "solutions" / "00-one.ipynb").write_text(
        notebook(
            title,
            ["print(1)", printed("what everybody sees")],
            ["### BEGIN SOLUTION\nsecret = 1\n### END SOLUTION", printed("what the solution prints")],
            ["if passed('0.1'): print(2)", printed("for those who passed")],
        )
    )
    (course / "lessons" / "glossary.ipynb").write_text(notebook(["# Glossary\n\n## Terms\n\nprivacy 隐私"]))
    return course


def test_a_lesson_shows_what_does_not_depend_on_an_answer(course, tmp_path):
    assert site.write(course, tmp_path / "site") == ["00-one", "glossary"]
    page = (tmp_path / "site" / "00-one.html").read_text(encoding="utf-8")
    assert "what everybody sees" in page
    assert "what the solution prints" not in page
    assert "for those who passed" not in page
    assert "secret" not in page
    assert 'href="glossary.html#Terms"' in page
    assert '<span lang="zh">隐私</span>' in (tmp_path / "site" / "glossary.html").read_text(encoding="utf-8")


def test_what_the_first_cell_folds_unfolds_on_its_page_and_is_not_on_the_home_page(course, tmp_path):
    folded = "<details><summary>Sections</summary>\n\n- [Terms](glossary.ipynb#Terms) · 2 min\n- Quiz\n\n</details>"
    (course / "lessons" / "00-one.ipynb").write_text(notebook([f"# 00 One\n\n**Time:** long.\n\n{folded}"]))
    site.write(course, tmp_path / "site")
    home, page = (Elements(tmp_path / "site" / name) for name in ("index.html", "00-one.html"))
    assert "long." in home.text
    assert "Sections" not in home.text
    assert not home.all("details")
    assert len(page.all("details")) == 1
    within = [tag for tag, _ in page.found][[tag for tag, _ in page.found].index("details") :]
    assert within[:6] == ["details", "summary", "ul", "li", "a", "li"]


def test_a_table_that_a_cell_shows_is_a_table_with_a_style_of_the_sites(course, tmp_path):
    table = tables.Table({"ε <": [0.5]})
    shown = {"output_type": "display_data", "data": {"text/html": [table._repr_html_()], "text/plain": [repr(table)]}}
    (course / "lessons" / "00-one.ipynb").write_text(notebook(["# 00 One"], ["tables.show(...)", shown]))
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    [box] = [attributes for attributes in page.all("div") if attributes.get("role") == "group"]
    assert f".{box['class']} " in (tmp_path / "site" / "site.css").read_text(encoding="utf-8")
    assert [attributes["scope"] for attributes in page.all("th")] == ["col"]
    assert "ε <" in page.text


def test_without_the_solutions_the_lessons_can_still_be_shown(course, tmp_path):
    shutil.rmtree(course / "solutions")
    assert site.write(course, tmp_path / "site") == ["00-one", "glossary"]


def test_a_site_is_replaced_by_its_own_kind_only(course, tmp_path):
    folder = tmp_path / "site"
    site.write(course, folder)
    (folder / "stale.html").write_text("")
    site.write(course, folder)
    assert not (folder / "stale.html").exists()
    with pytest.raises(ValueError, match="is not empty"):
        site.write(course, folder, solved=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("my own page")
    with pytest.raises(ValueError, match="is not empty"):
        site.write(course, tmp_path / "mine")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["course", "mine", "site"]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("# Two\n\n$\\frac{1}$", r"01-two: the formula \$\\frac\{1\}\$ cannot be read"),
        ("# Two\n\n[there](02-three.ipynb)", "01-two: a link leads to 02-three.ipynb, which is no page of this site"),
        ("# Two\n\n[there](../README.md)", "01-two: a link leads to ../README.md"),
        ("print()", "01-two: the first cell must begin with a title"),
    ],
)
def test_a_notebook_that_cannot_be_shown_is_named_and_the_old_site_stays(course, tmp_path, cell, says):
    site.write(course, tmp_path / "site")
    (course / "lessons" / "01-two.ipynb").write_text(notebook([cell]))
    with pytest.raises(site.SiteError, match=says):
        site.write(course, tmp_path / "site")
    assert (tmp_path / "site" / "00-one.html").exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["course", "site"]


def test_a_link_to_a_heading_that_is_not_there_is_named(course, tmp_path):
    (course / "lessons" / "glossary.ipynb").write_text(notebook(["# Glossary"]))
    with pytest.raises(
        site.SiteError, match=r"00-one: a link leads to glossary\.ipynb#Terms, and there is no such heading"
    ):
        site.write(course, tmp_path / "site")


def test_the_command_says_what_it_wrote_or_why_not(course, tmp_path, monkeypatch):
    monkeypatch.chdir(course)
    run = CliRunner().invoke(cli.app, ["site"])
    assert (run.exit_code, run.stdout) == (0, "site/index.html: 00-one, glossary\n")
    run = CliRunner().invoke(cli.app, ["site", "--solutions"])
    assert run.stdout.startswith("site-solutions/index.html")
    run = CliRunner().invoke(cli.app, ["site", "--course", str(tmp_path / "nowhere")])
    assert run.exit_code == 2
    assert f"--course: there is no folder {tmp_path / 'nowhere'}" in run.stderr
    (tmp_path / "empty").mkdir()
    run = CliRunner().invoke(cli.app, ["site", "--course", str(tmp_path / "empty")])
    assert run.exit_code == 1
    assert "there are no notebooks in" in run.stderr
    (course / "lessons" / "00-one.ipynb").write_text("{")
    run = CliRunner().invoke(cli.app, ["site"])
    assert run.exit_code == 1
    assert "00-one.ipynb: not a notebook" in run.stderr


def test_the_workflow_publishes_the_lessons_and_never_the_solutions():
    workflow = (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    assert "- run: dpcourse site\n" in workflow
    assert "path: site\n" in workflow
    assert "--solutions" not in workflow
