"""Who is in the class: a CSV file as a platform exports it, or as somebody writes it.

Canvas' export of the gradebook, Moodle's list of participants or grading worksheet, and GitHub Classroom's roster are
read as they are. Columns are found by what their first line calls them, in any order; others are not looked at.
"""

import csv
import io
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from dpcourse.base.languages import catalogued, listed, say
from dpcourse.grading.collect import encodings, headers
from dpcourse.grading.collect.headers import squeezed
from dpcourse.grading.collect.reading import Unreadable, read, shown

DIVIDERS = ",;\t，；"
EXAMPLE = "student,id,login,email,github,late days,language"


class RosterError(ValueError):
    """A roster that does not say who is in the class; one sentence says in which line, and what would be right."""


@dataclass(frozen=True)
class Roster:
    """The students of a class, in the order of the file.

    students: as they are called everywhere: NAME_NUMBER, or NAME where the roster has no number; with the login behind
    it where two have the same name. ids: student -> column -> what stands there. late_days: student -> days, and
    languages: student -> code of a language, such as "zh", where the file says it. notes:
    sentences on how it was read.
    """

    path: Path
    students: tuple[str, ...]
    ids: dict[str, dict[str, str]] = field(default_factory=dict)
    late_days: dict[str, int] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    _keys: tuple[dict[str, set[str]], ...] = ()
    _numbers: dict[str, str] = field(default_factory=dict)
    _names: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path | str) -> "Roster":
        """The Roster in a CSV file, divided by commas, semicolons or tabs. Raises RosterError."""
        path = Path(path)
        try:
            text, encoding = encodings.told(read(path))
            lines = _lines(text, shown(path.name))
        except (Unreadable, encodings.Unknown, csv.Error) as error:
            reason = error.why if isinstance(error, Unreadable) else error.args[0]
            raise RosterError(
                say("The roster {path} cannot be read: {reason}.", path=shown(str(path)), reason=reason)
            ) from None
        about = {"roster": shown(path.name), "encoding": encoding}
        notes = (say("The roster {roster} is not in UTF-8, and was read as {encoding}.", **about),) if encoding else ()
        return cls(path, **_entries(lines, shown(path.name)), notes=notes)

    def matches(self, name: str, number: str = "") -> list[str]:
        """The students whom that name, and the number beside it, may mean: by number, name, login, e-mail, GitHub user.

        A name is that of "Lee, Kim" in every order and without spaces, as Canvas writes it; or it and the number, as in
        "1234 Kim Lee".
        """
        return self._matches(name, number) or self._with_number(name)

    def matches_in_group(self, name: str, number: str = "") -> list[str]:
        """The same where the name of a group and a hyphen may stand before a whole name, as Moodle writes it."""
        ends = [name[place + 1 :] for place, sign in enumerate(name) if sign == "-"]
        whole = [end for end in ends if squeezed(end) in self._names]
        return self.matches(name, number) or next(filter(None, (self.matches(end, number) for end in whole)), [])

    def _with_number(self, name):
        """Whoever has a number that stands in the name, and the rest of it as theirs."""
        numbers = [each for each in re.findall(r"\d+", name) if each in self._numbers]
        rest = [(self._numbers[each], name.replace(each, " ")) for each in numbers]
        return [student for student, name in rest if student in self._matches(name, "")]

    def _matches(self, name, number):
        by_name = next(
            (found for keys, key in zip(self._keys, _as_keys(name), strict=True) if (found := keys.get(key))), set()
        )
        by_number = {self._numbers[number]} if number in self._numbers else set()
        if by_number and (not by_name or by_number <= by_name):
            return sorted(by_number)
        return sorted(by_name | by_number)

    def find(self, name: str, number: str = "") -> str | None:
        """The one student whom that name and number mean; None where it is nobody, or may be two."""
        found = self.matches(name, number)
        return found[0] if len(found) == 1 else None


def _lines(text, file):
    """(number, cells) of each line that is not empty."""
    first = text.lstrip("\r\n").partition("\n")[0]
    divider = max(DIVIDERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=divider, strict=True)
    number, lines = 1, []
    try:
        for cells in reader:
            if swallowed := _swallowed(cells, divider, lines):
                raise csv.Error(
                    say("the cell that begins with {beginning!r} goes on over several lines", beginning=swallowed)
                )
            if any(map(str.strip, cells)):
                lines.append((number, [_clean(cell) for cell in cells]))
            number = reader.line_num + 1
    except csv.Error as error:
        raise RosterError(
            say(
                'Line {line} of the roster {file}: a quote (") is not closed, or stands within a cell ({reason}). '
                "A cell that holds one stands in quotes, with each of its own doubled.",
                line=number,
                file=file,
                reason=error.args[0],
            )
        ) from None
    return lines


def _swallowed(cells, divider, lines):
    """The beginning of a cell with other lines of the class in it, as behind a quote that is not closed; else nothing.

    A comment may have several lines, as in Moodle's worksheet; a name may not, nor a line within that has all columns.
    """
    columns = len(lines[0][1]) if lines else 1
    for place, cell in enumerate(cells):
        first, *others = cell.splitlines() or [""]
        looks_like_a_line = any(line.count(divider) >= max(1, columns - 1) for line in others)
        if others and (looks_like_a_line or place == 0 or not lines):
            return first[:30]
    return ""


def _clean(cell):
    return unicodedata.normalize("NFC", " ".join(cell.encode("utf-8", "replace").decode().split()))


def _as_keys(name):
    return shown(name).casefold(), squeezed(name)


def _entries(lines, file):
    """The fields of a Roster, from the lines of its file."""
    if not lines:
        raise RosterError(
            say(
                "The roster {file} is empty. Its first line names the columns, such as {example}.",
                file=file,
                example=EXAMPLE,
            )
        )
    (_, header), *rest = lines
    of = {kind: headers.places(header, kind) for kind in headers.WORDS}
    if not any(of[kind] for kind in (headers.NAME, headers.FIRST, headers.LAST, headers.NUMBER, headers.LOGIN)):
        raise RosterError(
            say(
                "The first line of the roster {file} names no column of students. It could be {example}.",
                file=file,
                example=EXAMPLE,
            )
        )
    everybody = [_person(line, cells, of, file) for line, cells in rest]
    students = _called([person for person in everybody if squeezed(person.name) not in headers.NO_STUDENTS], file)
    ids = {
        student: {title: cell for title, cell in zip(header, person.cells, strict=False) if cell}
        for student, person in students.items()
    }
    days = {student: person.days for student, person in students.items() if person.days is not None}
    spoken = {student: person.language for student, person in students.items() if person.language}
    return {
        "students": tuple(students),
        "ids": ids,
        "late_days": days,
        "languages": spoken,
        "_keys": _keys(students),
        "_numbers": _by_number(students, file),
        "_names": frozenset(squeezed(name) for person in students.values() for name in _turned(person.spelled) if name),
    }


@dataclass(frozen=True)
class _Person:
    """What a line says of somebody.

    spelled: the name with a space between first and last. accounts: logins, addresses, and numbers of another kind.
    """

    line: int
    name: str
    spelled: str
    number: str
    accounts: list[str]
    days: int | None
    language: str | None
    cells: list[str]


def _person(line, cells, of, file):
    """The _Person of a line; of: the places of the columns of each kind. Raises RosterError."""

    def stands(kind) -> list[str]:
        return [cells[place] for place in of[kind] if place < len(cells) and cells[place]]

    parts = stands(headers.NAME)[:1] or [*stands(headers.FIRST), *stands(headers.LAST)]
    name = _joined(parts)
    numbers = [re.sub(headers.PARTICIPANT, "", each) for each in stands(headers.NUMBER)]
    number, accounts = next(iter(numbers), ""), [*stands(headers.LOGIN), *numbers[1:]]
    if not name and not number and not accounts:
        raise RosterError(say("Line {line} of the roster {file} names nobody.", line=line, file=file))
    days, language = _days(stands(headers.LATE_DAYS), line, file), _language(stands(headers.LANGUAGE), line, file)
    return _Person(line, name, " ".join(parts), number, accounts, days, language, cells)


def _joined(parts):
    """A name of its parts, the last name behind; before, and without a space, where it is written so, as "王伟" is."""
    is_chinese = not re.search(r"[\x00-\u02ff]", "".join(parts))
    return "".join(reversed(parts)) if is_chinese and len(parts) > 1 else " ".join(parts)


def _language(cells, line, file):
    """The code of the language in the cell, if there is one. Raises RosterError."""
    if not cells:
        return None
    code = headers.language_of(cells[0], catalogued())
    if code is None:
        raise RosterError(
            say(
                "Line {line} of the roster {file}: there is no language {language!r}. There are {names}.",
                line=line,
                file=file,
                language=cells[0],
                names=listed(catalogued(), "{first}, {then}"),
            )
        )
    return code


def _days(cells, line, file):
    if not cells:
        return None
    if not cells[0].isdecimal():
        raise RosterError(
            say(
                "Line {line} of the roster {file}: late days are a whole number, not {days!r}.",
                line=line,
                file=file,
                days=cells[0],
            )
        )
    return int(cells[0])


def _called(people, file):
    """student -> the _Person, each called so that no two are called the same."""
    names = defaultdict(list)
    for person in people:
        base = person.name or person.number or person.accounts[0]
        has_number = person.name and person.number.isdecimal() and person.number.isascii()
        names[shown(f"{base}_{person.number}" if has_number else base)].append(person)
    students: dict[str, _Person] = {}
    for called, same in names.items():
        for person in same:
            other = next(iter([*person.accounts, *([person.number] if person.number not in called else [])]), "")
            student = shown(f"{called} ({other})") if len(same) > 1 and other else called
            if student in students:
                raise RosterError(
                    say(
                        "Lines {line} and {other_line} of the roster {file} are both {student}.",
                        line=students[student].line,
                        other_line=person.line,
                        file=file,
                        student=student,
                    )
                )
            students[student] = person
    return dict(sorted(students.items(), key=lambda item: item[1].line))


def _keys(students):
    """Dicts key -> students: names, logins, addresses as they stand; and without spaces and signs."""
    exact, short = defaultdict(set), defaultdict(set)
    for student, person in students.items():
        accounts = (person.number, *person.accounts)
        names = (
            student,
            person.name,
            *accounts,
            *(each.partition("@")[0] for each in accounts),
            *_turned(person.spelled),
        )
        for as_it_stands, without_signs in map(_as_keys, names):
            exact[as_it_stands].add(student)
            if without_signs:
                short[without_signs].add(student)
    exact.pop("", None)
    return exact, short


def _turned(name):
    """A name in every order of its words, as "Lee, Kim" is "Kim Lee"."""
    words = re.split(r"[\s,]+", name)
    return [" ".join(words[i:] + words[:i]) for i in range(len(words))]


def _by_number(students, file):
    numbers: dict[str, str] = {}
    for student, person in students.items():
        if person.number in numbers:
            raise RosterError(
                say(
                    "Lines {line} and {other_line} of the roster {file} have the same number, {number}.",
                    line=students[numbers[person.number]].line,
                    other_line=person.line,
                    file=file,
                    number=person.number,
                )
            )
        if person.number:
            numbers[person.number] = student
    return numbers
