"""What the build itself writes on a page, in the language of that page."""

from pathlib import Path

from dpcourse.authoring.source import language_of, lesson_of
from dpcourse.base.languages import ENGLISH, again, say


def say_for(file: Path, text: str, **fields: object) -> str:
    """A text of the build, given in English, in the language of a page; fields: what stands for {each} in it."""
    return again(say(text, **fields), language_of(file) or ENGLISH)


def title(file: Path) -> str:
    """A lesson's short title, such as "01 Composition"."""
    lesson = lesson_of(file)
    return f"{lesson.number:02} {say_for(file, lesson.title)}"
