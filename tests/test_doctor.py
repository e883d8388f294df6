"""The set-up check: every lack is named with the sentence that mends it."""

import importlib.metadata
import shutil
from types import SimpleNamespace

import psutil
import pytest
from typer.testing import CliRunner

from dpcourse import doctor
from dpcourse.classroom.cli import app


def finding(what):
    return next(found for found in doctor.report().findings if found.what == what)


def test_this_machine_is_ready():
    report = doctor.report()
    assert report.ok, repr(report)
    assert "numpy" in finding("packages").said
    assert repr(report).endswith("This machine is ready.")
    assert "✓ ok" in report._repr_html_()


def test_a_missing_and_an_old_package(monkeypatch):
    def version(name):
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError
        return "0.1" if name == "scipy" else "99"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert finding("torch").state == "missing"
    assert "pip install -r requirements.txt" in finding("torch").said
    assert finding("scipy").said.startswith("0.1 does not satisfy >=")
    assert "MISSING" in repr(doctor.report())
    assert not doctor.report().ok
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 1


def test_little_memory_and_disk_are_notes(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**29))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
    assert (finding("memory").state, finding("disk").state) == ("note", "note")
    assert finding("memory").said.startswith("0.5 GiB free: shut down other notebooks")
    assert doctor.report().ok


@pytest.mark.parametrize(("path", "state"), [("/usr/bin/nvidia-smi", "ok"), (None, "note")])
def test_a_gpu_is_not_needed(monkeypatch, path, state):
    monkeypatch.setattr(shutil, "which", lambda name: path)
    assert finding("GPU").state == state


def test_a_data_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "file"))
    assert finding("progress").state == "missing"
    assert "set DPCOURSE_DATA to a folder" in finding("progress").said
