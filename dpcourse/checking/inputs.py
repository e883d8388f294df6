"""Helpers for drawing cases."""


def rounded(value, digits=2):
    """Return a plain float with few digits, as an input that a learner can read."""
    return round(float(value), digits)
