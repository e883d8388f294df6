"""Lesson 10: a claim of your own."""

NAME = "10-claim"
TITLE = "A claim of your own"
EXERCISES = (
    "belief_after",
    "after_days",
    "same_unit",
    "what_is_open",
    "plan_of",
    "audited",
    "report",
)
