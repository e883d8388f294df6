"""What Canvas and Moodle import can set a mark and clear none, and says what each of them needs."""

import csv
import io

import pytest
from grading.rows import CANVAS, FULL, MOODLE, a_row, graded, untouched

from dpcourse.checking import BLANK, WRONG
from dpcourse.grading import out, result
from dpcourse.grading.keep.store import ByHand
from dpcourse.grading.marks import settings
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import imports, returned
from dpcourse.grading.out.tables import number

DEFAULT = Settings()


def of_canvas(name="leekim", number=1234, **more):
    return a_row(f"{name}_{number}", file=CANVAS.format(name=name, number=number), **more)


def of_moodle(name="Kim Lee", number=77, **more):
    return a_row(f"{name}_{number}", file=MOODLE.format(name=name, number=number), **more)


def read(file):
    return list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))


def test_the_columns_are_those_that_canvas_reads(tmp_path):
    imports.write([of_canvas(), a_row("Ann Bell")], tmp_path, DEFAULT)
    head, points, *students = read(tmp_path / "canvas-01.csv")
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01 Composition"]
    assert points[0].strip() == "Points Possible"
    assert students == [["leekim", "1234", "", "", "", str(FULL)], ["Ann Bell", "", "", "", "", str(FULL)]]
    assert not list(tmp_path.glob("moodle*"))


def test_the_columns_are_those_that_moodle_reads_by_name(tmp_path):
    said = "\n".join(imports.write([of_moodle()], tmp_path, DEFAULT))
    [line] = csv.DictReader(io.StringIO((tmp_path / "moodle-01.csv").read_text(encoding="utf-8")))
    assert (line["Identifier"], line["Full name"], line["Grade"]) == ("Participant 77", "Kim Lee", str(FULL))
    assert line["Feedback comments"].startswith(f"01 Composition: {FULL} of {FULL} points.<br>")
    assert {"Last modified (grade)"} <= line.keys()
    assert 'tick "Allow updating records' in said
    assert f"{FULL} for 01" in said
    assert not list(tmp_path.glob("canvas*"))


def test_the_number_in_the_roster_is_used_where_it_is_the_platforms(tmp_path):
    by_hand = [ByHand("Bell, Ann_5", 1, "composition/worst_posterior", 1, 2, "oral", "me", "2026-10-01")]
    absent = a_row("Bell, Ann_5", result.result(1, result.MISSING), file="", by_hand=by_hand)
    mailed = a_row("Lee, Kim_6", file="kim.ipynb")
    file = tmp_path / "canvas-01.csv"
    imports.write([of_canvas(), absent, mailed, a_row("eve_1234", file="eve_1234.ipynb")], tmp_path, DEFAULT)
    ids = {line[0]: line[1] for line in read(file)[2:]}
    assert ids == {"leekim": "1234", "Bell, Ann": "5", "Lee, Kim": "6", "eve_1234": ""}
    others = a_row("Lee, Kim_20260001", file=CANVAS.format(name="leekim", number=1234))
    imports.write([others, absent, mailed], tmp_path, DEFAULT)
    ids = {line[0]: line[1] for line in read(file)[2:] if line[0] != "leekim"}
    assert {ids["Bell, Ann"], ids["Lee, Kim"]} <= {"", "1234"}


def test_each_platform_gets_its_own_students_only(tmp_path):
    imports.write([of_canvas(), of_moodle()], tmp_path, DEFAULT)
    assert [line[1] for line in read(tmp_path / "canvas-01.csv")[2:]] == ["1234"]
    assert [line[0] for line in read(tmp_path / "moodle-01.csv")[1:]] == ["Participant 77"]


@pytest.mark.parametrize("make", [of_canvas, of_moodle])
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (result.unreadable(1, "x"), "not readable"),
        (result.failed(1, "x"), "not graded yet"),
        (result.missing(1), "nothing was handed in"),
        (untouched(), "as it was given out"),
    ],
)
def test_nothing_can_clear_a_mark_and_who_is_left_out_is_told(tmp_path, make, found, reason):
    said = imports.write([make(), make("other", 99, result=found)], tmp_path, DEFAULT)
    [file] = tmp_path.glob("*-01.csv")
    assert "99" not in file.read_text(encoding="utf-8")
    grade = 5 if "canvas" in file.name else 3
    assert all(line[grade] for line in read(file))
    assert f"1 {reason} (other_99)" in said[0]


def test_a_lesson_that_nobody_touched_has_no_file(tmp_path):
    said = imports.write([of_canvas(result=untouched())], tmp_path, DEFAULT)
    assert not list(tmp_path.iterdir())
    assert "no mark to import" in said[0]


def test_an_honest_zero_and_a_zero_by_hand_are_marks(tmp_path):
    blank = untouched()
    zero = graded(
        1, {mark.id: WRONG if mark.id == "composition/sequential_composition" else BLANK for mark in blank.exercises}
    )
    by_hand = ByHand("b_2", 1, "composition/sequential_composition", 0, 1, "copied", "lee", "2026-10-02T00:00:00")
    rows = [of_canvas("a", 1, result=zero), of_canvas("b", 2, result=blank, by_hand=[by_hand])]
    imports.write(rows, tmp_path, DEFAULT)
    assert [line[-1] for line in read(tmp_path / "canvas-01.csv")[2:]] == ["0", "0"]


def test_whoever_is_no_longer_in_the_folder_is_left_out(tmp_path):
    said = imports.write([of_canvas(), of_canvas("gone", 9, stale=True)], tmp_path, DEFAULT)
    assert [line[1] for line in read(tmp_path / "canvas-01.csv")[2:]] == ["1234"]
    assert "1 no longer in the folder (gone_9)" in said[0]


def test_course_toml_names_the_column_and_scales_to_its_maximum(tmp_path):
    decided = settings.parse('[lessons.1]\ncolumn = "Homework 1 (4711)"\nmaximum = 10')
    imports.write(
        [of_canvas(settings=decided, result=graded(1, {"composition/worst_posterior": WRONG}))], tmp_path, decided
    )
    head, points, line = read(tmp_path / "canvas-01.csv")
    assert (head[-1], points[-1], line[-1]) == ("Homework 1 (4711)", "10", f"{10 * (FULL - 2) / FULL:.2f}")


def test_a_mark_above_the_maximum_is_told(tmp_path):
    bonus = ByHand("Kim Lee_77", 1, "", 2, None, "helped others", "lee", "2026-10-02T00:00:00")
    said = imports.write([of_moodle(by_hand=[bonus])], tmp_path, DEFAULT)
    assert any(f"Above the maximum of {FULL}" in line and f"Kim Lee_77 ({FULL + 2})" in line for line in said)


def test_an_anonymous_submission_is_in_no_import(tmp_path):
    said = imports.write([a_row("anon_ab1cd", file="anon_ab1cd_98765_x.ipynb")], tmp_path, DEFAULT)
    assert not list(tmp_path.iterdir())
    assert "anon_ab1cd" in said[0]


def test_an_import_of_before_does_not_stay(tmp_path):
    imports.write([of_canvas(), of_canvas("b", 2, lesson=2)], tmp_path, DEFAULT)
    assert (tmp_path / "canvas-02.csv").exists()
    imports.write([of_canvas()], tmp_path, DEFAULT)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["canvas-01.csv"]


def test_a_file_that_a_student_names_as_a_platform_would_gives_nobody_a_mark(tmp_path):
    """In a class of plain folders: "mallory" hands in a file that bears the number of somebody else."""
    rows = [
        a_row("mallory", file="mallory/leekim_1234_98765_x.ipynb"),
        a_row("ann", file="ann/ann_77_assignsubmission_file_/x.ipynb"),
    ]
    imports.write(rows, tmp_path, DEFAULT)
    assert [line[:2] for line in read(tmp_path / "canvas-01.csv")[2:]] == [["mallory", ""], ["ann", ""]]
    assert not (tmp_path / "moodle-01.csv").exists()


def test_a_roster_may_call_students_otherwise_than_the_platform(tmp_path):
    rows = [
        a_row("Lee, Kim", file=CANVAS.format(name="leekim", number=1234)),
        a_row("Bell, Ann_55", file="deeper/" + CANVAS.format(name="bellann", number=55)),
        a_row("Cho, Dan_66", file="hw-dancho/x.ipynb"),
    ]
    imports.write(rows, tmp_path, DEFAULT)
    known = [line[:2] for line in read(tmp_path / "canvas-01.csv")[2:]]
    assert known == [["Lee, Kim", "1234"], ["Bell, Ann", "55"], ["Cho, Dan", ""]]


@pytest.mark.parametrize("maximum", [10, 7.5, 100])
def test_a_page_a_comment_a_report_a_gradebook_and_an_import_say_the_same_number(tmp_path, maximum):
    decided = settings.parse(f"lessons.1.maximum = {maximum}")
    rows = [
        of(result=graded(1, {"composition/worst_posterior": WRONG}), settings=decided) for of in (of_canvas, of_moodle)
    ]
    out.write(rows, tmp_path, decided)
    scaled = number((FULL - 2) * maximum / FULL)
    told = f"{FULL - 2} of {FULL} points, that is {scaled} of {number(maximum)}"
    assert told in (tmp_path / "report.html").read_text(encoding="utf-8")
    for page in (tmp_path / "feedback").glob("*.html"):
        assert f"01 Composition: {told}<" in page.read_text(encoding="utf-8")
    assert told in returned.notebook(rows[0], decided)
    assert read(tmp_path / "canvas-01.csv")[2][-1] == scaled
    [line] = csv.DictReader(io.StringIO((tmp_path / "moodle-01.csv").read_text(encoding="utf-8")))
    assert (line["Grade"], told in line["Feedback comments"]) == (scaled, True)
    for line in csv.DictReader(io.StringIO((tmp_path / "gradebook.csv").read_text(encoding="utf-8-sig"))):
        assert (line["score in the LMS"], line["points in the LMS"]) == (scaled, number(maximum))
