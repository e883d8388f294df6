"""What holds for every exercise, from the exercise objects: nothing has to be added here for a new one."""

import dataclasses
import itertools
import math
import pickle
import zlib

import numpy as np
import pytest
from course.judging import drawn, judged, judged_freely, were_all_allowed
from support import by_profile

from dpcourse import course
from dpcourse.authoring import laws
from dpcourse.checking import ERROR, RIGHT, WRONG, Exercise, OpenExercise, RandomExercise, true_or_false
from dpcourse.checking.cases import Cases

EVERY = {f"{lesson.word}-{exercise.function}": exercise for lesson in course.lessons() for exercise in lesson.exercises}
SLOW = {course.lesson(6).exercise("noise_for_budget").id, course.lesson(7).exercise("accused").id}
SLOW |= {exercise.id for exercise in EVERY.values() if isinstance(exercise, RandomExercise)}
SEEDS = range(by_profile("checks of each exercise: reference and misconceptions", 1, 2))
SLIPS_OF_SLOW = by_profile("misconceptions of those: every so-manieth", 9, 1)
PROBED = by_profile("cases of each that the probe calls", 30, 1_000_000)
RATE_RUNS = 40
DRAWS = range(by_profile("draws of inputs, each another one", 2, 5))
ARRAYS = by_profile("lengths of arrays of booleans", (1,), (1, 500))
OF_FORMULAS = range(by_profile("checks of each formula", 1, 3))
ROUNDS = [
    pytest.param(exercise, seed, id=f"{name}-seed {seed}")
    for name, exercise in EVERY.items()
    for seed in SEEDS
    if exercise.id not in SLOW or not seed
]


def each(of=lambda exercise: True):
    return pytest.mark.parametrize(
        "exercise", [pytest.param(exercise, id=name) for name, exercise in EVERY.items() if of(exercise)]
    )


def outcomes_of(exercise, function, cases):
    """By the probe on the first cases; of further ones that are drawn it gives no more than their values."""
    drawn = cases.drawn
    if len(drawn) <= PROBED:
        return exercise.probe(function, cases)
    first, searched = exercise.probe(function, drawn[:PROBED]), cases[len(drawn) :]
    return [
        *first,
        *({"value": value} for value in drawn.given(function)[PROBED:]),
        *exercise.probe(function, searched),
    ]


@each()
def test_a_title_ends_without_a_sign_since_a_colon_follows_it(exercise):
    assert exercise.title[-1] not in ".:?!"


@each(lambda exercise: exercise.formulas)
def test_formulas_are_the_reference_written_otherwise(exercise):
    for seed in OF_FORMULAS:
        cases = exercise.cases(np.random.default_rng(seed))
        cases = cases.drawn if isinstance(exercise, RandomExercise) else cases  # counts are of what is drawn
        for formula in exercise.formulas:
            assert exercise.agrees(cases, cases.given(formula), exercise.reference)


@pytest.mark.parametrize(("exercise", "seed"), ROUNDS)
def test_the_reference_passes_and_each_misconception_gets_its_own_message(exercise, seed):
    """All on the same inputs, on which nothing is computed twice."""
    slips = exercise.misconceptions[:: SLIPS_OF_SLOW if exercise.id in SLOW else 1]
    broken = laws.of_answers(exercise, drawn(exercise.id, seed), slips, outcomes_of)
    assert not list(broken), f"{exercise.function}, seed {seed}"


@each(lambda exercise: type(exercise) is Exercise)
def test_inputs_that_tell_the_misconceptions_apart_are_soon_drawn(exercise):
    """A check draws a hundred times at most: of 12 draws, two at least must do."""
    codes = [exercise.reference, *(slip.code for slip in exercise.misconceptions)]
    good = 0
    for seed in range(12):
        cases = Cases(exercise.draw(np.random.default_rng([3, seed])))
        good += not any(exercise._same(*map(cases.given, pair)) for pair in itertools.combinations(codes, 2))
        if good == 2:
            return
    pytest.fail(f"{exercise.function}: only {good} of 12 draws tell all misconceptions apart: draw other inputs")


@each()
def test_it_is_whole(exercise):
    lacks = [*laws.of_itself(exercise)]
    lacks += ["the exercise needs two hints at least"] * (len(exercise.hints) < 2)
    lacks += ["the exercise needs three misconceptions at least"] * (len(exercise.misconceptions) < 3)
    assert not lacks, (
        f"dpcourse/course/{course.lesson(exercise.lesson).word}/{exercise.function}.py: {'; '.join(lacks)}"
    )


@each()
def test_inputs_are_drawn_afresh(exercise):
    assert len({pickle.dumps(list(drawn(exercise.id, seed))) for seed in DRAWS}) == len(DRAWS)


def strange(exercise):
    """An answer that nobody foresaw: of the right kind, and made of what is right in a way that means nothing."""

    def code(*arguments):
        value = exercise.reference(*arguments)
        bits = np.random.default_rng(zlib.crc32(repr(arguments).encode()))
        if isinstance(value, list) and np.ndim(value[0]):
            return [item[: len(item) // 2] for item in value]
        if isinstance(value, tuple):
            return 0.4321 * value[0], value[1]
        if exercise.returns is true_or_false:
            return bool(bits.integers(2))
        if np.ndim(value) == 1 and type(exercise) is Exercise and np.isin(value, (0, 1)).all():
            return bits.integers(2, size=len(value))
        return 3 + 7 * value if np.ndim(value) == 0 else 0 * np.asarray(value)

    return code


@each(lambda exercise: not isinstance(exercise, OpenExercise))
def test_an_answer_that_nobody_foresaw_is_wrong_without_a_false_diagnosis(exercise):
    (verdict,) = judged_freely(exercise, strange(exercise), [1])
    assert (verdict.state, verdict.misconception) == (WRONG, None), verdict


@pytest.mark.every_case
@each(
    lambda exercise: (
        not isinstance(exercise, OpenExercise) and any(known.recognise for known in exercise.misconceptions)
    )
)
def test_what_recognises_a_misconception_has_an_answer_to_any_other(exercise):
    cases = drawn(exercise.id, 0).drawn
    values = cases.given(strange(exercise))
    for known in exercise.misconceptions:
        if known.recognise is not None:
            assert known.recognise(cases, values) in (True, False), known.name


@each()
def test_an_array_of_booleans_never_breaks_the_check(exercise):
    """A comparison without `np.all` is the likeliest slip of all."""
    for times in ARRAYS:
        (verdict,) = judged(exercise, lambda *_, n=times: np.array([True, False] * n), [0])
        assert verdict.state in (WRONG, ERROR), verdict


@each(lambda exercise: exercise.forbidden)
def test_calling_the_library_is_caught(exercise):
    def cheat(*arguments):
        return exercise.forbidden_functions[0](*arguments)

    (verdict,) = judged(exercise, cheat, [0])
    assert verdict.state != RIGHT, verdict
    assert exercise.forbidden_functions[0].__name__ in verdict.message


# ---- random answers


@pytest.mark.weekly("forty checks of each random answer; fewer say nothing of a rate")
@each(lambda exercise: isinstance(exercise, RandomExercise))
def test_a_right_answer_fails_as_often_as_is_stated(exercise):
    """At the stated rate nothing would be seen; at a rate of 1 in 10 the same test fails at most 1 in 10 times."""
    assert exercise.false_failure <= 1e-6
    strict, failures = dataclasses.replace(were_all_allowed(exercise), false_failure=0.1), 0
    for seed in range(RATE_RUNS):
        cases = strict.cases(np.random.default_rng(seed))
        failures += strict.judge(cases, outcomes_of(strict, exercise.reference, cases)).state != RIGHT
    assert failures <= RATE_RUNS * 0.1 + 4 * math.sqrt(RATE_RUNS * 0.1 * 0.9)


def test_an_unknown_id_names_those_there_are():
    with pytest.raises(ValueError, match=r"there is no exercise '49.9'; there are 0.1–0.3, 1.1–"):
        course.find("49.9")
