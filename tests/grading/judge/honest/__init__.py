"""A hundred honest notebooks: the lessons 00 to 03 as people write them, in many styles and from many front ends.

Each is the solved lesson in short, changed by one small edit; the edits take the lessons by turns.
"""

from grading.judge.honest import cells, habits, odd, styles, wholes
from grading.kinds.making import cells_of, written

from dpcourse import course

EDITS = {**styles.EDITS, **cells.EDITS, **wholes.EDITS, **odd.EDITS, **habits.EDITS}
"""name -> edit(cells, lesson), which gives cells, or the whole notebook as a dict."""


def notebook(name):
    """(lesson, bytes) of the notebook of that name."""
    lesson = course.lesson(list(EDITS).index(name) % 4)
    made = EDITS[name](cells_of("solutions", lesson), lesson)
    return lesson, written(**made) if isinstance(made, dict) else written(made)
