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
    caller = sys._getframe(above)
    file = Path(caller.f_code.co_filename)
    CHOICES.add(Choice(file, caller.f_lineno, what, _in_words(commit), _in_words(week)))
    return week if WEEKLY else commit


def _in_words(amount):
    if isinstance(amount, bool) or amount is None:
        return {False: "no", True: "yes", None: "all"}[amount]
    return str(len(amount) if isinstance(amount, (list, tuple, range, set)) else amount)


def in_turn(what, everything, parts):
    """One of so many parts of these, each in its week: after so many weeks all were there. All, if DPCOURSE_WEEKLY says so."""
    by_profile(f"{what}, by turns", 0, f"{len(everything)} in {parts} weeks", above=2)
    begin = datetime.date.today().isocalendar().week % parts
    return list(everything) if os.environ.get("DPCOURSE_WEEKLY") == "all" else list(everything)[begin::parts]


def examples(week, part=6, **settings):
    """For hypothesis: that many examples in the week, one in `part` of them on a commit."""
    count = by_profile("examples by hypothesis", math.ceil(week / part), week, above=2)
    return hypothesis.settings(max_examples=count, **settings)
