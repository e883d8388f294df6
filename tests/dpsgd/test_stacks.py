"""The clipped sum written out for stacks of dense layers: as by the loop, and only where it is the same."""

import pytest
import torch
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import stacks, watching

loss = nn.CrossEntropyLoss(reduction="none")
STACKS = {
    "one layer": lambda: nn.Sequential(nn.Linear(6, 3)),
    "flattened": lambda: nn.Sequential(nn.Flatten(), nn.Linear(6, 3)),
    **{
        kind.__name__: lambda kind=kind: nn.Sequential(nn.Flatten(), nn.Linear(6, 5), kind(), nn.Linear(5, 3))
        for kind in stacks.BACK
    },
    "an activation first": lambda: nn.Sequential(
        nn.Tanh(), nn.Linear(6, 4), nn.Sigmoid(), nn.Linear(4, 4), nn.Linear(4, 3)
    ),
    "an activation last": lambda: nn.Sequential(nn.Linear(6, 3), nn.Tanh()),
}


@pytest.fixture
def written_out(monkeypatch):
    """Whether a stack was written out."""
    asked, real = [], stacks.shares
    monkeypatch.setattr(stacks, "shares", lambda *given: asked.append(True) or real(*given))
    return asked


def both(model, inputs, clip_norm=0.3):
    targets = torch.arange(len(inputs)) % 3
    return [dpsgd.clipped_sum(model, loss, inputs, targets, clip_norm, by) for by in ("book-keeping", "loop")]


@pytest.mark.parametrize("clip_norm", [0.3, 1e6])
@pytest.mark.parametrize("name", STACKS)
def test_a_stack_is_written_out_and_is_as_by_the_loop(name, clip_norm, written_out):
    torch.manual_seed(0)
    fast, slow = both(STACKS[name]().double(), torch.randn(7, 6).double(), clip_norm)
    torch.testing.assert_close(fast.sums, slow.sums, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close((fast.losses, fast.outputs), (slow.losses, slow.outputs))
    assert written_out


def hooked():
    model = STACKS["ReLU"]()
    model[1].register_forward_hook(lambda layer, given, out: out * 2)
    return model


def half_frozen():
    model = STACKS["ReLU"]()
    model[1].weight.requires_grad_(False)
    return model


def tied(whole):
    """A layer, or its weight alone, that is used twice."""
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    if whole:
        model[2] = model[0]
    else:
        model[2].weight = model[0].weight
    return model


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (hooked, (7, 6)),
        (half_frozen, (7, 6)),
        (lambda: tied(whole=True), (7, 6)),
        (lambda: tied(whole=False), (7, 6)),
        (lambda: nn.Sequential(nn.Linear(6, 3, bias=False)), (7, 6)),
        (lambda: nn.Sequential(Doubled(6, 3)), (7, 6)),
        (lambda: nn.Sequential(nn.Linear(6, 3), nn.LeakyReLU()), (7, 6)),
        (lambda: nn.Sequential(nn.Linear(6, 4), nn.Flatten(), nn.Linear(8, 3)), (7, 2, 6)),
    ],
)
def test_what_is_no_such_stack_goes_its_way_and_is_as_by_the_loop(make, shape, written_out):
    torch.manual_seed(0)
    fast, slow = both(make().double(), torch.randn(shape).double())
    torch.testing.assert_close(fast.sums, slow.sums, rtol=1e-9, atol=1e-12)
    assert not written_out


def test_both_ways_give_the_same():
    torch.manual_seed(0)
    model, inputs, targets = STACKS["ReLU"](), torch.randn(7, 6), torch.arange(7) % 3
    outputs, uses = watching.watched(model, inputs)
    found, losses, others = stacks.shares(model, loss, inputs, targets)
    torch.testing.assert_close(others, outputs.detach())
    torch.testing.assert_close(losses, loss(outputs, targets).detach())
    assert [share.parameters for share in reversed(found)] == [tuple(use.layer.parameters()) for use in uses]
