"""Matrix mechanisms against all patterns of small cases, closed forms, another implementation, and the noise itself."""

import itertools
import re

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import reference

from dpcourse import matrix

pytestmark = pytest.mark.in_turn("seconds of numbers")

known = reference["matrix"]


def triangle(rows):
    filled = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        filled[i, : len(row)] = row
    return filled


def patterns(steps, participations, separation):
    for size in range(1, participations + 1):
        for places in itertools.combinations(range(steps), size):
            if all(b - a >= separation for a, b in itertools.pairwise(places)):
                yield list(places)


def farthest(strategy, participations, separation):
    """By every pattern and every sign: a vector of norm at most 1 moves one coordinate of numbers no farther."""
    moves = 0.0
    for places in patterns(strategy.shape[1], participations, separation):
        signs = np.array(list(itertools.product([1, -1], repeat=len(places))))
        moves = max(moves, np.linalg.norm(signs @ strategy[:, places].T, axis=1).max())
    return moves


patterns_of_people = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(st.integers(0, 10**6), st.integers(1, 7), patterns_of_people, st.booleans())
def test_the_sensitivity_is_between_its_bounds_for_every_matrix(seed, steps, pattern, triangular):
    strategy = np.random.default_rng(seed).normal(size=(steps, steps))
    strategy = np.tril(strategy) if triangular else strategy
    low, high = matrix.sensitivity(strategy, *pattern)
    assert low <= farthest(strategy, *pattern) * (1 + 1e-12)
    assert farthest(strategy, *pattern) <= high


@given(st.integers(0, 10**6), st.integers(1, 7), patterns_of_people, st.booleans())
def test_the_sensitivity_of_a_filter_is_between_its_bounds_and_exact_where_coefficients_fall(
    seed, steps, pattern, fall
):
    rng = np.random.default_rng(seed)
    c = np.sort(rng.uniform(0, 1, steps))[::-1] if fall else rng.normal(size=steps)
    strategy = matrix.Filter(steps, tuple(c + (c[0] == 0)))
    low, high = matrix.sensitivity(strategy, *pattern)
    truth = farthest(strategy.matrix(), *pattern)
    assert low <= truth * (1 + 1e-12)
    assert truth <= high
    if fall:
        assert high == pytest.approx(low, rel=1e-12)


def with_decays(steps, decays):
    """1, and then 0.05 times the sum of the powers of the decays."""
    below = np.poly(decays)
    above = below + np.r_[0, 0.05 * sum(np.poly(np.delete(decays, i)) for i in range(len(decays)))]
    return matrix.Filter(steps, tuple(above), tuple(below))


@pytest.mark.parametrize("decays", [(0.999,), (0.9995, 0.999, 0.99), (0.9995, 0.999, 0.998, 0.99, 0.9, 0.3)])
def test_bounds_hold_where_decays_lie_near_each_other(decays):
    """There a filter in doubles has lost nine digits; here the quotient of the polynomials that the doubles are."""
    strategy = with_decays(1000, decays)
    with mpmath.workdps(80):
        top, rest = ([mpmath.mpf(v) for v in values] for values in (strategy.numerator, strategy.denominator))
        c = []
        for i in range(1000):
            before = sum(value * c[i - k] for k, value in enumerate(rest) if 1 <= k <= i)
            c.append(((top[i] if i < len(top) else 0) - before) / rest[0])
        truth = mpmath.sqrt(sum(value**2 for value in c))
        low, high = matrix.sensitivity(strategy)
        assert low <= truth <= high
        assert (high - low) / truth < 1e-11


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 4), st.integers(1, 4))
def test_one_participation_and_columns_apart_are_exact(seed, steps, participations, separation):
    rng = np.random.default_rng(seed)
    strategy = np.tril(rng.normal(size=(steps, steps)))
    once = np.linalg.norm(strategy, axis=0).max()
    assert matrix.sensitivity(strategy) == (pytest.approx(once, rel=1e-12), pytest.approx(once, rel=1e-12))
    rows, columns = np.indices(strategy.shape)
    strategy[rows - columns >= separation] = 0
    truth = farthest(strategy, participations, separation)
    assert matrix.sensitivity(strategy, participations, separation).upper == pytest.approx(truth, rel=1e-12)


def test_another_implementation_says_the_same():
    of_root, root = known["square_root_100"], matrix.square_root(100)
    squared = of_root["sensitivity_squared_4_participations_20_apart"]
    for bound in matrix.sensitivity(root, 4, 20):
        assert bound**2 == pytest.approx(squared, rel=1e-11)
    rows = matrix.errors(root) / matrix.sensitivity(root).upper
    assert np.mean(rows**2) == pytest.approx(of_root["mean_squared_row_of_decoder"], rel=1e-11)
    # its bound lets a person take part twice within the separation of one place, and so is a little larger
    found = matrix.sensitivity(triangle(known["random"]["rows"]), 3, 4).upper
    assert 0.999 < found / known["random"]["upper_3_participations_4_apart"] <= 1
    found = matrix.sensitivity(triangle(known["three_bands"]["rows"]), 3, 4)
    assert found.upper == pytest.approx(known["three_bands"]["sensitivity_3_participations_4_apart"], rel=1e-11)
    assert matrix.error(matrix.optimal(32)) == pytest.approx(known["optimal_32"]["error"], rel=2e-6)
    for bands, of_banded in known["banded_128"].items():
        assert matrix.error(matrix.banded(128, int(bands))) == pytest.approx(of_banded["error"], rel=1e-9)
    c = np.array(known["banded_128"]["8"]["coefficients"])
    assert matrix.banded(128, 8).numerator == pytest.approx(c / c[0], abs=1e-4)


@pytest.mark.parametrize("steps", [1, 2, 7, 64, 100])
def test_the_tree_gives_every_running_sum_from_what_is_complete(steps):
    decoder, strategy = matrix.tree(steps)
    assert (decoder @ strategy == matrix.running_sums(steps)).all()
    assert not np.triu(decoder, 1).any()
    assert not np.triu(strategy, 1).any()
    assert decoder.sum(axis=1).tolist() == [step.bit_count() for step in range(1, steps + 1)]
    assert strategy.sum(axis=0).max() <= steps.bit_length()


def test_the_square_root_squared_is_the_running_sums():
    root = matrix.square_root(200).matrix()
    assert np.allclose(root @ root, matrix.running_sums(200), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5), st.integers(1, 5))
def test_the_noise_is_what_the_inverse_gives(seed, steps, above, below):
    rng = np.random.default_rng(seed)
    strategy = matrix.Filter(steps, (1, *rng.uniform(-0.5, 0.5, above)), (1, *rng.uniform(-0.5, 0.5, below)))
    z = rng.normal(size=(steps, 3))
    found = np.array(list(strategy.noise(iter(z))))
    assert np.allclose(found, np.linalg.solve(strategy.matrix(), z), atol=1e-9)


def test_the_noise_of_tensors_is_that_of_arrays():
    torch = pytest.importorskip("torch")
    z = np.random.default_rng(0).normal(size=(9, 4))
    strategy = matrix.blt(9, buffers=2)
    found = torch.stack(list(strategy.noise(torch.tensor(z)))).numpy()
    assert np.allclose(found, list(strategy.noise(z)), atol=1e-12)


def test_noise_of_single_precision_is_that_of_the_strategy_also_where_decays_lie_near_each_other():
    """In float32 the fresh noise would come back with errors of 13: it would be that of another strategy, which nothing certifies."""
    torch = pytest.importorskip("torch")
    strategy = with_decays(2000, (0.9995, 0.998, 0.99, 0.95, 0.7))
    z = torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
    y = torch.stack(list(strategy.noise(z)))
    back = strategy.matrix() @ y.numpy()
    assert y.dtype == torch.float64
    assert np.allclose(back, z.numpy(), atol=1e-5)


@pytest.mark.parametrize("strategy", [matrix.square_root(12), matrix.banded(12, 4, 3, 4), matrix.blt(12, 2)])
def test_running_sums_of_the_noise_deviate_as_errors_say(strategy):
    """20,000 streams: the standard error of a deviation is 1/2 % of it."""
    z = np.random.default_rng(1).normal(size=(12, 20_000))
    size = matrix.sensitivity(strategy, 3, 4).upper
    found = np.std(np.cumsum(list(strategy.noise(size * z)), axis=0), axis=1)
    assert found == pytest.approx(matrix.errors(strategy, 3, 4), rel=0.025)
    assert matrix.errors(strategy.matrix(), 3, 4) == pytest.approx(matrix.errors(strategy, 3, 4), rel=1e-9)


def test_the_lower_bound_is_the_nuclear_norm():
    for steps in (1, 2, 5, 40):
        nuclear = np.linalg.svd(matrix.running_sums(steps), compute_uv=False).sum()
        assert matrix.error_at_least(steps, 1) == pytest.approx(nuclear / steps, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_no_factorisation_errs_less_than_the_lower_bound(seed, steps, participations, separation):
    if participations * separation > steps:
        return
    rng = np.random.default_rng(seed)
    strategy = matrix.square_root(steps).matrix()
    strategy = np.tril(strategy + rng.choice([0, 0.1, 1]) * rng.normal(size=strategy.shape))
    strategy[np.diag_indices(steps)] += 1e-3
    truth = farthest(strategy, participations, separation)
    rows = np.linalg.norm(np.linalg.solve(strategy.T, matrix.running_sums(steps).T), axis=0)
    assert truth * np.sqrt(np.mean(rows**2)) >= matrix.error_at_least(steps, participations) * (1 - 1e-9)


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_the_optimum_is_one(steps):
    """For any weights v, 2 tr((V^1/2 A'A V^1/2)^1/2) - sum v is at most steps times the square of every error."""
    strategy = matrix.optimal(steps)
    gram = matrix.running_sums(steps).T @ matrix.running_sums(steps)
    weights = np.diag(np.linalg.inv(strategy.T @ strategy) @ gram @ np.linalg.inv(strategy.T @ strategy))
    root = np.sqrt(weights)
    values = np.linalg.eigvalsh(root[:, None] * gram * root)
    least = 2 * np.sqrt(np.maximum(values, 0)).sum() - weights.sum()
    assert matrix.error(strategy) == pytest.approx(np.sqrt(least / steps), rel=1e-6)


@pytest.mark.parametrize(("bands", "pattern"), [(4, (1, 1)), (6, (3, 8)), (12, (3, 8)), (6, (3, 4)), (24, (3, 4))])
def test_no_other_coefficients_near_the_banded_optimum_are_better(bands, pattern):
    """Also where columns overlap, with more bands than steps between participations."""
    best, rng = matrix.banded(24, bands, *pattern), np.random.default_rng(0)
    least = matrix.error(best, *pattern)
    for _ in range(200):
        other = np.minimum.accumulate(
            np.clip(np.array(best.numerator) + np.r_[0, 0.02 * rng.normal(size=bands - 1)], 0, 1)
        )
        assert matrix.error(matrix.Filter(24, tuple(other)), *pattern) >= least * (1 - 1e-9)


@pytest.mark.parametrize(("steps", "pattern", "bands"), [(30, (5, 1), (1, 2, 30)), (64, (8, 8), (8, 64))])
def test_more_bands_are_never_worse(steps, pattern, bands):
    found = [matrix.error(matrix.banded(steps, some, *pattern), *pattern) for some in bands]
    assert all(more <= few * (1 + 1e-6) for few, more in itertools.pairwise(found)), found


@pytest.mark.weekly("a search over ten buffers")
def test_as_many_buffers_as_may_be_are_found():
    assert matrix.error(matrix.blt(500, 10)) < 1.002 * matrix.error(matrix.blt(500, 3))


@pytest.mark.weekly("eight searches for buffers")
def test_few_buffers_are_nearly_as_good_as_all_coefficients():
    of_buffers = [matrix.error(matrix.blt(200, buffers)) for buffers in (1, 2, 3)]
    assert of_buffers == sorted(of_buffers, reverse=True)
    assert of_buffers[-1] < 1.001 * matrix.error(matrix.banded(200, 200))
    assert of_buffers[-1] < matrix.error(matrix.square_root(200))


def test_many_participations_are_the_ends_of_a_pattern():
    """In every step: the person moves C x by C 1. Once in a while: only as often as there is room."""
    root = matrix.square_root(30)
    all_steps = np.linalg.norm(root.matrix().sum(axis=1))
    assert matrix.sensitivity(root, 100, 1).upper == pytest.approx(all_steps, rel=1e-12)
    assert matrix.sensitivity(root, 100, 30).upper == pytest.approx(matrix.sensitivity(root).upper, rel=1e-12)
    assert matrix.sensitivity(matrix.identity(30), 100, 7).upper == pytest.approx(5**0.5)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: matrix.running_sums(0), "steps must be a whole number >= 1, got 0"),
        (
            lambda: matrix.Filter(3, (0.0, 1.0)),
            "numerator must not begin with 0 (of coefficients that is c_0), got (0.0, 1.0)",
        ),
        (lambda: matrix.Filter(3, ()), "numerator must be a non-empty list of numbers, got ()"),
        (
            lambda: matrix.Filter(600, (1.0,), (1.0, -2.0)).coefficients,
            "denominator must have an inverse series that does not grow",
        ),
        (lambda: matrix.sensitivity([[1.0, np.nan]]), "strategy must be a Filter or a matrix of finite numbers"),
        (lambda: matrix.sensitivity(matrix.identity(3), 0), "participations must be a whole number >= 1, got 0"),
        (lambda: matrix.errors(np.ones((3, 3))), "strategy must be square and lower triangular"),
        (lambda: matrix.errors(np.eye(3), decoder=np.eye(3)), "decoder must give the running sums"),
        (lambda: matrix.error_at_least(3, 2, 2), "participations times separation must be at most steps, 3"),
        (lambda: matrix.Filter(3, (1.0,), (1e-160,)), "denominator must begin with a number from 1e-60 to 1e+60"),
        (lambda: matrix.Filter(3, (1.0, 1e200)), "numerator must begin with a number from 1e-60 to 1e+60 in size, and"),
        (lambda: matrix.sensitivity(np.eye(3) * 1e-170), "strategy must have a largest entry from 1e-60 to 1e+60"),
        (lambda: matrix.banded(3, 4), "bands must be a whole number from 1 to steps, 3, got 4"),
        (lambda: matrix.blt(3, 11), "buffers must be a whole number from 1 to 10, got 11"),
        (lambda: matrix.optimal(1001), "steps must be at most 1000, got 1001"),
    ],
)
def test_bad_input_is_refused_where_it_enters(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()
