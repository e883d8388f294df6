"""What a worker says an answer did, made sound: it comes from where a student's code ran, and may be anything.

Every text of it is bounded here, in length, number and nesting, before anything is joined to it: what is said of an
exercise is at most MOST_SAID characters, and what was one line is one line, wherever it is shown.
"""

import math

from dpcourse.checking.calling import messages, numbers
from dpcourse.checking.calling.values import plain

TEXTS = ("signature", "forbidden", "changed", "outside", "copied", "begun", "replaced")
LONGEST_TEXT = 200  # characters: they are names
SAID = ("not_callable", "raised")
FLAGS = ("blank", "idle")
COUNTS = ("printed_count", "calls", "drawn")
LARGEST_COUNT = 2**62
MOST_SAID = 30_000  # characters of a Mark, as it is stored
MOST_TEXT, DEEPEST = 1_000, 3  # characters of text in a value; lists in lists: what is more is told by its type
LONGEST_NAME = 100  # of a type, a variable, a module


def sound(outcomes: object, seconds: float) -> list[dict]:
    """The outcomes with known keys and types only; what is neither is as if it were not there.

    seconds: the time limit of the answer, which the worker is not asked.
    """
    if not isinstance(outcomes, list):
        return []
    return [_sound_outcome(outcome, seconds) if isinstance(outcome, dict) else {} for outcome in outcomes]


def _sound_outcome(outcome, seconds):
    found = {key: messages.one_line(outcome[key], LONGEST_TEXT) for key in TEXTS if isinstance(outcome.get(key), str)}
    found |= {key: text for key in SAID if (text := messages.sound(outcome.get(key)))}
    found |= {key: True for key in FLAGS if outcome.get(key) is True}
    if because := messages.lines(outcome.get("because")):
        found["because"] = because
    if "timeout" in outcome:
        found["timeout"] = seconds
    if "value" in outcome:
        found["value"] = _Value().sound(outcome["value"])
    if isinstance(written := outcome.get("numbers"), list):
        found["numbers"] = [each for each in written if type(each) is float and math.isfinite(each)][: numbers.MOST]
    printed = outcome.get("printed")
    found["printed"] = printed if isinstance(printed, str) else ""
    for key in COUNTS:
        if type(outcome.get(key)) is int:
            found[key] = max(0, min(outcome[key], LARGEST_COUNT))
    return found


class _Value:
    """What bounds one value: how much text is in it already."""

    def __init__(self):
        self.text = 0

    def sound(self, value, depth=0):
        """The value; a text, or a list in lists, for which there is no more room is told by its type."""
        if isinstance(value, dict):
            return self._type(str(value.get("type")))
        if isinstance(value, (list, tuple)):
            if depth == DEEPEST:
                return self._type(type(value).__name__)
            return type(value)(self.sound(item, depth + 1) for item in value)
        found = plain(value)
        return found if not isinstance(found, str) or self._has_room(found) else self._type("str")

    def _type(self, name):
        name = messages.one_line(name, LONGEST_NAME)
        return {"type": name if self._has_room(name) else "…"}

    def _has_room(self, text):
        self.text += len(text)
        return self.text <= MOST_TEXT
