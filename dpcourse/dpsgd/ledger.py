"""What training has cost so far, and what still fits: noisy SGD accounted for by every accountant of the course.

The privacy unit: neighbours differ by one row emptied. An empty row tosses its coin like the others, and its gradient
is 0; so the number of rows is public. For a row added or removed the account holds only if no setting comes from the
number of rows. Each batch is a Poisson sample, and the noise has standard deviation noise_multiplier times the clipping
norm. A run is (noise_multiplier, sample_rate, steps); what several runs cost together does not depend on their order.
"""

import copy
import functools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from dpcourse import clt, gdp, pld, rdp, tradeoff
from dpcourse.base import rounding, validate

MOST_STEPS = 10**12  # that a budget may allow, and beyond which no limit is searched
NOISES = 0.01, 1e6  # among which noise_for searches
NARROW = 1e-3  # an interval whose upper end needs no second bound beside it, relative to that end
NOISE_WIDTH = 5e-4  # of noise_for, relative
ORDERS = 1 + np.geomspace(0.01, 1e4, 601)  # of Rényi, from which a filter takes one
SAME = 1e-12  # settings that differ by less, relatively, differ by rounding: rate * n / n
GAUSSIAN = "gaussian"  # the filter of steps without coins
Rate = float | Literal["laplace"]
Kind = tuple[float, Rate]  # of a step: noise_multiplier, sample_rate
Several = Sequence[tuple[float, Rate, int]]


class BudgetError(ValueError):
    """The ledger has no room for these steps: not in the budget, or not in what was fixed before the first output."""


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
    """The runs of noisy SGD on the same people, and what may be claimed of them at a fixed delta.

    delta: in (0, 1); budget: None, or the epsilon > 0 that may never be passed. The outputs may choose what is asked
    next, the weights. How much noise there will be is fixed before the first of them is seen, in one of four ways:

    - by the first spend: its noise_multiplier and sample_rate are those of all steps, as many as the budget allows;
    - by plan, a list of (noise_multiplier, sample_rate, steps): all the steps that there may be, in any order;
    - adaptive=True, which needs a budget: nothing is fixed. Settings may depend on everything seen, and steps count by
      their Rényi divergence at one order, which leaves room for fewer of them;
    - adaptive="gaussian", which needs a budget: only the sample rate is fixed, at 1, so every step takes everybody. The
      noise may depend on everything seen, and nothing is lost: steps cost what they would cost had it been fixed.

    ValueError otherwise; BudgetError, which is one, where the plan costs more than the budget.

    `epsilon()` is that of the steps so far, and holds if their number was fixed beforehand. `planned()` holds for a stop
    that was computed from what is released with noise. Both hold for a row emptied; for a row added or removed only if
    no setting comes from the number of rows. `runs` lists (noise_multiplier, sample_rate, steps) in the order in which
    they were spent.

    Other releases about the same people stand in the same ledger: one with Gaussian noise for everybody is a step with
    sample_rate 1, whose noise_multiplier is the deviation over the sensitivity; one with Laplace noise has sample_rate
    "laplace", and noise_multiplier is its scale over the sensitivity.

    Source: Feldman & Zrnic (2021), Individual privacy accounting via a Rényi filter, theorem 4.3, and Lécuyer (2021),
    Practical privacy filters and odometers with Rényi differential privacy, for adaptive. The order of a plan is free:
    after any first step the same others are left, which by induction cost together what they cost in a fixed order,
    whatever the first output was; so composition adds the first step to them. A stop leaves some of this unpublished.

    For adaptive="gaussian", as Smith & Thakurta (2022), Fully adaptive composition for Gaussian differential privacy,
    and Koskela, Tobaben & Honkela (2022), Individual privacy accounting with Gaussian differential privacy: let step i
    be mu_i-GDP, mu_i = 1 / noise multiplier, chosen from the outputs before it, with mu_1² + mu_2² + ... at most mu²,
    and epsilon(delta; G_mu) the budget. Let r_i² be what step i and those before it leave of mu². A last step with
    mu = r_i, thrown away, makes every run use up mu². Then given all outputs before step i, what comes from step i on
    is r_(i-1)-GDP, by induction from the last step, which is one Gaussian step: r_i depends on the outputs before step i
    and not on that of step i, so whatever step i says, what follows it is r_i-GDP, and composition makes of the two
    sqrt(mu_i² + r_i²) = r_(i-1). Before step 1 that is mu. (With coins, a step is G_mu only for the mu of no coins.)

    >>> ledger = Ledger(delta=1e-5, budget=2.0)
    >>> ledger.spend(noise_multiplier=1.0, sample_rate=0.01, steps=1000)
    >>> round(ledger.epsilon(), 4), ledger.steps_left(1.0, 0.01), ledger.planned()
    (1.8282, 202, 2.0)
    >>> ledger.spend(1.0, 0.01, 203)
    Traceback (most recent call last):
    dpcourse.dpsgd.ledger.BudgetError: the budget, epsilon 2.0 at delta 1e-05, has no room for 203 more steps at noise \
multiplier 1.0 and sample rate 0.01: epsilon would be 2.00062; 202 fit
    >>> Ledger(1e-5, 2.0, plan=[(1.0, 0.01, 600), (1.5, 0.02, 500)]).steps_left(1.5, 0.02)
    500
    >>> Ledger(1e-5, 2.0, adaptive=True).steps_left(1.0, 0.01)
    875
    >>> [Ledger(1e-5, 2.0, adaptive=how).steps_left(10.0, 1.0) for how in (False, True, "gaussian")]
    [25, 19, 25]
    >>> round(Ledger(1e-5, plan=[(1.0, 0.01, 1000), (4.0, "laplace", 2)]).planned(), 3)  # a training, and two counts
    2.162
    """

    def __init__(
        self,
        delta: float,
        budget: float | None = None,
        *,
        plan: Several | None = None,
        adaptive: bool | Literal["gaussian"] = False,
    ) -> None:
        self.delta = validate.number("delta", delta, 0, 1, open_low=True, open_high=True)
        self.budget = None if budget is None else validate.number("budget", budget, 0, open_low=True)
        self.plan = None if plan is None else _plan(plan)
        if not (isinstance(adaptive, bool) or adaptive == GAUSSIAN):
            raise ValueError(f"adaptive must be False, True or {GAUSSIAN!r}, got {adaptive!r}")
        self.adaptive = adaptive
        self._runs: list[tuple[float, Rate, int]] = []
        self._taken: Counter[Kind] = Counter()  # steps
        self._known: dict[Kind, tuple[int, int]] = {}  # so many steps are known to fit, so many are known not to
        self._allowed: Counter[Kind] = Counter()  # steps, by the plan
        for run in self.plan or []:
            kind, steps = self._run(*run)
            self._allowed[kind] += steps
        if self.adaptive and (self.plan is not None or self.budget is None):
            raise ValueError(
                f"adaptive must be False, or the ledger have a budget and no plan, got adaptive={adaptive!r}"
            )
        if self.adaptive is True:
            self._order = _order(self.budget, self.delta)
        if self.plan is not None and self.budget is not None and self.planned() > self.budget:
            raise BudgetError(
                f"the plan costs epsilon {self.planned():.7g} at delta {self.delta}, and the budget is {self.budget}: "
                "plan fewer steps, or more noise (noise_for)"
            )

    def __repr__(self) -> str:
        """What was spent, and what that costs at most."""
        limit = "" if self.budget is None else f", budget={self.budget}"
        adaptive = f", adaptive={self.adaptive!r}" if self.adaptive else ""
        of = {"planned": self.plan or [], "spent": self._runs}
        lines = [f"{what}: {steps:,} at {_in_words(noise, rate)}" for what in of for noise, rate, steps in of[what]]
        cost = f"epsilon at most {rounding.up(self.epsilon(), 4)} so far"
        if self.planned() < math.inf:
            cost += f", {rounding.up(self.planned(), 4)} as planned"
        return "\n".join([f"Ledger(delta={self.delta}{limit}{adaptive})", *lines, cost])

    @property
    def runs(self) -> Several:
        return list(self._runs)

    def spend(self, noise_multiplier: float, sample_rate: Rate, steps: int = 1) -> None:
        """Write down `steps` steps, before they are taken; what the ledger's promise does not cover is refused.

        noise_multiplier: > 0; sample_rate: in (0, 1], or "laplace"; steps: whole, >= 1. ValueError otherwise; BudgetError, which is
        one, and nothing written, where the budget would be passed, or where the settings are others than those fixed.
        Takes microseconds while a run goes on, and one exact composition now and then, or when noise or rate change.
        """
        self.refuse_if_not_covered(noise_multiplier, sample_rate, steps)
        self._write(*self._run(noise_multiplier, sample_rate, steps))

    def taken(self, noise_multiplier: float, sample_rate: Rate) -> int:
        """Return how many steps with these settings are written down.

        noise_multiplier: > 0; sample_rate: in (0, 1]. ValueError otherwise.

        >>> Ledger(1e-5).after(1.0, 0.01, 1000).taken(1.0, 0.01)
        1000
        """
        kind, _ = self._run(noise_multiplier, sample_rate, 1)
        return sum(steps for of, steps in self._taken.items() if _same(of, kind))

    def refuse_if_not_covered(self, noise_multiplier: float, sample_rate: Rate, steps: int) -> None:
        """Raise what spend would raise for these steps; nothing is written either way."""
        kind, steps = self._run(noise_multiplier, sample_rate, steps)
        noise, rate = kind
        these = _in_words(noise, rate)
        if self.plan is not None:
            left = self._allowed[kind] - self._taken[kind]
            if steps > left:
                raise BudgetError(
                    f"the plan {self.plan} has {max(left, 0):,} steps left at {these}, not {steps:,}: what was not "
                    "planned before an output was seen is not covered; a Ledger with adaptive=True covers it"
                )
        elif not self.covers(noise, rate):
            if self.adaptive:
                raise BudgetError(
                    f"adaptive={GAUSSIAN!r} covers steps that take everybody, at sample rate 1, and the next are to "
                    f"have {these}: make the Ledger with adaptive=True"
                )
            before = ", ".join(_in_words(*kind) for kind in self._taken)
            raise BudgetError(
                f"this ledger has steps at {before}, and the next are to have {these}: settings that are chosen after "
                "an output was seen are not covered. Make the Ledger with all its runs, "
                "plan=[(noise_multiplier, sample_rate, steps), ...], or with adaptive=True"
            )
        elif not self._fits(kind, self._taken[kind] + steps):
            raise BudgetError(
                f"the budget, epsilon {self.budget} at delta {self.delta}, has no room for {steps:,} more steps at "
                f"{these}: epsilon would be {self.after(noise, rate, steps).epsilon():.7g}; "
                f"{self.steps_left(noise, rate):,} fit"
            )

    def covers(self, noise_multiplier: float, sample_rate: Rate) -> bool:
        """Return whether steps with these settings may be spent, as far as there is room for them.

        noise_multiplier: > 0; sample_rate: in (0, 1]. ValueError otherwise.

        >>> ledger = Ledger(1e-5).after(1.0, 0.01, 1000)
        >>> ledger.covers(1.0, 0.01), ledger.covers(0.9, 0.01)
        (True, False)
        """
        kind, _ = self._run(noise_multiplier, sample_rate, 1)
        if self.plan is not None:
            return kind in self._allowed
        if self.adaptive == GAUSSIAN:
            return kind[1] == 1
        return bool(self.adaptive) or set(self._taken) <= {kind}

    def steps_left(self, noise_multiplier: float, sample_rate: Rate) -> float:
        """Return how many more steps there is room for: the most that spend accepts; infinity without a limit.

        noise_multiplier: > 0; sample_rate: in (0, 1]. ValueError otherwise. The first call searches, in a second or so.
        """
        kind, _ = self._run(noise_multiplier, sample_rate, 1)
        if self.plan is not None:
            return max(0, self._allowed[kind] - self._taken[kind])
        if not self.covers(*kind):
            return 0
        if self.budget is None:
            return math.inf
        while self._fits(kind, self._room(kind)[0] + 1):
            pass
        return self._room(kind)[0] - self._taken[kind]

    def epsilon(self) -> float:
        """Return a certified upper bound on epsilon so far, for a number of steps fixed beforehand; 0 before the first step.

        What bounds more steps bounds these too. With adaptive no less than the budget is proved, from the first step
        on. Source: pld (see there), and where its interval is wide, the improved conversion of rdp if that is smaller.
        """
        if self.adaptive:
            return max(self.budget, self._cost()) if self._runs else 0.0
        return self._bound()

    def planned(self) -> float:
        """Return the epsilon of all planned steps, at most the budget.

        It holds wherever a run stops, if the stop was computed from what was released with noise, and from nothing else.
        Infinity where nothing limits the steps, neither a budget nor a plan, or where more has been written, by after,
        than was fixed.

        >>> plan = [(1.0, 0.01, 1000)]
        >>> [round(Ledger(1e-5, *how, plan=plan).planned(), 4) for how in ((), (2.0,))]
        [1.8282, 1.8282]
        >>> Ledger(1e-5, 2.0).planned(), Ledger(1e-5, 2.0, adaptive=True).planned(), Ledger(1e-5).planned()
        (2.0, 2.0, inf)
        """
        if self.plan is not None:
            return _upper(self._parts(self._allowed), self.delta) if self._as_planned() else math.inf
        if self.budget is None or not all(self.covers(*kind) for kind in self._taken):
            return math.inf
        return self.budget if self.epsilon() <= self.budget else math.inf

    def epsilons(self) -> Epsilons:
        """Return epsilon so far, by every accountant, for settings and a number of steps that were fixed beforehand.

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
            pld.Bounds(lower, min(upper, self._bound())),
        )

    def curve(self) -> pld.Curve:
        """Return the exact privacy of all steps so far, for settings and a number of steps that were fixed beforehand.

        ValueError before the first step.

        >>> round(Ledger(1e-5).after(1.0, 0.01, 1000).curve().mu(1e-5).upper, 3)
        0.463
        """
        parts = self._parts()
        if not parts:
            raise ValueError("the ledger must have a step, got none: nothing was spent")
        return _composed(parts)

    def after(self, noise_multiplier: float, sample_rate: Rate, steps: int) -> "Ledger":
        """Return a new ledger as after `steps` more steps, whether or not there is room for these: to plan with.

        The arguments and ValueError are those of spend; nothing is written into this ledger. `plan=later.runs` makes a
        ledger for the runs of a later one.

        >>> round(Ledger(1e-5, budget=1.0).after(1.0, 0.01, 1000).epsilon(), 4)
        1.8282
        """
        later = copy.deepcopy(self)
        later._known = {}
        later._write(*self._run(noise_multiplier, sample_rate, steps))
        return later

    def state_dict(self) -> dict:
        """Return the state as plain JSON numbers, with "plan" and "adaptive" where the ledger was made with these.

        >>> Ledger(1e-5, budget=3.0).after(1.0, 0.01, 1000).state_dict()
        {'delta': 1e-05, 'budget': 3.0, 'runs': [[1.0, 0.01, 1000]]}
        """
        state = {"delta": self.delta, "budget": self.budget, "runs": [list(run) for run in self._runs]}
        if self.plan is not None:
            state["plan"] = [list(run) for run in self.plan]
        return state | ({"adaptive": self.adaptive} if self.adaptive else {})

    @classmethod
    def from_state_dict(cls, state: dict) -> "Ledger":
        """Return the ledger whose state_dict this is. ValueError where it is none.

        >>> Ledger.from_state_dict({"delta": 1e-05, "budget": None, "runs": [[1.0, 0.01, -3]]})
        Traceback (most recent call last):
        ValueError: the state of this ledger is damaged: steps must be a whole number >= 1, got -3
        """
        try:
            delta, budget = state["delta"], state["budget"]
            ledger = cls(delta, budget, plan=state.get("plan"), adaptive=state.get("adaptive", False))
            for noise, rate, steps in state["runs"]:
                ledger._write(*_run(noise, rate, steps))
        except (KeyError, TypeError, ValueError) as error:
            said = f"there is no {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"the state of this ledger is damaged: {said}") from None
        if ledger.state_dict() != state:
            raise ValueError(f"the state of this ledger is damaged: {state!r} is not what state_dict gives")
        return ledger

    def _parts(self, instead=()):
        """Return pairs of a kind, (noise_multiplier, sample_rate), and all its steps: of the runs, or of those instead."""
        parts = [(kind, steps) for kind, steps in {**self._taken, **dict(instead)}.items() if steps]
        return tuple(sorted(parts, key=lambda part: (isinstance(part[0][1], str), part)))

    def _run(self, noise_multiplier, sample_rate, steps):
        """Return (kind, how many) of the steps; a kind that differs by rounding from one fixed already is the fixed one."""
        kind, steps = _run(noise_multiplier, sample_rate, steps)
        fixed = () if self.adaptive else (*self._allowed, *self._taken)
        return next((one for one in fixed if _same(one, kind)), kind), steps

    def _as_planned(self):
        return all(steps <= self._allowed[kind] for kind, steps in self._taken.items())

    def _bound(self):
        """Return a certified upper bound on epsilon for settings and numbers of steps that were fixed beforehand."""
        more = [{}, *({kind: fits} for kind, (fits, _) in self._known.items())]
        if self.plan is not None and self._as_planned():
            more.append(self._allowed)
        return min(_upper(self._parts(instead), self.delta) for instead in more)

    def _cost(self, instead=()):
        """Return the certified epsilon that is kept within the budget, for all steps so far, or for those instead.

        With adaptive=True it is converted from the sum of the divergences at the filter's one order, rounded up.
        """
        parts = self._parts(instead)
        if self.adaptive is not True:
            return _upper(parts, self.delta)
        total = math.fsum(steps * rdp.divergence(*kind, self._order) for kind, steps in parts) * (1 + 1e-9)
        return rdp.CONVERSIONS["improved"](self._order, total, self.delta)

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
        """Return whether the budget has room for so many steps of this kind in all; remember what is computed on the way.

        More steps never cost less, so what fits twice as many, or half of what is known not to, settles many questions.
        """
        if self.budget is None:
            return True
        fits, fails = self._room(kind)
        while fits < steps < fails:
            probe = max(steps, min(2 * steps, (fits + fails) // 2))
            if self._cost({kind: probe}) <= self.budget:
                fits = probe
            else:
                fails = probe
            self._known[kind] = fits, fails
        return steps <= fits


def noise_for(epsilon: float, delta: float, sample_rate: float, steps: int) -> float:
    """Return the smallest noise multiplier, to 5e-4 of it, whose certified upper bound on epsilon is at most `epsilon`.

    epsilon: > 0; delta: in (0, 1); sample_rate: in (0, 1]; steps: whole, >= 1. ValueError otherwise; BudgetError, which
    is one, where a million is not enough. At least 0.01. The account holds for a row emptied; for a row added or removed
    only if sample_rate and steps do not come from the number of rows. Source: bisection of Ledger.epsilon.

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
    """Return the kind of the steps, and how many, as plain numbers."""
    noise = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    laplace = isinstance(sample_rate, str) and sample_rate == rdp.LAPLACE
    rate = rdp.LAPLACE if laplace else validate.number("sample_rate", sample_rate, 0, 1, open_low=True)
    return (noise, rate), validate.whole("steps", steps)


def _plan(plan):
    """Return the runs of a plan, as plain numbers."""
    try:
        runs = [(noise, rate, steps) for noise, rate, steps in plan]
    except (TypeError, ValueError):
        runs = []
    if not runs:
        raise ValueError(f"plan must be a non-empty list of (noise_multiplier, sample_rate, steps), got {plan!r}")
    return [(*kind, steps) for kind, steps in (_run(*run) for run in runs)]


def _order(budget, delta):
    """Return the Rényi order of a filter, from budget and delta alone.

    It is the smallest order that leaves a Gaussian mechanism nine tenths of what the best order would leave: a small
    batch with little noise has a moderate divergence at small orders only.
    """
    convert = rdp.CONVERSIONS["improved"]
    rooms = np.array([(budget - convert(order, 0.0, delta)) / order for order in ORDERS])  # for 1 / (2 sigma^2)
    if rooms.max() <= 0:
        raise BudgetError(f"adaptive=True has no room at all in the budget, epsilon {budget} at delta {delta}")
    return float(ORDERS[np.argmax(rooms >= 0.9 * rooms.max())])


def _same(one, other):
    """Return whether two kinds differ by rounding at most."""
    if isinstance(one[1], str) or isinstance(other[1], str):
        return one[1] == other[1] and math.isclose(one[0], other[0], rel_tol=SAME)
    return all(math.isclose(a, b, rel_tol=SAME) for a, b in zip(one, other, strict=True))


def _curve(kind, steps):
    noise, rate = kind
    return pld.laplace(noise, steps) if rate == rdp.LAPLACE else pld.noisy_sgd(noise, rate, steps)


def _mu(noise, rate, steps):
    """Return the mu of the limit of many steps."""
    if rate == rdp.LAPLACE:
        return math.sqrt(steps) * clt.limit([tradeoff.laplace(1 / noise)])
    return clt.noisy_sgd_mu(noise, rate, steps)


def _in_words(noise, rate):
    return (
        f"Laplace noise of scale {noise}" if rate == rdp.LAPLACE else f"noise multiplier {noise} and sample rate {rate}"
    )


def _limit(runs, delta):
    """Return epsilon by the central limit theorem; infinity where mu is too large for a double: nearly no noise."""
    try:
        return gdp.epsilon(delta, gdp.compose([_mu(*run) for run in runs]))
    except OverflowError:
        return math.inf


def _composed(parts):
    return functools.reduce(operator.matmul, (_curve(kind, steps) for kind, steps in parts))


@functools.lru_cache(maxsize=1024)
def _interval(parts, delta, width):
    """Return a certified interval of epsilon, as narrow as `width` where that can be had."""
    try:
        return _composed(parts).epsilon(delta, width)
    except pld.Unreachable as wide:
        return wide.bounds


@functools.lru_cache(maxsize=1024)
def _upper(parts, delta):
    """Return a certified upper bound on epsilon, quickly: any width is met at once."""
    if not parts:
        return 0.0
    bounds = _interval(parts, delta, 1)
    if bounds.lower >= (1 - NARROW) * bounds.upper:
        return bounds.upper
    return min(bounds.upper, rdp.epsilon_of_runs([(*kind, steps) for kind, steps in parts], delta))
