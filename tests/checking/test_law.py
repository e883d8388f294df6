"""Noise by its law: a right answer is not rare under it, each slip is told as itself, and none of them of a right answer."""

import numpy as np
import pytest

from dpcourse.checking import (
    RIGHT,
    WRONG,
    AddedNoise,
    Domain,
    Misconception,
    Number,
    RandomExercise,
    Seed,
    Several,
    Whole,
    numbers_like,
)
from dpcourse.checking.cases import Cases
from dpcourse.checking.law import FAMILIES

RUNS = 200


def drawn(rng):
    """Two settings, the first run of each made twice."""
    seed = int(rng.integers(2**30))
    settings = [(rng.integers(0, 20, 30) * (rng.permutation(30) % 2), 0.5), (rng.integers(0, 20, 8), 2.0)]
    runs = [(counts, epsilon, run) for counts, epsilon in settings for run in (0, *range(RUNS))]
    return [{"counts": counts, "epsilon": epsilon, "rng": seed + run} for counts, epsilon, run in runs]


def exercise_of(family, *misconceptions):
    law = AddedNoise(family, lambda counts, epsilon: counts, lambda counts, epsilon: 3 / epsilon)
    return RandomExercise(
        id="laplace/noisy",
        number="2.1",
        title="Counts with noise",
        good_for="trying",
        difficulty=1,
        minutes=1,
        points=1,
        domain=Domain(
            {"counts": Several(Whole(0, 30), 2, 30, array=True), "epsilon": Number(0.1, 3), "rng": Seed()}, most=8
        ),
        draw=drawn,
        reference=law.answer,
        law=law,
        returns=numbers_like("counts"),
        misconceptions=misconceptions,
        hints=(),
    )


EXERCISES = {family: exercise_of(family) for family in FAMILIES}
families = pytest.mark.parametrize("family", FAMILIES)


@pytest.mark.in_turn("seconds of checks")
@families
def test_a_right_answer_is_seldom_rare(family):
    exercise = EXERCISES[family]
    for seed in range(20):
        cases = Cases(exercise.draw(np.random.default_rng(seed)))
        rarest = min(count.p_value for count in exercise.counts(cases, cases.given(exercise.reference)))
        assert rarest > 1e-5
        assert exercise.noise(cases, cases.given(exercise.reference)).p_value > 1e-5


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each is measured on thousands of draws")
@families
def test_each_slip_is_told_as_itself_and_none_of_a_right_answer(family):
    exercise = EXERCISES[family]
    assert len(exercise.misconceptions) >= 13
    for known in exercise.misconceptions:
        verdict = exercise.check(known.code, 1)
        assert (verdict.state, verdict.misconception) == (WRONG, known.name), verdict
    assert exercise.check(exercise.reference, 1).state == RIGHT


@families
def test_noise_that_is_never_near_the_exact_numbers_is_not_said_to_have_lost_its_sign(family):
    law = EXERCISES[family].law
    verdict = EXERCISES[family].check(lambda counts, epsilon, rng: 100 / epsilon + law.answer(counts, epsilon, rng), 1)
    assert verdict.state == WRONG
    assert verdict.misconception != "one-sided"


@families
def test_results_that_are_above_0_for_another_reason_are_not_said_to_be_absolute_values(family):
    law = EXERCISES[family].law

    def moved(counts, epsilon, rng):
        return abs(5 / epsilon + law.answer(counts, epsilon, rng))

    verdict = EXERCISES[family].check(moved, 1)
    assert verdict.state == WRONG
    assert verdict.misconception != "absolute value"


@families
def test_of_all_that_noise_may_lie_around_the_nearest_is_told(family):
    law = EXERCISES[family].law
    halves = Misconception("halves", "You halve the counts.", law.around(lambda counts, epsilon: counts / 2))
    thirds = Misconception("thirds", "You take a third of the counts.", law.around(lambda counts, epsilon: counts / 3))
    exercise = exercise_of(family, halves, thirds)
    for known in (halves, thirds):
        assert exercise.check(known.code, 2).misconception == known.name


def test_a_slip_of_an_exercise_s_own_takes_the_place_of_the_law_s():
    own = Misconception("cut off", "Do not cut.", EXERCISES["laplace"].law.after(lambda noisy: np.maximum(0, noisy)))
    exercise = exercise_of("laplace", own)
    assert [known.message for known in exercise.misconceptions if known.name == "cut off"] == ["Do not cut."]


@families
def test_scales_are_told_by_the_arguments_in_which_the_settings_differ(family):
    law = EXERCISES[family].law
    answer = law.with_scale(lambda counts, epsilon: 4 * min(1, epsilon) / epsilon)
    verdict = EXERCISES[family].check(answer, 3)
    assert "with `len(counts) = 8` and `epsilon = 2`" in verdict.message, verdict
