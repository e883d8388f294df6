"""The clipped sum: each example's gradient, shortened to at most clip_norm, added up. Three engines, one result.

"loop" takes one example at a time and is the definition; "vmap" lets torch.func do the same for all at once;
"book-keeping" never writes most of the gradients down (see layers.py) and is the one to train with.
"""

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from dpcourse import validate
from dpcourse.dpsgd import layers, own_layers

MIXES = nn.modules.batchnorm._BatchNorm
TABLES = nn.Embedding, nn.EmbeddingBag
BY_VMAP_ONLY = (  # their parameters are not used by a call that takes one tensor to one tensor
    *(nn.MultiheadAttention, nn.Bilinear, nn.EmbeddingBag, nn.ParameterList, nn.ParameterDict),
    nn.utils.parametrize.ParametrizationList,
)
PRECISIONS = ["float32", "tf32", "bf16"]
_SWITCHES: tuple = (  # of TF32, from the most general to the most special
    torch.backends,
    torch.backends.cudnn,
    torch.backends.cuda.matmul,
    torch.backends.cudnn.conv,  # type: ignore[attr-defined]
    torch.backends.cudnn.rnn,
)
WAY_OUT = "freeze it with requires_grad_(False), or use engine='vmap', or 'loop' if it takes one example at a time"
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # of outputs and targets: one number per example


@dataclass(frozen=True)
class Clipped:
    """What clipped_sum found.

    sums: {parameter's name: sum of the clipped gradients, in the parameter's shape}; norms: (batch,), the lengths
    before clipping; losses: (batch,); outputs: the model's, detached.
    """

    sums: dict[str, torch.Tensor]
    norms: torch.Tensor
    losses: torch.Tensor
    outputs: torch.Tensor


def clipped_sum(
    model: nn.Module,
    loss: Loss,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    clip_norm: float,
    engine: str = "book-keeping",
    precision: str = "float32",
) -> Clipped:
    """The sum over examples of their gradients, each shortened to length clip_norm if it is longer.

    model: torch.nn.Module, first dimension of inputs and outputs, of each layer too: the examples; loss(outputs,
    targets): one number per example, shape (batch,); inputs, targets: tensors of the same first dimension, which
    may be 0; clip_norm: > 0; engine: "loop", "vmap" or "book-keeping"; precision: "float32", "tf32" or "bf16", of
    forward and backward pass (norms and sums are in full precision always). ValueError for a layer that cannot be
    private or is not known, for a loss of another shape, and for a gradient that is not finite. Source: Abadi et
    al. (2016), algorithm 1.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> inputs, targets = torch.tensor([[3.0, 4.0], [0.3, 0.4]]), torch.zeros(2)
    >>> clipped = clipped_sum(model, lambda outputs, targets: outputs[:, 0] - targets, inputs, targets, clip_norm=1.0)
    >>> clipped.sums["weight"], clipped.norms
    (tensor([[0.9000, 1.2000]]), tensor([5.0000, 0.5000]))
    """
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    refuse_if_not_private(model, engine)
    clipped = clipped_sum_of(model, loss, inputs, targets, clip_norm, engine, precision)
    refuse_if_not_finite(clipped.norms)
    return clipped


def clipped_sum_of(
    model: nn.Module,
    loss: Loss,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    clip_norm: float,
    engine: str,
    precision: str,
) -> Clipped:
    """clipped_sum, for a model and an engine that were looked at before: looking takes longer than a small step.

    Whether all gradients are finite is left for the caller to ask, who may do so once for several parts of a batch.
    """
    refuse_unknown(engine, precision)
    if isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
    if len(inputs) != len(targets):
        raise ValueError(f"targets must have one entry per example ({len(inputs)}), got {len(targets)}")
    if len(inputs) == 0:
        return _nothing(model, inputs)
    with passes(precision, inputs.device) as forward:
        return ENGINES[engine](model, _checked(loss), inputs, targets, clip_norm, forward)


def refuse_unknown(engine: str, precision: str) -> None:
    """Raise ValueError for a name that is neither an engine's nor a precision's."""
    for name, value, known in (("engine", engine, sorted(ENGINES)), ("precision", precision, PRECISIONS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {known}, got {value!r}")


def refuse_if_not_private(model: nn.Module, engine: str = "book-keeping") -> None:
    """Raise ValueError, with the layer's name and a way out, if a layer mixes examples or the engine does not know it.

    So it does for a layer that changes with the data outside the noise, for parameters in half precision, in which
    neither norms nor noise are what they should be, and where nothing is trained.

    >>> refuse_if_not_private(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    Traceback (most recent call last):
    ValueError: layer '1' (BatchNorm1d) mixes the examples of a batch, so no example has a gradient of its own to clip: put torch.nn.GroupNorm in its place, as dpsgd.without_batch_norm(model) does
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
    """Why nobody can train with this layer privately; empty where one can."""
    if isinstance(layer, MIXES):
        return (
            "mixes the examples of a batch, so no example has a gradient of its own to clip: "
            "put torch.nn.GroupNorm in its place, as dpsgd.without_batch_norm(model) does"
        )
    if getattr(layer, "track_running_stats", False):
        return "keeps running statistics of the data, and no noise protects them: set track_running_stats=False"
    if isinstance(layer, TABLES) and layer.max_norm is not None:
        return "shortens the rows that the data uses, and no noise protects that: leave out max_norm"
    return ""


def _not_known(layer, engine):
    """Why the engine cannot train this layer; empty where it can."""
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
    """{name: parameter} of what is trained."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def factors(norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """min(1, clip_norm / norm) for each example; NaN where the norm is."""
    return clip_norm / norms.clamp(min=clip_norm)


def refuse_if_not_finite(norms: torch.Tensor) -> None:
    """Raise ValueError if the norm of an example's gradient is infinite or NaN."""
    if not math.isfinite(norms.sum()):
        wrong = int((~torch.isfinite(norms)).sum())
        if wrong:
            raise ValueError(f"the gradients of {wrong} of {len(norms)} examples are not finite: a smaller lr may help")


def _nothing(model, inputs):
    sums = {name: torch.zeros_like(parameter) for name, parameter in trainable(model).items()}
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


def _loop(model, loss, inputs, targets, clip_norm, forward):
    sums = {name: torch.zeros_like(parameter) for name, parameter in trainable(model).items()}
    columns = []
    for x, y in zip(inputs.split(1), targets.split(1), strict=True):
        gradients, losses, outputs = _gradients_of_one(model, loss, x, y, forward)
        norms = torch.stack([gradient.norm() for gradient in gradients]).norm()[None]
        shortened = factors(norms, clip_norm)
        for total, gradient in zip(sums.values(), gradients, strict=True):
            total += shortened * gradient
        columns.append((norms, losses, outputs))
    return Clipped(sums, *map(torch.cat, zip(*columns, strict=True)))


def _gradients_of_one(model, loss, x, y, forward):
    """Of a batch of one: the gradient to each trained parameter, the loss and the outputs."""
    with forward():
        outputs = model(x)
        losses = loss(outputs, y)
    parameters = list(trainable(model).values())
    gradients = torch.autograd.grad(losses.sum(), parameters, allow_unused=True, materialize_grads=True)
    return gradients, losses.detach(), outputs.detach()


def _vmap(model, loss, inputs, targets, clip_norm, forward):
    from torch.func import functional_call, grad, vmap

    def one_loss(parameters, x, y):
        with forward():
            output = functional_call(model, parameters, (x[None],))
            one = loss(output, y[None])
        return one[0], (one[0], output[0])

    parameters = {name: parameter.detach() for name, parameter in trainable(model).items()}
    per_example = vmap(grad(one_loss, has_aux=True), in_dims=(None, 0, 0), randomness="different")
    gradients, (losses, outputs) = per_example(parameters, inputs, targets)
    shares = [layers.Direct(parameter, gradients[name]) for name, parameter in trainable(model).items()]
    with full_precision(inputs.device):
        return _weigh(model, shares, clip_norm, losses, outputs)


def _book_keeping(model, loss, inputs, targets, clip_norm, forward):
    with _watched(model) as calls, forward():
        outputs = model(inputs)
        losses = loss(outputs, targets)
    gradients = torch.autograd.grad(losses.sum(), [call.edge for call in calls], allow_unused=True)
    with torch.no_grad(), full_precision(inputs.device):
        shares = [share for call, g in zip(calls, gradients, strict=True) for share in call.shares(g, len(inputs))]
        shares = layers.separate(shares)
        layers.keep_within(shares, layers.KEPT)
        return _weigh(model, shares, clip_norm, losses.detach(), outputs.detach())


def _weigh(model, shares, clip_norm, losses, outputs):
    """Clip and sum what is known of all examples, share by share; a parameter in no share was not used."""
    norms = layers.square_norms(shares).sqrt_()
    weights = factors(norms, clip_norm)
    sums = {}
    for share in shares:
        sums.update(zip(share.parameters, share.weighted_sums(weights), strict=True))
    sums = {name: sums[p] if p in sums else torch.zeros_like(p) for name, p in trainable(model).items()}
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
        """What this call adds to the gradients; g: the gradient of its outputs, None where the loss ignores them."""
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


@contextlib.contextmanager
def passes(precision: str, device: torch.device | str) -> Iterator[Callable]:
    """Let forward and backward passes run at a precision; yields the context for the forward pass."""
    autocast = functools.partial(torch.autocast, torch.device(device).type, torch.bfloat16)
    with _tf32(device, precision == "tf32"):
        yield autocast if precision == "bf16" else contextlib.nullcontext


@contextlib.contextmanager
def full_precision(device: torch.device | str) -> Iterator[None]:
    """No TF32 and no autocast for norms and sums: a norm that is too small by 1e-3 is a bound that does not hold."""
    kind = torch.device(device).type
    no_autocast = torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else contextlib.nullcontext()
    with no_autocast, _tf32(device, False):
        yield


@contextlib.contextmanager
def _tf32(device, allowed):
    if torch.device(device).type != "cuda":
        yield
        return
    before = [switch.fp32_precision for switch in _SWITCHES]
    try:
        _set(["tf32" if allowed else "ieee"] * len(_SWITCHES))
        yield
    finally:
        _set(before)


def _set(precisions):
    """Set the switches; one that follows a more general one needs no touch, and so goes on following it."""
    for switch, precision in zip(_SWITCHES, precisions, strict=True):
        if switch.fp32_precision != precision:
            switch.fp32_precision = precision
