"""The SQLite file of a class: made, opened in an older edition, and told in a sentence where it cannot be used."""

import contextlib
import functools
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from dpcourse.base.files import replaced
from dpcourse.base.languages import say, to_say

EDITION = 4
WAITS = 30  # seconds, while another process writes
NEEDED = 2**20  # bytes: of a disk with less, an error of reading or writing says that it is full
COPY = "grades-copy.sqlite"

SCHEMA = """
CREATE TABLE about (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE results (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL, grader TEXT NOT NULL,
    result TEXT NOT NULL, folder TEXT NOT NULL DEFAULT '', submitted TEXT, said_late INTEGER NOT NULL DEFAULT 0,
    here INTEGER NOT NULL DEFAULT 1, graded TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (student, lesson)
) STRICT;
CREATE TABLE answers (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, judge TEXT NOT NULL, evidence BLOB,
    code TEXT NOT NULL, PRIMARY KEY (student, lesson, exercise)
) STRICT;
CREATE TABLE by_hand (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, function TEXT NOT NULL, points REAL,
    out_of REAL, reason TEXT NOT NULL, author TEXT NOT NULL, made TEXT NOT NULL
) STRICT;
CREATE TABLE shown (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, points REAL, out_of REAL,
    cause TEXT NOT NULL, PRIMARY KEY (student, lesson, exercise)
) STRICT;
CREATE TABLE moves (
    made TEXT NOT NULL, student TEXT NOT NULL, lesson INTEGER NOT NULL, exercise TEXT NOT NULL, before TEXT NOT NULL,
    after TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE TABLE earlier (
    student TEXT NOT NULL, lesson INTEGER NOT NULL, digest TEXT NOT NULL, row TEXT NOT NULL,
    PRIMARY KEY (student, lesson, digest)
) STRICT;
CREATE TABLE students (student TEXT NOT NULL PRIMARY KEY, language TEXT NOT NULL, noted TEXT NOT NULL) STRICT;
CREATE TABLE forgotten (who TEXT NOT NULL PRIMARY KEY, made TEXT NOT NULL, author TEXT NOT NULL) STRICT;
DROP INDEX IF EXISTS by_hand_once;
CREATE UNIQUE INDEX by_hand_once
    ON by_hand (student, lesson, exercise, function, ifnull(points, ''), ifnull(out_of, ''), reason, author, made)
"""
"""STRICT and NOT NULL say what a value may be, so that SQLite's own check finds one that is damaged."""

COLUMNS = {  # of the tables that another machine can take over
    "results": "student lesson file digest grader result folder submitted said_late here graded origin",
    "answers": "student lesson exercise judge evidence code",
    "earlier": "student lesson digest row",
    "by_hand": "student lesson exercise points out_of reason author made function",
    "students": "student language noted",
    "forgotten": "who made author",
}

COPY_IN_ITS_PLACE = to_say(
    "{file} is damaged ({reason}), and was put aside: {name}. Its copy of {time} is in its place: give the same command again."
)
NO_COPY = to_say("{file} is damaged ({reason}), and was put aside: {name}. There is no copy of it: grade again.")
FULL = to_say("The disk is full. Nothing that was graded before is lost: make room, and the same command goes on.")


class Unusable(Exception):
    """A database that cannot be used; says why, and what to do."""


def connected(file: Path | str) -> sqlite3.Connection:
    """A connection to a whole database of this edition; one of an earlier edition becomes one.

    Raises Unusable; sqlite3.Error, which is_damaged where SQLite finds the file damaged, or a value where none may be.
    """
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
            _brought_up(connection, file)
        if (found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"database disk image is malformed: {found}")
    except BaseException:
        connection.close()
        raise
    return connection


def _brought_up(connection, file):
    """Make a new or an old database one of this edition: its tables are made, and what old ones hold is put into them."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] < EDITION:  # nobody else has done it meanwhile
        old = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
        if "overrides" in old:
            raise Unusable(
                say(
                    "{file} was written by the first edition of dpcourse: grade with that one, or begin with an empty --out.",
                    file=file,
                )
            )
        for name in old:
            connection.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        for name in old:
            same = ", ".join(each for _, each, *_ in connection.execute(f"PRAGMA table_info(old_{name})"))
            connection.execute(f"INSERT INTO {name} ({same}) SELECT {same} FROM old_{name}")
            connection.execute(f"DROP TABLE old_{name}")
        connection.execute(f"PRAGMA user_version = {EDITION}")
    connection.execute("COMMIT")


def columns(table: str) -> str:
    """The names of a table's columns, for a query.

    >>> columns("forgotten")
    'who, made, author'
    """
    return ", ".join(COLUMNS[table].split())


def copied(database: sqlite3.Connection, file: Path) -> None:
    """Make a file the copy of a database as it is now. Raises sqlite3.Error, OSError; then what was there stays."""
    with replaced(file, mode=0o600) as stream, contextlib.closing(sqlite3.connect(stream.name)) as copy:
        database.backup(copy)


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
    """What to say of an error of SQLite, and what to do.

    Where no run goes on in its folder, a damaged file is put aside, and its copy takes its place.
    """
    reason = str(error)
    if is_damaged(error):
        with contextlib.suppress(Timeout), alone.acquire(timeout=0):
            aside, copy = put_aside(file), file.with_name(COPY)
            made = _restored(file, copy)
            told = COPY_IN_ITS_PLACE if made else NO_COPY
            return say(told, file=file, reason=reason, name=aside.name, time=made)
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


def _restored(file, copy):
    """Put the copy of a database in its place; returns when it was made, "" where there is none that is whole."""
    if not (copy.is_file() and copy.stat().st_size):
        return ""
    try:
        with contextlib.closing(connected(copy)) as whole:
            copied(whole, file)
    except (Unusable, sqlite3.Error):
        return ""
    return f"{datetime.fromtimestamp(copy.stat().st_mtime):%Y-%m-%d %H:%M}"


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether an error says that the file itself is damaged, or is no database."""
    return error.__class__ is sqlite3.DatabaseError
