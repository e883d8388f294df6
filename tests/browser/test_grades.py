"""What axe-core says of the pages that grading leaves, by day and by night, on a telephone too; they load nothing."""

from types import SimpleNamespace

import pytest
from browser.test_accessibility import violations
from grading.rows import MOODLE, a_row, graded, with_slip

from dpcourse import course
from dpcourse.checking import BLANK, ERROR, WRONG
from dpcourse.grading import out, result
from dpcourse.grading.result import Mark

LONG = "very_long_name_of_a_folder_" * 6


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The report on a class that has everything, and the page of a student who has it."""
    folder = tmp_path_factory.mktemp("grades")
    slip = course.find("composition/worst_posterior").misconceptions[0].name
    unexplained = Mark(
        "composition/worst_posterior", WRONG, 0, 2, "Compare.", observed=("f(1) gave 2; right is 3",), found_by="case"
    )
    states = {
        "composition/sequential_composition": ERROR,
        "composition/privacy_bill": BLANK,
        "composition/basic_composition": WRONG,
    }
    rows = [
        a_row(
            "Kim_77",
            graded(1, states, "flagged", notes=["a cell was edited"]),
            file=MOODLE.format(name="Kim", number=77),
        ),
        *(
            a_row(f"student {number} {LONG if number == 2 else ''}", with_slip("composition/worst_posterior", slip))
            for number in range(5)
        ),
        a_row("unexplained", result.result(1, "limit", [LONG], [unexplained], ["cell 3: NameError"])),
        a_row("unreadable", result.unreadable(1, "it is empty")),
        a_row("missing", result.missing(1)),
        a_row("gone", stale=True),
    ]
    unread = [SimpleNamespace(path=f"{LONG}/x.pdf", reason="It is a PDF.")]
    code = "def worst_posterior(prior, epsilon):\n    return prior"
    moves = [("2026-10-05T10:00", "gone", 1, "1.3", "0 of 2", "2 of 2", "judged again")]
    out.write(
        rows, folder, unread=unread, answers=lambda student, lesson: {"composition/worst_posterior": code}, moves=moves
    )
    return [folder / "report.html", *(folder / "feedback").glob("Kim*")]


@pytest.mark.in_turn("seconds in a browser")
@pytest.mark.one_case("each is a browser in another theme")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_a_class(pages, browser, scheme):
    context = browser.new_context(viewport={"width": 400, "height": 900}, color_scheme=scheme)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    for file in pages:
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        assert violations(page) == [], file
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert asked == [file.as_uri() for file in pages]
    context.close()


def test_no_word_of_a_table_is_broken(pages, browser):
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(pages[0].as_uri())
    lines = """[...document.querySelectorAll('td:not(.any), th')].filter(cell => /^\\S+$/.test(cell.textContent.trim())).map(cell => {
        const range = document.createRange(); range.selectNodeContents(cell); return [cell.textContent, new Set([...range.getClientRects()].map(r => r.top)).size] })"""
    found = page.evaluate(lines)
    assert len(found) > 10
    assert not [word for word, count in found if count > 1]
    page.close()
