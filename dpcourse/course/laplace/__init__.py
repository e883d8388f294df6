"""Lesson 02: the Laplace mechanism."""

NAME = "02-laplace"
TITLE = "Laplace"
EXERCISES = (
    "sum_sensitivity",
    "leaning_constant",
    "laplace_mechanism",
    "best_clip",
    "private_mean",
    "privacy_loss",
    "private_histogram",
    "report_noisy_max",
)
