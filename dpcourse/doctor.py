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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CONTAINER = Path("/sys/fs/cgroup")
PIP = f"{subprocess.list2cmdline([sys.executable or 'python'])} -m pip"  # also where the environment is not activated
INSTALL = f"run `{PIP} install dpcourse`, which installs what is lacking, then restart the kernel"
FOR_LEARNERS = {"jupyter": "to open the lessons in JupyterLab", "torch": "for lessons 05 to 07"}
"""The extras of the package that a learner may want, and what for; the others are for instructors and authors."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `state` is "ok", "note" (the course works without it) or "missing"."""

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
        return (
            "This machine is ready."
            if self.ok
            else "Something is missing. Mend the lines marked MISSING, from the top."
        )

    def __repr__(self):
        return "\n".join([f"{f.state.upper():8}{f.what}: {f.said}" for f in self.findings] + [self.verdict])

    def _repr_html_(self):
        marks = {"ok": "✓ ok", "note": "○ note", "missing": "✗ MISSING"}
        rows = "".join(
            f"<tr><td style='text-align:left;white-space:nowrap'>{marks[f.state]}</td><th scope='row' style='text-align:left'>{html.escape(f.what)}</th>"
            f"<td style='text-align:left'>{html.escape(f.said)}</td></tr>"
            for f in self.findings
        )
        return f"<table><tbody>{rows}</tbody></table><p><strong>{html.escape(self.verdict)}</strong></p>"


def report(*more: Callable[[], Finding]) -> Report:
    """Look at Python, the packages, the memory, the disk, the GPU and the folder where progress is kept.

    more: functions, each of which looks at one more thing. Where a package is amiss, the rest, which may need it, waits.
    """
    first = (_python(), *_packages())
    if any(finding.state == "missing" for finding in first):
        return Report(first)
    return Report((*first, *(look() for look in (_memory, _disk, _gpu, _data_folder, *more))))


def _python():
    return Finding("Python", "ok", platform.python_version())  # pip has refused an older one


def _packages():
    """One finding for all packages that the course needs, from its own metadata, or one for each that is amiss.

    What only some lessons need is a note for each extra of the package.
    """
    from packaging.requirements import Requirement

    there, amiss, wanting = [], [], {}
    for need in map(Requirement, importlib.metadata.requires("dpcourse")):
        extra = need.marker and next((name for name in FOR_LEARNERS if need.marker.evaluate({"extra": name})), None)
        if need.marker and not extra:
            continue
        lacks = _lacks(need)
        if lacks is None:
            there.append(f"{need.name} {importlib.metadata.version(need.name)}")
        elif extra:
            wanting.setdefault(extra, []).append(f"{need.name} {lacks}")
        else:
            amiss.append(Finding(need.name, "missing", f"{lacks}: {INSTALL}"))
    notes = [
        Finding(extra, "note", f'{FOR_LEARNERS[extra]} run `{PIP} install "dpcourse[{extra}]"`: {", ".join(lacks)}')
        for extra, lacks in wanting.items()
    ]
    return [*(amiss or [Finding("packages", "ok", f"{len(there)} are there: {', '.join(there)}")]), *notes]


def _lacks(need):
    """What is wrong with a package that is needed, in words; None where it is as it should be."""
    try:
        version = importlib.metadata.version(need.name)
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"
    return (
        None if need.specifier.contains(version, prereleases=True) else f"{version} does not satisfy {need.specifier}"
    )


def _memory():
    try:
        free = _free_memory() / 2**30
    except ImportError:
        return Finding("memory", "note", "not looked at without psutil; lesson 06 takes 1.5 GiB")
    if free >= 1.5:
        return Finding("memory", "ok", f"{free:.1f} GiB free")
    return Finding(
        "memory",
        "note",
        f"{free:.1f} GiB free: shut down other notebooks (Running Terminals and Kernels) before lesson 06",
    )


def _free_memory():
    """Bytes; in a container, as on Binder, what its limit leaves."""
    import psutil

    free = psutil.virtual_memory().available
    with contextlib.suppress(OSError, KeyError, ValueError):  # no container, or one without a limit
        used = dict(line.split() for line in (CONTAINER / "memory.stat").read_text().splitlines())
        free = min(free, int((CONTAINER / "memory.max").read_text()) - int(used["anon"]))
    return free


def _disk():
    from dpcourse.files import data_folder

    folder = data_folder()
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free / 2**30
    if free >= 0.5:
        return Finding("disk", "ok", f"{free:.1f} GiB free")
    return Finding("disk", "note", f"{free:.1f} GiB free: delete something before you download data in lesson 06")


def _gpu():
    """What the driver says, and for what PyTorch was built; importing PyTorch would take seconds."""
    without = "only lesson 06 can use one, and it runs without"
    if shutil.which("nvidia-smi") is None:
        return Finding("GPU", "note", f"none found; {without}")
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        names = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return Finding("GPU", "note", f"the driver does not answer: restart the machine, or install it anew; {without}")
    if not names:
        return Finding("GPU", "note", f"the driver finds none; {without}")
    cuda = _cuda_of_pytorch()
    if cuda is None:
        mend = "to use it, install PyTorch as its start page says for CUDA"
        return Finding("GPU", "note", f"{names.splitlines()[0]}, but this PyTorch is built for CPUs: {mend}; {without}")
    return Finding("GPU", "ok", f"{', '.join(names.splitlines())}; PyTorch for CUDA {cuda}")


def _cuda_of_pytorch():
    """The version of CUDA that the installed PyTorch is built for; None where for none."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return None
    told = re.search(r"^cuda\b.*= '(.+)'$", Path(found.origin).with_name("version.py").read_text("utf-8"), re.MULTILINE)
    return told and told[1]


def _data_folder():
    from dpcourse.files import data_folder

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(2**16))
        return Finding("progress", "ok", "can be saved")
    except OSError as error:
        mend = "free some space, or set DPCOURSE_DATA to a folder that you may write to"
        return Finding("progress", "missing", f"cannot be saved ({os.strerror(error.errno)}): {mend}")
