"""A private step of any of torch's optimizers: clipped sums, noise added once, and what is refused."""

import copy
import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from scipy.signal import fftconvolve

from dpcourse import matrix
from dpcourse.base import validate
from dpcourse.dpsgd import generators, processes, rows, secure
from dpcourse.dpsgd.account import Account
from dpcourse.dpsgd.agreement import refuse_if_it_disagrees
from dpcourse.dpsgd.clipping import Clipped, Loss, clipped_sum_of
from dpcourse.dpsgd.cuda_graphs import Graphs
from dpcourse.dpsgd.data import people_of
from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.refusals import refuse_if_not_private, trainable
from dpcourse.dpsgd.sampling import Sizes


class Noisy(torch.optim.Optimizer):
    """One private step: clipped sums are accumulated, noise is added once, the result is divided by expected_batch.

    With a strategy the noise remembers: it is C^-1 z for fresh z of deviation noise_multiplier * clip_norm.
    """

    def _set(self, noise_multiplier, clip_norm, expected_batch, generator, strategy=None):
        self.noise_multiplier = validate.number("noise_multiplier", noise_multiplier, 0)
        self.clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
        self.expected_batch = validate.number("expected_batch", expected_batch, 0, open_low=True)
        self._generator = generators.make(generator, "noise")
        if self.secure:
            secure.refuse_imprecise(p for group in self.param_groups for p in group["params"])
        _refuse_no_strategy(strategy, self.secure)
        self.strategy, self._kept, self._steps = strategy, None, 0
        self._sums, self._drawn, self._noise, self._tried = {}, 0, (), set()
        self._account, self._padding, self.graphs = None, {}, Graphs()
        self.register_step_pre_hook(Noisy._make_private)
        self.register_step_post_hook(Noisy._forget)

    def accumulate(
        self,
        model: torch.nn.Module,
        loss: Loss,
        inputs: rows.Rows,
        targets: rows.Rows,
        engine: str = "book-keeping",
        precision: str = "float32",
        empty: int = 0,
    ) -> Clipped:
        """Add the clipped sum of some examples to this step's; returns it, as clipped_sum does.

        A batch that does not fit into memory comes in several chunks, each example in one of them; an empty batch
        needs no call. Arguments and errors as in clipped_sum; empty: whole, >= 0, how many empty rows were drawn with
        these examples: they are people of the batch, and add 0. step() then adds the noise. The first call tries model
        and engine on two people, as try_on.
        """
        empty = validate.whole("empty", empty, 0)
        examples = rows.count(inputs)
        if examples and (model, engine) not in self._tried:
            self.try_on(model, loss, inputs, targets, engine)
        parameters = trainable(model)
        given = model, parameters, loss, inputs, targets, self.clip_norm, engine, precision
        clipped = self.graphs.clipped_sum(*given) or clipped_sum_of(*given)
        self._drawn += examples + empty
        sums = dict(zip(parameters.values(), clipped.sums.values(), strict=True))
        both = [parameter for parameter in sums if parameter in self._sums]
        if both:
            added = torch._foreach_add([self._sums[p] for p in both], [sums[p] for p in both])
            sums.update(zip(both, added, strict=True))
        self._sums.update(sums)
        return clipped

    def try_on(
        self,
        model: torch.nn.Module,
        loss: Loss,
        inputs: rows.Rows,
        targets: rows.Rows,
        engine: str = "book-keeping",
    ) -> None:
        """Raise ValueError for a model that is not private, or on whose first two people engine and loop disagree.

        Nothing is accumulated. The first accumulate of a model and an engine tries them by itself.
        """
        refuse_if_not_private(model, engine)
        refuse_if_it_disagrees(model, loss, inputs, targets, engine)
        self._tried.add((model, engine))

    def tie(self, ledger: Ledger, people: int, public_n: int | None = None) -> None:
        """Refuse from now on a step that is not in the ledger, and batches that are no Poisson sample of so many people.

        people: whole, >= 1, the number of rows; public_n: as in fit. Each step must have been spent before, after this
        call, with the noise multiplier of the optimizer and the sample rate expected_batch / people, or / public_n.
        Otherwise step() raises ValueError, and does nothing. So it does where the sizes of the batches so far are not
        those of Poisson batches; for those that are, with probability at most 1e-9 in a run of any length (see
        sampling.Sizes). What sizes cannot show, such as the same people in every batch, goes unnoticed.

        >>> from dpcourse.dpsgd import NoisySGD
        >>> model = torch.nn.Linear(2, 1)
        >>> optimizer = NoisySGD(model.parameters(), 0.1, noise_multiplier=1.0, clip_norm=1.0, expected_batch=30)
        >>> optimizer.tie(Ledger(delta=1e-5), people=300)
        >>> optimizer.step()
        Traceback (most recent call last):
        ValueError: this step is not in the ledger: call spend(1.0, 0.1) of the ledger that the optimizer is tied to, \
once for each step; it has 0 such steps since then, and 0 were taken
        """
        self.refuse_noise_that_remembers("tie")
        rate = self.expected_batch / people_of(validate.whole("people", people), public_n)
        rate = validate.number("expected_batch / people", rate, 0, 1, open_low=True)
        ledger.taken(self.noise_multiplier, rate)  # which refuses a noise that cannot be in it
        self._account = Account(ledger, rate, Sizes(people, rate), copy.deepcopy(ledger))

    @property
    def secure(self) -> bool:
        """Whether the noise is that of real numbers, from a cryptographic source: generator="secure"."""
        return isinstance(self._generator, secure.Source)

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that the optimizer is tied to."""
        return None if self._account is None else self._account.ledger

    def keep_padding(self, model: torch.nn.Module) -> None:
        """Let no step move the padding row of an nn.Embedding of the model, not even by noise: torch gives it no gradient.

        This costs no privacy: whatever the noisy sum says of this row is thrown away. The padding row of a table that
        another layer holds too is trained there, and so moves. `fit` calls keep_padding; a loop of your own calls it
        before the first step, or the row gets noise like every other.
        """
        tables = [layer for layer in model.modules() if isinstance(layer, (torch.nn.Embedding, torch.nn.EmbeddingBag))]
        held: Counter[torch.Tensor | None] = Counter(
            parameter for layer in model.modules() for parameter in layer._parameters.values()
        )
        self._padding = {
            table.weight: table.padding_idx
            for table in tables
            if table.padding_idx is not None and held[table.weight] == 1
        }

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the sum accumulated so far, and every gradient."""
        self._sums, self._drawn = {}, 0
        super().zero_grad(set_to_none)

    @torch.no_grad()
    def _make_private(self, args, kwargs):
        """Make each gradient, before a step, the clipped sum plus noise, divided by expected_batch.

        With torch.distributed every process calls step; their sums are added up, and only the first adds noise.
        """
        if args[1:] or kwargs:
            raise ValueError("step takes no closure: each evaluation of the loss would need a noise of its own")
        parameters = [p for group in self.param_groups for p in group["params"] if p.requires_grad]
        self._refuse_what_is_not_protected(parameters)
        self._refuse_a_step_too_many()
        if self._account is not None:
            self._account.refuse_what_is_not_in_it(self.noise_multiplier, self._size(parameters[0].device))
        self._bring_averages()
        sums = _together([self._sums[p] if p in self._sums else torch.zeros_like(p) for p in parameters])
        if processes.is_first():
            self._add_noise(sums, self.noise_multiplier * self.clip_norm)
        processes.add_up(sums)
        torch._foreach_div_(sums, self.expected_batch)
        for p, mean in zip(parameters, _apart(sums, parameters), strict=True):
            p.grad = mean
        for table, row in self._padding.items():
            if table.grad is not None:
                table.grad[row] = 0

    def _add_noise(self, sums, scale):
        """Add noise of this deviation to the sums, in place; note it, in units of that."""
        if isinstance(self._generator, secure.Source):
            self._noise = secure.add_noise(sums, scale, self._generator) if scale else []
            return
        generator = generators.for_device(self._generator, sums[0].device)
        self._noise = [
            torch.randn(total.shape, generator=generator, dtype=total.dtype, device=total.device) for total in sums
        ]
        if self.strategy is not None:
            kept = self._kept or [None] * len(sums)
            found = [self.strategy.remembered(z, rest) for z, rest in zip(self._noise, kept, strict=True)]
            noises, self._kept = map(list, zip(*found, strict=True))
            self._noise = [y.to(total.dtype) for y, total in zip(noises, sums, strict=True)]
        torch._foreach_add_(sums, self._noise, alpha=scale)

    def _bring_averages(self):
        """Move the running averages to where the model is now; torch keeps the number of steps on the CPU."""
        for p, averages in self.state.items():
            for name, value in averages.items():
                if name != "step" and isinstance(value, torch.Tensor) and value.device != p.device:
                    averages[name] = value.to(p.device)

    def _forget(self, args, kwargs):
        """Forget the batch after its step."""
        if self._account is not None:
            self._account.used[self.noise_multiplier] += 1
        self._steps += 1
        self._sums, self._drawn = {}, 0
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None

    @property
    def sum_length(self) -> float:
        """Euclidean length of the clipped sum accumulated so far in this process; not private. 0 where there is none."""
        return float(self.squares_of_sum) ** 0.5

    @property
    def noise_scale(self) -> float:
        """Root mean square of the last step's noise on the sum: close to noise_multiplier * clip_norm. 0 before it."""
        return self.scale_of(float(self.squares_of_noise))

    @property
    def squares_of_sum(self) -> torch.Tensor:
        """sum_length squared, where the parameters are: a GPU goes on with its work, and is asked later."""
        return _squares(list(self._sums.values()))

    @property
    def squares_of_noise(self) -> torch.Tensor:
        """The sum of the squares of the last step's noise, before it was scaled; likewise."""
        return _squares(self._noise)

    def scale_of(self, squares: float) -> float:
        """Return the noise_scale for squares_of_noise of the last step, or of a step with as many parameters."""
        count = sum(p.numel() for group in self.param_groups for p in group["params"] if p.requires_grad)
        return self.noise_multiplier * self.clip_norm * (squares / max(count, 1)) ** 0.5

    def state_dict(self) -> dict:
        """Return what torch's optimizer saves, and the noise's settings and generator: a saved run goes on exactly."""
        noise = {name: getattr(self, name) for name in ("noise_multiplier", "clip_norm", "expected_batch")}
        noise["generator"] = self._generator.get_state()
        if self.strategy is not None:
            noise["strategy"] = {"of": dataclasses.asdict(self.strategy), "steps": self._steps, "kept": self._kept}
        return super().state_dict() | {"noise": noise}

    def load_state_dict(self, state_dict: dict) -> None:
        """Restore what state_dict gave; ValueError where it is not of a noisy optimizer."""
        if "noise" not in state_dict:
            raise ValueError("state_dict must come from NoisySGD, NoisyAdam or NoisyAdamW: it lacks 'noise'")
        noise = dict(state_dict["noise"])
        state, remembered = noise.pop("generator"), noise.pop("strategy", None)
        mine = None if self.strategy is None else dataclasses.asdict(self.strategy)
        if mine != (remembered and remembered["of"]):
            raise ValueError(
                "state_dict must be of an optimizer with the same strategy as this one, or with none where this one has none"
            )
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "noise"})
        for name, value in noise.items():
            setattr(self, name, value)
        self._generator.set_state(state.cpu())
        if remembered is not None:
            self._steps, self._kept = remembered["steps"], remembered["kept"]

    def __getstate__(self):
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: a copy would add no noise, or the same noise again; "
            "make another one, and use state_dict() to save it"
        )

    def _size(self, device):
        """Return how many people are in the batch, in all processes together."""
        if not processes.many():
            return self._drawn
        total = torch.tensor([float(self._drawn)], device=device)
        processes.add_up([total])
        return int(total)

    def refuse_strangers(self, model: torch.nn.Module) -> None:
        """Raise ValueError if the model trains parameters that this optimizer was not given."""
        mine = {p for group in self.param_groups for p in group["params"]}
        _refuse_strangers(len(set(trainable(model).values()) - mine))

    def refuse_noise_that_remembers(self, what: str) -> None:
        """Raise ValueError where the noise remembers: the account of `what` is that of coins and fresh noise."""
        if self.strategy is not None:
            raise ValueError(
                f"{what} takes an optimizer without a strategy: its account is for Poisson batches and fresh noise; "
                "in_order plans a training with noise that remembers, and its docstring has the loop"
            )

    def _refuse_a_step_too_many(self):
        if self.strategy is not None and self._steps >= self.strategy.steps:
            raise ValueError(f"the strategy has noise for {self.strategy.steps:,} steps, and all of them were taken")

    def _refuse_what_is_not_protected(self, parameters):
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise ValueError(
                "a gradient was set from outside, by loss.backward() perhaps; it is not clipped, so no noise protects "
                "it: call zero_grad(), then accumulate(model, loss, inputs, targets)"
            )
        _refuse_strangers(len(self._sums.keys() - set(parameters)))


def _refuse_no_strategy(strategy, secure_noise):
    if strategy is not None and not isinstance(strategy, matrix.Filter):
        raise ValueError(f"strategy must be None or a matrix.Filter, got {type(strategy).__name__}")
    if strategy is not None and secure_noise:
        raise ValueError(
            "strategy must be left out with generator='secure': what is remembered is rounded, and of that nothing is proved"
        )
    if strategy is not None and len(strategy.denominator) > 1:
        impulse = np.eye(1, strategy.steps)[0]
        made = fftconvolve(strategy.coefficients, list(strategy.noise(impulse)))[: strategy.steps]
        if not np.allclose(made, impulse, rtol=0, atol=1e-6):
            raise ValueError(
                "strategy must be one whose noise can be made in double precision: its decays lie too near each other"
            )


def _refuse_strangers(count):
    if count:
        raise ValueError(f"the model has {count} trainable parameters that this optimizer was not given")


def _together(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Join tensors, on a GPU, to a long one with all numbers in logical order: to begin a task takes longer than the task."""
    kinds = {(tensor.device, tensor.dtype) for tensor in tensors}
    if len(kinds) > 1 or tensors[0].device.type == "cpu":
        return tensors
    return [torch.cat([tensor.flatten() for tensor in tensors])]


def _apart(tensors: list[torch.Tensor], parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """Undo _together: one tensor for each parameter, ordered in memory as it is, which torch's optimizers like best."""
    if len(tensors) == len(parameters) and tensors[0].shape == parameters[0].shape:
        return tensors
    apart = [
        part.view(p.shape)
        for part, p in zip(tensors[0].split([p.numel() for p in parameters]), parameters, strict=True)
    ]
    return [
        part if p.is_contiguous() else torch.empty_like(p).copy_(part)
        for part, p in zip(apart, parameters, strict=True)
    ]


def _squares(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the sum of the squares of all numbers: in double precision on a CPU, in the fewest tasks elsewhere."""
    if not tensors or tensors[0].device.type == "cpu":
        none = torch.zeros((), dtype=torch.float64, device="cpu")
        return sum((tensor.double().square().sum() for tensor in tensors), none)
    return sum(torch.linalg.vector_norm(tensor).square() for tensor in _together(list(tensors)))
