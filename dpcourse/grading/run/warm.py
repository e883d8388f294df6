"""The warm process, one per thread of the grader: it has imported what students import, and forks workers."""

import functools
import json
import os
import shutil
import site
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from dpcourse.grading.run import Unavailable, cgroups, library, processes

SECONDS_TO_START = 120
SECONDS_TO_END = 10
PYTHON = (sys.executable, "-P", "-B")


class Warm:
    """A warm process, and the socket on which it takes orders.

    home: a folder that it deletes when it ends, or the grader does. divided: the control group in which submissions
    get theirs, or None where this machine grants none.
    """

    def __init__(self):
        self.home = self.divided = None
        self.orders, theirs = socket.socketpair()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
        self.process = subprocess.Popen(
            _command(tempfile.gettempdir()),
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            cwd="/",
            env=_environment() | (cgroups.environment() if cgroups.launcher() else {}),
            start_new_session=True,
        )
        theirs.close()
        try:
            self.orders.settimeout(SECONDS_TO_START)
            self.home = json.loads(self.orders.recv(2**12))["home"]
            self.divided = cgroups.divided(self.process.pid)
        except (OSError, ValueError):
            reason = self._last_words()
            self.close()
            raise Unavailable(f"the warm process does not start: {reason}") from None
        except BaseException:
            self.close()
            raise

    def alive(self) -> bool:
        """Whether it can take another order."""
        return self.process.poll() is None

    def order(self, order: dict) -> socket.socket:
        """Have a worker forked; returns the socket on which it answers."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self.orders, [json.dumps(order).encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise Unavailable(f"the warm process takes no orders: {error}") from None
        return ours

    def memory(self) -> int:
        """Bytes in use, which every fork of it begins with."""
        return psutil.Process(self.process.pid).memory_info().rss

    def descendants(self) -> list[psutil.Process]:
        """Everything that was forked from it and still runs, wherever it has hidden."""
        return processes.family(self.process.pid)

    def close(self) -> None:
        """End it and all that came from it."""
        self.orders.close()
        try:
            self.process.wait(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            for process in self.descendants():
                processes.kill(process)
            self.process.kill()
            self.process.wait()
        self.errors.close()
        if self.divided:
            self.divided.close()
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)

    def _last_words(self):
        self.errors.seek(0)
        return (self.errors.read().decode(errors="replace").strip().splitlines() or ["no reason given"])[-1][:300]


_of_this_thread = threading.local()


def warm() -> Warm:
    """The warm process of this thread, started where there is none. Raises Unavailable."""
    found = getattr(_of_this_thread, "warm", None)
    if found is None or not found.alive():
        close()
        _of_this_thread.warm = found = Warm()
    return found


@functools.cache
def path() -> list[str]:
    """Where the warm process, and what is forked from it, finds packages: what Python makes of this environment."""
    tell = "import json, sys; print(json.dumps(sys.path))"
    done = subprocess.run([*PYTHON, "-c", tell], env=_environment(), cwd="/", capture_output=True, check=True)
    return json.loads(done.stdout)


def close() -> None:
    """End the warm process of this thread."""
    found = getattr(_of_this_thread, "warm", None)
    if found is not None:
        found.close()
        _of_this_thread.warm = None


def _command(folder):
    """Python with the worker's module. systemd is told where to find itself, and the process is not."""
    python = [*PYTHON, "-m", "dpcourse.grading.run.worker", folder]
    launcher = cgroups.launcher()
    alone = ["env", "-i", *(f"{name}={value}" for name, value in _environment().items())]
    return [*launcher, *alone, *python] if launcher else python


def _environment():
    """Nothing of the grader's own environment but what finds programs and packages."""
    return {
        "HOME": "/nonexistent",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(library.PACKAGE.parent),
        "PYTHONUSERBASE": site.getuserbase(),
        "USER": "student",
    }
