"""From stored results to marks that count: laws of what course.toml, lateness and an instructor may do to them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from grading.rows import FULL
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import course
from dpcourse.grading.keep.store import ByHand, Row
from dpcourse.grading.marks.marking import exported, marked
from dpcourse.grading.marks.settings import Late, OfLesson, Settings
from dpcourse.grading.result import Mark, missing, result

EXERCISES = {exercise.id: exercise for exercise in course.lesson(1).exercises}
IDS = list(EXERCISES)
DUE = datetime(2026, 10, 1, tzinfo=UTC)

shares = st.floats(0, 1)
marks = st.fixed_dictionaries(
    {id: st.sampled_from(["right", "wrong", "error", "not attempted"]) for id in IDS}
).map(lambda states: [Mark(id, state, EXERCISES[id].points * (state == "right"), EXERCISES[id].points, "", _slip(id) if state == "wrong" else None) for id, state in states.items()])  # fmt: skip
settings = st.builds(
    Settings,
    excluded=st.lists(st.sampled_from(IDS), unique=True).map(tuple),
    points=st.dictionaries(st.sampled_from(IDS), st.floats(0, 100)),
    credit=st.dictionaries(st.sampled_from(IDS), st.dictionaries(st.just("wrong"), shares)),
    bonus=st.booleans(),
    late=st.builds(Late, share=shares, floor=shares),
    lessons=st.just({1: OfLesson(DUE)}),
)
by_hand = st.lists(
    st.builds(
        lambda id, share, number: ByHand("kim", 1, id, share * EXERCISES[id].points, EXERCISES[id].points, "why", "ann", f"{number:03}"),
        st.sampled_from(IDS), shares, st.integers(0, 99),
    ),
    max_size=4,
)  # fmt: skip


def _slip(id):
    return EXERCISES[id].misconceptions[0].name


def a_row(marks=(), late=0, **more):
    return Row("kim", 1, "x", "d", "g", result(1, "graded", marks=marks), DUE + timedelta(seconds=late), **more)


def counted(row, settings=None, history=()):
    (found,) = marked([row], settings or Settings(), history)
    return found


def points(row):
    return {mark.id: mark.points for mark in row.result.exercises}


@given(marks, settings, by_hand)
def test_the_score_in_time_is_the_sum_of_the_marks_and_never_above_the_points(marks, settings, history):
    row = counted(a_row(marks), settings, history)
    assert row.result.score == pytest.approx(sum(points(row).values()), abs=1e-5)
    assert row.result.score <= row.result.points + 1e-5
    assert all(0 <= mark.points <= mark.out_of for mark in row.result.exercises)
    assert row.late is None


@given(marks, settings, by_hand, st.integers(0, 10**7))
def test_what_is_late_takes_and_never_gives(marks, settings, history, seconds):
    late, in_time = (counted(a_row(marks, of), settings, history) for of in (seconds, 0))
    assert 0 <= late.result.score <= in_time.result.score
    assert points(late) == points(in_time)
    taken = late.late.points if late.late else 0
    assert late.result.score == pytest.approx(in_time.result.score - taken, abs=1e-5)


@given(marks, settings, by_hand, st.sampled_from(IDS))
def test_an_excluded_exercise_changes_nothing_else(marks, settings, history, id):
    settings = replace(settings, excluded=tuple(set(settings.excluded) - {id}))
    there, gone = (counted(a_row(marks), each, history) for each in (settings, replace(settings, excluded=(*settings.excluded, id))))  # fmt: skip
    assert {other: p for other, p in points(gone).items() if other != id} == {other: p for other, p in points(there).items() if other != id}  # fmt: skip
    assert points(gone)[id] == 0
    assert gone.result.score == pytest.approx(there.result.score - points(there)[id], abs=1e-5)


@given(marks, settings)
def test_marks_do_not_depend_on_the_scale_on_which_they_were_stored(marks, settings):
    doubled = [replace(mark, points=2 * mark.points, out_of=2 * mark.out_of) for mark in marks]
    assert counted(a_row(doubled), settings).result == counted(a_row(marks), settings).result


@given(marks, settings, by_hand)
def test_marking_is_of_the_student_alone(marks, settings, history):
    other = replace(a_row([]), student="lee")
    assert marked([other, a_row(marks)], settings, history)[1] == counted(a_row(marks), settings, history)
    assert marked([other], settings, history) == marked([other], settings)


def test_without_course_toml_marks_are_what_the_exercises_say():
    stored = [Mark(id, "right", EXERCISES[id].points, EXERCISES[id].points, "") for id in IDS]
    assert counted(a_row(stored)).result == result(1, "graded", marks=stored)


def test_part_credit_goes_by_the_misconception_and_else_to_every_wrong_answer():
    said = Settings(credit={"composition/worst_posterior": {_slip("composition/worst_posterior"): 0.5, "wrong": 0.25}})
    for slip, expected in ((_slip("composition/worst_posterior"), 1), ("another", 0.5), (None, 0.5)):
        assert points(counted(a_row([Mark("composition/worst_posterior", "wrong", 0, 2, "", slip)]), said)) == {
            "composition/worst_posterior": expected
        }
    for state, expected in (("right", 2), ("error", 0), ("not attempted", 0)):
        assert points(
            counted(a_row([Mark("composition/worst_posterior", state, 2 * (state == "right"), 2, "")]), said)
        ) == {"composition/worst_posterior": expected}


def test_of_what_is_set_by_hand_the_last_counts_until_it_is_taken_back():
    history = [
        ByHand("kim", 1, "composition/worst_posterior", points, 2, "why", "ann", f"{number}")
        for number, points in enumerate([2, 1, None, 0.5])
    ]
    stored = a_row([Mark("composition/worst_posterior", "wrong", 0, 2, "")])
    assert [points(counted(stored, history=history[:n]))["composition/worst_posterior"] for n in range(5)] == [
        0,
        2,
        1,
        0,
        0.5,
    ]


def test_a_bonus_is_beside_the_exercises_and_is_not_fined():
    bonus = [ByHand("kim", 1, "", 3, None, "mistake found", "ann", "1")]
    stored = [Mark(id, "right", EXERCISES[id].points, EXERCISES[id].points, "") for id in IDS]
    late = Settings(late=Late(share=0.5), lessons={1: OfLesson(DUE)})
    assert counted(a_row(stored, 60), late, bonus).result.score == FULL / 2 + 3
    assert counted(a_row(stored), late, bonus).result.score == FULL + 3
    assert counted(a_row(stored), replace(late, bonus=False), bonus).result.score == FULL
    assert counted(a_row(), history=[replace(bonus[0], points=-3)]).result.score == 0


def test_who_handed_in_nothing_has_no_score_until_somebody_gives_points():
    row = Row("kim", 1, "", "", "", missing(1))
    assert counted(row).result.score is None
    assert (
        counted(
            row, history=[ByHand("kim", 1, "composition/worst_posterior", 2, 2, "by mail", "ann", "1")]
        ).result.score
        == 2
    )


def test_more_time_is_for_who_has_it():
    said = Settings(late=Late(share=0.1), lessons={1: OfLesson(DUE)}, extensions={"kim": {1: DUE + timedelta(days=7)}})
    stored = a_row([Mark("composition/worst_posterior", "right", 2, 2, "")], 86_400)
    kim, lee = marked([stored, replace(stored, student="lee")], said)
    assert (kim.result.score, kim.extended, kim.late) == (2, True, None)
    assert (lee.result.score, lee.extended) == (1.8, False)
    assert lee.late.says == "Handed in 1 day after the deadline (2026-10-01 00:00 UTC): 10 % of the score is taken."


def test_late_without_a_time_takes_nothing_and_says_so():
    said = Settings(late=Late(share=0.1), lessons={1: OfLesson(DUE)})
    row = counted(
        replace(a_row([Mark("composition/worst_posterior", "right", 2, 2, "")]), submitted=None, said_late=True), said
    )
    assert (row.result.score, row.late.points) == (2, 0)
    assert "not by how much" in row.late.says


@given(marks, st.floats(0.1, 1000))
def test_scores_are_scaled_to_the_points_in_the_lms(marks, maximum):
    said = Settings(lessons={1: OfLesson(maximum=maximum)})
    row = counted(a_row(marks), said)
    score, most = exported(row)
    assert score / most == pytest.approx(row.result.score / row.result.points, abs=1e-4)
    assert exported(counted(a_row(marks))) == (row.result.score, FULL)
