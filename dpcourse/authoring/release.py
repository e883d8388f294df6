"""What a class is given: the blank lessons with the package, or the same lessons as the source of an nbgrader course."""

import copy
import json
import re
import shutil
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

import jinja2

from dpcourse import course
from dpcourse.authoring import public_pack
from dpcourse.authoring.source import GLOSSARY
from dpcourse.base import cells
from dpcourse.base.files import new_folder, write_atomically
from dpcourse.base.languages import ENGLISH, chosen, listed, say, sentences, to_say
from dpcourse.course import use_pack

TEMPLATES = Path(__file__).with_name("templates")
TITLE = to_say("Differential privacy: your copy of the course")
INSTALLED = r"build-system|project|tool\.setuptools"
"""The tables of pyproject.toml, by a pattern of their first names, that installing needs."""

CHECKS = to_say("it says whether you are right and, if not, which mistake you made.")
CHECKS_LATER = to_say("it says that your answer is received and runs. Whether it is right you hear with your marks.")
HINTS = to_say("The lines below `check(...)` ask for a hint when you take away their `#`.")

CONFIG = """import os

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "dpcourse"
c.ExecutePreprocessor.timeout = 120
os.environ["DPCOURSE_DATA"] = ".dpcourse"  # progress is kept beside each notebook: none shows another student's
"""

CHECK_PASSED = """
### BEGIN HIDDEN TESTS
import importlib, os, sys
from dpcourse import passed
assert passed("{id}")
# and once more by the course as it is on the disk, whatever a cell has done to the one in memory
in_memory = {{name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "dpcourse"}}
try:
    on_disk = importlib.import_module("dpcourse.course")
    assert not os.path.abspath(on_disk.__file__).startswith(os.getcwd()), "a dpcourse was handed in"
    assert on_disk.find("{id}").check({function}).state == "right"
finally:
    sys.modules.update(in_memory)
### END HIDDEN TESTS"""


def student_bundle(
    course: Path | str, folder: Path | str, numbers: Collection[int] = (), pack: Path | None = None
) -> list[str]:
    """Write blank lessons, glossary, package, requirements, README for students into a new folder; returns the lessons' names.

    Lessons and README are in the language that is chosen. numbers: of the lessons; all if there are none. pack: the folder of a pack, whose lesson comes too, and alone where
    there are no numbers. Raises ValueError for an unknown lesson, one that somebody has worked in, a folder that is in
    use, and a pack of which something would be given out that is graded only.
    """
    course, folder = Path(course), Path(folder)
    files = _blank_lessons(course, numbers, pack)
    if pack is not None and use_pack(pack).variants:
        raise ValueError(
            say(
                "{lesson} has a variant for each student: say who they are with --roster, and the secret with --seed-file",
                lesson=files[-1].stem,
            )
        )
    with new_folder(folder) as made:
        _write_bundle(course, made, files, pack)
    return [file.name for file in files]


def students_bundles(
    course: Path | str,
    folder: Path | str,
    students: Mapping[str, str],
    secret: bytes,
    pack: Path,
    numbers: Collection[int] = (),
) -> list[str]:
    """Write the same where a pack has a variant for each student: course/ for everybody, students/NAME/ for each of them.

    students: name -> the name of the folder with this student's notebook. secret: from which the variants are drawn.
    Raises ValueError as `student_bundle` does.
    """
    course, folder = Path(course), Path(folder)
    files = _blank_lessons(course, numbers, pack)
    mine = use_pack(pack)
    notebook = json.loads(files[-1].read_text(encoding="utf-8"))
    if not mine.variants:
        raise ValueError(
            say(
                "no exercise of {lesson} has variants: every student gets the same, so leave --roster out",
                lesson=mine.name,
            )
        )
    if not any("dpcourse" in cell["metadata"] for cell in notebook["cells"]):
        raise ValueError(
            say(
                "{file} was built before there were variants: run `dpcourse build --pack {pack}`",
                file=files[-1],
                pack=pack,
            )
        )
    with new_folder(folder) as made:
        (made / "course").mkdir()
        _write_bundle(course, made / "course", files, pack, without=files[-1].name)
        for student, name in students.items():
            values = {name: value for each in mine.values_of(secret, student).values() for name, value in each.items()}
            (made / "students" / name).mkdir(parents=True)
            theirs = cells.with_values(notebook, values)
            file = made / "students" / name / files[-1].name
            write_atomically(file, json.dumps(theirs, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
            _refuse_traces(mine, [file])
    return [file.name for file in files]


def _blank_lessons(course, numbers, pack):
    """The blank notebooks to be given out, that of the pack last. Raises ValueError."""
    if pack is None:
        files = [_lessons(course) / name for name in _names(course, numbers)]
    else:
        mine = use_pack(pack)
        others = set(numbers) - {mine.number}
        known = _names(
            course, others
        )  # also where no lesson of the course is wanted: what is given out holds its package
        files = [_lessons(course) / name for name in known] if others else []
        file = pack / "lessons" / f"{mine.name}.ipynb"
        if not file.exists():
            raise ValueError(say("{file} is not there: run `dpcourse build --pack {pack}` first", file=file, pack=pack))
        files.append(file)
    worked_in = [file for file in files if not _is_blank(file)]
    if worked_in:
        raise ValueError(
            say(
                "somebody has worked in {files} in {folder}: students would get the answers. Keep them elsewhere, and take "
                "the blank lessons back, with `git checkout lessons` or from a fresh copy of the course",
                files=listed([file.name for file in worked_in], "{first}, {then}"),
                folder=worked_in[0].parent,
            )
        )
    return files


def _write_bundle(course, made, files, pack, without=None):
    """Fill a folder with what students are given; without: the name of a lesson that comes apart."""
    (made / "lessons").mkdir()
    for file in files:
        if file.name != without:
            shutil.copyfile(file, made / "lessons" / file.name)
    shutil.copyfile(_lessons(course) / f"{GLOSSARY}.ipynb", made / "lessons" / f"{GLOSSARY}.ipynb")
    _copy_package(course, made)
    if pack is not None:
        mine = use_pack(pack)
        public_pack.put(mine, made / "dpcourse")
        _refuse_traces(mine, [*(made / "dpcourse" / "course" / mine.word).iterdir(), *(made / "lessons").glob(f"{mine.name}.ipynb")])  # fmt: skip
    lines = [f"- {_with_remarks(file, pack, without)}" for file in files]
    first = f"lessons/{files[0].name}"
    readme = _readme("student-readme.md", title=say(TITLE), first=first, lessons="\n".join(lines), **_help(files))
    write_atomically(made / "README.md", readme)


def _readme(template, **values):
    """A README in the language that is chosen."""
    found = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return found.from_string(text).render(say=say, sentences=sentences, **values)


def _lessons(course):
    """The folder of the blank lessons in the language that is chosen."""
    return course / "lessons" / (chosen() if chosen() != ENGLISH else "")


def _help(files):
    """What the README says of checks and hints: no more than the exercises of these lessons have."""
    numbers = {int(file.name[:2]) for file in files}
    given = [exercise for each in course.lessons() if each.number in numbers for exercise in each.exercises]
    later = all(exercise.graded_only for exercise in given)
    hints = any(exercise.hints_too or not exercise.graded_only for exercise in given)
    return {"checks": say(CHECKS_LATER if later else CHECKS), "hints": say(HINTS) if hints else ""}


def _with_remarks(file, pack, without):
    """A lesson, and what a student is to know of it beside its name."""
    lesson = f"[{file.stem}](lessons/{file.name})"
    if file.name == without:
        alone = to_say(
            "{lesson}: you are given this one by itself, for it is yours alone; put it into the folder lessons"
        )
        lesson = say(alone, lesson=lesson)
    mine = use_pack(pack) if pack is not None else None
    is_later = mine is not None and file.stem == mine.name and any(each.graded_only for each in mine.exercises)
    later = to_say("{lesson}: its checks say that an answer is received and runs; the marks are made later")
    return say(later, lesson=lesson) if is_later else lesson


def _refuse_traces(mine, files):
    if found := list(public_pack.traces(mine, files)):
        raise ValueError(say("nothing was given out: {reasons}", reasons="; ".join(found[:3])))


def nbgrader_course(course: Path | str, folder: Path | str, numbers: Collection[int] = ()) -> list[str]:
    """Write an nbgrader course, source/NN-name/NN-name.ipynb for each lesson and a README, into a new folder; returns the names.

    The lessons are in the language that is chosen.

    The source holds the solutions, as nbgrader wants it; `nbgrader generate_assignment` takes them out.
    """
    course, folder = Path(course), Path(folder)
    names = _names(course, numbers)
    with new_folder(folder) as made:
        write_atomically(made / "nbgrader_config.py", CONFIG)
        write_atomically(made / "README.md", _readme("nbgrader-readme.md"))
        for name in names:
            solutions = course / "solutions" / _lessons(course).relative_to(course / "lessons")
            solved = json.loads((solutions / name).read_text(encoding="utf-8"))
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
            name = exercise.number.replace(".", "-")
            if exercise.function in defined and cells.is_solved(cell["source"]):
                cell["metadata"]["nbgrader"] = _marks(f"answer-{name}", solution=True)
            elif exercise.number in checked:
                cell["source"] += CHECK_PASSED.format(id=exercise.number, function=exercise.function)
                cell["metadata"]["nbgrader"] = _marks(f"check-{name}", grade=True, locked=True, points=exercise.points)
    return notebook


def _marks(grade_id, **marks):
    return {"grade_id": grade_id, "schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False} | marks  # fmt: skip


def _names(course, numbers):
    """The file names of the lessons. Raises ValueError."""
    lessons = _lessons(course)
    names = sorted(file.name for file in lessons.glob("[0-9][0-9]-*.ipynb"))
    unknown = set(numbers) - {int(name[:2]) for name in names}
    if not names:
        raise ValueError(
            say("no lesson in {folder}: go to the folder of the course, or name it with --course", folder=lessons)
        )
    if unknown:
        there = listed([name[:2] for name in names], "{first}, {then}")
        raise ValueError(
            say("no lesson {lesson} in {folder}; there are {names}", lesson=min(unknown), folder=lessons, names=there)
        )
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
    hidden = shutil.ignore_patterns("__pycache__", ".*", "*.po", "solutions")  # a package out of a wheel has these too
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
