"""The student's side of grading: a warm process that imports once, and forks one worker per submission.

    python -m dpcourse.grading.sandbox.worker      (standard input: a socket on which orders arrive)

The warm process never runs a student's line. A fork of it enters the sandbox that the order names, gives up
every privilege, and only then takes requests: run this cell, probe that function. Nothing here knows an answer.
"""

import contextlib
import ctypes
import dataclasses
import importlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import struct
import sys
import threading

import numpy as np

from dpcourse.grading.sandbox import library, wire
from dpcourse.probe import limits
from dpcourse.probe.probe import Probe

WARM = (
    "IPython",
    "ipywidgets",
    "matplotlib.pyplot",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "dpcourse.plots",
)
SILENT = {
    "dpcourse": ("check", "hint", "progress", "quiz", "solution"),
    "dpcourse.doctor": ("report",),
    "dpcourse.plots": ("show",),
    "dpcourse.widgets": ("explore",),
}

LINUX = sys.platform == "linux"
NEW_USER, NEW_OTHERS = 0x10000000, 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x20000000 | 0x40000000
SET_DUMPABLE, SET_SUBREAPER, SET_NO_NEW_PRIVILEGES = 4, 36, 38
CAPABILITY_VERSION = 0x20080522


# ---- the warm process


def wait_for_orders():
    """Fork a worker for each order: a line of JSON, and the socket on which the worker is to be asked."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _linux("prctl", SET_SUBREAPER, 1, 0, 0, 0)
    for name in WARM:
        importlib.import_module(name)
    _silence()
    _hide()
    orders = socket.socket(fileno=0)
    orders.send(b"ready")
    while True:
        order, sockets, _, _ = socket.recv_fds(orders, 2**16, 1)
        if not order:
            return _end_all()
        order = json.loads(order)
        for name in order["warm"]:
            with contextlib.suppress(Exception):  # some are no modules, but what a module holds
                importlib.import_module(name)
        if os.fork() == 0:
            _work(order, sockets[0])
        os.close(sockets[0])


def _end_all():
    """The grader is done, or gone: so go whatever was forked for it, and the folder that was made for it."""
    import psutil

    while left := psutil.Process().children(recursive=True):
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=1)
    shutil.rmtree(os.environ["HOME"], ignore_errors=True)


def _silence():
    """Replace what only shows something: nobody looks, and the judge sits elsewhere."""
    for module, names in SILENT.items():
        for name in names:
            setattr(importlib.import_module(module), name, _say_nothing)


def _say_nothing(*arguments, **options):
    pass


def _hide():
    """Take from the student's reach what is no part of the library: the exercises hold their answers."""
    for hidden in library.others():
        for name in [name for name in sys.modules if name.startswith(f"{hidden}.")]:
            del sys.modules[name]
        sys.modules[hidden] = None
        vars(sys.modules["dpcourse"]).pop(hidden.rpartition(".")[2], None)


# ---- from fork to worker


def _work(order, channel):
    """Become the worker of an order and serve; never returns."""
    try:
        session = _worker(order, channel)
    except BaseException as error:
        os.write(channel, wire.pack({"failed": f"{type(error).__name__}: {error}"}))
        os._exit(1)
    try:
        session.serve()
    finally:
        os._exit(0)


def _worker(order, channel):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _be_the_first_to_go()
    if order["sandbox"]:
        _enter(order["sandbox"], order["user"])
    os.setsid()
    _keep_only(channel)
    if order["sandbox"]:
        _give_up_privileges(order["user"])
    _limit(order["limits"])
    os.makedirs(order["home"], exist_ok=True)
    os.chdir(order["home"])
    os.environ["HOME"] = os.environ["DPCOURSE_DATA"] = os.environ["IPYTHONDIR"] = order["home"]
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what a student draws without a seed is the same at every grading
    probes = {spec["function"]: _probe_of(spec) for spec in order["probes"]}
    return _Session(socket.socket(fileno=channel), probes, alone=bool(order["sandbox"]))


def _keep_only(channel):
    """Close every other file; standard input, output and error lead nowhere."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.closerange(3, channel)
    os.closerange(channel + 1, 2**16)
    os.set_inheritable(channel, False)


def _be_the_first_to_go():
    """Where memory runs out, the kernel takes this process before any other."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def _enter(sandbox, user):
    """Join the namespaces of a process in the sandbox; returns in a child that is inside for good."""
    namespaces = NEW_OTHERS | (0 if user else NEW_USER)
    if _linux("setns", os.pidfd_open(sandbox), namespaces) != 0:
        raise OSError("cannot enter the sandbox")
    inside = os.fork()
    if inside:
        os.waitpid(inside, 0)
        os._exit(0)


def _give_up_privileges(user):
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if _linux("capset", struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24)) != 0:
        raise OSError("cannot drop capabilities")
    if _linux("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError("cannot renounce new privileges")
    _linux("prctl", SET_DUMPABLE, 1, 0, 0, 0)


def _limit(limits):
    """Limits of the kernel's, which can only be lowered from here on. memory: bytes beyond what is in use now."""
    bounds = {
        "RLIMIT_FSIZE": limits["file"],
        "RLIMIT_NPROC": limits["processes"],
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_CORE": 0,
    }
    if LINUX:  # elsewhere the grader's watch alone limits the memory
        bounds["RLIMIT_AS"] = _address_space() + limits["memory"]
    for name, bound in bounds.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def _address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _linux(function, *arguments):
    """Call a function that only Linux has. Integers are passed as unsigned long, as prctl wants them."""
    if not LINUX:
        return 0
    arguments = [ctypes.c_ulong(item) if isinstance(item, int) and function == "prctl" else item for item in arguments]
    return getattr(ctypes.CDLL(None), function)(*arguments)


# ---- the worker


class _Session:
    """One student's shell, and the requests about it."""

    def __init__(self, channel, probes, alone):
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        quiet = Config()
        quiet.HistoryManager.enabled = False
        quiet.InteractiveShell.colors = "nocolor"
        self.shell = InteractiveShell.instance(config=quiet)
        self.shell.showtraceback = self.shell.showsyntaxerror = _say_nothing
        self.stream = channel.makefile("rwb")
        self.alone, self.process = alone, os.getpid()
        self.threads = set(threading.enumerate())
        self.probes = probes
        self.answers = {name: [] for name in probes}

    def serve(self):
        """Answer requests until there are no more."""
        self._reply({"ready": True})
        while True:
            request = wire.receive(self._read)
            reply = self._run(request) if "cell" in request else self._probe(request)
            try:
                self._reply(reply | {"nonce": request["nonce"]})
            except wire.Garbled as error:
                too_much = [{"raised": f"What your function returns cannot be handed over: {error}."}]
                self._reply({"outcomes": too_much, "nonce": request["nonce"]})

    def _read(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    def _reply(self, message):
        self.stream.write(wire.pack(message))
        self.stream.flush()

    def _run(self, request):
        """Run a cell; note which functions it defines, its error, and whether it left a thread running."""
        from IPython.core.inputtransformer2 import TransformerManager

        sys.stdout = sys.stderr = limits.Captured(0)
        self.shell.input_transformer_manager = TransformerManager()
        self.shell.input_transformers_post, self.shell.ast_transformers = [], []
        try:
            result = self.shell.run_cell(request["cell"], store_history=False, silent=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as raised:
            error = raised
        if os.getpid() != self.process:  # the cell has forked: its child ends here
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for name, known in self.answers.items():
            answer = self.shell.user_ns.get(name)
            if answer is not None and not any(answer is other for other in known):
                known.append(answer)
        return {"error": _named(error), "left_running": self._left_running()}

    def _left_running(self):
        """Whether the cell has left a thread running. No other process outlives its cell, where the sandbox allows it."""
        if self.alone:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)
        before, self.threads = self.threads, set(threading.enumerate())
        return not self.threads <= before

    def _probe(self, request):
        """What the last answer of that name does that is not blank; it may start no process and no thread."""
        if self.alone:
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        sys.stdout = sys.stderr = limits.Captured(0)
        outcomes = None
        probe = self.probes[request["probe"]]
        probe = dataclasses.replace(probe, seconds=min(probe.seconds, request.get("seconds", probe.seconds)))
        for answer in reversed(self.answers[request["probe"]]):
            outcomes = probe.probe(answer, request["cases"])
            if not outcomes[-1].get("blank"):
                break
        if os.getpid() != self.process:
            os._exit(0)
        return {"outcomes": outcomes}


def _named(error):
    """The type and the first words of an exception, or None."""
    if error is None:
        return None
    try:
        return f"{type(error).__name__}: {str(error)[:200]}"
    except BaseException:
        return type(error).__name__


def _probe_of(spec):
    return Probe(
        function=spec["function"],
        forbidden=tuple(map(_resolved, spec["forbidden"])),
        counted=spec["counted"] and _resolved(spec["counted"]),
        seconds=spec["seconds"],
    )


def _resolved(name):
    """The function that "module:qualified.name" names."""
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


if __name__ == "__main__":
    wait_for_orders()
