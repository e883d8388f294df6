"""What a training did, step by step: saved, replayed, and inspected for the privacy that it claims. No torch here."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import binom, chi2

from dpcourse.dpsgd.ledger import Ledger
from dpcourse.files import write_atomically

RECORDING = Path(__file__).with_name("recording.json")
CHECKSUM = (
    "547a8fcef1fc10095eb0dfac998f706cf61cb4df34e3139329742e1ebd24c1bd"  # of what tests/benchmarks/record.py wrote
)
FALSE_ALARM = 1e-6  # of each statistical finding about a run that is as it should be


def rounded_up(bound):
    """Four digits after the point, never less than the bound itself."""
    return f"{math.ceil(bound * 1e4) / 1e4:.4f}"


@dataclass
class Run:
    """A record of noisy training, as fit and replay return it.

    settings: people, expected_batch, noise_multiplier, clip_norm, weights (how many numbers are trained), and names of
    model, data, optimizer, device. For each step: batches, how many people were drawn; losses, their mean loss, NaN
    where nobody was; lengths, of the clipped sum before noise; noises, root mean square of the noise on it. Now and
    then: at, after which step; accuracies, on the test part; epsilons, certified upper bounds. ledger: its state.
    """

    settings: dict
    batches: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    lengths: list = field(default_factory=list)
    noises: list = field(default_factory=list)
    at: list = field(default_factory=list)
    accuracies: list = field(default_factory=list)
    epsilons: list = field(default_factory=list)
    ledger: dict = field(default_factory=dict)

    @property
    def accuracy(self):
        """On the test part, after the last step; None before the first."""
        return self.accuracies[-1] if self.accuracies else None

    @property
    def epsilon(self):
        """A certified upper bound at the ledger's delta, after the last step; 0 before the first."""
        return self.epsilons[-1] if self.epsilons else 0.0

    def __repr__(self):
        about = self.settings
        if not self.at:
            return f"{about['optimizer']} on {about['data']}: no step taken"
        return (
            f"{about['optimizer']} on {about['data']}, {len(self.batches):,} steps on {about['device']}: accuracy "
            f"{self.accuracy:.3f} on the test part, epsilon at most {rounded_up(self.epsilon)} at delta {self.ledger['delta']}"
        )

    def save(self, file):
        """Write the record to a JSON file, atomically; returns its SHA-256 checksum."""
        text = json.dumps(asdict(self))
        write_atomically(Path(file), text)
        return hashlib.sha256(text.encode()).hexdigest()


def replay(file=RECORDING, checksum=CHECKSUM, show=True):
    """A run recorded earlier, its progress shown as fit shows it.

    file: as Run.save wrote it, by default the one that comes with the course; checksum: SHA-256, None for any.
    ValueError where the file is not the one recorded.
    """
    content = Path(file).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if checksum is not None and found != checksum:
        raise ValueError(f"{Path(file).name} is not what was recorded: its SHA-256 is {found}, not {checksum}")
    run = Run(**json.loads(content))
    with Bar(len(run.batches), show) as bar:
        for step, accuracy, epsilon in zip(run.at, run.accuracies, run.epsilons, strict=True):
            bar.advance(step, run.losses[step - 1], accuracy, epsilon, run.ledger["budget"])
    return run


class Bar:
    """The live bar: steps, loss, accuracy, and how much of the budget is spent."""

    def __init__(self, steps, show):
        from tqdm.auto import tqdm

        self.bar = tqdm(total=steps, disable=not show, leave=False, unit="step")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.bar.close()

    def advance(self, step, loss, accuracy, epsilon, budget):
        spent = rounded_up(epsilon) if budget is None else f"{rounded_up(epsilon)} of {budget:g}"
        self.bar.update(step - self.bar.n)
        self.bar.set_postfix_str(f"loss {loss:.3f}, accuracy {accuracy:.3f}, epsilon {spent}")


@dataclass(frozen=True)
class Finding:
    """One thing that privacy needs, whether the run has it, and the numbers."""

    what: str
    ok: bool
    numbers: str


class Findings(list):
    """A list of Finding, printed as a table."""

    @property
    def ok(self):
        return all(finding.ok for finding in self)

    def __repr__(self):
        return "\n".join(f"{'✓' if finding.ok else '✗'} {finding.what}: {finding.numbers}" for finding in self)


def inspect(run):
    """Does the record fit the privacy that the run claims? The same questions for a run on a GPU, a CPU, or a recording.

    run: a Run of at least one step, else ValueError. Returns Findings. The three statistical ones raise a false alarm
    with probability at most 1e-6 each. What a record cannot show, such as a gradient that was not clipped by itself
    but only in the sum, it cannot tell.
    """
    if not run.batches:
        raise ValueError("run must have at least one step, got none")
    return Findings([_coins(run), _spread(run), _clipped(run), _noise(run), _written_down(run), _within(run)])


def _coins(run):
    """The number of all draws is Binomial(people x steps, rate)."""
    people, rate = run.settings["people"], _rate(run)
    draws, coins = sum(run.batches), people * len(run.batches)
    low, high = binom.interval(1 - FALSE_ALARM, coins, rate)
    numbers = f"{draws / len(run.batches):.1f} a step, expected {people * rate:.1f}"
    return Finding("people in a batch, on average", bool(low <= draws <= high), numbers)


def _spread(run):
    """Sizes of Poisson batches vary as coins do; those of shuffled epochs do not vary at all.

    So many of them are in the middle of the law of a size; how many is Binomial(steps, probability of the middle).
    """
    size, steps = binom(run.settings["people"], _rate(run)), len(run.batches)
    first, last = size.ppf((0.4, 0.6))
    middle = min(1.0, size.cdf(last) - size.cdf(first - 1))
    found = sum(first <= batch <= last for batch in run.batches)
    low, high = binom.interval(1 - FALSE_ALARM, steps, middle)
    numbers = f"{found / steps:.0%} of the steps have {first:.0f} to {last:.0f}, expected {middle:.0%}"
    return Finding("people in a batch, from step to step", bool(low <= found <= high), numbers)


def _clipped(run):
    """A sum of so many gradients, none longer than clip_norm, is at most so long."""
    clip_norm = run.settings["clip_norm"]
    share = max(length / max(size * clip_norm, 1e-300) for length, size in zip(run.lengths, run.batches, strict=True))
    numbers = f"at most {share:.3f} of people x clip_norm, may be 1"
    return Finding("length of the clipped sum", bool(share <= 1 + 1e-4), numbers)


def _noise(run):
    """The squares of all noise add up to a chi-squared number."""
    scale = run.settings["noise_multiplier"] * run.settings["clip_norm"]
    numbers_drawn = run.settings["weights"] * len(run.noises)
    squares = run.settings["weights"] * float(np.sum((np.array(run.noises) / scale) ** 2))
    low, high = chi2.interval(1 - FALSE_ALARM, numbers_drawn)
    found = scale * np.sqrt(squares / numbers_drawn)
    return Finding(
        "noise on the sum", bool(low <= squares <= high), f"standard deviation {found:.5g}, claimed {scale:.5g}"
    )


def _written_down(run):
    kind = [run.settings["noise_multiplier"], _rate(run)]
    written = sum(steps for *of, steps in run.ledger["runs"] if of == kind)
    return Finding("steps in the ledger", written >= len(run.batches), f"{written:,}, taken {len(run.batches):,}")


def _within(run):
    ledger = Ledger.from_state_dict(run.ledger)
    epsilon, budget = ledger.epsilon(), ledger.budget
    ok = epsilon <= run.epsilon + 1e-9 and (budget is None or epsilon <= budget)
    numbers = f"at most {rounded_up(epsilon)} at delta {ledger.delta}" + (
        "" if budget is None else f", budget {budget:g}"
    )
    return Finding("epsilon, computed anew", bool(ok), numbers)


def _rate(run):
    return run.settings["expected_batch"] / run.settings["people"]
