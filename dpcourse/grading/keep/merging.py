"""Take over what another machine has graded: nothing is lost, and it does not matter which machine takes over which.

Of two results for one student and lesson the later counts: the one handed in later, then the one graded later. Where
they are of different notebooks the other is kept beside, as `earlier`. All that was set by hand on either counts, in the
order in which it was set; and who was forgotten on one is forgotten on both.
"""

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection

from dpcourse.grading.collect import origin
from dpcourse.grading.keep.database import Unusable, is_damaged
from dpcourse.grading.keep.packed import read
from dpcourse.grading.keep.store import COLUMNS, DATABASE, ByHand, Store
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, UNREADABLE

NAMES = COLUMNS.split(", ")


@dataclass
class _Class:
    """All that a store knows and another can take over. earlier: (student, lesson, digest) -> the row as text."""

    results: dict[tuple, dict] = field(default_factory=dict)
    answers: dict[tuple, list[tuple]] = field(default_factory=dict)
    earlier: dict[tuple, str] = field(default_factory=dict)
    by_hand: list[ByHand] = field(default_factory=list)
    forgotten: dict[str, tuple] = field(default_factory=dict)


def merge(store: Store, other: Path) -> list[str]:
    """Put all that the database of another machine holds beside what is here; a sentence on each conflict.

    other: its output folder, or its database; that is not changed. Raises ValueError where it is no such thing, or has
    drawn its inputs from another secret; OSError.
    """
    with _copied(other / DATABASE if other.is_dir() else other) as theirs:
        secret, yours = theirs.recalled("secret"), _all_of(theirs, _readable)
    with store.at_once():
        _agree_on_the_secret(store, secret, other)
        mine = _all_of(store, Connection.execute)
        said = list(_conflicts(store, mine, yours))
        _put(store, _both(store, mine, yours))
    new = len(yours.results.keys() - mine.results.keys())
    return [f"From {other}: {new} new of {len(yours.results)} results.", *said]


@contextlib.contextmanager
def _copied(file: Path) -> Iterator[Store]:
    """A Store that is a copy of a database, so that the file itself is only read."""
    if not file.is_file():
        raise ValueError(f"{file} is no database of grades: name a folder that `dpcourse grade --out` has filled.")
    with tempfile.TemporaryDirectory(prefix="dpcourse-merge-") as folder:
        for ending in ("", "-wal"):
            if (part := file.with_name(file.name + ending)).is_file():
                shutil.copyfile(part, Path(folder, DATABASE + ending))
        try:
            with Store(Path(folder, DATABASE)) as store:
                yield store
        except Unusable:
            raise
        except sqlite3.DatabaseError as error:
            if is_damaged(error):
                raise ValueError(f"{file} cannot be read: {error}.") from None
            raise


def _agree_on_the_secret(store, yours, other):
    mine = store.recalled("secret")
    if mine == yours or yours is None:
        return
    if mine is not None and next(store.rows(), None) is not None:
        raise ValueError(
            f"{other} has drawn its inputs from another secret: marks of both would not be of one kind. "
            "Grade on both machines with the same --seed-file, or merge into an empty --out."
        )
    store.remember("secret", yours)


def _all_of(store, rows_of: Callable[[Connection, str], Iterable[tuple]]) -> _Class:
    """All that a store holds. rows_of(database, query): the rows that a query gives."""
    database, found = store.database, _Class()
    for row in rows_of(database, f"SELECT {COLUMNS} FROM results"):
        found.results[row[:2]] = dict(zip(NAMES, row, strict=True))
    for row in rows_of(database, "SELECT * FROM answers"):
        found.answers.setdefault(row[:2], []).append(row)
    for *key, text in rows_of(database, "SELECT * FROM earlier"):
        found.earlier[tuple(key)] = text
    for row in rows_of(database, f"SELECT {', '.join(ByHand.__dataclass_fields__)} FROM by_hand"):
        found.by_hand.append(ByHand(*row))
    for who, made, author in rows_of(database, "SELECT * FROM forgotten"):
        found.forgotten[who] = (made, author)
    return found


def _readable(database: Connection, query: str) -> Iterator[tuple]:
    """The rows that a query gives, as far as the file is not damaged: for the other's, since ours is written anew."""
    try:
        yield from database.execute(query)
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise


def _rank(row: dict) -> tuple:
    """Of two results the one with the higher rank counts."""
    result = read(row["result"])
    good = 0 if result is None or result.status in (MISSING, INFRASTRUCTURE) else 1 + (result.status != UNREADABLE)
    newest = origin(row["file"]).attachment if row["file"] else -1  # as where both lie in one folder
    return good, newest, row["submitted"] or "", row["graded"], row["digest"], row["result"], row["folder"], row["file"]


def _both(store, mine: _Class, yours: _Class) -> _Class:
    found = _Class(forgotten=dict(mine.forgotten), earlier=mine.earlier | yours.earlier)
    for who, entry in yours.forgotten.items():
        found.forgotten[who] = max(entry, found.forgotten.get(who, entry))
    for key in mine.results.keys() | yours.results.keys():
        rows = [(each.results[key], each) for each in (mine, yours) if key in each.results]
        best, of = max(rows, key=lambda pair: _rank(pair[0]))
        found.results[key], found.answers[key] = best, of.answers.get(key, [])
        for row, _ in rows:
            if row["digest"] not in ("", best["digest"]):
                found.earlier[(*key, row["digest"])] = json.dumps(row)
    found.by_hand = list(dict.fromkeys([*mine.by_hand, *yours.by_hand]))
    counting = {(*key, row["digest"]) for key, row in found.results.items()}
    found.earlier = {key: text for key, text in found.earlier.items() if key not in counting}
    return _without_the_forgotten(store, found)


def _without_the_forgotten(store, found: _Class) -> _Class:
    def is_kept(student, made):
        return made > found.forgotten.get(store.mark_of(student), ("",))[0]

    gone = {key for key, row in found.results.items() if not is_kept(key[0], row["graded"] or "0")}
    found.results = {key: row for key, row in found.results.items() if key not in gone}
    found.answers = {key: rows for key, rows in found.answers.items() if key not in gone}
    found.earlier = {k: t for k, t in found.earlier.items() if is_kept(k[0], json.loads(t)["graded"] or "0")}
    found.by_hand = [each for each in found.by_hand if is_kept(each.student, each.made)]
    return found


def _put(store, found: _Class) -> None:
    for table in ("results", "answers", "earlier", "by_hand", "forgotten"):
        store.database.execute(f"DELETE FROM {table}")
    _insert(store, f"results ({COLUMNS})", [tuple(row[name] for name in NAMES) for row in found.results.values()])
    _insert(store, "answers", [row for rows in found.answers.values() for row in rows])
    _insert(store, "earlier", [(*key, text) for key, text in found.earlier.items()])
    _insert(store, "forgotten", [(who, *entry) for who, entry in found.forgotten.items()])
    for given in found.by_hand:
        store.set_by_hand(given)


def _insert(store, table, rows) -> None:
    if rows:
        store.database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _conflicts(store, mine: _Class, yours: _Class) -> Iterator[str]:
    for key in sorted(mine.results.keys() & yours.results.keys()):
        both = [mine.results[key], yours.results[key]]
        if both[0]["digest"] != both[1]["digest"] and all(row["digest"] for row in both):
            worse, better = sorted(both, key=_rank)
            yield f"{key[0]}, lesson {key[1]}: two different notebooks; {better['file']} counts, {worse['file']} is kept beside."
    last = [{(each.student, each.lesson, each.exercise): each for each in one.by_hand} for one in (mine, yours)]
    for key in sorted(last[0].keys() & last[1].keys()):
        one, other = sorted((last[0][key], last[1][key]), key=lambda each: each.made)
        if one != other and one not in (mine.by_hand if other in mine.by_hand else yours.by_hand):
            what = key[2] or f"lesson {key[1]}"
            yield f"{key[0]}, {what}: set by hand by {one.author or '?'} and by {other.author or '?'}; the later counts."
