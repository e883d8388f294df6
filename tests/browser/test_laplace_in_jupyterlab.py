"""Lesson 02 as a learner meets it: a wrong mechanism, a right one, and each explorer moved by keyboard."""

RIGHT = """def report_noisy_max(counts, epsilon, rng):
    noisy = counts + rng.laplace(0, 1 / epsilon, len(counts))
    return np.argmax(noisy)
"""
WRONG = RIGHT.replace("1 / epsilon", "len(counts) / epsilon")


def test_wrong_then_right_then_the_explorers(lab):
    lesson = lab("02-laplace")
    lesson.run_all()
    page = lesson.page
    lesson.wrong_then_right("2.7", WRONG, "m times the noise", RIGHT)

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
