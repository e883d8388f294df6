"""What must hold for every exercise, of the course or of a pack, tried: a sentence for each that does not.

The reference passes, a blank is not attempted, each misconception is told by its own message and by no other's, on every
variant; what is graded only has examples that show what is asked for, and can be given out.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from dpcourse.authoring import public_pack
from dpcourse.checking import RIGHT, WRONG, Exercise, Misconception
from dpcourse.checking.cases import Cases
from dpcourse.checking.diagnosis import place
from dpcourse.course import Lesson

COURSE = "dpcourse.course."  # what is here is not within the reach of the process that calls an answer
SEEDS, MOST_VARIANTS, DRAWN = range(2), 20, 4


def broken(lesson: Lesson) -> Iterator[str]:
    """For each exercise of a lesson the first law that it breaks, as "file: what, and what to do"."""
    for function in lesson.functions:
        if complaint := _first_broken(lesson, function):
            yield f"{lesson.folder / function}.py: {complaint}"


def _first_broken(lesson, function):
    try:
        for values in _variants(lesson, function):
            number = lesson.functions.index(function)
            exercise = lesson.exercises_with({function: values} if values else {})[number]
            if complaint := next(complaints(exercise), None):
                of = "".join(f", {name} = {value!r}" for name, value in (values or {}).items())
                return complaint + (f" (the variant{of[1:]})" if of else "")
    except Exception as error:
        return f"it fails with {type(error).__name__}: {error}"
    return None


def _variants(lesson, function):
    """The values on which an exercise is tried; None where it has no variants."""
    if (each := lesson.variants.get(function)) is None:
        return [None]
    drawn = [each.drawn(np.random.default_rng(seed)) for seed in range(DRAWN)] if each.draw else []
    return list(itertools.islice([each.sample, *each.others(each.sample), *drawn], MOST_VARIANTS))


def complaints(exercise: Exercise) -> Iterator[str]:
    """The laws that an exercise breaks, in words. Whatever its own code raises is raised."""
    yield from of_itself(exercise)
    for seed in SEEDS:
        for complaint in of_answers(exercise, exercise.cases(np.random.default_rng(seed)), exercise.misconceptions):
            yield f"{complaint} (on the inputs of seed {seed})"


def of_itself(exercise: Exercise) -> Iterator[str]:
    """What an exercise lacks whatever its inputs are: in its header, in what it forbids, and where nothing is written yet."""
    yield from _of_header(exercise)
    for function in (*exercise.forbidden_functions, *([exercise.needed.function] if exercise.needed else ())):
        if function.__module__.startswith(COURSE):
            yield f"`{function.__name__}` is forbidden or needed, and no function of the library: no student could call it"
    for what in exercise.means.keys() - {*exercise.draw(np.random.default_rng(0))[0], *place.expressions(exercise)}:
        yield f"`means` says what `{what}` is, which is no argument, nor an expression of the reference or of a formula"
    if exercise.graded_only:
        yield from _of_graded_only(exercise)
    if repr(verdict := exercise.check(_blank, 0)) != repr(exercise.blank()):
        yield f"an answer that nobody has begun is {verdict.state}: {verdict.message}"


def of_answers(
    exercise: Exercise,
    cases: Cases,
    slips: Iterable[Misconception],
    probe: Callable[[Exercise, Callable, Cases], list] = Exercise.probe,
) -> Iterator[str]:
    """On these inputs the reference passes, and each of these misconceptions is told by its own message.

    probe(exercise, function, cases) -> what a function gives on them, as `Exercise.probe` says it.
    """
    free = replace(exercise, forbidden=(), needed=None)
    verdict = free.judge(cases, probe(free, exercise.reference, cases))
    if verdict.state != RIGHT:
        yield f"the reference does not pass its own check: {verdict.message}"
    for slip in slips:
        verdict = exercise.judge(cases, probe(exercise, slip.code, cases.drawn))  # by which it is told
        if (verdict.state, verdict.misconception) != (WRONG, slip.name):
            what = f"told {verdict.misconception!r}" if verdict.misconception else f"{verdict.state}"
            yield f"the misconception {slip.name!r} is {what}: {verdict.message}"
        elif verdict.message != slip.message or verdict.points >= exercise.points or not verdict.observed:
            yield f"the misconception {slip.name!r} is not told as its message, without all points and with what was observed: {verdict}"
        elif verdict.points and not getattr(exercise, "parts", None):
            yield f"the misconception {slip.name!r} gets points, and the exercise has no parts"


def _blank(*_):
    raise NotImplementedError


def _of_header(exercise):
    header = {
        "a title": exercise.title.strip(),
        "good_for, what one can do with it": exercise.good_for.strip(),
        "a difficulty from 1 to 5": exercise.difficulty in range(1, 6),
        "minutes, at least 1": exercise.minutes >= 1,
        "points, at least 1": exercise.points >= 1,
    }
    for what, is_there in header.items():
        if not is_there:
            yield f"the exercise needs {what}"
    for told in ("name", "message"):
        texts = [getattr(slip, told) for slip in exercise.misconceptions]
        if len(set(texts)) < len(texts):
            yield f"two misconceptions have the same {told}: they could not be told apart"


def _of_graded_only(exercise):
    if not exercise.examples:
        yield "it is graded only, and so needs `examples`: some inputs that students may see, such as `draw` gives"
        return
    free = replace(public_pack.public(exercise), forbidden=(), needed=None)
    verdict = free.check(exercise.reference)
    if verdict.state != public_pack.RECEIVED:
        yield f"the reference does not run on its `examples`: {verdict.message}"
    public_pack.module(exercise)
