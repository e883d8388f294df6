"""Syntax of a newer Python than the grader's: nobody's mistake, as long as the notebook may have been right where it was written."""

import json
import sys

import pytest
from grading.kinds.making import WORKS, solved
from sandboxed import NEEDS_SANDBOX
from support import by_profile

from dpcourse.grading.collect.notebook import LARGE
from dpcourse.grading.judge import submission, versions
from dpcourse.grading.result import UNJUDGED
from dpcourse.grading.run import Limits, warm

pytestmark = pytest.mark.in_turn("seconds in a sandbox")

NEWEST = "3.14"  # on which the course runs
BROKEN = "def worst_posterior(prior, epsilon):\n    return prior +\n"
NEWER = {
    "a type of its own": "type Number = float\n" + WORKS,
    "a function of any type": WORKS.replace("worst_posterior(", "worst_posterior[T]("),
    "quotes in quotes": WORKS + 'print(f"{{"a": 1}["a"]}")',
    "a template": WORKS + 'print(t"{1 + 1}")',
    "errors without brackets": WORKS + "try: pass\nexcept ValueError, TypeError: pass",
}
SHOWN = [{"output_type": "error", "ename": "SyntaxError", "evalue": "", "traceback": []}]

older_here = pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows some of that syntax")


@pytest.fixture(scope="module", autouse=True)
def _warm_process():
    yield
    warm.close()


def written_by(version, cells):
    about = (
        {"language_info": {"codemirror_mode": {"name": "ipython", "version": 3}, "version": version}} if version else {}
    )
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}).encode()


def graded(content):
    return submission.grade(submission.Job(1, content, b"seed of the test", limits=Limits())).result


def of_posterior(result):
    return next(mark for mark in result.exercises if mark.id == "composition/worst_posterior")


def answered(code):
    return solved(worst_posterior=code)


@pytest.mark.one_case("each is graded in a sandbox")
@older_here
@NEEDS_SANDBOX
@pytest.mark.parametrize("code", by_profile("syntax of newer Pythons", list(NEWER.values())[:2], list(NEWER.values())))
def test_newer_syntax_is_not_graded_and_both_versions_are_named(code):
    unjudged = of_posterior(graded(written_by(f"{NEWEST}.1", answered(code))))
    assert unjudged.state == UNJUDGED
    assert f"Python {NEWEST}" in unjudged.fault
    assert f"Python {versions.OURS}" in unjudged.fault


@NEEDS_SANDBOX
@pytest.mark.parametrize(
    "version", [None, versions.OURS, "3.9.1", "3.99.0", "2.7", "x"], ids=lambda version: version or "none"
)
def test_a_syntax_error_is_one_where_no_newer_python_of_the_course_wrote_it(version):
    """Nobody writes 3.99; who says so has what everybody has."""
    result = graded(written_by(version, answered(BROKEN)))
    assert result.status == "graded"
    assert result.score == result.points - 2
    assert "SyntaxError" in of_posterior(result).message


@NEEDS_SANDBOX
def test_an_error_that_the_notebook_shows_was_one_there_too():
    cells = [each | {"outputs": SHOWN} if each["source"] == BROKEN else each for each in answered(BROKEN)]
    assert graded(written_by(NEWEST, cells)).status == "graded"


@NEEDS_SANDBOX
def test_what_no_answer_needs_may_be_in_any_syntax():
    cells = solved(first="type Number =", last=BROKEN.replace("worst", "best"))
    result = graded(written_by(NEWEST, cells))
    assert (result.status, result.score) == ("graded", result.points)


@older_here
@NEEDS_SANDBOX
def test_an_answer_that_lacks_what_a_newer_cell_defines_is_not_wrong():
    above, answer = (
        "type Number = float\ndef odds(p: Number): return p / (1 - p)",
        "return odds(prior) * math.exp(epsilon)",
    )
    cells = solved(first=above, worst_posterior=f"def worst_posterior(prior, epsilon):\n    {answer}")
    assert of_posterior(graded(written_by(NEWEST, cells))).state == UNJUDGED


def test_the_version_is_read_from_a_notebook_of_any_size_and_from_no_text_in_it():
    cells = solved(last='{"language_info": {"version": "3.99"}}')
    for version in ("3.13.2", "3.9"):
        content = written_by(version, cells)
        large = content.replace(b'"cells"', b'"a": "' + b"x" * LARGE + b'", "cells"', 1)
        assert versions.python_of(content) == versions.python_of(large) == ".".join(version.split(".")[:2])
    assert versions.python_of(written_by(None, cells)) is None
    for hostile in (
        b'"language_info": {' * 100_000,
        b'"language_info"' + b" " * 10**6,
        b'"language_info": {' + b"{}" * 10**6,
    ):
        assert versions.python_of(hostile) is None


def test_the_course_runs_on_the_newest():
    assert versions.newer_python_of(written_by("3.99", [])) is None
    assert versions._runs_on(NEWEST)
