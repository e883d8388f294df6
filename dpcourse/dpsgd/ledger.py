"""What training has cost so far, and what still fits: noisy SGD accounted for by every accountant of the course.

The privacy unit: neighbours differ by one person added or removed, each batch is a Poisson sample, and the noise has
standard deviation noise_multiplier times the clipping norm. A run is (noise_multiplier, sample_rate, steps); what
several runs cost together does not depend on their order.
"""

import functools
import math
import operator
from collections import Counter
from typing import NamedTuple

from dpcourse import clt, gdp, pld, rdp, validate

MOST_STEPS = 10**12  # that a budget may allow, and beyond which no limit is searched
NOISES = 0.01, 1e6  # among which noise_for searches
NARROW = 1e-3  # an interval whose upper end needs no second bound beside it, relative to that end
NOISE_WIDTH = 5e-4  # of noise_for, relative
Kind = tuple[float, float]  # of a step: noise_multiplier, sample_rate


class BudgetError(ValueError):
    """The budget has no room for this."""


class Epsilons(NamedTuple):
    """epsilon by each accountant.

    clt: an approximation, which may lie below the truth. moments_accountant and rdp: upper bounds, by the classic and
    the improved conversion. exact: pld.Bounds, a certified interval.
    """

    clt: float
    moments_accountant: float
    rdp: float
    exact: pld.Bounds


class Ledger:
    """The runs of noisy SGD on the same people, and their epsilon at a fixed delta.

    delta: in (0, 1); budget: None, or the epsilon > 0 that the certified upper bound may never pass. ValueError
    otherwise. `runs` lists (noise_multiplier, sample_rate, steps) in the order in which they were spent.

    >>> ledger = Ledger(delta=1e-5, budget=2.0)
    >>> ledger.spend(noise_multiplier=1.0, sample_rate=0.01, steps=1000)
    >>> round(ledger.epsilon(), 4), ledger.steps_left(1.0, 0.01)
    (1.8282, 202)
    >>> ledger.spend(1.0, 0.01, 203)
    Traceback (most recent call last):
    dpcourse.dpsgd.ledger.BudgetError: the budget, epsilon 2.0 at delta 1e-05, has no room for 203 more steps at noise \
multiplier 1.0 and sample rate 0.01: epsilon would be 2.00062; 202 fit
    """

    def __init__(self, delta: float, budget: float | None = None) -> None:
        self.delta = validate.number("delta", delta, 0, 1, open_low=True, open_high=True)
        self.budget = None if budget is None else validate.number("budget", budget, 0, open_low=True)
        self._runs: list[tuple[float, float, int]] = []
        self._taken: Counter[Kind] = Counter()  # steps
        self._known: dict[Kind, tuple[int, int]] = {}  # so many steps are known to fit, so many are known not to

    @property
    def runs(self) -> list[tuple[float, float, int]]:
        return list(self._runs)

    def spend(self, noise_multiplier: float, sample_rate: float, steps: int = 1) -> None:
        """Write down `steps` steps, before they are taken; what the budget has no room for is refused, nothing written.

        noise_multiplier: > 0; sample_rate: in (0, 1]; steps: whole, >= 1. ValueError otherwise; BudgetError, which is
        one, where the certified upper bound on epsilon would pass the budget.
        Takes microseconds while a run goes on, and one exact composition now and then, or when noise or rate change.
        """
        kind, steps = _run(noise_multiplier, sample_rate, steps)
        if not self._fits(kind, self._taken[kind] + steps):
            noise, rate = kind
            raise BudgetError(
                f"the budget, epsilon {self.budget} at delta {self.delta}, has no room for {steps:,} more steps at noise "
                f"multiplier {noise} and sample rate {rate}: epsilon would be "
                f"{self.after(noise, rate, steps).epsilon():.7g}; {self.steps_left(noise, rate):,} fit"
            )
        self._write(kind, steps)

    def steps_left(self, noise_multiplier: float, sample_rate: float) -> float:
        """How many more steps fit into the budget: the largest number that spend accepts; infinity without a budget.

        noise_multiplier: > 0; sample_rate: in (0, 1]. ValueError otherwise. The first call searches, in a second or so.
        """
        kind, _ = _run(noise_multiplier, sample_rate, 1)
        if self.budget is None:
            return math.inf
        while self._fits(kind, self._room(kind)[0] + 1):
            pass
        return self._room(kind)[0] - self._taken[kind]

    def epsilon(self) -> float:
        """A certified upper bound on epsilon so far; 0 before the first step.

        What bounds more steps bounds these too. Source: pld (see there), and where its interval is wide, the improved
        conversion of rdp if that is smaller.
        """
        more = [_upper(self._parts({kind: fits}), self.delta) for kind, (fits, _) in self._known.items()]
        return min([_upper(self._parts(), self.delta), *more])

    def epsilons(self) -> Epsilons:
        """epsilon so far, by every accountant.

        Source: clt.noisy_sgd_mu and gdp.compose, for different runs together; rdp.epsilon_of_runs; pld.

        >>> ledger = Ledger(1e-5).after(1.0, 0.01, 1000)
        >>> clt, moments_accountant, rdp, exact = ledger.epsilons()
        >>> [round(value, 3) for value in (clt, exact.lower, exact.upper, rdp, moments_accountant)]
        [1.618, 1.828, 1.828, 2.101, 2.538]
        """
        parts = self._parts()
        if not parts:
            return Epsilons(0.0, 0.0, 0.0, pld.Bounds(0.0, 0.0))
        runs = [(*kind, steps) for kind, steps in parts]
        lower, upper = _interval(parts, self.delta, NARROW)
        return Epsilons(
            _limit(runs, self.delta),
            rdp.epsilon_of_runs(runs, self.delta, "classic"),
            rdp.epsilon_of_runs(runs, self.delta),
            pld.Bounds(lower, min(upper, self.epsilon())),
        )

    def after(self, noise_multiplier: float, sample_rate: float, steps: int) -> "Ledger":
        """A new ledger as it would be after `steps` more steps, whether or not the budget has room for them.

        The arguments and ValueError are those of spend; nothing is written into this ledger.

        >>> round(Ledger(1e-5, budget=1.0).after(1.0, 0.01, 1000).epsilon(), 4)
        1.8282
        """
        later = Ledger(self.delta, self.budget)
        for noise, rate, taken in [*self._runs, (noise_multiplier, sample_rate, steps)]:
            later._write(*_run(noise, rate, taken))
        return later

    def state_dict(self) -> dict:
        """Everything, as plain JSON numbers.

        >>> Ledger(1e-5, budget=3.0).after(1.0, 0.01, 1000).state_dict()
        {'delta': 1e-05, 'budget': 3.0, 'runs': [[1.0, 0.01, 1000]]}
        """
        return {"delta": self.delta, "budget": self.budget, "runs": [list(run) for run in self._runs]}

    @classmethod
    def from_state_dict(cls, state: dict) -> "Ledger":
        """The ledger whose state_dict this is. ValueError where it is none.

        >>> Ledger.from_state_dict({"delta": 1e-05, "budget": None, "runs": [[1.0, 0.01, -3]]})
        Traceback (most recent call last):
        ValueError: the state of this ledger is damaged: steps must be a whole number >= 1, got -3
        """
        try:
            ledger = cls(state["delta"], state["budget"])
            for noise, rate, steps in state["runs"]:
                ledger._write(*_run(noise, rate, steps))
        except (KeyError, TypeError, ValueError) as error:
            said = f"there is no {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"the state of this ledger is damaged: {said}") from None
        if ledger.state_dict() != state:
            raise ValueError(f"the state of this ledger is damaged: {state!r} is not what state_dict gives")
        return ledger

    def _parts(self, instead=()):
        """The runs for any order of them: pairs of (noise_multiplier, sample_rate) and all its steps, or those instead."""
        return tuple(sorted((kind, steps) for kind, steps in {**self._taken, **dict(instead)}.items() if steps))

    def _write(self, kind, steps):
        if self._runs and self._runs[-1][:2] == kind:
            steps_before = self._runs.pop()[2]
            self._runs.append((*kind, steps_before + steps))
        else:
            self._runs.append((*kind, steps))
            self._known = {kind: self._known[kind]} if kind in self._known else {}  # the others have less room now
        self._taken[kind] += steps

    def _room(self, kind):
        return self._known.get(kind, (self._taken[kind], MOST_STEPS + 1))

    def _fits(self, kind, steps):
        """Whether the budget has room for so many steps of this kind in all; what it computes on the way, it keeps.

        More steps never cost less, so what fits twice as many, or half of what is known not to, settles many questions.
        """
        if self.budget is None:
            return True
        fits, fails = self._room(kind)
        while fits < steps < fails:
            probe = max(steps, min(2 * steps, (fits + fails) // 2))
            if _upper(self._parts({kind: probe}), self.delta) <= self.budget:
                fits = probe
            else:
                fails = probe
            self._known[kind] = fits, fails
        return steps <= fits


def noise_for(epsilon: float, delta: float, sample_rate: float, steps: int) -> float:
    """The smallest noise multiplier, to 5e-4 of it, whose certified upper bound on epsilon is at most `epsilon`.

    epsilon: > 0; delta: in (0, 1); sample_rate: in (0, 1]; steps: whole, >= 1. ValueError otherwise; BudgetError, which
    is one, where a million is not enough. At least 0.01. Source: bisection of Ledger.epsilon.

    >>> noise = noise_for(epsilon=2.0, delta=1e-5, sample_rate=0.01, steps=1000)
    >>> round(noise, 3), round(Ledger(1e-5).after(noise, 0.01, 1000).epsilon(), 3)
    (0.959, 1.999)
    """
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    delta = validate.number("delta", delta, 0, 1, open_low=True, open_high=True)
    low, high = NOISES
    (_, rate), steps = _run(high, sample_rate, steps)

    def spent(noise):
        return _upper((((noise, rate), steps),), delta)

    if spent(high) > epsilon:
        raise BudgetError(
            f"no noise multiplier up to {high:,.0f} keeps {steps:,} steps at sample rate {rate} within epsilon {epsilon} "
            f"at delta {delta}: there the certified upper bound is {spent(high):.3g}"
        )
    if spent(low) <= epsilon:
        return low
    while high > low * (1 + NOISE_WIDTH):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if spent(middle) > epsilon else (low, middle)
    return high


def _run(noise_multiplier, sample_rate, steps):
    """The kind of the steps, and how many, as plain numbers."""
    noise = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    rate = validate.number("sample_rate", sample_rate, 0, 1, open_low=True)
    return (noise, rate), validate.whole("steps", steps)


def _limit(runs, delta):
    """epsilon by the central limit theorem; infinity where mu is too large for a double, that is, nearly without noise."""
    try:
        return gdp.epsilon(delta, gdp.compose([clt.noisy_sgd_mu(*run) for run in runs]))
    except OverflowError:
        return math.inf


@functools.lru_cache(maxsize=1024)
def _interval(parts, delta, width):
    """A certified interval of epsilon, as narrow as `width` where that can be had."""
    curve = functools.reduce(operator.matmul, (pld.noisy_sgd(*kind, steps) for kind, steps in parts))
    try:
        return curve.epsilon(delta, width)
    except pld.Unreachable as wide:
        return wide.bounds


@functools.lru_cache(maxsize=1024)
def _upper(parts, delta):
    """A certified upper bound on epsilon, quickly: any width is met at once."""
    if not parts:
        return 0.0
    bounds = _interval(parts, delta, 1)
    if bounds.lower >= (1 - NARROW) * bounds.upper:
        return bounds.upper
    return min(bounds.upper, rdp.epsilon_of_runs([(*kind, steps) for kind, steps in parts], delta))
