"""Why an answer is wrong: what is said is true of the answer, agrees on inputs drawn afresh, and is never the formula."""

import dataclasses
import functools
import math
import re
import types

import numpy as np
import pytest
from support import by_profile, by_turns

from dpcourse import course
from dpcourse.checking import (
    RIGHT,
    WRONG,
    Exercise,
    Misconception,
    Noise,
    OpenExercise,
    RandomExercise,
    a_number,
    diagnosis,
    exercise,
    numbers_like,
    several,
    true_or_false,
)
from dpcourse.checking.calling.program import TooLong
from dpcourse.checking.diagnosis import mutants
from dpcourse.checking.diagnosis.words import SENTENCES, WHOLE
from dpcourse.grading.judge import submission
from dpcourse.grading.result import told

SOME_MUTANTS = by_turns("mutants explained, by their places", range(0, 600, 60), range(600))
SEEDS = range(by_profile("inputs on which an answer depends", 1, 5))


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """What is found must not depend on how fast the machine is just now."""
    for limit in ("SECONDS", "FOR_MUTANTS", "FOR_ANSWERS"):
        monkeypatch.setattr(diagnosis, limit, 60)


def spread(size, k, slack):
    return math.sqrt(2 * k * math.log(1 / slack)) * size + k * size * math.expm1(size)


def draw(rng):
    return [
        {"size": float(rng.uniform(0.1, 0.6)), "k": int(rng.integers(3, 90)), "slack": float(rng.uniform(1e-6, 0.1))}
        for _ in range(2)
    ]


walk = Exercise(
    id="odd/walk", number="9.2", title="Walk", good_for="testing", difficulty=1, minutes=1, points=1,
    draw=draw, reference=spread, returns=a_number, misconceptions=(), hints=(), seconds=2.0,
)  # fmt: skip

lists = dataclasses.replace(
    walk,
    draw=lambda rng: [
        {"xs": rng.uniform(1, 5, int(rng.integers(3, 7))).round(3).tolist(), "c": float(rng.uniform(2, 3))}
    ],
    reference=lambda xs, c: c * sum(x * x for x in xs),
)
curve = dataclasses.replace(
    walk,
    draw=lambda rng: [{"alpha": np.sort(rng.uniform(0.01, 1, 6)), "p": float(rng.uniform(0.1, 0.9))} for _ in range(2)],
    reference=lambda alpha, p: 1 - alpha**p,
    returns=numbers_like("alpha"),
)
pair = dataclasses.replace(
    walk, reference=lambda size, k, slack: (k * size, slack + size), returns=several("total", "chance")
)

cut = dataclasses.replace(
    walk,
    draw=lambda rng: [{"size": float(rng.uniform(-4, 4)), "k": float(rng.uniform(0, 1))} for _ in range(20)],
    reference=lambda size, k: min(max(size + k, -1.0), 1 - k),
)


def unread(answer):
    """The same function without a text that can be read: of another, the place would be told."""
    code = answer.__code__.replace(co_filename="<nowhere>")
    return types.FunctionType(code, answer.__globals__, answer.__name__, answer.__defaults__, answer.__closure__)


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (walk, lambda size, k, slack: -spread(size, k, slack), "opposite sign"),
        (walk, lambda size, k, slack: spread(size, k, 0.0123), "`slack` is 0.0123, whatever it is given as"),
        (walk, lambda size, k, slack: spread(size, 17, slack), "`k` is 17, whatever it is given as"),
        (walk, lambda size, k, slack: round(spread(size, k, slack), 2), "rounded"),
        (walk, lambda size, k, slack: 100 * spread(size, k, slack), "100 times too large"),
        (walk, lambda size, k, slack: spread(size, k, slack) / math.sqrt(2), "1 over the square root of 2"),
        (walk, lambda size, k, slack: k * spread(size, k, slack), "the right one times `k`"),
        (walk, lambda size, k, slack: spread(slack, k, size), "`size` and `slack` change places"),
        (walk, lambda size, k, slack: spread(size, 2 * k, slack), "twice `k` stands where `k` belongs"),
        (walk, lambda size, k, slack: spread(size, k, size), "`size` stands where `slack` belongs"),
        (walk, lambda size, k, slack: math.sqrt(2 * k * math.log10(1 / slack)) * size + k * size * math.expm1(size), "`log10` is taken where `log` belongs under the square root"),
        (walk, lambda size, k, slack: math.sqrt(2 * k * math.log(1 / slack)) * size - k * size * math.expm1(size), "a sign is turned"),
        (walk, lambda size, k, slack: 2 * k * math.log(1 / slack) * size + k * size * math.expm1(size), "the square root is left out"),
        (walk, lambda size, k, slack: math.sqrt(2 * k * math.log(1 / slack)) * size + k * size * (math.exp(size) + 1), "`+` is done where `-` belongs"),
        (walk, lambda size, k, slack: 7.0, "Your result is 7 on every input tried."),
        (walk, lambda size, k, slack: size, "You return `size` as it is given."),
        (lists, lambda xs, c: c * sum(xs), "of each entry of `xs`"),
        (lists, lambda xs, c: c * sum(x * x for x in xs[1:]), "the first entry of `xs` is left out"),
        (lists, lambda xs, c: sum(x * x for x in xs), "divided by `c`"),
        (curve, lambda alpha, p: alpha**p, "Your result is 1 minus the right one."),
        (curve, lambda alpha, p: (1 - alpha**p)[::-1], "entries of the result are in reversed order"),
        (curve, lambda alpha, p: np.r_[0.0, (1 - alpha**p)[1:]], "Right but for the first entry."),
        (cut, lambda size, k: min(size + k, 1 - k), "Right, but where your result is below -1: there -1 is right."),
        (cut, lambda size, k: max(size + k, -1.0), "Right, but where your result is above 1 - `k`: there 1 - `k` is right."),
        (cut, lambda size, k: min(max(size + k, -1.0), 1 - k, 0.3), "Right, but where the right result is above 0.3: there you return 0.3."),
        (cut, lambda size, k: max(min(size + k, 1 - k), -0.7), "Right, but where the right result is below -0.7: there you return -0.7."),
        (cut, lambda size, k: size + k, "a result below -1 is left as it is, and a result above 1 - `k` is left as it is"),
        (pair, lambda size, k, slack: (slack + size, k * size), "`total`, `chance` is the order that is asked for"),
        (pair, lambda size, k, slack: (k * size, slack), "`total` is right. `chance`: You return `slack` as it is given."),
    ],
)  # fmt: skip
def test_a_single_change_is_named(exercise, answer, said):
    for seed in range(3):
        verdict = exercise.check(unread(answer), seed)
        assert (verdict.state, verdict.found_by) == (WRONG, "explanation"), verdict
        assert said in verdict.message


def test_what_nothing_explains_is_measured():
    verdict = walk.check(lambda size, k, slack: 3 + math.sin(40 * size) + k**1.1, 1)
    assert verdict.found_by in ("measurement", "explanation")
    assert "does not change with `slack`" in verdict.message


def test_an_order_on_which_nothing_should_depend_is_told():
    verdict = lists.check(unread(lambda xs, c: c * sum(x * x for x in xs) + xs[0] - xs[-1]), 1)
    assert "depends on the order in which the entries of `xs` stand" in verdict.message
    assert "the order" not in lists.check(unread(lambda xs, c: c * sum(x * x + x for x in xs)), 1).message


def test_an_answer_that_is_nearly_always_the_same_is_not_said_to_depend_on_nothing():
    """Another input would hardly change it, whatever it depends on."""
    some = dataclasses.replace(
        lists,
        draw=lambda rng: [case for _ in range(60) for case in lists.draw(rng)],
        reference=lambda xs, c: c + xs[0] / 10 > 2.8,
        returns=true_or_false,
    )
    independent = some.check(unread(lambda xs, c: xs[0] > 2), 1)
    assert "does not change with `c`" in independent.message
    nearly_always = some.check(unread(lambda xs, c: xs[0] > 1.5 or c > 2.9), 1)
    assert nearly_always.state == WRONG
    assert "does not change" not in nearly_always.message


def test_where_lists_always_come_in_order_nothing_is_said_of_it():
    rising = dataclasses.replace(
        lists, draw=lambda rng: [case | {"xs": sorted(case["xs"])} for case in lists.draw(rng)]
    )
    verdict = rising.check(unread(lambda xs, c: c * sum(x * x for x in xs) + xs[0] - xs[-1]), 1)
    assert verdict.state == WRONG
    assert "the order" not in verdict.message


def test_without_further_answers_nothing_is_explained():
    """Two inputs agree with many an explanation by chance."""
    cases = walk.cases(np.random.default_rng(0))
    outcomes = walk.probe(lambda size, k, slack: -spread(size, k, slack), cases)
    assert walk.judge(cases, outcomes).found_by == "measurement"


def test_an_answer_that_fails_on_further_inputs_is_wrong_all_the_same():
    seen = []

    def breaks(size, k, slack):
        seen.append(k)
        return 1.0 if len(seen) <= 2 else 1 / 0

    verdict = walk.check(breaks, 0)
    assert verdict.state == WRONG
    assert verdict.found_by in ("measurement", "case")


def test_a_right_answer_is_never_explained():
    for seed in range(20):
        verdict = walk.check(spread, seed)
        assert (verdict.state, verdict.found_by) == (RIGHT, None)


def differing(exercise, cases):
    """The mutants of a reference that give other values on these cases, without an error."""
    for change, mutant in mutants.Program(exercise.reference).mutants(exercise.folder):
        try:
            values = [float(mutant(*case.values())) for case in cases]
            right = [float(exercise.reference(*case.values())) for case in cases]
        except Exception:
            continue
        if np.isfinite(values).all() and not np.allclose(values, right, 1e-4):
            yield change, mutant


@pytest.mark.in_turn("seconds of checks")
def test_nine_in_ten_mutants_of_a_reference_are_explained():
    cases = [case for seed in range(3) for case in draw(np.random.default_rng(seed))]
    every = list(differing(walk, cases))
    some = [every[place] for place in SOME_MUTANTS if place < len(every)]  # each takes up to a second or two
    found = [walk.check(mutant, 5).found_by for _, mutant in some]
    assert len(found) > 1
    assert found.count("explanation") >= 0.9 * len(found)


def test_a_mutant_ends():
    def countdown(n):
        total = 0
        while n > 0:
            total += n
            n = n - 1
        return total

    results = []
    for _, mutant in mutants.Program(countdown).mutants():
        try:
            results.append(mutant(5))
        except Exception as error:
            results.append(type(error))
    assert TooLong in results
    assert 15 not in {mutant for mutant in results[:1]}


def test_a_mutant_changes_nothing_but_itself():
    before = [exercise.reference for exercise in course.every_exercise()]
    exercise = course.find("composition/advanced_composition")
    case = exercise.cases(np.random.default_rng(0))[0]
    right = exercise.reference(*case.values())
    for _, mutant in mutants.Program(exercise.reference).mutants(exercise.folder):
        try:
            mutant(*case.values())
        except Exception:
            continue
    assert exercise.reference(*case.values()) == right
    assert [exercise.reference for exercise in course.every_exercise()] == before


def test_every_kind_has_words():
    assert all(isinstance(cost, float) and words is not None for cost, words in SENTENCES.values())
    assert all(words.endswith(".") for words in WHOLE.values())


@pytest.mark.parametrize(
    ("draw_noise", "said"),
    [
        (lambda rng: rng.laplace(0, 1.2, 20_000), "times as large as it should be"),
        (lambda rng: rng.laplace(1, 1, 20_000), "in units of its right deviation; it should be 0."),
        (lambda rng: rng.normal(0, np.sqrt(2), 20_000), "Your noise looks like Gaussian noise; it should be Laplace noise."),
        (lambda rng: rng.uniform(-2, 2, 20_000), "Your noise looks like uniform noise; it should be Laplace noise."),
        (lambda rng: rng.exponential(1, 20_000), "It looks like exponential noise"),
    ],
)  # fmt: skip
def test_noise_is_measured(draw_noise, said):
    for seed in range(5):
        noise = Noise("laplace", draw_noise(np.random.default_rng(seed)))
        assert said in " ".join(noise.sentences())


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize("law", ["laplace", "norm"])
def test_the_scale_of_noise_is_tested_exactly(law):
    """Under the law itself a p-value below t has probability t; five percent off are seen."""
    p_values = [Noise(law, getattr(np.random.default_rng(seed), {"norm": "normal"}.get(law, law))(0, 1, 500)).p_value for seed in range(800)]  # fmt: skip
    for t in (0.05, 0.3, 0.7):
        assert abs(np.mean(np.array(p_values) <= t) - t) < 5 * math.sqrt(t * (1 - t) / 800)
    for scale in (0.95, 1.05):
        noise = getattr(np.random.default_rng(1), {"norm": "normal"}.get(law, law))(0, scale, 28_000)
        assert Noise(law, noise).p_value < 1e-6 / 13


def test_where_only_zeros_are_right_no_accidental_condition_is_named():
    cut = dataclasses.replace(walk, reference=lambda size, k, slack: max(0.0, size - 0.3) * k)
    verdict = cut.check(unread(lambda size, k, slack: max(0.0, size - 0.3) * math.log(k + size)), 4)
    said = r"Right only where the right result is 0\. Your result is too small on the others: .* the right one\."
    assert re.match(said, verdict.message), verdict.message
    assert verdict.found_by == "measurement"


def test_noise_that_is_divided_by_noise_is_compared_without_its_largest_values():
    def noise(seed, size):
        rng = np.random.default_rng(seed)
        return Noise.of_groups("laplace", {"": size * rng.laplace(size=1500) / rng.normal(size=1500)})

    for seed in range(50):
        assert noise(seed, 1).is_as_large(noise(seed + 100, 1))
        assert not noise(seed, 1).is_as_large(noise(seed + 100, 2.5))


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize(("law", "draw_noise"), [("laplace", "laplace"), ("norm", "normal")])
def test_noise_of_another_size_in_each_setting_is_told_for_each(law, draw_noise):
    def noise(seed, *sizes):
        rng = np.random.default_rng(seed)
        return Noise.of_groups(law, {f"with n = {i}": getattr(rng, draw_noise)(0, size, 4000) for i, size in enumerate(sizes)})  # fmt: skip

    for seed in range(20):
        assert noise(seed, 1, 1).is_as_large(noise(seed + 100, 1, 1))
        assert not noise(seed, 0.5, 2).is_as_large(noise(seed + 100, 1, 1))
        assert not noise(seed, 1, 0.8).is_as_large(noise(seed + 100, 1, 1))
        assert noise(seed, 1.3, 1.3).is_even
        assert " ".join(noise(seed, 1, 2).sentences()).endswith("times as large as it should be with n = 1.")
        said = " ".join(noise(seed, 0.5, 2).sentences())
        assert re.fullmatch(r"Your noise is 0\.\d+ times as large as it should be with n = 0, and [12](\.\d+)? times with n = 1\.", said)  # fmt: skip


@pytest.mark.in_turn("seconds of checks")
def test_a_formula_of_the_arguments_is_told():
    for wrong, said in (
        (lambda size, k, slack: size + math.sqrt(k), "You return `size` plus the square root of `k`."),
        (lambda size, k, slack: size / k, "You return `size` over `k`."),
        (lambda size, k, slack: math.exp(size) * slack, "You return e to the power of `size`, times `slack`."),
        (lambda size, k, slack: spread(size, k, slack) + 0.25, "Your result is the right one plus 0.25."),
        (
            lambda size, k, slack: spread(size, k, slack) * k / size,
            "Your result is the right one divided by `size` over `k`: a division too many, or a factor that is missing.",
        ),
    ):
        verdict = walk.check(wrong, 3)
        assert (verdict.message, verdict.found_by) == (said, "explanation")


def test_the_grader_says_why_from_data_alone():
    """What a further answer gives comes from the worker; the mark does not change."""
    exercise = course.find("composition/worst_posterior")

    def squared(prior, epsilon):
        return exercise.reference(prior, epsilon) ** 2

    rng = np.random.default_rng(0)
    cases = exercise.cases(rng)
    verdict = exercise.judge(
        cases, exercise.probe(squared, cases), lambda further, seconds: exercise.probe(squared, further), rng
    )
    assert told(verdict).message == "Your result is the square of the right one."
    assert told(verdict).state == submission.WRONG


# ---- what is said is true


def test_a_misconception_is_told_only_if_it_holds_on_further_inputs():
    """On the inputs of the check the largest was the last; on others it is not."""
    largest = Misconception("largest", "You took the largest.", lambda xs, c: max(xs))
    exercise = dataclasses.replace(lists, misconceptions=(largest,))
    cases = [{"xs": [1.0, 2.0, 5.0], "c": 2.0}]
    for answer, told_so in ((lambda xs, c: xs[-1], False), (lambda xs, c: max(xs), True)):
        asked = functools.partial(_answers_of, exercise, answer)
        verdict = exercise.judge(cases, exercise.probe(answer, cases), asked, 0)
        assert (verdict.misconception == "largest") == told_so
        assert (verdict.message == "You took the largest.") == told_so


def _answers_of(exercise, answer, cases, seconds):
    return exercise.probe(answer, cases)


@pytest.mark.in_turn("seconds of checks")
def test_what_is_right_on_some_inputs_is_compared_on_the_others():
    def cut(size, k, slack):
        return spread(size, k, slack) * (1.5 if k > 40 else 1) + (0.01 if k % 7 == 0 else 0)

    message = walk.check(cut, 1).message
    assert "on every input" not in message
    assert "on the others" in message or "Right wherever" in message


def test_a_negative_result_is_not_called_too_large_or_too_small():
    signed = dataclasses.replace(walk, reference=lambda size, k, slack: size * (-1) ** k * (1 + k))
    message = signed.check(lambda size, k, slack: size * (-1) ** k * (2 + math.sqrt(k)) * 0.3, 0).message
    assert "times the right one on every input tried" in message
    assert "too large" not in message
    assert "too small" not in message


@pytest.mark.in_turn("seconds of checks")
def test_an_argument_on_which_an_answer_depends_is_not_said_to_be_without_effect():
    for answer in (
        lambda size, k, slack: 3 + math.sin(40 * size) + k**1.1 + (0 if slack < 0.09 else 1),
        lambda size, k, slack: 3 + math.sin(40 * size) + (k**1.1 if k > 60 else 5.0),
    ):
        for seed in SEEDS:
            message = walk.check(answer, seed).message
            assert "does not change with `k`" not in message
            assert "does not change with `size`" not in message


def test_nothing_is_asked_of_an_answer_after_the_time_is_up(monkeypatch):
    """A slow answer holds up nobody for longer than SECONDS."""
    monkeypatch.setattr(diagnosis, "SECONDS", 0)
    monkeypatch.setattr(exercise, "FOR_AGAIN", 0)
    cases, asked = walk.cases(np.random.default_rng(0)) * 3, []
    values = [spread(**case) + k for k, case in enumerate(cases)]
    walk.judge(cases, [{"value": value} for value in values], lambda further, seconds: asked.append(seconds) or [], 0)
    assert asked
    assert max(asked) == 0


@pytest.mark.parametrize("kind", [Exercise, OpenExercise, RandomExercise])
def test_a_diagnosis_that_fails_leaves_an_answer_wrong(kind, monkeypatch):
    """The judge says that the answer is wrong all the same, and a warning says what failed."""
    every = (each for lesson in course.lessons() for each in lesson.exercises)
    found = next(each for each in every if type(each) is kind)
    monkeypatch.setattr(kind, "_diagnosed", lambda *_: 1 / 0)
    with pytest.warns(RuntimeWarning, match="the diagnosis failed with ZeroDivisionError"):
        assert found.diagnose([], [], None, 0).message == exercise.UNKNOWN


def test_results_that_are_lists_of_unequal_arrays_may_be_all_0():
    empty, some = np.array([], dtype=int), np.array([0, 3])
    assert diagnosis._is_zero([empty, np.zeros(2)])
    assert not diagnosis._is_zero([empty, some])
