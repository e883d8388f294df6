"""What every lesson has: whatever a newcomer forgets is named in one sentence that says what to add, and where."""

import math

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.authoring import complete, minutes, page
from dpcourse.authoring.uses import modules_of

every_lesson = pytest.mark.parametrize("lesson", course.lessons(), ids=lambda lesson: lesson.word)


def source(lesson):
    return ROOT / f"solutions/{lesson.name}.md"


@every_lesson
def test_it_has_all_that_the_build_asks_for(lesson):
    """The parts of its folder; in its text every exercise, in order, with a check, and each for a goal."""
    lacks = [str(each) for each in complete.omissions(ROOT, modules_of(ROOT))]
    assert not [each for each in lacks if f"/{lesson.word}/" in each or lesson.name in each]
    assert page.read(source(lesson)).code  # SourceError says what is missing there


@every_lesson
def test_a_sitting_takes_two_hours_and_a_half_at_most_and_a_long_lesson_can_be_left(lesson):
    takes = minutes.of(source(lesson))
    assert sum(taken for _, taken in takes.sittings) == takes.total
    assert all(taken <= 150 for _, taken in takes.sittings), (
        f"solutions/{lesson.name}.md: put {{pause}} at the end of one section more; `dpcourse build {lesson.name} --minutes` "
        f"says what takes how long"
    )
    assert takes.total <= 240 or len(takes.sittings) > 1
    read_once = 5 * math.ceil(sum(section.reading for section in minutes.sections(source(lesson))) / minutes.PACE / 5)
    assert read_once + takes.solving <= 330, (
        f"solutions/{lesson.name}.md takes {takes.total} minutes, and {read_once + takes.solving} where it is read once: "
        f"shorten it, fold what can be read later, or make it two lessons"
    )


@every_lesson
def test_every_question_has_one_right_option_and_explains_all(lesson):
    for place, question in enumerate(lesson.quiz, 1):
        where = f"question {place} in dpcourse/course/{lesson.word}/quiz.py"
        right = sum(option.right for option in question.options)
        assert right == 1, f"{where} has {right} right options: exactly one must be right"
        assert all(option.why for option in question.options), f"{where} has an option without `why`"
        assert len(question.options) >= 3, f"{where} has {len(question.options)} options: give it at least 3"
        assert len({option.text for option in question.options}) == len(question.options), (
            f"{where} says an option twice"
        )


@every_lesson
def test_the_right_option_does_not_always_stand_in_the_same_place(lesson):
    places = {place for question in lesson.quiz for place, option in enumerate(question.options) if option.right}
    wanted = min(3, len(lesson.quiz))
    assert len(places) >= wanted, (
        f"the right options in dpcourse/course/{lesson.word}/quiz.py stand in {len(places)} places of their questions: "
        f"exchange options until there are {wanted}"
    )
