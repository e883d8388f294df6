"""JupyterLite: what `jupyter lite build` is given, and the pages that lead to what it builds.

tests/authoring/test_in_a_tab.py tries in Pyodide what is given.
"""

import ast
import asyncio
import inspect
import json
import re
import shutil
import sys
import types
import venv
from concurrent.futures import ThreadPoolExecutor

import nbformat
import numpy as np
import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course as lessons
from dpcourse.authoring import lite, site
from dpcourse.authoring.source import languages
from dpcourse.commands import app

IN_TABS = ["00-start-here", "01-composition", "02-laplace", "03-gdp", "04-clt", "07-auditing", "glossary"]
ALL = [*IN_TABS, *(f"zh/{name}" for name in IN_TABS)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What is written for JupyterLite, but for the wheel, which tests/test_wheel.py builds: name -> notebook."""
    folder = tmp_path_factory.mktemp("site") / "lite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lite, "_build_wheel", lambda course, folder: (folder / "dpcourse-1-py3-none-any.whl").touch())
        assert lite.write(ROOT, folder) == ALL
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()} == {
        "README.md",
        "jupyter_lite_config.json",
        "pypi/dpcourse-1-py3-none-any.whl",
        *(f"files/{name}.ipynb" for name in ALL),
    }
    return {name: nbformat.read(folder / f"files/{name}.ipynb", 4) for name in ALL}


def codes(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", ALL)
def test_a_notebook_installs_the_course_first_and_is_else_the_lesson(written, name):
    notebook, original = written[name], nbformat.read(ROOT / f"lessons/{name}.ipynb", 4)
    nbformat.validate(notebook)
    assert ["piplite" in source for source in codes(notebook)] == [True, *[False] * (len(codes(notebook)) - 1)][: len(codes(notebook))]  # fmt: skip
    changed = [cell for cell in original.cells if cell.cell_type == "code" and cell not in notebook.cells]
    assert len(changed) == (2 if "07" in name else 0)
    assert [cell.source for cell in notebook.cells if cell.source.startswith("```python")] == [f"```python\n{cell.source}\n```" for cell in changed]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_no_link_leads_to_a_lesson_that_is_not_there_and_its_words_stay(written, name):
    original = nbformat.read(ROOT / f"lessons/{name}.ipynb", 4)
    link = re.compile(r"\[([^\[\]]+)\]\(([^)#]+)\.ipynb[^)]*\)")
    text = "\n".join(cell.source for cell in written[name].cells)
    assert {target for _, target in link.findall(text)} <= set(IN_TABS)
    for words, target in {found for cell in original.cells for found in link.findall(cell.source)}:
        assert words in text, (words, target)


@pytest.mark.parametrize("name", [name for name in ALL if "07" in name])
def test_what_is_loaded_in_place_of_trainings_is_all_that_later_cells_use_of_them(written, name):
    """Else a cell would stop in the tab at a name that is not there."""
    original = nbformat.read(ROOT / f"lessons/{name}.ipynb", 4)
    torch = [cell.source for cell in original.cells if cell.cell_type == "code" and cell not in written[name].cells]
    bound = {each for source in torch for each in names(source, ast.Store)}
    place = next(i for i, cell in enumerate(written[name].cells) if cell.id == "loaded")
    after = codes(nbformat.from_dict({"cells": written[name].cells[place + 1 :]}))
    made, read = ({each for source in after for each in names(source, kind)} for kind in (ast.Store, ast.Load))
    loaded = names(lessons.lesson(7).part("in_a_tab").CODE, ast.Store)
    assert {"paths_in", "paths_out"} <= bound & (read - made) <= loaded
    constants = re.search("^people.*$", "\n".join(torch), re.MULTILINE)[0]
    assert constants in written[name].cells[place].source, "the settings are those of the lesson"


def names(source, context):
    """The names that some code reads, or binds."""
    nodes = list(ast.walk(ast.parse(source)))
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    return found | {node.name for node in nodes if isinstance(node, ast.FunctionDef) and context is ast.Store}


@pytest.mark.weekly("300 trainings with PyTorch, whose stored weights stand for them in a browser tab")
def test_the_stored_weights_are_those_that_the_lesson_trains():
    """Where they are not: store paths_out and paths_in, the last feature of each, in course/audit/trainings.npz."""
    trained, loaded = {"np": np}, {"np": np}
    for source in codes(nbformat.read(ROOT / "lessons/07-auditing.ipynb", 4)):
        if re.search(r"\btorch\b", source):
            exec(source, trained)
    exec(lessons.lesson(7).part("in_a_tab").CODE, loaded)
    for name in ("paths_out", "paths_in"):
        assert loaded[name] == pytest.approx(trained[name][:, :, -1:], rel=1e-4, abs=1e-5)


# ---- the cell that installs


def run(cell, monkeypatch, lacking=None):
    """Run the cell where piplite says nothing, as it does if a package of Pyodide's does not come."""
    asked = []

    async def install(name):
        asked.append(name)

    monkeypatch.setitem(sys.modules, "piplite", types.SimpleNamespace(install=install))
    if lacking:
        monkeypatch.setitem(sys.modules, lacking, None)
    code = compile(cell, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, {})
    if inspect.iscoroutine(made):
        with ThreadPoolExecutor(1) as thread:  # in this one a browser of other tests may keep a loop running
            thread.submit(asyncio.run, made).result()
    return asked


def test_where_everything_comes_the_cell_says_nothing(written, monkeypatch, capsys):
    assert run(codes(written["00-start-here"])[0], monkeypatch) == ["dpcourse"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["00-start-here", "zh/07-auditing"])
@pytest.mark.parametrize("lacking", ["scipy.stats", "matplotlib.figure", "ipywidgets"])
def test_where_a_package_does_not_come_the_cell_names_it_and_says_what_to_do(written, monkeypatch, name, lacking):
    with pytest.raises(RuntimeError) as told:
        run(codes(written[name])[0], monkeypatch, lacking)
    assert lacking in str(told.value)
    assert "cdn.jsdelivr.net" in str(told.value)
    assert ("浏览器" in str(told.value)) == name.startswith("zh/")


def test_a_wheel_that_cannot_be_built_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(lite.subprocess, "run", lambda *command, **how: type("Done", (), {"returncode": 1, "stderr": "no setuptools"}))  # fmt: skip
    with pytest.raises(ValueError, match=r"pip makes no wheel of .*: no setuptools"):
        lite.write(ROOT, tmp_path / "lite")
    assert not list(tmp_path.iterdir())


# ---- the site


@pytest.fixture
def course(tmp_path):
    """Two lessons in two languages, of which one runs in a browser tab."""
    folder = tmp_path / "course"
    for language in ("", "zh"):
        for kind in ("lessons", "solutions"):
            (folder / kind / language).mkdir(parents=True, exist_ok=True)
        for name in ("00-start-here", "05-dp-sgd"):
            cells = [nbformat.v4.new_markdown_cell(f"# {name[:2]} One", id="0"), nbformat.v4.new_code_cell("1", id="1")]
            nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "lessons" / language / f"{name}.ipynb")
            (folder / "solutions" / language / f"{name}.md").touch()
    assert languages(folder) == ["zh"]
    return folder


@pytest.mark.in_turn("seconds of reading sources")
def test_pages_lead_to_the_lab_if_it_is_written_beside_them(course, tmp_path, monkeypatch):
    monkeypatch.setattr(lite, "_build_wheel", lambda course, folder: None)
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["site", "--lite", "--course", str(course)])
    assert said.exit_code == 0, said.output
    assert "site/lite/README.md says how" in said.output
    lab = "try/lab/index.html?path="
    led = {page.relative_to("site").as_posix(): re.findall(rf'href="([^"]*{re.escape(lab)}[^"]*)">([^<]*)<', page.read_text()) for page in (tmp_path / "site").rglob("*.html") for page in [page.relative_to(tmp_path)]}  # fmt: skip
    english = [(f"{lab}00-start-here.ipynb", "Try lesson 00 here")]
    chinese = [(f"../{lab}zh/00-start-here.ipynb", "在这里试试第00课")]
    assert led == {
        "index.html": english,
        "00-start-here.html": english,
        "05-dp-sgd.html": [],
        "zh/index.html": chinese,
        "zh/00-start-here.html": chinese,
        "zh/05-dp-sgd.html": [],
    }
    config = json.loads((tmp_path / "site/lite/jupyter_lite_config.json").read_text())["LiteBuildConfig"]
    assert (tmp_path / "site/lite" / config["output_dir"]).resolve() == tmp_path / "site" / lab.partition("/")[0]
    site.write(course, tmp_path / "site")
    assert not (tmp_path / "site/lite").exists()
    assert lab not in (tmp_path / "site/00-start-here.html").read_text()


def test_solutions_do_not_run_in_a_tab(course, tmp_path):
    said = CliRunner().invoke(app, ["site", str(tmp_path / "site"), "--lite", "--solutions", "--course", str(course)])
    assert said.exit_code == 1
    assert "the solutions do not run in a browser tab" in said.stderr


@pytest.mark.weekly("the lines of its README fill an empty environment, and build JupyterLite there")
def test_the_lines_of_the_readme_build_the_lab_in_an_empty_environment(tmp_path, monkeypatch):
    lite.write(ROOT, tmp_path / "site/lite")
    venv.create(tmp_path / "empty", with_pip=True)
    lines = re.findall("^    (.*)$", (tmp_path / "site/lite/README.md").read_text(), re.MULTILINE)
    assert [line.split()[:2] for line in lines] == [["pip", "install"], ["jupyter", "lite"]]
    for line in lines:
        tool, *arguments = line.split()
        done = lite.subprocess.run([tmp_path / "empty/bin" / tool, *arguments], cwd=tmp_path / "site/lite", capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / lite.address("00-start-here").partition("?")[0]).is_file()
    for name in ALL:
        assert (tmp_path / f"site/try/files/{name}.ipynb").is_file()
    indexed = "".join(file.read_text() for file in (tmp_path / "site/try").rglob("all.json"))
    assert "dpcourse-" in indexed, "piplite finds the wheel"
    shutil.rmtree(tmp_path / "empty")
