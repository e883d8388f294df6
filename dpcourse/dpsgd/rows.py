"""Rows of examples: in one tensor, or in several that stand in a tuple or a dict, with the examples first in each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

Rows = Any  # a tensor or an array on a disk, or a tuple or dict of these
OnDisk = np.memmap
LEAVES = torch.Tensor, OnDisk


def count(rows: Rows) -> int:
    """Return how many rows there are; ValueError where the parts differ in that, or one of them is no tensor with rows.

    >>> count({"words": torch.zeros(3, 7), "age": torch.zeros(3)}), count(torch.zeros(2, 5))
    (3, 2)
    """
    if isinstance(rows, torch.Tensor) and rows.ndim:
        return len(rows)
    parts = tree_leaves(rows)
    for part in parts:
        if not isinstance(part, LEAVES) or part.ndim == 0:
            kind = "a single number" if isinstance(part, torch.Tensor) else type(part).__name__
            raise ValueError(
                f"rows must be a tensor, or a tuple or dict of tensors with the examples first, got {kind}"
            )
    lengths = {len(part) for part in parts}
    if len(lengths) != 1:
        raise ValueError(f"all parts must have one row per example, got {sorted(lengths) or 'none'} rows")
    return lengths.pop()


def each(function: Callable[[Any], Any], rows: Rows) -> Any:
    """Return the same tuple or dict with function(part) in the place of each part.

    >>> each(len, {"words": torch.zeros(3, 7)})
    {'words': 3}
    """
    if isinstance(rows, LEAVES):
        return function(rows)
    if type(rows) is tuple:  # as torch would do it, in a tenth of its time
        return tuple(each(function, part) for part in rows)
    return tree_map_only(LEAVES, function, rows)


def is_one(rows: Rows) -> bool:
    """Return whether the rows are in one tensor, or one array on a disk."""
    return isinstance(rows, LEAVES)


def named(parts: tuple | dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a dict, or of a tuple with their places, by name.

    >>> named(("a", "b"))
    {'0': 'a', '1': 'b'}
    """
    return dict(parts) if isinstance(parts, Mapping) else {str(place): part for place, part in enumerate(parts)}


def taken(rows: Rows, these: torch.Tensor | slice | list[int]) -> Rows:
    """Return some of the rows; from a disk these alone are read, whole numbers as int64 and others as torch's default.

    >>> taken((torch.arange(4), torch.eye(4)), [2])
    (tensor([2]), tensor([[0., 0., 1., 0.]]))
    """

    def of(part):
        if isinstance(part, torch.Tensor):
            return part[these]
        found = part[these.cpu().numpy() if isinstance(these, torch.Tensor) else these]
        return torch.from_numpy(np.require(found, dtype_of(part), ["C", "W", "O"]))

    return each(of, rows)


def dtype_of(array: np.ndarray) -> np.dtype:
    """Return the type of number that an array's become: torch's default one, int64 where they are whole, or bool."""
    kinds = {"f": torch.get_default_dtype(), "b": torch.bool}
    return torch.empty(0, dtype=kinds.get(array.dtype.kind, torch.int64)).numpy().dtype


def split(rows: Rows, size: int) -> Iterator[Rows]:
    """Yield the rows in parts of at most so many.

    >>> [count(part) for part in split((torch.zeros(5), torch.zeros(5, 2)), 2)]
    [2, 2, 1]
    """
    parts, structure = tree_flatten(rows)
    if all(isinstance(part, torch.Tensor) for part in parts):
        return (tree_unflatten(some, structure) for some in zip(*(part.split(size) for part in parts), strict=True))
    return (taken(rows, slice(start, start + size)) for start in range(0, count(rows), size))


def on(rows: Rows, device: torch.device) -> Rows:
    """Return the rows on a device; what lies on a disk stays there until it is taken."""
    return each(lambda part: part.to(device) if isinstance(part, torch.Tensor) else part, rows)


def device_of(rows: Rows) -> torch.device:
    """Return the device of the rows; the CPU for those on a disk."""
    return next((part.device for part in tree_leaves(rows) if isinstance(part, torch.Tensor)), torch.device("cpu"))


def said(model: nn.Module, inputs: Rows) -> torch.Tensor:
    """Return what a model says of its inputs: a tuple is given as its arguments, a dict by name.

    ValueError where that is no tensor, with the way to pick one.

    >>> said(nn.Bilinear(2, 3, 1), (torch.zeros(5, 2), torch.zeros(5, 3))).shape
    torch.Size([5, 1])
    """
    if isinstance(inputs, torch.Tensor):
        outputs = model(inputs)
    elif isinstance(inputs, Mapping):
        outputs = model(**inputs)
    else:
        outputs = model(*inputs)
    if not isinstance(outputs, torch.Tensor):
        raise ValueError(
            f"the model must return one tensor, got {type(outputs).__name__}: dpsgd.Picked(model, lambda outputs: ...) is "
            "the model that returns a part of it, such as outputs.logits"
        )
    return outputs
