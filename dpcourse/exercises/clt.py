"""Exercises of this lesson."""

EXERCISES = ()

QUIZ = ()
