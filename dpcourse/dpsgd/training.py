"""fit: noisy training within a budget, shown as it goes, and resumed exactly where it was stopped."""

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
from dpcourse.dpsgd import cuda_graphs, generators, processes, rows, secure
from dpcourse.dpsgd.agreement import evaluated, train
from dpcourse.dpsgd.clipping import Loss, refuse_unknown
from dpcourse.dpsgd.data import Data, people_of
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.noisy import Noisy
from dpcourse.dpsgd.progress import Progress
from dpcourse.dpsgd.recording import FOR_EXPERIMENTS, Bar, Run
from dpcourse.dpsgd.refusals import refuse_if_not_private, trainable
from dpcourse.dpsgd.sampling import poisson_batches
from dpcourse.dpsgd.trial import people_at_once, refuse_if_it_mixes

Metric = Callable[[torch.Tensor, torch.Tensor], float]  # of all outputs and targets of the test part
Callback = Callable[[Run], object]

cross_entropy = functools.partial(F.cross_entropy, reduction="none")


def fit(
    model: torch.nn.Module,
    optimizer: Noisy,
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
    """Train a model for `steps` noisy steps on Poisson batches, within the ledger's budget; return the Run.

    The account holds for a row emptied and for a number of steps that was fixed beforehand. The model is private; the
    Run's losses, lengths, sizes of batches and gradients left out are not, and a checkpoint is as secret as the data.
    docs/training.md says what a run may claim: rows added or removed, early stops, callbacks, restarts, GPUs. A gradient
    that is not finite counts as 0, as that of an empty row.

    model: a torch.nn.Module whose layers can be trained privately; fit moves it to `device` and trains it in place.
    optimizer: a NoisySGD, NoisyAdam or NoisyAdamW on the model's parameters; if it is tied to a ledger, to this one.
    ledger: a Ledger; each step is written into it before the step is taken.
    data: a Data; its test part serves `metric` alone.
    steps: whole, >= 1; the steps of a checkpoint are among them.
    loss: loss(outputs, targets) -> one number per example, shape (batch,).
    engine: "book-keeping", "vmap" or "loop", as in clipped_sum.
    chunk: whole, >= 1; the most examples in memory at once. Fewer are taken, and that is printed, where these do not fit.
    memory: > 0, in bytes; the most for the tensors of a step, beside model and data. None: as much as the device has.
    device: "cuda", "cpu" or a torch.device. None: CUDA where there is one.
    precision: "float32", "tf32" or "bf16", of forward and backward passes; norms and sums are in full precision.
    generator: of the coins that draw the batches: a torch.Generator on the CPU, a seed, None for a generator that the
        operating system seeds, or "secure", in one process only: what leaves your hands needs that, here and in the
        optimizer.
    checkpoint: a file that is written every `every` steps and, where it exists, read first: the run goes on from there.
    every: whole, >= 1; the steps between two looks (score, bar, checkpoint, callback). None: a twentieth of `steps`.
    show: whether the live bar is shown.
    public_n: whole, >= 1, and not the number of rows; for an account that holds for a row added or removed.
    metric: metric(outputs, targets) -> a number, of the whole test part, without dropout. None: the accuracy, where
        targets are classes and the model has an output for each.
    schedule: a scheduler of torch.optim.lr_scheduler on this optimizer, and no ReduceLROnPlateau; takes a step after
        each of the run's.
    callback: callback(run), called at each look; the run ends there if the return value is true, and its epsilon is
        what was planned, which covers a stop that is computed from the model, scores and epsilons alone.

    Ctrl-C ends the run after the current step. Under torchrun each process calls fit with the same arguments and takes
    its share of each batch.

    ValueError for a model that cannot be private, an argument out of its range, arguments that do not fit together, a
    checkpoint of another run, or weights that are no longer finite, which tells nothing but what the model tells;
    BudgetError, which is one, before the first step, where the ledger has no room for all.

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
    optimizer.refuse_noise_that_remembers("fit")
    _refuse_what_is_no_data(data)
    _refuse_another_schedule(schedule, optimizer)
    _refuse_another_ledger(optimizer, ledger)
    refuse_unknown(engine, precision)
    device = _that_works(device)
    refuse_if_not_private(model, engine)
    train(model.to(device))
    data = data.on(device)
    _refuse_rows_in_two_places(data, device)
    refuse_if_it_mixes(model, data)
    optimizer.try_on(model, loss, *data.chosen(slice(0, 2)), engine)
    coins = generators.make(generator, "coins")
    _refuse_coins_of_its_own(coins)
    metric = _metric(metric, model, data)
    settings = _settings(model, optimizer, data, device, precision, steps, public_n, metric, schedule, coins)
    training = Progress(model, optimizer, ledger, coins, schedule, settings)
    training.refuse_if_it_tells_the_rows()
    training.resume(checkpoint, device)
    training.plan()
    training.refuse_if_apart(device)
    if optimizer.ledger is not None:
        optimizer.tie(ledger, training.people, public_n)  # anew: a checkpoint's steps were spent and taken elsewhere
    optimizer.keep_padding(model)
    processes.agree(model.state_dict().values())
    if isinstance(coins, torch.Generator):
        processes.agree_on_state(coins, device)
    batches = poisson_batches(training.people, training.rate, steps, coins)
    accumulate = functools.partial(_accumulate, model, optimizer, data, loss, engine, precision)
    optimizer.graphs.room = cuda_graphs.ROOM if memory is None else 0
    if training.left:
        chunk = people_at_once(model, optimizer, data, chunk, memory, accumulate)
        _score(model, data, metric, chunk)  # what fails, fails before the ledger is charged
    shown = Bar(steps, show and processes.is_first())
    with shown as bar, _interrupt_between_steps() as interrupted, contextlib.closing(optimizer.graphs):
        stop = False
        while training.left and not stop:
            ledger.spend(optimizer.noise_multiplier, training.rate)
            batch = next(batches)
            training.record(len(batch), *_step(optimizer, data.mine(batch), functools.partial(accumulate, chunk=chunk)))
            if schedule is not None:
                schedule.step()
            stop = processes.anywhere(interrupted(), device)
            if training.done % every == 0 or not training.left or stop:
                _refuse_infinite_weights(model, training.done)
                training.look(_score(model, data, metric, chunk), bar)
                training.save(checkpoint, device)
                stop = _stops(callback, training.run, model, device) or stop
    if training.left and processes.is_first():
        print(training.stopped(checkpoint))
    return training.run


def _refuse_what_adds_no_noise(optimizer):
    if not isinstance(optimizer, Noisy):
        raise ValueError(
            f"optimizer must be a NoisySGD, NoisyAdam or NoisyAdamW, got {type(optimizer).__name__}: it adds no noise"
        )


def _refuse_what_is_no_data(data):
    if not isinstance(data, Data):
        raise ValueError(
            f"data must be a Data, as dpsgd.Data(inputs, targets) makes of tensors, arrays, and arrays on a disk, got "
            f"{type(data).__name__}; for other sources write a loop of your own with dpsgd.loader"
        )


def _refuse_rows_in_two_places(data, device):
    """Raise ValueError unless all processes hold the same rows, or each those that no other holds, and all of them."""
    first, people = data.share or (-1, len(data))
    [held] = zip(*processes.gathered([torch.tensor([first, people, len(data)])], device), strict=True)
    places = sorted(tuple(one.tolist()) for one in held)
    if all(one == (-1, len(data), len(data)) for one in places):
        return
    if any(first < 0 for first, _, _ in places):
        raise ValueError(
            f"data must be the same in all processes, got {' and '.join(f'{count:,}' for _, _, count in places)} rows: fit "
            "itself gives each process its share of a batch, and a row that two processes take would count twice; for rows "
            "that only this process holds say so, by share=(first, people)"
        )
    ends = [0, *(first + count for first, _, count in places)]
    if ends != [*(first for first, _, _ in places), people] or any(of != people for _, of, _ in places):
        raise ValueError(
            f"share must give each of the {people:,} people to one process, got (first, people, rows) {places}"
        )


def _refuse_coins_of_its_own(coins):
    if isinstance(coins, secure.Source) and processes.many():
        raise ValueError(
            "generator must not be 'secure' where several processes train: each would toss coins of its own"
        )


def _that_works(device: str | torch.device | None) -> torch.device:
    """Return the device asked for, else CUDA where there is one, after trying a kernel: a driver may promise too much."""
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
    """Take one step on this process's part of a batch; return what it measured, and the squares of the noise.

    Measured are [sum of losses, of how many people, how many are left out, length of the clipped sum]. That and the
    squares are tensors that the device may still be computing.
    """
    optimizer.zero_grad()  # an exception may have left a part of a batch behind
    measured = accumulate(batch)
    measured = torch.cat([measured, optimizer.squares_of_sum.sqrt().to(measured)[None]])
    processes.add_up([measured])
    optimizer.step()
    return measured, optimizer.squares_of_noise


def _accumulate(model, optimizer, data, loss, engine, precision, batch, chunk):
    """Add up the clipped gradients of a batch; returns [sum of losses, of how many people, how many are left out].

    Left out are those whose gradient is not finite, and empty rows are none of either.
    """
    device = data.device
    measured = torch.zeros(3, device=device)
    if device.type == "cuda":
        batch = batch.pin_memory()  # so that the copy needs no wait
    for part in batch.to(device, non_blocking=True).split(chunk):
        if len(part):
            there = data.filled(part)
            inputs, targets = data.chosen(there)
            empty = len(part) - len(there)
            found = optimizer.accumulate(model, loss, inputs, targets, engine, precision, empty=empty)
            counted = found.counted.sum()
            measured += torch.stack([found.losses.where(found.counted, 0).sum(), counted, len(there) - counted])
    return measured


def _refuse_infinite_weights(model, step):
    """Raise ValueError where the weights are not finite: they are released with noise, and so is this."""
    for name, parameter in trainable(model).items():
        if not torch.isfinite(parameter.sum()) and not torch.isfinite(parameter).all():
            raise ValueError(f"the weights {name!r} are no longer finite at step {step:,}: a smaller lr may help")


@torch.no_grad()
def _score(model, data, metric, chunk):
    """Return what the metric says of the model on the test part; None where there is no metric."""
    if metric is None:
        return None
    with evaluated(model), generators.borrowed(data.device):
        outputs = torch.cat([rows.said(model, inputs) for inputs, _ in data.tests(chunk)])
        targets = rows.taken(data.test_targets, slice(None))
        score = metric(outputs, rows.on(targets, data.device))
    try:
        return float(score)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"metric must return one number, got {score!r}") from None


def _metric(metric, model, data):
    """Return the given metric, or else accuracy, where the model has an output for each of several classes."""
    if data.test_inputs is None:
        if metric is not None:
            raise ValueError("metric must be left out where data has no part to test on")
        return None
    if metric is not None or not data.has_classes:
        return metric
    with torch.no_grad(), evaluated(model), generators.borrowed(data.device):
        outputs = rows.said(model, data.chosen([0])[0])
    return _accuracy if outputs.ndim == 2 and outputs.shape[1] > 1 else None


def _accuracy(outputs, targets):
    """Return the share of the examples whose class has the largest output."""
    return int((outputs.argmax(1) == targets).sum()) / len(targets)


def _name(metric):
    """Return the metric's name in the record: the function's name in words."""
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


def _settings(model, optimizer, data, device, precision, steps, public_n, metric, schedule, coins):
    return {
        "people": data.people,
        "public_n": people_of(data.people, public_n),
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
        "noise": secure.SECURE if optimizer.secure and isinstance(coins, secure.Source) else FOR_EXPERIMENTS,
        "metric": _name(metric),
        "schedule": None if schedule is None else type(schedule).__name__,
    }


def _stops(callback, run, model, device):
    """Show the run to the callback of the first process; whether it says that all shall stop."""
    if callback is None:
        return False
    with generators.borrowed(device):
        says = processes.is_first() and bool(callback(run))
    train(model)
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
