"""The helper package of a course on differential privacy: `from dpcourse import check, hint, solution, quiz, progress`."""

from dpcourse.done import progress
from dpcourse.languages import language
from dpcourse.notebook import check, hint, passed, solution
from dpcourse.questions import quiz

__all__ = ["check", "hint", "language", "passed", "progress", "quiz", "solution"]
