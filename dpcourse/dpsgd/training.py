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
from dpcourse.dpsgd.data import Data, people_of
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisySGD
from dpcourse.dpsgd.run import DIGITS, Bar, Run
from dpcourse.dpsgd.sampling import poisson_batches
from dpcourse.dpsgd.trial import refuse_if_it_disagrees, refuse_if_it_mixes
from dpcourse.files import replaced

CHECKPOINT = {"run", "ledger before", "model", "optimizer", "coins", "torch"}

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
    public_n: int | None = None,
) -> Run:
    """Train a model for `steps` noisy steps on Poisson batches, with a live bar; returns the Run.

    optimizer: NoisySGD or NoisyAdam on the model's parameters; ledger: every step is written into it before it is
    taken; data: a Data; loss(outputs, targets): one number per example; chunk: so many examples in memory at once;
    device: "cuda", "cpu", a torch.device, or None for CUDA where there is one; precision: "float32", "tf32" or "bf16";
    generator: of the coins that draw the batches, on the CPU, a seed, or None for the operating system's entropy;
    checkpoint: a file, written every `every` steps (a twentieth of all by default) and read first where it exists: a
    run that was killed then ends as if it had not been: on a CPU to the bit; on a GPU with the same coins and noise,
    and sums that are the same but for the order in which its kernels add. Ctrl-C ends the run after the current step.
    Under torchrun all processes call it alike and share each batch. ValueError for a model that cannot be private,
    settings that do not fit together, or a checkpoint of another run; BudgetError, before anything is trained, where the
    ledger's budget or plan has no room for all steps.

    The account holds for a row emptied: the number of rows is public. For a row added or removed no setting may come
    from that number. Then give public_n, a number of people written down before the rows were counted: the sample rate
    is expected_batch / public_n. Settings that are seen to come from the rows are refused: a public_n that is their
    number, or an expected_batch whose rate is the ledger's by their number and not by public_n, as a recipe gives that
    was started without public_n. Such a refusal depends on the number of rows: it is for whoever holds the data, and not
    to be passed on. What cannot be seen: whether steps, noise_multiplier, clip_norm or a rate came from that number.

    epsilon in the Run is that of the steps taken, which holds if their number was fixed beforehand. Who stops early
    because of what he saw, the bar or a result, can claim what was planned, `ledger.planned()`.

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
    device = _that_works(device)
    refuse_if_not_private(model, engine)
    model.to(device).train()
    data = _on(data, device)
    refuse_if_it_mixes(model, data)
    refuse_if_it_disagrees(model, loss, data, engine)
    coins = generators.make(generator, "coins")
    settings = _settings(model, optimizer, data, device, precision, steps, public_n)
    training = _Training(model, optimizer, ledger, coins, settings)
    training.refuse_if_it_tells_the_rows()
    training.resume(checkpoint, device)
    training.refuse_if_too_much()
    training.refuse_if_apart(device)
    processes.agree(model.state_dict().values())
    processes.agree_on_state(coins, device)
    batches = poisson_batches(training.people, training.rate, steps, coins)
    accumulate = functools.partial(_accumulate, model, optimizer, data, loss, engine, chunk, precision)
    if training.left:
        _rehearse(model, optimizer, data, chunk, accumulate)
    with Bar(steps, show and processes.is_first()) as bar, _interrupt_between_steps() as interrupted:
        stop = False
        while training.left and not stop:
            ledger.spend(optimizer.noise_multiplier, training.rate)
            training.record(*_step(optimizer, next(batches), accumulate))
            stop = processes.anywhere(interrupted(), device)
            if training.done % every == 0 or not training.left or stop:
                training.look(_accuracy(model, data, chunk), bar)
                training.save(checkpoint, device)
    if training.left and processes.is_first():
        print(training.stopped(checkpoint))
    return training.run


def _refuse_what_adds_no_noise(optimizer):
    if not isinstance(optimizer, (NoisySGD, NoisyAdam)):
        raise ValueError(
            f"optimizer must be a NoisySGD or a NoisyAdam, got {type(optimizer).__name__}: it adds no noise"
        )


def _that_works(device: str | torch.device | None) -> torch.device:
    """The device that was asked for, or CUDA where there is one; a kernel is tried, since a driver may promise too much."""
    asked = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(asked)
        if found.type == "cuda" and found.index is None:
            found = processes.own_gpu()
        torch.zeros(1, device=found).add_(1)
    except (RuntimeError, AssertionError) as error:
        says = str(error).splitlines()[0]
        raise ValueError(
            f"device must be one that works here, got {str(asked)!r}: {says}; device='cpu' does"
        ) from error
    return found


def _step(optimizer, batch, accumulate):
    """Take one step; returns the size of the batch and, not waited for, [sum of losses, length of the clipped sum] and
    the squares of the noise."""
    optimizer.zero_grad()  # an exception may have left a part of a batch behind
    lost = accumulate(processes.share(batch))
    measured = torch.stack([lost, optimizer.squares_of_sum.sqrt().to(lost)])
    processes.add_up([measured])
    optimizer.step()
    return len(batch), measured, optimizer.squares_of_noise


def _accumulate(model, optimizer, data, loss, engine, chunk, precision, batch):
    """Add up the clipped gradients of a batch; returns the sum of the losses."""
    device = data.train_inputs.device
    lost = torch.zeros((), device=device)
    if device.type == "cuda":
        batch = batch.pin_memory()  # so that the copy needs no wait
    for part in batch.to(device, non_blocking=True).split(chunk):
        if len(part):
            inputs, targets = data.train_inputs[part], data.train_targets[part]
            lost += optimizer.accumulate(model, loss, inputs, targets, engine, precision).losses.sum()
    return lost


def _rehearse(model, optimizer, data, chunk, accumulate):
    """Accumulate one part of a batch and forget it: what lacks memory, or a kernel, fails before the ledger is charged."""
    optimizer.refuse_strangers(model)
    optimizer.zero_grad()
    likely = optimizer.expected_batch + 6 * math.sqrt(optimizer.expected_batch)  # no batch is larger, nearly
    some = torch.arange(min(chunk, len(data.train_inputs), math.ceil(likely)), device="cpu")
    with generators.borrowed(data.train_inputs.device):
        float(accumulate(some))  # which waits, so that what failed is known
    optimizer.zero_grad()


@torch.no_grad()
def _accuracy(model, data, chunk):
    """The share of the test part that the model gets right."""
    model.eval()
    parts = zip(data.test_inputs.split(chunk), data.test_targets.split(chunk), strict=True)
    right = sum((model(inputs).argmax(1) == targets).sum() for inputs, targets in parts)
    model.train()
    return int(right) / len(data.test_inputs)


@dataclass
class _Training:
    """Everything that one step changes, to be saved and resumed together."""

    model: torch.nn.Module
    optimizer: NoisySGD | NoisyAdam
    ledger: Ledger
    coins: torch.Generator
    settings: dict

    def __post_init__(self):
        self.run, self.unread = Run(self.settings), []
        self.before = self.ledger.state_dict()
        self.people = self.settings["people"]
        self.rate = validate.number(
            "expected_batch / people", self.optimizer.expected_batch / self.settings["public_n"], 0, 1, open_low=True
        )

    @property
    def done(self):
        return len(self.run.batches)

    @property
    def left(self):
        return self.settings["steps"] - self.done

    def refuse_if_it_tells_the_rows(self):
        noise, batch, people = self.optimizer.noise_multiplier, self.optimizer.expected_batch, self.people
        if self.ledger.covers(noise, self.rate) or batch > people or not self.ledger.covers(noise, batch / people):
            return
        raise ValueError(
            f"expected_batch must come from public_n, {self.settings['public_n']}, got {batch}: the ledger's sample rate "
            f"is {batch / people} times {people}, the number of rows; a recipe takes public_n when it starts"
        )

    def refuse_if_too_much(self):
        if self.left:
            self.ledger.refuse_if_not_covered(self.optimizer.noise_multiplier, self.rate, self.left)

    def refuse_if_apart(self, device):
        if processes.anywhere(self.done != processes.of_first(self.done, device), device):
            raise ValueError(
                "the processes come from different steps: keep the checkpoint where all of them can read it"
            )

    def record(self, size, measured, squares):
        self.run.batches.append(size)
        self.unread.append((size, measured, squares))

    def read(self):
        """Ask the device, once, for what the steps since the last time measured."""
        sizes, measured, squares = zip(*self.unread, strict=True)
        for size, (lost, length), noise in zip(
            sizes, torch.stack(measured).tolist(), torch.stack(squares).tolist(), strict=True
        ):
            self.run.losses.append(lost / size if size else math.nan)
            self.run.lengths.append(length)
            self.run.noises.append(self.optimizer.scale_of(noise))
        self.unread = []

    def look(self, accuracy, bar):
        """Note how things stand, and show it."""
        self.read()
        self.run.at.append(self.done)
        self.run.accuracies.append(accuracy)
        self.run.epsilons.append(self.ledger.epsilon())
        self.run.ledger = self.ledger.state_dict()
        bar.advance(self.done, self.run.losses[-1], accuracy, self.run.epsilon, self.ledger.budget)

    def stopped(self, checkpoint):
        """What to tell whoever pressed Ctrl-C."""
        steps, planned = self.settings["steps"], self.ledger.planned()
        if math.isinf(planned):  # nothing but fit's own number of steps was fixed
            planned = self.ledger.after(self.optimizer.noise_multiplier, self.rate, self.left).epsilon()
        then = f" fit with checkpoint={str(checkpoint)!r} goes on from there." if checkpoint else ""
        return (
            f"Stopped after step {self.done:,} of {steps:,}: epsilon {rounding.up(self.run.epsilon, DIGITS)} is spent, "
            "which holds if you had meant to stop here before the first step; if you stopped because of what you saw, "
            f"what holds is what was planned, epsilon {rounding.up(planned, DIGITS)}.{then}"
        )

    def save(self, file, device):
        """Write the checkpoint, from the first process; the others go on when it is there for them to read."""
        if file is None:
            return
        states = processes.gathered([generator.get_state() for generator in generators.of_torch(device)], device)
        if processes.is_first():
            self._write(Path(file), states)
        processes.wait(device)

    def _write(self, file, states):
        """Write everything down; a crash leaves the checkpoint of before."""
        state = {
            "run": asdict(self.run),
            "ledger before": self.before,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "coins": self.coins.get_state(),
            "torch": states,
        }
        with replaced(file, mode=0o600) as stream:  # it holds the state of the noise's generator
            torch.save(state, stream)

    def resume(self, file, device):
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
        if processes.rank() < len(state["torch"]):  # or else this process is one more than there were
            for generator, kept in zip(generators.of_torch(device), state["torch"][processes.rank()], strict=True):
                generator.set_state(kept)

    def _refuse_another_run(self, file, weights, run):
        other = [
            f"{name} was {run.settings.get(name)!r} and is {value!r}"
            for name, value in self.settings.items()
            if run.settings.get(name, value) != value
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


def _settings(model, optimizer, data, device, precision, steps, public_n):
    return {
        "people": len(data.train_inputs),
        "public_n": people_of(data, public_n),
        "neighbours": "a row emptied" if public_n is None else "a row added or removed",
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
