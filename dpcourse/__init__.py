"""The helper package of a course on differential privacy: `from dpcourse import check, hint, solution, quiz, progress`."""

from dpcourse.notebook import check, hint, passed, solution
from dpcourse.progress import progress
from dpcourse.quiz import quiz

__all__ = ["check", "hint", "passed", "progress", "quiz", "solution"]
