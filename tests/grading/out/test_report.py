"""The page on a class: what to say in class, what to look at, and that nothing of a student's is more than text."""

import html
import re
from types import SimpleNamespace

from grading.rows import POSTERIOR, a_row, graded, with_slip
from support import ROOT

from dpcourse import course
from dpcourse.checking import WRONG
from dpcourse.grading import out, result
from dpcourse.grading.out import mistakes, report
from dpcourse.grading.result import Mark

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
SLIPS = [slip.name for slip in course.find("composition/worst_posterior").misconceptions]


def text_of(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.split("<main>")[1])))


def a_class(*counts):
    """A class in which the first slip of POSTERIOR was made by the first count of students, and so on."""
    return [
        a_row(f"{name}-{number}", with_slip("composition/worst_posterior", name))
        for name, count in zip(SLIPS, counts, strict=False)
        for number in range(count)
    ]


def unexplained(student, code="", message="Compare."):
    mark = Mark(
        "composition/worst_posterior", WRONG, 0, 2, message, observed=("f(1) gave 2; right is 3",), found_by="case"
    )
    rest = [each for each in graded().exercises if each.id != "composition/worst_posterior"]
    return a_row(student, result.result(1, "graded", marks=[*rest, mark]))


def test_what_most_students_got_wrong_comes_first_with_a_hint_and_the_part_of_the_lesson():
    rows = a_class(1, 3)
    found = mistakes.mistakes(rows, mistakes.sections(ROOT / "lessons/01-composition.ipynb"))
    assert [(each.name, len(each.students)) for each in found] == [(SLIPS[1], 3), (SLIPS[0], 1)]
    for each in found:
        assert each.hint in course.find("composition/worst_posterior").hints
        assert each.section.startswith("3. Post-processing")
    seen = text_of(report.class_report(rows))
    assert seen.index(
        f"3 of 4: {POSTERIOR} {course.find('composition/worst_posterior').title}, “{SLIPS[1]}”"
    ) < seen.index(f"1 of 4: {POSTERIOR}")


def test_a_hint_speaks_of_what_the_message_speaks_of():
    exercise = course.find("composition/worst_posterior")
    for hint in exercise.hints:
        assert mistakes.hint_for("composition/worst_posterior", hint) == hint


def test_every_exercise_has_its_part_of_the_lesson():
    for lesson in course.lessons():
        found = mistakes.sections(ROOT / f"lessons/{lesson.name}.ipynb")
        assert [id for id, heading in found.items() if heading] == [exercise.id for exercise in lesson.exercises]


def test_answers_that_nothing_explains_are_shown_with_their_code():
    rows = [unexplained("ann"), unexplained("bob"), *a_class(1)]
    page = report.class_report(
        rows,
        answers=lambda student, lesson: {"composition/worst_posterior": f"def f(x):\n    return {EVIL!r}  # {student}"},
    )
    assert page.count("<pre>") == 2
    assert "# ann" in page
    assert "<script" not in page
    assert f"{POSTERIOR} " in text_of(page).split("Wrong answers without a known reason")[1].split("2 of 3")[0]


def test_pages_escape_everything_and_may_run_nothing(tmp_path):
    mark = Mark("composition/worst_posterior", "wrong", 0, 2, EVIL, EVIL, (EVIL,), (EVIL,), EVIL, EVIL)
    rows = [a_row(EVIL, result.result(1, "flagged", [EVIL], [mark], [EVIL])), a_row(f"{EVIL}2", result.missing(1))]
    unread = [SimpleNamespace(path=EVIL, reason=EVIL)]
    moves = [(EVIL, EVIL, 1, EVIL, EVIL, EVIL, EVIL)]
    out.write(
        rows,
        tmp_path,
        unread=unread,
        answers=lambda student, lesson: {"composition/worst_posterior": EVIL},
        moves=moves,
    )
    for page in [tmp_path / "report.html", *(tmp_path / "feedback").iterdir()]:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "<img" not in text
        assert "default-src 'none'" in text
        assert "&lt;script&gt;" in text


def test_every_status_is_explained_with_what_to_do():
    statuses = [
        *(a_row(status, graded(status=status, notes=["a note"])) for status in ("graded", "flagged", "limit")),
        a_row("unreadable", result.unreadable(1, "it is empty")),
        a_row("infrastructure", result.failed(1, "no worker")),
        a_row("missing", result.missing(1)),
    ]
    assert {row.result.status for row in statuses} == set(report.MEANING)
    seen = text_of(report.class_report(statuses))
    for meant, advice in report.MEANING.values():
        assert meant in seen
        assert advice in seen
    assert "Who handed in nothing" in seen


def test_files_that_were_not_read_are_named_with_the_reason():
    unread = [SimpleNamespace(path="kim.pdf", reason="It is a PDF; ask for the notebook.")]
    assert "kim.pdf It is a PDF" in text_of(report.class_report([], unread))


def test_what_is_no_longer_in_the_folder_is_counted_nowhere_and_told():
    rows = [*a_class(1), a_row("gone", with_slip("composition/worst_posterior", SLIPS[0]), stale=True)]
    seen = text_of(report.class_report(rows))
    assert "1 submission. And 1 no longer in the folder" in seen
    assert f"1 of 1: {POSTERIOR}" in seen
    assert "gone 01 Composition graded, no longer in the folder" in seen


def test_a_class_of_nobody_has_a_report(tmp_path):
    assert out.write([], tmp_path) == []
    assert "0 submissions" in (tmp_path / "report.html").read_text(encoding="utf-8")
