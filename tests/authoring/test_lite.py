"""JupyterLite: what `jupyter lite build` is given. That it builds a site of this was tried by hand."""

import json

import nbformat
import pytest
from support import ROOT
from typer.testing import CliRunner

from dpcourse.authoring import lite
from dpcourse.commands import app


@pytest.fixture
def no_wheel(monkeypatch):
    """tests/test_wheel.py builds it."""
    monkeypatch.setattr(lite, "_build_wheel", lambda course, folder: (folder / "dpcourse-1-py3-none-any.whl").touch())


@pytest.mark.usefixtures("no_wheel")
def test_the_folder_holds_the_lessons_that_need_no_pytorch_and_each_installs_the_course(tmp_path):
    said = CliRunner().invoke(app, ["site", "--lite", str(tmp_path / "lite"), "--course", str(ROOT)])
    assert said.exit_code == 0, said.output
    assert "00-start-here, 01-composition, 02-laplace, 03-gdp, 04-clt, glossary" in said.output
    assert json.loads((tmp_path / "lite/jupyter_lite_config.json").read_text())["LiteBuildConfig"]["contents"] == ["files"]  # fmt: skip
    assert [file.name for file in (tmp_path / "lite/pypi").iterdir()] == ["dpcourse-1-py3-none-any.whl"]
    for file in (tmp_path / "lite/files").iterdir():
        notebook = nbformat.read(file, 4)
        nbformat.validate(notebook)
        code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        assert [source for source in code if source.startswith("%pip")] == code[:1]
        assert not code or code[0] == "%pip install -q dpcourse"
        original = nbformat.read(ROOT / "lessons" / file.name, 4)
        assert [cell for cell in notebook.cells if cell.id != "install"] == original.cells


def test_a_wheel_that_cannot_be_built_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(lite.subprocess, "run", lambda *command, **how: type("Done", (), {"returncode": 1, "stderr": "no setuptools"}))  # fmt: skip
    with pytest.raises(ValueError, match=r"pip makes no wheel of .*: no setuptools"):
        lite.write(ROOT, tmp_path / "lite")
    assert not list(tmp_path.iterdir())
