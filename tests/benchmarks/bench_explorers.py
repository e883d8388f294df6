"""Milliseconds from a key on a slider to the new figure, for every explorer, in a real JupyterLab and Chromium.

    python -m pytest -s tests/benchmarks/bench_explorers.py

Each slider is moved ten times, there and back, by the keyboard; from the key to the new image decoded. The table gives the
median and the largest of all moves of an explorer. Not part of the ordinary test run.
"""

import importlib.util
import statistics
from pathlib import Path

import pytest

from dpcourse.classroom import build

spec = importlib.util.spec_from_file_location("lab_fixtures", Path(__file__).parents[1] / "browser" / "conftest.py")
fixtures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fixtures)
chromium, server, browser, lab = fixtures.chromium, fixtures.server, fixtures.browser, fixtures.lab

MOVE = """([box, handle, key]) => new Promise(done => {
  const before = box.querySelector('img').src, start = performance.now()
  const watch = new MutationObserver(() => {
    const image = box.querySelector('img')
    if (image && image.src !== before) {
      watch.disconnect()
      image.decode().then(() => done(performance.now() - start))
    }
  })
  watch.observe(box, {subtree: true, childList: true, attributes: true})
  handle.focus()
  const code = {ArrowRight: 39, ArrowLeft: 37}[key]
  handle.dispatchEvent(new KeyboardEvent('keydown', {key, code: key, keyCode: code, which: code, bubbles: true}))
  setTimeout(() => { watch.disconnect(); done(-1) }, 3000)
})"""


def names():
    return [source.stem for source in build.sources(Path(__file__).parents[2])]


@pytest.mark.parametrize("name", names())
def test_every_explorer(lab, name):
    lesson = lab(name)
    lesson.run_all()
    lesson.page.wait_for_timeout(2000)
    for explorer in lesson.page.locator(".dpcourse-explorer").all():
        explorer.scroll_into_view_if_needed()
        alt = explorer.locator("img").get_attribute("alt")
        took = []
        for handle in explorer.locator(".noUi-handle").all():
            for key in ["ArrowRight", "ArrowLeft"] * 5:
                took.append(lesson.page.evaluate(MOVE, [explorer.element_handle(), handle.element_handle(), key]))
                lesson.page.wait_for_timeout(50)
        moved = [ms for ms in took if ms >= 0]
        print(
            f"{name}: median {statistics.median(moved):4.0f} ms, largest {max(moved):4.0f} ms, {len(moved)} moves: {alt[:60]}"
        )
