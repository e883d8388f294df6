"""No program with two slips passes that differs from the right one within the domain of its exercise."""

import ast
import copy
import re

import numpy as np
import pytest
from support import ROOT, by_profile

from dpcourse import course
from dpcourse.authoring import answers
from dpcourse.checking import RIGHT, Exercise
from dpcourse.checking.calling import changes
from dpcourse.checking.cases import Cases

TRIED = by_profile("programs with two slips, of each exercise", 1, 8)
SLIPS = 2
FURTHER = 200  # inputs on which a program that passes is compared with the right one
CELL = re.compile(r"```\{code-cell\}[^\n]*\n(.*?)```", re.DOTALL)
PLAIN = [
    pytest.param(lesson, exercise, id=exercise.id)
    for lesson in course.lessons()
    for exercise in lesson.exercises
    if type(exercise) is Exercise
][:: by_profile("exercises of which programs with two slips are tried: every so-manieth", 3, 1)]


def solution_of(lesson, function):
    """The cell of a lesson's source in which an exercise is solved, as a syntax tree."""
    text = (ROOT / "solutions" / f"{lesson.name}.md").read_text(encoding="utf-8")
    [cell] = [cell for cell in CELL.findall(text) if re.search(rf"^def {function}\(", cell, re.MULTILINE)]
    return ast.parse("\n".join(line for line in cell.splitlines() if not line.startswith(":")))


def slipped(tree, function, rng):
    """The same with SLIPS changes, drawn from all."""
    for _ in range(SLIPS):
        [main] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
        names = [argument.arg for argument in main.args.args]
        number = sum(1 for _ in changes.each_change(tree, names))
        chosen = int(rng.integers(number))
        tree = next(copy.deepcopy(tree) for i, _ in enumerate(changes.each_change(tree, names)) if i == chosen)
    return tree


def first_difference(exercise, answer, rng):
    """A case of the domain on which an answer is not right."""
    names, cases = list(exercise.draw(np.random.default_rng(0))[0]), []
    while len(cases) < (20 if exercise.domain.most else FURTHER):
        cases += [{name: case[name] for name in names} for case in exercise.domain.searched(rng)]
    outcomes = exercise.probe(answer, cases)
    some = Cases(cases[: len(outcomes)])
    for case, outcome, right in zip(some, outcomes, some.given(exercise.reference), strict=True):
        if "value" not in outcome or not exercise.is_close(outcome["value"], right):
            return case, outcome, right
    return None


@pytest.mark.parametrize(("lesson", "exercise"), PLAIN)
@pytest.mark.filterwarnings("ignore")
def test_no_program_with_two_slips_passes_that_differs_in_the_domain(lesson, exercise):
    rng, tree = np.random.default_rng(sum(map(ord, exercise.id))), solution_of(lesson, exercise.function)
    if any(isinstance(node, ast.While) for node in ast.walk(tree)):
        pytest.skip("a slip makes it endless")
    names = answers.names_of(ROOT, lesson.number)
    for _ in range(TRIED):
        code, space = ast.unparse(slipped(tree, exercise.function, rng)), dict(names)
        exec(code, space)
        answer = space[exercise.function]
        cases = exercise.cases(rng)
        if exercise.judge(cases, exercise.probe(answer, cases)).state == RIGHT:
            found = first_difference(exercise, answer, rng)
            assert found is None, f"{code}\npasses, and on {found[0]} it does {found[1]}; right is {found[2]}"
