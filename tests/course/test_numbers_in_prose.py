"""Every number that a lesson's prose states is printed by one of its cells, is a setting there, or is asserted in a test.

A number here is a decimal, a percentage, a power of ten written as 1e-5, or a whole number of three digits or more.
Years, links, inline code, formulas, numbers of sections and theorems, what an exercise asks for and the sources at the end
are none. A number of the prose is covered if a number that a cell prints rounds to it, or if the code of a cell holds it;
by a claim of test_prose.py, which computes it; or by an exception below, with the reason.
"""

import ast
import functools
import json
import re
import string

import pytest
from course.test_prose import CLAIMS
from support import ROOT

from dpcourse import course

NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(e-?\d+)?(?!\w)( ?%| percent)?")
NONE = [
    r"\A---\n.*?\n---\n",  # the front matter
    r"\n## Where this comes from\n.*",
    r"\n```.*?\n```",  # code cells
    r"\n\{exercise \w+\}\n.*?\n\{check \w+\}",
    r"`[^`\n]+`",
    r"(?<=\])\([^)\s]+\)",  # where a link leads
    r"\$\$.*?\$\$",
    r"\$[^$\n]+\$",
    r"\b\d\d §\d+",
    r"(?i)\b(?:sections?|theorems?|propositions?|lemmas?|definitions?|equations?|figures?|tables?|chapters?|exercises?|examples?|claims?) \d[\d.]*",
    r"\b(?:1[89]|20)\d\d\b",  # years
]

EXCEPTIONS = [
    (0, "lie within 1.96 standard errors", "asserted in tests/course/test_numbers.py"),
    (4, "as curves through 20,001 points", "asserted in tests/course/test_prose.py"),
    (4, "a δ of one in 100,000", "10⁻⁵ in words"),
    (8, "from 512 bytes of output", "as the paper says that is named there"),
    (6, "tried on 300 of the training images", "a report of what was done before the lesson was written"),
    (6, "3.21 in place of 2.99", "a cell of lesson 05 prints it, and tests/course/test_dpsgd_prose.py asserts it"),
]
"""(lesson, words of the prose that hold the number, why no cell prints it). Keep it short: print the number in a cell."""

pytestmark = pytest.mark.every_case  # a sentence is changed without a thought of its numbers

LESSONS = pytest.mark.parametrize("lesson", course.lessons(), ids=lambda lesson: lesson.word)


def source(lesson):
    return (ROOT / f"solutions/{lesson.name}.md").read_text(encoding="utf-8")


@functools.cache
def prose(lesson):
    """The lesson's text, with blanks in the place of all that is none of it: so places stay what they are."""
    text = source(lesson)
    for pattern in NONE:
        text = re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)
    return text


def stated(text):
    """(place, words, value, half a unit of the last digit, whether it is a percentage) of each number of a text."""
    for found in NUMBER.finditer(text):
        whole, decimals, power, percent = found.groups()
        if decimals or power or percent or len(whole.replace(",", "")) >= 3:
            value = float(whole.replace(",", "") + (decimals or "") + (power or ""))
            last = 10.0 ** (int((power or "e0")[1:]) - max(0, len(decimals or "") - 1))
            yield found.start(), found[0], value, last / 2, bool(percent)


def printed(output):
    """The numbers in what a cell shows; a percentage as it is and as a share."""
    data = output.get("data", {})
    text = "".join(output.get("text") or data.get("text/plain") or "")
    for whole, decimals, power, percent in NUMBER.findall(text):
        value = float(whole.replace(",", "") + decimals + power)
        yield from (value, value / 100) if percent else (value,)


def written(code):
    """The numbers in the code of a cell: its settings."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            yield float(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (value for _, _, value, _, _ in stated(node.value))


@functools.cache
def in_cells(lesson):
    """(the numbers that the cells print, the numbers that they hold)."""
    notebook = json.loads((ROOT / f"solutions/{lesson.name}.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = {value for cell in cells for output in cell["outputs"] for value in printed(output)}
    return shown, {value for cell in cells for value in written("".join(cell["source"]))}


def is_in_a_cell(lesson, value, half, percent):
    shown, held = in_cells(lesson)
    scales = (1, 100) if percent else (1,)
    return any(abs(scale * number - value) <= half * (1 + 1e-6) for number in shown for scale in scales) or any(
        abs(scale * number - value) <= 1e-9 * value for number in held for scale in scales
    )


def claimed(lesson):
    """The spans of the prose that test_prose.py compares with a computation."""
    text = source(lesson)
    for number, _, phrase, _ in CLAIMS:
        if number == lesson.number:
            parts = string.Formatter().parse(phrase)
            pattern = "".join(
                re.escape(words) + (r"[^\n]{1,20}?" if field is not None else "") for words, field, *_ in parts
            )
            yield from (found.span() for found in re.finditer(pattern, text))


def excepted(lesson):
    """The spans of the source that exceptions speak of, by their words."""
    return {
        words: [found.span() for found in re.finditer(re.escape(words), source(lesson))]
        for number, words, _ in EXCEPTIONS
        if number == lesson.number
    }


def nowhere(lesson):
    """(place, words) of each number in no cell and in no claim."""
    spans = list(claimed(lesson))
    for place, words, value, half, percent in stated(prose(lesson)):
        if not any(start <= place < end for start, end in spans) and not is_in_a_cell(lesson, value, half, percent):
            yield place, words


@LESSONS
def test_every_number_in_the_prose_is_printed_or_asserted(lesson):
    text = prose(lesson)
    spans = [span for each in excepted(lesson).values() for span in each]
    found = [
        f"line {text.count(chr(10), 0, place) + 1}: {words!r} in {text[max(0, place - 40) : place + 30]!r}"
        for place, words in nowhere(lesson)
        if not any(start <= place < end for start, end in spans)
    ]
    assert not found, f"solutions/{lesson.name}.md states numbers that none of its cells prints:\n" + "\n".join(found)


@LESSONS
def test_every_exception_is_needed(lesson):
    missing = [place for place, _ in nowhere(lesson)]
    stale = [
        words
        for words, spans in excepted(lesson).items()
        if not any(start <= place < end for start, end in spans for place in missing)
    ]
    assert not stale, f"take these out of EXCEPTIONS, solutions/{lesson.name}.md needs none for them: {stale}"


def test_what_is_a_number():
    text = "Of 6,366 people 3 % or 0.25 said 5; 120 did (in 1978), δ = 1e-5. `300` §4"
    assert [words.strip() for _, words, *_ in stated(text)] == ["6,366", "3 %", "0.25", "120", "1978", "1e-5", "300"]
