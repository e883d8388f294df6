"""docs/instructors.md: what it names exists, and every command in it does what it says, in the order of the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandboxed import NEEDS_SANDBOX
from support import ROOT
from typer.main import get_command

from dpcourse.commands import app

PAGE = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]
STUDENTS = ("leekim_1234", "bellann_1235")


def test_every_command_and_option_on_the_page_exists():
    known = get_command(app).commands
    calls = [line.split() for line in COMMANDS if line.startswith("dpcourse")]
    assert len(calls) > 15
    for _, name, *arguments in calls:
        options = {option for parameter in known[name].params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options
    every = {option for command in known.values() for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= every


def test_the_readme_leads_to_the_page_and_every_link_of_it_leads_somewhere():
    assert "(docs/instructors.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", PAGE):
        assert (ROOT / "docs" / target).exists(), target


@pytest.fixture
def a_term(tmp_path):
    """The folder of the course, with a class of two and a stranger's file in it."""
    for name in (
        "lessons",
        "solutions",
        "dpcourse",
        "tests",
        *(file.name for file in ROOT.glob("*.*") if file.is_file()),
        "LICENSE",
    ):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    (tmp_path / "submissions").mkdir()
    for number, student in enumerate(STUDENTS):
        solved = ROOT / f"{'solutions' if number else 'lessons'}/01-composition.ipynb"
        shutil.copy(solved, tmp_path / f"submissions/{student}_98765_01-composition.ipynb")
    roster = [
        "student,id",
        *(f"{student.partition('_')[0]},{student.partition('_')[2]}" for student in STUDENTS),
        "dancho,1236",
    ]
    (tmp_path / "roster.csv").write_text("\n".join(roster), encoding="utf-8")
    return tmp_path


def ready_for(command, folder):
    """What comes from elsewhere: an exam that was handed in, and what another assistant has graded."""
    if "exam-submissions" in command:
        [solved] = (folder / "exam/solutions").glob("50-*.ipynb")
        (folder / "exam-submissions").mkdir()
        shutil.copy(solved, folder / "exam-submissions/leekim_1234_98766_50.ipynb")
    if "--merge" in command:
        shutil.copytree(folder / "grades", folder / "from-lee/grades")


@pytest.mark.weekly("a term of a class by the commands, with real sandboxes")
@NEEDS_SANDBOX
def test_the_commands_of_the_page_take_a_class_through_a_term(a_term):
    said = {}
    environment = {**os.environ, "PATH": f"{a_term}/.venv/bin:{os.environ['PATH']}"}
    for command in COMMANDS:
        ready_for(command, a_term)
        done = subprocess.run(["bash", "-c", command], cwd=a_term, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        said[command] = done.stdout
    of = {command.partition("--")[2].partition(" ")[0]: text for command, text in said.items() if " grade" in command}
    assert "canvas-01.csv has 1 mark" in of["roster"]
    assert "as it was given out (leekim_1234)" in of["roster"]
    assert "1 nothing was handed in (dancho_1236)" in of["roster"]
    assert "shown on paper" in of["overrides"]
    assert "not written" not in of["explain"]
    assert (a_term / "exam-grades/canvas-50.csv").exists()
    left = [file for file in (a_term / "grades").rglob("*") if file.is_file() and file.suffix in (".csv", ".html")]
    assert not any("leekim" in file.read_text(encoding="utf-8") for file in left)
