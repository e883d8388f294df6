"""The gradebooks: no zero for what was not graded, a line for each exercise, notes of bearable length."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from grading.rows import FULL, POSTERIOR, a_row, graded

from dpcourse import course
from dpcourse.checking import WRONG
from dpcourse.grading import result
from dpcourse.grading.keep.store import ByHand
from dpcourse.grading.marks import settings
from dpcourse.grading.out import feedback, gradebook, report

DUE = datetime(2026, 10, 1, tzinfo=UTC)


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("status", ["unreadable", "infrastructure", "missing"])
def test_what_was_not_graded_is_never_a_zero(status):
    found = {"unreadable": result.unreadable(1, "x"), "infrastructure": result.failed(1, "x")}
    row = a_row(result=found.get(status, result.missing(1)))
    [line] = read(gradebook.of_lessons([row]))
    assert (line["status"], line["score"]) == (status, "")
    [line] = read(gradebook.of_exercises([row]))
    assert (line["exercise"], line["state"], line["points"]) == ("", status, "")


def test_each_exercise_has_a_line_and_the_lines_make_the_score():
    due = datetime(2026, 10, 1, tzinfo=UTC)
    decided = settings.parse("[late]\nshare = 0.1\n[lessons.1]\ndeadline = 2026-10-01T00:00:00\n[points]\n'1.1' = 5")
    hand = ByHand("kim", 1, "composition/worst_posterior", 1, 2, "shown on paper", "lee", "2026-10-02T00:00:00")
    row = a_row(
        "kim",
        graded(1, {"composition/privacy_bill": WRONG, "composition/worst_posterior": WRONG}),
        settings=decided,
        by_hand=[hand],
        submitted=due + timedelta(hours=3),
    )
    lines = read(gradebook.of_exercises([row]))
    numbers = [exercise.number for exercise in course.lesson(1).exercises]
    assert [line["exercise"] for line in lines] == numbers
    points = {line["exercise"]: (line["state"], line["points"], line["of"]) for line in lines}
    assert points["1.1"] == ("right", "5", "5")
    assert points[course.number_of("composition/privacy_bill")][:2] == ("wrong", "0")
    of_hers = lines[numbers.index(POSTERIOR)]
    assert (of_hers["override"], of_hers["author"], of_hers["points"]) == ("shown on paper", "lee", "1")
    [whole] = read(gradebook.of_lessons([row]))
    assert float(whole["score"]) == pytest.approx(
        sum(float(line["points"]) for line in lines) + float(whole["taken for lateness"]), abs=0.01
    )
    assert whole["late"] == "3 hours late"
    assert "10 %" in lines[0]["late"]


def test_long_notes_are_cut_and_stay_on_one_line():
    [line] = read(gradebook.of_lessons([a_row(result=graded(notes=["x" * 25_000, "a\nb"]))]))
    assert len(line["notes"]) <= 300


def test_the_files_begin_as_excel_needs_it_to_know_utf_8(tmp_path):
    gradebook.write([a_row("Łukasz 王")], tmp_path)
    for name in ("gradebook.csv", "marks.csv"):
        assert (tmp_path / name).read_bytes().startswith(b"\xef\xbb\xbf")
        assert "Łukasz 王" in (tmp_path / name).read_text(encoding="utf-8-sig")


def test_a_lesson_and_an_exercise_that_are_gone_break_nothing():
    assert gradebook.title(98) == "98"
    assert gradebook.title_of("98.1") == ""


@pytest.mark.parametrize(
    ("submitted", "said_late", "told", "taken"),
    [
        (DUE - timedelta(seconds=1), False, "", ""),
        (DUE + timedelta(days=2, hours=3, minutes=4), False, "2 days and 3 hours late", f"-{0.3 * FULL:.10g}"),
        (DUE + timedelta(seconds=30), True, "less than a minute late", f"-{0.1 * FULL:.10g}"),
        (None, True, "late", "0"),
        (None, False, "", ""),
    ],
)
def test_who_was_late_is_said_by_how_much_as_far_as_that_is_known(submitted, said_late, told, taken):
    """In the gradebook, in the report and on the page; what is not graded was late all the same."""
    decided = settings.parse("late.share = 0.1\nlessons.1.deadline = 2026-10-01T00:00:00")
    row = a_row("kim", settings=decided, submitted=submitted, said_late=said_late)
    [line] = read(gradebook.of_lessons([row]))
    assert (line["late"], line["taken for lateness"]) == (told, taken)
    assert ("Who was late" in report.class_report([row])) == bool(told)
    assert told in report.class_report([row])
    assert (told.removesuffix(" late") in feedback.page("kim", [row], decided)) or not told
    unread = a_row("kim", result.unreadable(1, "x"), settings=decided, submitted=submitted, said_late=said_late)
    assert gradebook.late(unread) == told


def test_what_the_platform_calls_late_is_late_without_a_deadline_too():
    assert gradebook.late(a_row("kim", said_late=True)) == "late"
