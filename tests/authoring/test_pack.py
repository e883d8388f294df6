"""An instructor's own lesson: what new-pack makes is built, tried, given out, and gives no answer away where it must not."""

import ast
import dataclasses
import functools
import json
import os
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from authoring.packs import EXAM, edit, exam, practice
from support import ROOT, by_profile
from typer.testing import CliRunner

from dpcourse import course
from dpcourse.authoring import build, execute, laws, new_pack, public_pack
from dpcourse.base import cells
from dpcourse.checking import ERROR, RECEIVED, GivenOut, Variants, a_number, numbers_like, several, variants
from dpcourse.checking.diagnosis import mutants
from dpcourse.commands import app
from dpcourse.course import pack
from dpcourse.notebook import check

SECRET = b"a secret that nobody guesses"


def told(*arguments):
    """What `dpcourse` says, and its status."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def packs(tmp_path, monkeypatch):
    """A function that makes a pack here, in use and built without a kernel; afterwards none is in use."""
    made = []
    monkeypatch.setattr(execute, "executed", lambda page: page.solved)

    def make(kind, name, *changes, built=True):
        folder = kind(tmp_path / name)
        made.append(folder)
        for file, *replaced in changes:
            edit(folder / file, *replaced)
        if built:
            status, said = told("build", "--pack", folder)
            assert (status, f"Built {course.use_pack(folder).name}." in said) == (0, True), said
        return folder

    yield make
    for folder in made:
        course._forget(folder.resolve())


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    """An exam as three students are given it: (folder, pack)."""
    where = tmp_path_factory.mktemp("exam")
    folder = exam(where / "given", 60)
    (where / "roster.csv").write_text("name\nKim Lee\nAda Byron\nIsaac Tóth\n", encoding="utf-8")
    (where / "secret.txt").write_bytes(SECRET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "executed", lambda page: page.solved)
        assert told("build", "--pack", folder)[0] == 0
    given = ("--roster", where / "roster.csv", "--seed-file", where / "secret.txt")
    status, output = told("release", where / "handout", "--pack", folder, "--course", ROOT, "--lesson", 0, *given)
    assert (status, "60-given.ipynb" in output) == (0, True), output
    yield where / "handout", folder
    course._forget(folder.resolve())


# ---- a new pack


@pytest.mark.in_turn("seconds of reading sources")
def test_a_new_pack_is_built_and_tried(packs):
    folder = packs(practice, "exam-1")
    assert told("build", "--check", "--pack", folder) == (0, "1 lesson is as its source says.\n")
    status, said = told("try", 50, "--pack", folder, "--replies")
    assert (status, "FALSE" in said.split("exercise ")[0]) == (0, False), said
    assert "You multiplied by epsilon. The factor is e^epsilon." in said
    blank = json.loads((folder / "lessons" / "50-exam-1.ipynb").read_text(encoding="utf-8"))
    assert "SOLUTION" not in json.dumps(blank)
    assert course.find("50.1").function == "odds_after"
    assert list(laws.broken(course.use_pack(folder))) == []


def test_its_readme_says_its_commands(packs):
    text = (packs(practice, "exam", built=False) / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)[1].splitlines()
    assert [line.split()[1] for line in block] == ["build", "try", "release", "grade"]
    assert all("--pack PACK" in line for line in block)
    assert "try 50 " in block[1]


def test_a_pack_that_cannot_be_is_not_made(tmp_path):
    for name, number, why in (("Exam", 50, "small letters"), ("exam", 49, "from 50 to 99"), ("exam", 100, "from 50")):
        status, said = told("new-pack", tmp_path / name, "--number", number)
        assert (status, why in said, (tmp_path / name).exists()) == (2, True, False), said
    assert told("new-pack", tmp_path / "exam")[0] == 0
    status, said = told("new-pack", tmp_path / "exam")
    assert (status, "is not empty" in said) == (2, True)


SAID = 'name = "exam"\ntitle = "Exam"\nnumber = 50\nexercises = ["odds_after"]\n'
WRONG = {
    "number = 50": ("number = 7", "number must be from 50 to 99"),
    "number = 5": ('number = "5', "cannot be read"),
    "number": ("numbr", "there is no key 'numbr'; the keys are name, title"),
    "title = ": ("# ", "does not say title: add a line `title = "),
    '"exam"': ('"Exam 1"', 'name must be small letters, digits and "-"'),
    '"Exam"': ("7", "title must be a text in quotes, got 7"),
    '["odds_after"]': ("[]", "exercises must name at least one function"),
    '"odds_after"': ('"odds_after", "odds_after"', "names odds_after more than once"),
    "exercises = [": ("graded_only = 1\nexercises = [", "graded_only must be true or false, got 1"),
    "= [": ("= [7, ", "exercises must be names of functions, got 7"),
    "odds_after": ("quiz", "exercises/quiz.py is another part of the lesson"),
    '"odds_after': ('"class', "class, and no function of a student's can be called so: it is a word of Python's own"),
    'odds_after"': ('hint"', "notebooks import it from the course"),
    '"odds_after"]': ('"gdp"]', "notebooks import it from the course"),
    '["odds_after"': ('["print"', "Python has a function or a name of its own for it"),
}


@pytest.mark.parametrize("there", WRONG)
def test_what_a_pack_says_wrongly_is_named(tmp_path, there):
    wrong, said = WRONG[there]
    (tmp_path / pack.FILE).write_text(SAID.replace(there, wrong, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        course.use_pack(tmp_path)
    assert str(tmp_path / pack.FILE) in str(raised.value)
    assert [lesson for lesson in course.lessons() if lesson.pack] == []


def test_a_name_or_a_number_that_is_taken_is_refused(packs, tmp_path):
    packs(practice, "exam", built=False)
    course.use_pack(tmp_path / "exam")
    for name, number, why in (
        ("other", 50, "50 is the number of 50-exam"),
        ("composition", 51, "'composition' is taken"),
    ):
        assert told("new-pack", tmp_path / name, "--number", number)[0] == 0
        status, said = told("build", "--pack", tmp_path / name)
        assert (status, why in said) == (1, True), said
    status, said = told("try", 50, "--pack", tmp_path)
    assert (status, "is no pack, for it has no pack.toml" in said) == (1, True)


# ---- the laws

BROKEN = {
    "the reference": ("reference=lambda odds, epsilon: odds * math.exp(epsilon)", "reference=lambda odds, epsilon: [odds]", "the reference does not pass"),
    "a misconception that is none": ("lambda o, e: o * e)", "lambda o, e: o * math.exp(e))", "no inputs in 100 draws tell its misconceptions apart"),
    "two alike": ("lambda o, e: o + math.exp(e)", "lambda o, e: e * o", "no inputs in 100 draws"),
    "one that fails": ("lambda o, e: o + math.exp(e)", "lambda o, e: o.no_such_thing", "AttributeError"),
    "one that is no number": ("lambda o, e: o + math.exp(e)", "lambda o, e: [o, e]", "the misconception 'added' is error"),
    "the same message": ("You added e^epsilon. Odds are multiplied.", "You multiplied by epsilon. The factor is e^epsilon.", "two misconceptions have the same message"),
    "its draw": ("rng.uniform(0.2, 3)", "rng.no_such_law()", "it fails with AttributeError"),
    "its points": ("points=1", "points=0", "the exercise needs points, at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("law", BROKEN)
def test_an_exercise_that_breaks_a_law_is_not_built(packs, law):
    there, wrong, why = BROKEN[law]
    folder = packs(practice, "exam", ("exercises/odds_after.py", (there, wrong)), built=False)
    status, said = told("build", "--pack", folder)
    assert (status, why in said, (folder / "lessons").exists()) == (1, True, False), said
    assert f"{folder / 'exercises' / 'odds_after'}.py: " in said


def test_what_is_graded_only_needs_examples_that_can_be_given_out(packs):
    changes = {"examples=(": "examples=() and (", "returns=a_number": "returns=lambda value, case: None"}
    for number, (there, wrong) in enumerate(changes.items()):
        folder = packs(exam, f"final-{number}", ("exercises/odds_after.py", (there, wrong)), built=False)
        status, said = told("build", "--pack", folder)
        why = ("needs `examples`", "`returns` cannot be given out: use one of dpcourse.checking")[number]
        assert (status, why in said) == (1, True), said
        course._forget(folder.resolve())


def test_a_law_holds_for_every_variant(packs):
    change = (
        ("o * epsilon", "o * min(epsilon, 1.5)"),
        ("lambda o: o * math.exp(-epsilon)", "lambda o: o / (0 if epsilon == 2.0 else 9)"),
    )
    folder = packs(exam, "final", ("exercises/odds_after.py", *change), built=False)
    status, said = told("build", "--pack", folder)
    assert (status, "fails with ZeroDivisionError" in said) == (1, True), said


# ---- graded only


def secrets():
    """What of the exam tells an answer: each text and each expression of the judge."""
    tree = ast.parse(EXAM)
    found = {ast.unparse(node.body) for node in ast.walk(tree) if isinstance(node, ast.Lambda)}
    return found | {"epsilon itself", "downwards", "You multiplied by", "smallest odds", "e^epsilon", "0.2, 3", "by which odds grow"}  # fmt: skip


def test_a_handout_holds_no_trace_of_what_is_graded_only(handout):
    folder, _ = handout
    word = folder / "course" / "dpcourse" / "course" / "given"
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("new-pack")]
    mine = {file for file in files if word in file.parents or file.name == "60-given.ipynb"}
    assert len(mine) == 5
    assert not any(
        file.suffix == ".pyc" or file.name in ("pack.toml", "answers.toml", "CHANGELOG.md") for file in files
    )
    assert not any("solutions" in file.parts for file in files)
    for file in files:
        text = file.read_bytes().decode(errors="replace")
        for secret in (
            secrets() if file in mine else {'epsilon itself"', "smallest odds there", "odds * math.exp(epsilon)"}
        ):
            assert secret not in text, (file, secret)
        assert not re.search(r"SOLUTION|solution\(\"60|hint\(\"60|\{variant", text) or file not in mine, file
    for lesson in course.lessons():
        copied = word.parent / lesson.word / mutants.STORED
        assert copied.exists() == (lesson.pack is None)
        assert not copied.exists() or copied.read_bytes() == (lesson.folder / mutants.STORED).read_bytes()


STUDENT = """
import dpcourse, math
from dpcourse import check, hint, solution, progress, course
from dpcourse.checking import GivenOut
assert isinstance(course.find("60.1"), GivenOut)
for answer in (lambda odds: odds * math.exp(1.25), lambda odds: -1, lambda odds: [odds, 1], lambda a, b: 1, lambda odds: 1 / 0):
    check("60.1", answer, epsilon=1.25)
    print("--")
hint("60.1"); solution("60.1", sure=True); progress()
print(dpcourse.__file__)
"""


@pytest.mark.in_turn("seconds of reading sources")
def test_the_check_of_a_handout_says_that_an_answer_is_received_and_no_more(handout, tmp_path):
    folder, _ = handout
    code = f"from IPython.core.interactiveshell import InteractiveShell as S\nimport IPython.core.display_functions as d\nS.instance()\nexec({STUDENT!r})"
    environment = {"PYTHONPATH": str(folder / "course"), "PATH": os.environ["PATH"], "DPCOURSE_DATA": str(tmp_path), "HOME": str(tmp_path)}  # fmt: skip
    done = subprocess.run([sys.executable, "-P", "-B", "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    right, wrong, many, signature, rest = done.stdout.split("--\n", 4)
    received = "Received. It runs, and returns one number, as asked. The marks are made later."
    assert received in right
    assert re.sub("gave .*", "", right) == re.sub("gave .*", "", wrong)
    assert "Return one number, not a list of 2." in many
    assert "must take these arguments, in this order: `odds_after(odds)`" in signature
    assert "ZeroDivisionError" in rest
    assert "has no hints" in rest
    assert "Your instructor has them." in rest
    assert "60 Given: 1 of 1 exercises" in rest
    assert rest.strip().endswith(str(folder / "course" / "dpcourse" / "__init__.py"))


@pytest.mark.weekly("builds a pack and its notebooks four times; that a handout tells nothing is tried on each commit")
def test_an_exam_promises_no_hint_and_no_reason_and_practice_does(packs, tmp_path):
    later, hints = ("graded_only = false", "graded_only = true"), ("hints = false", "hints = true")
    kinds = {"exam": [("pack.toml", later)], "told": [("pack.toml", later, hints)], "practice": []}
    said = {}
    for number, (name, changes) in enumerate(kinds.items(), 70):
        folder = packs(lambda where, number=number: new_pack.write(where, number).folder, name, *changes)
        status, told_of = told("release", tmp_path / f"{name}-out", "--pack", folder, "--course", ROOT)
        assert status == 0, told_of
        texts = [tmp_path / f"{name}-out" / "README.md", *(tmp_path / f"{name}-out" / "lessons").glob("[0-9]*.ipynb")]
        said[name] = "\n".join(file.read_text(encoding="utf-8") for file in texts)
    assert not re.search('hint|solution\\(|solution"|mistake', said["exam"])
    assert all(word in said["told"] for word in ("# hint(", 'import check, hint"', "ask for a hint"))
    assert not re.search('solution\\(|solution"|mistake', said["told"])
    assert all(word in said["practice"] for word in ("import check, hint, solution", "which mistake", "ask for a hint"))


LEAKS = {
    "a picture imports it": ("exercises/pictures.py", "from dpcourse.course.final import odds_after\n", "a file that is given out imports it"),
    "a cell says it": ("solutions/51-final.md", "\n+++\n\n```{code-cell} ipython3\nworst = lambda odds, epsilon: odds * math.exp(epsilon)\n```\n", "which is part of odds_after"),
    "the text says it": ("solutions/51-final.md", "\n+++\n\nThese are the smallest odds there can be.\n", "which is part of odds_after"),
    "the quiz says it": ("exercises/quiz.py", '"""It."""\n\nQUIZ = ()\nTOLD = "You multiplied by epsilon, not by e^epsilon."\n', "which is part of odds_after"),
}  # fmt: skip


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.parametrize("leak", by_profile("packs that would tell an answer", list(LEAKS)[1:3], list(LEAKS)))
def test_a_pack_that_would_tell_is_not_given_out(packs, tmp_path, leak):
    file, text, why = LEAKS[leak]
    folder = packs(exam, "final", built=False)
    edit(folder / "exercises" / "odds_after.py", ("variants(epsilon=(0.5, 1.25, 2.0))", "variants(epsilon=(0.5,))"))
    with (folder / file).open("a", encoding="utf-8") as leaking:
        leaking.write(text)
    (tmp_path / "roster.csv").write_text("name\nKim\n")
    (tmp_path / "secret").write_bytes(SECRET)
    status, said = told("build", "--pack", folder)
    assert status == 0, said
    given = ("--roster", tmp_path / "roster.csv", "--seed-file", tmp_path / "secret")
    status, said = told("release", tmp_path / "handout", "--pack", folder, "--course", ROOT, *given)
    assert (status, why in said, (tmp_path / "handout").exists()) == (2, True, False), said


def test_what_is_given_out_is_read_back_as_it_was(packs):
    lesson = course.use_pack(packs(practice, "exam", built=False))
    examples = ({"x": np.array([1.5, 2]), "rng": 7, "many": (1, [True, None]), "far": float("inf"), "text": 'a"b'},)
    for returns in (a_number, several("a", "b"), numbers_like("x")):
        exercise = dataclasses.replace(lesson.exercises[0], examples=examples, returns=returns, hints_too=True)
        space: dict = {}
        exec(public_pack.module(exercise), space)
        given = space["exercise"]
        assert isinstance(given, GivenOut)
        assert repr(given.examples) == repr(examples)
        assert (given.returns.asked, given.hints, given.points) == (returns.asked, exercise.hints, exercise.points)


@pytest.mark.parametrize("title", ['Say "yes"', "From $\\xi$ to $\\mu$", '"""', "ends with \\"])
def test_any_title_can_be_given_out(packs, title):
    lesson = course.use_pack(packs(practice, "exam", built=False))
    exercise, space = dataclasses.replace(lesson.exercises[0], title=title, returns=a_number), {}
    exec(public_pack.module(exercise), space)
    assert space["exercise"].title == title


def test_an_exercise_that_is_given_out_never_passes_and_never_fails_an_answer_that_runs():
    given = GivenOut(id="given/f", number="51.1", title="t", good_for="g", difficulty=1, minutes=1, points=2, returns=a_number, examples=({"x": 1.0}, {"x": 2.0}))  # fmt: skip
    for answer in (lambda x: x, lambda x: -x, lambda x: 0.0):
        verdict = given.check(answer)
        assert (verdict.state, verdict.points) == (RECEIVED, 0)
    for answer in (lambda x: "a", lambda x: 1 / (x - 2), 7, lambda: 1):
        assert given.check(answer).state == ERROR


# ---- variants


def test_the_values_of_a_student_come_from_secret_and_name(handout):
    lesson = course.use_pack(handout[1])
    names = [f"student {number}" for number in range(60)]
    values = [lesson.values_of(SECRET, name)["odds_after"]["epsilon"] for name in names]
    assert values == [lesson.values_of(SECRET, name)["odds_after"]["epsilon"] for name in names]
    assert set(values) == {0.5, 1.25, 2.0}
    assert values != [lesson.values_of(b"another secret", name)["odds_after"]["epsilon"] for name in names]


def test_each_student_is_told_their_own_values_and_nobody_elses(handout):
    folder, where = handout
    lesson = course.use_pack(where)
    students = ("Kim Lee", "Ada Byron", "Isaac Tóth")
    files = sorted((folder / "students").glob("*/60-given.ipynb"))
    assert len(files) == 3
    assert not (folder / "course" / "lessons" / "60-given.ipynb").exists()
    found = {}
    for student, name in zip(students, course_folders(folder, students), strict=True):
        (value,) = lesson.values_of(SECRET, student)["odds_after"].values()
        text = (folder / "students" / name / "60-given.ipynb").read_text(encoding="utf-8")
        assert f"with ε = {value}?" in text
        assert f'check(\\"60.1\\", odds_after, epsilon={value})' in text
        assert not any(f"{other}" in text for other in {0.5, 1.25, 2.0} - {value})
        found[student] = value
    assert len(set(found.values())) > 1


def _grown(epsilon, odds):
    return odds * np.exp(epsilon)


def course_folders(folder, students):
    """The names of the students' folders, each found by the student's first name."""
    there = [each.name for each in (folder / "students").iterdir()]
    return [next(name for name in there if name.startswith(student.split()[0])) for student in students]


@pytest.mark.weekly("makes the notebooks of a pack for each student; what is given out is tried on each commit")
def test_who_the_students_are_must_be_said_and_only_then(packs, tmp_path):
    (tmp_path / "roster.csv").write_text("name\nKim\n")
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "short").write_bytes(b"short")
    roster, secret = ("--roster", tmp_path / "roster.csv"), ("--seed-file", tmp_path / "secret")
    final, other = packs(exam, "final"), packs(practice, "other")
    for arguments, why in (
        (("--pack", final), "51-final has a variant for each student"),
        (("--pack", final, *roster), "--pack, --roster and --seed-file go together"),
        (("--pack", final, *roster, "--seed-file", tmp_path / "short"), "can be guessed"),
        (("--pack", other, *roster, *secret), "leave --roster out"),
        ((*roster, *secret), "go together"),
        (("--pack", final, "--nbgrader"), "--nbgrader writes the course's own lessons"),
    ):
        status, said = told("release", tmp_path / "handout", "--course", ROOT, *arguments)
        assert (status, why in said, (tmp_path / "handout").exists()) == (2, True, False), said


def test_a_check_takes_the_values_of_its_variant(handout, capsys):
    lesson = course.use_pack(handout[1])
    for epsilon in (0.5, 1.25, 2.0):
        exercise = course.find("60.1", {"epsilon": epsilon})
        assert exercise.check(functools.partial(_grown, epsilon), 0).state == "right"
        assert exercise.check(lambda odds: odds * np.exp(1.0), 0).state == "wrong"
    assert course.of_student("60.1", SECRET, "Kim").function == "odds_after"
    assert [each.points for each in lesson.exercises_with({})] == [3]
    for id, values, why in (("60.1", {"epsilon": 9}, "epsilon must be one of 0.5, 1.25, 2.0, got 9"), ("60.1", {"e": 1}, "its values are epsilon, got e"), ("0.1", {"e": 1}, "exercise 0.1 has no variants")):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(why)):
            course.find(id, values)
    check.check("60.1", None, epsilon=9)
    assert "No such variant" in capsys.readouterr().out


def test_a_variant_that_nothing_has_is_named_with_its_line(packs):
    folder = packs(exam, "final", ("solutions/51-final.md", ("{variant epsilon}?", "{variant delta}?")), built=False)
    status, said = told("build", "--pack", folder)
    line = (folder / "solutions/51-final.md").read_text(encoding="utf-8").partition("{variant delta}")[0].count(
        "\n"
    ) + 1
    assert status == 1
    assert f"51-final.md:{line}: there is no variant 'delta'; there are epsilon" in said


def test_values_are_drawn_or_chosen_and_can_be_written_down():
    drawn = variants(lambda rng: {"n": rng.integers(3, 9), "shift": rng.uniform()})(lambda n, shift: (n, shift))
    assert isinstance(drawn, Variants)
    values = drawn.of_student(SECRET, "Kim", "x/f")
    assert values == drawn.of_student(SECRET, "Kim", "x/f") != drawn.of_student(SECRET, "Ada", "x/f")
    assert [type(value) for value in values.values()] == [int, float]
    assert drawn.exercise(values) == tuple(values.values())
    for wrong in (lambda: variants(), lambda: variants(epsilon=3), lambda: variants(x=(np.zeros(2),)), lambda: variants(x=(float("nan"),)), lambda: variants(print, x=(1,))):  # fmt: skip
        with pytest.raises(ValueError, match=r"variants|value of x"):
            wrong()


def test_a_lesson_of_the_course_has_no_variants():
    assert not any(lesson.variants or lesson.pack for lesson in course.lessons() if lesson.number < pack.FIRST)
    blank = {"cells": [{"cell_type": "code", "metadata": {}, "source": "x = {1}"}]}
    assert cells.with_values(blank, {}) == blank


# ---- another process


@pytest.mark.weekly("a process of its own imports all that a command does")
def test_a_process_uses_the_pack_that_its_environment_names(packs):
    folder = packs(practice, "exam", built=False)
    code = "from dpcourse import course; print(course.lesson(50).title, course.find('50.1').function)"
    environment = os.environ | {course.IN_USE: str(folder)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.stdout.strip() == "Exam odds_after", done.stderr
    assert tomllib.loads((folder / pack.FILE).read_text(encoding="utf-8"))["number"] == 50
    assert build.sources(folder)
