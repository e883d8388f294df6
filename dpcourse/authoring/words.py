"""What the build itself writes on a page, in the language of that page, as the language.toml beside its source has it:

    name = "中文"
    behind = "..."  (the line above a part that is shown in English, since its translation is behind)
    [words]
    "Next: {link}" = "下一课：{link}"

A text is looked up by its English, and has the same fields; one that is not there stands in English.
"""

import ast
import functools
import string
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpcourse.authoring.source import LANGUAGE, SourceError, language_of, lesson_of, line_of, root_of

MEANT = {"name": "what the language calls itself", "behind": "the line above a part that is shown in English"}


@dataclass(frozen=True)
class Language:
    """What a language.toml says."""

    name: str
    behind: str
    words: dict[str, str] = field(default_factory=dict)


def file_of(root: Path, language: str) -> Path:
    """Where a language says its words."""
    return root / "solutions" / language / LANGUAGE


def read(root: Path, language: str) -> Language:
    """The words of a language. Raises SourceError."""
    file = file_of(root, language)
    try:
        said = _parsed(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SourceError(file, 1, str(error)) from None
    for name, what in MEANT.items():
        if not isinstance(said.get(name), str):
            raise SourceError(file, 1, f"has no `{name}`, {what}")
    return Language(said["name"], said["behind"], said.get("words", {}))


_parsed = functools.lru_cache(tomllib.loads)


def say(file: Path, text: str, **fields: object) -> str:
    """A text of the build, given in English, in the language of a page; fields: what stands for {each} in it."""
    language = language_of(file)
    translated = read(root_of(file), language).words.get(text, text) if language else text
    return (translated if _fields(translated) == _fields(text) else text).format(**fields)


def of_course(file: Path, text: str) -> str:
    """A text of the course's code, such as the title of an exercise, in the language of a page.

    It is English everywhere: the one place to ask the catalogues of such texts, once there are any.
    """
    return text


def title(file: Path) -> str:
    """A lesson's short title, such as "01 Composition"."""
    lesson = lesson_of(file)
    return f"{lesson.number:02} {of_course(file, lesson.title)}"


# ---- what a language lacks


def complaints(root: Path, language: str) -> Iterator[SourceError]:
    """The words that have not the fields of the English ones: they cannot be shown."""
    file = file_of(root, language)
    for text, translated in read(root, language).words.items():
        if _fields(text) != _fields(translated):
            fields = ", ".join(f"{{{name}}}" for name in sorted(_fields(text))) or "no fields"
            yield SourceError(
                file, line_of(file, translated), f"{translated!r} must have the fields of {text!r}: {fields}"
            )


def behind(root: Path, language: str) -> Iterator[str]:
    """The texts that the build says and a language has not, and those that it has for nothing."""
    file, has = file_of(root, language), read(root, language).words
    said = _said()
    yield from (f"{file}: has no words for {text!r}" for text in said if text not in has)
    yield from (
        f"{file}:{line_of(file, text)}: the build does not say {text!r} any more" for text in has if text not in said
    )


def _fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@functools.cache
def _said():
    """All texts that the build says: those given to `say` in the modules beside this one."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in sorted(Path(__file__).parent.glob("*.py")))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    texts = (call.args[1] for call in calls if ast.unparse(call.func) == "say" and len(call.args) == 2)
    return dict.fromkeys(text.value for text in texts if isinstance(text, ast.Constant))
