"""A real JupyterLab and a real Chromium, for the browser tests; skipped with a reason where there is none."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from dpcourse import exercises

ROOT = Path(__file__).parents[2]
TOKEN = "dpcourse-tests"
SETTINGS = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # else JupyterLab draws only the cells in view
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
def server(chromium, tmp_path_factory):
    """The address of a JupyterLab over a copy of the lessons, with a settings and a progress folder of its own."""
    home = tmp_path_factory.mktemp("jupyter")
    shutil.copytree(ROOT / "lessons", home / "course" / "lessons")
    shutil.copytree(ROOT / "solutions", home / "course" / "solutions")
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
            cwd=home / "course",
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(120):
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
def browser(chromium):
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=quiet)
        yield browser
        browser.close()


@pytest.fixture
def lab(server, browser, request):
    """Opens a lesson: lab("01-composition") gives a Lab. Screenshots go to $DPCOURSE_SCREENSHOTS if it is set."""
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(60_000)
    yield lambda lesson: Lab(page, server, lesson)
    save_picture(page, f"{request.node.name}-end")
    page.close()


class Lab:
    """A notebook in JupyterLab, driven as a person would: find a cell, type, run, look."""

    def __init__(self, page, server, lesson):
        self.page = page
        page.goto(f"{server}/lab/tree/lessons/{lesson}.ipynb?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.wait_for_kernel()

    def wait_for_kernel(self):
        """Until the status bar says that the kernel is there and idle."""
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def cell(self, text):
        """The first code cell whose source now holds the text; stays the same cell when the source changes."""
        cells = self.page.locator(".jp-Notebook .jp-CodeCell")
        cells.locator(".jp-InputArea", has_text=text).first.wait_for()
        sources = cells.locator(".jp-InputArea .cm-content").all_inner_texts()
        return cells.nth(next(i for i, source in enumerate(sources) if text in source))

    def run(self, cell):
        """Run a cell with Ctrl+Enter and wait until it is done."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "cell => { const prompt = cell.querySelector('.jp-InputPrompt').textContent; return /\\[\\d+\\]/.test(prompt) }",
            arg=cell.element_handle(),
        )
        return cell

    def menu(self, name, entry):
        """Choose an entry of a menu of JupyterLab."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()

    def run_all(self):
        """Run every cell, and wait for the last one."""
        self.menu("Run", "Run All Cells")
        last = self.page.locator(".jp-Notebook .jp-CodeCell").last
        self.page.wait_for_function(
            "cell => /\\[\\d+\\]/.test(cell.querySelector('.jp-InputPrompt').textContent)", arg=last.element_handle()
        )

    def write(self, cell, code):
        """Replace the source of a cell."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(code)

    def wrong_then_right(self, number, wrong, slip, right):
        """Answer an exercise as the misconception `slip` does and read its message; then rightly, and pass."""
        exercise = exercises.find(number)
        (misconception,) = [known for known in exercise.misconceptions if known.name == slip]
        answer, check = self.cell(f"def {exercise.function}"), self.cell(f'check("{number}"')
        said = check.locator(".jp-OutputArea")
        assert "not attempted" in said.inner_text()
        for code, verdict in ((wrong, "not yet"), (right, "passed (")):
            self.write(answer, code)
            self.run(answer)
            self.run(check)
            said.get_by_text(verdict).wait_for()
            if code == wrong:
                assert misconception.message in said.inner_text()
                self.picture(f"wrong-{number}")

    def picture(self, name):
        """Take a screenshot if somebody wants to look."""
        save_picture(self.page, name)


def save_picture(page, name):
    if folder := os.environ.get("DPCOURSE_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}.png")
