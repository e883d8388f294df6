"""The sources of a course: which there are, what the front matter of each says, and what is wrong in which line."""

import re
from pathlib import Path

from dpcourse import course
from dpcourse.course import GLOSSARY

ABOUT = ("title", "learn", "needs", "goals")


class SourceError(Exception):
    """Something is wrong in a source; says the file, the line and what would be right."""

    def __init__(self, file: Path, line: int, message: str):
        super().__init__(f"{file}:{line}: {message}")


def sources(root: Path | str) -> list[Path]:
    """All lesson sources below a course folder, in order."""
    return sorted((Path(root) / "solutions").glob("[0-9][0-9]-*.md"))


def pages(root: Path | str) -> list[Path]:
    """The sources of all that is built: the lessons, and the glossary where there is one."""
    return sources(root) + sorted((Path(root) / "solutions").glob(f"{GLOSSARY}.md"))


def root_of(file: Path) -> Path:
    """The course folder that a source belongs to."""
    return file.parents[1]


def about(file: Path) -> dict:
    """What the front matter of a lesson says of it: title, learn, needs, goals. Raises SourceError."""
    import yaml

    front = re.match(r"---\n(.*?\n)---\n", file.read_text(encoding="utf-8"), re.DOTALL)
    try:
        found = (yaml.safe_load(front[1]) if front else {}).get("dpcourse", {})
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise SourceError(file, line, f"the front matter is not valid YAML: {error.problem}") from None
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


def title(file: Path) -> str:
    """A lesson's short title, such as "01 Composition"."""
    lesson = lesson_of(file)
    return f"{lesson.number:02} {lesson.title}"
