"""Who handed in, by the names that learning platforms give to files and folders.

Canvas: name, LATE where it is, number of the user, number of the attachment, the student's own name of the file;
`anon_` and a code in place of name and number where marking is anonymous. Moodle: name, number of the participant,
`assignsubmission_file`; a folder, or the beginning of a file's name. Blackboard: assignment, user, time of the attempt.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from dpcourse.grading.collect.reading import shown

PATTERNS = {
    "moodle": re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_[a-z]+(?:_.*)?", re.DOTALL),
    "blackboard": re.compile(r".+?_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_.*)?", re.DOTALL),
    "anonymous": re.compile(r"(?P<late>LATE_)?(?P<name>anon_[A-Za-z0-9]+)_(?P<attachment>\d+)_.+", re.DOTALL),
    "canvas": re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_(?P<attachment>\d+)_.+", re.DOTALL),
}
TYPED = re.compile(
    r"(?:(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)|(?P<anon>(LATE_)?anon_[A-Za-z0-9]+))_(?:text|link)\.html"
)
ENDINGS = (".ipynb.txt", ".ipynb.json", ".ipynb", ".zip")
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")


@dataclass(frozen=True)
class Origin:
    """What a platform's name says.

    lms: "canvas", "moodle", "blackboard", or "" for any other name. name, number: of the student, "" where it is not
    told. attachment: the higher, the newer; late, time: as the name says.
    """

    lms: str
    name: str
    number: str = ""
    attachment: int = -1
    late: bool = False
    time: datetime | None = None

    @property
    def student(self) -> str:
        """How a student is called here: NAME_NUMBER, or NAME where there is no number."""
        return shown(f"{self.name}_{self.number}" if self.number else self.name)


def origin(path: str) -> Origin:
    """What the names in a path say: the outermost that a platform gave, else the first one.

    A student names what lies within, and cannot hand in for another.

    >>> origin("late/leekim_LATE_1234_98765_lee_5_6_x.ipynb").student, origin("Kim Lee.ipynb").student
    ('leekim_1234', 'Kim Lee')
    """
    parts = [part for part in path.split("/") if part]
    return next(filter(None, map(of_platform, parts)), None) or Origin("", stem(parts[0]))


def of_platform(name: str) -> Origin | None:
    """What the name of one file or folder says, where a platform gave it; else None.

    >>> of_platform("anon_ab1cd_98765_01-composition.ipynb").student
    'anon_ab1cd'
    """
    typed = TYPED.fullmatch(name)
    if typed:
        anonymous = (typed["anon"] or "").removeprefix("LATE_")
        return Origin("canvas", typed["name"] or anonymous, typed["number"] or "", late="LATE_" in name)
    for lms, pattern in PATTERNS.items():
        match = pattern.fullmatch(stem(name))
        if match:
            said = match.groupdict()
            return Origin(
                "canvas" if lms == "anonymous" else lms,
                said["name"],
                said.get("number") or "",
                int(said.get("attachment") or -1),
                bool(said.get("late")),
                _time(said.get("time")),
            )
    return None


def student_of(name: str) -> str:
    """Who handed in, from the name of a file (with or without .ipynb) or a folder.

    >>> student_of("leekim_1234_98765_01-composition"), student_of("Kim Lee_1234_assignsubmission_file")
    ('leekim_1234', 'Kim Lee_1234')
    """
    return (of_platform(name) or Origin("", stem(name))).student


def identifier(student: str) -> tuple[str, str]:
    """(name, number) as Canvas and Moodle gave them; no number where there is none.

    >>> identifier("leekim_1234"), identifier("Kim Lee"), identifier("anon_12345")
    (('leekim', '1234'), ('Kim Lee', ''), ('anon_12345', ''))
    """
    name, underline, number = student.rpartition("_")
    has_number = underline and name != "anon" and number.isdecimal() and number.isascii()
    return (name, number) if has_number else (student, "")


def stem(name: str) -> str:
    """A name without the ending of a notebook or an archive; never empty."""
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)] or name


def is_notebook(name: str) -> bool:
    """Whether a file of that name is read as a notebook."""
    return name.lower().endswith(NOTEBOOKS)


def _time(said):
    """A time as Blackboard writes it, by the clock of this machine; it does not say which clock is its own."""
    try:
        return datetime.strptime(said, "%Y-%m-%d-%H-%M-%S").astimezone(UTC) if said else None
    except (ValueError, OverflowError, OSError):
        return None
