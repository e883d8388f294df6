"""Trials of a model before it is trained: two people tell whether it can be private, a batch whether it fits."""

import math
from collections.abc import Callable

import torch

from dpcourse.base.languages import say
from dpcourse.dpsgd import generators, memory, processes, rows
from dpcourse.dpsgd.data import Data
from dpcourse.dpsgd.noisy import Noisy
from dpcourse.dpsgd.refusals import trainable


@torch.no_grad()
def refuse_if_it_mixes(model: torch.nn.Module, data: Data) -> None:
    """Raise ValueError if what the model says of one person, or what it keeps, depends on the other in the batch."""
    pairs = (data.chosen([0, other])[0] for other in (0, len(data) - 1))
    outputs, kept = zip(*(_said_and_kept(model, inputs) for inputs in pairs), strict=True)
    if not torch.allclose(outputs[0], outputs[1], rtol=1e-4, atol=1e-6, equal_nan=True):
        raise ValueError(
            "what the model says of one example depends on the others in the batch, which no noise makes private: look "
            "for means over the batch in its forward"
        )
    changed = [name for name in kept[0] if not torch.equal(kept[0][name], kept[1][name])]
    if changed:
        raise ValueError(f"the model keeps something of the data in {changed[0]!r}, and no noise protects that")


def _said_and_kept(model, inputs):
    """Return the output for the first of the inputs, and the buffers afterwards; the same random numbers each time."""
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with generators.borrowed(rows.device_of(inputs), seed=0):
        output = rows.said(model, inputs)[0]
    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    for name, buffer in model.named_buffers():
        buffer.copy_(before[name])
    return output, kept


def people_at_once(
    model: torch.nn.Module,
    optimizer: Noisy,
    data: Data,
    chunk: int,
    most: float | None,
    accumulate: Callable[[torch.Tensor, int], object],
) -> int:
    """Return how many people of a batch are in memory at once, at most `chunk`; what lacks memory, or a kernel, fails here.

    accumulate(batch, chunk): adds up the clipped gradients of a batch, which are forgotten. most: bytes for all tensors
    that fit makes, or None for what the device has. If a batch must come in parts, that is printed.
    """
    optimizer.refuse_strangers(model)
    likely = optimizer.expected_batch + 6 * math.sqrt(optimizer.expected_batch)  # no batch is larger, nearly
    wanted = min(chunk, len(data), math.ceil(likely))

    def in_vain(count):
        """Accumulate a part of a batch, with room for the sums of a part before, and forget it."""
        optimizer.zero_grad()
        try:
            for _ in range(1 if most is None else 2):
                accumulate(torch.arange(count, device="cpu"), count).tolist()  # which waits: what failed is known
        finally:
            optimizer.zero_grad()

    with generators.borrowed(data.device):
        found = memory.fitting(in_vain, wanted, None if most is None else most - _beside(model, data))
    if found < wanted and processes.is_first():
        print(
            say(
                "A batch comes in parts of {people:,} people: more do not fit into memory. The steps are the same.",
                people=found,
            )
        )
    return chunk if found == wanted and most is None else found


def _beside(model, data):
    """Return the most bytes that a step takes beside what is accumulated: sums, noise, averages, everybody's coins."""
    weights = sum(parameter.nbytes for parameter in trainable(model).values())
    return 6 * weights + 20 * len(data)
