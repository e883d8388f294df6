"""The clipped sum as one CUDA graph: recorded for parts of one size, then replayed, so that a GPU is given one task, not fifty.

A graph has no questions in it, and a size of its own. So a part is filled up to one of a few sizes, by its first example
with weight 0; and what book-keeping asks on its way (is a gradient not finite, do positions cancel) becomes one flag,
for which the GPU is waited for once. Where the flag is up, the part is computed without a graph.

What Python does on the way is recorded once and never done again. So only what is known to do the same each time is
recorded: layers and losses of torch's own, which draw no random numbers.
"""

import contextlib
import functools
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from dpcourse.dpsgd import generators, layers, memory, models, rows, stacks
from dpcourse.dpsgd.clipping import Clipped, Loss, factors, shares_of, weighted
from dpcourse.dpsgd.precision import full_precision, passes

FEWEST = 32  # examples: what is smaller is filled up to so many
MOST = 24  # graphs of an optimizer; the one that was used least lately is forgotten
ROOM = 2**31  # bytes for the tensors of a part: one that takes more keeps a GPU busy without a graph
PATIENCE = 8  # sums of a graph that were not right, until it is given up
PLAIN = bool, int, float, str, tuple
NEW, SEEN, IN_VAIN = "new", "seen", "in vain"  # of a kind of part for which there is no graph


def size_for(examples: int) -> int:
    """Return the size that a part is filled up to: at most a sixteenth or 31 more, so that few sizes do for all.

    >>> [size_for(examples) for examples in (5, 1000, 1024, 1025)]
    [32, 1024, 1024, 1088]
    """
    between = max(FEWEST, 2 ** (examples.bit_length() - 5))
    return -(-examples // between) * between


def masked_sum(
    model: nn.Module,
    parameters: dict[str, nn.Parameter],
    loss: Loss,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    there: torch.Tensor,
    clip_norm: float,
    precision: str,
) -> tuple[Clipped, torch.Tensor]:
    """Return the clipped sum over the examples that are there, by book-keeping, and whether it is right: a bool on the device.

    there: (batch,), bool. Nothing is waited for. It is not right where a gradient is not finite, and where positions cancel.

    >>> model, inputs = nn.Sequential(nn.Linear(2, 1)), torch.tensor([[3.0, 4.0], [0.3, 0.4], [9.0, 9.0]])
    >>> there, targets = torch.tensor([True, True, False]), torch.zeros(3)
    >>> named = dict(model.named_parameters())
    >>> found, right = masked_sum(model, named, lambda o, t: o[:, 0], inputs, targets, there, 1.0, "float32")
    >>> found.norms, right
    (tensor([5.0990, 1.1180, 0.0000]), tensor(True))
    """
    with passes(precision, inputs.device) as forward:
        shares, losses, outputs = shares_of(model, loss, inputs, targets, forward)
    with torch.no_grad(), full_precision(losses.device):
        squares, doubt = layers.square_norms_in_doubt(shares)
        norms = squares.sqrt_().where(there, 0)
        sums = weighted(parameters, shares, factors(norms, clip_norm).where(there, 0))
        right = torch.isfinite(norms.sum()) & ~(doubt & there).any()
        return Clipped(sums, norms, losses, outputs), right


def takes(model: nn.Module, loss: Loss, inputs: rows.Rows, targets: rows.Rows) -> bool:
    """Return whether model and loss are torch's own, so that all they do can be recorded, and their rows tensors.

    >>> model, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh()), torch.zeros(5, 2)
    >>> takes(model, nn.CrossEntropyLoss(reduction="none"), x, x), takes(model, lambda o, t: o[:, 0], x, x)
    (True, False)
    """
    own = loss.func if isinstance(loss, functools.partial) else type(loss)
    if getattr(own, "__module__", None) not in ("torch.nn.functional", "torch.nn.modules.loss"):
        return False
    if not all(isinstance(part, torch.Tensor) and part.ndim for part in (inputs, targets)):
        return False
    return all(_is_torchs(layer) and not stacks.hooked(layer) for layer in model.modules())


def _is_torchs(layer):
    return type(layer).__module__.startswith("torch.nn.modules.") or type(layer) is models.Edges


@dataclass
class Recorded:
    """A graph, the tensors that it reads, and those that it writes. of: what else must live as long: it knows addresses only."""

    graph: Any
    inputs: torch.Tensor
    targets: torch.Tensor
    count: torch.Tensor
    shapes: dict[str, torch.Size]
    sums: torch.Tensor
    found: Clipped
    right: torch.Tensor
    of: tuple
    wrong: int = 0

    def replay(self, inputs: torch.Tensor, targets: torch.Tensor) -> Clipped | None:
        """Return the clipped sum of some examples, at most as many as were recorded; None where it is not right."""
        examples = len(inputs)
        for into, part in ((self.inputs, inputs), (self.targets, targets)):
            into[:examples].copy_(part)
            if examples < len(into):
                into[examples:].copy_(part[:1].expand_as(into[examples:]))
        self.count.fill_(examples)
        self.graph.replay()
        if not self.right:  # for which the GPU is waited for
            self.wrong += 1
            return None
        apart = self.sums.clone().split([shape.numel() for shape in self.shapes.values()])
        sums = {name: part.view(shape) for part, (name, shape) in zip(apart, self.shapes.items(), strict=True)}
        found = self.found
        return Clipped(sums, *(part[:examples].clone() for part in (found.norms, found.losses, found.outputs)))


class Graphs:
    """The graphs of one optimizer, each made when a part of its kind comes for the second time. room: bytes for a part."""

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._made: dict[tuple, Recorded | str] = {}

    def clipped_sum(
        self,
        model: nn.Module,
        parameters: dict[str, nn.Parameter],
        loss: Loss,
        inputs: rows.Rows,
        targets: rows.Rows,
        clip_norm: float,
        engine: str,
        precision: str,
    ) -> Clipped | None:
        """Return the clipped sum by a graph; None where there is none for such a part, or where it is not right."""
        if engine != "book-keeping" or rows.device_of(inputs).type != "cuda" or torch.is_autocast_enabled("cuda"):
            return None
        if not takes(model, loss, inputs, targets) or not 0 < len(inputs) == len(targets):
            return None
        size = size_for(len(inputs))
        given = model, parameters, loss, inputs, targets, size, clip_norm, precision
        key = _kind(*given)
        recorded = self._made.pop(key, NEW)
        if recorded is SEEN:
            recorded = self._recorded(*given)
        found = recorded.replay(inputs, targets) if isinstance(recorded, Recorded) else None
        given_up = isinstance(recorded, Recorded) and recorded.wrong == PATIENCE
        self._made[key] = SEEN if recorded is NEW else IN_VAIN if given_up else recorded
        if len(self._made) > MOST:
            del self._made[next(iter(self._made))]
        return found

    def _memory(self):
        """Return the memory that all graphs work in, one after another: that of one that is there, or None for new memory."""
        return next((one.graph.pool() for one in self._made.values() if isinstance(one, Recorded)), None)

    def close(self) -> None:
        """Forget all graphs, and give their memory back."""
        self._made.clear()

    def _recorded(self, *given):
        """Return a part recorded; IN_VAIN where that is not possible, or of no use."""
        try:
            return self._record(*given)
        except torch.OutOfMemoryError:
            return IN_VAIN
        except RuntimeError as error:  # an operation that waits, perhaps
            says = str(error).splitlines()[0]
            warnings.warn(
                f"the clipped sums go on without a CUDA graph, since this cannot be recorded: {says}", stacklevel=4
            )
            return IN_VAIN

    def _record(self, model, parameters, loss, inputs, targets, size, clip_norm, precision):
        if len({parameter.dtype for parameter in parameters.values()}) > 1:
            return IN_VAIN
        device = inputs.device
        reads = [part[:1].repeat(size, *[1] * (part.ndim - 1)) for part in (inputs, targets)]
        count = torch.full((), len(inputs), device=device)
        places = torch.arange(size, device=device)

        def run():
            found, right = masked_sum(model, parameters, loss, *reads, places < count, clip_norm, precision)
            return torch.cat([total.flatten() for total in found.sums.values()]), found, right

        aside = _aside(device)
        aside.wait_stream(torch.cuda.current_stream(device))
        with generators.borrowed(device), torch.cuda.stream(aside):
            before = [generator.get_state() for generator in generators.of_torch(device)]
            with memory.Taken() as taken, _refused_waits():
                run()
            after = [generator.get_state() for generator in generators.of_torch(device)]
            free, _ = torch.cuda.mem_get_info(device)
            if memory.GAPS * taken.most > min(self.room, free) or not all(map(torch.equal, before, after)):
                return IN_VAIN
            graph = torch.cuda.CUDAGraph()
            graph.capture_begin(pool=self._memory())
            try:
                written = run()
            except BaseException:
                _give_up(graph)
                raise
            graph.capture_end()
        torch.cuda.current_stream(device).wait_stream(aside)
        shapes = {name: parameter.shape for name, parameter in parameters.items()}
        return Recorded(graph, *reads, count, shapes, *written, of=(model, loss, places))


@functools.cache
def _aside(device):
    """Return the stream to record on: one for all graphs, since cuBLAS keeps memory for each stream that it ever saw."""
    return torch.cuda.Stream(device)


@contextlib.contextmanager
def _refused_waits():
    """Let whatever waits for the GPU raise RuntimeError: found in a recording, it would leave torch's memory locked."""
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this mode of torch's is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


def _give_up(graph):
    """End a recording that failed; torch complains of what it has."""
    with contextlib.suppress(RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph.capture_end()


def _kind(model, parameters, loss, inputs, targets, size, clip_norm, precision):
    """Return what must be the same for a graph to be another part's: all that Python would look at on the way."""
    there = [*model.parameters(), *model.buffers()]
    return (
        *(id(model), id(loss), _settings(loss), size, clip_norm, precision),
        *((part.shape[1:], part.dtype, part.device) for part in (inputs, targets)),
        *((weight.data_ptr(), weight.requires_grad) for weight in there),
        *(_settings(layer) for layer in model.modules()),
    )


def _settings(thing):
    """Return the plain values among a thing's attributes, such as whether a layer is in training."""
    return tuple(value for value in vars(thing).values() if isinstance(value, PLAIN))
