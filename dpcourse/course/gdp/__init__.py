"""Lesson 03: trade-off functions and Gaussian differential privacy."""

NAME = "03-gdp"
TITLE = "Gaussian differential privacy"
EXERCISES = (
    "error_rates",
    "least_error_sum",
    "is_tradeoff",
    "approx_dp_curve",
    "gaussian_curve",
    "noisy_counts",
    "delta_of",
    "largest_mu",
    "group_curve",
    "group_sigma",
)
