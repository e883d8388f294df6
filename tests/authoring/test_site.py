"""The static site: whole, readable without a network, without a solution among the lessons; its search; its PDF."""

import base64
import html
import html.parser
import itertools
import json
import math
import re
import shutil
import struct
import zlib
from urllib.parse import quote, unquote, urlsplit
from xml.etree import ElementTree

import jupytext
import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT
from typer.testing import CliRunner

from dpcourse import commands, plots, tables, widgets
from dpcourse import course as course_module
from dpcourse.authoring import build, pdf, site, sliders
from dpcourse.authoring.source import languages
from dpcourse.base.cells import BEGIN, END, called
from dpcourse.base.languages import ENGLISH, again
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
    return {file: Elements(file) for file in sorted(sites.glob("**/*.html"))}


def test_every_notebook_has_its_page_in_both_sites(sites):
    names = {file.stem for file in (ROOT / "lessons").glob("*.ipynb")} | {"index"}
    for folder in folders(sites):
        assert {file.stem for file in folder.glob("*.html")} == names


def folders(sites):
    """Those of each kind and language."""
    return [sites / kind / language for kind in ("lessons", "solutions") for language in ("", *languages(ROOT))]


@pytest.mark.weekly("reads all pages of the site")
def test_every_page_leads_to_itself_in_the_other_languages(pages):
    for file, page in pages.items():
        (html,) = page.all("html")
        there = [each for each in page.all("a") if "hreflang" in each]
        assert [each["hreflang"] for each in page.all("link") if "hreflang" in each] == [
            each["hreflang"] for each in there
        ]
        assert {html["lang"], *(each["hreflang"] for each in there)} == {"en", *languages(ROOT)}
        for each in there:
            other = (file.parent / each["href"]).resolve()
            assert other in pages, (file, each)
            assert other.name == file.name
            assert pages[other].all("html")[0]["lang"] == each["hreflang"] == each["lang"]


def test_every_link_and_anchor_leads_somewhere(sites, pages):
    anchors = {file: {attributes.get("id") for _, attributes in page.found} for file, page in pages.items()}
    for file, page in pages.items():
        for attributes in page.all("a"):
            link = urlsplit(attributes["href"])
            if link.scheme in ("http", "https"):
                continue
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            if "download" in attributes:
                kind, *name = target.relative_to(sites).parts
                assert target.read_bytes() == ROOT.joinpath(kind, *name).read_bytes(), "the notebook behind the page"
                continue
            assert target in pages, (file, attributes)
            assert not link.fragment or unquote(link.fragment) in anchors[target], (file, attributes)


def test_an_id_is_given_once(pages):
    for file, page in pages.items():
        ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
        assert len(ids) == len(set(ids)), file


def test_a_page_loads_only_files_of_its_own_site(pages):
    for file, page in pages.items():
        (script,) = page.all("script")
        assert script["src"] in ("site.js", "../site.js")
        assert not page.all("iframe", "object")
        assert not [name for _, attributes in page.found for name in attributes if name.startswith("on")]
        for tag, attributes in page.found:
            if tag in LOADS:
                assert (file.parent / attributes[LOADS[tag]]).is_file(), (file, attributes)
    for file in {(file.parent / page.all("script")[0]["src"]).with_name("site.css") for file, page in pages.items()}:
        assert "url(http" not in file.read_text(encoding="utf-8")


@pytest.mark.in_turn("seconds of reading sources")
def test_every_lesson_has_its_still_figures_with_alt_text(pages):
    for file, page in pages.items():
        images = page.all("img")
        assert all(len(image["alt"].encode()) > 60 and int(image["width"]) > 0 for image in images)
        source = ROOT / "solutions" / f"{file.stem}.md"
        if source.exists():
            code = "".join(cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code")
            assert len(images) >= code.count("plots.show(") - code.count("if passed("), file


def test_a_cell_of_the_readers_own_is_left_out_and_an_explorer_says_its_sliders(pages):
    for file, page in pages.items():
        assert "report()" not in page.code
        assert "progress()" not in page.code
        assert "widgets.explore(" not in page.code
        assert not re.search(r"Is this machine ready\?|这台机器准备好了吗", page.text)
        assert "needs a running kernel" not in page.text
        lesson = ROOT / "solutions" / f"{file.stem}.md"
        explorers = lesson.read_text(encoding="utf-8").count("widgets.explore(") if file.stem[:2].isdigit() else 0
        assert sum(each.get("class") == "sliders" for each in page.all("p")) == explorers
        if page.all("html")[0]["lang"] == "en":
            assert len(re.findall(r"In the notebook (?:a slider moves|sliders move) this picture: \S", page.text)) == explorers  # fmt: skip


def test_the_search_knows_every_section_and_every_row_of_the_glossary(sites, pages):
    text = (sites / "lessons" / "search.js").read_text(encoding="utf-8")
    places = json.loads(re.fullmatch(r"dpcourseSearch\((.*)\)\n", text)[1])
    for name, title, anchor, heading, said in places:
        page = pages[sites / "lessons" / f"{name}.html"]
        assert anchor in [attributes.get("id") for _, attributes in page.found]
        assert all(isinstance(part, str) and "<" not in heading for part in (title, said))
    named = {(name, heading) for name, _, _, heading, _ in places}
    assert {("00-start-here", "1. One person in the data"), ("glossary", "basic composition")} <= named
    headings = [tag for page in pages.values() for tag, _ in page.found if re.fullmatch("h[1-6]", tag)]
    assert len(places) > len(headings) / 2
    assert not [line for source in build.sources(ROOT) for line in _solution_lines(source) if line in text]


def test_formulas_are_mathml_and_none_is_left_as_latex(sites, pages):
    for file, page in pages.items():
        if file.stem[:2].isdigit():
            notebook = nbformat.read((ROOT / file.relative_to(sites)).with_suffix(".ipynb"), 4)
            said = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
            meanings = [each for each in page.all("div") if each.get("id", "").startswith("term-")]
            text = file.read_text(encoding="utf-8").partition('<div id="terms"')
            assert text[2].count("<math") <= len(meanings)
            assert text[0].count("<math") == len(FORMULA.findall(said)), file
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


@pytest.mark.weekly("writes the whole site twice more")
def test_the_same_notebooks_give_the_same_site(sites, tmp_path):
    site.write(ROOT, tmp_path / "again")
    for file in (sites / "lessons").rglob("*"):
        if file.is_file():
            again = tmp_path / "again" / file.relative_to(sites / "lessons")
            assert again.read_bytes() == file.read_bytes()


# ---- a small course


def notebook(*cells):
    """The text of a notebook file; of each cell its source, and its outputs."""
    v4, made = nbformat.v4, []
    for i, (text, *outputs) in enumerate(cells):
        kind = v4.new_markdown_cell if text.startswith(("# ", "## ")) else v4.new_code_cell
        made.append(kind(text, id=str(i), **({"outputs": nbformat.from_dict(outputs)} if outputs else {})))
    return nbformat.writes(v4.new_notebook(cells=made))


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


def test_what_speaks_of_the_readers_own_is_left_out_with_the_words_that_lead_there(course, tmp_path):
    made = nbformat.reads(
        notebook(
            ["# 00 One\n\nHello.\n\n**How far are you?** Run this one."],
            ["from dpcourse import progress\n\nprogress()"],
            ["# **Why?** It stays.\n\n<details>\n<summary>Second</summary>\n\nMore.\n\n</details>"],
            ["import math\n\nprogress()"],
            ["installs = 1"],
        ),
        4,
    )
    made.cells[-1].metadata["tags"] = ["remove-cell"]
    (course / "lessons" / "00-one.ipynb").write_text(nbformat.writes(made))
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    assert "Hello." in page.text
    assert "How far are you" not in page.text
    assert "Why? It stays." in page.text
    assert page.code == "import math"
    assert page.all("details")[1:] == [{"class": "reading"}]


def test_code_that_jupyterlab_folds_unfolds_and_its_output_is_seen(course, tmp_path):
    made = nbformat.reads(notebook(["# 00 One"], ["x = 1\nprint(x)"]), 4)
    made.cells[1].outputs = [nbformat.v4.new_output("stream", text="seen")]
    made.cells[1].metadata["jupyter"] = {"source_hidden": True}
    (course / "lessons" / "00-one.ipynb").write_text(nbformat.writes(made))
    site.write(course, tmp_path / "site")
    page = (tmp_path / "site" / "00-one.html").read_text(encoding="utf-8")
    folded = page[page.index("<details><summary>Code</summary>") :]
    assert "x" in folded[: folded.index("</details>")]
    assert "seen" not in folded[: folded.index("</details>")]
    assert "seen" in folded


def test_what_the_first_cell_folds_unfolds_on_its_page_and_is_not_on_the_home_page(course, tmp_path):
    folded = "<details><summary>Sections</summary>\n\n- [Terms](glossary.ipynb#Terms) · 2 min\n- Quiz\n\n</details>"
    (course / "lessons" / "00-one.ipynb").write_text(notebook([f"# 00 One\n\n**Time:** long.\n\n{folded}"]))
    site.write(course, tmp_path / "site")
    home, page = (Elements(tmp_path / "site" / name) for name in ("index.html", "00-one.html"))
    assert "long." in home.text
    assert "Sections" not in home.text
    assert not home.all("details")
    tags = [tag for tag, _ in page.found]
    within = tags[tags.index("main") :]
    assert within.count("details") == 1
    assert within[within.index("details") :][:6] == ["details", "summary", "ul", "li", "a", "li"]


def test_a_table_that_a_cell_shows_is_a_table_with_a_style_of_the_sites(course, tmp_path):
    table = tables.Table({"ε <": [0.5]})
    shown = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": [table._repr_html_()], "text/plain": [repr(table)]},
    }
    (course / "lessons" / "00-one.ipynb").write_text(notebook(["# 00 One"], ["tables.show(...)", shown]))
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    [box] = [attributes for attributes in page.all("div") if attributes.get("role") == "group"]
    assert f".{box['class']} " in (tmp_path / "site" / "site.css").read_text(encoding="utf-8")
    assert [attributes["scope"] for attributes in page.all("th")] == ["col"]
    assert "ε <" in page.text


PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 200, 100) + b"\x08\0\0\0\0 not more than a head"
).decode()
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 518.4 237.6"/>'


@pytest.mark.parametrize(
    ("data", "size", "ending"),
    [
        ({"text/html": f'<img src="data:image/png;base64,{PIXEL}" alt="A">'}, ("200", "100"), "png"),
        ({"text/html": f'<img width="100" src="data:image/png;base64,{PIXEL}" alt="A">'}, ("100", "50"), "png"),
        ({"text/html": f'<img alt="A" src="data:image/svg+xml,{quote(SVG)}"/>'}, ("518", "238"), "svg"),
        ({"image/svg+xml": [SVG], "text/plain": "A"}, ("518", "238"), "svg"),
        ({"image/png": PIXEL + "\n", "text/plain": "A"}, ("50", "25"), "png"),
    ],
)
def test_a_picture_of_any_form_is_a_file_with_its_size(course, tmp_path, data, size, ending):
    shown = {"output_type": "display_data", "data": data, "metadata": {"image/png": {"width": 50}}}
    (course / "lessons" / "00-one.ipynb").write_text(notebook(["# 00 One"], ["plots.show(1)", shown]))
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    [image] = page.all("img")
    assert (image["width"], image["height"], image["alt"], image["loading"]) == (*size, "A", "lazy")
    assert (tmp_path / "site" / image["src"]).suffix == f".{ending}"
    assert "plots.show" not in page.code
    assert Elements(tmp_path / "site" / "index.html").all("img") == [image]


def test_both_forms_of_a_picture_in_two_themes_are_files(course, tmp_path):
    dark = f'<source srcset="data:image/svg+xml,{quote(SVG)}" media="(prefers-color-scheme: dark)">'
    html = f'<picture>{dark}<img src="data:image/png;base64,{PIXEL}" alt="A"></picture>'
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/html": html}}
    (course / "lessons" / "00-one.ipynb").write_text(notebook(["# 00 One"], ["plots.show(1)", shown]))
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    assert (tmp_path / "site" / page.all("source")[0]["srcset"]).read_text() == SVG
    assert "data:" not in (tmp_path / "site" / "00-one.html").read_text(encoding="utf-8")


def test_where_it_is_published_a_lesson_opens_elsewhere_and_else_it_is_to_be_had_here(course, tmp_path):
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    assert [link["href"] for link in page.all("a") if "download" in link] == ["00-one.ipynb"]
    assert not [link for link in page.all("a") if link["href"].startswith("http")]
    known = '[project]\nname = "x"\n[project.urls]\nRepository = "https://github.com/owner/name"\n'
    (course / "pyproject.toml").write_text(known)
    site.write(course, tmp_path / "site")
    for name, others in (("00-one", set()), ("index", {"github.com"})):
        page = Elements(tmp_path / "site" / f"{name}.html")
        hosts = {urlsplit(link["href"]).netloc for link in page.all("a")}
        assert hosts == {"", "mybinder.org", "colab.research.google.com", *others}


def test_the_pdf_holds_every_page_and_its_links_stay_within(course, tmp_path, monkeypatch):
    """Chromium is asked for what it is to print; that it prints is tested in the week."""
    printed, styled = [], []
    monkeypatch.setattr(pdf, "browser", lambda: "chromium")
    monkeypatch.setattr(
        pdf,
        "print_page",
        lambda page, made: (
            printed.append(Elements(page)),
            styled.extend((page.parent / link["href"]).is_file() for link in Elements(page).all("link")),
            made.write_bytes(b"%PDF"),
        ),
    )
    site.write(course, tmp_path / "site", as_pdf=True)
    [page] = printed
    assert styled == [True], "its style is there before it is printed"
    ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [unquote(link["href"]).removeprefix("#") for link in page.all("a")]
    assert "glossary/Terms" in links
    assert set(links) <= set(ids)
    assert sorted(file.name for file in (tmp_path / "site").glob("*.pdf")) == ["course.pdf"]
    assert not (tmp_path / "site" / "whole.html").exists()
    assert "course.pdf" in [link["href"] for link in Elements(tmp_path / "site" / "index.html").all("a")]


def test_without_a_chromium_the_command_says_so_and_writes_nothing(course, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    run = CliRunner().invoke(commands.app, ["site", str(tmp_path / "site"), "--pdf", "--course", str(course)])
    assert run.exit_code == 1
    assert "--pdf prints by Chromium, and there is none on this machine: install Chromium" in run.stderr
    assert not (tmp_path / "site").exists()


@pytest.mark.weekly("Chromium prints 280 pages; what is to be printed is looked at on a commit")
def test_chromium_prints_the_course(course, tmp_path):
    try:
        pdf.browser()
    except pdf.NoBrowser as error:
        pytest.skip(str(error))
    site.write(course, tmp_path / "site", as_pdf=True)
    assert (tmp_path / "site" / "course.pdf").read_bytes().startswith(b"%PDF-")


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
    run = CliRunner().invoke(commands.app, ["site"])
    assert (run.exit_code, run.stdout) == (0, "site/index.html: 00-one, glossary\n")
    run = CliRunner().invoke(commands.app, ["site", "--solutions"])
    assert run.stdout.startswith("site-solutions/index.html")
    run = CliRunner().invoke(commands.app, ["site", "--course", str(tmp_path / "nowhere")])
    assert run.exit_code == 2
    assert f"--course: there is no folder {tmp_path / 'nowhere'}" in run.stderr
    (tmp_path / "empty").mkdir()
    run = CliRunner().invoke(commands.app, ["site", "--course", str(tmp_path / "empty")])
    assert run.exit_code == 1
    assert "there are no notebooks in" in run.stderr
    (course / "lessons" / "00-one.ipynb").write_text("{")
    run = CliRunner().invoke(commands.app, ["site"])
    assert run.exit_code == 1
    assert "00-one.ipynb: not a notebook" in run.stderr


def test_the_workflow_publishes_the_lessons_and_never_the_solutions():
    workflow = (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    assert "- run: dpcourse site --pdf --lite\n" in workflow
    assert "path: site\n" in workflow
    assert "--solutions" not in workflow


# ---- explorers


def explorer(*controls, more=""):
    """The code of a cell with a picture under sliders; controls: argument=control."""
    return f"widgets.explore(plots.approx_dp_lines, {', '.join(controls)}{more})"


EPSILON = 'epsilon=widgets.slider("ε", 0.0, 2.0, 1.0, step=1.0)'
DELTA = 'delta=widgets.choice("δ", [0.0, 0.2, 0.5], 0.2)'
AT_REST = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PIXEL, "text/plain": "at rest"}}


def unpacked(script):
    """position -> (words, picture) of each picture of an explorer's script."""
    packed = re.fullmatch(r'dpcoursePictures="([A-Za-z0-9+/=]*)"\n', script)[1]
    pieces, drawn = json.loads(zlib.decompress(base64.b64decode(packed)))
    return {at: (words, "".join(pieces[number] for number in numbers)) for at, (words, numbers) in drawn.items()}


@pytest.mark.weekly("draws all the pictures of an explorer; that places are chosen well is on a commit")
def test_an_explorer_has_a_picture_for_each_place_of_its_sliders_in_a_script_that_no_page_loads(course, tmp_path):
    """Without a script it stands still, and says its sliders. The second one uses what the first has computed."""
    first = "choices = [0.0, 0.3]\n" + explorer(EPSILON, DELTA, more=', play="epsilon"')
    second = explorer(EPSILON, 'delta=widgets.choice("δ", choices)')
    for folder in ("lessons", "solutions"):
        cells = ["# 00 One\n\n## Terms"], [first, AT_REST], [second, AT_REST]
        (course / folder / "00-one.ipynb").write_text(notebook(*cells))
    site.write(course, tmp_path / "site", moves=True)
    page = Elements(tmp_path / "site" / "00-one.html")
    moving, other = (each for each in page.all("div") if each.get("class") == "moving")
    assert moving["data-pictures"] not in [each["src"] for each in page.all("script")]
    drawn = unpacked((tmp_path / "site" / moving["data-pictures"]).read_text())
    places = itertools.product(enumerate((0.0, 1.0, 2.0)), enumerate((0.0, 0.2, 0.5)))
    for (i, epsilon), (j, delta) in places:
        words, picture = drawn.pop(f"{i},{j}")
        as_page = plots.as_html(plots.approx_dp_lines, epsilon=epsilon, delta=delta)
        assert words == html.unescape(re.search('alt="([^"]*)"', as_page)[1])
        whole = base64.b64decode(re.search('base64,([^"]*)', as_page)[1]).decode()
        assert [each.tag for each in ElementTree.fromstring(picture).iter()] == [
            each.tag for each in ElementTree.fromstring(whole).iter()
        ]
        assert numbers_of(picture) == pytest.approx(numbers_of(whole), abs=0.00501)
    assert not drawn
    ranges = [each for each in page.all("input") if each["type"] == "range"]
    assert [json.loads(each["data-shown"]) for each in ranges[:2]] == [["0.00", "1.00", "2.00"], ["0.0", "0.2", "0.5"]]
    assert [(each["value"], each["max"]) for each in ranges] == [("1", "2"), ("1", "2"), ("1", "2"), ("0", "1")]
    assert len([each for each in page.all("button") if "data-play" in each]) == 1
    assert len(unpacked((tmp_path / "site" / other["data-pictures"]).read_text())) == 6
    assert page.text.count("In the notebook sliders move this picture: ε; δ.") == 2
    home = Elements(tmp_path / "site" / "index.html")
    assert [each["data-pictures"] for each in home.all("div") if each.get("class") == "moving"] == [
        moving["data-pictures"]
    ]
    site.write(course, tmp_path / "still")
    assert not list((tmp_path / "still" / "figures").glob("*.js"))


def numbers_of(picture):
    return [float(number) for number in re.findall(r"(?<=[ \"(])-?\d+\.?\d*", picture)]


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.one_case("each writes a site")
@pytest.mark.parametrize("code", ["explore(plots.approx_dp_lines, mu=", "explore(plots.no_such_picture, epsilon="])
def test_an_explorer_of_an_old_notebook_is_named_with_what_helps(course, tmp_path, code):
    (course / "lessons" / "00-one.ipynb").write_text(
        notebook(["# 00 One\n\n## Terms"], [f'widgets.{code}widgets.choice("a", [1, 2]))', AT_REST])
    )
    with pytest.raises(site.SiteError, match=r"00-one: an explorer cannot be drawn, in cell 1: .*dpcourse build"):
        site.write(course, tmp_path / "site", moves=True)
    assert not (tmp_path / "site").exists()


def test_every_explorer_of_the_course_moves():
    for number, source in enumerate(build.sources(ROOT)):
        cells = [cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code"]
        code = ""
        for cell in cells:
            if "widgets.explore" in called(cell):
                code += f"{cell}\n"
                found = sliders.explorer(code)
                assert found, (number, cell)
                assert len(found.thinned().positions()) <= sliders.MOST


@pytest.mark.parametrize(
    "call",
    [
        '"n", 1, 9, 3',
        '"n", 2, 5000, 200, step=50',
        '"δ", 1e-10, 0.01, 1e-5, log=True, step=1, readout=".0e"',
        '"ε", 0.05, 5.0, 1.0, log=True',
        '"x", 0.0, 1.0, 0.5',
    ],
)
def test_the_places_of_a_slider_are_those_of_the_notebook(call):
    slider, control = (eval(f"of.slider({call})", {"of": of}) for of in (sliders, widgets))
    assert slider.places[slider.at] == pytest.approx(control.value)
    on_axis = [math.log10(place) if hasattr(control, "base") else place for place in slider.places]
    assert np.diff(on_axis) == pytest.approx(control.step)
    assert control.min - 1e-9 <= on_axis[0] < control.min + control.step
    assert control.max - control.step < on_axis[-1] <= control.max + 1e-9
    assert len(slider.shown) == len(slider.places)


def test_a_choice_shows_what_the_notebook_shows():
    for options, start in (([1, 10_000], None), (["in", "out"], "out")):
        choice, control = (of.choice("n", options, start) for of in (sliders, widgets))
        assert list(zip(choice.shown, choice.places, strict=True)) == list(control.options)
        assert choice.places[choice.at] == control.value


@given(st.integers(1, 200), st.data())
def test_of_fewer_places_both_ends_stay_and_the_one_at_rest(length, data):
    at, count = data.draw(st.integers(0, length - 1)), data.draw(st.integers(min(length, 3), length))
    control = sliders.choice("n", range(length), at).thinned(count)
    assert len(control.places) == count
    assert list(control.places) == sorted(set(control.places))
    assert control.places[control.at] == at
    assert {0, length - 1} <= {*control.places}
    assert control.shown == tuple(map(str, control.places))


@given(st.lists(st.integers(2, 120), min_size=1, max_size=5), st.data())
def test_an_explorer_has_few_pictures_and_what_plays_keeps_most(lengths, data):
    play = data.draw(st.sampled_from(range(len(lengths))))
    controls = {str(i): sliders.choice("n", range(length), length // 2) for i, length in enumerate(lengths)}
    explorer = sliders.Explorer(print, controls, str(play)).thinned()
    positions = explorer.positions()
    assert len(positions) == len(set(positions)) <= sliders.MOST
    rest = [control.at for control in explorer.controls.values()]
    for place, control in enumerate(explorer.controls.values()):
        alone = {(*rest[:place], at, *rest[place + 1 :]) for at in range(len(control.places))}
        assert alone <= {*positions}, "each moves by itself, at least"
    if len(lengths) <= 2:
        assert len(positions) == math.prod(len(control.places) for control in explorer.controls.values())
    places = [len(control.places) for control in explorer.controls.values()]
    others = places[:play] + places[play + 1 :]
    assert places[play] == min(lengths[play], sliders.EACH) or max(others, default=0) <= sliders.LEAST


# ---- what leads on, and what is explained


def test_every_page_leads_to_every_lesson_and_a_lesson_to_its_neighbours(pages):
    for file, page in pages.items():
        if file.stem == "index":
            continue
        lessons = sorted(other.stem for other in file.parent.glob("[0-9]*.html"))
        text = file.read_text(encoding="utf-8")
        contents = text[text.index('<nav class="contents"') : text.index("<main")]
        assert re.findall(r'href="([^"#]+)\.html"', contents) == [*lessons, "glossary"]
        assert re.findall(r'href="([^"]+)\.html" aria-current="page"', contents) == [file.stem]
        sections = [unquote(anchor) for anchor in re.findall(r'href="#([^"]*)"', contents)]
        assert sections == [html.unescape(anchor) for anchor in re.findall(r'<h2 id="([^"]*)"', text)]
        at = lessons.index(file.stem) if file.stem in lessons else None
        for kind, other in (("prev", -1), ("next", 1)):
            there = [] if at is None or at + other not in range(len(lessons)) else [f"{lessons[at + other]}.html"] * 2
            assert [each["href"] for each in page.all("a") if each.get("rel") == kind] == there, "above and below"
        assert not re.search(r"<p>[^<]*<a[^>]*>[^<]*</a>(?: · [^<]*<a[^>]*>[^<]*</a>)+</p>", text), "the notebook's own"


TERMS = """# Glossary

## Terms

| term | 中文 | meaning | where |
|:--|:--|:--|:--|
| query | 查询 | meanings come from the course | 02 §1 |
| linear query | 线性查询 | . | 02 §6 |
| prior | 先验 | . | 01 §3 |
| noise | 噪声 | . | 02 §2 |
| noise multiplier | 噪声乘子 | . | 05 §1 |
| shuffling | 打乱（采样）、洗牌 | . | 06 §6 |
"""


def test_a_term_is_explained_where_a_section_uses_it_first_and_nowhere_else(course, tmp_path):
    """Not in code, a formula, a heading, a link or a title; from its lesson on; the longest name counts, and a plural."""
    text = """# 05 Five

`query` $query$ [query](glossary.ipynb#Terms) *query* shuffling, to query: Queries and a query, a linear
query; priority, a prior; a noise multiplier.

## A query

Another query."""
    (course / "lessons" / "05-five.ipynb").write_text(notebook([text]))
    (course / "lessons" / "glossary.ipynb").write_text(notebook([TERMS]))
    site.write(course, tmp_path / "site")
    file = tmp_path / "site" / "05-five.html"
    page = Elements(file)
    links = re.findall(r'<a class="term" href="([^"]*)" aria-describedby="([^"]*)">([^<]*)</a>', file.read_text())
    assert [(unquote(urlsplit(address).fragment), name) for address, _, name in links] == [
        ("query", "Queries"),
        ("linear-query", "linear\nquery"),
        ("prior", "prior"),
        ("noise-multiplier", "noise multiplier"),
        ("query", "query"),
    ]
    assert {name for _, name, _ in links} == {
        each["id"] for each in page.all("div") if each.get("id", "").startswith("term-")
    }
    assert page.text.count("a function of the data whose value is wanted") == 1
    anchors = {each.get("id") for _, each in Elements(tmp_path / "site" / "glossary.html").found}
    assert {unquote(urlsplit(address).fragment) for address, _, _ in links} <= anchors
    assert 'class="term"' not in (tmp_path / "site" / "glossary.html").read_text()


def test_every_lesson_explains_terms_in_its_own_language_and_each_once_in_a_section(pages):
    for file in (file for file in pages if file.stem[:2].isdigit()):
        text = file.read_text(encoding="utf-8")
        body, _, meanings = text.partition('<div id="terms" hidden>')
        assert body.count('class="term"') > 10, file
        for section in re.split("<h2", body):
            used = re.findall(r'<a class="term" href="([^"]*)"', section)
            assert len(used) == len(set(used)), file
        assert {*re.findall('aria-describedby="(term-[^"]*)"', body)} == {*re.findall('id="(term-[^"]*)"', meanings)}
        if file.parent.name == "zh":
            names = re.findall('<a class="term"[^>]*>([^<]*)</a>', body)
            assert sum(bool(re.search("[\u4e00-\u9fff]", name)) for name in names) > 0.8 * len(names)


def test_the_home_page_shows_what_the_check_says_of_typical_answers(sites):
    exercise = course_module.find(site.TRIED)
    wrong = {each.name: each for each in exercise.misconceptions}
    for language in ("en", *languages(ROOT)):
        text = html.unescape(
            (sites / "lessons" / language.replace("en", "") / "index.html").read_text(encoding="utf-8")
        )
        replies = dict(re.findall(r"<summary><code>(.*?)</code></summary>(.*?)</details>", text, re.DOTALL))
        assert list(replies) == list(site.ANSWERS)
        for answer, name in (("math.exp(epsilon)", "the ratio"), ("epsilon / (1 + epsilon)", "no exponential")):
            assert again(wrong[name].message, language).replace("`", "") in re.sub("</?code>", "", replies[answer])
        right = [answer for answer, reply in replies.items() if ">✓<" in reply]
        assert right == ["1 / (1 + math.exp(-epsilon))"]
        assert len({*replies.values()}) == len(replies)
        assert all("hint(&quot;0.1&quot;)" in reply or 'hint("0.1")' in reply for answer, reply in replies.items() if answer not in right)  # fmt: skip
        assert "<details name" not in (sites / "solutions" / language.replace("en", "") / "index.html").read_text(
            "utf-8"
        )


def test_the_home_page_has_the_map_of_the_course_where_all_its_lessons_are(sites, course, tmp_path):
    for folder in folders(sites):
        [said] = [
            image["alt"] for image in Elements(folder / "index.html").all("img") if "00 → 01" in image.get("alt", "")
        ]
        for lesson in course_module.lessons():
            title = again(lesson.title, folder.name if folder.name in languages(ROOT) else ENGLISH)
            assert f"{lesson.number:02} {title}" in said
    site.write(course, tmp_path / "site")
    assert "00 → 01" not in (tmp_path / "site" / "index.html").read_text()


def test_a_game_says_what_is_published_and_that_it_is_played_in_the_notebook(course, tmp_path):
    mechanism = course_module.lesson(0).part("attack").ATTACK
    by_rule = "def rule(x):\n    return x > 0\n\n\nattack(0, rule)"
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<p>with buttons</p>"}}
    for folder in ("lessons", "solutions"):
        (course / folder / "00-one.ipynb").write_text(
            notebook(["# 00 One\n\n## Terms"], ["attack(0)", shown], [by_rule, printed("proved")], ["attack(0, rule)"])
        )
    site.write(course, tmp_path / "site")
    page = Elements(tmp_path / "site" / "00-one.html")
    assert mechanism.published in page.text
    assert 'of 40 outputs you say "yes" or "no"' in page.text
    assert "with buttons" not in page.text
    assert page.code == f"{by_rule}provedattack(0, rule)"
