"""How many minutes a lesson takes, counted from its source: to read and look, and to solve the exercises.

A word of prose stands between spaces, also in a table. A word of mathematics is a letter, a sign, a number or a group of
operators in a formula; in code that is given it is a name, a number or a group of operators. The constants say how many
are read in a minute, and what else takes time. Solving an exercise takes the minutes that it says itself, a person's estimate.
PACE was fitted in 2026 to the minutes by section that two to six readers judged of each lesson from 00 to 10: with it the
median section is 6.5 % off, and 64 % are within 10 %; without it sections were 15 % too short. That is a fit, and no test.
What is folded, text in <details> or code that JupyterLab folds, is a second reading, and counted apart. What the build
fills in is not counted.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from dpcourse.authoring.on_page import title
from dpcourse.authoring.source import PART, is_folded, lesson_of, read
from dpcourse.base import cells
from dpcourse.checking import Exercise
from dpcourse.course import Lesson

PROSE, MATHEMATICS = 200, 60
"""Words in a minute, read once."""
PACE = 1.28
"""Times that it takes to read so that an exercise can be solved."""
PICTURE, EXPLORER, OUTPUT, QUESTION = 1, 3, 1, 0.5
"""Minutes."""

FOLDED = "folded code"
PIECE = re.compile(
    r"<details\b[^>]*>(?P<folded>(?s:.*?))</details>|^```.*\n(?P<code>(?s:.*?))^```$|^## (?P<title>.+)$", re.MULTILINE
)
"""In the text of a Markdown cell."""
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
NOT_READ = re.compile(r"</?[a-z][^>]*>|(?<=\])\([^)]*\)")  # tags, and where links lead
OPERATORS = r"[-+*/=<>≤≥|!:%@]+"
CODE_WORD = re.compile(rf"[^\W\d]\w*|\d[\w.]*|{OPERATORS}")
SYMBOL = re.compile(
    r"\\(?:begin|end)\{[^}]*\}|\\(?:left|right|[bB]ig+[lrm]?|q?quad|hat|bar|tilde|displaystyle|limits)(?![A-Za-z])|\\[^A-Za-z]"
    r"|(?P<read>\\(?:text|math[a-z]+|operatorname)\{(?P<words>[^{}]*)\}|\\[A-Za-z]+|[^\W\d_]|\d+(?:[.,]\d+)*"
    rf"|{OPERATORS})"
)
"""In a formula; what only moves, sizes or decorates comes first, and is not read."""


@dataclass(frozen=True)
class Section:
    """A section of a lesson by its heading ("" above the first): minutes to read it, what is folded in it, exercises.

    pauses: whether a reader may leave after it, where the source says {pause}.
    """

    title: str
    reading: float
    folded: float
    exercises: tuple[Exercise, ...]
    pauses: bool

    @property
    def solving(self) -> int:
        """The minutes of its exercises."""
        return sum(exercise.minutes for exercise in self.exercises)

    @property
    def total(self) -> float:
        """The minutes that it takes, without what is folded."""
        return self.reading + self.solving


@dataclass(frozen=True)
class Minutes:
    """The minutes that a lesson takes, as they are told: reading, solving and what is folded, each rounded up to 5.

    So they may be more than those of the sections together, by less than 10. sittings: for each the title of its last
    section, at whose end a reader may leave, and its share of the total, a multiple of 5; together they are the total.
    """

    reading: int
    solving: int
    folded: int
    sittings: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """Without what is folded."""
        return self.reading + self.solving

    @property
    def hours(self) -> int:
        """As other pages say it, so that an exercise more changes its own lesson's page, and seldom another."""
        return max(1, round(self.total / 60))


def of(file: Path) -> Minutes:
    """The minutes of the lesson with this source. Raises SourceError where no lesson has it."""
    found = list(sections(file))
    parts = ("reading", "solving", "folded")
    told = Minutes(*(5 * math.ceil(sum(getattr(section, part) for section in found) / 5) for part in parts))
    return replace(told, sittings=tuple(_sittings(found, told.total)))


def _sittings(found, total):
    """Each sitting: (the title of its last section, its minutes); what rounding adds to the total goes to all alike.

    Each gets the whole fives of its share, and those with the largest remainders one five more.
    """
    ends = [i for i, section in enumerate(found) if section.pauses and section is not found[-1]] + [len(found) - 1]
    until = [sum(section.total for section in found[: end + 1]) for end in ends]
    shares = [(here - before) / until[-1] * total / 5 for before, here in zip([0.0, *until], until, strict=False)]
    fives = [math.floor(share) for share in shares]
    left = total // 5 - sum(fives)
    for i in sorted(range(len(shares)), key=lambda i: fives[i] - shares[i])[:left]:
        fives[i] += 1
    return [(found[end].title, 5 * five) for end, five in zip(ends, fives, strict=True)]


def sections(file: Path) -> Iterator[Section]:
    """The sections of a source, in order; first what stands above the first heading. Raises SourceError."""
    lesson = lesson_of(file)
    for heading, cells_of in _sections(read(file)):
        parts = list(filter(None, (PART.fullmatch(text) for kind, text in cells_of if kind == "raw")))
        named = [part["argument"] for part in parts if part["part"] == "exercise"]
        pauses = any(part["part"] == "pause" for part in parts)
        texts = [text for kind, text in cells_of if kind == "markdown"]
        folded = [text for kind, text in cells_of if kind == FOLDED]
        code = sum(_of_code(lesson, text) for kind, text in cells_of if kind == "code")
        code += sum(_of_outputs(lesson, text) for text in folded)
        second = sum(_of_text(lesson, piece["folded"] or "") for text in texts for piece in PIECE.finditer(text))
        second += sum(words_of_code(text) / MATHEMATICS for text in folded)
        yield Section(
            heading,
            reading=PACE * (code + sum(_of_text(lesson, text) for text in texts)),
            folded=PACE * second,
            exercises=tuple(lesson.exercise(name) for name in named if name in lesson.functions),  # others are refused
            pauses=pauses,
        )


def headings(notebook: nbformat.NotebookNode) -> list[str]:
    """The headings of the sections of a source, in order."""
    return [title for title, _ in _sections(notebook)][1:]


def _sections(notebook):
    """(heading, [(kind, text), ...]) of each section; a heading may stand within a cell. Folded code is a kind of its own."""
    found: list[tuple[str, list[tuple[str, str]]]] = [("", [])]
    for cell in notebook.cells:
        kind, begin = FOLDED if is_folded(cell) else cell.cell_type, 0
        for head in PIECE.finditer(cell.source) if cell.cell_type == "markdown" else ():
            if head["title"]:
                found[-1][1].append((kind, cell.source[begin : head.start()]))
                found.append((head["title"], []))
                begin = head.end()
        found[-1][1].append((kind, cell.source[begin:]))
    return found


def _of_text(lesson: Lesson, text: str) -> float:
    """The minutes to read a text with its code, without what is folded in it."""
    code = sum(_of_code(lesson, piece["code"] or "") for piece in PIECE.finditer(text))
    prose, mathematics = words_of_text(PIECE.sub("\n", text))
    return prose / PROSE + mathematics / MATHEMATICS + code


def _of_code(lesson: Lesson, code: str) -> float:
    given = cells.blanked(code)
    return words_of_code(given) / MATHEMATICS + _of_outputs(lesson, given)


def _of_outputs(lesson: Lesson, code: str) -> float:
    """The minutes to look at what code gives."""
    called = cells.called(code)
    playing = called.count("widgets.explore") + called.count("attack")
    looking = PICTURE * called.count("plots.show") + EXPLORER * playing
    asking = QUESTION * len(lesson.quiz) if "quiz" in called else 0
    printing = OUTPUT * ("print" in called or "tables.show" in called)
    return looking + printing + asking


def words_of_text(text: str) -> tuple[int, int]:
    """How many words of prose and of mathematics a reader reads in Markdown without code.

    >>> words_of_text("Let $x > 0$: see [the well-known proof](01-composition.ipynb).")
    (5, 3)
    """
    mathematics = sum(words_of_formula(block or inline) for block, inline in FORMULA.findall(text))
    return len(WORD.findall(NOT_READ.sub(" ", FORMULA.sub(" ", text)))), mathematics


def words_of_formula(formula: str) -> int:
    r"""How many words a reader reads in LaTeX: letters, signs, numbers, groups of operators, and the words of a text.

    >>> words_of_formula(r"\frac{p}{1-p} = e^{\varepsilon}")  # frac p 1 - p = e varepsilon
    8
    >>> words_of_formula(r"\Pr\bigl[\text{report yes}\bigr] \le 0.5")
    5
    """
    read = (found for found in SYMBOL.finditer(formula) if found["read"])
    return sum(1 if found["words"] is None else len(found["words"].split()) for found in read)


def words_of_code(code: str) -> int:
    """How many words a reader reads in Python: names, numbers, groups of operators.

    >>> words_of_code("noise = rng.laplace(0, 1 / epsilon)")
    8
    """
    return len(CODE_WORD.findall(code))


def table(files: Iterable[Path]) -> str:
    """The minutes of lessons and of their sections as text, for those who write them; files: their sources."""
    lines = [f"{'':60}{'reading':>9}{'solving':>9}{'total':>9}{'folded':>9}"]
    for file in files:
        told = of(file)
        lines.append(f"{title(file)[:60]:60}{told.reading:9}{told.solving:9}{told.total:9}{told.folded:9}")
        for section in sections(file):
            name = f"  {section.title or 'above the first heading'}"[:60]
            lines.append(f"{name:60}{section.reading:9.1f}{section.solving:9}{section.total:9.1f}{section.folded:9.1f}")
    return "\n".join(lines)
