"""What a class is given holds no solution, and nbgrader takes it as it is."""

import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.authoring import new_pack, release
from dpcourse.commands import app

NAMES = [file.name for file in sorted((ROOT / "lessons").glob("[0-9]*.ipynb"))]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "bundle"
    release.student_bundle(ROOT, folder)
    return folder


def solution_lines(name):
    """The lines of a lesson's solutions that say something."""
    inside = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", (ROOT / "solutions" / name).with_suffix(".md").read_text(encoding="utf-8"), re.DOTALL)  # fmt: skip
    assert len(inside) >= len(course.lesson(int(name[:2])).exercises)
    return {line.strip() for block in inside for line in block.splitlines() if len(line.strip()) > 25}


@pytest.mark.parametrize("name", NAMES)
def test_the_bundle_holds_the_blank_lessons_and_no_line_of_a_solution(bundle, name):
    text = (bundle / "lessons" / name).read_text(encoding="utf-8")
    assert text == (ROOT / "lessons" / name).read_text(encoding="utf-8")
    code = "\n".join(cell["source"] for cell in json.loads(text)["cells"])
    prose = (ROOT / "solutions" / name).with_suffix(".md").read_text(encoding="utf-8")
    for line in solution_lines(name):
        assert line not in code or prose.count(line) > 1, line
    assert "SOLUTION" not in text


def test_the_bundle_holds_nothing_else_than_a_student_needs(bundle):
    assert {file.name for file in (bundle / "lessons").iterdir()} == {*NAMES, "glossary.ipynb"}
    assert {file.name for file in bundle.iterdir()} == {"LICENSE", "README.md", "dpcourse", "lessons", "pyproject.toml", "requirements.txt"}  # fmt: skip
    kinds = {file.suffix for file in (bundle / "dpcourse").rglob("*") if file.is_file()}
    # what is said in other languages, compiled; and the fonts of their pictures
    assert kinds - {".mo", ".otf"} == {".py", ".npz", ".html", ".json", ".toml", ".css", ".js", ".woff2", ".txt", ".md"}
    project, whole = (tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (bundle, ROOT))
    assert project.keys() == {"build-system", "project", "tool"}
    assert project["project"] == whole["project"]
    assert project["tool"] == {"setuptools": whole["tool"]["setuptools"]}
    assert (bundle / "requirements.txt").read_text().rstrip().endswith("-e .")


def test_a_bundle_in_another_language_has_its_lessons_and_its_readme(tmp_path, monkeypatch):
    def call(name, *arguments):
        told = CliRunner().invoke(
            app, ["release", str(tmp_path / name), "--course", str(ROOT), "--lesson", "0", *arguments]
        )
        assert told.exit_code == 0, told.stderr
        return tmp_path / name

    for made in (call("new", "--language", "zh"), call("source", "--language", "zh", "--nbgrader")):
        [lesson] = made.rglob(NAMES[0])
        assert 'language(\\"zh' in lesson.read_text(encoding="utf-8")
    handout = tmp_path / "new"
    for name in (NAMES[0], "glossary.ipynb"):
        assert (handout / "lessons" / name).read_bytes() == (ROOT / "lessons" / "zh" / name).read_bytes()
    assert not any((handout / "lessons").glob("*/"))
    assert f"lessons/{NAMES[0]}" in (handout / "README.md").read_text(encoding="utf-8")
    monkeypatch.setenv("DPCOURSE_LANGUAGE", "zh")
    assert (call("same") / "lessons" / NAMES[0]).read_bytes() == (handout / "lessons" / NAMES[0]).read_bytes()
    told = CliRunner().invoke(app, ["release", str(tmp_path / "other"), "--course", str(ROOT), "--language", "xx"])
    assert told.exit_code == 2


def test_the_bundle_works_where_nothing_else_of_the_course_is(bundle, tmp_path):
    code = "import dpcourse; from dpcourse.commands import app; print(dpcourse.__file__); app(['doctor', '--help'])"
    environment = {"PYTHONPATH": str(bundle), "PATH": os.environ["PATH"], "DPCOURSE_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-P", "-B", "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(bundle))


def test_release_writes_a_new_folder_or_nothing(tmp_path):
    def call(*arguments):
        return CliRunner().invoke(app, ["release", str(tmp_path / "new"), "--course", str(ROOT), *arguments])

    unknown = call("--lesson", "77")
    assert (unknown.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "no lesson 77" in unknown.stderr
    assert call("--lesson", "0", "--lesson", "1").exit_code == 0
    assert sorted(file.name[:2] for file in (tmp_path / "new" / "lessons").iterdir()) == ["00", "01", "gl"]
    again = call()
    assert again.exit_code == 2
    assert "is not empty" in again.stderr


@pytest.mark.parametrize("left", ["an answer", "a cell that was run"])
def test_a_lesson_in_which_somebody_has_worked_is_not_given_out(tmp_path, left):
    shutil.copytree(ROOT / "lessons", tmp_path / "lessons")
    file = tmp_path / "lessons" / NAMES[0]
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if left == "an answer":
        answer = next(cell for cell in cells if "def keep_probability(" in "".join(cell["source"]))
        answer["source"] = "def keep_probability(epsilon):\n    return math.exp(epsilon) / (1 + math.exp(epsilon))"
    else:
        cells[0]["execution_count"] = 7
    file.write_text(json.dumps(notebook), encoding="utf-8")
    told = CliRunner().invoke(app, ["release", str(tmp_path / "new"), "--course", str(tmp_path)])
    assert (told.exit_code, (tmp_path / "new").exists()) == (2, False)
    assert f"worked in {NAMES[0]}" in told.stderr
    assert "git checkout lessons" in told.stderr


def test_release_far_from_the_course_says_where_to_go(tmp_path):
    told = CliRunner().invoke(app, ["release", str(tmp_path / "new"), "--course", str(tmp_path)])
    assert told.exit_code == 2
    assert "go to the folder of the course, or name it with --course" in told.stderr
    new_pack.write(tmp_path / "exam", 80)
    told = CliRunner().invoke(app, ["release", str(tmp_path / "new"), "--pack", str(tmp_path / "exam"), "--course", str(tmp_path)])  # fmt: skip
    course._forget(tmp_path / "exam")
    assert told.exit_code == 2
    assert "go to the folder of the course, or name it with --course" in told.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_nbgrader_source_has_an_answer_and_a_locked_check_for_each_exercise(name):
    solved = json.loads((ROOT / "solutions" / name).read_text(encoding="utf-8"))
    notebook = release.as_nbgrader_source(solved, int(name[:2]))
    marks = [cell["metadata"]["nbgrader"] for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    expected = course.lesson(int(name[:2])).exercises
    assert [mark["grade_id"] for mark in marks if mark["solution"]] == [f"answer-{exercise.number.replace('.', '-')}" for exercise in expected]  # fmt: skip
    checks = [mark for mark in marks if mark["grade"]]
    assert [mark["points"] for mark in checks] == [exercise.points for exercise in expected]
    assert all(mark["locked"] and not mark["solution"] for mark in checks)
    assert not any(cell.get("outputs") for cell in notebook["cells"])


@pytest.mark.weekly("nbgrader's own commands start JupyterLab's parts again and again")
@pytest.mark.skipif(importlib.util.find_spec("nbgrader") is None, reason="nbgrader is not installed")
def test_nbgrader_takes_the_course_as_it_is(tmp_path):
    """Its own commands: validate the source, make the assignment, grade a submission with one wrong answer."""
    folder = tmp_path / "course"
    release.nbgrader_course(ROOT, folder, [0])
    name, file = "00-start-here", Path("00-start-here", "00-start-here.ipynb")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "DPCOURSE_DATA": str(tmp_path)}

    def nbgrader(*arguments):
        command = [sys.executable, "-m", "nbgrader", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "Success! Your notebook passes all the tests." in nbgrader("validate", "source" / file)
    nbgrader("generate_assignment", name)
    released = json.loads((folder / "release" / file).read_text(encoding="utf-8"))
    code = "\n".join("".join(cell["source"]) for cell in released["cells"])
    assert "HIDDEN TESTS" not in code
    assert "SOLUTION" not in code
    assert code.count("raise NotImplementedError()") == len(course.lesson(0).exercises)

    handed_in = json.loads((folder / "source" / file).read_text(encoding="utf-8"))
    wrong = next(cell for cell in handed_in["cells"] if "def keep_probability(" in cell["source"])
    wrong["source"] = "def keep_probability(epsilon):\n    return 0.5"
    (folder / "submitted" / "kim" / name).mkdir(parents=True)
    (folder / "submitted" / "kim" / file).write_text(json.dumps(handed_in), encoding="utf-8")
    nbgrader("autograde", name)
    with sqlite3.connect(folder / "gradebook.db") as database:
        auto = database.execute("SELECT sum(auto_score) FROM grade").fetchone()[0]
    points = {exercise.function: exercise.points for exercise in course.lesson(0).exercises}
    assert auto == sum(points.values()) - points["keep_probability"]
    shutil.rmtree(folder)


def test_a_pyproject_whose_tables_cannot_be_told_apart_is_refused():
    assert (
        release.installed('[project]\nname = "x"\n[tool.ruff]\nx = 1\n[[tool.importlinter.contracts]]\ny = 1\n')
        == '[project]\nname = "x"\n'
    )
    with pytest.raises(ValueError, match="begin a line with `\\[` only for a table"):
        release.installed('[project]\nname = """\n[tool.x]\n"""\n')
