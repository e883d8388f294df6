"""The student's side of grading: a warm process that imports once, and forks one worker per submission.

    python -m dpcourse.grading.run.worker FOLDER      (standard input: a socket on which orders arrive)

FOLDER is where temporary files go.

The warm process never runs a student's line. A fork of it enters the sandbox that the order names, gives up
every privilege, and only then takes requests: run this cell, probe that function. Nothing here knows an answer.
"""

import contextlib
import importlib
import json
import os
import random
import shutil
import socket
import sys
import tempfile
import types

import numpy as np

from dpcourse.grading.run import confine, library, seccomp, wire
from dpcourse.grading.run.session import Session, probe_of

WARM = (
    "IPython",
    "ipykernel",  # whose presence is asked for
    "ipywidgets",
    "matplotlib.pyplot",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "dpcourse.plots",
)
SILENT = {
    "dpcourse": ("attack", "check", "goals", "hint", "language", "progress", "quiz", "solution"),
    "dpcourse.notebook.attacker": ("attack",),
    "dpcourse.notebook.doctor": ("report",),
    "dpcourse.notebook.goals": ("goals",),
    "dpcourse.notebook.progress": ("progress",),
    "dpcourse.notebook.check": ("check", "hint", "solution"),
    "dpcourse.plots": ("show",),
    "dpcourse.notebook.quiz": ("quiz",),
    "dpcourse.tables": ("show",),
    "dpcourse.widgets": ("explore",),
    "matplotlib": ("use",),  # windows to draw in are on the student's machine
    "matplotlib.pyplot": ("switch_backend",),
}


# ---- the warm process


def wait_for_orders(folder):
    """Fork a worker for each order: a line of JSON, and the socket on which the worker is to be asked.

    Whatever happens to the grader: when it is gone, so is all that was forked for it, and the folder made for it.
    """
    confine.ignore_signals()
    confine.adopt_orphans()
    home = tempfile.mkdtemp(prefix="dpcourse-", dir=folder)
    try:
        os.environ["HOME"] = os.environ["MPLCONFIGDIR"] = home
        _take_orders(home)
    finally:
        _end_all()
        shutil.rmtree(home, ignore_errors=True)


def _take_orders(home):
    for name in WARM:
        importlib.import_module(name)
    _silence()
    _hide()
    orders = socket.socket(fileno=0)
    orders.send(json.dumps({"home": home}).encode())
    while True:
        order, sockets, _, _ = socket.recv_fds(orders, 2**16, 1)
        if not order:
            return
        order = json.loads(order)
        for name in (*order["warm"], *_named(order["probes"])):
            with contextlib.suppress(Exception):  # some are no modules, but what a module holds
                importlib.import_module(name)
        if order["sandbox"]:
            seccomp.program()  # once, for all that are forked from here
        if os.fork() == 0:
            _work(order, sockets[0])
        os.close(sockets[0])


def _named(probes):
    """The modules of the functions that are watched while an answer is called: each worker would import them else."""
    paths = [path for spec in probes for path in (*spec["forbidden"], spec["counted"]) if path]
    return dict.fromkeys(path.partition(":")[0] for path in paths)


def _end_all():
    import psutil

    while left := psutil.Process().children(recursive=True):
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=1)


def _silence():
    """Replace what only shows something: nobody looks, and the judge sits elsewhere."""
    importlib.import_module("matplotlib.pyplot").switch_backend("agg")
    for module, names in SILENT.items():
        for name in names:
            setattr(importlib.import_module(module), name, _say_nothing)
    sys.modules["dpcourse.plots"].__getattr__ = _a_picture


def _say_nothing(*arguments, **options):
    pass


def _a_picture(name):
    """What `plots` has that is not here: a picture of a pack, which has an instructor's answers beside it."""
    if name.startswith("_"):
        raise AttributeError(name)
    return _say_nothing


def _hide():
    """Take from the student's reach what is no part of the library: the exercises hold their answers."""
    for hidden in library.others():
        kept = library.within(hidden)
        for name in [name for name in sys.modules if name.startswith(f"{hidden}.")]:
            if not any(f"{name}.".startswith(f"{each}.") for each in kept):
                del sys.modules[name]
        vars(sys.modules["dpcourse"]).pop(hidden.rpartition(".")[2], None)
        sys.modules[hidden] = _only(hidden, kept) if kept else None


def _only(package, kept):
    """A package in which nothing is but some packages, that have been imported already."""
    found = types.ModuleType(package)
    found.__path__ = []
    for name in kept:
        setattr(found, name.rpartition(".")[2], importlib.import_module(name))
    setattr(sys.modules["dpcourse"], package.rpartition(".")[2], found)
    return found


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
    confine.heed_signals()
    confine.be_the_first_to_go()
    if order["group"]:
        confine.join(order["group"])
    if order["sandbox"]:
        confine.enter(order["sandbox"], order["user"])
    os.setsid()
    confine.keep_only(channel)
    if order["sandbox"]:
        confine.give_up_privileges(order["user"])
    confine.limit(order["limits"])
    os.makedirs(order["home"], exist_ok=True)
    os.chdir(order["home"])
    os.environ["HOME"] = os.environ["DPCOURSE_DATA"] = os.environ["IPYTHONDIR"] = order["home"]
    if order["sandbox"]:
        seccomp.install(seccomp.program())
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what a student draws without a seed is the same at every grading
    probes = {spec["function"]: probe_of(spec) for spec in order["probes"]}
    return Session(socket.socket(fileno=channel), probes, alone=bool(order["sandbox"]))


if __name__ == "__main__":
    wait_for_orders(sys.argv[1])
    os._exit(0)  # all is cleared away, and Python would take a second to forget what it has imported
