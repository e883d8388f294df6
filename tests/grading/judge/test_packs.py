"""Packs all the way from new-pack to marks, by the commands alone, with kernels that build and workers that grade."""

import csv
import json

import pytest
from authoring.packs import edit, exam, practice
from grading.judge.exams import EPSILONS, SECRET, handed_in, told
from sandboxed import NEEDS_SANDBOX
from support import ROOT

from dpcourse import course
from dpcourse.grading import collect


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
        '"""It."""\n\nfrom dpcourse.checking import Option, Question\n\nQUIZ = (Question("Why?", (Option("a", True, "So."), Option("b", False, "No."))),)\n'
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
