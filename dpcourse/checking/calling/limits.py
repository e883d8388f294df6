"""Run somebody else's function without letting it hang."""

import _thread
import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
import warnings

from dpcourse.base.languages import say
from dpcourse.checking.calling.messages import to_say


class TimeUp(BaseException):
    """The time limit has passed; not an Exception, so that `except Exception` does not swallow it."""


AGAIN = 0.5
LENIENCE = 2.0  # time in which a core was waited for does not count, up to so many times the limit
LEAST_WAIT = 0.02
UNLIMITED = to_say(
    "Python can start no thread here, so that no time limit is kept: a function that never ends has to be interrupted by hand (the button ■)."
)


def raise_at_next_line(frame, event, argument):
    if event == "line":
        raise TimeUp
    return raise_at_next_line


def interruptible():
    """Whether a timer can interrupt whatever runs here: in the main thread of a Unix system."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def waited(thread: int, process: int | str = "self") -> float:
    """Seconds in which a thread could run, and waited for a core; 0 where the system does not tell. Linux does."""
    try:
        handle = os.open(f"/proc/{process}/task/{thread}/schedstat", os.O_RDONLY)
        try:
            return int(os.read(handle, 100).split()[1]) / 1e9
        finally:
            os.close(handle)
    except (OSError, ValueError, IndexError):
        return 0.0


def only_this_one() -> list[str]:
    """The processes whose waiting counts: this one alone."""
    return ["self"]


def all_there_are() -> list[str]:
    """Every process that can be seen, in a sandbox those of one submission; this one where no file can be opened."""
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return [str(os.getpid())]


class Clock:
    """What is left of a time limit, which is not to lose by what else runs on the machine.

    Whatever thread the code waits for may itself wait for a core: all threads of its `processes` count.
    """

    processes = staticmethod(only_this_one)

    def __init__(self, seconds: float):
        self.thread = getattr(
            threading, "get_native_id", threading.get_ident
        )()  # a browser's Python knows no native one
        self.end, self.waited = time.monotonic() + seconds, self._waited()
        self.lenience = LENIENCE * seconds

    def _waited(self):
        """(process, thread) -> seconds; of this thread alone where the system does not tell of others."""
        found = {}
        for process in self.processes():
            with contextlib.suppress(OSError):
                for thread in map(int, os.listdir(f"/proc/{process}/task")):
                    found[process, thread] = waited(thread, process)
        return found or {("self", self.thread): waited(self.thread)}

    def more(self) -> float:
        """Seconds by which the limit is longer: those in which a core was waited for since this was last asked."""
        before, self.waited = self.waited, self._waited()
        more = sum(max(0.0, seconds - before.get(thread, 0.0)) for thread, seconds in self.waited.items())
        more = min(more, self.lenience)
        if more < LEAST_WAIT:
            return 0.0
        self.lenience -= more
        self.end += more
        return more

    def left(self) -> float:
        """Seconds that are left; what was waited for is asked for when nothing is."""
        left = self.end - time.monotonic()
        return left if left > 0 else left + self.more()


@contextlib.contextmanager
def time_limit(seconds, inside=None, clock=None):
    """Raise TimeUp inside the block once `seconds` have passed, and every half second until it leaves.

    Whatever else leaves the block because of it is TimeUp too; whoever catches something inside asks what this yields,
    `is_why(error)`.
    Time in which a core is waited for does not count (Clock). A timer's signal does it where there is one
    (`interruptible`), which also ends a sleep. Elsewhere a watching thread sends the signal, which arrives between two
    lines of Python; where no thread can start, each turn of a loop and each call looks at the clock.
    inside: the globals of the code that is not to go on where it swallows TimeUp; of all code, if not given.
    clock: the Clock of which these seconds are what is left; a new one, if not given.
    """
    clock, stop = clock or Clock(seconds), _Stop(inside)
    if threading.current_thread() is not threading.main_thread():
        arm, disarm = _beside_the_main_thread(stop, clock)
    else:
        arm, disarm = (_by_timer if interruptible() else _by_thread)(stop, clock)
    try:  # the outer disarm is for a TimeUp that arrives while the inner one runs
        try:
            arm(seconds)
            yield stop
        except Exception as error:
            if stop.is_why(error):
                raise TimeUp from error
            raise
        finally:
            disarm()
    finally:
        disarm()


def data_of_process() -> int:
    """Bytes of what this process alone can write to, as the kernel of Linux counts them."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData:"))


@contextlib.contextmanager
def memory_limit(more):
    """Let the block have so many bytes beside those that the process has, and then a MemoryError; on Linux alone."""
    if sys.platform != "linux":
        yield
        return
    import resource  # Windows has none

    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = [bound for bound in before if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([data_of_process() + more, *most]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


class _Stop:
    """What raises TimeUp in the code of a block, and again in the line that runs next, should it be swallowed.

    A bare `except:` in a loop swallows it. So that line, in the handler, is traced.
    """

    def __init__(self, inside):
        self.inside, self.traced_before, self.was_sent = inside, sys.gettrace(), False
        self.outside = sys._getframe(3)  # whoever entered the `with` block: its frames are not to be traced

    def __call__(self, frame):
        self.was_sent = True
        sys.settrace(lambda *new_frame: None)
        while frame is not None and frame is not self.outside:
            is_inside = frame.f_globals is not globals() if self.inside is None else frame.f_globals is self.inside
            if is_inside:
                frame.f_trace = raise_at_next_line
            frame = frame.f_back
        raise TimeUp

    def over(self):
        sys.settrace(self.traced_before)

    def is_why(self, error):
        """Whether an exception came while this TimeUp was leaving: a lock that was waited for cannot be given back then."""
        before, seen = BaseException.__context__.__get__, set()
        while self.was_sent and error is not None and id(error) not in seen:
            if isinstance(error, TimeUp):
                return True
            seen.add(id(error))
            error = before(error)
        return False


def _by_timer(stop, clock):
    timer, done = [0.0, 0.0], []

    def rung(signum, frame):
        if more := clock.more():
            signal.setitimer(signal.ITIMER_REAL, more, AGAIN)
        else:
            stop(frame)

    before = signal.getsignal(signal.SIGALRM)

    def arm(seconds):
        timer[:] = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, rung)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)

    def disarm():
        if done:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        stop.over()
        signal.signal(signal.SIGALRM, before)
        if timer[0]:  # of a limit outside this one, which has waited meanwhile
            signal.setitimer(signal.ITIMER_REAL, *timer)
        done.append(True)

    return arm, disarm


@contextlib.contextmanager
def without_limit():
    """Inside the block the time of a `time_limit` around it stands still, where a timer keeps it."""
    timer = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)


def _by_thread(stop, clock):
    """As if somebody pressed Ctrl+C when the time is up; a real Ctrl+C is what it is."""
    due, over, ends = threading.Event(), threading.Event(), []
    before = signal.getsignal(signal.SIGINT)

    def interrupted(signum, frame):
        if due.is_set():
            due.clear()
            if not over.is_set():
                stop(frame)
        elif callable(before):
            before(signum, frame)

    def send():
        due.set()
        _thread.interrupt_main()

    def arm(seconds):
        signal.signal(signal.SIGINT, interrupted)
        try:
            ends.append(_watched(clock, seconds, over, send))
        except RuntimeError:
            ends.append(_by_turns(stop, seconds, over))

    def disarm():
        over.set()
        for end in ends:
            end()
        _let_it_arrive()
        signal.signal(signal.SIGINT, before)
        stop.over()

    return arm, disarm


def _by_turns(stop, seconds, over):
    """Look at the clock at each call and at each turn of a loop, before Python 3.12 never; returns what ends that."""
    watching = getattr(sys, "monitoring", None)
    if watching is None:
        warnings.warn(say(UNLIMITED), RuntimeWarning, stacklevel=6)
        return lambda: None
    now = time.monotonic
    due = now() + seconds

    def look(code, place, leads_to=None):
        nonlocal due
        if now() > due and not over.is_set():
            due = now() + AGAIN
            stop(sys._getframe(1))

    name = f"dpcourse {id(look)}"
    tool = next(number for number in range(6) if watching.get_tool(number) is None)
    watching.use_tool_id(tool, name)
    events = (watching.events.JUMP, watching.events.PY_START)
    for event in events:
        watching.register_callback(tool, event, look)
    watching.set_events(tool, sum(events))

    def end():
        if watching.get_tool(tool) == name:
            watching.set_events(tool, 0)
            watching.free_tool_id(tool)

    return end


def _beside_the_main_thread(stop, clock):
    """No signal arrives there: the exception itself is sent to the thread, between two lines of Python."""
    target, over, ends = ctypes.c_ulong(threading.get_ident()), threading.Event(), []

    def send():
        stop.was_sent = True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(TimeUp))

    def arm(seconds):
        ends.append(_watched(clock, seconds, over, send))

    def disarm():
        over.set()
        for end in ends:
            end()
        with contextlib.suppress(TimeUp):
            _let_it_arrive()

    return arm, disarm


def _watched(clock, seconds, over, send):
    """A thread that calls `send` when the time is up, and again and again; returns what waits for its end.

    Raises RuntimeError where Python can start no thread.
    """

    def watch(seconds):
        while not over.wait(seconds):
            seconds = clock.more()
            if not seconds:
                send()
                seconds = AGAIN

    watcher = threading.Thread(target=watch, args=(seconds,), daemon=True)
    watcher.start()
    return watcher.join


def _let_it_arrive():
    for _ in range(10):  # what was sent just now arrives between two of these
        pass
