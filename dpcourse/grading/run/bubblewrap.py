"""A sandbox, made with bubblewrap: no network, a read-only system, a /tmp of its own, no home, its own process numbers.

What of this machine is in it `mounts` says: of the course the library, and no exercise, no solution and no judge.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from dpcourse.base.languages import say
from dpcourse.grading.run import Limits, Unavailable, mounts, processes, seccomp

UBUNTU = "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}  # nothing of the grader's own
HOME = "/tmp/home"  # of the student
ACCOUNT = f"student:x:{{user}}:{{user}}:student:{HOME}:/bin/bash\n"
KEEP_OPEN = ("env", "--ignore-signal=CHLD", "cat")  # the first process, which lets the kernel bury all others
A_CAPABILITY = "CAP_WAKE_ALARM"  # of the first process: who has none may not look into it
MEMORY_FILES = ("/tmp", "/dev/shm")  # where a student's code can write
HIDDEN = ("/proc/keys", "/proc/key-users", "/proc/cmdline", "/dev/zero")  # /dev/zero: its shared pages go uncounted


def missing() -> str | None:
    """Why no sandbox can be made on this machine, in one line; None where one can."""
    if not hasattr(os, "fork"):
        return say("sandboxes need Linux; on Windows, grade in WSL")
    if shutil.which("bwrap") is None:
        return say("bubblewrap is not installed (Debian and Ubuntu: `apt-get install bubblewrap`)")
    if lacking := seccomp.missing():
        return lacking
    trial = _started(Limits(), ["true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    reason = trial.communicate()[1].decode(errors="replace").strip()[:300]
    if trial.returncode == 0:
        return None
    return say(
        "bubblewrap does not work here ({reason}). It must be 0.8 or newer; on Ubuntu 24.04 it needs `{command}`",
        reason=reason,
        command=UBUNTU,
    )


def shows(file: Path) -> bool:
    """Whether a file of this machine is within the reach of what runs in a sandbox."""
    trial = _started(
        Limits(), ["test", "-e", str(file.absolute())], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    trial.communicate()
    return trial.returncode == 0


@dataclass(frozen=True)
class Held:
    """A sandbox that is open: the process whose standard input keeps it so, the number of the first one inside, as
    seen from here, the number of the user to become in it, and open folders of MEMORY_FILES."""

    holder: subprocess.Popen
    inside: int
    user: int
    folders: tuple[int, ...]

    def close(self) -> None:
        """End all that is in it."""
        for process in [*processes.family(self.holder.pid), psutil.Process(self.holder.pid)]:
            processes.kill(process)
        self.holder.communicate()
        for folder in self.folders:
            os.close(folder)


def hold(limits: Limits) -> Held:
    """A new sandbox, open until it is closed or this process ends. Raises Unavailable."""
    read, write = os.pipe()
    user = processes.unused_user() if os.getuid() == 0 else os.getuid()
    try:
        first = ["--info-fd", str(write), "--as-pid-1", "--", *KEEP_OPEN]
        holder = _started(limits, first, [write], user, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    finally:
        os.close(write)
    try:
        with open(read, "rb") as info:
            told = info.read()
        _see_it_answer(holder)
        inside = json.loads(told)["child-pid"]
        return Held(holder, inside, user, tuple(_opened(inside)))
    except BaseException as error:
        holder.kill()
        reason = holder.communicate()[1].decode(errors="replace").strip()
        if not isinstance(error, (OSError, ValueError, KeyError)):
            raise
        raise Unavailable(f"bubblewrap makes no sandbox: {reason[:300] or error}") from None


def _started(limits, arguments, files=(), user=0, **streams):
    """bubblewrap, with a filter that holds for what it runs; its standard error is a pipe."""
    with _file_of(seccomp.program()) as filtered, _file_of(ACCOUNT.format(user=user).encode()) as accounts:
        return subprocess.Popen(
            [*command(limits, accounts.fileno()), "--seccomp", str(filtered.fileno()), *arguments],
            env=ENVIRONMENT,
            pass_fds=[*files, filtered.fileno(), accounts.fileno()],
            stderr=subprocess.PIPE,
            **streams,
        )


@contextlib.contextmanager
def _file_of(content):
    """A file without a name, to be read from its beginning."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def _see_it_answer(holder):
    holder.stdin.write(b".")
    holder.stdin.flush()
    if holder.stdout.read1(1) != b".":
        raise OSError


def _opened(inside):
    for folder in MEMORY_FILES:
        yield os.open(f"/proc/{inside}/root{folder}", os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)


def command(limits: Limits, accounts: int) -> list[str]:
    """The command that makes a sandbox; what is to run in it comes behind. accounts: an open file, its /etc/passwd."""
    private = ["--perms", "1777", "--size", str(limits.disk), "--tmpfs"]
    return [
        *(shutil.which("bwrap") or "bwrap", *_namespaces(), "--die-with-parent", "--new-session"),
        *("--hostname", "sandbox", "--cap-drop", "ALL", "--cap-add", A_CAPABILITY),
        *(*private, "/tmp"),
        *mounts.arguments(),
        *(*mounts.folders_to("/etc/passwd"), "--perms", "0644", "--ro-bind-data", str(accounts), "/etc/passwd"),
        *("--proc", "/proc", "--dev", "/dev", *_hidden(), *private, "/dev/shm"),
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
    ]


def _namespaces():
    """Root needs no user namespace, and could not be limited in one."""
    if os.getuid() == 0:
        return ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return ["--unshare-all", "--unshare-user", "--disable-userns"]


def _hidden():
    """In the place of each a device that cannot be opened."""
    for name in HIDDEN:
        if os.path.exists(name):
            yield from ("--ro-bind", "/dev/null", name)
