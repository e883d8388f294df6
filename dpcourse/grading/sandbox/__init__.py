"""Where a student's code runs: a sandbox, the worker in it, and how the grader asks. Nothing here knows an answer."""

from dataclasses import dataclass


class Unavailable(Exception):
    """No worker could be had, through no fault of a student's."""


class Stopped(Exception):
    """The worker is gone, or had to be stopped; says why."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds; bytes of memory, of one file, and of all files in its /tmp."""

    cell_seconds: float = 30.0
    seconds: float = 300.0
    memory: int = 2 * 2**30
    processes: int = 64
    file: int = 64 * 2**20
    disk: int = 256 * 2**20
    open_files: int = 256
