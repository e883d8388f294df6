"""Lesson 01 as a learner meets it: wrong, then right, then a slider and the quiz."""

import re

from dpcourse import exercises

WRONG = """def advanced_composition(epsilon, delta, k, delta_prime):
    spread = math.sqrt(2 * k * math.log(1 / epsilon)) * epsilon
    return spread + k * epsilon * (math.exp(epsilon) - 1), k * delta + delta_prime
"""


def message(name):
    (slip,) = [slip for slip in exercises.find("1.5").misconceptions if slip.name == name]
    return slip.message


def test_wrong_then_right_then_a_slider_then_the_quiz(lab):
    lesson = lab("01-composition")
    lesson.run_all()
    page = lesson.page
    done = lesson.cell("from dpcourse import check").locator(".dpcourse-progress tr", has_text="01 Composition").first
    assert "0 of 7" in done.inner_text()

    answer, check = lesson.cell("def advanced_composition"), lesson.cell('check("1.5"')
    assert "not attempted" in check.inner_text()
    lesson.write(answer, WRONG)
    lesson.run(answer)
    lesson.run(check)
    said = check.locator(".jp-OutputArea")
    said.get_by_text("not yet").wait_for()
    assert message("log of 1/epsilon") in said.inner_text()
    assert re.search(r"advanced_composition\(epsilon=.*\) gave \(.*\); right is \(", said.inner_text())
    lesson.picture("wrong")

    lesson.write(check, 'hint("1.5")')
    lesson.run(check)
    said.get_by_text("Hint 1 of 2").wait_for()
    lesson.picture("hint")
    lesson.write(check, 'solution("1.5")')
    lesson.run(check)
    said.get_by_text("are you sure?").wait_for()
    lesson.write(check, 'solution("1.5", sure=True)')
    lesson.run(check)
    said.get_by_text("spread = math.sqrt(2 * k * math.log(1 / delta_prime)) * epsilon").wait_for()
    lesson.picture("solution")

    lesson.write(answer, WRONG.replace("1 / epsilon", "1 / delta_prime"))
    lesson.run(answer)
    lesson.write(check, 'check("1.5", advanced_composition)')
    lesson.run(check)
    said.get_by_text("passed (2 points)").wait_for()
    lesson.picture("right")
    page.wait_for_function("row => row.innerText.includes('1 of 7')", arg=done.element_handle())

    explorer = lesson.cell("ε of the answer").locator(".dpcourse-explorer")
    explorer.scroll_into_view_if_needed()
    before = explorer.locator("img").get_attribute("alt")
    assert "epsilon 1 against" in before
    explorer.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([box, old]) => box.querySelector('img').alt !== old", arg=[explorer.element_handle(), before]
    )
    assert "epsilon 1.1 against" in explorer.locator("img").get_attribute("alt")
    lesson.picture("explorer")

    questions = lesson.cell("quiz(1)").locator(".dpcourse-quiz")
    questions.scroll_into_view_if_needed()
    for i, question in enumerate(exercises.lesson(1).QUIZ):
        block = questions.locator("> .widget-vbox").nth(i)
        for j, option in sorted(enumerate(question.options), key=lambda pair: pair[1].right):
            block.get_by_role("radio").nth(j).click()
            block.get_by_text(option.reply).wait_for()
    lesson.picture("quiz")
    page.wait_for_function("row => row.innerText.includes('6 of 6')", arg=done.element_handle())

    kernel_restarts(lesson)
    assert "1 of 7" in done.inner_text()
    assert "6 of 6" in done.inner_text()


def kernel_restarts(lesson):
    """Restart the kernel, which clears the page, and run the first cell again."""
    lesson.menu("Kernel", "Restart Kernel and Clear Outputs of All Cells…")
    lesson.page.get_by_role("button", name="Confirm Kernel Restart").click()
    lesson.page.get_by_text("Python 3 (ipykernel) | Restarting").wait_for()
    lesson.wait_for_kernel()
    lesson.run(lesson.cell("from dpcourse import check"))


def test_the_notebook_stays_usable_after_an_endless_loop(lab):
    lesson = lab("00-start-here")
    lesson.run(lesson.cell("from dpcourse import check"))
    answer, check = lesson.cell("def keep_probability"), lesson.cell('check("0.1"')
    lesson.write(answer, "def keep_probability(epsilon):\n    while True:\n        pass")
    lesson.run(answer)
    lesson.run(check)
    check.get_by_text("did not finish: the limit is 10 seconds").wait_for()
    lesson.write(answer, "def keep_probability(epsilon):\n    return 1 / (1 + math.exp(-epsilon))")
    lesson.run(answer)
    lesson.run(check)
    check.get_by_text("passed (1 point)").wait_for()
