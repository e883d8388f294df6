"""What is stored of a class, and what is not graded twice."""

import contextlib
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from grading.plain import same, values
from grading.rows import damage
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.grading.collect import Submission
from dpcourse.grading.keep import database
from dpcourse.grading.keep.database import EDITION, Unusable
from dpcourse.grading.keep.packed import packed, unpacked
from dpcourse.grading.keep.store import ByHand, Store
from dpcourse.grading.result import Mark, result

HANDED_IN = Submission("kim", 1, "x.ipynb", Path("x.ipynb"), "digest")


def test_a_database_of_the_second_edition_loses_nothing_and_learns_languages(tmp_path):
    with Store(tmp_path / "grades.sqlite") as store:
        store.save(HANDED_IN, "grader", result(1, "graded"), {"composition/worst_posterior": "judge"})
        store.set_by_hand(ByHand("kim", 1, "composition/worst_posterior", 1.0, 2.0, "why", "me", "2026"))
        before = list(store.rows()), store.by_hand(), store.judged("kim", 1)
        store.database.execute("DROP TABLE students")
        store.database.execute("PRAGMA user_version = 2")
    with Store(tmp_path / "grades.sqlite") as store:
        assert (list(store.rows()), store.by_hand(), store.judged("kim", 1)) == before
        store.set_languages(["kim", "lee"], {"kim": "zh", "lee": "en"})
        assert [row.language for row in store.rows()] == ["zh"]
        store.set_languages(["kim"], {})  # the roster says none any more, and nothing of others
        assert ([row.language for row in store.rows()], store.languages()) == ([""], {"lee": "en"})
        store.forget("lee", "me")
        assert store.languages() == {}


def test_a_database_of_a_later_edition_is_refused_and_left_as_it_is(tmp_path):
    with Store(tmp_path / "grades.sqlite") as store:
        store.database.execute(f"PRAGMA user_version = {EDITION + 1}")
    with pytest.raises(Unusable, match="later edition"):
        Store(tmp_path / "grades.sqlite")


def test_a_database_of_the_first_edition_is_refused_and_left_as_it_is(tmp_path):
    file = tmp_path / "grades.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as old:
        old.execute("CREATE TABLE overrides (student, exercise, points, reason)")
    with pytest.raises(Unusable, match="first edition of dpcourse: grade with that one"):
        Store(file)
    with contextlib.closing(sqlite3.connect(file)) as old:
        assert [name for (name,) in old.execute("SELECT name FROM sqlite_master")] == ["overrides"]


def test_a_result_is_settled_unless_it_failed_through_a_fault_of_ours():
    with Store(":memory:") as store:
        for status, settled in (("graded", set()), ("infrastructure", None), ("unreadable", set())):
            store.save(HANDED_IN, "grader", result(1, status))
            assert store.to_judge(HANDED_IN, "grader", {"composition/worst_posterior": "judge"}, ()) == settled
            assert store.to_judge(HANDED_IN, "another grader", {"composition/worst_posterior": "judge"}, ()) is None
            assert (
                store.to_judge(
                    replace(HANDED_IN, digest="other"), "grader", {"composition/worst_posterior": "judge"}, ()
                )
                is None
            )


def test_exercises_are_judged_anew_whose_judge_is_another():
    marks = [
        Mark("composition/worst_posterior", "right", 2, 2, ""),
        Mark("composition/basic_composition", "right", 1, 1, ""),
    ]
    with Store(":memory:") as store:
        store.save(
            HANDED_IN,
            "grader",
            result(1, "graded", marks=marks),
            {"composition/worst_posterior": "a", "composition/basic_composition": "b"},
        )
        assert (
            store.to_judge(
                HANDED_IN, "grader", {"composition/worst_posterior": "a", "composition/basic_composition": "b"}, ()
            )
            == set()
        )
        assert store.to_judge(
            HANDED_IN,
            "grader",
            {
                "composition/worst_posterior": "a",
                "composition/basic_composition": "new",
                "composition/advanced_composition": "c",
            },
            (),
        ) == {"composition/basic_composition", "composition/advanced_composition"}
        store.save_again(HANDED_IN, result(1, "graded", marks=marks), {"composition/basic_composition": "new"}, {})
        assert (
            store.to_judge(
                HANDED_IN, "grader", {"composition/worst_posterior": "a", "composition/basic_composition": "new"}, ()
            )
            == set()
        )


def test_what_a_limit_took_is_graded_again_under_other_limits():
    taken = replace(result(1, "limit"), limits=(1.0, 2.0, 3.0))
    with Store(":memory:") as store:
        store.save(HANDED_IN, "grader", taken)
        assert store.to_judge(HANDED_IN, "grader", {}, (1.0, 2.0, 3.0)) == set()
        assert store.to_judge(HANDED_IN, "grader", {}, (1.0, 9.0, 3.0)) is None


@given(st.lists(st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=3), min_size=1, max_size=2))
def test_evidence_survives_being_stored(probes):
    assert same(list(unpacked(packed(probes))), probes)


@pytest.mark.parametrize("damaged", [None, b"", b"x", "text", packed([[{"a": 1}]])[:-3], packed([[{"a": 1}]])[3:]])
def test_damaged_evidence_is_none(damaged):
    assert unpacked(damaged) == ()


def test_what_is_handed_in_when_is_kept():
    time = datetime(2026, 10, 1, 12, 30, tzinfo=UTC)
    with Store(":memory:") as store:
        store.save(replace(HANDED_IN, submitted=time, late=True), "grader", result(1, "graded"))
        (row,) = store.rows()
        assert (row.submitted, row.said_late, row.stale) == (time, True, False)


def test_a_change_that_fails_is_not_made_in_part():
    with Store(":memory:") as store:
        store.save(
            HANDED_IN,
            "grader",
            result(1, "graded"),
            {"composition/worst_posterior": "a"},
            code={"composition/worst_posterior": "x"},
        )
        with pytest.raises(sqlite3.Error):
            store.save(
                replace(HANDED_IN, digest="new"), "grader", result(1, "graded"), {"composition/worst_posterior": None}
            )
        assert [row.digest for row in store.rows()] == ["digest"]
        assert store.answers("kim", 1) == {"composition/worst_posterior": "x"}


def test_the_columns_that_are_named_are_those_of_the_tables():
    assert database.COLUMNS["by_hand"].split() == list(ByHand.__dataclass_fields__)
    with Store(":memory:") as store:
        for table, names in database.COLUMNS.items():
            columns = {name for _, name, *_ in store.database.execute(f"PRAGMA table_info({table})")}
            assert columns == set(names.split())


VALUES = ["results SET student = NULL", "results SET student = x'00ff'", "results SET lesson = 'x'", "by_hand SET points = 'x'", "answers SET student = NULL", "earlier SET row = x'00'"]  # fmt: skip


@pytest.mark.parametrize("what", VALUES)
def test_a_value_that_may_not_be_there_is_damage_and_no_statement_makes_it(tmp_path, what):
    file = tmp_path / "grades.sqlite"
    with Store(file) as store:
        store.save(HANDED_IN, "grader", result(1, "graded"), {"composition/worst_posterior": "judge"})
        store.set_by_hand(ByHand("kim", 1, "composition/worst_posterior", 1.0, 2.0, "why", "me", "2026"))
        store.database.execute("INSERT INTO earlier VALUES ('kim', 1, 'two', '{}')")
        with pytest.raises(sqlite3.IntegrityError):
            store.database.execute(f"UPDATE {what}")
    Store(file).database.close()
    damage(file, f"UPDATE {what}")
    with pytest.raises(sqlite3.DatabaseError, match=r"malformed: .* value in ") as raised:
        Store(file)
    assert database.is_damaged(raised.value)
