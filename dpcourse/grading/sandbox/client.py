"""The grader's end of a worker: have it start, ask it, watch what it uses, and clear away. It runs no student's line."""

import contextlib
import os
import secrets
import select
import tempfile
import time
from dataclasses import asdict

import psutil

from dpcourse.grading.sandbox import Limits, Stopped, Unavailable, bubblewrap, processes, wire
from dpcourse.grading.sandbox.warm import SECONDS_TO_START, warm

TICK = 0.1
ENDED, GARBLED = "it ended the process that ran it", "it sent something that is no reply"


class Worker:
    """A worker for one submission; `ask` it, and leave the `with` block to clear everything away.

    probes: for each function that will be asked for, how it is called (see `worker._probe_of`). modules: names of
    modules that the cells will import.
    """

    def __init__(self, limits: Limits, probes: list[dict], modules=(), sandboxed: bool = True):
        self.limits, self.probes, self.modules, self.sandboxed = limits, probes, list(modules), sandboxed

    def __enter__(self):
        self.left_behind = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self.warm = warm()
            self.base = self.warm.memory()
            self.holder, inside, home = None, None, stack.enter_context(_home(self.sandboxed, self.warm.home))
            stack.callback(self._kill_all)
            if self.sandboxed:
                self.holder, inside = bubblewrap.hold(self.limits)
            self.socket = stack.enter_context(self.warm.order(self._order(inside, home)))
            self.socket.setblocking(False)
            self.next_watch = time.monotonic() + TICK
            self._see_it_start()
            self.left_behind = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.left_behind.close()

    def ask(self, request: dict, seconds: float) -> dict:
        """The reply to a request. Raises Stopped where none comes in time, or what comes is no reply to it."""
        nonce = secrets.token_hex(16)
        deadline = time.monotonic() + seconds
        self._send(wire.pack(request | {"nonce": nonce}), deadline)
        reply = self._receive(deadline)
        if not isinstance(reply, dict) or reply.get("nonce") != nonce:
            raise Stopped(GARBLED)
        return reply

    def _order(self, inside, home):
        # the sandbox counts its own processes; without one the kernel counts all of this user's
        others = 0 if self.sandboxed else processes.threads_of_this_user()
        return {
            "sandbox": inside,
            "user": 61184 + inside % 4000 if inside and os.getuid() == 0 else None,
            "home": home,
            "limits": asdict(self.limits) | {"processes": self.limits.processes + others},
            "probes": self.probes,
            "warm": self.modules,
        }

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
        roots = [self.warm.process.pid] + ([self.holder.pid] if self.holder else [])
        family = [process for root in roots for process in processes.family_at_a_glance(root)]
        if len(family) > self.limits.processes + 8:
            raise Stopped("the limit on processes was reached")
        bound = self.limits.memory + self.base
        if sum(map(processes.resident, family)) > bound and sum(map(processes.proportional, family)) > bound:
            raise Stopped("the memory limit was reached")

    def _kill_all(self):
        """End the whole sandbox, and whatever was forked from the warm process, until nothing is left."""
        if self.holder:
            for process in [*processes.family(self.holder.pid), psutil.Process(self.holder.pid)]:
                processes.kill(process)
            self.holder.communicate()
        deadline = time.monotonic() + 10
        while (left := self.warm.descendants()) and time.monotonic() < deadline:
            for process in left:
                processes.kill(process)
            time.sleep(0.002)


@contextlib.contextmanager
def _home(sandboxed, folder):
    """The worker's home: inside the sandbox's own /tmp, or a folder that is deleted afterwards."""
    if sandboxed:
        yield "/tmp/home"
        return
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        yield home
