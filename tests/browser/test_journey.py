"""The whole course in one JupyterLab, from the home page to the last lesson, as a learner goes through it.

One exercise of each lesson is answered wrongly at first, then rightly; the others come solved, as of somebody who goes
on with the course, and all are checked. Every slider is moved and every quiz question answered by keyboard alone. What
stands in the lessons is read from the notebooks and from the exercises; the wrong answers stand in
dpcourse/course/<word>/journey.py.
"""

import itertools
from pathlib import Path

import nbformat
import pytest
import slices
from browser.quizzes import faults_of_quiz
from support import by_turns

from dpcourse.authoring.source import languages
from dpcourse.base.languages import ENGLISH, again
from dpcourse.course import lesson, lessons

ROOT = Path(__file__).parents[2]
LESSONS = tuple(known.name for known in lessons())
WORKED_THROUGH = by_turns("lessons gone through in JupyterLab", range(1), range(len(LESSONS)))
WORKED_IN = ("from dpcourse import", "report()", "progress()", "widgets.explore(", "check(", "quiz(")
"""What a learner works in says one of these, or is an exercise; the other cells only show something."""

PICTURE = "it.querySelector('img').src + it.querySelector('img').alt"


def test_the_whole_course(lab, copy_of_course):
    for number in WORKED_THROUGH:
        answer_all_but_one(copy_of_course, number, LESSONS[number])
    course = lab(LESSONS[0])
    for before, number in itertools.pairwise((-1, *WORKED_THROUGH)):
        name = LESSONS[number]
        if before > 0 and number > before + 1:  # else the home lesson is open already, or the one that leads there
            course.follow(LESSONS[0])
        if number > 0:
            course.follow(name)
            course.close_others()
        course.picture(f"{name}-1-top")
        solve(course, number, name)
        move_every_slider(course, name)
        answer_the_quiz(course, number)
        assert_done(course, number)
        course.picture(f"{name}-5-closing", course.cells.last)

    course.follow(LESSONS[0])
    course.close_others()
    course.run(course.cell("progress()"))
    for number in WORKED_THROUGH:
        assert_done(course, number)
    course.picture("progress")


@pytest.mark.weekly("JupyterLab in another language, an exercise of every lesson")
@pytest.mark.parametrize("language", languages(ROOT))
def test_an_exercise_of_every_lesson_in_another_language(lab, copy_of_course, language):
    """It is answered wrongly, the mistake is told in that language, and it is mended."""
    for number, name in enumerate(LESSONS):
        answer_all_but_one(copy_of_course, number, f"{language}/{name}", exercises_alone=True)
        course = lab(f"{language}/{name}")
        solve(course, number, f"{language}/{name}", language)


def answer_all_but_one(folder, number, name, exercises_alone=False):
    """Write the solutions into a lesson's file, as if somebody had come so far; the exercise of the slip stays blank.

    Cells that only show something are not run: nbval runs them. Nor are explorers and quizzes, if exercises_alone is asked for.
    What an answer needs of the lesson is run.
    """
    worked_in = (*WORKED_IN[:1], "check(") if exercises_alone else WORKED_IN
    file, function = folder / "lessons" / f"{name}.ipynb", slip(number).function
    notebook, solved = nbformat.read(file, 4), sources("solutions", name)
    codes = [code if cell.cell_type == "code" else "" for cell, code in zip(notebook.cells, solved, strict=True)]
    own = {i for i, code in enumerate(codes) if code and code != notebook.cells[i].source}
    run = slices.needed(codes, own | {i for i, code in enumerate(codes) if any(said in code for said in worked_in)})
    for i, code in enumerate(codes):
        if code and f"def {function}(" not in code:
            notebook.cells[i].source = code
            if i not in run:
                notebook.cells[i] = nbformat.v4.new_raw_cell(code, id=notebook.cells[i].id)
    nbformat.write(notebook, file)


def slip(number):
    """The wrong answer of a lesson."""
    return lesson(number).part("journey").SLIP


def solve(course, number, name, language=ENGLISH):
    """Write the one answer that is missing, wrongly; run all cells; read the message; mend it: every check is passed.

    In another language only its own: of the other cells not all are run.
    """
    function, right, wrong = slip(number).function, slip(number).right, slip(number).wrong
    exercise = lesson(number).exercise(function)
    (misconception,) = [known for known in exercise.misconceptions if known.name == slip(number).misconception]
    solved = sources("solutions", name)
    checks = [i for i, code in enumerate(solved) if code.startswith("check(")]
    (slipped,) = [i for i, code in enumerate(solved) if f"def {function}(" in code]
    (check,) = [i for i in checks if f'"{exercise.number}"' in solved[i]]
    assert right in solved[slipped]

    course.write(course.cells.nth(slipped), solved[slipped].replace(right, wrong))
    course.run_all()
    said = course.cells.nth(check).locator(".jp-OutputArea")
    said.get_by_text("✗").wait_for()
    said.get_by_text(again(misconception.message, language).replace("`", "")).wait_for()
    course.picture(f"{name}-2-wrong", said)

    course.write(course.cells.nth(slipped), solved[slipped])
    course.run(course.cells.nth(slipped))
    course.run(course.cells.nth(check))
    passed = (  # of a long lesson JupyterLab does not draw all cells at once
        "value.every(i => it.querySelectorAll('.jp-Cell')[i]?.querySelector('.jp-OutputArea')?.textContent.includes('✓'))"
    )
    course.wait_until(passed, course.panel, checks if language == ENGLISH else [check])


def sources(folder, name):
    """The sources of the cells of a notebook."""
    return [cell.source for cell in nbformat.read(ROOT / folder / f"{name}.ipynb", 4).cells]


def move_every_slider(course, name):
    """Come to each slider by Tab, press an arrow key, and see another picture."""
    for i, code in enumerate(sources("lessons", name)):
        count = code.count("widgets.slider(") + code.count("widgets.choice(")
        if "widgets.explore(" in code:
            explorer = course.cells.nth(i).locator(".dpcourse-explorer")
            handles = explorer.locator("[role=slider]")
            assert handles.count() == count
            course.select(course.cells.nth(i))
            for handle in handles.all():
                tab_to(course.page, handle)
                before = explorer.evaluate(f"it => {PICTURE}")
                at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
                course.page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
                course.wait_until(f"{PICTURE} !== value", explorer, before)
            course.picture(f"{name}-3-explorer-{i}", explorer)


def answer_the_quiz(course, number):
    """See that its options keep apart in a narrow window, Tab to each question, walk through its options by arrow keys to the right one, and read each reply."""
    cell = course.cell(f"quiz({number})")
    with course.narrow():
        assert faults_of_quiz(cell.locator(".dpcourse-quiz")) == []
    course.select(cell)
    blocks = cell.locator(".dpcourse-quiz > .widget-vbox")
    for question, block in zip(lesson(number).quiz, blocks.all(), strict=True):
        right = [option.right for option in question.options].index(True)
        tab_to(course.page, block.locator("[role=radiogroup] input").first)
        walk = [(i, "ArrowDown") for i in range(1, right + 1)] or [(1, "ArrowDown"), (0, "ArrowUp")]
        for i, key in ((0, "Space"), *walk):
            course.page.keyboard.press(key)
            block.get_by_text(question.options[i].reply).wait_for()
    course.picture(f"{LESSONS[number]}-4-quiz", blocks.last)


def tab_to(page, target):
    """Press Tab until the target has the focus."""
    element, place = target.element_handle(), "node => document.activeElement.compareDocumentPosition(node)"
    for _ in range(12):
        if (where := element.evaluate(place)) == 0:
            return
        page.keyboard.press("Shift+Tab" if where == 2 else "Tab")
    raise AssertionError("Tab does not lead there")


def assert_done(course, number):
    """In the row of a lesson in progress() the exercises are full; a quiz answer counts that stays for a while, on a slow machine the first."""
    row = course.cell("progress()").locator(".dpcourse-progress tbody tr").nth(number)
    at_once = sum(question.options[0].right for question in lesson(number).quiz)
    done = f"{{ const [tasks, quiz] = it.querySelectorAll('progress'); return tasks.value === tasks.max && quiz.value >= {at_once} }}"
    course.wait_until(f"(() => {done})()", row)
    assert row.locator("progress").count() == 2


@pytest.mark.weekly("an endless loop has to reach its limit, and the kernel to start anew")
def test_help_then_an_endless_loop_then_a_restart(lab):
    lesson = lab("00-start-here")
    imports = lesson.cell("from dpcourse import")
    first, answer, check = (lesson.cell(text) for text in ("progress()", "def keep_probability", 'check("0.1"'))
    said = check.locator(".jp-OutputArea")

    def write_and_run(cell, code):
        lesson.write(cell, code)
        lesson.run(cell)

    lesson.run(imports)
    lesson.run(first)
    for code, reply in (
        ('hint("0.1", 1)', "Hint 1 of 2"),  # by its number: the journey may have passed 0.1
        ('solution("0.1")', "are you sure?"),
        ('solution("0.1", sure=True)', "return math.exp(epsilon) / (1 + math.exp(epsilon))"),
    ):
        write_and_run(check, code)
        said.get_by_text(reply).wait_for()
        lesson.picture(f"help-{code[:4]}")

    for body, verdict in (
        ("while True: pass", "did not finish: the limit is 10 seconds"),
        ("return 1 / (1 + math.exp(-epsilon))", "passed (1 point)"),
    ):
        write_and_run(answer, f"def keep_probability(epsilon):\n    {body}")
        write_and_run(check, 'check("0.1", keep_probability)')
        said.get_by_text(verdict).wait_for()

    lesson.menu("Kernel", "Restart Kernel and Clear Outputs of All Cells…")
    lesson.page.get_by_role("button", name="Confirm Kernel Restart").click()
    first.locator(".dpcourse-progress").wait_for(state="detached")
    lesson.wait_for_kernel()
    lesson.run(imports)
    lesson.run(first)
    assert first.locator("progress").first.evaluate("bar => bar.value") > 0


@pytest.mark.weekly("JupyterLab goes to the glossary and back; that all links lead somewhere is read on a commit")
def test_links_lead_to_the_glossary_and_back(lab):
    """From the home page to the glossary, to a section of a lesson, home, and on by progress()."""
    course = lab(LESSONS[0])
    course.picture("home")
    course.run(course.cell("from dpcourse import"))
    course.run(course.cell("progress()"))
    done = course.panel.locator(".dpcourse-progress")
    assert done.get_by_role("link").count() == len(LESSONS)
    course.picture("home-progress", done)

    course.follow("glossary")
    course.picture("glossary")
    entry = course.panel.get_by_role("row", name="basic composition").first
    course.follow(LESSONS[1], entry.get_by_role("link", name="01 §4"))
    heading = course.panel.get_by_role("heading", name="4. What spills over")
    course.wait_until("0 < it.getBoundingClientRect().top && it.getBoundingClientRect().top < innerHeight", heading)
    course.picture("from-the-glossary")

    course.follow(LESSONS[0])
    course.follow(LESSONS[3], done.get_by_role("link", name="03 "))
