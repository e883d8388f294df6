"""A language in which every message stands in brackets, "⟦3 of 5 entries are right.⟧": what was never marked shows.

`with spoken():` chooses it. `outside(text)` is what of a text stands outside of all brackets; `unmarked(text)` are the
English words in it that no translator gets, those in fields of messages too.
"""

import ast
import contextlib
import functools
import re
import string
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from unittest import mock

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from dpcourse.authoring import catalogues
from dpcourse.base import languages
from dpcourse.base.languages import Said

LANGUAGE = "yy"
WORD = re.compile(r"[^\W\d_]{2,}")
_FOLDERS: list[tempfile.TemporaryDirectory] = []  # they stay as long as the process


@contextlib.contextmanager
def spoken() -> Iterator[None]:
    """Inside the block this language is there, and chosen."""
    with mock.patch.object(languages, "CATALOGUES", folder()), languages.speaking(LANGUAGE):
        yield


@functools.cache
def messages() -> frozenset[str]:
    """Every message of the package, of those with a plural both."""
    found = [message for room in catalogues.messages().values() for message in room]
    return frozenset(text for message in found for text in ([message] if isinstance(message, str) else message))


@functools.cache
def folder() -> Path:
    """A folder of catalogues in which this language is the only one."""
    _FOLDERS.append(tempfile.TemporaryDirectory())
    path = Path(_FOLDERS[-1].name)
    compile_into(path)
    return path


def compile_into(path: Path) -> None:
    """Write the compiled catalogue of this language where `languages` looks for it in a folder of catalogues."""
    catalogue = Catalog(charset="utf-8", header_comment="")
    for room in catalogues.messages().values():
        for message in room:
            catalogue.add(message, f"⟦{message}⟧" if isinstance(message, str) else tuple(f"⟦{one}⟧" for one in message))
    with BytesIO() as compiled:
        write_mo(compiled, catalogue)
        (path / LANGUAGE).mkdir(parents=True, exist_ok=True)
        (path / LANGUAGE / f"all{languages.COMPILED}").write_bytes(compiled.getvalue())


def outside(text: str) -> str:
    """What of a text of this language stands outside of all brackets.

    >>> outside("a ⟦b ⟦c⟧ d⟧ e")
    'a  e'
    """
    depth, found = 0, ""
    for character in text:
        depth -= character == "⟧"
        found += character if depth == 0 and character not in "⟦⟧" else ""
        depth += character == "⟦"
    return found


def unmarked(text: str, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """The words of a text that stand in no message: neither code, nor in backticks.

    known: names of fields whose words are not ours, such as what a function has printed.
    """
    if not isinstance(text, Said):
        if not is_code(text):
            yield text
        return
    message = text.message if isinstance(text.message, str) else text.message[text.fields["count"] != 1]
    quoted = {name for part in re.findall(r"`[^`]*`", message) for _, name, _, _ in string.Formatter().parse(part)}
    if text.fields:
        if message not in messages() and has_words(re.sub(r"{[^}]*}", "", message)):
            yield message
    elif message not in messages() and not is_code(message):
        yield message
    for name, value in text.fields.items():
        if isinstance(value, str) and name not in quoted | known:
            yield from unmarked(value, known)


def is_code(text: str) -> bool:
    """Whether a text has no words but those of Python, or in backticks."""
    bare = re.sub(r"`[^`]*`", "", str(text)).replace("…", "0")
    if not has_words(bare):
        return True
    try:
        return not isinstance(ast.parse(bare.strip(), mode="eval").body, ast.Name)
    except (SyntaxError, ValueError):
        return False


def has_words(text: str) -> bool:
    return bool(WORD.search(re.sub(r"\b(nan|inf)\b", "", text)))
