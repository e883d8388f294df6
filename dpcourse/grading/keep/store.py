"""The results of a class, in one SQLite file: each submission in one transaction, what is set by hand beside them.

A result holds what a submission is worth by itself. What comes to it from course.toml, and from what was set by hand, is
put to it where it is read, in `marking`; so it is never old.
"""

import contextlib
import hmac
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from dpcourse.base.languages import again, say
from dpcourse.grading import result as results
from dpcourse.grading.collect import Origin, Submission
from dpcourse.grading.keep import packed as stored
from dpcourse.grading.keep.database import COPY, columns, connected, copied
from dpcourse.grading.keep.packed import as_origin, as_time, handed_in, packed, read, unpacked, written
from dpcourse.grading.result import INFRASTRUCTURE, UNJUDGED, Result

DATABASE = "grades.sqlite"
PATIENCE = 5


@dataclass(frozen=True)
class ByHand:
    """What an instructor has set by hand: the points of an exercise, or, where none is named, of a whole lesson beside.

    points: None where it was taken back. out_of: the exercise's points at that time, None where that is not known.
    function: the exercise's, by which it is found when numbers have moved. made: when, as text in UTC.
    """

    student: str
    lesson: int
    exercise: str
    points: float | None
    out_of: float | None
    reason: str
    author: str
    made: str
    function: str = ""


@dataclass(frozen=True)
class Taken:
    """The points taken because something came late, which may be 0, and a sentence on it; by: how late, "" if unknown."""

    points: float
    says: str
    by: str = ""


@dataclass(frozen=True)
class Row:
    """A stored result: whose, of what, and the result itself; where `marking` has seen it, as it counts.

    submitted: when it was handed in, as far as that is known. said_late: whether the LMS calls it late. origin: what the
    platform said of it; None where an earlier edition has stored it, or nothing was handed in. stale: whether
    it is no longer in the folder that it came from. language: of the student, as the roster says, else of the notebook;
    "" where neither tells. due: until when it could be handed in; late: None where it was in time; extended: whether the
    student had more time; maximum: the points in the LMS to which the score is scaled, if it is; bonus and by_hand
    (exercise id -> ByHand): what is set by hand.
    """

    student: str
    lesson: int
    file: str
    digest: str
    grader: str
    result: Result
    submitted: datetime | None = None
    said_late: bool = False
    stale: bool = False
    language: str = ""
    due: datetime | None = None
    extended: bool = False
    late: Taken | None = None
    maximum: float | None = None
    bonus: ByHand | None = None
    by_hand: Mapping[str, ByHand] = field(default_factory=dict)
    origin: Origin | None = None


def spoken(row: Row) -> Row:
    """The row with its texts in the language that is chosen now."""
    late = row.late and replace(row.late, says=again(row.late.says), by=again(row.late.by) if row.late.by else "")
    return replace(row, result=results.again(row.result), late=late)


@contextlib.contextmanager
def opened(out: Path) -> Iterator["Store"]:
    """The Store in an output folder, for reading and for short changes, also while a run goes on in it."""
    out.mkdir(parents=True, exist_ok=True)
    (out / DATABASE).touch(mode=0o600)  # it holds the secret
    with Store(out / DATABASE) as store:
        yield store


def running(out: Path) -> FileLock:
    """What a run holds in its output folder. Entering it raises filelock.Timeout where another run has it."""
    return FileLock(out / ".lock", timeout=PATIENCE)


def writing(out: Path) -> FileLock:
    """What is held while the pages and tables are written, so that the last to write has read all that there is."""
    return FileLock(out / ".writing", timeout=60)


def now() -> str:
    """The time, as it is stored: in UTC, and in an order that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Store:
    """The results in a file, which is made where there is none; close it, or use it in a `with` statement.

    Raises database.Unusable where the file is damaged or of a later edition.
    """

    def __init__(self, file: Path | str):
        self.database = connected(file)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.database.close()

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """All changes in the block are made, or none."""
        if self.database.in_transaction:
            yield
            return
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # where the disk is full, SQLite has done it
                self.database.execute("ROLLBACK")
            raise

    def copy_to(self, out: Path) -> None:
        """Keep a copy of all in an output folder, which takes the database's place where that is damaged."""
        copied(self.database, out / COPY)

    # ---- what is known of the class

    def secret(self, given: str | None = None) -> bytes:
        """The secret from which hidden inputs are drawn: the given text, from now on, or one made at the first use."""
        if given is not None:
            self.remember("secret", given)
        self.database.execute("INSERT OR IGNORE INTO about VALUES ('secret', ?)", [secrets.token_hex(32)])
        return (self.recalled("secret") or "").encode()

    def remember(self, name: str, value: str) -> None:
        """Keep one thing about the class."""
        self.database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [name, value])

    def recalled(self, name: str) -> str | None:
        """What was kept under that name."""
        found = self.database.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return found[0] if found else None

    def folders(self) -> list[str]:
        """The folders and archives from which results have come."""
        return [folder for (folder,) in self.database.execute("SELECT DISTINCT folder FROM results WHERE folder != ''")]

    # ---- results

    def to_judge(
        self, submission: Submission, grader: str, judges: Mapping[str, str], allowed: tuple[float, ...]
    ) -> set[str] | None:
        """Which exercises of a submission are to be judged anew; none where all stands; None where all is to be graded.

        grader: the fingerprint of what runs it. judges: exercise id -> the fingerprint of what judges it. allowed: the
        limits, as a result keeps them where one of them took a mark.
        """
        found = self.database.execute(
            "SELECT result FROM results WHERE student = ? AND lesson = ? AND digest = ? AND grader = ?",
            [submission.student, submission.lesson, submission.digest, grader],
        ).fetchone()
        result = read(found[0]) if found else None
        if result is None or result.status == INFRASTRUCTURE or result.limits not in ((), allowed):
            return None
        if not result.exercises:
            return set()
        judged = self.judged(submission.student, submission.lesson)
        failed = {mark.id for mark in result.exercises if mark.state == UNJUDGED}
        return {id for id, judge in judges.items() if id in failed or judged.get(id) != judge}

    def save(
        self,
        submission: Submission,
        grader: str,
        result: Result,
        judges: Mapping[str, str] | None = None,
        evidence: Mapping[str, tuple] | None = None,
        code: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> None:
        """Store a result, in place of an earlier one, with what each exercise was judged by, from, and on which code."""
        each, key = submission, [submission.student, submission.lesson]
        with self.at_once():
            for table in ("results", "answers"):
                self.database.execute(f"DELETE FROM {table} WHERE student = ? AND lesson = ?", key)
            submitted, late, origin = handed_in(each)
            values = [each.file, each.digest, grader, result.as_json(), folder, submitted, late, 1, now(), origin]
            marks = ", ".join("?" * len([*key, *values]))
            self.database.execute(f"INSERT INTO results ({columns('results')}) VALUES ({marks})", [*key, *values])
            self._save_answers(key, judges or {}, evidence or {}, code or {})

    def save_again(
        self, submission: Submission, result: Result, judges: Mapping[str, str], evidence: Mapping[str, tuple]
    ) -> None:
        """Store the marks of some exercises that were judged anew; `judges` names these."""
        key = (submission.student, submission.lesson)
        code = self.answers(*key)
        with self.at_once():
            self.database.execute(
                "UPDATE results SET result = ?, graded = ? WHERE student = ? AND lesson = ?",
                [result.as_json(), now(), *key],
            )
            self._save_answers(key, judges, evidence, code)

    def _save_answers(self, key, judges, evidence, code):
        rows = [[*key, id, judge, packed(evidence.get(id)), code.get(id, "")] for id, judge in judges.items()]
        self.database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", rows)

    def seen(self, submissions: Iterable[Submission], folder: str, lesson: int | None = None) -> None:
        """Note what is in a folder now: the rest that came from there is stale. lesson: the only one looked for."""
        where, values = ("AND lesson = ?", [lesson]) if lesson is not None else ("", [])
        with self.at_once():
            self.database.execute(f"UPDATE results SET here = 0 WHERE folder = ? {where}", [folder, *values])
            self.database.executemany(
                "UPDATE results SET here = 1, folder = ?, file = ?, submitted = ?, said_late = ?, origin = ? "
                "WHERE student = ? AND lesson = ? AND digest = ?",
                [(folder, s.file, *handed_in(s), s.student, s.lesson, s.digest) for s in submissions],
            )

    def set_missing(self, students: Iterable[str], lessons: Iterable[int]) -> None:
        """Note who is in the roster: in these lessons, whoever of them has no result is missing, and nobody else."""
        with self.at_once():
            for lesson in lessons:
                gone = "DELETE FROM results WHERE lesson = ? AND file = '' AND digest = ''"
                self.database.execute(gone, [lesson])
                text = results.missing(lesson).as_json()
                self.database.executemany(
                    "INSERT OR IGNORE INTO results (student, lesson, file, digest, grader, result) VALUES (?, ?, '', '', '', ?)",
                    [(student, lesson, text) for student in students],
                )

    def set_languages(self, students: Iterable[str], languages: Mapping[str, str]) -> None:
        """Note which languages a roster says of its students: of the others among them it says none any more."""
        with self.at_once():
            self.database.executemany("DELETE FROM students WHERE student = ?", [(student,) for student in students])
            noted = [(student, language, now()) for student, language in languages.items()]
            self.database.executemany("INSERT OR REPLACE INTO students VALUES (?, ?, ?)", noted)

    def languages(self) -> dict[str, str]:
        """student -> the language that the roster says."""
        return dict(self.database.execute("SELECT student, language FROM students").fetchall())

    def result(self, submission: Submission) -> Result | None:
        """What is stored of this very content; None where nothing is, or it is damaged."""
        found = self.database.execute(
            "SELECT result FROM results WHERE student = ? AND lesson = ? AND digest = ?",
            [submission.student, submission.lesson, submission.digest],
        ).fetchone()
        return read(found[0]) if found else None

    def rows(self, student: str | None = None) -> Iterator[Row]:
        """All results as they are stored, or one student's, in the order of students and lessons."""
        where, values = ("WHERE student = ?", [student]) if student is not None else ("", [])
        query = f"SELECT {columns('results')} FROM results {where} ORDER BY student, lesson"
        languages = self.languages()
        for row in self.database.execute(query, values).fetchall():
            name, lesson, file, digest, grader, text, _, submitted, late, here, _, origin = row
            result = read(text) or Result(INFRASTRUCTURE, (say("what was stored of it is damaged"),), None, 0)
            time, told, language = as_time(submitted), as_origin(origin), languages.get(name) or result.language
            yield Row(name, lesson, file, digest, grader, result, time, bool(late), not here, language, origin=told)

    def answers(self, student: str, lesson: int) -> dict[str, str]:
        """exercise id -> the code of the cells that define the student's answer, as far as it was kept."""
        query = "SELECT exercise, code FROM answers WHERE student = ? AND lesson = ?"
        return dict(self.database.execute(query, [student, lesson]).fetchall())

    def evidence(self, student: str, lesson: int) -> dict[str, tuple]:
        """exercise id -> the outcomes of each probe, as submission.judged_again takes them."""
        query = "SELECT exercise, evidence FROM answers WHERE student = ? AND lesson = ?"
        found = {id: unpacked(blob) for id, blob in self.database.execute(query, [student, lesson])}
        return {id: probes for id, probes in found.items() if probes}

    # ---- what is set by hand

    def set_by_hand(self, given: ByHand) -> None:
        """Keep what an instructor has set, or has taken back; what was before stays in the history."""
        fields = asdict(given)
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        self.database.execute(f"INSERT OR IGNORE INTO by_hand ({names}) VALUES ({marks})", list(fields.values()))

    def by_hand(self) -> list[ByHand]:
        """All that was ever set by hand, the oldest first; of one student and exercise the last counts."""
        query = f"SELECT {columns('by_hand')} FROM by_hand ORDER BY made, author, points, reason"
        return [ByHand(*each) for each in self.database.execute(query).fetchall()]

    # ---- what was shown

    def judged(self, student: str, lesson: int) -> dict[str, str]:
        """exercise id -> the fingerprint of what judged it."""
        query = "SELECT exercise, judge FROM answers WHERE student = ? AND lesson = ?"
        return dict(self.database.execute(query, [student, lesson]).fetchall())

    def shown(self) -> list[tuple]:
        """(student, lesson, exercise, points, out_of, cause) of each mark that was shown."""
        return self.database.execute("SELECT * FROM shown").fetchall()

    def show(self, marks: Iterable[tuple]) -> None:
        """Note what is shown now, in place of what was."""
        with self.at_once():
            self.database.execute("DELETE FROM shown")
            self.database.executemany("INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?)", marks)

    def moves(self) -> list[tuple]:
        """(made, student, lesson, exercise, before, after, why) of each mark that has moved, the first first."""
        found = self.database.execute("SELECT * FROM moves ORDER BY made, student, lesson, exercise").fetchall()
        return [
            (*key, *map(stored.said, texts)) for *key, before, after, why in found for texts in [(before, after, why)]
        ]

    def add_moves(self, moves: Iterable[Any]) -> None:
        """Keep what has moved."""
        found = [[written(each) if isinstance(each, str) else each for each in vars(move).values()] for move in moves]
        self.database.executemany("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?)", found)

    # ---- forgetting

    def forget(self, student: str, author: str) -> int:
        """Remove all that is known of a student; returns how many results that were. A log says when, not whose."""
        with self.at_once():
            count = self._remove(student)
            entry = [self.mark_of(student), now(), author]
            self.database.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?)", entry)
        with contextlib.suppress(
            sqlite3.OperationalError
        ):  # somebody reads just now; what is deleted is overwritten anyway
            self.database.execute("VACUUM")
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def _remove(self, student):
        count = self.database.execute("SELECT count(*) FROM results WHERE student = ?", [student]).fetchone()[0]
        for table in ("results", "answers", "by_hand", "shown", "moves", "earlier", "students"):
            self.database.execute(f"DELETE FROM {table} WHERE student = ?", [student])
        return count

    def mark_of(self, student: str) -> str:
        """A student as the log names them: nobody can tell who it is without the secret."""
        return hmac.digest(self.secret(), student.encode(errors="surrogatepass"), "sha256").hex()
