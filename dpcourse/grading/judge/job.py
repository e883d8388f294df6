"""What is to be graded: one submission with all that decides its inputs, so that any process of any machine can do it."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpcourse.checking import Exercise
from dpcourse.checking.cases import Cases
from dpcourse.grading.judge.given import Release
from dpcourse.grading.run import Limits


@dataclass(frozen=True)
class Job:
    """All that is needed to grade one submission, wherever that happens. seed: of this submission's inputs.

    exercises: the ids of those to judge; all, if not given. pack: the folder of the pack that the lesson is from.
    values: function -> the values of this student's variant.
    """

    lesson: int
    content: bytes
    seed: bytes
    release: Release = field(default_factory=Release)
    limits: Limits = field(default_factory=Limits)
    sandboxed: bool = True
    exercises: tuple[str, ...] | None = None
    pack: Path | None = None
    values: Mapping[str, dict] = field(default_factory=dict)


def allowed(limits: Limits) -> tuple[float, ...]:
    """Those of the limits that an instructor chooses: seconds of a cell, seconds, bytes."""
    return limits.cell_seconds, limits.seconds, limits.memory


def seed_of(secret: bytes, digest: str) -> bytes:
    """The seed of a submission's inputs: the same for the same content, and not to be guessed without the secret."""
    return hmac.digest(secret, digest.encode(), "sha256")


def cases_of(exercise: Exercise, seed: bytes, probe: int = 0) -> Cases:
    """The hidden inputs of an exercise; probe: at which time its answer is called, from 0, where each has its own."""
    return exercise.cases(_rng(exercise, seed, f"probe {probe}" if probe else ""))


def further_rng(exercise: Exercise, seed: bytes) -> np.random.Generator:
    """What draws the further inputs on which the reason for a mistake is found."""
    return _rng(exercise, seed, "further")


def _rng(exercise, seed, what):
    return np.random.default_rng(int.from_bytes(hmac.digest(seed, f"{exercise.id}{what}".encode(), "sha256")))
