"""Audits: every bound holds as often as it says, and finds what is broken."""

import bisect
import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from dpcourse import audit, gdp
from dpcourse.tradeoff import approx_dp, gaussian

pytestmark = pytest.mark.in_turn("seconds of numbers")

FAILURE = 0.05


def chance(successes, trials, p):
    """Pr[Binomial(trials, p) >= successes], by scipy's own law."""
    return stats.binom.sf(successes - 1, trials, p)


def normal_scores(rng, mu, runs, digits=None):
    """Scores of the Gaussian mechanism with and without the person; rounded, they have ties."""
    scores = rng.normal(mu, 1, runs), rng.normal(0, 1, runs)
    return scores if digits is None else tuple(np.round(side, digits) for side in scores)


# ---- one threshold


@given(st.integers(1, 300), st.data(), st.floats(0.5, 0.999999))
def test_clopper_pearson_is_scipys(trials, data, confidence):
    errors = data.draw(st.integers(0, trials))
    exact = stats.binomtest(errors, trials).proportion_ci(2 * confidence - 1, method="exact").high
    assert audit.clopper_pearson(errors, trials, confidence) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("p", [0.001, 0.05, 0.3, 0.5, 0.9])
def test_clopper_pearson_is_too_small_in_at_most_five_of_a_hundred(p):
    errors = np.arange(41)
    too_small = audit.clopper_pearson(errors, 40) < p
    assert stats.binom.pmf(errors, 40, p)[too_small].sum() <= FAILURE


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("threshold", [-0.5, 0.5, 1.5])
def test_a_fixed_threshold_accuses_in_at_most_five_of_a_hundred(mu, threshold):
    """Exactly: over all numbers of false alarms and misses in 30 runs each."""
    alarms = stats.binom.pmf(np.arange(31), 30, stats.norm.sf(threshold))
    misses = stats.binom.pmf(np.arange(31), 30, stats.norm.cdf(threshold - mu))
    assert alarms @ (bounds_of_thirty(threshold) > mu) @ misses <= FAILURE


@functools.cache
def bounds_of_thirty(threshold):
    """The bound on mu by numbers of false alarms and of misses in 30 runs each."""
    told = [np.repeat([9.0, -9.0], [errors, 30 - errors]) for errors in range(31)]
    return np.array([[audit.mu_lower_bound(-b, a, threshold=threshold) for b in told] for a in told])


@given(st.floats(0.1, 3), st.floats(0, 0.2))
def test_epsilon_of_known_errors(epsilon, delta):
    """Very many runs of randomized response that fails with delta: the bound comes close to epsilon, from below."""
    runs = 10**5
    kept = delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    told = np.repeat([1.0, 0.0], [round(runs * kept), runs - round(runs * kept)])
    bound = audit.epsilon_lower_bound(told, 1 - told, delta=delta, threshold=0.5)
    best = math.log((kept - delta) / (1 - kept))
    assert best - 0.2 < bound < best
    assert best == pytest.approx(epsilon)


def test_a_score_at_the_threshold_is_no_alarm_and_a_miss():
    at, above = np.zeros(50), np.ones(50)
    assert audit.mu_lower_bound(above, at, threshold=0) > 1
    assert audit.mu_lower_bound(at, at - 1, threshold=0) == 0


def test_epsilon_looks_in_both_directions():
    scores_in, scores_out = np.repeat([1.0, 0.0], [500, 500]), np.repeat([1.0, 0.0], [1, 999])
    one_way = audit.epsilon_lower_bound(scores_in, scores_out, threshold=0.5)
    assert one_way == pytest.approx(audit.epsilon_lower_bound(-scores_out, -scores_in, threshold=-0.5))
    assert one_way > math.log(0.45 / 0.006)


# ---- the threshold chosen on the data


def accused(rng, audits, mu, claim, runs, **options):
    draws = (normal_scores(rng, mu, runs, **options) for _ in range(audits))
    return sum(audit.mu_lower_bound(*scores) > claim for scores in draws)


@pytest.mark.parametrize("digits", [None, 0])
def test_the_best_of_many_thresholds_accuses_in_at_most_five_of_a_hundred(digits):
    wrong = accused(np.random.default_rng(1), 200, mu=2.0, claim=2.0, runs=10_000, digits=digits)
    assert chance(wrong, 200, FAILURE) > 1e-6


def test_without_the_correction_the_choice_accuses_far_more_often():
    """Every score is tried as a threshold, each at 95 %: about one innocent in five is accused."""
    rng, wrong = np.random.default_rng(2), 0
    bounds = audit.clopper_pearson(np.arange(10_001), 10_000, 1 - FAILURE / 2)
    for _ in range(200):
        scores_in, scores_out = normal_scores(rng, 2.0, 10_000)
        thresholds = np.sort(np.r_[scores_in, scores_out])[::10]
        alarms = 10_000 - np.searchsorted(np.sort(scores_out), thresholds, side="right")
        misses = np.searchsorted(np.sort(scores_in), thresholds, side="right")
        wrong += (special.ndtri(1 - bounds[alarms]) - special.ndtri(bounds[misses])).max() > 2
    assert chance(wrong, 200, FAILURE) < 1e-6


def test_an_audit_comes_close_with_many_runs():
    rng = np.random.default_rng(3)
    bounds = [audit.mu_lower_bound(*normal_scores(rng, 2.0, runs)) for runs in (100, 1000, 10_000, 100_000)]
    assert bounds == sorted(bounds)
    assert 1.9 < bounds[-1] < 2.0


@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 400))
def test_scores_matter_by_their_order_only(seed, n_in, n_out):
    rng = np.random.default_rng(seed)
    scores_in, scores_out = rng.normal(1, 1, n_in), rng.normal(0, 1, n_out)
    bound = audit.mu_lower_bound(scores_in, scores_out)
    assert bound == audit.mu_lower_bound(np.exp(scores_in), np.exp(scores_out))
    assert bound == pytest.approx(audit.mu_lower_bound(-scores_out, -scores_in))


def test_a_perfect_attack_proves_much_and_a_coin_nothing():
    ones, zeros = np.ones(1000), np.zeros(1000)
    assert audit.mu_lower_bound(ones, zeros) > 4.5
    assert audit.epsilon_lower_bound(ones, zeros) > 4
    assert audit.mu_lower_bound(zeros, zeros) == audit.epsilon_lower_bound(zeros, zeros) == 0
    assert audit.mu_lower_bound(zeros, ones) == 0


# ---- the band


@pytest.mark.parametrize("digits", [None, 0])
def test_the_band_holds_everywhere_at_once(digits):
    """The curve of the scores' own tests, mixed where there are ties, against both sides of 400 bands."""
    rng, alpha = np.random.default_rng(4), np.linspace(0, 1, 401)
    values = np.arange(-8, 11) if digits == 0 else np.linspace(-8, 10, 4001)
    steps = 0.5 if digits == 0 else 0.0
    curve = np.interp(
        alpha, stats.norm.sf(values + steps)[::-1], stats.norm.cdf(values + steps - 1.5)[::-1], left=1, right=0
    )
    below, above = 0, 0
    for _ in range(400):
        band = audit.empirical_tradeoff(*normal_scores(rng, 1.5, 150, digits=digits))
        below += bool((curve < band.lower(alpha) - 1e-4).any())
        above += bool((curve > band.upper(alpha) + 1e-4).any())
    assert chance(below + above, 400, FAILURE) > 1e-6


def test_the_band_shrinks_and_holds_what_was_seen():
    rng = np.random.default_rng(5)
    widths = []
    for runs in (100, 1000, 10_000):
        band = audit.empirical_tradeoff(*normal_scores(rng, 1.0, runs))
        assert band.alpha[0] == 0
        assert band.beta[0] == 1
        assert (np.diff(band.alpha) >= 0).all()
        assert (np.diff(band.beta) <= 0).all()
        inner = (band.alpha > 0.05) & (band.alpha < 0.95)
        assert (band.lower(band.alpha[inner]) <= band.beta[inner]).all()
        assert (band.beta[inner] <= band.upper(band.alpha[inner])).all()
        widths.append(band.upper(0.2) - band.lower(0.2))
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_the_band_refutes_what_mu_refutes():
    """A promise is refuted where its curve passes above the band; the band is a little wider, for its other side."""
    band = audit.empirical_tradeoff(*normal_scores(np.random.default_rng(6), 3.0, 1000))
    alpha = np.linspace(0, 1, 1001)
    assert (gaussian(2.0)(alpha) > band.upper(alpha)).any()
    assert (gaussian(3.0)(alpha) <= band.upper(alpha)).all()
    assert (approx_dp(0.5)(alpha) > band.upper(alpha)).any()


def test_a_refutation_is_a_test_below_the_promise():
    scores = normal_scores(np.random.default_rng(9), 2.0, 1000)
    found = audit.refutation(gaussian(1.0), *scores, confidence=0.99)
    assert found.beta < found.least == gaussian(1.0)(found.alpha)
    assert gaussian(2.0)(found.alpha) < found.beta
    assert audit.refutation(gaussian(2.0), *scores) is None


# ---- many canaries in one run


def theorem(correct, guesses, canaries, epsilon, delta):
    """Theorem 5.2 of Steinke, Nasr & Jagielski (2023), word for word."""
    law = stats.binom(guesses, math.exp(epsilon) / (1 + math.exp(epsilon)))
    steps = [law.pmf(np.arange(max(correct - i, 0), correct)).sum() / i for i in range(1, canaries + 1)]
    return min(1.0, law.sf(correct - 1) + 2 * canaries * delta * max(steps))


@given(st.data(), st.integers(1, 60), st.integers(0, 40), st.floats(0, 5), st.sampled_from([0, 1e-6, 1e-3, 0.1]))
def test_one_run_is_the_theorem(data, guesses, abstained, epsilon, delta):
    correct = data.draw(st.integers(0, guesses))
    canaries = guesses + abstained
    found = audit.one_run_p_value(correct, guesses, epsilon, delta, canaries)
    assert found == pytest.approx(theorem(correct, guesses, canaries, epsilon, delta), rel=1e-9, abs=1e-14)


@given(st.integers(1, 60), st.floats(0, 3), st.floats(0, 0.3))
def test_mechanisms_that_keep_their_promise_stay_within_it(m, epsilon, delta):
    """Randomized response of each canary; each laid open with delta; all laid open at once with delta."""
    kept, v = math.exp(epsilon) / (1 + math.exp(epsilon)), np.arange(m + 1)
    pure, bound = (np.array([audit.one_run_p_value(n, m, epsilon, d) for n in v]) for d in (0, delta))
    assert (chance(v, m, kept) <= pure * (1 + 1e-9)).all()
    assert (chance(v, m, delta + (1 - delta) * kept) <= bound * (1 + 1e-9)).all()
    assert (delta + (1 - delta) * chance(v, m, kept) <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_one_run_of_gaussian_noise_is_accused_in_at_most_five_of_a_hundred(mu):
    """Canaries in directions of their own are guessed rightly with chance Phi(mu / 2), independently."""
    m, right = 300, stats.norm.cdf(mu / 2)
    first = bisect.bisect_right(range(m + 1), mu, key=lambda v: audit.one_run_mu_lower_bound(v, m))  # the bounds rise
    assert m // 2 < first <= m + 1
    assert chance(first, m, right) <= FAILURE


def test_one_run_bounds_rise_with_the_right_guesses_and_fall_with_delta():
    bounds = [audit.one_run_epsilon_lower_bound(correct, 100) for correct in range(50, 101, 10)]
    assert bounds == sorted(bounds)
    assert bounds[0] == 0
    assert bounds[-1] == pytest.approx(math.log(0.05**0.01 / (1 - 0.05**0.01)), abs=2e-6)
    with_delta = [audit.one_run_epsilon_lower_bound(95, 100, delta=delta) for delta in (0, 1e-5, 1e-3)]
    assert with_delta == sorted(with_delta, reverse=True)
    mus = [audit.one_run_mu_lower_bound(correct, 300) for correct in range(150, 301, 15)]
    assert mus == sorted(mus)
    assert audit.one_run_mu_lower_bound(50, 100) == 0


@pytest.mark.parametrize(("correct", "guesses", "mu"), [(29, 30, 0.45), (90, 100, 0.46), (254, 300, 0.45)])
def test_one_run_proves_no_less_mu_than_a_detour_over_epsilon_and_delta(correct, guesses, mu):
    """mu: what the binomial theorem refutes at some (epsilon, delta(epsilon, mu)), 1,000 canaries."""
    epsilons = np.linspace(0, 20, 401)
    detour = [audit.one_run_p_value(correct, guesses, e, gdp.delta(e, mu), 1000) for e in epsilons]
    assert min(detour) <= FAILURE
    assert audit.one_run_mu_lower_bound(correct, guesses, 1000) > mu


def test_the_mu_of_one_run_as_in_an_independent_computation():
    """1,000 canaries, confidence 0.95; the recursion in another program, to three digits."""
    for correct, guesses, mu in (
        (10, 10, 0.323),
        (29, 30, 0.576),
        (90, 100, 0.603),
        (254, 300, 0.587),
        (700, 1000, 0.357),
    ):
        assert audit.one_run_mu_lower_bound(correct, guesses, 1000) == pytest.approx(mu, abs=6e-4)


@pytest.mark.parametrize(("correct", "guesses", "canaries", "mu"), [(7, 8, 8, 0.7), (6, 8, 12, 0.3), (10, 10, 40, 1.0)])
def test_no_law_of_the_right_guesses_passes_the_recursion_and_one_reaches_it(correct, guesses, canaries, mu):
    """The largest chance of so many right guesses over all laws that mu-GDP allows, by a linear program."""
    k = np.arange(guesses + 1)
    points = stats.norm.cdf(np.linspace(-8, 8, 1500))  # where 1 - G_mu has its tangents
    slope = np.exp(-mu * stats.norm.ppf(points) - mu**2 / 2)
    height = stats.norm.cdf(stats.norm.ppf(points) + mu)
    rows, sides = [], []
    for j in range(1, guesses + 1):
        hit, missed = np.where(k >= j, k, 0) / canaries, np.where(k >= j - 1, guesses - k, 0) / canaries
        rows.append(hit - slope[:, None] * missed)  # hit <= height + slope (missed - point)
        sides.append(height - slope * points)
    solved = optimize.linprog(
        -(k >= correct).astype(float), np.vstack(rows), np.concatenate(sides), np.ones((1, k.size)), [1.0]
    )
    most = -solved.fun

    def refuted(failure):
        return audit._refuted_by_one_run(np.array([mu]), correct, guesses, canaries, failure)[0]

    assert 0.01 < most < 0.99
    assert not refuted(most * (1 - 1e-3))
    assert refuted(most * (1 + 1e-3))


# ---- six mechanisms


def canary_scores(mechanism, vector, runs, rng, look):
    """What an attack sees of a canary that joins the first of two empty rounds; promise mu = 1, clip_norm = 1."""
    nobody, canary = np.zeros((0, vector.size)), vector[None]
    return tuple(
        np.array([look(mechanism((first, nobody), 1.0, 1.0, rng)) for _ in range(runs)]) for first in (canary, nobody)
    )


def along(sums):
    return sums[0].sum()


def difference(sums):
    return (sums[0] - sums[1]).sum()


@pytest.mark.parametrize(
    ("mechanism", "look", "accused"),
    [
        (audit.correct, along, False),
        (audit.correct, difference, False),
        (audit.half_noise, along, True),
        (audit.wrong_sensitivity, along, True),
        (audit.reused_noise, difference, True),
        (audit.unclipped, along, True),
    ],
)
def test_each_broken_mechanism_is_found_and_the_correct_one_is_not(mechanism, look, accused):
    scores = canary_scores(mechanism, np.full(9, 2.0), 500, np.random.default_rng(7), look)
    assert (audit.mu_lower_bound(*scores, confidence=0.999) > 1) is accused


def test_reused_noise_is_hidden_from_whoever_looks_at_one_round():
    scores = canary_scores(audit.reused_noise, np.full(9, 2.0), 500, np.random.default_rng(8), along)
    assert audit.mu_lower_bound(*scores, confidence=0.999) < 1


@pytest.mark.parametrize(("people", "accused"), [(0, False), (1, True), (2, True)])
def test_a_divisor_made_from_the_data_shows_in_the_size_of_the_noise(people, accused):
    """One more person, whose vector is 0; nobody and one person are divided by the same."""
    rng, nobody = np.random.default_rng(10), np.zeros((0, 16))
    sizes = [
        [-np.linalg.norm(audit.divided_by_people((np.zeros((n, 16)), nobody), 1.0, 1.0, rng)[0]) for _ in range(300)]
        for n in (people + 1, people)
    ]
    assert (audit.mu_lower_bound(*sizes, confidence=0.999) > 1) is accused


@given(st.integers(0, 2**32))
def test_the_correct_mechanism_clips_by_length_and_its_noise_does_not_depend_on_the_data(seed):
    vectors = np.random.default_rng(seed).normal(0, 3, (5, 4))
    lengths = np.linalg.norm(vectors, axis=1)
    seen = audit.correct((vectors, -vectors), 2.0, 0.5, seed) - audit.correct(
        (vectors[:0], vectors[:0]), 2.0, 0.5, seed
    )
    clipped = (vectors * np.minimum(1, 2 / lengths)[:, None]).sum(axis=0)
    assert np.allclose(seen, [clipped, -clipped])


def test_the_noise_of_the_correct_mechanism():
    """Deviation clip_norm / mu = 4 in both rounds, independent: 20,000 numbers, five deviations of their own."""
    rounds = np.zeros((2, 1, 5000))
    noise = np.concatenate([audit.correct(rounds, 2.0, 0.5, seed) for seed in range(2)], axis=1)
    assert np.std(noise) == pytest.approx(4, rel=5 / math.sqrt(2 * noise.size))
    assert abs(np.corrcoef(noise)[0, 1]) < 5 / math.sqrt(noise.shape[1])


def test_suspects_are_the_six_in_some_order():
    vectors = np.random.default_rng(0).normal(0, 3, (6, 3))
    names = set()
    for seed in range(5):
        seen = {letter: box((vectors, vectors), 1.0, 1.0, 9) for letter, box in audit.suspects(seed).items()}
        own = [mechanism((vectors, vectors), 1.0, 1.0, 9) for mechanism in audit.MECHANISMS]
        order = [next(i for i, sums in enumerate(own) if np.array_equal(sums, box)) for box in seen.values()]
        assert sorted(order) == [0, 1, 2, 3, 4, 5]
        names.add(tuple(order))
    assert len(names) > 1


# ---- bad input


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: audit.mu_lower_bound([], [1.0]), "scores_in must be a non-empty list of numbers"),
        (lambda: audit.mu_lower_bound([1.0], [math.nan]), "every entry of scores_out"),
        (lambda: audit.mu_lower_bound([1.0], [1.0], confidence=95), r"confidence must be a number in \(0, 1\), got 95"),
        (lambda: audit.epsilon_lower_bound([1.0], [1.0], delta=1), r"delta must be a number in \[0, 1\), got 1"),
        (lambda: audit.clopper_pearson(5, 4), "errors must be at most trials, got 5 of 4"),
        (lambda: audit.clopper_pearson(0.5, 4), "errors must be a whole number >= 0, got 0.5"),
        (lambda: audit.clopper_pearson(1, [4, 4.5]), "trials must be a whole number >= 1, got 4.5"),
        (lambda: audit.clopper_pearson(math.inf, math.inf), "trials must be a whole number >= 1, got inf"),
        (lambda: audit.one_run_p_value(5, 4, 1.0), "correct <= guesses <= canaries must hold, got 5, 4, 4"),
        (lambda: audit.one_run_mu_lower_bound(3, 4, canaries=2), "must hold, got 3, 4, 2"),
        (lambda: audit.correct(np.zeros((2, 3)), 1.0, 1.0), "rounds must be two arrays"),
        (lambda: audit.correct(np.zeros((2, 3, 4)), 0.0, 1.0), "clip_norm must be"),
    ],
)
def test_bad_input_is_refused_where_it_enters(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize(("share", "ceiling"), [(1.0, 0.341), (0.3, 0.584), (0.1, 0.689)])
def test_one_run_with_ever_more_canaries_comes_to_a_ceiling_below_the_truth(share, ceiling):
    """For mu = 1, at 95 %; the ceilings, for the number of canaries going to infinity, come from another program."""
    cut = optimize.brentq(lambda cut: stats.norm.sf(cut - 0.5) + stats.norm.cdf(-cut - 0.5) - share, 0, 10)
    right = stats.norm.sf(cut - 0.5) / share
    canaries = 10_000
    proved = audit.one_run_mu_lower_bound(round(right * share * canaries), round(share * canaries), canaries)
    assert proved == pytest.approx(ceiling, abs=0.003)
