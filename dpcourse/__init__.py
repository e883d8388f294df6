"""The helper package of a course on differential privacy: `from dpcourse import check, hint, solution, quiz, progress`."""

from dpcourse.done import progress
from dpcourse.notebook import check, hint, passed, solution
from dpcourse.questions import quiz

__all__ = ["check", "hint", "passed", "progress", "quiz", "solution"]
