"""Book-keeping for layers that layers.py does not know: by a rule that was registered for them, or by vmap of the layer."""

from collections.abc import Callable

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from dpcourse.dpsgd import layers

Rule = Callable[[nn.Module, torch.Tensor, torch.Tensor], dict[str, torch.Tensor]]
RULES: dict[type[nn.Module], Rule] = {}


def layer_rule(kind: type[nn.Module]) -> Callable[[Rule], Rule]:
    """Register, as a decorator, how book-keeping finds each example's gradients to the parameters of a kind of layer.

    kind: a class of layers that takes one tensor to one tensor; ValueError where book-keeping has a rule of its own, and
    where it is no class of layers. The rule is a function of a layer, its inputs and the gradient of the summed loss to
    its outputs, both with the examples first. It returns for each parameter of the layer's own that is trained, by name,
    the gradients of all examples: (batch, *the parameter's shape). Subclasses need a rule of their own. Without a rule a
    layer's own parameters go by torch.func.vmap of this layer, which costs a second forward and backward pass through it
    and what lies inside. `fit`, and an optimizer at its first accumulate, compare the rule with the loop of one; clipped_sum
    alone does not.

    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(torch.ones(2))
    ...
    ...     def forward(self, inputs):
    ...         return self.factor * inputs
    >>> @layer_rule(Scale)
    ... def scale(layer, inputs, gradients):
    ...     return {"factor": gradients * inputs}
    >>> shares(Scale(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.ones(2, 2))[0].per_example()
    (tensor([[1., 2.],
            [3., 4.]]),)
    """
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise ValueError(f"kind must be a class of layers, a subclass of torch.nn.Module, got {kind!r}")
    if kind in layers.RULES:
        raise ValueError(f"kind must be a class of layers that has no rule yet, got {kind.__name__}")

    def register(rule: Rule) -> Rule:
        RULES[kind] = rule
        return rule

    return register


def shares(layer: nn.Module, a: torch.Tensor, g: torch.Tensor) -> list[layers.Share]:
    """Return the shares of the trained parameters of a layer's own; ValueError where a rule gives something else.

    a: the inputs of the layer, g: the gradient of the summed loss to its outputs; both have the examples first.
    """
    if isinstance(layer, layers.Layer) and type(layer) in layers.RULES:
        return layers.shares(layer, a, g)
    own = trained(layer)
    precision = next(iter(own.values())).dtype
    a = a.to(precision) if a.is_floating_point() else a
    gradients = RULES.get(type(layer), by_vmap)(layer, a, g.to(precision))
    for name, parameter in own.items():
        shape = tuple(gradients[name].shape) if name in gradients else None
        if shape != (len(a), *parameter.shape):
            raise ValueError(
                f"the rule for {type(layer).__name__} must return gradients of shape {(len(a), *parameter.shape)} for "
                f"{name!r}, one for each example, got {'none' if shape is None else shape}"
            )
    return [layers.Direct(parameter, gradients[name]) for name, parameter in own.items()]


def by_vmap(layer: nn.Module, inputs: torch.Tensor, gradients: torch.Tensor) -> dict[str, torch.Tensor]:
    """Find the gradients of a layer without a rule: torch pulls each example's gradient back through a pass of its own."""

    def pulled_back(parameters, x, g):
        return (functional_call(layer, parameters, (x[None],))[0] * g).sum()

    own = {name: parameter.detach() for name, parameter in trained(layer).items()}
    try:
        return vmap(grad(pulled_back), in_dims=(None, 0, 0))(own, inputs, gradients)
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        says = "it draws random numbers" if "random" in str(error) else str(error).splitlines()[0]
        raise ValueError(
            f"book-keeping cannot take the parameters {sorted(own)} of {type(layer).__name__} by vmap: {says}. Put them "
            "into a small layer of their own, register a rule for it with dpsgd.layer_rule, or use engine='loop'"
        ) from error


def trained(layer: nn.Module) -> dict[str, nn.Parameter]:
    """Return {name: parameter} of those that are the layer's own, not an inner layer's, and are trained."""
    return {name: one for name, one in layer._parameters.items() if one is not None and one.requires_grad}
