"""The set-up check: what this machine has, what it lacks, and one sentence that mends each lack."""

import html
import importlib.metadata
import os
import platform
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

INSTALL = "run `pip install -r requirements.txt` in the folder of the course, then restart the kernel"


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
    def ok(self):
        return all(finding.state != "missing" for finding in self.findings)

    @property
    def verdict(self):
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
            f"<tr><td style='text-align:left'>{marks[f.state]}</td><th scope='row' style='text-align:left'>{html.escape(f.what)}</th>"
            f"<td style='text-align:left'>{html.escape(f.said)}</td></tr>"
            for f in self.findings
        )
        return f"<table><tbody>{rows}</tbody></table><p><strong>{html.escape(self.verdict)}</strong></p>"


def report():
    """Look at Python, the packages, the memory, the disk, the GPU and the folder where progress is kept."""
    return Report((_python(), *_packages(), _memory(), _disk(), _gpu(), _data_folder()))


def _python():
    return Finding("Python", "ok", platform.python_version())  # pip has refused an older one


def _packages():
    """One finding for all packages that the course needs, from its own metadata, or one for each that is amiss."""
    from packaging.requirements import Requirement

    needs = [Requirement(line) for line in importlib.metadata.requires("dpcourse")]
    amiss = 0
    for need in needs:
        try:
            version = importlib.metadata.version(need.name)
        except importlib.metadata.PackageNotFoundError:
            amiss += 1
            yield Finding(need.name, "missing", INSTALL)
            continue
        if not need.specifier.contains(version, prereleases=True):
            amiss += 1
            yield Finding(need.name, "missing", f"{version} does not satisfy {need.specifier}: {INSTALL}")
    if not amiss:
        yield Finding("packages", "ok", f"all {len(needs)} are there: {', '.join(need.name for need in needs)}")


def _memory():
    import psutil

    free = psutil.virtual_memory().available / 2**30
    if free >= 1.5:
        return Finding("memory", "ok", f"{free:.1f} GiB free")
    return Finding(
        "memory",
        "note",
        f"{free:.1f} GiB free: shut down other notebooks (Running Terminals and Kernels) before lesson 05",
    )


def _disk():
    free = shutil.disk_usage(Path.home()).free / 2**30
    if free >= 0.5:
        return Finding("disk", "ok", f"{free:.1f} GiB free")
    return Finding("disk", "note", f"{free:.1f} GiB free: delete something before you download data in lesson 05")


def _gpu():
    if shutil.which("nvidia-smi"):
        return Finding("GPU", "ok", "an NVIDIA driver is installed")
    return Finding("GPU", "note", "none found; only lesson 05 can use one, and it runs without")


def _data_folder():
    from dpcourse.files import data_folder

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return Finding("progress", "ok", "can be saved")
    except OSError as error:
        return Finding(
            "progress",
            "missing",
            f"cannot be saved ({os.strerror(error.errno)}): set DPCOURSE_DATA to a folder that you may write to",
        )
