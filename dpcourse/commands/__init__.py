"""The `dpcourse` command: what learners, authors and instructors ask of it. Each module here registers its own commands."""

from dpcourse.commands import author, grade, learner
from dpcourse.commands.shared import app

__all__ = ["app", "author", "grade", "learner"]
