"""The canary audit of a run: it proves much where much leaks, nothing that is false, and finds noise that is missing."""

import numpy as np
import pytest
import torch
from torch import nn

from dpcourse import dpsgd

pytestmark = pytest.mark.in_turn("seconds of training")

CANARIES, WIDTH = 400, 8000


def audited(seed, noise=1.0, steps=4, rate=1.0, broken=1.0, monkeypatch=None, **more):
    torch.manual_seed(seed)
    data = dpsgd.Data(torch.randn(100, WIDTH) / WIDTH**0.5, torch.zeros(100, dtype=torch.int64))
    canaries = torch.randn(CANARIES, WIDTH), torch.randint(2, (CANARIES,))
    model, ledger = nn.Linear(WIDTH, 2), dpsgd.Ledger(1e-5)
    batch = rate * (100 + CANARIES)
    optimizer = dpsgd.NoisySGD(
        model.parameters(), 0.01, noise_multiplier=noise, clip_norm=1.0, expected_batch=batch, generator=seed
    )
    if monkeypatch is not None:
        real = optimizer._add_noise
        monkeypatch.setattr(optimizer, "_add_noise", lambda sums, scale: real(sums, scale * broken))
    return dpsgd.audited(
        model, optimizer, ledger, data, steps, canaries, generator=seed, device="cpu", show=False, **more
    )


def test_with_little_noise_much_is_proved_and_never_more_than_is_promised():
    found = [audited(seed) for seed in range(3)]
    assert all(0.5 < one.proved < one.promised == pytest.approx(2.0, rel=1e-9) for one in found)
    assert not any(one.refutes for one in found)
    one = found[0]
    assert one.guesses == 100
    assert one.scores[one.included].mean() > one.scores[~one.included].mean()
    assert repr(one).startswith(
        f"{one.correct} of 100 guesses about 400 canaries were right: with confidence 95% μ is at least "
    )


def test_with_much_noise_nothing_is_proved():
    assert audited(0, noise=100.0).proved < 0.3


def test_missing_noise_is_found(monkeypatch):
    found = audited(0, noise=8.0, broken=0.05, monkeypatch=monkeypatch)
    assert found.refutes
    assert found.promised == pytest.approx(0.25, rel=1e-9)
    assert repr(found).endswith("The promise is refuted.")


@pytest.mark.weekly("many trainings")
def test_who_is_in_is_tossed_and_the_number_of_people_counts_all():
    found = audited(1, rate=0.2, steps=2)
    assert found.run.settings["people"] == 100 + CANARIES
    assert 150 < found.included.sum() < 250
    assert not np.array_equal(found.included, audited(2, rate=0.2, steps=2).included)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"guesses": 7}, "guesses must be even"),
        ({"guesses": 500}, "at most the 400 canaries"),
        ({"confidence": 0.995}, r"confidence must be below 1 - 2 x canaries x delta, 0.992, got 0.995"),
        ({"checkpoint": "x"}, "none of checkpoint and public_n, got"),
    ],
)
def test_what_is_no_audit_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        audited(0, **wrong)
