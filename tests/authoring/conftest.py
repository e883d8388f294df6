"""A course of one short lesson with one exercise, and a small package beside it."""

import shutil

import nbformat
import pytest

from dpcourse import course as real
from dpcourse.authoring import build, execute
from dpcourse.course import Lesson

NAME = "00-start"
SOURCE = """---
kernelspec: {display_name: Python 3, language: python, name: python3}
dpcourse:
  title: the only one
  learn: what a lesson is
  needs: nothing
  goals: [{can: "do it", checks: [keep_probability]}]
---

{opening}

```{code-cell} ipython3
import math
from dpcourse import check
```

{exercise keep_probability}

```{code-cell} ipython3
def keep_probability(epsilon):
    ### BEGIN SOLUTION
    return 1 / (1 + math.exp(-epsilon))
    ### END SOLUTION
```

{check keep_probability}

```{code-cell} ipython3
:tags: [nbval-check-output]
print("seven", 7)
```

```{code-cell} ipython3
:tags: [remove-output]
print("differs from run to run")
```

{closing}
"""
PACKAGE = {
    "__init__": "from dpcourse.notebook.check import check, quiz",
    "notebook/__init__": "",
    "notebook/check": "def check(): 'Judge.'\n\n\ndef quiz(): ...",
    "pld": "from dpcourse import rounding\n\n\ndef search(): 'Search.'",
    "rounding": "DIGITS = 12",
    "gdp": "def sigma(mu): 'A number.'",
    "plots": "def show(picture): ...",
    "widgets": "def explore(picture): ...\n\n\ndef slider(): ...",
    "course/__init__": "",
    "course/start_here/__init__": f'"""A lesson."""\nNAME = "{NAME}"\nTITLE = "A lesson"\nEXERCISES = ("keep_probability",)',
    "course/start_here/keep_probability": "exercise = 'how often to keep the truth'",
    "course/start_here/quiz": "QUIZ = ()",
    "course/start_here/journey": "SLIP = None",
    "course/start_here/glossary.toml": "",
    "course/start_here/pictures": "from dpcourse import pld\n\n\ndef spread(figure): 'A picture.'\n\n\ndef response(): ...",
}


class Course:
    """A course folder, and what a test asks of it."""

    def __init__(self, root):
        self.root = root
        self.second = self.glossary = None
        self.source = root / "solutions" / f"{NAME}.md"
        self.package = root / "dpcourse"

    def module(self, name):
        return self.package / f"{name}.py"

    def edit(self, *changes, file=None):
        """Replace texts, each of which stands there once."""
        file = file or self.source
        text = file.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
        return file

    def line_of(self, text):
        """The number of the last line of the source that holds the text."""
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return [i for i, line in enumerate(lines, 1) if text in line][-1]

    def notebooks(self):
        """(solved, blank)."""
        return [nbformat.read(self.root / folder / f"{NAME}.ipynb", 4) for folder in ("solutions", "lessons")]

    def files(self):
        """All that the build writes, with its content."""
        there = [file for pattern in ("*/*.ipynb", "*/*.json") for file in self.root.glob(pattern)]
        return {file.relative_to(self.root): file.read_bytes() for file in there}


def lessons(*names):
    """Lessons of these names, each with the first exercise of lesson 00."""
    titles = ("A lesson", "Another lesson")
    return tuple(
        Lesson(int(name[:2]), name, "start_here", title, ("keep_probability",))
        for name, title in zip(names, titles, strict=False)
    )


def write(root):
    (root / "solutions").mkdir(parents=True)
    for name, code in PACKAGE.items():
        file = root / "dpcourse" / (name if name.endswith(".toml") else f"{name}.py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code + "\n")
    (root / "solutions" / f"{NAME}.md").write_text(SOURCE, encoding="utf-8")
    return Course(root)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The course before anything is built."""
    monkeypatch.setattr(real, "lessons", lambda: lessons(NAME))
    return write(tmp_path / "course")


@pytest.fixture
def two_lessons(course, monkeypatch):
    """The course with a second lesson and a glossary."""
    monkeypatch.setattr(real, "lessons", lambda: lessons("00-start-here", "01-next"))
    folders = course.package / "course"
    course.edit((NAME, "00-start-here"), file=folders / "start_here" / "__init__.py")
    shutil.copytree(folders / "start_here", folders / "next")
    course.edit(
        ("00-start-here", "01-next"), ('A lesson"\nE', 'Another lesson"\nE'), file=folders / "next" / "__init__.py"
    )
    course.source = course.source.rename(course.source.with_stem("00-start-here"))
    course.second = course.source.with_stem("01-next")
    course.second.write_text(SOURCE.replace("the only one", "x"))
    course.glossary = course.source.with_stem("glossary")
    course.glossary.write_text("# Glossary\n\n{closing}\n")
    return course


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """The course, built once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real, "lessons", lambda: lessons(NAME))
        made = write(tmp_path_factory.mktemp("course") / "course")
        assert build.build(made.root) == [NAME]
    return made


@pytest.fixture
def built(executed, course):
    """A copy of the course as it was built."""
    for folder in ("lessons", "solutions"):
        shutil.copytree(executed.root / folder, course.root / folder, dirs_exist_ok=True)
    return course


@pytest.fixture
def runs(monkeypatch):
    """The names of the pages executed, in order; no kernel is started, each cell says how many runs there were."""
    names = []

    def executed(page):
        names.append(page.file.stem)
        notebook = page.solved.copy()
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("stream", text=f"run {len(names)}")]
        return notebook

    monkeypatch.setattr(execute, "executed", executed)
    return names
