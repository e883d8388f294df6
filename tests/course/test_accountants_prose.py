"""What lesson 06 says of shuffled batches, of trials and of writers, each by another computation."""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp
from sklearn.datasets import load_digits

from dpcourse import dpsgd, gdp, pld, rdp, tradeoff
from dpcourse.base import rounding
from dpcourse.course.accountants import pictures as accountants_pictures
from dpcourse.course.accountants.quiz import QUIZ

SOURCE = (Path(__file__).parents[2] / "solutions/06-accountants.md").read_text(encoding="utf-8")
DELTA = 1e-5


def cell_with(words):
    """The one code cell of the lesson that holds these words."""
    (cell,) = [code for code in re.findall(r"(?ms)^```\{code-cell\} ipython3\n(.*?)^```", SOURCE) if words in code]
    return re.sub(r"(?m)^:tags:.*\n", "", cell)


@functools.cache
def lesson():
    """The names that the lesson's own cells define, of those that these tests call."""
    names = {"math": math, "np": np, "pld": pld, "gdp": gdp, "load_digits": load_digits}
    for code in map(cell_with, ("def gradients(", "def at_least(")):
        exec(re.split(r"(?m)^epoch_runs =", code)[0], names)  # no experiment
    names["writers"] = 13
    exec(cell_with("def by_writers(").split("\n\n\nsame, whole")[0], names)
    return names


# ---- the four accountants


def test_where_the_limit_crosses_the_exact_line():
    """By the values that the picture draws: with sigma = 0.5 around epoch 45, with 1.3 never."""
    epochs = np.asarray(accountants_pictures.TABLE["epochs"])
    little, much = (accountants_pictures.epsilons(noise, 256) for noise in (0.5, 1.3))
    assert ((little["limit"] > little["exact"]) == (epochs > 45)).all()
    assert np.interp(45, epochs, little["limit"] - little["exact"]) == pytest.approx(0, abs=0.1)
    assert (much["limit"] < much["exact"]).all()
    assert "too much before epoch 45, and too little after it. Move σ to 1.3: there it is below the truth" in SOURCE


def test_what_is_said_of_the_training_with_mia_and_without_her():
    runs, said = accountants_pictures.RUNS, SOURCE.split("What does one row change?")[1].split("```{code-cell}")[1]
    assert np.abs(runs["with_mia"] - runs["without"]).max() * 360 == pytest.approx(2, abs=0.01)
    assert "never more than two of the 360 images apart" in said
    assert f"the two models are {runs['apart_without'][-1]:.3f} apart" in said
    assert f"The one with other noise is {runs['apart_other_noise'][-1]:.0f} away" in said
    epsilon = runs["epsilon"]
    assert 3 / 6 < epsilon[1] < 3 / 5, "more than a sixth"
    assert epsilon[-1] - epsilon[-2] < 3 / 50, "less than a fiftieth"
    assert epsilon[30] / epsilon[1] == pytest.approx(math.sqrt(30), rel=0.02), "about like the root"


def test_basic_composition_leaves_the_picture_within_the_first_epoch():
    highest = max(curve.max() for curve in accountants_pictures.epsilons(0.5, 256).values())
    assert accountants_pictures.basic(0.5, 256, 1) > 1.05 * highest
    assert "With these settings it leaves the picture within the first epoch" in SOURCE


def test_the_quiz_on_whole_orders_says_what_they_cost():
    (said,) = [option.reply for question in QUIZ for option in question.options if "all orders give" in option.reply]
    run = 0.5, 256 / 60_000, 23_438
    whole = min(run[2] * rdp.divergence(*run[:2], a) + math.log(1 / DELTA) / (a - 1) for a in range(2, 257))
    everywhere = rdp.epsilon(*run, DELTA, conversion="classic")
    assert f"{rounding.up(everywhere, 2)} in place of {rounding.up(whole, 2)}" in said


def test_a_loop_of_ones_own_is_refused_one_step_more_than_was_planned():
    from dpcourse.dpsgd import BudgetError, Ledger

    ledger = Ledger(DELTA, 3.0, plan=[(3.4, 0.178, 168)])
    ledger.spend(3.4, 0.178, 168)
    with pytest.raises(BudgetError, match="has 0 steps left"):
        ledger.spend(3.4, 0.178)


# ---- what a promise is worth


def test_a_harm_of_one_percent():
    assert 0.038 < math.exp(1.34) * 0.01 + DELTA < 0.039
    assert "when it is filled: less than 3.9 %" in SOURCE


def test_the_leak_of_the_trap_is_that_of_lesson_05():
    assert "$\\varepsilon$ 3.21 in place of 2.99" in SOURCE  # test_dpsgd_prose.py computes it


def test_layers_that_are_clipped_one_by_one_reach_the_root_of_their_number():
    layers = np.random.default_rng(0).normal(size=(4, 30))
    whole = (layers / np.linalg.norm(layers, axis=1, keepdims=True)).ravel()
    assert np.linalg.norm(whole) == pytest.approx(math.sqrt(4)), "with four layers σ counts for half"


def test_of_12_people_one_may_move_a_clipped_mean_by_23():
    """The others want one thing, Mia with a long gradient the opposite: the mean turns round."""
    others, mia = np.tile([1.0, 0.0], (11, 1)), np.array([[-1e9, 0.0]])

    def sum_of_the_clipped_mean(gradients):
        mean = gradients.mean(axis=0)
        return len(gradients) * mean / max(1, np.linalg.norm(mean))

    moved = sum_of_the_clipped_mean(np.r_[others, mia]) - sum_of_the_clipped_mean(others)
    assert np.linalg.norm(moved) == pytest.approx(23)


def test_no_sum_of_the_recorded_run_is_longer_than_a_quarter_of_what_it_may_be():
    from dpcourse import dpsgd

    run = dpsgd.replay(show=False)
    share = np.array(run.lengths) / (np.array(run.batches) * run.settings["clip_norm"])
    assert 0.2 < share.max() < 0.25


# ---- shuffled batches


def deal(rng, runs, steps, sigma, mean):
    """Sums of `steps` batches as the tester sees them: dealt rows, gradients -1, Mia's such that her batch has this mean."""
    others, in_each = -1.0, 3
    gradients = np.full((runs, steps * in_each), others)
    gradients[:, 0] += mean  # +1 with Mia, 0 where her row is empty
    dealt = rng.permuted(gradients, axis=1).reshape(runs, steps, in_each)
    return dealt.sum(axis=2) + in_each + rng.normal(0, sigma, size=(runs, steps))


@pytest.mark.parametrize(("sigma", "steps", "c"), [(0.5, 10, 1.6), (1.0, 30, 3.0)])
def test_dealing_rows_out_accuses_mia_as_often_as_the_formula_says(sigma, steps, c):
    rng, runs = np.random.default_rng(0), 20_000
    for mean in (2, 1):  # -1 + 2 = 1 is Mia's gradient, -1 + 1 = 0 that of an empty row
        accused = deal(rng, runs, steps, sigma, mean).max(axis=1) > c
        chance = 1 - stats.norm.cdf((c - mean) / sigma) * stats.norm.cdf(c / sigma) ** (steps - 1)
        assert accused.mean() == pytest.approx(chance, abs=5 * math.sqrt(chance / runs))


@pytest.mark.parametrize(("sigma", "steps"), [(0.5, 10), (0.5, 1000), (1.0, 100), (1.0, 1000), (2.0, 100)])
def test_the_bounds_on_shuffling_are_in_order(sigma, steps):
    low, high = lesson()["at_least"](sigma, steps, DELTA), gdp.epsilon(DELTA, 1 / sigma)
    assert low < high
    assert lesson()["at_least"](sigma, 1, DELTA) <= high, "one batch is Gaussian, exactly"
    assert lesson()["at_least"](sigma, 1, DELTA) == pytest.approx(high, abs=2e-3)


def test_one_event_decides_the_bound_on_shuffling_and_the_true_delta_is_above_it():
    """For two batches the pair is two-dimensional: delta(epsilon) by integration lies between the two bounds."""
    sigma, x = 1.0, np.linspace(-7, 9, 801)
    once = {mean: stats.norm.pdf(x, mean, sigma) for mean in (0, 1, 2)}
    with_mia, without = (0.5 * (np.outer(once[mean], once[0]) + np.outer(once[0], once[mean])) for mean in (2, 1))
    for epsilon in (1.0, 2.0, 3.0):
        true = np.maximum(with_mia - math.exp(epsilon) * without, 0).sum() * (x[1] - x[0]) ** 2
        assert true <= gdp.delta(epsilon, 1 / sigma) * 1.001
        found = lesson()["at_least"](sigma, 2, true)
        assert found <= epsilon
        assert found > 0.8 * epsilon


def test_the_true_delta_of_dropped_rows_lies_between_the_two_bounds():
    """For two batches, by integration: Mia in either with probability 1/2, against nobody; in both directions."""
    sigma, x = 1.0, np.linspace(-7, 8, 751)
    once = [stats.norm.pdf(x, mean, sigma) for mean in (0, 1)]
    with_mia = 0.5 * (np.outer(once[1], once[0]) + np.outer(once[0], once[1]))
    without = np.outer(once[0], once[0])
    for epsilon in (0.3, 1.0, 2.0):
        true, back = (
            np.maximum(one - math.exp(epsilon) * other, 0).sum() * (x[1] - x[0]) ** 2
            for one, other in ((with_mia, without), (without, with_mia))
        )
        assert max(true, back) <= gdp.delta(epsilon, 1 / sigma) * 1.001
        assert 0.7 * epsilon < lesson()["at_least"](sigma, 2, true, (1, 0)) <= epsilon


def test_a_run_whose_batches_are_cut_keeps_delta_and_the_chance_of_a_cut():
    """One step, five rows that toss coins, of which two at most count: those with the smallest numbers, Mia among them."""
    sigma, p, room, epsilon, x = 1.0, 0.2, 2, 0.5, np.linspace(-12, 12, 4001)
    gradients = np.array([1.0, -1.0, -1.0, 1.0, 1.0])  # hers is the third
    laws = {cut: [np.zeros(x.size), np.zeros(x.size)] for cut in (True, False)}
    for coins in range(32):
        drawn = np.flatnonzero([coins >> i & 1 for i in range(5)])
        chance = p ** len(drawn) * (1 - p) ** (5 - len(drawn))
        for cut, pair in laws.items():
            counted = drawn[:room] if cut else drawn
            for filled in (0, 1):
                total = gradients[[i for i in counted if filled or i != 2]].sum()
                pair[filled] += chance * stats.norm.pdf(x, total, sigma)
    q = stats.binom.sf(room, 5, p)
    found = {
        cut: np.maximum(one - math.exp(epsilon) * other, 0).sum() * (x[1] - x[0]) for cut, (other, one) in laws.items()
    }
    assert found[True] <= found[False] + (1 + math.exp(epsilon)) * q
    assert found[True] != pytest.approx(found[False], rel=1e-3)


def test_shuffling_is_the_better_one_where_coins_draw_mia_often_and_the_worse_one_elsewhere():
    low = lesson()["at_least"]
    assert low(1.0, 100, DELTA) > 5 * pld.noisy_sgd(1.0, 0.01, 100).epsilon(DELTA).upper
    assert gdp.epsilon(DELTA, 1 / 0.5) < pld.noisy_sgd(0.5, 0.1, 10).epsilon(DELTA).lower
    assert math.floor(100 * low(1.0, 100, DELTA)) == 406
    assert "at least 4.06 in place of 0.72" in SOURCE


def test_batches_of_fixed_size_may_move_by_two_when_a_row_is_emptied():
    """One step, five rows, two drawn: gradients -1, Mia's +1 or 0. The curve of the two mixtures lies above C_p."""
    sigma, p, epsilon = 1.0, 2 / 5, 1.0

    def density(y, hers):
        return p * stats.norm.pdf(y, hers - 1, sigma) + (1 - p) * stats.norm.pdf(y, -2, sigma)

    for one, other in ((1, 0), (0, 1), (1, -1)):
        delta, _ = quad(
            lambda y, a=one, b=other: max(density(y, a) - math.exp(epsilon) * density(y, b), 0), -10, 8, limit=200
        )
        assert delta <= tradeoff.gaussian(2 / sigma).subsampled(p).delta(epsilon) + 1e-8
        if (one, other) == (1, 0):
            assert delta > 2 * tradeoff.gaussian(1 / sigma).subsampled(p).delta(epsilon), "a change of 1 is not enough"


# ---- trials


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_a_geometric_number_of_trials_is_three_times_epsilon(seed):
    """Trials with 30 possible scores, all ratios within e^epsilon: the law of the best, by its distribution function."""
    rng, epsilon, stop = np.random.default_rng(seed), 0.5, 0.01
    p = rng.dirichlet(np.full(30, 0.3)) + 1e-9
    q = p * np.exp(
        rng.choice([-0.5, 0.5], size=30) * epsilon
    )  # ratios within e^(epsilon / 2), and so after the division
    best = []
    for law in (p / p.sum(), q / q.sum()):
        below = np.r_[0, np.cumsum(law)]
        below[-1] = 1
        best.append(np.diff(stop * below / (1 - (1 - stop) * below)))
    loss = np.abs(np.log(best[1] / best[0])).max()
    assert loss <= 3 * epsilon
    fixed = [np.diff(np.r_[0, np.cumsum(law)] ** 100) for law in (p / p.sum(), q / q.sum())]
    assert np.abs(np.log(fixed[1][:3] / fixed[0][:3])).max() > 3 * epsilon, "a hundred trials, fixed: the price grows"


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_a_geometric_number_of_trials_has_the_divergences_of_the_lesson(seed):
    """Papernot & Steinke's theorem 2 against the law of the best, by its distribution function, at many orders."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(40, 0.5)) + 1e-6
    q = p * np.exp(rng.normal(0, rng.uniform(0.1, 1.5), size=40))
    p, q = p / p.sum(), q / q.sum()
    orders, tight = 1 + np.geomspace(0.05, 60, 80), 0.0

    def divergences(a, b):
        return logsumexp(np.outer(orders, np.log(a)) + np.outer(1 - orders, np.log(b)), axis=1) / (orders - 1)

    def best(law, mean):
        below = np.minimum(np.r_[0, np.cumsum(law)], 1)
        return np.diff(below / mean / (1 - (1 - 1 / mean) * below))

    for one, other in ((p, q), (q, p)):
        D = divergences(one, other)
        for mean in (1, 4, 64):
            more = min(2 * (1 - 1 / orders) * D + 2 * math.log(mean) / orders)
            bound = D + more + math.log(mean) / (orders - 1)
            true = divergences(best(one, mean), best(other, mean))
            assert (true <= bound + 1e-9).all()
            tight = max(tight, (true / bound).max())
    assert tight > 0.3


def test_sixteen_trials_ask_for_three_times_the_noise():
    for trials, noise in [(1, 1.422), (16, 4.410)]:
        assert pld.noisy_sgd(noise + 0.001, 0.1, 60 * trials).epsilon(DELTA).upper <= 3
        assert pld.noisy_sgd(noise - 0.001, 0.1, 60 * trials).epsilon(DELTA).lower > 3
    assert round(4.410 / 1.422, 1) == 3.1
    assert "16 trials ask for 3.1 times the noise" in SOURCE


# ---- writers


def test_the_digits_come_from_13_writers():
    data = load_digits()
    assert re.search(r"different 13\s+to the test set", data.DESCR)
    assert "This is a copy of the test set" in data.DESCR
    assert (len(data.data), round(1437 / 13)) == (1797, 111), "1,437 of them train"


def of_group(k, sigma, rate, steps):
    """epsilon of noisy SGD when k rows are filled, each drawn by its own coin: the losses on a grid, convolved."""
    drawn = stats.binom(k, rate).pmf(np.arange(k + 1))
    x = np.linspace(-12 * sigma, k + 10 * sigma, 20_001)
    with_them = drawn @ stats.norm.pdf(x, np.arange(k + 1)[:, None], sigma)
    loss, mass = np.log(with_them / stats.norm.pdf(x, 0, sigma)), with_them / with_them.sum()
    mean, variance, size = mass @ loss, mass @ (loss - mass @ loss) ** 2, 2**17
    width = 2 * (12 * math.sqrt(steps * variance) + 3 * loss[mass > 1e-20].max()) / size
    place = (loss - mean) / width
    low, share = np.floor(place).astype(int), place % 1
    spread = np.bincount(low % size, mass * (1 - share), size) + np.bincount((low + 1) % size, mass * share, size)
    total = np.fft.irfft(np.fft.rfft(spread) ** steps, size).clip(0)
    at = np.fft.fftfreq(size, 1 / size) * width + steps * mean
    return brentq(lambda e: total[at > e] @ -np.expm1(e - at[at > e]) - DELTA, 0, 100, xtol=1e-4)


def test_near_this_delta_a_group_of_rows_is_as_g_of_k_mu_says():
    rate, steps = 256 / 1437, 168
    sigma = dpsgd.noise_for(3.0, DELTA, rate, steps)
    mu = gdp.mu(3.0, DELTA)
    for k in (1, 2, 3, 10):
        assert of_group(k, sigma, rate, steps) == pytest.approx(gdp.epsilon(DELTA, k * mu), rel=0.01)
    assert [round(gdp.epsilon(DELTA, k * mu), 1) for k in (2, 3)] == [6.7, 11.0]
    assert round(gdp.epsilon(DELTA, 10 * mu)) == 56
    assert round(1437 / 13 * mu) == 79


def test_a_writer_moves_the_sum_of_clipped_writers_by_the_clip_norm():
    """Clipping per person: a whole block is taken out, with noise 0, and a step moves by R / (p n) and no more."""
    names = lesson()
    whole = names["by_writers"](0.0, 1.0, 1, 0, learning_rate=1.0, clip_norm=2.0)
    for hers in (0, 12):
        kept = names["blocks"][hers]
        names["blocks"][hers] = kept[:0]  # her row is empty; there are thirteen rows still
        without = names["by_writers"](0.0, 1.0, 1, 0, learning_rate=1.0, clip_norm=2.0)
        names["blocks"][hers] = kept
        assert np.linalg.norm(whole - without) == pytest.approx(2.0 / 13), "115 images pull further than R, and are cut"
