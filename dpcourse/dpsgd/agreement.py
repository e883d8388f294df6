"""A trial of an engine on two people: the engine must find what the loop finds, which is the definition."""

import contextlib
from collections.abc import Iterator

import torch

from dpcourse.dpsgd import rows
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


def train(model: torch.nn.Module) -> None:
    """Put a model into the mode of training, but for what is frozen: a part of which no parameter is trained stays as it is.

    >>> frozen = torch.nn.BatchNorm1d(2).requires_grad_(False)
    >>> model = torch.nn.Sequential(frozen, torch.nn.Dropout(), torch.nn.Linear(2, 1)).eval()
    >>> train(model)
    >>> [layer.training for layer in model]
    [False, True, True]
    """
    weights = list(model.parameters()) + [buffer for buffer in model.buffers() if buffer is not None]
    if weights and not any(weight.requires_grad for weight in weights):
        return
    model.training = True
    for layer in model.children():
        train(layer)


def refuse_if_it_disagrees(
    model: torch.nn.Module, loss: Loss, inputs: rows.Rows, targets: rows.Rows, engine: str
) -> None:
    """Raise ValueError if engine and loop differ on the first two people: the loss mixes them, a layer hides, a rule errs.

    Gradients that are not finite, which count as 0, tell nothing of this.
    """
    (inputs, targets), parameters = rows.taken((inputs, targets), slice(0, 2)), trainable(model)
    with evaluated(model):  # dropout would differ by chance
        _refuse_if_the_loss_mixes(model, loss, inputs, targets)
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
    if not torch.allclose(fast.norms, slow.norms, rtol=1e-2, atol=1e-3 * longest):
        raise ValueError(
            f"engine {engine!r} and the loop of one disagree about how long the gradient of each example is: either the "
            "model mixes the examples of a batch, which no noise makes private, or it puts something else in the place "
            "of the examples in a layer (then try engine='vmap'), or a rule of layer_rule errs"
        )


@torch.no_grad()
def _refuse_if_the_loss_mixes(model, loss, inputs, targets):
    """Raise ValueError if the loss of the first person depends on the second, the outputs being the same."""
    outputs = rows.said(model, inputs)
    both, alone = loss(outputs, targets), loss(outputs[:1], rows.taken(targets, slice(0, 1)))
    if both.shape == (len(outputs),) and not torch.allclose(both[:1], alone, rtol=1e-3, atol=1e-6, equal_nan=True):
        shapes = [tuple(part.shape) for part in rows.tree_leaves((outputs, targets))]
        raise ValueError(
            "the loss of one example depends on the others in the batch, which no noise makes private: look for a mean "
            f"over the batch, or for outputs and targets that broadcast, of shapes {' and '.join(map(str, shapes))}"
        )
