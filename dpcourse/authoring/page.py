"""A source read and checked: its two notebooks, before anything is executed."""

import ast
import copy
import hashlib
from dataclasses import dataclass
from pathlib import Path

import nbformat

from dpcourse import course
from dpcourse.authoring import fill, translation, uses
from dpcourse.authoring.navigation import HEADINGS, SECTION, section_id
from dpcourse.authoring.source import (
    GLOSSARY,
    LINES,
    SourceError,
    about,
    language_of,
    lesson_of,
    line_of,
    name_of,
    parts,
    root_of,
)
from dpcourse.base import cells, languages
from dpcourse.base.modules import Modules

CHECKED = "nbval-check-output"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Page:
    """A source read and checked: its two notebooks, both without the outputs of execution.

    lines: for each code cell the line of the source that each of its lines comes from. english: of a page in another
    language, the one that it translates.
    """

    file: Path
    solved: nbformat.NotebookNode
    blank: nbformat.NotebookNode
    lines: tuple[tuple[int, ...], ...]
    english: "Page | None" = None

    @property
    def name(self) -> str:
        """What it is called: "00-start-here" or "zh/00-start-here"."""
        return name_of(self.file)

    @property
    def paths(self) -> tuple[Path, Path]:
        """Where the two notebooks belong: (solved, blank)."""
        return self.file.with_suffix(".ipynb"), root_of(self.file) / "lessons" / f"{self.name}.ipynb"

    @property
    def code(self) -> list[nbformat.NotebookNode]:
        """The code cells, solved."""
        return [cell for cell in self.solved.cells if cell.cell_type == "code"]


def read(file: Path | str, modules: Modules | None = None) -> Page:
    """The Page in a source file; modules: of the package, where they are known already. Raises SourceError."""
    file = Path(file)
    page = _page(file)
    trees = [_parsed(page, *cell) for cell in zip(page.code, page.lines, strict=True)]
    for line, message in uses.unknown_names(
        zip(trees, page.lines, strict=True), modules or uses.modules_of(root_of(file))
    ):
        raise SourceError(file, line, message)
    for tree, lines in zip(trees, page.lines, strict=True):
        _require_everything_filled(file, tree, lines)
    if file.stem != GLOSSARY:
        _require_every_exercise(page)
        _require_goals(page)
    _blank(page)
    _keep_variants(page)
    _name_cells(page)
    return page


def translated(file: Path, english: Page) -> Page:
    """The Page of a source in another language: the same cells as in the English one, with the same ids and tags."""
    page = _page(file, english)
    _blank(page)
    _keep_variants(page)
    for solved, blank, cell in zip(page.solved.cells, page.blank.cells, english.blank.cells, strict=True):
        solved.id = blank.id = cell.id
    return page


def _page(file, english=None):
    """The Page of a source as it is filled; only its sections are checked, and both notebooks are the solved one."""
    notebook = fill.filled(file, translation.translated(file))
    _require_sections_to_begin_cells(file, notebook)
    lines = [cell.metadata.pop(LINES) for cell in notebook.cells]
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    of_code = (tuple(its) for cell, its in zip(notebook.cells, lines, strict=True) if cell.cell_type == "code")
    return Page(file, notebook, copy.deepcopy(notebook), tuple(of_code), english)


def _parsed(page, cell, lines):
    try:
        return ast.parse(cell.source)
    except SyntaxError as error:
        raise SourceError(page.file, lines[(error.lineno or 1) - 1], f"not valid Python: {error.msg}") from None


# ---- what a source must have


def _require_everything_filled(file, tree, lines):
    """In the text of a code cell {name} is an exercise's number, except in an f-string."""
    formatted = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in formatted
        if is_text and (found := fill.NUMBER.search(node.value)):
            message = f"there is no exercise {found['name']!r}; there are {', '.join(lesson_of(file).functions)}"
            raise SourceError(file, lines[node.lineno - 1], message)


def _require_sections_to_begin_cells(file, notebook):
    """Links lead to cells, so a numbered heading begins one."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (hidden := SECTION.search(cell.source, 1)):
            line = cell.metadata[LINES][cell.source[: hidden.start()].count("\n")]
            raise SourceError(file, line, "a numbered section must begin a cell: put `+++` above its heading")


def _require_every_exercise(page):
    """Each exercise of the lesson has a header, a solution and a check, in this order and in the order of the lesson."""
    lesson = lesson_of(page.file)
    headers = [(line, name) for line, part, name in parts(page.file) if part == "exercise"]
    checks = [(line, name) for line, part, name in parts(page.file) if part == "check"]
    for part, found in (("exercise", headers), ("check", checks)):
        names = [name for _, name in found]
        for line, name in found:
            if name not in lesson.functions:
                message = (
                    f"`{{{part} {name}}}` names no exercise of this lesson; there are {', '.join(lesson.functions)}"
                )
                raise SourceError(page.file, line, message)
            if names.count(name) > 1:
                raise SourceError(page.file, found[_last(names, name)][0], f"`{{{part} {name}}}` stands here again")
    _require_solutions(page, checks)
    for function in lesson.functions:
        place = f"exercise {function}, which {_order(lesson)} names"
        if function not in [name for _, name in headers]:
            raise SourceError(
                page.file, 1, f"no header for {place}: add a line `{{exercise {function}}}` above its task"
            )
        if function not in [name for _, name in checks]:
            message = f"no check for {place}: add a line `{{check {function}}}` below the cell with its solution"
            raise SourceError(page.file, 1, message)
    for found in (headers, checks):
        for (line, name), expected in zip(found, lesson.functions, strict=True):
            if name != expected:
                message = f"{name} stands where {_init(lesson)} has {expected}: give both the same order"
                raise SourceError(page.file, line, message)


def _last(names, name):
    return len(names) - 1 - names[::-1].index(name)


def _init(lesson):
    return "pack.toml" if lesson.pack else f"dpcourse/course/{lesson.word}/__init__.py"


def _order(lesson):
    return f"`{'exercises' if lesson.pack else 'EXERCISES'}` in {_init(lesson)}"


def _require_solutions(page, checks):
    """Every solution is checked by the next check cell, and every check has its solution before it."""
    checked = dict(checks)
    open_functions, open_line = (), 0
    for cell, lines in zip(page.code, page.lines, strict=True):
        if _has_marks(page, cell.source, lines):
            if open_functions:
                raise SourceError(page.file, open_line, _no_check(page, open_functions))
            open_functions, open_line = cells.defined(cell.source), lines[0]
            if not open_functions:
                raise SourceError(
                    page.file, open_line, "a solution cell must define the function that its check is given"
                )
        if cells.checked(cell.source):
            function = checked.get(lines[0])
            if function is None:
                raise SourceError(page.file, lines[0], "write `{check …}` on a line of its own in place of this cell")
            if function not in open_functions:
                message = f"`{{check {function}}}` stands below no solution: a cell before it must define `{function}`, between `{cells.BEGIN}` and `{cells.END}`"
                raise SourceError(page.file, lines[0], message)
            open_functions = ()
    if open_functions:
        raise SourceError(page.file, open_line, _no_check(page, open_functions))


def _no_check(page, functions):
    known = [function for function in functions if function in lesson_of(page.file).functions]
    return f"this solution cell has no check: add a line `{{check {(known or functions)[-1]}}}` below it"


def _has_marks(page, code, lines):
    """Whether the cell has solution marks. Raises SourceError for marks that do not pair up."""
    opened = None
    for number, line in zip(lines, code.splitlines(), strict=False):
        if line.strip() == cells.BEGIN:
            if opened is not None:
                raise SourceError(page.file, number, f"`{cells.BEGIN}` inside a solution that begins in line {opened}")
            opened = number
        elif line.strip() == cells.END:
            if opened is None:
                raise SourceError(page.file, number, f"`{cells.END}` without `{cells.BEGIN}`")
            opened = None
    if opened is not None:
        raise SourceError(page.file, opened, f"`{cells.BEGIN}` without `{cells.END}`")
    return cells.is_solved(code)


def _require_goals(page):
    """Each exercise is the check of one goal."""
    line = line_of(page.file, "goals:")
    goals = about(page.file)["goals"]
    promised = [name for goal in goals for name in goal["checks"]]
    for goal in goals:
        if not goal["checks"]:
            raise SourceError(page.file, line, f"the goal {goal['can']!r} names no exercise in its `checks`")
    for function in lesson_of(page.file).functions:
        if promised.count(function) != 1:
            times = "no goal names" if function not in promised else "more than one goal names"
            message = f"{times} the exercise {function}: put `{function}` into the `checks` of one goal under `goals:`"
            raise SourceError(page.file, line, message)


# ---- the two notebooks


def _blank(page):
    """Take the solutions out of the blank notebook, and show each check there as not attempted."""
    lesson = None if page.file.stem == GLOSSARY else lesson_of(page.file)
    for solved, blank in zip(page.solved.cells, page.blank.cells, strict=True):
        if blank.cell_type == "code":
            blank.source = cells.blanked(blank.source)
        for exercise_id in cells.checked(solved.source) if lesson and solved.cell_type == "code" else ():
            for cell in (solved, blank):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), CHECKED]
            with languages.speaking(language_of(page.file) or languages.ENGLISH):
                _show_not_attempted(blank, course.find(exercise_id))


def _keep_variants(page):
    """Keep what a cell says to nobody in its metadata, where a value in it differs from student to student."""
    if page.file.stem == GLOSSARY or not lesson_of(page.file).variants:
        return
    nobodys = fill.filled(page.file, translation.translated(page.file), for_nobody=True)
    for cell, blank in zip(nobodys.cells, page.blank.cells, strict=True):
        template = cells.blanked(cell.source) if cell.cell_type == "code" else cell.source
        if cells.VARIANT.search(template):
            blank.metadata["dpcourse"] = {cells.TEMPLATE: template}


def _show_not_attempted(cell, exercise):
    verdict = exercise.blank()
    cell.execution_count = 1
    cell.outputs = [
        nbformat.v4.new_output("display_data", {"text/html": verdict._repr_html_(), "text/plain": repr(verdict)})
    ]


def _name_cells(page):
    """Give the same stable id to both versions of a cell: the heading that it begins with, or the hash of the blank one."""
    used = {}
    for solved, blank in zip(page.solved.cells, page.blank.cells, strict=True):
        if blank.cell_type == "markdown" and (section := SECTION.match(blank.source)):
            solved.id = blank.id = section_id(section[1])
            continue
        if blank.cell_type == "markdown" and (name := HEADINGS.get(blank.source.split("\n")[0].removeprefix("## "))):
            solved.id = blank.id = name
            continue
        digest = hashlib.blake2b(f"{blank.cell_type}\n{blank.source}".encode(), digest_size=4).hexdigest()
        used[digest] = used.get(digest, 0) + 1
        solved.id = blank.id = f"{digest}-{used[digest]}"
