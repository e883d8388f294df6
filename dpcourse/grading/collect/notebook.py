"""The code cells of a notebook, and the lesson that it is, from its bytes.

A notebook is mostly outputs, and nothing here looks at them: of a large one they are left out before it is parsed, so
that no file costs much more memory than its cells.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dpcourse import course
from dpcourse.base import cells
from dpcourse.base.languages import say, to_say
from dpcourse.grading.collect.reading import Unreadable, decoded

MOST_CELLS, MOST_CODE = 2_000, 500_000
LARGE, MOST_PARSED, MOST_BRACKETS = 2**20, 16 * 2**20, 2_000_000
OF_NOTEBOOK, OF_CELL = 1, 3  # how deep the keys of a notebook, and those of its cells, are nested
OF_SHEET_CELL = 5  # the same in the formats 2 and 3

TO_BRACKET = re.compile(
    rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}]|"|\Z)', re.DOTALL
)  # one that is in no string
NOT_LOOKED_AT = re.compile(rb'[\[{,]\s*"(?:outputs|attachments|metadata)"\s*:\s*\Z')
SHEETS = re.compile(rb'"worksheets"\s*:\s*\Z')
FARTHEST = 200  # bytes from such a key to its value, white space and all
CHECK = re.compile(rb'check\(\s*\\?[\'"](\d{1,4})\.\d+\\?[\'"]')
DEFINITION = re.compile(rb"def (\w{1,100})\(")
SAVE_IT = to_say("open it in JupyterLab and save it there")


@dataclass(frozen=True)
class Cell:
    """A code cell: its number in the notebook, its id, its code."""

    number: int
    id: str
    code: str


def code_cells(content: bytes) -> list[Cell]:
    """The code cells of a notebook. Raises Unreadable."""
    if not content.strip():
        raise Unreadable(say("it is empty"))
    try:
        notebook, _ = json.JSONDecoder().raw_decode(decoded(lean(content)).lstrip())
    except (ValueError, RecursionError):
        raise Unreadable(say("it is not a notebook: not JSON")) from None
    cells = [
        (number, cell)
        for number, cell in enumerate(_all_cells(notebook), 1)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    if len(cells) > MOST_CELLS:
        raise Unreadable(say("it has {count} code cells; at most {most} are read", count=len(cells), most=MOST_CELLS))
    read = [
        Cell(number, cell["id"] if isinstance(cell.get("id"), str) else "", _source(cell)) for number, cell in cells
    ]
    if sum(len(cell.code) for cell in read) > MOST_CODE:
        raise Unreadable(say("it has more than {most:,} characters of code", most=MOST_CODE))
    return read


def _all_cells(notebook):
    """The cells of whatever kind, with their code as `source`; those of formats 2 and 3 lie on sheets, and call it `input`."""
    version = notebook.get("nbformat", 4) if isinstance(notebook, dict) else None
    if not isinstance(version, int | float):
        raise Unreadable(say("it is not a notebook of format 4: there are no cells"))
    if version in (2, 3) and isinstance(notebook.get("worksheets"), list):
        sheets = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in notebook["worksheets"]]
        of_sheets = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
        return [cell | {"source": cell.get("input", "")} if isinstance(cell, dict) else cell for cell in of_sheets]
    if version < 4:
        raise Unreadable(say("it is a notebook of an older format than 4: {advice}", advice=say(SAVE_IT)))
    if not isinstance(notebook.get("cells"), list):
        raise Unreadable(say("it is not a notebook of format 4: there are no cells"))
    if notebook.get("nbformat") != 4:
        raise Unreadable(say("it is a notebook of another format than 4"))
    return notebook["cells"]


def _source(cell):
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise Unreadable(say("it is not a notebook: a cell's source is no text"))
    return "".join(lines).encode("utf-8", "replace").decode()


def is_begun(code: Iterable[Cell], lesson: int | None) -> bool:
    """Whether an answer is written among these cells: one defines an exercise's function, and is not blank."""
    functions = "|".join(course.lesson(lesson).functions) if lesson is not None else ""
    definition = re.compile(rf"^[ \t]*(def[ \t]+)?({functions})[ \t]*[(:=](?!=)", re.MULTILINE)
    return bool(functions) and any(definition.search(each.code) and cells.BLANK not in each.code for each in code)


def lean(content: bytes) -> bytes:
    """A notebook's bytes; of a large one without outputs, attachments and metadata. Raises Unreadable.

    What comes back is small enough to be parsed. The cells are as they were, and a notebook that is none stays none.
    """
    if len(content) <= LARGE:
        return content
    if json.detect_encoding(content) not in ("utf-8", "utf-8-sig"):
        content = decoded(content).encode("utf-8", "surrogatepass")
    kept, start, depth, left_at, of_cell = bytearray(), 0, 0, None, OF_CELL
    for count, piece in enumerate(TO_BRACKET.finditer(content)):
        if count > MOST_BRACKETS:
            raise Unreadable(
                say(
                    "it has more than {most:,} brackets: {advice}, without its outputs",
                    most=MOST_BRACKETS,
                    advice=say(SAVE_IT),
                )
            )
        bracket, end = piece[1], piece.end()
        if bracket in (b"[", b"{"):
            if depth == OF_NOTEBOOK and SHEETS.search(content, max(0, end - FARTHEST), end - 1):
                of_cell = OF_SHEET_CELL
            has_key = NOT_LOOKED_AT.search(content, max(piece.start() - 1, 0, end - FARTHEST), end - 1)
            if left_at is None and depth in (OF_NOTEBOOK, of_cell) and has_key:
                kept += content[start:end]
                left_at = depth
            depth += 1
        elif bracket in (b"]", b"}"):
            depth -= 1
            if depth == left_at:
                start, left_at = end - 1, None
        else:  # the end, or a string without one
            break
    if left_at is None:
        kept += content[start:]
    if len(kept) > MOST_PARSED:
        size, most = len(kept) / 2**20, MOST_PARSED / 2**20
        raise Unreadable(
            say("it has {size:.0f} MiB without its outputs; at most {most:.0f} are read", size=size, most=most)
        )
    return bytes(kept)


def lesson_of(name: str, content: bytes) -> int | None:
    """The number of the lesson that a notebook is, by its name and the exercises it speaks of; None if neither tells.

    The name counts where the notebook does not speak of other lessons only.
    """
    try:
        content = lean(content)
    except Unreadable:
        content = b""
    named = next((lesson.number for lesson in course.lessons() if lesson.name in name), None)
    checks = Counter(int(number) for number in CHECK.findall(content))
    told = {lesson.number: checks[lesson.number] for lesson in course.lessons()}
    if not any(told.values()):
        defined = {function.decode() for function in DEFINITION.findall(content) if function.isascii()}
        told = {lesson.number: len(defined.intersection(lesson.functions)) for lesson in course.lessons()}
    if named is not None and (told[named] or not any(told.values())):
        return named
    return max(told, key=told.__getitem__) if any(told.values()) else None
