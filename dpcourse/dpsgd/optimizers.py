"""NoisySGD, NoisyAdam and NoisyAdamW: torch's SGD, Adam and AdamW, given the noisy mean of clipped gradients and nothing else.

Source: Bu, Dong, Long & Su (2020), "Deep learning with Gaussian differential privacy", algorithms 1 and 2.
"""

import torch
from torch.optim.optimizer import ParamsT

from dpcourse import matrix
from dpcourse.dpsgd import generators
from dpcourse.dpsgd.noisy import Noisy


class NoisySGD(Noisy, torch.optim.SGD):
    """SGD whose every step is a Gaussian mechanism on the clipped sum of a Poisson batch.

    params, lr, momentum, weight_decay, fused: as in torch.optim.SGD; noise_multiplier: >= 0, the noise's standard deviation
    in units of clip_norm; clip_norm: > 0; expected_batch: > 0, the mean size of a batch, sample_rate * n, which is
    public where the size of the batch drawn is not. The account holds for a row emptied; for a row added or removed only
    if no setting comes from the number of rows. generator: torch.Generator, seed, None for a generator that the operating
    system seeds, or "secure". strategy: None, or a matrix.Filter, for noise that remembers (see in_order), and then
    noise_multiplier is that of what it remembers. ValueError otherwise. Source: algorithm 1, dividing by the expected size for |I_t|.

    Every account takes the noise for exactly Gaussian, of real numbers. By default it is not, and is for learning and
    experiments: torch's generator can be predicted from its numbers, and in single precision these end at 5.8 standard
    deviations on a CPU (6.76 on CUDA) and lie on a lattice, which tells two tables apart: tests/dpsgd/test_secure.py
    does so. generator="secure" gives what the account takes for granted, for parameters in double precision: numbers
    from the operating system's cryptographic source, and a Gaussian of real numbers, rounded once (secure.py, which says
    what remains taken as given). It costs about 0.15 s for a million weights and step.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.zeros_(model.weight)
    >>> optimizer = NoisySGD(model.parameters(), lr=0.5, noise_multiplier=0.0, clip_norm=1.0, expected_batch=4)
    >>> inputs, targets = torch.tensor([[3.0, 4.0], [0.3, 0.4]]), torch.zeros(2)
    >>> _ = optimizer.accumulate(model, lambda outputs, targets: outputs[:, 0] - targets, inputs, targets)
    >>> optimizer.step()
    >>> model.weight.detach()  # -0.5 times (0.6, 0.8) + (0.3, 0.4), divided by 4
    tensor([[-0.1125, -0.1500]])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float,
        *,
        noise_multiplier: float,
        clip_norm: float,
        expected_batch: float,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        fused: bool | None = None,
        generator: generators.Source = None,
        strategy: matrix.Filter | None = None,
    ) -> None:
        super().__init__(params, lr=lr, momentum=momentum, weight_decay=weight_decay, fused=fused)
        self._set(noise_multiplier, clip_norm, expected_batch, generator, strategy)


class NoisyAdam(Noisy, torch.optim.Adam):
    """Adam on the same noisy means; its running averages use nothing else, so they cost no privacy.

    params, lr, betas, eps, weight_decay, fused: as in torch.optim.Adam, with its correction of the bias at the start, which
    algorithm 2 leaves out; the rest as in NoisySGD.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.zeros_(model.weight)
    >>> optimizer = NoisyAdam(model.parameters(), lr=0.5, noise_multiplier=0.0, clip_norm=1.0, expected_batch=4)
    >>> inputs, targets = torch.tensor([[3.0, 4.0], [0.3, 0.4]]), torch.zeros(2)
    >>> _ = optimizer.accumulate(model, lambda outputs, targets: outputs[:, 0] - targets, inputs, targets)
    >>> optimizer.step()
    >>> model.weight.detach()  # the first step has length lr in every coordinate
    tensor([[-0.5000, -0.5000]])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float,
        *,
        noise_multiplier: float,
        clip_norm: float,
        expected_batch: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        fused: bool | None = None,
        generator: generators.Source = None,
        strategy: matrix.Filter | None = None,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, fused=fused)
        self._set(noise_multiplier, clip_norm, expected_batch, generator, strategy)


class NoisyAdamW(Noisy, torch.optim.AdamW):
    """Adam on the same noisy means, and weights that shrink beside it, which no row has a part in.

    params, lr, betas, eps, weight_decay, fused: as in torch.optim.AdamW; the rest as in NoisySGD.
    Source: Loshchilov & Hutter (2019), Decoupled weight decay regularization.

    >>> model = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.ones_(model.weight)
    >>> optimizer = NoisyAdamW(
    ...     model.parameters(), lr=0.5, noise_multiplier=0.0, clip_norm=1.0, expected_batch=4, weight_decay=0.1
    ... )
    >>> inputs, targets = torch.tensor([[3.0, 4.0], [0.3, 0.4]]), torch.zeros(2)
    >>> _ = optimizer.accumulate(model, lambda outputs, targets: outputs[:, 0] - targets, inputs, targets)
    >>> optimizer.step()
    >>> model.weight.detach()  # 1 - 0.5 * 0.1 - 0.5
    tensor([[0.4500, 0.4500]])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float,
        *,
        noise_multiplier: float,
        clip_norm: float,
        expected_batch: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        fused: bool | None = None,
        generator: generators.Source = None,
        strategy: matrix.Filter | None = None,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, fused=fused)
        self._set(noise_multiplier, clip_norm, expected_batch, generator, strategy)
