"""Lessons 00 to 04 and 07 for JupyterLite: they run in the reader's browser, and no server computes anything.

What is written is what `jupyter lite build` takes: its configuration, the lessons in every language, and a wheel of this
course. Python is Pyodide's, which has no PyTorch, so lessons 05 and 06 stay out, and of lesson 07 two cells are replaced.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dpcourse import course as lessons
from dpcourse.authoring.source import GLOSSARY, languages
from dpcourse.base.files import new_folder, write_atomically
from dpcourse.base.languages import ENGLISH, again, say, to_say

NUMBERS = (0, 1, 2, 3, 4, 7)
"""Of the lessons that run in a browser tab."""
FOLDER, LAB = "lite", "try"
"""In the folder of a site: what is written here, and beside it what `jupyter lite build` makes of that."""
HAS_NO = {"torch", "dpsgd"}
"""Names of what needs PyTorch."""
TOOLS = "jupyterlite-core~=0.8.6 jupyterlite-pyodide-kernel~=0.8.6 jupyter-server jupyterlab-widgets"
CONFIG = {
    "LiteBuildConfig": {
        "contents": ["files"],
        "output_dir": f"../{LAB}",
        "no_sourcemaps": True,  # with them and with what nothing loads, 74 MB in place of 26
        "no_unused_shared_packages": True,
    }
}
LINK = re.compile(r"\[([^\[\]]*)\]\(([\w-]+)\.ipynb[^)\s]*\)")
SHOWN = to_say("Brings the course into this tab: at first in a minute.")
FAILED = to_say(
    "The course is not in this tab yet. What it needs comes from cdn.jsdelivr.net and pypi.org. Where your browser reaches both, restart the kernel (menu Kernel) and run this cell again. What failed"
)
INSTALL = """# {shown}
import piplite

try:
    await piplite.install("dpcourse")
    import scipy.stats, matplotlib.figure, ipywidgets, dpcourse  # a package may be lacking without an error so far
except Exception as error:
    raise RuntimeError(f"{failed}: {{error!r}}") from None"""
README = f"""# The course in a browser

    pip install {TOOLS}
    jupyter lite build

in this folder writes `../{LAB}/`, to which the pages of the site lead. `python -m http.server --directory ..` shows all of it
at http://localhost:8000. Whatever web server has the site needs nothing of this folder. The wheel in it, as every wheel of
the course, holds the answers, for those who learn alone.

In the tab each lesson's first cell installs the course: the wheel and the notebooks from your server, Python, numpy, scipy and
matplotlib from Pyodide's (cdn.jsdelivr.net), ipywidgets from pypi.org. If one of these does not come, the cell says which.

What was tried, by `DPCOURSE_WEEKLY=1 pytest tests/authoring/test_in_a_tab.py`: in Pyodide itself, with stubs for numpy, scipy
and matplotlib, every module that these lessons import is imported, and the checks that can do without these are run. Pyodide's
server was out of reach, so two things were not tried: the lessons as a whole, and whether progress, which is meant to be kept
beside the notebooks, is there again when the tab was closed. Where a function sleeps, or stays in one call of C, its check has
no end there: close the tab.
"""


def write(course: Path | str, folder: Path | str) -> list[str]:
    """Write the folder that `jupyter lite build` takes; returns the names of its notebooks.

    Raises ValueError where the folder is in use, or the wheel cannot be built.
    """
    course, names = Path(course), []
    with new_folder(Path(folder)) as made:
        for language in ("", *languages(course)):
            files = _files(course / "lessons" / language)
            for file in files:
                name = f"{language}/{file.stem}".lstrip("/")
                notebook = in_a_tab(json.loads(file.read_text(encoding="utf-8")), file.stem, language or ENGLISH)
                (made / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                write_atomically(
                    made / f"files/{name}.ipynb", json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
                )
                names.append(name)
        write_atomically(made / "jupyter_lite_config.json", json.dumps(CONFIG, indent=1) + "\n")
        write_atomically(made / "README.md", README)
        (made / "pypi").mkdir()
        _build_wheel(course, made / "pypi")
    return names


def address(page: str) -> str:
    """Where a page runs in a browser tab, from the folder of the site on: "zh/00-start-here" -> an address."""
    return f"{LAB}/lab/index.html?path={page}.ipynb"


def runs(page: str) -> bool:
    """Whether a page is a lesson that runs in a browser tab.

    >>> runs("04-clt"), runs("05-dp-sgd"), runs("glossary")
    (True, False, False)
    """
    return page[:2].isdigit() and int(page[:2]) in NUMBERS


def in_a_tab(notebook: dict, name: str, language: str) -> dict:
    """A notebook as it runs in a browser tab: it installs the course, has no PyTorch, and leads to no page that is not there."""
    cells: list[dict] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cells.append(cell | {"source": LINK.sub(lambda link: link[0] if _is_there(link[2]) else link[1], source)})
        elif _needs_torch(source):
            cells.append(
                {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": f"```python\n{source}\n```"}
            )
        else:
            cells.append(cell)
    _replace(cells, notebook["cells"], name, language)
    first = next((place for place, cell in enumerate(cells) if cell["cell_type"] == "code"), None)
    if first is not None:
        install = INSTALL.format(shown=again(say(SHOWN), language), failed=again(say(FAILED), language))
        cells.insert(first, _cell("code", "install", install))
    return notebook | {"cells": cells}


def _replace(cells, before, name, language):
    """Add, around the cells that were of PyTorch, why they are none, and what loads their results."""
    changed = [
        place
        for place, (cell, old) in enumerate(zip(cells, before, strict=True))
        if cell["cell_type"] != old["cell_type"]
    ]
    if changed:
        stored = lessons.lesson(int(name[:2])).part("in_a_tab")
        cells.insert(changed[-1] + 1, _cell("code", "loaded", stored.CODE.rstrip("\n")))
        cells.insert(changed[0], _cell("markdown", "no-pytorch", str(again(say(stored.ABOUT), language))))


def _cell(kind, name, source):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, "source": source, **code}


def _is_there(page):
    return page == GLOSSARY or runs(page)


def _needs_torch(source):
    """Whether the code of a cell names PyTorch, or the package that needs it; what is no Python, such as a magic, does not."""
    try:
        return any(isinstance(node, ast.Name) and node.id in HAS_NO for node in ast.walk(ast.parse(source)))
    except SyntaxError:
        return False


def _files(folder):
    return [file for file in sorted(folder.glob("*.ipynb")) if _is_there(file.stem)]


def _build_wheel(course, folder):
    """From a copy: what an earlier build has left beside the package would come into the wheel."""
    with tempfile.TemporaryDirectory() as sources:
        for name in ("dpcourse", "lessons", "solutions"):
            shutil.copytree(course / name, Path(sources) / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
            shutil.copy(course / name, sources)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), sources]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode:
            raise ValueError(f"pip makes no wheel of {course}: {done.stderr.strip()[-500:]}")
