"""What a training did, step by step: shown while it runs, saved, and replayed."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dpcourse.base import rounding
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import listed, say, to_say

DIGITS = 4  # of an epsilon that is printed
FOR_EXPERIMENTS = "for experiments"  # the noise that a seed gives, in floats
ACCURACY = to_say("accuracy")  # the metric without a function of one's own
RECORDING = Path(__file__).with_name("recording.json")
# of what tests/benchmarks/record.py wrote
CHECKSUM = "547a8fcef1fc10095eb0dfac998f706cf61cb4df34e3139329742e1ebd24c1bd"


@dataclass
class Run:
    """A record of noisy training, as fit and replay return it.

    Batches, losses, lengths and left_out are computed on the data without noise, and are as secret as these.

    settings: people (the number of rows), public_n (the number of people by which expected_batch is the sample rate),
    neighbours (for which the account holds), expected_batch, noise_multiplier, clip_norm, weights (how many numbers are
    trained), steps, noise ("secure" or "for experiments", which is not quite what the account takes for granted), and
    names of data, optimizer, device, precision, metric and schedule (None for none). For each step: batches, how many
    people were drawn; losses, the mean loss of those in the sum, NaN where nobody was; lengths, of the clipped sum before
    noise; noises, root mean square of the noise on it; left_out, how many gradients were not finite and counted as 0. Now
    and then: at, after which step; scores, what the metric says of the test part, or None; epsilons, certified upper
    bounds. ledger: its state. planned: the epsilon of all that was planned; None where that was not noted.
    """

    settings: dict
    batches: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    noises: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    epsilons: list[float] = field(default_factory=list)
    ledger: dict = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    planned: float | None = None

    @property
    def ended_early(self) -> bool:
        """Whether fewer steps were taken than were meant to be."""
        return len(self.batches) < self.settings["steps"]

    @property
    def metric(self) -> str | None:
        """What the scores are: "accuracy", or the name of the function that fit was given; None where there are none."""
        return self.settings.get("metric", ACCURACY)  # the only one, once

    @property
    def score(self) -> float | None:
        """On the test part, after the last step; None before the first, and without a metric or a test part."""
        return self.scores[-1] if self.scores else None

    @property
    def accuracies(self) -> list[float | None]:
        """The scores, where they are accuracies: the shares of the test part that the model got right. Empty otherwise."""
        return self.scores if self.metric == ACCURACY else []

    @property
    def accuracy(self) -> float | None:
        """The last of the accuracies; None where there is none."""
        return self.accuracies[-1] if self.accuracies else None

    @property
    def epsilon(self) -> float:
        """A certified upper bound at the ledger's delta, of the steps so far, as if no more had been meant; 0 before the first."""
        return self.epsilons[-1] if self.epsilons else 0.0

    @property
    def claimed(self) -> float:
        """The epsilon that may be claimed: that of the steps, or where the run ended early, of all that were planned.

        Infinity where it ended early and nobody noted what was planned.
        """
        if not (self.at and self.ended_early):
            return self.epsilon
        return math.inf if self.planned is None else self.planned

    def __repr__(self) -> str:
        if not self.at or self.settings.get("noise", FOR_EXPERIMENTS) != FOR_EXPERIMENTS:
            return self._said
        return say("{run}, if its noise were that of real numbers", run=self._said)

    @property
    def _said(self):
        about = self.settings
        if not self.at:
            return say("{optimizer} on {data}: no step taken", optimizer=about["optimizer"], data=about["data"])
        found = {
            "optimizer": about["optimizer"],
            "data": about["data"],
            "steps": len(self.batches),
            "device": about["device"],
            "epsilon": rounding.up(self.claimed, DIGITS),
            "delta": self.ledger["delta"],
        }
        if self.metric is None or self.score is None:
            return say(
                "{optimizer} on {data}, {steps:,} steps on {device}: epsilon at most {epsilon} at delta {delta}",
                **found,
            )
        return say(
            "{optimizer} on {data}, {steps:,} steps on {device}: {metric} {score:.3f} on the test part, "
            "epsilon at most {epsilon} at delta {delta}",
            **found,
            metric=say(self.metric),
            score=self.score,
        )

    @classmethod
    def of(cls, record: dict) -> "Run":
        """Return the Run of an asdict, or of saved JSON; in old records scores are called accuracies."""
        return cls(**{"scores" if name == "accuracies" else name: value for name, value in record.items()})

    def save(self, file: str | Path) -> str:
        """Write the record to a JSON file, atomically; returns its SHA-256 checksum."""
        text = json.dumps(asdict(self))
        write_atomically(Path(file), text)
        return hashlib.sha256(text.encode()).hexdigest()


def replay(file: str | Path = RECORDING, checksum: str | None = CHECKSUM, show: bool = True) -> Run:
    """Return a run recorded earlier, its progress shown as fit shows it.

    file: as Run.save wrote it, by default the one that comes with the course; checksum: SHA-256, None for any.
    ValueError where the file is not the one recorded.

    >>> replay(show=False)
    NoisyAdam on Fashion-MNIST, 360 steps on cpu: accuracy 0.873 on the test part, epsilon at most 2.9906 at delta 1e-05, \
if its noise were that of real numbers
    """
    content = Path(file).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if checksum is not None and found != checksum:
        raise ValueError(f"{Path(file).name} is not what was recorded: its SHA-256 is {found}, not {checksum}")
    run = Run.of(json.loads(content))
    with Bar(len(run.batches), show) as bar:
        for look in range(len(run.at)):
            bar.advance(run, look)
    return run


class Bar:
    """The live bar: steps, score, and how much of the budget is spent.

    Nothing of the training data that has no noise on it, so whoever looks at the bar may stop the run.
    """

    def __init__(self, steps: int, show: bool) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=steps, disable=not show, leave=False, unit=say("step"))

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()

    def advance(self, run: Run, look: int = -1) -> None:
        """Show how things stood when the run was looked at: for the last time, or for the look-th, from 0."""
        step, score, budget = run.at[look], run.scores[look], run.ledger["budget"]
        epsilon = rounding.up(run.epsilons[look], DIGITS)
        shown = []
        if run.metric is not None and score is not None:
            shown.append(say("{metric} {score:.3f}", metric=say(run.metric), score=score))
        if budget is None:
            shown.append(say("epsilon {epsilon}", epsilon=epsilon))
        else:
            shown.append(say("epsilon {epsilon} of {budget:g}", epsilon=epsilon, budget=budget))
        self.bar.update(step - self.bar.n)
        self.bar.set_postfix_str(listed(shown, "{first}, {then}"))
