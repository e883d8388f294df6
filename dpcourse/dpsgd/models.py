"""Small networks to train: plain torch.nn modules, whose initial weights can be repeated."""

import math

import torch
from torch import nn

from dpcourse import validate
from dpcourse.dpsgd import generators

NOT_YET_DRAWN = torch.device("meta")  # layers made there draw no weights, and leave torch's global generator alone


def paper_cnn(shape=(1, 28, 28), classes=10, generator=None):
    """The paper's network for MNIST, 26,010 weights: two convolutions and two dense layers, with ReLU.

    shape: channels, height and width of an image, at least 8 pixels high and wide; below 16 pixels the first
    convolution has stride 1, so that something is left for the second. classes: whole, >= 2. ValueError otherwise.
    generator: torch.Generator on the CPU, a seed, or None for the operating system's entropy; torch's global generator
    is left alone. The weights are Glorot's, the biases 0. So it is in every model here.
    Source: Bu, Dong, Long & Su (2020), the experiment on MNIST; the network is that of TensorFlow Privacy's tutorial.

    >>> sum(weights.numel() for weights in paper_cnn(generator=0).parameters())
    26010
    """
    return _cnn(nn.ReLU, shape, classes, generator)


def tanh_cnn(shape=(1, 28, 28), classes=10, generator=None):
    """The network of `paper_cnn` with tanh: bounded activations keep the gradients small, so that clipping costs less.

    Source: Papernot, Thakurta, Song, Chien & Erlingsson (2021), Tempered sigmoid activations for deep learning with
    differential privacy.

    >>> tanh_cnn(shape=(1, 8, 8), generator=0)(torch.zeros(5, 1, 8, 8)).shape
    torch.Size([5, 10])
    """
    return _cnn(nn.Tanh, shape, classes, generator)


def mlp(shape=(1, 28, 28), classes=10, generator=None, hidden=128):
    """One hidden layer with ReLU: 784-128-10 for MNIST.

    >>> sum(weights.numel() for weights in mlp(generator=0).parameters()) == 784 * 128 + 128 + 128 * 10 + 10
    True
    """
    pixels, classes = math.prod(_sides(shape)), validate.whole("classes", classes, low=2)
    hidden = validate.whole("hidden", hidden)
    with NOT_YET_DRAWN:
        model = nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, classes))
    return _drawn(model, generator)


def logistic(shape=(1, 28, 28), classes=10, generator=None):
    """Logistic regression: one linear layer over the pixels.

    >>> sum(weights.numel() for weights in logistic(shape=(1, 8, 8), generator=0).parameters()) == 64 * 10 + 10
    True
    """
    pixels, classes = math.prod(_sides(shape)), validate.whole("classes", classes, low=2)
    with NOT_YET_DRAWN:
        model = nn.Sequential(nn.Flatten(), nn.Linear(pixels, classes))
    return _drawn(model, generator)


def _cnn(activation, shape, classes, generator):
    channels, height, width = _sides(shape)
    classes = validate.whole("classes", classes, low=2)
    if min(height, width) < 8:
        raise ValueError(f"shape must be at least 8 pixels high and wide, got {shape!r}: take mlp or logistic")
    stride = 1 if min(height, width) < 16 else 2

    def left(side):
        """What padding, both strides and both pools leave of a side: 4 of 28, 1 of 8."""
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
    return _drawn(model, generator)


def _sides(shape):
    try:
        channels, height, width = shape
    except (TypeError, ValueError):
        raise ValueError(f"shape must be (channels, height, width), got {shape!r}") from None
    return [validate.whole("every entry of shape", side) for side in (channels, height, width)]


def _drawn(model, generator):
    """The model on the CPU, its weights drawn by Glorot & Bengio (2010) from the generator, its biases 0."""
    generator = generators.make(generator, "weights")
    for layer in model:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.to_empty(device="cpu")
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
    return model
