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

from dpcourse.grading.collect.reading import Unreadable, decoded, read, shown, words
from dpcourse.languages import said

NAME = ("student", "name", "fullname", "studentname", "姓名")
FIRST, LAST = ("firstname", "givenname"), ("lastname", "surname", "familyname")
NUMBER = ("id", "identifier", "number", "userid", "studentid", "studentnumber", "学号")
LOGIN = (
    "sisloginid", "sisuserid", "login", "loginid", "username", "email", "emailaddress", "mail", "idnumber",
    "rosteridentifier", "github", "githubuser", "githubusername",
)  # fmt: skip
LATE_DAYS = ("latedays",)
OF_CANVAS = ("pointspossible", "studenttest")  # lines of its export that are no students
DIVIDERS = ",;\t"
EXAMPLE = "student,id,login,email,github,late days"


class RosterError(ValueError):
    """A roster that does not say who is in the class; one sentence says in which line, and what would be right."""


@dataclass(frozen=True)
class Roster:
    """The students of a class, in the order of the file.

    students: as they are called everywhere: NAME_NUMBER, or NAME where the roster has no number; with the login behind
    it where two have the same name. ids: student -> column -> what stands there. late_days: student -> days, where the
    file says it.
    """

    path: Path
    students: tuple[str, ...]
    ids: dict[str, dict[str, str]] = field(default_factory=dict)
    late_days: dict[str, int] = field(default_factory=dict)
    _keys: tuple[dict[str, set[str]], ...] = ()
    _numbers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | str) -> "Roster":
        """The Roster in a CSV file, divided by commas, semicolons or tabs. Raises RosterError."""
        path = Path(path)
        try:
            lines = _lines(decoded(read(path)), shown(path.name))
        except (Unreadable, csv.Error) as error:
            reason = error.why if isinstance(error, Unreadable) else str(error)
            raise RosterError(
                said("The roster {path} cannot be read: {reason}.", path=shown(str(path)), reason=reason)
            ) from None
        return cls(path, *_entries(lines, shown(path.name)))

    def matches(self, name: str, number: str = "") -> list[str]:
        """The students whom that name, and the number beside it, may mean: by number, name, login, e-mail, GitHub user.

        A name is that of "Lee, Kim" in every order and without spaces, as Canvas writes it.
        """
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
    text = text.lstrip("\ufeff")
    first = text.lstrip("\r\n").partition("\n")[0]
    divider = max(DIVIDERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=divider, strict=True)
    number, lines = 1, []
    try:
        for cells in reader:
            if swallowed := _swallowed(cells, divider, lines):
                raise csv.Error(
                    said("the cell that begins with {beginning!r} goes on over several lines", beginning=swallowed)
                )
            if any(map(str.strip, cells)):
                lines.append((number, [_clean(cell) for cell in cells]))
            number = reader.line_num + 1
    except csv.Error as error:
        raise RosterError(
            said(
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


def _squeezed(text):
    """Only letters and digits, and the signs of letters; small.

    >>> _squeezed("Lee, Kim"), _squeezed("SIS Login ID")
    ('leekim', 'sisloginid')
    """
    return "".join(words(unicodedata.normalize("NFC", text).casefold()))


def _as_keys(name):
    return shown(name).casefold(), _squeezed(name)


def _entries(lines, file):
    """The fields of a Roster, from the lines of its file."""
    if not lines:
        raise RosterError(
            said(
                "The roster {file} is empty. Its first line names the columns, such as {example}.",
                file=file,
                example=EXAMPLE,
            )
        )
    (_, header), *rest = lines
    place = {_squeezed(title): column for column, title in reversed(list(enumerate(header)))}
    names = [[place[t] for t in NAME if t in place][:1] or [place[t] for t in (*FIRST, *LAST) if t in place]][0]
    numbers = [place[t] for t in NUMBER if t in place][:1]
    logins = [place[t] for t in LOGIN if t in place]
    days = [place[t] for t in LATE_DAYS if t in place]
    if not names and not numbers and not logins:
        raise RosterError(
            said(
                "The first line of the roster {file} names no column of students. It could be {example}.",
                file=file,
                example=EXAMPLE,
            )
        )

    def of(cells, columns):
        return [cells[column] for column in columns if column < len(cells) and cells[column]]

    people = []
    for line, cells in rest:
        name, logged = " ".join(of(cells, names)), of(cells, logins)
        number = re.sub(r"^\D+ (?=\d+$)", "", " ".join(of(cells, numbers)))  # Moodle: "Participant 1234"
        if _squeezed(name) in OF_CANVAS:
            continue
        if not name and not number and not logged:
            raise RosterError(said("Line {line} of the roster {file} names nobody.", line=line, file=file))
        people.append((line, name, number, logged, _days(of(cells, days), line, file), cells))
    students = _called(people, file)
    ids = {
        student: {header[column]: cells[column] for column in range(min(len(header), len(cells))) if cells[column]}
        for student, (*_, cells) in students.items()
    }
    late_days = {student: days for student, (*_, days, _) in students.items() if days is not None}
    return tuple(students), ids, late_days, _keys(students), _by_number(students, file)


def _days(cells, line, file):
    if not cells:
        return None
    if not cells[0].isdecimal():
        raise RosterError(
            said(
                "Line {line} of the roster {file}: late days are a whole number, not {days!r}.",
                line=line,
                file=file,
                days=cells[0],
            )
        )
    return int(cells[0])


def _called(people, file):
    """student -> what the file says, each called so that no two are called the same."""
    names = defaultdict(list)
    for person in people:
        _, name, number, logged, *_ = person
        base = name or number or logged[0]
        names[shown(f"{base}_{number}" if name and number.isdecimal() and number.isascii() else base)].append(person)
    students = {}
    for called, same in names.items():
        for person in same:
            line, _, number, logged, *_ = person
            other = next(iter([*logged, *([number] if number not in called else [])]), "")
            student = shown(f"{called} ({other})") if len(same) > 1 and other else called
            if student in students:
                raise RosterError(
                    said(
                        "Lines {line} and {other_line} of the roster {file} are both {student}.",
                        line=students[student][0],
                        other_line=line,
                        file=file,
                        student=student,
                    )
                )
            students[student] = person
    return dict(sorted(students.items(), key=lambda item: item[1][0]))


def _keys(students):
    """Dicts key -> students: names, logins, addresses as they stand; and without spaces and signs."""
    exact, squeezed = defaultdict(set), defaultdict(set)
    for student, (_, name, number, logged, *_) in students.items():
        words = re.split(r"[\s,]+", name)
        turned = [" ".join(words[i:] + words[:i]) for i in range(len(words))]
        accounts = (number, *logged)
        for called in (student, name, *accounts, *(each.partition("@")[0] for each in accounts), *turned):
            key, short = _as_keys(called)
            exact[key].add(student)
            if short:
                squeezed[short].add(student)
    exact.pop("", None)
    return exact, squeezed


def _by_number(students, file):
    numbers: dict[str, str] = {}
    for student, (line, _, number, *_) in students.items():
        if number in numbers:
            raise RosterError(
                said(
                    "Lines {line} and {other_line} of the roster {file} have the same number, {number}.",
                    line=students[numbers[number]][0],
                    other_line=line,
                    file=file,
                    number=number,
                )
            )
        if number:
            numbers[number] = student
    return numbers
