"""The outline of each lesson, in its folder: what it needs, its minutes and its goals, read and counted in its sources.

There a learner's machine finds them, which may have no sources: the map of the course, and `goals()`.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from dpcourse.authoring import minutes, source, translation
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import ENGLISH
from dpcourse.course import OUTLINE
from dpcourse.course import lessons as all_lessons

SECTIONS = re.compile(r"(?:§ ?|\bsections? )\d+(?:(?:, | and | to )\d+)*")
LESSON = re.compile(r"(?<!\d)\d\d(?!\d)", re.ASCII)


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, what is to stand in it) for each lesson of the course in this folder. Raises SourceError."""
    sources = {file.stem: file for file in source.sources(root)}
    numbers = {int(name[:2]) for name in sources}
    for lesson in all_lessons():
        if lesson.pack is not None or lesson.name not in sources:
            continue
        english = sources[lesson.name]
        pages = {ENGLISH: english} | {name: english.parent / name / english.name for name in source.languages(root)}
        outline = {
            "needs": [number for number in needs(source.about(english)["needs"]) if number in numbers],
            "minutes": minutes.of(english).total,
            "goals": {
                name: [[goal["can"], goal["checks"]] for goal in translation.about(page)["goals"]]
                for name, page in pages.items()
            },
        }
        yield lesson.folder / OUTLINE, json.dumps(outline, ensure_ascii=False, indent=1) + "\n"


def needs(text: str) -> list[int]:
    """Return the numbers of the lessons that a front matter's `needs` names, in order, each once.

    >>> needs("lesson 01, section 10, and lessons 04 and 05; 100 coins")
    [1, 4, 5]
    """
    return sorted({int(number) for number in LESSON.findall(SECTIONS.sub("", text))})


def behind(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that are not what the sources give, and what these give."""
    for file, text in texts(root):
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            yield file, text


def write(root: Path) -> None:
    """Write the files that are not what the sources give."""
    for file, text in list(behind(root)):
        write_atomically(file, text)
