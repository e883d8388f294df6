"""Grading one submission: its hidden inputs, and what its functions are called with."""

import functools
import importlib

import pytest

from dpcourse import course
from dpcourse.grading.judge import answers, submission
from dpcourse.grading.run import library


def test_inputs_depend_on_the_secret_and_on_the_submission_and_on_nothing_else():
    exercise = course.find("composition/advanced_composition")

    def drawn(secret, digest):
        return submission.cases_of(exercise, submission.seed_of(secret, digest))

    assert drawn(b"secret", "digest") == drawn(b"secret", "digest")
    assert drawn(b"secret", "digest") != drawn(b"other", "digest")
    assert drawn(b"secret", "digest") != drawn(b"secret", "other")


@pytest.mark.parametrize("exercise", course.every_exercise(), ids=lambda exercise: exercise.id)
def test_a_worker_needs_nothing_of_the_exercises(exercise):
    """What an answer must not call, or must, is in the library, which the sandbox has."""
    for function in [*exercise.forbidden_functions, *([exercise.needed.function] if exercise.needed else [])]:
        module, _, name = answers.path_of(function).partition(":")
        assert not module.startswith(tuple(library.others()))
        assert functools.reduce(getattr, name.split("."), importlib.import_module(module)) == function
