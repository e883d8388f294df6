"""What a class is given: the blank lessons with the package, or the same lessons as the source of an nbgrader course."""

import copy
import json
import re
import shutil
import tomllib
from collections.abc import Collection
from pathlib import Path

from dpcourse import cells, course
from dpcourse.authoring.source import GLOSSARY
from dpcourse.files import new_folder, write_atomically

TEMPLATES = Path(__file__).with_name("templates")
TITLE = "Differential privacy: your copy of the course"
INSTALLED = r"build-system|project|tool\.setuptools"
"""The tables of pyproject.toml, by a pattern of their first names, that installing needs."""

CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "dpcourse"
c.ExecutePreprocessor.timeout = 120
"""

CHECK_PASSED = """
### BEGIN HIDDEN TESTS
from dpcourse import passed
assert passed("{id}")
### END HIDDEN TESTS"""


def student_bundle(course: Path | str, folder: Path | str, numbers: Collection[int] = ()) -> list[str]:
    """Write blank lessons, glossary, package, requirements, README for students into a new folder; returns the lessons' names.

    numbers: of the lessons; all if there are none. Raises ValueError for an unknown lesson, one that somebody has
    worked in, or a folder that is in use.
    """
    course, folder = Path(course), Path(folder)
    names = _names(course, numbers)
    worked_in = [name for name in names if not _is_blank(course / "lessons" / name)]
    if worked_in:
        raise ValueError(
            f"somebody has worked in {', '.join(worked_in)} in {course / 'lessons'}: students would get the answers. "
            "Keep them elsewhere, and take the blank lessons back, with `git checkout lessons` or from a fresh copy of the course"
        )
    with new_folder(folder) as made:
        (made / "lessons").mkdir()
        for name in names:
            shutil.copyfile(course / "lessons" / name, made / "lessons" / name)
        shutil.copyfile(course / "lessons" / f"{GLOSSARY}.ipynb", made / "lessons" / f"{GLOSSARY}.ipynb")
        _copy_package(course, made)
        listed = "\n".join(f"- [{Path(name).stem}](lessons/{name})" for name in names)
        readme = (TEMPLATES / "student-readme.md").read_text(encoding="utf-8")
        write_atomically(made / "README.md", readme.format(title=TITLE, first=names[0], lessons=listed))
    return names


def nbgrader_course(course: Path | str, folder: Path | str, numbers: Collection[int] = ()) -> list[str]:
    """Write an nbgrader course, source/NN-name/NN-name.ipynb for each lesson, into a new folder; returns the names.

    The source holds the solutions, as nbgrader wants it; `nbgrader generate_assignment` takes them out.
    """
    course, folder = Path(course), Path(folder)
    names = _names(course, numbers)
    with new_folder(folder) as made:
        write_atomically(made / "nbgrader_config.py", CONFIG)
        for name in names:
            solved = json.loads((course / "solutions" / name).read_text(encoding="utf-8"))
            file = made / "source" / Path(name).stem / name
            file.parent.mkdir(parents=True)
            write_atomically(file, json.dumps(as_nbgrader_source(solved, int(name[:2])), ensure_ascii=False, indent=1))
    return names


def as_nbgrader_source(solved: dict, number: int) -> dict:
    """A solved notebook with the metadata of nbgrader: answers to write, checks locked and with points; no outputs."""
    notebook = copy.deepcopy(solved)
    exercises = course.lesson(number).exercises
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], cell["execution_count"] = [], None
        defined, checked = cells.defined(cell["source"]), cells.checked(cell["source"])
        for exercise in exercises:
            name = exercise.id.replace(".", "-")
            if exercise.function in defined and cells.is_solved(cell["source"]):
                cell["metadata"]["nbgrader"] = _marks(f"answer-{name}", solution=True)
            elif exercise.id in checked:
                cell["source"] += CHECK_PASSED.format(id=exercise.id)
                cell["metadata"]["nbgrader"] = _marks(f"check-{name}", grade=True, locked=True, points=exercise.points)
    return notebook


def _marks(grade_id, **marks):
    return {"grade_id": grade_id, "schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False} | marks  # fmt: skip


def _names(course, numbers):
    """The file names of the lessons. Raises ValueError."""
    names = sorted(file.name for file in (course / "lessons").glob("[0-9][0-9]-*.ipynb"))
    unknown = set(numbers) - {int(name[:2]) for name in names}
    if not names:
        raise ValueError(f"no lesson in {course / 'lessons'}: go to the folder of the course, or name it with --course")
    if unknown:
        there = ", ".join(name[:2] for name in names)
        raise ValueError(f"no lesson {min(unknown)} in {course / 'lessons'}; there are {there}")
    return [name for name in names if not numbers or int(name[:2]) in numbers]


def _is_blank(file):
    """Whether nothing but the checks of a lesson has run, and no answer is written."""
    functions = {exercise.function for exercise in course.lesson(int(file.name[:2])).exercises}
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(cell["source"])
        has_run = cell["execution_count"] is not None and not cells.checked(code)
        is_answer = functions.intersection(cells.defined(code))
        if has_run or (is_answer and cells.BLANK not in code):
            return False
    return True


def _copy_package(course, made):
    for name in ("requirements.txt", "LICENSE"):
        shutil.copyfile(course / name, made / name)
    write_atomically(made / "pyproject.toml", installed((course / "pyproject.toml").read_text(encoding="utf-8")))
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(course / "dpcourse", made / "dpcourse", ignore=hidden, copy_function=shutil.copyfile)


def installed(text: str) -> str:
    """The tables of a pyproject.toml that installing needs, word for word; those of the tools stay out.

    >>> print(installed('[project]\\nname = "x"\\n\\n[tool.ruff]\\nline-length = 9\\n'))
    [project]
    name = "x"
    <BLANKLINE>
    <BLANKLINE>
    """
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    kept = "".join(table for table in tables if re.match(rf"\[+({INSTALLED})\b", table))
    expected = {name: table for name, table in tomllib.loads(text).items() if re.fullmatch(INSTALLED, name)}
    if setuptools := tomllib.loads(text).get("tool", {}).get("setuptools"):
        expected["tool"] = {"setuptools": setuptools}
    try:
        found = tomllib.loads(kept)
    except tomllib.TOMLDecodeError:
        found = None
    if found != expected:
        raise ValueError("pyproject.toml: begin a line with `[` only for a table, so that they can be told apart")
    return kept
