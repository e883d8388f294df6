"""What is said of what a function did, as data: the judge says it, in a process to which a learner's may send anything.

So only messages that stand here are filled in, and only with short texts, numbers and again such data. Whatever else
comes is a text like any other. That is why a message of this package is marked by `to_say`, once, before it is said.
"""

from typing import Any

from dpcourse import languages
from dpcourse.languages import JOINING, fields_of, from_data, said

OURS = set(JOINING)
LONGEST, LARGEST, DEEPEST = 500, 2**62, 8
MOST = 5_000  # characters of a whole text, with all that is filled in: what is nested doubles at each level


def to_say(message: str, /) -> str:
    """A message of this package, to be given to `said` later; it comes back as it is."""
    OURS.add(message)
    return languages.to_say(message)


def sound(data: Any) -> Any:
    """What came, if it is data of something that is said here or a text; of data of anything else its message; or "".

    >>> sound({"message": NO_MESSAGE, "fields": {}})
    {'message': 'no message', 'fields': {}}
    >>> sound({"message": "{0.__class__}", "fields": {}})
    '{0.__class__}'
    """
    if _is_ours(data, DEEPEST) and _length(data) <= MOST:
        return data
    text = data.get("message") if isinstance(data, dict) else data
    return text[:MOST] if isinstance(text, str) else ""


def heard(data: Any) -> str:
    """The same, said in the chosen language.

    >>> heard({"message": "Your function calls `{name}`, which is not written yet.", "fields": {"name": "f"}})
    'Your function calls `f`, which is not written yet.'
    """
    found = sound(data)
    return said(found) if isinstance(found, str) else from_data(found)


def _is_ours(data, depth):
    """Whether these are a message of ours and its fields."""
    match data:
        case {"message": str(message), "fields": dict(fields)} if len(data) == 2:
            is_known = message in OURS and fields.keys() == fields_of(message)
            return is_known and depth > 0 and all(_is_field(value, depth - 1) for value in fields.values())
    return False


def _length(data):
    """How many characters a message and its fields have at most, if they are ours."""
    if isinstance(data, dict):
        return len(data["message"]) + sum(map(_length, data["fields"].values()))
    return len(str(data))


def _is_field(value, depth):
    if isinstance(value, str):
        return len(value) <= LONGEST
    return (isinstance(value, (int, float)) and -LARGEST < value < LARGEST) or _is_ours(value, depth)


UNWRITTEN = to_say("Your function calls `{name}`, which is not written yet.")
SILENT = to_say("Your function stopped with {kind}, of which no message can be shown.")
STOPPED = to_say("Your function stopped with {kind} ({message}).")
STOPPED_AT = to_say("Your function stopped with {kind} ({message}), at `{line}`.")
STOPPED_IN_LINE = to_say("Your function stopped with {kind} ({message}), in line {number} of its cell.")
NO_MESSAGE = to_say("no message")
NOT_SENT = to_say("What your function returns cannot be handed over: {reason}.")
