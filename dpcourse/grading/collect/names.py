"""What a file's name is: who handed in, as a platform's name says it, and what kind of file it is."""

from dataclasses import asdict, dataclass
from datetime import datetime

from dpcourse.grading.collect.reading import shown

LMS = ("canvas", "moodle", "blackboard")  # which keep marks, and tell no times by those of files
ENDINGS = (".ipynb.txt", ".ipynb.json", ".ipynb", ".zip")
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")


@dataclass(frozen=True)
class Origin:
    """What a platform's name says of a submission. It is found once, where submissions are collected.

    platform: "canvas", "moodle", "blackboard", "nbgrader", "github", or "" for any other name. name, number: of the
    student, "" where it is not told. attachment: the higher, the newer; late, time: as the name says. given: the name of
    the file or folder that says it.
    """

    platform: str
    name: str
    number: str = ""
    attachment: int = -1
    late: bool = False
    time: datetime | None = None
    given: str = ""

    @property
    def lms(self) -> str:
        """The platform, where it keeps marks; else ""."""
        return self.platform if self.platform in LMS else ""

    @property
    def student(self) -> str:
        """How a student is called here: NAME_NUMBER, or NAME where there is no number."""
        return shown(f"{self.name}_{self.number}" if self.number else self.name)

    def as_data(self) -> dict:
        """Itself as plain data, for `of_data`."""
        return asdict(self) | {"time": self.time and self.time.isoformat()}

    @classmethod
    def of_data(cls, data: dict) -> "Origin":
        """The Origin that `as_data` gave. Raises TypeError, ValueError where that is damaged.

        >>> Origin.of_data(Origin("canvas", "leekim", "1234").as_data()).student
        'leekim_1234'
        """
        found = cls(**data | {"time": datetime.fromisoformat(data["time"]) if data.get("time") else None})
        texts = (found.platform, found.name, found.number, found.given)
        if not all(isinstance(text, str) for text in texts) or not isinstance(found.attachment, int):
            raise TypeError(data)
        return found


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
