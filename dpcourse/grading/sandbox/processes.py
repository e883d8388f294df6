"""What the grader sees of processes that it does not trust: which there are, and what memory they use."""

import contextlib
import os

import psutil

CHILDREN = "/proc/{pid}/task/{thread}/children"  # of Linux


def family(pid: int) -> list[psutil.Process]:
    """All processes that descend from one; none where it is gone."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def family_at_a_glance(pid: int) -> list[psutil.Process]:
    """The same for a look many times a second, at a tenth of the cost; may miss a process that is born or dies now."""
    if not os.path.exists(CHILDREN.format(pid=pid, thread=pid)):
        return family(pid)
    found, parents = [], [pid]
    while parents:
        children = _children(parents.pop())
        parents += children
        found += children
    return [process for process in map(_process, found) if process is not None]


def _children(pid):
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(CHILDREN.format(pid=pid, thread=thread)) as file:
                found += map(int, file.read().split())
    return found


def _process(pid):
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid)
    return None


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
