"""A certified answer: an interval, or an error where no interval is narrow enough."""

from typing import NamedTuple


class Bounds(NamedTuple):
    """A certified interval: lower <= truth <= upper."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """upper - lower, or 0 where both are infinite.

        >>> Bounds(1.0, 1.5).width
        0.5
        """
        return 0.0 if self.lower == self.upper else self.upper - self.lower


class Unreachable(ValueError):
    """The requested width needs a larger grid than the largest; `bounds` is the certified interval that was reached."""

    def __init__(self, message, bounds):
        super().__init__(message)
        self.bounds = bounds
