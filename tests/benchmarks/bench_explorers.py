"""Milliseconds from a key on a slider to the new figure, for every explorer, in a real JupyterLab and Chromium.

    python -m pytest -s tests/benchmarks/bench_explorers.py

Every slider of a lesson is focused, as by a click or by Tab, and then moved ten times, there and back, with an arrow key. The
clock runs from the time stamp that Chromium gave the key to the new image decoded, ready to be painted. Each line has the median
and the 95th percentile over all moves of an explorer; a median above 50 ms fails, and a 95th percentile above 100. On a machine that
does something else at the same time, the numbers say nothing. Not part of the ordinary test run.
"""

import importlib.util
import statistics
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpcourse.authoring import build

MEDIAN, MOST = 50, 100  # ms
ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("lab_fixtures", ROOT / "tests" / "browser" / "conftest.py")
fixtures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fixtures)
chromium, copy_of_course, server = fixtures.chromium, fixtures.copy_of_course, fixtures.server
browser, lab = fixtures.browser, fixtures.lab

WATCH = """box => { window.moved = new Promise(done => {
  const before = box.querySelector('img').src
  let start
  addEventListener('keydown', event => { start = event.timeStamp }, {capture: true, once: true})
  const watch = new MutationObserver(() => {
    const image = box.querySelector('img')
    if (image && image.src !== before) {
      watch.disconnect()
      image.decode().then(() => done(performance.now() - start))
    }
  })
  watch.observe(box, {subtree: true, childList: true, attributes: true})
  setTimeout(() => { watch.disconnect(); done(null) }, 3000)
}) ; return null }"""


@pytest.mark.parametrize("source", build.sources(ROOT), ids=lambda source: source.stem)
def test_every_explorer(lab, source):
    lesson, name = lab(source.stem), source.stem
    lesson.run_all()
    explorers, there = lesson.page.locator(".dpcourse-explorer"), source.read_text(encoding="utf-8")
    expect(explorers).to_have_count(there.count("widgets.explore("), timeout=30_000)
    lesson.page.wait_for_timeout(2000)
    slow = []
    for explorer in explorers.all():
        explorer.scroll_into_view_if_needed()
        alt = explorer.locator("img").first.get_attribute("alt")[:60]
        took = [ms for handle in explorer.locator(".noUi-handle").all() for ms in moves(lesson.page, explorer, handle)]
        median, most = statistics.median(took), percentile(took)
        print(f"\n{name:16} {len(took):3} moves, median {median:4.0f} ms, 95% {most:4.0f} ms: {alt}", end="")
        if median > MEDIAN or most > MOST:
            slow.append(alt)
    assert not slow, f"a median above {MEDIAN} ms, or a 95th percentile above {MOST}"


def moves(page, explorer, handle):
    """Milliseconds of each of ten moves; a key that changes nothing, at a slider's end, is left out."""
    handle.focus()
    page.wait_for_timeout(300)
    took = []
    for key in ["ArrowRight", "ArrowLeft"] * 5:
        page.evaluate(WATCH, explorer.element_handle())
        page.keyboard.press(key)
        took.append(page.evaluate("window.moved"))
        page.wait_for_timeout(50)
    return [ms for ms in took if ms is not None]


def percentile(took):
    return statistics.quantiles(took, n=20, method="inclusive")[-1]
