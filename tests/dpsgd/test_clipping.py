"""The clipped sum: three engines against plain backward passes of one example, and what they refuse."""

import itertools
import math
import socket
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support import examples
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import layers, precision
from dpcourse.dpsgd.precision import PRECISIONS

ENGINES = ("loop", "vmap", "book-keeping")
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
every_engine = pytest.mark.parametrize("engine", ENGINES)
dtypes, seeds, sizes = st.sampled_from(list(TOLERANCE)), st.integers(0, 10**6), st.integers(1, 4)


def square_loss(outputs, targets):
    return (outputs.flatten(1) - targets[:, None]).square().sum(1)


def by_backward(model, inputs, targets, loss=square_loss):
    """Each example's gradients, by name, from torch's own backward pass."""
    found = []
    for x, y in zip(inputs.split(1), targets.split(1), strict=True):
        model.zero_grad()
        loss(model(x), y).sum().backward()
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        found.append({name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in trained.items()})
    model.zero_grad()
    return found


def assert_all_agree(model, inputs, targets=None, share=0.7, engines=ENGINES, loss=square_loss, tolerance=None):
    """Norms, and the sum clipped at `share` of the mean norm, to the tolerance relative to the lengths summed."""
    tolerance = tolerance or TOLERANCE[next(model.parameters()).dtype]
    dtype = next(model.parameters()).dtype
    targets = torch.linspace(-1, 1, len(inputs), dtype=dtype) if targets is None else targets
    gradients = by_backward(model, inputs, targets, loss)
    norms = torch.stack([nn.utils.get_total_norm(g.values()) for g in gradients])
    clip_norm = share * float(norms.mean()) or 1.0
    lengths = norms.clamp(max=clip_norm)
    for engine in engines:
        clipped = dpsgd.clipped_sum(model, loss, inputs, targets, clip_norm, engine)
        torch.testing.assert_close(clipped.norms, norms, rtol=tolerance, atol=tolerance * float(norms.mean()))
        assert clipped.sums.keys() == gradients[0].keys()
        for name, total in clipped.sums.items():
            expected = sum(g[name] * min(1, clip_norm / norm) for g, norm in zip(gradients, norms, strict=True))
            assert total.shape == expected.shape
            assert float((total - expected).norm()) <= tolerance * float(lengths.sum()), (engine, name)


# ---- each layer, drawn at random


@st.composite
def linears(draw, dtype):
    width = draw(st.integers(1, 40))
    layer = nn.Linear(width, draw(st.integers(1, 40)), bias=draw(st.booleans()), dtype=dtype)
    positions = draw(st.lists(st.integers(1, 6), max_size=2))
    return layer, torch.randn(draw(sizes), *positions, width, dtype=dtype)


@st.composite
def convolutions(draw, dtype):
    dimensions = draw(st.integers(1, 3))

    def per_dimension(low, high):
        return draw(st.tuples(*[st.integers(low, high)] * dimensions))

    groups, kernel, dilation = draw(st.integers(1, 3)), per_dimension(1, 3), per_dimension(1, 2)
    padding = draw(st.one_of(st.just("same"), st.just("valid"), st.just(per_dimension(0, 2))))
    layer = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimensions - 1](
        groups * draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 3)),
        kernel,
        stride=1 if padding == "same" else per_dimension(1, 3),
        padding=padding,
        padding_mode=draw(st.sampled_from(["zeros", "reflect", "replicate", "circular"])),
        dilation=dilation,
        groups=groups,
        bias=draw(st.booleans()),
        dtype=dtype,
    )
    size = [
        1 + spread * (length - 1) + 1 + draw(st.integers(1, 2)) for length, spread in zip(kernel, dilation, strict=True)
    ]
    inputs = torch.randn(draw(sizes), layer.in_channels, *size, dtype=dtype)
    if dimensions > 1 and draw(st.booleans()):
        memory = torch.channels_last if dimensions == 2 else torch.channels_last_3d
        layer, inputs = layer.to(memory_format=memory), inputs.to(memory_format=memory)
    return layer, inputs


@st.composite
def embeddings(draw, dtype):
    rows = draw(st.integers(1, 5))
    padding = draw(st.one_of(st.none(), st.integers(-rows, rows - 1)))
    layer = nn.Embedding(rows, draw(st.integers(1, 4)), padding_idx=padding, dtype=dtype)
    positions = draw(st.lists(st.integers(1, 5), max_size=2))
    return layer, torch.randint(rows, (draw(sizes), *positions))


@st.composite
def layer_norms(draw, dtype):
    shape = draw(st.lists(st.integers(2, 4), min_size=1, max_size=2))
    layer = nn.LayerNorm(shape, bias=draw(st.booleans()), dtype=dtype)
    return layer, torch.randn(draw(sizes), *draw(st.lists(st.integers(1, 3), max_size=2)), *shape, dtype=dtype)


@st.composite
def group_norms(draw, dtype):
    groups, width = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    layer = nn.GroupNorm(groups, groups * width, dtype=dtype)
    positions = draw(st.lists(st.integers(1, 3), max_size=3))
    return layer, torch.randn(draw(sizes), groups * width, *positions, dtype=dtype)


KINDS = {
    "linear": linears,
    "convolution": convolutions,
    "embedding": embeddings,
    "layer norm": layer_norms,
    "group norm": group_norms,
}


@pytest.mark.in_turn("seconds of training")
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")  # costs time, and nothing else
@pytest.mark.parametrize("kind", KINDS)
@examples(300, part=7.5)
@given(
    data=st.data(),
    dtype=dtypes,
    seed=seeds,
    ghost=st.sampled_from([0, layers.GHOST, 10**9]),
    at_once=st.sampled_from([1, 100, layers.AT_ONCE]),
)
def test_engines_agree_on_any_layer(kind, data, dtype, seed, ghost, at_once):
    """Whichever way the norms are computed: of the gradients or without them, at once or a part at a time."""
    torch.manual_seed(seed)
    layer, inputs = data.draw(KINDS[kind](dtype))
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter))
    frozen = data.draw(st.sampled_from([None, *dict(layer.named_parameters())]))
    if frozen and len(list(layer.parameters())) > 1:
        layer.get_parameter(frozen).requires_grad_(False)
    engines = ENGINES if seed % 4 == 0 else ("loop", "book-keeping")  # vmap is torch's, and slow to set up
    with patch.object(layers, "GHOST", ghost), patch.object(layers, "AT_ONCE", at_once):
        assert_all_agree(layer, inputs, engines=engines)


# ---- models


class Twice(nn.Module):
    """One layer called twice."""

    def __init__(self):
        super().__init__()
        self.first, self.middle, self.last = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        x = self.middle(self.first(x).tanh()).tanh()
        return self.last(self.middle(x).tanh())


class Tied(nn.Module):
    """A weight in two places, as language models have it."""

    def __init__(self):
        super().__init__()
        self.words, self.scores = nn.Embedding(7, 4), nn.Linear(4, 7)
        self.scores.weight = self.words.weight

    def forward(self, x):
        return self.scores(self.words(x).tanh())


class Unused(nn.Module):
    """A layer that nobody calls, one whose outputs nobody uses, and one that is called by the input's name."""

    def __init__(self):
        super().__init__()
        self.used, self.uncalled, self.dropped = nn.Linear(5, 2), nn.Linear(5, 2), nn.Linear(5, 2)

    def forward(self, x):
        self.dropped(x)
        return self.used(input=x)


def in_place():
    return nn.Sequential(
        nn.Linear(5, 6), nn.ReLU(inplace=True), nn.Linear(6, 6), nn.SELU(inplace=True), nn.Linear(6, 2)
    )


def small_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.GroupNorm(2, 4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 2, groups=2, bias=False),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(54, 8),
        nn.LayerNorm(8, elementwise_affine=False),
        nn.Linear(8, 3),
    )


def hooked():
    """Somebody else's hook changes what the layer gives."""
    model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
    model[0].register_forward_hook(lambda layer, inputs, outputs: 3 * outputs)
    return model


def frozen_start():
    model = nn.Sequential(nn.LSTM(5, 4, batch_first=True), First(), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    return model


class First(nn.Module):
    def forward(self, found):
        return found[0]


def vectors(dtype):
    return torch.randn(5, 5, dtype=dtype)


MODELS = {
    "twice": (Twice, vectors),
    "tied": (Tied, lambda dtype: torch.randint(7, (4, 6))),
    "unused": (Unused, vectors),
    "in place": (in_place, vectors),
    "cnn": (small_cnn, lambda dtype: torch.randn(5, 1, 8, 8, dtype=dtype)),
    "hooked": (hooked, vectors),
    "frozen start": (frozen_start, lambda dtype: torch.randn(4, 3, 5, dtype=dtype)),
}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_engines_agree_on_models(name, dtype):
    torch.manual_seed(1)
    make, draw = MODELS[name]
    model = make().to(dtype)
    engines = ("loop", "book-keeping") if name == "frozen start" else ENGINES  # vmap has no rule for an LSTM
    for batch in (5, 1):
        assert_all_agree(model, draw(dtype)[:batch], engines=engines)


@pytest.mark.parametrize("make", [dpsgd.paper_cnn, dpsgd.tanh_cnn, dpsgd.mlp, dpsgd.logistic])
def test_engines_agree_on_the_models_of_the_lesson(make):
    shape = (1, 14, 14)
    inputs = torch.rand(6, *shape, generator=torch.Generator().manual_seed(2))
    loss = nn.CrossEntropyLoss(reduction="none")
    assert_all_agree(make(shape=shape, generator=0), inputs, torch.arange(6), loss=loss)


@every_engine
def test_a_long_gradient_is_shortened_and_a_short_one_is_not(engine):
    """clip_norm is reached from both sides, and never passed: the length is of all parameters together."""
    torch.manual_seed(3)
    model, inputs, targets = Twice().double(), torch.randn(1, 5, dtype=torch.float64), torch.zeros(1).double()
    norm = float(dpsgd.clipped_sum(model, square_loss, inputs, targets, 1e9, engine).norms)
    for clip_norm in (norm / 10, norm, 10 * norm):
        sums = dpsgd.clipped_sum(model, square_loss, inputs, targets, clip_norm, engine).sums
        assert float(nn.utils.get_total_norm(sums.values())) == pytest.approx(min(norm, clip_norm), rel=1e-12)


@every_engine
def test_a_gradient_that_is_exactly_zero_stays(engine):
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    clipped = dpsgd.clipped_sum(model, lambda o, t: 0 * o.sum(1), torch.randn(2, 3), torch.zeros(2), 1.0, engine)
    assert clipped.norms.tolist() == [0, 0]
    assert all(not total.any() for total in clipped.sums.values())


@every_engine
def test_nobody_gives_nothing(engine):
    model = small_cnn()
    clipped = dpsgd.clipped_sum(model, square_loss, torch.zeros(0, 1, 8, 8), torch.zeros(0), 1.0, engine)
    assert {name: total.shape for name, total in clipped.sums.items()} == {
        name: parameter.shape for name, parameter in model.named_parameters()
    }
    assert not any(total.any() for total in clipped.sums.values())
    assert len(clipped.norms) == len(clipped.losses) == len(clipped.outputs) == 0


@settings(max_examples=10)
@given(seed=seeds, cuts=st.lists(st.integers(0, 7), max_size=3), engine=st.sampled_from(ENGINES))
def test_chunks_add_up_to_the_whole(seed, cuts, engine):
    torch.manual_seed(seed)
    model, inputs, targets = small_cnn().double(), torch.randn(7, 1, 8, 8).double(), torch.randn(7).double()
    whole = dpsgd.clipped_sum(model, square_loss, inputs, targets, 2.0, engine)
    ends = [0, *sorted(cuts), 7]
    parts = [
        dpsgd.clipped_sum(model, square_loss, inputs[a:b], targets[a:b], 2.0, engine)
        for a, b in itertools.pairwise(ends)
    ]
    for name, total in whole.sums.items():
        torch.testing.assert_close(sum(part.sums[name] for part in parts), total, rtol=1e-10, atol=1e-10)
    for what in ("norms", "losses"):
        torch.testing.assert_close(torch.cat([getattr(part, what) for part in parts]), getattr(whole, what))


@every_engine
def test_losses_and_outputs_are_the_models_own(engine):
    torch.manual_seed(4)
    model, inputs, targets = small_cnn(), torch.randn(3, 1, 8, 8), torch.randn(3)
    clipped = dpsgd.clipped_sum(model, square_loss, inputs, targets, 1.0, engine)
    outputs = model(inputs)
    torch.testing.assert_close(clipped.outputs, outputs.detach())
    torch.testing.assert_close(clipped.losses, square_loss(outputs, targets).detach())
    assert not clipped.outputs.requires_grad


@pytest.mark.parametrize("model_and_inputs", ["linear", "convolution", "embedding"])
def test_norms_hold_where_positions_cancel(model_and_inputs):
    """Gradients thousands of times longer at each position than in the sum: a norm from products alone would be 0."""
    torch.manual_seed(5)
    if model_and_inputs == "linear":
        layer, inputs = nn.Linear(64, 64, bias=False), 100 + 1e-3 * torch.randn(6, 8, 64)
    elif model_and_inputs == "convolution":
        layer, inputs = nn.Conv1d(64, 64, 1, bias=False), 100 + 1e-3 * torch.randn(6, 64, 8)
    else:
        layer, inputs = nn.Embedding(2, 64), torch.zeros(6, 8, dtype=torch.int64)
    push = torch.randn(8, 64)
    push = push - push.mean(0) * (1 - 1e-4)
    push = push.T if model_and_inputs == "convolution" else push

    def loss(outputs, targets):
        return (outputs * push).flatten(1).sum(1)

    with patch.object(layers, "GHOST", 10**9):
        clipped = dpsgd.clipped_sum(layer, loss, inputs[:1], torch.zeros(1), 1e-3)
    assert float(clipped.sums["weight"].norm()) == pytest.approx(1e-3, rel=1e-2)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_passes_in_low_precision_are_still_clipped_in_full(precision):
    torch.manual_seed(6)
    model, inputs = small_cnn(), 10 * torch.randn(1, 1, 8, 8)
    for engine in ENGINES:
        clipped = dpsgd.clipped_sum(model, square_loss, inputs, torch.zeros(1), 1e-2, engine, precision)
        assert {total.dtype for total in clipped.sums.values()} == {torch.float32}
        assert float(nn.utils.get_total_norm(clipped.sums.values())) == pytest.approx(1e-2, rel=1e-5)


def test_low_precision_is_low_in_the_passes():
    model, inputs = small_cnn(), torch.ones(2, 1, 8, 8)
    for asked, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16)):
        clipped = dpsgd.clipped_sum(model, square_loss, inputs, torch.zeros(2), 1.0, precision=asked)
        assert clipped.outputs.dtype == dtype


@every_engine
def test_an_autocast_around_it_does_not_reach_norms_and_sums(engine):
    torch.manual_seed(6)
    model, inputs = small_cnn(), 10 * torch.randn(1, 1, 8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        clipped = dpsgd.clipped_sum(model, square_loss, inputs, torch.zeros(1), 1e-2, engine)
    assert clipped.outputs.dtype == torch.bfloat16
    assert {total.dtype for total in clipped.sums.values()} == {torch.float32}
    assert float(nn.utils.get_total_norm(clipped.sums.values())) == pytest.approx(1e-2, rel=1e-5)


def switches(general=None):
    """What each of them says; where `general` is given, while the most general one is set to it."""
    if general is not None:
        was, torch.backends.fp32_precision = torch.backends.fp32_precision, general
        found = switches()
        torch.backends.fp32_precision = was
        return found
    return [switch.fp32_precision for switch in precision._SWITCHES]


@pytest.fixture
def as_before():
    """torch.backends and two of its switches, which are "none" when nobody has touched them."""
    before = switches()
    yield
    for switch, was in zip(precision._SWITCHES[:3], before, strict=False):
        switch.fp32_precision = was


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("mine", [(), (0,), (1,), (2,), (0, 2)])
def test_tf32_is_as_asked_inside_and_as_it_was_outside(mine, allowed):
    """Switches that followed a more general one follow it afterwards, too."""
    for chosen in mine:
        precision._SWITCHES[chosen].fp32_precision = "tf32"
    before = [switches(general) for general in (None, "ieee", "tf32")]
    with precision.passes("tf32" if allowed else "float32", "cuda"):
        assert switches() == ["tf32" if allowed else "ieee"] * 5
        with precision.full_precision("cuda"):
            assert switches() == ["ieee"] * 5
        assert switches() == ["tf32" if allowed else "ieee"] * 5
    assert [switches(general) for general in (None, "ieee", "tf32")] == before


def test_convolutions_on_a_gpu_keep_no_more_than_there_is_room_for():
    """All of them together; those that come later and are small still find room."""
    shares = []
    for channels in (4, 8, 4, 4):
        layer = nn.Conv2d(channels, channels, 3, device="meta")
        a, g = torch.zeros(5, 6, 6, channels, device="meta"), torch.zeros(5, 1, channels, 16, device="meta")
        shares.append(layers.Patches(layer, a, g))
    small = 5 * 4 * 4 * 9
    assert [share.numbers for share in shares] == [small, 4 * small, small, small]
    for room, kept in ((0, []), (small, [0]), (2 * small, [0, 2]), (5 * small, [0, 1]), (10 * small, [0, 1, 2, 3])):
        layers.keep_within(shares, room)
        assert [i for i, share in enumerate(shares) if share.keep] == kept


# ---- what is refused, and what stays behind

vector = torch.ones(3, 4)
sequence = torch.ones(3, 4, 6)


class Scattered(nn.Module):
    """The examples of a batch in columns."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(18, 6)

    def forward(self, x):
        return self.inner(x.movedim(1, 0).flatten(1)).unflatten(1, (3, -1)).movedim(0, 1)


class Overwritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        x = x.clone()
        y = self.inner(x)
        x += 1
        return y + x


class WithoutGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            x = self.inner(x)
        return self.last(x)


@every_engine
@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (
            nn.BatchNorm1d(4),
            r"layer '1' \(BatchNorm1d\) mixes the examples .*: put torch.nn.GroupNorm in its place, as",
        ),
        (nn.SyncBatchNorm(4), r"layer '1' \(SyncBatchNorm\) mixes the examples"),
        (
            nn.InstanceNorm1d(4, track_running_stats=True),
            r"layer '1' .* running statistics .*: set track_running_stats",
        ),
        (nn.Embedding(4, 2, max_norm=1.0), r"layer '1' \(Embedding\) shortens the rows .*: leave out max_norm"),
        (nn.EmbeddingBag(4, 2, max_norm=1.0), r"layer '1' \(EmbeddingBag\) shortens the rows .*: leave out max_norm"),
        (
            nn.Linear(4, 2).half(),
            r"parameter '1.weight' must be float32 or float64, got torch.float16.*precision='bf16'",
        ),
        (nn.Linear(4, 2).bfloat16(), "parameter '1.weight' must be float32 or float64, got torch.bfloat16"),
    ],
    ids=str,
)
def test_layers_that_cannot_be_private_are_refused_with_a_way_out(layer, says, engine):
    model = nn.Sequential(nn.Linear(4, 4), layer)
    with pytest.raises(ValueError, match=says):
        dpsgd.refuse_if_not_private(model, engine)
    with pytest.raises(ValueError, match=says):
        dpsgd.clipped_sum(model, square_loss, vector, torch.zeros(3), 1.0, engine)


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: nn.MultiheadAttention(4, 2), r"layer '1' \(MultiheadAttention\) .* knows only Linear.*engine='vmap'"),
        (lambda: nn.EmbeddingBag(4, 2), r"layer '1' \(EmbeddingBag\) .* knows only"),
        (lambda: nn.LSTM(4, 2), r"layer '1' \(LSTM\) is recurrent, which book-keeping cannot train: use engine='vmap'"),
        (
            lambda: nn.Embedding(4, 2, scale_grad_by_freq=True),
            r"layer '1' \(Embedding\) .* leave out scale_grad_by_freq",
        ),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 2)), r"\(ParametrizationList\) .* knows only"),
        (
            lambda: nn.utils.weight_norm(nn.Linear(4, 2)),
            r"\(Linear\) has the parameters \['bias', 'weight_g', 'weight_v'\]",
        ),
    ],
)
def test_layers_that_book_keeping_does_not_know_are_refused(make, says):
    model = nn.Sequential(nn.Linear(4, 4), make())
    with pytest.raises(ValueError, match=says):
        dpsgd.clipped_sum(model, square_loss, vector, torch.zeros(3), 1.0)
    dpsgd.refuse_if_not_private(model, "vmap")
    model[1].requires_grad_(False)
    dpsgd.refuse_if_not_private(model)


@pytest.mark.parametrize(
    ("model", "inputs", "says"),
    [
        (Scattered(), sequence, r"Linear.* takes inputs of shape \(4, 18\).* not that of the 3 examples"),
        (Overwritten(), vector, "changed in place afterwards: use inplace=False"),
        (WithoutGradient(), vector, "Linear.* is trained, and called where gradients are not recorded"),
        (nn.Linear(4, 2).requires_grad_(False), vector, "model must have a parameter that is trained, got none"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_that_book_keeping_would_get_wrong_are_refused(model, inputs, says):
    with pytest.raises(ValueError, match=says):
        dpsgd.clipped_sum(model, square_loss, inputs, torch.zeros(3), 1.0)


@every_engine
@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (nn.functional.cross_entropy, r"got shape \(\): .*reduction='none'"),
        (lambda outputs, targets: outputs[:, 0][:, None], r"got shape \(\d, 1\): .flatten\(\)"),
        (lambda outputs, targets: outputs, r"got shape \(\d, 2\): .* targets \(\d,\); add up"),
        (lambda outputs, targets: 0.0, "got float"),
    ],
)
def test_a_loss_of_another_shape_is_refused(loss, says, engine):
    with pytest.raises(ValueError, match=f"loss must return .*one number per example, .*{says}"):
        dpsgd.clipped_sum(nn.Linear(4, 2), loss, vector, torch.ones(3, dtype=torch.int64), 1.0, engine)


@every_engine
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_counts_as_0(bad, engine):
    """As if its row were empty; to stop for it would tell that it is there."""
    inputs, model = torch.rand(5, 4, generator=torch.Generator().manual_seed(0)), nn.Linear(4, 2)
    rest = dpsgd.clipped_sum(model, square_loss, inputs[[0, 2, 4]], torch.zeros(3), 1.0, engine)
    inputs[1, 2] = inputs[3] = bad
    found = dpsgd.clipped_sum(model, square_loss, inputs, torch.zeros(5), 1.0, engine)
    assert found.counted.tolist() == [True, False, True, False, True]
    torch.testing.assert_close(found.sums, rest.sums)
    torch.testing.assert_close(found.norms[found.counted], rest.norms)
    assert len(found.losses) == len(found.outputs) == 5


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"engine": "opacus"}, r"engine must be one of \['book-keeping', 'loop', 'vmap'\], got 'opacus'"),
        ({"precision": "fp16"}, "precision must be one of .*, got 'fp16'"),
        ({"clip_norm": 0}, "clip_norm must be a number in .*, got 0"),
        ({"clip_norm": math.inf}, "clip_norm must be"),
        ({"targets": torch.zeros(2)}, r"targets must have one entry per example \(3\), got 2"),
    ],
)
def test_bad_arguments_are_named(wrong, says):
    right = {"model": nn.Linear(4, 2), "loss": square_loss, "inputs": vector, "targets": torch.zeros(3), "clip_norm": 1}
    with pytest.raises(ValueError, match=says):
        dpsgd.clipped_sum(**right | wrong)


@every_engine
def test_nothing_stays_behind(engine):
    """No hook and no gradient, also after an exception in the middle."""
    model = in_place()
    dpsgd.clipped_sum(model, square_loss, torch.ones(3, 5), torch.zeros(3), 1.0, engine)
    with pytest.raises(RuntimeError):
        dpsgd.clipped_sum(model, square_loss, torch.ones(3, 7), torch.zeros(3), 1.0, engine)
    assert not any(layer._forward_hooks for layer in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.fixture
def one_process():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


@every_engine
@pytest.mark.usefixtures("one_process")
def test_a_model_inside_distributed_data_parallel_is_the_model(engine):
    torch.manual_seed(7)
    model, inputs, targets = in_place(), torch.randn(4, 5), torch.randn(4)
    inside = dpsgd.clipped_sum(nn.parallel.DistributedDataParallel(model), square_loss, inputs, targets, 1.0, engine)
    alone = dpsgd.clipped_sum(model, square_loss, inputs, targets, 1.0, engine)
    assert inside.sums.keys() == alone.sums.keys()
    assert all(torch.equal(inside.sums[name], alone.sums[name]) for name in alone.sums)
