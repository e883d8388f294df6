"""Feedback as an LMS takes it back: one zip for each lesson, and a comment for each student.

Each submission's feedback has the name by which the LMS that it came from knows whose it is. Moodle looks for the
participant's number in the name of a folder. Canvas looks for two numbers in the name of the file, and shows what it
finds under the name of the student's own file: so it gets a notebook, of text only. Whoever came from neither gets the
page.
"""

import html
import json
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from dpcourse.base.files import replaced
from dpcourse.base.languages import say, sentences, speaking
from dpcourse.checking import RIGHT
from dpcourse.grading.collect.reading import shown
from dpcourse.grading.keep.store import Row, spoken
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import feedback, pages
from dpcourse.grading.out.gradebook import title, title_of, whole
from dpcourse.grading.out.known_as import given_name, platform_of
from dpcourse.grading.out.tables import SIGNS
from dpcourse.grading.result import INFRASTRUCTURE

WHEN = (1980, 1, 1, 0, 0, 0)  # of every file in a zip: the same feedback is the same bytes


def write(rows: Sequence[Row], out: Path, settings: Settings) -> list[str]:
    """Write feedback-NN.zip into a folder, for each lesson; the names of those that hold anything."""
    written = []
    for lesson in sorted({row.lesson for row in rows}):
        files = dict(_files([row for row in rows if row.lesson == lesson], settings))
        if not files:
            continue
        file = out / f"feedback-{lesson:02}.zip"
        content = zipped(files)
        if not file.exists() or file.read_bytes() != content:
            with replaced(file) as stream:
                stream.write(content)
        written.append(file.name)
    for old in out.glob("feedback-[0-9][0-9]*.zip"):
        if old.name not in written:
            old.unlink()
    return written


def _files(rows: Iterable[Row], settings: Settings) -> Iterator[tuple[str, str]]:
    for row, name in _named(rows):
        yield name, notebook(row, settings) if name.endswith(".ipynb") else feedback.page(row.student, [row], settings)


def without_own_name(rows: Iterable[Row]) -> list[str]:
    """The students whose feedback the platform cannot know as theirs, since it knows another's by the same name."""
    found = [row.student for row, name in _named(rows) if name != name_for_lms(row)]
    return sorted(set(found))


def _named(rows):
    """Each row of which there is feedback, and the name of its file: one that is nobody else's in this lesson.

    Two names are one where capitals, or ways to write a letter, make no difference.
    """
    there = [
        (row, name_for_lms(row))
        for row in rows
        if feedback.has_feedback(row) and not row.stale and row.result.status != INFRASTRUCTURE
    ]
    keys = [(row.lesson, unicodedata.normalize("NFC", name.casefold())) for row, name in there]
    alike = Counter(keys)
    for (row, name), key in zip(there, keys, strict=True):
        yield row, name if alike[key] == 1 else feedback.page_name(row.student)


def name_for_lms(row: Row) -> str:
    """The name in the zip by which the LMS knows whose feedback it is."""
    found = platform_of(row)
    if found.lms == "moodle" and found.number:
        name = re.sub(r'[\s_/\\:*?"<>|]+', " ", shown(found.name)).strip()
        return f"{name}_{found.number}_assignsubmission_file_/feedback.html"
    if found.lms == "canvas":
        return f"{PurePosixPath(given_name(row)).stem}.ipynb"
    return feedback.page_name(row.student)


def zipped(files: dict[str, str]) -> bytes:
    """A zip of these files: name -> text."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, WHEN), text.encode(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


# ---- the feedback as lines of text


def lines(row: Row, settings: Settings) -> Iterator[str]:
    """The feedback on one lesson as lines of text, one for each exercise, in which `code` stands in backticks."""
    row = spoken(row)
    result, lesson = row.result, title(row.lesson)
    if result.score is None:
        yield say("{lesson}: not graded.", lesson=lesson)
    else:
        yield say("{lesson}: {whole}.", lesson=lesson, whole=whole(row))
    yield from feedback.status_in_words(row)
    yield from feedback.time_in_words(row)
    for mark in sorted(result.exercises, key=lambda mark: mark.state != RIGHT):
        told = {"exercise": mark.number, "title": title_of(mark.id), "about": _about(row, mark)}
        yield say("{exercise} {title}: {about}", **told)
    contact = settings.contact or say("your instructor")
    yield say("If you think that a mark is wrong, ask {contact}, and name the exercise.", contact=contact)


def _about(row, mark):
    hand = row.by_hand.get(mark.id)
    told = [say("{sentence}.", sentence=feedback.worth_in_words(mark))]
    if hand:
        told.append(say("Set by hand: {reason}", reason=pages.sentence(hand.reason)))
    told.append(pages.short(feedback.in_words(mark), 600))
    told += [say("Seen: {line}", line=pages.short(line)) for line in mark.seen[:1]]
    return sentences(filter(None, told))


def comment(row: Row, settings: Settings) -> str:
    """The feedback as the HTML of Moodle's column "Feedback comments", in which no sign can begin a formula."""
    with speaking(feedback.language_of([row], settings)):
        text = "\n".join(line.replace("`", "") for line in lines(row, settings))
    escaped = re.sub(rf"[{SIGNS}]", lambda sign: f"&#{ord(sign[0])};", html.escape(text, quote=False))
    return escaped.replace("\n", "<br>")


def notebook(row: Row, settings: Settings) -> str:
    """The feedback as a notebook with one cell of text."""
    with speaking(feedback.language_of([row], settings)):
        first, *rest = lines(row, settings)
    source = "\n\n".join([f"# {as_markdown(first)}", *map(as_markdown, rest)])
    cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": source}
    return json.dumps(
        {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1
    )


def as_markdown(text: str) -> str:
    """Markdown that shows a line of text as it is, but for `code` in backticks.

    >>> print(as_markdown("*a* <b> `x_1`"))
    &#42;a&#42; &#60;b&#62; <code>x&#95;1</code>
    """
    parts = (re.sub(r"[^\w\s]|_", lambda sign: _entity(sign[0]), part) for part in " ".join(text.split()).split("`"))
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def _entity(sign):
    return sign if sign in ".,:;'’…" or not sign.isascii() else f"&#{ord(sign)};"
