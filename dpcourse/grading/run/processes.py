"""What the grader sees of processes that it does not trust: which there are, and what memory they use."""

import contextlib
import functools
import math
import os
import secrets
import sys

import psutil

TELLS_WAITING = os.path.exists("/proc/self/schedstat")  # for how long a thread waited for a core; Linux does
CHILDREN = "/proc/{pid}/task/{thread}/children"  # of Linux
LOWEST, WEIGHT_OF_A_STEP = 19, 1.25  # of the nice values
USUAL_SETTINGS = {
    "core/wmem_max": 212_992, "core/rmem_max": 212_992, "ipv4/tcp_wmem": 4 * 2**20, "ipv4/tcp_rmem": 32 * 2**20,
}  # fmt: skip
FIRST_USER, USERS = 61184, 2000  # and as many again: numbers that systemd, too, gives to passing users


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


def proportional(process: psutil.Process) -> tuple[int, int]:
    """(bytes in use, bytes of memory that is mapped as a file is), those of several processes divided among them.

    All that the process uses is the first where the system does not tell.
    """
    try:
        with open(f"/proc/{process.pid}/smaps_rollup") as file:
            told = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file if line.startswith("Pss")}
        shared = told.get("Pss_Shmem", 0)
        return told["Pss"] - shared, shared
    except (OSError, KeyError):
        return resident(process), 0


def open_files(process: psutil.Process) -> int:
    """How many files a process has open; 0 where it is gone, and before Linux 6.2, which does not tell."""
    try:
        return os.stat(f"/proc/{process.pid}/fd").st_size if sys.platform == "linux" else 0
    except OSError:
        return 0


def sockets(pid: int) -> dict[str, int]:
    """How many sockets of each protocol are in the network that a process sees, those without a file among them.

    None where it is gone.
    """
    try:
        with open(f"/proc/{pid}/net/protocols") as file:
            return {name: int(count) for name, _, count, *_ in map(str.split, file.readlines()[1:])}
    except (OSError, ValueError):
        return {}


@functools.cache
def most_in_a_socket(protocol: str) -> int:
    """Bytes of the kernel's that it can hold: what it has sent and nobody has read; and, but for Unix, what has come."""
    sent = max(2 * _setting("core/wmem_max"), _setting("ipv4/tcp_wmem"))
    came = max(2 * _setting("core/rmem_max"), _setting("ipv4/tcp_rmem"))
    return 2 * _setting("core/wmem_max") if protocol.startswith("UNIX") else sent + came


def _setting(name):
    """The last number of a setting of the network's; what it mostly is where it is not told."""
    try:
        with open(f"/proc/sys/net/{name}") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError, IndexError):
        return USUAL_SETTINGS[name]


def tasks(process: psutil.Process) -> list[int]:
    """The numbers of a process' threads, each of which has a share of the cores; none where it is gone."""
    try:
        return list(map(int, os.listdir(f"/proc/{process.pid}/task")))
    except OSError:
        return []


def nice_of_one_in(count: int) -> int:
    """The nice value at which so many weigh as one together."""
    return min(LOWEST, math.ceil(math.log(max(1, count), WEIGHT_OF_A_STEP)))


def weigh_as_one(tasks: list[int]) -> None:
    """Lower the priority of tasks until all together weigh as one; what is lower stays."""
    nice = nice_of_one_in(len(tasks))
    for task in tasks:
        with contextlib.suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, task) < nice:
                os.setpriority(os.PRIO_PROCESS, task, nice)


def session(process: psutil.Process) -> int | None:
    """The number of its session; None where it is gone."""
    try:
        return os.getsid(process.pid)
    except OSError:
        return None


def lower_session(process: psutil.Process, nice: int) -> bool:
    """Lower the weight of all that is in the process' session, where the kernel gives each session an equal share.

    Whether that is done: the kernel lets all users but root do it only ten times a second.
    """
    try:
        with open(f"/proc/{process.pid}/autogroup", "w") as file:
            file.write(str(nice))
        return True
    except BlockingIOError:
        return False
    except OSError:  # the process is gone, or sessions have no share of their own here
        return True


def threads_of_this_user() -> int:
    """How many threads the kernel counts against this user's limit."""
    found = [each.info for each in psutil.process_iter(["uids", "num_threads"])]
    return sum(each["num_threads"] or 1 for each in found if each["uids"] and each["uids"].real == os.getuid())


def unused_user() -> int:
    """The number of a user to whom no account and no process belongs; for the grader as root.

    By chance: what the kernel has not yet cleared away of one submission counts for its user, not for the next.
    """
    import pwd  # Windows has none

    used = {user.pw_uid for user in pwd.getpwall()}
    for process in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            used.add(os.stat(f"/proc/{process}").st_uid if process.isdigit() else 0)
    first = FIRST_USER + secrets.randbelow(USERS)
    return next(user for user in range(first, first + USERS) if user not in used)
