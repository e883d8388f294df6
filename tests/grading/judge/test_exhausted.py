"""A limit that is met is no wrong answer, however an error tells of it: with a higher one the same is right."""

import json

import pytest
from sandboxed import NEEDS_SANDBOX

from dpcourse.checking import ERROR, RIGHT
from dpcourse.grading.judge import submission
from dpcourse.grading.judge.exhausted import limit_in
from dpcourse.grading.judge.submission import Job, allowed
from dpcourse.grading.run import Limits, warm
from dpcourse.grading.run.watch import TOO_MANY_FILES, TOO_MANY_OPEN, TOO_MANY_PROCESSES, TOO_MUCH_MEMORY

pytestmark = pytest.mark.in_turn("seconds in a sandbox")

MEMORY = (
    "MemoryError: ",
    "_ArrayMemoryError: Unable to allocate 74.5 GiB for an array with shape (10000000000,) and data type float64",
    "ArrowMemoryError: malloc of size 1099511627776 failed",
    "ImportError: libtorch_python.so: failed to map segment from shared object",
    "OSError: libcublasLt.so.13: cannot map zero-fill pages: Cannot allocate memory",
    "OSError: [Errno 12] Cannot allocate memory",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried",
    "RuntimeError: std::bad_alloc",
)
PROCESSES = (
    "RuntimeError: can't start new thread",
    "BlockingIOError: [Errno 11] Resource temporarily unavailable",
)
OPEN = ("OSError: [Errno 24] Too many open files: '/dev/null'", "FileNotFoundError: [Errno 23] file table")
FILES = ("OSError: [Errno 28] No space left on device", "OSError: [Errno 27] File too large")
OTHERS = (
    "ValueError: math domain error",
    "FileNotFoundError: [Errno 2] No such file or directory: 'MemoryError'",
    "NameError: name 'x' is not defined",
    "ImportError: libgomp.so.1: cannot allocate memory in static TLS block",
    "OSError: [Errno 121] Remote I/O error",
)


@pytest.mark.parametrize(
    ("limit", "errors"),
    [
        (TOO_MUCH_MEMORY, MEMORY),
        (TOO_MANY_PROCESSES, PROCESSES),
        (TOO_MANY_OPEN, OPEN),
        (TOO_MANY_FILES, FILES),
        (None, OTHERS),
    ],
)
def test_an_error_tells_of_its_limit(limit, errors):
    assert {error: limit_in([error]) for error in errors} == dict.fromkeys(errors, limit)


def test_a_limit_is_found_in_whatever_was_raised_since():
    assert limit_in(["RuntimeError: no model", "ImportError: no torch", *MEMORY[:1]]) == TOO_MUCH_MEMORY
    assert limit_in([]) is None


IMPORTS = "import math, mmap, os\nimport numpy as np\nfrom dpcourse import check"
WRITTEN = "def keep_probability(epsilon):\n    {first}\n    return math.exp(epsilon) / (1 + math.exp(epsilon))"
CHECK = 'check("0.1", keep_probability)'
ARRAY = "np.empty(400 * 2**20, np.uint8)"  # which takes no time: nothing is written into it
MADE = {  # a way in which one array is too much -> the cells
    "in an answer": [WRITTEN.format(first=ARRAY)],
    "by number": [WRITTEN.format(first="mmap.mmap(-1, 400 * 2**20, mmap.MAP_PRIVATE)")],
    "wrapped in an answer": [
        WRITTEN.format(first=f"try: {ARRAY}\n    except MemoryError as error: raise ValueError('no') from error")
    ],
    "in its cell": [ARRAY + "\n" + WRITTEN.format(first="")],
    "in another cell": [f"held = {ARRAY}", WRITTEN.format(first="len(held)")],
    "wrapped": [
        f"try: {ARRAY}\nexcept MemoryError as error: raise ImportError('no') from error\n" + WRITTEN.format(first="")
    ],
}

ON_A_COMMIT = ("wrapped in an answer", "in another cell")
SECONDS = pytest.mark.weekly("two gradings each; an answer and a cell show the way")


@pytest.fixture(scope="module", autouse=True)
def _one_warm_process():
    yield
    warm.close()


def graded(cells, memory):
    given = [{"cell_type": "code", "source": code, "metadata": {}, "outputs": []} for code in (IMPORTS, *cells, CHECK)]
    notebook = json.dumps({"cells": given, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    limits = Limits(cell_seconds=20, memory=memory * 2**20)
    return submission.grade(
        Job(0, notebook, b"seed", limits=limits, exercises=("start_here/keep_probability",))
    ).result, allowed(limits)


@NEEDS_SANDBOX
@pytest.mark.parametrize(
    "cells", [pytest.param(cells, id=how, marks=() if how in ON_A_COMMIT else SECONDS) for how, cells in MADE.items()]
)
def test_what_a_limit_took_is_graded_again_with_a_higher_one(cells):
    found, limits = graded(cells, 300)
    assert (found.status, found.score, found.limits) == ("limit", 0, limits)
    assert [mark.state for mark in found.exercises] == [ERROR]
    assert any(TOO_MUCH_MEMORY in note for note in found.notes)
    found, _ = graded(cells, 1000)
    assert ([mark.state for mark in found.exercises], found.status, found.limits) == ([RIGHT], "graded", ())


@NEEDS_SANDBOX
def test_a_limit_that_takes_no_mark_is_none():
    found, _ = graded([WRITTEN.format(first=""), "raise MemoryError"], 300)
    assert (found.status, found.limits, found.notes) == ("graded", (), ())
