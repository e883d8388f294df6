"""A canary audit of a training, in one run: what mu an attack proves, beside what the ledger promises."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from dpcourse import audit
from dpcourse.base import rounding, validate
from dpcourse.base.languages import say
from dpcourse.dpsgd import generators, processes, rows
from dpcourse.dpsgd.agreement import evaluated
from dpcourse.dpsgd.clipping import Loss, clipped_sum_of, factors
from dpcourse.dpsgd.data import Data
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.noisy import Noisy
from dpcourse.dpsgd.recording import Run
from dpcourse.dpsgd.refusals import trainable
from dpcourse.dpsgd.training import cross_entropy, fit


@dataclass(frozen=True)
class Audit:
    """What the canaries of a run prove.

    run: the Run; scores: (canaries,), higher for those that seem to be in; included: (canaries,), bool, which were;
    correct of guesses: of the highest scores, taken for in, and as many lowest, taken for out; proved: with `confidence`
    the training is mu-GDP for no smaller mu; promised: the ledger's mu for the steps taken, an upper bound but for a
    failure of probability delta.
    """

    run: Run
    scores: np.ndarray
    included: np.ndarray
    correct: int
    guesses: int
    confidence: float
    proved: float
    promised: float
    delta: float

    @property
    def refutes(self) -> bool:
        """Whether the promise is refuted: something in the training is not as the ledger takes it."""
        return self.proved > self.promised

    def __repr__(self) -> str:
        found = say(
            "{correct} of {guesses} guesses about {canaries} canaries were right: with confidence {confidence:.0%} μ is at "
            "least {proved}. The ledger promises that μ is at most {promised}, but for δ₀ {delta}.",
            correct=self.correct,
            guesses=self.guesses,
            canaries=len(self.scores),
            confidence=self.confidence,
            proved=rounding.down(self.proved, 3),
            promised=rounding.up(self.promised, 3),
            delta=self.delta,
        )
        return f"{found} {say('The promise is refuted.')}" if self.refutes else found


def audited(
    model: torch.nn.Module,
    optimizer: Noisy,
    ledger: Ledger,
    data: Data,
    steps: int,
    canaries: tuple[rows.Rows, rows.Rows],
    *,
    guesses: int | None = None,
    confidence: float = 0.95,
    loss: Loss = cross_entropy,
    generator: generators.Source = None,
    **options,
) -> Audit:
    """Train as fit does, on the data and on canaries of which a coin each decides whether it is there; return the Audit.

    canaries: inputs and targets, at least 2 rows as those of `data`, best ones that nothing else in the data is like, such
    as images with random classes. Those that are out are empty rows, so the account's neighbours are these: `people` of
    the ledger's sample rate counts rows and canaries. guesses: even, of at most all canaries, fixed before; None: a
    quarter of them. The attack sees what DP-SGD releases, the noisy sum of each step, and adds up how far each canary's
    clipped gradient lies in its direction. The ledger's mu holds but for delta: so much, for each canary whether it is in
    or out, is taken from the doubt that confidence leaves. The rest as in fit, but for checkpoint and public_n. An audit proves that mu is
    no smaller; that it is no larger only the ledger says. ValueError for what fit refuses, and for canaries that are none.

    Source: Steinke, Nasr & Jagielski (2023), Privacy auditing with one (1) training run, for the canaries; Nasr et al.
    (2023), Tight auditing of differentially private machine learning, for the scores; audit.one_run_mu_lower_bound.

    >>> from dpcourse import dpsgd
    >>> rows, planned = torch.randn(100, 50), dpsgd.plan(epsilon=8, delta=1e-4, people=300, batch=300, epochs=4)
    >>> model = torch.nn.Linear(50, 2)
    >>> optimizer = dpsgd.NoisySGD(model.parameters(), lr=0.1, **planned.settings)
    >>> data, canaries = dpsgd.Data(rows, torch.zeros(100).long()), (torch.randn(200, 50), torch.ones(200).long())
    >>> found = audited(model, optimizer, planned.ledger(), data, planned.steps, canaries, device="cpu", show=False)
    >>> found.proved <= found.promised
    True
    """
    refused = sorted({"checkpoint", "public_n"} & set(options))
    if refused or processes.many():
        raise ValueError(f"an audit takes one process, and none of checkpoint and public_n, got {refused or 'several'}")
    count = rows.count(canaries)
    if count < 2:
        raise ValueError(f"canaries must be at least 2 rows, got {count}")
    guesses = 2 * max(1, count // 8) if guesses is None else validate.whole("guesses", guesses)
    if guesses % 2 or guesses > count:
        raise ValueError(f"guesses must be even, and at most the {count} canaries, got {guesses}")
    spare = (
        1 - validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True) - 2 * count * ledger.delta
    )
    if spare <= 0:
        raise ValueError(
            f"confidence must be below 1 - 2 x canaries x delta, {1 - 2 * count * ledger.delta:.6g}, got {confidence}: what "
            "the ledger promises may fail with probability delta for each canary; take fewer, or a smaller delta"
        )
    source = generators.make(generator, "canaries")
    included = generators.uniform(count, source) < 0.5
    attack = _Attack(model, optimizer, loss, canaries)
    hook = optimizer.register_step_pre_hook(attack)  # after the one that makes the gradients private
    try:
        run = fit(
            model, optimizer, ledger, _with(data, canaries, included), steps, loss=loss, generator=generator, **options
        )
    finally:
        hook.remove()
    scores = attack.scores().cpu().numpy()
    order = np.argsort(-scores, kind="stable")
    there = included.numpy()
    correct = int(there[order[: guesses // 2]].sum() + (~there[order[count - guesses // 2 :]]).sum())
    proved = audit.one_run_mu_lower_bound(correct, guesses, count, 1 - spare)
    promised = ledger.curve().mu(ledger.delta).upper
    return Audit(run, scores, there, correct, guesses, confidence, proved, promised, ledger.delta)


def _with(data, canaries, included):
    """Return the data with the canaries at its end, those that are not included as empty rows."""

    def joined(of_data, of_canaries):
        return torch.cat([rows.taken(of_data, slice(None)), of_canaries.to(of_data.dtype)])

    old = (data.train_inputs, data.train_targets)
    leaves, structure = tree_flatten(old)
    more, other = tree_flatten(canaries)
    if structure != other:
        raise ValueError("canaries must be (inputs, targets) with the same parts as the data")
    inputs, targets = tree_unflatten([joined(*pair) for pair in zip(leaves, more, strict=True)], structure)
    empty = torch.zeros(len(data), dtype=torch.bool) if data.train_empty is None else data.train_empty
    whole = Data(
        inputs, targets, data.test_inputs, data.test_targets, data.name, data.classes, torch.cat([empty, ~included])
    )
    out = (len(data) + torch.nonzero(~included).flatten()).tolist()
    return whole.emptied(out)


class _Attack:
    """What is seen of each canary in the noisy sums, step by step: their products with its clipped gradient."""

    def __init__(self, model, optimizer, loss, canaries):
        self.model, self.optimizer, self.loss, self.canaries = model, optimizer, loss, canaries
        self.seen = self.squares = 0.0

    def __call__(self, *_):
        parameters = trainable(self.model)
        released = [parameter.grad.detach() for parameter in parameters.values()]
        device = next(iter(parameters.values())).device
        inputs, targets = rows.on(self.canaries, device)
        clip_norm = self.optimizer.clip_norm

        with evaluated(self.model), generators.borrowed(device):
            found = clipped_sum_of(
                self.model, parameters, self.loss, inputs, targets, clip_norm, "book-keeping", "float32"
            )
            along = self._along(list(parameters.values()), released, inputs, targets)
        shortened = factors(found.norms, clip_norm)
        self.seen = self.seen + (along * shortened).where(found.counted, 0)
        self.squares = self.squares + (found.norms * shortened).square().where(found.counted, 0)

    @torch.enable_grad()
    def _along(self, parameters, released, inputs, targets):
        """Return the product of each canary's gradient with what was released, by differentiating a weighted sum twice."""
        losses = self.loss(rows.said(self.model, inputs), targets)
        weights = torch.ones_like(losses, requires_grad=True)
        gradients = torch.autograd.grad(losses, parameters, weights, create_graph=True, materialize_grads=True)
        total = sum((one * other).sum() for one, other in zip(gradients, released, strict=True))
        return torch.autograd.grad(total, weights)[0]

    def scores(self):
        return self.seen / self.squares.sqrt().clamp(min=1e-30)
