"""Lesson 05: DP-SGD on PyTorch. Per-example gradients, clipped and summed; noise; Poisson batches; the budget spent."""

from dpcourse.dpsgd.clipping import Clipped, clipped_sum, refuse_if_not_private
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisySGD
from dpcourse.dpsgd.sampling import poisson_batches

__all__ = ["Clipped", "NoisyAdam", "NoisySGD", "clipped_sum", "poisson_batches", "refuse_if_not_private"]
