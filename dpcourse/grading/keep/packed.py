"""To and from what SQLite holds: results, times, and what answers did. What is damaged is as if it were not there."""

import json
import struct
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime

from dpcourse.base import languages
from dpcourse.grading.collect import Origin, Submission
from dpcourse.grading.result import Result, as_data, from_json
from dpcourse.grading.run import wire


def read(text: object) -> Result | None:
    """A stored result; None where it is damaged."""
    try:
        return from_json(str(text))
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def written(text: str) -> str:
    """What is said, as it is stored: the same in every language."""
    data = as_data(text)
    return data if isinstance(data, str) else json.dumps(data)


def said(text: str) -> str:
    """What was `written`, in the language that is chosen; of an older edition, and damaged, as it is."""
    if not text.startswith('{"message"'):
        return text
    try:
        return languages.from_data(json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError):
        return text


def handed_in(submission: Submission) -> tuple[str | None, int, str]:
    """When it was handed in, whether the LMS calls that late, and what the platform says of it, as it is stored."""
    time, origin = submission.submitted, submission.origin
    told = json.dumps(origin.as_data()) if origin else ""  # in ASCII: a name on disk may be no text
    return time.astimezone(UTC).isoformat() if time else None, int(submission.late), told


def as_origin(text: str) -> Origin | None:
    """What the platform said of a submission; None where that is damaged, or an earlier edition has not stored it."""
    try:
        return Origin.of_data(json.loads(text)) if text else None
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def as_time(text: str | None) -> datetime | None:
    """A stored time; None where there is none."""
    try:
        return datetime.fromisoformat(text) if text else None
    except (ValueError, TypeError):
        return None


def packed(probes: Iterable[list[dict]] | None) -> bytes | None:
    """Evidence as bytes; none where it is too large: then the submission is run again when it is needed."""
    if not probes:
        return None
    try:
        return zlib.compress(wire.pack({"probes": list(probes)}), 1)
    except wire.Garbled:
        return None


def unpacked(blob: object) -> tuple[list[dict], ...]:
    """The evidence in these bytes; empty where there is none."""
    if not isinstance(blob, bytes):
        return ()
    content, place = b"", 0

    def read(count):
        nonlocal place
        place += count
        return content[place - count : place]

    try:
        content = zlib.decompress(blob)
        return tuple(wire.receive(read)["probes"])
    except (wire.Garbled, struct.error, zlib.error, KeyError, TypeError):
        return ()
