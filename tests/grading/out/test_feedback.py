"""Feedback is read on a page: its words, what it never tells, and how an LMS takes it back."""

import html
import io
import json
import re
import unicodedata
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from grading.rows import CANVAS, MOODLE, POSTERIOR, a_row, graded, untouched, with_slip

from dpcourse import course
from dpcourse.checking import BLANK, WRONG
from dpcourse.grading import result
from dpcourse.grading.keep.store import ByHand
from dpcourse.grading.marks import settings
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import feedback, returned
from dpcourse.grading.result import Mark, told, unreadable

DEFAULT = Settings()
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> `code` $x$ [a](javascript:b) *c*"


def page(*rows, settings=DEFAULT):
    return feedback.page(rows[0].student, rows, settings)


def text_of(page):
    """What a reader sees of a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.split("<main>")[1])))


def answers_to(exercise):
    """Answers that a notebook answers in every way that it has."""
    printed = lambda *case, **named: print("x")  # noqa: E731
    slips = [slip.code for slip in exercise.misconceptions]
    return [printed, lambda *case, **named: [1, 2], lambda: 1, 3, None, exercise.reference, *slips]


@pytest.mark.parametrize(
    "exercise",
    [course.find("composition/worst_posterior"), course.find("laplace/sum_sensitivity")],
    ids=lambda exercise: exercise.id,
)
def test_a_page_never_speaks_as_a_cell_does(exercise):
    for verdict in [exercise.blank(), *(exercise.check(answer, rng=1) for answer in answers_to(exercise))]:
        mark = told(verdict)
        row = a_row(result=result.result(exercise.lesson, "graded", marks=[mark]), lesson=exercise.lesson)
        seen = text_of(page(row))
        seen += returned.comment(row, DEFAULT)
        assert not re.search(r"this cell|run its cell|just now|could not be judged|check\(", seen), seen


def test_what_is_right_is_said_first_and_a_zero_of_the_students_is_one():
    printed = told(course.find("composition/sequential_composition").check(lambda *case: print("x")))
    others = graded(1, {"composition/worst_posterior": WRONG}).exercises
    marks = [printed, *(mark for mark in others if mark.id != printed.id)]
    seen = text_of(page(a_row(result=result.result(1, "graded", marks=marks))))
    first, second = (course.number_of(f"composition/{name}") for name in ("sequential_composition", "privacy_bill"))
    assert seen.index("What is right") < seen.index(f"{second} ") < seen.index(f"{first} ")
    assert "does not work, 0 of 1 point " in seen
    assert "Use return in place of print" in seen
    assert "no fault of yours" not in seen


def test_a_fault_of_ours_is_no_zero():
    broken = result.with_marks(
        graded(), [result.unjudged(course.find("composition/sequential_composition"), "ValueError: x")]
    )
    seen = text_of(page(a_row(result=broken)))
    assert "The bill for several answers: not graded yet " in seen
    assert "ValueError" not in seen
    assert "01 Composition: not graded" in seen


def test_lateness_more_time_a_bonus_and_points_by_hand_are_said_in_words():
    decided = settings.parse(
        'timezone = "Europe/Berlin"\ncontact = "Prof. Lee"\nexcluded = ["1.2"]\n[late]\nshare = 0.1\n[lessons.1]\ndeadline = 2026-10-01T23:59:00'
        "\n[extensions.kim]\n1 = 2026-10-02T23:59:00"
    )
    submitted = datetime(2026, 10, 3, 8, 0, tzinfo=UTC)
    by_hand = [
        ByHand("kim", 1, "composition/worst_posterior", 1, 2, "shown on paper", "lee", "2026-10-04T00:00:00"),
        ByHand("kim", 1, "", 2, None, "helped others", "lee", "2026-10-04T00:00:00"),
    ]
    row = a_row(
        "kim", graded(1, {"composition/worst_posterior": WRONG}), settings=decided, by_hand=by_hand, submitted=submitted
    )
    seen = text_of(page(row, settings=decided))
    assert "later than for others: 2 October 2026, 23:59 CEST. Handed in: 3 October 2026, 10:00 CEST" in seen
    assert "10 % of the score is taken" in seen
    assert "Bonus: 2 points. Helped others." in seen
    assert "set these points by hand: Shown on paper." in seen
    assert "it does not count" in seen
    assert "Ask Prof. Lee" in seen


def test_feedback_on_what_was_not_judged_speaks_of_no_calls():
    said = "Your functions were called"
    assert said in page(a_row(result=graded()))
    unread = page(a_row(result=unreadable(1, "it is empty")))
    assert said not in unread
    assert "hand it in again" in unread


def test_feedback_holds_no_answer_to_a_hidden_input():
    for slip in course.find("composition/worst_posterior").misconceptions:
        row = a_row(result=with_slip("composition/worst_posterior", slip.name), file=CANVAS.format(name="k", number=1))
        [mark] = [mark for mark in row.result.exercises if mark.id == "composition/worst_posterior"]
        assert "right is" in mark.observed[0]
        for found in (page(row), returned.comment(row, DEFAULT), returned.notebook(row, DEFAULT)):
            assert slip.name not in found or slip.name in slip.message
            assert "right is" not in found


def test_nothing_of_a_students_is_more_than_text(tmp_path):
    mark = Mark("composition/worst_posterior", "wrong", 0, 2, EVIL, EVIL, (EVIL,), (EVIL,), EVIL)
    by_hand = ByHand(EVIL, 1, "composition/worst_posterior", 1, 2, EVIL, EVIL, "2026-10-04T00:00:00")
    row = a_row(EVIL, result.result(1, "graded", [EVIL], [mark], [EVIL]), by_hand=[by_hand])
    feedback.write([row], tmp_path, DEFAULT)
    [file] = (tmp_path / "feedback").iterdir()
    text = file.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "&lt;script&gt;" in text
    cell = json.loads(returned.notebook(row, DEFAULT))["cells"][0]
    assert cell["cell_type"] == "markdown"
    for found in (text, returned.comment(row, DEFAULT), cell["source"]):
        assert "<script" not in found
        assert "<img" not in found
    assert not re.search(r"[$*\[\]()_]", cell["source"])
    assert not re.search(r"(?<![&#\w])[=+@-]", returned.comment(row, DEFAULT))


def test_only_who_has_something_to_read_has_a_page(tmp_path):
    feedback.write([a_row("ann"), a_row("bob", result.missing(1))], tmp_path, DEFAULT)
    assert [file.name[:3] for file in (tmp_path / "feedback").iterdir()] == ["ann"]
    feedback.write([a_row("cat")], tmp_path, DEFAULT)
    assert [file.name[:3] for file in (tmp_path / "feedback").iterdir()] == ["cat"]


def test_the_zip_has_the_names_by_which_each_platform_knows_its_students(tmp_path):
    rows = [
        a_row("Kim_van Lee_77", file=MOODLE.format(name="Kim_van Lee", number=77)),
        a_row("leekim_1234", file="late/leekim_LATE_1234_98765_01-composition-2.ipynb"),
        a_row("anon_ab1cd", file="anon_ab1cd_98766_mine.ipynb"),
        a_row("Ann Bell", file="Ann Bell.ipynb"),
        a_row("gone", stale=True),
        a_row("missing", result.missing(1)),
        a_row("ours", result.failed(1, "x")),
        a_row("two_2", file=CANVAS.format(name="two", number=2), lesson=2),
    ]
    assert returned.write(rows, tmp_path, DEFAULT) == ["feedback-01.zip", "feedback-02.zip"]
    before = (tmp_path / "feedback-01.zip").read_bytes()
    names = zipfile.ZipFile(io.BytesIO(before)).namelist()
    assert names == [
        feedback.page_name("Ann Bell"),
        "Kim van Lee_77_assignsubmission_file_/feedback.html",
        "anon_ab1cd_98766_mine.ipynb",
        "leekim_LATE_1234_98765_01-composition-2.ipynb",
    ]
    returned.write(rows, tmp_path, DEFAULT)
    assert (tmp_path / "feedback-01.zip").read_bytes() == before
    returned.write(rows[:1], tmp_path, DEFAULT)
    assert [file.name for file in tmp_path.iterdir()] == ["feedback-01.zip"]


def test_moodle_and_canvas_find_the_numbers_where_they_look_for_them(tmp_path):
    """By what their sources do with a name: Moodle splits a folder at "_" into five, Canvas takes the first two numbers."""
    moodle = a_row("Kim_van Lee_77", file=MOODLE.format(name="Kim_van Lee", number=77))
    folder, name = returned.name_for_lms(moodle).split("/")
    assert (folder.split("_", 4)[1:], name) == (["77", "assignsubmission", "file", ""], "feedback.html")
    canvas = a_row("leekim_1234", file="leekim_LATE_1234_98765_01-composition.ipynb")
    parts = returned.name_for_lms(canvas).split("_")
    assert [part for part in parts if part.isdigit()][:2] == ["1234", "98765"]


def test_the_notebook_for_canvas_is_one(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    row = a_row("leekim_1234", untouched(), file=CANVAS.format(name="leekim", number=1234))
    nbformat.validate(nbformat.reads(returned.notebook(row, DEFAULT), as_version=4))


def test_a_comment_has_a_line_for_each_exercise():
    row = a_row(result=graded(1, {"composition/privacy_bill": BLANK, "composition/worst_posterior": WRONG}))
    lines = returned.comment(row, DEFAULT).split("<br>")
    told_of = [line.split(" ")[0] for line in lines if re.match(r"\d\.\d+ ", line)]
    assert sorted(told_of) == sorted(exercise.number for exercise in course.lesson(1).exercises)
    assert any(line.startswith(POSTERIOR) and "not right, 0 of 2 points" in line for line in lines)


def test_a_deadline_that_was_kept_takes_nothing():
    decided = settings.parse("[late]\nshare = 0.1\n[lessons.1]\ndeadline = 2026-10-01T00:00:00")
    row = a_row(settings=decided, submitted=datetime(2026, 10, 1, tzinfo=UTC) - timedelta(days=1))
    seen = text_of(page(row))
    assert "Your deadline: 1 October 2026, 00:00 UTC" in seen
    assert "taken" not in seen


NAMES = ["Kim Lee", "kim lee", "KIM  LEE", "Kim-Lee", "Kim Léa", "Kim Lea", "\u0926\u093f\u0928", "\u0926\u0940\u0928", "\u0e01\u0e34\u0e19", "\u0e01\u0e31\u0e19", "\u0645\u064e", "\u0645\u064f"]  # fmt: skip


def test_no_two_students_share_a_page_wherever_it_is_kept(tmp_path):
    """Also where capitals make no difference, or letters are kept in parts, as on a Mac."""
    for form in ("NFC", "NFD"):
        pages = [unicodedata.normalize(form, feedback.page_name(name)).casefold() for name in NAMES]
        assert len(set(pages)) == len(NAMES)
    for name in NAMES[6:]:
        assert feedback.page_name(name).startswith(f"{name}-")
    rows = [a_row(name) for name in NAMES]
    feedback.write(rows, tmp_path, DEFAULT)
    for file in list((tmp_path / feedback.FOLDER).iterdir()):
        file.rename(file.with_name(unicodedata.normalize("NFD", file.name)))
    feedback.write(rows[:3], tmp_path, DEFAULT)
    kept = {unicodedata.normalize("NFC", file.name) for file in (tmp_path / feedback.FOLDER).iterdir()}
    assert kept == set(map(feedback.page_name, NAMES[:3]))


def test_who_would_have_one_name_in_the_zip_has_their_own_and_is_named(tmp_path):
    names = ["Kim Lee_77", "kim lee_77", "Kim:Lee_77", "Bo Ek_78"]
    rows = [a_row(name, file=MOODLE.format(name=name[:-3], number=name[-2:])) for name in names]
    returned.write(rows, tmp_path, DEFAULT)
    with zipfile.ZipFile(tmp_path / "feedback-01.zip") as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(files) == {*map(feedback.page_name, names[:3]), "Bo Ek_78_assignsubmission_file_/feedback.html"}
    assert returned.without_own_name(rows) == sorted(names[:3])
    for name in names[:3]:
        assert html.escape(name[:-3]) in files[feedback.page_name(name)]


def test_the_page_promises_no_hint_where_none_is_given_out(monkeypatch):
    assert 'hint("1.1")' in text_of(page(a_row()))
    later = tuple(replace(each, graded_only=True) for each in course.lesson(1).exercises)
    monkeypatch.setitem(vars(course.lesson(1)), "exercises", later)
    assert "hint" not in page(a_row())
    told = (*later[:1], replace(later[1], hints_too=True), *later[2:])
    monkeypatch.setitem(vars(course.lesson(1)), "exercises", told)
    assert 'hint("1.2")' in text_of(page(a_row()))
