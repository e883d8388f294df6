"""The sources of a course: which there are, each as one notebook, and what is wrong in which line.

The sources of a lesson stand in solutions/, in English, and in solutions/XX/ in each language XX that has one there.
What is made of a source is made by passes, each from notebook to notebook: translation.py, fill.py, page.py, execute.py.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import nbformat

from dpcourse import course
from dpcourse.course import GLOSSARY

ABOUT = ("title", "learn", "needs", "goals")
PART = re.compile(r"^\{(?P<part>(?!variant )[a-z]+)(?: (?P<argument>\S+))?\}$")
LINES, GOES_ON = "lines", "goes on"  # in a cell's metadata, until the page is made


class SourceError(ValueError):
    """Something is wrong in a source; says the file, the line and what would be right."""

    def __init__(self, file: Path, line: int, message: str):
        super().__init__(f"{file}:{line}: {message}")


def sources(root: Path | str, language: str = "") -> list[Path]:
    """All lesson sources below a course folder, in order; in a language these are, where nothing is translated yet, missing."""
    return _in(language, sorted((Path(root) / "solutions").glob("[0-9][0-9]-*.md")))


def pages(root: Path | str, language: str = "") -> list[Path]:
    """The sources of all that is built: the lessons, and the glossary where there is one."""
    return sources(root, language) + _in(language, sorted((Path(root) / "solutions").glob(f"{GLOSSARY}.md")))


def _in(language, files):
    return [file.parent / language / file.name for file in files]


def languages(root: Path | str) -> list[str]:
    """The languages into which a course is translated, by the names of their folders."""
    found = (Path(root) / "solutions").glob("[a-z]*/[0-9][0-9]-*")
    return sorted({file.parent.name for file in found if file.suffix in (".md", ".lock")})


def root_of(file: Path) -> Path:
    """The course folder that a source belongs to."""
    return next(folder.parent for folder in file.parents if folder.name == "solutions")


def language_of(file: Path) -> str:
    """The language of a source, such as "zh"; empty for English."""
    return "" if file.parent.name == "solutions" else file.parent.name


def english(file: Path) -> Path:
    """The English source of a page, which for an English one is itself."""
    return root_of(file) / "solutions" / file.name


def name_of(file: Path) -> str:
    """What a page is called where several languages meet: "00-start-here" or "zh/00-start-here"."""
    return f"{language_of(file)}/{file.stem}".lstrip("/")


def read(file: Path) -> nbformat.NotebookNode:
    """A source as one notebook, before anything is filled in; not to be changed. Raises SourceError.

    A line such as {check f} is a cell of its own, of the kind "raw". In a cell's metadata `lines` has the number of the
    line at which each of its lines stands, and `goes on` says of a part of a Markdown cell that it is not the first.
    """
    return _read(file, file.read_text(encoding="utf-8"))


@functools.lru_cache
def _read(file, text):
    from jupytext.myst import MystMetadataParsingError, myst_to_notebook

    try:
        notebook = myst_to_notebook(text, add_source_map=True)
    except MystMetadataParsingError as error:
        mark = getattr(error.__context__, "problem_mark", None)
        what = f"the front matter is not valid YAML: {error.__context__.problem}" if mark else str(error)
        raise SourceError(file, mark.line + 2 if mark else 1, what) from None
    lines, cells = _lines(text), []
    for whole, begin in zip(notebook.cells, notebook.metadata.pop("source_map"), strict=True):
        own = _lines(whole.source)  # they stand below the options of the cell, and empty lines
        first = next((at for at in range(begin, len(lines)) if lines[at : at + len(own)] == own), begin)
        cells += _cut(whole, list(enumerate(whole.source.split("\n"), first + 1)))
    return with_cells(notebook, cells)


def _lines(text):
    return [line.rstrip() for line in text.split("\n")]


def with_cells(notebook: nbformat.NotebookNode, cells: Iterable[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    """The notebook with other cells."""
    return nbformat.NotebookNode({**notebook, "cells": [*cells]})


def new_cell(kind: str, rows: Iterable[tuple[int, str]], **metadata: object) -> nbformat.NotebookNode:
    """A cell of rows, each the number of a line of the source and its text."""
    numbers, texts = zip(*rows, strict=True)
    code: dict[str, object] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return nbformat.from_dict(
        {"cell_type": kind, "id": "", "source": "\n".join(texts), "metadata": {**metadata, LINES: numbers}, **code}
    )


def rows(cell: nbformat.NotebookNode) -> list[tuple[int, str]]:
    """The lines of a cell, each with the number of the line of the source at which it stands."""
    return list(zip(cell.metadata[LINES], cell.source.split("\n"), strict=True))


def _cut(whole, its_rows):
    """The cell; a Markdown one in parts, each without the empty lines around it."""
    if whole.cell_type == "code":
        yield new_cell("code", its_rows, **whole.metadata)
        return
    goes_on = {}
    for is_part, group in groupby(its_rows, key=lambda row: bool(PART.match(row[1]))):
        for found in ([row] for row in group) if is_part else [list(group)]:
            filled = [place for place, (_, text) in enumerate(found) if text.strip()]
            if filled:
                yield new_cell("raw" if is_part else "markdown", found[filled[0] : filled[-1] + 1], **goes_on)
                goes_on = {GOES_ON: True}


def is_folded(cell: nbformat.NotebookNode) -> bool:
    """Whether JupyterLab shows only the first line of a code cell, as `:jupyter: {source_hidden: true}` in a source asks."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def parts(file: Path) -> Iterator[tuple[int, str, str]]:
    """(line, part, argument) of each {part argument} that stands on a line of its own."""
    for each in read(file).cells:
        if each.cell_type == "raw" and (found := PART.match(each.source)):
            yield each.metadata[LINES][0], found["part"], found["argument"] or ""


def about(file: Path) -> dict:
    """What the front matter of a lesson says of it: title, learn, needs, goals. Raises SourceError."""
    found = read(file).metadata.get("dpcourse", {})
    if missing := [name for name in ABOUT if name not in found]:
        raise SourceError(file, 1, f"the front matter has no `dpcourse:` with {', '.join(missing)}")
    if "minutes" in found:
        message = "take `minutes` out of the front matter: they are counted; `dpcourse build --minutes` says them"
        raise SourceError(file, line_of(file, "minutes:"), message)
    return found


def line_of(file: Path, text: str) -> int:
    """The number of the first line of a source that holds the text; 1 if none does."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 1)


def lesson_of(file: Path) -> course.Lesson:
    """The lesson that a source is of. Raises SourceError where no folder in dpcourse/course/ has its name."""
    for lesson in course.lessons():
        if lesson.name == file.stem:
            return lesson
    raise SourceError(file, 1, f'no lesson has this name: add a folder to dpcourse/course/ with `NAME = "{file.stem}"`')
