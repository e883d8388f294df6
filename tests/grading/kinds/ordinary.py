"""What most students hand in: right, wrong, unfinished, and with the names that an LMS gives."""

import os

from grading.kinds.making import (
    FULL,
    RIGHT,
    Kind,
    all_cells_of,
    answer,
    cells_of,
    definition,
    last,
    notebook,
    solved,
    written,
)

KINDS = [
    notebook("right", all_cells_of("solutions")),
    notebook("blank", all_cells_of("lessons"), score=0),
    notebook("in short", solved()),
    answer("wrong", "return 0.123"),
    answer("syntax error", "return ("),
    definition("renamed", "def posterior(prior, epsilon): pass"),
    answer("warns", "import warnings; warnings.warn('careful'); " + RIGHT, FULL),
    answer("reads input", "return float(input('belief? '))"),
    last("blank copy below", "def worst_posterior(prior, epsilon): raise NotImplementedError"),
    notebook("backwards", solved()[::-1]),
    notebook("checks deleted", [each for each in solved() if not each["source"].startswith("check(")], status="flagged"),
    notebook("checks twice", [each for each in solved() for _ in range(1 + each["source"].startswith("check("))], status="flagged"),
    notebook("checks edited", [{**each, "source": each["source"].replace("check(", "print(")} for each in solved()], status="flagged"),
    notebook("hint taken", [{**each, "source": each["source"].replace("# hint", "hint")} for each in solved()]),
    notebook("magics", solved(first="%matplotlib inline\n!ls /\n%timeit -n1 -r1 1+1\nx = !whoami", last="%%bash\necho hello")),
    notebook("Ünï çødé 名前 🎲", solved()),
    Kind(os.fsdecode(b"latin-1 \xe9\xe8.ipynb"), written(solved()), "graded", FULL),
    notebook("line\nbreak \x1b[2J", solved()),
    notebook('=HYPERLINK("http:¦¦evil","x"), a, b', solved()),
    Kind("Kim Lee_101_assignsubmission_file", {"01-composition.ipynb": written(solved())}, "graded", FULL),
    Kind("Kim Lee_102_assignsubmission_file", {"01-composition.ipynb": written(cells_of("lessons"))}, "graded", 0),
    notebook("leekim_201_9001_01-composition-2", solved()),
    notebook("leekim_LATE_202_9002_01-composition", cells_of("lessons"), score=0),
    Kind("two of them", {"01-composition.ipynb": written(solved()), "old/01-composition-Copy1.ipynb": b""}, "flagged", FULL),
]  # fmt: skip
