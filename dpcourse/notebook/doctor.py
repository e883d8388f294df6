"""The set-up check: what this machine has, what it lacks, and one sentence that mends each lack."""

import contextlib
import html
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dpcourse.base.languages import listed, say, to_say

CONTAINER = Path("/sys/fs/cgroup")
PIP = f"{subprocess.list2cmdline([sys.executable or 'python'])} -m pip"  # also where the environment is not activated
FOR_LEARNERS = {"jupyter": to_say("to open the lessons in JupyterLab"), "torch": to_say("for lessons from 05 on")}
"""The extras of the package that a learner may want, and what for; the others are for instructors and authors."""

STATES = {"ok": to_say("OK"), "note": to_say("NOTE"), "missing": to_say("MISSING")}
MARKS = {"ok": to_say("✓ ok"), "note": to_say("○ note"), "missing": to_say("✗ MISSING")}


@dataclass(frozen=True)
class Finding:
    """The finding on one thing that was looked at: `state` is "ok", "note" (the course works without it) or "missing"."""

    what: str
    state: str
    said: str


@dataclass(frozen=True)
class Report:
    """All findings, as text and as HTML."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return all(finding.state != "missing" for finding in self.findings)

    @property
    def verdict(self) -> str:
        if self.ok:
            return say("This machine is ready.")
        return say("Something is missing. Mend the lines marked MISSING, from the top.")

    def __repr__(self):
        lines = [
            say("{state:8}{what}: {finding}", state=say(STATES[each.state]), what=each.what, finding=each.said)
            for each in self.findings
        ]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td style='text-align:left;white-space:nowrap'>{html.escape(say(MARKS[f.state]))}</td><th scope='row' style='text-align:left'>{html.escape(f.what)}</th>"
            f"<td style='text-align:left'>{html.escape(f.said)}</td></tr>"
            for f in self.findings
        )
        return f"<table><tbody>{rows}</tbody></table><p><strong>{html.escape(self.verdict)}</strong></p>"


def report(*more: Callable[[], Finding]) -> Report:
    """Look at Python, the packages, the sliders, the memory, the disk, the GPU and the folder where progress is kept.

    more: functions, each of which looks at one more thing. Where a package or the folder for temporary files is amiss, the
    rest, which may need it, waits; in a browser tab there is no rest.
    """
    first = (_python(), *_packages(), *_no_temporary_folder())
    if sys.platform == "emscripten" or any(finding.state == "missing" for finding in first):
        return Report(first)
    looks = (_sliders, _memory, _disk, _pytorch, _gpu, _data_folder, *more)
    return Report((*first, *no_folder_for_jupyter(), *(look() for look in looks)))


def _python():
    return Finding("Python", "ok", platform.python_version())  # pip has refused an older one


def _no_temporary_folder():
    """Yield a finding if temporary files cannot be written."""
    try:
        tempfile.gettempdir()
    except OSError:
        mend = say(
            "cannot be written: free some space there, or set TMPDIR (on Windows TEMP) to a folder that you may write to"
        )
        yield Finding(say("temporary files"), "missing", mend)


def no_folder_for_jupyter() -> Iterator[Finding]:
    """Yield a finding if the folder cannot be written, most often in the home folder, without which no kernel starts."""
    from jupyter_core.paths import jupyter_runtime_dir

    folder = Path(jupyter_runtime_dir())
    if why := _unwritable(folder):
        moved_by = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME")
        mend = say(
            "{folder} cannot be written ({why}), and without it neither JupyterLab nor a kernel starts: set {variable} to a "
            "folder that you may write to",
            folder=folder,
            why=why,
            variable=next((name for name in moved_by if os.environ.get(name)), "HOME"),
        )
        yield Finding(say("folder of Jupyter"), "missing", mend)


def _unwritable(folder):
    """Return why nothing can be written into a folder, which is made if it is not there; None where something can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # as Jupyter makes its own
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(2**16))
    except OSError as error:
        return os.strerror(error.errno)
    return None


def _packages():
    """Return one finding for all packages that the course's metadata require, or one for each that is amiss.

    An extra of the package, which only some lessons need, is a note.
    """
    from packaging.requirements import Requirement

    there, amiss, wanting = [], [], {}
    extras = [""] if sys.platform == "emscripten" else ["", *FOR_LEARNERS]  # a browser tab can have none
    for need in map(Requirement, importlib.metadata.requires("dpcourse")):
        wanting_it = [extra for extra in extras if not need.marker or need.marker.evaluate({"extra": extra})]
        if not wanting_it:
            continue
        extra = wanting_it[0]  # the empty one is what every lesson needs
        lacks = _lacks(need)
        if lacks is None:
            there.append(f"{need.name} {importlib.metadata.version(need.name)}")
        elif extra:
            wanting.setdefault(extra, []).append(say("{package} {lacks}", package=need.name, lacks=lacks))
        else:
            mend = say(
                "{lacks}: run `{pip} install dpcourse`, which installs what is lacking, then restart the kernel",
                lacks=lacks,
                pip=PIP,
            )
            amiss.append(Finding(need.name, "missing", mend))
    notes = [Finding(extra, "note", _wanted(extra, lacks)) for extra, lacks in wanting.items()]
    names = listed(there, "{first}, {then}")
    found = Finding(say("packages"), "ok", say("{number} are there: {packages}", number=len(there), packages=names))
    return [*(amiss or [found]), *notes]


def _wanted(extra, lacks):
    """Return what an extra of the package is for, and how to install it."""
    return say(
        '{purpose} run `{pip} install "dpcourse[{extra}]"`: {lacks}',
        purpose=say(FOR_LEARNERS[extra]),
        pip=PIP,
        extra=extra,
        lacks=listed(lacks, "{first}, {then}"),
    )


def _lacks(need):
    """Return what is wrong with a required package, in words; None where nothing is."""
    try:
        version = importlib.metadata.version(need.name)
    except importlib.metadata.PackageNotFoundError:
        return say("is not installed")
    if need.specifier.contains(version, prereleases=True):
        return None
    return say("{version} does not satisfy {needed}", version=version, needed=str(need.specifier))


def _sliders():
    """Return the finding on the widget manager of the JupyterLab that has started this process, or of this environment's."""
    from jupyter_core.paths import jupyter_path

    jupyterlab = _jupyterlab()
    if jupyterlab is None:
        needs = say("there is no JupyterLab in this environment; one elsewhere needs `jupyterlab_widgets` beside it")
        return Finding(say("sliders"), "note", needs)
    own = [jupyterlab / "share/jupyter/labextensions"]
    shared = [Path(folder) for folder in jupyter_path("labextensions") if not _is_in(folder, sys.prefix)]
    if any((folder / "@jupyter-widgets/jupyterlab-manager").is_dir() for folder in own + shared):
        return Finding(say("sliders"), "ok", say("the JupyterLab in {folder} shows them", folder=jupyterlab))
    mend = say(
        "the JupyterLab in {folder} cannot show them: run `pip install jupyterlab_widgets` in that environment, then start JupyterLab again",
        folder=jupyterlab,
    )
    return Finding(say("sliders"), "missing", mend)


def _jupyterlab():
    """Return the environment of the JupyterLab that started this process, else this environment if it has JupyterLab."""
    started_by = []
    with contextlib.suppress(ImportError, OSError):
        import psutil

        with contextlib.suppress(psutil.Error):
            started_by = [Path(word) for parent in psutil.Process().parents()[:3] for word in parent.cmdline()[:2]]
    around = [folder for path in started_by if path.is_absolute() for folder in (path.parent.parent, path.parent)]
    return next((folder for folder in (*around, Path(sys.prefix)) if (folder / "share/jupyter/lab").is_dir()), None)


def _is_in(path, folder):
    return Path(folder) in Path(path).parents


def _memory():
    try:
        free = _free_memory() / 2**30
    except ImportError:
        return Finding(say("memory"), "note", say("not looked at without psutil; lesson 06 takes 1.5 GiB"))
    if free >= 1.5:
        return Finding(say("memory"), "ok", say("{free:.1f} GiB free", free=free))
    mend = say(
        "{free:.1f} GiB free: shut down other notebooks (Running Terminals and Kernels) before lesson 06", free=free
    )
    return Finding(say("memory"), "note", mend)


def _free_memory():
    """Return the free bytes; in a container, as on Binder, what its limit leaves."""
    import psutil

    free = psutil.virtual_memory().available
    with contextlib.suppress(OSError, KeyError, ValueError):  # no container, or one without a limit
        used = dict(line.split() for line in (CONTAINER / "memory.stat").read_text().splitlines())
        free = min(free, int((CONTAINER / "memory.max").read_text()) - int(used["anon"]))
    return free


def _disk():
    from dpcourse.base.files import data_folder

    folder = data_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free / 2**30
    if free >= 0.5:
        return Finding(say("disk"), "ok", say("{free:.1f} GiB free", free=free))
    mend = say("{free:.1f} GiB free: delete something before you download data in lesson 06", free=free)
    return Finding(say("disk"), "note", mend)


def _pytorch():
    """Return the finding on what PyTorch's build takes, or would take; importing PyTorch to ask would take seconds."""
    if importlib.util.find_spec("torch") is None:
        free = shutil.disk_usage(sys.prefix).free / 2**30
        needs = say(
            "lessons from 05 on need it, and on Linux pip brings its build for GPUs: 5 GiB of disk, here {free:.1f} are free. "
            "Its build for CPUs takes 0.7 GiB, and is enough",
            free=free,
        )
        return Finding("PyTorch", "note", needs)
    if cuda := _cuda_of_pytorch():
        takes = say(
            "its build for CUDA {version}: 4.7 GB of disk. Each kernel that imports it takes 0.5 GiB of memory, and some "
            "seconds. Where that is too much, its build for CPUs is enough",
            version=cuda,
        )
    else:
        takes = say("its build for CPUs: 0.7 GB of disk. Each kernel that imports it takes 0.2 GiB of memory")
    return Finding("PyTorch", "ok", takes)


def _gpu():
    """Return the finding on the GPU: what the driver says, and what PyTorch was built for, without importing PyTorch."""
    without = say("only lesson 06 can use one, and it runs without")
    if shutil.which("nvidia-smi") is None:
        return Finding("GPU", "note", say("none found; {without}", without=without))
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        names = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        mend = say("the driver does not answer: restart the machine, or install it anew; {without}", without=without)
        return Finding("GPU", "note", mend)
    if not names:
        return Finding("GPU", "note", say("the driver finds none; {without}", without=without))
    cuda = _cuda_of_pytorch()
    if cuda is None:
        mend = say(
            "{gpu}, but this PyTorch is built for CPUs: to use it, install PyTorch as its start page says for CUDA; {without}",
            gpu=names.splitlines()[0],
            without=without,
        )
        return Finding("GPU", "note", mend)
    found = listed(names.splitlines(), "{first}, {then}")
    return Finding("GPU", "ok", say("{gpus}; PyTorch for CUDA {version}", gpus=found, version=cuda))


def _cuda_of_pytorch():
    """Return the version of CUDA that the installed PyTorch is built for; None where it is built for none."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return None
    told = re.search(r"^cuda\b.*= '(.+)'$", Path(found.origin).with_name("version.py").read_text("utf-8"), re.MULTILINE)
    return told and told[1]


def _data_folder():
    from dpcourse.base.files import data_folder

    if why := _unwritable(data_folder()):
        mend = say(
            "cannot be saved ({why}): free some space, or set DPCOURSE_DATA to a folder that you may write to", why=why
        )
        return Finding(say("progress"), "missing", mend)
    return Finding(say("progress"), "ok", say("can be saved"))
