"""dpsgd as people use it: their own data, model and loop, each within epsilon 2 by fit and by a loop of 20 lines.

Every model is trained twice, with the same coins and the same noise: the same weights must come out.
"""

import math

import numpy as np
import pytest
import torch
from support import by_profile
from torch import nn
from torch.nn import functional as F

from dpcourse import dpsgd

pytestmark = pytest.mark.in_turn("seconds of training")

EPSILON, DELTA, RATE = 2.0, 1e-4, 0.2
STEPS = by_profile("steps of each model at epsilon 2", 20, 60)
cross_entropy = nn.CrossEntropyLoss(reduction="none")


def squared(outputs, targets):
    return (outputs[:, 0] - targets).square()


# ---- models


class Attention(nn.Module):
    """One head, from linear layers."""

    def __init__(self, width):
        super().__init__()
        self.ask, self.answer, self.give = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(self.ask(x), self.answer(x), self.give(x))


class Transformer(nn.Module):
    """Token ids, 0 for none, to two classes; its positions are a parameter of its own."""

    def __init__(self, words=12, length=6, width=8):
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.positions = nn.Parameter(0.1 * torch.randn(length, width))
        self.attention, self.norms = Attention(width), nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.dense = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.last = nn.Linear(width, 2)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions
        x = x + self.attention(self.norms[0](x))
        return self.last((x + self.dense(self.norms[1](x))).mean(1))


class Residual(nn.Module):
    """A ResNet's block, which comes with BatchNorm."""

    def __init__(self, channels):
        super().__init__()
        layers = [(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)) for _ in range(2)]
        self.layers = nn.Sequential(*layers[0], nn.ReLU(), *layers[1])

    def forward(self, x):
        return (x + self.layers(x)).relu()


def resnet():
    start = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
    end = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)
    return dpsgd.without_batch_norm(nn.Sequential(*start, Residual(8), *end))


def bag():
    return nn.Sequential(nn.Embedding(12, 8, padding_idx=0), nn.Flatten(), nn.Linear(6 * 8, 2))


# ---- data


def texts(rng):
    """Those that say 5 more often than 6; a part of each is padding."""
    tokens = rng.integers(5, 7, (400, 6)) * (np.arange(6) < rng.integers(3, 7, (400, 1)))
    return tokens, ((tokens == 5).sum(1) > (tokens == 6).sum(1)).astype(int)


def images(rng):
    """Those with stripes across, or down."""
    stripes = np.tile(np.arange(6) % 2, (6, 1))
    classes = rng.integers(2, size=400)
    both = np.stack([stripes, stripes.T])[classes]
    return (both + 0.3 * rng.standard_normal((400, 6, 6)))[:, None], classes


def prices(rng):
    """A table, and a number for each row."""
    table = rng.standard_normal((400, 5))
    return table, table @ [1.0, -0.5, 0.0, 0.25, 0.5] + 0.1 * rng.standard_normal(400)


PRACTICE = {
    "transformer": (Transformer, texts, cross_entropy, 1.0),
    "resnet": (resnet, images, cross_entropy, 1.0),
    "embedding": (bag, texts, cross_entropy, 2.0),
    "regression": (lambda: nn.Linear(5, 1), prices, squared, 0.2),
}


def begun(name):
    """Data, model, loss, optimizer, ledger; the regression has no part to test on."""
    make, rows, loss, lr = PRACTICE[name]
    inputs, targets = rows(np.random.default_rng(0))
    test = () if name == "regression" else (inputs[300:], targets[300:])
    torch.manual_seed(0)
    data, model = dpsgd.Data(inputs[:300], targets[:300], *test, name=name), make()
    noise = dpsgd.noise_for(EPSILON, DELTA, RATE, STEPS)
    settings = {"noise_multiplier": noise, "clip_norm": 1.0, "expected_batch": RATE * 300, "generator": 1}
    optimizer = dpsgd.NoisySGD(model.parameters(), lr, **settings)
    return data, model, loss, optimizer, dpsgd.Ledger(DELTA, EPSILON, plan=[(noise, RATE, STEPS)])


def trained_by_fit(data, model, loss, optimizer, ledger):
    return dpsgd.fit(model, optimizer, ledger, data, STEPS, loss=loss, device="cpu", generator=2, show=False)


def trained_by_an_own_loop(data, model, loss, optimizer, ledger):
    optimizer.tie(ledger, people=len(data.train_inputs))
    optimizer.keep_padding(model)
    model.train()
    for batch in dpsgd.poisson_batches(len(data.train_inputs), RATE, STEPS, generator=2):
        ledger.spend(optimizer.noise_multiplier, RATE)
        optimizer.accumulate(model, loss, data.train_inputs[batch], data.train_targets[batch])
        optimizer.step()


@torch.no_grad()
def mean_loss(data, model, loss):
    return float(loss(model(data.train_inputs), data.train_targets).mean())


@pytest.mark.parametrize("name", PRACTICE)
def test_practice(name):
    """Within epsilon 2, better than at the start, and the same by fit and by an own loop."""
    mine, own = begun(name), begun(name)
    data, model, loss, _, ledger = mine
    before = mean_loss(data, model, loss)
    run = trained_by_fit(*mine)
    trained_by_an_own_loop(*own)
    assert ledger.state_dict() == own[4].state_dict()
    assert 0.99 * EPSILON <= ledger.epsilon() <= EPSILON
    assert mean_loss(data, model, loss) < 0.9 * before
    assert dpsgd.inspect(run).ok, dpsgd.inspect(run)
    for (part, by_fit), by_loop in zip(model.state_dict().items(), own[1].state_dict().values(), strict=True):
        assert torch.equal(by_fit, by_loop), part
    if name == "regression":
        assert (run.metric, run.score, run.accuracy) == (None, None, None)
        assert "accuracy" not in repr(run)
    else:
        assert run.accuracy == run.score > 0.6
    if hasattr(model, "words"):
        assert not model.words.weight[0].any()
    assert math.isfinite(run.losses[-1])
