"""Lesson 02 as a learner meets it: a wrong mechanism, a right one, and each explorer moved by keyboard."""

from dpcourse import exercises

RIGHT = """def report_noisy_max(counts, epsilon, rng):
    noisy = counts + rng.laplace(0, 1 / epsilon, len(counts))
    return np.argmax(noisy)
"""
WRONG = RIGHT.replace("1 / epsilon", "len(counts) / epsilon")


def test_wrong_then_right_then_the_explorers(lab):
    lesson = lab("02-laplace")
    lesson.run_all()
    page = lesson.page
    answer, check = lesson.cell("def report_noisy_max"), lesson.cell('check("2.7"')
    said = check.locator(".jp-OutputArea")
    assert "not attempted" in said.inner_text()
    (slip,) = [slip for slip in exercises.find("2.7").misconceptions if slip.name == "m times the noise"]
    for code, state, message in (
        (WRONG, "not yet", slip.message),
        (RIGHT, "passed (3 points)", "Right on inputs drawn just now."),
    ):
        lesson.write(answer, code)
        lesson.run(answer)
        lesson.run(check)
        said.get_by_text(state).wait_for()
        assert message in said.inner_text()
        lesson.picture(f"laplace-{state[:6].strip()}")

    for cell, slider, before, after in (
        ("change by one row", 1, "are 1 apart", "are 1.1 apart"),
        ("k, number of counts", 1, "at epsilon 1 is", "at epsilon 1.1 is"),
        ("m, number of counts", 1, "releasing all 10 counts", "releasing all 11 counts"),
    ):
        explorer = lesson.cell(cell).locator(".dpcourse-explorer")
        explorer.scroll_into_view_if_needed()
        assert before in explorer.locator("img").get_attribute("alt")
        explorer.locator(".noUi-handle").nth(slider).focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "([box, text]) => box.querySelector('img').alt.includes(text)", arg=[explorer.element_handle(), after]
        )
        lesson.picture(f"laplace-explorer-{slider}-{after.split()[-2]}")
