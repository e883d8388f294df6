"""What lesson 05 says of the number of rows, each by another computation."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dpcourse import pld, tradeoff

SOURCE = (Path(__file__).parents[2] / "solutions/05-dp-sgd.md").read_text(encoding="utf-8")
DELTA = 1e-5


def test_the_recipe_of_which_the_lesson_speaks():
    from dpcourse import dpsgd

    data, recipe = dpsgd.digits(), dpsgd.recipes.DIGITS
    weights = sum(part.numel() for part in recipe.model(data.shape, len(data.classes), 0).parameters())
    assert (weights, recipe.steps, len(data.train_inputs)) == (810, 90, 1437)
    assert (recipe.noise_multiplier, recipe.sample_rate, recipe.epsilon) == (3.49, 0.25, 3.0)
    said = "weights, steps, people, rng = 810, 90, 1437"
    assert said in SOURCE
    assert "have 810 weights, 90 steps and 1,437 people" in SOURCE


@pytest.mark.parametrize(("weights", "steps", "n"), [(810, 90, 1437), (50, 4, 30), (7850, 15, 60_000)])
def test_the_size_of_the_noise_tells_the_number_of_rows_as_g_mu_does(weights, steps, n):
    """The test by the sum of squares, exactly by the law of chi-squared: it is the most powerful of all tests."""
    total, ratio = stats.chi2(weights * steps), (1 + 1 / n) ** 2
    mu = math.sqrt(2 * weights * steps) * math.log(1 + 1 / n)
    alpha = np.linspace(0.01, 0.99, 99)
    beta = total.sf(total.ppf(alpha) * ratio)  # small sums speak for one row more
    assert np.abs(beta - tradeoff.gaussian(mu)(alpha)).max() < 0.02


def test_a_tester_who_sees_whole_steps_errs_as_often_as_predicted():
    """Steps of NoisySGD with the divisor p n of the table that is there: the gradients are 0, the noise is drawn."""
    rng, runs, weights, steps, n = np.random.default_rng(0), 1000, 100, 20, 60

    def sums_of_squares(rows):
        updates = rng.normal(size=(runs, steps * weights)) / (0.1 * rows)
        return (updates**2).sum(axis=1)

    without, with_mia = sums_of_squares(n), sums_of_squares(n + 1)
    predicted = tradeoff.gaussian(math.sqrt(2 * weights * steps) * math.log(1 + 1 / n))
    for alpha in (0.1, 0.3, 0.5):
        beta = np.mean(with_mia >= np.quantile(without, alpha))
        assert beta == pytest.approx(predicted(alpha), abs=0.06)
        same = np.mean(sums_of_squares(n) >= np.quantile(without, alpha))
        assert same == pytest.approx(1 - alpha, abs=0.06), "a divisor that does not change tells nothing"


def test_what_the_leak_makes_of_the_budget():
    mu = math.sqrt(2 * 810 * 90) * math.log(1 + 1 / 1437)
    run, leak = pld.noisy_sgd(3.49, 0.25, 90), pld.gaussian(1 / mu)
    epsilons = [round(curve.epsilon(DELTA).upper, 2) for curve in (run, leak, run @ leak)]
    assert epsilons == [2.99, 0.99, 3.21]
    assert [round(30 * n / 256) for n in (1437, 1438)] == [168, 169]
