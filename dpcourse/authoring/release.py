"""What a class is given: the blank lessons with the package, or the same lessons as the source of an nbgrader course."""

import copy
import json
import shutil
from pathlib import Path

from dpcourse import course
from dpcourse.authoring.navigation import GLOSSARY
from dpcourse.files import new_folder, write_atomically

README = """# {title}

You need Python 3.11 to 3.14, on Linux, Windows, or a Mac with Apple silicon. Open a terminal in this folder and run

```sh
python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/jupyter lab lessons/{first}
```

This sets everything up and opens the first lesson. The next time, the last of the three commands is enough. On Windows open the Command Prompt (the older PowerShell knows no `&&`), and write `py` for `python3` and `.venv\\Scripts\\` for `.venv/bin/`. No GPU is needed; on Linux the package of PyTorch brings its GPU libraries along, a download of gigabytes. If something does not work, `.venv/bin/dpcourse doctor` says what this machine lacks.

## Your work

{lessons}

Each exercise is a function. Write its body, run its cell, and run the `check(...)` cell below it: it says whether you are right and, if not, which mistake you made. Try as often as you like; the lines below `check(...)` ask for a hint when you take away their `#`. The solutions are not in this copy.

## Handing in

Save the notebook and hand in that one file, such as `lessons/{first}`, under its own name. Your functions are called on inputs that you have not seen, by the names that the notebook gave them: do not rename them. Add cells as you like, but leave those that are not yours to fill in as they are: your instructor is told of a change.
"""

CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "dpcourse"
c.ExecutePreprocessor.timeout = 120
"""

CHECK_PASSED = """
### BEGIN HIDDEN TESTS
from dpcourse import passed
assert passed("{id}")
### END HIDDEN TESTS"""


def student_bundle(course, folder, numbers=()):
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
        title = "Differential privacy: your copy of the course"
        write_atomically(made / "README.md", README.format(title=title, first=names[0], lessons=listed))
    return names


def nbgrader_course(course, folder, numbers=()):
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


def as_nbgrader_source(solved, number):
    """A solved notebook with the metadata of nbgrader: answers to write, checks locked and with points; no outputs."""
    notebook = copy.deepcopy(solved)
    of_function = {exercise.function: exercise for exercise in course.lesson(number).exercises}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], cell["execution_count"] = [], None
        for exercise in of_function.values():
            name = exercise.id.replace(".", "-")
            if f"def {exercise.function}(" in cell["source"] and "### BEGIN SOLUTION" in cell["source"]:
                cell["metadata"]["nbgrader"] = _marks(f"answer-{name}", solution=True)
            elif cell["source"].startswith(f'check("{exercise.id}"'):
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
    functions = [exercise.function for exercise in course.lesson(int(file.name[:2])).exercises]
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(cell["source"])
        has_run = cell["execution_count"] is not None and not code.startswith("check(")
        is_answer = any(f"def {function}(" in code for function in functions)
        if has_run or (is_answer and "raise NotImplementedError" not in code):
            return False
    return True


def _copy_package(course, made):
    for name in ("requirements.txt", "LICENSE"):
        shutil.copyfile(course / name, made / name)
    about, _, _ = (course / "pyproject.toml").read_text(encoding="utf-8").partition("\n[tool.pytest")
    write_atomically(made / "pyproject.toml", about + "\n")
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(course / "dpcourse", made / "dpcourse", ignore=hidden, copy_function=shutil.copyfile)
