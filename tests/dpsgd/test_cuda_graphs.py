"""What is recorded as a CUDA graph, computed here without one: the sums of a part that was filled up, and what is taken.

test_cuda.py records and replays.
"""

import functools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from dpcourse import dpsgd
from dpcourse.dpsgd import cuda_graphs

loss = functools.partial(F.cross_entropy, reduction="none")
MODELS = {
    "CNN": lambda: dpsgd.paper_cnn((1, 8, 8), generator=0),
    "MLP": lambda: dpsgd.mlp((1, 8, 8), generator=0),
    "edges": lambda: dpsgd.logistic_on_edges((1, 8, 8), generator=0),
    "positions": lambda: nn.Sequential(
        nn.Flatten(1, 2), nn.Linear(8, 6), nn.Tanh(), nn.LayerNorm(6), nn.Linear(6, 3), nn.Flatten(), nn.Linear(24, 10)
    ),
    "one part frozen": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 9).requires_grad_(False), nn.Sigmoid(), nn.Linear(9, 10)
    ),
}


def examples(count, seed=0):
    generator = torch.Generator("cpu").manual_seed(seed)
    return torch.randn(count, 1, 8, 8, generator=generator), torch.randint(10, (count,), generator=generator)


def masked(model, inputs, targets, clip_norm, size=None):
    """Of a part that was filled up, by its first example or by the `size` of a graph."""
    more = (size or cuda_graphs.size_for(len(inputs))) - len(inputs)
    there = torch.arange(len(inputs) + more) < len(inputs)
    filled = [torch.cat([part, part[:1].repeat(more, *[1] * (part.ndim - 1))]) for part in (inputs, targets)]
    return cuda_graphs.masked_sum(model, dpsgd.refusals.trainable(model), loss, *filled, there, clip_norm, "float32")


@pytest.mark.parametrize("clip_norm", [0.05, 1e6])
@pytest.mark.parametrize("name", MODELS)
def test_a_part_that_was_filled_up_has_the_same_sums(name, clip_norm):
    torch.manual_seed(0)
    model, (inputs, targets) = MODELS[name](), examples(21)
    exact = dpsgd.clipped_sum(model.double(), loss, inputs.double(), targets, clip_norm, "loop")
    found, right = masked(model.float(), inputs, targets, clip_norm)
    assert right
    longest = max(float(total.norm()) for total in exact.sums.values())
    for parameter, total in exact.sums.items():
        assert float((found.sums[parameter] - total).norm()) <= 1e-6 * longest, parameter
    torch.testing.assert_close(found.norms[:21].double(), exact.norms, rtol=1e-5, atol=0)
    torch.testing.assert_close(found.outputs[:21].double(), exact.outputs, rtol=1e-4, atol=1e-5)
    assert found.norms[21:].eq(0).all()


@pytest.mark.parametrize("value", [1e38, float("inf"), float("nan")])
def test_a_gradient_that_is_not_finite_is_told(value):
    inputs, targets = examples(5)
    for row in range(5):
        spoiled = inputs.clone()
        spoiled[row] = value
        assert not masked(MODELS["CNN"](), spoiled, targets, 0.5)[1]


def test_positions_that_cancel_are_told():
    """Two positions whose gradients are opposite: of one who is there, and of one who is not."""
    model = nn.Sequential(nn.Linear(9, 9), nn.Flatten(), nn.Linear(18, 2))
    nn.init.constant_(model[2].weight, 1.0)
    x = torch.ones(1, 2, 9)
    x[:, 1] = -1
    model[2].weight.data[1:] = 2
    targets = torch.zeros(2, dtype=torch.long)
    ordinary = torch.cat([x[:, :1], 2 * x[:, :1]], 1)
    for inputs, count, right in (([ordinary, ordinary], 2, True), ([ordinary, x], 2, False), ([ordinary, x], 1, True)):
        there = torch.arange(2) < count
        found = cuda_graphs.masked_sum(
            model, dict(model.named_parameters()), loss, torch.cat(inputs), targets, there, 1.0, "float32"
        )
        assert bool(found[1]) is right


@given(st.integers(1, 10**6))
def test_sizes_are_few_and_hold_little_more(examples):
    size = cuda_graphs.size_for(examples)
    assert examples <= size == cuda_graphs.size_for(size)
    assert size - examples < max(cuda_graphs.FEWEST, examples / 16 + 1)
    assert len({cuda_graphs.size_for(count) for count in range(1, 2049)}) <= 64


class Own(nn.Module):
    def forward(self, x):
        return x


def hooked():
    model = MODELS["MLP"]()
    model[1].register_forward_hook(lambda *_: None)
    return model


@pytest.mark.parametrize(
    ("model", "by", "taken"),
    [
        (MODELS["CNN"], loss, True),
        (MODELS["edges"], nn.CrossEntropyLoss(reduction="none"), True),
        (lambda: nn.Sequential(MODELS["MLP"](), nn.Tanh()), loss, True),
        (lambda: nn.Sequential(MODELS["MLP"](), Own()), loss, False),
        (hooked, loss, False),
        (MODELS["MLP"], lambda outputs, targets: loss(outputs, targets), False),
        (lambda: dpsgd.Picked(MODELS["MLP"](), lambda outputs: outputs), loss, False),
    ],
)
def test_only_what_is_torchs_own_is_taken(model, by, taken):
    """Python in a forward, a hook or a loss would be recorded once, and never be done again."""
    assert cuda_graphs.takes(model(), by, *examples(4)) is taken


def changes(model):
    """What makes another sum, or the same elsewhere."""
    yield lambda: setattr(model[3], "p", 0.5)
    yield lambda: model.eval()
    yield lambda: model[1].weight.requires_grad_(False)
    yield lambda: setattr(model[1].weight, "data", model[1].weight.data.clone())
    yield lambda: setattr(loss_module, "label_smoothing", 0.3)


loss_module = nn.CrossEntropyLoss(reduction="none")


def test_whatever_changes_the_sum_is_another_kind():
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 9), nn.ReLU(), nn.Dropout(0.1), nn.Linear(9, 10))
    inputs, targets = examples(40)

    def kind(clip_norm=1.0, precision="float32", size=64, inputs=inputs):
        parameters = dpsgd.refusals.trainable(model)
        return cuda_graphs._kind(model, parameters, loss_module, inputs, targets, size, clip_norm, precision)

    kinds = [kind(), kind(2.0), kind(precision="bf16"), kind(size=96), kind(inputs=inputs.double())]
    for change in changes(model):
        assert kind() == kind()
        change()
        kinds.append(kind())
    assert len(set(kinds)) == len(kinds) == 10


def test_on_a_cpu_nothing_is_recorded(monkeypatch):
    monkeypatch.setattr(cuda_graphs.Graphs, "_record", lambda *_: pytest.fail("was recorded"))
    model = MODELS["MLP"]()
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, noise_multiplier=1.0, clip_norm=1.0, expected_batch=8)
    for _ in range(3):
        optimizer.accumulate(model, loss, *examples(8))
    assert optimizer.graphs._made == {}
