"""Several processes that train one model, started with torchrun: who adds noise, who takes which examples.

The clipped sum of a batch is the sum of the processes' clipped sums, so nothing has to be known of the other
processes' examples; noise is added by the first process alone, once. Without torch.distributed there is one process.
Start with torch.distributed.init_process_group() and no backend: then there is one for GPUs and one for the coins.
"""

import functools
from collections.abc import Iterable

import torch
from torch import distributed


def many() -> bool:
    """Whether there is more than one process."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def is_first() -> bool:
    """Whether this is the process that adds the noise, shows the progress and writes the files."""
    return not many() or distributed.get_rank() == 0


def share(batch: torch.Tensor) -> torch.Tensor:
    """The examples of a batch that this process takes: every example is taken by one process."""
    return batch[distributed.get_rank() :: distributed.get_world_size()] if many() else batch


def add_up(tensors: Iterable[torch.Tensor]) -> None:
    """Replace each tensor, in place, by its sum over the processes."""
    _in_place(tensors, distributed.all_reduce)


def agree(tensors: Iterable[torch.Tensor]) -> None:
    """Replace each tensor, in place, by the first process's."""
    _in_place(tensors, functools.partial(distributed.broadcast, src=0))


def agree_on_state(generator: torch.Generator) -> None:
    """Give a generator the state of the first process's."""
    state = generator.get_state().to(torch.uint8)
    agree([state])
    generator.set_state(state)


def of_first(number: float, device: torch.device) -> float:
    """The first process's number."""
    agreed = torch.tensor([float(number)], device=device)
    agree([agreed])
    return float(agreed)


def anywhere(here: bool, device: torch.device | str) -> bool:
    """Whether it is so in any of the processes."""
    count = torch.tensor([float(here)], device=device)
    add_up([count])
    return bool(count)


def wait() -> None:
    """Go on when every process has come here."""
    anywhere(False, "cpu")


def _in_place(tensors, exchange):
    """Exchange numbers in their logical order: processes may keep the same tensor in different orders in memory."""
    if many():
        for tensor in tensors:
            in_order = tensor.contiguous()
            exchange(in_order)
            tensor.copy_(in_order)
