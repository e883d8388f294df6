"""Try a model on two people before it is trained: what mixes them, or keeps something of them, cannot be private."""

import torch

from dpcourse.dpsgd import generators
from dpcourse.dpsgd.clipping import Loss, clipped_sum
from dpcourse.dpsgd.data import Data

NEVER_CLIPS = 1e30  # a clip_norm that would not hide how long gradients are


@torch.no_grad()
def refuse_if_it_mixes(model: torch.nn.Module, data: Data) -> None:
    """Raise ValueError if what the model says of one person, or what it keeps, depends on the other in the batch."""
    inputs = data.train_inputs
    said, kept = zip(*(_said_and_kept(model, inputs[[0, other]]) for other in (0, -1)), strict=True)
    if not torch.allclose(said[0], said[1], rtol=1e-4, atol=1e-6, equal_nan=True):
        raise ValueError(
            "what the model says of one example depends on the others in the batch, which no noise makes private: look "
            "for means over the batch in its forward"
        )
    changed = [name for name in kept[0] if not torch.equal(kept[0][name], kept[1][name])]
    if changed:
        raise ValueError(f"the model keeps something of the data in {changed[0]!r}, and no noise protects that")


def _said_and_kept(model, inputs):
    """The output for the first of the inputs, and the buffers afterwards; the same random numbers each time."""
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with generators.borrowed(inputs.device, seed=0):
        said = model(inputs)[0]
    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    for name, buffer in model.named_buffers():
        buffer.copy_(before[name])
    return said, kept


def refuse_if_it_disagrees(model: torch.nn.Module, loss: Loss, data: Data, engine: str) -> None:
    """Raise ValueError if the engine and the loop of one differ on two people: the loss mixes them, or a layer hides."""
    inputs, targets = data.train_inputs[:2], data.train_targets[:2]
    model.eval()  # dropout would differ by chance
    fast, slow = (clipped_sum(model, loss, inputs, targets, NEVER_CLIPS, kind) for kind in (engine, "loop"))
    model.train()
    longest = float(slow.norms.max())
    for name in slow.sums:
        if not torch.allclose(fast.sums[name], slow.sums[name], rtol=1e-2, atol=1e-3 * longest):
            raise ValueError(
                f"engine {engine!r} and the loop of one disagree about {name!r}: either the model mixes the examples of "
                "a batch, which no noise makes private, or it uses this parameter outside its layer; then try engine='vmap'"
            )
