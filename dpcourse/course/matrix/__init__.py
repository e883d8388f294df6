"""Lesson 09: noise that remembers."""

NAME = "09-matrix"
TITLE = "Noise that remembers"
EXERCISES = (
    "fresh_or_whole",
    "block_ends",
    "tree_noise",
    "mean_error",
    "remembering",
    "root_coefficients",
    "better_than_root",
    "sensitivity_often",
    "noise_multiplier",
)
