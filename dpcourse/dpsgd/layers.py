"""Book-keeping, layer by layer: each example's gradient, from a layer's inputs a and the gradients g of its outputs.

For most layers the gradient of one example is the product g^T a, summed over positions (of an image, of a text), so
its norm and the weighted sum over the examples need no gradient per example. A share is the gradients of all examples
to some parameters; every kind of share has

    parameters              the parameters, a tuple
    square_norms()          (batch,), over these parameters together; cancelled, where it is set, says which to doubt
    weighted_sums(weights)  for each parameter, the sum over the examples, in the parameter's shape
    per_example()           for each parameter, (batch, *its shape)

Source: Bu, Mao & Xu (2022), "Scalable and efficient training of large convolutional neural networks with differential
privacy" (norms without gradients for convolutions, the cheaper way per layer); Bu, Wang, Zha & Karypis (2023),
"Differentially private optimization on large model at small cost" (book-keeping).
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Convolution = nn.Conv1d | nn.Conv2d | nn.Conv3d
Layer = nn.Linear | Convolution | nn.Embedding | nn.LayerNorm | nn.GroupNorm  # that RULES knows

GHOST = 16  # a number written to memory and read again costs about as much as this many multiplications
AT_ONCE = 2**18  # numbers: what fits into the cache of a CPU; a GPU takes 128 times as many
KEPT = 2**29  # numbers that all layers together may keep for the sum, having had them for the norms: 2 GiB
CANCELLED = 0.1  # where positions cancel so far, rounding would decide about a norm that is computed from products


@dataclass
class Direct:
    """One parameter, its gradients written down. gradients: (batch, *shape)."""

    parameter: torch.Tensor
    gradients: torch.Tensor

    @property
    def parameters(self) -> tuple[torch.Tensor, ...]:
        return (self.parameter,)

    def square_norms(self) -> torch.Tensor:
        return _square_norms(self.gradients)

    def weighted_sums(self, weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return ((weights @ self.gradients.flatten(1)).view(self.gradients.shape[1:]),)

    def per_example(self) -> tuple[torch.Tensor, ...]:
        return (self.gradients,)


@dataclass
class Dense:
    """Weight and bias of a linear layer that sees one vector per example. a: (batch, in); g: (batch, out)."""

    parameters: tuple[torch.Tensor, torch.Tensor]
    a: torch.Tensor
    g: torch.Tensor

    def square_norms(self) -> torch.Tensor:  # |g^T a|^2 + |g|^2
        return _square_norms(self.a).add_(1).mul_(_square_norms(self.g))

    def weighted_sums(self, weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        g = self.g * weights.unsqueeze(1)
        return g.mT @ self.a, g.sum(0)

    def per_example(self) -> tuple[torch.Tensor, ...]:
        return self.g[:, :, None] * self.a[:, None, :], self.g


@dataclass
class Product:
    """One weight, its gradients sum_t g_t^T a_t left as factors. a: (batch, positions, in); g: (batch, positions, out)."""

    layer: nn.Linear | Convolution
    a: torch.Tensor
    g: torch.Tensor
    cancelled: torch.Tensor | None = field(default=None, init=False)

    @property
    def parameters(self) -> tuple[torch.Tensor, ...]:
        return (self.layer.weight,)

    def square_norms(self) -> torch.Tensor:
        if self.a.shape[1] == 1:
            return _square_norms(self.a) * _square_norms(self.g)
        gram = torch.bmm(self.a, self.a.mT).mul_(torch.bmm(self.g, self.g.mT))
        squares, self.cancelled = _summed(gram)
        return squares

    def only(self, these: torch.Tensor) -> "Product":
        return Product(self.layer, self.a[these], self.g[these])

    def weighted_sums(self, weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        g = (self.g * weights[:, None, None]).flatten(0, 1)
        return (_as_weight(self.layer, g.mT @ self.a.flatten(0, 1)),)

    def per_example(self) -> tuple[torch.Tensor, ...]:
        return (_as_weight(self.layer, torch.bmm(self.g.mT, self.a)),)


class Patches:
    """The weight of a convolution: at each position, what the kernel sees, times the gradient there; summed.

    The batch is taken in parts, so that the patches, many times larger than the image, are never all in memory.
    a: (batch, *size, channels), padded; g: (batch, groups, out-channels of the group, positions).
    """

    def __init__(self, layer: Convolution, a: torch.Tensor, g: torch.Tensor) -> None:
        self.layer, self.a, self.g = layer, a, g
        self.matrices: torch.Tensor | None = None
        at_once = AT_ONCE if a.device.type == "cpu" else 2**7 * AT_ONCE
        self.part = max(1, at_once // (g.shape[1] * g.shape[3] * layer.weight[0].numel()))
        self.numbers = len(a) * layer.weight.numel()
        self.keep = False  # until keep_within

    @property
    def parameters(self) -> tuple[torch.Tensor, ...]:
        return (self.layer.weight,)

    def square_norms(self) -> torch.Tensor:
        if not self.keep:
            return torch.cat([_square_norms(g @ patches) for patches, g in self._parts()])
        _, groups, outputs, _ = self.g.shape
        matrices = self.g.new_empty(len(self.g), groups, outputs, self.layer.weight[0].numel())
        for into, (patches, g) in zip(matrices.split(self.part), self._parts(), strict=True):
            torch.matmul(g, patches, out=into)
        self.matrices = matrices
        return _square_norms(matrices)

    def weighted_sums(self, weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if self.matrices is not None:
            total = (weights @ self.matrices.flatten(1)).view(self.matrices.shape[1:])
        else:
            weighted = zip(self._parts(), weights.split(self.part), strict=True)
            total = sum(self._sum(patches, g * weight[:, None, None, None]) for (patches, g), weight in weighted)
        return (_as_kernel(self.layer, total),)

    def per_example(self) -> tuple[torch.Tensor, ...]:
        return (_as_kernel(self.layer, torch.cat([g @ patches for patches, g in self._parts()])),)

    def _parts(self):
        for a, g in zip(self.a.split(self.part), self.g.split(self.part), strict=True):
            yield _patches(self.layer, a), g

    @staticmethod
    def _sum(patches, g):
        return g.permute(1, 2, 0, 3).flatten(2) @ patches.movedim(1, 0).flatten(1, 2)


@dataclass
class Rows:
    """A table of rows, of which each example used a few. rows: (batch, used); g: (batch, used, width)."""

    table: torch.Tensor
    rows: torch.Tensor
    g: torch.Tensor
    cancelled: torch.Tensor | None = field(default=None, init=False)

    @property
    def parameters(self) -> tuple[torch.Tensor, ...]:
        return (self.table,)

    def square_norms(self) -> torch.Tensor:
        same = self.rows[:, :, None] == self.rows[:, None, :]
        squares, self.cancelled = _summed(torch.bmm(self.g, self.g.mT) * same)
        return squares

    def only(self, these: torch.Tensor) -> "Rows":
        return Rows(self.table, self.rows[these], self.g[these])

    def weighted_sums(self, weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        g = (self.g * weights[:, None, None]).flatten(0, 1)
        return (g.new_zeros(self.table.shape).index_add_(0, self.rows.flatten(), g),)

    def per_example(self) -> tuple[torch.Tensor, ...]:
        at = self.rows[:, :, None].expand_as(self.g)
        return (self.g.new_zeros(len(self.rows), *self.table.shape).scatter_add_(1, at, self.g),)


Share = Direct | Dense | Product | Patches | Rows


def _square_norms(values):
    return torch.linalg.vector_norm(values.flatten(1), dim=1).square_()


def _summed(gram):
    """Return |sum_t v_t|^2 = sum over s, t of <v_s, v_t> = gram; and of which examples the v cancel."""
    squares = gram.sum((1, 2))
    return squares, squares < CANCELLED * gram.diagonal(dim1=1, dim2=2).sum(1)


def _ghost(positions, inputs, outputs):
    """Return whether the norm is cheaper without the gradients."""
    return positions == 1 or positions**2 * (inputs + outputs) < GHOST * inputs * outputs


def _linear(layer, a, g):
    if a.ndim == 2 and _trained(layer.weight) and _trained(layer.bias):
        return [Dense((layer.weight, layer.bias), a, g)]
    a, g = a.reshape(len(a), -1, a.shape[-1]), g.reshape(len(g), -1, g.shape[-1])
    return [product(layer, a, g), Direct(layer.bias, g.sum(1))]


def product(layer: Any, a: torch.Tensor, g: torch.Tensor) -> Product | Direct:
    """Return the share of layer.weight, (out, in), as factors or written down. a: (batch, positions, in); g: (batch, positions, out)."""
    found = Product(layer, a, g)
    return found if _ghost(a.shape[1], a.shape[2], g.shape[2]) else Direct(layer.weight, *found.per_example())


def _convolution(layer, a, g):
    g = g.flatten(2).unflatten(1, (layer.groups, -1))
    weight = Patches(layer, _padded(layer, a), g)
    if layer.groups == 1 and _ghost(g.shape[3], layer.weight[0].numel(), g.shape[2]):
        weight = Product(layer, _patches(layer, weight.a)[:, 0], g[:, 0].mT)
    return [weight, Direct(layer.bias, g.sum(3).flatten(1))]


def _as_weight(layer, matrices):
    """Reshape (..., out, in) to (..., *shape of the layer's weight)."""
    return matrices if matrices.shape[-2:] == layer.weight.shape else _as_kernel(layer, matrices.unsqueeze(-3))


def _as_kernel(layer, matrices):
    """Reshape (..., groups, out, kernel x in) to (..., groups x out, in, *kernel)."""
    nd = len(layer.kernel_size)
    return matrices.unflatten(-1, (*layer.kernel_size, -1)).movedim(-1, -1 - nd).flatten(-3 - nd, -2 - nd)


def _padded(layer, a):
    """Return the inputs with the layer's padding, channels last, so that a patch lies together in memory."""
    if any(layer._reversed_padding_repeated_twice):
        mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
        a = F.pad(a, layer._reversed_padding_repeated_twice, mode=mode)
    return a.movedim(1, -1).contiguous()


def _patches(layer, a):
    """Return the patches: (batch, groups, positions, kernel x in-channels of the group). a: padded, channels last."""
    kernel, stride, dilation = layer.kernel_size, layer.stride, layer.dilation
    batch, *along, _ = a.stride()
    channels = a.shape[-1] // layer.groups
    places = [
        (size - spread * (length - 1) - 1) // pace + 1
        for size, length, pace, spread in zip(a.shape[1:-1], kernel, stride, dilation, strict=True)
    ]
    between_places = [one * pace for one, pace in zip(along, stride, strict=True)]
    within_kernel = [one * spread for one, spread in zip(along, dilation, strict=True)]
    view = a.as_strided(
        (len(a), layer.groups, *places, *kernel, channels),
        (batch, channels, *between_places, *within_kernel, 1),
        a.storage_offset(),
    )
    return view.reshape(len(a), layer.groups, torch.Size(places).numel(), -1)


def _embedding(layer, a, g):
    rows, g = a.reshape(len(a), -1), g.reshape(len(a), -1, g.shape[-1])
    if layer.padding_idx is not None:
        g = g * (rows != layer.padding_idx)[:, :, None]
    return [Rows(layer.weight, rows, g)]


def _layer_norm(layer, a, g):
    a = F.layer_norm(a, layer.normalized_shape, eps=layer.eps)
    shape = (len(a), -1, *layer.normalized_shape)
    return [Direct(layer.weight, (g * a).reshape(shape).sum(1)), Direct(layer.bias, g.reshape(shape).sum(1))]


def _group_norm(layer, a, g):
    a = F.group_norm(a, layer.num_groups, eps=layer.eps)
    a, g = (values.reshape(len(a), layer.num_channels, -1) for values in (a, g))
    return [Direct(layer.weight, (g * a).sum(2)), Direct(layer.bias, g.sum(2))]


RULES = {
    nn.Linear: _linear,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.Conv3d: _convolution,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    nn.GroupNorm: _group_norm,
}


def shares(layer: Layer, a: torch.Tensor, g: torch.Tensor) -> list[Share]:
    """Return the shares of a layer in RULES, of its trained parameters, in their own precision.

    a: the inputs of the layer, g: the gradient of the summed loss to its outputs; both have the examples first.
    """
    precision = layer.weight.dtype
    a = a.to(precision) if a.is_floating_point() else a
    found = RULES[type(layer)](layer, a, g.to(precision))
    return [share for share in found if all(_trained(parameter) for parameter in share.parameters)]


def separate(found: list[Share]) -> list[Share]:
    """Join shares of the same parameter, as of a layer that is called twice, or of a weight that is used in two places."""
    parameters = [parameter for share in found for parameter in share.parameters]
    if len(set(parameters)) == len(parameters):
        return found
    together: dict[torch.Tensor, torch.Tensor] = {}
    for share in found:
        for parameter, gradients in zip(share.parameters, share.per_example(), strict=True):
            together[parameter] = together[parameter] + gradients if parameter in together else gradients
    return [Direct(parameter, gradients) for parameter, gradients in together.items()]


def square_norms(found: list[Share]) -> torch.Tensor:
    """Return the square norms, (batch,), over the parameters of all shares.

    Where positions cancel, a norm comes from gradients that are written down. Whether positions cancel is asked once for
    all layers: each question lets a GPU wait.
    """
    squares = [share.square_norms() for share in found]
    doubtful = _doubtful(found, squares)
    if doubtful and torch.cat([cancelled for _, cancelled, _ in doubtful]).any():
        for share, cancelled, of in doubtful:
            of[cancelled] = _square_norms(share.only(cancelled).per_example()[0])
    return sum(squares[1:], squares[0])


def square_norms_in_doubt(found: list[Share]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the square norms, (batch,), and of which examples positions cancel, (batch,), whose norm is not to be used."""
    squares = [share.square_norms() for share in found]
    doubt = torch.zeros_like(squares[0], dtype=torch.bool)
    for _, cancelled, _ in _doubtful(found, squares):
        doubt = doubt | cancelled
    return sum(squares[1:], squares[0]), doubt


def _doubtful(found, squares):
    return [
        (share, share.cancelled, of)
        for share, of in zip(found, squares, strict=True)
        if isinstance(share, Product | Rows) and share.cancelled is not None
    ]


def keep_within(found: list[Share], numbers: int) -> None:
    """Let the convolutions keep their gradients for the sum as long as there is room for so many numbers.

    On a CPU only those keep them whose gradients fit into the cache: others are computed anew faster than read.
    """
    for share in found:
        if isinstance(share, Patches):
            share.keep = share.numbers <= (min(numbers, 8 * AT_ONCE) if share.a.device.type == "cpu" else numbers)
            numbers -= share.numbers if share.keep else 0


def _trained(parameter):
    return parameter is not None and parameter.requires_grad
