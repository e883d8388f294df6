"""A corpus of learners' answers (tests/answers/): right ones pass, wrong ones do not, and are told why.

On a commit some of them, in the week a third, by turns; `dpcourse try LESSON` prints the table.
"""

import functools
import re

import made_up_language
import pytest
from support import ROOT, by_profile, by_turns

from dpcourse import course
from dpcourse.authoring import answers

MOST = 1000  # answers of one lesson
SOME = by_turns("answers of the corpus, by their places", range(0, MOST, 200), range(MOST))
ENDLESS = by_profile("answers that never end, too", False, True)
corpus = functools.cache(answers.corpus)
TRIED = [lesson for lesson in course.lessons() if answers.file_of(ROOT, lesson.number).exists()]
OF_PYTHON = frozenset({"kind", "message", "printed", "first"})  # fields of what Python says, or the answer itself
NAME = re.compile(r"^\w+$|<function>")  # a name of the code, and what stands for a function that is returned
MOST_CASES = 0.05  # share of the wrong answers for which nothing can be said but an input


@pytest.mark.parametrize(
    ("lesson", "function"),
    [pytest.param(each, name, id=f"{each.word}-{name}") for each in course.lessons() for name in each.functions],
)
def test_there_are_wrong_and_right_answers(lesson, function):
    file = answers.file_of(ROOT, lesson.number)
    mine = [each for each in corpus(ROOT, lesson.number) if each.exercise == function] if lesson in TRIED else []
    wrong = sum(not each.right for each in mine)
    assert wrong >= 10, f"add wrong answers to {function} to {file}: there are {wrong}, and there must be ten at least"
    assert wrong < len(mine), f"add a right answer to {function} to {file}: there is none"
    assert len({each.label for each in mine}) == len(mine), f"{file} has two answers to {function} with the same label"


@pytest.mark.one_case("each lesson's answers take half a minute")
@pytest.mark.parametrize("lesson", TRIED, ids=lambda lesson: lesson.name)
@pytest.mark.filterwarnings("ignore")
def test_right_answers_pass_and_wrong_ones_do_not(lesson):
    every = [answer for answer in corpus(ROOT, lesson.number) if ENDLESS or "while" not in answer.code]
    some = [every[place] for place in SOME if place < len(every)]
    kinds = []
    for each in answers.tried(some, answers.names_of(ROOT, lesson.number)):
        kinds.append(each.kind)
        known = each.answer.passes and each.kind == "FALSE PASS"
        assert known or not each.kind.startswith("FALSE"), f"{each.answer.exercise}, {each.answer.label}: {each.kind}"
        assert each.verdict.message
        for text in (each.verdict.message, *each.verdict.lines):
            english = [each for each in made_up_language.unmarked(text, OF_PYTHON) if not NAME.search(each)]
            assert not english, f"{english} of {text} stays English in every language"
        assert each.answer.says in str(each.verdict), f"{each.answer.exercise}, {each.answer.label}: {each.verdict}"
    wrong = [kind for kind in kinds if kind not in ("right", "FALSE PASS")]
    assert sum(kind in ("case", "bare") for kind in wrong) <= MOST_CASES * len(wrong)


def test_what_passes_and_must_not_is_listed_with_a_reason():
    listed = [answer for lesson in TRIED for answer in corpus(ROOT, lesson.number) if answer.passes]
    assert all(not answer.right for answer in listed)
    assert len(listed) <= 6
