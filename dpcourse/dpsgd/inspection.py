"""Whether the record of a run fits the privacy that the run claims: six checks, three of them statistical tests."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, chi2

from dpcourse.base import rounding
from dpcourse.base.languages import say
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.recording import DIGITS, Run
from dpcourse.dpsgd.sampling import middle_sizes

FALSE_ALARM_RATE = 1e-6  # of each statistical check, for a run that is as it should be


@dataclass(frozen=True)
class Check:
    """One thing that privacy needs, whether the run has it, and the numbers."""

    what: str
    ok: bool
    numbers: str


class Inspection(list):
    """A list of Check, printed as a table."""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self)

    def __repr__(self) -> str:
        return "\n".join(
            say("{mark} {what}: {numbers}", mark="✓" if check.ok else "✗", what=check.what, numbers=check.numbers)
            for check in self
        )


def inspect(run: Run) -> Inspection:
    """Check whether the record of a run fits the privacy that the run claims, on a GPU, a CPU, or in a recording.

    run: a Run of at least one step, else ValueError. The three statistical checks raise a false alarm with probability
    at most 1e-6 each. What a record cannot show, such as a gradient that was not clipped by itself but only in the
    sum, it cannot tell.

    >>> from dpcourse import dpsgd
    >>> dpsgd.inspect(dpsgd.replay(show=False))
    ✓ people in a batch, on average: 2402.5 a step, expected 2400.0
    ✓ people in a batch, from step to step: 21% of the steps have 2388 to 2412, expected 21%
    ✓ length of the clipped sum: at most 0.212 of people x clip_norm, may be 1
    ✓ noise on the sum: standard deviation 1.3301, claimed 1.33
    ✓ steps in the ledger: 360, taken 360
    ✓ epsilon, computed anew: at most 2.9906 at delta 1e-05, budget 3
    """
    if not run.batches:
        raise ValueError("run must have at least one step, got none")
    return Inspection([_coins(run), _spread(run), _clipped(run), _noise(run), _written_down(run), _within(run)])


def _coins(run: Run) -> Check:
    """Check the number of all draws, which is Binomial(people x steps, rate)."""
    people, rate = run.settings["people"], _rate(run)
    draws, coins = sum(run.batches), people * len(run.batches)
    low, high = binom.interval(1 - FALSE_ALARM_RATE, coins, rate)
    numbers = say("{found:.1f} a step, expected {expected:.1f}", found=draws / len(run.batches), expected=people * rate)
    return Check(say("people in a batch, on average"), bool(low <= draws <= high), numbers)


def _spread(run: Run) -> Check:
    """Check that the sizes of batches vary as coins do; those of shuffled epochs do not vary at all.

    So many of them are in the middle of the law of a size; how many is Binomial(steps, probability of the middle).
    """
    (first, last, middle), steps = middle_sizes(run.settings["people"], _rate(run)), len(run.batches)
    found = sum(first <= batch <= last for batch in run.batches)
    low, high = binom.interval(1 - FALSE_ALARM_RATE, steps, middle)
    numbers = say(
        "{found:.0%} of the steps have {first} to {last}, expected {expected:.0%}",
        found=found / steps,
        first=first,
        last=last,
        expected=middle,
    )
    return Check(say("people in a batch, from step to step"), bool(low <= found <= high), numbers)


def _clipped(run: Run) -> Check:
    """Check the length of the clipped sum: that of so many gradients, none longer than clip_norm, at most."""
    clip_norm = run.settings["clip_norm"]
    share = max(length / max(size * clip_norm, 1e-300) for length, size in zip(run.lengths, run.batches, strict=True))
    numbers = say("at most {share:.3f} of people x clip_norm, may be 1", share=share)
    return Check(say("length of the clipped sum"), bool(share <= 1 + 1e-4), numbers)


def _noise(run: Run) -> Check:
    """Check the size of the noise: the squares of all noise add up to a chi-squared number."""
    scale = run.settings["noise_multiplier"] * run.settings["clip_norm"]
    numbers_drawn = run.settings["weights"] * len(run.noises)
    squares = run.settings["weights"] * float(np.sum((np.array(run.noises) / scale) ** 2))
    low, high = chi2.interval(1 - FALSE_ALARM_RATE, numbers_drawn)
    found = scale * np.sqrt(squares / numbers_drawn)
    numbers = say("standard deviation {found:.5g}, claimed {claimed:.5g}", found=found, claimed=scale)
    return Check(say("noise on the sum"), bool(low <= squares <= high), numbers)


def _written_down(run: Run) -> Check:
    noise, rate = run.settings["noise_multiplier"], _rate(run)
    written = Ledger.from_state_dict(run.ledger).taken(noise, rate)
    numbers = say("{written:,}, taken {taken:,}", written=written, taken=len(run.batches))
    return Check(say("steps in the ledger"), written >= len(run.batches), numbers)


def _within(run: Run) -> Check:
    ledger = Ledger.from_state_dict(run.ledger)
    epsilon, budget = ledger.epsilon(), ledger.budget
    ok = epsilon <= run.epsilon + 1e-9 and (budget is None or epsilon <= budget)
    found = {"epsilon": rounding.up(epsilon, DIGITS), "delta": ledger.delta}
    if budget is None:
        numbers = say("at most {epsilon} at delta {delta}", **found)
    else:
        numbers = say("at most {epsilon} at delta {delta}, budget {budget:g}", **found, budget=budget)
    return Check(say("epsilon, computed anew"), bool(ok), numbers)


def _rate(run: Run) -> float:
    return run.settings["expected_batch"] / run.settings.get("public_n", run.settings["people"])
