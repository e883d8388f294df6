"""The clipped sum: each example's gradient, shortened to at most clip_norm, added up. Three engines, one result.

"loop" takes one example at a time and is the definition; "vmap" lets torch.func do the same for all at once;
"book-keeping" never writes most of the gradients down (see layers.py) and is the one to train with.
"""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from dpcourse.base import validate
from dpcourse.dpsgd import layers, own_layers
from dpcourse.dpsgd.precision import PRECISIONS, full_precision, passes
from dpcourse.dpsgd.refusals import WAY_OUT, refuse_if_not_private, trainable

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # of outputs and targets: one number per example


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

    @property
    def counted(self) -> torch.Tensor:
        """(batch,), bool: whose gradient is finite, and so is in the sum."""
        return torch.isfinite(self.norms)


def clipped_sum(
    model: nn.Module,
    loss: Loss,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    clip_norm: float,
    engine: str = "book-keeping",
    precision: str = "float32",
) -> Clipped:
    """Return the sum over examples of their gradients, each shortened to length clip_norm if it is longer.

    A gradient that is not finite counts as 0, as an empty row does: to stop for it would tell whose row is in the data.

    model: torch.nn.Module, first dimension of inputs and outputs, of each layer too: the examples; loss(outputs,
    targets): one number per example, shape (batch,); inputs, targets: tensors of the same first dimension, which
    may be 0; clip_norm: > 0; engine: "loop", "vmap" or "book-keeping"; precision: "float32", "tf32" or "bf16", of
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
    inputs: torch.Tensor,
    targets: torch.Tensor,
    clip_norm: float,
    engine: str,
    precision: str,
) -> Clipped:
    """Do as clipped_sum, for a model and an engine that were tried before: the trial takes longer than a small step.

    parameters: what refusals.trainable says of the model, for which the caller has a use too.
    """
    refuse_unknown(engine, precision)
    if isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
        parameters = trainable(model)
    if len(inputs) != len(targets):
        raise ValueError(f"targets must have one entry per example ({len(inputs)}), got {len(targets)}")
    if len(inputs) == 0:
        return _nothing(parameters, inputs)
    with passes(precision, inputs.device) as forward:
        found = ENGINES[engine](model, parameters, _checked(loss), inputs, targets, clip_norm, forward)
    if torch.isfinite(found.norms.sum()):  # for which a GPU is waited for, once
        return found
    counted = found.counted
    if counted.all():  # only their sum is too large a number
        return found
    norms, losses, outputs = found.norms, found.losses, found.outputs
    del found  # its sums: there may be no memory for them twice
    rest = clipped_sum_of(model, parameters, loss, inputs[counted], targets[counted], clip_norm, engine, precision)
    return Clipped(rest.sums, norms.masked_scatter(counted, rest.norms), losses, outputs)


def refuse_unknown(engine: str, precision: str) -> None:
    """Raise ValueError for a name that is neither an engine's nor a precision's."""
    for name, value, known in (("engine", engine, ENGINES), ("precision", precision, PRECISIONS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {sorted(known)}, got {value!r}")


def factors(norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """Return min(1, clip_norm / norm) for each example; NaN where the norm is."""
    return norms.clamp(min=clip_norm).reciprocal_().mul_(clip_norm)


def _nothing(parameters, inputs):
    sums = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    none = torch.zeros(0, device=inputs.device)
    return Clipped(sums, none, none, none)


def _checked(loss):
    def one_per_example(outputs, targets):
        losses = loss(outputs, targets)
        if losses.shape != targets.shape[:1]:
            raise ValueError(
                f"loss must return one number per example, shape ({len(targets)},), got shape {tuple(losses.shape)}: "
                "with torch's losses, say reduction='none'"
            )
        return losses

    return one_per_example


def _loop(model, parameters, loss, inputs, targets, clip_norm, forward):
    sums = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
    columns = []
    for x, y in zip(inputs.split(1), targets.split(1), strict=True):
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
        outputs = model(x)
        losses = loss(outputs, y)
    gradients = torch.autograd.grad(losses.sum(), parameters, allow_unused=True, materialize_grads=True)
    return gradients, losses.detach(), outputs.detach()


def _vmap(model, parameters, loss, inputs, targets, clip_norm, forward):
    from torch.func import functional_call, grad, vmap

    def one_loss(values, x, y):
        with forward():
            output = functional_call(model, values, (x[None],))
            one = loss(output, y[None])
        return one[0], (one[0], output[0])

    values = {name: parameter.detach() for name, parameter in parameters.items()}
    per_example = vmap(grad(one_loss, has_aux=True), in_dims=(None, 0, 0), randomness="different")
    gradients, (losses, outputs) = per_example(values, inputs, targets)
    shares = [layers.Direct(parameter, gradients[name]) for name, parameter in parameters.items()]
    with full_precision(inputs.device):
        return _weigh(parameters, shares, clip_norm, losses, outputs)


def _book_keeping(model, parameters, loss, inputs, targets, clip_norm, forward):
    with _watched(model) as calls, forward():
        outputs = model(inputs)
        losses = loss(outputs, targets)
    gradients = torch.autograd.grad(losses, [call.edge for call in calls], torch.ones_like(losses), allow_unused=True)
    with torch.no_grad(), full_precision(inputs.device):
        shares = [share for call, g in zip(calls, gradients, strict=True) for share in call.shares(g, len(inputs))]
        shares = layers.separate(shares)
        layers.keep_within(shares, layers.KEPT)
        return _weigh(parameters, shares, clip_norm, losses.detach(), outputs.detach())


def _weigh(parameters, shares, clip_norm, losses, outputs):
    """Clip and sum what is known of all examples, share by share; a parameter in no share was not used."""
    norms = layers.square_norms(shares).sqrt_()
    weights = factors(norms, clip_norm)
    sums = {}
    for share in shares:
        sums.update(zip(share.parameters, share.weighted_sums(weights), strict=True))
    sums = {name: sums[p] if p in sums else torch.zeros_like(p) for name, p in parameters.items()}
    return Clipped(sums, norms, losses, outputs)


ENGINES = {"loop": _loop, "vmap": _vmap, "book-keeping": _book_keeping}


@dataclass(frozen=True)
class _Call:
    """One call of a layer: its inputs, and the place in the graph where the gradient of its outputs will arrive.

    The place is asked for during the call: an activation that works in place would move the outputs to another one.
    """

    layer: nn.Module
    inputs: torch.Tensor
    version: int
    edge: torch.autograd.graph.GradientEdge

    def shares(self, g: torch.Tensor | None, examples: int) -> list[layers.Share]:
        """Return what this call adds to the gradients. g: the gradient of its outputs, None where the loss ignores these."""
        if g is None:
            return []
        if len(self.inputs) != examples:
            raise ValueError(
                f"{self.layer} takes inputs of shape {tuple(self.inputs.shape)}, whose first dimension is not that of "
                f"the {examples} examples: put the examples first, or use engine='vmap'"
            )
        if self.inputs._version != self.version:
            raise ValueError(
                f"the inputs of {self.layer} were changed in place afterwards: use inplace=False, and no +="
            )
        return own_layers.shares(self.layer, self.inputs, g)


@contextlib.contextmanager
def _watched(model):
    """The list of calls of layers that are trained, filled while the block runs."""
    calls = []

    def note(layer, arguments, named, output):
        inputs, *more = itertools.chain(arguments, named.values())
        if more or not (isinstance(inputs, torch.Tensor) and isinstance(output, torch.Tensor)):
            raise ValueError(
                f"{layer} is trained, and book-keeping knows only layers that take one tensor to one tensor: {WAY_OUT}"
            )
        if not output.requires_grad:
            raise ValueError(
                f"{layer} is trained, and called where gradients are not recorded: freeze it with "
                "requires_grad_(False), or call it outside no_grad, a checkpoint with use_reentrant=False"
            )
        calls.append(_Call(layer, inputs.detach(), inputs._version, get_gradient_edge(output)))

    trained = [layer for layer in model.modules() if own_layers.trained(layer)]
    hooks = [layer.register_forward_hook(note, prepend=True, with_kwargs=True) for layer in trained]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
