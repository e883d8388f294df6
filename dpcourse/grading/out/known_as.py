"""How the platform on which a student handed in knows them: as it was found where the submissions were collected.

A row that an earlier edition of the course stored has a path only. A student may call a file as a platform would, in a
folder of their own, with the number of somebody else. So a platform's name in such a path is believed where it is who
the student is taken for, or the outermost name of all, which no student gives. Graded again, the row says it itself.
"""

from collections.abc import Callable, Iterable

from dpcourse.grading import collect
from dpcourse.grading.collect.reading import shown
from dpcourse.grading.keep.store import Row


def platform_of(row: Row) -> collect.Origin:
    """What the platform said of a submission; lms is "" where no platform that keeps marks did."""
    if row.origin is not None:
        return row.origin
    path = row.file or row.student
    found = collect.origin(path)
    same_number = bool(found.number) and found.number == collect.identifier(row.student)[1]
    if found.student == row.student or same_number or path.split("/")[0] == found.given:
        return found
    return collect.Origin("", row.student)


def platforms_of(rows: Iterable[Row]) -> Callable[[Row], collect.Origin]:
    """What platform_of says of a row of a lesson, and whom the roster alone tells.

    The number that a roster has of somebody without a platform's name is believed where it is the platform's number
    for everybody who has such a name.
    """
    told = [(row, found) for row in rows if not row.stale and (found := platform_of(row)).lms and found.number]
    platforms = {found.lms for _, found in told}
    agree = all(found.number == collect.identifier(row.student)[1] for row, found in told)
    lms = platforms.pop() if len(platforms) == 1 and agree else ""

    def of(row):
        found, (name, number) = platform_of(row), collect.identifier(row.student)
        return collect.Origin(lms, name, number) if lms and number and not found.lms and _is_of_roster(row) else found

    return of


def _is_of_roster(row):
    """Whether a student without a platform's name is called as no file is: as the roster calls them."""
    return not row.file or (row.origin or collect.origin(row.file)).student != row.student


def number_of(origin: collect.Origin) -> str:
    """The number by which the LMS knows a student; "" where another platform, or a name, has said one."""
    return origin.number if origin.lms else ""


def given_name(row: Row) -> str:
    """The name that the LMS gave to what was handed in, to be shown: of a file or a folder; "" where there is none."""
    found = platform_of(row)
    return shown(found.given) if found.lms else ""


def name_of(row: Row) -> str:
    """A student's name without the number that a platform or a roster put behind it."""
    is_as_called = not platform_of(row).number and not _is_of_roster(row)
    return row.student if is_as_called else collect.identifier(row.student)[0]
