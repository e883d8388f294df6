"""Lesson 00: randomized response."""

NAME = "00-start-here"
TITLE = "Start here"
EXERCISES = (
    "keep_probability",
    "randomized_response",
    "estimate_share",
)
