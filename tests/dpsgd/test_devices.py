"""What fit owes to devices and processes, as far as a CPU shows it; test_cuda.py needs a GPU."""

import functools

import pytest
import torch
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import processes, training


@functools.cache
def few():
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.rand(200, 1, 4, 4, generator=generator), torch.randint(10, (200,), generator=generator)
    classes = tuple("0123456789")
    return dpsgd.Data(inputs[:100], targets[:100], inputs[100:], targets[100:], name="Coins", classes=classes)


def parts(generator=1):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.Dropout(0.5), nn.Linear(8, 10))
    settings = {"noise_multiplier": 1.0, "clip_norm": 0.5, "expected_batch": 20}
    return model, dpsgd.NoisySGD(model.parameters(), 0.1, **settings, generator=generator), dpsgd.Ledger(1e-5)


def train(mine, **changes):
    return dpsgd.fit(*mine, **{"data": few(), "steps": 4, "device": "cpu", "generator": 2, "show": False} | changes)


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


# ---- nothing is spent by a run that cannot take a step


def only_two(outputs, targets):
    """As if memory lacked: fit's trials are on two people."""
    if len(outputs) > 2:
        raise RuntimeError("out of memory, say")
    return training.cross_entropy(outputs, targets)


def only_float32(outputs, targets):
    """As if a kernel lacked."""
    if outputs.dtype != torch.float32:
        raise RuntimeError("not implemented for 'BFloat16', say")
    return training.cross_entropy(outputs, targets)


@pytest.mark.parametrize(
    ("changes", "says"), [({"loss": only_two}, "memory"), ({"loss": only_float32, "precision": "bf16"}, "BFloat16")]
)
def test_a_step_that_cannot_be_taken_spends_nothing(changes, says):
    mine = parts()
    with pytest.raises(RuntimeError, match=says):
        train(mine, **changes)
    assert mine[2].runs == []
    assert mine[1].sum_length == 0


def test_parameters_that_the_optimizer_was_not_given_spend_nothing():
    mine = parts()
    optimizer = dpsgd.NoisySGD(mine[0][3].parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=20)
    with pytest.raises(ValueError, match="the model has 2 trainable parameters that this optimizer was not given"):
        train((mine[0], optimizer, mine[2]))
    assert mine[2].runs == []


def test_the_rehearsal_takes_no_more_people_than_a_batch_or_a_chunk_has():
    for chunk, most in ((1000, 20 + 6 * 20**0.5 + 1), (7, 7)):
        seen = []

        def loss(outputs, targets, seen=seen):
            seen.append(len(outputs))
            return training.cross_entropy(outputs, targets)

        train(parts(), loss=loss, chunk=chunk, steps=1)
        assert 2 < seen[5] <= most  # after the trials on two people


def test_the_rehearsal_leaves_no_trace():
    """With dropout: weights and torch's own generator are those of the steps written out."""
    mine = parts()
    train(mine)
    state = torch.get_rng_state()
    model, optimizer, _ = parts()
    for batch in dpsgd.poisson_batches(100, 0.2, 4, generator=2):
        optimizer.accumulate(model, training.cross_entropy, few().train_inputs[batch], few().train_targets[batch])
        optimizer.step()
    assert torch.equal(weights(mine[0]), weights(model))
    assert torch.equal(state, torch.get_rng_state())


# ---- devices


@pytest.mark.parametrize("device", ["cuda:99", "mps:99", "nowhere"])
def test_a_device_that_is_not_there_is_refused_in_words(device):
    mine = parts()
    with pytest.raises(ValueError, match=f"device must be one that works here, got '{device}'.*device='cpu' does"):
        train(mine, device=device)
    assert mine[2].runs == []


def test_no_other_devices_generators_are_seeded(monkeypatch):
    def seeded(seed):
        raise AssertionError(f"seeded every GPU with {seed}")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 10))
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=20)
    train((model, optimizer, dpsgd.Ledger(1e-5)))


def test_each_process_takes_the_gpu_of_its_number(monkeypatch):
    current = [0]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current[-1])
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert processes.own_gpu() == torch.device("cuda", 0)  # nobody else is there
    monkeypatch.setattr(processes, "many", lambda: True)
    assert processes.own_gpu() == torch.device("cuda", 3)
    monkeypatch.setenv("LOCAL_RANK", "6")
    assert processes.own_gpu() == torch.device("cuda", 2)


def test_one_process_exchanges_nothing(monkeypatch):
    """On a GPU each exchange would be a wait."""
    monkeypatch.setattr(processes, "_in_place", lambda *_: pytest.fail("exchanged"))
    assert processes.anywhere(True, "cpu") is True
    assert processes.of_first(3.5, "cpu") == 3.5
    state = torch.Generator().get_state()
    assert processes.gathered([state], "cpu") == [[state]]
    processes.agree_on_state(torch.Generator(), "cpu")


# ---- the record, read now and then


@pytest.mark.parametrize("every", [1, 3, 100])
def test_the_record_does_not_depend_on_when_it_is_read(every):
    run, now_and_then = train(parts(), steps=7, every=1), train(parts(), steps=7, every=every)
    assert [run.batches, run.losses, run.lengths, run.noises] == [
        now_and_then.batches,
        now_and_then.losses,
        now_and_then.lengths,
        now_and_then.noises,
    ]
    assert len(run.losses) == 7
