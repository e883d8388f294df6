"""How platforms name what students hand in: a table of patterns with named groups, one line for each way.

A pattern without a slash is of the name of a file or folder, without the ending of a notebook or an archive; one with a
slash is of a path. Every pattern is tried at every folder of a path, archives among them, and the outermost that fits
counts: a student names what lies within, and cannot hand in for another. Where a class lies, and whether it is packed,
makes no difference.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dpcourse.base.languages import listed, say
from dpcourse.grading.collect.names import Origin, stem

MOODLE, BLACKBOARD, CANVAS, NBGRADER, GITHUB = "moodle", "blackboard", "canvas", "nbgrader", "github"

TABLE = (
    (MOODLE, r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_[a-z]+(?:_.*)?"),
    (BLACKBOARD, r".+?_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_.*)?"),
    (CANVAS, r"(?P<late>LATE_)?(?P<name>anon_(?!LATE_)[A-Za-z0-9]+)_(?:(?P<attachment>\d+)_.+|(?:text|link)\.html)"),
    (CANVAS, r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_(?:(?P<attachment>\d+)_.+|(?:text|link)\.html)"),
    (CANVAS, r"(?P<name>.+?)(?P<late>_LATE)?_(?P<number>\d{3,})_(?P<attachment>\d{3,})_.+"),  # "o_neill"
    (NBGRADER, r"submitted(?:\.zip)?/(?P<name>[^/]+)/.*"),
)
"""(platform, pattern): Canvas writes name, LATE where it is, the user's number, the file's number, the student's own
name of the file, and in place of the latter what was typed; where marking is anonymous, a code. In a name with an
underscore it leaves no number between two of them. GitHub Classroom's ASSIGNMENT-USER can be told for a class only, and
where nothing fits, the folder or file at the top is a student: see `students`."""

GROUPS = {
    "name": r"(?:(?!\.zip/)[^/])+?",
    "number": r"\d+",
    "late": r"(?i:[_ -]?late)?",
    "time": r"\d[\d :T._-]*\d",
    "file": r".+",
}
"""What `{group}` stands for in a template; `{file}`, the student's own, tells nothing. An archive is no name: a template
says `{name}.zip/{file}`, so that a class in an archive is not one student."""
TOLD = ("name", "number", "late", "time", "attachment")  # the groups of a regular expression that are looked at
EXAMPLE = "{name}_{number}_{file}"
DIGITS = "%Y%m%d%H%M%S"


class PatternError(ValueError):
    """A pattern that cannot be used; one sentence says why, and what would be right."""


@dataclass(frozen=True)
class Patterns:
    """The patterns by which students are told: (platform, pattern, whether it is of a path), as they are tried.

    own: how somebody wrote the only one, "" for the table; then what it does not fit is nobody's.
    """

    rows: tuple[tuple[str, re.Pattern, bool], ...]
    own: str = ""

    def at(self, parts: Sequence[str], folder: bool = False) -> Origin | None:
        """What the path says from its first name on; folder: whether that is one."""
        whole = "/".join([*parts, *([""] if folder else [])])
        path = "/".join([*parts[:-1], *([parts[-1], ""] if folder else [stem(parts[-1])])])
        for platform, pattern, is_of_path in self.rows:
            texts = (path, whole) if is_of_path else (stem(parts[0]), parts[0])
            match = next(filter(None, map(pattern.fullmatch, texts)), None)
            if match and match["name"].strip("_ "):
                depth = match.string.count("/", 0, match.start("name")) if is_of_path else 0
                return (self._of_name(parts[depth]) if depth else None) or _origin(platform, match, parts[depth])
        return None

    def _of_name(self, name):
        """What a name says by itself, as that of a Moodle folder does wherever somebody has put it."""
        return Patterns(tuple(row for row in self.rows if not row[-1])).at([name])

    def at_path(self, parts: Sequence[str], folder: bool = False) -> Origin | None:
        """The same by the table's patterns of paths alone."""
        of_paths = tuple(row for row in self.rows if row[-1])
        return Patterns(of_paths).at(parts, folder) if of_paths and not self.own else None

    def within(self, parts: Sequence[str], folder: bool = False) -> Origin | None:
        """What the outermost name in a path says that a platform gave."""
        return next(self._each(parts, folder), None)

    def _each(self, parts, folder) -> Iterator[Origin]:
        return filter(None, (self.at(parts[depth:], folder) for depth in range(len(parts))))


def _origin(platform, match, given):
    groups = match.groupdict()
    return Origin(
        platform,
        groups["name"],
        groups.get("number") or "",
        int(groups.get("attachment") or -1),
        bool(groups.get("late")),
        _time(groups.get("time")),
        given,
    )


def _time(text):
    """A time by the clock of this machine, whatever divides its digits; a name does not say which clock is its own."""
    digits = re.sub(r"\D", "", text or "")
    try:
        return datetime.strptime(digits.ljust(14, "0"), DIGITS).astimezone(UTC) if len(digits) >= 8 else None
    except (ValueError, OverflowError, OSError):
        return None


PLATFORMS = Patterns(tuple((platform, re.compile(pattern, re.DOTALL), "/" in pattern) for platform, pattern in TABLE))


def own(text: str) -> Patterns:
    """The Patterns that are the one that somebody wrote: a template such as {name}_{number}_{file}, or a regular expression.

    A regular expression has named groups, name among them; number, late, time and attachment are looked at too.
    Raises PatternError where it cannot be used.

    >>> own("{name}-{number}-{file}").within(["2026", "Kim Lee-77-x.ipynb"]).student
    'Kim Lee_77'
    """
    is_regular = "(?P<" in text
    try:
        pattern = re.compile(text if is_regular else _of_template(text), re.DOTALL)
    except re.error as error:
        raise PatternError(
            say(
                "{pattern!r} is no regular expression ({reason}). It could be a template, such as {example}.",
                pattern=text,
                reason=error,
                example=EXAMPLE,
            )
        ) from None
    if "name" not in pattern.groupindex:
        raise PatternError(
            say(
                "{pattern!r} does not say where the student's name stands: write {{name}} there, as in {example}.",
                pattern=text,
                example=EXAMPLE,
            )
        )
    if pattern.fullmatch(""):
        raise PatternError(
            say("{pattern!r} fits a name of no letters. It could be {example}.", pattern=text, example=EXAMPLE)
        )
    return Patterns((("", pattern, "/" in text),), text)


def _of_template(text):
    """A regular expression that fits what a template fits. Raises PatternError."""
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", text)):
        raise PatternError(
            say("{pattern!r} has a bracket without a partner. It could be {example}.", pattern=text, example=EXAMPLE)
        )
    pattern, there = "", set()
    for literal, group in re.findall(r"([^{}]*)(?:\{(\w+)\}|$)", text):
        pattern += re.escape(literal)
        if group and (group in there or group not in GROUPS):
            raise PatternError(
                say(
                    "{pattern!r} has {{{group}}} where it cannot be. It may have each of {groups} once, as {example} has.",
                    pattern=text,
                    group=group,
                    groups=listed([f"{{{name}}}" for name in GROUPS]),
                    example=EXAMPLE,
                )
            )
        there.add(group)
        pattern += f"(?P<{group}>{GROUPS[group]})" if group else ""
    return pattern


def origin(path: str) -> Origin:
    """What the names in a path say: the outermost that a platform gave, else the first one.

    >>> origin("late/leekim_LATE_1234_98765_lee_5_6_x.ipynb").student, origin("Kim Lee.ipynb").student
    ('leekim_1234', 'Kim Lee')
    """
    parts = [part for part in path.split("/") if part]
    return PLATFORMS.within(parts) or Origin("", stem(parts[0]))


def of_platform(name: str) -> Origin | None:
    """What the name of one file or folder says, where a platform gave it; else None.

    >>> of_platform("anon_ab1cd_98765_01-composition.ipynb").student
    'anon_ab1cd'
    """
    return PLATFORMS.at([name])


def student_of(name: str) -> str:
    """Who handed in, from the name of a file (with or without .ipynb) or a folder.

    >>> student_of("leekim_1234_98765_01-composition"), student_of("Kim Lee_1234_assignsubmission_file")
    ('leekim_1234', 'Kim Lee_1234')
    """
    return (of_platform(name) or Origin("", stem(name))).student
