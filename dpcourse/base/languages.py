"""The language of a process, and the messages of the code in that language.

The language of a process is chosen by `language`, else by DPCOURSE_LANGUAGE; else it is English. A message is an English
text with named fields: `say("{right} of {all} entries are right.", right=3, all=5)` gives the text in the chosen
language. This text keeps its message and fields, so that `again` can say them in another language, and `as_data` can
store them. A message that a catalogue lacks is said in English. `dpcourse build` keeps the catalogues,
`locale/<language>/<room>.po`, in step with the code.
"""

import contextlib
import functools
import gettext
import os
import re
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ENGLISH = "en"
CHOICE = "DPCOURSE_LANGUAGE"
LESSONS = "[0-9][0-9]-*.ipynb"
PACKAGE = Path(__file__).resolve().parents[1]
CATALOGUES = PACKAGE / "locale"
"""Where a language has a folder with what this package says in it."""
COMPILED = ".mo"  # of each catalogue, in that folder
FONT_FILE, FONT = "font.otf", "dpcourse {}"
"""Beside a catalogue, where pictures need it: a font, and its name for the language."""

_chosen: list[str] = []  # the last one counts


# ---- the choice


def language(name: str) -> None:
    """Speak a language, such as "zh", from now on in this process. Raises ValueError where the language is not there."""
    _chosen.append(known(name))


def known(name: str) -> str:
    """Return the course's own name of a language, however a system writes it. Raises ValueError where it is not there.

    >>> known("EN"), known("en_GB.UTF-8"), known("zh-Hans-CN")
    ('en', 'en', 'zh')
    """
    return _known(name, PACKAGE, CATALOGUES)


def chosen() -> str:
    """Return the chosen language, such as "zh". Raises ValueError where DPCOURSE_LANGUAGE names none that is there.

    >>> chosen()
    'en'
    """
    return _chosen[-1] if _chosen else known(os.environ.get(CHOICE) or ENGLISH)


@contextlib.contextmanager
def speaking(name: str) -> Iterator[None]:
    """Speak a language in a `with` block. Raises ValueError where the language is not there."""
    before = list(_chosen)
    language(name)
    try:
        yield
    finally:
        _chosen[:] = before


def folders(package: Path = PACKAGE) -> dict[str, Path]:
    """Return language -> folder of its blank lessons: English ones in the package or beside it, others in folders within.

    Empty where this copy has no lessons.
    """
    english = next((folder for folder in _lessons(package) if any(folder.glob(LESSONS))), None)
    if english is None:
        return {}
    others = sorted(english.glob(f"[!.]*/{LESSONS}"))
    return {ENGLISH: english} | {file.parent.name: file.parent for file in others}


def _lessons(package):
    return package / "lessons", package.parent / "lessons"


@functools.cache  # so that no message costs a look into folders
def catalogued() -> list[str]:
    """Return the languages in which texts of the code can be said."""
    return sorted({ENGLISH, *(folder.name for folder in CATALOGUES.glob("[a-z]*/"))})


@functools.cache  # of those that are there: what raises is asked again
def _known(name, package, catalogues):
    there = sorted(
        {ENGLISH, *(each.name for folder in (*_lessons(package), catalogues) for each in folder.glob("[a-z]*/"))}
    )
    plain = {_plain(each): each for each in there}
    wanted = _plain(name)
    while wanted and wanted not in plain:
        wanted = wanted.rpartition("-")[0]  # zh-hans-cn, zh-hans, zh
    if not wanted:
        raise ValueError(f"there is no language {name!r}; there are: {', '.join(there)}")
    return plain[wanted]


def _plain(name):
    """Return a name without its character set and modifier, as of "zh_CN.UTF-8", in small letters."""
    return re.split("[.@]", name)[0].replace("_", "-").lower()


# ---- what is said


class Said(str):
    """A text in one language, which keeps its English message, or (for one, for many), and the named fields."""

    message: str | tuple[str, str]
    fields: dict[str, Any]

    def __format__(self, spec: str) -> str:
        """Format as any text; "A" makes the first letter a capital, for the beginning of a sentence: "{what:A}"."""
        return self[:1].upper() + self[1:] if spec == "A" else super().__format__(spec)


def say(message: str, /, **fields: object) -> Said:
    """Return an English message in the chosen language; fields: a number or a text for each {field} of the message.

    Without fields the message is taken as it is, and may hold any brackets. A message that is no literal in the call of
    `say` is marked by `to_say` where it stands, or declared in a lesson's folder, as hints and misconceptions are.

    >>> say("{right} of {all} entries are right.", right=3, all=5)
    '3 of 5 entries are right.'
    """
    return again(message) if isinstance(message, Said) else _put(message, fields, chosen())


def counted(one: str, many: str, /, *, count: int, **fields: object) -> Said:
    """Return a message whose words depend on a number, the field {count}, in the chosen language.

    >>> counted("{count} point", "{count} points", count=3)
    '3 points'
    """
    return _put((one, many), {"count": count, **fields}, chosen())


def to_say(message: str, /) -> str:
    """Mark a message that stands in a table, for `say` later; return the message as it is."""
    return message


def again(text: str, language: str | None = None) -> Said:
    """Return a text in another language, or in the one chosen now. A text that `say` did not make is taken as a message.

    >>> again(say("{right} of {all} entries are right.", right=3, all=5), "en").fields
    {'right': 3, 'all': 5}
    """
    message, fields = (text.message, text.fields) if isinstance(text, Said) else (str(text), {})
    return _put(message, fields, language or chosen())


def sentences(texts: Iterable[str]) -> str:
    """Join sentences, one after another.

    >>> sentences(["One.", "Two."])
    'One. Two.'
    """
    return _joined("{first} {then}", list(texts))


def listed(texts: Iterable[str], last: str = "{first} and {then}", by: str = "{first}, {then}") -> str:
    """Join texts in a row `by` one message, and the last of them by another, `last`; both are among JOINING.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "{first}, {then}")
    ('a, b and c', 'a, b')
    """
    *before, end = list(texts) or [""]
    return say(last, first=_joined(by, before), then=end) if before else end


JOINING = (
    to_say("{first} {then}"),
    to_say("{first}, {then}"),
    to_say("{first}; {then}"),
    to_say("{first} and {then}"),
    to_say("{first} or {then}"),
)


def _joined(by, texts):
    return functools.reduce(lambda first, then: say(by, first=first, then=then), texts) if texts else ""


def as_data(text: object) -> Any:
    """Return a text of `say` as plain data for JSON, its message and fields; anything else as it is.

    >>> as_data(say("{n} of them", n=3))
    {'message': '{n} of them', 'fields': {'n': 3}}
    """
    if not isinstance(text, Said):
        return text.item() if hasattr(text, "item") else text
    message = text.message if isinstance(text.message, str) else list(text.message)
    return {"message": message, "fields": {name: as_data(value) for name, value in text.fields.items()}}


def from_data(data: Any) -> Any:
    """Return the text of `as_data`'s result in the chosen language.

    The message is trusted: never call this with data of a student's process.
    """
    if not isinstance(data, dict):
        return data
    message = data["message"] if isinstance(data["message"], str) else tuple(data["message"])
    return _put(message, {name: from_data(value) for name, value in data["fields"].items()}, chosen())


def _put(message, fields, language):
    translation = _catalogue(CATALOGUES / language) if language != ENGLISH else gettext.NullTranslations()
    if isinstance(message, str):
        english, text = message, translation.gettext(message) if message else message
    else:
        english = message[fields["count"] != 1]
        text = translation.ngettext(*message, fields["count"])
    if fields_of(text) != fields_of(english) and fields:
        text = english  # a translation that cannot be filled in is not shown
    if fields:
        text = text.format(**{name: _in(language, value) for name, value in fields.items()})
    found = Said(text)
    found.message, found.fields = message, fields
    return found


def _in(language, value):
    return again(value, language) if isinstance(value, Said) else value


def font(language: str) -> Path | None:
    """Return the file of a language's font, which is called FONT; None where DejaVu Sans will do."""
    file = CATALOGUES / language / FONT_FILE
    return file if file.exists() else None


def forget() -> None:
    """Read the catalogues anew, since they have changed."""
    _catalogue.cache_clear()


@functools.cache
def fields_of(message: str) -> frozenset[str]:
    """Return the names of the fields in a message; none where its brackets are no fields.

    >>> sorted(fields_of("{right} of {all:,}"))
    ['all', 'right']
    """
    try:
        return frozenset(name for _, name, _, _ in string.Formatter().parse(message) if name is not None)
    except ValueError:
        return frozenset()


@functools.cache
def _catalogue(folder):
    """All compiled catalogues of a folder: what one has not, the next may have."""
    found = gettext.NullTranslations()
    for file in sorted(folder.glob(f"*{COMPILED}"), reverse=True):
        with file.open("rb") as compiled:
            one = gettext.GNUTranslations(compiled)
        one.add_fallback(found)
        found = one
    return found
