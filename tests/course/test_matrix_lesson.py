"""What lesson 09 says in words, and what its pictures and its attack are made of."""

import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import integrate
from scipy.special import ndtr
from scipy.stats import norm

from dpcourse import course, gdp, matrix, plots
from dpcourse.course.matrix import better_than_root, pictures

pytestmark = pytest.mark.in_turn("seconds of checks")

POWERS = [2**h for h in range(1, 13)]


def tree_error(steps):
    decoder, strategy = matrix.tree(steps)
    return matrix.error(strategy, decoder=decoder)


def simple_errors(steps):
    sums = matrix.running_sums(steps)
    return matrix.error(np.eye(steps)), matrix.error(sums)


# ---- the text


@pytest.mark.parametrize("steps", POWERS[:9])
def test_the_tree_beats_fresh_noise_from_32_steps_on(steps):
    assert (tree_error(steps) < simple_errors(steps)[0]) == (steps >= 32)


def test_fresh_noise_beats_noise_on_each_sum_by_about_the_root_of_two():
    fresh, whole = simple_errors(400)
    assert whole / fresh == pytest.approx(math.sqrt(2), rel=0.002)


@pytest.mark.parametrize("steps", [2, 3, 16, 1000])
def test_no_sum_by_the_square_root_is_above_the_logarithm(steps):
    """And the last sum, the worst, has the sum of the squares of the coefficients."""
    errors = matrix.errors(matrix.square_root(steps))
    squares = np.cumprod(np.r_[1.0, [(1 - 1 / (2 * k)) ** 2 for k in range(1, steps)]])
    assert errors.max() == errors[-1] == pytest.approx(squares.sum(), rel=1e-9)
    assert errors.max() <= 1 + (1 + math.log(steps)) / math.pi


@pytest.mark.parametrize("seed", range(5))
def test_with_no_negative_entry_the_same_vector_each_time_moves_farthest(seed):
    rng = np.random.default_rng(seed)
    steps, participations, separation = 6, 3, 2
    strategy = np.tril(rng.uniform(0, 1, (steps, steps)))
    reference = course.lesson(9).exercise("sensitivity_often").reference(strategy, participations, separation)
    farthest = 0.0
    for pattern in itertools.combinations(range(steps), participations):
        if min(np.diff(pattern)) >= separation:
            vectors = rng.normal(size=(500, participations, 3))
            vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
            moved = np.einsum("tk,nkd->ntd", strategy[:, pattern], vectors)
            farthest = max(farthest, np.linalg.norm(moved, axis=(1, 2)).max())
    assert farthest <= reference + 1e-9


@pytest.mark.parametrize("turn", [-1.0, 0.0, 0.7, 2.0])
@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (1, 0), (1, 1)])
def test_who_chooses_mias_part_after_a_look_gains_nothing(turn, signs):
    """Two visits, c = 1, 1/2: the second vector depends on the first output, and every delta stays that of G_mu at most."""
    c_0, c_1 = 1.0, 0.5
    mu = math.hypot(c_0, c_1 + c_0)

    def second(first):
        return c_1 + c_0 * (signs[0] if first > turn else signs[1])

    def spilled(first, epsilon):
        """The delta of the second output, with what the first has told taken off epsilon; times the density of the first."""
        left, shift = epsilon - (c_0 * first - c_0**2 / 2), second(first)
        size = abs(shift)
        if not size:
            return norm.pdf(first - c_0) * max(0.0, -math.expm1(left))
        delta = ndtr(-left / size + size / 2) - math.exp(left) * ndtr(-left / size - size / 2)
        return norm.pdf(first - c_0) * delta

    for epsilon in (0.0, 0.5, 1.5, 3.0):
        parts = [(-9, turn), (turn, 10)]
        delta = sum(integrate.quad(spilled, *part, args=(epsilon,))[0] for part in parts)
        assert delta <= gdp.delta(epsilon, mu) + 1e-7
        if signs == (1, 1):
            assert delta == pytest.approx(gdp.delta(epsilon, mu), abs=1e-6)


def test_the_same_seed_a_second_time_leaves_no_noise_in_the_difference():
    first, second = np.arange(8.0), np.arange(8.0) + np.eye(8)[3]
    released = [
        np.cumsum(x + list(matrix.square_root(8).noise(np.random.default_rng(1).normal(size=8))))
        for x in (first, second)
    ]
    assert np.diff(released, axis=0)[0] == pytest.approx([0, 0, 0, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("steps", range(better_than_root.LEAST, better_than_root.MOST + 1, 6))
def test_the_least_error_of_the_exercise_is_found_by_another_search_too(steps):
    assert better_than_root.least(steps) == pytest.approx(matrix.error(matrix.banded(steps, steps)), rel=1e-4)
    assert matrix.error(matrix.square_root(steps)) > 1.02 * better_than_root.least(steps)


def padded(steps):
    return np.r_[better_than_root._best(8), np.zeros(steps - 8)]


def inverted(steps):
    return np.diff(matrix.Filter(steps, tuple(better_than_root._best(steps))).decoder, prepend=0.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (padded, "right for 8 steps"),
        (lambda steps: np.r_[1.0, 0.5, np.zeros(steps - 2)], "from c_2 on are 0"),
        (lambda steps: better_than_root._best(24)[:steps], "coefficients for 24 steps"),
        (lambda steps: better_than_root._best(steps)[::-1], "From the last to the first"),
        (inverted, "of C⁻¹"),
        (lambda steps: 0.6 ** np.arange(steps), "0.6 times"),
        (lambda steps: 1 / np.arange(1, steps + 1) ** 2, "square root has less"),
        (lambda steps: 0.9 * better_than_root.root(steps) + 0.1 * better_than_root._best(steps), "a little less than"),
    ],
)
def test_what_is_said_of_coefficients_is_seen_in_them(code, said):
    right, line = better_than_root._near(code(12), {"steps": 12})
    assert not right
    assert said in line


# ---- the attack


def test_the_difference_of_two_counts_is_all_that_an_attacker_can_know():
    attack = course.lesson(9).part("attack")
    is_in = np.repeat([False, True], 20_000)
    counts = attack.ATTACK.outputs(np.random.default_rng(0), is_in)
    fresh = np.diff(counts, axis=1, prepend=0.0)
    means = fresh[is_in].mean(axis=0)
    assert means == pytest.approx(np.eye(attack.STEPS)[attack.COMES - 1], abs=0.02)
    assert np.cov(fresh[~is_in].T) == pytest.approx(np.eye(attack.STEPS) / attack.MU**2, abs=0.02)
    assert attack.ATTACK.promise().delta(0.5) == pytest.approx(gdp.delta(0.5, attack.MU))


# ---- the pictures


@pytest.mark.parametrize("steps", [4, 64])
@pytest.mark.parametrize("name", pictures.NAMES)
def test_deviations_are_those_of_the_ways(name, steps):
    sums = matrix.running_sums(steps)
    decoder, strategy = {
        pictures.FRESH: (sums, np.eye(steps)),
        pictures.WHOLE: (np.eye(steps), sums),
        pictures.TREE: matrix.tree(steps),
        pictures.ROOT: (matrix.square_root(steps).matrix(), matrix.square_root(steps).matrix()),
    }[name]
    assert pictures.deviations(name, steps) == pytest.approx(matrix.errors(strategy, decoder=decoder), rel=1e-9)


@pytest.mark.parametrize("way", plots.NOISE_NAMES)
def test_noise_so_far_adds_up_what_each_step_adds_within_its_deviation(way):
    figure = Figure()
    plots.noise_so_far(figure, noise=way, step=64)
    left, right = figure.axes
    bars = [bar.get_height() for bar in left.patches]
    sums = right.lines[0].get_ydata()
    assert np.cumsum(bars) == pytest.approx(sums)
    assert np.abs(sums).max() < pictures.REACH > np.abs(bars).max()
    name = pictures.NOISES[way]
    assert np.sqrt(np.mean((sums / pictures.deviations(name, 64)) ** 2)) == pytest.approx(1, abs=0.25)


def test_noise_so_far_by_the_square_root_is_the_filters():
    root = matrix.square_root(pictures.STEPS)
    fresh = np.random.default_rng(pictures.SEED).normal(size=pictures.STEPS)
    noises = np.cumsum(list(root.noise(fresh))) * np.linalg.norm(root.coefficients)
    assert pictures._noise(pictures.ROOT) == pytest.approx(noises)


@pytest.mark.parametrize("step", range(1, 17))
def test_the_hatched_blocks_are_complete_and_hold_each_step_once(step):
    figure = Figure()
    told = plots.tree_blocks(figure, step=step)
    (panel,) = figure.axes
    hatched = [patch for patch in panel.patches if patch.get_hatch()]
    steps = [
        at
        for patch in hatched
        for at in range(round(patch.get_x() + 0.46), round(patch.get_x() + 0.46 + patch.get_width() + 0.08))
    ]
    assert sorted(steps) == list(range(1, step + 1))
    assert len(hatched) == step.bit_count()
    assert "hatched" in told


@pytest.mark.parametrize("way", plots.ONE_NOISE)
def test_what_is_left_of_one_noise_is_what_was_added(way):
    figure = Figure()
    plots.one_noise(figure, noise=way, lag=pictures.LAGS)
    left, right = figure.axes
    added = [bar.get_height() for bar in left.patches]
    assert right.lines[0].get_ydata() == pytest.approx(np.cumsum(added))
    end = right.lines[0].get_ydata()[-1]
    root = math.comb(2 * pictures.LAGS, pictures.LAGS) / 4**pictures.LAGS
    wanted = {plots.ONE_NOISE[0]: 1, plots.ONE_NOISE[1]: 0, plots.ONE_NOISE[2]: root}
    assert end == pytest.approx(wanted.get(way, 1 / (1 + 1 / 2 + 3 / 8 + 5 / 16)), abs=1e-3)


@pytest.mark.parametrize("steps", [4, 64, 1024])
def test_no_way_is_below_the_bound_that_is_drawn(steps):
    figure = Figure()
    plots.noise_of_sums(figure, steps=steps)
    (panel,) = figure.axes
    *ways, bound = panel.lines
    assert bound.get_ydata()[0] == pytest.approx(matrix.error_at_least(steps))
    for way, name in zip(ways, pictures.LOOKS, strict=True):
        error = math.sqrt(np.mean(pictures.deviations(name, steps) ** 2))
        assert f"{error:.2f}" in way.get_label()
        assert error > bound.get_ydata()[0]
