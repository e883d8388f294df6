"""What was given out, as the grader reads it."""

from support import ROOT

from dpcourse import course
from dpcourse.grading import given


def test_a_release_names_what_its_lesson_imports():
    release = given.release_of((ROOT / "lessons" / "04-clt.ipynb").read_bytes(), 4)
    assert {"dpcourse", "dpcourse.clt", "dpcourse.tradeoff", "numpy", "scipy.special"} <= set(release.modules)
    written = {exercise.function for exercise in course.lesson(4).exercises}
    assert not any(f"def {name}(" in cell.code for name in written for cell in release.provided)
