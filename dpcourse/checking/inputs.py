"""What inputs are drawn with."""


def rounded(value, digits=2):
    """A plain float with few digits, as an input that a learner can read."""
    return round(float(value), digits)
