"""What an instructor decides of marks: points, part credit, deadlines, names in the LMS. It stands in course.toml.

What is the same each week of a term stands there too, so that no option need be typed again: roster, pattern, course.

Marks are made from it when they are read (see `marking`): nothing of it is stored with a result, so that a changed
file changes marks, and no notebook runs again.
"""

import dataclasses
import difflib
import math
import re
import tomllib
import zoneinfo
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from unicodedata import normalize

from dpcourse import course
from dpcourse.base.languages import catalogued, listed, say, sentences, to_say
from dpcourse.checking import Exercise

FILE = "course.toml"
PERIODS = {"hour": 3600, "day": 86400}
ANY = "wrong"  # the key of part credit for every wrong answer; no misconception is called so

TEMPLATE = to_say("""\
# What you decide of marks. Every key may be left out; what stands here are the defaults.
# Change it and run `dpcourse grade` again: the marks change, and no notebook is run.

timezone = "UTC"  # of the times below that do not say theirs, such as "Europe/Berlin"
language = ""     # of the feedback, such as "zh"; else the one in which the command speaks
contact = ""      # whom students ask about a mark; stands on their feedback
excluded = []     # exercises that do not count, such as ["1.4", "2.8"]
bonus = true      # whether points given with --bonus may lift a score above the lesson's points; false: it ends there

# What you would type each week; a path is from the folder of this file, and what you type counts before it.
roster = ""       # as --roster: the CSV that lists the class, such as "roster.csv"
pattern = ""      # as --pattern: how files are named, where no platform has named them, such as "{name}_{number}_{file}"
course = ""       # as --course: the folder that holds lessons/ as given out

[points]          # of exercises, by number or by name, where you want others than their own
# "composition/worst_posterior" = 4

[credit]          # part credit: which share of the points a wrong answer gets, by the name of its misconception
# "composition/worst_posterior" = { odds = 0.5, wrong = 0.1 }  # `wrong`: every other wrong answer

[late]            # what is taken of a lesson's points that came after its deadline
grace_minutes = 0
share = 0.0       # taken for each day begun, as a share of the score: 0.1 is a tenth
per = "day"       # or "hour"
floor = 0.0       # the share of the score that stays, however late
latest_days = inf # what comes more days after the deadline gets nothing

# For each lesson that needs it, by its number:
# [lessons.1]
# deadline = 2026-10-01T23:59:00  # a date alone is the end of that day
# column = "Homework 1 (12345)"   # what the LMS calls it; else the lesson's title
# maximum = 10                    # its points in the LMS, to which scores are scaled; else the lesson's points

# For each student who has more time, the new deadline of a lesson:
# [extensions."leekim_1234"]
# 1 = 2026-10-08T23:59:00
""")


class SettingsError(ValueError):
    """A course.toml that does not say what it should; one sentence says where, and what would be right."""


# ---- what a value may be: read(reading, value, path), named in the annotations below; path: the keys that lead to it


def _text(reading, value, path):
    return (
        value if isinstance(value, str) else reading.refuse(path, say('must be a text in quotes, such as "…"'), value)
    )


def _path(reading, value, path):
    return reading.file.parent / value if _text(reading, value, path) else None


def _yes_or_no(reading, value, path):
    return value if isinstance(value, bool) else reading.refuse(path, say("must be true or false"), value)


def _moment(reading, value, path):
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=reading.zone)
    if isinstance(value, date):
        return datetime.combine(value, time(23, 59, 59), reading.zone)
    return reading.refuse(path, say("must be a time without quotes, such as 2026-10-01T23:59:00"), value)


def _number(least=0, most=math.inf, above=False, infinite=False):
    def read(reading, value, path):
        good = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
        if good and not (above and value == least) and (value < math.inf or infinite):
            return value
        if above:
            right = say("must be a number above {least}", least=least)
        elif most < math.inf:
            right = say("must be a number of at least {least} and at most {most}", least=least, most=most)
        else:
            right = say("must be a number of at least {least}", least=least)
        return reading.refuse(path, right, value)

    return read


def _period(reading, value, path):
    return reading.among(_text(reading, value, path), PERIODS, say("a time"), path)


def _language(reading, value, path):
    return reading.among(_text(reading, value, path), ["", *catalogued()], say("a language of the feedback"), path)


def _zone(reading, value, path):
    known = zoneinfo.available_timezones()
    return reading.among(_text(reading, value, path), known, say("a time zone"), path)


def _exercise(reading, value, path):
    every = [each.number for each in course.every_exercise()]
    near = [number for number in every if number.partition(".")[0] == _text(reading, value, path).partition(".")[0]]
    if value.isdigit() and near:
        raise SettingsError(
            say(
                '{place}: an exercise stands in quotes, such as "{exercise}", not {value}.',
                place=reading.where(path),
                exercise=near[0],
                value=value,
            )
        )
    by_name = {each.id for each in course.every_exercise()}
    return value if value in by_name else course.find(reading.among(value, near or every, say("an exercise"), path)).id


def _exercises(reading, value, path):
    if not isinstance(value, list):
        reading.refuse(path, say('must be a list of exercises, such as ["1.4"]'), value)
    return tuple(_exercise(reading, each, path) for each in value)


def _misconception(reading, value, path):
    exercise = course.find(path[-2])
    known = [*(slip.name for slip in exercise.misconceptions), ANY]
    return reading.among(value, known, say("a misconception of exercise {exercise}", exercise=exercise.number), path)


def _lesson(reading, value, path):
    known = {str(each.number): each.number for each in course.lessons()}
    return known[reading.among(value.lstrip("0") or "0", known, say("the number of a lesson"), path)]


def _student(reading, value, path):
    return normalize("NFC", value)


Exercises = Annotated[str, _exercise]
Lessons = Annotated[int, _lesson]
Share = Annotated[float, _number(0, 1)]
BY_TYPE = {str: _text, bool: _yes_or_no, Path: _path, datetime: _moment}


@dataclass(frozen=True)
class Late:
    """What is taken of what comes too late: a share of the score for each hour or day begun after the grace."""

    grace_minutes: Annotated[float, _number()] = 0
    share: Share = 0.0
    per: Annotated[str, _period] = "day"
    floor: Share = 0.0
    latest_days: Annotated[float, _number(infinite=True)] = math.inf

    def kept(self, seconds: float) -> float:
        """The share of the score that stays so many seconds after the deadline: from 1, never rising, to 0.

        >>> Late(share=0.1).kept(3600), Late(share=0.1, grace_minutes=60).kept(3600), Late(latest_days=2).kept(200_000)
        (0.9, 1.0, 0.0)
        """
        if seconds <= self.grace_minutes * 60:
            return 1.0
        if seconds > self.latest_days * PERIODS["day"]:
            return 0.0
        return min(1.0, max(self.floor, 1 - self.share * math.ceil(seconds / PERIODS[self.per])))


@dataclass(frozen=True)
class OfLesson:
    """What is decided of one lesson. column: its name in the LMS; maximum: its points there, None for its own."""

    deadline: datetime | None = None
    column: str = ""
    maximum: Annotated[float, _number(above=True)] | None = None


@dataclass(frozen=True)
class Settings:
    """What course.toml says, by the annotations; what it does not say is as here. path: the file, None where there is none.

    roster, pattern, course: as the options of the same names, None where it names none.
    """

    timezone: Annotated[str, _zone] = "UTC"
    language: Annotated[str, _language] = ""
    contact: str = ""
    excluded: Annotated[tuple[str, ...], _exercises] = ()
    bonus: bool = True
    roster: Path | None = None
    pattern: str | None = None
    course: Path | None = None
    points: Mapping[Exercises, Annotated[float, _number()]] = field(default_factory=dict)
    credit: Mapping[Exercises, Mapping[Annotated[str, _misconception], Share]] = field(default_factory=dict)
    late: Late = field(default_factory=Late)
    lessons: Mapping[Lessons, OfLesson] = field(default_factory=dict)
    extensions: Mapping[Annotated[str, _student], Mapping[Lessons, datetime]] = field(default_factory=dict)
    path: Path | None = None

    def points_of(self, exercise: Exercise) -> float:
        """How many points an exercise counts; 0 where it is excluded."""
        return 0 if exercise.id in self.excluded else self.points.get(exercise.id, exercise.points)

    def credit_of(self, exercise_id: str, misconception: str | None) -> float:
        """Which share of the points a wrong answer gets."""
        shares = self.credit.get(exercise_id, {})
        return shares.get(misconception or ANY, shares.get(ANY, 0.0))

    def of(self, lesson: int) -> OfLesson:
        """What is decided of a lesson."""
        return self.lessons.get(lesson, OfLesson())

    def due(self, student: str, lesson: int) -> datetime | None:
        """Until when a student may hand a lesson in; None: for ever."""
        mine = self.extensions.get(normalize("NFC", student), {}).get(lesson)
        return mine or self.of(lesson).deadline


def read(file: Path) -> Settings:
    """The Settings in a file. Raises SettingsError, OSError."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError(say("{file} is no text in UTF-8: save it as that.", file=file)) from None
    return parse(text, file)


def parse(text: str, file: Path = Path(FILE)) -> Settings:
    """The Settings that a text in TOML says. Raises SettingsError.

    >>> parse('points."0.1" = 4').points["start_here/keep_probability"]
    4
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(say("{file} cannot be read: {reason}.", file=file, reason=error)) from None
    return _Reading(text, file).settings(table)


class _Reading:
    """Reads one file, and knows its text, so that a mistake is told with its line."""

    def __init__(self, text: str, file: Path):
        self.lines, self.file, self.zone = text.splitlines(), file, zoneinfo.ZoneInfo("UTC")

    def settings(self, table) -> Settings:
        if "timezone" in table:
            self.zone = zoneinfo.ZoneInfo(_zone(self, table["timezone"], ["timezone"]))
        return dataclasses.replace(self.read(Settings, table, []), path=self.file)

    def read(self, kind: Any, value, path: list[str]) -> Any:
        """A value as its annotation has it: a table by its class, anything else by what the annotation names."""
        inner = get_args(kind)
        if kind in BY_TYPE:
            return BY_TYPE[kind](self, value, path)
        if get_origin(kind) is Annotated:
            return inner[1](self, value, path)
        if get_origin(kind) is Mapping:
            return self._each(inner[0], inner[1], value, path)
        if inner:  # or None, which an empty text means
            return self.read(inner[0], value, path) or None
        return kind(**self._fields(kind, value, path))

    def _fields(self, kind, value, path):
        what = say("a key of {table}", table=".".join(path)) if path else say("a key")
        kinds = {key: each for key, each in get_type_hints(kind, include_extras=True).items() if key != "path"}
        for key in self._table(value, path):
            self.among(key, kinds, what, [*path, key])
        return {key: self.read(kinds[key], item, [*path, key]) for key, item in value.items()}

    def _each(self, key_kind, kind, value, path):
        items = [(self.read(key_kind, key, [*path, key]), key, item) for key, item in self._table(value, path).items()]
        found = {}
        for known, key, item in items:
            if known in found:
                raise SettingsError(say("{place}: {key!r} is there twice.", place=self.where([*path, key]), key=key))
            found[known] = self.read(kind, item, [*path, key])
        return found

    def _table(self, value, path):
        return value if isinstance(value, dict) else self.refuse(path, say("must be a table"), value)

    # ---- what is said where it is not

    def among(self, value, known: Iterable[str], what, path):
        known = list(known)
        if value in known:
            return value
        near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
        told = [say("{place}: {value!r} is not {what}.", place=self.where(path), value=value, what=what)]
        if near and not value[:1].isdigit():
            told.append(say("Did you mean {value!r}?", value=near[0]))
        elif len(known) < 20:
            told.append(say("There are {names}.", names=listed(filter(None, known), "{first}, {then}")))
        raise SettingsError(sentences(told))

    def refuse(self, path, right, value):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        raise SettingsError(
            say(
                "{place}: {key} {right}, not {value}.",
                place=self.where(path),
                key=".".join(path),
                right=right,
                value=shown[:80],
            )
        )

    def where(self, path):
        """The file, and the line on which the last key of the path stands, if it can be told."""
        for depth in range(len(path), 0, -1):
            key = re.compile(rf"(^|[\s.\[{{,\"'])[\"']?{re.escape(path[depth - 1])}[\"']?\s*[=\].]")
            found = [number for number, line in enumerate(self.lines, 1) if key.search(line.split(" #")[0])]
            if len(found) == 1:
                return say("{file}, line {line}", file=self.file, line=found[0])
        return str(self.file)
