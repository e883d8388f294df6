"""Lesson 07: auditing."""

NAME = "07-auditing"
TITLE = "Auditing"
EXERCISES = (
    "error_rates",
    "at_most",
    "mu_at_least",
    "epsilon_at_least",
    "runs_needed",
    "best_mu",
    "canary",
    "exact_rates",
    "one_run_epsilon",
    "share_needed",
    "accused",
)
