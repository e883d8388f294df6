"""The outline of the course, of which its map is drawn: what leads to what, and minutes, read in the sources and stored in the package."""

import json
import re
from pathlib import Path

from dpcourse.authoring import minutes, source
from dpcourse.base.files import write_atomically
from dpcourse.notebook.course_map import OUTLINE

SECTIONS = re.compile(r"(?:§ ?|\bsections? )\d+(?:(?:, | and | to )\d+)*")
LESSON = re.compile(r"(?<!\d)\d\d(?!\d)", re.ASCII)


def made(root: Path) -> str:
    """Return the outline of the course in this folder, as its file holds it. Raises SourceError."""
    files = source.sources(root)
    numbers = {int(file.stem[:2]) for file in files}
    return _as_text(
        {
            file.stem: {
                "needs": [each for each in needs(source.about(file)["needs"]) if each in numbers],
                "minutes": minutes.of(file).total,
            }
            for file in files
        }
    )


def needs(text: str) -> list[int]:
    """Return the numbers of the lessons that a front matter's `needs` names, in order, each once.

    >>> needs("lesson 01, section 10, and lessons 04 and 05; 100 coins")
    [1, 4, 5]
    """
    return sorted({int(number) for number in LESSON.findall(SECTIONS.sub("", text))})


def write(root: Path) -> None:
    """Write the outline where it is not there already."""
    if difference(root):
        write_atomically(OUTLINE, made(root))


def difference(root: Path) -> str:
    """Return what is to be done where the stored outline is not what the sources give; empty where it is."""
    if OUTLINE.exists() and OUTLINE.read_text(encoding="utf-8") == made(root):
        return ""
    return f"dpcourse/course/{OUTLINE.name}: what leads to what, and minutes, are not what the lessons' sources give: run `dpcourse build`"


def _as_text(outline):
    """Return JSON with a line for each lesson, so that two lessons that change are two lines."""
    lines = (f'  "{name}": {json.dumps(said)}' for name, said in outline.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
