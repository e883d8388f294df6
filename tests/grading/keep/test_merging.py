"""What two machines have graded comes together: nothing is lost, whichever takes over which, and how often."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from grading.called import call, scores
from grading.rows import POSTERIOR, damage
from hypothesis import given
from hypothesis import settings as how
from hypothesis import strategies as st
from support import by_profile

from dpcourse.grading.collect import Submission
from dpcourse.grading.keep import store as stores
from dpcourse.grading.keep.merging import merge, read_other
from dpcourse.grading.keep.store import DATABASE, ByHand, Store
from dpcourse.grading.result import Mark, result

TABLES = ("results", "answers", "by_hand", "earlier", "students", "forgotten")
names, digests = st.sampled_from(["ann", "bob"]), st.sampled_from(["one", "two", "three"])
events = st.lists(
    st.one_of(
        st.tuples(st.just("save"), names, digests, st.sampled_from(["graded", "infrastructure"]), st.integers(0, 3)),
        st.tuples(st.just("set"), names, st.sampled_from([POSTERIOR, "1.4"]), st.sampled_from([0.0, 1.0, None])),
        st.tuples(st.just("missing"), names),
        st.tuples(st.just("speaks"), names, st.sampled_from(["en", "zh"])),
        st.tuples(st.just("forget"), names),
    ),
    max_size=6,
)


def happen(folder, events, clock):
    """A store in which these things have happened, one second after another."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, Store(folder / DATABASE) as store:
        patch.setattr(stores, "now", lambda: next(clock))
        store.secret("the same on both machines")
        for what, name, *rest in events:
            if what == "save":
                digest, status, day = rest
                time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
                each = Submission(name, 1, f"{digest}.ipynb", Path("x"), digest, submitted=time)
                graded = result(1, status, marks=[Mark("composition/worst_posterior", "right", 2, 2, digest)])
                store.save(
                    each,
                    "grader",
                    graded,
                    {"composition/worst_posterior": next(clock)},
                    {"composition/worst_posterior": ([{"a": 1}],)},
                    {"composition/worst_posterior": digest},
                )
            elif what == "set":
                store.set_by_hand(ByHand(name, 1, rest[0], rest[1], 2.0, "why", "ann", stores.now()))
            elif what == "missing":
                store.set_missing([name], [1])
            elif what == "speaks":
                store.set_languages([name], {name: rest[0]})
            else:
                store.forget(name, "ann")
    return folder


def known(folder):
    with Store(folder / DATABASE) as store:
        return {table: sorted(map(repr, store.database.execute(f"SELECT * FROM {table}"))) for table in TABLES}


def merged(into, other):
    with Store(into / DATABASE) as store:
        return merge(store, read_other(other))


@how(max_examples=by_profile("examples of what happened on two machines", 10, 200), deadline=None)
@given(events, events, st.booleans())
def test_it_does_not_matter_who_takes_over_whom_nor_how_often(tmp_path_factory, one, other, interleaved):
    base = tmp_path_factory.mktemp("merge")
    clock = (f"2026-01-02T00:00:{number:02}.000000+00:00" for number in range(60))
    stores_of = [(base / "a", one), (base / "b", other)]
    for folder, happened in stores_of if interleaved else stores_of[::-1]:
        happen(folder, happened, clock)
    before = known(base / "b")
    copies = {name: base / name for name in ("a2", "b2")}
    for name, copy in copies.items():
        copy.mkdir()
        with Store(base / name[0] / DATABASE) as store:
            store.database.execute("VACUUM INTO ?", [str(copy / DATABASE)])
        with Store(copy / DATABASE) as store:
            store.database.execute("PRAGMA user_version")
    merged(copies["a2"], base / "b")
    assert known(base / "b") == before
    merged(copies["b2"], base / "a")
    assert known(copies["a2"]) == known(copies["b2"])
    once = known(copies["a2"])
    for again in (base / "a", base / "b", copies["b2"]):
        merged(copies["a2"], again)
        assert known(copies["a2"]) == once


def two(tmp_path, one, other):
    clock = (f"2026-01-02T00:00:{number:02}.000000+00:00" for number in range(60))
    return happen(tmp_path / "a", one, clock), happen(tmp_path / "b", other, clock)


def test_of_two_notebooks_the_later_counts_and_the_other_is_kept(tmp_path):
    a, b = two(tmp_path, [("save", "ann", "one", "graded", 2)], [("save", "ann", "two", "graded", 1)])
    said = merged(a, b)
    assert "ann, lesson 1: two different notebooks; one.ipynb counts, two.ipynb is kept beside." in said
    with Store(a / DATABASE) as store:
        assert [row.digest for row in store.rows()] == ["one"]
        assert store.answers("ann", 1) == {"composition/worst_posterior": "one"}
        assert [digest for (digest,) in store.database.execute("SELECT digest FROM earlier")] == ["two"]


def test_as_in_one_folder_the_highest_attachment_counts_and_what_can_be_read_before_it(tmp_path):
    folders = tmp_path / "one", tmp_path / "other"
    kinds = {"ann": ("graded", "graded"), "bob": ("graded", "unreadable")}
    for folder, number, place in zip(folders, (9102, 9002), (0, 1), strict=True):
        folder.mkdir()
        with Store(folder / DATABASE) as store:
            store.secret("the same on both machines")
            for name, statuses in kinds.items():
                counted = place if name == "ann" else 1 - place
                file = f"{name}_1_{number}_x.ipynb"
                each = Submission(name, 1, file, Path("x"), str(number))
                store.save(each, "grader", result(1, statuses[counted], notes=[file]))
    with Store(folders[0] / DATABASE) as store:
        merge(store, read_other(folders[1]))
        found = {row.student: row.file for row in store.rows()}
    assert found == {"ann": "ann_1_9102_x.ipynb", "bob": "bob_1_9002_x.ipynb"}


def test_what_failed_or_is_missing_never_counts_before_what_was_graded(tmp_path):
    a, b = two(tmp_path, [("save", "ann", "one", "infrastructure", 3), ("missing", "bob")], [("save", "ann", "one", "graded", 0), ("save", "bob", "two", "graded", 0)])  # fmt: skip
    merged(a, b)
    with Store(a / DATABASE) as store:
        assert [(row.student, row.result.status) for row in store.rows()] == [("ann", "graded"), ("bob", "graded")]


def test_what_was_graded_before_somebody_was_forgotten_counts_before_nothing_that_came_later(tmp_path):
    """Though the forgotten notebook was handed in later than the one that was graded since."""
    clock = (f"2026-01-02T00:00:{number:02}.000000+00:00" for number in range(60))
    b = happen(tmp_path / "b", [("save", "ann", "one", "graded", 1)], clock)
    a = happen(tmp_path / "a", [("forget", "ann"), ("save", "ann", "one", "graded", 0)], clock)
    since = known(a)
    merged(a, b)
    assert known(a) == since


def test_what_was_set_on_both_is_told_and_the_later_counts(tmp_path):
    a, b = two(tmp_path, [("set", "ann", POSTERIOR, 1.0)], [("set", "ann", POSTERIOR, 0.0)])
    assert f"ann, {POSTERIOR}: set by hand by ann and by ann; the later counts." in merged(a, b)
    with Store(a / DATABASE) as store:
        assert [given.points for given in store.by_hand()] == [1, 0]
    assert not any("by hand" in line for line in merged(a, b))


def test_who_was_forgotten_on_one_machine_is_forgotten_on_both(tmp_path):
    a, b = two(tmp_path, [("save", "ann", "one", "graded", 0)], [("save", "ann", "one", "graded", 0), ("forget", "ann")])  # fmt: skip
    merged(a, b)
    with Store(a / DATABASE) as store:
        assert list(store.rows()) == []


def test_results_of_another_secret_are_refused_unless_there_are_none_yet(tmp_path):
    a, b = two(tmp_path, [("save", "ann", "one", "graded", 0)], [("save", "bob", "one", "graded", 0)])
    with Store(b / DATABASE) as store:
        store.secret("another secret than there")
    before = known(a)
    with pytest.raises(ValueError, match="from another secret"):
        merged(a, b)
    assert known(a) == before
    empty = happen(tmp_path / "c", [], iter(()))
    merged(empty, b)
    with Store(empty / DATABASE) as store:
        assert store.secret() == b"another secret than there"
        assert [row.student for row in store.rows()] == ["bob"]


@pytest.mark.parametrize("content", [None, b"", b"not a database at all, whatever its name says"])
def test_what_is_no_database_of_grades_is_told_in_a_line(tmp_path, content):
    a, _ = two(tmp_path, [], [])
    if content is not None:
        (tmp_path / "other").write_bytes(content)
    with pytest.raises(ValueError, match=r"is no database of grades|cannot be read"):
        merged(a, tmp_path / "other")


def test_where_ours_is_damaged_nothing_is_taken_over_and_the_other_is_not_blamed(tmp_path):
    a, b = two(tmp_path, [("save", "ann", "one", "graded", 0)], [("save", "bob", "one", "graded", 0)])
    with Store(a / DATABASE) as store:
        place = store.database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'results'").fetchone()[0]
        size = store.database.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray((a / DATABASE).read_bytes())
    content[(place - 1) * size : place * size] = bytes([255]) * size
    (a / DATABASE).write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        merged(a, b)
    assert (a / DATABASE).read_bytes() == content


def test_two_assistants_grade_half_a_class_each(quick, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret of the class")
    for name in ("ann", "bob"):
        folder = tmp_path / f"of-{name}"
        folder.mkdir()
        (folder / f"{name}.ipynb").write_text("check('1.1') zz")
        assert call(folder, "--out", tmp_path / name, "--seed-file", secret).exit_code == 0
    told = call("--merge", tmp_path / "bob", "--out", tmp_path / "ann")
    assert told.exit_code == 0
    assert "1 new of 1 results" in told.stdout
    assert scores(tmp_path / "ann") == {"ann": ("graded", "2"), "bob": ("graded", "2")}
    assert call(tmp_path / "of-bob", "--out", tmp_path / "ann").exit_code == 0
    assert len(quick) == 2


def test_a_damaged_row_of_the_other_is_told_and_nothing_of_it_is_taken_over(tmp_path):
    a, b = two(tmp_path, [("save", "bob", "one", "graded", 0)], [("save", "ann", "one", "graded", 0)])
    damage(b / DATABASE, "UPDATE results SET student = NULL")
    before = known(a)
    with pytest.raises(ValueError, match=r"cannot be read: .*NULL value in results.student"):
        merged(a, b)
    assert known(a) == before
