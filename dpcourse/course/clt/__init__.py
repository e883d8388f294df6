"""Lesson 04: the central limit theorem of privacy."""

NAME = "04-clt"
TITLE = "The central limit theorem of privacy"
EXERCISES = (
    "laws_that_hold",
    "total_mu",
    "privacy_loss",
    "on_grid",
    "composed_delta",
    "functionals",
    "proved_band",
    "limit_mu",
    "breaking_steps",
    "too_high",
)
