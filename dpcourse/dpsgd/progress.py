"""How far a training has come: its record, the checkpoint that is written and read, and what another run's would tell."""

import math
import pickle
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.optim.lr_scheduler import LRScheduler

from dpcourse.base import rounding, validate
from dpcourse.base.files import replaced
from dpcourse.base.languages import say, sentences
from dpcourse.dpsgd import generators, processes, secure
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.noisy import Noisy
from dpcourse.dpsgd.recording import DIGITS, Run

CHECKPOINT = {"run", "ledger before", "model", "optimizer", "coins", "torch"}  # and "schedule", where there is one


@dataclass
class Progress:
    """Everything that one step changes, to be saved and resumed together; the errors are those of fit."""

    model: torch.nn.Module
    optimizer: Noisy
    ledger: Ledger
    coins: torch.Generator | secure.Source
    schedule: LRScheduler | None
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

    def plan(self):
        """Note the epsilon of all that is planned, by the ledger or else by fit's own number of steps."""
        if not self.left:
            return
        self.ledger.refuse_if_not_covered(self.optimizer.noise_multiplier, self.rate, self.left)
        self.run.planned = self.ledger.planned()
        if math.isinf(self.run.planned):
            self.run.planned = self.ledger.after(self.optimizer.noise_multiplier, self.rate, self.left).epsilon()

    def refuse_if_apart(self, device):
        if processes.anywhere(self.done != processes.of_first(self.done, device), device):
            raise ValueError(
                "the processes come from different steps: keep the checkpoint where all of them can read it"
            )

    def record(self, size, measured, squares):
        self.run.batches.append(size)
        self.unread.append((measured, squares))

    def read(self):
        """Ask the device, once, for what the steps since the last time measured."""
        measured, squares = map(torch.stack, zip(*self.unread, strict=True))
        if processes.many():  # of which only the first adds noise
            squares = squares.to(measured)
            processes.agree([squares])
        for (lost, counted, left_out, length), noise in zip(measured.tolist(), squares.tolist(), strict=True):
            self.run.losses.append(lost / counted if counted else math.nan)
            self.run.left_out.append(int(left_out))
            self.run.lengths.append(length)
            self.run.noises.append(self.optimizer.scale_of(noise))
        self.unread = []

    def look(self, score, bar):
        """Note how things stand, and show it."""
        self.read()
        self.run.at.append(self.done)
        self.run.scores.append(score)
        self.run.epsilons.append(self.ledger.epsilon())
        self.run.ledger = self.ledger.state_dict()
        bar.advance(self.run)

    def stopped(self, checkpoint):
        """Return what to tell whoever ended the run early."""
        stopped = say(
            "Stopped after step {done:,} of {steps:,}. What holds is what was planned, epsilon {planned}, if the stop was "
            "computed from what is released with noise: the model, its scores on the test part, epsilon. For a stop that "
            "depends on losses or sizes of batches nothing holds.",
            done=self.done,
            steps=self.settings["steps"],
            planned=rounding.up(self.run.planned, DIGITS),
        )
        if not checkpoint:
            return stopped
        then = say("fit with checkpoint={checkpoint} goes on from there.", checkpoint=repr(str(checkpoint)))
        return sentences([stopped, then])

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
            "schedule": None if self.schedule is None else self.schedule.state_dict(),
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
        if self.schedule is not None:
            self.schedule.load_state_dict(state["schedule"])
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
        """Return how many steps of the checkpoint the ledger does not have yet: none, or all."""
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
    """Return what a checkpoint holds, and its Run; ValueError where it is damaged, or something else."""
    try:
        with zipfile.ZipFile(file) as parts:
            if parts.testzip():
                raise OSError("a checksum is wrong")
        state = torch.load(file, map_location="cpu", weights_only=True)
        if not set(state) >= CHECKPOINT:
            raise KeyError(*CHECKPOINT - set(state))
        return state, Run.of(state["run"])
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise ValueError(f"the checkpoint {file} cannot be read: move it away to begin anew") from error


def _shapes(weights):
    return {name: value.shape for name, value in weights.items()}
