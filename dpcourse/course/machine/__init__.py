"""Lesson 08: noise on a real machine."""

NAME = "08-machine"
TITLE = "Noise on a real machine"
EXERCISES = (
    "rules_out",
    "mia_is_in",
    "float_change",
    "next_number",
    "count_behind",
    "in_by_time",
    "whole_noise",
    "whole_gaussian",
)
