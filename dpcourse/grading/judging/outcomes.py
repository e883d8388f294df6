"""What a worker says an answer did, made sound: it comes from where a student's code ran, and may be anything."""

from dpcourse.probe import texts
from dpcourse.probe.values import plain

TEXTS = ("signature", "forbidden", "changed", "outside", "copied", "begun", "replaced")
LONGEST_TEXT = 200  # characters: they are names
SAID = ("not_callable", "raised")
FLAGS = ("blank", "idle")
COUNTS = ("printed_count", "calls")
LARGEST_COUNT = 2**62


def sound(outcomes: object, seconds: float) -> list[dict]:
    """The outcomes with known keys and types only; what is neither is as if it were not there.

    seconds: the time limit of the answer, which the worker is not asked.
    """
    if not isinstance(outcomes, list):
        return []
    return [_sound_outcome(outcome, seconds) if isinstance(outcome, dict) else {} for outcome in outcomes]


def _sound_outcome(outcome, seconds):
    found = {key: outcome[key][:LONGEST_TEXT] for key in TEXTS if isinstance(outcome.get(key), str)}
    found |= {key: text for key in SAID if (text := texts.sound(outcome.get(key)))}
    found |= {key: True for key in FLAGS if outcome.get(key) is True}
    if "timeout" in outcome:
        found["timeout"] = seconds
    if "value" in outcome:
        found["value"] = _sound_value(outcome["value"])
    printed = outcome.get("printed")
    found["printed"] = printed if isinstance(printed, str) else ""
    for key in COUNTS:
        if type(outcome.get(key)) is int:
            found[key] = max(0, min(outcome[key], LARGEST_COUNT))
    return found


def _sound_value(value):
    if isinstance(value, dict):
        return {"type": str(value.get("type"))[:100]}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_sound_value, value))
    return plain(value)
