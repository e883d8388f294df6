"""Run somebody else's function without letting it hang, flood the page or call what it must not."""

import contextlib
import ctypes
import io
import re
import signal
import sys
import threading
import warnings


class TimeUp(BaseException):
    """The time limit has passed; not an Exception, so that `except Exception` does not swallow it."""


class Forbidden(BaseException):
    """A function was called that the exercise asks the learner to write."""


AGAIN = 0.5
OURS = re.compile(r"dpcourse\.(?!probe\.)")  # modules whose calls are not the learner's
UNLIMITED = "Python can start no thread here, so that no time limit is kept: a function that never ends has to be interrupted by hand (the button ■)."


def raise_at_next_line(frame, event, argument):
    if event == "line":
        raise TimeUp
    return raise_at_next_line


def interruptible():
    """Whether a timer can interrupt whatever runs here: in the main thread of a Unix system."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def time_limit(seconds):
    """Raise TimeUp inside the block once `seconds` have passed, and every half second until it leaves.

    A timer's signal does it where there is one (`interruptible`), which also ends a sleep. Elsewhere the
    exception is set from a watching thread and arrives between two lines of Python; where no thread can start
    there is no limit, and a warning says so.
    """
    arm, disarm = _by_signal() if interruptible() else _by_thread()
    try:  # the outer disarm is for a TimeUp that arrives while the inner one runs
        try:
            arm(seconds)
            yield
        finally:
            disarm()
    finally:
        disarm()


def _by_signal():
    outside = sys._getframe(3)  # whoever entered the `with` block: its frames are not to be traced

    def raise_time_up(signum, frame):
        # A bare `except:` in a loop swallows TimeUp. So the next line to run, in the handler, raises it again.
        sys.settrace(lambda *new_frame: None)
        while frame is not None and frame is not outside:
            frame.f_trace = raise_at_next_line
            frame = frame.f_back
        raise TimeUp

    before = signal.getsignal(signal.SIGALRM)
    traced_before = sys.gettrace()

    def arm(seconds):
        signal.signal(signal.SIGALRM, raise_time_up)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)

    def disarm():
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(traced_before)
        signal.signal(signal.SIGALRM, before)

    return arm, disarm


def _by_thread():
    target = ctypes.c_ulong(threading.get_ident())
    done = threading.Event()
    watchers = []

    def watch(seconds):
        while not done.wait(seconds):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(TimeUp))
            seconds = AGAIN

    def arm(seconds):
        watchers.append(threading.Thread(target=watch, args=(seconds,), daemon=True))
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


class Captured(io.TextIOBase):
    """A text stream that keeps the first `limit` characters and counts the rest."""

    def __init__(self, limit=2000):
        self.limit, self.count, self.text = limit, 0, ""

    def write(self, text):
        self.count += len(text)
        if len(self.text) < self.limit:
            self.text += text[: self.limit - len(self.text)]
        return len(text)


@contextlib.contextmanager
def captured_output():
    """Everything printed inside the block, as a Captured stream."""
    stream = Captured()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield stream


def _as_called(frame):
    """The function of ours that the learner's code called, and that came to this frame."""
    while (caller := frame.f_back) is not None and OURS.match(caller.f_globals.get("__name__", "")):
        frame = caller
    name = frame.f_code.co_qualname
    return f"{frame.f_globals.get('__name__', '')}.{name.removesuffix('.__call__').removesuffix('.<lambda>')}"


@contextlib.contextmanager
def forbidding(functions, counted=()):
    """Raise Forbidden when a Python function among `functions` runs inside the block, under whatever name.

    So does `sys.setprofile`, which would end the watch. Yields the list of the names that were called, which also
    holds calls whose Forbidden was swallowed.
    counted: a dict code object -> number of calls, in which each call adds 1.
    """
    called = []
    codes = {function.__code__ for function in functions}
    if not codes and not counted:
        yield called
        return

    def watch(frame, event, argument):
        if event == "call" and frame.f_code in codes:
            called.append(_as_called(frame))
            raise Forbidden(called[-1])
        if event == "c_call" and argument is set_profile and frame.f_code is not ours:
            called.append("sys.setprofile")
            raise Forbidden(called[-1])
        if event == "call" and frame.f_code in counted:
            counted[frame.f_code] += 1

    before, set_profile, ours = sys.getprofile(), sys.setprofile, sys._getframe().f_code
    set_profile(watch)
    try:
        yield called
    finally:
        set_profile(before)
