"""The questions of a quiz."""

from dataclasses import dataclass

from dpcourse.base.languages import say


@dataclass(frozen=True)
class Option:
    """One option of a quiz question, and why it is right or wrong."""

    text: str
    right: bool
    why: str

    @property
    def reply(self) -> str:
        why = say(self.why)
        return say("✓ Right. {why}", why=why) if self.right else say("✗ Not quite. {why}", why=why)


@dataclass(frozen=True)
class Question:
    """A quiz question; exactly one option is right."""

    text: str
    options: tuple[Option, ...]
