"""Run somebody else's function without letting it call what it must not, or see what it calls."""

import contextlib
import re
import sys
import threading
import types

OURS = re.compile(r"dpcourse\.(?!probe\.)")  # modules whose calls are not the learner's


class Forbidden(BaseException):
    """A function was called that the exercise asks the learner to write."""


def _as_called(frame):
    """The function of ours that the learner's code called, and that came to this frame."""
    while (caller := frame.f_back) is not None and OURS.match(caller.f_globals.get("__name__", "")):
        frame = caller
    name = frame.f_code.co_qualname
    return f"{frame.f_globals.get('__name__', '')}.{name.removesuffix('.__call__').removesuffix('.<lambda>')}"


class Called(list):
    """The names of forbidden functions that were called. Inside a `with` block of it, this thread is not watched.

    That is for what is ours: a function called at each step of it costs more than what it does.
    """

    watch = None

    def __enter__(self):
        if self.watch:
            sys.setprofile(None)

    def __exit__(self, *error):
        if self.watch:
            sys.setprofile(self.watch)

    def has(self, frame):
        """Whether this is the frame that ends the watch for a `with` block."""
        return frame.f_code is Called.__enter__.__code__ and frame.f_locals.get("self") is self


@contextlib.contextmanager
def forbidding(functions, counted=()):
    """Raise Forbidden when a Python function among `functions` is called inside the block, under whatever name.

    That holds in every thread, and for copies of its code in those that begin there (from Python 3.12 on in all). So
    does `sys.setprofile`, which would end the watch for copies. Yields a list of the names that were called (Called), which
    also holds calls whose Forbidden was swallowed. One thread at a time is inside: others wait.
    counted: a dict code object -> number of calls, in which each call adds 1.
    """
    called = Called()
    if not functions and not counted:
        yield called
        return
    codes = {function.__code__ for function in functions}

    def refuse(frame):
        called.append(_as_called(frame))
        raise Forbidden(called[-1])

    def watch(frame, event, argument):
        if event == "call" and frame.f_code in codes:
            refuse(frame)
        if event == "c_call" and argument is set_profile and frame.f_code is not ours and not called.has(frame):
            called.append("sys.setprofile")
            raise Forbidden(called[-1])
        if event == "call" and frame.f_code in counted:
            counted[frame.f_code] += 1

    with _ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        for function in functions:
            stack.enter_context(_replaced(function, _refused, _refuse=refuse))
        before, set_profile, ours = sys.getprofile(), sys.setprofile, sys._getframe().f_code
        of_threads, set_for_threads = threading.getprofile(), threading.setprofile
        if running := getattr(threading, "setprofile_all_threads", None):
            set_for_threads = running
        set_for_threads(watch)
        set_profile(watch)
        called.watch = watch
        try:
            yield called
        finally:
            set_for_threads(of_threads)
            set_profile(before)


_ONE_AT_A_TIME = threading.RLock()


def _refused(*_arguments, _refuse, **_options):
    import sys  # it runs among the names of whatever module it replaces a function of

    _refuse(sys._getframe())


@contextlib.contextmanager
def _replaced(function, other, **given):
    """Inside the block a Python function does what another does, under whatever name it is called, in every thread.

    given: arguments of the other that callers do not give.
    """
    function = getattr(function, "__func__", function)  # of a class method
    code = function.__code__
    before = code, function.__defaults__, function.__kwdefaults__
    try:
        function.__code__ = other.__code__.replace(co_qualname=code.co_qualname, co_freevars=code.co_freevars)
        function.__defaults__, function.__kwdefaults__ = None, given
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = before


@contextlib.contextmanager
def turned(function):
    """Inside the block a Python function gives `not` what it gives otherwise, under whatever name it is called.

    Yields a list, which grows by one at each call: a twin of the function, loaded anew, is not turned.
    """
    original = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    calls: list[None] = []

    def opposite(*arguments, _original, _calls, **options):
        _calls.append(None)
        return not _original(*arguments, **options)

    with _replaced(function, opposite, _original=original, _calls=calls):
        yield calls
