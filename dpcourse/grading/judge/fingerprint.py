"""What decides a mark beside the submission: where it changes, a stored result is old, and no more than has to is redone.

Two digests are stored with every result.

`running`: of the secret, of what was given out, and of all that runs a notebook and asks its answers: the sandbox,
`checking.calling`, the modules within a student's reach, and all that these import. Where it changes, the notebook is run again: a
line there may change what comes back, and nobody can tell from what came back before.

`judging`, one for each exercise: of the secret, and of the exercise's file with all that it imports, and of what judges in `checking`.
Where it changes, this exercise alone is judged again, from what its answer did then if it would be asked the same today.

Imports tell which modules these are, so that a new one counts. A module counts as what it says to Python: comments,
docstrings and layout change nothing.
"""

import functools
import hashlib

from dpcourse import course
from dpcourse.base.modules import Modules
from dpcourse.checking import Exercise
from dpcourse.checking.diagnosis import mutants
from dpcourse.course.pack import Pack
from dpcourse.grading.judge.given import Release
from dpcourse.grading.run import library

RUN_NOTHING = ("base.modules", "base.paths", "notebook.doctor")  # of the library, and called by no answer
JUDGES = ("course", "checking")  # the packages that belong to `judging`, but for what of them is of the library


def running(secret: bytes, release: Release, modules: Modules | None = None) -> str:
    """The digest of what runs the notebooks of a lesson; release: what was given out of it."""
    modules = modules or _package()
    return _digest(secret, repr(release), *(_of_module(modules, name) for name in sorted(that_run(modules))))


def judging(secret: bytes, exercise: Exercise, modules: Modules | None = None) -> str:
    """The digest of what judges an exercise."""
    lesson = course.lesson(exercise.lesson)
    modules = modules or _package(lesson.pack)
    module = f"{modules.name}.course.{lesson.word}.{exercise.function}"
    said = (_of_module(modules, name) for name in sorted(that_judge(modules, module)))
    slips = modules.file(module).with_name(mutants.STORED)
    worth_trying = slips.read_text(encoding="utf-8") if slips.is_file() else ""
    return _digest(secret, exercise.id, worth_trying, *said)


def that_run(modules: Modules) -> set[str]:
    """The modules that run a notebook, and those within its reach."""
    within = {file.stem for file in modules.folder.glob("*.py")} - {"__init__"}
    folders = [*library.FOLDERS, "grading/run"]
    files = [file for folder in folders for file in (modules.folder / folder).rglob("*.py")]
    names = [*within, "grading.judge.submission", *(_name(modules, file) for file in files)]
    no_part = {f"{modules.name}.{name}" for name in RUN_NOTHING}
    reached = modules.reached({f"{modules.name}.{name}" for name in names} - no_part) - no_part
    judges = tuple(f"{modules.name}.{each}." for each in JUDGES)
    library_s = tuple(f"{modules.name}.{folder.replace('/', '.')}." for folder in library.FOLDERS)
    return {each for each in reached if f"{each}.".startswith(library_s) or not f"{each}.".startswith(judges)}


def that_judge(modules: Modules, module: str) -> set[str]:
    """The modules that judge the exercise which is this module."""
    return modules.reached([module, f"{modules.name}.checking"])


def _name(modules, file):
    parts = file.relative_to(modules.folder).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@functools.cache
def _package(pack: Pack | None = None) -> Modules:
    """The modules as they stand when they are first asked for: the same as those that were imported."""
    elsewhere = {f"{library.PACKAGE.name}.course.{pack.word}": pack.folder / "exercises"} if pack else {}
    return Modules(library.PACKAGE, elsewhere)


@functools.cache
def _of_module(modules: Modules, name: str) -> str:
    """The digest of what a module says, and of the data beside it that it names, or that has its name."""
    own = [modules.file(name).with_suffix(suffix) for suffix in (".json", ".npz")]
    files = sorted({*modules.data(name), *(file for file in own if file.is_file())})
    return _digest(b"", name, modules.said(name), *(hashlib.sha256(file.read_bytes()).hexdigest() for file in files))


def _digest(first: bytes, *texts: str) -> str:
    digest = hashlib.sha256(first)
    for text in texts:
        digest.update(f"{len(text)}:{text}".encode())
    return digest.hexdigest()
