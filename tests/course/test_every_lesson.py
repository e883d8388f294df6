"""What every lesson has: whatever a newcomer forgets is named in one sentence that says what to add, and where."""

import pkgutil
from pathlib import Path

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.authoring import minutes, navigation

HAS = ("glossary.toml", "journey.py", "pictures.py", "quiz.py")
every_lesson = pytest.mark.parametrize("lesson", course.lessons(), ids=lambda lesson: lesson.word)


def folder(lesson):
    return Path(course.__file__).parent / lesson.word


def source(lesson):
    return ROOT / f"solutions/{lesson.name}.md"


def named(things):
    return ", ".join(sorted(things))


@every_lesson
def test_the_folder_has_its_parts(lesson):
    missing = [name for name in HAS if not (folder(lesson) / name).is_file()]
    assert not missing, f"add {named(missing)} to dpcourse/course/{lesson.word}/; a neighbour's shows the form"
    assert source(lesson).is_file(), f"add solutions/{lesson.name}.md, the text of the lesson; or mend its NAME"


@every_lesson
def test_the_files_of_exercises_are_those_that_the_lesson_lists(lesson):
    there = {
        name for _, name, _ in pkgutil.iter_modules([str(folder(lesson))]) if hasattr(lesson.part(name), "exercise")
    }
    unlisted, listed = there - set(lesson.functions), f"EXERCISES in dpcourse/course/{lesson.word}/__init__.py"
    assert not unlisted, f"add {named(unlisted)} to {listed}, or take the file away"
    twice = {function for function in lesson.functions if lesson.functions.count(function) > 1}
    assert not twice, f"{named(twice)} stands twice in {listed}"


@every_lesson
def test_every_exercise_and_its_check_stand_in_the_text(lesson):
    lines = source(lesson).read_text(encoding="utf-8").splitlines()
    missing = [
        f"{{{what} {function}}}"
        for function in lesson.functions
        for what in ("exercise", "check")
        if f"{{{what} {function}}}" not in lines
    ]
    assert not missing, f"add to solutions/{lesson.name}.md, each on a line of its own: {', '.join(missing)}"


@every_lesson
def test_every_exercise_serves_a_goal(lesson):
    goals = navigation.about(source(lesson))["goals"]
    checks = [check for goal in goals for check in goal["checks"]]
    where = f"`goals:` in the front matter of solutions/{lesson.name}.md"
    missing, unknown = set(lesson.functions) - set(checks), set(checks) - set(lesson.functions)
    assert not missing, f"add {named(missing)} to the checks of one of the {where}"
    assert not unknown, f"take {named(unknown)} out of the {where}: the lesson has no such exercise"
    assert len(checks) == len(set(checks)), f"the {where} name an exercise twice"
    assert all(goal["checks"] for goal in goals), (
        f"the {where} have one without checks: name the exercise that shows it"
    )


@every_lesson
def test_a_lesson_takes_about_four_hours_at_most(lesson):
    takes = minutes.of(source(lesson))
    assert takes.total <= 250, (
        f"solutions/{lesson.name}.md takes {takes.total} minutes, {takes.solving} of them for the exercises: shorten it, "
        f"fold what can be read later, or make it two lessons; `dpcourse build {lesson.name} --minutes` says what takes how long"
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
