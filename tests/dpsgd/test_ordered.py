"""Training without coins: the noise is what the strategy says, the account is that of one Gaussian step, and it learns."""

import re

import numpy as np
import pytest
import torch

from dpcourse import dpsgd, gdp, matrix

PLAN = {"epsilon": 2.0, "delta": 1e-4, "people": 20, "batch": 5, "epochs": 3}


def steps_of(optimizer, parameter, steps):
    """What each step without any row moves the weights by."""
    seen = []
    for _ in range(steps):
        before = parameter.detach().clone()
        optimizer.step()
        seen.append((before - parameter.detach()).numpy())
    return np.array(seen)


def noisy(strategy, optimizer=dpsgd.NoisySGD, **settings):
    parameter = torch.nn.Parameter(torch.zeros(6, dtype=torch.float64))
    given = {"lr": 1.0, "noise_multiplier": 2.0, "clip_norm": 0.5, "expected_batch": 4.0, "generator": 3} | settings
    return parameter, optimizer([parameter], strategy=strategy, **given)


@pytest.mark.parametrize("strategy", [matrix.square_root(8), matrix.banded(8, 3, 2, 4), matrix.blt(8, 2)])
def test_the_noise_of_a_step_is_fresh_noise_less_what_is_remembered(strategy):
    (fresh, plain), (parameter, remembering) = noisy(None), noisy(strategy)
    z, y = steps_of(plain, fresh, 8), steps_of(remembering, parameter, 8)
    assert np.allclose(strategy.matrix() @ y, z, atol=1e-12)
    assert not np.allclose(y[1:], z[1:])
    with pytest.raises(ValueError, match="the strategy has noise for 8 steps, and all of them were taken"):
        remembering.step()


def test_a_saved_optimizer_goes_on_exactly():
    strategy = matrix.blt(8, 2)
    parameter, whole = noisy(strategy)
    expected = steps_of(whole, parameter, 8)
    parameter, first = noisy(strategy)
    seen = steps_of(first, parameter, 3)
    again, second = noisy(strategy, generator=99)
    with torch.no_grad():
        again.copy_(parameter)
    second.load_state_dict(first.state_dict())
    assert np.allclose(np.concatenate([seen, steps_of(second, again, 5)]), expected, atol=1e-12)
    for other in (None, matrix.blt(8, 3), matrix.Filter(8, (1, 0.5))):
        with pytest.raises(ValueError, match="state_dict must be of an optimizer with the same strategy as this one"):
            noisy(other)[1].load_state_dict(first.state_dict())


def test_the_account_is_that_of_one_gaussian_step():
    plan = dpsgd.in_order(**PLAN)
    fine = matrix.sensitivity(plan.strategy.matrix(), 3, 4).upper
    assert plan.mu == pytest.approx(fine / plan.noise_multiplier, rel=1e-9)
    assert 2.0 * (1 - 1e-6) < gdp.epsilon(1e-4, plan.mu) <= 2.0
    assert plan.ledger().epsilon() == pytest.approx(2.0, rel=2e-3)
    assert f"ε at most {2.0:.4f} at δ 0.0001, for a row emptied" in repr(plan).replace(
        "ε at most 2 ", "ε at most 2.0000 "
    )


def test_each_row_is_once_in_an_epoch_and_always_as_far_apart():
    plan = dpsgd.in_order(**PLAN | {"people": 18})
    batches = [batch.tolist() for batch in plan.batches(generator=1)]
    assert len(batches) == plan.steps == 12
    assert sorted(row for batch in batches[:4] for row in batch) == list(range(18))
    assert batches[:4] == batches[4:8] == batches[8:]


def test_fewer_rows_apart_need_more_noise_and_more_memory_less():
    once, often = (dpsgd.in_order(**PLAN | {"people": 200, "epochs": epochs}) for epochs in (1, 3))
    assert often.noise_multiplier > once.noise_multiplier
    fresh = dpsgd.in_order(**PLAN | {"people": 200}, strategy=matrix.identity(120))
    assert matrix.error(often.strategy, 3, 40) < matrix.error(fresh.strategy, 3, 40)


@pytest.mark.in_turn("seconds of training")
def test_noise_that_remembers_learns_more_than_fresh_noise_without_coins():
    data = dpsgd.digits()
    loss = torch.nn.CrossEntropyLoss(reduction="none")

    def accuracy(strategy, seed):
        plan = dpsgd.in_order(1.0, 1e-5, len(data), 48, 3, strategy=strategy)
        model = dpsgd.logistic(shape=(1, 8, 8), generator=0)
        optimizer = dpsgd.NoisySGD(model.parameters(), lr=1.0, generator=seed, **plan.settings)
        for batch in plan.batches(generator=seed):
            optimizer.accumulate(model, loss, *data.chosen(batch))
            optimizer.step()
        inputs, targets = next(iter(data.tests(10**6)))
        return float((model(inputs).argmax(1) == targets).float().mean())

    steps = 3 * -(-len(data) // 48)
    found = [np.mean([accuracy(strategy, seed) for seed in range(3)]) for strategy in (None, matrix.identity(steps))]
    assert found[0] > found[1] + 0.03


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dpsgd.in_order(**PLAN | {"epsilon": 0}), "epsilon must be a number in (0, inf)"),
        (lambda: dpsgd.in_order(**PLAN | {"delta": 1}), "delta must be a number in (0, 1)"),
        (lambda: dpsgd.in_order(**PLAN | {"batch": 21}), "batch must be at most people, 20, got 21"),
        (lambda: dpsgd.in_order(**PLAN | {"epochs": 0.5}), "epochs must be a whole number >= 1"),
        (
            lambda: dpsgd.in_order(**PLAN, strategy=matrix.identity(5)),
            "strategy must be a matrix.Filter of 12 steps, got 5",
        ),
        (lambda: noisy(matrix.identity(5).matrix()), "strategy must be None or a matrix.Filter, got ndarray"),
        (
            lambda: noisy(matrix.Filter(2000, np.poly([0.9] * 9), np.poly([0.9995] * 9))),
            "strategy must be one whose noise can be made in double precision",
        ),
        (lambda: noisy(matrix.identity(5), generator="secure"), "strategy must be left out with generator='secure'"),
        (lambda: noisy(matrix.identity(5))[1].tie(dpsgd.Ledger(1e-5), 40), "tie takes an optimizer without a strategy"),
    ],
)
def test_what_is_not_covered_is_refused(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


def test_fit_refuses_noise_that_remembers():
    model = torch.nn.Linear(4, 2)
    optimizer = dpsgd.NoisyAdam(
        model.parameters(), 0.1, noise_multiplier=1.0, clip_norm=1.0, expected_batch=5, strategy=matrix.identity(9)
    )
    data = dpsgd.Data(torch.randn(20, 4), torch.randint(2, (20,)))
    with pytest.raises(ValueError, match="fit takes an optimizer without a strategy"):
        dpsgd.fit(model, optimizer, dpsgd.Ledger(1e-5), data, 3, show=False)
