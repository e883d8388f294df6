"""Lesson 01: composition."""

NAME = "01-composition"
TITLE = "Composition"
EXERCISES = (
    "sequential_composition",
    "adaptive_composition",
    "privacy_bill",
    "worst_posterior",
    "basic_composition",
    "advanced_composition",
    "crossing",
    "composed_delta",
    "epsilon_each",
    "belief_in_yes",
)
