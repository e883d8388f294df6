"""One plan of a training: from what is wanted to noise, steps, ledger and optimizer, which agree since they are one thing."""

import functools
from dataclasses import dataclass

from dpcourse.base import rounding, validate
from dpcourse.base.languages import say
from dpcourse.dpsgd.ledger import Ledger, noise_for

ADDED = "a row added or removed"
EMPTIED = "a row emptied"
UNITS = EMPTIED, ADDED


@dataclass(frozen=True)
class Plan:
    """A training that was planned, as `plan` gives it; printed, it is what a report says of the privacy.

    epsilon, delta, people, batch (expected), clip_norm, unit: as asked for; steps: how many; noise_multiplier: the least
    that keeps epsilon. `settings` are those of an optimizer, `public_n` is what fit takes.
    """

    epsilon: float
    delta: float
    people: int
    batch: float
    steps: int
    noise_multiplier: float
    clip_norm: float
    unit: str

    @property
    def sample_rate(self) -> float:
        return self.batch / self.people

    @property
    def public_n(self) -> int | None:
        return self.people if self.unit == ADDED else None

    @property
    def settings(self) -> dict[str, float]:
        """What an optimizer is given, beside the parameters and its lr."""
        return {"noise_multiplier": self.noise_multiplier, "clip_norm": self.clip_norm, "expected_batch": self.batch}

    def ledger(self) -> Ledger:
        """Return an empty ledger in which there is room for these steps and no others."""
        return Ledger(self.delta, self.epsilon, plan=[(self.noise_multiplier, self.sample_rate, self.steps)])

    @functools.cached_property
    def mu(self) -> float:
        """The mu for which the steps are mu-GDP, but for a failure of probability delta: an upper bound."""
        return self._spent.curve().mu(self.delta).upper

    @functools.cached_property
    def _spent(self):
        return self.ledger().after(self.noise_multiplier, self.sample_rate, self.steps)

    def __repr__(self) -> str:
        return say(
            "(ε, δ)-differential privacy with ε at most {epsilon} at δ {delta}, for {unit}. DP-SGD: {steps:,} steps, "
            "Poisson batches with sample rate {rate:.6g} (expected batch {batch:g} of {people:,}), gradients clipped at "
            "{clip:g} for each row, noise multiplier {noise:.6g}. Accountant: exact composition, certified upper bound. "
            "As f-DP: μ-GDP with μ at most {mu}, but for δ₀ {delta}. All this for noise that is exactly Gaussian, as that of "
            "generator='secure'.",
            epsilon=rounding.up(self._spent.epsilon(), 4),
            delta=self.delta,
            unit=say("a row emptied") if self.unit == EMPTIED else say("a row added or removed"),
            steps=self.steps,
            rate=self.sample_rate,
            batch=self.batch,
            people=self.people,
            clip=self.clip_norm,
            noise=self.noise_multiplier,
            mu=rounding.up(self.mu, 4),
        )


def plan(
    epsilon: float,
    delta: float,
    people: int,
    batch: float,
    epochs: float,
    *,
    clip_norm: float = 1.0,
    unit: str = EMPTIED,
) -> Plan:
    """Return the plan of a training within epsilon at delta: the least noise, and all that follows from the settings.

    epsilon: > 0; delta: in (0, 1); people: whole, >= 1, the rows, or, for the unit "a row added or removed", a number
    that was written down before the rows were counted; batch: the expected one, in (0, people]; epochs: > 0, how often
    each person is drawn on average; clip_norm: > 0; unit: "a row emptied" or "a row added or removed". ValueError
    otherwise; BudgetError, which is one, where no noise is enough.

    >>> from dpcourse import dpsgd
    >>> planned = plan(epsilon=3, delta=1e-5, people=60_000, batch=600, epochs=10)
    >>> planned.steps, round(planned.noise_multiplier, 3), round(planned.mu, 3)
    (1000, 0.814, 0.719)
    >>> model = dpsgd.logistic(generator=0)
    >>> optimizer = dpsgd.NoisySGD(model.parameters(), lr=0.5, **planned.settings)
    >>> planned.ledger().steps_left(planned.noise_multiplier, planned.sample_rate)
    1000
    """
    people = validate.whole("people", people)
    batch = validate.number("batch", batch, 0, people, open_low=True)
    epochs = validate.number("epochs", epochs, 0, open_low=True)
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {list(UNITS)}, got {unit!r}")
    steps = max(1, round(epochs * people / batch))
    noise = noise_for(epsilon, delta, batch / people, steps)
    return Plan(float(epsilon), float(delta), people, batch, steps, noise, clip_norm, unit)
