"""What a learner calls speaks the language chosen: every text of it, and the English one again afterwards."""

import gettext
import json
import re

import pytest
from nbformat import v4
from typer.testing import CliRunner

from dpcourse import course, hint, solution, tables
from dpcourse.base import languages
from dpcourse.commands import learner
from dpcourse.commands.shared import app, helps
from dpcourse.notebook import check, doctor
from dpcourse.notebook.progress import Progress, record
from dpcourse.notebook.quiz import Static, _widget
from dpcourse.widgets import choice


class Wrapped(gettext.NullTranslations):
    """A made-up language: what is said in it is English in brackets."""

    def gettext(self, message):
        return f"⟦{message}⟧"

    def ngettext(self, one, many, count):
        return f"⟦{one if count == 1 else many}⟧"


@pytest.fixture(autouse=True)
def made_up(tmp_path, monkeypatch):
    monkeypatch.setattr(languages, "_catalogue", lambda folder: Wrapped())
    monkeypatch.setattr(languages, "_chosen", [])
    monkeypatch.delenv(languages.CHOICE, raising=False)
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))


def said_in_both(say):
    """What `say` returns, in English and in the made-up language; and it is the same in English afterwards."""
    before = say()
    with languages.speaking("zh"):
        there = say()
    assert say() == before
    assert there != before
    assert without_widths(without_brackets(there)).split() == without_widths(before).split()
    return before, there


def without_brackets(text):
    return text.replace("⟦", "").replace("⟧", "")


def without_widths(text):
    """A column of a table is as wide as its words."""
    return re.sub(r";min-width:[\d.]+em", "", text) if isinstance(text, str) else text


def left_in_english(text):
    """The words that stand in no brackets, without tags and code."""
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", text)) != text:
        text = shorter
    return re.findall(r"[A-Za-z]{3,}", re.sub(r"<[^>]*>", "", text))


@pytest.fixture
def shown(monkeypatch):
    """A function: (call, *arguments) -> a function that calls it and returns what it showed, as text and as HTML."""

    def showing(call, *given, **named):
        def say():
            bundles = []
            monkeypatch.setattr("IPython.display.display", lambda bundle, **how: bundles.append(bundle))
            call(*given, **named)
            return "\n".join(bundle[kind] for bundle in bundles for kind in ("text/plain", "text/html"))

        return say

    return showing


@pytest.mark.parametrize(
    ("call", "given"),
    [(hint, ("1.7", 1)), (hint, ("1.7", 3)), (hint, ("1.7", 9)), (solution, ("1.5",)), (hint, ("49.1",))],
)
def test_hints_and_the_question_before_a_solution(shown, call, given):
    _, there = said_in_both(shown(call, *given))
    assert left_in_english(there) == []


def test_an_interrupted_check(shown):
    def interrupted(epsilon):
        raise KeyboardInterrupt

    _, there = said_in_both(shown(check.check, "0.1", interrupted))
    assert left_in_english(there) == []
    assert "⟦How often to keep the truth⟧" in there


def test_a_solution_is_that_of_the_language_or_else_the_english_one(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "__file__", str(tmp_path / "dpcourse" / "notebook.py"))
    solve = shown(solution, "1.5", sure=True)
    _, there = said_in_both(solve)
    assert left_in_english(there) == [], "they are not in this copy"
    for folder, comment in (("solutions", "one"), ("solutions/zh", "甲")):
        code = f"def {course.find('1.5').function}(k):\n    ### BEGIN SOLUTION\n    return k  # {comment}"
        (tmp_path / folder).mkdir()
        made = v4.new_notebook(cells=[v4.new_code_cell(f"{code}\n    ### END SOLUTION")])
        (tmp_path / folder / "01-composition.ipynb").write_text(v4.writes(made), encoding="utf-8")
        assert "return k  # one" in solve()
        with languages.speaking("zh"):
            assert f"return k  # {comment}" in solve()


def test_the_quiz():
    questions = course.lesson(1).quiz
    for say in (lambda: repr(Static(questions)), lambda: Static(questions)._repr_html_()):
        _, there = said_in_both(say)
        assert left_in_english(there) == []
    with languages.speaking("zh"):
        first, *_ = _widget(1, questions).children
        text, buttons, reply = first.children
        assert all(label.startswith("⟦") for label in buttons._options_labels)
        buttons.value = questions[0].options[0]
        assert left_in_english(reply.value) == left_in_english(text.value) == []


def test_the_progress_is_the_same_in_all_languages(tmp_path):
    with languages.speaking("zh"):
        record("start_here/keep_probability")
        record("start_here/q2")
    kept = json.loads((tmp_path / "data" / "progress.json").read_text(encoding="utf-8"))
    assert kept["done"] == ["start_here/keep_probability", "start_here/q2"]
    assert kept["last"] == "start_here/q2"
    for say in (lambda: repr(Progress()), lambda: Progress()._repr_html_()):
        english, there = said_in_both(say)
        assert "1 of 3" in english
        assert left_in_english(there) == []


def test_the_set_up_check(monkeypatch):
    monkeypatch.setattr(doctor, "FOR_LEARNERS", {})
    for finding in ("_memory", "_disk", "_gpu", "_data_folder"):
        found = getattr(doctor, finding)()
        monkeypatch.setattr(doctor, finding, lambda found=found: _again(found))
    english, there = said_in_both(lambda: repr(doctor.report()))
    assert english.startswith("OK      Python: ")
    assert there.startswith("⟦⟦OK⟧")
    assert "⟦memory⟧" in there
    with languages.speaking("zh"):
        assert "⟦✓ ok⟧" in doctor.report()._repr_html_()


def _again(found):
    """A finding as it was, whose numbers do not change from one moment to the next."""
    return doctor.Finding(languages.again(found.what), found.state, languages.again(found.said))


def test_yes_and_no_in_a_table_and_the_options_of_a_slider():
    _, there = said_in_both(lambda: tables.Table({"pure": [True, False, None]})._repr_html_())
    assert "⟦yes⟧" in there
    assert "aria-label='⟦Table⟧'" in there
    with languages.speaking("zh"):
        assert choice("mechanism", ["noise", 3]).options == (("⟦noise⟧", "noise"), ("3", 3))


# ---- commands


def run(*words, language="zh", columns=300):
    environment = {languages.CHOICE: language, "COLUMNS": str(columns)}
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def test_the_help_of_every_command():
    for word in sorted({word for word, *_ in helps()} - {""}):
        english, there = run(word, "--help", language="en").stdout, run(word, "--help").stdout
        told = [
            text for its, has, name, text in helps() if its == word and name == "help" and not hasattr(has, "params")
        ]
        assert all(f"⟦{text}" in there.replace("\n", " ") for text in told), there
        assert all(f"⟦{panel}⟧" in there for panel in re.findall(r"╭─ (.+?) ─", english))
        assert "⟦" not in english
    assert f"⟦{learner.start.__doc__}⟧" in run("--help").stdout


def test_the_help_of_a_language_that_has_no_blanks_is_whole_on_a_narrow_screen(monkeypatch):
    monkeypatch.setattr(Wrapped, "gettext", lambda self, message: f"⟦{message.replace(' ', '')}⟧")
    assert "…" not in run("--help", columns=80).stdout
    told = run("grade", "--help", columns=80).stdout
    assert told.count("⟦") == told.count("⟧") > 10
    assert "…" not in told


def test_a_language_that_is_not_there_is_told_in_a_line():
    for words in (["doctor"], ["--help"], ["start", "--help"]):
        told = run(*words, language="fr")
        assert told.exit_code == 2
        assert re.fullmatch(r"DPCOURSE_LANGUAGE: there is no language 'fr'; there are: en, .*\n", told.output)


def test_lessons_are_begun_and_updated_in_the_language_chosen(tmp_path):
    begun = run("start", tmp_path / "mine", "--no-open")
    assert begun.output.startswith("⟦")
    record = json.loads((tmp_path / "mine" / ".dpcourse-edition.json").read_text())
    assert record["language"] == "zh"
    assert run("update", tmp_path / "mine", language="en").output.startswith("⟦"), "they stay in it"
    run("start", tmp_path / "other", "--no-open", "--language", "en")
    assert "⟦" not in run("update", tmp_path / "other").output
    refused = run("update", tmp_path / "nowhere")
    assert (refused.exit_code, refused.output[0]) == (2, "⟦")
    assert run("progress").output.startswith("⟦")
