"""Lesson 05: DP-SGD."""

NAME = "05-dp-sgd"
TITLE = "DP-SGD"
EXERCISES = (
    "clip",
    "noisy_sum",
    "poisson_batches",
    "noisy_sgd_step",
    "noisy_adam",
    "sampled_curve",
    "delta_of_curve",
    "symmetrized_curve",
    "two_sided",
    "sgd_mu",
    "noisy_sgd",
    "called_in",
)
