"""The quiz: options are explained when chosen; right ones are recorded; without widgets nothing is lost."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpcourse import course
from dpcourse.notebook.progress import kept
from dpcourse.notebook.quiz import Static, _widget, quiz


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path))


@pytest.fixture
def apart():
    """Call a function in a thread of its own: in this one a browser of other tests may keep a loop running."""
    with ThreadPoolExecutor(1) as thread:
        yield lambda function, *arguments: thread.submit(function, *arguments).result()


@pytest.mark.parametrize("number", [lesson.number for lesson in course.lessons()])
def test_every_option_is_explained_when_chosen_and_the_first_choice_counts(number, apart):
    apart(choose_every_option, number)


def choose_every_option(number):
    """Choose every option of a lesson's quiz where no loop runs, so that each counts at once."""
    lesson = course.lesson(number)
    *blocks, _ = _widget(number, lesson.quiz).children
    for i, (question, block) in enumerate(zip(lesson.quiz, blocks, strict=True), 1):
        _, buttons, reply = block.children
        assert buttons.value is None
        options = question.options if i % 2 else question.options[::-1]
        for option in options:
            buttons.value = option
            assert ("✓ Right." if option.right else "✗ Not quite.") in reply.value
            is_done, is_tried = (f"{lesson.word}/q{i}" in names for names in (kept().done, kept().tried))
            assert (is_done, is_tried) == (options[0].right, not options[0].right)


def test_an_option_counts_once_it_has_stayed_for_a_while(monkeypatch, apart):
    monkeypatch.setattr("dpcourse.notebook.quiz.REST", 0.1)
    question = course.lesson(0).quiz[0]
    right, wrong = (next(option for option in question.options if option.right is which) for which in (True, False))

    async def walk():
        _, buttons, _ = _widget(0, (question,)).children[0].children
        buttons.value = wrong
        buttons.value = right
        await asyncio.sleep(0.3)
        buttons.value = wrong
        await asyncio.sleep(0.3)

    apart(asyncio.run, walk())
    assert (kept().done, kept().tried) == ({"start_here/q1"}, set())


def test_the_static_quiz_holds_every_option_and_reply():
    questions = course.lesson(1).quiz
    page, text = Static(questions)._repr_html_(), repr(Static(questions))
    assert page.count("<details>") == sum(len(question.options) for question in questions)
    assert all(option.text in text for question in questions for option in question.options)


def test_the_quiz_is_live_where_widgets_run_and_whole_where_they_do_not(monkeypatch):
    """As ipywidgets' own bundle, which in version 7, that of Colab, another method makes."""
    shown, made = [], []
    monkeypatch.setattr("IPython.display.display", lambda bundle, **_: shown.append(bundle))
    monkeypatch.setattr("dpcourse.notebook.quiz._widget", lambda *of: made.append(_widget(*of)) or made[0])
    of_version_8 = type(_widget(1, ()))._repr_mimebundle_
    monkeypatch.delattr("ipywidgets.Widget._repr_mimebundle_")
    quiz(1)
    key = "application/vnd.jupyter.widget-view+json"
    assert shown[0][key] == of_version_8(made[0])[key]
    assert shown[0]["text/html"].endswith(Static(course.lesson(1).quiz)._repr_html_())
    assert "run <code>pip install jupyterlab_widgets</code> there" in shown[0]["text/html"]
    assert shown[0]["text/plain"].startswith("1. ")
