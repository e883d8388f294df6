"""Branches on "cuda", by tensors that are labelled so; no gradient can be recorded of them. More of pretend_checks.py."""

import contextlib

import torch
from dpsgd import pretend
from dpsgd.pretend import There
from dpsgd.pretend_checks import check, equal
from torch import nn


@contextlib.contextmanager
def labelled():
    """Tensors on "cuda" for torch without CUDA: what is made, and what is computed without gradients."""
    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_available = lambda: True
    torch.cuda.is_bf16_supported = lambda *_: True
    with torch.no_grad(), pretend.Labelled():
        yield


def on_cuda(tensor):
    return There(tensor, "cuda")


@check
def norms_and_sums_on_cuda_have_no_tf32_and_no_autocast():
    """Inside somebody else's autocast, and where he allows TF32: seen by every operation, and undone afterwards."""
    from dpcourse.dpsgd import clipping, layers, precision

    seen = set()
    run = pretend.run

    def watched(op, *args, **kwargs):
        seen.add(torch.backends.cuda.matmul.fp32_precision)
        return run(op, *args, **kwargs)

    torch.backends.fp32_precision = "tf32"
    gradients, parameter = torch.randn(5, 3, 4), nn.Parameter(torch.zeros(3, 4))
    parameters = {"weight": parameter}
    with labelled(), torch.autocast("cuda", torch.bfloat16):
        assert torch.is_autocast_enabled("cuda")
        share = layers.Direct(parameter, on_cuda(gradients))
        pretend.run = watched
        with precision.full_precision("cuda"):
            found = clipping._weigh(parameters, [share], 0.5, None, None)
        pretend.run = run
        assert torch.is_autocast_enabled("cuda")
    assert seen == {"ieee"}, seen
    assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    assert found.sums["weight"].dtype == torch.float32
    expected_sum = clipping._weigh(parameters, [layers.Direct(parameter, gradients)], 0.5, None, None)
    equal(found.sums["weight"].raw, expected_sum.sums["weight"].detach())


@check
def noise_on_cuda_comes_from_a_seed_of_the_cpus_generator():
    """From one on the device, whose 64 bits of seed the optimizer's own gives."""
    from dpcourse.dpsgd import NoisySGD, generators

    with labelled():
        optimizer = NoisySGD(
            [nn.Parameter(torch.zeros(1))], 1.0, noise_multiplier=2.0, clip_norm=0.5, expected_batch=4, generator=1
        )
        found = optimizer._generator.get_state().clone()
        drawn = generators.for_device(optimizer._generator, torch.device("cuda", 0))
        noise = torch.randn(25, generator=drawn, device=torch.device("cuda", 0))
    own = torch._C.Generator().set_state(found)
    seed = generators.seed_from(own)
    equal(noise.raw, torch.randn(25, generator=torch._C.Generator().manual_seed(seed)))


@check
def cudas_own_generators_are_kept_and_given_back():
    """Those of the device that is meant, for dropout."""
    from dpcourse.dpsgd import generators

    mine = [torch.Generator("cuda").manual_seed(seed) for seed in (1, 2)]
    torch.cuda.default_generators, torch.cuda.current_device = tuple(mine), lambda: 0
    for device, number in (("cuda:1", 1), ("cuda", 0)):
        assert generators.of_torch(torch.device(device))[1] is mine[number]
        before = [one.get_state() for one in mine]
        with generators.borrowed(torch.device(device), seed=5):
            assert mine[number].initial_seed() == 5
            assert mine[1 - number].initial_seed() != 5
        for one, was in zip(mine, before, strict=True):
            equal(one.get_state(), was)
