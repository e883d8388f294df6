"""What pyproject.toml cannot say: a wheel holds lessons/ too, as dpcourse/lessons/, and the answers of solutions/.

The answers are for those who learn alone. What an instructor gives out (`dpcourse release`) is no wheel, and has none.
"""

import json
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLessons(build_py):
    """The package, the lessons and the answers in it; an editable install finds them where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "dpcourse"
        for name in ("lessons", "solutions"):  # those of an earlier build may have other names
            shutil.rmtree(package / name, ignore_errors=True)
        for lesson in notebooks("lessons", "*.ipynb"):
            (package / lesson).parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(lesson), str(package / lesson))
        for solved in notebooks("solutions", "[0-9][0-9]-*.ipynb"):
            (package / solved).parent.mkdir(parents=True, exist_ok=True)
            answers = json.dumps(without_all_but_answers(json.loads(solved.read_text(encoding="utf-8"))))
            (package / solved).write_text(answers, encoding="utf-8")


def notebooks(folder: str, pattern: str) -> list[Path]:
    """Those in a folder and in its languages, without what Jupyter hides there."""
    return sorted(file for file in Path(folder).rglob(pattern) if not any(part.startswith(".") for part in file.parts))


def without_all_but_answers(notebook: dict) -> dict:
    """A solved lesson, of which only the cells with an answer are left."""
    kept = [{**cell, "outputs": []} for cell in notebook["cells"] if "### BEGIN SOLUTION" in "".join(cell["source"])]
    return {**notebook, "cells": kept}


setup(cmdclass={"build_py": WithLessons})
