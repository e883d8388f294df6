"""A pack is graded as the course's lessons are, each student by their own variant; who hands in another's is named."""

import csv
import json

import pytest
from authoring.packs import edit, exam, practice
from support import ROOT
from typer.testing import CliRunner

from dpcourse import cells, course
from dpcourse.authoring import execute
from dpcourse.cli import app
from dpcourse.grading import collect
from dpcourse.grading.judging import variants
from dpcourse.grading.judging.answers import asked
from dpcourse.grading.judging.given import changes
from dpcourse.grading.judging.job import Job, cases_of
from dpcourse.grading.sandbox import bubblewrap

NEEDS_SANDBOX = pytest.mark.skipif(bubblewrap.missing() is not None, reason=str(bubblewrap.missing()))
EPSILONS = (0.5, 1.25, 2.0)
SECRET = "a secret that nobody guesses"


def told(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def final(tmp_path_factory):
    """The folder of an exam, lesson 61, built without a kernel, and in use."""
    folder = exam(tmp_path_factory.mktemp("pack") / "final", 61)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "executed", lambda page: page.solved)
        assert told("build", "--pack", folder)[0] == 0
    course.use_pack(folder)
    yield folder
    course._forget(folder.resolve())


def blank(final):
    return (final / "lessons" / "61-final.ipynb").read_bytes()


def of(epsilon):
    return {"odds_after": {"epsilon": epsilon}}


def handed_in(notebook, epsilon):
    """A notebook in which somebody has answered for that epsilon."""
    made = json.loads(notebook)
    for cell in made["cells"]:
        cell["source"] = cell["source"].replace(cells.BLANK, f"return odds * math.exp({epsilon})")
    return json.dumps(made).encode()


def theirs(final, epsilon):
    """The blank notebook of somebody with this epsilon."""
    return json.dumps(cells.with_values(json.loads(blank(final)), {"epsilon": epsilon})).encode()


def test_what_was_given_out_is_what_each_student_got(final):
    for epsilon in EPSILONS:
        release = variants.release_for([blank(final)], 61, of(epsilon))
        assert f'check("61.1", odds_after, epsilon={epsilon})' in release.code
        for other in EPSILONS:
            found = collect.code_cells(handed_in(theirs(final, other), other))
            assert bool(changes(found, release.provided)) == (other != epsilon)


def test_a_notebook_of_another_variant_is_named(final):
    for mine in EPSILONS:
        for other in EPSILONS:
            found = variants.another_notebook(collect.code_cells(theirs(final, other)), 61, of(mine))
            assert len(found) == (mine != other)
            assert all(f"epsilon {other}; this student's is epsilon {mine}" in note for note in found)


@pytest.mark.parametrize("code", ["check(", "check()", "check('61.1', f, **x)", "check('61.1', f, epsilon=x)", "check('0.1', f, epsilon=9)", "nothing", '"61.1"; ' + "(" * 3000])  # fmt: skip
def test_a_cell_that_names_no_values_is_no_notebook_of_anybody(final, code):
    assert variants.another_notebook([collect.Cell(1, "a", code)], 61, of(0.5)) == []


def test_an_answer_for_another_variant_is_named_and_no_other(final):
    job = Job(61, b"", b"a seed", values=of(0.5))
    exercise = course.find("61.1", {"epsilon": 0.5})
    for answer in (1.25, 2.0, 0.5, 9):
        evidence, cases = [], cases_of(exercise, job.seed)
        outcomes = [{"value": case["odds"] * 2.718281828459045**answer} for case in cases]
        evidence = ([{"asked": "something else"}, *outcomes], [{"asked": asked(cases)}, *outcomes])
        found = variants.another_answer(exercise, job, evidence)
        is_another = answer in (1.25, 2.0)
        assert len(found) == is_another
        assert all(f"right for epsilon {answer}" in note for note in found)
    for strange in (
        [],
        [{}],
        [{"value": None}] * 2,
        [{"value": "x"}, {"value": [1, 2]}],
        [{"value": float("nan")}] * 2,
    ):
        assert variants.another_answer(exercise, job, ([{"asked": asked(cases)}, *strange],)) == []
    assert variants.another_answer(exercise, Job(61, b"", b"a seed"), evidence) == []


@NEEDS_SANDBOX
def test_a_pack_within_the_reach_of_students_code_is_refused(tmp_path, monkeypatch):
    assert bubblewrap.shows(ROOT / "dpcourse" / "probe")
    folder = practice(tmp_path / "more")
    assert not bubblewrap.shows(folder)
    (tmp_path / "submissions").mkdir()
    monkeypatch.setattr(bubblewrap, "shows", lambda folder: True)
    try:
        status, said = told(
            "grade", tmp_path / "submissions", "--pack", folder, "--lesson", 50, "--out", tmp_path / "grades"
        )
    finally:
        course._forget(folder.resolve())
    assert (status, "and there the answers are: move the pack" in said) == (2, True), said


# ---- the whole way


@pytest.mark.weekly("an exam by the commands alone, with kernels that build and workers that grade")
@NEEDS_SANDBOX
def test_an_exam_from_new_pack_to_marks(tmp_path):
    """By the commands alone, with a kernel that builds and workers that grade; two students have swapped notebooks."""
    names = ("Kim Lee", "Ada Byron", "Isaac Tóth", "Mia", "Noor", "Emmy")
    folder, roster, secret = exam(tmp_path / "final", 61), tmp_path / "roster.csv", tmp_path / "secret"
    roster.write_text("name\n" + "\n".join(names), encoding="utf-8")
    secret.write_text(SECRET)
    given = ("--pack", folder, "--roster", roster, "--seed-file", secret)
    try:
        for command in (
            ("build", "--pack", folder),
            ("build", "--check", "--pack", folder),
            ("try", 61, "--pack", folder),
        ):
            status, said = told(*command)
            assert status == 0, said
        assert told("release", tmp_path / "handout", "--course", ROOT, *given)[0] == 0
        epsilons = {
            name: course.use_pack(folder).values_of(SECRET.encode(), name)["odds_after"]["epsilon"] for name in names
        }
        one = names[0]
        other = next(name for name in names if epsilons[name] != epsilons[one])
        copied, right, wrong = [name for name in names if name not in (one, other)][:3]
        books = {}
        for name in names:
            (file,) = (tmp_path / "handout" / "students" / collect.file_name(name)).iterdir()
            books[name] = file.read_bytes()
        of_another = next(each for each in EPSILONS if each != epsilons[copied])
        for name, (book, answer) in {
            one: (books[other], epsilons[other]),
            other: (books[one], epsilons[one]),
            copied: (books[copied], of_another),
            right: (books[right], epsilons[right]),
            wrong: (books[wrong], 9),
        }.items():
            (tmp_path / "submissions" / name).mkdir(parents=True)
            (tmp_path / "submissions" / name / "61-final.ipynb").write_bytes(handed_in(book, answer))
        out = ("--out", tmp_path / "grades", "--course", ROOT)
        status, said = told("grade", tmp_path / "submissions", *out, "--pack", folder)
        assert (status, "has a variant for each student: name the --roster and the --seed-file" in said) == (2, True)
        status, said = told("grade", tmp_path / "submissions", *out, *given)
        assert "61" in said, said
        with (tmp_path / "grades" / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
    finally:
        course._forget(folder.resolve())
    scores = {name: rows[name]["score"] for name in (one, other, copied, right, wrong)}
    assert scores == {one: "0", other: "0", copied: "0", right: "3", wrong: "0"}
    assert {name: rows[name]["status"] for name in scores} == {one: "flagged", other: "flagged", copied: "flagged", right: "graded", wrong: "graded"}  # fmt: skip
    assert "the notebook is of another variant" in rows[one]["notes"]
    assert "the notebook is of another variant" in rows[other]["notes"]
    assert f"right for epsilon {of_another}" in rows[copied]["notes"]


@pytest.mark.weekly("a pack and a lesson are built and graded in sandboxes")
@NEEDS_SANDBOX
def test_a_practice_pack_with_pictures_and_a_quiz_is_graded_beside_a_lesson_of_the_course(tmp_path):
    folder = practice(tmp_path / "more")
    (folder / "exercises" / "pictures.py").write_text(
        '"""It."""\n\n\ndef line(figure, slope):\n    """A line."""\n    figure.subplots().plot([0, slope])\n    return "A line."\n'
    )
    (folder / "exercises" / "quiz.py").write_text(
        '"""It."""\n\nfrom dpcourse.engine import Option, Question\n\nQUIZ = (Question("Why?", (Option("a", True, "So."), Option("b", False, "No."))),)\n'
    )
    shown = "\n+++\n\n```{code-cell} ipython3\nfrom dpcourse import plots, quiz\n\nplots.show(plots.line, slope=2)\nquiz(50)\nhalf = 0.5\n```\n"
    source = folder / "solutions" / "50-more.md"
    source.write_text(
        source.read_text(encoding="utf-8").replace("\n{exercise", shown + "\n{exercise"), encoding="utf-8"
    )
    edit(source, ("return odds *", "return 2 * half * odds *"))
    try:
        assert told("build", "--pack", folder)[0] == 0
        status, said = told("release", tmp_path / "handout", "--pack", folder, "--course", ROOT, "--lesson", 0)
        assert (status, "00-start-here.ipynb, 50-more.ipynb" in said) == (0, True), said
        assert (tmp_path / "handout/dpcourse/course/more/pictures.py").exists()
        (tmp_path / "submissions" / "kim").mkdir(parents=True)
        for file in (folder / "solutions/50-more.ipynb", ROOT / "solutions/00-start-here.ipynb"):
            (tmp_path / "submissions" / "kim" / file.name).write_bytes(file.read_bytes())
        status, said = told("grade", tmp_path / "submissions", "--pack", folder, "--out", tmp_path / "grades", "--course", ROOT, "--json")  # fmt: skip
        assert (status, json.loads(said.splitlines()[-1])["mean"]) == (0, 1.0), said
        with (tmp_path / "grades" / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
            assert [(row["lesson"], row["status"], row["score"]) for row in csv.DictReader(file)] == [("00 Start here", "graded", "5"), ("50 More", "graded", "1")]  # fmt: skip
    finally:
        course._forget(folder.resolve())
