"""The results of a class, in one SQLite file: each submission in one transaction, overrides beside them."""

import contextlib
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from dpcourse import course
from dpcourse.engine import ERROR
from dpcourse.grading.collect import Submission
from dpcourse.grading.result import INFRASTRUCTURE, Result, from_json, total, without_points

DATABASE = "grades.sqlite"
PATIENCE = 5

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
    student TEXT, lesson INTEGER, file TEXT NOT NULL, digest TEXT NOT NULL, grader TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (student, lesson)
);
CREATE TABLE IF NOT EXISTS overrides (
    student TEXT, exercise TEXT, points REAL NOT NULL, reason TEXT NOT NULL, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (student, exercise)
);
"""


@dataclass(frozen=True)
class Row:
    """A stored result: whose, of what, and the result itself with the overrides applied."""

    student: str
    lesson: int
    file: str
    digest: str
    grader: str
    result: Result


@contextlib.contextmanager
def opened(out: Path) -> Iterator["Store"]:
    """The Store in an output folder, held by one grader at a time. Raises filelock.Timeout where another has it."""
    out.mkdir(parents=True, exist_ok=True)
    (out / DATABASE).touch(mode=0o600)  # it holds the secret
    with FileLock(out / ".lock", timeout=PATIENCE), Store(out / DATABASE) as store:
        yield store


class Store:
    """The results in a file, which is made where there is none; close it, or use it in a `with` statement."""

    def __init__(self, file: Path | str):
        self.database = sqlite3.connect(file, isolation_level=None, timeout=60)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.executescript(SCHEMA)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.database.close()

    def secret(self, given: str | None = None) -> bytes:
        """The secret from which hidden inputs are drawn: the given text, from now on, or one made at the first use."""
        if given is not None:
            self.database.execute("INSERT OR REPLACE INTO about VALUES ('secret', ?)", [given])
        fresh = secrets.token_hex(32)
        self.database.execute("INSERT OR IGNORE INTO about VALUES ('secret', ?)", [fresh])
        return self.database.execute("SELECT value FROM about WHERE name = 'secret'").fetchone()[0].encode()

    def is_settled(self, submission: Submission, grader: str) -> bool:
        """Whether this very submission has been graded, by this very grader, and not failed through a fault of ours."""
        found = self.database.execute(
            "SELECT result FROM results WHERE student = ? AND lesson = ? AND digest = ? AND grader = ?",
            [submission.student, submission.lesson, submission.digest, grader],
        ).fetchone()
        return found is not None and from_json(found[0]).status != INFRASTRUCTURE

    def save(self, submission: Submission, grader: str, result: Result) -> None:
        """Store a result, in place of an earlier one."""
        self.database.execute(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)",
            [submission.student, submission.lesson, submission.file, submission.digest, grader, result.as_json()],
        )

    def rows(self, student: str | None = None) -> Iterator[Row]:
        """All results, or one student's, in the order of students and lessons."""
        overrides = self.overrides()
        where, values = ("WHERE student = ?", [student]) if student is not None else ("", [])
        found = self.database.execute(f"SELECT * FROM results {where} ORDER BY student, lesson", values)
        for name, lesson, file, digest, grader, text in found.fetchall():
            result = _overridden(from_json(text), lesson, overrides.get(name, {}))
            yield Row(name, lesson, file, digest, grader, result)

    def override(self, student: str, exercise: str, points: float, reason: str) -> None:
        """Set the points of one exercise of one student by hand; stays through every regrading."""
        self.database.execute(
            "INSERT OR REPLACE INTO overrides (student, exercise, points, reason) VALUES (?, ?, ?, ?)",
            [student, exercise, points, reason],
        )

    def overrides(self) -> dict[str, dict[str, tuple[float, str]]]:
        """student -> exercise -> (points, reason)."""
        found: dict[str, dict[str, tuple[float, str]]] = {}
        for student, exercise, points, reason in self.database.execute(
            "SELECT student, exercise, points, reason FROM overrides"
        ):
            found.setdefault(student, {})[exercise] = (points, reason)
        return found


def _overridden(result, lesson, overrides):
    """The result with the points that were set by hand. A submission that was not graded gets a score only by them."""
    mine = {exercise: given for exercise, given in overrides.items() if exercise.split(".")[0] == str(lesson)}
    if not mine:
        return result
    marks = {mark.id: mark for mark in result.exercises}
    for id, (points, reason) in mine.items():
        mark = marks.get(id) or without_points(course.find(id), ERROR, "It was not judged.")
        marks[id] = replace(mark, points=points, override=reason)
    in_order = tuple(sorted(marks.values(), key=lambda mark: [int(part) for part in mark.id.split(".")]))
    return replace(result, exercises=in_order, score=total(in_order))
