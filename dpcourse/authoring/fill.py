"""A source with everything filled in that is said elsewhere: titles, links, exercises and their numbers.

On a line of its own stand {opening}, {contents}, {closing}, {pause} (at the end of a section, where a reader may leave for
the day), {exercise error_rates} (the header above an exercise) and {check error_rates} (its check cell). Within a line {error_rates} is the number of that exercise, and 01 §5 a link to that
section; in a code cell `passed("error_rates")` asks for an exercise by its function too. An exercise of another lesson
has the word of that lesson before it, {gdp/error_rates}. {variant epsilon} is a value that differs from student to student.
"""

import importlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat

from dpcourse import course
from dpcourse.authoring import glossary, minutes
from dpcourse.authoring.binder import repository
from dpcourse.authoring.navigation import contents, links, referring, sections
from dpcourse.authoring.on_page import say_for, title
from dpcourse.authoring.source import (
    GOES_ON,
    LINES,
    PART,
    SourceError,
    english,
    language_of,
    lesson_of,
    line_of,
    new_cell,
    root_of,
    rows,
    with_cells,
)
from dpcourse.authoring.translation import about
from dpcourse.base import cells
from dpcourse.base.languages import ENGLISH, again, counted, listed, say, sentences, to_say
from dpcourse.checking.exercise import Exercise

NAME = r"(?P<name>(?:\w+/)?[A-Za-z_]\w*)"
NUMBER = re.compile(rf"(?<![\w\\^}}])\{{{NAME}\}}", re.ASCII)  # a Chinese character is no letter before it
"""{name}, which is no argument of a LaTeX command: `_{{tot}}` and `\\mathrm{{kl}}` stay as they are."""
CALL = re.compile(r'\b(?P<call>passed|check|hint|solution)\("(?P<name>[^"]+)"')
IMPORT = re.compile(r"^from dpcourse import (?P<names>\w+(?:, \w+)*)$")
ON_COLAB = """import subprocess, sys

if "google.colab" in sys.modules:  # nothing is to be installed anywhere else
    course = "dpcourse @ git+https://github.com/{name}"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", course], check=True)"""


def filled(file: Path, notebook: nbformat.NotebookNode, for_nobody: bool = False) -> nbformat.NotebookNode:
    """The notebook of a source as it is read by everybody. Raises SourceError for a name that nothing has.

    for_nobody: leave {variant epsilon} as it is; else it is the sample's value.
    """
    made: list[nbformat.NotebookNode] = []
    for each in notebook.cells:
        for new in _filled(file, each):
            new = _variants(file, new, for_nobody)
            if new.metadata.pop(GOES_ON, False) and made[-1].cell_type == new.cell_type == "markdown":
                new = _joined(made.pop(), new)
            made.append(new)
    return with_cells(notebook, (each for each in made if each.source or each.cell_type == "code"))


def _joined(above, below):
    """Two parts of a Markdown cell as one; either may be empty."""
    if not (above.source and below.source):
        return above if above.source else below
    blank = (above.metadata[LINES][-1], "")
    return new_cell("markdown", [*rows(above), blank, *rows(below)])


def _filled(file, old):
    """The cells that stand in the place of a cell of a source."""
    if old.cell_type != "raw":
        fill = _code if old.cell_type == "code" else _prose
        made = [(number, fill(file, number, line)) for number, line in rows(old)]
        yield new_cell(old.cell_type, made, **old.metadata)
        return
    ((number, line),) = rows(old)
    part = PART.fullmatch(line)
    if part["part"] not in PARTS:
        there = ", ".join(f"{{{name}}}" for name in PARTS)
        raise SourceError(file, number, f"there is no {line} to fill in on a line of its own; there are {there}")
    text = PARTS[part["part"]](file, number, part["argument"] or "")
    if part["part"] == "check":
        yield _all_at(number, "code", text, **old.metadata)
    else:
        yield _all_at(number, "markdown", referring(file, number, text), **old.metadata)
    if part["part"] == "opening" and (name := repository(root_of(file))):
        yield _all_at(number, "code", ON_COLAB.format(name=name), tags=["remove-cell"])


def _all_at(number, kind, text, **metadata):
    """A cell all of whose lines come from one line of the source."""
    return new_cell(kind, [(number, line) for line in text.split("\n")], **metadata)


def _variants(file, old, for_nobody):
    """The cell with the sample's values; for nobody it stays as it is, but each {variant name} must be one."""
    if not cells.VARIANT.search(old.source):
        return old
    values = {name: value for mine in lesson_of(file).sample().values() for name, value in mine.items()}
    made = []
    for number, line in rows(old):
        try:
            made.append((number, cells.filled(line, values, as_code=old.cell_type == "code")))
        except KeyError as error:
            there = ", ".join(values) or "none: `@variants(epsilon=(0.5, 1.0))` above an exercise makes one"
            message = f"there is no variant {error.args[0]!r}; there are {there}"
            raise SourceError(file, number, message) from None
    return old if for_nobody else new_cell(old.cell_type, made, **old.metadata)


def _prose(file, number, line):
    line = NUMBER.sub(lambda found: _named(file, number, found["name"]).number, line)
    return referring(file, number, line)


def _code(file, number, line):
    """Within code braces are Python's too, so only names of exercises are filled."""

    def call(found):
        exercise = _named(file, number, found["name"])
        if found["call"] == "check":
            raise SourceError(file, number, f"write `{{check {exercise.function}}}` on a line of its own for this cell")
        return f'{found["call"]}("{exercise.number}"'

    def mention(found):
        word, _, function = found["name"].rpartition("/")
        is_known = any(function in each.functions and (word or own) == each.word for each in course.lessons())
        return _named(file, number, found["name"]).number if is_known else found[0]

    own = lesson_of(file).word
    if imported := IMPORT.match(line):
        return _imports(lesson_of(file).exercises, imported["names"].split(", "))
    return NUMBER.sub(mention, CALL.sub(call, line))


def _imports(exercises, names):
    """The import of these names, without a call for help that no exercise of the lesson answers."""
    answered = {call for exercise in exercises for call, is_there in _asking(exercise).items() if is_there}
    kept = [name for name in names if name not in ("hint", "solution") or name in answered]
    return f"from dpcourse import {', '.join(kept)}" if kept else ""


def _asking(exercise):
    """call -> whether an exercise has what it asks for: of what is graded only, hints where they are given out."""
    return {"hint": not exercise.graded_only or exercise.hints_too, "solution": not exercise.graded_only}


def _named(file: Path, line: int, name: str) -> Exercise:
    """The exercise that a page calls by this name. Raises SourceError, which says what there is."""
    word, _, function = name.rpartition("/")
    if word or file.stem[:2].isdigit():
        lessons = {lesson.word: lesson for lesson in course.lessons()}
        if word not in {*lessons, ""}:
            raise SourceError(file, line, f"there is no lesson {word!r}; there are {', '.join(lessons)}")
        lesson = lessons[word] if word else lesson_of(file)
        if function in lesson.functions:
            return lesson.exercise(function)
        there = ", ".join(lesson.functions) or "none"
        raise SourceError(file, line, f"there is no exercise {function!r} in lesson {lesson.name}; there are {there}")
    raise SourceError(file, line, f"name its lesson too, such as {{composition/{function}}}")


# ---- what stands on a line of its own


def opening(file: Path) -> str:
    """Title, links, goals with their checks, what is needed first, minutes, sections."""
    said = about(file)
    goals = "\n".join(f"- {_goal(file, goal['can'], goal['checks'])}" for goal in said["goals"])
    parts = (
        say_for(file, "# {lesson}: {title}", lesson=title(file), title=said["title"]),
        links(file),
        say_for(file, "**When you have finished this lesson you can**"),
        goals,
        say_for(file, "**You need first:** {needs}", needs=said["needs"]),
        _time(file, minutes.of(english(file))),
        sections(file),
    )
    return "\n\n".join(parts).rstrip()


def _time(file, takes):
    if takes.solving:
        said = say_for(file, "**Time:** about {total} minutes: {reading} to read, {solving} for the exercises.", **vars(takes), total=takes.total)  # fmt: skip
    else:
        said = say_for(file, "**Time:** about {total} minutes.", total=takes.total)
    if len(takes.sittings) > 1:
        *pauses, _ = (title.partition(".")[0] for title, _ in takes.sittings)
        parts = [str(minutes) for _, minutes in takes.sittings]
        said += say_for(
            file,
            counted(
                " You can pause after section {sections}: the parts take {minutes} minutes.",
                " You can pause after sections {sections}: the parts take {minutes} minutes.",
                count=len(pauses),
                sections=listed(pauses),
                minutes=listed(parts),
            ),
        )
    if takes.folded:
        said += say_for(file, " What is folded, for a second reading, takes {folded} more.", folded=takes.folded)
    return said


def _goal(file, can, names):
    line = line_of(english(file), "goals:")
    ids = [_named(file, line, name).number for name in names]
    if len(ids) > 1:
        return say_for(file, "{can} (exercises {ids})", can=can, ids=say_for(file, listed(ids, "{first}, {then}")))
    return say_for(file, "{can} (exercise {id})", can=can, id="".join(ids))


def exercise_header(file: Path, exercise: Exercise) -> str:
    """What stands above an exercise, for a page: difficulty, minutes, points, what it is good for; its inputs, and what it must not call."""
    dots = "●" * exercise.difficulty + "○" * (5 - exercise.difficulty)
    head = say_for(file, "### Exercise {id}: {title}", id=exercise.number, title=say_for(file, exercise.title))
    count = exercise.points
    points = say_for(file, counted("{count} point", "{count} points", count=count))
    said = say_for(
        file,
        "*Difficulty {dots} ({difficulty} of 5) · about {minutes} minutes · {points} · Good for: {good_for}.*",
        dots=dots,
        difficulty=exercise.difficulty,
        minutes=exercise.minutes,
        points=points,
        good_for=say_for(file, exercise.good_for),
    )
    return "\n\n".join([head, said, *_of_inputs(file, exercise)])


def _of_inputs(file, exercise):
    """Yield a line on what the inputs may be and on what must not be called, where there is something to say."""
    lines = []
    if exercise.domain and (inputs := exercise.domain.told()):
        lines.append(say_for(file, "Inputs: {inputs}.", inputs=inputs))
    if names := not_to_be_called(exercise):
        lines.append(say_for(file, "Not to be called: {names}.", names=listed(names, "{first}, {then}")))
    if lines:
        yield f"*{again(sentences(lines), language_of(file) or ENGLISH)}*"


def not_to_be_called(exercise: Exercise) -> list[str]:
    """The functions of the library that an answer must not call, as a learner calls them.

    >>> from dpcourse import course
    >>> not_to_be_called(course.find("clt/total_mu"))
    ['`gdp.compose`', "a curve's `@`", '`TradeOff.power`', '`tradeoff.product`', '`pld.Curve`']
    """
    return list(dict.fromkeys(filter(None, map(_as_called, exercise.forbidden))))


def _as_called(function):
    """A function as a learner calls it; nothing of one that no learner would: what is inside of a module."""
    if isinstance(function, str):
        module, _, name = function.partition(":")
    else:
        module, name = function.__module__, function.__qualname__
    _, room, *inside = module.split(".")
    parts = name.split(".")
    if parts[-1] in OPERATORS:
        return say(OPERATORS[parts[-1]])
    parts = [part for part in parts if part != "__init__"]
    if "curves" in inside:  # what a TradeOff is made of
        return ""
    known = room == "dpsgd" or hasattr(
        importlib.import_module(f"dpcourse.{room}"), parts[0]
    )  # dpsgd brings PyTorch along
    if not known or any(part.startswith("_") for part in parts):
        return ""
    return f"`{'.'.join(parts if len(parts) > 1 else [room, *parts])}`"


def check_cell(exercise: Exercise, names: Iterable[str] = ()) -> str:
    """The code of the cell that checks an exercise; names: of the values of its variants."""
    values = "".join(f", {name}={{variant {name}}}" for name in names)
    asks = (f'\n# {call}("{exercise.number}")' for call, is_there in _asking(exercise).items() if is_there)
    return f'check("{exercise.number}", {exercise.function}{values}){"".join(asks)}'


def _check(file, line, name):
    exercise = _named(file, line, name)
    variants = lesson_of(file).variants.get(exercise.function)
    return check_cell(exercise, variants.sample if variants else ())


PAUSE = to_say(
    "**A good place to pause.** Your answers stay in this notebook. When you come back, click on this line and choose *Run All "
    "Above Selected Cell* in the menu *Run*: what the rest needs is there again."
)
OPERATORS = {"__matmul__": to_say("a curve's `@`"), "__call__": to_say("a curve itself")}

PARTS: dict[str, Callable[[Path, int, str], str]] = {
    "opening": lambda file, line, _: opening(file),
    "contents": lambda file, line, _: contents(file),
    "closing": lambda file, line, _: links(file),
    "pause": lambda file, line, _: say_for(file, PAUSE),
    "exercise": lambda file, line, name: exercise_header(file, _named(file, line, name)),
    "glossary": lambda file, line, name: glossary.table(file, name),
    "check": _check,
}
"""What may stand on a line of its own: (file, line, argument) -> what the page has in its place."""
