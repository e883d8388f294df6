"""The grader: what crosses between its two sides, what a submission gets, and what a run remembers."""

import contextlib
import csv
import dataclasses
import functools
import importlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.cli import app
from dpcourse.engine import RIGHT
from dpcourse.grading import collect, grade, gradebook, handout, report, run, sandbox, similar, wire
from dpcourse.grading.store import Store
from dpcourse.probe.values import plain

ROOT = Path(__file__).parents[1]
NAMES = [file.name for file in sorted((ROOT / "lessons").glob("[0-9]*.ipynb"))]

needs_bubblewrap = pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing()))


def call(*arguments):
    return CliRunner().invoke(app, ["grade", *map(str, arguments)])


# ---- what crosses


def same(one, other):
    """Equality of plain data; nan is nan, and arrays are equal with their types."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")  # fmt: skip
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or one != one)


arrays = st.builds(
    lambda values, kind: np.array(values).astype(kind),
    st.lists(st.integers(-100, 100), max_size=5),
    st.sampled_from(["<i8", "<f8", "<f4", "|b1", "<u2"]),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text() | arrays,
    lambda items: st.lists(items, max_size=4) | st.tuples(items, items) | st.dictionaries(st.text(), items, max_size=3),
    max_leaves=12,
)


@given(values)
def test_plain_data_arrives_as_it_was_sent(value):
    stream = io.BytesIO(wire.pack(value))
    assert same(wire.receive(stream.read), value)
    assert not stream.read()


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_whatever_else_comes_is_refused_and_does_no_harm(text, raw):
    with contextlib.suppress(wire.Garbled):
        wire.unpack(text, raw)


@pytest.mark.parametrize(
    "text",
    [
        '{"array": "f8", "shape": [1000000000000]}',
        '{"array": "f8", "shape": [-1]}',
        '{"array": "f8", "shape": [1.5]}',
        '{"array": "O8", "shape": [1]}',
        '{"array": "V8", "shape": [1]}',
        '{"array": "f8", "shape": [1, 1, 1, 1, 1, 1, 1, 1, 1]}',
        '{"array": ["f8"], "shape": "x"}',
        '{"tuple": 5}',
        '{"dict": []}',
        '{"neither": 1}',
        "[" * 100_000,
        "[" * 50 + "]" * 50,
        "9" * 10_000,
    ],
)
def test_a_forged_message_is_refused(text):
    with pytest.raises(wire.Garbled):
        wire.unpack(text.encode(), bytes(16))


def test_no_length_is_believed():
    with pytest.raises(wire.Garbled, match="too large"):
        wire.receive(io.BytesIO(b"\xff" * 100).read)
    with pytest.raises(wire.Garbled, match="too large"):
        wire.pack([0.5] * 2_000_000)


STRANGE = [
    None, True, 0, -1, 2**62, 10**400, 0.0, -0.5, float("nan"), float("inf"), 1e308, "", "x", [], (), [[]], [None], ["x"],
    [True] * 5, [1.0, [2.0]], (1.0, 2.0), (float("nan"),) * 2, (1.0,) * 4, ("x",) * 2, {"type": "P"}, [{"type": "P"}] * 5,
    np.array(3.0), np.zeros(0), np.zeros((2, 2)), np.array([True, False]), np.array([2**64 - 1], dtype=np.uint64),
    (np.zeros(3), np.zeros(4)), [np.zeros(3), True, True, True, False],
]  # fmt: skip


@pytest.mark.parametrize("exercise", course.every_exercise(), ids=lambda exercise: exercise.id)
@pytest.mark.filterwarnings("ignore")
def test_every_judge_has_a_verdict_on_whatever_comes(exercise):
    cases = exercise.cases(np.random.default_rng(0))
    right = [plain(outcome["value"]) for outcome in dataclasses.replace(exercise, forbidden=()).probe(exercise.reference, cases)]  # fmt: skip
    strange = [*STRANGE, *spoiled(right[0])]
    for value in strange:
        for answers in ([value] * len(cases), [*right[:-1], value]):
            outcomes = grade._sound([{"value": answer} for answer in answers], 1)
            assert grade.told(exercise.judge(cases, outcomes))["points"] in (0, exercise.points)


def spoiled(value):
    """A right value with something wrong in it."""
    if isinstance(value, np.ndarray):
        yield from (np.full(value.shape, item) for item in (np.nan, np.inf, 1e308, 2**62))
        yield from (value.astype(np.int8), value.tolist(), value[:-1], value[:, None], [[item] for item in value])
    elif isinstance(value, (list, tuple)):
        yield from (type(value)([item, *value[1:]]) for item in (None, "x", [], np.zeros(3), float("nan"), 2**62))
    else:
        yield from ([value], (value,), np.array([value]), -value, str(value))


@given(st.lists(st.dictionaries(st.sampled_from(["value", "blank", "printed", "printed_count", "raised", "timeout", "calls", "changed", "x"]), values)) | values)  # fmt: skip
def test_forged_outcomes_are_judged_like_any_others(outcomes):
    exercise = course.find("1.3")
    cases = exercise.cases(np.random.default_rng(0))
    assert exercise.judge(cases, grade._sound(outcomes, 1)).state != RIGHT


# ---- hidden inputs


def test_inputs_depend_on_the_secret_and_on_the_submission_and_on_nothing_else():
    exercise = course.find("1.5")

    def drawn(secret, digest):
        return grade.cases_of(exercise, grade.seed_of(secret, digest))

    assert drawn(b"secret", "digest") == drawn(b"secret", "digest")
    assert drawn(b"secret", "digest") != drawn(b"other", "digest")
    assert drawn(b"secret", "digest") != drawn(b"secret", "other")


@pytest.mark.parametrize("exercise", course.every_exercise(), ids=lambda exercise: exercise.id)
def test_a_worker_needs_nothing_of_the_exercises(exercise):
    """What an answer must not call, or must, is in the library, which the sandbox has."""
    for function in [*exercise.forbidden, *(exercise.needed or ())[:1]]:
        module, _, name = grade._path(function).partition(":")
        assert not module.startswith(("dpcourse.exercises", "dpcourse.classroom"))
        assert functools.reduce(getattr, name.split("."), importlib.import_module(module)) == function


def test_a_release_names_what_its_lesson_imports():
    release = handout.release_of((ROOT / "lessons" / "04-clt.ipynb").read_bytes(), 4)
    assert {"dpcourse", "dpcourse.clt", "dpcourse.tradeoff", "numpy", "scipy.special"} <= set(release.modules)
    written = {exercise.function for exercise in course.lesson(4).exercises}
    assert not any(f"def {name}(" in cell.code for name in written for cell in release.provided)


# ---- whole lessons


@pytest.fixture(scope="module")
def lessons_graded(tmp_path_factory):
    """Every lesson handed in solved, and one blank: the output folder, and what was handed in."""
    base = tmp_path_factory.mktemp("lessons")
    shutil.copytree(ROOT / "solutions", base / "class" / "solved", ignore=shutil.ignore_patterns("*.md"))
    (base / "class" / "blank").mkdir()
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", base / "class" / "blank")
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in base.glob("class/*/*")}
    assert call(base / "class", "--out", base / "out").exit_code == 0
    return base / "out", before


@needs_bubblewrap
@pytest.mark.parametrize("number", range(len(course.lessons())))
def test_a_solved_lesson_gets_all_points(lessons_graded, number):
    with run.opened(lessons_graded[0]) as store:
        solved = next(row.result for row in store.rows("solved") if row.lesson == number)
    points = sum(exercise.points for exercise in course.lesson(number).exercises)
    assert (solved["status"], solved["score"], solved["points"]) == ("graded", points, points), solved
    assert solved["errors"] == []


@needs_bubblewrap
def test_the_marks_can_be_explained_and_nothing_that_was_handed_in_is_touched(lessons_graded):
    out, before = lessons_graded
    told = call("--out", out, "--explain", "blank", "1.3").stdout
    assert "1.3 The most that an attacker can come to believe: not attempted, 0 of 2 points" in told
    assert "asked: 2 inputs, such as worst_posterior(prior=" in told
    assert (out / run.DATABASE).stat().st_mode & 0o777 == 0o600
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before} == before


@needs_bubblewrap
def test_without_bubblewrap_all_is_the_same_on_request():
    content = (ROOT / "solutions" / "01-composition.ipynb").read_bytes()
    job = grade.Job(1, content, b"seed")
    try:
        assert grade.grade(job) == grade.grade(dataclasses.replace(job, sandboxed=False))
    finally:
        sandbox.close()


# ---- whose and what


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("Kim Lee.ipynb", "Kim Lee"),
        ("leekim_1234_98765_01-composition.ipynb", "leekim_1234"),
        ("leekim_LATE_1234_98765_01-composition-3.ipynb", "leekim_1234"),
        ("Kim Lee_77_assignsubmission_file_/01-composition.ipynb", "Kim Lee_77"),
        ("too_LATE_again/01-composition.ipynb", "too_LATE_again"),
        ("kim/01-composition/01-composition.ipynb", "kim"),
        ("dp-course-kimlee/lessons/01-composition.ipynb", "dp-course-kimlee"),
    ],
)
def test_students_are_told_by_the_names_that_an_lms_gives(tmp_path, path, student):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", tmp_path / path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "__MACOSX").mkdir()
    assert [(each.student, each.lesson) for each in collect.submissions(tmp_path)] == [(student, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_told_by_its_exercises_where_the_name_does_not(tmp_path, name):
    shutil.copy(ROOT / "lessons" / name, tmp_path / "kim.ipynb")
    (tmp_path / "lee.ipynb").write_text("not a notebook")
    assert [each.lesson for each in collect.submissions(tmp_path)] == [int(name[:2])] * 2


def test_the_glossary_beside_a_lesson_is_no_submission(tmp_path):
    shutil.copytree(ROOT / "lessons", tmp_path / "kim" / "lessons")
    found = [(each.student, each.lesson, each.also) for each in collect.submissions(tmp_path)]
    assert found == [("kim", number, ()) for number in range(len(course.lessons()))]


def test_a_second_folder_without_notebooks_takes_nothing_from_a_student(tmp_path):
    for kind in ("file", "onlinetext"):
        (tmp_path / f"Kim Lee_77_assignsubmission_{kind}").mkdir()
    shutil.copy(ROOT / "lessons" / "01-composition.ipynb", tmp_path / "Kim Lee_77_assignsubmission_file")
    (tmp_path / "nothing").mkdir()
    found = {each.student: (each.fault, each.also) for each in collect.submissions(tmp_path)}
    assert found == {"Kim Lee_77": (None, ()), "nothing": ("there is no notebook in the folder", ())}


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"there is no notebook \(\.ipynb\)"):
        list(collect.submissions(tmp_path))


# ---- near-identical submissions


def shingles_of(code):
    return similar.shingles([collect.Cell(1, "x", code)], handout.Release())


CODE = "def f(a, b):\n" + "".join(f"    a = a * {i} + b - {i + 7}\n" for i in range(12)) + "    return a\n"


def test_a_copy_with_other_names_is_near_identical_and_other_code_is_not():
    copy = CODE.replace("a", "x").replace("dexf", "def").replace("rexturn", "return").replace("b", "y")
    other = "def f(a, b):\n" + "".join(f"    b = {i} ** a / (b or {i})\n" for i in range(12)) + "    return b\n"
    part = copy + "    return [x * x for x in range(y)]\n"
    found = similar.near_identical({"one": shingles_of(CODE), "copy": shingles_of(part + "# mine"), "other": shingles_of(other)})  # fmt: skip
    assert [pair[:2] for pair in found] == [("copy", "one")]


def test_what_everybody_writes_makes_nobody_suspect():
    common = {f"student {i}": shingles_of(CODE + f"def own():\n    return {'-' * i}1\n") for i in range(30)}
    assert not similar.near_identical(common)


def test_a_whole_copy_is_named_however_many_wrote_the_same():
    copies = {name: shingles_of(CODE + "# a comment\n" * n) for n, name in enumerate(["ann", "bob", "cat"])}
    others = {f"student {i}": shingles_of(CODE + "x = 1, 2\n" * i) for i in range(2, 9)}
    assert ["ann", "bob", "cat"] in similar.identical(copies | others)
    assert not similar.identical({"ann": shingles_of("x = 1\n"), "bob": shingles_of("x = 1\n")})


# ---- gradebooks and pages


def a_row(student="Kim Lee_77", status="graded", score=15, **more):
    result = {
        "status": status,
        "notes": [],
        "score": score,
        "points": 15,
        "exercises": [],
        "errors": [],
        "shingles": [],
    }
    store = Store(":memory:")
    store.save(collect.Submission(student, 1, "x.ipynb", Path("x.ipynb"), ""), "grader", result | more)
    return next(store.rows())


def test_the_gradebooks_have_the_columns_that_canvas_and_moodle_import():
    rows = [a_row(), a_row("leekim_1234", "infrastructure", None)]
    canvas = list(csv.reader(io.StringIO(gradebook.canvas(rows, [1]))))
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01 Composition"]
    assert canvas[1][0].strip() == "Points Possible"
    assert canvas[2:] == [["Kim Lee", "77", "", "", "", "15"], ["leekim", "1234", "", "", "", ""]]
    moodle = list(csv.DictReader(io.StringIO(gradebook.moodle(rows))))
    assert [(line["Identifier"], line["Grade"]) for line in moodle] == [
        ("Participant 77", "15"),
        ("Participant 1234", ""),
    ]
    assert moodle[0]["Last modified (grade)"] == "-"


@pytest.mark.parametrize("status", ["unreadable", "infrastructure"])
def test_what_was_not_graded_is_never_a_zero(status):
    result = grade.unreadable(1, "x") if status == "unreadable" else grade.failed(1, "x")
    assert (result["status"], result["score"]) == (status, None)
    line = next(csv.DictReader(io.StringIO(gradebook.plain([a_row(**result)]))))
    assert line["score"] == ""


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_gradebook_is_a_formula(start):
    text = gradebook.plain([a_row(f'{start}HYPERLINK("http://evil"), x')])
    assert list(csv.reader(io.StringIO(text)))[1][0].startswith(f"'{start}")


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_pages_escape_everything_and_may_run_nothing(tmp_path):
    verdict = {"id": "1.3", "state": "wrong", "points": 0, "out_of": 2, "message": EVIL, "misconception": EVIL, "seen": [EVIL], "observed": [EVIL], "printed": EVIL, "override": EVIL}  # fmt: skip
    row = a_row(EVIL, exercises=[verdict], notes=[EVIL], errors=[EVIL])
    report.write([row], tmp_path)
    for page in [tmp_path / "report.html", *(tmp_path / "feedback").iterdir()]:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "<img" not in text
        assert "default-src 'none'" in text
        assert "&lt;script&gt;" in text


def test_feedback_on_what_was_not_judged_speaks_of_no_calls():
    judged = grade.told(course.find("1.3").check(None))
    said = "Your functions were called"
    assert said in report.feedback("kim", [a_row(exercises=[judged])])
    assert said not in report.feedback("kim", [a_row(**grade.unreadable(1, "it is empty"))])


def test_feedback_holds_no_answer_to_a_hidden_input():
    exercise = course.find("1.3")
    for slip in exercise.misconceptions:
        verdict = grade.told(exercise.check(slip.code, rng=1))
        assert "right is" in verdict["observed"][0]
        page = report.feedback("kim", [a_row(exercises=[verdict])])
        assert slip.name not in page or slip.name in slip.message
        assert "right is" not in page
        assert " gave " in page


# ---- a run, its memory and its command


@pytest.fixture
def quick(monkeypatch):
    """Grade without workers: the score is the number of letters `z` in the file."""
    from concurrent.futures import ThreadPoolExecutor

    graded = []

    def count(job):
        graded.append(job)
        if b"fault of ours" in job.content:
            raise sandbox.Unavailable("no worker")
        return grade._result(job.lesson, "graded", []) | {"score": job.content.count(b"z")}

    monkeypatch.setattr(grade, "grade", count)
    monkeypatch.setattr(run, "local", lambda workers: ThreadPoolExecutor(1))
    monkeypatch.setattr(sandbox, "missing", lambda: None)
    return graded


def scores(out):
    with open(out / "gradebook.csv", encoding="utf-8") as file:
        return {line["student"]: (line["status"], line["score"]) for line in csv.DictReader(file)}


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.ipynb").write_text("check('1.1') zzz")
    (folder / "bob.ipynb").write_text("check('1.1') z")
    return folder


def test_what_is_graded_is_not_graded_twice_and_what_changed_is(quick, small, tmp_path):
    out = tmp_path / "out"
    assert call(small, "--out", out).exit_code == 0
    assert scores(out) == {"ann": ("graded", "3"), "bob": ("graded", "1")}
    before = (out / "gradebook.csv").read_bytes()
    assert call(small, "--out", out).exit_code == 0
    assert len(quick) == 2
    assert (out / "gradebook.csv").read_bytes() == before
    (small / "bob.ipynb").write_text("check('1.1') zz")
    call(small, "--out", out)
    assert len(quick) == 3
    assert scores(out)["bob"] == ("graded", "2")
    call(small, "--out", out, "--again")
    assert len(quick) == 5


def test_a_fault_of_ours_is_tried_again_and_then_told(quick, small, tmp_path):
    out = tmp_path / "out"
    (small / "cat.ipynb").write_text("fault of ours")
    result = call(small, "--out", out)
    assert result.exit_code == 1
    assert "Not graded: cat" in result.stderr
    assert len(quick) == 2 + run.TRIES
    assert scores(out) == {"ann": ("graded", "3"), "bob": ("graded", "1"), "cat": ("infrastructure", "")}
    (small / "cat.ipynb").write_text("fault of nobody's z")
    assert call(small, "--out", out).exit_code == 0
    assert scores(out)["cat"] == ("graded", "1")


def test_when_a_worker_process_dies_its_submissions_are_graded_by_another(quick, small, tmp_path, monkeypatch):
    from concurrent.futures import Future, ThreadPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    class Dying(ThreadPoolExecutor):
        def submit(self, *job):
            future = Future()
            future.set_exception(BrokenProcessPool("a process died"))
            return future

    pools = iter([Dying(1), ThreadPoolExecutor(1)])
    monkeypatch.setattr(run, "local", lambda workers: next(pools))
    assert call(small, "--out", tmp_path / "out").exit_code == 0
    assert scores(tmp_path / "out") == {"ann": ("graded", "3"), "bob": ("graded", "1")}


def test_an_override_needs_a_reason_and_survives_regrading(quick, small, tmp_path):
    out = tmp_path / "out"
    call(small, "--out", out)
    assert call("--out", out, "--override", "bob", "1.3", "1.5", " ").exit_code == 2
    assert call("--out", out, "--override", "bob", "1.3", "9", "x").exit_code == 2
    assert call("--out", out, "--override", "nobody", "1.3", "1", "x").exit_code == 2
    assert call("--out", out, "--override", "bob", "1.3", "1.5", "shown <on> paper").exit_code == 0
    assert scores(out)["bob"] == ("graded", "1.5")
    call(small, "--out", out, "--again")
    assert scores(out)["bob"] == ("graded", "1.5")
    told = call("--out", out, "--explain", "bob", "1.3")
    assert "set by hand: shown <on> paper" in told.stdout
    assert "shown &lt;on&gt; paper" in next((out / "feedback").glob("bob*")).read_text(encoding="utf-8")


def test_grading_refuses_without_a_sandbox_unless_told_to(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "missing", lambda: "bubblewrap is not installed")
    refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "--no-sandbox" in refused.stderr
    assert not quick
    assert call(small, "--out", tmp_path / "out", "--no-sandbox").exit_code == 0
    assert not any(job.sandboxed for job in quick)


def test_a_second_grader_in_the_same_folder_is_refused(quick, small, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "PATIENCE", 0.1)
    with run.opened(tmp_path / "out"):
        refused = call(small, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "is at work" in refused.stderr


def test_the_json_summary_is_all_that_is_printed(quick, small, tmp_path):
    result = call(small, "--out", tmp_path / "out", "--json")
    told = json.loads(result.stdout)
    assert told["statuses"] == {"graded": 2}
    assert (told["submissions"], told["graded_now"], told["not_graded"]) == (2, 2, [])
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Which folder?"),
        (["nowhere"], "nowhere is no folder"),
        (["--explain", "ann", "1.3"], "There are no grades"),
        (["SMALL", "--lesson", "77"], "lesson must be one of"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(quick, small, tmp_path, arguments, said):
    arguments = [small if argument == "SMALL" else argument for argument in arguments]
    result = call(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_inputs_follow_the_secret_in_a_file(quick, small, tmp_path):
    seed, out = tmp_path / "seed", tmp_path / "out"
    seed.write_text("too short")
    assert call(small, "--out", out, "--seed-file", seed).exit_code == 2
    for secret, graded in (("long enough a secret", 2), ("long enough a secret", 2), ("another of that length", 4)):
        seed.write_text(secret)
        assert call(small, "--out", out, "--seed-file", seed).exit_code == 0
        assert len(quick) == graded
    assert len({job.seed for job in quick}) == 4


def test_the_readmes_two_lines_do_what_it_says(quick, small, tmp_path, monkeypatch):
    for name in ("LICENSE", "dpcourse", "lessons", "pyproject.toml", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    small.rename(tmp_path / "submissions")
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^\.venv/bin/dpcourse (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["release", "grade"]
    for line in lines:
        assert CliRunner().invoke(app, line.split()).exit_code == 0
    assert (tmp_path / "handout" / "lessons" / NAMES[0]).exists()
    assert scores(tmp_path / "grades") == {"ann": ("graded", "3"), "bob": ("graded", "1")}


@needs_bubblewrap
def test_a_run_that_is_killed_goes_on_where_it_was():
    script = ROOT / "tests" / "benchmarks" / "kill_and_resume.py"
    done = subprocess.run([sys.executable, script, "--submissions", "6", "--kills", "1", "--jobs", "1"], capture_output=True, text=True, cwd=ROOT)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "byte-identical" in done.stdout


@needs_bubblewrap
def test_a_dask_worker_that_is_killed_costs_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    folder = tmp_path / "class"
    folder.mkdir()
    solved, blank = (
        (ROOT / which / "01-composition.ipynb").read_text(encoding="utf-8") for which in ("solutions", "lessons")
    )
    for i in range(8):
        (folder / f"s{i}.ipynb").write_text((blank if i % 2 else solved) + " " * i, encoding="utf-8")
    killed = []

    def kill_one(results, total):
        for result in results:
            if not killed:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
            yield result

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        run.opened(tmp_path / "out") as store,
    ):
        executor = functools.partial(run.on_dask, cluster.scheduler_address)
        assert run.grade_class(folder, store, executor, progress=kill_one) == 8
        results = {row.student: (row.result["status"], row.result["score"]) for row in store.rows()}
    assert killed
    assert results == {f"s{i}": ("graded", 0 if i % 2 else 15) for i in range(8)}
