"""NoisySGD and NoisyAdam: torch's SGD and Adam, given the noisy mean of clipped gradients and nothing else.

Source: Bu, Dong, Long & Su (2020), "Deep learning with Gaussian differential privacy", algorithms 1 and 2.
"""

import torch
from torch.optim.optimizer import ParamsT

from dpcourse.dpsgd import generators
from dpcourse.dpsgd.noisy import Noisy


class NoisySGD(Noisy, torch.optim.SGD):
    """SGD whose every step is a Gaussian mechanism on the clipped sum of a Poisson batch.

    params, lr, momentum, weight_decay: as in torch.optim.SGD; noise_multiplier: >= 0, the noise's standard deviation
    in units of clip_norm; clip_norm: > 0; expected_batch: > 0, the mean size of a batch, sample_rate * n, which is
    public where the size of the batch drawn is not. The account holds for a row emptied; for a row added or removed only
    if no setting comes from the number of rows. generator: torch.Generator, seed, or None for the operating
    system's entropy. ValueError otherwise. Source: algorithm 1, dividing by the expected size for |I_t|.

    Every account takes the noise for exactly Gaussian. It is drawn in the parameter's precision: torch's numbers in
    single precision end at 5.8 standard deviations on a CPU, beyond which 8e-9 of a Gaussian lies, and at 6.76 on CUDA
    (1.3e-11), and have the pattern of floating point in their low bits (lesson 02). Parameters in float64 push the end
    beyond 8. On a GPU each step's noise comes from a seed of 64 bits that the generator on the CPU gives.

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
        generator: generators.Source = None,
    ) -> None:
        super().__init__(params, lr=lr, momentum=momentum, weight_decay=weight_decay)
        self._set(noise_multiplier, clip_norm, expected_batch, generator)


class NoisyAdam(Noisy, torch.optim.Adam):
    """Adam on the same noisy means; its running averages use nothing else, so they cost no privacy.

    params, lr, betas, eps, weight_decay: as in torch.optim.Adam, with its correction of the bias at the start, which
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
        generator: generators.Source = None,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        self._set(noise_multiplier, clip_norm, expected_batch, generator)
