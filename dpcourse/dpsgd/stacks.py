"""Book-keeping written out for a stack of dense layers, whose forward and backward pass are a few products each.

A small model on a CPU spends more time on torch's graph than on numbers. Here is the same clipped sum without a graph,
for what is exactly an nn.Sequential of nn.Flatten, nn.Linear and the activations below, in full precision and without
hooks; for every other model watching.py finds the shares.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from dpcourse.dpsgd import layers

BACK = {  # from the gradient of an activation's outputs, and these outputs, to that of its inputs
    nn.ReLU: lambda g, y: torch.ops.aten.threshold_backward(g, y, 0),
    nn.Tanh: lambda g, y: torch.ops.aten.tanh_backward(g, y),
    nn.Sigmoid: lambda g, y: torch.ops.aten.sigmoid_backward(g, y),
}


def takes(model: nn.Module, inputs: Any) -> bool:
    """Return whether a model is such a stack, with every weight and bias trained, and sees one vector per example.

    >>> takes(nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), torch.zeros(5, 2, 2))
    True
    >>> takes(nn.Sequential(nn.Linear(4, 3), nn.GELU()), torch.zeros(5, 4)), takes(nn.Linear(4, 3), torch.zeros(5, 4))
    (False, False)
    """
    if type(model) is not nn.Sequential or hooked(model) or not all(map(_is_known, model)):
        return False
    if not isinstance(inputs, torch.Tensor) or torch.is_autocast_enabled(inputs.device.type):
        return False
    own = [id(parameter) for layer in model for parameter in layer._parameters.values()]
    vectors = inputs.ndim == 2 or (inputs.ndim > 2 and type(model[0]) is nn.Flatten)
    return vectors and 0 < len(own) == len(set(own))  # none is used twice


def _is_known(layer):
    if hooked(layer):
        return False
    if type(layer) is nn.Linear:
        own = layer._parameters.values()
        return layer.bias is not None and len(own) == 2 and all(parameter.requires_grad for parameter in own)
    return type(layer) in BACK or (type(layer) is nn.Flatten and (layer.start_dim, layer.end_dim) == (1, -1))


def hooked(layer: nn.Module) -> bool:
    """Return whether something of somebody else's is called with the layer."""
    return bool(layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks)


def shares(
    model: nn.Sequential, loss, inputs: torch.Tensor, targets
) -> tuple[list[layers.Share], torch.Tensor, torch.Tensor]:
    """Return the shares of all layers, the losses and the outputs.

    >>> model = nn.Sequential(nn.Linear(2, 1))
    >>> (share,), losses, outputs = shares(model, lambda o, t: o[:, 0] - t, torch.tensor([[3.0, 4.0]]), torch.zeros(1))
    >>> share.square_norms()
    tensor([26.])
    """
    seen: list[tuple[Any, torch.Tensor]] = []
    with torch.no_grad():
        x = inputs
        for layer in model:
            if type(layer) is nn.Linear:
                seen.append((layer, x))
                x = F.linear(x, layer.weight, layer.bias)
            else:
                x = layer(x)
                if type(layer) is not nn.Flatten:
                    seen.append((layer, x))
    with torch.enable_grad():
        outputs = x.requires_grad_()
        losses = loss(outputs, targets)
        (g,) = torch.autograd.grad(losses, outputs, torch.ones_like(losses))
    found: list[layers.Share] = []
    first = next(layer for layer, _ in seen if type(layer) is nn.Linear)
    with torch.no_grad():
        for layer, kept in reversed(seen):
            if type(layer) is not nn.Linear:
                g = BACK[type(layer)](g, kept)
                continue
            found.append(layers.Dense((layer.weight, layer.bias), kept, g))
            if layer is first:
                break
            g = g @ layer.weight
    return found, losses, outputs
