"""Lesson 06: accountants."""

NAME = "06-accountants"
TITLE = "Accountants and training"
EXERCISES = (
    "renyi_divergence",
    "best_order",
    "last_order",
    "certified_mu",
    "noise_for_budget",
    "report",
    "broken_line",
)
