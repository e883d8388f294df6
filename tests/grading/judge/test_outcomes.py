"""Every judge has a verdict on whatever a worker sends."""

import dataclasses

import made_up_language
import numpy as np
import pytest
from grading.plain import values
from hypothesis import given
from hypothesis import strategies as st
from support import by_profile

from dpcourse import course
from dpcourse.checking import RIGHT, WRONG
from dpcourse.checking.calling import messages
from dpcourse.checking.calling.values import plain
from dpcourse.grading.judge.outcomes import MOST_SAID, sound
from dpcourse.grading.result import result, told
from dpcourse.grading.run import wire

STRANGE = [
    None, True, 0, -1, 2**62, 10**400, 0.0, -0.5, float("nan"), float("inf"), 1e308, "", "x", [], (), [[]], [None], ["x"],
    [True] * 5, [1.0, [2.0]], (1.0, 2.0), (float("nan"),) * 2, (1.0,) * 4, ("x",) * 2, {"type": "P"}, [{"type": "P"}] * 5,
    np.array(3.0), np.zeros(0), np.zeros((2, 2)), np.array([True, False]), np.array([2**64 - 1], dtype=np.uint64),
    (np.zeros(3), np.zeros(4)), [np.zeros(3), True, True, True, False],
]  # fmt: skip
SOME = by_profile("strange values: every so-manieth", 5, 1)
FORGED_TO = by_profile("exercises told forged outcomes: every so-manieth", 6, 1)
MOST_CASES = 100  # of an exercise whose outcomes are all forged: of more they would take gigabytes
PLACES = by_profile("strange values: in all places and in the last, one of so many", 2, 1)


@pytest.mark.parametrize("exercise", list(course.every_exercise()), ids=lambda exercise: exercise.id)
@pytest.mark.filterwarnings("ignore")
def test_every_judge_has_a_verdict_on_whatever_comes(exercise):
    cases = exercise.cases(np.random.default_rng(0))
    right = [plain(outcome["value"]) for outcome in dataclasses.replace(exercise, forbidden=()).probe(exercise.reference, cases)]  # fmt: skip
    strange = [*STRANGE, *spoiled(right[0])]
    place = int(exercise.number.split(".")[1])
    for i, value in enumerate(strange):
        if (i + place) % SOME:  # another exercise of the lesson gets it
            continue
        for answers in ([value] * len(cases), [*right[:-1], value])[i % PLACES :: PLACES]:
            outcomes = sound([{"value": answer} for answer in answers], 1)
            points = told(exercise.judge(cases, outcomes)).points
            assert points in (0, exercise.points) or (getattr(exercise, "parts", None) and 0 < points < exercise.points)


@pytest.mark.filterwarnings("ignore")
def test_numbers_whose_sum_is_no_number_are_judged_by_an_attack():
    exercise = course.find("gdp/noisy_counts")
    cases = exercise.cases(np.random.default_rng(0))
    outcomes = sound([{"value": np.full(len(case["counts"]), 1e308)} for case in cases], 1)
    assert told(exercise.judge(cases, outcomes)).state == WRONG


def spoiled(value):
    """A right value with something wrong in it."""
    if isinstance(value, np.ndarray):
        yield from (np.full(value.shape, item) for item in (np.nan, np.inf, 1e308, 2**62))
        yield from (value.astype(np.int8), value.tolist(), value[:-1], value[:, None], [[item] for item in value])
    elif isinstance(value, (list, tuple)):
        yield from (type(value)([item, *value[1:]]) for item in (None, "x", [], np.zeros(3), float("nan"), 2**62))
    else:
        yield from ([value], (value,), np.array([value]), -value, str(value))


@pytest.mark.in_turn("seconds in a sandbox")
@given(st.lists(st.dictionaries(st.sampled_from(["value", "blank", "printed", "printed_count", "raised", "timeout", "calls", "drawn", "changed", "x"]), values)) | values)  # fmt: skip
def test_forged_outcomes_are_judged_like_any_others(outcomes):
    exercise = course.find("composition/worst_posterior")
    cases = exercise.cases(np.random.default_rng(0))
    assert exercise.judge(cases, sound(outcomes, 1)).state != RIGHT


@pytest.mark.weekly("a sandbox in another language")
def test_what_a_worker_says_of_an_error_is_said_in_the_language_of_the_judge():
    """Data of a known message is filled in; anything else is shown as the text that it is."""
    exercise = course.find("composition/worst_posterior")
    cases = exercise.cases(np.random.default_rng(0))

    def message(outcomes):
        packed = wire.pack(outcomes)[wire.HEADER.size :]
        with made_up_language.spoken():
            return told(exercise.judge(cases, sound(wire.unpack(packed, b""), 1))).message

    found = message(exercise.probe(lambda prior, epsilon: 1 / 0, cases))
    assert found.startswith("⟦⟦Your function stopped with ZeroDivisionError (")
    assert message([{"raised": "Your function stopped."}]) == "Your function stopped."
    forged = {"message": "{x.__class__:>99999999}", "fields": {"x": "y"}}
    assert message([{"raised": forged}]) == forged["message"]
    assert "⟦`check` needs the function itself, not ⟦a number⟧" in message(exercise.probe(3, cases))


# ---- nobody's text is longer than it may be


def nested(levels):
    """A message of ours with a message in each of its fields, and so on."""
    field = nested(levels - 1) if levels else "x" * messages.LONGEST
    return {"message": messages.STOPPED_AT, "fields": {"kind": field, "message": field, "line": field}}


def lists(depth, leaf):
    return [lists(depth - 1, leaf)] * 8 if depth else leaf


LONG = "\n" + "x" * wire.LONGEST_TEXT
FORGED = {
    "a message in its fields": [{"raised": nested(7)}],
    "in two fields": [{"raised": nested(2)}],
    "many fields": [{"raised": {"message": "x", "fields": {str(number): "x" for number in range(10_000)}}}],
    "a long text": [{key: LONG} for key in ("raised", "signature", "forbidden", "changed", "outside", "not_callable")],
    "a type with a long name": [{"value": {"type": LONG}}],
    "lists of long texts": [{"value": lists(4, "x" * 200)}],
    "lists of types": [{"value": lists(4, {"type": LONG})}],
    "lists of numbers": [{"value": lists(4, -1.23456e-300)}],
    "tuples in lists": [{"value": [(LONG, [LONG] * 100)] * 20}],
    "much that is printed": [{"value": LONG, "printed": LONG, "printed_count": 2**62}],
}


@pytest.mark.in_turn("seconds in a sandbox")
@pytest.mark.parametrize("outcomes", FORGED.values(), ids=FORGED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_said_of_an_exercise_is_bounded_whatever_comes(outcomes):
    for exercise in course.every_exercise()[::FORGED_TO]:
        cases = exercise.cases(np.random.default_rng(0))
        as_many = (outcomes * len(cases))[: len(cases)] if len(cases) < MOST_CASES else outcomes
        for told_of in (as_many, [*[{"value": 0.5}] * (len(cases) - 1), outcomes[0]], [outcomes[-1]]):
            mark = told(exercise.judge(cases, sound(told_of, 1), None, 1))
            assert len(result(exercise.lesson, "graded", marks=[mark]).as_json()) <= MOST_SAID
            for line in (mark.message, *mark.seen, *mark.observed):
                assert len(line.splitlines()) <= 1


def test_what_honest_answers_give_goes_through_as_it_is():
    for value in (
        1.5,
        "a text",
        [[1.0, 2.0]] * 500,
        [(1, [2.0])],
        ["name"] * 30,
        {"type": "Curve"},
        list(range(10_000)),
    ):
        assert sound([{"value": value}], 1)[0]["value"] == value
