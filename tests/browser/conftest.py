"""A real JupyterLab and a real Chromium, for the browser tests; skipped with a reason where there is none."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[2]
TOKEN = "dpcourse-tests"
PATIENCE = 600_000  # milliseconds, for whatever is waited for: on a busy machine a page is slow, and what never comes is a failure
WIDE, NARROW = {"width": 1300, "height": 1000}, {"width": 700, "height": 768}
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
}


@pytest.fixture(scope="session")
def chromium():
    """The path of a Chromium that is installed on this machine."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium on this machine: apt-get install chromium")


@pytest.fixture(scope="session")
def copy_of_course(tmp_path_factory):
    """A folder with a copy of lessons/ and solutions/."""
    course = tmp_path_factory.mktemp("jupyter") / "course"
    shutil.copytree(ROOT / "lessons", course / "lessons")
    shutil.copytree(ROOT / "solutions", course / "solutions")
    return course


@contextlib.contextmanager
def jupyterlab(course, home):
    """The address of a JupyterLab over a folder, which keeps its settings, what it runs and the learner's progress in `home`."""
    for name, text in SETTINGS.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "DPCOURSE_DATA": str(home / "data"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "jupyter-data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=course,
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(1_200):
            try:
                urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=1)
                break
            except OSError:
                assert process.poll() is None, (home / "log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def server(chromium, copy_of_course):
    """The address of a JupyterLab over that copy."""
    with jupyterlab(copy_of_course, copy_of_course.parent) as address:
        yield address


_until_the_last = contextlib.ExitStack()
"""What ends with the last browser test: Playwright runs an event loop in the thread of all tests."""


@pytest.fixture(scope="session")
def browser(chromium):
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    expect.set_options(timeout=PATIENCE)
    playwright = _until_the_last.enter_context(sync_playwright())
    return Patient(_until_the_last.enter_context(playwright.chromium.launch(executable_path=chromium, args=quiet)))


class Patient:
    """A browser all of whose pages wait for as long as PATIENCE says."""

    def __init__(self, browser):
        self.browser = browser

    def new_context(self, **options):
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    def new_page(self, **options):
        page = self.browser.new_page(**options)
        page.set_default_timeout(PATIENCE)
        return page


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem):
    result = yield
    if nextitem is None or not nextitem.nodeid.startswith("tests/browser/"):
        _until_the_last.close()
    return result


@pytest.fixture
def lab(server, copy_of_course, browser, request):
    """Opens a lesson as given out: lab("01-composition") gives a Lab. Screenshots go to $DPCOURSE_SCREENSHOTS if set."""
    shutil.copytree(ROOT / "lessons", copy_of_course / "lessons", dirs_exist_ok=True)
    page = browser.new_page(viewport=WIDE)
    yield lambda lesson: Lab(page, server, lesson)
    save_picture(page, f"{request.node.name}-end")
    page.close()


class Lab:
    """JupyterLab, driven as a person would: find a cell of the notebook in front, type, run, look.

    What is looked for in the whole page is looked for by css:light, which leaves shadow roots alone: to find those, Playwright
    goes through every element, and a lesson with its formulas has tens of thousands.
    """

    def __init__(self, page, server, lesson):
        self.page = page
        page.goto(f"{server}/lab/tree/lessons/{lesson}.ipynb?token={TOKEN}&reset")
        self.wait_for_kernel()

    @property
    def panel(self):
        """The notebook in front, with its toolbar."""
        return self.page.locator("css:light=.jp-NotebookPanel:not(.lm-mod-hidden)")

    @property
    def cells(self):
        """All cells of the notebook in front, in order."""
        return self.panel.locator("css:light=.jp-Notebook .jp-Cell")

    def wait_for_kernel(self):
        """Until the notebook is there, and the status bar says that its kernel is idle."""
        self.cells.first.wait_for()
        self.page.locator("css:light=#jp-main-statusbar").get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def cell(self, text):
        """The first code cell whose source now holds the text; stays the same cell when the source changes.

        One that is folded shows no source, and is not looked at.
        """
        cells = self.panel.locator("css:light=.jp-Notebook .jp-CodeCell:has(.cm-content)")
        cells.locator(".cm-content", has_text=text).first.wait_for(state="attached")
        sources = cells.locator(".cm-content").all_text_contents()
        return cells.nth(next(i for i, source in enumerate(sources) if text in source))

    def follow(self, name, link=None):
        """Save, click on a link to another notebook, the last if not told, and wait until that one is in front."""
        tab = self.page.locator(".lm-DockPanel-tabBar .lm-mod-current")
        self.menu("File", "Save Notebook")
        self.page.locator(".lm-DockPanel-tabBar .lm-mod-current:not(.jp-mod-dirty)").wait_for()
        (link or self.panel.locator(f".jp-RenderedMarkdown a[href*='{name}.ipynb']").last).click()
        tab.get_by_text(f"{name}.ipynb").wait_for()
        self.wait_for_kernel()

    def close_others(self):
        """Save all, and close every notebook but the one in front; what has changed since, JupyterLab asks to save once more."""
        self.menu("File", "Save All")
        self.page.locator(".lm-DockPanel-tabBar .jp-mod-dirty").first.wait_for(state="detached")
        self.page.locator(".lm-DockPanel-tabBar .lm-mod-current").click(button="right")
        self.page.locator(".lm-Menu-itemLabel").get_by_text("Close All Other Tabs", exact=True).click()
        others = self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab:not(.lm-mod-current)")
        asked = self.page.locator(".jp-Dialog button.jp-mod-accept")
        end = time.monotonic() + PATIENCE / 1000
        while others.count():
            assert time.monotonic() < end, f"not closed: {others.all_text_contents()}"
            if asked.count():
                asked.first.click()
            self.page.wait_for_timeout(50)

    def select(self, cell):
        """Select a cell without editing it, so that Tab goes into what it shows."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Escape")

    def run(self, cell):
        """Run a cell with Ctrl+Enter and wait until it is done."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.wait_for_run(cell)
        return cell

    def wait_for_run(self, cell):
        """Until a cell has run: its prompt is a number."""
        self.wait_until("/\\[\\d+\\]/.test(it.querySelector('.jp-InputPrompt').textContent)", cell)

    def wait_until(self, condition, element, value=None):
        """Until a condition in JavaScript holds for an element, `it`, and a value; the element is looked up each time, since
        what is drawn anew is another one."""
        end = time.monotonic() + PATIENCE / 1000
        while not element.evaluate(f"(it, value) => {condition}", value):
            assert time.monotonic() < end, f"{condition} does not come to hold"
            self.page.wait_for_timeout(50)

    def wait_until_still(self, element):
        """Until an element stays at its place for two seconds."""
        places = [None]
        while places[-1] != (here := element.evaluate("it => it.getBoundingClientRect().top")):
            assert len(places) < PATIENCE / 2000, "it goes on moving"
            places.append(here)
            self.page.wait_for_timeout(2000)

    def menu(self, name, entry):
        """Choose an entry of a menu of JupyterLab."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()

    def run_all(self):
        """Run every cell, and wait until none is running or waiting: its prompt is a star."""
        self.menu("Run", "Run All Cells")
        self.page.wait_for_timeout(1000)
        expect(self.panel.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(0, timeout=PATIENCE)

    def write(self, cell, code):
        """Replace the source of a cell."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(code)

    @contextlib.contextmanager
    def narrow(self):
        """In as narrow a window as the course is made for."""
        self.page.set_viewport_size(NARROW)
        yield
        self.page.set_viewport_size(WIDE)

    def picture(self, name, element=None):
        """Take a screenshot, with this element in the middle, if somebody wants to look."""
        save_picture(self.page, name, element)


def save_picture(page, name, element=None):
    if folder := os.environ.get("DPCOURSE_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for _ in range(2 if element else 0):  # what comes into view is drawn then, and moves the rest
            element.evaluate("it => it.scrollIntoView({block: 'center'})")
            page.wait_for_timeout(300)
        page.screenshot(path=f"{folder}/{name}.png")
