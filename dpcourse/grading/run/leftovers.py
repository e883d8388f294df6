"""What a student's code leaves running: threads, and processes, which live on as they do in JupyterLab.

A pool that is made in one cell serves the cells below it. Where the sandbox allows it, processes are ended that would
take from the answers what is theirs: time (they are busy while an answer is called), the watch over what an exercise
forbids (it sees one process), a share of the processes that are allowed. The grader asks for all to be ended after each
cell where a notebook has come to a limit.
"""

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable

from dpcourse.checking.calling import limits

SETTLE, PAUSE = 1.0, 0.01  # seconds for processes to come to rest, or to their end
FIRST = 1  # the sandbox's own process
SHARE = 0.5  # of the threads of processes that are allowed


class Left:
    """Sees what is left running. tell: is told of what is ended (kind of `met.SAYS`, cell, function).

    alone: whether every process that can be seen is the student's.
    """

    def __init__(self, alone: bool, tell: Callable[[str, int, str], None]):
        self.alone, self.tell = alone, tell
        self.threads = set(threading.enumerate())
        self.begun: dict[int, int] = {}  # process -> the cell that had it running first

    def look(self, cell: int, end: bool = False) -> dict[str, bool]:
        """Whether a thread was left running since the last look, and whether processes run on; ends these if asked."""
        before, self.threads = self.threads, set(threading.enumerate())
        found = {"left_running": not self.threads <= before, "processes": False}
        if self.alone:
            there = self._there(cell)
            if end:
                self._end(there, "limit")
            elif sum(map(_threads, there)) > SHARE * resource.getrlimit(resource.RLIMIT_NPROC)[0]:
                self._end(there, "many")
            found["processes"] = bool(self.begun)
        return found

    def make_way(self, cell: int, function: str, forbids: bool) -> None:
        """End what must not run while an answer is called; forbids: whether its exercise forbids functions."""
        if not self.alone:
            return
        there = self._there(cell)
        if forbids:
            self._end(there, "forbids", function)
        _wait_while(lambda: any(map(_is_busy, self.begun)))
        self._end([process for process in self.begun if _is_busy(process)], "busy", function)

    def _there(self, cell):
        """The student's other processes."""
        numbers = map(int, limits.all_there_are())
        there = [each for each in numbers if each not in (FIRST, os.getpid()) and _runs(each)]
        self.begun = {each: self.begun.get(each, cell) for each in there}
        return there

    def _end(self, ended: Iterable[int], kind: str, function: str = ""):
        """End these of the processes in `begun`, all of them at once, so that none forks on."""
        ended = set(ended)
        if not (self.alone and ended):
            return
        for process in [-1] if ended == self.begun.keys() else ended:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        for process in ended:
            self.tell(kind, self.begun.pop(process), function)
        _wait_while(lambda: any(map(_runs, ended)))


def _wait_while(condition):
    deadline = time.monotonic() + SETTLE
    while condition() and time.monotonic() < deadline:
        time.sleep(PAUSE)


def _runs(process):
    return _state(process) not in ("Z", "X", "")


def _threads(process):
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{process}/task"))
    return 0


def _is_busy(process):
    return _state(process) == "R"


def _state(process):
    """A letter, see proc(5); nothing where it is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""
