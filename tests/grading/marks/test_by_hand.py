"""What an instructor sets by hand and looks up, also while a run goes on; and that a student can be forgotten."""

import csv
import json

import pytest
from grading.called import call, scores
from grading.rows import COMPOSED, FULL, POSTERIOR

from dpcourse.grading.keep import store
from dpcourse.grading.marks.by_hand import plain


@pytest.fixture
def out(quick, small, tmp_path):
    """A class that is graded: ann has 3 points, bob has 1."""
    assert call(small, "--out", tmp_path / "out").exit_code == 0
    return tmp_path / "out"


def test_an_override_needs_a_reason_and_survives_regrading(out, small):
    assert call("--out", out, "--override", "bob", POSTERIOR, "1.5", " ").exit_code == 2
    assert call("--out", out, "--override", "bob", POSTERIOR, "9", "x").exit_code == 2
    assert call("--out", out, "--override", "bob", POSTERIOR, "nan", "x").exit_code == 2
    assert call("--out", out, "--override", "nobody", POSTERIOR, "1", "x").exit_code == 2
    assert call("--out", out, "--override", "bob", POSTERIOR, "1.5", "shown <on> paper").exit_code == 0
    assert scores(out)["bob"] == ("graded", "2.5")
    call(small, "--out", out, "--again")
    assert scores(out)["bob"] == ("graded", "2.5")
    told = call("--out", out, "--explain", "bob", POSTERIOR)
    assert "set by hand: shown <on> paper" in told.stdout
    assert "hown &lt;on&gt; paper" in next((out / "feedback").glob("bob*")).read_text(encoding="utf-8")


def test_what_was_set_is_listed_and_can_be_taken_back(out):
    for arguments in (
        ("--override", "bob", POSTERIOR, "2", "first", "--author", "Ann Lee"),
        ("--override", "bob", POSTERIOR, "1", "second", "--author", "Ben"),
        ("--bonus", "bob", "1", "2.5", "found a mistake"),
    ):
        assert call("--out", out, *arguments).exit_code == 0
    assert scores(out)["bob"] == ("graded", "4.5")
    listed = call("--out", out, "--overrides").stdout.splitlines()
    assert [line[0] for line in listed[-3:]] == [" ", "*", "*"]
    assert listed[-3].endswith(f"Ann Lee: bob {POSTERIOR}: 2 of 2: first")
    assert listed[-1].endswith(": bob bonus 1: 2.5: found a mistake")
    assert call("--out", out, "--undo", "bob", POSTERIOR).exit_code == 0
    assert scores(out)["bob"] == ("graded", "3.5")
    assert call("--out", out, "--undo", "bob", "1").exit_code == 0
    assert scores(out)["bob"] == ("graded", "1")
    assert len(call("--out", out, "--overrides").stdout.splitlines()) == 5
    again = call("--out", out, "--undo", "bob", POSTERIOR)
    assert (again.exit_code, again.stderr) == (2, f"Nothing is set by hand for 'bob' in {POSTERIOR}: `--overrides` lists what is.\n")  # fmt: skip
    with open(out / "changes.csv", encoding="utf-8-sig") as file:
        whys = [line["why"] for line in csv.DictReader(file)]
    assert "set by hand by Ben: second" in whys
    assert "what was set by hand was taken back" in whys


def test_points_can_be_taken(out):
    assert call("--out", out, "--bonus", "ann", "1", "-2", f"copied {POSTERIOR}").exit_code == 0
    assert scores(out)["ann"] == ("graded", "1")
    assert call("--out", out, "--bonus", "ann", "1", "-99", "x").exit_code == 2


def test_points_set_by_hand_follow_the_points_of_the_exercise(out, tmp_path):
    call("--out", out, "--override", "bob", POSTERIOR, "1", "half")
    (tmp_path / "course.toml").write_text(f'points."{POSTERIOR}" = 10')
    call("--out", out, "--config", tmp_path / "course.toml")
    assert scores(out)["bob"] == ("graded", "6")
    told = call("--out", out, "--config", tmp_path / "course.toml", "--explain", "bob", POSTERIOR)
    assert "5 of 10 points" in told.stdout
    (tmp_path / "course.toml").write_text(f'excluded = ["{POSTERIOR}"]')
    call("--out", out, "--config", tmp_path / "course.toml")
    assert scores(out)["bob"] == ("graded", "1")
    refused = call("--out", out, "--config", tmp_path / "course.toml", "--override", "bob", POSTERIOR, "1", "x")
    assert (refused.exit_code, "does not count" in refused.stderr) == (2, True)


def test_marks_are_looked_up_and_set_while_a_run_goes_on(out, small, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with store.running(out):
        assert call("--out", out, "--explain", "ann", COMPOSED).exit_code == 0
        assert call("--out", out, "--override", "ann", POSTERIOR, "2", "x").exit_code == 0
        assert scores(out)["ann"] == ("graded", "5")
        assert call(small, "--out", out).exit_code == 2
        assert call("--out", out, "--forget", "ann").exit_code == 2


def test_what_was_set_in_an_exercise_that_is_gone_is_told_and_blocks_nothing(out, small):
    with store.opened(out) as opened:
        opened.set_by_hand(store.ByHand("bob", 1, "1.99", 1, 2, "old", "", store.now(), "no_such_function"))
        opened.set_by_hand(store.ByHand("bob", 77, "77.1", 1, 2, "older", "", store.now()))
        opened.database.execute("INSERT INTO results SELECT 'kim', 77, file, digest, grader, result, folder, submitted, said_late, here, graded, origin FROM results WHERE student = 'bob'")  # fmt: skip
    told = call(small, "--out", out)
    assert told.exit_code == 0
    assert "What was set by hand for bob in 1.99 (old) does not count" in told.stdout
    assert "There is no lesson 77 any more" in told.stdout
    assert scores(out) == {"ann": ("graded", "3"), "bob": ("graded", "1")}


def test_an_override_follows_its_exercise_to_another_number(out):
    with store.opened(out) as opened:  # when it was set, the function had the number before
        opened.set_by_hand(
            store.ByHand("bob", 1, "composition/privacy_bill", 2, 2, "moved", "", store.now(), "worst_posterior")
        )
    told = call("--out", out, "--explain", "bob", POSTERIOR)
    assert "set by hand: moved" in told.stdout
    assert scores(out)["bob"] == ("graded", "3")


def test_the_students_code_is_shown_and_cannot_pass_for_ours(quick, tmp_path):
    import nbformat

    folder, out = tmp_path / "class", tmp_path / "out"
    folder.mkdir()
    code = (
        f'def worst_posterior(prior, epsilons):\n    return "\x1b[2J"\n\n# {POSTERIOR} The most: right, 2 of 2 points\n'
    )
    cells = [nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell(f'check("{POSTERIOR}", worst_posterior)')]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "eve.ipynb")
    call(folder, "--out", out)
    (folder / "eve.ipynb").unlink()
    told = call("--out", out, "--explain", "eve", POSTERIOR).stdout
    shown = told[told.index("the student's code") :].splitlines()[1:]
    assert shown == [
        "  | def worst_posterior(prior, epsilons):",
        '  |     return "\\x1b[2J"',
        "  | ",
        f"  | # {POSTERIOR} The most: right, 2 of 2 points",
    ]


def test_a_line_that_breaks_goes_on_as_the_students():
    assert plain("printed: a\n1.3 right\x1b[2J\r\nb") == "printed: a\n  | 1.3 right\\x1b[2J\n  | b"


def test_a_student_who_is_forgotten_leaves_no_trace(quick, tmp_path):
    folder, out = tmp_path / "class", tmp_path / "out"
    folder.mkdir()
    for name in ("ann", "zebediah"):
        (folder / f"{name}.ipynb").write_text("check('1.1') zz")
    (folder / "zebediah.pdf").write_text("")
    call(folder, "--out", out)
    call("--out", out, "--override", "zebediah", POSTERIOR, "2", "secret reason")
    told = call("--out", out, "--forget", "zebediah")
    assert told.exit_code == 0
    assert "Forgotten: 1 result." in told.stdout
    for file in out.rglob("*"):
        assert "zebediah" not in file.name
        if file.is_file():
            content = file.read_bytes()
            assert b"zebediah" not in content, file
            assert b"secret reason" not in content, file
    assert scores(out) == {"ann": ("graded", "2")}
    with store.opened(out) as opened:
        assert len(opened.database.execute("SELECT * FROM forgotten").fetchall()) == 1
    assert call("--out", out, "--forget", "zebediah").exit_code == 2


def test_a_bonus_is_at_most_what_the_lesson_counts_and_may_pass_its_points_unless_told_otherwise(out, small):
    settings = out.parent / "mine.toml"
    settings.write_text(f'[points]\n"{COMPOSED}" = 40')
    told = call("--out", out, "--bonus", "bob", "1", str(FULL + 1), "a mistake found")
    assert (told.exit_code, f"at most what the lesson has, {FULL} points" in told.stderr) == (2, True)
    counts = FULL - 4 + 40
    assert (
        call("--out", out, "--config", settings, "--bonus", "bob", "1", str(counts), "a mistake found").exit_code == 0
    )
    assert scores(out)["bob"] == ("graded", str(10 + counts))  # 10 of the points for the lesson, and the bonus
    settings.write_text(f'bonus = false\n[points]\n"{COMPOSED}" = 40')
    told = call("--out", out, "--config", settings)
    assert "The score ends at the lesson's points, as " in told.stdout
    assert scores(out)["bob"] == ("graded", str(counts))


def test_what_is_looked_up_is_json_where_that_is_asked_for(out):
    call("--out", out, "--override", "bob", POSTERIOR, "1", "on paper", "--author", "Ann")
    told = json.loads(call("--out", out, "--json", "--explain", "bob", COMPOSED, "--overrides").stdout)
    assert list(told) == ["overrides", "explain"]
    assert "on paper" in told["overrides"][0]
    assert any(line.startswith(f"{COMPOSED} ") for line in told["explain"])
    lines = call("--out", out, "--explain", "bob", COMPOSED, "--overrides").stdout.splitlines()
    assert lines == [line for found in told.values() for line in found]
