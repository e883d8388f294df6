"""Lesson 04 as a learner meets it: wrong, then right, then every explorer by keyboard."""

WRONG = """def limit_mu(epsilons):
    return math.sqrt(sum(epsilon**2 for epsilon in epsilons))
"""
RIGHT = """def limit_mu(epsilons):
    k = sum(epsilon * math.tanh(epsilon / 2) for epsilon in epsilons)
    return 2 * k / math.sqrt(sum(epsilon**2 for epsilon in epsilons))
"""


def test_wrong_then_right_then_every_explorer(lab):
    lesson = lab("04-clt")
    lesson.run_all()
    page = lesson.page
    lesson.wrong_then_right("4.8", WRONG, "small epsilons", RIGHT)

    for place, first, then, key in [
        ("plots.product,", "epsilon 1,", "epsilon 1.1,", "ArrowRight"),
        ("plots.limit,", "by randomized response", "by Laplace noise", "ArrowRight"),
        ("plots.limit_error,", "noise multiplier 1,", "noise multiplier 0.8,", "ArrowLeft"),
    ]:
        explorer = lesson.cell(f"widgets.explore(\n    {place}").locator(".dpcourse-explorer")
        explorer.scroll_into_view_if_needed()
        image = explorer.locator("img")
        assert first in image.get_attribute("alt")
        handles = explorer.locator(".noUi-handle")
        handles.first.focus()
        page.keyboard.press(key)
        page.wait_for_function(
            "([box, text]) => box.querySelector('img').alt.includes(text)", arg=[explorer.element_handle(), then]
        )
        for handle in handles.all()[1:]:
            before = image.get_attribute("alt")
            handle.focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "([box, old]) => box.querySelector('img').alt !== old", arg=[explorer.element_handle(), before]
            )
        lesson.picture(f"clt-{place.strip(',')}")
