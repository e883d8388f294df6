"""How a fork of the warm process goes into the sandbox, and gives up what a student's code must not have."""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from pathlib import Path

from dpcourse.checking.calling.limits import data_of_process
from dpcourse.grading.run import seccomp

LINUX = sys.platform == "linux"
NEW_USER, NEW_OTHERS = 0x10000000, 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x20000000 | 0x40000000
SET_DUMPABLE, SET_SUBREAPER, SET_NO_NEW_PRIVILEGES = 4, 36, 38
CAPABILITY_VERSION = 0x20080522
JOIN_SESSION_KEYRING = 1
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def adopt_orphans() -> None:
    """What descends from this process stays its child or grandchild, even when its own parent ends."""
    _linux("prctl", SET_SUBREAPER, 1, 0, 0, 0)


def ignore_signals() -> None:
    """Be ended by nothing but the end of the grader, so that nothing is left behind; for the warm process."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def heed_signals() -> None:
    """The signals as a new process of Python has them."""
    for number in (*ENDING, signal.SIGCHLD):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def be_the_first_to_go() -> None:
    """Where memory runs out, the kernel takes this process before any other."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def join(group: str) -> None:
    """Be counted in a control group (see `cgroups`). Raises OSError."""
    Path(group, "cgroup.procs").write_text("0")


def enter(sandbox: int, user: int | None) -> None:
    """Join the namespaces of a process in the sandbox, with a keyring of its own; returns in a child that is inside for good.

    user: the number of the user to become, where the grader is root. Raises OSError.
    """
    keyctl = seccomp.number("keyctl")  # where it is refused, the filter still lets no student ask for a key
    ctypes.CDLL(None).syscall(keyctl, JOIN_SESSION_KEYRING, None)
    namespaces = NEW_OTHERS | (0 if user else NEW_USER)
    if _linux("setns", os.pidfd_open(sandbox), namespaces) != 0:
        raise OSError("cannot enter the sandbox")
    inside = os.fork()
    if inside:
        os.waitpid(inside, 0)
        os._exit(0)


def keep_only(channel: int) -> None:
    """Close every other file; standard input, output and error lead nowhere."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.closerange(3, channel)
    os.closerange(channel + 1, 2**16)
    os.set_inheritable(channel, False)


def give_up_privileges(user: int | None) -> None:
    """Become the user, without a capability, and with no way to gain one. Raises OSError."""
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if _linux("capset", struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24)) != 0:
        raise OSError("cannot drop capabilities")
    if _linux("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError("cannot renounce new privileges")
    _linux("prctl", SET_DUMPABLE, 1, 0, 0, 0)


def limit(limits: dict) -> None:
    """Limits of the kernel's, which can only be lowered from here on. memory: bytes beyond what is in use now.

    Bounded is what can be written to, and not the address space: a library that maps gigabytes costs what it touches.
    """
    bounds = {
        "RLIMIT_FSIZE": limits["file"],
        "RLIMIT_NPROC": limits["processes"],
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,  # nor may the kernel send pages from where they lie: a page may be part of a huge one
    }
    if LINUX:  # elsewhere the grader's watch alone limits the memory
        bounds["RLIMIT_DATA"] = data_of_process() + limits["memory"]
    for name, bound in bounds.items():
        kind = getattr(resource, name, None)  # not every system has them all
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def _linux(function, *arguments):
    """Call a function that only Linux has. Integers are passed as unsigned long, as prctl wants them."""
    if not LINUX:
        return 0
    arguments = [ctypes.c_ulong(item) if isinstance(item, int) and function == "prctl" else item for item in arguments]
    return getattr(ctypes.CDLL(None), function)(*arguments)
