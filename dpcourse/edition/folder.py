"""The folder in which a learner works: the lessons are written into it, and brought to a newer edition."""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import v4

from dpcourse.base.files import new_folder, replaced, write_atomically
from dpcourse.base.languages import ENGLISH, counted, folders, say, sentences, speaking
from dpcourse.base.paths import NotThere
from dpcourse.edition import merge

RECORD = ".dpcourse-edition.json"
"""Beside the lessons: their language, and the digests of their cells and files as they were given out."""

BEFORE = ".before-update"
_NAME = re.compile(r"(?:\d\d-)?(.+)", re.DOTALL)  # of a lesson; what follows its number is its word here


def lessons_of_this_edition(language: str = ENGLISH) -> Path:
    """Return the folder of the blank lessons: in the package, if a wheel brought it, else beside. Raises NotThere.

    Those in another language stand in a folder of its name among the English ones. Raises ValueError for one that is
    not there.
    """
    there = folders(Path(__file__).resolve().parents[1])
    if not there:
        raise NotThere(
            say("This copy of dpcourse has no lessons in it. Install it anew, from a wheel or from the repository.")
        )
    if language not in there:
        names = ", ".join(there)
        raise ValueError(
            say("there are no lessons in {language}; there are: {names}", language=repr(language), names=names)
        )
    return there[language]


@dataclass(frozen=True)
class Begun:
    """The lessons in a learner's folder, by their names; some files may be gone or renamed.

    language: that of the lessons, None where it is not recorded. is_outdated: whether the lessons are known to be of
    another edition.
    """

    names: tuple[str, ...]
    language: str | None
    is_outdated: bool


def begun(folder: Path, lessons: Path | None = None) -> Begun | None:
    """Return the lessons that are in a folder already; None where it holds neither a lesson nor a record of lessons.

    lessons: the folder of the edition; that of the installed package if none is named.
    """
    language, given = _read_record(folder / RECORD)
    try:
        edition = _told_by(_Edition(lessons or lessons_of_this_edition(language), language).record())[1]
    except ValueError:  # this copy of dpcourse has none in that language
        edition = given
    names = tuple(file.name for file in _lessons_in(folder, {*given, *edition}))
    if not names and not os.path.lexists(folder / RECORD):
        return None
    return Begun(names, language if given else None, is_outdated=bool(given) and given != edition)


def start(folder: Path, lessons: Path | None = None, language: str = ENGLISH) -> list[str]:
    """Write the lessons into a new folder; returns their names. Raises ValueError where something is in the way.

    lessons: the folder of the edition; that of the installed package in this language if none is named.
    """
    edition = _Edition(lessons or lessons_of_this_edition(language), language)
    if begun(folder, lessons):
        raise ValueError(
            say(
                "{folder} holds lessons already, and nothing there was touched. `dpcourse update {folder}` brings "
                "the lessons of this edition and keeps your answers; `dpcourse start OTHER-FOLDER` begins anew elsewhere.",
                folder=folder,
            )
        )
    with new_folder(folder) as made:
        for name, content in edition.files.items():
            (made / name).write_bytes(content)
        (made / RECORD).write_text(edition.record(), encoding="utf-8")
    return sorted(edition.files)


def update(folder: Path, lessons: Path | None = None) -> list[str]:
    """Bring the lessons in a folder to this edition, and keep all that the learner wrote; returns what was done.

    Each file that is replaced, and is not as it was given out, stays beside the new one as NAME.before-update.ipynb.
    Raises NotThere where the folder holds no lesson, ValueError where a file is no notebook: then nothing is changed.
    """
    language, given = _read_record(folder / RECORD)
    edition = _Edition(lessons or lessons_of_this_edition(language), language)
    known = {*given, *edition.names}
    mine = {_word(file.name): file for file in _lessons_in(folder, known)}  # of two, the one with the higher number
    if not mine:
        raise NotThere(
            say("{folder} holds no lesson of this course. `dpcourse start {folder}` writes them.", folder=folder)
        )
    notebooks = {word: _notebook(file) for word, file in mine.items()}
    cells = {word: notebook["cells"] for word, notebook in notebooks.items()}
    with speaking(language):  # what a merge writes into a notebook is in the language of the lessons
        made = merge.merged(cells, {word: each["cells"] for word, each in given.items()}, edition.cells)
    writes, told = {}, []
    for word, name in edition.names.items():
        is_new = bool(given) and word not in given
        if not (word in mine or word in made.reached or is_new):
            continue
        is_untouched = word in mine and _sha(mine[word].read_bytes()) == given.get(word, {}).get("file")
        if word not in made.kept and (is_untouched or word not in mine):
            content = edition.files[name]
        else:
            content = _written(edition.notebooks[word], notebooks.get(word), made.lessons[word])
        before = mine.get(word)
        if before and before.name == name and _is_same(before, notebooks[word], content):
            continue
        writes[word] = (folder / name, content, before, is_untouched)
        told.append(_told(name, before, made, word))
    takes_first = sorted(writes, key=lambda word: (mine.get(word) is not None, word not in made.moved.values()))
    for word in takes_first:  # what is moved is there before it goes
        file, content, before, is_untouched = writes[word]
        if before and not is_untouched:
            _copy_aside(before)
        with replaced(file) as stream:
            stream.write(content)
        if before and before != file:
            before.unlink()
    left = [
        say("{file}: is left as it is.", file=file.name)
        for file in _lessons_in(folder, known)
        if file.name not in edition.files
    ]
    moved = [
        say("Your answer {function} is in {file} now.", function=function, file=edition.names[word])
        for function, word in sorted(made.moved.items())
    ]
    if (given or writes) and given != _told_by(edition.record())[1]:
        write_atomically(folder / RECORD, edition.record())
    return told + moved + left


def language_of(folder: Path) -> str | None:
    """Return the language of the lessons in a learner's folder; None where it is not recorded."""
    language, given = _read_record(folder / RECORD)
    return language if given else None


class _Edition:
    """The lessons of an edition, from their folder: word -> name of the file, -> notebook, -> cells; name -> bytes."""

    def __init__(self, folder, language):
        self.language = language
        self.files = {file.name: file.read_bytes() for file in sorted(folder.glob("*.ipynb"))}
        self.names = {_word(name): name for name in self.files}
        self.notebooks = {word: _notebook(folder / name) for word, name in self.names.items()}
        self.cells = {word: notebook["cells"] for word, notebook in self.notebooks.items()}

    def record(self):
        known = {
            word: {
                "file": _sha(self.files[name]),
                "cells": {cell["id"]: merge.digest(cell) for cell in self.cells[word]},
            }
            for word, name in self.names.items()
        }
        return json.dumps({"language": self.language, "lessons": known}, indent=1)


def _word(name):
    return _NAME.fullmatch(Path(name).stem)[1]


def _lessons_in(folder, words):
    return [file for file in sorted(folder.glob("*.ipynb")) if _word(file.name) in words]


def _notebook(file):
    try:
        notebook = v4.reads(file.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if not isinstance(cell["source"], str) or cell["cell_type"] not in ("code", "markdown", "raw"):
                raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            say(
                "{file} is no notebook that can be read. Nothing was changed. Mend it, or move it out of the folder, and "
                "update again.",
                file=file,
            )
        ) from None
    return notebook


def _read_record(file):
    """Return the language, and word -> what is recorded; empty where no record can be read: cell ids do without it."""
    try:
        return _told_by(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ENGLISH, {}


def _told_by(record):
    told = json.loads(record)
    return str(told.get("language", ENGLISH)), {
        word: {"file": str(each["file"]), "cells": {name: str(text) for name, text in each["cells"].items()}}
        for word, each in told["lessons"].items()
    }


def _written(new, mine, cells):
    """Return the bytes of a notebook with these cells, and with the kernel that the learner's notebook names."""
    notebook = {**new, "cells": cells, "metadata": {**new["metadata"], **(mine["metadata"] if mine else {})}}
    return (v4.writes(v4.reads(json.dumps(notebook))) + "\n").encode()


def _is_same(file, notebook, content):
    """Return whether a file holds already what is to be written, in whatever layout."""
    return file.read_bytes() == content or notebook == v4.reads(content.decode())


def _copy_aside(file):
    """Keep a copy under the first free name."""
    number, aside = 1, file.with_name(f"{file.stem}{BEFORE}{file.suffix}")
    while os.path.lexists(aside):
        number += 1
        aside = file.with_name(f"{file.stem}{BEFORE}-{number}{file.suffix}")
    with replaced(aside) as stream:
        stream.write(file.read_bytes())


def _told(name, before, made, word):
    if before is None:
        told = [say("{file}: is new.", file=name)]
    elif before.name != name:
        told = [say("{file}: is brought up to date. It was {before}.", file=name, before=before.name)]
    else:
        told = [say("{file}: is brought up to date.", file=name)]
    if kept := made.kept[word]:
        told.append(counted("{count} cell of yours kept.", "{count} cells of yours kept.", count=kept))
    if both := made.both[word]:
        told.append(
            counted(
                "Look for **Yours**: {count} cell had changed on both sides.",
                "Look for **Yours**: {count} cells had changed on both sides.",
                count=both,
            )
        )
    return sentences(told)


def _sha(content):
    return hashlib.sha256(content).hexdigest()
