"""What a forward pass does with the parameters that are trained: calls of layers, and uses outside a layer we know.

Book-keeping needs to know, for each use of a parameter, where in the graph the gradient of its result arrives and what
belongs to which example. A layer that layers.py knows, or a rule, tells that by its inputs. A parameter that a forward
uses itself, such as a transformer's positions, is followed through torch's functions: whatever is computed from
parameters alone has the same shape for every batch, and the first function that joins it to the examples (a sum, a
product, an expansion) tells what each example adds. Positions that an nn.Embedding makes of an index without examples,
such as torch.arange, are followed in the same way.

Which results belong to the examples is measured and not guessed: the model is run once on its inputs and once on these
twice. A shape that stays is nobody's; a first dimension that doubles is the examples', with several rows each perhaps.
"""

import contextlib
import functools
import itertools
import weakref
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from dpcourse.dpsgd import generators, layers, own_layers, rows

WAY_OUT = "freeze it with requires_grad_(False), or use engine='vmap', or 'loop' if it takes one example at a time"
CANNOT_FOLLOW = "and book-keeping cannot follow: use engine='vmap', or 'loop'"


@dataclass
class Call:
    """One call of a layer: its inputs, and the place in the graph where the gradient of its outputs will arrive.

    The place is asked for during the call: an activation that works in place would move the outputs to another one.
    """

    layer: nn.Module
    inputs: torch.Tensor
    version: int
    edge: GradientEdge

    def shares(self, g: torch.Tensor, examples: int) -> list[layers.Share]:
        """Return what this call adds to the gradients. g: the gradient of its outputs."""
        _refuse_changed(self.inputs, self.version, self.layer)
        a = self.inputs
        if len(a) == examples:
            return own_layers.shares(self.layer, a, g)
        if isinstance(self.layer, nn.Linear | nn.Embedding | nn.LayerNorm):  # any dimensions may lie between
            a, g = (values.unflatten(0, (examples, -1)) for values in (a, g))
            return own_layers.shares(self.layer, a, g)
        found = own_layers.shares(self.layer, a, g)
        return [
            layers.Direct(parameter, gradients.unflatten(0, (examples, -1)).sum(1))
            for share in found
            for parameter, gradients in zip(share.parameters, share.per_example(), strict=True)
        ]


@dataclass(eq=False)
class Root:
    """What is followed through a forward: a parameter, or the rows of a table for an index that has no examples."""

    tensor: torch.Tensor
    layer: nn.Embedding | None = None
    index: torch.Tensor | None = None

    def share(self, gradients: torch.Tensor) -> layers.Share:
        """Return the share for each example's gradients to the tensor."""
        if self.layer is None or self.index is None:
            return layers.Direct(self.tensor, gradients)
        [share] = layers.shares(self.layer, self.index.expand(len(gradients), *self.index.shape), gradients)
        return share


@dataclass
class Use:
    """One function that joins something made of roots alone to the examples.

    rule: "sum", where `other` is what it is multiplied by, if anything; or "rows" or "columns" of a matrix, and `other`
    is what is multiplied by the matrix.
    """

    made: torch.Tensor
    roots: list[Root]
    rule: str
    other: torch.Tensor | None
    version: int
    edge: GradientEdge

    def shares(self, g: torch.Tensor, examples: int) -> list[layers.Share]:
        """Return what this use adds to the gradients. g: the gradient of the function's result."""
        if self.other is not None:
            _refuse_changed(self.other, self.version, f"a product with a parameter of shape {tuple(self.made.shape)}")
        g = g.to(self.made.dtype)
        other = None if self.other is None else self.other.to(self.made.dtype)
        if other is None or self.rule == "sum":
            g = g if other is None else g * other
            return self._back(_of_each(g, examples, self.made.shape))
        a, g = (values.reshape(examples, -1, values.shape[-1]) for values in (other, g))
        a, g = (a, g) if self.rule == "rows" else (g, a)
        if isinstance(self.made, nn.Parameter):
            return [layers.product(SimpleNamespace(weight=self.made), a, g)]
        return self._back(torch.bmm(g.mT, a))

    def _back(self, gradients):
        """Return the shares of the roots, for each example's gradients to what was made of them."""
        if self.made is self.roots[0].tensor:
            return [self.roots[0].share(gradients)]
        tensors = [root.tensor for root in self.roots]
        back = torch.autograd.grad(
            self.made, tensors, gradients, is_grads_batched=True, retain_graph=True, allow_unused=True
        )
        return [root.share(of) for root, of in zip(self.roots, back, strict=True) if of is not None]


def _refuse_other_rows(layer, inputs, examples):
    raise ValueError(
        f"{layer} takes inputs of shape {tuple(inputs.shape)}, whose first dimension is not that of the {examples} "
        "examples: put the examples first, or use engine='vmap'"
    )


def _refuse_changed(inputs, version, of):
    if inputs._version != version:
        raise ValueError(f"the inputs of {of} were changed in place afterwards: use inplace=False, and no +=")


def _of_each(g, examples, shape):
    """Return the gradients to what was repeated, (examples, *shape), from that to the repetition: the inverse of broadcasting."""
    g = g.unflatten(0, (examples, -1)).sum(1)
    inner = shape[1:] if len(shape) == g.ndim else shape
    between = (1,) * (g.ndim - 1 - len(inner))
    return g.sum_to_size(examples, *between, *inner).reshape(examples, *shape)


def _rule(name, args, kwargs, made):
    """Return the rule of a function that joins `made` to the examples, and what else the rule needs; None for others.

    A product in place has no rule: what was multiplied is gone when this is asked.
    """
    places = [place for place, arg in enumerate(args) if arg is made]
    if kwargs or len(places) != 1:
        return None
    [place] = places
    others = [arg.detach() for arg in args if isinstance(arg, torch.Tensor) and arg is not made]
    match name, place:
        case (("add" | "add_"), _):
            return "sum", None
        case (("sub" | "sub_"), _):
            return "sum", None if place == 0 else made.new_tensor(-1.0)
        case "mul", _ if others:
            return "sum", others[0]
        case (("expand" | "expand_as"), 0):
            return "sum", None
        case "linear", 1 if made.ndim == 2:
            return "rows", others[0]
        case "linear", 2:
            return "sum", None
        case ("matmul", 1) | ("addmm", 2) if made.ndim == 2:
            return "columns", others[-1]
        case "addmm", 0:
            return "sum", None
    return None


class _Following(TorchFunctionMode):
    """Follow what is made of roots, function by function.

    ways: what each function gives for the examples once, and twice. `used` are the uses; `lost` says for each parameter with
    a use for which there is no rule, which function that was.
    """

    def __init__(self, parameters: list[nn.Parameter], ways: "Ways") -> None:
        super().__init__()
        self.ways, self.at = ways, 0
        self.made: dict[int, tuple[torch.Tensor, list[Root]]] = {}
        self.used: list[Use] = []
        self.lost: dict[torch.Tensor, str] = {}
        for parameter in parameters:
            self.follow(Root(parameter))

    def follow(self, root: Root) -> None:
        self.made[id(root.tensor)] = root.tensor, [root]

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        at, self.at = self.at, self.at + 1
        if torch.is_grad_enabled() and at < len(self.ways.shapes):
            found = {id(leaf): self.made[id(leaf)] for leaf in tree_leaves((args, kwargs)) if id(leaf) in self.made}
            if found:
                self._note(at, function.__name__, args, kwargs, list(found.values()), result)
        return result

    def _note(self, at, name, args, kwargs, found, result):
        once, twice = self.ways.shapes[at]
        parts = [part for part in tree_leaves(result) if isinstance(part, torch.Tensor) and part.requires_grad]
        if once == twice:
            roots = list(dict.fromkeys(root for _, several in found for root in several))
            for part in parts:
                self.made.setdefault(id(part), (part, roots))
            return
        joined = len(parts) == 1 and once[0] and twice[0][0] == 2 * once[0][0]
        for made, roots in found if parts else ():
            rule = _rule(name, args, kwargs, made) if joined else None
            if rule:
                kind, other = rule
                version = 0 if other is None else other._version
                self.used.append(Use(made, roots, kind, other, version, get_gradient_edge(parts[0])))
            else:
                self.lost.update((root.tensor, name) for root in roots)

    def left_to_the_layer(self, own: list[nn.Parameter]) -> bool:
        """Return whether a layer's own parameters have uses that no rule knows, or none; then forget those of them all."""
        known = {root.tensor for use in self.used for root in use.roots}
        if all(parameter in known and parameter not in self.lost for parameter in own):
            return False
        for use in self.used:
            use.roots = [root for root in use.roots if all(root.tensor is not parameter for parameter in own)]
        self.used = [use for use in self.used if use.roots]
        for parameter in own:
            self.lost.pop(parameter, None)
        return True


class _Shapes(TorchFunctionMode):
    """The shapes of what each function gives."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[tuple[int, ...]]] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **kwargs or {})
        self.found.append([tuple(part.shape) for part in tree_leaves(result) if isinstance(part, torch.Tensor)])
        return result


@dataclass
class Ways:
    """What running a model on some examples, and on these twice, has told.

    shapes: for each function that the forward calls, of what it gives for them once and twice; shared: for each call of a
    layer that is trained, whether its inputs have no examples; apart: whether each example has rows of its own in them.
    """

    shapes: list[tuple[list, list]]
    shared: list[bool]
    apart: list[bool]


KNOWN: weakref.WeakKeyDictionary[nn.Module, dict[int, Ways]] = weakref.WeakKeyDictionary()


def watched(model: nn.Module, inputs: rows.Rows) -> tuple[torch.Tensor, list[Call | Use]]:
    """Return what a model says of its inputs, and what it has done with the parameters that are trained.

    ValueError for a layer of which book-keeping cannot know what belongs to which example.
    """
    trained = [layer for layer in model.modules() if own_layers.trained(layer)]
    loose = [layer for layer in trained if type(layer) not in layers.RULES and type(layer) not in own_layers.RULES]
    if loose or any(isinstance(layer, nn.Embedding) for layer in trained):
        return _followed(model, inputs, trained, loose)
    found: list[Call] = []
    with _hooks(trained, functools.partial(_note, found)):
        outputs = rows.said(model, inputs)
    for call in found:
        if len(call.inputs) % len(outputs):
            _refuse_other_rows(call.layer, call.inputs, len(outputs))
    if any(len(call.inputs) != len(outputs) for call in found):  # several rows of each, perhaps
        return _followed(model, inputs, trained, loose)
    return outputs, list[Call | Use](found)


def _followed(model, inputs, trained, loose):
    """Do as watched, for a model with parameters that it uses itself, or with tables."""
    known = KNOWN.setdefault(model, {})
    ways = next(reversed(known.values()), None) or _ways(model, trained, inputs)
    for _ in range(2):  # it may go another way for other inputs: one that is known, or one to learn
        outputs, found, following = _follow(model, inputs, trained, loose, ways)
        if following.at == len(ways.shapes):
            break
        ways = known.get(following.at) or _ways(model, trained, inputs)
    else:
        raise ValueError(
            f"the forward goes another way for {len(outputs)} examples than for twice these, {CANNOT_FOLLOW}"
        )
    known.pop(following.at, None)
    known[following.at] = ways  # the latest, to begin with
    for parameter, function in following.lost.items():
        raise ValueError(
            f"a trained {'parameter' if isinstance(parameter, nn.Parameter) else 'table'} of shape "
            f"{tuple(parameter.shape)} is joined to the examples by {function}, which book-keeping does not know: "
            f"let it be a sum, a product, a matrix product or expand, or {WAY_OUT}"
        )
    return outputs, found + following.used


def _follow(model, inputs, trained, loose, ways):
    """Return what the model says, the calls of layers, and what was followed, if the model goes this way."""
    found, calls = [], itertools.count()
    following = _Following([own for layer in loose for own in own_layers.trained(layer).values()], ways)

    def note(layer, arguments, named, output):
        number = next(calls)
        if layer in loose:
            if not following.left_to_the_layer(list(own_layers.trained(layer).values())):
                return
        elif isinstance(layer, nn.Embedding) and ways.shared[number : number + 1] == [True]:
            following.follow(Root(output, layer, arguments[0].detach()))
            return
        _note(found, layer, arguments, named, output)
        if ways.apart[number : number + 1] == [False]:
            _refuse_other_rows(layer, found[-1].inputs, rows.count(inputs))

    with following, _hooks(trained, note):
        return rows.said(model, inputs), found, following


def _note(found, layer, arguments, named, output):
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
    found.append(Call(layer, inputs.detach(), inputs._version, get_gradient_edge(output)))


@contextlib.contextmanager
def _hooks(trained, note):
    def unseen(*call):
        with torch._C.DisableTorchFunction():  # what a hook calls is none of the model's functions
            note(*call)

    hooks = [layer.register_forward_hook(unseen, prepend=True, with_kwargs=True) for layer in trained]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _ways(model, trained, inputs):
    """Run the model on its inputs, and on all of them twice, so that it goes the same way as far as that is in the data."""
    seen, every = [], torch.arange(rows.count(inputs))
    for these in (every, torch.cat([every, every])):
        given: list = []

        def note(layer, arguments, named, output, given=given):
            given.append([tuple(one.shape) for one in tree_leaves((arguments, named)) if isinstance(one, torch.Tensor)])

        few = rows.taken(inputs, these)
        try:
            with _hooks(trained, note), generators.borrowed(rows.device_of(inputs)), _Shapes() as shapes:
                rows.said(model, few)
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError) or not seen:
                raise
            raise ValueError(
                f"the forward cannot take {len(every)} examples twice, {CANNOT_FOLLOW}: {error}"
            ) from error
        seen.append((shapes.found, given))
    (one, given_one), (two, given_two) = seen
    if len(one) != len(two) or len(given_one) != len(given_two):
        raise ValueError(
            f"the forward goes another way for {len(every)} examples than for twice these, {CANNOT_FOLLOW}"
        )
    pairs = list(zip(given_one, given_two, strict=True))
    shared = [a == b for a, b in pairs]
    apart = [bool(a) and bool(a[0]) and b[0][:1] == (2 * a[0][0],) for a, b in pairs]
    return Ways(list(zip(one, two, strict=True)), shared, apart)
