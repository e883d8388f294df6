"""Poisson sampling: who is in a batch is decided by coins, one for each person and step, all independent."""

import functools
from collections.abc import Iterator

import numpy as np
import torch
from scipy.special import bdtr, bdtrc
from scipy.stats import binom
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, default_collate

from dpcourse.base import validate
from dpcourse.dpsgd import generators, rows

MANY = 2**14  # people, for whom a coin each would take a large part of a step
FALSE_ALARM_RATE = 1e-9  # of Sizes, over a run of any length


def poisson_batches(
    n: int, sample_rate: float, steps: int, generator: generators.Source = None
) -> Iterator[torch.Tensor]:
    """Return an iterator over `steps` batches; each of 0 .. n - 1 is in each batch with probability sample_rate.

    n, steps: whole, >= 1; sample_rate: in (0, 1]; generator: a torch.Generator on the CPU, a seed, "secure", or None for
    a generator that the operating system seeds. Yields index tensors, sorted; a batch may be empty. ValueError
    otherwise. A shuffled epoch is something else, and the accounting of this package does not hold for it.

    >>> [len(batch) for batch in poisson_batches(1000, 0.01, 4, generator=7)]
    [10, 13, 14, 10]
    """
    n, steps = validate.whole("n", n), validate.whole("steps", steps)
    rate = validate.number("sample_rate", sample_rate, 0, 1, open_low=True)
    drawn_from = generators.make(generator, "coins")
    draw = _size_first if n >= MANY and isinstance(drawn_from, torch.Generator) else _by_coins
    return (draw(n, rate, drawn_from) for _ in range(steps))


def _by_coins(n, rate, generator):
    return torch.nonzero(generators.uniform(n, generator) < rate).flatten()


def _size_first(n, rate, generator):
    """Draw how many, which is binomial, and then who, all as likely: the same law, without a coin for everybody."""
    rng = np.random.default_rng(generators.seed_from(generator))
    size = rng.binomial(n, rate)
    return torch.from_numpy(np.sort(rng.choice(n, size, replace=False, shuffle=False)))


class PoissonSampler(Sampler[list[int]]):
    """The batches of poisson_batches as a batch_sampler of torch's DataLoader; each pass draws `steps` new ones."""

    def __init__(self, n: int, sample_rate: float, steps: int, generator: generators.Source = None) -> None:
        poisson_batches(n, sample_rate, steps, generator)  # which refuses what cannot be
        self.n, self.sample_rate, self.steps = n, sample_rate, steps
        self.generator = generators.make(generator, "coins")

    def __iter__(self) -> Iterator[list[int]]:
        return (batch.tolist() for batch in poisson_batches(self.n, self.sample_rate, self.steps, self.generator))

    def __len__(self) -> int:
        return self.steps


def loader(
    dataset: Dataset, sample_rate: float, steps: int, generator: generators.Source = None, **options
) -> DataLoader:
    """Return a DataLoader of Poisson batches of a data set that is read as it goes, for a loop of your own.

    dataset: one with a length and rows by number (no IterableDataset, whose rows nobody can toss coins for); sample_rate,
    steps, generator: as in poisson_batches; options: of torch's DataLoader, such as num_workers and collate_fn, but for
    batch_size, shuffle, sampler, batch_sampler and drop_last, which draw batches otherwise. A batch without rows has the
    tensors of one row, with length 0. ValueError otherwise. An optimizer that is tied to a ledger sees the sizes.

    >>> data = torch.utils.data.TensorDataset(torch.eye(100), torch.zeros(100))
    >>> [len(inputs) for inputs, targets in loader(data, sample_rate=0.02, steps=4, generator=7)]
    [1, 3, 2, 1]
    """
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise ValueError(
            f"dataset must have a length and rows by number, got {type(dataset).__name__}: of a stream nobody knows for "
            "how many rows to toss coins; write it to a disk, as a numpy.memmap perhaps"
        )
    otherwise = sorted({"batch_size", "shuffle", "sampler", "batch_sampler", "drop_last"} & set(options))
    if otherwise:
        raise ValueError(f"options must leave batches to the coins, got {', '.join(otherwise)}")
    batches = PoissonSampler(len(dataset), sample_rate, steps, generator)
    collate = functools.partial(_collated, dataset, options.pop("collate_fn", default_collate))
    return DataLoader(dataset, batch_sampler=batches, collate_fn=collate, **options)


def _collated(dataset, collate, found):
    """Return the batch that some rows make; of none, what the first row makes, without it."""
    return collate(found) if found else rows.each(lambda part: part[:0], collate([dataset[0]]))


def middle_sizes(people: int, rate: float) -> tuple[int, int, float]:
    """Return the sizes in the middle of the law of a Poisson batch's: first, last, and the probability of one of them.

    people: whole, >= 1; rate: in (0, 1].

    >>> first, last, probability = middle_sizes(60_000, 0.04)
    >>> first, last, round(probability, 2)
    (2388, 2412, 0.21)
    """
    first, last = (int(size) for size in binom(people, rate).ppf((0.4, 0.6)))
    return first, last, min(1.0, float(binom.cdf(last, people, rate) - binom.cdf(first - 1, people, rate)))


class Sizes:
    """The sizes of a run's batches, and a refusal of those that Poisson sampling hardly ever gives.

    people: whole, >= 1, the rows for which coins are tossed; rate: in (0, 1]. Three laws are asked at each step: the
    size of its batch is Binomial(people, rate); all draws so far are Binomial(people x steps, rate); and the steps of a
    size in the middle are Binomial(steps, probability of the middle), which shuffled batches, all of one size, soon
    pass. A run of Poisson batches, however long, raises a false alarm with probability at most 1e-9: five tails are
    looked at, at step k each for 1e-9 / (5 k (k + 1)), and 1 / (k (k + 1)) sums to 1.

    >>> sizes = Sizes(people=300, rate=0.1)
    >>> for size in (60, 60, 60):
    ...     sizes.note(size)
    Traceback (most recent call last):
    ValueError: step 2 has a batch of 60 people, 120 in all so far, where 30.0 a step are expected: these are not the \
batches of poisson_batches, or not each of their people once, and the account holds for no others
    """

    def __init__(self, people: int, rate: float) -> None:
        self.people = validate.whole("people", people)
        self.rate = validate.number("rate", rate, 0, 1, open_low=True)
        self.first, self.last, self.middle = middle_sizes(self.people, self.rate)
        self.steps = self.draws = self.in_the_middle = 0

    def note(self, size: int) -> None:
        """Write down one more size; ValueError where a law is broken."""
        self.steps += 1
        self.draws += size
        self.in_the_middle += self.first <= size <= self.last
        rare = FALSE_ALARM_RATE / (5 * self.steps * (self.steps + 1))
        sizes = _tails(size, self.people, self.rate), _tails(self.draws, self.people * self.steps, self.rate)
        if min(map(min, sizes)) < rare:
            raise ValueError(
                f"step {self.steps:,} has a batch of {size:,} people, {self.draws:,} in all so far, where "
                f"{self.people * self.rate:.1f} a step are expected: these are not the batches of poisson_batches, or not "
                "each of their people once, and the account holds for no others"
            )
        if _tails(self.in_the_middle, self.steps, self.middle)[1] < rare:
            raise ValueError(
                f"{self.in_the_middle:,} of {self.steps:,} batches have {self.first:,} to {self.last:,} people, where "
                f"{self.middle:.0%} are expected: shuffled batches do not differ in size as coins do, and the account "
                "holds for poisson_batches only"
            )


def _tails(count, trials, probability):
    """Return the probabilities of so few and of so many."""
    return bdtr(count, trials, probability), bdtrc(count - 1, trials, probability)
