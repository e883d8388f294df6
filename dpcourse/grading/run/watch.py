"""What a submission uses, measured from outside ten times a second; it is stopped where that is too much."""

import os

import psutil

from dpcourse.base.languages import to_say
from dpcourse.checking.calling import limits
from dpcourse.grading.run import Limits, Stopped, processes
from dpcourse.grading.run.bubblewrap import Held
from dpcourse.grading.run.cgroups import Group
from dpcourse.grading.run.warm import Warm

OURS = 8  # processes of the grader's that are counted with the student's
TOO_MUCH_MEMORY = to_say("the memory limit was reached")
TOO_MANY_PROCESSES = to_say("the limit on processes was reached")
TOO_MANY_OPEN = to_say("the limit on open files was reached")
TOO_MANY_FILES = to_say("the limit on files was reached")


class Watch:
    """Sees what one submission uses. Where it has a control group, the kernel keeps its memory and cores already."""

    def __init__(self, limits: Limits, warm: Warm, held: Held | None, group: Group | None):
        self.limits, self.group = limits, group
        self.warm, self.warm_process, self.base = warm, psutil.Process(warm.process.pid), 0
        self.roots = [warm.process.pid] + ([held.holder.pid] if held else [])
        self.folders = held.folders if held else ()
        self.inside = held.inside if held else None
        self.our_sockets: dict[str, int] = {}  # of the kernel's own, in a new network
        self.ours: set[int] | None = None
        self.our_sessions: set[int | None] = set()
        self.lowered: dict[int | None, int] = {}  # session -> nice value
        self.waited = 0.0  # seconds in which its threads could run, and waited for a core
        self.known: dict[int, float] = {}  # thread -> seconds of that

    def begin(self) -> None:
        """All that runs now is there before the student's first line, and keeps its share of the cores."""
        family = self._family()
        self.ours = {task for process in family for task in processes.tasks(process)}
        self.our_sessions = {processes.session(process) for process in family}
        self.our_sockets = self._sockets()
        self.base = self.warm.memory()  # with what it has imported for this submission

    def look(self) -> None:
        """Raises Stopped where the submission uses too much; before it begins it uses nothing."""
        if self.ours is None:
            return
        family = self._family()
        if not self.group:
            self._share_the_cores(family)  # first, since among many this process, too, must wait for a core
        self._add_waiting(family)
        if len(family) > self.limits.processes + OURS:
            raise Stopped(TOO_MANY_PROCESSES)
        if sum(map(processes.open_files, family)) > self.limits.open_files_of_all:
            raise Stopped(TOO_MANY_OPEN)
        in_memory = [os.fstatvfs(folder) for folder in self.folders]
        if any(each.f_files - each.f_ffree > self.limits.files for each in in_memory):
            raise Stopped(TOO_MANY_FILES)
        if self.group:
            return
        written = sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in in_memory)
        if self._too_much(family, written, self._most_in_sockets()):
            raise Stopped(TOO_MUCH_MEMORY)

    def last_words(self) -> str | None:
        """Why the kernel has ended the submission, where that is known."""
        return TOO_MUCH_MEMORY if self.group and self.group.out_of_memory() else None

    def _family(self):
        return [process for root in self.roots for process in processes.family_at_a_glance(root)]

    def _add_waiting(self, family):
        now = {task: limits.waited(task, process.pid) for process in family for task in processes.tasks(process)}
        self.waited += sum(max(0.0, seconds - self.known.get(task, 0.0)) for task, seconds in now.items())
        self.known = now

    def _sockets(self):
        return {} if self.inside is None else processes.sockets(self.inside)

    def _most_in_sockets(self):
        """Bytes that its sockets can hold: what they do hold the kernel does not tell."""
        more = {name: count - self.our_sockets.get(name, 0) for name, count in self._sockets().items()}
        return sum(count * processes.most_in_a_socket(name) for name, count in more.items() if count > 0)

    def _too_much(self, family, written, in_sockets):
        """written: bytes of files in memory, which the processes that have mapped them count as well."""
        bound = self.limits.memory + self.base - in_sockets
        all_that_share = [*family, self.warm_process]
        if sum(map(processes.resident, all_that_share)) + written <= bound:
            return False
        own, mapped = map(sum, zip(*map(processes.proportional, all_that_share), strict=True))
        return own + max(mapped, written) > bound

    def _share_the_cores(self, family):
        """Whatever the student has started weighs no more, all together, than one process; so do sessions begun."""
        started = [(process, task) for process in family for task in processes.tasks(process) if task not in self.ours]
        processes.weigh_as_one([task for _, task in started])
        sessions = {processes.session(process): process for process, _ in started}
        begun = {each: process for each, process in sessions.items() if each not in {None, *self.our_sessions}}
        nice = processes.nice_of_one_in(len(begun))
        for each, process in begun.items():
            if self.lowered.get(each, 0) < nice and processes.lower_session(process, nice):
                self.lowered[each] = nice
