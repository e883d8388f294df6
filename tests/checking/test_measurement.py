"""What is measured of an answer that nothing explains: each fact is true of it, and none is told that could be an accident."""

import dataclasses

import numpy as np
import pytest
from checking.test_diagnosis import lists, unread, walk

from dpcourse.checking import Domain, Number, Several
from dpcourse.checking.diagnosis import measurement
from dpcourse.checking.diagnosis.series import Part, features

N = np.arange(1, 61)
CASES = [{"n": int(n), "m": int(n % 7 + 1), "xs": [n + 0.5, n - 30.0][: 1 + n % 2]} for n in N]


def told(yours, wanted, cases=CASES):
    """The facts of an answer that gives one number for each case."""
    part = Part("", *(tuple(np.array([float(x)]) for x in each) for each in (yours, wanted)), 1e-6, 1e-12)
    return [fact.text for fact in measurement.facts(part, features(cases), cases)]


def test_that_it_is_always_right_under_a_condition_is_told_where_it_is_right_elsewhere_too():
    right = np.sqrt(N)
    others = np.where((N % 2 == 0) | (N % 3 == 0), right, right + 1 / N)
    assert "Right wherever `n` is even; look at the other inputs." in told(others, right)
    ends = [{"xs": case["xs"]} for case in CASES]
    assert "Right wherever the number of entries of `xs` is 1; look at the other inputs." in told(others, right, ends)


def test_of_a_whole_number_the_few_values_are_told_on_which_it_hangs():
    right = np.sqrt(N)
    for some, fact in (
        ([1, 2, 4], "Right wherever `m` is 1, 2 or 4; look at the other inputs."),
        ([1, 2, 4, 6, 7], "Of the inputs tried, wrong only where `m` is 3 or 5."),
    ):
        assert fact in told(np.where(np.isin(N % 7 + 1, some), right, right + 1 / N), right)


def test_with_which_number_an_approximation_comes_off_is_told():
    right = np.sqrt(N)
    farther = "The larger `n`, the farther off your result: 1.01 times the right one where that is 1, 1.6 times where it is 60."
    assert farther in told(right * (1 + N / 100), right)
    below = "The smaller `n`, the farther off your result: 0.983607 times the right one where that is 60, 0.5 times where it is 1."
    assert below in told(right * N / (N + 1), right)
    for scattered in (right * (1 + (N % 11 + 1) / 20), right * np.exp(0.3 + N / 1000)):
        assert not any("farther off" in each for each in told(scattered, right))


def test_that_two_features_are_alike_is_a_condition():
    cases = [{"n": int(n), "m": int(n) if n % 3 else int(7 * n % 61)} for n in N]
    right = np.sqrt(N)
    yours = np.where((N % 3 != 0) | (N % 4 == 0), right, right + 1 / N)
    assert "Right wherever `n` is the same as `m`; look at the other inputs." in told(yours, right, cases)


def test_that_entries_are_there_twice_is_a_condition():
    cases = [{"xs": [float(n), n + (1.0 if n % 4 else 0.0), 2.0 * n + 70]} for n in N]
    right = np.sqrt(N)
    yours = np.where(N % 4 != 0, right, right + 1 / N)
    fact = "Right wherever the number of entries of `xs` that are there already is 0; look at the other inputs."
    assert fact in told(yours, right, cases)


def test_a_mean_that_happens_to_be_a_half_is_no_condition():
    cases = [{"xs": [0.0, 0.5, 1.0] if n % 8 == 0 else [0.0, n / 71, 1.0]} for n in N]
    right = np.sqrt(N)
    yours = np.where(N % 8 == 0, right, right + 1 / N)
    assert not any("mean" in each for each in told(yours, right, cases))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_no_condition_is_told_of_an_answer_that_is_right_by_accident(share):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cases = [{"n": int(n), "m": int(rng.integers(1, 90)), "x": float(rng.normal())} for n in rng.permutation(N)]
        right = rng.normal(size=60)
        yours = np.where(rng.random(60) < share, right, rng.normal(size=60))
        assert not any("Right wherever" in each for each in told(yours, right, cases))


def test_how_near_it_is_always_is_told_where_it_is_seldom_right_and_a_condition_is_not():
    right, off = (N - 30.5) / 60, np.where(N % 7 == 0, 0, 0.003 * np.cos(N))
    said, *others = told(right + off, right)
    assert said.startswith(
        "On the inputs tried your result is never farther from the right one than 0.003, and seldom right"
    )
    assert not any("Right wherever" in each for each in others)
    assert "than 0.30% of that, and" in told(np.exp(right) * (1 + off), np.exp(right))[0]
    assert not any("never farther" in each for each in told(right + 100 * off, right))
    assert not any("never farther" in each for each in told(np.where(N % 7, right, right + 0.003), right))


def test_one_value_wherever_it_is_wrong_is_told():
    right = N + 0.5
    assert "Wherever it is wrong, your result is 20." in told(np.minimum(right, 20), right)
    assert not any("Wherever it is wrong" in each for each in told(np.where(right > 20, right + 1, right), right))


def test_multiples_are_told_where_the_right_numbers_are_none():
    assert "Your results are all multiples of 10; the right ones are not." in told(10 * np.ceil(N / 10), N)
    assert not any("multiples" in each for each in told(10 * N, 20 * N))
    assert not any("multiples" in each for each in told(N + 1, N))


def test_an_answer_is_not_called_rounded_down_where_it_gives_two_whole_numbers_only():
    shares = dataclasses.replace(walk, reference=lambda size, k, slack: size + slack / 10 + (k > 40))
    message = shares.check(unread(lambda size, k, slack: 1.0 if k > 40 else 0.0), 0).message
    assert "rounded down" not in message


domain = Domain({"xs": Several(Number(1, 5), 3, 7), "c": Number(2, 3)})


def test_an_end_of_a_list_that_changes_nothing_is_told():
    exercise = dataclasses.replace(lists, domain=domain)
    skips = unread(lambda xs, c: c * sum(x * x for x in xs[1:]) + c**3 / len(xs))
    assert "Your result does not change with the first entry of `xs`" in exercise.check(skips, 0).message
    heeds = unread(lambda xs, c: c * sum(x * x for x in xs[1:]) + c**3 / len(xs) + 1e-3 * xs[0])
    assert "does not change" not in exercise.check(heeds, 0).message


def test_of_a_list_that_is_too_short_it_is_told_which_end_is_right_and_what_changes_nothing():
    scaled = dataclasses.replace(lists, reference=lambda xs, c: [c * x for x in xs], returns=lambda value, case: None)
    message = scaled.check(unread(lambda xs, c: [c * x for x in xs[1:]]), 0).message
    assert "Its last entry is right on all inputs tried, its first one is not." in message
    message = scaled.check(unread(lambda xs, c: [2.5 * x for x in xs[1:]]), 0).message
    assert "Your result does not change with the first entry of `xs` and `c`; the right one does." in message

    assert "Your result has 1 entry where it should have " in scaled.check(unread(lambda xs, c: [c * xs[0]]), 0).message


def test_a_length_is_told_before_a_sum_and_a_sum_with_no_number_that_nobody_would_say():
    rng = np.random.default_rng(0)
    cases = [{"xs": list(rng.uniform(0.9, 1.1, n))} for n in (20, 37, 41, 58) * 15]
    right = np.array([float(np.prod(case["xs"])) for case in cases])
    counts = np.array([len(case["xs"]) for case in cases])
    few = told(np.where(counts <= 20, right, right + 20 / counts), right, cases)
    assert few[0] == "Right wherever the number of entries of `xs` is 20; look at the other inputs."
    sums = np.array([sum(case["xs"]) for case in cases])
    by_sum = told(np.where(sums % 1 < 0.1, right, right + rng.uniform(1, 2, 60)), right, cases)
    assert not any("the sum of" in each for each in few + by_sum)


def test_a_threshold_is_a_round_number():
    assert measurement._round_number(1.2343, 1.31, "`x`") == 1.3
    assert measurement._round_number(1.31, 1.319, "`x`") is None
    assert measurement._round_number(-0.2, 0.013, "`x`") == 0.01
    assert measurement._round_number(-np.inf, -0.588, "`x`") == -0.6
    assert measurement._round_number(6, 13, "`n`") == 13


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each is measured on thousands of draws")
@pytest.mark.parametrize("wrong", [2, 3, 5])
def test_a_condition_needs_so_many_inputs_that_it_is_no_accident(wrong):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cases = [{"noises": rng.normal(size=5).tolist(), "x": float(rng.normal())} for _ in range(200)]
        right = rng.normal(size=200)
        few = np.arange(200) < wrong
        for i in np.flatnonzero(few):  # of one draw, and so alike
            cases[i] |= {"noises": rng.normal(size=9).tolist()}
        yours = right + np.where(few, 1.5 + rng.random(200), 0)
        assert not any("only where" in each for each in told(yours, right, cases))


def test_by_what_number_of_the_input_the_result_is_wrong_is_told_where_it_is():
    right = 1 / (1 + np.exp(-N / 20.0))
    large = N > 12
    yours = np.where(large, right * np.sqrt(N), right)
    assert "Yours is the right one times the square root of `n` on the others." in told(yours, right)
    m = np.array([case["m"] for case in CASES])
    yours = np.where(m == 1, right, right * (1 + np.log(m)) / (1 + m))
    said = told(yours, right)
    assert said[0] == "Right wherever `m` is 1; look at the other inputs."
    assert said[1].startswith("How many times the right one yours is depends on `m` alone on the others: ")
    assert not any("alone" in each for each in told(np.where(m == 1, right, right * (1 + 1 / N)), right))


def test_a_number_over_one_of_the_input_is_told_where_it_is_added():
    right = 1 / (1 + np.exp(-N / 20.0))
    assert "Yours is the right one plus 1 over `n` on the others." in told(
        np.where(N > 12, right + 1 / N, right), right
    )


@pytest.mark.parametrize("are_truths", [True, False])
def test_bits_are_told_as_bits(are_truths):
    right = tuple(np.array([1.0, float(n % 2), 1.0]) for n in N)
    yours = tuple(np.where(np.arange(3) == n % 3, 0.0, each) for n, each in zip(N, right, strict=True))
    part = Part("", yours, right, 1e-6, 1e-12, are_truths)
    facts = [fact.text for fact in measurement.facts(part, features(CASES), CASES)]
    mine, wanted = ("False", "True") if are_truths else ("0", "1")
    assert f"Each entry that is wrong on the inputs tried is {mine}, and {wanted} is right." in facts, facts


def test_of_a_matrix_the_rows_are_counted():
    cases = [{"strategy": np.eye(n % 4 + 1) * n} for n in N]
    right = np.sqrt(N)
    yours = np.where(N % 4 == 0, right, right + 1 / N)
    assert (
        told(yours, right, cases)[0]
        == "Right wherever the number of rows of `strategy` is 1; look at the other inputs."
    )
