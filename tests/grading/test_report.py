"""What students and instructors read: harmless, and without an answer to a hidden input."""

from grading.rows import a_row

from dpcourse import course
from dpcourse.grading import report
from dpcourse.grading.result import Mark, result, told, unreadable

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_pages_escape_everything_and_may_run_nothing(tmp_path):
    mark = Mark("1.3", "wrong", 0, 2, EVIL, EVIL, (EVIL,), (EVIL,), EVIL, EVIL)
    row = a_row(EVIL, result(1, "graded", [EVIL], [mark], [EVIL]))
    report.write([row], tmp_path)
    for page in [tmp_path / "report.html", *(tmp_path / "feedback").iterdir()]:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "<img" not in text
        assert "default-src 'none'" in text
        assert "&lt;script&gt;" in text


def test_feedback_on_what_was_not_judged_speaks_of_no_calls():
    judged = told(course.find("1.3").check(None))
    said = "Your functions were called"
    assert said in report.feedback("kim", [a_row(result=result(1, "graded", marks=[judged]))])
    assert said not in report.feedback("kim", [a_row(result=unreadable(1, "it is empty"))])


def test_feedback_holds_no_answer_to_a_hidden_input():
    exercise = course.find("1.3")
    for slip in exercise.misconceptions:
        mark = told(exercise.check(slip.code, rng=1))
        assert "right is" in mark.observed[0]
        page = report.feedback("kim", [a_row(result=result(1, "graded", marks=[mark]))])
        assert slip.name not in page or slip.name in slip.message
        assert "right is" not in page
        assert " gave " in page
