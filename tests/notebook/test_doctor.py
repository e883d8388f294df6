"""The set-up check: every lack is named with the sentence that mends it."""

import importlib.metadata
import runpy
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import psutil
import pytest
from sandboxed import NEEDS_SANDBOX
from typer.testing import CliRunner

from dpcourse.base.files import data_folder
from dpcourse.commands import app
from dpcourse.grading.run import bubblewrap, readiness, warm
from dpcourse.notebook import doctor


def finding(what):
    return next(found for found in doctor.report().findings if found.what == what)


def test_this_machine_is_ready():
    report = doctor.report()
    assert report.ok, repr(report)
    assert f"numpy {importlib.metadata.version('numpy')}" in finding("packages").said
    assert repr(report).endswith("This machine is ready.")
    assert "✓ ok" in report._repr_html_()


def test_a_missing_and_an_old_package(monkeypatch):
    def version(name):
        if name == "ipywidgets":
            raise importlib.metadata.PackageNotFoundError
        return "0.1" if name == "scipy" else "99"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert finding("ipywidgets").state == "missing"
    assert f"{sys.executable} -m pip install dpcourse`" in finding("ipywidgets").said
    assert finding("scipy").said.startswith("0.1 does not satisfy >=")
    assert "MISSING" in repr(doctor.report())
    assert not doctor.report().ok
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 1


def test_what_only_some_lessons_need_is_a_note(monkeypatch):
    version = importlib.metadata.version
    lacks = {"torch": "no-such-package", "pooch": "no-such-package", "jinja2": "no-such-package"}
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version(lacks.get(name, name)))
    assert finding("torch").state == "note"
    assert finding("torch").said == f'for lessons from 05 on run `{sys.executable} -m pip install "dpcourse[torch]"`: pooch is not installed, torch is not installed'  # fmt: skip
    assert finding("packages").state == "ok"
    assert doctor.report().ok
    assert "jinja2" not in repr(doctor.report())  # for instructors and authors


def test_what_only_some_platforms_need_is_no_extra(monkeypatch):
    needs = ["numpy>=2.0", 'scipy>=1; sys_platform != "elsewhere"', 'no-such-package; sys_platform == "elsewhere"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: [*needs, 'torch>=99; extra == "torch"'])
    assert finding("packages").said.startswith("2 are there: numpy")
    assert finding("torch").state == "note"
    assert doctor.report().ok


def test_in_a_browser_tab_there_is_nothing_but_the_packages_to_look_at(monkeypatch):
    needs = ["numpy>=2.0", 'torch>=99; extra == "torch"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: needs)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert [found.what for found in doctor.report().findings] == ["Python", "packages"], "no PyTorch, no disk"


def test_what_a_missing_package_breaks_is_not_looked_at():
    """platformdirs cannot be imported, and the check, which needs it for the folder of progress, says so."""
    code = """
import importlib.metadata, sys
version = importlib.metadata.version
importlib.metadata.version = lambda name: version("no-such-package" if name == "platformdirs" else name)
from dpcourse.notebook.doctor import report
sys.modules["dpcourse.base.files"] = None
print(report())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"MISSING platformdirs: is not installed: run `{sys.executable} -m pip install" in done.stdout


def environment(folder, *holds):
    """A folder like that of an environment, with these labextensions and JupyterLab."""
    for place in ("share/jupyter/lab", *(f"share/jupyter/labextensions/{name}" for name in holds)):
        (folder / place).mkdir(parents=True)
    return folder


MANAGER = "@jupyter-widgets/jupyterlab-manager"


@pytest.mark.parametrize(
    ("command", "holds", "state"),
    [
        (["{}/bin/python", "-m", "jupyterlab"], [], "missing"),
        (["{}/bin/python", "-m", "jupyterlab"], [MANAGER], "ok"),
        (["/elsewhere/python", "{}/bin/jupyter-lab"], ["jupyterlab_pygments"], "missing"),
        (["{}/python.exe", "-m", "jupyterlab"], [], "missing"),  # as conda has it on Windows
    ],
)
def test_the_jupyterlab_that_has_started_the_kernel_shows_sliders_if_it_has_the_manager(
    command, holds, state, tmp_path, monkeypatch
):
    started_from = environment(tmp_path / "lab", *holds)
    parents = [SimpleNamespace(cmdline=lambda: [word.format(started_from) for word in command])]
    monkeypatch.setattr(psutil, "Process", lambda: SimpleNamespace(parents=lambda: parents))
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [f"{sys.prefix}/share/jupyter/labextensions"])
    assert (finding("sliders").state, doctor.report().ok) == (state, state == "ok")
    assert str(started_from) in finding("sliders").said
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path / "of the user")])
    (tmp_path / "of the user" / MANAGER).mkdir(parents=True)
    assert finding("sliders").state == "ok"


@pytest.mark.parametrize("parents", [[], [["node", "code"]], [["python", "-m", "pytest"]], [[]], None])
def test_where_no_jupyterlab_has_started_this_it_is_that_of_this_environment(parents, tmp_path, monkeypatch):
    def process():
        if parents is None:
            raise psutil.AccessDenied(1)
        return SimpleNamespace(
            parents=lambda: [SimpleNamespace(cmdline=lambda words=words: words) for words in parents]
        )

    monkeypatch.setattr(psutil, "Process", process)
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert finding("sliders").state == "note"
    environment(tmp_path)
    assert finding("sliders").state == "missing"
    assert "run `pip install jupyterlab_widgets` in that environment" in finding("sliders").said


def test_memory_that_cannot_be_looked_at_is_a_note(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert (finding("memory").state, doctor.report().ok) == ("note", True)


def test_little_memory_and_disk_are_notes(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**29))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
    assert (finding("memory").state, finding("disk").state) == ("note", "note")
    assert finding("memory").said.startswith("0.5 GiB free: shut down other notebooks")
    assert finding("disk").said.startswith("0.0 GiB free: delete something")
    assert doctor.report().ok


@pytest.mark.parametrize(("limit", "said"), [(f"{2**31}", "1.0 GiB free"), ("max", "64.0 GiB free")])
def test_the_limit_of_a_container_counts(tmp_path, monkeypatch, limit, said):
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.stat").write_text(f"anon {2**30}\nfile {2**33}\n")
    monkeypatch.setattr(doctor, "CONTAINER", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**36))
    assert finding("memory").said.startswith(said)


def test_the_disk_is_that_of_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "not" / "there"))
    asked = []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: asked.append(path) or SimpleNamespace(free=2**40))
    assert finding("disk").state == "ok"
    assert asked == [tmp_path]


@pytest.mark.parametrize(
    ("driver", "cuda", "state", "said"),
    [
        (None, "12.8", "note", "none found; only lesson 06 can use one"),
        ("exit 9", "12.8", "note", "the driver does not answer: restart the machine"),
        ("true", "12.8", "note", "the driver finds none"),
        ("echo 'NVIDIA H200'", None, "note", "NVIDIA H200, but this PyTorch is built for CPUs: to use it, install"),
        ("echo 'NVIDIA H200'", "12.8", "ok", "NVIDIA H200; PyTorch for CUDA 12.8"),
    ],
)
def test_a_gpu_is_not_needed(tmp_path, monkeypatch, driver, cuda, state, said):
    """The driver is a program of ours, the build of PyTorch is told by a file like PyTorch's own."""
    if driver:
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{driver}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    (tmp_path / "version.py").write_text(f"__version__ = '2'\ncuda: Optional[str] = {cuda!r}\nhip = None\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin" if driver else str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: SimpleNamespace(origin=tmp_path / "__init__.py"))
    assert (finding("GPU").state, doctor.report().ok) == (state, True)
    assert finding("GPU").said.startswith(said)


def test_the_build_of_the_installed_pytorch():
    version = importlib.metadata.distribution("torch").locate_file("torch/version.py")
    assert doctor._cuda_of_pytorch() == runpy.run_path(version)["cuda"]


def test_a_data_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "file"))
    assert finding("progress").state == "missing"
    assert "set DPCOURSE_DATA to a folder" in finding("progress").said


@pytest.mark.parametrize("variable", ["HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"])
def test_a_home_folder_that_cannot_be_written(variable, tmp_path, monkeypatch):
    """Jupyter keeps in it what runs; said is what moves that elsewhere."""
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(variable, str(tmp_path / "file" / "within"))
    assert finding("folder of Jupyter").state == "missing"
    said = "(Not a directory), and without it neither JupyterLab nor a kernel starts: set {} to a folder that you may write"
    assert said.format(variable) in finding("folder of Jupyter").said
    monkeypatch.setenv(variable, str(tmp_path / "new"))
    assert "folder of Jupyter" not in repr(doctor.report())


def test_without_a_folder_for_temporary_files_that_is_said_alone(monkeypatch):
    """What would need one, as the sandbox does, is not looked at."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/nowhere"])
    told = CliRunner().invoke(app, ["doctor"])
    assert (told.exit_code, type(told.exception)) == (1, SystemExit)
    assert "MISSING temporary files: cannot be written" in told.stdout
    assert "grading" not in told.stdout


def test_a_full_disk(monkeypatch):
    """Of the data folder alone: in Jupyter's own a kernel that runs has its files."""
    make = tempfile.TemporaryFile
    full = lambda dir: open("/dev/full", "wb") if dir == data_folder() else make(dir=dir)  # noqa: E731, SIM115
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert finding("progress").said.startswith("cannot be saved (No space left on device): free some space")


def test_the_command_tells_instructors_about_the_sandbox(monkeypatch):
    """The first cell of lesson 00 does not."""
    assert "grading" not in {found.what for found in doctor.report().findings}
    monkeypatch.setattr(bubblewrap, "missing", lambda: None)
    monkeypatch.setattr(readiness, "fault", lambda: None)
    assert "OK      grading: bubblewrap makes sandboxes" in CliRunner().invoke(app, ["doctor"]).stdout
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "/nowhere")
    told = CliRunner().invoke(app, ["doctor"])
    assert told.exit_code == 0
    assert "NOTE    grading: no sandbox: bubblewrap is not installed (Debian and Ubuntu: `apt-get install bubblewrap`). Only instructors need one" in told.stdout  # fmt: skip


def test_a_bubblewrap_that_does_not_work(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho no permission >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "bubblewrap does not work here (no permission). It must be 0.8 or newer" in readiness.finding().said


@NEEDS_SANDBOX
def test_a_machine_is_ready_where_a_worker_runs_and_not_where_none_does(monkeypatch):
    """The reason why it does not is the worker's own."""
    assert (readiness.finding().state, readiness.fault()) == ("ok", None)
    monkeypatch.setattr(warm, "PYTHON", (*warm.PYTHON, "-S"))  # finds no packages
    found = readiness.finding()
    assert found.state == "missing"
    assert "no student's code runs in it (the warm process does not start: ModuleNotFoundError" in found.said
