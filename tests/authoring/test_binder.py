"""Binder: what repo2docker makes of binder/, whether every imported package is there, and the badges."""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from urllib.parse import parse_qs, urlsplit

import jupytext
import pytest
import yaml
from packaging.requirements import Requirement
from support import ROOT

from dpcourse.authoring import binder, build, navigation

ENVIRONMENT = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text())
CONDA_NAMES = {"matplotlib": "matplotlib-base", "torch": "pytorch-cpu"}


def imported(code):
    """The first names of all modules that some code imports, wherever in it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.in_turn("seconds of reading sources")
def test_every_package_that_a_lesson_needs_is_there():
    """Also what it needs through dpcourse; only an instructor's commands may ask for more."""
    cells = [cell.source for source in build.sources(ROOT) for cell in jupytext.read(source).cells if cell.cell_type == "code"]  # fmt: skip
    package = ROOT / "dpcourse"
    files = [
        file for file in package.rglob("*.py") if file.relative_to(package).parts[0] not in ("authoring", "grading")
    ]
    modules = {name for code in [*cells, *(file.read_text(encoding="utf-8") for file in files)] for name in imported(code)}  # fmt: skip
    known = importlib.metadata.packages_distributions()
    packages = {
        known[name][0].lower() for name in modules - sys.stdlib_module_names - {"dpcourse", "PIL"}
    }  # matplotlib's
    assert {"numpy", "scipy", "scikit-learn", "torch"} <= packages
    listed = {re.match(r"[\w-]+", line)[0] for line in ENVIRONMENT["dependencies"]}
    assert {CONDA_NAMES.get(name, name) for name in packages} <= listed


def test_repo2docker_finds_environment_postbuild_and_start():
    done = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    dockerfile = done.stdout
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    python = re.search(r'python-version: "(.+)"', workflow)[1]  # the one that is tested
    assert f"Building conda environment for python={python}\n" in done.stderr
    assert 'env update -p ${NB_PYTHON_PREFIX} --file "binder/environment.yml"' in dockerfile
    assert "\nRUN ./binder/postBuild\n" in dockerfile
    assert '\nENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"\n' in dockerfile


def test_no_more_threads_begin_than_binder_lends_cores():
    """mybinder.org bounds each to two (its deployment's pull request 535), of a machine that has more."""
    code = "import os; print(os.environ['OMP_NUM_THREADS'], os.environ['OMP_WAIT_POLICY'])"
    start = [ROOT / "binder" / "start", sys.executable, "-c", code]
    assert subprocess.check_output(start, text=True).split() == ["2", "PASSIVE"]


def test_postbuild_installs_the_course_and_nothing_else():
    """All else comes from environment.yml: what pip added would be of other versions."""
    text = (ROOT / "binder" / "postBuild").read_text()
    assert subprocess.run(["bash", "-n", "-c", text]).returncode == 0
    assert re.findall("^.*install.*$", text, re.MULTILINE) == ["pip install --no-deps -e ."]


@pytest.fixture
def published(tmp_path):
    """A course folder whose pyproject.toml says, or does not say, where it is published."""

    def write(urls=""):
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n{urls}')
        return tmp_path / "solutions" / "03-gdp.md"

    return write


@pytest.mark.parametrize("ending", ["", ".git", "/"])
def test_a_badge_opens_its_lesson_in_jupyterlab(published, ending):
    source = published(f'[project.urls]\nRepository = "https://github.com/some-body/a.course{ending}"\n')
    target = urlsplit(re.search(r"\]\((https://mybinder\.org/v2/[^)]+)\)$", binder.binder_link(source))[1])
    assert target.path == "/v2/gh/some-body/a.course/HEAD"
    assert parse_qs(target.query) == {"urlpath": ["lab/tree/lessons/03-gdp.ipynb"]}


def test_no_badge_leads_nowhere(published):
    assert binder.binder_link(published()) == ""
    with pytest.raises(ValueError, match=r"must be https://github.com/OWNER/NAME.*got 'https://example.org/x'"):
        binder.binder_link(published('[project.urls]\nRepository = "https://example.org/x"\n'))


def test_the_readme_gets_a_badge_per_lesson_once_the_address_is_known(published):
    course = published().parents[1]
    shutil.copytree(ROOT / "solutions", course / "solutions", ignore=shutil.ignore_patterns("*.ipynb"))
    shutil.copy(ROOT / "README.md", course)
    assert "mybinder.org/badge" not in navigation.readmes(course)[course / "README.md"]
    published('[project.urls]\nRepository = "https://github.com/owner/name"\n')
    lines = navigation.readmes(course)[course / "README.md"].splitlines()
    for source in build.sources(course):
        (row,) = [line for line in lines if f"lessons/{source.stem}.ipynb)" in line and line[0] == "|"]  # fmt: skip
        assert binder.badge("owner/name", source.stem) in row


def test_the_first_code_cell_installs_the_course_on_colab_and_nothing_elsewhere(published, monkeypatch):
    lesson = published('[project.urls]\nRepository = "https://github.com/owner/name"\n')
    shutil.copytree(ROOT / "solutions", lesson.parent, ignore=shutil.ignore_patterns("*.ipynb"))
    first, *others = build.read(lesson).blank.cells[1:]
    assert "dpcourse @ git+https://github.com/owner/name" in first.source
    ran = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: ran.append(command))
    exec(first.source, {})
    assert ran == []
    monkeypatch.setitem(sys.modules, "google.colab", None)
    exec(first.source, {})
    assert [command[-1] for command in ran] == ["dpcourse @ git+https://github.com/owner/name"]
    published()
    assert build.read(lesson).blank.cells[1:] == others, "without an address there is nowhere to install from"


PLACES = {
    "Colab, 19 August 2026": "ipython==7.34.0 ipywidgets==7.7.1 matplotlib==3.10.0 nbformat==5.11.1 numpy==2.1.3 packaging==26.3 pooch==1.9.0 psutil==5.9.5 scikit-learn==1.6.1 scipy==1.16.3 statsmodels==0.14.6 torch==2.11.0 tqdm==4.67.3 typer==0.27.1",
    "Pyodide 314.0.7": "ipython==9.12.0 matplotlib==3.10.8 numpy==2.4.6 packaging==26.1 platformdirs==4.9.4 scipy==1.18.0 statsmodels==0.14.6",
}


@pytest.mark.parametrize("place", PLACES)
def test_the_package_takes_what_is_there_already(place):
    """On Colab an upgrade would change what the running kernel has imported; in a browser there is no other version."""
    there = dict(each.split("==") for each in PLACES[place].split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for need in map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["torch"]]):
        assert need.name not in there or need.specifier.contains(there[need.name]), need
