"""The models of lesson 05: their shapes, their first weights, and the edges that one of them sees."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from support import examples
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import generators

MODELS = (dpsgd.paper_cnn, dpsgd.tanh_cnn, dpsgd.mlp, dpsgd.logistic, dpsgd.logistic_on_edges)
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def weights(model):
    return torch.cat([parameter.flatten() for parameter in model.parameters()])


@every_model
@examples(300, part=20)
@given(sides=st.tuples(st.integers(1, 3), st.integers(8, 40), st.integers(8, 40)), classes=st.integers(2, 12))
def test_a_model_takes_images_of_every_size(model, sides, classes):
    assert model(sides, classes, generator=0)(torch.zeros(2, *sides)).shape == (2, classes)


@every_model
def test_a_seed_repeats_the_weights_and_torchs_own_generator_stays(model):
    before = torch.get_rng_state()
    first = weights(model(generator=7))
    assert torch.equal(first, weights(model(generator=7)))
    assert torch.equal(first, weights(model(generator=generators.make(7, "weights"))))
    assert not torch.equal(first, weights(model(generator=8)))
    assert not torch.equal(weights(model()), weights(model()))
    assert torch.equal(before, torch.get_rng_state())


@every_model
def test_the_weights_are_glorots(model):
    """Uniform between -b and b, b^2 = 6 / (fan in + fan out), so of variance b^2 / 3; biases 0."""
    for layer in model(generator=1):
        if hasattr(layer, "weight"):
            field = layer.weight[0, 0].numel() if layer.weight.ndim == 4 else 1
            bound = (6 / (field * sum(layer.weight.shape[:2]))) ** 0.5
            weight = layer.weight.detach()
            assert float(weight.abs().max()) <= bound
            assert float(weight.var()) == pytest.approx(bound**2 / 3, rel=0.2)
            assert not layer.bias.any()


@pytest.mark.parametrize("model", [dpsgd.paper_cnn, dpsgd.tanh_cnn])
def test_the_papers_network_layer_by_layer(model):
    """As Keras builds it: "same" padding gives ceil(28 / 2), "valid" gives what fits."""
    image, shapes = torch.zeros(1, 1, 28, 28), []
    for layer in model(generator=0):
        image = layer(image)
        shapes.append(tuple(image.shape[1:]))
    cnn = [(16, 14, 14)] * 2 + [(16, 13, 13)] + [(32, 5, 5)] * 2 + [(32, 4, 4)]
    assert shapes == [*cnn, (512,), (32,), (32,), (10,)]
    assert len(weights(model())) == 26_010


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"shape": (28, 28)}, r"shape must be \(channels, height, width\)"),
        ({"shape": (1, 28, 0)}, "every entry of shape must be a whole number >= 1, got 0"),
        ({"classes": 1}, "classes must be a whole number >= 2, got 1"),
        ({"generator": -1}, "generator must be a whole number >= 0, got -1"),
    ],
)
@every_model
def test_bad_input_is_refused(model, bad, said):
    with pytest.raises(ValueError, match=said):
        model(**bad)


def test_an_image_too_small_for_the_network_is_refused():
    with pytest.raises(ValueError, match="at least 8 pixels high and wide, got \\(1, 7, 28\\): take mlp or logistic"):
        dpsgd.paper_cnn(shape=(1, 7, 28))
    with pytest.raises(ValueError, match="hidden must be a whole number"):
        dpsgd.mlp(hidden=0)


def test_edges_are_sobels():
    """Against scipy.ndimage; the diagonals by the chain rule from its two slopes."""
    images = np.random.default_rng(0).random((3, 8, 10))
    slopes = [[ndimage.sobel(image, axis, mode="constant") / 4 for image in images] for axis in (1, 0)]
    across, down = np.array(slopes)
    expected = [images, abs(across), abs(across + down) / 2**0.5, abs(down), abs(across - down) / 2**0.5]
    cells = np.stack(expected, axis=1).reshape(3, 5, 4, 2, 5, 2).mean((3, 5))
    assert np.allclose(dpsgd.Edges()(torch.tensor(images, dtype=torch.float32)[:, None]) + 0.3, cells, atol=1e-6)


def test_edges_of_several_channels_are_those_of_each():
    images = torch.rand(3, 2, 9, 8)
    apart = [dpsgd.Edges()(images[:, channel : channel + 1]) for channel in range(2)]
    assert torch.allclose(dpsgd.Edges(channels=2)(images), torch.cat(apart, dim=1))
    with pytest.raises(ValueError, match="at least 2 pixels high and wide"):
        dpsgd.logistic_on_edges(shape=(1, 1, 8))


# ---- without BatchNorm


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 48, 3), nn.BatchNorm2d(48, eps=1e-3), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def test_every_batch_norm_becomes_a_group_norm_and_it_is_said(capsys):
    """The model that was given stays as it is; weights are kept, and no example hears of another."""
    old = nn.Sequential(Block(), nn.Flatten(), nn.LazyLinear(7), nn.BatchNorm1d(7), nn.Linear(7, 2))
    old(torch.randn(4, 3, 6, 6))
    nn.init.normal_(old[0].layers[1].weight)
    new = dpsgd.without_batch_norm(old)
    assert capsys.readouterr().out.splitlines() == [
        "layer '0.layers.1': BatchNorm2d of 48 channels became GroupNorm of 24 groups",
        "layer '3': BatchNorm1d of 7 channels became GroupNorm of 1 groups",
    ]
    assert isinstance(old[0].layers[1], nn.BatchNorm2d)
    dpsgd.refuse_if_not_private(new)
    norm = new[0].layers[1]
    assert (norm.num_groups, norm.num_channels, norm.eps) == (24, 48, 1e-3)
    assert torch.equal(norm.weight, old[0].layers[1].weight)
    inputs = torch.randn(4, 3, 6, 6)
    torch.testing.assert_close(new(inputs)[:1], new(inputs[:1]))


@pytest.mark.parametrize(
    ("layer", "groups"),
    [
        (nn.BatchNorm2d(64), 32),
        (nn.BatchNorm2d(16), 8),
        (nn.BatchNorm3d(1), 1),
        (nn.BatchNorm2d(7), 1),
        (nn.BatchNorm2d(30), 15),
        (nn.BatchNorm1d(64, affine=False), 1),
        (nn.SyncBatchNorm(100), 25),
    ],
    ids=str,
)
def test_groups_divide_the_channels_and_have_more_than_one_where_they_can(layer, groups):
    new = dpsgd.without_batch_norm(layer)
    assert isinstance(new, nn.GroupNorm)
    assert (new.num_groups, new.affine) == (groups, layer.affine)
