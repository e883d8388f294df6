"""What lesson 05 says of the number of rows, each by another computation."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dpcourse import pld, tradeoff
from dpcourse.course.dpsgd import trainers

SOLUTIONS, SOURCE_NAME = Path(__file__).parents[2] / "solutions", "05-dp-sgd.md"
SOURCE = (SOLUTIONS / SOURCE_NAME).read_text(encoding="utf-8")
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


# ---- find the leak


def trainers_of(source):
    """What the lesson's cell of the three trainers defines."""
    (cell,) = (code for code in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", source, re.DOTALL) if "def trainer_a" in code)  # fmt: skip
    world = {"np": np}
    exec(cell, world)
    return world


@pytest.mark.parametrize("language", ["", "zh/"])
def test_the_trainers_of_the_text_are_those_of_the_check(language):
    shown = trainers_of((SOLUTIONS / f"{language}{SOURCE_NAME}").read_text(encoding="utf-8"))
    for letter, trainer in trainers.TRAINERS.items():
        filled = np.arange(40) % 2 == 0
        mine, theirs = (
            each(filled, np.random.default_rng(3)) for each in (shown[f"trainer_{letter.lower()}"], trainer)
        )
        assert np.array_equal(mine, theirs)
        assert mine.shape == (40, trainers.STEPS + 1)


@pytest.mark.in_turn("seconds of checks")
def test_a_keeps_its_promise_also_where_mia_is_looked_for_best():
    """A hundred noisy sums of A, whatever the weights are: Mia's gradient is never longer than R, and the log says nothing new."""
    rng = np.random.default_rng(4)
    filled = rng.random(40_000) < 0.5
    published = trainers.trainer_a(filled, rng)
    updates, log = published[:, :-1], published[:, -1]
    assert np.array_equal(log, np.abs(updates).mean(axis=1))
    before = np.cumsum(updates, axis=1) - updates
    others = np.clip(before[:, :, None] - trainers.ROWS[1:], -1, 1).sum(axis=2) * trainers.RATE
    along = (updates / trainers.LEARNING_RATE * trainers.RATE * trainers.N + others).sum(axis=1)
    found = tradeoff.TradeOff.from_samples(along[~filled], along[filled])
    alpha = np.array([0.1, 0.3, 0.5, 0.7])
    assert np.all(found(alpha) > trainers.promise()(alpha) - 0.02)
    assert found(0.3) == pytest.approx(trainers.promise()(0.3), abs=0.02), "and reaches it nearly"


def test_what_b_and_c_tell():
    """The weight of B stays where nobody is drawn, as often as four rows or five leave all out; C's loss is far larger with Mia."""
    rng = np.random.default_rng(5)
    for is_filled, rows in ((False, 4), (True, 5)):
        filled = np.full(4000, is_filled)
        still = np.mean(trainers.trainer_b(filled, rng)[:, :-1] == 0)
        chance = (1 - trainers.RATE) ** rows
        assert still == pytest.approx(chance, abs=5 * math.sqrt(chance * (1 - chance) / 400_000))
        losses = trainers.trainer_c(filled, rng)[:, -1]
        assert np.mean((losses > 0.6) == is_filled) > 0.9
