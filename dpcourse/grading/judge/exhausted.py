"""Which limit of the sandbox an error tells of. What was met there is no wrong answer: with a higher limit it may be right.

The kernel refuses memory, a process or a file, and each library says so in its own way: by an exception of Python's that
names it, by the number of the kernel's error, or in the words of C++. By the time that it is judged all of these are
text, "type: message". Whoever writes such an error by hand gets what a limit gets, which is nothing.
"""

import errno
import re
from collections.abc import Iterable

from dpcourse.grading.run.watch import TOO_MANY_FILES, TOO_MANY_OPEN, TOO_MANY_PROCESSES, TOO_MUCH_MEMORY

SIGNS = {
    TOO_MUCH_MEMORY: (
        r"\A\w*MemoryError\b",  # numpy's is called _ArrayMemoryError
        r"can(no|')t allocate memory(?! in static TLS)",  # that is the loader's own, and no memory would help
        r"failed to map segment|cannot map zero-fill pages",
        r"bad_alloc|out of memory|not enough memory",
        rf"\[Errno {errno.ENOMEM}\]",
    ),
    TOO_MANY_PROCESSES: (r"can't start new thread|Resource temporarily unavailable", rf"\[Errno {errno.EAGAIN}\]"),
    TOO_MANY_OPEN: (r"Too many open files", rf"\[Errno ({errno.EMFILE}|{errno.ENFILE})\]"),
    TOO_MANY_FILES: (
        r"No space left on device|disk is full|File too large",
        rf"\[Errno ({errno.ENOSPC}|{errno.EFBIG}|{errno.EDQUOT})\]",
    ),
}
"""Which limit it was -> patterns in what errors say."""


def limit_in(errors: Iterable[str]) -> str | None:
    """Which limit was met, in a message for `languages.say`; None where these errors, "type: message", as
    `errors.chain` tells them, are of none.

    >>> limit_in(["ImportError: libtorch.so: failed to map segment from shared object"])
    'the memory limit was reached'
    >>> limit_in(["ValueError: math domain error"])
    """
    errors = list(errors)
    return next(
        (
            limit
            for limit, signs in SIGNS.items()
            for error in errors
            if re.search("|".join(signs), error, re.IGNORECASE)
        ),
        None,
    )
