"""Grading a lesson in which each student has a variant: what was given out to one, and who hands in another's."""

import ast
import contextlib
import itertools
import json
from collections.abc import Iterable, Sequence

from dpcourse import course
from dpcourse.base import cells
from dpcourse.base.languages import say
from dpcourse.checking import Exercise
from dpcourse.course import Values
from dpcourse.grading import collect
from dpcourse.grading.judge.answers import asked
from dpcourse.grading.judge.given import Release, release_of
from dpcourse.grading.judge.job import Job, cases_of

MOST_TRIED = 50


def release_for(notebooks: Iterable[bytes], lesson: int, values: Values) -> Release:
    """The Release of the student with these values; notebooks: the bytes of the blank lesson, as it was built."""
    flat = {name: value for mine in values.values() for name, value in mine.items()}
    theirs = [cells.with_values(json.loads(notebook), flat) for notebook in notebooks]
    return release_of([json.dumps(each).encode() for each in theirs], lesson)


def another_notebook(handed_in: Iterable[collect.Cell], lesson: int, values: Values) -> list[str]:
    """For each exercise whose check cell names other values than the student's, a sentence on that."""
    found = []
    for exercise in course.lesson(lesson).exercises:
        mine = values.get(exercise.function, {})
        for cell in handed_in if mine else ():
            for named in _named_in_checks(cell.code, exercise.number):
                if named != mine and named.keys() == mine.keys():
                    found.append(
                        say(
                            "exercise {exercise}: the notebook is of another variant, {other}; this student's is {own}",
                            exercise=exercise.number,
                            other=_words(named),
                            own=_words(mine),
                        )
                    )
    return list(dict.fromkeys(found))


def _named_in_checks(code, number):
    """The values in each check of that exercise that a cell makes, as far as they are written down."""
    if f'"{number}"' not in code and f"'{number}'" not in code:
        return
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(code)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"):
                continue
            if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == number:
                keywords = [each for each in node.keywords if each.arg and isinstance(each.value, ast.Constant)]
                yield {each.arg: each.value.value for each in keywords}


def another_answer(exercise: Exercise, job: Job, evidence: Sequence[list[dict]]) -> list[str]:
    """What to say of a wrong answer that is the right one for another variant, in a list; nothing where it is for none.

    exercise: as the student has it. evidence: see result.Graded.
    """
    of, function = course.lesson(job.lesson), exercise.function
    if function not in job.values:
        return []
    others = itertools.islice(of.variants[function].others(job.values[function]), MOST_TRIED)
    theirs = [(other, of.exercises_with({function: other})[of.functions.index(function)]) for other in others]
    cases = cases_of(exercise, job.seed)
    for probe in evidence:
        given = [outcome["value"] for outcome in probe[1:] if "value" in outcome]
        tried = exercise.aimed(cases, probe[1:])
        for other, each in theirs if probe[0]["asked"] == asked(cases) and len(given) == len(tried) else ():
            with contextlib.suppress(
                Exception
            ):  # it was asked for the student's variant, and is no answer to the other
                if each.agrees(tried, given, each.reference):
                    return [
                        say(
                            "exercise {exercise}: the answer is right for {other}, another student's variant; this student's is {own}",
                            exercise=each.number,
                            other=_words(other),
                            own=_words(job.values[function]),
                        )
                    ]
    return []


def _words(values) -> str:
    return ", ".join(f"{name} {value!r:.40}" for name, value in values.items())
