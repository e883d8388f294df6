"""Cells that people add, take away, join, split, repeat and move."""

from grading.judge.honest.styles import behind
from grading.kinds.making import cell, cells_of


def own(place, code):
    """A cell of one's own; place: 1 is behind the imports, None at the end."""

    def edit(cells, lesson):
        at = len(cells) if place is None else place
        return [*cells[:at], cell(code), *cells[at:]]

    return edit


def in_each(old, new):
    return lambda cells, lesson: [each | {"source": "".join(each["source"]).replace(old, new)} for each in cells]


def is_check(each):
    return "".join(each["source"]).startswith("check(")


def helper_below(cells, lesson):
    """Answers that call a helper, all of which stand in the last cell; the checks come once more behind it."""
    edited = behind("def NAME(*all):\n    return NAME_below(*all)")(cells, lesson)
    below = "\n".join(f"{name}_below = mine_{name}" for name in lesson.functions)
    return [*edited, cell(below), *[cell("".join(each["source"])) for each in cells if is_check(each)]]


def half(cells, lesson):
    """Every second answer blank."""
    blank = cells_of("lessons", lesson)
    places = [i for i, each in enumerate(cells) if any(f"def {name}(" in each["source"] for name in lesson.functions)]
    return [blank[i] if i in places[::2] else each for i, each in enumerate(cells)]


def wrong(cells, lesson):
    """Every second answer twice as large."""
    edited = behind("def NAME(*all):\n    return 2 * np.asarray(MINE(*all))")(cells, lesson)
    return [edited[i] if i % 4 < 2 else each for i, each in enumerate(cells)]


def split(cells, lesson):
    """One cell for each statement of the first."""
    first, *rest = cells
    parts = [part for part in "".join(first["source"]).split("\n\n") if part.strip()]
    return [*map(cell, parts), *rest]


def all_checks_at_the_end(cells, lesson):
    return [*(each for each in cells if not is_check(each)), *filter(is_check, cells)]


def one_check_of_all(cells, lesson):
    """The checks in a loop."""
    ids = [f"{lesson.number}.{place}" for place, _ in enumerate(lesson.functions, 1)]
    pairs = ", ".join(f'("{name}", {function})' for name, function in zip(ids, lesson.functions, strict=True))
    return [
        *(each for each in cells if not is_check(each)),
        cell(f"for name, answer in [{pairs}]:\n    check(name, answer)"),
    ]


EDITS = {
    "a star from math": own(1, "from math import *"),
    "a star from numpy": own(1, "from numpy import *"),
    "a star from numpy at the end": own(None, "from numpy import *"),
    "all forgotten at the end": own(None, "%reset -f"),
    "modules deleted at the end": own(None, "del math, np"),
    "sum a number at the end": own(None, "sum = max = 0"),
    "magics": own(1, "%matplotlib inline\n%load_ext autoreload\n!echo hello\nfiles = !ls\n%timeit -n1 -r1 1 + 1"),
    "a file written": own(1, "%%writefile helper_of_mine.py\ndef twice(x):\n    return 2 * x"),
    "a seed": own(1, "import random\nrandom.seed(1); np.random.seed(1)"),
    "warnings are errors": own(1, "import warnings\nwarnings.simplefilter('error')"),
    "precision shown": own(1, "np.set_printoptions(precision=2, suppress=True)"),
    "an error between": own(3, "1 / 0"),
    "the dot of the answer": own(None, "check('0.1', None)"),
    "helpers below": helper_below,
    "half of it": half,
    "wrong here and there": wrong,
    "imports split": split,
    "checks at the end": all_checks_at_the_end,
    "checks in a loop": one_check_of_all,
    "checks by keyword": in_each('", ', '", answer='),
    "checks by another name": lambda cells, lesson: [
        each | {"source": "dpcourse." + "".join(each["source"])} if is_check(each) else each
        for each in [cell("import dpcourse"), *cells]
    ],
    "hints asked": in_each("# hint", "hint"),
    "quotes changed": in_each('"', "'"),
    "cells joined": lambda cells, lesson: [cell("\n\n".join("".join(each["source"]) for each in cells))],
    "each cell twice": lambda cells, lesson: [each for each in cells for _ in range(2)],
    "imports again and again": lambda cells, lesson: [
        part for each in cells for part in (cell("import math\nimport numpy as np"), each)
    ],
}
