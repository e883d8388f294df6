"""The whole site as one PDF, printed by Chromium: its pages in one, with an outline, and links that lead within it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
MINUTES = 5
ID = re.compile(r'(?<=\bid=")(?=[^"]*")')
LINK = re.compile(r'(?<=\bhref=")(?:(?P<page>[\w-]+)\.html)?(?:#(?P<anchor>[^"]*))?(?=")')


class NoBrowser(ValueError):
    """There is no Chromium on this machine."""


def browser() -> str:
    """The path of a Chromium. Raises NoBrowser."""
    for name in (*BROWSERS, str(ON_A_MAC)):
        if path := shutil.which(name):
            return path
    raise NoBrowser(
        "--pdf prints by Chromium, and there is none on this machine: install Chromium or Google Chrome "
        "(Debian and Ubuntu: `apt-get install chromium`), or leave --pdf out"
    )


def joined(name: str, body: str, names: Iterable[str]) -> str:
    """The body of a page as part of one that holds all: its anchors have its name, and links lead to these."""

    def within(found):
        if (found["page"] is None and found["anchor"] is None) or (found["page"] and found["page"] not in names):
            return found[0]
        return f"#{found['page'] or name}/{found['anchor'] or ''}"

    return LINK.sub(within, ID.sub(f"{name}/", body)).replace(' loading="lazy"', "")


def print_page(page: Path, pdf: Path) -> None:
    """Print an HTML file. Raises NoBrowser, and ValueError where Chromium fails."""
    options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", "--generate-pdf-document-outline"]
    as_root = ["--no-sandbox"] if sys.platform == "linux" else []
    command = [browser(), *options, *as_root, f"--print-to-pdf={pdf}", page.resolve().as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60 * MINUTES)
        said = done.stderr
    except subprocess.TimeoutExpired:
        said = f"it did not finish within {MINUTES} minutes"
    if not pdf.exists():
        raise ValueError(f"Chromium ({command[0]}) wrote no PDF: {said.strip()[-500:]}")
