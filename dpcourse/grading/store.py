"""The results of a class, in one SQLite file: each submission in one transaction, overrides beside them."""

import json
import secrets
import sqlite3
from dataclasses import dataclass

from dpcourse import course
from dpcourse.engine import ERROR, Verdict
from dpcourse.grading.grade import INFRASTRUCTURE, told

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
    result: dict


class Store:
    """The results in a file, which is made where there is none; close it, or use it in a `with` statement."""

    def __init__(self, file):
        self.database = sqlite3.connect(file, isolation_level=None, timeout=60)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.executescript(SCHEMA)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.database.close()

    def secret(self, given=None):
        """The secret from which hidden inputs are drawn: the given text, from now on, or one made at the first use."""
        if given is not None:
            self.database.execute("INSERT OR REPLACE INTO about VALUES ('secret', ?)", [given])
        fresh = secrets.token_hex(32)
        self.database.execute("INSERT OR IGNORE INTO about VALUES ('secret', ?)", [fresh])
        return self.database.execute("SELECT value FROM about WHERE name = 'secret'").fetchone()[0].encode()

    def is_settled(self, submission, grader):
        """Whether this very submission has been graded, by this very grader, and not failed through a fault of ours."""
        found = self.database.execute(
            "SELECT result FROM results WHERE student = ? AND lesson = ? AND digest = ? AND grader = ?",
            [submission.student, submission.lesson, submission.digest, grader],
        ).fetchone()
        return found is not None and json.loads(found[0])["status"] != INFRASTRUCTURE

    def save(self, submission, grader, result):
        """Store a result, in place of an earlier one."""
        self.database.execute(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)",
            [submission.student, submission.lesson, submission.file, submission.digest, grader, json.dumps(result)],
        )

    def rows(self, student=None):
        """All results, or one student's, in the order of students and lessons."""
        overrides = self.overrides()
        where, values = ("WHERE student = ?", [student]) if student is not None else ("", [])
        for row in self.database.execute(f"SELECT * FROM results {where} ORDER BY student, lesson", values).fetchall():
            result = json.loads(row[-1])
            yield Row(*row[:-1], _overridden(result, row[1], overrides.get(row[0], {})))

    def override(self, student, exercise, points, reason):
        """Set the points of one exercise of one student by hand; stays through every regrading."""
        self.database.execute(
            "INSERT OR REPLACE INTO overrides (student, exercise, points, reason) VALUES (?, ?, ?, ?)",
            [student, exercise, points, reason],
        )

    def overrides(self):
        """student -> exercise -> (points, reason)."""
        found = {}
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
    known = {verdict["id"]: verdict for verdict in result["exercises"]}
    for exercise, (points, reason) in mine.items():
        verdict = known.setdefault(exercise, told(Verdict(course.find(exercise), ERROR, "It was not judged.")))
        verdict.update(points=points, override=reason)
    verdicts = sorted(known.values(), key=lambda verdict: [int(part) for part in verdict["id"].split(".")])
    return result | {"exercises": verdicts, "score": sum(verdict["points"] for verdict in verdicts)}
