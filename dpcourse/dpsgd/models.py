"""Small networks to train: plain torch.nn modules, whose initial weights can be repeated."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional

from dpcourse.base import validate
from dpcourse.base.languages import say
from dpcourse.dpsgd import generators

MOST_GROUPS = 32  # of a GroupNorm in the place of a BatchNorm, as in Wu & He
Shape = tuple[int, ...]  # channels, height and width of an image
NOT_YET_DRAWN = torch.device("meta")  # layers made there draw no weights, and leave torch's global generator alone


def paper_cnn(shape: Shape = (1, 28, 28), classes: int = 10, generator: generators.Source = None) -> nn.Sequential:
    """Return the paper's network for MNIST, 26,010 weights: two convolutions and two dense layers, with ReLU.

    shape: channels, height and width of an image, at least 8 pixels high and wide; below 16 pixels the first
    convolution has stride 1, so that something is left for the second. classes: whole, >= 2. ValueError otherwise.
    generator: torch.Generator on the CPU, a seed, or None for the operating system's entropy; torch's global generator
    is left alone. The weights are Glorot's, the biases 0. All this holds for every model here.
    Source: Bu, Dong, Long & Su (2020), the experiment on MNIST; the network is that of TensorFlow Privacy's tutorial.

    >>> sum(weights.numel() for weights in paper_cnn(generator=0).parameters())
    26010
    """
    return _cnn(nn.ReLU, shape, classes, generator)


def tanh_cnn(shape: Shape = (1, 28, 28), classes: int = 10, generator: generators.Source = None) -> nn.Sequential:
    """Return the network of `paper_cnn` with tanh: bounded activations keep gradients small, so clipping costs less.

    Source: Papernot, Thakurta, Song, Chien & Erlingsson (2021), Tempered sigmoid activations for deep learning with
    differential privacy.

    >>> tanh_cnn(shape=(1, 8, 8), generator=0)(torch.zeros(5, 1, 8, 8)).shape
    torch.Size([5, 10])
    """
    return _cnn(nn.Tanh, shape, classes, generator)


def mlp(
    shape: Shape = (1, 28, 28), classes: int = 10, generator: generators.Source = None, hidden: int = 128
) -> nn.Sequential:
    """Return a network with one hidden layer and ReLU: 784-128-10 for MNIST.

    >>> sum(weights.numel() for weights in mlp(generator=0).parameters()) == 784 * 128 + 128 + 128 * 10 + 10
    True
    """
    pixels, classes = math.prod(_sides(shape)), validate.whole("classes", classes, low=2)
    hidden = validate.whole("hidden", hidden)
    with NOT_YET_DRAWN:
        model = nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, classes))
    return _drawn(model, generator)


def logistic(shape: Shape = (1, 28, 28), classes: int = 10, generator: generators.Source = None) -> nn.Sequential:
    """Return logistic regression: one linear layer over the pixels.

    >>> sum(weights.numel() for weights in logistic(shape=(1, 8, 8), generator=0).parameters()) == 64 * 10 + 10
    True
    """
    pixels, classes = math.prod(_sides(shape)), validate.whole("classes", classes, low=2)
    with NOT_YET_DRAWN:
        model = nn.Sequential(nn.Flatten(), nn.Linear(pixels, classes))
    return _drawn(model, generator)


def logistic_on_edges(
    shape: Shape = (1, 28, 28), classes: int = 10, generator: generators.Source = None
) -> nn.Sequential:
    """Return logistic regression over what `Edges` sees: at a small epsilon better than a network that learns to see.

    shape: as in `paper_cnn`, at least 2 pixels high and wide.

    >>> sum(weights.numel() for weights in logistic_on_edges(generator=0).parameters()) == 5 * 14 * 14 * 10 + 10
    True
    """
    channels, height, width = _sides(shape)
    classes = validate.whole("classes", classes, low=2)
    if min(height, width) < 2:
        raise ValueError(f"shape must be at least 2 pixels high and wide, got {shape!r}: take mlp or logistic")
    with NOT_YET_DRAWN:
        linear = nn.Linear(5 * channels * (height // 2) * (width // 2), classes)
    return _drawn(nn.Sequential(Edges(channels), nn.Flatten(), linear), generator)


class Edges(nn.Module):
    """Ink, and edges in four directions, averaged over cells of 2 x 2 pixels: (batch, c, h, w) -> (batch, 5 c, h // 2, w // 2).

    An edge is the size of Sobel's slope across 0, 45, 90 or 135 degrees. Less 0.3, about the mean of all five on
    handwritten digits: clipping leaves more of a gradient whose features are centred. Nothing in it is fitted to
    data, so it costs no privacy.
    Source: Dalal & Triggs (2005), Histograms of oriented gradients for human detection; Tramèr & Boneh (2021),
    Differentially private learning needs better features (or much more data), who take a scattering network.

    >>> slope = torch.linspace(0, 1, 6).expand(1, 1, 6, 6)  # rises by 0.2 from each pixel to the right
    >>> Edges()(slope)[0, :, 1, 1] + 0.3
    tensor([0.5000, 0.4000, 0.2828, 0.0000, 0.2828])
    """

    kernels: torch.Tensor

    def __init__(self, channels: int = 1) -> None:
        super().__init__()
        self.channels = validate.whole("channels", channels)
        ink = torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
        across = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]) / 4
        diagonal, opposite = (across + across.T) / 2**0.5, (across - across.T) / 2**0.5
        kernels = torch.stack([ink, across, diagonal, across.T, opposite])[:, None]
        self.register_buffer("kernels", kernels.repeat(self.channels, 1, 1, 1))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found = functional.conv2d(images, self.kernels, padding=1, groups=self.channels).abs()
        return functional.avg_pool2d(found, 2) - 0.3


def without_batch_norm(model: nn.Module) -> nn.Module:
    """Return a copy of the model with a GroupNorm in the place of every BatchNorm; print what replaced which.

    A BatchNorm mixes the examples of a batch, and keeps statistics of them. A GroupNorm normalizes groups of channels
    of each example by itself: 32 groups, or the most that divide the channels and leave two or more for each; one group
    in the place of BatchNorm1d, which may see one number per channel. Weight, bias and eps are kept, statistics are not.
    ValueError, torch's own, for a model with a lazy layer that has seen nothing yet.
    Source: Wu & He (2018), Group normalization.

    >>> model = without_batch_norm(nn.Sequential(nn.Conv2d(3, 48, 3), nn.BatchNorm2d(48), nn.ReLU()))
    layer '1': BatchNorm2d of 48 channels became GroupNorm of 24 groups
    """
    model = copy.deepcopy(model)
    for name, layer in list(model.named_modules(remove_duplicate=False)):
        if not isinstance(layer, nn.modules.batchnorm._BatchNorm):
            continue
        new = _group_norm(layer)
        print(
            say(
                "layer {name}: {kind} of {channels} channels became GroupNorm of {groups} groups",
                name=repr(name),
                kind=type(layer).__name__,
                channels=layer.num_features,
                groups=new.num_groups,
            )
        )
        if not name:
            return new
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, new)
    return model


def _group_norm(layer):
    channels = layer.num_features
    most = 1 if isinstance(layer, nn.BatchNorm1d) else min(MOST_GROUPS, channels // 2)
    groups = next(groups for groups in range(max(most, 1), 0, -1) if channels % groups == 0)
    new = nn.GroupNorm(groups, channels, eps=layer.eps, affine=layer.affine)
    if layer.affine:
        new.weight, new.bias = layer.weight, layer.bias
    return new.train(layer.training)


def _cnn(activation, shape, classes, generator):
    channels, height, width = _sides(shape)
    classes = validate.whole("classes", classes, low=2)
    if min(height, width) < 8:
        raise ValueError(f"shape must be at least 8 pixels high and wide, got {shape!r}: take mlp or logistic")
    stride = 1 if min(height, width) < 16 else 2

    def left(side):
        """Return what padding, both strides and both pools leave of a side: 4 of 28, 1 of 8."""
        return ((side - 2) // stride - 4) // 2

    with NOT_YET_DRAWN:
        model = nn.Sequential(
            nn.Conv2d(channels, 16, kernel_size=8, stride=stride, padding=3),  # Tensorflow's "same" for an even side
            activation(),
            nn.MaxPool2d(kernel_size=2, stride=1),
            nn.Conv2d(16, 32, kernel_size=4, stride=2),
            activation(),
            nn.MaxPool2d(kernel_size=2, stride=1),
            nn.Flatten(),
            nn.Linear(32 * left(height) * left(width), 32),
            activation(),
            nn.Linear(32, classes),
        )
    return _drawn(model, generator).to(memory_format=torch.channels_last)  # pooling is several times faster so


def _sides(shape):
    try:
        channels, height, width = shape
    except (TypeError, ValueError):
        raise ValueError(f"shape must be (channels, height, width), got {shape!r}") from None
    return [validate.whole("every entry of shape", side) for side in (channels, height, width)]


def _drawn(model, generator):
    """Return the model on the CPU, its weights drawn by Glorot & Bengio (2010) from the generator, its biases 0."""
    generator = generators.make(generator, "weights")
    for layer in model:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.to_empty(device="cpu")
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
    return model
