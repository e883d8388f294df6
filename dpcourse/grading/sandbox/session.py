"""One student's shell, and the requests about it: run this cell, probe that function. Nothing here knows an answer.

A shell as JupyterLab's: what works there works here, as far as it needs no page, no network and no other machine.
"""

import contextlib
import dataclasses
import importlib
import os
import signal
import sys
import threading

from dpcourse.grading.sandbox import MOST_CHECKS, wire
from dpcourse.grading.sandbox.clashes import Uses
from dpcourse.probe import limits
from dpcourse.probe.probe import Probe

QUIET = {  # for what would ask the network, and wait for it
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_RETRIES": "0",
    "PIP_TIMEOUT": "1",
}


class Session:
    """A shell, the answers that its cells define, and the grader's requests about them."""

    def __init__(self, channel, probes, alone):
        self.stream = channel.makefile("rwb")
        self.alone, self.process = alone, os.getpid()
        self.threads = set(threading.enumerate())
        self.probes = probes
        self.answers = {name: [] for name in probes}
        self.uses: dict[str, Uses] = {}
        self.running, self.checks, self.nonce = False, 0, ""
        self.shell = _shell()
        self.transformers = type(self.shell.input_transformer_manager)
        self.right: set[str] = set()
        for module in ("dpcourse", "dpcourse.notebook"):
            sys.modules[module].check, sys.modules[module].passed = self.check, self.passed
        sys.path.insert(0, "")
        os.environ.update(QUIET)
        if alone:
            limits.Clock.processes = staticmethod(limits.all_there_are)

    def serve(self):
        """Answer requests until there are no more."""
        self._reply({"ready": True})
        while True:
            request = self._request()
            if "cell" in request:
                reply = self._run(request)
            elif "probe" in request:
                reply = self._probe_last(request)
            else:
                reply = {"clashes": {name: uses.clashes for name, uses in self.uses.items()}}
            self._answer(reply)

    def check(self, exercise_id, answer=None, **values):
        """What a check cell calls: the grader is told, and may have the answer probed at once, before the cell goes on.

        In a thread, in a forked process and in an answer nothing happens.
        """
        mine = threading.current_thread() is threading.main_thread() and os.getpid() == self.process
        if not (mine and self.running and self.checks < MOST_CHECKS and isinstance(exercise_id, str)):
            return
        self.running, self.checks = False, self.checks + 1
        try:
            with limits.without_limit():
                self._answer({"check": str(exercise_id)[:20]})
                while "go_on" not in (request := self._request()):
                    self._answer({"outcomes": self._probe(request, answer)})
                if request.get("right"):
                    self.right.add(exercise_id)
        finally:
            self.running = True

    def passed(self, exercise_id):
        """What a cell asks that goes on only where an answer is right: whether a check above found it so.

        That tells a student's code no more than a check in JupyterLab does, and buys it no further probe.
        """
        return isinstance(exercise_id, str) and exercise_id in self.right

    def _request(self):
        request = wire.receive(self._read)
        self.nonce = request["nonce"]
        return request

    def _read(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    def _answer(self, reply):
        try:
            self._reply(reply | {"nonce": self.nonce})
        except wire.Garbled as error:
            too_much = [{"raised": f"What your function returns cannot be handed over: {error}."}]
            self._reply({"outcomes": too_much, "nonce": self.nonce})

    def _reply(self, message):
        self.stream.write(wire.pack(message))
        self.stream.flush()

    def _run(self, request):
        """Run a cell; note which functions it defines, its error, and whether it left a thread running."""
        self._begin()
        error = None
        self.running = True
        try:
            with limits.time_limit(request["seconds"], inside=self.shell.user_ns):
                result = self.shell.run_cell(request["cell"], store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as raised:
            error = raised
        self.running = False
        if os.getpid() != self.process:  # the cell has forked: its child ends here
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._note_answers(request["number"])
        late = isinstance(error, limits.TimeUp)
        return {"error": None if late else _named(error), "late": late, "left_running": self._left_running()}

    def _begin(self):
        """Undo what an earlier cell may have done to how cells are run."""
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        sys.stdout = sys.stderr = limits.Captured(0)
        importlib.invalidate_caches()  # a cell may have written a module
        self.shell.input_transformer_manager = self.transformers()
        self.shell.input_transformers_post, self.shell.ast_transformers = [], []

    def _note_answers(self, cell):
        namespace = self.shell.user_ns
        for uses in self.uses.values():
            uses.look(cell)
        for name, known in self.answers.items():
            answer = namespace.get(name)
            if answer is not None and not any(answer is other for other in known):
                known.append(answer)
                self.uses[name] = Uses(answer, namespace)

    def _left_running(self):
        """Whether a thread was left running. No other process outlives its cell, where the sandbox allows it."""
        if self.alone:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)
        before, self.threads = self.threads, set(threading.enumerate())
        return not self.threads <= before

    def _probe_last(self, request):
        """What the last answer of that name does that is not blank."""
        self._begin()
        outcomes = None
        for answer in reversed(self.answers[request["probe"]]):
            outcomes = self._probe(request, answer)
            if not outcomes[-1].get("blank"):
                break
        self._left_running()
        return {"outcomes": outcomes}

    def _probe(self, request, answer):
        probe = self.probes[request["probe"]]
        probe = dataclasses.replace(probe, seconds=min(probe.seconds, request.get("seconds", probe.seconds)))
        with self.shell.builtin_trap:
            outcomes = probe.probe(answer, request["cases"])
        if os.getpid() != self.process:
            os._exit(0)
        return outcomes


def _shell():
    """IPython's shell, with what would show something, ask somebody or need another machine made silent."""
    import builtins

    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    quiet = Config()
    quiet.HistoryManager.enabled = False
    quiet.InteractiveShell.colors = "nocolor"
    named = type(
        "ZMQInteractiveShell", (InteractiveShell,), {}
    )  # by this name notebooks ask whether they are in JupyterLab
    shell = named.instance(config=quiet)
    shell.showtraceback = shell.showsyntaxerror = shell.enable_gui = _nothing
    shell._format_exception_for_storage = _nothing  # seconds, for a deep recursion
    shell.enable_matplotlib = lambda gui=None: (gui, "agg")
    shell.displayhook.compute_format_data = lambda result: ({}, {})
    shell.displayhook.write_format_data = _nothing
    _without_what_is_not_here(shell)
    _in_a_loop(shell)
    builtins.input = _nobody_types
    return shell


def _nothing(*arguments, **options):
    pass


def _nobody_types(prompt="", /):
    return ""


def _without_what_is_not_here(shell):
    """Go on where a magic, or an extension that brings some, is on the student's machine only."""
    from IPython.core.error import UsageError

    run = shell.run_line_magic

    def run_line_magic(name, line, _stack_depth=1):
        try:
            return run(name, line, _stack_depth=_stack_depth + 1)
        except (UsageError, ImportError):
            return None

    shell.run_line_magic = run_line_magic


def _in_a_loop(shell):
    """Run what may need an event loop in one, as JupyterLab does."""
    needs_one = shell.should_run_async
    shell.should_run_async = lambda code, **options: "asyncio" in code or needs_one(code, **options)


def _named(error):
    """The type and the first words of an exception, or None."""
    if error is None:
        return None
    try:
        return f"{type(error).__name__}: {str(error)[:200]}"
    except BaseException:
        return type(error).__name__


def probe_of(spec: dict) -> Probe:
    """How an answer is called: a spec of the grader's, with the names of functions for the functions."""
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
