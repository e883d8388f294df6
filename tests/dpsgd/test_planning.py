"""One plan: noise, steps, ledger and optimizer agree, and what is printed holds."""

import math

import pytest
import torch

from dpcourse import dpsgd, pld

pytestmark = pytest.mark.in_turn("seconds of convolutions")


@pytest.mark.one_case("each is a plan that is run")
@pytest.mark.parametrize("unit", ["a row emptied", "a row added or removed"])
def test_what_is_planned_can_be_run_to_its_end_and_costs_what_was_asked_for(unit):
    data = dpsgd.Data(torch.randn(200, 4), torch.randint(2, (200,)))
    people = 200 if unit == "a row emptied" else 250
    plan = dpsgd.plan(2.0, 1e-4, people, batch=25, epochs=1.5, clip_norm=0.5, unit=unit)
    assert plan.steps == round(1.5 * people / 25)
    model, ledger = torch.nn.Linear(4, 2), plan.ledger()
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.1, **plan.settings)
    run = dpsgd.fit(model, optimizer, ledger, data, plan.steps, device="cpu", public_n=plan.public_n, show=False)
    assert ledger.steps_left(plan.noise_multiplier, plan.sample_rate) == 0
    assert 0.995 * 2.0 < run.epsilon <= 2.0
    assert run.settings["neighbours"] == unit
    assert run.settings["clip_norm"] == 0.5


def test_what_is_printed_is_what_the_steps_cost():
    plan = dpsgd.plan(3.0, 1e-5, 60_000, 600, 10)
    curve = pld.noisy_sgd(plan.noise_multiplier, 0.01, 1000)
    said = repr(plan)
    for part in (
        f"ε at most {math.ceil(curve.epsilon(1e-5).upper * 1e4) / 1e4:.4f} at δ 1e-05, for a row emptied",
        "1,000 steps, Poisson batches with sample rate 0.01 (expected batch 600 of 60,000)",
        f"noise multiplier {plan.noise_multiplier:.6g}",
        f"μ at most {math.ceil(curve.mu(1e-5).upper * 1e4) / 1e4:.4f}, but for δ₀ 1e-05",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"delta": 1}, "delta must be"),
        ({"people": 0}, "people must be"),
        ({"batch": 101}, "batch must be a number in"),
        ({"epochs": 0}, "epochs must be"),
        ({"clip_norm": 0}, "clip_norm must be"),
        ({"unit": "a person"}, "unit must be one of"),
    ],
)
def test_bad_arguments_are_named(wrong, says):
    with pytest.raises(ValueError, match=says):
        dpsgd.plan(**{"epsilon": 1, "delta": 1e-3, "people": 100, "batch": 10, "epochs": 1} | wrong)
