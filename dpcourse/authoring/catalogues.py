"""What the code says, in other languages: dpcourse/locale/XX/ROOM.po, a gettext catalogue for each room of the house.

A room is a lesson's folder, such as `laplace`, or a package, such as `checking`; what stands in no package is in
`dpcourse.po`. The messages are those in calls of `say`, `say_for`, `counted` and `to_say`, in Python and in templates; what a
lesson's folder declares (titles, hints, misconceptions, questions, the glossary) is added with the place that declares it,
and so is the help of the commands: what is given as `help=` or `rich_help_panel=`, and the docstrings of the functions that are commands.
`update` writes the catalogues anew and compiles them: a new message has no translation yet, one that has changed is
fuzzy, and both are said in English.
"""

import ast
import importlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from dpcourse import course
from dpcourse.authoring.faithful import FORMULA, otherwise
from dpcourse.authoring.source import SourceError
from dpcourse.base import languages
from dpcourse.base.files import replaced
from dpcourse.base.languages import COMPILED, PACKAGE, fields_of
from dpcourse.checking import law

KEYWORDS: dict[str, Any] = {"say": None, "to_say": None, "counted": (1, 2), "say_for": (2,)}
TOP = "dpcourse"
COMMANDS = PACKAGE / "commands"
WIDTH, SHOWN = 118, 60
Message = str | tuple[str, str]
Said = dict[Message, list[str]]
"""message -> the places that say it"""


def messages() -> dict[str, Said]:
    """room -> what it says: messages, each with the files that say it, or the names of what declares it."""
    found: dict[str, Said] = defaultdict(lambda: defaultdict(list))
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix == ".py" or "templates" in file.parts:
            for message in _extracted(file):
                _note(found[room(file)][message], file.relative_to(PACKAGE.parent).as_posix())
    for lesson in course.lessons():
        for place, text in _declared(lesson):
            _note(found[lesson.word][text], place)
    return found


def _note(places, place):
    if place not in places:
        places.append(place)


def room(file: Path) -> str:
    """The catalogue of a file of the package.

    >>> room(PACKAGE / "course" / "laplace" / "pictures.py"), room(PACKAGE / "plots.py")
    ('laplace', 'dpcourse')
    """
    folders = file.relative_to(PACKAGE).parts[:-1]
    return folders[1] if folders[:1] == ("course",) and folders[1:] else folders[0] if folders else TOP


def _extracted(file):
    """The messages that a file says. (Babel's own way with Python takes the "a" of `say(TABLE["a"])` for one.)"""
    from babel.messages.extract import extract

    if file.suffix in (".html", ".md"):
        with file.open("rb") as template:
            yield from (message for _, message, _, _ in extract("jinja2.ext:babel_extract", template, KEYWORDS))
    text = file.read_text(encoding="utf-8") if file.suffix == ".py" else ""
    if any(f"{name}(" in text for name in KEYWORDS):
        tree = ast.parse(text)
        if COMMANDS in file.parents:
            yield from _helps(tree)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            if isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
                given = [node.args[place - 1] for place in KEYWORDS[node.func.id] or (1,) if place <= len(node.args)]
                said = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                if len(said) == len(given) > 0:
                    yield tuple(said) if len(said) > 1 else said[0]


def _helps(tree):
    """What the help of the commands of a module says."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.keyword)
            and node.arg in ("help", "rich_help_panel")
            and isinstance(node.value, ast.Constant)
        ):
            yield node.value.value
        if isinstance(node, ast.FunctionDef) and any(
            "app.command" in ast.unparse(each) for each in node.decorator_list
        ):
            yield ast.get_docstring(node)


def _declared(lesson):
    """(place, text) of what a lesson's folder declares."""
    yield f"{lesson.word}/title", lesson.title
    for function in lesson.functions:
        exercise = importlib.import_module(f"dpcourse.course.{lesson.word}.{function}").exercise
        exercise = exercise.exercise(exercise.sample) if hasattr(exercise, "sample") else exercise
        texts = [("title", exercise.title), ("good for", exercise.good_for)]
        texts += [("instead", exercise.instead)] if exercise.forbidden else []
        texts += [(f"hint {number}", text) for number, text in enumerate(exercise.hints, 1)]
        texts += [(f"what {expression} is", text) for expression, text in exercise.means.items()]
        texts += [("needed", exercise.needed.message)] if exercise.needed else []
        texts += [(known.name, known.message) for known in exercise.misconceptions if known.message not in law.MESSAGES]
        yield from ((f"{function}/{name}", text) for name, text in texts if not isinstance(text, languages.Said))
    glossary = tomllib.loads((lesson.folder / "glossary.toml").read_text(encoding="utf-8"))
    for table, rows in glossary.items():
        yield from ((f"glossary/{table}", row["meaning"]) for row in rows)
    for number, question in enumerate(importlib.import_module(f"dpcourse.course.{lesson.word}.quiz").QUIZ, 1):
        yield f"quiz/{number}", question.text
        for option in question.options:
            yield from ((f"quiz/{number}", text) for text in (option.text, option.why))


# ---- the catalogues of a language


def translated() -> list[str]:
    """The languages that have catalogues."""
    return sorted(folder.name for folder in languages.CATALOGUES.glob("[a-z]*/"))


def update(rooms: Collection[str] = ()) -> list[Path]:
    """Bring the catalogues of all languages to what the code says, and compile them; returns the files that changed.

    rooms: only these catalogues, where any are named.
    """
    said, changed = messages(), []
    for language in translated():
        folder = languages.CATALOGUES / language
        there = {file.stem for kind in (".po", COMPILED) for file in folder.glob(f"*{kind}")}
        for name in sorted(rooms or {*said, *there}):
            file = folder / f"{name}.po"
            changed += _write(file, _updated(file, language, said.get(name, {})))
            changed += _write(file.with_suffix(COMPILED), compiled(file, language))
    languages.forget()
    return changed


def _write(file, content):
    if (file.read_bytes() if file.exists() else b"") == content:
        return []
    if content:
        with replaced(file) as stream:
            stream.write(content)
    else:
        file.unlink()
    return [file]


def _updated(file, language, said):
    """A catalogue as it should be, as the bytes of its file; empty where nothing is to be said."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    if not said:
        return b""
    template = Catalog(charset="utf-8")
    for message, places in said.items():
        template.add(message, locations=[(place.replace(" ", "-"), None) for place in places])
    catalogue = read(file, language)
    catalogue.update(template, no_fuzzy_matching=not catalogue.obsolete and not _lost(catalogue, template))
    catalogue.obsolete.clear()
    with BytesIO() as written:
        write_po(written, catalogue, width=WIDTH, omit_header=False, include_lineno=False)
        return _without_dates(written.getvalue())


def _lost(catalogue, template):
    """Whether the catalogue has translations of messages that are not said any more: new ones may resemble them."""
    return any(message.id and template.get(message.id) is None for message in catalogue)


def _without_dates(content):
    """The header says the language and the plural only: what else Babel writes into it changes each time."""
    head, _, rest = content.strip().partition(b"\n\n")
    kept = [
        line
        for line in head.splitlines()
        if not line.startswith(b"#")
        and (not line.startswith(b'"') or re.match(rb'"(Language:|Plural|MIME|Content)', line))
    ]
    return b"\n".join(kept) + b"\n\n" + rest + b"\n"


def read(file: Path, language: str) -> Any:
    """The catalogue in a file, as Babel has it; empty where there is none. Raises SourceError."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import PoFileError, read_po

    if not file.exists():
        return Catalog(_locale(language), charset="utf-8", header_comment="")
    try:
        with file.open("rb") as said:
            return read_po(said, _locale(language), charset="utf-8", abort_invalid=True)
    except PoFileError as error:
        raise SourceError(file, error.lineno + 1, error.args[0]) from None


def _locale(language):
    """The name if Babel knows the language, which then has its own plural."""
    from babel import Locale, UnknownLocaleError

    try:
        return str(Locale.parse(language))
    except UnknownLocaleError:
        return None


def called(language: str) -> str:
    """What a language calls itself.

    >>> called("zh"), called("xx")
    ('中文', 'xx')
    """
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(language).get_language_name() or language
    except UnknownLocaleError:
        return language


def _is_there(message):
    """Whether it is a message with a translation that may be shown."""
    return bool(
        message.id
        and (message.string if isinstance(message.string, str) else any(message.string))
        and not message.fuzzy
    )


def compiled(file: Path, language: str) -> bytes:
    """A catalogue, compiled; what is fuzzy is left out, and what cannot be filled in. Empty where nothing is left."""
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo

    whole = Catalog(_locale(language), charset="utf-8", header_comment="")
    for message in read(file, language):
        if _is_there(message) and not any(faults(message)):
            whole.add(message.id, message.string)
    if not len(whole):
        return b""
    with BytesIO() as written:
        write_mo(written, whole)
        return _same_each_time(written.getvalue())


def _same_each_time(content):
    """Dates of the header, which Babel makes of the clock, are blotted out: the lengths stay, so the offsets do."""
    return re.sub(
        rb"(-Date: )([^\n]*)",
        lambda found: found[1] + re.sub(rb"\d", b"0", found[2]).replace(b"YEAR", b"0000"),
        content,
    )


# ---- what is wrong, and what is lacking


def faults(message: Any) -> Iterator[str]:
    """What is wrong with a translation, each in a sentence: it is not shown then."""
    one = message.id if isinstance(message.id, str) else message.id[-1]
    texts = [message.string] if isinstance(message.string, str) else [*message.string]
    for text in filter(None, texts):
        yield from _of_fields(one, text)
        yield from _of_signs(one, text)


def _of_fields(english, text):
    theirs, mine = (fields_of(FORMULA.sub("", each)) for each in (english, text))  # their braces are no fields
    if theirs != mine:
        fields = ", ".join(f"{{{name}}}" for name in sorted(theirs)) or "no fields"
        yield f"{text!r} must have the fields of {english!r}: {fields}"


def _of_signs(english, text):
    """Formulas, code and numbers are as in a lesson, but that English may say one twice, or a 0 or a 1 in a word, such as "zeros"."""
    for verb, kind, sign in sorted(otherwise(english, text, known="0 1"), reverse=True):
        of_fields = kind == "code" and "{" in sign
        if kind in ("formula", "code", "number") and not of_fields and not (verb == "lacks" and sign in text):
            yield f"{text!r} {verb} the {kind} {sign}, unlike {english!r}"


def complaints(language: str) -> Iterator[SourceError]:
    """What is to be mended in the catalogues of a language."""
    first: dict[Message, tuple[Path, object]] = {}
    for file in sorted((languages.CATALOGUES / language).glob("*.po")):
        binary = file.with_suffix(COMPILED)
        if (binary.read_bytes() if binary.exists() else b"") != compiled(file, language):
            yield SourceError(binary, 1, f"is not what {file.name} gives: run `dpcourse build`")
        for message in read(file, language):
            if not _is_there(message):
                continue
            for fault in faults(message):
                yield SourceError(file, message.lineno, fault)
            other, string = first.setdefault(message.id, (file, message.string))
            if string != message.string:
                yield SourceError(file, message.lineno, f"{message.id!r} is said otherwise in {other.name}: choose one")


def behind(language: str) -> Iterator[str]:
    """What is said in English yet, and the share that is translated; no fault of anybody's."""
    there = everything = 0
    for name, said in sorted(messages().items()):
        file = languages.CATALOGUES / language / f"{name}.po"
        has = {message.id for message in read(file, language) if _is_there(message)}
        lacking = [message for message in said if message not in has]
        there, everything = there + len(said) - len(lacking), everything + len(said)
        if lacking:
            text = lacking[0] if isinstance(lacking[0], str) else lacking[0][0]
            first = f"{text if len(text) < SHOWN else text[: SHOWN - 1] + '…'!r} ({said[lacking[0]][0]})"
            yield f"{file}: {len(lacking)} of {len(said)} messages are not translated, the first of them {first}"
    share = 100 * there // max(1, everything)
    yield f"{called(language)}: {there} of {everything} messages of the code ({share} %) are translated."
