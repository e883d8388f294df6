"""The sandbox: of the course it holds the library and nothing else, on its disk and in the worker's memory."""

import dataclasses

import pytest
from grading import given_out
from sandboxed import NEEDS_SANDBOX
from support import ROOT

from dpcourse import course, plots
from dpcourse.grading.judge import answers, submission
from dpcourse.grading.run import Limits, library, session, warm
from dpcourse.grading.run.client import Worker

LIMITS = Limits(cell_seconds=120, seconds=600)

CELL = {"number": 1, "seconds": 120.0}
SANDBOX = "dpcourse.grading.run"
OF_SANDBOX = ("clashes.Uses", "leftovers.Left", "session.Session", "shell._Kernel", "shell.ZMQInteractiveShell")
OURS = {f"{SANDBOX}.{name}" for name in OF_SANDBOX}  # that run the cells

HIDDEN = tuple(f"{name}." for name in library.others())
CALLING = "dpcourse.checking.calling."

SPY = f"""
import gc, os, sys

def files():
    found = os.walk({str(ROOT)!r})
    return [os.path.join(folder, name) for folder, _, names in found if "/.venv" not in folder for name in names]

def modules():
    return [name for name, module in sys.modules.items() if name.startswith("dpcourse") and module is not None]

def objects():
    return sorted({{f"{{type(each).__module__}}.{{type(each).__name__}}" for each in gc.get_objects()}})

def functions():
    return sorted({{str(each.__module__) for each in gc.get_objects() if type(each) is type(files)}})

def texts():
    seen, found = [each.__code__ for each in gc.get_objects() if type(each) is type(files)], []
    for code in seen:
        seen += [const for const in code.co_consts if type(const) is type(code)]
        found += [const for const in code.co_consts if type(const) is str]
    return [text for text in found if any(word in text for word in ("odds / (1 + odds)", "belief by e^epsilon"))]
"""


@pytest.fixture(scope="module")
def seen():
    """name of a function of SPY -> what it returns in a sandbox, after all that the lessons import has been imported."""
    releases = given_out.releases()
    modules = sorted(
        {name for number, each in releases.items() if number != 5 for name in each.modules}
    )  # torch is slow
    spies = ("files", "modules", "objects", "functions", "texts")
    probes = [{"function": name, "forbidden": [], "counted": None, "seconds": 120} for name in spies]
    counted = {"function": "calls", "forbidden": [], "counted": "dpcourse.composition:sequential", "seconds": 120}
    with Worker(LIMITS, [*probes, counted], modules) as asked:
        assert asked.ask(CELL | {"cell": SPY}, 120)["error"] is None
        found = {name: asked.ask({"probe": name, "cases": [{}]}, 120)["outcomes"][0]["value"] for name in spies}
        pictures = [
            name for name, value in vars(plots).items() if str(getattr(value, "__module__", "")).endswith(".pictures")
        ]
        found["pictures"] = asked.ask(CELL | {"cell": f"from dpcourse import plots\nassert all(callable(getattr(plots, name)) for name in {pictures})"}, 120)  # fmt: skip
        asked.ask(
            CELL | {"cell": "from dpcourse import composition\ndef calls(x): return composition.sequential([x, x])"},
            120,
        )
        found["calls"] = asked.ask({"probe": "calls", "cases": [{"x": 0.5}]}, 120)["outcomes"]
    yield found
    warm.close()


@pytest.mark.in_turn("seconds in a sandbox")
@NEEDS_SANDBOX
def test_of_the_course_a_sandbox_holds_the_files_of_the_library_and_no_other(seen):
    here = {file.removeprefix(f"{ROOT}/") for file in seen["files"]}
    allowed = tuple(f"dpcourse/{folder}/" for folder in library.FOLDERS)
    assert "dpcourse/composition.py" in here
    rest = {file for file in here if not file.startswith(allowed) and file.count("/") != 1}
    assert rest == {str(file.relative_to(ROOT)) for file in ROOT.glob("dpcourse/course/*/*.npz")} != set()
    assert [file for file in here if file.split("/")[0] != "dpcourse"] == []


@NEEDS_SANDBOX
def test_the_workers_memory_holds_no_exercise_no_reference_and_no_judge(seen):
    assert "builtins.function" in seen["objects"]
    kinds = {name for name in seen["objects"] if name.startswith(HIDDEN) and not name.startswith(CALLING)}
    of_no_exercise = {"dpcourse.course.Lesson", "dpcourse.checking.law.Family"}  # the second: which noises there are
    assert kinds - OURS <= of_no_exercise
    assert not {name.rpartition(".")[2] for name in kinds} & {"Exercise", "RandomExercise", "OpenExercise", "Question", "Misconception"}  # fmt: skip
    homes = {name for name in seen["functions"] if name.startswith("dpcourse.course.")}
    assert homes
    graded = {name for lesson in course.lessons() for name in (*lesson.functions, "quiz", "shared", "journey")}
    assert {home.rpartition(".")[2] for home in homes} & graded == set()
    assert seen["texts"] == []


@NEEDS_SANDBOX
def test_the_workers_modules_are_those_of_the_library(seen):
    found = {name for name in seen["modules"] if f"{name}.".startswith(HIDDEN) and not f"{name}.".startswith(CALLING)}
    assert found == {"dpcourse.checking"}, "an empty one, in which only `calling` is"
    assert "dpcourse.composition" in seen["modules"]


@NEEDS_SANDBOX
def test_a_picture_is_there_for_the_cells_that_show_it(seen):
    assert seen["pictures"]["error"] is None


@NEEDS_SANDBOX
def test_calls_that_an_answer_needs_are_counted_where_nothing_is_forbidden(seen):
    assert [(outcome["value"], outcome["calls"]) for outcome in seen["calls"]] == [(1.0, 1)]


@NEEDS_SANDBOX
def test_what_is_watched_is_imported_by_the_warm_process():
    watched = {"function": "there", "forbidden": ["colorsys:rgb_to_hsv"], "counted": "wave:open", "seconds": 20}
    with Worker(LIMITS, [watched]):
        pass
    with Worker(LIMITS, [watched | {"forbidden": [], "counted": None}]) as next_worker:
        cell = "import sys\ndef there(): return [name in sys.modules for name in ('colorsys', 'wave', 'pwned')]"
        assert next_worker.ask(CELL | {"cell": cell}, 20)["error"] is None
        assert next_worker.ask({"probe": "there", "cases": [{}]}, 20)["outcomes"][0]["value"] == [True, True, False]


@pytest.mark.weekly("a class is graded without bubblewrap, once more")
@NEEDS_SANDBOX
def test_without_bubblewrap_all_is_the_same_on_request(seen):
    content = (ROOT / "solutions" / "01-composition.ipynb").read_bytes()
    job = submission.Job(1, content, b"seed")
    graded = (submission.grade(job), submission.grade(dataclasses.replace(job, sandboxed=False)))
    assert repr(graded[0]) == repr(graded[1])  # arrays among them have no ==


def test_every_package_of_the_course_is_in_the_library_or_hidden():
    packages = {file.parent.name for file in (ROOT / "dpcourse").glob("*/__init__.py")}
    hidden = {name.removeprefix("dpcourse.") for name in library.others()}
    assert hidden.isdisjoint(library.FOLDERS)
    shown = {part.relative_to(library.PACKAGE).parts[0] for part in library.parts() if part.is_dir()}
    assert packages == hidden | shown
    assert shown & hidden == {"checking"}


@pytest.mark.parametrize("exercise", course.every_exercise(), ids=lambda exercise: exercise.id)
def test_the_worker_is_told_all_of_how_an_answer_is_called(exercise):
    probe = session.probe_of(answers.spec_of(exercise, exercise.seconds))
    needed = exercise.needed.function if exercise.needed else None
    assert (probe.function, probe.forbidden, probe.counted) == (exercise.function, exercise.forbidden_functions, needed)
