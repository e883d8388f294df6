"""Run somebody else's function without letting it flood the page."""

import contextlib
import io
import sys


class Captured(io.TextIOBase):
    """A text stream that keeps the first `limit` characters and counts the rest; its file is the process's own output."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, limit=2000):
        self.limit, self.count, self.text = limit, 0, ""
        self.buffer = _Bytes(self)

    def write(self, text):
        self.count += len(text)
        if len(self.text) < self.limit:
            self.text += text[: self.limit - len(self.text)]
        return len(text)

    def writable(self):
        return True

    def fileno(self):
        if sys.__stdout__ is None:
            raise io.UnsupportedOperation("fileno")
        return sys.__stdout__.fileno()


class _Bytes(io.BufferedIOBase):
    """The same stream for who writes bytes."""

    def __init__(self, text):
        self.text = text

    def write(self, data):
        self.text.write(bytes(data).decode(errors="replace"))
        return len(data)

    def writable(self):
        return True

    def fileno(self):
        return self.text.fileno()


@contextlib.contextmanager
def captured():
    """Everything printed inside the block, as a Captured stream."""
    stream = Captured()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield stream
