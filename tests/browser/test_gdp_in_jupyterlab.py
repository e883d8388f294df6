"""Lesson 03 as a learner meets it: a naive tail, then the right one, and every explorer by keyboard."""

NAIVE = """def delta_of(epsilon, mu):
    upper = 1 - norm.cdf(epsilon / mu - mu / 2)
    lower = 1 - norm.cdf(epsilon / mu + mu / 2)
    return upper - math.exp(epsilon) * lower
"""
STABLE = """def delta_of(epsilon, mu):
    a, b = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    return norm.cdf(a) - math.exp(epsilon + norm.logcdf(b))
"""
EXPLORERS = (
    "μ, distance",
    "μ of the promise",
    'widgets.slider("δ", 0.0',
    'widgets.slider("μ", 0.3',
    "k, size of the group",
    'widgets.slider("δ", 1e-10',
)


def test_a_naive_tail_then_the_right_one_then_every_explorer(lab):
    lesson = lab("03-gdp")
    lesson.run_all()
    page = lesson.page
    lesson.wrong_then_right("3.7", NAIVE, "1 - cdf", STABLE)

    for i, source in enumerate(EXPLORERS):
        explorer = lesson.cell(source).locator(".dpcourse-explorer")
        explorer.scroll_into_view_if_needed()
        handles = explorer.locator(".noUi-handle")
        for j in range(handles.count()):
            before = explorer.locator("img").get_attribute("alt")
            handles.nth(j).focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "([box, old]) => box.querySelector('img').alt !== old", arg=[explorer.element_handle(), before]
            )
        lesson.picture(f"gdp-explorer-{i}")
