"""The clipped sum: each example's gradient, shortened to at most clip_norm, added up. Three engines, one result.

"loop" takes one example at a time and is the definition; "vmap" lets torch.func do the same for all at once;
"book-keeping" never writes most of the gradients down (see layers.py) and is the one to train with.
"""

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from dpcourse.base import validate
from dpcourse.dpsgd import layers, rows, stacks
from dpcourse.dpsgd.precision import PRECISIONS, full_precision, passes
from dpcourse.dpsgd.refusals import refuse_if_not_private, refuse_mixing, trainable
from dpcourse.dpsgd.watching import watched

Loss = Callable[[torch.Tensor, rows.Rows], torch.Tensor]  # of outputs and targets: one number per example


@dataclass(frozen=True)
class Clipped:
    """What clipped_sum found.

    sums: {parameter's name: sum of the clipped gradients, in the parameter's shape}; norms: (batch,), the lengths
    before clipping, infinite or NaN where a gradient counted as 0; losses: (batch,); outputs: the model's, detached.
    """

    sums: dict[str, torch.Tensor]
    norms: torch.Tensor
    losses: torch.Tensor
    outputs: torch.Tensor

    @functools.cached_property
    def counted(self) -> torch.Tensor:
        """(batch,), bool: whose gradient is finite, and so is in the sum."""
        return torch.isfinite(self.norms)


def clipped_sum(
    model: nn.Module,
    loss: Loss,
    inputs: rows.Rows,
    targets: rows.Rows,
    clip_norm: float,
    engine: str = "book-keeping",
    precision: str = "float32",
) -> Clipped:
    """Return the sum over examples of their gradients, each shortened to length clip_norm if it is longer.

    A gradient that is not finite counts as 0, as an empty row does: to stop for it would tell whose row is in the data.
    What this finds is not compared with the loop of one, as fit and an optimizer's first accumulate compare it.

    model: torch.nn.Module, first dimension of inputs and outputs, of each layer too: the examples; loss(outputs,
    targets): one number per example, shape (batch,); inputs, targets: tensors of the same first dimension, which may be
    0, or several in a tuple or dict, which the model is given as its arguments; clip_norm: > 0; engine: "loop", "vmap" or "book-keeping"; precision: "float32", "tf32" or "bf16", of
    forward and backward pass (norms and sums are in full precision always). ValueError for a layer that cannot be
    private or is not known, and for a loss of another shape. Source: Abadi et al. (2016), algorithm 1.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> inputs, targets = torch.tensor([[3.0, 4.0], [0.3, 0.4]]), torch.zeros(2)
    >>> clipped = clipped_sum(model, lambda outputs, targets: outputs[:, 0] - targets, inputs, targets, clip_norm=1.0)
    >>> clipped.sums["weight"], clipped.norms
    (tensor([[0.9000, 1.2000]]), tensor([5.0000, 0.5000]))
    """
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    refuse_if_not_private(model, engine)
    return clipped_sum_of(model, trainable(model), loss, inputs, targets, clip_norm, engine, precision)


def clipped_sum_of(
    model: nn.Module,
    parameters: dict[str, nn.Parameter],
    loss: Loss,
    inputs: rows.Rows,
    targets: rows.Rows,
    clip_norm: float,
    engine: str,
    precision: str,
) -> Clipped:
    """Do as clipped_sum, for a model and an engine that were tried before: the trial takes longer than a small step.

    parameters: what refusals.trainable says of the model, for which the caller has a use too.
    """
    refuse_unknown(engine, precision)
    inside = unwrapped(model)
    if inside is not model:
        model, parameters = inside, trainable(inside)
    refuse_mixing(model)
    examples = rows.count(inputs)
    if rows.count(targets) != examples:
        raise ValueError(f"targets must have one entry per example ({examples}), got {rows.count(targets)}")
    device = rows.device_of(inputs)
    if examples == 0:
        return _nothing(parameters, device)
    with passes(precision, device) as forward:
        found = ENGINES[engine](model, parameters, _checked(loss), inputs, targets, clip_norm, forward)
    if torch.isfinite(found.norms.sum()):  # for which a GPU is waited for, once
        return found
    counted = found.counted
    if counted.all():  # only their sum is too large a number
        return found
    norms, losses, outputs = found.norms, found.losses, found.outputs
    del found  # its sums: there may be no memory for them twice
    inputs, targets = rows.taken((inputs, targets), counted)
    rest = clipped_sum_of(model, parameters, loss, inputs, targets, clip_norm, engine, precision)
    return Clipped(rest.sums, norms.masked_scatter(counted, rest.norms), losses, outputs)


def unwrapped(model: nn.Module) -> nn.Module:
    """Return the model inside DistributedDataParallel or torch.compile, of which gradients per example make no use."""
    if isinstance(model, nn.parallel.DistributedDataParallel):
        return unwrapped(model.module)
    inside = model._modules.get("_orig_mod")
    return model if inside is None else unwrapped(inside)


def refuse_unknown(engine: str, precision: str) -> None:
    """Raise ValueError for a name that is neither an engine's nor a precision's."""
    for name, value, known in (("engine", engine, ENGINES), ("precision", precision, PRECISIONS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {sorted(known)}, got {value!r}")


def factors(norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """Return min(1, clip_norm / norm) for each example; NaN where the norm is."""
    return norms.clamp(min=clip_norm).reciprocal_().mul_(clip_norm)


def _nothing(parameters, device):
    sums = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    none = torch.zeros(0, device=device)
    return Clipped(sums, none, none, none)


def _checked(loss):
    def one_per_example(outputs, targets):
        losses, examples = loss(outputs, targets), len(outputs)
        if not isinstance(losses, torch.Tensor) or losses.shape != (examples,):
            raise ValueError(_why_not_one_each(losses, outputs, targets))
        return losses

    return one_per_example


def _why_not_one_each(losses, outputs, targets):
    """Return what a loss gives in the place of one number per example, and the way out."""
    if not isinstance(losses, torch.Tensor):
        return f"loss must return a tensor with one number per example, got {type(losses).__name__}"
    got = f"loss must return one number per example, shape ({len(outputs)},), got shape {tuple(losses.shape)}"
    if losses.ndim == 0:
        return f"{got}: with torch's losses, say reduction='none'"
    if losses.shape[0] == len(outputs) and losses[0].numel() == 1:
        return f"{got}: .flatten() leaves out the dimensions of length 1"
    shapes = f"outputs have shape {tuple(outputs.shape)}"
    if isinstance(targets, torch.Tensor):
        shapes += f" and targets {tuple(targets.shape)}"
    return f"{got}: {shapes}; add up what belongs to one example, as .flatten(1).sum(1) does"


def _loop(model, parameters, loss, inputs, targets, clip_norm, forward):
    sums = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    columns = []
    for x, y in rows.split((inputs, targets), 1):
        gradients, losses, outputs = _gradients_of_one(model, list(parameters.values()), loss, x, y, forward)
        norms = torch.stack([gradient.norm() for gradient in gradients]).norm()[None]
        shortened = factors(norms, clip_norm)
        for total, gradient in zip(sums.values(), gradients, strict=True):
            total += shortened * gradient
        columns.append((norms, losses, outputs))
    return Clipped(sums, *map(torch.cat, zip(*columns, strict=True)))


def _gradients_of_one(model, parameters, loss, x, y, forward):
    """Return the gradient to each trained parameter, the loss and the outputs of a batch of one example."""
    with forward():
        outputs = rows.said(model, x)
        losses = loss(outputs, y)
    gradients = torch.autograd.grad(losses.sum(), parameters, allow_unused=True, materialize_grads=True)
    return gradients, losses.detach(), outputs.detach()


def _vmap(model, parameters, loss, inputs, targets, clip_norm, forward):
    from torch.func import functional_call, grad, vmap

    def one_loss(values, x, y):
        def one(*inputs, **named):
            return functional_call(model, values, inputs, named)

        x, y = rows.each(lambda part: part[None], (x, y))
        with forward():
            output = rows.said(one, x)
            losses = loss(output, y)
        return losses[0], (losses[0], output[0])

    values = {name: parameter.detach() for name, parameter in parameters.items()}
    per_example = vmap(grad(one_loss, has_aux=True), in_dims=(None, 0, 0), randomness="different")
    gradients, (losses, outputs) = per_example(values, inputs, targets)
    shares = [layers.Direct(parameter, gradients[name]) for name, parameter in parameters.items()]
    with full_precision(losses.device):
        return _weigh(parameters, shares, clip_norm, losses, outputs)


def _book_keeping(model, parameters, loss, inputs, targets, clip_norm, forward):
    shares, losses, outputs = shares_of(model, loss, inputs, targets, forward)
    with torch.no_grad(), full_precision(losses.device):
        return _weigh(parameters, shares, clip_norm, losses, outputs)


def shares_of(
    model: nn.Module, loss: Loss, inputs: rows.Rows, targets: rows.Rows, forward: Callable
) -> tuple[list[layers.Share], torch.Tensor, torch.Tensor]:
    """Return what book-keeping knows of each example's gradients, the losses, and what the model says."""
    if forward is contextlib.nullcontext and stacks.takes(model, inputs):
        assert isinstance(model, nn.Sequential)  # as takes says
        shares, losses, outputs = stacks.shares(model, loss, inputs, targets)
    else:
        with forward():
            outputs, uses = watched(model, inputs)
            losses = loss(outputs, targets)
        edges = [use.edge for use in uses]
        gradients = torch.autograd.grad(losses, edges, torch.ones_like(losses), allow_unused=True)
        with torch.no_grad(), full_precision(losses.device):
            found = [use.shares(g, len(losses)) for use, g in zip(uses, gradients, strict=True) if g is not None]
            shares = layers.separate([share for several in found for share in several])
            layers.keep_within(shares, layers.KEPT)
    return shares, losses.detach(), outputs.detach()


def _weigh(parameters, shares, clip_norm, losses, outputs):
    """Clip and sum what is known of all examples."""
    norms = layers.square_norms(shares).sqrt_()
    return Clipped(weighted(parameters, shares, factors(norms, clip_norm)), norms, losses, outputs)


def weighted(
    parameters: dict[str, nn.Parameter], shares: list[layers.Share], weights: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return the weighted sums of the gradients, share by share; a parameter in no share was not used."""
    sums: dict[torch.Tensor, torch.Tensor] = {}
    for share in shares:
        sums.update(zip(share.parameters, share.weighted_sums(weights), strict=True))
    return {name: sums[p] if p in sums else torch.zeros_like(p) for name, p in parameters.items()}


ENGINES = {"loop": _loop, "vmap": _vmap, "book-keeping": _book_keeping}
