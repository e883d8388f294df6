"""When something was handed in, as far as that is told, and which of several notebooks is the newest.

Canvas and Moodle give every file the time of the export, and git that of the clone, so these tell nothing. nbgrader
writes a timestamp, Blackboard puts the time into the name. Other files tell when they were last changed; where those of
a whole class were changed at once, that was when somebody copied or unpacked them.
"""

import contextlib
import os
import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Protocol

from dpcourse.base.languages import say
from dpcourse.grading.collect.names import Origin
from dpcourse.grading.collect.reading import Unreadable
from dpcourse.grading.collect.students import Owners
from dpcourse.grading.collect.walk import Found, Walked

AT_ONCE, THE_SAME = timedelta(minutes=10), timedelta(minutes=2)
TIMESTAMP, LONGEST = "timestamp.txt", 100  # nbgrader's, in STUDENT/ASSIGNMENT
NEVER = datetime.min.replace(tzinfo=UTC)


class Notebook(Protocol):
    """One of several notebooks of the same lesson."""

    found: Found
    origin: Origin
    is_read: bool
    is_begun: bool
    time: datetime | None


@dataclass
class Told:
    """What is told of times: by nbgrader for folders (None where its timestamp cannot be read), and for other files whether their own times are believed.

    used: the timestamps that were read.
    """

    walked: Walked
    owned: Owners
    stamps: dict[tuple[str, ...], datetime | None] = field(default_factory=dict)
    used: set[Found] = field(default_factory=set)
    is_copied: bool = False

    def submitted(self, found: Found, origin: Origin) -> datetime | None:
        """When a file was handed in; None where that is not told."""
        named = origin.time or self.stamps.get(found.parts[:-1])
        return named or (None if self.is_copied or not self.is_plain(found, origin) else self.handed_in(found))

    def changed(self, found: Found, origin: Origin) -> datetime | None:
        """A time that says which of one student's files is the newest; None where nothing does."""
        named = origin.time or self.stamps.get(found.parts[:-1])
        return named or (None if self._is_cloned(found) else found.time)

    def handed_in(self, found: Found) -> datetime | None:
        """When the outermost thing was changed that the student may have handed in."""
        return found.handed_in(self.owned.depth[found])

    def is_plain(self, found: Found, origin: Origin) -> bool:
        """Whether only the file itself tells when it was handed in."""
        return not origin.lms and found.parts[:-1] not in self.stamps and not self._is_cloned(found)

    def _is_cloned(self, found):
        return any(found.parts[:depth] in self.walked.repositories for depth in range(len(found.parts)))


def told(walked: Walked, owned: Owners) -> Told:
    """What is told of the times of all files."""
    told = Told(walked, owned)
    for each in walked.files:
        owner = owned.of.get(each)
        if (
            each.parts[-1] == TIMESTAMP
            and owner
            and not owner.lms
            and len(each.parts) == owned.depth[each] + 2
            and not told._is_cloned(each)
        ):
            told.stamps[each.parts[:-1]] = stamp = _stamp(each)
            if stamp is not None:
                told.used.add(each)
    latest: dict[str, datetime] = {}
    for each in walked.files:
        owner = owned.of.get(each)
        time = told.handed_in(each) if owner else None
        if each.is_notebook and owner and time and told.is_plain(each, owner):
            latest[owner.student] = max(time, latest.get(owner.student, NEVER))
    told.is_copied = len(latest) > 1 and max(latest.values()) - min(latest.values()) < AT_ONCE
    return told


def _stamp(found):
    """The time in a timestamp of nbgrader's, such as "2026-10-01 21:59:00.123456 UTC"; None where it is none."""
    try:
        day, hour, zone = Found(found.parts, found.path, found.places).content()[:LONGEST].decode().split()
        time = datetime.fromisoformat(f"{day} {hour}")
        return time.replace(tzinfo=time.tzinfo or _zone(zone, time)).astimezone(UTC)
    except (Unreadable, ValueError, OverflowError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _zone(name, time):
    """The time zone of that name; of a short one, such as CEST, this machine's, or that on which all agree."""
    with contextlib.suppress(zoneinfo.ZoneInfoNotFoundError):
        return zoneinfo.ZoneInfo(name)
    here = time.astimezone()
    if here.tzname() == name:
        return here.tzinfo
    zones = [time.replace(tzinfo=zoneinfo.ZoneInfo(key)) for key in sorted(zoneinfo.available_timezones())]
    [offset] = {there.utcoffset() for there in zones if there.tzname() == name}
    return timezone(offset)


def newest(notebooks: Sequence[Notebook]) -> tuple[Notebook, str]:
    """Of several notebooks the one that counts, and why: it can be read, has answers, is the newest, has the plainest name."""
    why = say("it has the plainest name")
    for is_among, reason in (
        (lambda pool: lambda each: each.is_read, say("it can be read")),
        (lambda pool: lambda each: each.is_begun, say("answers are written in it")),
        (_has_highest_attachment, say("it is the newest")),
        (_is_new, say("it is the newest")),
    ):
        among = list(filter(is_among(notebooks), notebooks))
        if among and len(among) < len(notebooks):
            notebooks, why = among, reason
    if len(notebooks) > 1:
        why = say("it has the plainest name")
    return min(notebooks, key=_plainness), why


def _has_highest_attachment(pool):
    highest = max(each.origin.attachment for each in pool)
    return lambda each: each.origin.attachment == highest


def _is_new(pool):
    latest = max(each.time or NEVER for each in pool)
    return lambda each: latest == NEVER or (each.time is not None and latest - each.time < THE_SAME)


def _plainness(notebook):
    parts = notebook.found.parts
    return len(parts), len(parts[-1]), [os.fsencode(part) for part in parts]
