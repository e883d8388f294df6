"""A page in another language: solutions/XX/NN-name.md translates solutions/NN-name.md cell by cell.

NN-name.lock beside it has a line for each of its cells, with the name of the English cell that it translates: a hash of
what is translated of it. The page is made of the English source: each cell whose name the lock has gives way to its
translation. So a cell that the English has changed since, or that is new, stands there in English, and cells may move.
What is not translated comes from the English alone: code but for its comments and texts, breaks between cells, tags, lines
such as {check f}. A translation that is not faithful (faithful.py) is not shown either.
"""

import contextlib
import functools
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import nbformat

from dpcourse.authoring import catalogues, faithful, source
from dpcourse.authoring.on_page import say_for
from dpcourse.authoring.source import LINES, SourceError, english, language_of, name_of, new_cell, rows, with_cells
from dpcourse.authoring.texts import has_fields_of, texts, with_texts
from dpcourse.base.files import write_atomically

LANGUAGE = """from dpcourse import language

language("{name}")"""
"""What a translated notebook has below the imports of its first code cell that imports the package."""
FRONT = "front"  # in the metadata of a cell that is of the front matter: title, learn, needs, can
SHOWN = 50

Cell: TypeAlias = Any  # an nbformat.NotebookNode, which has no types


@dataclass(frozen=True)
class Translation:
    """Each cell of the English source with its translation, or None where that is behind.

    unused: cells that translate no English one any more. wrong: what is to be mended in the translation.
    """

    pairs: tuple[tuple[Cell, Cell | None], ...]
    unused: tuple[Cell, ...]
    wrong: tuple[SourceError, ...]

    @property
    def shown(self) -> int:
        """How many cells are translated."""
        return sum(translated is not None for _, translated in self.pairs)


# ---- the cells of a source


def cells(file: Path) -> list[Cell]:
    """What of a source is translated, each as a cell: of the front matter first, then its text and its code. Raises SourceError."""
    return [each for each in _all(file) if each.cell_type != "raw"]


def _all(file):
    found = []
    if file.stem != source.GLOSSARY:
        said = source.about(file)
        front = [(kind, said[kind]) for kind in ("title", "learn", "needs")]
        front += [("can", goal["can"]) for goal in said["goals"]]
        found = [new_cell("markdown", [(source.line_of(file, text), text)], **{FRONT: kind}) for kind, text in front]
    return found + source.read(file).cells


def name(cell: Cell) -> str:
    """By what a cell is named: a short hash of what is translated of it, so of code without what only Python reads."""
    kind, text = _kind(cell), cell.source
    if kind == "code":
        with contextlib.suppress(SyntaxError):  # page.py says where
            text = "\n".join(each.says for each in texts(cell.source))
    return hashlib.blake2b(f"{kind}\n{text}".encode(), digest_size=4).hexdigest()


def _kind(cell):
    return cell.metadata.get(FRONT) or {"markdown": "text"}.get(cell.cell_type, cell.cell_type)


# ---- which cell translates which


def read(file: Path) -> Translation:
    """What a source in another language translates; all is behind where it is missing."""
    return _read(file, *(_text(each) for each in (english(file), file, lock(file))))


def lock(file: Path) -> Path:
    """Where the names of the English cells stand."""
    return file.with_suffix(".lock")


def _text(file):
    return file.read_text(encoding="utf-8") if file.exists() else ""


@functools.lru_cache
def _read(file, theirs, mine, locked):
    """As `read`; the texts of the three files are those on the disk."""
    wrong: list[SourceError] = []
    known = _by_name(file, locked, wrong) if mine else {}
    there = [(name(cell), cell) for cell in cells(english(file))]
    unused = [cell for each, found in known.items() for cell in found if each not in dict(there)]
    pairs = []
    for each, cell in there:
        found = known.get(each, [None])
        translated = found.pop(0) if len(found) > 1 else found[0]
        if translated and (complaints := list(faithful.complaints(cell, translated))):
            wrong += [SourceError(file, line, message) for line, message in complaints]
            translated = None
        pairs.append((cell, translated and _with_english_code(cell, translated)))
    return Translation(tuple(pairs), tuple(unused), tuple(wrong))


def _by_name(file, locked, wrong):
    """name -> the cells that translate what has it; empty where the lock is none of this source's."""
    try:
        mine = cells(file)
    except SourceError as error:
        wrong.append(error)
        return {}
    lines = locked.splitlines()
    if len(mine) != len(lines):
        lacks = f"{lock(file).name} has {len(lines)} lines" if lines else f"{lock(file).name} is missing"
        message = f"{lacks}, and here are {len(mine)} cells: bring them to those of the English, then run `dpcourse build --translated {name_of(file)}`"
        wrong.append(SourceError(file, 1, message))
        return {}
    known = defaultdict(list)
    for line, cell in zip(lines, mine, strict=True):
        known[line.partition(" ")[0]].append(cell)
    return known


def _with_english_code(theirs, mine):
    """The translation; of code its texts alone, in the English code. None where these hold other code in their fields."""
    if theirs.cell_type != "code":
        return mine
    texts_of_both = texts(theirs.source), texts(mine.source)
    if not has_fields_of(*texts_of_both):
        return None
    lines = with_texts(theirs.source, texts_of_both[1]).split("\n")
    last = len(mine.metadata[LINES]) - 1
    return new_cell("code", [(mine.metadata[LINES][min(place, last)], line) for place, line in enumerate(lines)])


def recorded(root: Path, names: Collection[str]) -> list[str]:
    """Note that cells are up to date, by names such as "zh/00-start-here:1e572c46"; says which they are.

    A page alone, "zh/00-start-here", names none of its cells: it says which are behind, but of a new page, of which nothing
    is noted yet, all are noted. Raises ValueError where there is
    none of this name, SourceError as `record`.
    """
    there = {
        name_of(file): file
        for language in source.languages(root)
        for file in source.pages(root, language)
        if file.exists()
    }
    wanted: dict[str, list[str]] = defaultdict(list)
    for page, _, cell in (each.partition(":") for each in names):
        if page not in there:
            raise ValueError(f"there is no translation {page!r}; there are {', '.join(there) or 'none'}")
        wanted[page] += [cell] if cell else []
    said = []
    for page, of_cells in wanted.items():
        new = record(there[page], of_cells)
        said += [f"{there[page]}:{cell.metadata[LINES][0]}: {_called(cell)} is up to date" for cell in new]
        said += [] if new else _behind(there[page], read(there[page]))
    return said


def record(file: Path, names: Collection[str] = ()) -> list[Cell]:
    """Note that the cells of a translation stand in the order of the English ones, and that those named translate these as
    they are today; returns these. Where nothing is noted yet, all do.

    names: of English cells. Raises SourceError for the first place where cells, or what is named, differ in more than words.
    """
    noted = {line.partition(" ")[0] for line in _text(lock(file)).splitlines()}
    lines, new = [], []
    for theirs, mine in _in_order(file):
        its = name(theirs)
        if its in names or not noted:
            for line, message in faithful.complaints(theirs, mine):
                raise SourceError(file, line, message)
            if theirs.cell_type == "code" and not _with_english_code(theirs, mine):
                raise SourceError(
                    file, mine.metadata[LINES][0], "a text holds other code in its fields than the English"
                )
            new.append((its, mine))
        lines.append(f"{its if its in names or its in noted or not noted else '-'} {_brief(theirs)}\n")
    if unknown := {*names} - {its for its, _ in new}:
        raise SourceError(
            file, 1, f"{english(file).name} has no cell {min(unknown)}: `dpcourse build --check` names those behind"
        )
    write_atomically(lock(file), "".join(lines))
    return [mine for _, mine in new]


def _in_order(file):
    """Each English cell with that which has its place in the translation. Raises SourceError where another stands there."""
    both = _all(english(file)), _all(file)
    for theirs, mine in zip_longest(*both):
        is_same = theirs and mine and _kind(theirs) == _kind(mine)
        if not is_same or (mine.cell_type == "raw" and theirs.source != mine.source):
            here = _called(mine) if mine else "the end"
            there = f"{_called(theirs)} ({english(file).name}:{theirs.metadata[LINES][0]})" if theirs else "the end"
            line = mine.metadata[LINES][0] if mine else both[1][-1].metadata[LINES][-1]
            raise SourceError(file, line, f"here is {here}, where the English has {there}")
    return [pair for pair in zip(*both, strict=True) if pair[0].cell_type != "raw"]


def _called(cell):
    kind = {"raw": "", "text": "the text ", "code": "the code "}.get(_kind(cell), f"`{_kind(cell)}`: ")
    return f"{kind}`{_brief(cell)}`"


def _brief(cell):
    return " ".join(cell.source.split())[:SHOWN].rstrip()


# ---- the page


def about(file: Path) -> dict:
    """What the front matter of a page says of it, in its language. Raises SourceError."""
    said = source.about(english(file))
    if not language_of(file):
        return said
    front = ((translated or cell).source for cell, translated in read(file).pairs if FRONT in cell.metadata)
    title, learn, needs, *cans = front
    goals = [goal | {"can": can} for goal, can in zip(said["goals"], cans, strict=True)]
    return said | {"title": title, "learn": learn, "needs": needs, "goals": goals}


def translated(file: Path) -> nbformat.NotebookNode:
    """The notebook of a page before anything is filled in: the English one, with each cell that is translated in its place.

    What stands there in English has the line of the translation above it.
    """
    notebook = source.read(english(file))
    if not language_of(file):
        return notebook
    note = say_for(
        file, "*The English of this part has changed, and this translation has not yet: here is the English.*"
    )
    pairs = iter([pair for pair in read(file).pairs if FRONT not in pair[0].metadata])
    made: list[Cell] = []
    at, is_told, chooses = 1, False, False
    for each in notebook.cells:
        _, mine = next(pairs) if each.cell_type != "raw" else (each, None)
        its_rows = rows(mine) if mine else [(at, line) for _, line in rows(each)]
        if each.cell_type == "markdown":
            is_told = not mine and is_told and not each.source.startswith("#")
            if not (mine or is_told):
                its_rows = _noted(its_rows, note)
            is_told |= not mine
        if each.cell_type == "code" and not chooses and "from dpcourse import" in each.source:
            its_rows, chooses = _choosing(its_rows, language_of(file)), True
        made.append(new_cell(each.cell_type, its_rows, **each.metadata))
        at = mine.metadata[LINES][-1] if mine else at
    return with_cells(notebook, made)


def _choosing(code, language):
    """The lines of a code cell, and below its imports what chooses the language."""
    last = max(place for place, (_, line) in enumerate(code) if line.startswith(("from ", "import ")))
    chosen = [(code[last][0], line) for line in LANGUAGE.format(name=language).split("\n")]
    return [*code[: last + 1], *chosen, *code[last + 1 :]]


def _noted(its_rows, note):
    """The lines with a note at their beginning, below the heading that they may begin with: links lead there."""
    (at, first), *rest = its_rows
    if first.startswith("#"):
        return [(at, first), (at, ""), (at, note), *rest]
    return [(at, note), (at, ""), *its_rows]


# ---- what is to be done


def complaints(root: Path, language: str) -> Iterator[SourceError]:
    """What is wrong in a language's folder, and is to be mended there; what is only behind is not."""
    pages = source.pages(root, language)
    for file in pages:
        yield from read(file).wrong
    for file in sorted((root / "solutions" / language).glob("*.md")):
        if file not in pages:
            yield SourceError(file, 1, f"translates no lesson: there is no {english(file)}; rename or remove it")


def behind(root: Path, language: str) -> Iterator[str]:
    """What a language lacks, and the share that it has; no fault of anybody's."""
    shown = cells = 0
    for file in source.pages(root, language):
        found = read(file)
        shown, cells = shown + found.shown, cells + len(found.pairs)
        yield from _behind(file, found)
    yield f"{catalogues.called(language)}: {shown} of {cells} cells ({100 * shown // max(1, cells)} %) are translated."


def _behind(file, found):
    if not found.shown:
        yield f"{file}: {'stands' if file.exists() else 'is missing, so the page stands'} in English"
        return
    at = 1
    for cell, translated in found.pairs:
        if translated is None:
            where = f"{english(file).name}:{cell.metadata[LINES][0]}"
            yield f"{file}:{at}: {name_of(file)}:{name(cell)} is behind {where}, {_called(cell)}"
        else:
            at = translated.metadata[LINES][-1]
    for cell in found.unused:
        yield f"{file}:{cell.metadata[LINES][0]}: {_called(cell)} translates what is not there any more"
