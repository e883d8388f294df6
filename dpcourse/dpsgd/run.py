"""What a training did, step by step: shown while it runs, saved, and replayed."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dpcourse import rounding
from dpcourse.files import write_atomically

DIGITS = 4  # of an epsilon that is printed
RECORDING = Path(__file__).with_name("recording.json")
# of what tests/benchmarks/record.py wrote
CHECKSUM = "547a8fcef1fc10095eb0dfac998f706cf61cb4df34e3139329742e1ebd24c1bd"


@dataclass
class Run:
    """A record of noisy training, as fit and replay return it.

    settings: people (the number of rows), public_n (the number of people by which expected_batch is the sample rate),
    neighbours (for which the account holds), expected_batch, noise_multiplier, clip_norm, weights (how many numbers are
    trained), steps, and names of data, optimizer, device, precision. For each step: batches, how many people were drawn; losses, their mean loss, NaN
    where nobody was; lengths, of the clipped sum before noise; noises, root mean square of the noise on it. Now and
    then: at, after which step; accuracies, on the test part; epsilons, certified upper bounds. ledger: its state.
    """

    settings: dict
    batches: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    noises: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    epsilons: list[float] = field(default_factory=list)
    ledger: dict = field(default_factory=dict)

    @property
    def accuracy(self) -> float | None:
        """On the test part, after the last step; None before the first."""
        return self.accuracies[-1] if self.accuracies else None

    @property
    def epsilon(self) -> float:
        """A certified upper bound at the ledger's delta, after the last step; 0 before the first."""
        return self.epsilons[-1] if self.epsilons else 0.0

    def __repr__(self) -> str:
        about = self.settings
        if not self.at:
            return f"{about['optimizer']} on {about['data']}: no step taken"
        return (
            f"{about['optimizer']} on {about['data']}, {len(self.batches):,} steps on {about['device']}: accuracy "
            f"{self.accuracy:.3f} on the test part, epsilon at most {rounding.up(self.epsilon, DIGITS)} at delta {self.ledger['delta']}"
        )

    def save(self, file: str | Path) -> str:
        """Write the record to a JSON file, atomically; returns its SHA-256 checksum."""
        text = json.dumps(asdict(self))
        write_atomically(Path(file), text)
        return hashlib.sha256(text.encode()).hexdigest()


def replay(file: str | Path = RECORDING, checksum: str | None = CHECKSUM, show: bool = True) -> Run:
    """A run recorded earlier, its progress shown as fit shows it.

    file: as Run.save wrote it, by default the one that comes with the course; checksum: SHA-256, None for any.
    ValueError where the file is not the one recorded.

    >>> replay(show=False)
    NoisyAdam on Fashion-MNIST, 360 steps on cpu: accuracy 0.873 on the test part, epsilon at most 2.9906 at delta 1e-05
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

    def __init__(self, steps: int, show: bool) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=steps, disable=not show, leave=False, unit="step")

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()

    def advance(self, step: int, loss: float, accuracy: float, epsilon: float, budget: float | None) -> None:
        spent = rounding.up(epsilon, DIGITS) if budget is None else f"{rounding.up(epsilon, DIGITS)} of {budget:g}"
        self.bar.update(step - self.bar.n)
        self.bar.set_postfix_str(f"loss {loss:.3f}, accuracy {accuracy:.3f}, epsilon {spent}")
