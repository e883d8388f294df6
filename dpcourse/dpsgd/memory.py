"""A trial of how many examples fit into memory at once, before anything is spent."""

import weakref
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

GAPS = 2  # bytes of memory for each byte of a tensor: what is free lies in pieces; 1.6 were seen


class Taken(TorchDispatchMode):
    """A block in which the bytes of new tensors are counted: those that are `live` now, and the `most` at once.

    Tensors from before do not count, nor what a kernel takes for itself while it works.

    >>> with Taken() as taken:
    ...     sums = [torch.zeros(1000).add_(1).sum() for _ in range(3)]
    >>> taken.most, taken.live
    (4012, 12)
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = self.most = 0
        self._sizes: dict[int, int] = {}  # of storages that are counted, or are from before: 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        for storage in _storages((args, kwargs)):
            self._know(storage, 0)
        out = op(*args, **kwargs or {})
        for storage in _storages(out):
            self._know(storage, storage.nbytes())
        return out

    def _know(self, storage, size):
        address = storage._cdata
        if address not in self._sizes:
            self._sizes[address] = size
            self.live += size
            self.most = max(self.most, self.live)
            weakref.finalize(storage, self._forget, address)

    def _forget(self, address):
        self.live -= self._sizes.pop(address)


def _storages(values):
    return [leaf.untyped_storage() for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def fitting(accumulate: Callable[[int], object], wanted: int, room: float | None) -> int:
    """Return how many examples may be accumulated at once: `wanted`, or fewer where these do not fit.

    accumulate(count): adds up that many gradients, which are forgotten; room: bytes for all tensors that are made
    meanwhile, or None for what the device has, which a trial tells. With room the numbers tried begin at 1 and double as
    long as there is room for the double, so that no trial takes more. ValueError where one example does not fit;
    torch.OutOfMemoryError where the device has no memory for one.
    """
    if room is None:
        while not _fits(accumulate, wanted):
            wanted = (wanted + 1) // 2
        return wanted
    count = 1
    while True:
        with Taken() as taken:
            accumulate(count)
        needed = GAPS * taken.most
        if needed > room:
            raise ValueError(
                f"memory must leave {needed:,} bytes for the gradients of {count}, got {max(room, 0):,.0f} beside what "
                "a step takes: give more, or take a smaller model"
            )
        if count == wanted or 2 * needed > room:
            return count
        count = min(2 * count, wanted)


def _fits(accumulate, count):
    """Return whether memory is enough; a failed trial is let go before the next."""
    try:
        accumulate(count)
    except torch.OutOfMemoryError:
        if count == 1:
            raise
        return False
    return True
