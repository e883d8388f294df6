"""The wrong answer that the journey through the course gives first in a lesson, and then mends."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """A wrong answer of a lesson: the lesson's solution of `function`, with `wrong` written where it says `right`.

    misconception: the name of the misconception of that exercise whose message then appears.
    """

    function: str
    misconception: str
    right: str
    wrong: str
