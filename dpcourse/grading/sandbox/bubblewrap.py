"""A sandbox, made with bubblewrap: no network, a read-only system, a /tmp of its own, no home, its own process numbers.

Of the course it holds the library (`library.parts`), and no exercise, no solution and no judge.
"""

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

from dpcourse.doctor import Finding
from dpcourse.grading.sandbox import Limits, Unavailable, library

PARTS_OF_PYTHON = ("bin", "lib", "lib64", "share", "pyvenv.cfg")  # a prefix may hold more: the course, for one
UBUNTU = "on Ubuntu 24.04 it needs `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
KEEP_OPEN = ("env", "--ignore-signal=CHLD", "cat")  # the first process, which lets the kernel bury all others


def missing() -> str | None:
    """Why no sandbox can be made on this machine, in one line; None where one can."""
    if not hasattr(os, "fork"):
        return "sandboxes need Linux; on Windows, grade in WSL"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: `apt-get install bubblewrap`)"
    trial = subprocess.run([*command(Limits()), "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if trial.returncode == 0:
        return None
    reason = trial.stderr.strip()[:300]
    return f"bubblewrap does not work here ({reason}). It must be 0.8 or newer; {UBUNTU}"


def finding() -> Finding:
    """What the set-up check tells an instructor."""
    lacking = missing()
    if lacking:
        return Finding("grading", "note", f"no sandbox: {lacking}. Only instructors need one")
    return Finding("grading", "ok", "bubblewrap makes sandboxes for students' notebooks")


def hold(limits: Limits) -> tuple[subprocess.Popen, int]:
    """A process that keeps a new sandbox open until its standard input ends; and its number, as seen from here.

    Raises Unavailable.
    """
    read, write = os.pipe()
    try:
        holder = subprocess.Popen(
            [*command(limits), "--info-fd", str(write), "--as-pid-1", "--", *KEEP_OPEN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[write],
        )
    finally:
        os.close(write)
    with open(read, "rb") as info:
        told = info.read()
    try:
        _see_it_answer(holder)
        return holder, json.loads(told)["child-pid"]
    except (OSError, ValueError, KeyError):
        holder.kill()
        reason = holder.communicate()[1].decode(errors="replace").strip()
        raise Unavailable(f"bubblewrap makes no sandbox: {reason[:300]}") from None


def _see_it_answer(holder):
    holder.stdin.write(b".")
    holder.stdin.flush()
    if holder.stdout.read1(1) != b".":
        raise OSError


def command(limits: Limits) -> list[str]:
    """The command that makes a sandbox; what is to run in it comes behind."""
    private = ["--perms", "1777", "--size", str(limits.disk), "--tmpfs"]
    return [
        *("bwrap", *_namespaces(), "--die-with-parent", "--new-session"),
        *(*private, "/tmp"),
        *_system(),
        *_python(),
        *_library(),
        *("--proc", "/proc", "--dev", "/dev", *private, "/dev/shm", "--remount-ro", "/", "--chdir", "/tmp"),
    ]


def _namespaces():
    """Root needs no user namespace, and could not be limited in one."""
    if os.getuid() == 0:
        return ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return ["--unshare-all", "--unshare-user", "--disable-userns"]


def _system():
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--ro-bind", folder, folder)
    for name in ("alternatives", "ld.so.cache", "localtime"):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _python():
    found = [f"{prefix}/{part}" for prefix in (sys.base_prefix, sys.prefix) for part in PARTS_OF_PYTHON]
    for folder in dict.fromkeys([*found, *site.getsitepackages(), site.getusersitepackages()]):
        yield from _folders_to(folder)
        yield from ("--ro-bind-try", folder, folder)


def _library():
    """An empty folder, where among the installed packages the whole course may lie, and in it the library."""
    package = str(library.PACKAGE)
    yield from (*_folders_to(package), "--perms", "0755", "--tmpfs", package)
    for part in map(str, library.parts()):
        yield from (*_folders_to(part), "--ro-bind", part, part)
    yield from ("--remount-ro", package)


def _folders_to(path):
    for parent in reversed(Path(path).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(parent))
