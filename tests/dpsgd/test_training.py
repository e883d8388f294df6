"""fit: killed, interrupted, refused, shared between processes.

This file is also the program that those processes run: python test_training.py SCENE FOLDER.
"""

import copy
import functools
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support import ROOT, by_profile
from torch import nn
from torch.nn import functional as F

from dpcourse import dpsgd
from dpcourse.base import rounding
from dpcourse.dpsgd import recipes, training

pytestmark = pytest.mark.in_turn("seconds of training")

STEPS, EVERY, PEOPLE = 11, 4, 300
TORCHRUN_STARTS = by_profile("processes are started by torchrun, and do not meet in a file", False, True)
TOGETHER = by_profile("processes that train together", (2,), (2, 3))
SHARES = {2: (180, 120), 3: (130, 90, 80)}  # rows that each holds, of 300


@functools.cache
def few():
    """Images of noise, whose classes are coins; quicker to have than the digits."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(2 * PEOPLE, 1, 8, 8, generator=generator)
    targets = torch.randint(10, (2 * PEOPLE,), generator=generator)
    halves = (*inputs.split(PEOPLE), *targets.split(PEOPLE))
    return dpsgd.Data(halves[0], halves[2], halves[1], halves[3], name="Coins", classes=tuple("0123456789"))


def small(seed=0, dropout=0.3):
    torch.manual_seed(seed)  # dropout goes on from here
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 10))


def parts(kind="NoisyAdam", seed=0, budget=None, model=None, **changes):
    """A model, its optimizer and a ledger."""
    model = model or small(seed)
    settings = {"noise_multiplier": 1.0, "clip_norm": 0.5, "expected_batch": 30, "generator": 1}
    optimizer = getattr(dpsgd, kind)(model.parameters(), 0.05, **settings | changes)
    return model, optimizer, dpsgd.Ledger(1e-5, budget)


def train(model, optimizer, ledger, steps=STEPS, **changes):
    return dpsgd.fit(
        model,
        optimizer,
        ledger,
        **{"data": few(), "device": "cpu", "every": EVERY, "generator": 2, "show": False} | changes,
        steps=steps,
    )


def everything(model, optimizer, ledger, run):
    """All that a resumed run must have in common with one that was not interrupted."""
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "ledger": ledger.state_dict(),
        "global generator": torch.get_rng_state(),
        "record": [run.batches, run.losses, run.lengths, run.noises],
    }


def same(one, other):
    """Bit by bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def program(*arguments, command=()):
    """Run this file; returns its exit status and what it printed."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command, __file__, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# ---- killed, or interrupted, in the middle


TRIALS = 6  # calls of the loss by fit's own trials


class Killing:
    """A loss that sends this process a signal in a step of a run, or in a part of it."""

    def __init__(self, step, number=signal.SIGKILL):
        self.left, self.number = TRIALS + step, number

    def __call__(self, outputs, targets):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)
        return training.cross_entropy(outputs, targets)


def killed_in_a_step(folder):
    train(*parts("NoisyAdam"), checkpoint=folder / "checkpoint", loss=Killing(step=10))


def killed_while_it_writes(folder):
    """The second checkpoint is on the disk, and not yet in its place."""
    replaced = os.replace
    calls = []

    def replace_or_die(*names):
        calls.append(names)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        replaced(*names)

    os.replace = replace_or_die
    train(*parts("NoisySGD", momentum=0.9), checkpoint=folder / "checkpoint")


def interrupted_once(folder):
    """Ctrl-C in step 6, which is between two checkpoints."""
    model, optimizer, ledger = parts()
    run = train(model, optimizer, ledger, checkpoint=folder / "checkpoint", loss=Killing(6, signal.SIGINT))
    torch.save(everything(model, optimizer, ledger, run), folder / "left")


SCENES = [killed_in_a_step, killed_while_it_writes, interrupted_once]


def started(scene, folder, **environment):
    """The id of a new process in which the scene is played; torch is imported already, which takes the longest."""
    child = os.fork()
    if child == 0:
        os.environ.update(environment)
        scene(folder)
        sys.stdout.flush()
        os._exit(0)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def scenes(folder):
    """Each in a process and a folder of its own, then the two processes side by side; how they ended."""
    train(*parts(), steps=1)  # what torch imports at its first step, it has in all of them
    status = {}
    for scene in SCENES:
        (folder / scene.__name__).mkdir()
        status[scene.__name__] = ended(started(scene, folder / scene.__name__))
    print(status, flush=True)
    if not TORCHRUN_STARTS:  # without torchrun, and its port, they meet in a file
        ranks = [started(several_processes, folder, RANK=rank, WORLD_SIZE="2") for rank in "01"]
        print("both processes ended:", [ended(child) for child in ranks])


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory):
    """The scenes' folders, and what they printed."""
    folder = tmp_path_factory.mktemp("scenes")
    status, said = program(scenes.__name__, folder)
    assert status == 0, said
    killed = -signal.SIGKILL
    assert str({"killed_in_a_step": killed, "killed_while_it_writes": killed, "interrupted_once": 0}) in said, said
    return folder, said


@pytest.mark.weekly("processes that are killed; a run goes on from its file on a commit")
@pytest.mark.parametrize(
    ("scene", "step", "kind", "options"),
    [
        ("killed_in_a_step", 8, "NoisyAdam", {}),
        ("killed_while_it_writes", 4, "NoisySGD", {"momentum": 0.9}),
    ],
)
def test_a_killed_run_ends_as_one_that_was_not(scene, step, kind, options, left_behind):
    """Model, optimizer, ledger, generators and record, bit by bit, with dropout."""
    checkpoint = left_behind[0] / scene / "checkpoint"
    assert len(torch.load(checkpoint, weights_only=True)["run"]["batches"]) == step
    mine = parts(kind, seed=9, **options | {"generator": 9})
    resumed = everything(*mine, train(*mine, checkpoint=checkpoint, generator=9))
    unbroken = parts(kind, **options)
    assert same(resumed, everything(*unbroken, train(*unbroken)))
    assert resumed["ledger"]["runs"] == [[1.0, 30 / PEOPLE, STEPS]]


def test_a_checkpoint_at_the_end_is_the_end(tmp_path):
    """Asked again, fit trains no further, whether the ledger is new or the one that was spent."""
    mine = parts()
    run = train(*mine, checkpoint=tmp_path / "checkpoint")
    end = everything(*mine, run)
    assert same(everything(*mine, train(*mine, checkpoint=tmp_path / "checkpoint")), end)
    new = parts(seed=5)
    assert same(everything(*new, train(*new, checkpoint=tmp_path / "checkpoint")), end)


# ---- afterwards


def test_ctrl_c_ends_after_the_step_and_leaves_everything_in_order(left_behind):
    folder, said = left_behind[0] / "interrupted_once", left_behind[1]
    assert "Stopped after step 6 of 11. What holds is what was planned, epsilon " in said
    left = torch.load(folder / "left", weights_only=True)
    saved = torch.load(folder / "checkpoint", weights_only=True)
    assert left["ledger"]["runs"] == saved["run"]["ledger"]["runs"] == [[1.0, 30 / PEOPLE, 6]]
    assert len(left["record"][0]) == len(saved["run"]["batches"]) == saved["run"]["at"][-1] == 6
    assert same([left["model"], left["optimizer"]], [saved["model"], saved["optimizer"]])

    mine = parts(seed=3)
    resumed = everything(*mine, train(*mine, checkpoint=folder / "checkpoint"))
    unbroken = parts()
    assert same(resumed, everything(*unbroken, train(*unbroken)))


@pytest.mark.parametrize(
    ("how", "planned"),
    [
        ({}, lambda: dpsgd.Ledger(1e-5).after(1.0, 0.1, STEPS).epsilon()),
        ({"budget": 20.0}, lambda: 20.0),
        ({"plan": [(1.0, 0.1, 20)]}, lambda: dpsgd.Ledger(1e-5).after(1.0, 0.1, 20).epsilon()),
        ({"budget": 20.0, "adaptive": True}, lambda: 20.0),
    ],
    ids=["nothing", "budget", "plan", "adaptive"],
)
def test_who_stops_hears_what_holds_and_can_go_on(how, planned, tmp_path, capsys):
    """What was planned: fit's own steps where the ledger sets no limit. The ledger goes on as it was made."""

    def mine():
        return (*parts("NoisySGD", model=small(dropout=0))[:2], dpsgd.Ledger(1e-5, **how))

    stopped, file = mine(), tmp_path / "checkpoint"
    train(*stopped, loss=Killing(3, signal.SIGINT), checkpoint=file)
    saved = file.read_bytes()
    said = capsys.readouterr().out
    assert (
        f"Stopped after step 3 of 11. What holds is what was planned, epsilon {rounding.up(planned(), 4)}, if" in said
    )
    assert "fit with checkpoint=" in said
    unbroken = mine()
    train(*unbroken)
    for ledger in (stopped[2], dpsgd.Ledger(1e-5, **how)):
        file.write_bytes(saved)
        resumed = (*mine()[:2], ledger)
        train(*resumed, checkpoint=file)
        assert ledger.state_dict() == unbroken[2].state_dict()
        assert torch.equal(weights(resumed[0]), weights(unbroken[0]))


def test_ctrl_c_works_as_before_afterwards():
    before = signal.getsignal(signal.SIGINT)
    train(*parts(), steps=1)
    assert signal.getsignal(signal.SIGINT) is before


class Failing:
    def __init__(self, call):
        self.left = TRIALS + call

    def __call__(self, outputs, targets):
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("out of memory, say")
        return training.cross_entropy(outputs, targets)


def test_a_step_that_failed_in_the_middle_leaves_nothing_to_the_next(tmp_path):
    """One chunk of its batch was accumulated; in the next run nobody may count twice."""
    mine = parts(model=small(dropout=0))
    with pytest.raises(RuntimeError, match="out of memory"):
        train(*mine, loss=Failing(2), chunk=8)
    assert mine[2].runs == [(1.0, 30 / PEOPLE, 1)]  # written down first
    assert mine[1].sum_length > 0
    fresh = parts(model=small(dropout=0))
    for each in (mine, fresh):
        train(*each, steps=2)
    assert torch.equal(weights(mine[0]), weights(fresh[0]))


# ---- refused, nothing touched


def assert_refused(mine, error, says, **changes):
    """With nothing changed in model, optimizer and ledger."""

    def state():
        return copy.deepcopy([mine[0].state_dict(), mine[1].state_dict(), mine[2].state_dict()])

    before = state()
    with pytest.raises(error, match=says):
        train(*mine, **changes)
    assert same(state(), before)


def test_the_budget_is_never_passed():
    mine = parts(budget=3.0)
    room = mine[2].steps_left(1.0, 30 / PEOPLE)
    assert room > 0
    assert_refused(mine, dpsgd.BudgetError, f"has no room for {room + 1} more .*; {room} fit", steps=room + 1)
    run = train(*mine, steps=room, every=1000)
    assert len(run.batches) == room
    assert 0 < run.epsilon <= 3.0
    assert mine[2].after(1.0, 30 / PEOPLE, 1).epsilon() > 3.0
    assert_refused(mine, dpsgd.BudgetError, "has no room for 1 more steps .*; 0 fit", steps=1)


def test_settings_that_were_not_fixed_are_refused_before_anything_happens():
    mine = parts()
    train(*mine, steps=1)
    other = parts(noise_multiplier=2.0)[:2]
    assert_refused(
        (*other, mine[2]), dpsgd.BudgetError, "this ledger has steps at noise multiplier 1.0 and .*plan=", steps=1
    )
    planned = dpsgd.Ledger(1e-5, plan=[(1.0, 0.1, 3)])
    assert_refused((*parts()[:2], planned), dpsgd.BudgetError, "the plan .* has 3 steps left .*, not 4", steps=4)
    train(*parts()[:2], planned, steps=3)


# ---- n, public or not


def test_where_n_is_not_public_the_rate_comes_from_another_number(tmp_path):
    """Each row's coin has the rate by public_n; the record says for which neighbours the account holds."""
    _, _, ledger = mine = parts(expected_batch=32)
    run = train(*mine, steps=40, public_n=320, every=40, checkpoint=tmp_path / "checkpoint")
    assert ledger.runs == [(1.0, 0.1, 40)]
    assert run.batches == [len(batch) for batch in dpsgd.poisson_batches(PEOPLE, 0.1, 40, generator=2)]
    told = {name: run.settings[name] for name in ("people", "public_n", "neighbours")}
    assert told == {"people": PEOPLE, "public_n": 320, "neighbours": "a row added or removed"}
    assert dpsgd.inspect(run).ok, dpsgd.inspect(run)
    with pytest.raises(ValueError, match="of another run: public_n was 320 and is 300, neighbours was 'a row added"):
        train(*parts(expected_batch=32), steps=40, checkpoint=tmp_path / "checkpoint")
    told = train(*parts(), steps=1).settings
    assert (told["public_n"], told["neighbours"]) == (PEOPLE, "a row emptied")


def begun(recipe, **public):
    return replace(recipe, steps=2).start(few(), generator=0, **public)


@pytest.mark.parametrize(
    ("mine", "public_n", "says"),
    [
        (parts, PEOPLE, "public_n must be a number written down before the rows were counted, got 300, which is the"),
        (parts, 0, "public_n must be a whole number >= 1, got 0"),
        (
            lambda: begun(recipes.DIGITS),
            320,
            "expected_batch must come from public_n, 320, got 75.0: .* is 0.25 times",
        ),
        (
            lambda: (*parts()[:2], dpsgd.Ledger(1e-5, 9.0, plan=[(1.0, 0.1, 20)])),
            320,
            r"expected_batch must come from public_n, 320, got 30.0: the ledger's sample rate is 0.1 times 300, the number",
        ),
        (lambda: (*parts()[:2], dpsgd.Ledger(1e-5).after(1.0, 0.1, 3)), 320, "expected_batch must come from public_n"),
        (lambda: parts(expected_batch=330), 320, r"expected_batch / people must be a number in \(0, 1\], got 1.03"),
    ],
    ids=["n", "nobody", "a recipe", "a plan", "earlier steps", "more than all"],
)
def test_settings_that_tell_the_number_of_rows_are_refused(mine, public_n, says):
    assert_refused(mine(), ValueError, says, steps=2, public_n=public_n)


def test_a_recipe_that_starts_with_public_n_is_in_order():
    run = train(*begun(recipes.DIGITS, public_n=320), steps=2, public_n=320)
    assert run.settings["expected_batch"] == 80
    assert run.ledger["runs"] == [[3.49, 0.25, 2]]
    with pytest.raises(
        ValueError, match="public_n must be a number written down before the rows were counted, got 300"
    ):
        begun(recipes.DIGITS, public_n=PEOPLE)


def test_a_checkpoint_from_before_there_was_public_n_goes_on(tmp_path):
    file = tmp_path / "checkpoint"
    train(*parts(), loss=Killing(3, signal.SIGINT), checkpoint=file)
    state = torch.load(file, weights_only=True)
    for name in ("public_n", "neighbours"):
        del state["run"]["settings"][name]
    torch.save(state, file)
    assert len(train(*parts(), checkpoint=file).batches) == STEPS


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A checkpoint after the last step, and the weights it should give."""
    file = tmp_path_factory.mktemp("finished") / "checkpoint"
    mine = parts()
    train(*mine, checkpoint=file)
    return file.read_bytes(), weights(mine[0])


def torch_file(content, file):
    torch.save(content, file)
    return file.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content, file: b"",
        lambda content, file: b"no checkpoint at all",
        lambda content, file: content[: len(content) // 2],
        lambda content, file: content[:-1],
        lambda content, file: torch_file(torch.ones(3), file),
        lambda content, file: torch_file(small().state_dict(), file),
        lambda content, file: torch_file({"run": 3}, file),
        lambda content, file: torch_file(torch.load(file, weights_only=True) | {"run": {"losses": []}}, file),
    ],
    ids=["empty", "text", "half", "last byte", "tensor", "weights", "number", "no settings"],
)
def test_a_damaged_checkpoint_is_refused(damage, finished, tmp_path):
    file = tmp_path / "checkpoint"
    file.write_bytes(finished[0])
    file.write_bytes(damage(finished[0], file))
    assert_refused(
        parts(), ValueError, "the checkpoint .*checkpoint cannot be read: move it away to begin anew", checkpoint=file
    )


def test_a_bit_that_flipped_is_found_or_harmless(finished, tmp_path):
    content, expected = finished
    file = tmp_path / "checkpoint"
    refused = 0
    for place in np.random.default_rng(0).integers(len(content), size=60):
        flipped = bytearray(content)
        flipped[place] ^= 1
        file.write_bytes(flipped)
        mine = parts()
        try:
            train(*mine, checkpoint=file)
        except ValueError:
            refused += 1
        else:
            assert torch.equal(weights(mine[0]), expected)
    assert refused > 30


@pytest.mark.parametrize(
    ("mine", "changes", "says"),
    [
        (lambda: parts(noise_multiplier=2.0), {}, "of another run: noise_multiplier was 1.0 and is 2.0; move it away"),
        (lambda: parts("NoisySGD"), {}, "optimizer was 'NoisyAdam' and is 'NoisySGD'"),
        (parts, {"steps": 12}, "steps was 11 and is 12"),
        (parts, {"precision": "bf16"}, "precision was 'float32' and is 'bf16'"),
        (lambda: parts(model=nn.Sequential(nn.Identity(), *small())), {}, "the layers of the model were others"),
        (lambda: (*parts()[:2], dpsgd.Ledger(1e-6)), {}, "the ledger has runs .*: give fit a ledger in one of these"),
        (lambda: (*parts()[:2], dpsgd.Ledger(1e-5).after(1.0, 0.1, 3)), {}, "the ledger has runs .* 3.*come to .* 11"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(mine, changes, says, finished, tmp_path):
    file = tmp_path / "checkpoint"
    file.write_bytes(finished[0])
    assert_refused(mine(), ValueError, says, checkpoint=file, **changes)


class Mean(nn.Module):
    def __init__(self, when=lambda training: True):
        super().__init__()
        self.when = when

    def forward(self, x):
        return x - x.mean(0) if self.when(self.training) else x


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(64))

    def forward(self, x):
        with torch.no_grad():
            self.mean.lerp_(x.mean(0), 0.1)
        return x


class Outside(nn.Module):
    """Uses a weight where the layer that has it cannot see it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        return F.linear(self.layer(x).tanh(), self.layer.weight)


def before_the_last(layer):
    return nn.Sequential(nn.Flatten(), layer, nn.Linear(64, 10))


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (Mean(), "what the model says of one example depends on the others in the batch"),
        (Mean(lambda training: training), "what the model says of one example depends on the others in the batch"),
        (Remembers(), "the model keeps something of the data in '1.mean'"),
        (Outside(), "engine 'book-keeping' and the loop of one disagree about '1.layer.weight'"),
        (nn.BatchNorm1d(64), r"layer '1' \(BatchNorm1d\) mixes"),
    ],
    ids=["mean", "mean in training", "buffer", "outside", "batch norm"],
)
def test_a_model_that_cannot_be_private_is_refused(layer, says):
    assert_refused(parts(model=before_the_last(layer)), ValueError, says)


def test_a_loss_that_mixes_is_refused():
    def mixing(outputs, targets):
        losses = training.cross_entropy(outputs, targets)
        return losses * losses.detach().mean()

    assert_refused(parts(), ValueError, "the loss of one example depends on the others", loss=mixing)


@pytest.mark.parametrize(
    ("mine", "changes", "says"),
    [
        (
            lambda: (small(), torch.optim.SGD(small().parameters()), dpsgd.Ledger(1e-5)),
            {},
            "NoisyAdamW, got SGD: it adds",
        ),
        (lambda: parts(expected_batch=PEOPLE + 1), {}, r"expected_batch / people must be a number in \(0, 1\]"),
        (lambda: parts(noise_multiplier=0), {}, "noise_multiplier must be a number in"),
        (parts, {"steps": 0}, "steps must be a whole number >= 1, got 0"),
        (parts, {"chunk": 0}, "chunk must be a whole number >= 1, got 0"),
        (parts, {"every": 0}, "every must be a whole number >= 1, got 0"),
        (parts, {"precision": "fp8"}, "precision must be one of .*, got 'fp8'"),
        (parts, {"engine": "fast"}, "engine must be one of .*, got 'fast'"),
        (parts, {"generator": -1}, "generator must be a whole number >= 0, got -1"),
    ],
)
def test_bad_settings_are_named_before_anything_happens(mine, changes, says):
    assert_refused(mine(), ValueError, says, **changes)


# ---- a run as it should be


def test_fit_learns_the_digits_and_passes_inspection():
    model = dpsgd.logistic((1, 8, 8), generator=0)
    _, optimizer, ledger = parts("NoisySGD", model=model, clip_norm=1.0, expected_batch=200)
    optimizer.param_groups[0]["lr"] = 2.0
    run = train(model, optimizer, ledger, 40, data=dpsgd.digits(), every=40)
    assert run.accuracy > 0.8
    right = model(dpsgd.digits().test_inputs).argmax(1) == dpsgd.digits().test_targets
    assert run.accuracy == pytest.approx(float(right.float().mean()))
    assert run.epsilon == ledger.epsilon()
    assert dpsgd.inspect(run).ok, dpsgd.inspect(run)


def test_the_accuracy_is_of_the_model_without_dropout():
    model, *others = parts(model=small(dropout=0.9))
    run = train(model, *others, steps=1)
    assert model.training
    model.eval()
    right = model(few().test_inputs).argmax(1) == few().test_targets
    assert run.accuracy == pytest.approx(float(right.float().mean()))


def test_fit_is_the_steps_written_out():
    """Weights and record of a loop that anybody could write."""
    mine, own = parts("NoisySGD", model=small(dropout=0)), parts("NoisySGD", model=small(dropout=0))
    run = train(*mine, steps=5)
    for step, batch in enumerate(dpsgd.poisson_batches(PEOPLE, 30 / PEOPLE, 5, generator=2)):
        inputs, targets = few().train_inputs[batch], few().train_targets[batch]
        clipped = own[1].accumulate(own[0], training.cross_entropy, inputs, targets)
        length = float(nn.utils.get_total_norm(clipped.sums.values()))
        own[1].step()
        found = run.batches[step], run.losses[step], run.lengths[step], run.noises[step]
        assert found == pytest.approx((len(batch), float(clipped.losses.mean()), length, own[1].noise_scale), rel=1e-5)
    assert torch.equal(weights(mine[0]), weights(own[0]))


def test_empty_batches_are_steps_of_noise():
    mine = parts("NoisySGD", expected_batch=0.3)
    run = train(*mine, steps=8, every=8)
    empty = [size == 0 for size in run.batches]
    assert 0 < sum(empty) < 8
    assert [loss != loss for loss in run.losses] == [length == 0 for length in run.lengths] == empty
    assert min(run.noises) > 0


def test_the_size_of_a_chunk_does_not_matter_beyond_rounding():
    found = []
    for chunk in (1, 7, 1000):
        mine = parts("NoisySGD", model=small(dropout=0))
        found.append((train(*mine, chunk=chunk, steps=4), weights(mine[0])))
    for run, end in found[1:]:
        torch.testing.assert_close(end, found[0][1])
        assert run.lengths == pytest.approx(found[0][0].lengths, rel=1e-5)
        assert run.losses == pytest.approx(found[0][0].losses, rel=1e-5)


@pytest.mark.parametrize("show", [True, False])
def test_the_bar_is_shown_or_not(show, capfd):
    train(*parts(budget=20.0), steps=4, show=show)
    said = "".join(capfd.readouterr())
    assert ("4/4" in said) == show
    assert (" of 20" in said) == show
    assert said.strip() == "" or show


# ---- one's own metric, schedule and callback


def furthest(outputs, targets):
    """A number that says which outputs it was given."""
    return outputs.abs().max() + len(targets)


def test_a_metric_sees_all_outputs_for_the_test_part_without_dropout():
    model, *others = parts(model=small(dropout=0.9))
    run = train(model, *others, metric=furthest, chunk=7, steps=2, every=1)
    with torch.no_grad():
        expected = furthest(model.eval()(few().test_inputs), few().test_targets)
    assert (run.metric, len(run.scores), run.accuracies, run.accuracy) == ("furthest", 2, [], None)
    assert run.score == pytest.approx(float(expected))
    assert f"furthest {run.score:.3f} on the test part, epsilon at most" in repr(run)


def test_without_a_part_to_test_on_nothing_is_said_of_it(tmp_path, capfd):
    """Neither a division by nobody nor an accuracy; weights and record are otherwise the same."""
    with_one = parts()
    expected = train(*with_one)
    without = parts()
    data = dpsgd.Data(few().train_inputs, few().train_targets, name="Coins")
    run = train(*without, data=data, show=True)
    assert torch.equal(weights(with_one[0]), weights(without[0]))
    assert (run.losses, run.at, run.epsilons) == (expected.losses, expected.at, expected.epsilons)
    assert (run.scores, run.score, run.accuracy, run.metric) == ([None] * 3, None, None, None)
    assert dpsgd.inspect(run).ok
    assert repr(run).startswith("NoisyAdam on Coins, 11 steps on cpu: epsilon at most")
    run.save(tmp_path / "run.json")
    assert repr(dpsgd.replay(tmp_path / "run.json", None, show=True)) == repr(run)
    assert "accuracy" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("outputs", "loss"),
    [(1, lambda o, t: (o[:, 0] - t).square()), (1, lambda o, t: F.softplus(o[:, 0]) - t * o[:, 0])],
    ids=["counts", "one output for two classes"],
)
def test_there_is_no_accuracy_without_an_output_for_each_class(outputs, loss):
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, outputs))
    assert train(*parts(model=model), loss=loss).metric is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"metric": lambda o, t: o}, "metric must return one number, got tensor"),
        ({"metric": lambda o, t: None}, "metric must return one number, got None"),
        ({"metric": furthest, "data": None}, "metric must be left out where data has no part to test on"),
        ({"schedule": 3}, "schedule must be one of torch.optim.lr_scheduler, got int"),
    ],
)
def test_a_metric_or_schedule_that_cannot_be_spends_nothing(changes, says):
    if "data" in changes:
        changes["data"] = dpsgd.Data(few().train_inputs, few().train_targets)
    assert_refused(parts(), ValueError, says, **changes)


def test_a_metric_that_fails_fails_before_the_first_step():
    def failing(outputs, targets):
        raise KeyError("a metric's own")

    assert_refused(parts(), KeyError, "a metric's own", metric=failing)


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        (lambda mine: torch.optim.lr_scheduler.ReduceLROnPlateau(mine[1]), "schedule must not look at the data"),
        (lambda mine: torch.optim.lr_scheduler.StepLR(parts()[1], 2), "made with the optimizer that fit is given"),
    ],
    ids=["looks", "of another"],
)
def test_a_schedule_that_looks_or_is_of_another_optimizer_is_refused(schedule, says):
    mine = parts()
    assert_refused(mine, ValueError, says, schedule=schedule(mine))


SCHEDULES = {
    "StepLR": lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.3),
    "MultiStepLR": lambda optimizer: torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 9]),
    "OneCycleLR": lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=STEPS + 1),
    "SequentialLR": lambda optimizer: torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5),
        ],
        [4],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_takes_a_step_after_each_of_fits_and_goes_on_where_it_stopped(name, tmp_path):
    """As in a loop that calls schedule.step() itself; interrupted and resumed, to the bit."""

    def mine():
        model, optimizer, ledger = parts("NoisySGD", model=small(dropout=0))
        return model, optimizer, ledger, SCHEDULES[name](optimizer)

    model, optimizer, ledger, schedule = mine()
    run = train(model, optimizer, ledger, schedule=schedule)
    assert run.settings["schedule"] == name
    own, its, _, another = mine()
    for batch in dpsgd.poisson_batches(PEOPLE, 0.1, STEPS, generator=2):
        its.accumulate(own, training.cross_entropy, few().train_inputs[batch], few().train_targets[batch])
        its.step()
        another.step()
    assert torch.equal(weights(model), weights(own))
    assert optimizer.param_groups[0]["lr"] == its.param_groups[0]["lr"]

    file = tmp_path / "checkpoint"
    *stopped, schedule = mine()
    train(*stopped, schedule=schedule, checkpoint=file, loss=Killing(6, signal.SIGINT))
    *resumed, schedule = mine()
    train(*resumed, schedule=schedule, checkpoint=file)
    assert torch.equal(weights(resumed[0]), weights(model))
    *without, _ = mine()
    with pytest.raises(ValueError, match=f"of another run: schedule was '{name}' and is None"):
        train(*without, checkpoint=file)


def test_a_callback_sees_the_run_and_can_end_it(tmp_path, capsys):
    """After the checkpoint is written: what it raises loses nothing. torch's generator is as before."""
    seen, file = [], tmp_path / "checkpoint"

    def callback(run):
        seen.append((run.at[-1], run.score, torch.load(file, weights_only=True)["run"]["at"][-1]))
        torch.rand(3)
        return run.at[-1] == 8

    stopped = parts()
    run = train(*stopped, callback=callback, checkpoint=file)
    assert seen == [(4, run.scores[0], 4), (8, run.scores[1], 8)]
    assert len(run.batches) == 8
    assert "Stopped after step 8 of 11" in capsys.readouterr().out
    resumed = parts()
    train(*resumed, checkpoint=file, callback=callback)
    assert [step for step, *_ in seen] == [4, 8, 11]
    unbroken = parts()
    train(*unbroken)
    assert torch.equal(weights(resumed[0]), weights(unbroken[0]))


def test_a_tied_optimizer_stays_tied_to_its_ledger():
    mine = parts()
    mine[1].tie(mine[2], PEOPLE)
    assert_refused((*mine[:2], dpsgd.Ledger(1e-5)), ValueError, "ledger must be the one that the optimizer is tied to")
    run = train(*mine)
    assert mine[2].runs == [(1.0, 0.1, STEPS)]
    alone = parts()
    assert run.batches == train(*alone).batches
    assert torch.equal(weights(mine[0]), weights(alone[0]))
    with pytest.raises(ValueError, match="this step is not in the ledger"):
        mine[1].step()


# ---- several processes


def several_processes(folder):
    """Each with weights, coins and noise of its own seed, until fit makes them one."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    meeting = "env://" if "MASTER_ADDR" in os.environ else f"file://{folder / 'meeting'}"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size)
    left = {}

    def mine():
        return parts("NoisySGD", model=dpsgd.paper_cnn((1, 8, 8), generator=rank), generator=rank, momentum=0.9)

    alike = mine()
    run = train(*alike, steps=4, generator=rank)
    left["alike"] = weights(alike[0]), alike[2].state_dict(), run.batches, run.losses, run.noises

    wrapped = mine()
    wrapped = (nn.parallel.DistributedDataParallel(wrapped[0]), *wrapped[1:])
    train(*wrapped, steps=4, generator=rank)
    left["wrapped"] = weights(wrapped[0])

    loss = Killing(2, signal.SIGINT) if rank else training.cross_entropy
    file = folder / "checkpoint"
    left["stopped"] = train(*mine(), loss=loss, checkpoint=file, generator=rank).batches
    tied = mine()
    tied[1].tie(tied[2], PEOPLE)  # the size of a batch is that of its shares together
    left["resumed"] = train(*tied, checkpoint=file, generator=rank).batches
    try:
        train(*mine(), checkpoint=file if rank == 0 else None, generator=rank)
    except ValueError as error:
        left["apart"] = str(error)
    unpaid, data = mine(), few()
    try:
        train(
            *unpaid, data=replace(data, train_inputs=data.train_inputs[rank:], train_targets=data.train_targets[rank:])
        )
    except ValueError as error:
        left["own rows"] = str(error), unpaid[2].runs

    def share(first, count):
        rows = slice(first, first + count)
        return replace(
            data, train_inputs=data.train_inputs[rows], train_targets=data.train_targets[rows], share=(first, PEOPLE)
        )

    split, held = mine(), SHARES[size]
    run = train(*split, data=share(sum(held[:rank]), held[rank]), steps=4, generator=rank)
    left["shares"] = weights(split[0]), run.batches, run.losses
    try:
        train(*mine(), data=share(50 * rank, 200), steps=4)
    except ValueError as error:
        left["overlap"] = str(error)
    torch.save(left, folder / f"left {rank}")
    torch.distributed.barrier()  # nobody leaves while another still talks
    sys.stdout.flush()
    os._exit(0)  # PyTorch 2.13 may wait for itself for ever when it takes DistributedDataParallel and Gloo apart


def one_of_two_is_killed(folder):
    """The last process is killed in step 10 when it is started for the first time; both end where they were to end."""
    rank = int(os.environ["RANK"])
    torch.distributed.init_process_group("gloo")
    loss = (
        Killing(10)
        if rank and not (folder / "started").exists() and folder.name == "killed"
        else training.cross_entropy
    )
    torch.distributed.barrier()
    (folder / "started").touch()
    mine = parts("NoisySGD", generator=rank, momentum=0.9)
    torch.manual_seed(rank)  # each has a dropout of its own
    run = train(*mine, loss=loss, checkpoint=folder / "checkpoint", generator=rank)
    torch.save(everything(*mine, run), folder / f"left {rank}")
    torch.distributed.barrier()
    os._exit(0)


TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]


@pytest.mark.weekly("torchrun takes a minute to see that a process was killed")
def test_a_run_by_torchrun_of_which_one_process_is_killed_ends_as_one_that_was_not(tmp_path):
    """torchrun ends with an error, and the same command goes on from the checkpoint: weights and record, bit by bit."""
    left = {}
    for name, ends in (("killed", [False, True]), ("whole", [True])):
        folder = tmp_path / name
        folder.mkdir()
        for well in ends:
            status, said = program(one_of_two_is_killed.__name__, folder, command=[*TORCHRUN, "--nproc-per-node=2"])
            assert (status == 0) == well, said
            if not well:
                assert f"exitcode  : {-signal.SIGKILL}" in said, said
                assert len(torch.load(folder / "checkpoint", weights_only=True)["run"]["batches"]) == 8
        left[name] = [torch.load(folder / f"left {rank}", weights_only=True) for rank in (0, 1)]
    assert same(left["killed"][0], left["whole"][0])
    for name in ("model", "ledger", "global generator"):
        assert same(left["killed"][1][name], left["whole"][1][name]), name
    assert same(left["whole"][1]["model"], left["whole"][0]["model"])
    assert left["whole"][1]["record"][3] == left["whole"][0]["record"][3]  # the noise that the first process adds
    assert left["whole"][0]["ledger"]["runs"] == [[1.0, 0.1, STEPS]]


@pytest.fixture(scope="module", params=TOGETHER)
def left_by_each(request, left_behind, tmp_path_factory):
    """What each of several processes came to, started as torchrun starts them; in the week, by torchrun itself."""
    folder, said = left_behind
    if TORCHRUN_STARTS:
        folder = tmp_path_factory.mktemp("together")
        command = [*TORCHRUN, f"--nproc-per-node={request.param}"]
        status, said = program(several_processes.__name__, folder, command=command)
        assert status == 0, said
    else:
        assert "both processes ended: [0, 0]" in said, said
    return [torch.load(folder / f"left {rank}", weights_only=True) for rank in range(request.param)]


def test_several_processes_take_the_steps_of_one(left_by_each):
    """The sum of all examples and the noise of the first process: its seeds, alone, give the same weights."""
    alone = parts("NoisySGD", model=dpsgd.paper_cnn((1, 8, 8), generator=0), generator=0, momentum=0.9)
    run = train(*alone, steps=4, generator=0)
    for left in left_by_each:
        end, ledger, batches, losses, noises = left["alike"]
        torch.testing.assert_close(end, weights(alone[0]), rtol=1e-5, atol=1e-6)
        assert ledger == alone[2].state_dict()
        assert batches == run.batches
        assert losses == pytest.approx(run.losses, rel=1e-5)
        assert noises == pytest.approx(run.noises, rel=1e-5)


def test_several_processes_have_the_same_weights(left_by_each):
    first = left_by_each[0]["alike"][0]
    for left in left_by_each:
        assert torch.equal(left["alike"][0], first)
        assert torch.equal(left["wrapped"], first)


def test_ctrl_c_in_the_others_stops_all_and_all_resume(left_by_each):
    stopped, resumed = left_by_each[0]["stopped"], left_by_each[0]["resumed"]
    assert (len(stopped), len(resumed)) == (2, STEPS)
    assert resumed[:2] == stopped
    for left in left_by_each:
        assert (left["stopped"], left["resumed"]) == (stopped, resumed)


def test_processes_that_come_from_different_steps_are_refused(left_by_each):
    for left in left_by_each:
        assert left["apart"].startswith("the processes come from different steps")


def test_processes_that_hold_rows_of_their_own_are_refused_before_a_step_is_paid(left_by_each):
    for left in left_by_each:
        says, runs = left["own rows"]
        counts = " and ".join(str(300 - rank) for rank in reversed(range(len(left_by_each))))
        assert says.startswith(f"data must be the same in all processes, got {counts} rows")
        assert runs == []
        assert left[
            "overlap"
        ] == "share must give each of the 300 people to one process, got (first, people, rows) " + str(
            [(50 * rank, 300, 200) for rank in range(len(left_by_each))]
        )


def test_processes_that_each_hold_a_share_take_the_steps_of_one_that_holds_all(left_by_each):
    for left in left_by_each:
        end, batches, losses = left["shares"]
        torch.testing.assert_close(end, left["alike"][0], rtol=1e-5, atol=1e-6)
        assert batches == left["alike"][2]
        assert losses == pytest.approx(left["alike"][3], rel=1e-5)


# ---- saved


def test_a_saved_run_is_replayed_as_it_was(tmp_path, capfd):
    run = train(*parts(expected_batch=0.3), steps=4)
    checksum = run.save(tmp_path / "run.json")
    again = dpsgd.replay(tmp_path / "run.json", checksum, show=False)
    assert repr(again) == repr(run)
    assert again.batches == run.batches
    assert again.lengths == run.lengths
    assert again.ledger == run.ledger
    assert "".join(capfd.readouterr()).strip() == ""
    dpsgd.replay(tmp_path / "run.json", checksum)
    assert "4/4" in "".join(capfd.readouterr())


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))


# ---- rows that would tell


@pytest.mark.parametrize("kind", ["NoisySGD", "NoisyAdam"])
@pytest.mark.parametrize("value", [1e38, math.nan, math.inf], ids=str)
def test_a_row_cannot_stop_the_run(value, kind):
    """An attack: the neighbours are a row whose gradient is not finite, and the same row empty. They cannot be told apart."""
    data = few()
    inputs = data.train_inputs.clone()
    inputs[7] = value
    attacked, ends = replace(data, train_inputs=inputs), []
    for neighbour in (attacked, data.emptied(7)):
        mine = parts(kind, model=small(dropout=0))
        mine[1].tie(mine[2], PEOPLE)
        ends.append((train(*mine, data=neighbour, steps=30), weights(mine[0])))
    (there, with_row), (empty, without) = ends
    assert there.batches == empty.batches
    assert sum(there.left_out) > 0 == sum(empty.left_out)
    torch.testing.assert_close(with_row, without)
    assert there.losses == pytest.approx(empty.losses)


def test_a_run_on_empty_rows_alone_is_noise():
    """Of the right size, and as many steps: the neighbour of a table with one person is a table with none."""
    run = train(*parts("NoisySGD"), data=few().emptied(range(PEOPLE)))
    assert len(run.batches) == STEPS
    assert run.lengths == [0.0] * STEPS
    assert all(math.isnan(loss) for loss in run.losses)
    assert dpsgd.inspect(run).ok


def test_an_early_end_of_which_no_plan_is_known_claims_nothing():
    run = train(*parts(), callback=lambda run: run.at[-1] == 4)
    assert replace(run, planned=None).claimed == math.inf


def test_weights_that_are_not_finite_end_the_run():
    """Which the model says itself: it is released."""
    mine = parts()

    def spoilt(run):
        mine[0][1].weight.data[0, 0] = math.inf

    with pytest.raises(
        ValueError, match=r"the weights '1.weight' are no longer finite at step 8: a smaller lr may help"
    ):
        train(*mine, callback=spoilt)


def test_an_early_stop_claims_what_was_planned(capsys):
    run = train(*parts(), callback=lambda run: run.at[-1] == 4)
    planned = dpsgd.Ledger(1e-5).after(1.0, 0.1, STEPS).epsilon()
    assert (run.claimed, run.ended_early) == (planned, True)
    assert run.epsilon < planned
    assert f"epsilon at most {rounding.up(planned, 4)}" in repr(run)
    assert f"What holds is what was planned, epsilon {rounding.up(planned, 4)}" in capsys.readouterr().out


def test_the_bar_shows_nothing_without_noise(capsys):
    """Of the training data: a loss there is not to be seen by whoever may stop the run."""
    train(*parts(), show=True)
    shown = capsys.readouterr().err
    assert "epsilon" in shown
    assert "accuracy" in shown
    assert "loss" not in shown
