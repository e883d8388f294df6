"""Call a function in a process of its own, which can be ended whatever the function does.

For where no timer can interrupt it: a function that sleeps in C, or computes a huge power, lets no other thread run.
"""

import sys
from collections.abc import Callable

from dpcourse.checking.calling.limits import TimeUp

STARTING = 60.0  # seconds that a new process may take to start
GRACE = 0.5


class Impossible(Exception):
    """No other process can be started here, or the function cannot be sent to it."""


def _arrived(*sent):
    """Nothing is left to be imported for it."""


def call(function: Callable, *arguments: object, seconds: float) -> object:
    """What function(*arguments) gives in another process.

    seconds: after so many it is ended, and the process with it. The process stays for the next call.
    Raises TimeUp then, Impossible where the function cannot be run in another process.
    """
    if sys.platform == "emscripten":  # in a browser, where each try would take its time
        raise Impossible
    try:
        from loky import get_reusable_executor

        executor = get_reusable_executor(max_workers=1)
        executor.submit(_arrived, function, *arguments).result(STARTING)  # its start, and what it imports, do not count
    except Exception as error:
        raise Impossible from error
    try:
        return executor.submit(function, *arguments).result(seconds + GRACE)
    except TimeoutError as error:
        executor.shutdown(kill_workers=True)
        raise TimeUp from error
    except Exception as error:
        raise Impossible from error
