"""One student's shell, and the requests about it: run this cell, probe that function. Nothing here knows an answer."""

import dataclasses
import importlib
import os
import signal
import sys
import threading

from dpcourse.base.languages import ENGLISH, as_data, language, say
from dpcourse.checking.calling import limits, messages, output
from dpcourse.checking.calling.beneath import Beneath
from dpcourse.checking.calling.errors import chain
from dpcourse.checking.calling.probe import Probe, function_of
from dpcourse.grading.run import MOST_CHECKS, differences, wire
from dpcourse.grading.run.clashes import Uses
from dpcourse.grading.run.leftovers import Left
from dpcourse.grading.run.shell import keep_running_cells, shell, without_unknown_magic

QUIET = {  # for what would ask the network, and wait for it
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_RETRIES": "0",
    "PIP_TIMEOUT": "1",
}


STANDS_ON = ("copy", "inspect", "json", "struct")  # and our own modules, wherever an answer is called
OURS = ("dpcourse.grading.run.", "dpcourse.checking.calling.")


class Session:
    """A shell, the answers that its cells define, and the grader's requests about them."""

    def __init__(self, channel, probes, alone):
        language(ENGLISH)  # whatever the cells choose: what is said here, the grader says again
        self.stream = channel.makefile("rwb")
        os.register_at_fork(after_in_child=lambda: _let_go(channel.fileno()))
        self.process = os.getpid()
        self.cell, self.probed = 0, ""  # what runs: a cell by its number; the answer that is called
        self.met: dict[tuple[str, int, str], None] = {}
        self.left, self.end_processes = Left(alone, self._note_met), False
        self.probes = probes
        self.answers = {name: [] for name in probes}
        self.last: dict[str, object] = {}  # the answer that was probed at the end
        self.uses: dict[str, Uses] = {}
        self.running, self.checks, self.nonce = False, 0, ""
        self.shell = shell(lambda: self._note_met("input", 0 if self.probed else self.cell, self.probed))
        self.right: set[str] = set()
        for module in ("dpcourse", "dpcourse.notebook.check"):
            sys.modules[module].check, sys.modules[module].passed = self.check, self.passed
        sys.path.insert(0, "")
        self.modules = dict(sys.modules)
        os.environ.update(QUIET)
        if alone:
            limits.Clock.processes = staticmethod(limits.all_there_are)
        ours = [name for name, module in sys.modules.items() if name.startswith(OURS) and module]
        self.beneath = Beneath([*STANDS_ON, *ours], self)

    def serve(self):
        """Answer requests until there are no more."""
        self._reply({"ready": True})
        while True:
            request = self._request()
            if "cell" in request:
                reply = self._run(request)
            elif "exchanges" in request:
                reply = self._watch_last(request)
            elif "probe" in request:
                reply = self._probe_last(request)
            else:
                clashes = {name: uses.clashes for name, uses in self.uses.items()}
                reply = {"clashes": clashes, "met": list(self.met)}
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
            too_much = as_data(say(messages.NOT_SENT, reason=str(error)))
            self._reply({"outcomes": [{"raised": too_much}], "nonce": self.nonce})

    def _reply(self, message):
        self.stream.write(wire.pack(message))
        self.stream.flush()

    def _run(self, request):
        """Run a cell; note which functions it defines, its error, and whether it left anything running."""
        self._begin()
        self.cell, error = request["number"], None
        self.running = True
        try:
            with limits.time_limit(request["seconds"], inside=self.shell.user_ns) as limit:
                keep_running_cells(self.shell)
                code, unknown = without_unknown_magic(self.shell, request["cell"])
                if unknown:
                    self._note_met("magic", self.cell, unknown)
                result = self.shell.run_cell(code, store_history=True)
                error = result.error_before_exec or result.error_in_exec
                if limit.is_why(error):
                    raise limits.TimeUp from error
        except BaseException as raised:
            error = raised
        self.running = False
        if os.getpid() != self.process:  # the cell has forked: its child ends here
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._note_answers(self.cell)
        late = isinstance(error, limits.TimeUp)
        self.end_processes = request.get("end_processes", False)
        left = self.left.look(self.cell, self.end_processes)
        errors = [] if late else chain(error)
        return {"error": errors[0] if errors else None, "because": errors, "late": late} | left

    def _begin(self):
        """Undo what an earlier cell may have done to how cells are run."""
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        sys.stdout = sys.stderr = output.Captured(0)
        sys.modules.update({name: self.modules[name] for name in self.modules.keys() - sys.modules.keys()})
        importlib.invalidate_caches()  # a cell may have written a module

    def _note_answers(self, cell):
        namespace = self.shell.user_ns
        for uses in self.uses.values():
            uses.look(cell)
        for name, known in self.answers.items():
            answer = namespace.get(name)
            if answer is not None and not any(answer is other for other in known):
                known.append(answer)
                self.uses[name] = Uses(answer, namespace)

    def _note_met(self, kind, cell, word):
        if len(self.met) < differences.MOST:
            self.met[kind, cell, word] = None

    def _probe_last(self, request):
        """What the last answer of that name does that is not blank."""
        self._begin()
        self.cell, outcomes = 0, None
        for answer in reversed(self.answers[request["probe"]]):
            outcomes = self._probe(request, answer)
            self.last[request["probe"]] = answer
            if not (outcomes and outcomes[-1].get("blank")):
                break
        self.left.look(0, self.end_processes)
        return {"outcomes": outcomes}

    def _watch_last(self, request):
        """What the expressions of that answer give; see Probe.watch."""
        self._begin()
        answer = self.last.get(request["probe"])
        probe = dataclasses.replace(self.probes[request["probe"]], seconds=request["seconds"])
        with self.shell.builtin_trap:
            watched = probe.watch(answer, request["cases"], request["exchanges"])
        if os.getpid() != self.process:
            os._exit(0)
        return {"watched": watched}

    def _probe(self, request, answer):
        probe = self.probes[request["probe"]]
        probe = dataclasses.replace(probe, seconds=min(probe.seconds, request.get("seconds", probe.seconds)))
        self.left.make_way(self.cell, probe.function, bool(probe.forbidden))
        self.probed = probe.function
        replaced = self.beneath.replaced() if probe.forbidden else []
        with self.shell.builtin_trap:
            outcomes = probe.probe(answer, request["cases"])
        self.probed = ""
        if os.getpid() != self.process:
            os._exit(0)
        if replaced and outcomes:
            outcomes[0]["replaced"] = replaced[0]
        return outcomes


def _let_go(channel):
    """Have nothing to do with the grader, in a process that a student's code has forked: it may outlive this one."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, channel, inheritable=False)
    os.close(nothing)


def probe_of(spec: dict) -> Probe:
    """How an answer is called: a spec of the grader's, with the names of functions for the functions."""
    return Probe(
        function=spec["function"],
        forbidden=tuple(map(function_of, spec["forbidden"])),
        counted=spec["counted"] and function_of(spec["counted"]),
        seconds=spec["seconds"],
    )
