"""Lessons on disk: what is there is never lost, each file is whole, and what was done is said."""

import errno
import io
import json
import os
import socket

import nbformat
import pytest
from editions import OLD, asks, edition
from typer.testing import CliRunner

from dpcourse import commands
from dpcourse.commands import app
from dpcourse.edition import folder as folders
from dpcourse.edition import start, update
from dpcourse.edition.folder import RECORD

NUMBERS = {"a": "01-a", "b": "02-b"}


def written(folder, lessons, numbers=NUMBERS):
    folder.mkdir(exist_ok=True)
    for word, cells in lessons.items():
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [nbformat.from_dict(cell | ({"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {})) for cell in cells]  # fmt: skip
        nbformat.write(notebook, folder / f"{numbers[word]}.ipynb")
    return folder


NEW = {"b": [*OLD["b"], "more"], "c": ["# C", asks("f"), 'check("1.1", f)'], "a": OLD["a"][:3]}
NEW_NUMBERS = {"b": "01-b", "c": "02-c", "a": "03-a"}


@pytest.fixture
def old(tmp_path):
    return written(tmp_path / "old", edition(OLD))


@pytest.fixture
def new(tmp_path):
    return written(tmp_path / "new", edition(NEW), NEW_NUMBERS)


@pytest.fixture
def mine(tmp_path, old):
    """The lessons as given out, with the answer to f in them, and a file of the learner's."""
    mine = tmp_path / "mine"
    start(mine, old)
    change(mine / "01-a.ipynb", asks("f"), "def f(x):\n    return 17")
    (mine / "scratch.ipynb").write_text("anything")
    return mine


def change(file, text, by):
    notebook = nbformat.read(file, 4)
    [cell] = [cell for cell in notebook.cells if cell.source == text]
    cell.source = by
    nbformat.write(notebook, file)


def content(folder, pattern="*"):
    return {file.name: file.read_bytes() for file in folder.glob(pattern)}


def sources(file):
    notebook = nbformat.read(file, 4)
    nbformat.validate(notebook)
    return [cell.source for cell in notebook.cells]


def test_the_lessons_are_written_as_they_are(old, tmp_path):
    assert start(tmp_path / "deep" / "mine", old) == ["01-a.ipynb", "02-b.ipynb"]
    assert content(tmp_path / "deep" / "mine", "*.ipynb") == content(old)


def test_lessons_in_another_language_stay_in_it(old, tmp_path, monkeypatch):
    """They stand in a folder of its name among the English ones."""
    course = tmp_path / "course"
    course.mkdir()
    written(course / "lessons", edition(OLD))
    written(course / "lessons" / "zh", edition({"a": ["# 甲"]}))
    monkeypatch.setattr(folders, "__file__", str(course / "dpcourse" / "edition" / "folder.py"))
    said = CliRunner().invoke(app, ["start", str(tmp_path / "mine"), "--language", "zh", "--no-open"])
    assert (said.exit_code, str(tmp_path / "mine") in said.output) == (0, True), said.output
    assert sources(tmp_path / "mine" / "01-a.ipynb") == ["# 甲"]
    written(course / "lessons" / "zh", edition({"a": ["# 甲", "乙"]}))
    assert update(tmp_path / "mine") == ["01-a.ipynb: is brought up to date."]
    assert sources(tmp_path / "mine" / "01-a.ipynb") == ["# 甲", "乙"]
    said = CliRunner().invoke(app, ["start", str(tmp_path / "other"), "--language", "fr"])
    assert (said.exit_code, said.output) == (1, "there is no language 'fr'; there are: en, zh\n")
    assert not (tmp_path / "other").exists()


def test_lines_that_end_as_on_windows_are_no_change(old, mine, new, tmp_path):
    """Git and some editors write them."""
    for file in mine.glob("*.ipynb"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    before = content(mine)
    assert update(mine, old) == []
    assert content(mine) == before
    update(mine, new)
    assert "def f(x):\n    return 17" in sources(mine / "02-c.ipynb")


def test_a_console_without_greek_is_told_all_the_rest(monkeypatch):
    """As Windows does it where what a command says goes into a file."""
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", console)
    commands.shared.on_any_console()
    print("the bound ε is 1", flush=True)
    assert console.buffer.getvalue() == b"the bound ? is 1\n"


def test_a_folder_in_use_is_refused_and_stays(old, mine, tmp_path):
    before = content(mine)
    with pytest.raises(ValueError, match=r"holds lessons already.*dpcourse update .*mine.* keeps your answers"):
        start(mine, old)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="is not empty: name a new folder"):
        start(tmp_path / "other", old)
    with pytest.raises(ValueError, match="is no folder"):
        start(tmp_path / "other" / "thesis.tex", old)
    assert content(mine) == before
    assert (tmp_path / "other" / "thesis.tex").read_text() == "years of work"


def test_who_changed_nothing_gets_the_new_edition_byte_by_byte_and_no_copies(old, new, tmp_path):
    start(tmp_path / "mine", old)
    assert update(tmp_path / "mine", new) == [
        "01-b.ipynb: is brought up to date. It was 02-b.ipynb.",
        "02-c.ipynb: is new.",
        "03-a.ipynb: is brought up to date. It was 01-a.ipynb.",
    ]
    assert content(tmp_path / "mine", "*.ipynb") == content(new)
    assert update(tmp_path / "mine", new) == []


@pytest.mark.parametrize("is_recorded", [True, False])
def test_an_answer_goes_with_its_exercise_and_the_old_file_stays_as_a_copy(mine, new, is_recorded):
    if not is_recorded:
        (mine / RECORD).unlink()
    before = (mine / "01-a.ipynb").read_bytes()
    said = update(mine, new)
    assert "02-c.ipynb: is new. 1 cell of yours kept." in said
    assert said[-1] == "Your answer f is in 02-c.ipynb now."
    assert sources(mine / "02-c.ipynb") == ["# C", "def f(x):\n    return 17", 'check("1.1", f)']
    assert (mine / "01-a.before-update.ipynb").read_bytes() == before
    assert (mine / "scratch.ipynb").read_text() == "anything"
    assert not (mine / "01-a.ipynb").exists()
    after = content(mine)
    assert update(mine, new) == []
    assert content(mine) == after


def test_a_second_copy_has_another_name(mine, old, new):
    (mine / "01-a.before-update.ipynb").write_text("an older one")
    update(mine, new)
    assert (mine / "01-a.before-update.ipynb").read_text() == "an older one"
    assert "return 17" in (mine / "01-a.before-update-2.ipynb").read_text()


def test_a_lesson_that_was_not_given_out_or_was_thrown_away_does_not_come(mine, new):
    (mine / "02-b.ipynb").unlink()
    update(mine, new)
    assert sorted(content(mine, "0*")) == ["01-a.before-update.ipynb", "02-c.ipynb", "03-a.ipynb"]


def test_a_lesson_that_is_gone_is_left(mine, tmp_path):
    new = written(tmp_path / "new", edition({"b": OLD["b"]}))
    before = content(mine)
    assert update(mine, new) == ["01-a.ipynb: is left as it is."]
    assert {name: text for name, text in content(mine).items() if name != RECORD} == {name: text for name, text in before.items() if name != RECORD}  # fmt: skip


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"cells": [{}]}', '{"cells": [3]}', '{"cells": 3}', "null"])
def test_a_damaged_file_is_named_and_nothing_is_changed(mine, new, damage):
    (mine / "02-b.ipynb").write_text(damage)
    before = content(mine)
    with pytest.raises(ValueError, match=r"02-b.ipynb is no notebook that can be read. Nothing was changed"):
        update(mine, new)
    assert content(mine) == before


@pytest.mark.parametrize("damage", ["", "[]", '{"lessons": 3}', '{"lessons": {"a": {"file": 3}}}'])
def test_a_damaged_record_costs_no_answer(mine, new, damage):
    (mine / RECORD).write_text(damage)
    update(mine, new)
    assert "def f(x):\n    return 17" in sources(mine / "02-c.ipynb")
    assert set(json.loads((mine / RECORD).read_text())["lessons"]) == {"a", "b", "c"}


@pytest.mark.parametrize("writes", range(7))
def test_an_update_that_is_cut_off_loses_nothing_and_the_next_one_ends_it(mine, new, monkeypatch, writes):
    replace, left = os.replace, iter(range(writes))

    def cut_off(*paths):
        if next(left, None) is None:
            raise OSError("no space left")
        replace(*paths)

    monkeypatch.setattr(os, "replace", cut_off)
    if writes < 5:  # a copy, three lessons and the record
        with pytest.raises(OSError, match="no space left"):
            update(mine, new)
    else:
        update(mine, new)
    monkeypatch.undo()
    assert "return 17" in "".join(file.read_text() for file in mine.glob("0*.ipynb"))
    update(mine, new)
    assert sources(mine / "02-c.ipynb") == ["# C", "def f(x):\n    return 17", 'check("1.1", f)']
    assert {name: sources(mine / name) for name in ("01-b.ipynb", "03-a.ipynb")} == {
        "01-b.ipynb": NEW["b"],
        "03-a.ipynb": NEW["a"],
    }
    assert not [name for name in content(mine) if name.startswith(".0")]


def test_a_notebook_of_an_older_format_without_ids_is_read(mine, new):
    """As Colab writes them."""
    raw = json.loads((mine / "01-a.ipynb").read_text())
    raw["nbformat_minor"] = 0
    for cell in raw["cells"]:
        del cell["id"]
    (mine / "01-a.ipynb").write_text(json.dumps(raw))
    change(mine / "02-b.ipynb", asks("g"), "def g(x):\n    return 3")
    update(mine, new)
    assert sources(mine / "01-b.ipynb") == ["# B", "## 1", "def g(x):\n    return 3", 'check("2.1", g)', "more"]
    kept = [text for file in mine.glob("0[123]-?.ipynb") for text in sources(file)]
    assert "def f(x):\n    return 17" in kept


def test_what_the_learner_says_of_the_kernel_stays(mine, old, tmp_path):
    new = written(tmp_path / "new", edition(OLD | {"a": [*OLD["a"], "more"]}))
    notebook = nbformat.read(mine / "01-a.ipynb", 4)
    notebook.metadata["kernelspec"]["name"] = "my-environment"
    nbformat.write(notebook, mine / "01-a.ipynb")
    update(mine, new)
    assert nbformat.read(mine / "01-a.ipynb", 4).metadata["kernelspec"]["name"] == "my-environment"


# ---- commands


@pytest.fixture
def dpcourse(monkeypatch, old):
    monkeypatch.setattr(folders, "lessons_of_this_edition", lambda language="en": old)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_commands_say_what_they_did_and_what_to_do(dpcourse, tmp_path, monkeypatch):
    monkeypatch.setattr("subprocess.run", lambda *command: pytest.fail("opened"))
    begun = dpcourse("start", tmp_path / "m", "--no-open")
    assert begun.exit_code == 0
    assert f"2 notebooks are in {tmp_path / 'm'}" in begun.stdout
    assert f"-m jupyterlab {tmp_path / 'm' / '01-a.ipynb'}" in begun.stdout
    again = dpcourse("start", tmp_path / "m", "--no-open")
    assert (again.exit_code, again.stdout.splitlines()[1:]) == (0, begun.stdout.splitlines()[1:])
    assert again.stdout.startswith(f"Your lessons are in {tmp_path / 'm'} already, and stay as they are.\n")
    assert dpcourse("update", tmp_path / "m").stdout == "Your lessons are those of this edition already.\n"
    nowhere = dpcourse("update", tmp_path / "nowhere")
    assert (nowhere.exit_code, "holds no lesson of this course" in nowhere.stderr) == (2, True)


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """What JupyterLab was asked to open, by an ordinary user on whose machine none runs."""
    opened = []
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setattr("os.geteuid", lambda: 1000, raising=False)  # Windows has none
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)  # as if it were installed
    monkeypatch.setattr("subprocess.run", lambda command: opened.append(command) or type("Done", (), {"returncode": 0}))
    return opened


def test_the_first_lesson_is_opened_in_jupyterlab(dpcourse, tmp_path, opened):
    assert dpcourse("start", tmp_path / "m").exit_code == 0
    [command] = opened
    assert command[1:] == ["-m", "jupyterlab", str(tmp_path / "m" / "01-a.ipynb")]


def lose_the_first(mine):
    (mine / "01-a.ipynb").unlink()


def rename_all(mine):
    for file in mine.glob("0*.ipynb"):
        file.rename(file.with_name(f"my {file.name}"))


def damage_the_record(mine):
    (mine / RECORD).write_text("{")


def lose_the_record(mine):
    (mine / RECORD).unlink()


@pytest.mark.parametrize(
    ("happens", "opens"),
    [
        (lambda mine: None, "01-a.ipynb"),
        (lose_the_first, "02-b.ipynb"),
        (rename_all, ""),
        (damage_the_record, "01-a.ipynb"),
        (lose_the_record, "01-a.ipynb"),
    ],
)
def test_on_the_second_day_what_is_there_is_opened_and_nothing_is_written(happens, opens, dpcourse, mine, opened):
    happens(mine)
    before = content(mine)
    said = dpcourse("start", mine)
    assert (said.exit_code, opened[0][-1]) == (0, str(mine / opens)), said.output
    assert content(mine) == before
    assert "dpcourse update" not in said.output


def test_lessons_of_another_edition_are_opened_and_it_is_said_how_to_get_the_new_ones(mine, new, opened, monkeypatch):
    monkeypatch.setattr(folders, "lessons_of_this_edition", lambda language="en": new)
    said = CliRunner().invoke(app, ["start", str(mine)])
    assert opened[0][-1] == str(mine / "01-a.ipynb")
    assert f"`dpcourse update {mine}` brings them and keeps your answers" in said.output


def test_lessons_in_a_language_stay_in_it(old, tmp_path, opened, monkeypatch):
    """Those of a language that this copy of dpcourse lacks are opened too."""

    def only_in_english(language="en"):
        if language != "en":
            raise ValueError(language)
        return old

    monkeypatch.setattr(folders, "lessons_of_this_edition", only_in_english)
    start(tmp_path / "mine", old, "zh")
    said = CliRunner().invoke(app, ["start", str(tmp_path / "mine"), "--language", "en"])
    assert (said.exit_code, opened) == (1, [])
    assert "are in zh, not in en: name another folder" in said.output
    assert CliRunner().invoke(app, ["start", str(tmp_path / "mine")]).exit_code == 0
    assert opened[0][-1] == str(tmp_path / "mine" / "01-a.ipynb")


def test_root_is_told_what_jupyterlab_would_refuse_and_nothing_is_started(dpcourse, tmp_path, opened, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    said = dpcourse("start", tmp_path / "m")
    assert (said.exit_code, opened) == (1, [])
    assert f"-m jupyterlab {tmp_path / 'm' / '01-a.ipynb'} --allow-root\n" in said.output
    assert "elsewhere work as an ordinary user" in said.output
    assert dpcourse("start", tmp_path / "m", "--no-open").exit_code == 0
    monkeypatch.setattr("os.geteuid", lambda: 1000, raising=False)
    assert "--allow-root" not in dpcourse("start", tmp_path / "m").output


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """Notes that a Jupyter server runs, as servers do it themselves: (its address, what the browser is then asked for)."""
    asked = []
    monkeypatch.setattr("webbrowser.open", asked.append)
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "jpserver-0.json").write_text("{")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def noted(folder, token="abc", has_ended=False):
            if has_ended:
                listening.close()
            told = {"root_dir": str(folder), "token": token, "url": address}
            (tmp_path / "runtime" / "jpserver-1.json").write_text(json.dumps(told))
            return address, asked

        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        yield noted


@pytest.mark.parametrize(("token", "query"), [("abc", "?token=abc"), ("", "")])
def test_where_jupyterlab_has_the_folder_open_no_second_one_is_started(token, query, dpcourse, mine, opened, servers):
    address, asked = servers(mine, token)
    lesson = f"{address}lab/tree/01-a.ipynb{query}"
    said = dpcourse("start", mine)
    assert (said.exit_code, asked, opened) == (0, [lesson], []), said.output
    assert f"JupyterLab has this folder open already: {lesson}\n" in said.output
    dpcourse("start", mine, "--no-open")
    assert asked == [lesson]


def test_a_jupyterlab_over_another_folder_or_one_that_has_ended_takes_no_part(dpcourse, mine, opened, servers):
    for folder, has_ended in ((mine.parent, False), (mine, True)):
        _, asked = servers(folder, has_ended=has_ended)
        assert dpcourse("start", mine).exit_code == 0
        assert asked == []
    assert len(opened) == 2


def test_where_jupyter_can_keep_nothing_that_is_said_in_place_of_starting(dpcourse, tmp_path, opened, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "file" / "runtime"))
    said = dpcourse("start", tmp_path / "m")
    assert (said.exit_code, opened) == (1, [])
    assert (
        "neither JupyterLab nor a kernel starts: set JUPYTER_RUNTIME_DIR to a folder that you may write to\n"
        in said.stderr
    )


def test_where_no_folder_can_be_made_another_is_asked_for(dpcourse, tmp_path, opened, monkeypatch):
    def refused(path, *how, **more):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr("pathlib.Path.mkdir", refused)
    said = dpcourse("start", tmp_path / "m")
    assert (said.exit_code, said.stderr) == (
        1,
        f"{tmp_path / 'm'} cannot be made (Read-only file system): name a new folder where you may write\n",
    )


def test_a_language_is_named_as_a_system_names_it(old, tmp_path, opened, monkeypatch):
    monkeypatch.setattr(folders, "lessons_of_this_edition", lambda language="en": old)
    for _ in range(2):
        said = CliRunner().invoke(app, ["start", str(tmp_path / "mine"), "--language", "zh_CN.UTF-8"])
        assert said.exit_code == 0, said.output
    assert folders.language_of(tmp_path / "mine") == "zh"


def test_without_jupyterlab_it_is_said_how_to_get_it(dpcourse, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert 'pip install "dpcourse[jupyter]"' in dpcourse("start", tmp_path / "m").stdout
