"""Training without coins: every epoch takes all rows in the same order, with noise that remembers (DP-FTRL).

Where nobody can toss a coin for each row and step, as for telephones that come and go, nothing is gained by sampling, and
noise that is taken back later has to make up for it (lesson 09).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from dpcourse import gdp, matrix
from dpcourse.base import rounding, validate
from dpcourse.base.languages import say
from dpcourse.dpsgd import generators
from dpcourse.dpsgd.ledger import Ledger


@dataclass(frozen=True)
class InOrder:
    """A training in a fixed order, as `in_order` gives it; printed, it is what a report says of the privacy.

    epsilon, delta, people, batch, epochs, clip_norm: as asked for; strategy: what the noise remembers; noise_multiplier:
    of the fresh noise, the least that keeps epsilon.
    """

    epsilon: float
    delta: float
    people: int
    batch: int
    epochs: int
    clip_norm: float
    strategy: matrix.Filter
    noise_multiplier: float

    @property
    def an_epoch(self) -> int:
        """The steps of an epoch, which are between two of a row's batches."""
        return -(-self.people // self.batch)

    @property
    def steps(self) -> int:
        return self.epochs * self.an_epoch

    @property
    def mu(self) -> float:
        """The mu for which the whole training is mu-GDP: an upper bound."""
        return matrix.sensitivity(self.strategy, self.epochs, self.an_epoch).upper / self.noise_multiplier

    @property
    def settings(self) -> dict[str, Any]:
        """What an optimizer is given, beside the parameters and its lr."""
        return {
            "noise_multiplier": self.noise_multiplier,
            "clip_norm": self.clip_norm,
            "expected_batch": float(self.batch),
            "strategy": self.strategy,
        }

    def batches(self, generator: generators.Source = None) -> Iterator[torch.Tensor]:
        """Return an iterator over the batches of all epochs: index tensors, in an order that is drawn once.

        generator: a torch.Generator on the CPU, a seed, or None. Each row is in one batch of an epoch, the same in all.

        >>> [batch.tolist() for batch in in_order(1.0, 1e-3, people=5, batch=2, epochs=1).batches(generator=0)]
        [[0, 3], [1, 4], [2]]
        """
        drawn_from = generators.make(generator, "coins")
        order = torch.argsort(generators.uniform(self.people, drawn_from))
        return (part for _ in range(self.epochs) for part in order.split(self.batch))

    def ledger(self) -> Ledger:
        """Return a ledger in which the whole training stands as one step that takes everybody, and no room for others.

        With other releases about the same people it is one entry more, with sample rate 1 and the noise multiplier 1 / mu.
        """
        entry = (1 / self.mu, 1.0, 1)
        return Ledger(self.delta, plan=[entry]).after(*entry)

    def __repr__(self) -> str:
        return say(
            "(ε, δ)-differential privacy with ε at most {epsilon} at δ {delta}, for a row emptied. DP-FTRL: {steps:,} steps, "
            "{epochs} epochs in one order (batches of {batch:,} of {people:,}), gradients clipped at {clip:g} for each "
            "row, noise that remembers {memory} vectors, noise multiplier {noise:.6g}. Accountant: one Gaussian mechanism; "
            "μ-GDP with μ at most {mu}. All this for noise that is exactly Gaussian, which floating-point noise is not.",
            epsilon=rounding.up(gdp.epsilon(self.delta, self.mu), 4),
            delta=self.delta,
            steps=self.steps,
            epochs=self.epochs,
            batch=self.batch,
            people=self.people,
            clip=self.clip_norm,
            memory=self.strategy.memory,
            noise=self.noise_multiplier,
            mu=rounding.up(self.mu, 4),
        )


def in_order(
    epsilon: float,
    delta: float,
    people: int,
    batch: int,
    epochs: int,
    *,
    clip_norm: float = 1.0,
    strategy: matrix.Filter | None = None,
) -> InOrder:
    """Return the plan of a training without coins within epsilon at delta, for a row emptied: DP-FTRL.

    epsilon: > 0; delta: in (0, 1); people: whole, >= 1, the rows, filled or empty; batch: whole, from 1 to people;
    epochs: whole, >= 1; clip_norm: > 0; strategy: of as many steps as the training has; None: `matrix.banded` with as
    many bands as an epoch has steps, at most 64. ValueError otherwise. What the account takes for granted, and no program
    sees: batches are those of `batches`, and nothing but the noisy sums is released.
    Source: Kairouz et al. (2021), Practical and private (deep) learning without sampling or shuffling; Denisov et al.
    (2022), theorem 2.1; Choquette-Choo et al. (2023).

    >>> from dpcourse import dpsgd
    >>> planned = in_order(epsilon=3, delta=1e-5, people=1500, batch=100, epochs=4)
    >>> planned.steps, planned.strategy.memory, round(planned.mu, 3)
    (60, 14, 0.719)
    >>> data, model = dpsgd.digits(), dpsgd.logistic(shape=(1, 8, 8), generator=0)
    >>> optimizer = dpsgd.NoisySGD(model.parameters(), lr=0.5, **planned.settings)
    >>> loss = torch.nn.CrossEntropyLoss(reduction="none")
    >>> planned = in_order(epsilon=3, delta=1e-5, people=len(data), batch=100, epochs=4)
    >>> for batch in planned.batches(generator=0):
    ...     _ = optimizer.accumulate(model, loss, *data.chosen(batch))
    ...     optimizer.step()
    """
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    delta = validate.number("delta", delta, 0, 1, open_low=True, open_high=True)
    people, epochs = validate.whole("people", people), validate.whole("epochs", epochs)
    batch = validate.whole("batch", batch)
    if batch > people:
        raise ValueError(f"batch must be at most people, {people}, got {batch}")
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    an_epoch = -(-people // batch)
    if strategy is None:
        strategy = matrix.banded(epochs * an_epoch, min(an_epoch, 64), epochs, an_epoch)
    if not isinstance(strategy, matrix.Filter) or strategy.steps != epochs * an_epoch:
        steps = getattr(strategy, "steps", type(strategy).__name__)
        raise ValueError(f"strategy must be a matrix.Filter of {epochs * an_epoch:,} steps, got {steps}")
    size = matrix.sensitivity(strategy, epochs, an_epoch).upper
    noise = size / (gdp.mu(epsilon, delta) * (1 - 1e-9))
    return InOrder(epsilon, delta, people, batch, epochs, clip_norm, strategy, noise * (1 + 2e-9))
