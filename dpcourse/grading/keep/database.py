"""The SQLite file of a class: made, opened in an older edition, and told in a sentence where it cannot be used."""

import contextlib
import functools
import shutil
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import NoneType

from filelock import FileLock, Timeout

from dpcourse.base.languages import say, to_say

EDITION = 3
WAITS = 30  # seconds, while another process writes
NEEDED = 2**20  # bytes: of a disk with less, an error of reading or writing says that it is full
SMALLEST = 4096  # bytes of a database: one page

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
    student TEXT, lesson INTEGER, file TEXT NOT NULL, digest TEXT NOT NULL, grader TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (student, lesson)
);
CREATE TABLE IF NOT EXISTS answers (
    student TEXT, lesson INTEGER, exercise TEXT, judge TEXT NOT NULL, evidence BLOB, code TEXT NOT NULL,
    PRIMARY KEY (student, lesson, exercise)
);
CREATE TABLE IF NOT EXISTS by_hand (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, function TEXT NOT NULL, points REAL,
    out_of REAL, reason TEXT NOT NULL, author TEXT NOT NULL, made TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS by_hand_once
    ON by_hand (student, lesson, exercise, function, ifnull(points, ''), ifnull(out_of, ''), reason, author, made);
CREATE TABLE IF NOT EXISTS shown (
    student TEXT, lesson INTEGER, exercise TEXT, points REAL, out_of REAL, cause TEXT NOT NULL,
    PRIMARY KEY (student, lesson, exercise)
);
CREATE TABLE IF NOT EXISTS moves (
    made TEXT NOT NULL, student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, before TEXT NOT NULL,
    after TEXT NOT NULL, why TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS earlier (
    student TEXT, lesson INTEGER, digest TEXT, row TEXT NOT NULL, PRIMARY KEY (student, lesson, digest)
);
CREATE TABLE IF NOT EXISTS students (student TEXT PRIMARY KEY, language TEXT NOT NULL, noted TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS forgotten (who TEXT PRIMARY KEY, made TEXT NOT NULL, author TEXT NOT NULL);
"""

TEXT, MAYBE_TEXT, MAYBE_NUMBER = (str,), (str, NoneType), (int, float, NoneType)
KINDS: dict[str, dict[str, tuple]] = {  # table -> column -> what Python gives for it; anything else is damage
    "results": {
        "student": TEXT, "lesson": (int,), "file": TEXT, "digest": TEXT, "grader": TEXT, "result": TEXT, "folder": TEXT,
        "submitted": MAYBE_TEXT, "said_late": (int,), "here": (int,), "graded": TEXT, "origin": TEXT,
    },
    "answers": {
        "student": TEXT, "lesson": (int,), "exercise": TEXT, "judge": TEXT, "evidence": (bytes, NoneType), "code": TEXT,
    },
    "earlier": {"student": TEXT, "lesson": (int,), "digest": TEXT, "row": TEXT},
    "by_hand": {
        "student": TEXT, "lesson": (int,), "exercise": TEXT, "points": MAYBE_NUMBER, "out_of": MAYBE_NUMBER,
        "reason": TEXT, "author": TEXT, "made": TEXT, "function": TEXT,
    },
    "students": {"student": TEXT, "language": TEXT, "noted": TEXT},
    "forgotten": {"who": TEXT, "made": TEXT, "author": TEXT},
}  # fmt: skip

NEW_COLUMNS = {  # of results, since the first edition
    "folder": "TEXT NOT NULL DEFAULT ''",
    "submitted": "TEXT",
    "said_late": "INTEGER NOT NULL DEFAULT 0",
    "here": "INTEGER NOT NULL DEFAULT 1",
    "graded": "TEXT NOT NULL DEFAULT ''",
    "origin": "TEXT NOT NULL DEFAULT ''",  # since the third
}

FIRST_OVERRIDES = """
INSERT OR IGNORE INTO by_hand (student, lesson, exercise, function, points, out_of, reason, author, made)
    SELECT student, CAST(exercise AS INTEGER), exercise, '', points, NULL, reason, '', replace(made, ' ', 'T') || '+00:00'
    FROM overrides;
DROP TABLE overrides;
"""


HEADER = b"SQLite format 3\0" + bytes([16, 0, 2, 2, 0, 64, 32, 32])
"""With what a database of ours begins: its kind, pages of 4096 bytes, a log beside it (sqlite.org/fileformat2.html, 1.3)."""

FULL = to_say("The disk is full. Nothing that was graded before is lost: make room, and the same command goes on.")


class Unusable(Exception):
    """A database that cannot be used; says why, and what to do."""


def connected(file: Path | str) -> sqlite3.Connection:
    """A connection to a database of this edition; one of an earlier edition becomes one. Raises Unusable, sqlite3.Error."""
    connection = sqlite3.connect(file, isolation_level=None, timeout=WAITS)
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")  # a damaged row stops nothing
    try:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA synchronous=FULL")
        edition = connection.execute("PRAGMA user_version").fetchone()[0]
        if edition > EDITION:
            raise Unusable(say("{file} was written by a later edition of dpcourse: use that one.", file=file))
        if edition < EDITION:
            connection.execute("PRAGMA journal_mode=WAL")
            _brought_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _brought_up(connection):
    """Make a new or an old database one of this edition, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] < EDITION:  # nobody else has done it meanwhile
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        names = {name for _, name, *_ in connection.execute("PRAGMA table_info(results)")}
        for name, kind in NEW_COLUMNS.items():
            if name not in names:
                connection.execute(f"ALTER TABLE results ADD COLUMN {name} {kind}")
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'overrides'").fetchone():
            for statement in FIRST_OVERRIDES.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {EDITION}")
    connection.execute("COMMIT")


def columns(table: str) -> str:
    """The names of a table's columns, for a query.

    >>> columns("forgotten")
    'who, made, author'
    """
    return ", ".join(KINDS[table])


def is_whole(table: str, row: Sequence) -> bool:
    """Whether a row, with the columns in this order, holds in each what belongs there."""
    return len(row) == len(KINDS[table]) and all(map(isinstance, row, KINDS[table].values()))


def mended_header(file: Path) -> bool:
    """Give a database the beginning that it must have, where it has another; returns whether it had."""
    with file.open("r+b") as stream:
        if stream.read(16) == HEADER[:16] or file.stat().st_size < SMALLEST:
            return False
        stream.seek(0)
        stream.write(HEADER)
        return True


def put_aside(file: Path) -> Path:
    """Move a damaged database out of the way; returns where it is now. Nothing of it is changed."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    aside = file.with_name(f"{file.name}.damaged-{stamp}")
    for ending in ("", "-wal", "-shm"):
        part = file.with_name(file.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside


def told(error: sqlite3.Error, file: Path, alone: FileLock) -> str:
    """What to say of an error of SQLite, and what to do; a damaged file is put aside if no run goes on in its folder."""
    reason = str(error)
    if is_damaged(error):
        with contextlib.suppress(Timeout), alone.acquire(timeout=0):
            aside = put_aside(file)
            return say(
                "{file} is damaged ({reason}), and was put aside: {name}. `dpcourse grade --merge {aside} --out {folder}` "
                "takes over what can be read of it; then grade again.",
                file=file,
                reason=reason,
                name=aside.name,
                aside=aside,
                folder=file.parent,
            )
    if "full" in reason or ("I/O" in reason and shutil.disk_usage(file.parent).free < NEEDED):
        return say(FULL)
    if "locked" in reason:
        return say(
            "{file} is locked by another program ({reason}): close it, and give the command again.",
            file=file,
            reason=reason,
        )
    if "readonly" in reason or "unable to open" in reason:
        return say("{file} cannot be written: make it and its folder yours to write, or name another --out.", file=file)
    return say("{file} cannot be used: {reason}.", file=file, reason=reason)


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether an error says that the file itself is damaged, or is no database."""
    return error.__class__ is sqlite3.DatabaseError
