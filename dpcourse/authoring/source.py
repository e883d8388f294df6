"""The sources of a course: which there are, what the front matter of each says, and what is wrong in which line.

The sources of a lesson stand in solutions/, in English, and in solutions/XX/ in each language XX that has one there.
"""

import functools
import re
from pathlib import Path

from dpcourse import course
from dpcourse.course import GLOSSARY

ABOUT = ("title", "learn", "needs", "goals")
FENCE = re.compile(r"^```\{code-cell\}")
PART = re.compile(r"^\{(?P<part>[a-z]+)(?: (?P<argument>\S+))?\}$")


class SourceError(Exception):
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


def about(file: Path) -> dict:
    """What the front matter of a lesson says of it: title, learn, needs, goals. Raises SourceError."""
    import yaml

    front = re.match(r"---\n(.*?\n)---\n", file.read_text(encoding="utf-8"), re.DOTALL)
    try:
        found = (_parsed(front[1]) if front else {}).get("dpcourse", {})
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise SourceError(file, line, f"the front matter is not valid YAML: {error.problem}") from None
    if missing := [name for name in ABOUT if name not in found]:
        raise SourceError(file, 1, f"the front matter has no `dpcourse:` with {', '.join(missing)}")
    if "minutes" in found:
        message = "take `minutes` out of the front matter: they are counted; `dpcourse build --minutes` says them"
        raise SourceError(file, line_of(file, "minutes:"), message)
    return found


@functools.cache
def _parsed(front):
    import yaml

    return yaml.safe_load(front)


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
