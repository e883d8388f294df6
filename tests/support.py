"""What several test files share: the reference values, and what a commit does not run (`pytest --weekly` says it)."""

import datetime
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import hypothesis

ROOT = Path(__file__).parents[1]
WEEKLY = bool(os.environ.get("DPCOURSE_WEEKLY"))
reference = json.loads((ROOT / "tests/reference.json").read_text(encoding="utf-8"))


TOPICS = re.findall(
    r"`([a-z_]+)/?`",
    re.search(r"the topics of mathematics \((.*?)\)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))[1],
)
"""The topics of mathematics, as CONTRIBUTING names them."""


class Choice(NamedTuple):
    """Something of which the week has more, or another kind, than a commit: file and line, and both in words."""

    file: Path
    line: int
    what: str
    commit: str
    week: str


CHOICES: set[Choice] = set()


def by_profile(what, commit, week, above=1):
    """`commit`, or `week` in the weekly profile; what: of what, in words.

    To be called while a module is imported, since `pytest --weekly` runs no test. above: how many frames up it is named.
    """
    CHOICES.add(Choice(*_caller(above + 1), what, _in_words(commit), _in_words(week)))
    return week if WEEKLY else commit


def _caller(above=2):
    """File and line of who called, so many frames up."""
    frame = sys._getframe(above)
    return Path(frame.f_code.co_filename), frame.f_lineno


def by_turns(what, commit, everything):
    """Of these `commit` on a commit, and in a week its part (`of_this_week`)."""
    CHOICES.add(Choice(*_caller(), what, _in_words(commit), f"{_in_words(everything)} in {WEEKS} weeks"))
    return of_this_week(everything) if WEEKLY else commit


def _in_words(amount):
    if isinstance(amount, bool) or amount is None:
        return {False: "no", True: "yes", None: "all"}[amount]
    return str(len(amount) if isinstance(amount, (list, tuple, range, set)) else amount)


WEEKS = 4
"""Of what has many cases a week asks one in so many: after as many weeks all were asked."""


def of_this_week(everything, offset=0):
    """The part of these that this week asks, at least one; all, if DPCOURSE_WEEKLY says so. offset: where the weeks begin.

    >>> len(of_this_week(range(100))) in (25, 100)
    True
    """
    parts = 1 if os.environ.get("DPCOURSE_WEEKLY") == "all" else min(WEEKS, len(everything) or 1)
    return list(everything)[(offset + datetime.date.today().isocalendar().week) % parts :: parts]


def examples(week, part=6, **settings):
    """For hypothesis: that many examples in the week, one in `part` of them on a commit."""
    count = by_profile("examples by hypothesis", math.ceil(week / part), week, above=2)
    return hypothesis.settings(max_examples=count, **settings)
