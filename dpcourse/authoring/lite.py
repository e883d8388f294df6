"""Lessons 00 to 04 for JupyterLite: they run in the reader's browser, and no server computes anything.

What is written is what `jupyter lite build` takes: its configuration, the lessons, and a wheel of this course. Python is
Pyodide's, which has no PyTorch, so lessons 05 to 07 stay out.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dpcourse.authoring.source import GLOSSARY
from dpcourse.base.files import new_folder, write_atomically

LESSONS = "0[0-4]-*.ipynb"
TOOLS = "jupyterlite-core~=0.8.6 jupyterlite-pyodide-kernel~=0.8.6 jupyterlab-widgets"
CONFIG = {"LiteBuildConfig": {"contents": ["files"], "output_dir": "site"}}
INSTALL: dict[str, object] = {
    "cell_type": "code",
    "id": "install",
    "metadata": {},
    "source": "%pip install -q dpcourse",
    "outputs": [],
    "execution_count": None,
}
README = f"""# The course in a browser

    pip install {TOOLS}
    jupyter lite build

in this folder writes `site/`, which any web server can serve, and `python -m http.server --directory site` tries out.

`jupyter lite build` was tried with this folder, and so was the time limit of a check in Pyodide 314 (Python 3.14), where
no thread and no other process can start. The lessons themselves were not: Pyodide's numpy, scipy, matplotlib and
statsmodels come from its own server, which was out of reach. Where a function sleeps, or stays in one call of C, its
check has no end there: close the tab.
"""


def write(course: Path | str, folder: Path | str) -> list[str]:
    """Write the folder that `jupyter lite build` takes; returns the names of its notebooks.

    Raises ValueError where the folder is in use, or the wheel cannot be built.
    """
    course = Path(course)
    files = [*sorted((course / "lessons").glob(LESSONS)), course / "lessons" / f"{GLOSSARY}.ipynb"]
    with new_folder(Path(folder)) as made:
        for name in ("files", "pypi"):
            (made / name).mkdir()
        for file in files:
            notebook = json.loads(file.read_text(encoding="utf-8"))
            code = (place for place, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
            if (first := next(code, None)) is not None:
                notebook["cells"].insert(first, INSTALL)
            write_atomically(made / "files" / file.name, json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
        write_atomically(made / "jupyter_lite_config.json", json.dumps(CONFIG, indent=1) + "\n")
        write_atomically(made / "README.md", README)
        _build_wheel(course, made / "pypi")
    return [file.stem for file in files]


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
