"""What axe-core says of the static site and of a lesson in JupyterLab; reading without scripts; working by keyboard.

The site is looked at in both themes; its search and the switch between the themes are tried from a folder.
"""

from importlib.resources import files
from pathlib import Path

import pytest
from support import by_profile

from dpcourse.authoring import site

ROOT = Path(__file__).parents[2]
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = """context => axe.run(context, {resultTypes: ['violations'], preload: false}).then(result =>
  result.violations.flatMap(({id, nodes}) => nodes.map(node => [id, node.html, node.failureSummary])))"""

FLATTEN = """seen => {
  const looks = new Set(seen)
  for (const block of document.querySelectorAll('math, pre')) {
    const before = looks.size
    for (const {className, parentElement} of block.querySelectorAll('span[class]')) looks.add(`${parentElement.tagName} ${className}`)
    if (looks.size === before) block.textContent = block.textContent
  }
  return [...looks]
}"""
"""Formulas and the colours of code are thousands of elements without meaning to axe; one of each class is enough."""

KINDS = by_profile("kinds of the site", ("solutions",), ("lessons", "solutions"))
LIGHT = by_profile("pages looked at by axe-core, and on a telephone", {"index", "00-start-here"}, None)
DARK = by_profile("pages looked at in the dark", {"index", "00-start-here"}, None)

FAULTS_OF_JUPYTERLAB = {
    ("aria-input-field-name", "cm-content"),  # the editor of a cell has no name
    ("aria-required-children", "jp-WindowedPanel-viewport"),  # the list of cells is a feed, and cells are no articles
    ("button-name", "jp-collapseHeadingButton"),  # the triangle beside a heading has no name
}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The home page and all others of both sites, in every language; on a commit some of the solved English one."""
    folder = tmp_path_factory.mktemp("sites")
    for kind in KINDS:
        site.write(ROOT, folder / kind, solved=kind == "solutions", moves=kind == "lessons")
    return [file for file in sorted(folder.glob("**/*.html")) if seen(file, "light")]


def seen(file, theme):
    """Whether a page is looked at in a theme; on a commit only English ones are."""
    names = {"light": LIGHT, "dark": DARK}[theme]
    return names is None or (file.parent.name in KINDS and file.stem in names)


def violations(page, context="html"):
    """(rule, element, what is wrong with it) for all that axe-core finds."""
    page.evaluate(AXE)
    return page.evaluate(VIOLATIONS, context)


@pytest.mark.parametrize("theme", by_profile("themes in which axe looks at the site", ["light"], ["light", "dark"]))
def test_axe_finds_nothing_on_any_page_of_the_site(sites, browser, theme):
    page, looks = browser.new_page(color_scheme=theme), []
    for file in sites:
        if seen(file, theme):
            page.goto(file.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            looks = page.evaluate(FLATTEN, looks)
            assert violations(page) == [], file
    assert len(looks) > 10
    page.close()


def test_the_search_and_the_switch_of_themes_work_from_a_folder(sites, browser):
    page = browser.new_page(color_scheme="light")
    page.goto(next(file for file in sites if file.stem == "00-start-here").as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) != light
    page.keyboard.press("/")
    dialog = page.get_by_role("dialog", name="Search")
    dialog.get_by_role("searchbox").fill("epsilon randomized")
    dialog.get_by_role("link").first.wait_for()
    assert violations(page, "dialog") == []
    dialog.get_by_role("searchbox").fill("basic composition")
    assert dialog.get_by_role("link").first.inner_text() == "basic composition"
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#*")
    assert page.evaluate("document.querySelector(':target').innerText").startswith("basic composition")
    assert page.get_by_role("button", name="Light").is_visible()
    dialog.wait_for(state="hidden")
    page.close()


def test_the_site_is_read_without_scripts_or_network_on_a_telephone(sites, browser):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    for file in sites:
        page.goto(file.as_uri())
        seen = page.evaluate("""() => ({
            wide: document.documentElement.scrollWidth,
            formulas: document.querySelectorAll('math').length,
            flat: [...document.querySelectorAll('math')].filter(math => math.getClientRects().length && !math.getBoundingClientRect().height).length,
            blank: [...document.images].filter(image => image.complete && !image.naturalWidth).length,
            unreachable: [...document.querySelectorAll('main *:not(math *)')].filter(element =>
              element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === 'auto' && element.tabIndex < 0).map(element => element.outerHTML),
        })""")
        assert seen["wide"] <= 390, file
        assert seen["formulas"] > 20 or not file.stem[:2].isdigit()
        assert seen["flat"] == seen["blank"] == 0
        assert seen["unreachable"] == [], file
    assert all(address.startswith("file://") for address in asked)

    hint = page.locator("details", has_text="Hint 1").first
    page.goto(next(file for file in sites if file.stem == "00-start-here").as_uri())
    text = hint.locator("p")
    assert not text.is_visible()
    hint.locator("summary").focus()
    page.keyboard.press("Enter")
    text.wait_for()
    context.close()


@pytest.mark.weekly("a lesson in JupyterLab by axe-core and by keyboard alone; the journey goes by links and keyboard")
def test_a_lesson_in_jupyterlab_is_named_and_worked_by_keyboard(lab):
    lesson = lab("00-start-here")
    page = lesson.page
    lesson.run_all()
    explorer, questions = lesson.cell("widgets.explore("), lesson.cell("quiz(0)")
    lesson.select(explorer)
    slider = explorer.get_by_role("slider", name="ε of the report")
    tab_to(page, slider)
    image = explorer.locator(".dpcourse-explorer img[alt*='bars']")
    for key, says in (("ArrowRight", "epsilon 3.1."), ("ArrowUp", "epsilon 3.2."), ("ArrowLeft", "epsilon 3.1.")):
        page.keyboard.press(key)
        explorer.locator(f"img[alt*='{says}']").wait_for()
    assert image.locator("xpath=ancestor::*[@aria-live]").get_attribute("aria-live") == "polite"

    lesson.select(questions)
    first, second = (questions.get_by_role("radiogroup").nth(i).get_by_role("radio") for i in (0, 1))
    tab_to(page, first.first)
    page.keyboard.press("Space")
    questions.get_by_text("✗ Not quite.").wait_for()
    page.keyboard.press("ArrowDown")
    assert first.nth(1).is_checked()
    page.keyboard.press("Tab")
    assert second.first.evaluate("radio => radio === document.activeElement")
    lesson.picture("keyboard")

    found = violations(page, ".jp-Notebook")
    assert [
        fault
        for fault in found
        if not any(fault[0] == rule and name in fault[1] for rule, name in FAULTS_OF_JUPYTERLAB)
    ] == []


def tab_to(page, control):
    """Press Tab until the control has the focus, and see that the focus is visible there."""
    element = control.element_handle()
    for _ in range(20):
        page.keyboard.press("Tab")
        if element.evaluate("control => control === document.activeElement"):
            break
    style = element.evaluate("control => [document.activeElement === control, getComputedStyle(control).outline]")
    assert style[0]
    assert "solid 3px" in style[1]
