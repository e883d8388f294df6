"""The wrong answer that the journey gives in each lesson is one that its exercise knows."""

import ast
from pathlib import Path

import nbformat
import pytest

from dpcourse import course

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize("lesson", course.lessons(), ids=lambda lesson: lesson.word)
def test_the_slip_of_a_lesson_gets_the_message_of_its_misconception(lesson):
    file = f"dpcourse/course/{lesson.word}/journey.py"
    try:
        slip = lesson.part("journey").SLIP
    except ModuleNotFoundError:
        pytest.fail(f"add {file} with SLIP, the wrong answer that the journey gives first in this lesson")
    exercise = lesson.exercise(slip.function)
    messages = {known.name: known.message for known in exercise.misconceptions}
    assert slip.misconception in messages, f"{file}: {exercise.id} has no such misconception"
    codes = [c.source for c in nbformat.read(SOLUTIONS / f"{lesson.name}.ipynb", 4).cells if c.cell_type == "code"]
    (solved,) = [code for code in codes if f"def {slip.function}(" in code]
    assert slip.right in solved, f"{file}: the solution does not say {slip.right!r}"

    wrong = solved.replace(slip.right, slip.wrong)
    names = imports("\n".join(codes), of=wrong)
    exec(wrong, names)
    assert messages[slip.misconception] in repr(exercise.check(names[slip.function]))


def imports(code, of):
    """The names that a piece of code uses and that an import statement of a lesson gives."""
    used = {node.id for node in ast.walk(ast.parse(of)) if isinstance(node, ast.Name)}
    names = {}
    for line in ast.parse(code).body:
        if isinstance(line, ast.Import | ast.ImportFrom) and used & {name.asname or name.name for name in line.names}:
            exec(ast.unparse(line), names)
    return names
