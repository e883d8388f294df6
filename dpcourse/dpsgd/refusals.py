"""Models that cannot be trained privately, or not by an engine: which layer it is, why, and a way out."""

import torch
from torch import nn

from dpcourse.dpsgd import layers, own_layers
from dpcourse.dpsgd.watching import WAY_OUT

MIXES = nn.modules.batchnorm._BatchNorm
TABLES = nn.Embedding, nn.EmbeddingBag
BY_VMAP_ONLY = (  # their parameters are not used by a call that takes one tensor to one tensor
    *(nn.MultiheadAttention, nn.Bilinear, nn.EmbeddingBag),
    nn.utils.parametrize.ParametrizationList,
)


def refuse_if_not_private(model: nn.Module, engine: str = "book-keeping") -> None:
    """Raise ValueError, with the layer's name and a way out, if a layer mixes examples or the engine does not know it.

    So it does for a layer that changes with the data outside the noise, for parameters in half precision, in which
    neither norms nor noise are what they should be, and where nothing is trained.

    >>> refuse_if_not_private(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    Traceback (most recent call last):
    ValueError: layer '1' (BatchNorm1d) mixes the examples of a batch, so no example has a gradient of its own to clip: put torch.nn.GroupNorm in its place, as dpsgd.without_batch_norm(model) does; or, to keep what it has learned, freeze it with requires_grad_(False) and eval()
    """
    for name, layer in model.named_modules():
        why = _not_private(layer) or _not_known(layer, engine)
        if why:
            raise ValueError(f"layer {name!r} ({type(layer).__name__}) {why}")
    for name, parameter in trainable(model).items():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise ValueError(
                f"parameter {name!r} must be float32 or float64, got {parameter.dtype}: "
                "for faster passes leave it so and use precision='bf16'"
            )
    if not trainable(model):
        raise ValueError("model must have a parameter that is trained, got none: requires_grad_(True) lets it be")


def _not_private(layer):
    """Return why nobody can train with this layer privately; empty where one can."""
    if isinstance(layer, MIXES):
        if is_still(layer):
            return ""
        return (
            "mixes the examples of a batch, so no example has a gradient of its own to clip: "
            "put torch.nn.GroupNorm in its place, as dpsgd.without_batch_norm(model) does; or, to keep what it has "
            "learned, freeze it with requires_grad_(False) and eval()"
        )
    if getattr(layer, "track_running_stats", False):
        return "keeps running statistics of the data, and no noise protects them: set track_running_stats=False"
    if isinstance(layer, TABLES) and layer.max_norm is not None:
        return "shortens the rows that the data uses, and no noise protects that: leave out max_norm"
    return ""


def refuse_mixing(model: nn.Module) -> None:
    """Raise ValueError where a BatchNorm that was frozen was put back into the mode of training: asked at every step."""
    for layer in model.modules():
        if isinstance(layer, MIXES) and not is_still(layer):
            refuse_if_not_private(model)


def is_still(layer: nn.Module) -> bool:
    """Return whether a BatchNorm is frozen, and uses the statistics it has: then it mixes nothing, and learns nothing."""
    return not layer.training and layer.running_mean is not None and not own_layers.trained(layer)


def _not_known(layer, engine):
    """Return why the engine cannot train this layer; empty where it can."""
    own = set(own_layers.trained(layer))
    if (
        own
        and isinstance(layer, nn.RNNBase)
        and (engine == "book-keeping" or layer.mode != "LSTM")
        and engine != "loop"
    ):
        able = "engine='vmap', or 'loop'" if layer.mode == "LSTM" else "engine='loop', or an LSTM and engine='vmap'"
        return f"is recurrent, which {engine} cannot train: use {able}"
    if not own or engine != "book-keeping":
        return ""
    if isinstance(layer, BY_VMAP_ONLY) and type(layer) not in own_layers.RULES:
        known = ", ".join(kind.__name__ for kind in layers.RULES)
        return f"has parameters, and book-keeping knows only {known}, and layers that take one tensor to one tensor: {WAY_OUT}"
    if type(layer) in layers.RULES and own - {"weight", "bias"}:
        return f"has the parameters {sorted(own)}, and book-keeping knows only weight and bias: {WAY_OUT}"
    if getattr(layer, "scale_grad_by_freq", False):
        return "divides gradients by frequencies, which book-keeping does not: leave out scale_grad_by_freq"
    return ""


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return {name: parameter} of what is trained."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
