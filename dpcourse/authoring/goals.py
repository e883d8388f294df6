"""The goals of each lesson, from the front matter of its sources, in its folder: there `goals()` finds them on a learner's machine."""

import json
from collections.abc import Iterator
from pathlib import Path

from dpcourse.authoring.source import languages, sources
from dpcourse.authoring.translation import about
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import ENGLISH
from dpcourse.course import GOALS, pack
from dpcourse.course import lessons as all_lessons


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, what is to stand in it) for each lesson of the course; none for a pack."""
    if pack.is_pack(root):
        return
    known = {lesson.name: lesson for lesson in all_lessons() if lesson.pack is None}
    for source in sources(root):
        if source.stem in known:
            files = {ENGLISH: source} | {name: source.parent / name / source.name for name in languages(root)}
            said = {
                name: [[goal["can"], goal["checks"]] for goal in about(file)["goals"]] for name, file in files.items()
            }
            yield known[source.stem].folder / GOALS, json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def behind(root: Path) -> Iterator[Path]:
    """Yield the files that are not what the sources give."""
    for file, text in texts(root):
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            yield file


def write(root: Path) -> None:
    """Write the files that are not what the sources give."""
    for file, text in list(texts(root)):
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            write_atomically(file, text)
