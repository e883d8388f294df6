"""Lesson 02: the Laplace mechanism."""

NAME = "02-laplace"
TITLE = "Laplace"
EXERCISES = (
    "sum_sensitivity",
    "laplace_mechanism",
    "privacy_loss",
    "epsilon_for_counts",
    "private_histogram",
    "error_bound",
    "report_noisy_max",
    "whole_noise",
)
