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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpcourse.base.languages import say
from dpcourse.grading.collect import origin
from dpcourse.grading.keep.database import COLUMNS, columns
from dpcourse.grading.keep.packed import as_origin, read
from dpcourse.grading.keep.store import DATABASE, ByHand, Store
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, UNREADABLE


@dataclass
class _Class:
    """All that a store knows and another can take over. earlier: (student, lesson, digest) -> the row as text.

    students: student -> (when it was noted, the language that a roster says).
    """

    results: dict[tuple, dict] = field(default_factory=dict)
    answers: dict[tuple, list[tuple]] = field(default_factory=dict)
    earlier: dict[tuple, str] = field(default_factory=dict)
    by_hand: list[ByHand] = field(default_factory=list)
    students: dict[str, tuple] = field(default_factory=dict)
    forgotten: dict[str, tuple] = field(default_factory=dict)


@dataclass(frozen=True)
class Other:
    """What another machine has graded; name: its folder or file, as it was named."""

    name: str
    secret: str | None
    holds: _Class


def read_other(other: Path) -> Other:
    """All that the database of another machine holds. other: its output folder, or its database; that is not changed.

    Raises ValueError where it is no such thing, or damaged; OSError.
    """
    with _copied(other / DATABASE if other.is_dir() else other) as theirs:
        return Other(str(other), theirs.recalled("secret"), _all_of(theirs))


def merge(store: Store, other: Other) -> list[str]:
    """Put all that another machine has graded beside what is here; a sentence on each conflict.

    Raises ValueError where its inputs were drawn from another secret.
    """
    yours = other.holds
    with store.at_once():
        _agree_on_the_secret(store, other)
        mine = _all_of(store)
        conflicts = list(_conflicts(store, mine, yours))
        _put(store, _both(store, mine, yours))
    new = len(yours.results.keys() - mine.results.keys())
    total = len(yours.results)
    return [say("From {name}: {new} new of {all} results.", name=other.name, new=new, all=total), *conflicts]


@contextlib.contextmanager
def _copied(file: Path) -> Iterator[Store]:
    """A Store that is a copy of a database, so that the file itself is only read."""
    if not file.is_file() or not file.stat().st_size:
        raise ValueError(
            say("{file} is no database of grades: name a folder that `dpcourse grade --out` has filled.", file=file)
        )
    with tempfile.TemporaryDirectory(prefix="dpcourse-merge-") as folder:
        for ending in ("", "-wal"):
            if (part := file.with_name(file.name + ending)).is_file():
                shutil.copyfile(part, Path(folder, DATABASE + ending))
        try:
            with Store(Path(folder, DATABASE)) as store:
                yield store
        except sqlite3.Error as error:
            if "full" in str(error):  # the disk
                raise
            raise ValueError(
                say(
                    "{file} cannot be read: {reason}. Take an older copy of it, or grade again.",
                    file=file,
                    reason=error,
                )
            ) from None


def _agree_on_the_secret(store, other):
    mine, yours = store.recalled("secret"), other.secret
    if mine == yours or yours is None:
        return
    if mine is not None and next(store.rows(), None) is not None:
        raise ValueError(
            say(
                "{name} has drawn its inputs from another secret: marks of both would not be of one kind. Grade on both "
                "machines with the same --seed-file, or merge into an empty --out.",
                name=other.name,
            )
        )
    store.remember("secret", yours)


def _all_of(store) -> _Class:
    found = _Class()
    rows = {table: store.database.execute(f"SELECT {columns(table)} FROM {table}").fetchall() for table in COLUMNS}
    found.results = {row[:2]: dict(zip(COLUMNS["results"].split(), row, strict=True)) for row in rows["results"]}
    for row in rows["answers"]:
        found.answers.setdefault(row[:2], []).append(row)
    found.earlier = {tuple(key): text for *key, text in rows["earlier"]}
    found.by_hand = [ByHand(*row) for row in rows["by_hand"]]
    found.students = {student: (noted, language) for student, language, noted in rows["students"]}
    found.forgotten = {who: (made, author) for who, made, author in rows["forgotten"]}
    return found


def _graded(text: str) -> str | None:
    """When a row that is kept as text was graded; None where the text is damaged."""
    try:
        found = json.loads(text)["graded"]
    except (ValueError, TypeError, KeyError):
        return None
    return found if isinstance(found, str) else None


def _rank(row: dict) -> tuple:
    """Of two results the one with the higher rank counts."""
    result = read(row["result"])
    good = 0 if result is None or result.status in (MISSING, INFRASTRUCTURE) else 1 + (result.status != UNREADABLE)
    told = as_origin(row["origin"]) or (origin(row["file"]) if row["file"] else None)
    newest = told.attachment if told else -1  # as where both lie in one folder
    return good, newest, row["submitted"] or "", row["graded"], row["digest"], row["result"], row["folder"], row["file"]


def _both(store, mine: _Class, yours: _Class) -> _Class:
    found = _Class(forgotten=dict(mine.forgotten))
    for who, entry in yours.forgotten.items():
        found.forgotten[who] = max(entry, found.forgotten.get(who, entry))
    mine, yours = (_without(store, found.forgotten, each) for each in (mine, yours))
    found.earlier = mine.earlier | yours.earlier
    for key in mine.results.keys() | yours.results.keys():
        rows = [(each.results[key], each) for each in (mine, yours) if key in each.results]
        best, of = max(rows, key=lambda pair: _rank(pair[0]))
        found.results[key], found.answers[key] = best, of.answers.get(key, [])
        for row, _ in rows:
            if row["digest"] not in ("", best["digest"]):
                found.earlier[(*key, row["digest"])] = json.dumps(row)
    found.by_hand = list(dict.fromkeys([*mine.by_hand, *yours.by_hand]))
    for student, entry in [*mine.students.items(), *yours.students.items()]:
        found.students[student] = max(entry, found.students.get(student, entry))
    counting = {(*key, row["digest"]) for key, row in found.results.items()}
    found.earlier = {key: text for key, text in found.earlier.items() if key not in counting}
    return found


def _without(store, forgotten, known: _Class) -> _Class:
    """What is known but for what was made before its student was forgotten: that counts no more, nor before what came later."""

    def is_kept(student, made):
        return made > forgotten.get(store.mark_of(student), ("",))[0]

    results = {key: row for key, row in known.results.items() if is_kept(key[0], row["graded"] or "0")}
    return _Class(
        results,
        {key: rows for key, rows in known.answers.items() if key in results},
        {key: text for key, text in known.earlier.items() if is_kept(key[0], _graded(text) or "0")},
        [each for each in known.by_hand if is_kept(each.student, each.made)],
        {student: entry for student, entry in known.students.items() if is_kept(student, entry[0])},
    )


def _put(store, found: _Class) -> None:
    for table in COLUMNS:
        store.database.execute(f"DELETE FROM {table}")
    _insert(store, "results", [tuple(row.values()) for row in found.results.values()])
    _insert(store, "answers", [row for rows in found.answers.values() for row in rows])
    _insert(store, "earlier", [(*key, text) for key, text in found.earlier.items()])
    _insert(store, "students", [(student, language, noted) for student, (noted, language) in found.students.items()])
    _insert(store, "forgotten", [(who, *entry) for who, entry in found.forgotten.items()])
    for given in found.by_hand:
        store.set_by_hand(given)


def _insert(store, table, rows) -> None:
    if rows:
        store.database.executemany(
            f"INSERT INTO {table} ({columns(table)}) VALUES ({', '.join('?' * len(rows[0]))})", rows
        )


def _conflicts(store, mine: _Class, yours: _Class) -> Iterator[str]:
    for key in sorted(mine.results.keys() & yours.results.keys()):
        both = [mine.results[key], yours.results[key]]
        if both[0]["digest"] != both[1]["digest"] and all(row["digest"] for row in both):
            worse, better = sorted(both, key=_rank)
            yield say(
                "{student}, lesson {lesson}: two different notebooks; {better} counts, {worse} is kept beside.",
                student=key[0],
                lesson=key[1],
                better=better["file"],
                worse=worse["file"],
            )
    last = [{(each.student, each.lesson, each.exercise): each for each in one.by_hand} for one in (mine, yours)]
    for key in sorted(last[0].keys() & last[1].keys()):
        one, other = sorted((last[0][key], last[1][key]), key=lambda each: each.made)
        if one != other and one not in (mine.by_hand if other in mine.by_hand else yours.by_hand):
            yield say(
                "{student}, {what}: set by hand by {one} and by {other}; the later counts.",
                student=key[0],
                what=key[2] or say("lesson {lesson}", lesson=key[1]),
                one=one.author or "?",
                other=other.author or "?",
            )
