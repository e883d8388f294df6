"""Layers that book-keeping has no rule for: by vmap of the layer alone, or by a rule of one's own, as the loop finds it."""

import pytest
import torch
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import own_layers


def square_loss(outputs, targets):
    return (outputs.flatten(1).sum(1) - targets).square()


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Scaled(nn.Module):
    """Own parameters around an inner layer, used twice, one of them frozen."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.inner, self.dropout = nn.Linear(4, 4), nn.Dropout(dropout)
        self.scale = nn.Parameter(torch.randn(4))
        self.shift = nn.Parameter(torch.randn(4), requires_grad=False)
        self.position = nn.Parameter(torch.randn(5, 4))

    def forward(self, x):
        return self.scale * self.dropout(self.inner(x + self.position)).tanh() + self.scale + self.shift


class Factor(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.randn(4))

    def forward(self, x):
        return self.factor * x


@pytest.fixture
def rules(monkeypatch):
    """The registered rules, which are forgotten afterwards."""
    monkeypatch.setattr(own_layers, "RULES", {})
    return own_layers.RULES


def sums(model, inputs, engine, clip_norm):
    targets = torch.linspace(-1, 1, len(inputs))
    clipped = dpsgd.clipped_sum(model, square_loss, inputs, targets, clip_norm, engine)
    return clipped.sums | {"norms": clipped.norms}


@pytest.mark.parametrize("clip_norm", [0.5, 1e6])
@pytest.mark.parametrize(
    ("layer", "size"),
    [
        (lambda: Doubled(4, 3), (5, 4)),
        (lambda: nn.RMSNorm(4), (5, 4)),
        (lambda: nn.PReLU(), (5, 4)),
        (lambda: nn.ConvTranspose1d(4, 2, 3), (4, 6)),
        (lambda: nn.InstanceNorm1d(4, affine=True), (4, 6)),
        (Scaled, (5, 4)),
        (lambda: nn.Sequential(Scaled(), Scaled(), nn.Linear(4, 2)), (5, 4)),
    ],
    ids=["subclass", "RMSNorm", "PReLU", "transposed", "instance norm", "around another", "two, and a Linear"],
)
def test_layers_without_a_rule_are_as_by_the_loop(layer, size, clip_norm):
    """Of the whole model, the other layers by their rules."""
    torch.manual_seed(0)
    model, inputs = nn.Sequential(nn.Linear(size[-1], size[-1]), layer()).double(), torch.randn(3, *size).double()
    fast, slow = (sums(model, inputs, engine, clip_norm) for engine in ("book-keeping", "loop"))
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-12)


def test_a_registered_rule_is_used_and_is_as_by_the_loop(rules):
    called = []

    @dpsgd.layer_rule(Factor)
    def factor(layer, inputs, gradients):
        called.append(type(layer))
        return {"factor": (inputs * gradients).sum(1)}

    torch.manual_seed(0)
    model, inputs = nn.Sequential(nn.Linear(4, 4), Factor()).double(), torch.randn(3, 5, 4).double()
    fast, slow = (sums(model, inputs, engine, 0.5) for engine in ("book-keeping", "loop"))
    assert called == [Factor]
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            lambda layer, a, g: {"factor": 1.1 * (a * g).sum(1)},
            "disagree about '1.factor'.*or a rule of layer_rule errs",
        ),
        (
            lambda layer, a, g: {"factor": (a * g).sum((0, 1))},
            r"must return gradients of shape \(2, 4\) for 'factor'.*got \(4,\)",
        ),
        (lambda layer, a, g: {}, "one for each example, got none"),
    ],
    ids=["wrong", "summed", "nothing"],
)
def test_a_rule_that_errs_is_found_at_its_first_use(rule, says, rules):
    """By an own loop and by fit, before anything is spent."""
    dpsgd.layer_rule(Factor)(rule)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), Factor())
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=2)
    inputs, targets, ledger = torch.randn(3, 5, 4), torch.ones(3), dpsgd.Ledger(1e-5)
    with pytest.raises(ValueError, match=says):
        optimizer.accumulate(model, square_loss, inputs, targets)
    with pytest.raises(ValueError, match=says):
        dpsgd.fit(model, optimizer, ledger, dpsgd.Data(inputs, targets), 1, loss=square_loss, device="cpu", show=False)
    assert ledger.runs == []


@pytest.mark.parametrize("kind", [nn.Linear, Factor(), int])
def test_a_rule_for_no_layer_or_one_that_has_a_rule_is_refused(kind, rules):
    with pytest.raises(ValueError, match="kind must be a class of layers"):
        dpsgd.layer_rule(kind)


class Noisy(nn.Module):
    """Uses its parameter as no rule knows, and draws."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return nn.functional.dropout(torch.maximum(x, self.scale), 0.5)


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (Noisy, r"\['scale'\] of Noisy by vmap: it draws random numbers.*layer_rule"),
        (lambda: nn.GRUCell(4, 4), "of GRUCell by vmap: .*engine='loop'"),
    ],
    ids=["dropout inside", "no vmap"],
)
def test_what_vmap_cannot_take_is_refused_with_a_way_out(layer, says):
    """With dropout inside, a second pass would be another one."""
    model = nn.Sequential(nn.Linear(4, 4), layer())
    inputs = torch.randn(3, 4) if isinstance(model[1], nn.GRUCell) else torch.randn(3, 5, 4)
    with pytest.raises(ValueError, match=says):
        sums(model, inputs, "book-keeping", 1.0)


class Last(nn.Module):
    def __init__(self, recurrent):
        super().__init__()
        self.recurrent = recurrent

    def forward(self, x):
        return self.recurrent(x)[0][:, -1]


@pytest.mark.parametrize(
    ("kind", "able"), [(nn.RNN, ["loop"]), (nn.GRU, ["loop"]), (nn.LSTM, ["loop", "vmap"])], ids=["RNN", "GRU", "LSTM"]
)
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_recurrent_layers_are_trained_or_refused_with_a_way_out(kind, able):
    torch.manual_seed(0)
    model, inputs = Last(kind(4, 3, batch_first=True)), torch.randn(3, 5, 4)
    for engine in ("loop", "vmap", "book-keeping"):
        if engine in able:
            torch.testing.assert_close(sums(model, inputs, engine, 0.5), sums(model, inputs, "loop", 0.5))
        else:
            with pytest.raises(ValueError, match=f"is recurrent, which {engine} cannot train: use engine='{able[-1]}'"):
                sums(model, inputs, engine, 0.5)
