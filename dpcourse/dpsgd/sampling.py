"""Poisson sampling: who is in a batch is decided by coins, one for each person and step, all independent."""

from collections.abc import Iterator

import torch

from dpcourse import validate
from dpcourse.dpsgd import generators


def poisson_batches(
    n: int, sample_rate: float, steps: int, generator: generators.Source = None
) -> Iterator[torch.Tensor]:
    """An iterator over `steps` batches; each of 0 .. n - 1 is in each batch with probability sample_rate.

    n, steps: whole, >= 1; sample_rate: in (0, 1]; generator: a torch.Generator on the CPU, a seed, or None for the
    operating system's entropy. Yields index tensors, sorted; a batch may be empty. ValueError otherwise. A shuffled
    epoch is something else, and the accounting of this package does not hold for it.

    >>> [len(batch) for batch in poisson_batches(1000, 0.01, 4, generator=7)]
    [10, 13, 14, 10]
    """
    n, steps = validate.whole("n", n), validate.whole("steps", steps)
    rate = validate.number("sample_rate", sample_rate, 0, 1, open_low=True)
    drawn_from = generators.make(generator, "coins")
    coins = (torch.rand(n, generator=drawn_from, dtype=torch.float64, device="cpu") for _ in range(steps))
    return (torch.nonzero(coin < rate).flatten() for coin in coins)
