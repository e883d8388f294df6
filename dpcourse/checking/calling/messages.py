"""What is said of what a function did, as data: the judge says it, in a process to which a learner's may send anything.

So only messages that stand here are filled in, and only with short texts, numbers and again such data. Whatever else
comes is a text like any other. That is why a message of this package is marked by `to_say`, once, before it is said.
"""

from typing import Any

from dpcourse.base import languages
from dpcourse.base.languages import JOINING, fields_of, from_data, say

OURS = set(JOINING)
LONGEST, LARGEST = 500, 2**62  # a text; a number
MOST_PARTS, DEEPEST = 40, 8  # of one thing that is said: its messages and fields in all, and how deep they are nested


def to_say(message: str, /) -> str:
    """A message of this package, to be given to `say` later; it comes back as it is."""
    OURS.add(message)
    return languages.to_say(message)


def one_line(text: str, most: int = LONGEST) -> str:
    """A text on one line, cut where it is longer than it may be.

    >>> one_line("a\\nb"), one_line("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    line = " ".join(text.splitlines())
    return line if len(line) <= most else line[: most - 1] + "…"


def lines(texts: Any) -> list[str]:
    """The texts of a list that came, each on one line; none where it is no list.

    >>> lines(["a\\nb", 3]), lines("a")
    (['a b'], [])
    """
    return [one_line(text) for text in texts[:MOST_PARTS] if isinstance(text, str)] if isinstance(texts, list) else []


def sound(data: Any) -> Any:
    """What came, if it is data of something that is said here or a text; of data of anything else its message; or "".

    Each text is one line, and all of it is at most some MOST_PARTS times LONGEST characters, however it is nested.

    >>> sound({"message": NO_MESSAGE, "fields": {}})
    {'message': 'no message', 'fields': {}}
    >>> sound({"message": "{0.__class__}", "fields": {}})
    '{0.__class__}'
    """
    if _is_ours(data, DEEPEST, iter(range(MOST_PARTS))):
        return _on_one_line(data)
    text = data.get("message") if isinstance(data, dict) else data
    return one_line(text) if isinstance(text, str) else ""


def heard(data: Any) -> str:
    """The same, said in the chosen language.

    >>> heard({"message": "Your function calls `{name}`, which is not written yet.", "fields": {"name": "f"}})
    'Your function calls `f`, which is not written yet.'
    """
    found = sound(data)
    return say(found) if isinstance(found, str) else from_data(found)


def _is_ours(data, depth, parts):
    """Whether these are a message of ours and its fields; each takes one of the parts that there may be."""
    if next(parts, None) is None:
        return False
    match data:
        case {"message": str(message), "fields": dict(fields)} if len(data) == 2:
            is_known = message in OURS and fields.keys() == fields_of(message)
            return is_known and depth > 0 and all(_is_field(value, depth - 1, parts) for value in fields.values())
    return False


def _is_field(value, depth, parts):
    if isinstance(value, dict):
        return _is_ours(value, depth, parts)
    if next(parts, None) is None:
        return False
    if isinstance(value, str):
        return len(value) <= LONGEST
    return isinstance(value, (int, float)) and -LARGEST < value < LARGEST


def _on_one_line(value):
    """Data of ours, with each text in it on one line."""
    if isinstance(value, dict):
        return {"message": value["message"], "fields": {k: _on_one_line(each) for k, each in value["fields"].items()}}
    return one_line(value) if isinstance(value, str) else value


UNWRITTEN = to_say("Your function calls `{name}`, which is not written yet.")
SILENT = to_say("Your function stopped with {kind}, of which no message can be shown.")
STOPPED = to_say("Your function stopped with {kind} ({message}).")
STOPPED_AT = to_say("Your function stopped with {kind} ({message}), at `{line}`.")
STOPPED_IN_LINE = to_say("Your function stopped with {kind} ({message}), in line {number} of its cell.")
NO_MESSAGE = to_say("no message")
NOT_SENT = to_say("What your function returns cannot be handed over: {reason}.")
