"""What `pip install dpcourse` brings: lessons, answers, and a core that needs none of the heavy packages."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.notebook import check

HEAVY = ("jinja2", "jupyterlab", "jupytext", "nbconvert", "pandas", "psutil", "sklearn", "statsmodels", "torch", "tqdm")
FIRST_CHECK = """
import math
from dpcourse import check
check("0.1", lambda epsilon: math.exp(epsilon) / (1 + math.exp(epsilon)))
"""

SOLUTION = "from dpcourse import solution; solution('0.1', sure=True)"


@pytest.fixture
def sources(tmp_path):
    """A copy of what a wheel is made of, and of some that must stay out of it; what a build leaves goes with it."""
    hidden = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("dpcourse", "lessons", "solutions"):
        shutil.copytree(ROOT / name, tmp_path / "sources" / name, ignore=hidden)
    (tmp_path / "sources/tests").mkdir()
    (tmp_path / "sources/tests/test_of_ours.py").touch()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "sources")
    return tmp_path / "sources"


def ran(*command, cwd=None, **environment):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def expected(folder):
    """The files of the package, the blank lessons and the answers, by their names in a wheel; catalogues are compiled."""
    files = (file for file in (folder / "dpcourse").rglob("*") if file.is_file() and file.suffix != ".po")
    package = (file for file in files if "__pycache__" not in file.parts)
    brought = [*(folder / "lessons").rglob("*.ipynb"), *(folder / "solutions").rglob("[0-9]*.ipynb")]
    return {file.relative_to(folder).as_posix() for file in package} | {
        f"dpcourse/{file.relative_to(folder).as_posix()}" for file in brought
    }


def test_the_package_is_built_with_the_blank_lessons_the_answers_and_nothing_else(sources, monkeypatch, capsys):
    for old in (sources / "build/lib/dpcourse" / name / "06-auditing.ipynb" for name in ("lessons", "solutions")):
        old.parent.mkdir(parents=True)
        old.write_text("of an earlier build")
    (sources / "lessons/xx").mkdir()
    shutil.copy(sources / "lessons/00-start-here.ipynb", sources / "lessons/xx")
    ran(sys.executable, "setup.py", "-q", "build_py", cwd=sources)
    built = sources / "build/lib"
    assert {file.relative_to(built).as_posix() for file in built.rglob("*") if file.is_file()} == expected(sources)
    for lesson in (sources / "lessons").glob("*.ipynb"):
        assert (built / "dpcourse/lessons" / lesson.name).read_bytes() == lesson.read_bytes()
    monkeypatch.chdir(sources.parent)
    monkeypatch.setattr(check, "__file__", str(built / "dpcourse/notebook/check.py"))
    check.solution("0.1", sure=True)
    assert "def keep_probability(epsilon)" in capsys.readouterr().out, "who learns alone has the answers"
    for answers in (built / "dpcourse/solutions").rglob("*.ipynb"):
        cells = json.loads(answers.read_text(encoding="utf-8"))["cells"]
        assert all("### BEGIN SOLUTION" in "".join(cell["source"]) and not cell["outputs"] for cell in cells)
        assert len(cells) == len(course.lesson(int(answers.name[:2])).exercises)


def test_a_source_distribution_has_the_lessons_too(sources):
    for name in ("dpcourse", "tests"):
        shutil.rmtree(sources / name)  # what holds for the package holds for every package
    (sources / "lessons/.ipynb_checkpoints").mkdir()
    shutil.copy(sources / "lessons/00-start-here.ipynb", sources / "lessons/.ipynb_checkpoints")
    (sources / "dpcourse").mkdir()
    ran(sys.executable, "setup.py", "-q", "egg_info", cwd=sources)
    listed = (sources / "dpcourse.egg-info/SOURCES.txt").read_text().splitlines()
    lessons = [
        *sources.glob("lessons/*.ipynb"),
        *sources.glob("lessons/[a-z]*/*.ipynb"),
        *sources.glob("solutions/[0-9]*.ipynb"),
        *sources.glob("solutions/[a-z]*/[0-9]*.ipynb"),
    ]
    assert {line for line in listed if line.endswith(".ipynb")} == {
        file.relative_to(sources).as_posix() for file in lessons
    }
    assert {"setup.py", "pyproject.toml"} <= set(listed)


@pytest.mark.in_turn("seconds of numbers")
def test_the_first_check_passes_without_the_heavy_packages(tmp_path):
    block = f"""
import sys
from importlib.machinery import PathFinder

class Light(PathFinder):
    @classmethod
    def find_spec(cls, name, *more):
        return None if name.partition(".")[0] in {HEAVY!r} else super().find_spec(name, *more)

sys.meta_path = [Light if finder is PathFinder else finder for finder in sys.meta_path]
"""
    commands = (
        "from dpcourse.commands import app; app(['start', 'mine', '--no-open'], standalone_mode=False); app(['doctor'])"
    )
    said = ran(sys.executable, "-c", block + FIRST_CHECK + commands, cwd=tmp_path, DPCOURSE_DATA=str(tmp_path))
    assert said.startswith("0.1 How often to keep the truth: passed")
    assert (tmp_path / "mine/00-start-here.ipynb").is_file()
    assert "not looked at without psutil" in said


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.weekly(
    "the wheel is built, checked and installed into an empty environment, and lessons 00 to 04 run there"
)
def test_the_wheel_in_an_empty_environment(sources, tmp_path):
    """Built from the source distribution, checked by twine, installed; with nothing else lessons 00 to 04 run."""
    ran(sys.executable, "-m", "venv", tmp_path / "tools")
    ran(python_of(tmp_path / "tools"), "-m", "pip", "install", "-q", "build", "twine")
    ran(python_of(tmp_path / "tools"), "-m", "build", cwd=sources)
    [wheel] = (sources / "dist").glob("*.whl")
    ran(python_of(tmp_path / "tools"), "-m", "twine", "check", "--strict", *(sources / "dist").iterdir())
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected(sources)
    ran(sys.executable, "-m", "venv", tmp_path / "core")
    python = python_of(tmp_path / "core")
    ran(python, "-m", "pip", "install", "-q", wheel)
    environment = {"DPCOURSE_DATA": str(tmp_path / "data"), "PYTHONPATH": ""}
    installed = ran(python, "-m", "pip", "list", "--format=freeze").split()
    assert not {line.partition("==")[0] for line in installed} & {"jupyterlab", "torch", "scikit-learn", "jinja2"}
    assert "passed" in ran(python, "-c", FIRST_CHECK, cwd=tmp_path, **environment)
    assert "def keep_probability(epsilon)" in ran(python, "-c", SOLUTION, cwd=tmp_path, **environment)
    dpcourse = Path(python).with_name("dpcourse")
    assert "JupyterLab" not in ran(dpcourse, "start", tmp_path / "mine", cwd=tmp_path, **environment)
    assert {file.name for file in (tmp_path / "mine").glob("*.ipynb")} == {file.name for file in (ROOT / "lessons").glob("*.ipynb")}  # fmt: skip
    assert "those of this edition already" in ran(dpcourse, "update", tmp_path / "mine", cwd=tmp_path, **environment)
    assert "00 Start here: 1 of 3" in ran(dpcourse, "progress", cwd=tmp_path, **environment)
    assert "This machine is ready" in ran(dpcourse, "doctor", cwd=tmp_path, **environment)
    solved = [shutil.copy(file, tmp_path / "mine") for file in sorted((ROOT / "solutions").glob("0[0-4]-*.ipynb"))]
    ran(python, "-m", "pip", "install", "-q", "ipykernel", "nbval")
    ran(python, "-m", "pytest", "-q", "--nbval-lax", "--nbval-current-env", *solved, cwd=tmp_path, **environment)
