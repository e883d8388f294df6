"""A judge that fails costs its exercise alone: it is no zero, the reason is told, and the others keep their marks."""

import time
from dataclasses import replace

import pytest
from grading.rows import FULL, POSTERIOR, a_row, graded

from dpcourse import course
from dpcourse.checking import RIGHT
from dpcourse.grading import result
from dpcourse.grading.judge import guarded
from dpcourse.grading.judge.answers import Answers, judged_again
from dpcourse.grading.judge.job import Job
from dpcourse.grading.keep.store import ByHand
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import alarms
from dpcourse.grading.result import UNJUDGED, unjudged, with_marks
from dpcourse.grading.run import Stopped

pytestmark = pytest.mark.in_turn("seconds in a sandbox")

LESSON = course.lesson(1)
BROKEN = "composition/worst_posterior"


class Solved:
    """A worker that answers every exercise rightly."""

    crowded = False

    def ask(self, request, seconds):
        exercise = next(each for each in course.lesson(1).exercises if each.function == request["probe"])
        right = next(each for each in SOUND if each.function == request["probe"])
        return {"outcomes": replace(exercise, forbidden=()).probe(right.reference, request["cases"])}


SOUND = LESSON.exercises


def fails(*given):
    raise ValueError("no\nsuch thing")


BREAKS = {
    "draws no inputs": {"draw": fails},
    "draws what cannot be sent": {"draw": lambda rng: [{"prior": object(), "epsilon": 1.0}]},
    "has no right answer": {"reference": fails},
    "complains wrongly": {"returns": fails},
}


def breaks(monkeypatch, **how):
    exercises = tuple(replace(each, **how) if each.id == BROKEN else each for each in SOUND)
    monkeypatch.setattr(type(LESSON), "exercises_with", lambda lesson, values: exercises)


def judged(ids=None):
    """The Answers of a solved lesson, probed at the end."""
    answers = Answers(Job(1, b"", b"a seed", exercises=ids))
    for exercise in answers.exercises:
        answers.probe_at_end(Solved(), exercise)
    return answers


@pytest.mark.parametrize("how", BREAKS.values(), ids=BREAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_judge_that_fails_costs_its_exercise_alone_and_says_why_in_one_line(monkeypatch, how):
    breaks(monkeypatch, **how)
    marks = judged().marks
    assert {id: mark.state for id, mark in marks.items()} == {each.id: UNJUDGED if each.id == BROKEN else RIGHT for each in SOUND}  # fmt: skip
    fault = marks[BROKEN].fault
    assert len(fault.splitlines()) == 1
    errors = ("ValueError: no such thing", "TypeError: unsupported operand")
    assert fault.startswith(tuple(f"its judge failed: {error}" for error in errors))


def test_from_what_its_answer_did_then_a_mended_exercise_is_judged_and_nothing_runs(monkeypatch):
    with monkeypatch.context() as patch:
        breaks(patch, returns=fails)
        answers = judged((BROKEN,))
        assert answers.marks[BROKEN].state == UNJUDGED
        assert judged_again(answers.exercises[0], b"a seed", answers.evidence()[BROKEN]) is None
    assert judged_again(course.find(BROKEN), b"a seed", answers.evidence()[BROKEN]).state == RIGHT


def test_what_a_judge_may_take_is_limited_and_a_worker_that_stops_is_no_fault_of_it(monkeypatch):
    monkeypatch.setattr(guarded, "JUDGE_SECONDS", 0.05)
    with pytest.raises(guarded.Failed, match="did not end within"):
        guarded.at_work(time.sleep, 5)
    with pytest.raises(guarded.Failed, match="SystemExit"):
        guarded.at_work(exit)

    def stops():
        raise Stopped("the time limit was reached")

    with pytest.raises(Stopped):
        guarded.at_work(stops)


WITH_FAULT = with_marks(graded(), [unjudged(course.find(BROKEN), "its judge failed: ValueError: x")])


def test_without_a_judge_there_is_no_score_until_the_mark_is_set_by_hand_or_does_not_count():
    row = a_row(result=WITH_FAULT)
    assert (row.result.status, row.result.score) == (result.INFRASTRUCTURE, None)
    assert row.result.notes[0] == f"exercise {POSTERIOR}: its judge failed: ValueError: x"
    assert [mark.points for mark in row.result.exercises if mark.id != BROKEN] == [each.points for each in SOUND if each.id != BROKEN]  # fmt: skip
    hand = ByHand("Kim Lee_77", 1, BROKEN, 1, 2, "by reading", "me", "2026-10-02T00:00:00")
    row = a_row(result=WITH_FAULT, by_hand=[hand])
    assert (row.result.status, row.result.score) == ("graded", FULL - 1)
    row = a_row(result=WITH_FAULT, settings=Settings(excluded=(BROKEN,)))
    assert (row.result.status, row.result.score) == ("graded", FULL - 2)
    assert alarms.faults([row]) == []
    other = ByHand(
        "Kim Lee_77", 1, "composition/sequential_composition", 1, 1, "by reading", "me", "2026-10-02T00:00:00"
    )
    assert a_row(result=WITH_FAULT, by_hand=[other]).result.score is None
