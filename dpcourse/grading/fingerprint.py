"""What decides a mark beside the submission: where it changes, a class is graded anew."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from dpcourse.grading.sandbox.library import PACKAGE

DECIDES_NOTHING = (
    "authoring/*",
    "cli.py",
    "course/*/pictures.py",
    "course/*/quiz.py",
    "doctor.py",
    "grading/cohort.py",
    "grading/command.py",
    "grading/executors.py",
    "grading/fingerprint.py",
    "grading/gradebook.py",
    "grading/options.py",
    "grading/report.py",
    "grading/store.py",
)


def fingerprint(secret: bytes) -> str:
    """A digest of the secret from which inputs are drawn, and of the code that asks and judges."""
    digest = hashlib.sha256(secret)
    for file in deciding():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def deciding() -> Iterator[Path]:
    """The modules that a mark depends on: all but DECIDES_NOTHING, so that a new one counts."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if not any(file.relative_to(PACKAGE).match(pattern) for pattern in DECIDES_NOTHING):
            yield file
