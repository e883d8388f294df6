"""The recipes: they keep their budget, can be repeated, and learn the digits."""

import numpy as np
import pytest
import torch
from support import by_profile

from dpcourse import dpsgd
from dpcourse.dpsgd import recipes

pytestmark = pytest.mark.in_turn("seconds of training")

every_recipe = pytest.mark.parametrize("recipe", [recipes.DIGITS, recipes.FASHION_MNIST], ids=["digits", "fashion"])
SEEDS = range(by_profile("trainings on the digits", 2, 5))


def weights(model):
    return torch.cat([parameter.flatten() for parameter in model.parameters()])


@every_recipe
def test_a_recipe_spends_its_budget_and_no_more(recipe):
    spent = dpsgd.Ledger(recipe.delta).after(recipe.noise_multiplier, recipe.sample_rate, recipe.steps)
    assert 0.99 * recipe.epsilon <= spent.epsilon() <= recipe.epsilon
    assert recipe.epsilon <= 3
    assert recipe.delta <= 1e-5


@every_recipe
def test_a_recipe_starts_a_training_that_can_be_repeated(recipe):
    data = dpsgd.digits()
    model, optimizer, ledger = recipe.start(data, generator=3)
    again = recipe.start(data, generator=3)[0]
    assert torch.equal(weights(model), weights(again))
    assert not torch.equal(weights(model), weights(recipe.start(data)[0]))
    assert optimizer.expected_batch == recipe.sample_rate * len(data.train_inputs)
    assert (optimizer.noise_multiplier, optimizer.clip_norm) == (recipe.noise_multiplier, recipe.clip_norm)
    assert (ledger.delta, ledger.budget, ledger.epsilon()) == (recipe.delta, recipe.epsilon, 0)


def test_the_digits_are_learnt_within_epsilon_3():
    """93 % of the test part, on average over seeds; tests/benchmarks/accuracy.py has more of them, and Fashion-MNIST."""
    data, recipe, accuracies = dpsgd.digits(), recipes.DIGITS, []
    for seed in SEEDS:
        model, optimizer, ledger = recipe.start(data, generator=seed)
        run = dpsgd.fit(model, optimizer, ledger, data, recipe.steps, device="cpu", generator=seed, show=False)
        assert run.epsilon <= 3
        accuracies.append(run.accuracy)
    assert np.mean(accuracies) >= 0.93
