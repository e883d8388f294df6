"""For all tests: a progress folder of their own, and the seconds and peak memory of each notebook at the end."""

import os
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

_data = tempfile.TemporaryDirectory()
os.environ["DPCOURSE_DATA"] = _data.name

WEEKLY = bool(os.environ.get("DPCOURSE_WEEKLY"))
if not WEEKLY:  # tests run side by side: threads of torch and numpy would spend their time waiting for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")
hypothesis.settings.register_profile("commit", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.register_profile("weekly", deadline=None, max_examples=300, print_blob=True)
hypothesis.settings.load_profile("weekly" if WEEKLY else "commit")


def pytest_unconfigure():
    _data.cleanup()


def pytest_collection_modifyitems(config, items):
    """Leave out what only the weekly profile runs."""
    left_out = [] if WEEKLY else [item for item in items if item.get_closest_marker("weekly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left_out = set(left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: [not item.nodeid.startswith(longest) for longest in LONGEST])


LONGEST = ("tests/browser/", "solutions/05-", "lessons/05-")
"""What takes longest begins first, so that no worker is left waiting for it at the end."""


class WholeFiles(LoadFileScheduling):
    """One worker runs all of a file, so all cells of a notebook; and all browser tests, with one JupyterLab for them."""

    def _split_scope(self, nodeid):
        return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return WholeFiles(config, log) if config.getvalue("dist") == "loadfile" else None


MIB_PER_NOTEBOOK = 1536


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    """After each notebook cell, note the peak memory of its kernel, so that it travels with the report; bound it."""
    kernel = getattr(item.parent, "kernel", None)
    if kernel is not None:
        peak = _peak_memory(kernel.km.provisioner.pid)
        item.user_properties.append(("peak", peak))
        assert peak <= MIB_PER_NOTEBOOK, f"a notebook may take {MIB_PER_NOTEBOOK} MiB, this one took {peak:.0f}"


def _peak_memory(pid):
    """MiB; 0 where the system does not tell."""
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024
    except (OSError, TypeError):
        return 0.0


def pytest_terminal_summary(terminalreporter):
    seconds, peak = defaultdict(float), defaultdict(float)
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        notebook, cell, _ = getattr(report, "nodeid", "").partition(".ipynb::")
        if cell:
            seconds[notebook] += report.duration
            peak[notebook] = max(peak[notebook], dict(report.user_properties).get("peak", 0))
    if seconds:
        terminalreporter.section("notebooks: seconds, and peak memory of the kernel")
        for name in sorted(seconds):
            terminalreporter.line(f"{name:30} {seconds[name]:6.1f} s {peak[name]:7.0f} MiB")
