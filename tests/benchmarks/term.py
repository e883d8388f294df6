"""A term with a class: every thing that an instructor does, by its command, with its seconds.

    python tests/benchmarks/term.py [--students 60]

The class hands in lesson 02 through Canvas, as one zip, lesson 03 through Moodle, as folders, and both through GitHub
Classroom: on time, late, twice, as a PDF, not at all, and one anonymously. Each step must leave what it is for, or the
script stops.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from dpcourse import course

ROOT = Path(__file__).parents[2]
CANVAS, MOODLE = "leekim{0}_{1}{2}_98{0:03}_02-laplace.ipynb", "Lee Kim{0}_7{0:03}_assignsubmission_file"
LATE, TWICE, PDF, NOBODY = 3, 4, 5, 6  # who does something of their own


def notebook(name, i):
    """A lesson solved but for the answers of the bits of i, which are blank."""
    solved, blank = (
        json.loads((ROOT / which / f"{name}.ipynb").read_text(encoding="utf-8")) for which in ("solutions", "lessons")
    )
    answers = [k for k, cell in enumerate(solved["cells"]) if cell["source"] != blank["cells"][k]["source"]]
    for bit, at in enumerate(answers):
        if i >> bit & 1:
            solved["cells"][at]["source"] = blank["cells"][at]["source"]
    return json.dumps(solved)


def hand_in(base, students):
    """canvas.zip, moodle/ and github/ with the notebooks of a class, and roster.csv."""
    laplace, gdp = course.lesson(2).name, course.lesson(3).name
    with zipfile.ZipFile(base / "canvas.zip", "w", zipfile.ZIP_DEFLATED) as canvas:
        for i in range(students):
            number, content = f"1{i:03}", notebook(laplace, i)
            when = (2026, 10, 3 if i == LATE else 1, 12, 0, 0)
            if i == PDF:
                canvas.writestr(zipfile.ZipInfo(f"leekim{i}_{number}_98{i:03}_answers.pdf", when), b"%PDF-1.4")
            elif i != NOBODY:
                name = CANVAS.format(i, "LATE_" if i == LATE else "", number)
                canvas.writestr(zipfile.ZipInfo(name, when), content, zipfile.ZIP_DEFLATED)
            if i == TWICE:
                canvas.writestr(
                    zipfile.ZipInfo(f"leekim{i}_{number}_99{i:03}_02-laplace-1.ipynb", when), notebook(laplace, 0)
                )
    for i in range(students):
        folder = base / "moodle" / "submissions" / MOODLE.format(i)  # one folder deeper than the command is given
        folder.mkdir(parents=True)
        (folder / f"{gdp}.ipynb").write_text(notebook(gdp, i), encoding="utf-8")
        repository = base / "github" / f"homework-leekim{i}"
        (repository / ".git").mkdir(parents=True)
        for lesson in (laplace, gdp):
            (repository / f"{lesson}.ipynb").write_text(notebook(lesson, i), encoding="utf-8")
    with open(base / "roster.csv", "w", newline="", encoding="utf-8") as file:
        rows = [("student", "ID", "login")] + [(f"Lee Kim{i}", f"1{i:03}", f"leekim{i}") for i in range(students)]
        csv.writer(file).writerows(rows)


class Term:
    """Runs commands, and prints a line for each."""

    def __init__(self, base):
        self.base, self.begun = base, time.monotonic()

    def do(self, what, *arguments, status=0, then=lambda told: True):
        """Run `dpcourse` with these arguments; it must end with that status, and then(what it said) must hold."""
        begun = time.monotonic()
        code = "from dpcourse.commands import app; app()"
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True, text=True, cwd=self.base, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        )  # fmt: skip
        told = done.stdout + done.stderr
        print(f"{time.monotonic() - begun:7.1f} s  {what}: dpcourse {' '.join(map(str, arguments))}", flush=True)
        if done.returncode != status or not then(told):
            sys.exit(f"status {done.returncode}, not {status}, or not what it should say:\n{told}")
        return told

    def lines(self, name, out="grades"):
        """A table of the grades, as dicts."""
        with open(self.base / out / name, newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def score(self, student, lesson, out="grades"):
        """The score in gradebook.csv, as text."""
        return next(
            row["score"]
            for row in self.lines("gradebook.csv", out)
            if row["student"] == student and row["lesson"].startswith(lesson)
        )


def live(term, students):
    """The whole term."""
    do = term.do
    me, late, twice, whole, of_a_pdf = (f"Lee Kim{i}_1{i:03}" for i in (1, LATE, TWICE, 0, PDF))
    roster = ("--roster", "roster.csv")
    do("give out", "release", "handout", "--lesson", 2, "--lesson", 3, "--course", ROOT)
    do(
        "grade what Canvas gives, one zip",
        "grade",
        "canvas.zip",
        *roster,
        status=1,
        then=lambda told: f"Not graded: {of_a_pdf}" in told,
    )
    assert len({row["student"] for row in term.lines("gradebook.csv")}) == students
    do("grade what Moodle gives, one folder deeper", "grade", "moodle", "--out", "of-moodle")
    do("grade what GitHub Classroom gives", "grade", "github", "--out", "of-github", *roster)
    for out, lessons in (("of-moodle", 1), ("of-github", 2)):
        assert len(term.lines("gradebook.csv", out)) == lessons * students
    assert term.score(twice, "02") == term.score(whole, "02"), "the newer one counts"
    do(
        "the same again: nothing is run",
        "grade",
        "canvas.zip",
        *roster,
        "--json",
        status=1,
        then=lambda told: '"graded_now": 0' in told,
    )
    do("an appeal", "grade", "--explain", me, "2.1", then=lambda told: "2.1" in told)
    before = float(term.score(me, "02"))
    do("a mark by hand", "grade", "--override", me, "2.1", 1, "shown on paper", status=1)
    do("a bonus", "grade", "--bonus", me, 2, 1, "found a mistake", status=1)
    do("what was set by hand", "grade", "--overrides", then=lambda told: "shown on paper" in told)
    assert float(term.score(me, "02")) == before + 2
    do("taken back", "grade", "--undo", me, "2.1", status=1)
    do("a mark for who handed in a PDF", "grade", "--override", of_a_pdf, "2.1", 1, "handed in as a PDF", status=1)
    full = float(term.score(late, "02"))
    settings = term.base / "course.toml"
    settings.write_text(do("the settings", "grade", "--settings"), encoding="utf-8")
    settings.write_text(
        'excluded = ["2.4"]\n[points]\n"2.1" = 4\n[late]\nshare = 0.1\n[lessons.2]\ndeadline = 2026-10-01T23:59:00\n'
    )
    do("exclude, double", "grade", status=1, then=lambda told: "moved" in told)
    assert float(term.score(late, "02")) != full
    for i, when in ((0, "2026-10-01 12:00:00 UTC"), (LATE, "2026-10-03 12:00:00 UTC")):
        folder = term.base / "of-a-hub" / "submitted" / f"lee{i}" / "02-laplace"
        folder.mkdir(parents=True)
        (folder / "02-laplace.ipynb").write_text(notebook("02-laplace", 0), encoding="utf-8")
        (folder / "timestamp.txt").write_text(when, encoding="utf-8")
    do("late work, from nbgrader, which tells the time", "grade", "of-a-hub", "--out", "of-nbgrader")
    assert float(term.score(f"lee{LATE}", "02", "of-nbgrader")) < float(term.score("lee0", "02", "of-nbgrader"))
    with open(settings, "a", encoding="utf-8") as file:
        file.write(f"[extensions.lee{LATE}]\n2 = 2026-10-09\n")
    do("more time for a student", "grade", "--out", "of-nbgrader", then=lambda told: "moved" in told)
    assert term.score(f"lee{LATE}", "02", "of-nbgrader") == term.score("lee0", "02", "of-nbgrader")
    names = {row["misconception"] for row in term.lines("marks.csv")} - {""}
    print(
        f"           misconceptions in marks.csv: {len(names)}; moved marks in changes.csv: {len(term.lines('changes.csv'))}"
    )
    for name in (
        "grades/report.html",
        "grades/canvas-02.csv",
        "grades/feedback-02.zip",
        "of-moodle/moodle-03.csv",
        "of-moodle/feedback-03.zip",
    ):
        assert (term.base / name).stat().st_size, name
    do("a second machine", "grade", "github", "--lesson", 3, *roster, "--out", "other", "--seed-file", secret(term))
    do("its results taken over", "grade", "--merge", "other", status=1)
    assert term.score(me, "03")
    do("a secret exam: made", "new-pack", "exam")
    do("a secret exam: built", "build", "--pack", "exam")
    do("a secret exam: given out", "release", "exam-handout", "--pack", "exam", "--course", ROOT)
    handed_in = term.base / "exams" / "Lee Kim1.ipynb"
    handed_in.parent.mkdir()
    shutil.copy(
        next((term.base / "exam").rglob("solutions/*.ipynb"), None) or next((term.base / "exam").rglob("*.ipynb")),
        handed_in,
    )
    do("a secret exam: graded", "grade", "exams", "--pack", "exam", "--out", "exam-grades")
    anonymous = term.base / "anonymous" / "anon_ab1cd_98765_02-laplace.ipynb"
    anonymous.parent.mkdir()
    anonymous.write_text(notebook(course.lesson(2).name, 0), encoding="utf-8")
    do("an anonymous one of Canvas", "grade", "anonymous", "--out", "anonymous-grades")
    do("forgotten", "grade", "--forget", me, status=1)
    assert me not in (term.base / "grades" / "gradebook.csv").read_text(encoding="utf-8")


def secret(term):
    """The secret of the first machine, for the second."""
    import sqlite3

    file = term.base / "secret"
    with sqlite3.connect(term.base / "grades" / "grades.sqlite") as database:
        file.write_text(database.execute("SELECT value FROM about WHERE name = 'secret'").fetchone()[0])
    return file


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--students", type=int, default=60)
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="term-") as folder:
        hand_in(Path(folder), options.students)
        live(Term(Path(folder)), options.students)


if __name__ == "__main__":
    main()
