"""Lesson 03: trade-off functions and Gaussian differential privacy."""

NAME = "03-gdp"
TITLE = "Gaussian differential privacy"
EXERCISES = (
    "error_rates",
    "least_error_sum",
    "curve_of",
    "is_tradeoff",
    "gaussian_curve",
    "noisy_counts",
    "approx_dp_curve",
    "refuting_test",
    "largest_mu",
    "group_curve",
    "group_sigma",
)
