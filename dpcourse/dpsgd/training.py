"""fit: noisy training from the first step to the last, in sight, within a budget, and to be resumed exactly."""

import contextlib
import functools
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from dpcourse.base import validate
from dpcourse.dpsgd import generators, processes
from dpcourse.dpsgd.agreement import evaluated
from dpcourse.dpsgd.clipping import Loss, refuse_unknown
from dpcourse.dpsgd.data import Data, people_of
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisySGD
from dpcourse.dpsgd.progress import Progress
from dpcourse.dpsgd.refusals import refuse_if_not_private, trainable
from dpcourse.dpsgd.run import Bar, Run
from dpcourse.dpsgd.sampling import poisson_batches
from dpcourse.dpsgd.trial import people_at_once, refuse_if_it_mixes

Metric = Callable[[torch.Tensor, torch.Tensor], float]  # of all outputs and targets of the test part
Callback = Callable[[Run], object]

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
    memory: float | None = None,
    device: str | torch.device | None = None,
    precision: str = "float32",
    generator: generators.Source = None,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    show: bool = True,
    public_n: int | None = None,
    metric: Metric | None = None,
    schedule: LRScheduler | None = None,
    callback: Callback | None = None,
) -> Run:
    """Train a model for `steps` noisy steps on Poisson batches, with a live bar; returns the Run.

    optimizer: NoisySGD or NoisyAdam on the model's parameters; ledger: every step is written into it before it is
    taken; data: a Data; loss(outputs, targets): one number per example; chunk: so many examples in memory at once, or
    fewer where these do not fit, which is tried first and said once; memory: the most bytes for the tensors that a step
    makes beside model and data, with room for gaps between them, or None for as much as the device has (a CPU is not
    asked): of these the gradients that convolutions keep take 2 GiB at most, all layers together;
    device: "cuda", "cpu", a torch.device, or None for CUDA where there is one; precision: "float32", "tf32" or "bf16";
    generator: of the coins that draw the batches, on the CPU, a seed, or None for the operating system's entropy;
    metric(outputs, targets): a number that is noted every `every` steps, from all outputs for the test part, without
    dropout; by default the accuracy, where targets are classes and the model has an output for each; schedule: one of
    torch.optim.lr_scheduler on this optimizer, which takes a step after each of fit's; callback(run): called every `every`
    steps, and at the end, with the Run so far; if what it returns is true, the run ends there, as by Ctrl-C;
    checkpoint: a file, written every `every` steps (a twentieth of all by default) and read first where it exists: a
    run that was killed then ends as if it had not been: on a CPU to the bit; on a GPU with the same coins, the same
    ledger, noise from the same stream, and sums that are the same but for the order in which its kernels add. Ctrl-C ends the run after the current step.
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

    What a callback decides is not accounted for, unless it looks at nothing but the model and what else is released:
    the Run holds losses, scores and sizes of batches. A stop by such a decision is covered by `ledger.planned()`; another
    learning rate, or a choice among models, is not. A callback may change no setting that the ledger knows; it runs in
    the first process only, draws from torch's generators without moving them, and what it remembers is not in the
    checkpoint, which is written before it is called. An nn.Embedding's padding row stays as it is
    (`optimizer.keep_padding`). An optimizer that was tied to a ledger stays tied to it.

    The losses and scores in the Run are computed on the data itself, without noise: they are for whoever holds
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
    memory = None if memory is None else validate.number("memory", memory, 0, open_low=True)
    every = max(1, steps // 20) if every is None else validate.whole("every", every)
    _refuse_what_adds_no_noise(optimizer)
    _refuse_another_schedule(schedule, optimizer)
    _refuse_another_ledger(optimizer, ledger)
    refuse_unknown(engine, precision)
    device = _that_works(device)
    refuse_if_not_private(model, engine)
    model.to(device).train()
    data = data.on(device)
    refuse_if_it_mixes(model, data)
    optimizer.try_on(model, loss, data.train_inputs, data.train_targets, engine)
    coins = generators.make(generator, "coins")
    metric = _metric(metric, model, data)
    settings = _settings(model, optimizer, data, device, precision, steps, public_n, metric, schedule)
    training = Progress(model, optimizer, ledger, coins, schedule, settings)
    training.refuse_if_it_tells_the_rows()
    training.resume(checkpoint, device)
    training.refuse_if_too_much()
    training.refuse_if_apart(device)
    if optimizer.ledger is not None:
        optimizer.tie(ledger, training.people, public_n)  # anew: a checkpoint's steps were spent and taken elsewhere
    optimizer.keep_padding(model)
    processes.agree(model.state_dict().values())
    processes.agree_on_state(coins, device)
    batches = poisson_batches(training.people, training.rate, steps, coins)
    accumulate = functools.partial(_accumulate, model, optimizer, data, loss, engine, precision)
    if training.left:
        chunk = people_at_once(model, optimizer, data, chunk, memory, accumulate)
        _score(model, data, metric, chunk)  # what fails, fails before the ledger is charged
    with Bar(steps, show and processes.is_first()) as bar, _interrupt_between_steps() as interrupted:
        stop = False
        while training.left and not stop:
            ledger.spend(optimizer.noise_multiplier, training.rate)
            training.record(*_step(optimizer, next(batches), functools.partial(accumulate, chunk=chunk)))
            if schedule is not None:
                schedule.step()
            stop = processes.anywhere(interrupted(), device)
            if training.done % every == 0 or not training.left or stop:
                training.look(_score(model, data, metric, chunk), bar)
                training.save(checkpoint, device)
                stop = _stops(callback, training.run, model, device) or stop
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


def _accumulate(model, optimizer, data, loss, engine, precision, batch, chunk):
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


@torch.no_grad()
def _score(model, data, metric, chunk):
    """What the metric says of the model on the test part; None where there is no metric."""
    if metric is None:
        return None
    with evaluated(model), generators.borrowed(data.train_inputs.device):
        outputs = torch.cat([model(inputs) for inputs in data.test_inputs.split(chunk)])
        score = metric(outputs, data.test_targets)
    try:
        return float(score)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"metric must return one number, got {score!r}") from None


def _metric(metric, model, data):
    """The one that was given, or accuracy, where the model has an output for each of several classes."""
    if data.test_inputs is None:
        if metric is not None:
            raise ValueError("metric must be left out where data has no part to test on")
        return None
    if metric is not None or not data.has_classes:
        return metric
    with torch.no_grad(), evaluated(model), generators.borrowed(data.train_inputs.device):
        outputs = model(data.train_inputs[:1])
    return _accuracy if outputs.ndim == 2 and outputs.shape[1] > 1 else None


def _accuracy(outputs, targets):
    """The share of the examples whose class has the largest output."""
    return int((outputs.argmax(1) == targets).sum()) / len(targets)


def _name(metric):
    """As the record calls it: the function's name in words."""
    if metric is None:
        return None
    words = getattr(metric, "__name__", "").strip("_").replace("_", " ")
    return words if words.replace(" ", "").isalnum() else "metric"


def _refuse_another_schedule(schedule, optimizer):
    if schedule is None:
        return
    if not isinstance(schedule, LRScheduler):
        raise ValueError(f"schedule must be one of torch.optim.lr_scheduler, got {type(schedule).__name__}")
    if isinstance(schedule, ReduceLROnPlateau):
        raise ValueError(
            "schedule must not look at the data, got ReduceLROnPlateau: a learning rate that depends on a loss or a score "
            "without noise tells of the data, and no ledger counts it"
        )
    if schedule.optimizer is not optimizer:
        raise ValueError("schedule must be made with the optimizer that fit is given, got that of another")


def _refuse_another_ledger(optimizer, ledger):
    if optimizer.ledger not in (None, ledger):
        raise ValueError("ledger must be the one that the optimizer is tied to, got another")


def _settings(model, optimizer, data, device, precision, steps, public_n, metric, schedule):
    return {
        "people": len(data.train_inputs),
        "public_n": people_of(len(data.train_inputs), public_n),
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
        "metric": _name(metric),
        "schedule": None if schedule is None else type(schedule).__name__,
    }


def _stops(callback, run, model, device):
    """Show the run to the callback of the first process; whether it says that all shall stop."""
    if callback is None:
        return False
    with generators.borrowed(device):
        says = processes.is_first() and bool(callback(run))
    model.train()
    return processes.anywhere(says, device)


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
