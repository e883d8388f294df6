"""Parameters that a forward uses itself, and inputs without examples: as the loop of one finds them, at a layer's price."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dpcourse import dpsgd
from dpcourse.dpsgd import own_layers

LENGTH, WIDTH, WORDS = 6, 8, 12
cross_entropy = nn.CrossEntropyLoss(reduction="none")


class Text(nn.Module):
    """Token ids to two classes; what happens between is a function of the model and the embedded tokens."""

    def __init__(self, between, **parts):
        super().__init__()
        self.words, self.last, self.between = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 2), between
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, tokens):
        return self.last(self.between(self, self.words(tokens)).tanh().mean(1))


def drawn(*shape):
    return nn.Parameter(torch.randn(shape))


def table():
    return nn.Embedding(LENGTH, WIDTH)


def multiplied_in_place(model, x):
    x *= model.at
    return x


def added_in_place(model, x):
    x += model.at(torch.arange(LENGTH))
    return x


FOLLOWED = {
    "positions (1, L)": lambda: Text(lambda m, x: x + m.at(torch.arange(LENGTH)[None]), at=table()),
    "positions arange": lambda: Text(added_in_place, at=table()),
    "positions, a dimension more": lambda: Text(lambda m, x: x + m.at(torch.arange(LENGTH)).unsqueeze(0), at=table()),
    "positions of each": lambda: Text(lambda m, x: x + m.at(torch.arange(LENGTH).expand(x.shape[:2])), at=table()),
    "a parameter": lambda: Text(lambda m, x: x * m.at[:LENGTH], at=drawn(LENGTH + 2, WIDTH)),
    "a token in front": lambda: Text(
        lambda m, x: torch.cat([m.front.expand(len(x), -1, -1), x], 1) + m.at,
        front=drawn(1, 1, WIDTH),
        at=drawn(1, LENGTH + 1, WIDTH),
    ),
    "LoRA": lambda: Text(lambda m, x: x + x @ m.a @ m.b, a=drawn(WIDTH, 2), b=drawn(2, WIDTH)),
    "LoRA, transposed": lambda: Text(lambda m, x: x + x @ m.a.T @ m.b.T, a=drawn(2, WIDTH), b=drawn(WIDTH, 2)),
    "F.linear": lambda: Text(
        lambda m, x: F.linear(x, m.a @ m.b, m.c), a=drawn(WIDTH, 2), b=drawn(2, WIDTH), c=drawn(WIDTH)
    ),
    "addmm": lambda: Text(
        lambda m, x: torch.addmm(m.b, x.reshape(-1, WIDTH), m.a).view(x.shape), a=drawn(WIDTH, WIDTH), b=drawn(WIDTH)
    ),
    "a mean over positions": lambda: Text(lambda m, x: x - m.at.softmax(0)[:, None], at=drawn(LENGTH)),
    "a list of parameters": lambda: Text(
        lambda m, x: m.those[0] * x - m.those[1], those=nn.ParameterList([torch.randn(WIDTH), torch.randn(LENGTH, 1)])
    ),
    "two of one table": lambda: Text(lambda m, x: x + m.at(torch.arange(LENGTH)) + m.at(torch.tensor([0])), at=table()),
    "rows of examples": lambda: Text(
        lambda m, x: m.inner(x.flatten(0, 1)).view(x.shape), inner=nn.Linear(WIDTH, WIDTH)
    ),
    "rows, normalized": lambda: Text(lambda m, x: m.inner(x.flatten(0, 1)).view(x.shape), inner=nn.GroupNorm(2, WIDTH)),
}
BY_VMAP = {
    "torch.maximum": lambda: Text(lambda m, x: torch.maximum(x, m.at), at=drawn(LENGTH, WIDTH)),
    "a product in place": lambda: Text(multiplied_in_place, at=drawn(LENGTH, WIDTH)),
    "a sum with alpha": lambda: Text(lambda m, x: torch.add(x, m.at, alpha=2), at=drawn(LENGTH, WIDTH)),
    "a product with itself": lambda: Text(lambda m, x: x + m.at + torch.minimum(x, m.at), at=drawn(LENGTH, WIDTH)),
}


@pytest.fixture
def by_vmap(monkeypatch):
    """The layers that went by vmap."""
    asked, real = [], own_layers.by_vmap

    def noted(layer, *given):
        asked.append(layer)
        return real(layer, *given)

    monkeypatch.setattr(own_layers, "by_vmap", noted)
    return asked


def both(model, inputs, clip_norm=0.3):
    targets = torch.randint(2, (len(inputs),))
    return (dpsgd.clipped_sum(model, cross_entropy, inputs, targets, clip_norm, by) for by in ("book-keeping", "loop"))


def assert_same(model, inputs, clip_norm=0.3):
    fast, slow = both(model, inputs, clip_norm)
    torch.testing.assert_close(fast.sums, slow.sums, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("examples", [1, 2, LENGTH, 2 * LENGTH, 7])
@pytest.mark.parametrize("name", FOLLOWED)
def test_what_a_forward_does_itself_is_as_by_the_loop(name, examples, by_vmap):
    """Also where there are as many examples as positions, or twice as many."""
    torch.manual_seed(0)
    model = FOLLOWED[name]().double()
    assert_same(model, torch.randint(WORDS, (examples, LENGTH)))
    assert_same(model, torch.randint(WORDS, (examples + 1, LENGTH)), 1e6)
    assert by_vmap == []


@pytest.mark.parametrize("name", BY_VMAP)
def test_what_no_rule_knows_goes_by_vmap(name, by_vmap):
    torch.manual_seed(0)
    model = BY_VMAP[name]().double()
    assert_same(model, torch.randint(WORDS, (5, LENGTH)))
    assert by_vmap == [model]


def test_a_table_without_examples_that_no_rule_follows_is_refused_with_a_way_out():
    model = Text(lambda m, x: torch.maximum(x, m.at(torch.arange(LENGTH))), at=table())
    with pytest.raises(
        ValueError, match=r"table of shape \(6, 8\) is joined to the examples by maximum.*engine='vmap'"
    ):
        list(both(model, torch.randint(WORDS, (4, LENGTH))))


def test_another_way_through_the_forward_is_followed():
    """Texts of another length, of which the model takes another step."""
    torch.manual_seed(0)
    model = Text(
        lambda m, x: x + m.at[: x.shape[1]] if x.shape[1] > 3 else x * m.at[0], at=drawn(LENGTH, WIDTH)
    ).double()
    for length in (LENGTH, 3, 5, 2, LENGTH):
        assert_same(model, torch.randint(WORDS, (4, length)))


def test_another_way_for_other_data_is_followed():
    """A model that looks at its inputs, as those of transformers do at a mask of ones, and says the same either way."""
    torch.manual_seed(0)

    def masked(model, x):
        return x + model.at if bool((x.detach() > -9).all()) else (x * 2) / 2 + model.at

    model = Text(masked, at=drawn(LENGTH, WIDTH)).double()
    usual, other = torch.randint(WORDS - 1, (4, LENGTH)), torch.randint(WORDS - 1, (4, LENGTH))
    other[1, 2] = WORDS - 1
    with torch.no_grad():
        model.words.weight[WORDS - 1, 0] = -10
    for inputs in (usual, other, usual, other):
        assert_same(model, inputs)


def test_a_forward_that_asks_for_the_number_of_examples_is_refused():
    model = Text(lambda m, x: x + m.at if len(x) < 7 else x * 2 + m.at, at=drawn(LENGTH, WIDTH))
    with pytest.raises(ValueError, match=r"goes another way for 4 examples than for twice these.*engine='vmap'"):
        list(both(model, torch.randint(WORDS, (4, LENGTH))))


def test_a_factor_that_is_changed_afterwards_is_refused():
    def changed(model, x):
        fixed = x.detach().clone()
        y = fixed * model.at
        fixed.add_(1)
        return y

    with pytest.raises(ValueError, match=r"a product with a parameter of shape \(6, 8\) were changed in place"):
        list(both(Text(changed, at=drawn(LENGTH, WIDTH)), torch.randint(WORDS, (4, LENGTH))))


class OnFixedRows(nn.Module):
    """A trained layer that is asked about rows of the model's own, as many as there are examples, or twice as many."""

    def __init__(self, count):
        super().__init__()
        self.inner, self.last = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2)
        self.register_buffer("fixed", torch.randn(count, WIDTH))

    def forward(self, x):
        return self.last(x + self.inner(self.fixed).mean(0))


@pytest.mark.parametrize("count", [4, 8])
def test_rows_that_are_nobodys_are_not_shared_out_among_the_examples(count):
    """They would add up to the right sum, and each example's gradient would be wrong."""
    torch.manual_seed(0)
    model, inputs, targets = OnFixedRows(count), torch.randn(4, WIDTH), torch.randint(2, (4,))
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=4)
    with pytest.raises(ValueError, match=r"(disagree about how long|takes inputs of shape)"):
        optimizer.accumulate(model, cross_entropy, inputs, targets)
    if count == 8:
        with pytest.raises(
            ValueError, match=r"takes inputs of shape \(8, 8\), whose first dimension is not that of the 4"
        ):
            list(both(model, inputs))


class PositionsFirst(nn.Module):
    """A layer is asked about the rows of all examples, position by position."""

    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, x):
        turned = x.transpose(0, 1)
        return self.last(self.inner(turned.flatten(0, 1)).view(turned.shape).tanh().mean(0))


def test_rows_that_are_not_in_the_order_of_the_examples_are_found_by_the_trial():
    """All sums are right, and no example's gradient is."""
    torch.manual_seed(0)
    model, inputs, targets = PositionsFirst(), torch.randn(4, LENGTH, WIDTH), torch.randint(2, (4,))
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=4)
    with pytest.raises(ValueError, match="disagree about how long the gradient of each example is"):
        optimizer.accumulate(model, cross_entropy, inputs, targets)
