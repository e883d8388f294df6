"""The path of a training on a device, walked on the pretend one: CHECKS, each to be called in a process of its own."""

import contextlib
import functools
import importlib
import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from dpsgd import pretend
from dpsgd.pretend import PRETEND, There, gpu
from support import ROOT
from torch import nn

from dpcourse import tables

CHECKS = {}
LESSON = ROOT / "solutions/06-accountants.md"
PEOPLE, STEPS = 120, 6
dpsgd = training = None  # the library, once it has been imported: with a slip, or without


def check(function):
    CHECKS[function.__name__] = function
    return function


def import_library():
    """Import the library anew: the checks are of what is found now."""
    global dpsgd, training
    for name in [name for name in sys.modules if name.startswith("dpcourse.dpsgd")]:
        del sys.modules[name]
    dpsgd = importlib.import_module("dpcourse.dpsgd")
    training = importlib.import_module("dpcourse.dpsgd.training")


# ---- what is trained


@functools.cache
def people():
    generator = torch.Generator("cpu").manual_seed(0)
    inputs, targets = torch.rand(2 * PEOPLE, 1, 8, 8, generator=generator), torch.arange(2 * PEOPLE) % 10
    halves = (*inputs.split(PEOPLE), *targets.split(PEOPLE))
    return dpsgd.Data(halves[0], halves[2], halves[1], halves[3], name="Coins", classes=tuple("0123456789"))


class Words(nn.Module):
    """Reads pixels as words: a table of rows, and linear layers with positions."""

    def __init__(self):
        super().__init__()
        self.rows, self.inner, self.norm = nn.Embedding(9, 8), nn.Linear(8, 8), nn.LayerNorm(8)
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        return self.last(self.norm(self.inner(self.rows((9 * x).flatten(1).long().clamp(0, 8))).tanh()).mean(1))


MODELS = {
    "CNN": lambda: dpsgd.paper_cnn((1, 8, 8), generator=0),
    "words": Words,
    "dropout": lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 12), nn.Tanh(), nn.Dropout(0.3), nn.Linear(12, 10)),
    "deep": lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10), *[nn.Linear(10, 10) for _ in range(9)]),
}


def parts(model="dropout", kind="NoisySGD", seed=0, **changes):
    """A model, its optimizer and a ledger, all on the CPU."""
    torch.manual_seed(seed)
    pretend.module.manual_seed_all(seed)
    model = MODELS[model]()
    settings = {"noise_multiplier": 1.0, "clip_norm": 0.5, "expected_batch": 12, "generator": 1} | changes
    return model, getattr(dpsgd, kind)(model.parameters(), 0.05, **settings), dpsgd.Ledger(1e-5)


def train(mine, **changes):
    settings = {"data": people(), "steps": STEPS, "every": STEPS, "device": PRETEND, "generator": 2, "show": False}
    return dpsgd.fit(*mine, **settings | changes)


def weights(model):
    return torch.cat([parameter.detach().cpu().flatten() for parameter in model.parameters()])


def equal(one, other):
    assert torch.equal(one, other), f"not the same, apart by {float((one - other).abs().max()):.2g}"


# ---- the clipped sum


def clipped(name, engine, device):
    torch.manual_seed(0)
    model = MODELS[name]().to(device)
    inputs, targets = people().train_inputs[:9].to(device), people().train_targets[:9].to(device)
    found = dpsgd.clipped_sum(model, training.cross_entropy, inputs, targets, 0.5, engine)
    return torch.cat([tensor.cpu().flatten() for tensor in (*found.sums.values(), found.norms, found.losses)])


def engine_is_the_cpus(engine):
    for name in ("CNN", "words"):
        equal(clipped(name, engine, PRETEND), clipped(name, engine, "cpu"))


@check
def the_loop_is_the_cpus_to_the_bit():
    engine_is_the_cpus("loop")


@check
def vmap_is_the_cpus_to_the_bit():
    engine_is_the_cpus("vmap")


@check
def book_keeping_is_the_cpus_to_the_bit():
    engine_is_the_cpus("book-keeping")


@check
def what_is_recorded_waits_for_nothing():
    """A graph cannot hold a wait: not for a gradient that is not finite, nor for positions that cancel."""
    from dpcourse.dpsgd import cuda_graphs

    cross_entropy, targets = training.cross_entropy, people().train_targets[:9].to(PRETEND)
    inputs, there = people().train_inputs[:9].to(PRETEND), (torch.arange(9) < 7).to(PRETEND)
    for name in ("CNN", "deep", "words"):
        model = MODELS[name]().to(PRETEND)
        dpsgd.clipped_sum(model, cross_entropy, inputs, targets, 0.5)  # what is learned of a model once, with waits
        gpu.waits.clear()
        parameters = dict(model.named_parameters())
        _, right = cuda_graphs.masked_sum(model, parameters, cross_entropy, inputs, targets, there, 0.5, "float32")
        assert not gpu.waits, f"{name}: {dict(gpu.waits)}"
        assert right


# ---- fit


def fit_is_the_cpus(kind, name):
    """Where there is as good as no noise: that is drawn on the device, so it is another than the CPU's."""
    ends = []
    for device in (PRETEND, "cpu"):
        mine = parts(name, kind, noise_multiplier=1e-30)
        run = train(mine, device=device)
        ends.append((weights(mine[0]), run.batches, run.accuracies, mine[2].runs))
    torch.testing.assert_close(ends[0][0], ends[1][0], rtol=0, atol=1e-25)
    assert ends[0][1:] == ends[1][1:]


@check
def fit_with_noisy_sgd_is_the_cpus():
    fit_is_the_cpus("NoisySGD", "CNN")


@check
def fit_with_noisy_adam_is_the_cpus():
    fit_is_the_cpus("NoisyAdam", "words")


@check
def the_noise_is_as_large_as_claimed_and_its_seed_gives_it_again():
    runs = [train(parts(generator=seed)) for seed in (1, 1, 3)]
    assert runs[0].noises == runs[1].noises != runs[2].noises
    assert dpsgd.inspect(runs[0]).ok, dpsgd.inspect(runs[0])
    assert len(set(runs[0].noises)) == STEPS


@check
def empty_batches_are_steps():
    run = train(parts(expected_batch=0.5))
    assert 0 in run.batches
    assert min(run.noises) > 0


@check
def chunks_do_not_matter():
    ends = []
    for chunk in (5, 1000):
        mine = parts("CNN")
        train(mine, chunk=chunk, steps=3)
        ends.append(weights(mine[0]))
    for end in ends[1:]:
        torch.testing.assert_close(end, ends[0], rtol=1e-4, atol=1e-6)


@check
def a_generator_of_ones_own_will_do():
    mine = parts(generator=torch.Generator("cpu").manual_seed(1))
    train(mine, generator=torch.Generator("cpu").manual_seed(2))
    assert mine[2].runs == [(1.0, 0.1, STEPS)]


@check
def a_generator_on_the_device_is_refused_at_once():
    for refused in (lambda: parts(generator=torch.Generator(PRETEND)), lambda: spent_nothing(parts())):
        with pytest.raises(ValueError, match="generator must be on the cpu"):
            refused()


def spent_nothing(mine):
    try:
        train(mine, generator=torch.Generator(PRETEND))
    finally:
        assert mine[2].runs == [], "budget was spent"


@check
def first_on_the_cpu_then_on_the_device_and_back():
    mine = parts(kind="NoisyAdam")
    for device in ("cpu", PRETEND, "cpu"):
        assert len(train(mine, device=device).batches) == STEPS


@check
def an_optimizer_may_be_saved_before_it_moves():
    mine, other = parts(), parts(seed=1, generator=9)
    other[1].load_state_dict(mine[1].state_dict())
    assert train(mine).noises == train(other).noises


@check
def a_recipe_starts_on_the_device():
    recipe = dpsgd.recipes.DIGITS
    model, optimizer, ledger = recipe.start(people(), generator=0)
    train((model, optimizer, ledger), steps=2)
    assert ledger.runs == [(recipe.noise_multiplier, recipe.sample_rate, 2)]


@check
def nobody_elses_random_numbers_are_touched():
    """A model without dropout draws from torch's own generators neither here nor there."""
    before = None
    for device in ("cpu", PRETEND):
        mine = parts("CNN", seed=5)
        before = torch.get_rng_state(), pretend.module.default_generators[0].get_state()
        train(mine, device=device)
        equal(before[0], torch.get_rng_state())
        equal(before[1], pretend.module.default_generators[0].get_state())


# ---- resumed


class Killing:
    """A loss that ends this process when it is called for the nth time."""

    def __init__(self, call):
        self.left = call

    def __call__(self, outputs, targets):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return training.cross_entropy(outputs, targets)


def killed_and_resumed(name, kind):
    """What the run had in common with one that was not killed: batches, noises, ledger; and the weights of both."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint"
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                train(parts(name, kind, 1), every=2, checkpoint=file, loss=Killing(4 + STEPS - 1))
            os._exit(1)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, "the run was not killed"
        assert len(torch.load(file, weights_only=True)["run"]["batches"]) in range(2, STEPS)
        ends = []
        for seed, how in ((1, {}), (9, {"checkpoint": file})):
            mine = parts(name, kind, seed, generator=seed)
            run = train(mine, every=2, **how)
            ends.append((run.batches, run.noises, mine[2].runs, run.losses, weights(mine[0])))
    assert ends[0][:3] == ends[1][:3], "coins, noise or ledger differ"
    return ends[0][3:], ends[1][3:]


@check
def a_killed_run_goes_on_to_the_bit():
    """With dropout, whose generator is on the device."""
    (losses, end), (again, resumed) = killed_and_resumed("dropout", "NoisyAdam")
    equal(end, resumed)
    assert losses == again


@check
def a_killed_run_goes_on_where_kernels_add_in_any_order():
    """The promise for a GPU: equal coins, equal ledger, the same noise; and sums up to rounding."""
    gpu.unsteady = True
    (_, end), (_, resumed) = killed_and_resumed("dropout", "NoisySGD")
    assert not torch.equal(end, resumed), "the kernels of this check are to be unsteady"
    torch.testing.assert_close(end, resumed, rtol=1e-4, atol=1e-5)


# ---- waits


def waits(name, kind, steps):
    mine = parts(name, kind)
    gpu.waits.clear()
    train(mine, steps=steps, every=1000)
    return gpu.waits.total()


@check
def a_step_waits_twice_at_most():
    """Whatever the number of parameters; all else that fit asks does not grow with the steps."""
    for name, kind in (("CNN", "NoisySGD"), ("deep", "NoisyAdam")):
        more = waits(name, kind, 4) - waits(name, kind, 2)
        assert more <= 2 * 2, f"{more / 2} waits a step for {name}: {dict(gpu.waits)}"


@check
def several_processes_exchange_on_the_device():
    """As NCCL does, which knows nothing of the CPU: all that is said to others lies where the model is."""
    from torch import distributed

    from dpcourse.dpsgd import processes

    def there(tensor, *_, **__):
        assert isinstance(tensor, There), "exchanged on the CPU"

    def gather(everybodys, mine):
        for other in everybodys:
            other.copy_(mine)
        there(mine)

    processes.many = lambda: True
    distributed.get_world_size, distributed.get_rank = lambda: 1, lambda: 0
    distributed.all_reduce, distributed.broadcast, distributed.all_gather = there, there, gather
    with tempfile.TemporaryDirectory() as folder:
        train(parts(), checkpoint=Path(folder) / "checkpoint")


# ---- the lesson


@check
def the_lessons_route_is_walked():
    """Section 4 of lesson 06, from the training to the inspection, by the text of its own cells; two steps."""
    route = 'route = "cuda" if torch.cuda.is_available() else "cpu"'
    cells = [cell.split("```")[0] for cell in LESSON.read_text(encoding="utf-8").split("```{code-cell} ipython3\n")[1:]]
    first, last = (next(i for i, cell in enumerate(cells) if has in cell) for has in (route, "same_size ="))
    walked = [cell for cell in cells[first : last + 1] if "plots." not in cell]
    text = "\n".join(line for cell in walked for line in cell.splitlines() if not line.startswith(":tags:"))
    data, steps = dpsgd.digits(), 2
    planned = {"expected_batch": 256, "sigma": 2.0, "steps": steps, "budget": 3.0, "delta": 1e-5, "data": data}
    planned["sample_rate"] = 256 / len(data.train_inputs)
    planned["plan"] = [(2.0, planned["sample_rate"], steps)]
    names = {"np": np, "torch": torch, "dpsgd": dpsgd, "tables": tables, "passed": lambda exercise: False} | planned
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        exec(text.replace(route, f"route = {PRETEND!r}"), names)
    assert names["run"].settings["device"] == PRETEND
    assert dpsgd.inspect(names["run"]).ok
