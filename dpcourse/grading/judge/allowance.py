"""What is left of the seconds that a whole submission may take."""

import math
import time
from typing import Protocol

from dpcourse.checking.calling.limits import LENIENCE


class Waits(Protocol):
    """What has waited for a core, for so many seconds: a worker (see `sandbox.client`)."""

    @property
    def waited(self) -> float: ...


class Allowance:
    """As with a cell's limit, time in which a core was waited for does not count, up to LENIENCE times the limit.

    Nor does the start of a worker, which is not the student's: it may import what a lesson needs.
    """

    def __init__(self, seconds: float):
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.worker: Waits | None = None
        self.waited = 0.0  # by earlier workers

    def started(self, worker: Waits, seconds: float) -> None:
        """A worker has taken so many seconds to start, and takes the place of the one before."""
        if self.worker is not None:
            self.waited += self.worker.waited
        self.worker = worker
        self.end += seconds

    def use_up(self) -> None:
        """Nothing is left: what ran last was given all that was left, and did not end."""
        self.end = -math.inf

    def left(self) -> float:
        """Seconds that are left; below 0 where there are none."""
        waited = self.waited + (self.worker.waited if self.worker else 0.0)
        return self.end + min(waited, LENIENCE * self.seconds) - time.monotonic()
