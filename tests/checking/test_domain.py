"""What the inputs of an exercise may be: draws, corners, plain inputs and the header follow from one sentence each."""

import dataclasses
import itertools
import math
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import by_profile

from dpcourse import course
from dpcourse.checking import (
    RIGHT,
    WRONG,
    Count,
    Domain,
    Exercise,
    Fields,
    Made,
    Misconception,
    Number,
    OneOf,
    RandomExercise,
    Seed,
    Several,
    Whole,
    a_number,
    numbers_like,
    true_or_false,
)
from dpcourse.checking.domain import size

EVERY = {exercise.id: exercise for lesson in course.lessons() for exercise in lesson.exercises}
seeds = st.integers(0, 2**31).map(np.random.default_rng)
DRAWS = range(by_profile("draws of inputs that are compared with the header", 1, 12))


def told(domain):
    return str(domain.told())


@pytest.mark.parametrize("id", EVERY)
def test_no_learner_is_asked_for_more_than_the_header_prints(id):
    exercise = EVERY[id]
    assert told(exercise.domain), "a header says what the inputs may be"
    for seed in DRAWS:
        rng = np.random.default_rng(seed)
        cases = [*exercise.draw(rng)[:50], *exercise.domain.searched(rng), *exercise.domain.plain(rng)]
        assert all(exercise.domain.has(case) for case in cases)
        assert all({*case} == {*cases[0]} for case in cases)


@st.composite
def domains(draw):
    low = draw(st.floats(0.001, 5))
    high = draw(st.floats(low, 10))
    first = draw(st.integers(0, 5))
    whole = Whole(first, first + draw(st.integers(0, 30)))
    least = draw(st.integers(1, 3))
    several = Several(Number(low, high), least, least + draw(st.integers(0, 6)), array=draw(st.booleans()))
    return Domain(
        {"x": Number(low, high), "k": whole, "xs": several, "ks": Several(whole, like="xs"), "one": OneOf((2, 3))}
    )


@given(domains(), seeds)
def test_all_that_comes_from_a_domain_is_in_it_and_its_ends_are_tried(domain, rng):
    searched = domain.searched(rng)
    for case in (*domain.draw(rng), *searched, *domain.plain(rng)):
        assert domain.has(case)
        assert len(case["xs"]) == len(case["ks"])
    for name in ("x", "k"):
        kind = domain.kinds[name]
        assert {kind.low, kind.high} <= {case[name] for case in searched}
    lengths = {len(case["xs"]) for case in searched}
    assert {domain.kinds["xs"].least, domain.kinds["xs"].most} <= lengths
    assert any(len(set(map(float, case["xs"]))) == 1 for case in searched)


@given(seeds)
def test_ends_of_all_arguments_meet_and_lists_are_as_long_as_they_may_be(rng):
    """An answer with the smaller of two bounds may be wrong only there."""
    domain = Domain({"xs": Several(Number(0.1, 2), 1, 10), "ys": Several(Number(1e-9, 0.5), like="xs")})
    searched = domain.searched(rng)
    for x, y, count in itertools.product((0.1, 2.0), (1e-9, 0.5), (1, 10)):
        assert {"xs": [x] * count, "ys": [y] * count} in searched


@pytest.mark.in_turn("seconds of checks")
@given(domains(), st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_and_plain_inputs_come_by_size(domain, seed):
    once, again = (repr(domain.searched(np.random.default_rng(seed))) for _ in range(2))
    assert once == again
    sizes = [size(case) for case in domain.plain(np.random.default_rng(seed))]
    assert sizes == sorted(sizes)


def test_what_holds_between_the_arguments_holds_in_every_case():
    domain = Domain({"a": Whole(0, 20), "b": Whole(0, 20)}, where=lambda a, b: a < b)
    rng = np.random.default_rng(0)
    assert all(case["a"] < case["b"] for case in (*domain.draw(rng), *domain.searched(rng), *domain.plain(rng)))


def test_where_few_inputs_are_tried_some_have_all_arguments_at_a_corner_and_some_none():
    domain = Domain({"a": Number(2, 3), "b": Number(4, 5)}, most=6)
    for seed in range(20):
        at_corners = [
            (case["a"] in (2, 3)) + (case["b"] in (4, 5)) for case in domain.searched(np.random.default_rng(seed))
        ]
        assert len(at_corners) <= 6
        assert {0, 1, 2} <= set(at_corners)


def test_a_header_says_each_kind_in_words():
    of = lambda kind: told(Domain({"x": kind}))  # noqa: E731
    assert of(Number(1e-9, 3)) == "`x` from 1e-9 to 3"
    assert of(Whole(1, 30_000)) == "`x`: a whole number from 1 to 30,000"
    assert of(OneOf((1, 2, 3))) == "`x` is 1, 2 or 3"
    assert of(OneOf(("A", "B"))) == "`x` is 'A' or 'B'"
    assert of(Several(OneOf((0, 1)), 1, 9)) == "`x`: 1 to 9 entries, each 0 or 1"
    assert (
        of(Fields({"a": OneOf((None, 1)), "b": Number(0, 3)}))
        == '`x`: a dict in which `"a"` is None or 1; `"b"` from 0 to 3'
    )
    assert told(Domain({"p, q": Made(lambda rng: (1, 2), "{name}: two laws")})) == "`p` and `q`: two laws"


FIELDS = Domain({"x": Fields({"a": OneOf((None, 1, 2)), "b": Whole(0, 100), "c": Several(Number(0, 1), 2, 4)})})


@given(seeds)
def test_a_dict_is_searched_field_by_field(rng):
    """Each of them is at each of its corners, also where the others are not, and about what an answer speaks of."""
    searched, plain = FIELDS.searched(rng), FIELDS.plain(rng)
    assert all(FIELDS.has(case) for case in (*searched, *plain, *FIELDS.draw(rng), *FIELDS.aimed([1, 37], rng)))
    assert {case["x"]["a"] for case in searched} == {None, 1, 2}
    assert {0, 1, 100} <= {case["x"]["b"] for case in searched}
    assert {2, 4} <= {len(case["x"]["c"]) for case in searched}
    assert 37 in {case["x"]["b"] for case in FIELDS.aimed([1, 37], rng)}
    assert not FIELDS.has({"x": searched[0]["x"] | {"d": 1}})


@given(seeds)
def test_an_array_of_numbers_holds_whole_ones_now_and_then_where_the_range_has_some(rng):
    kinds = {
        high: {
            case["x"].dtype.kind for case in Domain({"x": Several(Number(0.2, high), 1, 5, array=True)}).searched(rng)
        }
        for high in (0.9, 3)
    }
    assert kinds == {0.9: {"f"}, 3: {"f", "i"}}


def test_two_texts_that_are_equal_are_not_one_object():
    """As where an answer runs in a process of its own: else `is` would be right here and wrong there."""

    def same(one, other):
        return one is other

    exercise = dataclasses.replace(
        root_sum,
        domain=Domain({name: OneOf(("coins", "shuffled")) for name in ("one", "other")}),
        draw=None,
        reference=lambda one, other: one == other,
        returns=true_or_false,
        possible=None,
        misconceptions=(),
    )
    assert exercise.check(lambda one, other: one == other).state == RIGHT
    assert exercise.check(same).state == WRONG


# ---- an exercise that has one

root_sum = Exercise(
    id="gdp/root_sum",
    number="3.1",
    title="The root of the squares",
    good_for="trying",
    difficulty=1,
    minutes=1,
    points=1,
    domain=Domain({"mus": Several(Number(0.1, 3), 1, 12), "k": Whole(1, 100)}),
    draw=lambda rng: [{"mus": [0.5, 0.75], "k": 3}, {"mus": [1.5, 0.25, 2.0], "k": 5}],
    reference=lambda mus, k: math.sqrt(k * sum(mu**2 for mu in mus)),
    returns=a_number,
    possible=Number(0, math.inf),
    misconceptions=(Misconception("sum", "You added.", lambda mus, k: k * sum(mus)),),
    hints=(),
)
right = root_sum.reference
SECRETLY_WRONG = {
    "one entry": lambda mus, k: mus[0] if len(mus) == 1 else right(mus, k),
    "equal entries": lambda mus, k: right(list(dict.fromkeys(mus)), k),
    "sorted": lambda mus, k: right(mus, k) if mus != sorted(mus) or len(mus) < 3 else 0.0,
    "the least": lambda mus, k: right(mus, k) if min(mus) > 0.1 else 0.0,
    "many": lambda mus, k: right(mus[:8], k),
    "k is 1": lambda mus, k: right(mus, k) if k > 1 else 0.0,
    "k is large": lambda mus, k: right(mus, min(k, 60)),
}


@pytest.mark.parametrize("name", SECRETLY_WRONG)
@pytest.mark.parametrize("seed", range(by_profile("checks of answers that are right on usual inputs", 1, 5)))
def test_an_answer_that_is_right_where_inputs_are_usual_does_not_pass(name, seed):
    verdict = root_sum.check(SECRETLY_WRONG[name], seed)
    assert verdict.state == WRONG
    assert verdict.message.startswith("It is right on the first inputs, but not on all that the task allows.")
    assert "right is" in verdict.lines[0]


FAVOURITE = 40_123


def lucky(k):
    return k == 70_707


wide = dataclasses.replace(
    root_sum, domain=Domain({"mus": Several(Number(0.1, 3), 1, 400), "k": Whole(1, 100_000)}), misconceptions=()
)
WRONG_AT_A_NUMBER = {
    "equal": lambda mus, k: 0.0 if k == 31_313 else right(mus, k),
    "one of two": lambda mus, k: 0.0 if k in {17, 31_313} else right(mus, k),
    "up to": lambda mus, k: 0.0 if 31_310 < k <= 31_313 else right(mus, k),
    "of its notebook": lambda mus, k: 0.0 if k == FAVOURITE else right(mus, k),
    "in a helper": lambda mus, k: 0.0 if lucky(k) else right(mus, k),
    "within": lambda mus, k: (lambda j: 0.0 if j == 31_313 else right(mus, k))(k),
    "as many": lambda mus, k: 0.0 if len(mus) == 297 else right(mus, k),
    "an entry": lambda mus, k: 0.0 if mus[-1] == 2.7182 else right(mus, k),
    "between": lambda mus, k: 0.0 if 1.23456 < mus[0] < 1.25 else right(mus, k),
}


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each is searched for long")
@pytest.mark.parametrize("name", WRONG_AT_A_NUMBER)
@pytest.mark.parametrize("seed", range(by_profile("checks of answers that are wrong at a number", 1, 3)))
def test_an_answer_that_is_wrong_at_a_number_that_it_speaks_of_does_not_pass(name, seed):
    verdict = wide.check(WRONG_AT_A_NUMBER[name], seed)
    assert verdict.state == WRONG, verdict
    assert repr(verdict) == repr(wide.check(WRONG_AT_A_NUMBER[name], seed))


@given(domains(), st.lists(st.floats(-1e6, 1e6), max_size=24), seeds)
def test_what_is_aimed_at_numbers_is_in_the_domain(domain, numbers, rng):
    assert all(map(domain.has, domain.aimed(numbers, rng)))


@given(st.integers(0, 2**31))
def test_a_right_answer_passes_with_any_seed(seed):
    assert root_sum.check(lambda mus, k: float(np.linalg.norm(mus)) * k**0.5, seed).state == RIGHT


def test_an_answer_that_stops_on_an_input_of_the_domain_is_told_on_which():
    verdict = root_sum.check(lambda mus, k: right(mus, k) / (k > 1), 0)
    assert "ZeroDivisionError" in verdict.message
    assert "k=1)" in verdict.lines[0]


def test_of_a_wrong_answer_the_smallest_input_is_shown():
    verdict = root_sum.check(lambda mus, k: sum(mus) + k, 0)
    assert verdict.lines == ("root_sum(mus=[1], k=1) gave 2; right is 1",)


def test_the_same_answer_gets_the_same_verdict_by_the_same_seed():
    answer = lambda mus, k: right(mus, min(k, 60))  # noqa: E731
    assert repr(root_sum.check(answer, 3)) == repr(root_sum.check(answer, 3))


def test_what_no_right_result_can_be_is_said_where_no_reason_is_found():
    verdict = root_sum.check(lambda mus, k: math.sin(k * mus[0]) - 3 * mus[-1] ** 2 * k**0.3, 0)
    assert "A right result is never below 0, and yours is" in verdict.message


def test_a_long_array_is_shown_where_it_first_differs():
    numbers = np.arange(20.0)
    seen = root_sum._first_apart(np.where(numbers < 12, numbers, 0), numbers)
    assert list(seen) == ["they first differ at entry 12, counted from 0: 0, and 12 is right"]


def test_an_exercise_without_draw_has_its_inputs_from_the_domain():
    fields = {name: getattr(root_sum, name) for name in ("title", "good_for", "difficulty", "minutes", "points", "reference", "returns", "misconceptions", "hints")}  # fmt: skip
    drawn = Exercise(domain=root_sum.domain, **fields)
    assert all(root_sum.domain.has(case) for case in drawn.draw(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="needs a domain"):
        Exercise(**fields)


# ---- and one whose right answers are random

noisy = RandomExercise(
    id="laplace/noisy",
    number="2.1",
    title="A number with noise",
    good_for="trying",
    difficulty=1,
    minutes=1,
    points=1,
    domain=Domain({"value": Number(0, 100), "scale": Number(0.01, 20), "rng": Seed()}, most=8),
    draw=lambda rng: [{"value": 50.0, "scale": 2.0, "rng": int(rng.integers(2**31)) + run} for run in range(400)],
    reference=lambda value, scale, rng: value + scale * rng.laplace(),
    returns=a_number,
    counts=lambda cases, values: [Count("above 50", sum(value > 50 for value in values), len(values), 0.5)],
    misconceptions=(),
    hints=(),
)
noises = RandomExercise(
    **{
        name: getattr(noisy, name)
        for name in ("id", "number", "title", "good_for", "difficulty", "minutes", "points", "hints")
    },
    domain=Domain({"value": Several(Number(0, 100), 1, 20, array=True), "rng": Seed()}, most=8),
    draw=lambda rng: [{"value": np.full(20, 50.0), "rng": int(rng.integers(2**31)) + run} for run in range(200)],
    reference=lambda value, rng: value + rng.laplace(size=len(value)),
    returns=numbers_like("value"),
    counts=lambda cases, values: [Count("above 50", int((np.array(values) > 50).sum()), 20 * len(values), 0.5)],
    misconceptions=(),
)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (lambda value, rng: value + np.clip(rng.laplace(size=len(value)), -5, 5), WRONG),  # 7 of 1,000
        (lambda value, rng: value + rng.laplace(size=len(value)), RIGHT),
        (lambda value, rng: value - rng.laplace(size=len(value)), RIGHT),
        (lambda value, rng: value + rng.laplace(size=len(value))[::-1], RIGHT),
    ],
)
def test_noise_that_is_ours_but_for_a_few_numbers_does_not_pass(answer, state):
    assert noises.check(answer, 1).state == state
    unread = types.FunctionType(
        answer.__code__.replace(co_filename="<nowhere>"), answer.__globals__
    )  # where, can not be told
    verdict = noises.check(unread, 1)
    assert ("with the same `rng` your result is ours, but for" in str(verdict)) == (state == WRONG)


def test_inputs_at_ends_have_each_end_equally_often():
    domain = Domain({"p": Number(0, 1), "k": Whole(1, 9), "xs": Several(Number(2, 5), 1, 50)})
    vertices = domain.points(np.random.default_rng(0), 4, 4)
    for name, ends in (("p", (0, 1)), ("k", (1, 9)), ("xs", ([2.0], [5.0]))):
        assert [sum(case[name] == end for case in vertices) for end in ends] == [2, 2]


ELSEWHERE_WRONG = {
    "no scale": (lambda value, scale, rng: value + 2 * rng.laplace(), "Only `2 * rng.laplace()` in line"),
    "cut at 0": (lambda value, scale, rng: max(0.0, value + scale * rng.laplace()), "`max` is too much"),
    "value ignored": (lambda value, scale, rng: 50 + scale * rng.laplace(), "come from another law"),
}
"""Answers, and what is told of them."""


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each takes seconds of draws")
@pytest.mark.parametrize("name", ELSEWHERE_WRONG)
def test_a_random_answer_that_has_the_right_law_on_what_is_drawn_only_does_not_pass(name):
    verdicts = [noisy.check(ELSEWHERE_WRONG[name][0], seed) for seed in range(4)]
    assert WRONG in {verdict.state for verdict in verdicts}
    wrong = next(verdict for verdict in verdicts if verdict.state == WRONG)
    assert wrong.message.startswith(
        "It is right on the first inputs, but not on all that the task allows: there your results come from another law."
    )
    assert ", 250 times: half of the results are from" in wrong.lines[0]
    assert ELSEWHERE_WRONG[name][1] in wrong.message


@pytest.mark.weekly("many checks of a random answer; right answers of other forms are tried on a commit")
@given(st.integers(0, 2**31))
@settings(max_examples=10)
def test_a_random_answer_of_the_right_law_passes_in_another_form(seed):
    another = lambda value, scale, rng: value + scale * (rng.exponential() - rng.exponential())  # noqa: E731
    assert noisy.check(another, seed).state == RIGHT


def test_what_an_answer_is_compared_with_is_independent_of_it(monkeypatch):
    correlations = []

    def watched(mine, theirs):
        correlations.append(np.corrcoef(mine, theirs)[0, 1])
        return False

    monkeypatch.setattr("dpcourse.checking.random_exercise.are_of_two_laws", watched)
    minus = lambda value, scale, rng: value - scale * rng.laplace()  # noqa: E731
    assert noisy.check(minus, 0).state == RIGHT
    assert max(map(abs, correlations)) < 0.45  # of 250 pairs: 7 deviations
