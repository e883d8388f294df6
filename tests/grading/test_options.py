"""Every option that takes a path or a number, given a wrong one: a sentence that says what would be right, and no file."""

import functools
import re
from pathlib import Path

import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.authoring import new_pack
from dpcourse.commands import app
from dpcourse.commands.grade_options import MOST_MEMORY, MOST_SECONDS

FILES = ("nowhere", "nowhere/deeper", "folder", "loop", "broken", "x" * 300)
FOLDERS = ("nowhere", "text", "text/deeper", "binary", "empty", "loop", "x" * 300)
NO_SECRET, NO_ROSTER = ("empty", "binary", "text"), ("empty", "binary", "text", "zeros")
GRADE = {
    "--seed-file": (*FILES, *NO_SECRET),
    "--roster": (*FILES, *NO_ROSTER),
    "--pattern": ("", "{nam}_{file}", "{number}", "{name", "(?P<name>", "(?P<name>.*)"),
    "--config": (*FILES, "binary", "text", "zeros"),
    "--pack": (*FOLDERS, "folder"),
    "--course": (*FOLDERS, "folder"),
    "--merge": (*FILES, "empty", "binary", "text", "zeros"),
    "--out": ("text", "binary", "loop", "text/deeper", "x" * 300),
    "--lesson": ("-1", "77", "9" * 30),
    "--seconds": ("nan", "-1", "0", "1e400", "inf", str(2 * MOST_SECONDS)),
    "--cell-seconds": ("nan", "-1", "0", "1e400", "inf", str(2 * MOST_SECONDS)),
    "--memory": ("0", "-1", "255", str(2 * MOST_MEMORY), "9" * 30),
    "--dask": ("", "nowhere", "tcp://nowhere"),
}
RELEASE = {
    "--course": (*FOLDERS, "folder"),
    "--pack": (*FOLDERS, "folder"),
    "--roster": (*FILES, *NO_ROSTER),
    "--seed-file": (*FILES, *NO_SECRET),
    "--lesson": ("-1", "77", "9" * 30),
}
OTHERS = [
    *(("release", name) for name in ("text", "loop", "full", "text/deeper", "x" * 300)),
    *(("new-pack", name) for name in ("text", "loop", "full", "text/deeper", "x" * 300)),
    *(("new-pack", "new", "--number", number) for number in ("0", "-1", "49", "100", "9" * 30)),
    *(("build", option, name) for option in ("--root", "--pack") for name in FOLDERS),
    *(("try", "1", option, name) for option in ("--root", "--pack") for name in FOLDERS),
    *(("site", "new", "--course", name) for name in FOLDERS),
]
TYPED = [("--jobs", "0"), ("--jobs", "nan"), ("--jobs", "9" * 30), ("--lesson", "1.5"), ("--memory", "inf"), ("--seconds", "x")]  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a class, a pack, and files of every wrong kind."""
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "full", "class"):
        (tmp_path / name).mkdir()
    (tmp_path / "full/file").touch()
    (tmp_path / "class/ann.ipynb").write_text("check('1.1')")
    (tmp_path / "text").write_text("hello, world\n")
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "zeros").write_bytes(bytes(9000))
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "broken").symlink_to("/proc/self/mem")  # there, and cannot be read, not even by root
    (tmp_path / "roster.csv").write_text("student,id\nann,1\n")
    (tmp_path / "secret").write_text("a secret that nobody guesses")
    return tmp_path


def everything(folder):
    return {path: path.stat().st_size if path.is_file() else 0 for path in folder.rglob("*")}


def refused(folder, *arguments):
    """What a command says that must be refused: it leaves nothing behind, and says one line."""
    before = everything(folder)
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), (arguments, done.exception)
    assert done.exit_code == 2, (arguments, done.output)
    assert everything(folder) == before, arguments
    assert "Errno" not in done.output, done.output
    return done.stderr


def in_one_line(said, value):
    assert len(said.splitlines()) == 1, said
    assert len(said.replace(value, "")) < 500, said
    return said


@pytest.mark.parametrize("option", GRADE)
def test_a_wrong_value_for_grade_is_told_in_a_line_and_leaves_nothing(quick, here, option):
    for value in GRADE[option]:
        said = in_one_line(refused(here, "grade", "class", option, value), value)
        assert option.lstrip("-") in said or value in said, said
    assert not quick


@pytest.mark.parametrize("option", RELEASE)
def test_a_wrong_value_for_release_is_told_in_a_line_and_leaves_nothing(here, request, option):
    new_pack.write(here / "exam", 81)
    request.addfinalizer(functools.partial(course._forget, here / "exam"))
    right = {"--pack": "exam", "--roster": "roster.csv", "--seed-file": "secret", "--course": ROOT}
    for value in RELEASE[option]:
        given = [str(word) for pair in (right | {option: value}).items() for word in pair]
        said = in_one_line(refused(here, "release", "new", *given), value)
        assert option.lstrip("-") in said or value in said, said


@pytest.mark.parametrize("arguments", OTHERS, ids=lambda arguments: " ".join(arguments)[:40])
def test_a_wrong_path_for_the_other_commands_is_told_in_a_line(here, arguments):
    more = ["--course", ROOT] if arguments[0] == "release" else []
    said = in_one_line(refused(here, *arguments, *more), arguments[-1])
    assert arguments[-1] in said, said


@pytest.mark.parametrize(("option", "value"), TYPED)
def test_what_is_no_number_is_refused_with_the_name_of_the_option(here, option, value):
    said = re.sub(r"\x1b\[[0-9;]*m", "", refused(here, "grade", "class", option, value))
    assert f"Invalid value for '{option}'" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--explain", "nobody", "1.7"),
        ("--explain", "ann", "49.9"),
        ("--override", "nobody", "1.7", "1", "why"),
        ("--override", "ann", "1.7", "1", "why", "--bonus", "nobody", "1", "1", "why"),
        ("--bonus", "ann", "1", "nan", "why"),
        ("--bonus", "ann", "77", "1", "why"),
        ("--undo", "ann", "1.7"),
        ("--forget", "nobody"),
        ("--forget", ""),
    ],
)
def test_what_is_asked_of_nobody_changes_no_file(quick, here, arguments):
    assert CliRunner().invoke(app, ["grade", "class"]).exit_code == 0
    in_one_line(refused(here, "grade", *arguments), "")


def test_the_paths_above_are_what_they_are_meant_to_be(here):
    assert Path("broken").is_file()
    assert CliRunner().invoke(app, ["grade", "--roster", "nowhere", "--settings"]).exit_code == 2
