"""Every exercise and quiz question of the course, found by its id: "1.3" is the third of lesson 01."""

import importlib

LESSONS = {  # the lesson's name -> the module of its exercises
    "00-start-here": "start_here",
    "01-composition": "composition",
    "02-laplace": "laplace",
    "03-gdp": "gdp",
    "04-clt": "clt",
    "05-dp-sgd": "dpsgd",
    "06-auditing": "audit",
}


def lesson(number):
    """The module of a lesson's exercises; it holds EXERCISES and QUIZ.

    >>> lesson(1).__name__
    'dpcourse.exercises.composition'
    """
    if number not in range(len(LESSONS)):
        raise ValueError(f"lesson must be one of {list(range(len(LESSONS)))}, got {number!r}")
    return importlib.import_module(f"{__name__}.{list(LESSONS.values())[number]}")


def every_exercise():
    """All exercises, in the order of the course."""
    return [exercise for number in range(len(LESSONS)) for exercise in lesson(number).EXERCISES]


def find(exercise_id):
    """The exercise of that id; a ValueError names those that there are.

    >>> find("0.1").id
    '0.1'
    """
    if not isinstance(exercise_id, str):
        raise ValueError(f'an exercise is named in quotes, such as "{exercise_id}", not {exercise_id!r}')
    known = {exercise.id: exercise for exercise in every_exercise()}
    if exercise_id not in known:
        raise ValueError(f"there is no exercise {exercise_id!r}; there are {', '.join(known)}")
    return known[exercise_id]
