"""Limits that the kernel keeps for a whole submission at once: control groups (cgroup v2), where this machine grants them.

The warm process gets a group that is ours to divide. It stays in one part of it, and each submission gets another,
whose memory (files in a /tmp of memory and buffers of the kernel's included), processes and share of the cores the
kernel bounds. Elsewhere `watch` measures.
"""

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

from dpcourse.grading.run import Limits

TREE = Path("/sys/fs/cgroup")
SYSTEMD = Path("/run/systemd/system")
NEEDED = {"cpu", "memory", "pids"}
OURS = 4  # processes of the grader's in the group of a submission
SECONDS_TO_EMPTY = 5.0
TRIAL_SECONDS = 10.0


@functools.cache
def launcher() -> tuple[str, ...]:
    """What stands before a command so that systemd runs it in a group that is ours to divide; empty where it does not."""
    if not SYSTEMD.is_dir() or shutil.which("systemd-run") is None:
        return ()
    asked = ("--scope", "--quiet", "--collect", "--property=Delegate=yes", "--")
    command = ("systemd-run", *(() if os.getuid() == 0 else ("--user",)), *asked)
    try:
        subprocess.run(
            [*command, "true"], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TRIAL_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return command


def environment() -> dict[str, str]:
    """What `launcher` needs of the grader's environment to find systemd; nothing of it is for the command itself."""
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    return {name: os.environ[name] for name in names if name in os.environ}


def group_of(process: int | str, tree: Path = TREE) -> Path | None:
    """The folder of the group that a process is in; None where cgroup v2 does not rule this machine."""
    if not (tree / "cgroup.controllers").is_file():
        return None
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/cgroup").read_text().splitlines()
        return tree / next(line for line in lines if line.startswith("0::")).removeprefix("0::").lstrip("/")
    return None


class Divided:
    """The group of a warm process, divided: it keeps one part, and `group` makes one for each submission."""

    def __init__(self, folder: Path, process: int):
        """Raises OSError where the kernel does not let this be."""
        self.folder, self.process, self.count = folder, process, itertools.count(1)
        self.parent = None
        if _processes(folder) != [process]:  # others are there too: a group below it
            self.parent, self.folder = folder, folder / f"dpcourse-{process}"
            self.folder.mkdir()
            (self.folder / "cgroup.procs").write_text(str(process))
        try:
            if not set((self.folder / "cgroup.controllers").read_text().split()) >= NEEDED:
                raise OSError("the groups here bound neither memory nor processes")
            (self.folder / "warm").mkdir()
            (self.folder / "warm" / "cgroup.procs").write_text(str(process))
            enable = " ".join(f"+{name}" for name in sorted(NEEDED))
            (self.folder / "cgroup.subtree_control").write_text(enable)
        except OSError:
            self.close()
            raise

    def group(self, limits: Limits) -> "Group":
        """A group for one submission. Raises OSError."""
        return Group(self.folder / f"submission-{next(self.count)}", limits)

    def close(self) -> None:
        """Undo what was made here, once the warm process has ended or goes on in the group that it came from."""
        if self.parent is not None:
            with contextlib.suppress(OSError):
                (self.parent / "cgroup.procs").write_text(str(self.process))
        for folder in (self.folder / "warm", *([self.folder] if self.parent else [])):
            with contextlib.suppress(OSError):
                folder.rmdir()


def divided(process: int, tree: Path = TREE) -> Divided | None:
    """The group of a process, divided; None where this machine does not grant it."""
    folder = group_of(process, tree)
    if folder is None:
        return None
    try:
        return Divided(folder, process)
    except OSError:
        return None


class Group:
    """The group of one submission; a process joins by writing "0" into `folder/cgroup.procs`."""

    def __init__(self, folder: Path, limits: Limits):
        self.folder = folder
        folder.mkdir()
        try:
            self._set("memory.max", limits.memory)
            self._set("memory.oom.group", 1)
            self._set("pids.max", limits.processes + OURS)
            self._set("cpu.weight", 100)
            with contextlib.suppress(OSError):  # a kernel that counts no swap has no such file
                self._set("memory.swap.max", 0)
        except OSError:
            self.close()
            raise

    def _set(self, name, value):
        (self.folder / name).write_text(str(value))

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended something here because the memory was used up."""
        try:
            events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
            return int(events.get("oom_kill", 0)) > 0
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """End all that is in it, and the group."""
        with contextlib.suppress(OSError):
            self._set("cgroup.kill", 1)
        deadline = time.monotonic() + SECONDS_TO_EMPTY
        while self.folder.exists() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # until its processes are buried
                self.folder.rmdir()
            time.sleep(0.002)


def _processes(folder):
    return sorted(map(int, (folder / "cgroup.procs").read_text().split()))
