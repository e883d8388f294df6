"""Run somebody else's function without letting it call what it must not, or see what it calls."""

import contextlib
import dis
import importlib
import os
import re
import sys
import threading
import types


def _there(module, *names):
    """Those of the functions of a module that this Python has."""
    with contextlib.suppress(ImportError):
        there = importlib.import_module(module)
        return {getattr(there, name) for name in names if hasattr(there, name)}
    return set()


FORBIDDEN = "forbidden"
UNWATCHED = {  # what begins another program, or another interpreter
    *_there("_posixsubprocess", "fork_exec"),
    *_there("os", "execv", "execve", "posix_spawn", "posix_spawnp", "system"),
    *_there("_xxsubinterpreters", "create"),
    *_there("_interpreters", "create"),
    *_there("_winapi", "CreateProcess"),
}
JUMPS = {*dis.hasjrel, *dis.hasjabs}
NAMED = {"LOAD_METHOD": "LOAD_ATTR"}  # which of the two Python takes depends on the module's imports
OURS = re.compile(r"dpcourse\.(?!checking\.calling\.)")  # modules whose calls are not the learner's


class Forbidden(BaseException):
    """A function was called that the exercise asks the learner to write."""


def _as_called(frame):
    """The function of ours that the learner's code called, and that came to this frame."""
    while (caller := frame.f_back) is not None and OURS.match(caller.f_globals.get("__name__", "")):
        frame = caller
    return _path(frame.f_globals, frame.f_code)


def _path(names, code):
    """By what name users know a function that has these globals and this code."""
    return f"{names.get('__name__', '')}.{code.co_qualname.removesuffix('.__call__').removesuffix('.<lambda>')}"


class Called(list):
    """The names of forbidden functions that were called. Inside a `with` block of it, this thread is not watched.

    That is for what is ours: a function called at each step of it costs more than what it does. No line of the learner's
    is to run there.
    copies: the names of forbidden functions of which a copy ran. begun: what began that is not watched.
    """

    watch = None

    def __init__(self):
        self.copies: list[str] = []
        self.begun: list[str] = []

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

    That holds in every thread, for calls that are under way when the block begins, and for its code under another
    function in threads that begin there (from Python 3.12 on in all). So does `sys.setprofile`, which would end the
    watch. Yields the names that were called (Called), which also holds calls whose Forbidden was swallowed, and says of
    which a copy ran, and what began that is not watched: in a forked process these raise Forbidden too, since nobody hears
    of them there. One thread at a time is inside: others wait.
    counted: a dict code object -> number of calls, in which each call adds 1.
    """
    called = Called()
    if not functions and not counted:
        yield called
        return
    plain = [getattr(function, "__func__", function) for function in functions]  # of a class method
    names = {function.__code__: _path(function.__globals__, function.__code__) for function in plain}
    role_of = _Roles(names)

    def refuse(frame):
        called.append(_as_called(frame))
        raise Forbidden(called[-1])

    def note(seen, name):
        seen.append(name)
        if os.getpid() != process:
            raise Forbidden(name)

    def watch(frame, event, argument):
        if event == "call":
            role = role_of[frame.f_code]
            if role is FORBIDDEN:
                refuse(frame)
            if role:
                note(called.copies, role)
            if frame.f_code in counted:
                counted[frame.f_code] += 1
        elif event == "c_call" and argument is set_profile and frame.f_code is not ours and not called.has(frame):
            called.append("sys.setprofile")
            raise Forbidden(called[-1])
        elif event == "c_call" and argument in UNWATCHED:
            note(called.begun, f"{argument.__module__}.{argument.__name__}")

    def under_way():
        for frame in sys._current_frames().values():
            while frame is not None:
                if role_of[frame.f_code] is FORBIDDEN:
                    called.append(_as_called(frame))
                frame = frame.f_back

    with _ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        for function in plain:
            stack.enter_context(_replaced(function, _refused, _refuse=refuse))
        process = os.getpid()
        before, set_profile, ours = sys.getprofile(), sys.setprofile, sys._getframe().f_code
        of_threads, set_for_threads = threading.getprofile(), threading.setprofile
        if running := getattr(threading, "setprofile_all_threads", None):
            set_for_threads = running
        if names:
            under_way()
        set_for_threads(watch)
        set_profile(watch)
        called.watch = watch
        try:
            yield called
        finally:
            set_for_threads(of_threads)
            set_profile(before)


class _Roles(dict):
    """code -> FORBIDDEN where it is that of a forbidden function, the function's name where it is a copy, else nothing.

    names: code of each forbidden function -> its name. One that calls nothing is nobody's work.
    """

    def __init__(self, names):
        super().__init__(dict.fromkeys(names, FORBIDDEN))
        self.programs = {program(code): name for code, name in names.items() if _calls_something(code)}
        self.used = {code.co_names for code in names}

    def __missing__(self, code):
        role = self.programs.get(program(code), "") if code.co_names in self.used else ""
        return self.setdefault(code, role)


def program(code: types.CodeType) -> tuple:
    """What code does, whatever it and its local names are called, wherever it stands, and whatever its docstring.

    >>> def one(x): "The first."; return abs(x) + 1
    >>> def two(y): return abs(y) + 1
    >>> program(one.__code__) == program(two.__code__), one.__code__ == two.__code__
    (True, False)
    """
    steps = (step for step in dis.get_instructions(code) if step.opname != "PUSH_NULL")
    return (
        code.co_argcount,
        code.co_kwonlyargcount,
        tuple((NAMED.get(step.opname, step.opname), _argument(step)) for step in steps),
    )


def _argument(step):
    """What a step is about, the same for a module's function and for one that was made of its text elsewhere."""
    if isinstance(step.argval, types.CodeType):
        return program(step.argval)
    if step.opcode in dis.hasconst:
        return repr(step.argval)
    if step.opcode in dis.hasname:
        return step.argval
    return None if step.opcode in JUMPS else step.arg


def _calls_something(code):
    return any(step.opname.startswith("CALL") for step in dis.get_instructions(code))


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
