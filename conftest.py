"""For all tests: a progress folder of their own, and the seconds and peak memory of each notebook at the end."""

import importlib
import itertools
import os
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import hypothesis
import nbformat
import psutil
import pytest
import slices
import support
from support import ROOT, WEEKLY, by_profile
from xdist.scheduler import LoadFileScheduling

_data = tempfile.TemporaryDirectory()
os.environ["DPCOURSE_DATA"] = _data.name

by_profile("numpy and torch: threads", 1, "as many as the machine has")
if not WEEKLY:  # tests run side by side: threads of torch and numpy would spend their time waiting for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")
by_profile("examples by hypothesis, where a test names none", 60, 300)
by_profile("examples by hypothesis are the same every time", True, False)
hypothesis.settings.register_profile("commit", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.register_profile("weekly", deadline=None, max_examples=300, print_blob=True)
hypothesis.settings.load_profile("weekly" if WEEKLY else "commit")


def pytest_addoption(parser):
    parser.addoption("--weekly", action="store_true", help="say what a commit does not run, and why; run nothing")


def pytest_configure(config):
    """Build matplotlib's cache of fonts once, before the workers and kernels begin: each would build it, and say so."""
    if not hasattr(config, "workerinput"):
        importlib.import_module("matplotlib.font_manager")


def pytest_unconfigure():
    _data.cleanup()


def pytest_collectstart(collector):
    """Of what a notebook shows as HTML and in plain text, nbval compares the text: it says the same."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("text/html",)


def pytest_collection_modifyitems(config, items):
    """Leave out what only the weekly profile runs."""
    _see_that_marks_have_reasons(items)
    if config.option.weekly:
        config.stash[ONLY_WEEKLY] = [item for item in items if item.get_closest_marker("weekly")]
        items.clear()
        return
    left_out = [] if WEEKLY else [item for item in items if item.get_closest_marker("weekly")]
    translated = [] if WEEKLY else [item for item in items if TRANSLATED.match(item.nodeid)]
    blank = [] if WEEKLY else [item for item in items if item.nodeid.startswith("lessons/") and item not in translated]
    several = len({item.parent for item in blank}) > 1  # and not one lesson, asked for by name
    seldom = [item for item in blank if several and not item.nodeid.startswith(BLANK)]
    left_out += seldom + _run_in_solutions([item for item in blank if item not in seldom])
    if len({item.parent for item in translated}) > 1:
        left_out += _run_in_english(translated)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left_out = set(left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: [not item.nodeid.startswith(longest) for longest in LONGEST])


def _see_that_marks_have_reasons(items):
    for item in items:
        if (mark := item.get_closest_marker("weekly")) and not (mark.args and isinstance(mark.args[0], str)):
            raise pytest.UsageError(
                f"{item.nodeid}: say why a commit does not run it, as in weekly('a minute of convolutions')"
            )


def _run_in_solutions(items):
    """Of the cells of the blank lessons, those that neither touch what a learner writes nor are needed by what does.

    They are the same in the solved lesson, and have the same there to work with: there they run.
    """
    left_out = []
    for lesson, cells in itertools.groupby(items, key=lambda item: item.parent):
        cells = list(cells)
        codes, solved = ([cell.source for cell in _code(path)] for path in (lesson.path, _solved(lesson.path)))
        if len(cells) == len(codes):  # and not single cells, asked for by name
            written = {i for i, (code, other) in enumerate(zip(codes, solved, strict=True)) if code != other}
            kept = slices.needed(codes, slices.touched(codes, written))
            left_out += [cell for i, cell in enumerate(cells) if i not in kept]
    return left_out


def _run_in_english(items):
    """Of the cells in other languages, all but those of one lesson that differ from the English ones, and what they need."""
    left_out = []
    for notebook, group in itertools.groupby(items, key=lambda item: item.parent):
        cells, kept = list(group), set()
        if cells[0].nodeid.startswith("solutions/") and notebook.path.name.startswith("00-"):
            codes, english = (
                [cell.source for cell in _code(path)] for path in (notebook.path, _english(notebook.path))
            )
            kept = slices.needed(
                codes, {i for i, (code, other) in enumerate(zip(codes, english, strict=True)) if code != other}
            )
        left_out += [cell for i, cell in enumerate(cells) if i not in kept]
    return left_out


def _english(translated):
    return translated.parents[1] / translated.name


def _code(notebook):
    return [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]


def _solved(lesson):
    return lesson.parents[1] / "solutions" / lesson.name


ONLY_WEEKLY = pytest.StashKey[list]()
BLANK = (
    by_profile(
        "blank lessons, and of them the cells that touch what a learner writes, or all",
        ("lessons/00-", "lessons/06-"),
        None,
    )
    or ()
)
by_profile(
    "notebooks in other languages: of one solved lesson the cells that differ from the English ones, or all", 1, None
)
"""The blank lessons that run on a commit; `dpcourse build` has executed all of them, and says which are out of date."""

TRANSLATED = re.compile(r"(?:lessons|solutions)/\w+/")
"""Notebooks in another language than English: of these only the first runs on a commit, in part."""

LONGEST = ("tests/grading/test_cohort.py", "tests/browser/", "tests/test_project.py", "solutions/06-", "lessons/06-")
"""What takes longest begins first, so that no worker is left waiting for it at the end."""


class WholeFiles(LoadFileScheduling):
    """One worker runs all of a file, so all cells of a notebook; and all browser tests, with one JupyterLab for them."""

    def _split_scope(self, nodeid):
        return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return WholeFiles(config, log) if config.getvalue("dist") == "loadfile" else None


MIB_PER_NOTEBOOK = 1536
SECONDS_PER_CELL = 60


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Of each notebook cell, note its seconds of processor time and its kernel's peak memory; bound both.

    nbval's own limit is one of the clock, and only ends what never would: a slow machine is no failure.
    """
    kernel = getattr(item.parent, "kernel", None)
    if kernel is None:
        return (yield)
    process = psutil.Process(kernel.km.provisioner.pid)
    before = _seconds_of(process)
    result = yield
    seconds, peak = _seconds_of(process) - before, _peak_memory(process.pid)
    item.user_properties.append(("peak", peak))
    assert peak <= MIB_PER_NOTEBOOK, f"a notebook may take {MIB_PER_NOTEBOOK} MiB, this one took {peak:.0f}"
    assert seconds <= SECONDS_PER_CELL, f"a cell may take {SECONDS_PER_CELL} s, this one took {seconds:.0f}"
    return result


def _seconds_of(process):
    """Of processor time, in it and in its children that have ended."""
    return sum(process.cpu_times()[:4])


def _peak_memory(pid):
    """MiB; 0 where the system does not tell."""
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024
    except (OSError, TypeError):
        return 0.0


def pytest_terminal_summary(terminalreporter, config):
    if config.option.weekly:
        _say_what_is_weekly(terminalreporter, config.stash.get(ONLY_WEEKLY, []))
        return
    seconds, peak = defaultdict(float), defaultdict(float)
    reported = (reports for outcome, reports in terminalreporter.stats.items() if outcome != "deselected")
    for report in itertools.chain.from_iterable(reported):
        if getattr(report, "when", "") == "call":
            for line in dict(report.user_properties).get("behind", ()):
                terminalreporter.line(line)
        notebook, cell, _ = getattr(report, "nodeid", "").partition(".ipynb::")
        if cell:
            seconds[notebook] += report.duration
            peak[notebook] = max(peak[notebook], dict(report.user_properties).get("peak", 0))
    if seconds:
        terminalreporter.section("notebooks: seconds, and peak memory of the kernel")
        for name in sorted(seconds):
            terminalreporter.line(f"{name:30} {seconds[name]:6.1f} s {peak[name]:7.0f} MiB")


def _say_what_is_weekly(terminalreporter, items):
    """By file: tests that a commit leaves out, with the reason; and what it has less of."""
    told = defaultdict(lambda: defaultdict(list))
    for item in items:
        name = getattr(item, "originalname", item.name)
        told[item.path][name].append(item.get_closest_marker("weekly").args[0])
    for file, _, what, commit, week in sorted(support.CHOICES):
        told[file][what].append(f"{commit} (week: {week})")
    for file in sorted(told):
        terminalreporter.section(str(file.relative_to(ROOT)))
        for name, reasons in told[file].items():
            cases = f" ({len(reasons)} cases)" if len(reasons) > 1 else ""
            terminalreporter.line(f"{name}{cases}: {', '.join(dict.fromkeys(reasons))}")
