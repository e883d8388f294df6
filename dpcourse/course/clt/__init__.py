"""Lesson 04: the central limit theorem of privacy."""

NAME = "04-clt"
TITLE = "The central limit theorem of privacy"
EXERCISES = (
    "laws_that_hold",
    "total_mu",
    "privacy_loss",
    "composed_delta",
    "functionals",
    "berry_esseen",
    "proved_band",
    "limit_mu",
    "approx_dp_limit",
    "too_low",
    "too_high",
)
