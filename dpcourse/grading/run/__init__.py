"""Where a student's code runs: a sandbox, the worker in it, and how the grader asks. Nothing here knows an answer."""

from dataclasses import dataclass

MOST_CHECKS = 200  # calls of `check` in one submission that are looked at


class Unavailable(Exception):
    """No worker could be had, through no fault of a student's."""


class Stopped(Exception):
    """The worker is gone, or had to be stopped; says why, in a message for `languages.say`."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds; bytes of memory, of one file, and of all files in its /tmp.

    files: how many in its /tmp. open_files: of one process; open_files_of_all: of all together.
    """

    cell_seconds: float = 30.0
    seconds: float = 300.0
    memory: int = 2 * 2**30
    processes: int = 64
    file: int = 64 * 2**20
    disk: int = 256 * 2**20
    files: int = 20_000
    open_files: int = 256
    open_files_of_all: int = 1024
