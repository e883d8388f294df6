"""Random answers that draw what a right one draws: what is wrong in them is found as in any other, and told by its line."""

import dataclasses
import math

import numpy as np
import pytest
from checking.calling.test_steps import written
from checking.test_exercise import square

from dpcourse import course, machine
from dpcourse.checking import diagnosis
from dpcourse.checking.cases import Cases
from dpcourse.checking.verdict import RIGHT, WRONG

MENDED = "With only that changed, your answer is right on all"
WRONG_ANSWERS = {  # exercise: answers that no misconception foresees -> what is told
    "start_here/randomized_response": [
        ("    return np.where(rng.random(len(bits)) < math.exp(epsilon) / (2 + math.exp(epsilon)), bits, 1 - bits)", "`2` is the wrong value"),
        ("    keep = math.exp(epsilon) / (1 + math.exp(epsilon))\n    return [b if rng.random() < keep else b for b in bits]", None),
    ],
    "laplace/laplace_mechanism": [
        ("    return value + rng.laplace(0, sensitivity / epsilon + epsilon, len(value))", "`+ epsilon` is too much in `sensitivity / epsilon + epsilon`"),
        ("    return [v + rng.laplace(0, max(sensitivity, 1) / epsilon) for v in value]", "`max(sensitivity, 1)`"),
        ("    return value + rng.laplace(0, round(sensitivity / epsilon, 2), len(value))", "`round` is too much in `round(sensitivity / epsilon, 2)`"),
        ("    b = sensitivity / min(epsilon, 1)\n    return value + rng.laplace(0, b, len(value))", "`min(epsilon, 1)`"),
    ],
    "laplace/private_histogram": [
        ("    counts = [len([v for v in values if v <= cell]) for cell in cells]\n    return counts + rng.laplace(0, 1 / epsilon, len(cells))", "what belongs there is the number of people in each cell"),
        ("    return [values.count(cell) + rng.laplace(0, 1 / epsilon + epsilon / 8) for cell in cells]", "`1 / epsilon + epsilon / 8`"),
    ],
    "laplace/private_mean": [
        (
            "    clipped = np.clip(values, low, high)\n    total = clipped.sum() + rng.laplace(0, (high - low) / 2 / epsilon_sum)\n"
            "    return total / (len(values) + rng.laplace(0, 1 / epsilon_count))",
            "the most by which one person can change the sum",
        ),
        (
            "    people = len(values) + rng.laplace(0, 1 / epsilon_count)\n"
            "    return (np.clip(values, -high, high).sum() + rng.laplace(0, max(-low, high) / epsilon_sum)) / people",
            "what belongs there is `low` as it was given",
        ),
        (  # wrong for a small table and a small epsilon alone, and so on none of the first inputs
            "    total = np.clip(values, low, high).sum() + rng.laplace(0, max(-low, high) / epsilon_sum)\n"
            "    people = len(values) + rng.laplace(0, 1 / epsilon_count)\n    return total / (people if people > 1 else 1)",
            "condition is too much in `people",
        ),
    ],
    "laplace/report_noisy_max": [
        ("    noisy = counts + rng.laplace(0, 1 / epsilon ** 2, len(counts))\n    return np.argmax(noisy)", "`** 2` is too much in `epsilon ** 2`"),
        ("    noisy = counts + rng.laplace(0, 1 / min(epsilon, 1), len(counts))\n    return np.argmax(noisy)", "`min(epsilon, 1)`"),
    ],
    "machine/whole_noise": [
        (
            "    noise = []\n    while len(noise) < size:\n        n = 0\n        while machine.coin(numerator, denominator, rng):\n            n += 1\n"
            "        negative = rng.integers(3) == 1\n        if n == 0 and negative:\n            continue\n        noise.append(-n if negative else n)\n    return noise",
            "`3` is the wrong value",
        ),
    ],
    "gdp/noisy_counts": [
        ("    return counts + rng.normal(0, math.sqrt(len(counts) + 1) / mu, len(counts))", "`len(counts) + 1`"),
    ],
    "dpsgd/noisy_sum": [
        ("    d = noise_multiplier * clip_norm\n    return clipped.sum(axis=0) + rng.normal(0, d + clip_norm, clipped.shape[1])", "`d + clip_norm`"),
    ],
    "dpsgd/poisson_batches": [
        ("    return [np.flatnonzero(rng.random(n) < sample_rate ** 2) for _ in range(steps)]", "`** 2` is too much in `sample_rate ** 2`"),
        ("    return [np.flatnonzero(rng.random(n) < sample_rate)[1:] for _ in range(steps)]", "begins or ends at the wrong place"),
    ],
}  # fmt: skip
CASES = [(id, *each) for id, every in WRONG_ANSWERS.items() for each in every]


def answer_to(exercise, body):
    """The answer with this body."""
    arguments = ", ".join(name for name in exercise.cases(np.random.default_rng(0))[0])
    function = written(f"def {exercise.function}({arguments}):\n{body}\n", exercise.function)
    function.__globals__.update(np=np, math=math, machine=machine)
    return function


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize(("id", "body", "told"), CASES)
def test_what_is_wrong_in_it_is_told_by_its_line(id, body, told):
    exercise = course.find(id)
    verdict = exercise.check(answer_to(exercise, body), 1)
    assert verdict.state == WRONG
    if told is None:
        assert MENDED not in verdict.message, "a right answer is not reached by one change"
    else:
        assert told in verdict.message, verdict.message


def test_what_comes_from_a_learners_process_may_be_anything():
    """A change that mends, and of which a sentence cannot be made: nothing is told, and nothing breaks."""
    exercise = course.find("laplace/laplace_mechanism")
    cases = exercise.domain.draw(np.random.default_rng(1))
    right = Cases(cases).given(exercise.formulas[0])

    def watch(cases, seconds, exchanges):
        return [[0, "dropped", {}, "a", 1]] if exchanges is None else [[0, right[: len(cases)]]]

    wrong = [value + 1 for value in right]
    alike = dataclasses.replace(square, reference=exercise.formulas[0])
    assert diagnosis.in_its_text(alike, cases, wrong, watch) is None


@pytest.mark.weekly("every random exercise is checked")
def test_an_array_for_whole_numbers_is_told_as_that_and_as_nothing_else():
    exercise = course.find("laplace/laplace_mechanism")
    body = "    noisy = np.zeros_like(value)\n    for i in range(len(value)):\n        noisy[i] = value[i] + rng.laplace(0, sensitivity / epsilon)\n    return noisy"
    for seed in range(4):
        message = exercise.check(answer_to(exercise, body), seed).message
        assert message.startswith("Your result is an array of whole numbers")
        assert "Line" not in message


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each takes seconds of draws")
@pytest.mark.parametrize(("of_size", "told"), [("1, denominator", True), ("numerator, denominator + 1", False)])
def test_an_argument_that_changes_no_random_number_is_told(of_size, told):
    exercise = course.find("machine/whole_noise")
    body = f"    found = []\n    while len(found) < size:\n        n = 0\n        while machine.coin({of_size}, rng):\n            n += 1\n        if n or rng.integers(2):\n            found.append(n)\n    return found"
    message = exercise.check(answer_to(exercise, body), 0).message
    assert message.startswith("Numbers below 0: 0 of"), "what never happens is told first"
    assert "times as large as right ones where `numerator` = " in message
    assert ("Your result does not change with `numerator`" in message) == told


def test_who_draws_otherwise_is_told_what_is_measured_and_nothing_false():
    exercise = course.find("laplace/laplace_mechanism")
    body = "    b = sensitivity / epsilon + 1 / 7\n    return value + rng.exponential(b, len(value)) - rng.exponential(b, len(value))"
    message = exercise.check(answer_to(exercise, body), 1).message
    assert "line" not in message.lower()


@pytest.mark.in_turn("seconds of checks")
def test_how_many_random_numbers_are_drawn_is_told_where_it_is_not_as_many_as_ours():
    exercise = course.find("laplace/private_mean")
    clipped = "    mine = np.clip(values, low, high)\n    count = len(mine) + rng.laplace(0, 1 / epsilon_count)\n"
    each = f"{clipped}    return (mine + rng.laplace(0, max(-low, high) / epsilon_sum, len(mine))).sum() / count"
    message = exercise.check(answer_to(exercise, each), 1).message
    assert "random numbers, and ours 2." in message
    once = f"{clipped}    return (mine.sum() + rng.normal(0, max(-low, high) / epsilon_sum)) / count"
    assert "random numbers" not in exercise.check(answer_to(exercise, once), 1).message
    dice = course.find("dpsgd/poisson_batches")  # whole numbers take half of the bits
    thrown = "    return [np.flatnonzero(rng.integers(0, round(1 / sample_rate), size=n) == 0) for _ in range(steps)]"
    message = dice.check(answer_to(dice, thrown), 1).message
    assert "people drawn" in message
    assert "random numbers" not in message


@pytest.mark.in_turn("seconds of checks")
def test_noise_from_a_copy_of_the_generator_is_seen_and_from_its_children_allowed():
    exercise = course.find("laplace/laplace_mechanism")
    body = "    {}\n    return value + mine.laplace(0, sensitivity / epsilon, len(value))"
    for begin, state in (
        ("import copy; mine = copy.deepcopy(rng)", WRONG),
        ("mine = rng.spawn(1)[0]", RIGHT),
        ("mine = np.random.default_rng(rng.integers(2**63))", RIGHT),
    ):
        verdict = exercise.check(answer_to(exercise, body.format(begin)), 1)
        assert verdict.state == state, verdict.message
        assert ("from a copy of it" in verdict.message) == (state == WRONG)
