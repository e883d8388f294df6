"""The check engine against answers that fail in every way a beginner's (or a joker's) answer fails."""

import dataclasses
import re
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from checking.calling.test_steps import written

from dpcourse import course
from dpcourse.checking import (
    ERROR,
    RIGHT,
    WRONG,
    Exercise,
    Misconception,
    Needed,
    OpenExercise,
    a_number,
    a_whole_number,
    true_or_false,
)
from dpcourse.checking.cases import Cases


def library_square(x):
    return x * x


square = Exercise(
    id="odd/square",
    number="9.1",
    title="Square",
    good_for="testing",
    difficulty=1,
    minutes=1,
    points=2,
    draw=lambda rng: [{"x": float(rng.integers(3, 100))} for _ in range(3)],
    reference=lambda x: x * x,
    returns=a_number,
    misconceptions=(
        Misconception("doubled", "You doubled.", lambda x: 2 * x),
        Misconception("cubed", "You cubed.", lambda x: x**3),
    ),
    hints=("Multiply.", "By itself."),
    forbidden=(library_square,),
    seconds=1.0,
)


def verdict_of(answer):
    return square.check(answer, rng=1)


def test_a_recogniser_that_fails_hides_no_other_reason():
    def fails(cases, values):
        raise ZeroDivisionError("of its own")

    first = Misconception("fails", "You failed.", lambda x: x, recognise=fails)
    broken = dataclasses.replace(square, misconceptions=(first, *square.misconceptions))
    assert broken.check(lambda x: 2 * x, rng=1).misconception == "doubled"
    with pytest.warns(RuntimeWarning, match="'fails' was not looked for: ZeroDivisionError"):
        assert broken.check(lambda x: x + 1, rng=1).state == WRONG


@pytest.mark.parametrize(("numbers", "name"), [(range(3, 12), "doubled"), ([5] * 9, None)])
def test_one_wrong_number_again_and_again_is_no_misconception_in_part(numbers, name):
    cases = Cases([{"x": 100.0}, *({"x": float(x)} for x in numbers)])
    values = [square.reference(100.0), *(2.0 * x for x in numbers)]
    assert getattr(square.in_part(cases, values), "name", None) == name


def test_an_answer_that_gives_something_else_another_time_is_told_that():
    """It keeps something from call to call, or draws noise; what it gave cannot be explained."""

    def keeps(x, seen=[]):  # noqa: B006
        seen.append(x)
        return sum(seen) ** 2

    noise = np.random.default_rng(0)
    for answer in (keeps, lambda x: x * x + noise.normal()):
        verdict = square.check(answer, 0)
        assert verdict.state == WRONG
        assert verdict.message.startswith("Called again with the same, your function gives another result.")
        assert "and later" in str(verdict.observed[0])
    assert "another result" not in square.check(lambda x: x * x + 1, 0).message


def test_a_text_beside_numbers_is_like_itself_and_like_no_other():
    assert square.is_close((1.0, "a row"), (1.0 + 1e-9, "a row"))
    assert not square.is_close((1.0, "a row"), (1.0, "two rows"))
    kept = {field.name: getattr(square, field.name) for field in dataclasses.fields(square)}
    of_two = OpenExercise(**kept | {"law": lambda value, case: (False, "no"), "returns": lambda value, case: None})
    assert "another result" not in of_two.check(lambda x: (x, "a row"), 0).message


def test_right():
    verdict = verdict_of(lambda x: x**2)
    assert (verdict.state, verdict.points) == (RIGHT, 2)
    assert repr(verdict) == "9.1 Square: passed (2 points)\nRight on inputs drawn just now."


def test_wrong_shows_the_message_first_then_what_was_observed_then_where_help_is():
    headline, message, observed, after = repr(verdict_of(lambda x: 2 * x)).splitlines()
    assert headline == "9.1 Square: not yet"
    assert message == "You doubled."
    assert observed.startswith("square(x=")
    assert " gave " in observed
    assert 'hint("9.1")' in after


def test_right_on_the_first_input_only_is_wrong():
    asked = []

    def once(x):
        asked.append(x)
        return x * x if len(asked) == 1 else -1

    assert verdict_of(once).state == WRONG


def forever(x):
    while True:
        pass


def forever_and_deaf(x):
    while True:
        try:
            time.sleep(60)
        except:  # noqa: E722
            continue


def asleep(x):
    time.sleep(60)


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.parametrize("answer", [forever, forever_and_deaf, asleep])
def test_an_answer_that_never_ends_is_stopped(answer):
    began = time.monotonic()
    verdict = verdict_of(answer)
    assert verdict.state == ERROR
    assert "did not finish: the limit is 1 seconds" in verdict.message
    assert time.monotonic() - began < 60
    assert verdict_of(lambda x: x * x).state == RIGHT, "the next check works"
    assert sys.gettrace() is None or "coverage" in repr(sys.gettrace())


@pytest.mark.in_turn("seconds of checks")
def test_the_limit_holds_outside_the_main_thread_too():
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(verdict_of(forever)))
    thread.start()
    thread.join(60)
    assert verdicts[0].state == ERROR
    assert "did not finish" in verdicts[0].message


def test_the_limit_is_for_the_whole_check():
    """Each call is within it, and all together are beyond what waiting for a core may add to it."""

    def slow(x):
        time.sleep(0.25)
        return x * x

    six = dataclasses.replace(square, seconds=0.3, draw=lambda rng: [{"x": float(3 + i)} for i in range(6)])
    assert "did not finish" in six.check(slow, 1).message


def test_the_timer_is_gone_after_a_check():
    verdict_of(lambda x: x * x)
    verdict_of(forever)
    time.sleep(1.2)  # a forgotten timer would raise here


def returns(value):
    return lambda x: value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (returns(None), "returned nothing (None)"),
        (lambda x: print(x * x), "printed something and returned nothing"),
        (returns("9"), "Return one number, not text"),
        (returns([1, 2]), "Return one number, not a list of 2"),
        (returns({}), "Return one number, not a dict"),
        (returns(True), "Return one number, not True or False"),
        (returns(2j), "Return one number, not a complex"),
        (returns(np.ones(1)), "an array that holds one number"),
        (returns(np.ones((2, 3))), "an array of shape (2, 3)"),
        (returns(np.nan), "The result is nan"),
        (returns(float("inf")), "The result is inf"),
        (returns(10**400), "The result is inf"),
        (lambda x: 1 / 0, "ZeroDivisionError (division by zero), at `(lambda x: 1 / 0"),
        (lambda x: undefined, "Is the name spelled right, and has the cell that defines it been run?"),  # noqa: F821
        (lambda x: [][3], "A position lies outside"),
        (lambda x: sys.exit(3), "Do not call `exit`"),
        (lambda: 1, "must take these arguments, in this order: `square(x)`"),
        (lambda x, y: 1, "must take these arguments, in this order: `square(x)`"),
        (81, "needs the function itself, not a number: write its name without brackets"),
        (lambda x: library_square(x), "write it yourself"),
    ],
)
def test_what_cannot_be_judged_gets_a_message_for_a_beginner(answer, said):
    verdict = verdict_of(answer)
    assert verdict.state == ERROR
    assert said in verdict.message
    assert "Traceback" not in repr(verdict)


def recursive(x):
    return recursive(x) + 1


def test_recursion_without_end():
    assert "calls itself without end" in verdict_of(recursive).message


def test_a_forbidden_call_is_caught_under_another_name_and_when_its_exception_is_swallowed():
    alias = library_square

    def sly(x):
        try:
            return alias(x)
        except BaseException:
            return x * x

    assert "library_square" in verdict_of(sly).message


def test_the_keyboard_interrupt_belongs_to_the_learner():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict_of(interrupted)


def test_printing_a_lot_is_cut_and_counted_and_does_not_reach_the_page(capsys):
    def chatty(x):
        for _ in range(1000):
            print("Mia " * 50)
        return x * x

    verdict = verdict_of(chatty)
    assert verdict.state == RIGHT
    assert "603,000 characters in all" in repr(verdict)
    assert len(repr(verdict)) < 1000
    assert capsys.readouterr().out == ""


@pytest.mark.filterwarnings("ignore:deprecated")
def test_warnings_do_not_reach_the_page(capfd):
    def warns(x):
        print("look here", file=sys.stderr)
        warnings.warn("deprecated", stacklevel=1)
        return x * x

    assert "look here" in repr(verdict_of(warns))
    assert capfd.readouterr().err == ""


def test_an_answer_that_changes_its_arguments_is_told_so():
    bits = dataclasses.replace(
        square,
        draw=lambda rng: [{"bits": rng.integers(0, 2, size=80)}],
        reference=lambda bits: float(bits.sum()),
        misconceptions=(),
        forbidden=(),
    )

    def vandal(bits):
        total = bits.sum()
        bits[:] = 1
        return total

    verdict = bits.check(vandal)
    assert verdict.state == ERROR
    assert "Your function changes `bits`, which belongs to the caller." in verdict.message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: round(x * x + 0.4321, 2), "but rounded"),
        (lambda x: -(x * x + 0.4321), "opposite sign"),
        (lambda x: 100 * (x * x + 0.4321), "not a percentage"),
    ],
)
def test_slips_that_occur_with_every_number(answer, said):
    assert said in dataclasses.replace(square, reference=lambda x: x * x + 0.4321, rtol=1e-12).check(answer).message


def test_what_numpy_says_of_conditions_and_shapes_is_explained():
    assert "work entry by entry" in verdict_of(lambda x: 1 if np.ones(2) > 0 else 0).message
    assert "different lengths" in verdict_of(lambda x: np.ones(2) + np.ones(3)).message


def test_html_is_escaped():
    shown = verdict_of(lambda x: print("<script>alert(1)</script>") or 2 * x)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_html_and_text_say_the_same():
    verdict = verdict_of(lambda x: 2 * x)
    page = verdict._repr_html_()
    for line in (verdict.headline, verdict.message, *verdict.lines):
        assert line in page
    assert "✗" in page, "colour is not the only carrier"


def test_judging_needs_data_only():
    """The judge gives the same verdict for outcomes that went through JSON."""
    import json

    cases = square.cases(np.random.default_rng(3))
    outcomes = square.probe(lambda x: 2 * x, cases)
    assert square.judge(cases, json.loads(json.dumps(outcomes))) == square.judge(cases, outcomes)


def test_a_missing_outcome_is_not_right():
    cases = square.cases(np.random.default_rng(3))
    outcomes = square.probe(lambda x: x * x, cases)
    assert square.judge(cases, outcomes[:-1]).state == ERROR
    assert square.judge(cases, []).state == ERROR
    assert square.judge(cases, [{}] * 3).state == ERROR


def test_inputs_that_do_not_tell_misconceptions_apart_are_drawn_again():
    """x = 2 squared is x = 2 doubled."""
    narrow = dataclasses.replace(square, draw=lambda rng: [{"x": float(rng.choice([2, 5]))}])
    assert {narrow.cases(np.random.default_rng(seed))[0]["x"] for seed in range(30)} == {5.0}
    hopeless = dataclasses.replace(square, draw=lambda rng: [{"x": 2.0}])
    with pytest.raises(RuntimeError, match=r"exercise odd/square: no inputs in 100 draws"):
        hopeless.check(lambda x: x)


def test_a_wrong_truth_value_is_counted_not_negated():
    is_large = dataclasses.replace(
        square,
        draw=lambda rng: [{"x": float(x)} for x in (1, 2, 3, 50)],
        reference=lambda x: x > 10,
        returns=true_or_false,
        misconceptions=(),
    )
    assert is_large.check(lambda x: np.bool_(x > 10)).state == RIGHT
    verdict = is_large.check(lambda x: x > 1.5)  # all inputs there are: too few to explain anything
    assert verdict.message.startswith("Right wherever `x` ") or verdict.message.startswith("Right on 2 of 4 inputs.")
    assert verdict.lines == ("square(x=2) gave True; right is False",)
    assert verdict.seen == ("square(x=2) gave True",)


def test_an_open_exercise_is_judged_by_its_law_alone():
    """Any even number above the bound is right; what is odd has a name; what is small has none, and is measured once."""
    measured = []
    even = OpenExercise(
        id="odd/even_above",
        number="9.9",
        title="An even number",
        good_for="tests",
        difficulty=1,
        minutes=1,
        points=1,
        draw=lambda rng: [{"bound": int(rng.integers(10))}, {"bound": int(rng.integers(10))}],
        reference=lambda bound: 2 * bound + 2,
        returns=a_whole_number,
        misconceptions=(
            Misconception("odd", "It is odd.", lambda bound: 21, lambda cases, values: any(v % 2 for v in values)),
        ),
        hints=("a", "b"),
        law=lambda value, case: (value % 2 == 0 and value > case["bound"], f"wanted above {case['bound']}"),
        measure=lambda value, case: measured.append(value) or f"It is {case['bound'] - value} too small.",
    )
    assert even.check(lambda bound: 20).state == RIGHT
    assert even.check(even.reference).state == RIGHT
    odd = even.check(lambda bound: 21)
    assert (odd.state, odd.misconception) == (WRONG, "odd")
    assert len(odd.observed) == 2
    assert "gave 21: wanted above" in odd.lines[0]
    assert odd.seen[0].endswith("gave 21"), "what the law says gives the right answer away"
    first_only = iter([20, -2])
    assert even.check(lambda bound: next(first_only)).state == WRONG
    small = even.check(lambda bound: -2)
    assert (small.state, small.misconception) == (WRONG, None)
    assert re.search(r"wanted above (\d)\. It is ", small.message)
    assert set(measured) == {-2}
    assert len(measured) == 2, (
        "of the one that has no name, and of the one before; of right ones and of those with a name never"
    )
    assert even.check(lambda bound: "no").state == ERROR


def test_a_call_that_is_needed_is_counted_even_where_nothing_is_forbidden():
    careful = dataclasses.replace(
        square,
        forbidden=(),
        misconceptions=(),
        needed=Needed(library_square, lambda case: 2, "Call `library_square` twice."),
    )
    assert careful.check(lambda x: (library_square(x) + library_square(x)) / 2).state == RIGHT
    verdict = careful.check(library_square)
    assert (verdict.state, verdict.message) == (WRONG, "Call `library_square` twice.")
    assert careful.check(lambda x: x * x).message == "Call `library_square` twice."


def test_a_constant_is_not_taken_for_a_rounded_answer():
    """0.88 and 0.95 are 1 to the nearest whole number, and an answer of 1 has rounded nothing."""
    share = dataclasses.replace(
        square,
        draw=lambda rng: [
            {"x": 0.88},
            {"x": 0.95},
            {"x": float(rng.uniform(0.86, 0.9))},
            {"x": float(rng.uniform(0.95, 1))},
        ],
        reference=lambda x: x,
        misconceptions=(),
    )
    assert "rounded" not in share.check(lambda x: 1.0).message
    assert "rounded" in share.check(lambda x: round(x, 1) if x < 0.9 else 1.0).message


def test_what_is_right_is_only_in_the_lines_for_the_learner():
    verdict = verdict_of(lambda x: x + 1)
    (line,), (seen,) = verdict.lines, verdict.seen
    assert line.startswith(seen)
    assert "right is" in line
    assert "right is" not in seen


def test_cases_remember_what_a_function_gives():
    asked = []
    cases = Cases([{"x": 2.0}, {"x": 3.0}])

    def double(x):
        asked.append(x)
        return 2 * x

    assert cases.given(double) == cases.given(double) == [4.0, 6.0]
    assert asked == [2.0, 3.0]


def test_a_slow_answer_is_asked_on_and_an_endless_one_is_not():
    """Each portion ends after so many calls; the third input of the endless one never comes."""
    cases, asked = [{"x": float(n)} for n in range(9)], []

    def ask(some, seconds):
        asked.append((len(some), seconds))
        given = [{"value": each["x"] ** 2} for each in some[:4]]
        return given if len(some) <= 4 else [*given, {"timeout": seconds}]

    assert [outcome["value"] for outcome in square.asked_on(cases, ask)] == [n**2 for n in range(9)]
    assert asked == [(9, 1.0), (5, 1.0), (1, 1.0)]
    asked.clear()
    endless = square.asked_on(
        cases, lambda some, seconds: asked.append(some) or [{"value": 1.0}] * (len(some) - 7) + [{"timeout": seconds}]
    )
    assert endless[-1] == {"timeout": 1.0}
    assert len(asked) == 2


def test_what_is_proved_of_a_text_goes_before_a_misconception_that_asks():
    exercise = course.find("gdp/largest_mu")
    asks = next(known for known in exercise.misconceptions if known.name == "wrong way")
    assert asks.asks
    assert not next(known for known in exercise.misconceptions if known.name == "sigma").asks
    code = (
        "from dpcourse import gdp\n\ndef largest_mu(epsilon, delta):\n    low, high = 1e-9, 50.0\n    for _ in range(100):\n"
        "        middle = (low + high) / 2\n        if gdp.delta(middle, epsilon) <= delta:\n            low = middle\n        else:\n"
        "            high = middle\n    return low\n"
    )
    told = exercise.check(written(code, "largest_mu"), 1).message
    assert "two arguments stand in each other's place in `gdp.delta(middle, epsilon)`" in told


def test_what_is_like_a_misconception_on_the_inputs_drawn_alone_may_have_another_reason():
    """Clips are drawn in rising order: there, whoever clips what is clipped already ends at the smallest; in another order, nowhere near."""
    exercise = course.find("laplace/best_clip")
    code = (
        "def best_clip(values, clips, epsilon):\n    total, best, least = sum(values), clips[0], float('inf')\n    for clip in clips:\n"
        "        values = [min(v, clip) for v in values]\n        cost = total - sum(values) + clip / epsilon\n"
        "        if cost < least:\n            best, least = clip, cost\n    return best\n"
    )
    verdict = exercise.check(written(code, "best_clip"), 1)
    assert verdict.misconception is None
    assert "`total - sum(values)`" in verdict.message
    smallest = "def best_clip(values, clips, epsilon):\n    return min(clips)\n"
    assert exercise.check(written(smallest, "best_clip"), 1).misconception == "noise only"
