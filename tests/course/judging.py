"""Answers, judged as in a notebook, on inputs that all tests of a process share."""

import dataclasses
import functools

import numpy as np
import pytest

from dpcourse import course


@functools.cache
def drawn(exercise_id, seed):
    """The inputs of a check; they remember what each function gives on them."""
    return course.find(exercise_id).cases(np.random.default_rng(seed))


def judged(exercise, answer, seeds):
    """The verdicts of `exercise.check(answer, rng=seed)`, one for each seed."""
    every = (drawn(exercise.id, seed) for seed in seeds)
    return [exercise.judge(cases, exercise.probe(answer, cases)) for cases in every]


def were_all_allowed(exercise):
    """The exercise, were no library function forbidden and none needed: so references are called."""
    return dataclasses.replace(exercise, forbidden=(), needed=None)


def judged_freely(exercise, answer, seeds):
    """The verdicts on an answer that may call every library function."""
    return judged(were_all_allowed(exercise), answer, seeds)


def named(lesson, answers):
    """Parameters from `name: (function, ...)`; the id says both, so that `-k` finds an answer by either."""
    return [
        pytest.param(course.lesson(lesson).exercise(function), *rest, id=f"{function}: {name}")
        for name, (function, *rest) in answers.items()
    ]
