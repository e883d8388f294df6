"""What axe-core says of the static site and of a lesson in JupyterLab; reading without scripts; working by keyboard.

The site is looked at in both themes; its search, the switch between the themes, explorers that move and terms that are
explained are tried from a folder.
"""

import shutil
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from support import by_profile

from dpcourse import plots
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

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What is in view is asked for by then. (Of a page in a file, Chromium does not always say that its network is idle.)"""

KINDS = by_profile("kinds of the site", ("solutions",), ("lessons", "solutions"))
FIRST_VIEW = 1_000_000
"""Bytes that a page may load before anybody scrolls."""
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
    course = ROOT if LIGHT is None else english(tmp_path_factory.mktemp("course"))
    for kind in KINDS:
        site.write(course, folder / kind, solved=kind == "solutions", moves=kind == "lessons")
    return [file for file in sorted(folder.glob("**/*.html")) if seen(file, "light")]


def english(folder):
    """A course without translations, in a folder of its own."""
    (folder / "solutions").mkdir()
    for notebook in (ROOT / "solutions").glob("*.ipynb"):
        shutil.copy(notebook, folder / "solutions")
    return folder


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


@pytest.mark.in_turn("seconds in a browser")
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
            silent: [...document.querySelectorAll('.figure')].filter(figure =>
              (figure.scrollWidth > figure.clientWidth) !== getComputedStyle(figure, '::before').content.includes('↔')).length,
            unreachable: [...document.querySelectorAll('main *:not(math *)')].filter(element =>
              element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === 'auto' && element.tabIndex < 0).map(element => element.outerHTML),
        })""")
        assert seen["wide"] <= 390, file
        assert seen["formulas"] > 20 or not file.stem[:2].isdigit()
        assert seen["flat"] == seen["blank"] == 0
        assert seen["silent"] == 0, "a picture fits, or says that it is wider"
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


@pytest.mark.in_turn("seconds in a browser")
def test_before_anybody_scrolls_a_page_has_loaded_less_than_a_megabyte(sites, browser):
    for file in sites:
        page, asked = browser.new_page(), set()
        page.on("request", lambda request, asked=asked: asked.add(request.url))
        page.goto(file.as_uri())
        page.evaluate(DRAWN)
        loaded = {Path(unquote(urlsplit(address).path)) for address in asked}
        assert len(loaded) >= 3
        assert sum(each.stat().st_size for each in loaded) < FIRST_VIEW, file
        page.close()


# ---- a small site: explorers that move, terms that are explained

EXPLORERS = (
    """widgets.explore(
    plots.approx_dp_lines,
    epsilon=widgets.slider("ε", 0.0, 2.0, 0.0, step=1.0),
    delta=widgets.choice("δ", [0.0, 0.2]),
    play="epsilon",
)""",
    """widgets.explore(
    plots.proof,
    mu=widgets.choice("μ", [0.0, 1.0]),
    runs=widgets.choice("runs", [50, 200]),
    threshold=widgets.choice("threshold", [0.5, 1.0], 1.0),
)""",
)
GLOSSARY = """# Glossary

## Terms

| term | 中文 | meaning | where |
|:--|:--|:--|:--|
| miss | 漏报 | to say "out" although Mia is in | 03 §1 |"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """The address of a lesson of a small site."""
    course, v4 = tmp_path_factory.mktemp("small"), nbformat.v4
    data, _ = plots.as_output(plots.approx_dp_lines, epsilon=0.0, delta=0.0)
    still = [nbformat.from_dict({"output_type": "display_data", "metadata": {}, "data": data})]
    code = [v4.new_code_cell(explorer, id=f"e{i}", outputs=still) for i, explorer in enumerate(EXPLORERS)]
    cells = [v4.new_markdown_cell("# 03 Three: one\n\n## One\n\nA miss.\n\n## Two", id="one"), *code, v4.new_code_cell("attack(0)", id="game")]  # fmt: skip
    for name, of in (("03-three", cells), ("04-four", [v4.new_markdown_cell("# 04 Four", id="four")]), ("glossary", [v4.new_markdown_cell(GLOSSARY, id="g")])):  # fmt: skip
        for kind in ("lessons", "solutions"):
            (course / kind).mkdir(exist_ok=True)
            (course / kind / f"{name}.ipynb").write_text(nbformat.writes(v4.new_notebook(cells=of)))
    site.write(course, course / "site", moves=True)
    return (course / "site" / "03-three.html").as_uri()


@pytest.mark.weekly("draws all the pictures of a page")
def test_an_explorer_loads_its_pictures_when_somebody_touches_it_and_moves(lesson, browser):
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(lesson)
    page.evaluate(DRAWN)
    assert not [name for name in asked if name.endswith(".js") and name != "site.js"]
    two, three = (page.locator(".moving").nth(i) for i in (0, 1))
    assert "(0, 0.00)-DP" in two.locator("img").get_attribute("alt")
    two.get_by_role("slider", name="ε").focus()
    page.keyboard.press("ArrowRight")
    two.locator("img[alt*='(1.00, 0.00)-DP']").wait_for()
    two.get_by_role("slider", name="δ").focus()
    page.keyboard.press("ArrowRight")
    two.locator("img[alt*='(1.00, 0.20)-DP']").wait_for()
    assert two.get_by_role("slider", name="δ").get_attribute("aria-valuetext") == "0.2"
    assert two.locator("img").evaluate("async image => { await image.decode(); return image.naturalWidth }") > 0
    assert len([name for name in asked if name.endswith(".js") and name != "site.js"]) == 1

    runs, threshold = (three.get_by_role("slider", name=name) for name in ("runs", "threshold"))
    assert threshold.input_value() == "1"
    runs.focus()
    page.keyboard.press("ArrowRight")
    three.locator("img[src^='data:image/svg']").wait_for()
    threshold.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("slider => slider.value === '0'", arg=runs.element_handle())  # one moves at a time
    assert (threshold.input_value(), three.locator("output").nth(1).inner_text()) == ("0", "50")
    page.close()


@pytest.mark.in_turn("seconds in a browser")
@pytest.mark.one_case("waits for a film")
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_an_explorer_plays_when_somebody_presses_its_button_and_steps_where_less_motion_is_wanted(
    lesson, browser, motion
):
    page = browser.new_page(reduced_motion=motion)
    page.goto(lesson)
    moving = page.locator(".moving").first
    slider = moving.get_by_role("slider", name="ε")
    page.wait_for_timeout(1000)
    assert slider.input_value() == "0", "nothing moves by itself"
    moving.get_by_role("button", name="Play").press("Enter")
    moving.locator("img[alt*='(1.00, 0.00)-DP']").wait_for()
    if motion == "reduce":
        page.wait_for_timeout(1500)
        assert slider.input_value() == "1"
        moving.get_by_role("button", name="Play").press("Enter")
    moving.locator("img[alt*='(2.00, 0.00)-DP']").wait_for()
    page.wait_for_timeout(1000)
    assert slider.input_value() == "2", "it stops at its end"
    moving.get_by_role("button", name="Play").press("Enter")
    moving.locator("img[alt*='(0, 0.00)-DP']").wait_for()
    page.close()


@pytest.mark.in_turn("seconds in a browser")
def test_a_term_is_explained_by_pointer_keyboard_and_touch(lesson, browser):
    page = browser.new_page()
    page.goto(lesson)
    term, meaning = page.locator("a.term"), page.locator(".meaning")
    says = 'to say "out" although Mia is in'
    assert term.inner_text() == "miss"
    assert page.locator(f"[id={term.get_attribute('aria-describedby')}]").text_content().strip() == says
    assert not meaning.is_visible()
    term.hover()
    meaning.get_by_text(says).wait_for()
    meaning.hover()
    page.wait_for_timeout(500)
    assert meaning.is_visible(), "one can move onto it"
    page.mouse.move(5, 5)
    meaning.wait_for(state="hidden")
    tab_to(page, term)
    meaning.get_by_text(says).wait_for()
    assert violations(page) == []
    page.keyboard.press("Escape")
    meaning.wait_for(state="hidden")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#miss")
    page.close()

    page = browser.new_page(has_touch=True, viewport={"width": 390, "height": 800})
    page.goto(lesson)
    page.locator("a.term").tap()
    page.locator(".meaning").get_by_text(says).wait_for()
    box = page.locator(".meaning").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.locator("h1").tap()
    page.locator(".meaning").wait_for(state="hidden")
    assert page.url == lesson
    page.locator("a.term").tap()
    page.locator("a.term").tap()
    page.wait_for_url("**/glossary.html#miss")
    page.close()


@pytest.mark.one_case("each is a browser of another width")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lessons_and_sections_stand_beside_the_text_or_behind_a_button(lesson, browser, theme):
    page = browser.new_page(color_scheme=theme, viewport={"width": 1300, "height": 900})
    page.goto(lesson)
    contents = page.get_by_role("navigation", name="Lessons and sections")
    assert contents.get_by_role("link").all_inner_texts() == ["03 Three", "One", "Two", "04 Four", "Glossary"]
    assert contents.get_by_role("link", name="04 Four").is_visible()
    assert violations(page) == []
    page.set_viewport_size({"width": 800, "height": 900})
    contents.get_by_role("link", name="04 Four").wait_for(state="hidden")
    assert violations(page) == []
    contents.locator("summary").press("Enter")
    contents.get_by_role("link", name="One").press("Enter")
    page.wait_for_url("**#One")
    contents.get_by_role("link", name="One").wait_for(state="hidden")
    contents.locator("summary").press("Enter")
    assert violations(page) == []
    contents.get_by_role("link", name="04 Four").press("Enter")
    page.wait_for_url("**/04-four.html")
    page.get_by_role("link", name="03 Three").first.press("Enter")
    page.wait_for_url("**/03-three.html")
    page.close()


@pytest.mark.weekly("a lesson in JupyterLab by axe-core and by keyboard alone; the journey goes by links and keyboard")
def test_a_lesson_in_jupyterlab_is_named_and_worked_by_keyboard(lab):
    lesson = lab("00-start-here")
    page = lesson.page
    lesson.run_all()
    explorer, questions = lesson.cell("ε of the report"), lesson.cell("quiz(0)")
    lesson.select(explorer)
    slider = explorer.get_by_role("slider", name="ε of the report")
    assert slider.evaluate("handle => getComputedStyle(handle).borderColor") == "rgb(65, 105, 154)", "seen on white"
    tab_to(page, slider)
    image = explorer.locator(".dpcourse-explorer img[alt*='bars']")
    for key, says in (("ArrowRight", "epsilon 3.5."), ("ArrowUp", "epsilon 4."), ("ArrowLeft", "epsilon 3.5.")):
        page.keyboard.press(key)
        explorer.locator(f"img[alt*='{says}']").wait_for()
    assert slider.get_attribute("aria-valuetext") == "3.50", "as the slider shows it"
    assert image.locator("xpath=ancestor::*[@aria-live]").get_attribute("aria-live") == "polite"

    game = lesson.cell("attack(0)")
    lesson.select(game)
    left, right = game.locator(".dpcourse-pair button").all()
    tab_to(page, left)
    for key, button, next_one in (("ArrowRight", right, 2), ("ArrowRight", right, 3), ("ArrowLeft", left, 4)):
        page.keyboard.press(key)
        assert button.evaluate("button => button === document.activeElement")
        page.keyboard.press("Enter")
        game.get_by_text(f"Output {next_one} of 40").wait_for()

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
    lesson.select(explorer)
    page.keyboard.press("Control+B")  # the file browser away
    page.set_viewport_size({"width": 420, "height": 768})
    lesson.wait_until("it.clientWidth < 400 && it.clientWidth < it.scrollWidth", explorer.locator(".dpcourse-picture"))
    lesson.picture("narrow", explorer)
    assert [
        fault
        for fault in found
        if not any(fault[0] == rule and name in fault[1] for rule, name in FAULTS_OF_JUPYTERLAB)
    ] == []


@pytest.mark.weekly("a lesson in JupyterLab, run to its end")
def test_what_is_chosen_by_a_slider_is_shown_whole(lab):
    lesson = lab("09-matrix")
    lesson.run_all()
    lesson.select(lesson.cell("plots.noise_so_far"))
    readouts = lesson.cell("plots.noise_so_far").locator(".widget-readout")
    shown = readouts.evaluate_all("all => all.map(each => [each.textContent, each.scrollWidth <= each.clientWidth])")
    assert [text for text, _ in shown][:1] == ["fresh noise in each step"]
    assert all(whole for _, whole in shown), shown
    lesson.picture("readouts", lesson.cell("plots.noise_so_far"))


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
