"""The questions of a quiz."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option of a quiz question, and why it is right or wrong."""

    text: str
    right: bool
    why: str

    @property
    def reply(self):
        return f"✓ Right. {self.why}" if self.right else f"✗ Not quite. {self.why}"


@dataclass(frozen=True)
class Question:
    """A quiz question; exactly one option is right."""

    text: str
    options: tuple[Option, ...]
