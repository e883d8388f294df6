"""Several processes that train one model, started with torchrun: who adds noise, who takes which examples.

The clipped sum of a batch is the sum of the processes' clipped sums, so nothing has to be known of the other
processes' examples; noise is added by the first process alone, once. Without torch.distributed there is one process.
Start with torch.distributed.init_process_group() and no backend, which takes NCCL where there are GPUs: all that the
processes say to each other lies on the device they train on.
"""

import functools
import os
from collections.abc import Iterable

import torch
from torch import distributed


def many() -> bool:
    """Return whether there is more than one process."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def is_first() -> bool:
    """Return whether this is the process that adds the noise, shows the progress and writes the files."""
    return rank() == 0


def own_gpu() -> torch.device:
    """Return the GPU with this process's number on this machine, as torchrun counts; make it the current one."""
    if many() and "LOCAL_RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    return torch.device("cuda", torch.cuda.current_device())


def share(batch: torch.Tensor) -> torch.Tensor:
    """Return the examples of a batch that this process takes: every example is taken by one process."""
    return batch[distributed.get_rank() :: distributed.get_world_size()] if many() else batch


def add_up(tensors: Iterable[torch.Tensor]) -> None:
    """Replace each tensor, in place, by its sum over the processes."""
    _in_place(tensors, distributed.all_reduce)


def agree(tensors: Iterable[torch.Tensor]) -> None:
    """Replace each tensor, in place, by the first process's."""
    _in_place(tensors, functools.partial(distributed.broadcast, src=0))


def agree_on_state(generator: torch.Generator, device: torch.device) -> None:
    """Give a generator on the CPU the state of the first process's."""
    if many():
        state = generator.get_state().to(device)
        agree([state])
        generator.set_state(state.cpu())


def of_first(number: float, device: torch.device) -> float:
    """Return the first process's number."""
    if not many():
        return number
    agreed = torch.tensor([float(number)], device=device)
    agree([agreed])
    return float(agreed)


def anywhere(here: bool, device: torch.device | str) -> bool:
    """Return whether `here` is true in any of the processes."""
    if not many():
        return here
    count = torch.tensor([float(here)], device=device)
    add_up([count])
    return bool(count)


def wait(device: torch.device) -> None:
    """Go on when every process has come here."""
    anywhere(False, device)


def gathered(mine: list[torch.Tensor], device: torch.device) -> list[list[torch.Tensor]]:
    """Return the tensors of each process, by its number, on the CPU; all have as many, of the same shapes."""
    if not many():
        return [mine]
    found = []
    for tensor in mine:
        everybodys = [torch.empty_like(tensor, device=device) for _ in range(distributed.get_world_size())]
        distributed.all_gather(everybodys, tensor.to(device))
        found.append([other.cpu() for other in everybodys])
    return [list(of_one) for of_one in zip(*found, strict=True)]


def rank() -> int:
    """Return the number of this process, from 0."""
    return distributed.get_rank() if many() else 0


def _in_place(tensors, exchange):
    """Exchange numbers in their logical order: processes may keep the same tensor in different orders in memory."""
    if many():
        for tensor in tensors:
            in_order = tensor.contiguous()
            exchange(in_order)
            tensor.copy_(in_order)
