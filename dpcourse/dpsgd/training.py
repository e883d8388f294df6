"""fit: noisy training from the first step to the last, in sight, within a budget, and to be resumed exactly."""

import contextlib
import functools
import math
import pickle
import signal
import threading
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch.nn import functional as F

from dpcourse import rounding, validate
from dpcourse.dpsgd import generators, processes
from dpcourse.dpsgd.clipping import Loss, refuse_if_not_private, refuse_unknown, trainable
from dpcourse.dpsgd.data import Data
from dpcourse.dpsgd.ledger import BudgetError, Ledger
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisySGD
from dpcourse.dpsgd.run import DIGITS, Bar, Run
from dpcourse.dpsgd.sampling import poisson_batches
from dpcourse.dpsgd.trial import refuse_if_it_disagrees, refuse_if_it_mixes
from dpcourse.files import replaced

CHECKPOINT = {"run", "ledger before", "model", "optimizer", "coins", "torch", "cuda"}

cross_entropy = functools.partial(F.cross_entropy, reduction="none")


def fit(
    model: torch.nn.Module,
    optimizer: NoisySGD | NoisyAdam,
    ledger: Ledger,
    data: Data,
    steps: int,
    *,
    loss: Loss = cross_entropy,
    engine: str = "book-keeping",
    chunk: int = 1024,
    device: str | torch.device | None = None,
    precision: str = "float32",
    generator: generators.Source = None,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    show: bool = True,
) -> Run:
    """Train a model for `steps` noisy steps on Poisson batches, with a live bar; returns the Run.

    optimizer: NoisySGD or NoisyAdam on the model's parameters; ledger: every step is written into it before it is
    taken; data: a Data; loss(outputs, targets): one number per example; chunk: so many examples in memory at once;
    device: "cuda", "cpu", a torch.device, or None for CUDA where there is one; precision: "float32", "tf32" or "bf16";
    generator: of the coins that draw the batches, on the CPU, a seed, or None for the operating system's entropy;
    checkpoint: a file, written every `every` steps (a twentieth of all by default) and read first where it exists: a
    run that was killed then ends as if it had not been. Ctrl-C ends the run after the current step. Under torchrun
    all processes call it alike and share each batch. ValueError for a model that cannot be private, settings that do
    not fit together, or a checkpoint of another run; BudgetError, before anything is trained, where the budget has no
    room for all steps.

    The losses and accuracies in the Run are computed on the data itself, without noise: they are for whoever holds
    the data. What is private is the model. A checkpoint holds the state of the noise's generator: keep it as secret
    as the data.

    Source: Abadi et al. (2016), algorithm 1; Bu, Dong, Long & Su (2020), algorithms 1 and 2.

    >>> from dpcourse import dpsgd
    >>> data = dpsgd.digits()
    >>> model, optimizer, ledger = dpsgd.recipes.DIGITS.start(data, generator=0)
    >>> run = fit(model, optimizer, ledger, data, steps=3, device="cpu", generator=0, show=False)
    >>> run.batches, ledger.runs
    ([383, 398, 336], [(3.49, 0.25, 3)])
    """
    steps, chunk = validate.whole("steps", steps), validate.whole("chunk", chunk)
    every = max(1, steps // 20) if every is None else validate.whole("every", every)
    _refuse_what_adds_no_noise(optimizer)
    refuse_unknown(engine, precision)
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    refuse_if_not_private(model, engine)
    model.to(device).train()
    data = _on(data, device)
    refuse_if_it_mixes(model, data)
    refuse_if_it_disagrees(model, loss, data, engine)
    coins = generators.make(generator, "coins")
    training = _Training(model, optimizer, ledger, coins, _settings(model, optimizer, data, device, precision, steps))
    training.resume(checkpoint)
    training.refuse_if_too_much()
    training.refuse_if_apart(device)
    processes.agree(model.state_dict().values())
    processes.agree_on_state(coins)
    batches = poisson_batches(training.people, training.rate, steps, coins)
    step = functools.partial(_step, model, optimizer, data, loss=loss, engine=engine, chunk=chunk, precision=precision)
    with Bar(steps, show and processes.is_first()) as bar, _interrupt_between_steps() as interrupted:
        stop = False
        while training.left and not stop:
            ledger.spend(optimizer.noise_multiplier, training.rate)
            training.record(*step(next(batches)))
            stop = processes.anywhere(interrupted(), device)
            if training.done % every == 0 or not training.left or stop:
                training.look(_accuracy(model, data, chunk), bar)
                training.save(checkpoint)
    if training.left and processes.is_first():
        print(training.stopped(checkpoint))
    return training.run


def _refuse_what_adds_no_noise(optimizer):
    if not isinstance(optimizer, (NoisySGD, NoisyAdam)):
        raise ValueError(
            f"optimizer must be a NoisySGD or a NoisyAdam, got {type(optimizer).__name__}: it adds no noise"
        )


def _step(model, optimizer, data, batch, *, loss, engine, chunk, precision):
    """Take one step; returns the size of the batch, the mean loss, the length of the clipped sum and the noise on it."""
    optimizer.zero_grad()  # an exception may have left a part of a batch behind
    lost = torch.zeros((), device=data.train_inputs.device)
    for part in processes.share(batch).to(data.train_inputs.device).split(chunk):
        if len(part):
            inputs, targets = data.train_inputs[part], data.train_targets[part]
            lost += optimizer.accumulate(model, loss, inputs, targets, engine, precision).losses.sum()
    of_all = torch.stack([lost, torch.as_tensor(optimizer.sum_length, device=lost.device)])
    processes.add_up([of_all])
    optimizer.step()
    lost, length = of_all.tolist()
    return len(batch), lost / len(batch) if len(batch) else math.nan, length, optimizer.noise_scale


@torch.no_grad()
def _accuracy(model, data, chunk):
    """The share of the test part that the model gets right."""
    model.eval()
    parts = zip(data.test_inputs.split(chunk), data.test_targets.split(chunk), strict=True)
    right = sum(int((model(inputs).argmax(1) == targets).sum()) for inputs, targets in parts)
    model.train()
    return right / len(data.test_inputs)


@dataclass
class _Training:
    """Everything that one step changes, to be saved and resumed together."""

    model: torch.nn.Module
    optimizer: NoisySGD | NoisyAdam
    ledger: Ledger
    coins: torch.Generator
    settings: dict

    def __post_init__(self):
        self.run = Run(self.settings)
        self.before = self.ledger.state_dict()
        self.people = self.settings["people"]
        self.rate = validate.number(
            "expected_batch / people", self.optimizer.expected_batch / self.people, 0, 1, open_low=True
        )

    @property
    def done(self):
        return len(self.run.batches)

    @property
    def left(self):
        return self.settings["steps"] - self.done

    def refuse_if_too_much(self):
        room = self.ledger.steps_left(self.optimizer.noise_multiplier, self.rate)
        if self.left > room:
            raise BudgetError(
                f"the budget, epsilon {self.ledger.budget} at delta {self.ledger.delta}, has room for {room:,} steps, "
                f"not for {self.left:,}: take fewer, or more noise (dpsgd.noise_for)"
            )

    def refuse_if_apart(self, device):
        if processes.anywhere(self.done != processes.of_first(self.done, device), device):
            raise ValueError(
                "the processes come from different steps: keep the checkpoint where all of them can read it"
            )

    def record(self, size, loss, length, noise):
        self.run.batches.append(size)
        self.run.losses.append(loss)
        self.run.lengths.append(length)
        self.run.noises.append(noise)

    def look(self, accuracy, bar):
        """Note how things stand, and show it."""
        self.run.at.append(self.done)
        self.run.accuracies.append(accuracy)
        self.run.epsilons.append(self.ledger.epsilon())
        self.run.ledger = self.ledger.state_dict()
        bar.advance(self.done, self.run.losses[-1], accuracy, self.run.epsilon, self.ledger.budget)

    def stopped(self, checkpoint):
        """What to tell whoever pressed Ctrl-C."""
        then = f": fit with checkpoint={str(checkpoint)!r} goes on from there" if checkpoint else ""
        epsilon = rounding.up(self.run.epsilon, DIGITS)
        return f"Stopped after step {self.done:,} of {self.settings['steps']:,}, epsilon {epsilon} spent{then}."

    def save(self, file):
        """Write the checkpoint, from the first process; the others go on when it is there for them to read."""
        if file is None:
            return
        if processes.is_first():
            self._write(Path(file))
        processes.wait()

    def _write(self, file):
        """Write everything down; a crash leaves the checkpoint of before."""
        state = {
            "run": asdict(self.run),
            "ledger before": self.before,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "coins": self.coins.get_state(),
            "torch": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state() if self.settings["device"] == "cuda" else None,
        }
        with replaced(file, mode=0o600) as stream:  # it holds the state of the noise's generator
            torch.save(state, stream)

    def resume(self, file):
        """Go back to the checkpoint, where there is one."""
        if file is None or not Path(file).exists():
            return
        state, run = _read(file)
        self._refuse_another_run(file, state["model"], run)
        missing = self._steps_missing(file, state["ledger before"], run)
        self.optimizer.load_state_dict(state["optimizer"])
        self.model.load_state_dict(state["model"])
        if missing:
            self.ledger.spend(self.optimizer.noise_multiplier, self.rate, missing)
        self.run, self.before = run, state["ledger before"]
        self.coins.set_state(state["coins"])
        torch.set_rng_state(state["torch"])
        if state["cuda"] is not None:
            torch.cuda.set_rng_state(state["cuda"])

    def _refuse_another_run(self, file, weights, run):
        other = [
            f"{name} was {run.settings.get(name)!r} and is {value!r}"
            for name, value in self.settings.items()
            if run.settings.get(name) != value
        ]
        if _shapes(weights) != _shapes(self.model.state_dict()):
            other.append("the layers of the model were others")
        if other:
            raise ValueError(f"the checkpoint {file} is of another run: {', '.join(other)}; move it away to begin anew")

    def _steps_missing(self, file, before, run):
        """How many steps of the checkpoint the ledger does not have yet: none, or all."""
        now, steps = self.ledger.state_dict(), len(run.batches)
        if now == run.ledger:
            return 0
        if (
            now == before
            and self.ledger.after(self.optimizer.noise_multiplier, self.rate, steps).state_dict() == run.ledger
        ):
            return steps
        raise ValueError(
            f"the ledger has runs {self.ledger.runs}, and the checkpoint {file} began with {before['runs']} and has "
            f"come to {run.ledger['runs']}: give fit a ledger in one of these two states, with the same delta and budget"
        )


def _read(file):
    """What a checkpoint holds, and its Run; ValueError where it is damaged, or something else."""
    try:
        with zipfile.ZipFile(file) as parts:
            if parts.testzip():
                raise OSError("a checksum is wrong")
        state = torch.load(file, map_location="cpu", weights_only=True)
        if set(state) != CHECKPOINT:
            raise KeyError(*CHECKPOINT - set(state))
        return state, Run(**state["run"])
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise ValueError(f"the checkpoint {file} cannot be read: move it away to begin anew") from error


def _shapes(weights):
    return {name: value.shape for name, value in weights.items()}


def _settings(model, optimizer, data, device, precision, steps):
    return {
        "people": len(data.train_inputs),
        "expected_batch": optimizer.expected_batch,
        "noise_multiplier": optimizer.noise_multiplier,
        "clip_norm": optimizer.clip_norm,
        "weights": sum(parameter.numel() for parameter in trainable(model).values()),
        "steps": steps,
        "optimizer": type(optimizer).__name__,
        "data": data.name,
        "device": device.type,
        "precision": precision,
    }


def _on(data, device):
    names = ("train_inputs", "train_targets", "test_inputs", "test_targets")
    return replace(data, **{name: getattr(data, name).to(device) for name in names})


@contextlib.contextmanager
def _interrupt_between_steps():
    """Let Ctrl-C wait until a step is whole; yields a function that tells whether it was pressed. Twice is at once."""
    pressed = []

    def wait(*_):
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, wait)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
