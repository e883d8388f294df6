"""Lesson 01: composition."""

NAME = "01-composition"
TITLE = "Composition"
EXERCISES = (
    "sequential_composition",
    "privacy_bill",
    "worst_posterior",
    "basic_composition",
    "advanced_composition",
    "crossing",
    "after_yes",
    "composed_delta",
    "epsilon_each",
    "adaptive_composition",
    "belief_in_yes",
)
