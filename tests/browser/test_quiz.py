"""The quizzes in JupyterLab at every width from 700 px on: no option lies over another, and none is without its button."""

import nbformat
import pytest
from browser.quizzes import faults_of_quiz
from support import ROOT

from dpcourse.authoring.source import languages
from dpcourse.base.languages import ENGLISH
from dpcourse.course import lessons

WIDTHS = (700, 900, 1024, 1400)


@pytest.fixture
def quizzes(lab, copy_of_course):
    """Opens a notebook with quizzes, as (language, lesson) each, and runs it."""

    def opened(shown):
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [
            nbformat.v4.new_code_cell(f"from dpcourse import language, quiz\nlanguage({name!r})\nquiz({number})")
            for name, number in shown
        ]
        nbformat.write(notebook, copy_of_course / "lessons" / "quizzes.ipynb")
        page = lab("quizzes")
        page.run_all()
        return page

    return opened


@pytest.mark.weekly("all quizzes at four widths; the journey looks at the narrowest on a commit")
def test_no_option_overlaps_another_or_loses_its_button(quizzes):
    shown = [(name, lesson.number) for name in (ENGLISH, *languages(ROOT)) for lesson in lessons()]
    lab = quizzes(shown)
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 768})
        for (name, number), cell in zip(shown, lab.cells.all(), strict=True):
            quiz = cell.locator(".dpcourse-quiz")
            quiz.scroll_into_view_if_needed()
            options = sum(len(question.options) for question in lessons()[number].quiz)
            assert quiz.locator("label input").count() == options
            lab.picture(f"quiz-{name}-{number:02}-at-{width}", quiz)
            assert faults_of_quiz(quiz) == [], (name, number, width)
