"""For all tests: a progress folder of their own, and the seconds and peak memory of each notebook at the end."""

import functools
import importlib
import itertools
import os
import re
import tempfile
import zlib
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
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # a thread that spins while it waits takes processor time
by_profile("examples by hypothesis, where a test names none", 30, 300)
by_profile("examples by hypothesis are the same every time", True, False)
hypothesis.settings.register_profile("commit", deadline=None, derandomize=True, max_examples=30)
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


def pytest_ignore_collect(collection_path, config):
    """Do not even read a notebook whose turn it is not, unless somebody names it."""
    if collection_path.suffix == ".ipynb" and collection_path not in _asked():
        named = {config.invocation_params.dir / argument.partition("::")[0] for argument in config.args}
        return collection_path not in named or None
    return None


def pytest_collectstart(collector):
    """Of what a notebook shows as HTML and in plain text, nbval compares the text: it says the same."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("text/html",)


def pytest_collection_modifyitems(config, items):
    """Leave out what only the weekly profile runs."""
    _see_that_marks_have_reasons(items)
    if config.option.weekly:
        config.stash[ONLY_WEEKLY] = [item for item in items if _why_not_all(item)]
        items.clear()
        return
    left_out = [] if WEEKLY else [item for item in items if item.get_closest_marker("weekly")]
    notebooks = defaultdict(list)
    for item in items:
        if item.nodeid.startswith(("lessons/", "solutions/")):
            notebooks[item.path].append(item)
    for path, cells in notebooks.items():
        if (twin := _twin(path)) is not None:
            left_out += _run_in(twin, cells)
    if len(items) > A_WHOLE_RUN and not config.option.keyword:  # and nobody has asked for a test by name
        left_out += _but_for_a_share(set(items).difference(left_out), items)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left_out = set(left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: [not item.nodeid.startswith(longest) for longest in LONGEST])


def _why_not_all(item):
    """The mark that says why a commit does not always run this test, with all its cases; else None."""
    return next(filter(None, map(item.get_closest_marker, ("weekly", "one_case", "in_turn"))), None)


def _see_that_marks_have_reasons(items):
    for item in items:
        if (mark := _why_not_all(item)) and not (mark.args and isinstance(mark.args[0], str)):
            raise pytest.UsageError(
                f"{item.nodeid}: say why a commit does not run it, as in weekly('a minute of convolutions')"
            )


def _but_for_a_share(asked, items):
    """What is left of a test's cases without its share: others for each test, so that each exercise meets some law.

    Of many cases a commit asks every so-manieth, and one where a mark says that each takes long; a week asks its turn.
    """
    cases, left_out = defaultdict(list), set()
    for item in items:
        if not WEEKLY and item.get_closest_marker("in_turn") and (zlib.crc32(item.nodeid.encode()) + _turn()) % ONE_IN:
            left_out.add(item)
        elif item in asked and hasattr(item, "callspec") and not item.get_closest_marker("every_case"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for name, of in cases.items():
        offset, many = zlib.crc32(name.encode()), len(of) >= MANY_CASES
        one = not WEEKLY and of[0].get_closest_marker("one_case")
        parts = len(of) if one else min(SHARE, len(of)) if many else 1
        share = support.of_this_week(of, offset) if WEEKLY and many else of[offset % parts :: parts]
        left_out.update(set(of).difference(share))
    return left_out


@functools.cache
def _asked():
    """The notebooks whose turn it is.

    Of those that have a twin a commit asks lesson 00 alone, and never one that trains for more than a minute. `dpcourse build`
    has executed each, and says which are old.
    """
    every = [path for folder in ("lessons", "solutions") for path in sorted(ROOT.glob(f"{folder}/**/*.ipynb"))]
    notebooks = [path for path in every if not path.parent.name.startswith(".")]
    solved = [path for path in notebooks if _twin(path) is None and (WEEKLY or not path.name.startswith(TRAINS))]
    others = [path for path in notebooks if _twin(path) is not None]
    if WEEKLY:
        return {*solved, *support.of_this_week(others)}
    return {path for path in others if path.name.startswith("00-")}.union(solved[_turn() % ONE_IN :: ONE_IN])


@functools.cache
def _turn():
    """A number that follows from the code and the lessons: another after each change."""
    files = sorted([*ROOT.glob("dpcourse/**/*.py"), *ROOT.glob("solutions/*.md")])
    return zlib.crc32(b"".join(path.read_bytes() for path in files))


def _run_in(twin, cells):
    """Of the cells of a notebook, those that its twin has too, and that no cell needs which differs: there they run.

    In a blank lesson all that touches what a learner writes differs.
    """
    path = cells[0].path
    codes, others = ([cell.source for cell in _code(each)] for each in (path, twin))
    if len(cells) != len(codes):  # single cells, asked for by name
        return []
    differing = {i for i, (code, other) in enumerate(zip(codes, others, strict=True)) if code != other}
    if "lessons" in path.relative_to(ROOT).parts:
        differing = slices.touched(codes, differing)
    kept = slices.needed(codes, differing)
    return [cell for i, cell in enumerate(cells) if i not in kept]


def _twin(path):
    """The notebook that has the same cells: of a blank lesson the solved one, of a translated one the English; else None."""
    folder, *language, name = path.relative_to(ROOT).parts
    if folder == "lessons":
        return ROOT.joinpath("solutions", *language, name)
    return ROOT / "solutions" / name if language else None


def _code(notebook):
    return [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]


ONLY_WEEKLY = pytest.StashKey[list]()
ONE_IN = by_profile("tests marked `in_turn`, and notebooks of the solved English lessons: every so-manieth", 8, 1)
"""On a commit; which follows from the code, so that a change asks others."""

by_profile("blank and translated notebooks, of which those cells run that differ", 3, f"one in {support.WEEKS}")

MANY_CASES, A_WHOLE_RUN = 6, 3000
TRAINS = "06-"
by_profile("the English notebook that trains for more than a minute", 0, 1)
SHARE = by_profile(
    f"cases of a test that has {MANY_CASES} or more, in a run of all tests: every so-manieth", 16, support.WEEKS
)

LONGEST = (
    "tests/browser/", "tests/authoring/", "tests/grading/test_cohort.py", "tests/test_project.py", "tests/test_growing.py", "tests/grading/judge/",
    "tests/course/test_doors.py", "tests/course/test_power.py", "tests/grading/test_hostile.py", "tests/course/test_answers.py",
    "tests/course/test_every_exercise.py", "solutions/06-",
)  # fmt: skip
"""What takes longest begins first, so that no worker is left waiting for it at the end."""


class WholeFiles(LoadFileScheduling):
    """One worker runs all of a file, so all cells of a notebook; and all browser tests, with one JupyterLab for them.

    So it runs all tests of authoring, for which it reads the sources once.
    """

    def _split_scope(self, nodeid):
        return next(filter(nodeid.startswith, ("tests/browser/", "tests/authoring/")), super()._split_scope(nodeid))


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
    seconds, peak, of_files = defaultdict(float), defaultdict(float), defaultdict(float)
    reported = (reports for outcome, reports in terminalreporter.stats.items() if outcome != "deselected")
    for report in itertools.chain.from_iterable(reported):
        file, _, place = getattr(report, "nodeid", "").partition("::")
        if place:
            of_files[file] += getattr(report, "duration", 0.0)  # a warning took no time
        if getattr(report, "when", "") == "call":
            for line in dict(report.user_properties).get("behind", ()):
                terminalreporter.line(line)
        if place and file.endswith(".ipynb"):
            notebook = file.removesuffix(".ipynb")
            seconds[notebook] += report.duration
            peak[notebook] = max(peak[notebook], dict(report.user_properties).get("peak", 0))
    if seconds:
        terminalreporter.section("notebooks: seconds, and peak memory of the kernel")
        for name in sorted(seconds):
            terminalreporter.line(f"{name:30} {seconds[name]:6.1f} s {peak[name]:7.0f} MiB")
    if sum(of_files.values()) > 60:
        terminalreporter.section(f"all files: {sum(of_files.values()):.0f} s; those of more than 10 s")
        for file in sorted(of_files, key=of_files.get, reverse=True):
            if of_files[file] > 10:
                terminalreporter.line(f"{file:60} {of_files[file]:6.1f} s")


HOW = {"weekly": "", "one_case": "one on a commit: ", "in_turn": "in turn on a commit: "}


def _say_what_is_weekly(terminalreporter, items):
    """By file: tests that a commit leaves out, or asks one case of, with the reason; and what it has less of."""
    told = defaultdict(lambda: defaultdict(list))
    for item in items:
        mark = _why_not_all(item)
        name = getattr(item, "originalname", item.name) if mark in item.own_markers else "the whole file"
        told[item.path][name].append(HOW[mark.name] + mark.args[0])
    for file, _, what, commit, week in sorted(support.CHOICES):
        told[file][what].append(f"{commit} (week: {week})")
    for file in sorted(told):
        terminalreporter.section(str(file.relative_to(ROOT)))
        for name, reasons in told[file].items():
            cases = f" ({len(reasons)} cases)" if len(reasons) > 1 else ""
            terminalreporter.line(f"{name}{cases}: {', '.join(dict.fromkeys(reasons))}")
