"""What the grader sees of processes that it does not trust: which there are, and what memory they use."""

import contextlib
import os

import psutil


def family(pid: int) -> list[psutil.Process]:
    """All processes that descend from one; none where it is gone."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def kill(process: psutil.Process) -> None:
    """End a process, if it is still there."""
    with contextlib.suppress(psutil.Error):
        process.kill()


def resident(process: psutil.Process) -> int:
    """Bytes in use; 0 where the process is gone."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def proportional(process: psutil.Process) -> int:
    """Bytes in use, those shared with other processes divided among them; all of them where that is not told."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return resident(process)


def threads_of_this_user() -> int:
    """How many threads the kernel counts against this user's limit."""
    found = [each.info for each in psutil.process_iter(["uids", "num_threads"])]
    return sum(each["num_threads"] or 1 for each in found if each["uids"] and each["uids"].real == os.getuid())
