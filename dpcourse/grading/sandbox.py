"""The grader's side of the sandbox: make one with bubblewrap, have a worker fork into it, ask, watch, and clear away.

A sandbox has no network, a read-only system, a /tmp of its own, no home and its own process numbers; of the course
it holds the library, and neither the exercises nor the solutions. Nothing in this module runs a student's line.
"""

import contextlib
import json
import os
import secrets
import select
import shutil
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from dpcourse.doctor import Finding
from dpcourse.grading import wire

PACKAGE = Path(__file__).resolve().parents[1]
HIDDEN = ("authoring", "course", "engine", "grading")
TICK = 0.1
ENDED, GARBLED = "it ended the process that ran it", "it sent something that is no reply"
PARTS_OF_PYTHON = ("bin", "lib", "lib64", "share", "pyvenv.cfg")  # a prefix may hold more: the course, for one
SECONDS_TO_START = 120
UBUNTU = "on Ubuntu 24.04 it needs `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
KEEP_OPEN = ("env", "--ignore-signal=CHLD", "cat")  # the first process, which lets the kernel bury all others


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


def missing():
    """Why no sandbox can be made on this machine, in one line; None where one can."""
    if not hasattr(os, "fork"):
        return "sandboxes need Linux; on Windows, grade in WSL"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: `apt-get install bubblewrap`)"
    trial = subprocess.run([*_bubblewrap(Limits()), "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if trial.returncode == 0:
        return None
    reason = trial.stderr.strip()[:300]
    return f"bubblewrap does not work here ({reason}). It must be 0.8 or newer; {UBUNTU}"


def finding():
    """What the set-up check tells an instructor."""
    lacking = missing()
    if lacking:
        return Finding("grading", "note", f"no sandbox: {lacking}. Only instructors need one")
    return Finding("grading", "ok", "bubblewrap makes sandboxes for students' notebooks")


# ---- the warm process, one per thread of the grader


class Warm:
    """A warm process, and the socket on which it takes orders."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="dpcourse-")  # the warm process deletes it when it ends
        self.orders, theirs = socket.socketpair()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "dpcourse.grading.worker"],
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            cwd="/",
            env=_environment(self.home),
            start_new_session=True,
        )
        theirs.close()
        self.orders.settimeout(SECONDS_TO_START)
        try:
            ready = self.orders.recv(16)
        except OSError:
            ready = b""
        if ready != b"ready":
            reason = self._last_words()
            self.close()
            raise Unavailable(f"the warm process does not start: {reason}")

    def alive(self):
        """Whether it can take another order."""
        return self.process.poll() is None

    def order(self, order):
        """Have a worker forked; returns the socket on which it answers."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self.orders, [json.dumps(order).encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise Unavailable(f"the warm process takes no orders: {error}") from None
        return ours

    def descendants(self):
        """Everything that was forked from it and still runs, wherever it has hidden."""
        return _family(self.process.pid)

    def close(self):
        """End it and all that came from it."""
        self.orders.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            for process in self.descendants():
                _kill(process)
            self.process.kill()
            self.process.wait()
        self.errors.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _last_words(self):
        self.errors.seek(0)
        return (self.errors.read().decode(errors="replace").strip().splitlines() or ["no reason given"])[-1][:300]


_of_this_thread = threading.local()


def warm():
    """The warm process of this thread, started where there is none."""
    found = getattr(_of_this_thread, "warm", None)
    if found is None or not found.alive():
        close()
        _of_this_thread.warm = found = Warm()
    return found


def close():
    """End the warm process of this thread."""
    found = getattr(_of_this_thread, "warm", None)
    if found is not None:
        found.close()
        _of_this_thread.warm = None


def _environment(home):
    """Nothing of the grader's own environment but what finds programs and packages."""
    return {
        "HOME": home,
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": home,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(PACKAGE.parent),
        "PYTHONUSERBASE": site.getuserbase(),
        "USER": "student",
    }


# ---- one worker in its sandbox


class Worker:
    """A worker for one submission; `ask` it, and leave the `with` block to clear everything away."""

    def __init__(self, limits, probes, modules=(), sandboxed=True):
        self.limits, self.probes, self.modules, self.sandboxed = limits, probes, list(modules), sandboxed

    def __enter__(self):
        self.left_behind = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self.warm = warm()
            self.base = psutil.Process(self.warm.process.pid).memory_info().rss
            self.holder, inside, home = None, None, stack.enter_context(_home(self.sandboxed, self.warm.home))
            stack.callback(self._kill_all)
            if self.sandboxed:
                self.holder, inside = _hold(self.limits)
            order = {
                "sandbox": inside,
                "user": 61184 + inside % 4000 if inside and os.getuid() == 0 else None,
                "home": home,
                "limits": asdict(self.limits) | {"processes": self._processes()},
                "probes": self.probes,
                "warm": self.modules,
            }
            self.socket = stack.enter_context(self.warm.order(order))
            self.socket.setblocking(False)
            self.next_watch = time.monotonic() + TICK
            self._see_it_start()
            self.left_behind = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.left_behind.close()

    def ask(self, request, seconds):
        """The reply to a request. Raises Stopped where none comes in time, or what comes is no reply to it."""
        nonce = secrets.token_hex(16)
        deadline = time.monotonic() + seconds
        self._send(wire.pack(request | {"nonce": nonce}), deadline)
        reply = self._receive(deadline)
        if not isinstance(reply, dict) or reply.get("nonce") != nonce:
            raise Stopped(GARBLED)
        return reply

    def _see_it_start(self):
        try:
            said = self._receive(time.monotonic() + SECONDS_TO_START)
        except Stopped as stop:
            raise Unavailable(f"the worker does not start: {stop}") from None
        if said != {"ready": True}:
            raise Unavailable(f"the worker does not start: {said}")

    def _send(self, data, deadline):
        rest = memoryview(data)
        while rest:
            self._wait(deadline, for_writing=True)
            try:
                rest = rest[self.socket.send(rest) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Stopped(ENDED) from None

    def _receive(self, deadline):
        try:
            return wire.receive(lambda size: self._read(size, deadline), clean=wire.printable)
        except wire.Garbled:
            raise Stopped(GARBLED) from None

    def _read(self, size, deadline):
        data = bytearray()
        while len(data) < size:
            self._wait(deadline)
            try:
                part = self.socket.recv(min(size - len(data), 2**20))
            except BlockingIOError:
                continue
            except OSError:
                part = b""
            if not part:
                raise Stopped(ENDED)
            data += part
        return bytes(data)

    def _wait(self, deadline, for_writing=False):
        """Until the socket is ready; meanwhile watch what the submission uses."""
        to_read, to_write = ([], [self.socket]) if for_writing else ([self.socket], [])
        while True:
            if time.monotonic() > deadline:
                raise Stopped("the time limit was reached")
            if time.monotonic() > self.next_watch:
                self._watch()
                self.next_watch = time.monotonic() + TICK
            if any(select.select(to_read, to_write, [], TICK)):
                return

    def _watch(self):
        family = self._family()
        if len(family) > self.limits.processes + 8:
            raise Stopped("the limit on processes was reached")
        bound = self.limits.memory + self.base
        if sum(map(_resident, family)) > bound and sum(map(_proportional, family)) > bound:
            raise Stopped("the memory limit was reached")

    def _family(self):
        return self.warm.descendants() + (_family(self.holder.pid) if self.holder else [])

    def _processes(self):
        """The limit on processes: the sandbox counts its own; without one the kernel counts all of this user's."""
        if self.sandboxed:
            return self.limits.processes
        mine = [p.info for p in psutil.process_iter(["uids", "num_threads"])]
        return self.limits.processes + sum(
            info["num_threads"] or 1 for info in mine if info["uids"] and info["uids"].real == os.getuid()
        )

    def _kill_all(self):
        """End the whole sandbox, and whatever was forked from the warm process, until nothing is left."""
        if self.holder:
            for process in [*_family(self.holder.pid), psutil.Process(self.holder.pid)]:
                _kill(process)
            self.holder.communicate()
        deadline = time.monotonic() + 10
        while (left := self.warm.descendants()) and time.monotonic() < deadline:
            for process in left:
                _kill(process)
            time.sleep(0.002)


@contextlib.contextmanager
def _home(sandboxed, folder):
    """The worker's home: inside the sandbox's own /tmp, or a folder that is deleted afterwards."""
    if sandboxed:
        yield "/tmp/home"
        return
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        yield home


def _hold(limits):
    """A process that keeps a new sandbox open until its standard input ends; and its number, as seen from here."""
    read, write = os.pipe()
    try:
        holder = subprocess.Popen(
            [*_bubblewrap(limits), "--info-fd", str(write), "--as-pid-1", "--", *KEEP_OPEN],
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
        holder.stdin.write(b".")
        holder.stdin.flush()
        if holder.stdout.read1(1) != b".":
            raise OSError
        return holder, json.loads(told)["child-pid"]
    except (OSError, ValueError, KeyError):
        holder.kill()
        reason = holder.communicate()[1].decode(errors="replace").strip()
        raise Unavailable(f"bubblewrap makes no sandbox: {reason[:300]}") from None


def _bubblewrap(limits):
    """The command that makes the sandbox. Root needs no user namespace, and could not be limited in one."""
    everything = ["--unshare-all", "--unshare-user", "--disable-userns"]
    others = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    private = ["--perms", "1777", "--size", str(limits.disk), "--tmpfs"]
    command = ["bwrap", *(others if os.getuid() == 0 else everything), "--die-with-parent", "--new-session"]
    command += [*private, "/tmp"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            command += ["--ro-bind", folder, folder]
    for name in ("alternatives", "ld.so.cache", "localtime"):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    python = [f"{prefix}/{part}" for prefix in (sys.base_prefix, sys.prefix) for part in PARTS_OF_PYTHON]
    python += [*site.getsitepackages(), site.getusersitepackages()]
    for folder in dict.fromkeys([*python, str(PACKAGE)]):
        for parent in reversed(Path(folder).parents[:-1]):
            command += ["--perms", "0755", "--dir", str(parent)]
        command += ["--ro-bind-try", folder, folder]
    for hidden in HIDDEN:
        command += ["--size", "4096", "--tmpfs", str(PACKAGE / hidden)]
    command += ["--proc", "/proc", "--dev", "/dev", *private, "/dev/shm", "--remount-ro", "/", "--chdir", "/tmp"]
    return command


# ---- processes


def _family(pid):
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _kill(process):
    with contextlib.suppress(psutil.Error):
        process.kill()


def _resident(process):
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _proportional(process):
    """Bytes in use, those shared with other processes divided among them; all of them where that is not told."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(process)
