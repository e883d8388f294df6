"""Where a lesson can be opened in a browser, once it is known where this repository is published."""

import re
import tomllib
from pathlib import Path
from urllib.parse import quote

from dpcourse.authoring.on_page import say_for
from dpcourse.authoring.source import name_of, root_of
from dpcourse.base.languages import to_say

FIRST = "00-start-here"
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def repository(root: Path | str) -> str | None:
    """OWNER/NAME on GitHub, as `Repository` under `[project.urls]` in pyproject.toml says; None where it does not.

    Raises ValueError where the address is no such repository's.
    """
    file = Path(root) / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"] if file.exists() else {}
    told = project.get("urls", {}).get("Repository")
    if told is None:
        return None
    found = ADDRESS.fullmatch(told)
    if found is None:
        raise ValueError(
            f"Repository in pyproject.toml must be https://github.com/OWNER/NAME, for Binder's badges, got {told!r}"
        )
    return found[1]


def binder_link(source: Path | str) -> str:
    """A Markdown badge that opens the lesson made from this source; empty while the repository is published nowhere."""
    name = repository(root_of(Path(source)))
    return badge(name, name_of(Path(source))) if name else ""


def read_link(source: Path | str) -> str:
    """A Markdown link to the lesson's page on the site; empty while the repository is published nowhere."""
    name = repository(root_of(Path(source)))
    return f"[{say_for(Path(source), 'read')}]({site(name)}{name_of(Path(source))}.html)" if name else ""


def site(repository: str) -> str:
    """The address of the site that .github/workflows/site.yml publishes.

    >>> site("owner/name")
    'https://owner.github.io/name/'
    """
    owner, _, name = repository.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def badges(root: Path | str) -> str:
    """The badges on top of README.md: what is true anywhere, and once the repository has an address, what needs it."""
    shown = [_shield("Python", "3.11 to 3.14"), _shield("code", "BSD 3-Clause"), _shield("text", "CC BY 4.0")]
    if name := repository(root):
        runs = [_runs(name, "CI", "ci.yml"), _runs(name, "weekly tests", "weekly.yml")]
        first = places(name, FIRST)
        colab = "https://colab.research.google.com/assets/colab-badge.svg"
        shown += [*runs, f"[{_shield('read', 'online')}]({site(name)})"]
        shown += [badge(name, FIRST), f"[![Open {FIRST} on Colab]({colab})]({first['Colab']})"]
    return " ".join(shown)


def _shield(what, says):
    words = [word.replace("-", "--").replace(" ", "_") for word in (what, says)]
    return f"![{what}: {says}](https://img.shields.io/badge/{words[0]}-{words[1]}-12355b)"


def _runs(repository, what, workflow):
    address = f"https://github.com/{repository}/actions/workflows/{workflow}"
    return f"[![{what}]({address}/badge.svg)]({address})"


def badge(repository: str, lesson: str) -> str:
    """A Markdown badge that opens lessons/LESSON.ipynb of OWNER/NAME.

    >>> badge("owner/name", "00-start-here")
    '[![Open 00-start-here on Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/owner/name/HEAD?urlpath=lab%2Ftree%2Flessons%2F00-start-here.ipynb)'
    """
    return f"[![Open {lesson} on Binder](https://mybinder.org/badge_logo.svg)]({places(repository, lesson)['Binder']})"


def places(repository: str, lesson: str) -> dict[str, str]:
    """Where lessons/LESSON.ipynb of OWNER/NAME can be opened, and the whole course fetched: name -> address."""
    place = quote(f"lab/tree/lessons/{lesson}.ipynb", safe="")
    return {
        "Binder": f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath={place}",
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/HEAD/lessons/{lesson}.ipynb",
        to_say("Download"): f"https://github.com/{repository}/archive/HEAD.zip",
    }
