"""How many examples fit at once: what is counted, what is tried, and what fit makes of it."""

import pytest
import torch
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import layers, memory, training


def test_only_new_tensors_count_until_they_are_gone():
    old = torch.zeros(1000)
    with memory.Taken() as taken:
        old.view(10, 100)[0].add_(1)
        assert taken.most == 0
        new = torch.zeros(100, 10)
        transposed = new.mT
        assert taken.live == taken.most == 4000
        del new
        assert transposed[0, 0] == 0
        assert taken.live == 4000
        del transposed
        assert taken.live == 0
    assert taken.most <= 4000 + 100


def test_what_a_backward_pass_keeps_counts():
    layer, x = nn.Linear(100, 100), torch.zeros(50, 100)
    with memory.Taken() as taken:
        (layer(x).tanh().tanh().sum()).backward()
    assert 3 * 4 * 5000 <= taken.most <= 6 * 4 * 5000


@pytest.mark.parametrize("room", [2000, 2999, 16_000, 16_001, 10**6])
@pytest.mark.parametrize("wanted", [1, 7, 64])
def test_nothing_that_is_tried_takes_more_than_the_room(room, wanted):
    """And the double of what is found would not fit, or all that is wanted does."""
    most = []

    def accumulate(count):
        most.append(4 * len(torch.zeros(250 * count)))

    found = memory.fitting(accumulate, wanted, room)
    assert memory.GAPS * max(most) <= room
    assert found == wanted or 2 * memory.GAPS * 1000 * found > room
    assert found <= wanted


@pytest.mark.parametrize("fit", [1, 5, 63, 64, 1000])
def test_a_device_is_asked_by_trying(fit):
    def accumulate(count):
        if count > fit:
            raise torch.OutOfMemoryError("full")

    found = memory.fitting(accumulate, 100, None)
    assert found == 100 if fit >= 100 else fit / 2 < found <= fit


def test_where_not_even_one_fits_it_is_said():
    def accumulate(count):
        raise torch.OutOfMemoryError("full")

    with pytest.raises(torch.OutOfMemoryError, match="full"):
        memory.fitting(accumulate, 100, None)
    with pytest.raises(ValueError, match="memory must leave 8,000 bytes for the gradients of 1, got 7,999 beside"):
        memory.fitting(lambda count: torch.zeros(1000 * count), 100, 7999)


def test_another_error_is_nobodys_lack_of_memory():
    def accumulate(count):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        memory.fitting(accumulate, 100, None)


# ---- fit


def train(ledger=None, **changes):
    """Weights after two steps, and how many people came at once in these."""
    generator = torch.Generator().manual_seed(0)
    data = dpsgd.Data(torch.rand(300, 1, 8, 8, generator=generator), torch.arange(300) % 10, name="Coins")
    model, ledger, seen = dpsgd.mlp((1, 8, 8), generator=0), ledger or dpsgd.Ledger(1e-5), []
    optimizer = dpsgd.NoisyAdam(
        model.parameters(), 0.01, noise_multiplier=1.0, clip_norm=0.5, expected_batch=100, generator=1
    )

    def loss(outputs, targets):
        seen.append(len(targets))
        return training.cross_entropy(outputs, targets)

    dpsgd.fit(model, optimizer, ledger, data, 2, device="cpu", generator=2, show=False, loss=loss, **changes)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]), seen


def test_a_limit_gives_the_steps_of_smaller_chunks_and_says_so_once(capsys):
    limited, seen = train(memory=600_000)
    said = capsys.readouterr().out
    assert said.count("A batch comes in parts of ") == 1
    chunk = max(seen[4:])
    assert f"parts of {chunk:,} people" in said
    assert chunk < 80
    assert torch.equal(limited, train(chunk=chunk)[0])
    assert torch.equal(train(memory=1e9)[0], train()[0])
    assert capsys.readouterr().out == ""


def test_a_limit_below_what_one_needs_spends_nothing():
    ledger = dpsgd.Ledger(1e-5)
    with pytest.raises(ValueError, match=r"memory must leave [\d,]+ bytes for the gradients of 1, got 0 beside"):
        train(ledger, memory=100_000)
    assert ledger.runs == []


@pytest.mark.parametrize("limit", [0, -1.0, "2 GB"])
def test_a_limit_is_a_number_of_bytes(limit):
    with pytest.raises(ValueError, match="memory must be a number"):
        train(memory=limit)


def test_on_a_cpu_too_all_layers_together_keep_no_more_than_there_is_room_for():
    """And none more than a cache may hold."""
    shares = []
    for channels in (4, 4, 4):
        layer = nn.Conv2d(channels, channels, 3, device="meta")
        a, g = torch.zeros(5, 6, 6, channels), torch.zeros(5, 1, channels, 16)
        shares.append(layers.Patches(layer, a, g))
    layers.keep_within(shares, 2 * shares[0].numbers)
    assert [share.keep for share in shares] == [True, True, False]
    layer = nn.Conv2d(256, 256, 3, device="meta")
    large = layers.Patches(
        layer, torch.zeros(1, 1).expand(9, 1)[:, :, None, None].expand(9, 3, 3, 256), torch.zeros(9, 1, 256, 1)
    )
    layers.keep_within([large], layers.KEPT)
    assert large.numbers > 8 * layers.AT_ONCE
    assert not large.keep


def test_patches_on_a_gpu_take_128_mib_at_most():
    layer = nn.Conv2d(64, 64, 3, device="meta")
    a, g = torch.zeros(4096, 34, 34, 64, device="meta"), torch.zeros(4096, 1, 64, 32 * 32, device="meta")
    part = layers.Patches(layer, a, g).part
    assert 1 <= part <= 2**25 / (32 * 32 * 64 * 9)
