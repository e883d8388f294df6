"""Slips in the path of a training on a device, each found by one check of pretend_checks.py or pretend_cuda.py; and the program that tells.

python -m dpsgd.pretend_slips FILE NAME ... writes to FILE, as JSON, what each check that is named says of the library,
nothing or why it fails; and of the library with each slip that is named, which checks fail, and why.
"""

import importlib
import importlib.machinery
import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch
from dpsgd import pretend, pretend_checks, pretend_cuda, pretend_room  # noqa: F401
from dpsgd.pretend_checks import CHECKS
from torch import nn


@dataclass(frozen=True)
class Slip:
    """A mistake in one place of the library. found_by: the check that fails with it."""

    module: str
    was: str
    becomes: str
    found_by: str


NOWHERE = ""  # no check can find it
SLIPS = {
    "a layer's sum by the CPU": Slip(
        "layers",
        "return g.mT @ self.a, g.sum(0)",
        "return (g.mT.cpu() @ self.a.cpu()).to(g.device), g.sum(0)",
        "a_step_waits_twice_at_most",
    ),
    "a mask as an index": Slip(
        "layers",
        "torch.cat([cancelled for _, cancelled, _ in doubtful]).any()",
        "True",
        "a_step_waits_twice_at_most",
    ),
    "a graph asks whether positions cancel": Slip(
        "layers",
        "doubt = doubt | cancelled",
        "doubt = doubt | cancelled if cancelled.any() else doubt",
        "what_is_recorded_waits_for_nothing",
    ),
    "one wait per parameter": Slip(
        "noisy",
        "self._drawn += examples + empty",
        "self._drawn += examples + empty; [float(found.norm()) for found in clipped.sums.values()]",
        "a_step_waits_twice_at_most",
    ),
    "a copy that is waited for": Slip(
        "training", "batch.to(device, non_blocking=True)", "batch.to(device)", "a_step_waits_twice_at_most"
    ),
    "noise from a generator on the CPU": Slip(
        "generators",
        "torch.Generator(device).manual_seed",
        'torch.Generator("cpu").manual_seed',
        "empty_batches_are_steps",
    ),
    "the same noise in each step": Slip(
        "generators",
        "(2,), generator=generator)",
        "(2,), generator=generator.clone_state())",
        "the_noise_is_as_large_as_claimed_and_its_seed_gives_it_again",
    ),
    "a generator on the device is taken": Slip(
        "generators", 'if generator.device.type != "cpu":', "if False:", "a_generator_on_the_device_is_refused_at_once"
    ),
    "the device's generator does not go on": Slip(
        "progress", "generator.set_state(kept)", "pass", "a_killed_run_goes_on_to_the_bit"
    ),
    "all devices are seeded": Slip(
        "generators",
        "generator.manual_seed(seed)\n",
        "torch.manual_seed(seed)\n",
        "nobody_elses_random_numbers_are_touched",
    ),
    "float64 on the device": Slip(
        "noisy",
        'if not tensors or tensors[0].device.type == "cpu":',
        "if True:",
        "a_device_without_float64_will_do",
    ),
    "averages stay where the model was": Slip(
        "noisy", "self._bring_averages()", "pass", "first_on_the_cpu_then_on_the_device_and_back"
    ),
    "a number that begins on the CPU": Slip(
        "training", "measured = torch.zeros(3, device=device)", "measured = torch.zeros(3)", "empty_batches_are_steps"
    ),
    "memory is tried after the ledger was charged": Slip(
        "training",
        "chunk = people_at_once(model, optimizer, data, chunk, memory, accumulate)",
        "pass",
        "what_does_not_fit_at_once_comes_in_parts",
    ),
    "what does not fit is not tried smaller": Slip(
        "memory", "if count == 1:", "if True:", "what_does_not_fit_at_once_comes_in_parts"
    ),
    "tensors are not counted": Slip("memory", "self.live += size", "pass", "a_limit_on_the_cpu_is_kept"),
    "processes that talk on the CPU": Slip(
        "processes",
        "state = generator.get_state().to(device)",
        "state = generator.get_state()",
        "several_processes_exchange_on_the_device",
    ),
    "norms inside somebody's autocast": Slip(
        "precision",
        "if torch.is_autocast_enabled(kind)",
        "if False",
        "norms_and_sums_on_cuda_have_no_tf32_and_no_autocast",
    ),
    "norms in TF32": Slip(
        "precision",
        "with torch.autocast(kind, enabled=False), _tf32(kind, False):",
        "with torch.autocast(kind, enabled=False):",
        "norms_and_sums_on_cuda_have_no_tf32_and_no_autocast",
    ),
    "a batch that is not pinned": Slip("training", "batch = batch.pin_memory()", "pass", NOWHERE),
    "every process on GPU 0": Slip("processes", "torch.cuda.set_device(", "print(", NOWHERE),
}


class Slipped(importlib.machinery.SourceFileLoader):
    """Loads a module of the library with a slip in it."""

    slip: Slip

    def get_code(self, fullname):
        text = Path(self.path).read_text(encoding="utf-8")
        if text.count(self.slip.was) != 1:
            raise LookupError(
                f"{self.slip.module} has {self.slip.was!r} {text.count(self.slip.was)} times: mend the slip"
            )
        return compile(text.replace(self.slip.was, self.slip.becomes), self.path, "exec")


class Finder:
    def __init__(self, slip):
        self.slip, self.name = slip, f"dpcourse.dpsgd.{slip.module}"

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == self.name:
            spec.loader = Slipped(name, spec.origin)
            spec.loader.slip = self.slip
        return spec


def said_of(name, slip=None):
    """What a check says, in a process of its own: nothing, or why it failed."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        said = ""
        try:
            if slip:
                sys.meta_path.insert(0, Finder(slip))
                pretend_checks.import_library()
            CHECKS[name]()
        except BaseException as error:
            places = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)]
            said = f"{type(error).__name__}: {error} ({' '.join(places[-3:])})"
        os.write(writable, said.encode()[:5000])
        os._exit(0)
    os.close(writable)
    with open(readable, "rb") as stream:
        said = stream.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or (f"the process ended with {status}" if status else "")


def warm_up():
    """What torch imports when it is first used, it has in all processes. No gradient: torch would start threads."""
    parameter = nn.Parameter(torch.zeros(2))
    for kind in (pretend_checks.dpsgd.NoisySGD, pretend_checks.dpsgd.NoisyAdam):
        kind([parameter], 0.1, noise_multiplier=1, clip_norm=1, expected_batch=1).step()
    importlib.import_module("torch.func")


def main(file, *names):
    pretend.install()
    pretend_checks.import_library()
    warm_up()
    said = {name: said_of(name) for name in CHECKS if name in names}
    found = {}
    for name in (name for name in SLIPS if name in names):
        checks = [SLIPS[name].found_by] if SLIPS[name].found_by else CHECKS
        found[name] = {check: why for check in checks if (why := said_of(check, SLIPS[name]))}
    Path(file).write_text(json.dumps({"checks": said, "slips": found}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
