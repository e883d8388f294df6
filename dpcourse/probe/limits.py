"""Run somebody else's function without letting it hang."""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
import warnings


class TimeUp(BaseException):
    """The time limit has passed; not an Exception, so that `except Exception` does not swallow it."""


AGAIN = 0.5
LENIENCE = 2.0  # time in which a core was waited for does not count, up to so many times the limit
LEAST_WAIT = 0.02
UNLIMITED = "Python can start no thread here, so that no time limit is kept: a function that never ends has to be interrupted by hand (the button ■)."


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
        self.thread = threading.get_native_id()
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

    Time in which a core is waited for does not count (Clock). A timer's signal does it where there is one
    (`interruptible`), which also ends a sleep. Elsewhere the exception is set from a watching thread and arrives
    between two lines of Python; where no thread can start there is no limit, and a warning says so.
    inside: the globals of the code that is not to go on where it swallows TimeUp; of all code, if not given.
    clock: the Clock of which these seconds are what is left; a new one, if not given.
    """
    arm, disarm = _by_signal(inside, clock) if interruptible() else _by_thread(clock)
    try:  # the outer disarm is for a TimeUp that arrives while the inner one runs
        try:
            arm(seconds)
            yield
        finally:
            disarm()
    finally:
        disarm()


def _by_signal(inside, clock):
    outside = sys._getframe(3)  # whoever entered the `with` block: its frames are not to be traced
    clocks, timer, done = [], [0.0, 0.0], []

    def raise_time_up(signum, frame):
        if more := clocks[0].more():
            signal.setitimer(signal.ITIMER_REAL, more, AGAIN)
            return
        # A bare `except:` in a loop swallows TimeUp. So the next line to run, in the handler, raises it again.
        sys.settrace(lambda *new_frame: None)
        while frame is not None and frame is not outside:
            if inside is None or frame.f_globals is inside:
                frame.f_trace = raise_at_next_line
            frame = frame.f_back
        raise TimeUp

    before = signal.getsignal(signal.SIGALRM)
    traced_before = sys.gettrace()

    def arm(seconds):
        clocks.append(clock or Clock(seconds))
        timer[:] = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, raise_time_up)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)

    def disarm():
        if done:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(traced_before)
        signal.signal(signal.SIGALRM, before)
        if clocks and timer[0]:  # of a limit outside this one, which has waited meanwhile
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


def _by_thread(clock):
    target = ctypes.c_ulong(threading.get_ident())
    done = threading.Event()
    watchers = []

    def watch(clock, seconds):
        while not done.wait(seconds):
            seconds = clock.more()
            if not seconds:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(TimeUp))
                seconds = AGAIN

    def arm(seconds):
        watchers.append(threading.Thread(target=watch, args=(clock or Clock(seconds), seconds), daemon=True))
        try:
            watchers[0].start()
        except RuntimeError:
            watchers.clear()
            warnings.warn(UNLIMITED, RuntimeWarning, stacklevel=5)

    def disarm():
        done.set()
        for watcher in watchers:
            watcher.join()
        with contextlib.suppress(TimeUp):
            for _ in range(10):  # an exception set just now arrives here
                pass

    return arm, disarm
