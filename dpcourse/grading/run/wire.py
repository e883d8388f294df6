"""How grader and worker talk: a header with two lengths, JSON, raw arrays. No pickle, and no length is believed.

Plain data (see `dpcourse.checking.calling.values`) survives the journey; whatever is not plain data is refused.
"""

import json
import struct

import numpy as np

HEADER = struct.Struct(">QQ")
MOST_JSON, MOST_ARRAYS = 4 * 2**20, 32 * 2**20
MOST_CONTAINERS = 200_000  # an empty list is two bytes of a message, and fifty times as much in memory
LONGEST_TEXT, DEEPEST = 2_000, 20
KINDS = {f"{kind}{size}" for kind, sizes in {"b": [1], "iu": [1, 2, 4, 8], "f": [2, 4, 8]}.items() for kind in kind for size in sizes}  # fmt: skip


class Garbled(Exception):
    """What came is not a message, or is larger than a message may be."""


def pack(message):
    """The bytes of a message: plain data, and dicts of it with text as keys. Raises Garbled where it is too large."""
    arrays = []
    try:
        text = json.dumps(_encoded(message, arrays)).encode()
    except RecursionError:
        raise Garbled("it is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Garbled(str(error)) from None
    raw = b"".join(array.tobytes() for array in arrays)
    check_lengths(len(text), len(raw))
    return HEADER.pack(len(text), len(raw)) + text + raw


def check_lengths(text, raw):
    """Raise Garbled where a message would be longer than allowed."""
    if text > MOST_JSON or raw > MOST_ARRAYS:
        raise Garbled(f"a message of {(text + raw) / 2**20:.0f} MiB is too large")


def unpack(text, raw, clean=str):
    """The message in the two parts that follow a header, each text in it passed through `clean`. Raises Garbled."""
    if text.count(b"[") + text.count(b"{") > MOST_CONTAINERS:
        raise Garbled("too many lists and dicts")
    try:
        return _Decoder(raw, clean).decoded(json.loads(text), 0)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise Garbled(f"not a message: {type(error).__name__}") from None


def receive(read, clean=str):
    """The next message; read(n) gives exactly n bytes. Raises Garbled."""
    lengths = HEADER.unpack(read(HEADER.size))
    check_lengths(*lengths)
    return unpack(read(lengths[0]), read(lengths[1]), clean)


def _encoded(value, arrays):
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(value.astype(_portable(value.dtype)))
        return {"array": arrays[-1].dtype.str[1:], "shape": list(value.shape)}
    if isinstance(value, dict):
        return {"dict": {key: _encoded(item, arrays) for key, item in value.items()}}
    items = [_encoded(item, arrays) for item in value]
    return {"tuple": items} if isinstance(value, tuple) else items


def _portable(dtype):
    """The little-endian twin of a dtype; float64 for what has none that is allowed."""
    name = f"{dtype.kind}{dtype.itemsize}"
    return np.dtype(f"<{name}" if name in KINDS else "<f8")


class _Decoder:
    """Takes the arrays off the raw bytes, in the order in which the JSON names them."""

    def __init__(self, raw, clean):
        self.raw, self.clean, self.taken = raw, clean, 0

    def decoded(self, value, depth):
        if depth > DEEPEST:
            raise ValueError("too deep")
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, list):
            return [self.decoded(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if "array" in value:
            return self._array(value["array"], value["shape"])
        if "tuple" in value:
            return tuple(self.decoded(list(value["tuple"]), depth))
        if not isinstance(value["dict"], dict):
            raise ValueError("not a dict")
        return {self.clean(key): self.decoded(item, depth + 1) for key, item in value["dict"].items()}

    def _array(self, kind, shape):
        if kind not in KINDS or not isinstance(shape, list) or len(shape) > 8:
            raise ValueError("not an array that may be sent")
        if not all(type(length) is int and 0 <= length <= MOST_ARRAYS for length in shape):
            raise ValueError("not a shape")
        dtype, count = np.dtype(f"<{kind}"), 1
        for length in shape:
            count *= length
        begin, self.taken = self.taken, self.taken + count * dtype.itemsize
        if self.taken > len(self.raw):
            raise ValueError("the array is not there")
        return np.frombuffer(self.raw, dtype, count, begin).reshape(shape)


def printable(text):
    """The text, cut, without what could steer a terminal or a text field.

    >>> printable("a\\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text[:LONGEST_TEXT])
