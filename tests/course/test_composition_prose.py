"""What lessons 00 and 01 say in words and print in cells: each law against an independent computation."""

import itertools
import math
import re

import mpmath
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.integrate import quad
from scipy.optimize import brentq
from support import ROOT

from dpcourse import composition, course, gdp, pld, rdp
from dpcourse.course.composition import pictures
from dpcourse.notebook import attacker


def said(phrase, lesson=1):
    name = course.lesson(lesson).name
    text = (ROOT / f"solutions/{name}.md").read_text(encoding="utf-8")
    quiz = "\n".join(option.why for question in course.lesson(lesson).quiz for option in question.options)
    assert phrase in text + quiz, f"{name} does not say {phrase!r}"


def both_orders(p, q):
    return ((p, q), (q, p))


def spill(p, q, epsilon):
    """delta at epsilon, both orders; p, q: probabilities."""
    return max(np.maximum(0, a - math.exp(epsilon) * b).sum() for a, b in both_orders(p, q))


def response(epsilon):
    """Chances of (no, yes) if the truth is yes."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.array([1 - keep, keep])


# ---- 00: the list of all reports, and the standard error


def test_the_list_of_all_reports_is_epsilon_dp():
    """Every list, every true answers, one of them replaced."""
    chance = response(0.7)
    for people in (1, 2, 4):
        for answers in itertools.product([0, 1], repeat=people):
            other = (1 - answers[0], *answers[1:])
            for reports in itertools.product([0, 1], repeat=people):
                p, q = (
                    math.prod(chance[int(a == r)] for a, r in zip(data, reports, strict=True))
                    for data in (answers, other)
                )
                assert abs(math.log(p / q)) == pytest.approx(0.7, abs=1e-12)


def test_the_standard_error_is_that_of_fixed_women():
    n, share, keep = 200, 0.32, response(1.0)[1]
    rng = np.random.default_rng(0)
    fixed = np.arange(n) < share * n
    means = [np.where(rng.random(n) < keep, fixed, ~fixed).mean() for _ in range(6000)]
    drawn = [np.where(rng.random(n) < keep, x := rng.random(n) < share, ~x).mean() for _ in range(6000)]
    yes = share * keep + (1 - share) * (1 - keep)
    assert np.var(means) == pytest.approx(keep * (1 - keep) / n, rel=0.07)
    assert np.var(drawn) == pytest.approx(yes * (1 - yes) / n, rel=0.07)
    assert yes * (1 - yes) > 1.2 * keep * (1 - keep), "the two can be told apart"


# ---- 2: blocks, and a row replaced


def test_blocks_under_replacement():
    """Each block publishes its size with geometric noise: epsilon for a row added or removed, 0 for one replaced inside."""
    epsilon, outputs = 0.3, np.arange(-200, 206)

    def noisy(sizes):
        rate = math.exp(-epsilon)
        one, other = ((1 - rate) / (1 + rate) * rate ** abs(outputs - size) for size in sizes)
        return np.outer(one, other)

    def largest_ratio(before, after):
        return np.abs(np.log(noisy(before) / noisy(after))).max()

    assert largest_ratio((3, 2), (2, 2)) == pytest.approx(epsilon), "removed: one block changes"
    assert largest_ratio((3, 2), (3, 2)) == 0, "replaced inside a block: the sizes are what they were"
    assert largest_ratio((3, 2), (2, 3)) == pytest.approx(2 * epsilon), "replaced into another block: two epsilons"


# ---- 3: post-processing and attackers


def test_the_random_functions_send_most_outputs_to_one_result():
    g = np.random.default_rng(5).dirichlet(np.full(4, 0.05), size=10_000)
    assert (g.max(axis=1) > 0.9).mean() > 0.7
    said("ways that send most outputs nearly always to one result")


def odds_factor(belief, epsilon):
    """The largest factor on the odds of person 0's yes, over all reports of all; belief: table of answers -> weight."""
    people, chance, factors = len(next(iter(belief))), response(epsilon), []
    for reports in itertools.product([0, 1], repeat=people):
        likelihood = [0.0, 0.0]
        for truth in (0, 1):
            tables = {answers: weight for answers, weight in belief.items() if answers[0] == truth}
            likelihood[truth] = sum(
                weight * math.prod(chance[int(a == r)] for a, r in zip(answers, reports, strict=True))
                for answers, weight in tables.items()
            ) / sum(tables.values())
        factors.append(abs(math.log(likelihood[1] / likelihood[0])))
    return max(factors)


def test_the_odds_move_by_epsilon_if_the_others_are_known_or_tell_nothing():
    rng = np.random.default_rng(1)
    known = {(answer, 1, 0, 1): 0.5 for answer in (0, 1)}
    weights = {rest: rng.random() for rest in itertools.product([0, 1], repeat=3)}
    unrelated = {(answer, *rest): weight for answer in (0, 1) for rest, weight in weights.items()}
    for belief in (known, unrelated):
        assert odds_factor(belief, 1.0) == pytest.approx(1.0)


def test_the_odds_move_by_four_epsilon_in_a_family_who_answer_alike():
    family = {(answer,) * 4: 0.5 for answer in (0, 1)}
    assert odds_factor(family, 1.0) == pytest.approx(4.0)


# ---- 4: delta


def test_basic_composition_by_covered_part_and_spill():
    """Two random mechanisms, the second chosen by the first answer: epsilons and deltas add, in every sum of the proof."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        first = rng.dirichlet(np.ones(4), size=2)
        second = rng.dirichlet(np.ones(3), size=(2, 4))  # given each first answer
        epsilons = rng.uniform(0, 1, size=2)
        deltas = spill(*first, epsilons[0]), max(spill(*second[:, a], epsilons[1]) for a in range(4))
        p, q = (first[i][:, None] * second[i] for i in (0, 1))
        assert spill(p, q, epsilons.sum()) <= sum(deltas) + 1e-12
        covered = np.minimum(first[0], math.exp(epsilons[0]) * first[1])
        assert ((first[0] - covered)[:, None] * second[0]).sum() <= deltas[0] + 1e-12
        rest = np.maximum(0, second[0] - math.exp(epsilons[1]) * second[1])
        assert (covered[:, None] * rest).sum() <= deltas[1] + 1e-12


def test_the_delta_of_normal_noise_and_of_a_leak():
    epsilon = gdp.epsilon(1e-5, 1.0)
    density = mpmath.npdf
    with mpmath.workdps(30):
        loss = [mpmath.quad(lambda x: density(x, 1, 1), [times * epsilon + 0.5, 40]) for times in (1, 2)]
        above = mpmath.quad(lambda x: density(x, 1, 1) - mpmath.e**epsilon * density(x, 0, 1), [epsilon + 0.5, 20, 40])
    assert float(above) == pytest.approx(1e-5, rel=1e-6), "the same delta as the leak"
    assert round(float(loss[0]) / 1e-5) == 5
    said("passes ε five times as often as δ says")
    assert f"{float(loss[1]):.0e}" == "8e-17"
    leak = np.array([1e-5, 0, *(1 - 1e-5) * response(epsilon)])
    other = np.array([0, 1e-5, *(1 - 1e-5) * response(epsilon)[::-1]])
    assert spill(leak, other, epsilon) == pytest.approx(1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_a_harm_is_bounded(epsilon):
    """Any set of outputs of any mechanism, and a leak reaches delta where the harm could not happen before."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        p, q = rng.dirichlet(np.ones(5), size=2)
        delta, harm = spill(p, q, epsilon), rng.random(5) < 0.5
        assert p[harm].sum() <= math.exp(epsilon) * q[harm].sum() + delta + 1e-12


# ---- 5 and 6: the drift


def test_no_mechanism_drifts_faster_than_randomized_response():
    rng, found = np.random.default_rng(4), 0.0
    for _ in range(3000):
        q = rng.dirichlet(np.full(rng.integers(2, 6), 0.7)) + 1e-12
        p = q * np.exp(rng.choice([-1.0, 1.0], size=q.size) * rng.uniform(0.1, 2))
        p, q = p / p.sum(), q / q.sum()
        epsilon = np.abs(np.log(p / q)).max()
        if epsilon > 1e-6:
            share = (p * np.log(p / q)).sum() / (epsilon * math.tanh(epsilon / 2))
            found = max(found, share)
    assert 0.99 < found <= 1 + 1e-9
    assert response(0.7)[1] - response(0.7)[0] == pytest.approx(math.tanh(0.35))


@pytest.mark.parametrize(
    ("epsilon", "printed", "sharper"),
    [(0.1, 29, 26), (0.5, 187, 41), (0.7, None, 53), (1.0, None, 80), (2.0, None, 406)],
)
def test_where_advanced_wins_first(epsilon, printed, sharper):
    k = np.arange(1, 100_000)
    spread = np.sqrt(2 * k * math.log(1e5)) * epsilon
    for drift, first in ((math.expm1(epsilon), printed), (math.tanh(epsilon / 2), sharper)):
        wins = k[spread + k * epsilon * drift < k * epsilon]
        assert (wins[0] if wins.size else None) == first
    for number in filter(None, (26, 41, 53, 80, 406)):
        loss, log_p = composition.losses(epsilon, number)
        bound = math.sqrt(2 * number * math.log(1e5)) * epsilon + number * epsilon * math.tanh(epsilon / 2)
        assert np.exp(log_p[loss > bound]).sum() <= 1e-5, "with the sharper drift the bound still holds"


def test_the_bounds_cross_between_34_and_35():
    assert composition.advanced(0.1, 0, 34, 1e-6)[0] > 3.4
    assert composition.advanced(0.1, 0, 35, 1e-6)[0] < 3.5
    said("They cross between k = 34 and k = 35")


# ---- 7: the spill and the chance of a large loss


@pytest.mark.parametrize("epsilon_total", [0.0, 1.0, 2.5, 6.0, 7.0])
def test_the_sum_is_at_most_the_chance_of_a_large_loss(epsilon_total):
    loss, log_p = composition.losses(0.3, 20)
    chance = np.exp(log_p[loss > epsilon_total]).sum()
    delta = composition.optimal_delta(0.3, 0, 20, epsilon_total)
    assert delta < chance or delta == chance == 0


# ---- 7: the attack


def test_no_attack_is_right_more_often_than_half_and_half_of_delta_and_the_belief_reaches_it():
    """Every set of sequences of 3 reports with even odds; then the set where the belief in yes is above one half."""
    believe, best = course.lesson(1).exercise("belief_in_yes").reference, 0.0
    sequences = np.array(list(itertools.product([0, 1], repeat=3)))
    p, q = (response(0.5)[sequences if truth else 1 - sequences].prod(axis=1) for truth in (1, 0))
    for chosen in itertools.product([False, True], repeat=8):
        chosen = np.array(chosen)
        best = max(best, p[chosen].sum() / 2 + q[~chosen].sum() / 2)
    limit = (1 + composition.optimal_delta(0.5, 0, 3, 0.0)) / 2
    assert best == pytest.approx(limit, abs=1e-12)
    guess = np.array([believe(reports, np.full(3, 0.5), 0.5) > 0.5 for reports in sequences])
    assert p[guess].sum() / 2 + q[~guess].sum() / 2 == pytest.approx(limit, abs=1e-12)


def test_the_belief_is_the_share_of_yes_among_those_with_these_reports():
    """Bayes' rule by counting: 400,000 people of whom a share says yes, and all who have these three reports."""
    rng, epsilons, prior = np.random.default_rng(8), np.array([0.3, 1.2, 0.6]), 0.3
    truth = (rng.random(400_000) < prior).astype(int)
    reports = np.array([composition.randomized_response(truth, epsilon, rng) for epsilon in epsilons]).T
    for seen in ([1, 0, 1], [0, 1, 1], [0, 0, 0]):
        alike = truth[(reports == seen).all(axis=1)]
        believed = course.lesson(1).exercise("belief_in_yes").reference(np.array(seen), epsilons, prior)
        assert alike.mean() == pytest.approx(believed, abs=4.5 * math.sqrt(believed * (1 - believed) / alike.size))


def test_the_highest_belief_is_the_promise_and_is_reached_by_reports_of_yes_alone():
    believe, highest = (course.lesson(1).exercise(name).reference for name in ("belief_in_yes", "worst_posterior"))
    epsilons = np.array([0.3, 1.2, 0.6])
    for reports in itertools.product([0, 1], repeat=3):
        found, promised = believe(np.array(reports), epsilons, 0.2), highest(0.2, epsilons.sum())
        assert found == pytest.approx(promised) if all(reports) else found < promised


def test_the_numbers_in_the_hints():
    hints = {name: " ".join(course.lesson(1).exercise(name).hints) for name in course.lesson(1).functions}
    spread, drift = math.sqrt(200 * math.log(1e5)) * 0.1, 10 * math.expm1(0.1)
    assert f"the spread is {spread:.2f} and the drift {drift:.2f}." in hints["advanced_composition"]
    assert f"the terms are {composition.optimal_delta(1, 0, 2, 1):.3f}, 0 and 0." in hints["composed_delta"]
    assert (
        f"so the belief is {course.lesson(1).exercise('worst_posterior').reference(0.5, math.log(3)):.2f}."
        in (hints["worst_posterior"])
    )


# ---- 8: the moments accountant


def accountant(lam, k, epsilon=0.1, delta=1e-5):
    """(k alpha(lam) + ln(1/delta)) / lam - k epsilon, without cancellation."""
    flip = 1 / (1 + math.exp(epsilon))
    return (k * np.log1p(flip * np.expm1(-2 * lam * epsilon)) + math.log(1 / delta)) / lam


def test_for_few_answers_there_is_no_best_order():
    lam = np.geomspace(1e-3, 1e6, 20_000)
    for k in range(1, 18):
        above = accountant(lam, k)
        assert (above > 0).all(), "above k epsilon at every order"
        assert (np.diff(above) < 0).all(), "falling"
        assert above[-1] < 1e-4, "to k epsilon"
    for k in (18, 30, 100):
        assert (accountant(lam, k) < 0).any()
    said("this is so for every $k$ up to 17")


@pytest.mark.parametrize("adaptive", [0.2, 0.9])
def test_logarithms_of_moments_add_at_most_where_questions_follow_answers(adaptive):
    """The second mechanism is another one after each first answer; alpha is the largest of theirs."""
    first, gentle, harsh = response(0.5), response(adaptive / 2), response(adaptive)
    second = np.array([gentle, harsh])
    p = (first[:, None] * second).ravel()
    q = (first[::-1, None] * second[:, ::-1]).ravel()
    for lam in (0.5, 2.0, 10.0):
        moments = [np.log((r * (r / s) ** lam).sum()) for r, s in ((p, q), (first, first[::-1]), (harsh, harsh[::-1]))]
        assert moments[0] <= moments[1] + moments[2] + 1e-12


SIGMA, RATE, STEPS, LOG = 1.3, 256 / 60_000, 3516, math.log(1e5)


def log_sum(lam, sigma=SIGMA, rate=RATE):
    with mpmath.workdps(40):
        return mpmath.log(
            mpmath.fsum(
                mpmath.binomial(lam + 1, j)
                * mpmath.mpf(1 - rate) ** (lam + 1 - j)
                * mpmath.mpf(rate) ** j
                * mpmath.e ** (mpmath.mpf(j * (j - 1)) / (2 * sigma**2))
                for j in range(lam + 2)
            )
        )


def third_share(lam):
    third = lam * (lam + 1) / 2 * RATE**2 * math.expm1(1 / SIGMA**2)
    return third / float(mpmath.expm1(log_sum(lam)))


@pytest.mark.parametrize("lam", [1, 4, 9])
def test_the_sum_is_the_moment_of_the_loss(lam):
    """With her: E e^(lam L), by quadrature, for L = ln(1 + pX)."""
    sigma, rate = 1.0, 0.05

    def integrand(z):
        ratio = 1 - rate + rate * math.exp((2 * z - 1) / (2 * sigma**2))
        return ratio ** (lam + 1) * math.exp(-((z / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))

    moment = quad(integrand, -12, 30, points=[0, lam + 1], limit=200)[0]
    assert moment == pytest.approx(math.exp(float(log_sum(lam, sigma, rate))), rel=1e-8)


def test_where_the_three_terms_stop():
    lemma = SIGMA**2 * math.log(1 / (RATE * SIGMA))
    assert round(lemma, 1) == 8.8
    assert SIGMA >= 1
    assert RATE < 1 / (16 * SIGMA)
    assert all(third_share(lam) > 0.96 for lam in range(1, 10)), "where the lemma speaks, and one further"
    assert third_share(17) > 0.7
    assert third_share(19) < 2e-4


def test_three_terms_are_no_bound():
    orders = range(1, 31)
    whole = {lam: (STEPS * float(log_sum(lam)) + LOG) / lam for lam in orders}
    three = {
        lam: (STEPS * math.log1p(lam * (lam + 1) / 2 * RATE**2 * math.expm1(1 / SIGMA**2)) + LOG) / lam
        for lam in orders
    }
    best, tempted = min(whole, key=whole.get), min(three, key=three.get)
    assert (best, tempted) == (16, 21)
    assert whole[best] == pytest.approx(rdp.epsilon(SIGMA, RATE, STEPS, 1e-5, conversion="classic"), rel=2e-3)
    assert three[tempted] < whole[best], "they promise less than the accountant can certify"
    assert whole[tempted] > 2000
    said(f"its ε of {whole[best]:.2f} is")
    said(f"$p^2 T = {RATE**2 * STEPS:.3f}$")
    said(f"is {whole[best] / (RATE**2 * STEPS):.0f} times as large")


def test_the_rule_of_thumb_comes_from_the_three_terms():
    """The best order, its epsilon and the constant sqrt 2, where sigma is large."""
    sigma, rate, steps = 40.0, 0.01, 10_000
    mu = rate * math.sqrt(steps) / sigma
    epsilon = rdp.epsilon(sigma, rate, steps, 1e-5, conversion="classic")
    assert epsilon == pytest.approx(mu * math.sqrt(2 * LOG), rel=0.01)
    orders = np.arange(1, 400)
    values = [(steps * lam * (lam + 1) / 2 * (rate / sigma) ** 2 + LOG) / lam for lam in orders]
    assert orders[int(np.argmin(values))] == pytest.approx(epsilon * sigma**2 / (rate**2 * steps), rel=0.02)


@pytest.mark.parametrize("rate", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_the_theorem_for_sigma_holds_where_epsilon_is_at_most_p2_t(rate, delta):
    steps = round(1 / rate**2)
    for promised in (0.1, 1.0):
        sigma = 1.5 * rate * math.sqrt(steps * math.log(1 / delta)) / promised
        assert rdp.epsilon(sigma, rate, steps, delta) <= promised


@pytest.mark.parametrize("constant", [math.sqrt(2), 1.5, 10.0, 1000.0])
def test_without_its_condition_the_theorem_is_false_for_every_constant(constant):
    """One step, and so small a rate that the noise is nothing: delta is the chance to be drawn."""
    promised, rate = 0.1, 1e-4 / constant
    delta = rate / 100
    sigma = constant * rate * math.sqrt(math.log(1 / delta)) / promised
    assert pld.noisy_sgd(sigma, rate, 1).delta(promised).lower > 0.99 * rate > delta


def test_the_exact_epsilons_of_the_table():
    """One step in closed form: delta = p delta_G(e), where e^epsilon = 1 - p + p e^e; the others by Rényi, from above."""

    def delta_of_one(epsilon, sigma, rate):
        inner = math.log1p(math.expm1(epsilon) / rate) if epsilon < 600 else epsilon - math.log(rate)
        return rate * gdp.delta(inner, 1 / sigma)

    sigma = 1.5 * 0.001 * math.sqrt(LOG) / 0.1
    exact = brentq(lambda epsilon: math.log(delta_of_one(epsilon, sigma, 0.001) / 1e-5), 100, 400)
    assert exact == pytest.approx(230.88, abs=0.01)
    assert pld.noisy_sgd(0.15 * math.sqrt(LOG), 0.01, 10_000).epsilon(1e-5).lower > 40, "ten times p^2 T: 10 is broken"


def test_a_second_report_alone_gains_nothing_and_the_best_attack_is_the_majority():
    """The overlap of the hills by counting every sequence of reports."""
    keep = math.exp(0.5) / (1 + math.exp(0.5))
    for k, error in ((1, "0.378 for 1 report"), (2, None), (8, "0.248 for 8"), (20, "0.136 for 20")):
        yeses = np.arange(k + 1)
        ways = [math.comb(k, j) for j in yeses]
        p, q = (ways * share**yeses * (1 - share) ** (k - yeses) for share in (keep, 1 - keep))
        half = np.minimum(p, q).sum() / 2
        assert half == pytest.approx(1 - pictures.majority_is_right(0.5, k))
        if error:
            said(error)
            assert round(half, 3) == float(error[:5])
        else:
            assert half == pytest.approx(1 - keep), "as after one report"
    said("To go from 1 report to 2 gains nothing")


def test_forty_reports_often_prove_nothing_and_their_point_often_falls_below_the_curve():
    """The best rule of lesson 00, a yes where the report is yes, on games as they are played by hand."""
    said("A point may fall below the curve by chance, and even the best attacker often proves nothing.", 0)
    attack, rng, games = course.lesson(0).part("attack").ATTACK, np.random.default_rng(0), 400
    promise, nothing, below = attack.promise(), 0, 0
    for _ in range(games):
        is_in = rng.random(attacker.BY_HAND) < 0.5
        played = attacker.Played.of(is_in, attack.outputs(rng, is_in) == 1, "hand")
        nothing += played.mu < 0.01
        below += played.beta < promise(played.alpha) - 1e-9
    assert nothing > games / 3
    assert below > games / 3


def test_what_the_cup_holds():
    for total, words in ((1, "the cup holds 0.263"), (2, "at 2 it holds 0.0886"), (4, "At 4,"), (0, "δ is 0.505")):
        said(words)
        delta = composition.optimal_delta(0.5, 0, 8, total)
        assert f"{delta:.3g}" == (words.split()[-1] if total != 4 else "0")
    hills = pictures.two_hills(Figure(), k=8)
    overlap = float(re.search(r"adds up to ([\d.]+)", hills)[1])
    assert composition.optimal_delta(0.5, 0, 8, 0) == pytest.approx(1 - overlap, abs=5e-4), "1 less the overlap"
