"""How the platform on which a student handed in knows them, as far as that is beyond doubt.

A student may call a file as a platform would, in a folder of their own, with the number of somebody else. So a
platform's name is believed where it is who the student is taken for, or the outermost name of all, which no student
gives.
"""

from dpcourse.grading import collect
from dpcourse.grading.keep.store import Row


def platform_of(row: Row) -> collect.Origin:
    """What the name that the platform gave says; lms is "" where no platform's name can be believed."""
    path = row.file or row.student
    found = collect.origin(path)
    same_number = bool(found.number) and found.number == collect.identifier(row.student)[1]
    if found.student == row.student or same_number or collect.of_platform(path.split("/")[0]) == found:
        return found
    return collect.Origin("", row.student)


def given_name(row: Row) -> str:
    """The name that the platform gave to what was handed in: of a file or a folder; nothing where there is none."""
    return next(filter(collect.of_platform, row.file.split("/")), "") if platform_of(row).lms else ""


def name_of(row: Row) -> str:
    """A student's name without the number that a platform or a roster put behind it."""
    found = platform_of(row)
    is_as_called = not found.lms and collect.origin(row.file or row.student).student == row.student
    return row.student if is_as_called else collect.identifier(row.student)[0]
