"""The minutes of a lesson: what each thing that is read adds, and two other programs that read every lesson too."""

import html
import re

import jupytext
import pytest
from markdown_it import MarkdownIt
from math_core import LatexToMathML
from mdit_py_plugins.dollarmath import dollarmath_plugin
from support import ROOT
from typer.testing import CliRunner

from dpcourse import course as real
from dpcourse.authoring import fill, minutes, navigation
from dpcourse.commands import app

WORDS = "It is so, and we say why. " * 200
FORMULA = "\\hat x + 1 = y, \\; " * 12  # as many words as are read in a minute
CODE = "a = b + 1\n" * 12
BRACKETS = set("()[]{}⟨⟩|‖′,;.…⋯\u2061\u200b")
"""What math-core gives as operators, or as a letter, and nobody reads as a word."""
every_source = pytest.mark.parametrize("file", navigation.sources(ROOT), ids=lambda file: file.stem)


def cell(code):
    return f"```{{code-cell}} ipython3\n:tags: [a-tag, another-tag]\n{code}\n```"


def sums(file):
    """(reading, solving, folded) of all sections together."""
    found = list(minutes.sections(file))
    return [sum(getattr(section, part) for section in found) for part in ("reading", "solving", "folded")]


@pytest.mark.parametrize(
    ("added", "reading"),
    [
        (WORDS, 7),
        ("## 1. " + "word " * 200, 0),
        ("| a | b |\n|:--|--:|\n" + "| one | 2.5 |\n" * 99, 1),
        (f"${FORMULA}$", 1),
        (f"$$\n\\begin{{aligned}}{FORMULA}\\end{{aligned}}\n$$", 1),
        (f"**{WORDS}** ${FORMULA}$ [word](https://a.very/long-address?that=nobody&reads=it) <b>word</b>", 8 + 2 / 200),
        (cell(CODE), 1),
        (f"```python\n{CODE}```", 1),
        (cell(f"{CODE}plots.show(f)"), 1 + 1 + 3 / 60),
        (cell(f"{CODE}widgets.explore(f)"), 1 + 3 + 3 / 60),
        (cell(f"{CODE}attack(f)"), 1 + 3 + 2 / 60),
        (cell(f"{CODE}print(a)"), 1 + 1 + 2 / 60),
        (cell(f"{CODE}print(a)\nprint(b)"), 1 + 1 + 4 / 60),
        (cell(f"{CODE}tables.show(t)"), 1 + 1 + 3 / 60),
        (f"<details><summary>Why</summary>\n\n{WORDS}\n\n</details>", 0),
        ("+++", 0),
    ],
)
def test_what_is_added_takes_so_many_minutes(course, added, reading):
    before = sums(course.source)
    course.edit(("{closing}", f"{added}\n\n{{closing}}"))
    assert sums(course.source)[0] - before[0] == pytest.approx(minutes.PACE * reading)
    assert sums(course.source)[1] == before[1]


def test_what_is_folded_is_counted_apart(course):
    assert "<details>" not in fill.opening(course.source), "it has no sections"
    folded = f"<details><summary>Why so</summary>\n\n{WORDS}\n\n${FORMULA}$\n\n```python\n{CODE}```\n\n</details>"
    course.edit(("{closing}", f"## 1. A section\n\n{folded}\n\n{{closing}}"))
    *_, last = minutes.sections(course.source)
    assert (last.title, last.total) == ("1. A section", 0)
    assert last.folded == pytest.approx(minutes.PACE * (7 + 1 + 1 + 2 / 200))
    assert "10 for the exercises. What is folded, for a second reading, takes 15 more." in fill.opening(course.source)


def test_folded_code_is_counted_apart_and_what_it_shows_is_not(course):
    before = sums(course.source)
    folded = cell(f"{CODE}tables.show(t)").replace(":tags", ":jupyter: {source_hidden: true}\n:tags")
    course.edit(("{closing}", f"{folded}\n\n{{closing}}"))
    after = sums(course.source)
    assert [now - then for now, then in zip(after, before, strict=True)] == pytest.approx(
        [minutes.PACE, 0, minutes.PACE * (1 + 3 / 60)]
    )


def test_a_solution_is_not_read_and_an_exercise_takes_its_own_minutes(course):
    before = sums(course.source)
    assert before[1] == real.lessons()[0].exercises[0].minutes == 6
    course.edit(("    return 1 / (1", f"    plots.show(f)\n{CODE.replace('a =', '    a =')}    return 1 / (1"))
    assert sums(course.source) == before
    course.edit(("{exercise keep_probability}\n", ""))
    assert sums(course.source) == [before[0], 0, 0]


def test_a_question_of_the_quiz_takes_half_a_minute(course):
    before = sums(course.source)
    course.edit(("{closing}", cell("quiz(0)")))
    questions = len(real.lessons()[0].quiz)
    assert questions > 3
    assert sums(course.source)[0] - before[0] == pytest.approx(minutes.PACE * (questions / 2 + 2 / 60))


@every_source
def test_a_lesson_takes_what_its_sections_take_each_part_rounded_up_to_five(file):
    told = minutes.of(file)
    for part, exact in zip((told.reading, told.solving, told.folded), sums(file), strict=True):
        assert part % 5 == 0
        assert exact <= part < exact + 5
    assert told.total == told.reading + told.solving
    named = [exercise.function for section in minutes.sections(file) for exercise in section.exercises]
    assert sorted(named) == sorted(real.lesson(int(file.stem[:2])).functions)


def test_where_a_reader_may_pause_the_opening_says_so(course):
    assert "pause" not in fill.opening(course.source)
    course.edit(("{closing}", f"## 1. One\n\n{WORDS}\n\n{{pause}}\n\n+++\n\n## 2. Two\n\n{WORDS}\n\n{{closing}}"))
    *_, one, two = minutes.sections(course.source)
    assert (one.pauses, two.pauses) == (True, False)
    [(last, first), (_, second)] = minutes.of(course.source).sittings
    assert (last, first + second) == ("1. One", minutes.of(course.source).total)
    assert f"You can pause after section 1: the parts take {first} and {second} minutes." in fill.opening(course.source)


@every_source
def test_the_opening_names_each_section_with_its_minutes(file):
    named = re.findall(r"^- \[?(.+?)(?:\]\(.+\))? · (\d+) min", fill.opening(file), re.MULTILINE)
    markdown = [cell.source for cell in jupytext.read(file, fmt="md:myst").cells if cell.cell_type == "markdown"]
    assert [name for name, _ in named] == re.findall(r"^## (.+)$", "\n\n".join(markdown), re.MULTILINE)
    told = minutes.of(file)
    assert abs(sum(int(each) for _, each in named) - told.total) < 10 + len(named)


@every_source
def test_markdown_it_and_math_core_count_as_many_words(file):
    """What markdown-it calls text, and the elements of MathML that hold something, within 6 %; brackets are no words."""
    found = [cell.source for cell in jupytext.read(file, fmt="md:myst").cells if cell.cell_type == "markdown"]
    text = re.sub(r"</?(details|summary).*?>", "", "\n\n".join(found))
    prose = mathematics = 0
    for token in _flat(MarkdownIt().enable("table").use(dollarmath_plugin).parse(text)):
        if token.type.startswith("math"):
            mathematics += _words_of(token.content)
        elif token.type in ("text", "code_inline"):
            prose += len(re.findall(r"\S*\w\S*", token.content))
    assert minutes.words_of_text(text) == (pytest.approx(prose, rel=0.06), pytest.approx(mathematics, rel=0.06))


def _flat(tokens):
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _words_of(formula):
    """The letters, numbers, texts, fractions, roots and operators in the MathML of a formula."""
    mathml = LatexToMathML().convert_with_local_state(formula, displaystyle=False)
    found = re.findall(r"<(mi|mn|mo|mtext|mfrac|msqrt)\b[^>]*>([^<]*)", mathml)
    texts = sum(len(html.unescape(text).split()) for tag, text in found if tag == "mtext")
    return texts + sum(tag != "mtext" and html.unescape(text) not in BRACKETS for tag, text in found)


def test_the_command_says_the_minutes_of_each_section(course):
    course.edit(("{closing}", f"## 1. A section\n\n{WORDS}\n\n{{closing}}"))
    result = CliRunner().invoke(app, ["build", "--minutes", "--root", str(course.root)])
    assert result.exit_code == 0
    head, lesson, above, section = (re.split(r"  +", line.strip()) for line in result.output.splitlines())
    assert head == ["reading", "solving", "total", "folded"]
    assert lesson == ["00 A lesson", "15", "10", "25", "0"]
    assert above[0] == "above the first heading"
    assert section == ["1. A section", "9.0", "0", "9.0", "0.0"]
    assert course.files() == {}
