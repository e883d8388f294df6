"""What a device lacks, float64 or memory, is said before anything is spent, or done without. More of pretend_checks.py."""

import contextlib
import io
import resource
from dataclasses import replace

import pytest
import torch
from dpsgd.pretend import PRETEND, gpu
from dpsgd.pretend_checks import MODELS, check, parts, people, train, weights


@check
def a_device_without_float64_will_do():
    gpu.float64 = False
    for name, kind in (("CNN", "NoisySGD"), ("words", "NoisyAdam")):
        assert min(train(parts(name, kind)).noises) > 0


@check
def what_the_device_does_not_have_spends_nothing():
    gpu.float64 = False
    mine = parts()
    mine[0].double()
    with pytest.raises(TypeError, match="float64"):
        train(mine)
    assert mine[2].runs == []


@check
def where_no_one_fits_nothing_is_spent():
    mine, data = parts("CNN"), replace(people(), test_inputs=None, test_targets=None)
    model = mine[0].to(PRETEND)
    gpu.room = gpu.live + data.train_inputs.nbytes + data.train_targets.nbytes + 4000
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        train((model, *mine[1:]), data=data)
    assert mine[2].runs == []


@check
def what_does_not_fit_at_once_comes_in_parts():
    """Said once; the steps are those of chunks that were chosen by hand; each spends once."""
    by_hand, mine = parts("CNN", expected_batch=30), parts("CNN", expected_batch=30)
    gpu.most = gpu.live
    train(by_hand, chunk=15, steps=1)
    gpu.room = gpu.most + 12_000
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        train(mine, steps=1)
    assert said.getvalue().count("A batch comes in parts of ") == 1, said.getvalue()
    assert mine[2].runs == [(1.0, 0.25, 1)]
    torch.testing.assert_close(weights(mine[0]), weights(by_hand[0]), rtol=1e-4, atol=1e-6)


@check
def a_limit_on_the_cpu_is_kept():
    """By the most memory that this process ever had; without the limit it takes more."""
    from dpcourse import dpsgd

    generator = torch.Generator("cpu").manual_seed(0)
    inputs, targets = torch.rand(1050, 1, 28, 28, generator=generator), torch.arange(1050) % 10
    data = dpsgd.Data(
        inputs[:1000], targets[:1000], inputs[1000:], targets[1000:], name="Coins", classes=(*"0123456789",)
    )
    MODELS["large"] = lambda: dpsgd.paper_cnn(generator=0)

    def most():
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def taken(expected_batch, memory):
        before = most()
        mine = parts("large", expected_batch=expected_batch)
        train(mine, data=data, device="cpu", steps=1, memory=memory)
        return most() - before, weights(mine[0])

    limit = 16e6
    dpsgd.Ledger(1e-5).after(1.0, 0.6, 2).epsilon()  # the account has arrays of its own, which are no tensors
    with contextlib.redirect_stdout(io.StringIO()) as said:
        taken(10, limit)
        (within, end), (without, other) = taken(600, limit), taken(600, None)
    assert said.getvalue().count("A batch comes in parts of ") == 1, said.getvalue()
    assert within <= limit, f"{within:,} bytes were taken"
    assert without > 1.5 * limit, f"only {without:,} bytes are needed"
    torch.testing.assert_close(end, other, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="memory must leave"):
        taken(10, 1e5)
