"""Every exercise of the course, from the exercise objects: what design.md promises of each."""

import dataclasses
import math

import numpy as np
import pytest

from dpcourse import course
from dpcourse.engine import BLANK, RIGHT, WRONG, OpenExercise, RandomExercise

EVERY = course.every_exercise()
SLIPS = [(exercise, slip) for exercise in EVERY for slip in exercise.misconceptions]
SEEDS = range(10)
FEW = {"5.9": range(3), "6.9": range(3)}  # each check composes exactly, or runs mechanisms, many times over


def each(items):
    return pytest.mark.parametrize("exercise", items, ids=lambda exercise: exercise.id)


def outcomes_of(exercise, cases, function):
    """What the probe gives when every library function may be called, as references do."""
    return dataclasses.replace(exercise, forbidden=()).probe(function, cases)


@each(EVERY)
def test_the_reference_passes(exercise):
    for seed in FEW.get(exercise.id, SEEDS):
        cases = exercise.cases(np.random.default_rng(seed))
        assert exercise.judge(cases, outcomes_of(exercise, cases, exercise.reference)).state == RIGHT


@each(EVERY)
def test_the_blank_is_not_attempted(exercise):
    def blank(*arguments):
        raise NotImplementedError

    verdict = exercise.check(blank)
    assert verdict.state == BLANK
    assert repr(verdict) == repr(exercise.blank())


@pytest.mark.parametrize(("exercise", "slip"), SLIPS, ids=[f"{exercise.id}-{slip.name}" for exercise, slip in SLIPS])
def test_each_misconception_gets_its_own_message(exercise, slip):
    for seed in FEW.get(exercise.id, SEEDS):
        verdict = exercise.check(slip.code, rng=seed)
        assert (verdict.state, verdict.misconception, verdict.message) == (WRONG, slip.name, slip.message)
        assert verdict.observed, "a wrong answer is shown what was observed"
        assert verdict.points == 0


@each(EVERY)
def test_inputs_are_drawn_afresh(exercise):
    drawn = {repr(exercise.cases(np.random.default_rng(seed))) for seed in range(5)}
    assert len(drawn) == 5


@each([exercise for exercise in EVERY if not isinstance(exercise, OpenExercise)])
def test_an_answer_that_nobody_foresaw_is_wrong_without_a_false_diagnosis(exercise):
    def strange(*arguments):
        value = exercise.reference(*arguments)
        if isinstance(value, list) and np.ndim(value[0]):
            return [item[: len(item) // 2] for item in value]
        return (
            (0.4321 * value[0], value[1])
            if isinstance(value, tuple)
            else 3 + 7 * value
            if np.ndim(value) == 0
            else 0 * np.asarray(value)
        )

    verdict = exercise.judge(cases := exercise.cases(np.random.default_rng(1)), outcomes_of(exercise, cases, strange))
    assert (verdict.state, verdict.misconception) == (WRONG, None)


@each([exercise for exercise in EVERY if exercise.forbidden])
def test_calling_the_library_is_caught(exercise):
    def cheat(*arguments):
        return exercise.forbidden[0](*arguments)

    verdict = exercise.check(cheat)
    assert verdict.state != RIGHT
    assert exercise.forbidden[0].__name__ in verdict.message


@each(EVERY)
def test_the_header_is_complete(exercise):
    assert exercise.title
    assert exercise.good_for
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes >= 1
    assert exercise.points >= 1
    assert len(exercise.hints) >= 2
    assert len(exercise.misconceptions) >= 3
    assert len({slip.message for slip in exercise.misconceptions}) == len(exercise.misconceptions)


def test_ids_are_the_lesson_and_a_running_number():
    for number in range(len(course.lessons())):
        ids = [exercise.id for exercise in course.lesson(number).exercises]
        assert ids == [f"{number}.{i}" for i in range(1, len(ids) + 1)]


# ---- random answers


@each([exercise for exercise in EVERY if isinstance(exercise, RandomExercise)])
def test_a_right_answer_fails_as_often_as_is_stated(exercise):
    """At the stated rate nothing would be seen; at a rate of 1 in 10 the same test fails at most 1 in 10 times."""
    assert exercise.false_failure <= 1e-6
    strict = dataclasses.replace(exercise, false_failure=0.1, forbidden=())
    runs = 150
    failures = sum(strict.check(exercise.reference, rng=seed).state != RIGHT for seed in range(runs))
    assert failures <= runs * 0.1 + 4 * math.sqrt(runs * 0.1 * 0.9)


# ---- quizzes


@pytest.mark.parametrize("number", range(len(course.lessons())))
def test_every_quiz_question_has_one_right_option_and_explains_all(number):
    for question in course.lesson(number).quiz:
        assert sum(option.right for option in question.options) == 1
        assert all(option.why for option in question.options)
        assert len({option.text for option in question.options}) == len(question.options) >= 3


@pytest.mark.parametrize("number", range(len(course.lessons())))
def test_the_right_option_does_not_always_stand_in_the_same_place(number):
    places = {[option.right for option in question.options].index(True) for question in course.lesson(number).quiz}
    assert len(places) == 3


def test_an_unknown_id_names_those_there_are():
    with pytest.raises(ValueError, match=r"there is no exercise '9.9'; there are 0.1, 0.2"):
        course.find("9.9")
