"""From the home page to the glossary, from there to a section of a lesson, and back, by links alone."""


def test_links_lead_through_the_course(lab):
    home = lab("00-start-here")
    page = home.page
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    home.picture("home-top")
    home.run(home.cell("from dpcourse import check"))
    done = shown.locator(".dpcourse-progress")
    assert done.get_by_role("row").count() == 1 + done.get_by_role("link").count()
    done.scroll_into_view_if_needed()
    home.picture("home-progress")

    shown.get_by_role("link", name="glossary").first.click()
    shown.get_by_role("heading", name="Glossary: symbols and terms").wait_for()
    home.picture("glossary")
    row = shown.get_by_role("row", name="trade-off function 权衡函数")
    row.get_by_role("link", name="03 §2").click()
    heading = shown.get_by_role("heading", name="2. The trade-off function")
    heading.wait_for()
    page.wait_for_function("h => { const y = h.getBoundingClientRect().top; return 0 < y && y < innerHeight }", arg=heading.element_handle())  # fmt: skip
    home.picture("from-the-glossary")

    shown.get_by_role("link", name="All lessons").first.click()
    done.get_by_role("link", name="01 Composition").click()
    shown.get_by_role("heading", name="01 Composition").wait_for()
    home.picture("lesson-top")
