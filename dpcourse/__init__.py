"""The helper package of a course on differential privacy: `from dpcourse import check, hint, solution, quiz, progress`."""

from dpcourse.base.languages import language
from dpcourse.notebook.attacker import attack
from dpcourse.notebook.check import check, hint, passed, solution
from dpcourse.notebook.goals import goals
from dpcourse.notebook.progress import progress
from dpcourse.notebook.quiz import quiz

__all__ = ["attack", "check", "goals", "hint", "language", "passed", "progress", "quiz", "solution"]
