"""For all tests: a progress folder of their own, and the seconds and peak memory of each notebook at the end."""

import os
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import hypothesis
import pytest

_data = tempfile.TemporaryDirectory()
os.environ["DPCOURSE_DATA"] = _data.name

WEEKLY = bool(os.environ.get("DPCOURSE_WEEKLY"))
if not WEEKLY:  # tests run side by side: threads of torch and numpy would spend their time waiting for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")
hypothesis.settings.register_profile("commit", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.register_profile("weekly", deadline=None, max_examples=300, print_blob=True)
hypothesis.settings.load_profile("weekly" if WEEKLY else "commit")


def pytest_collection_modifyitems(config, items):
    """Leave out what only the weekly profile runs."""
    left_out = [] if WEEKLY else [item for item in items if item.get_closest_marker("weekly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


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
