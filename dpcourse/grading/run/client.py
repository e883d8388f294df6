"""The grader's end of a worker: have it start, ask it, watch what it uses, and clear away. It runs no student's line."""

import contextlib
import os
import secrets
import select
import tempfile
import time
from dataclasses import asdict

from dpcourse.base.languages import to_say
from dpcourse.checking.calling.limits import LENIENCE
from dpcourse.grading.run import Limits, Stopped, Unavailable, bubblewrap, processes, wire
from dpcourse.grading.run.warm import SECONDS_TO_START, warm
from dpcourse.grading.run.watch import Watch

TICK = 0.1
ENDED, GARBLED = to_say("it ended the process that ran it"), to_say("it sent something that is no reply")
TIME_UP, TOO_MUCH = to_say("the time limit was reached"), to_say("it sent more than a submission may")
MOST_BYTES = 128 * 2**20  # of all replies to one submission
CROWDED = 0.25  # the share of its time for which a submission waited for cores, from which on that may have cost it


class Worker:
    """A worker for one submission; `ask` it, and leave the `with` block to clear everything away.

    crowded: whether the submission had to wait for a core for much of the last request's time.

    probes: for each function that will be asked for, how it is called (see `session.probe_of`). modules: names of
    modules that the cells will import.
    """

    def __init__(self, limits: Limits, probes: list[dict], modules=(), sandboxed: bool = True):
        self.limits, self.probes, self.modules, self.sandboxed = limits, probes, list(modules), sandboxed

    def __enter__(self):
        self.left_behind = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self.warm = warm()
            home = stack.enter_context(_home(self.sandboxed, self.warm.home))
            self.held = self.group = None
            stack.callback(self._kill_all)
            if self.sandboxed:
                self.held = bubblewrap.hold(self.limits)
            if self.warm.divided:
                self.group = self._group()
            self.watch = Watch(self.limits, self.warm, self.held, self.group)
            self.socket = stack.enter_context(self.warm.order(self._order(home)))
            self.socket.setblocking(False)
            self.next_watch = time.monotonic() + TICK
            self.lenience = self.waited_before = 0.0
            self.crowded, self.received = False, 0
            self._see_it_start()
            self.watch.begin()
            self.left_behind = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.left_behind.close()

    def ask(self, request: dict, seconds: float) -> dict:
        """The reply to a request. Raises Stopped where none comes in time, or what comes is no reply to it.

        Time in which the submission waits for a core does not count, up to LENIENCE times the limit.
        """
        nonce = secrets.token_hex(16)
        begun = time.monotonic()
        self.lenience, self.waited_before = LENIENCE * seconds, self.watch.waited
        try:
            self._send(wire.pack(request | {"nonce": nonce}), begun + seconds)
            reply = self._receive(begun + seconds)
        finally:
            waited = self.watch.waited - self.waited_before
            self.crowded = not processes.TELLS_WAITING or waited > CROWDED * (time.monotonic() - begun)
        if not isinstance(reply, dict) or reply.get("nonce") != nonce:
            raise Stopped(GARBLED)
        return reply

    @property
    def waited(self) -> float:
        """Seconds in which what the submission runs could run, and waited for a core."""
        return self.watch.waited

    def _group(self):
        try:
            return self.warm.divided.group(self.limits)
        except OSError as error:
            raise Unavailable(f"no control group can be had: {error}") from None

    def _order(self, home):
        # the sandbox counts its own processes; without one the kernel counts all of this user's
        others = 0 if self.sandboxed else processes.threads_of_this_user()
        return {
            "sandbox": self.held and self.held.inside,
            "user": self.held.user if self.held and os.getuid() == 0 else None,
            "group": self.group and str(self.group.folder),
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
                raise Stopped(self.watch.last_words() or ENDED) from None

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
                raise Stopped(self.watch.last_words() or ENDED)
            data += part
        self.received += len(data)
        if self.received > MOST_BYTES:
            raise Stopped(TOO_MUCH)
        return bytes(data)

    def _wait(self, deadline, for_writing=False):
        """Until the socket is ready; meanwhile watch what the submission uses."""
        to_read, to_write = ([], [self.socket]) if for_writing else ([self.socket], [])
        while True:
            if time.monotonic() > deadline + min(self.lenience, self.watch.waited - self.waited_before):
                raise Stopped(TIME_UP)
            if time.monotonic() > self.next_watch:
                self.watch.look()
                self.next_watch = time.monotonic() + TICK
            if any(select.select(to_read, to_write, [], TICK)):
                return

    def _kill_all(self):
        """End the whole sandbox, and whatever was forked from the warm process, until nothing is left."""
        if self.held:
            self.held.close()
        if self.group:
            self.group.close()
        deadline = time.monotonic() + 10
        while (left := self.warm.descendants()) and time.monotonic() < deadline:
            for process in left:
                processes.kill(process)
            time.sleep(0.002)


@contextlib.contextmanager
def _home(sandboxed, folder):
    """The worker's home: inside the sandbox's own /tmp, or a folder that is deleted afterwards."""
    if sandboxed:
        yield bubblewrap.HOME
        return
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        yield home
