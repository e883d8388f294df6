"""A class without points is hardly the class's own: who grades is told, with the reason that most have in common."""

import pytest
from grading.rows import POSTERIOR, a_row, graded, untouched

from dpcourse import course
from dpcourse.base.languages import say
from dpcourse.checking import BLANK, ERROR, WRONG
from dpcourse.grading import result
from dpcourse.grading.out import alarms
from dpcourse.grading.result import Mark, unjudged

MANY = 8


def nothing_defined():
    marks = [
        Mark(each.id, BLANK, 0, each.points, say("No cell defines `{function}`.", function=each.function))
        for each in course.lesson(1).exercises
    ]
    return result.result(1, "graded", marks=marks)


def stopped(number):
    marks = [
        Mark(each.id, ERROR, 0, each.points, f"Your function stopped with NameError (name 'np' is not defined), in line {number}.")
        for each in course.lesson(1).exercises
    ]  # fmt: skip
    error = say("cell {cell}: {error}", cell=number, error="ModuleNotFoundError: No module named 'torchvision'")
    return result.result(1, "graded", marks=marks, errors=[error])


def of_another_variant(number):
    note = f"exercise 1.1: the answer is right for epsilon {number}.5, another student's variant"
    return graded(1, {each.id: WRONG for each in course.lesson(1).exercises}, notes=[note])


CAUSES = {
    "nothing was handed in": lambda number: result.missing(1),
    "there is no notebook in the folder": lambda number: result.unreadable(1, "there is no notebook in the folder"),
    "the lesson is as it was given out": lambda number: untouched(),
    "no cell defines what the exercises ask for": lambda number: nothing_defined(),
    "a cell stopped with ModuleNotFoundError: No module named 'torchvision'": stopped,
    "another student's variant": of_another_variant,
    "no worker": lambda number: result.failed(1, "no worker"),
}


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("others", [0, 2])
def test_where_most_of_a_class_have_nothing_the_reason_that_they_share_is_told(cause, others):
    rows = [a_row(f"student {number}", CAUSES[cause](number)) for number in range(MANY)]
    rows += [a_row(f"other {number}") for number in range(others)]
    [found] = alarms.zeros(rows)
    assert (found.exercise, found.count, found.alike) == ("", MANY, MANY)
    assert cause in found.cause
    assert found.in_words().startswith(
        f"{MANY} of {MANY + others} have no points in 01 Composition. The reason, for all"
    )
    assert found.in_words().endswith(("?", ".")), found.in_words()


def test_the_commonest_reason_is_told_and_for_how_many():
    rows = [a_row(f"a{number}", stopped(number)) for number in range(5)] + [
        a_row(f"b{n}", untouched()) for n in range(3)
    ]
    [found] = alarms.zeros(rows)
    assert (found.count, found.alike) == (8, 5)
    assert "The commonest reason, for 5 of them: a cell stopped with ModuleNotFoundError" in found.in_words()


def test_an_exercise_that_all_fail_with_one_message_is_told_whatever_numbers_are_in_it():
    def row(number, message):
        return a_row(
            f"s{number}", result.with_marks(graded(), [Mark("composition/worst_posterior", WRONG, 0, 2, message)])
        )

    [found] = alarms.zeros([row(number, f"It gave {number}.5, in line {number}.") for number in range(6)])
    assert (found.exercise, found.count, found.all) == (POSTERIOR, 6, 6)
    assert alarms.zeros([row(number, "abcdef"[number]) for number in range(6)]) == []


def test_a_class_that_is_only_weak_is_no_alarm():
    rows = [a_row(f"a{number}", untouched()) for number in range(3)] + [a_row(f"b{number}") for number in range(5)]
    assert alarms.zeros(rows) == []
    unwritten = graded(1, {"composition/composed_delta": BLANK, "composition/belief_in_yes": BLANK})
    assert alarms.zeros([a_row(f"c{number}", unwritten) for number in range(8)]) == []
    assert alarms.zeros([a_row(f"d{number}", untouched()) for number in range(2)]) == []  # two are no class


def test_what_a_judge_cost_is_told_as_its_fault_and_is_no_zero():
    marks = [unjudged(each, "ValueError: x") for each in course.lesson(1).exercises]
    rows = [a_row(f"s{number}", result.result(1, "graded", marks=marks)) for number in range(5)]
    assert alarms.zeros(rows) == []
    assert len(alarms.faults(rows)) == len(marks)
    assert "could not be judged for 5 students: ValueError: x. Mend that" in alarms.faults(rows)[0].in_words()
