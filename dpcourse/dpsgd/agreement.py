"""A trial of an engine on two people: the engine must find what the loop finds, which is the definition."""

import contextlib
from collections.abc import Iterator

import torch

from dpcourse.dpsgd.clipping import Loss, clipped_sum_of
from dpcourse.dpsgd.refusals import trainable

NEVER_CLIPS = 1e30  # a clip_norm that would not hide how long gradients are


@contextlib.contextmanager
def evaluated(model: torch.nn.Module) -> Iterator[None]:
    """The model without dropout while the block runs; afterwards each of its layers is in the mode of before."""
    modes = {layer: layer.training for layer in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for layer, training in modes.items():
            layer.training = training


def refuse_if_it_disagrees(
    model: torch.nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor, engine: str
) -> None:
    """Raise ValueError if engine and loop differ on the first two people: the loss mixes them, a layer hides, a rule errs.

    Gradients that are not finite, which count as 0, tell nothing of this.
    """
    inputs, targets, parameters = inputs[:2], targets[:2], trainable(model)
    with evaluated(model):  # dropout would differ by chance
        fast, slow = (
            clipped_sum_of(model, parameters, loss, inputs, targets, NEVER_CLIPS, kind, "float32")
            for kind in (engine, "loop")
        )
    longest = float(slow.norms.max())
    if not float(slow.norms.sum()) < float("inf"):
        return
    for name in slow.sums:
        if not torch.allclose(fast.sums[name], slow.sums[name], rtol=1e-2, atol=1e-3 * longest):
            raise ValueError(
                f"engine {engine!r} and the loop of one disagree about {name!r}: either the model mixes the examples of "
                "a batch, which no noise makes private, or it uses this parameter outside its layer (then try "
                "engine='vmap'), or a rule of layer_rule errs"
            )
