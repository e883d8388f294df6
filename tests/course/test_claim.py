"""Lesson 10: ten reports of which seven claim too much, the six claims, and what is said of groups and days."""

import math

import numpy as np
import pytest
from course.judging import drawn
from scipy.special import ndtri

from dpcourse import course, gdp, pld, rdp
from dpcourse.checking import RIGHT, WRONG
from dpcourse.course.claim import reports
from dpcourse.course.claim.claims import CLAIMS, RHO, VIEWS, epsilon_after, for_person, zcdp_epsilon
from dpcourse.course.claim.pictures import NAMES, belief_at_most

pytestmark = pytest.mark.in_turn("seconds of checks")

REPORT = course.lesson(10).exercise("report")


def epsilon_by(found):
    """A report whose epsilon is `found` of a run for which one is proved."""

    def report(run):
        *before, epsilon, proved = reports.honest(run)
        return (*before, epsilon if epsilon == math.inf else found(run), proved)

    return report


def runs_of(run, **changed):
    """The certified interval of a run by coins, by pld itself."""
    of = {"noise": run["noise_multiplier"], "steps": run["steps_planned"], "group": run["rows_each"], "width": 1e-3}
    of |= changed
    rate = run["batch"] / run["people"] / run["rows_each"]
    return pld.noisy_sgd(of["noise"], rate, of["steps"], group=of["group"]).epsilon(run["delta"], of["width"])


def by_kind(coins, shuffled=lambda run: reports.epsilon_of(run)):
    return epsilon_by(lambda run: coins(run) if run["sampler"] == "coins" else shuffled(run))


def epochs(run):
    return run["steps_planned"] * run["batch"] / run["people"] / run["rows_each"]


def dealt(root):
    """By coins as is certified; shuffled batches as a Gaussian answer whose μ is root(run) / σ."""
    return by_kind(
        lambda run: reports.epsilon_of(run),
        lambda run: gdp.epsilon(run["delta"], root(run) / run["noise_multiplier"]),
    )


HONEST = {
    "what is certified": reports.honest,
    "the same in another order": by_kind(
        lambda run: runs_of(run, noise=run["noise_multiplier"] / 3 * 3).upper,
        lambda run: gdp.epsilon(
            run["delta"], math.sqrt(math.ceil(epochs(run))) / (run["noise_multiplier"] / run["rows_each"])
        ),
    ),
    "certified more closely": by_kind(lambda run: runs_of(run, width=1e-6).upper),
    "rounded up": epsilon_by(lambda run: math.ceil(100 * reports.epsilon_of(run)) / 100),
    "by Rényi where a person has one row": by_kind(
        lambda run: (
            reports.epsilon_of(run)
            if run["rows_each"] > 1
            else rdp.epsilon(run["noise_multiplier"], run["batch"] / run["people"], run["steps_planned"], run["delta"])
        )
    ),
}
TOO_MUCH = {
    "the training loss": lambda run: reports.honest(run | {"stopped_by": "plan"}),
    "steps taken": lambda run: (
        reports.honest(run | {"steps_planned": run["steps_taken"]})
        if run["stopped_by"] == "test accuracy"
        else reports.honest(run)
    ),
    "one epoch": by_kind(
        lambda run: runs_of(run, steps=round(run["steps_planned"] / epochs(run))).upper,
        lambda run: gdp.epsilon(run["delta"], 1 / run["noise_multiplier"]),
    ),
    "a row for a person": by_kind(lambda run: runs_of(run, group=1).upper),
    "the limit": by_kind(
        lambda run: gdp.epsilon(
            run["delta"],
            run["rows_each"]
            * math.sqrt(epochs(run) * run["batch"] / run["people"] / run["rows_each"])
            * math.sqrt(math.expm1(1 / run["noise_multiplier"] ** 2)),
        )
    ),
    "coins for shuffled": epsilon_by(lambda run: runs_of(run).upper),
    "σ over the rows": by_kind(
        lambda run: runs_of(run, noise=run["noise_multiplier"] / run["rows_each"], group=1).upper
    ),
    "every step an answer": dealt(lambda run: run["rows_each"] * math.sqrt(run["steps_planned"])),
    "the root of the rows": dealt(lambda run: math.sqrt(run["rows_each"] * math.ceil(epochs(run)))),
    "the broken epoch": dealt(lambda run: run["rows_each"] * math.sqrt(math.floor(epochs(run)))),
    "the audit's μ": epsilon_by(lambda run: gdp.epsilon(run["delta"], reports.honest(run)[-1])),
    "the lower end": by_kind(lambda run: runs_of(run).lower),
    "δ forgotten": lambda run: (run["rows_each"], 0, *reports.honest(run)[2:]),
    "accuracy for proof": lambda run: (
        *reports.honest(run)[:-1],
        -2 * float(ndtri(1 - run["right"] / run["guesses"])),
    ),
}


def verdict_on(report, seed=0):
    cases = drawn(REPORT.id, seed)
    return REPORT.judge(cases, REPORT.probe(report, cases))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_report_passes(name):
    verdict = verdict_on(HONEST[name])
    assert (verdict.state, verdict.points) == (RIGHT, REPORT.points), verdict


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_report_that_claims_too_much_is_found_by_its_name_and_keeps_the_points_of_the_rest(name):
    verdict = verdict_on(TOO_MUCH[name])
    assert (verdict.state, verdict.misconception) == (WRONG, name), verdict
    lost = {"one epoch": 3, "the limit": 2, "the lower end": 2, "steps taken": 4, "the audit's μ": 3}.get(name, 1)
    assert verdict.points == REPORT.points - lost, verdict
    assert f"right everywhere, for {REPORT.points - lost} points" in repr(verdict)


def test_every_wrong_epsilon_is_told_of_which_run():
    for run in (case["run"] for case in drawn(REPORT.id, 0)):
        least = reports.epsilon_of(run)
        _, told = reports.of_epsilon(1.0 if least == math.inf else 0.9 * least, run)
        how = ("by coins" if run["sampler"] == "coins" else "shuffled",)
        how += (
            ("the training loss stopped",)
            if least == math.inf
            else ("one row",)
            if run["rows_each"] == 1
            else ("rows to",)
        )
        assert all(word in told for word in how), told


def test_a_report_without_a_right_line_has_no_points():
    verdict = verdict_on(lambda run: (7, 0.5, "none", 1, 0.0, 50.0))
    assert (verdict.state, verdict.points) == (WRONG, 0), verdict


def test_a_report_that_says_nothing_is_not_accepted():
    verdict = verdict_on(epsilon_by(lambda run: math.inf))
    assert (verdict.state, verdict.misconception) == (WRONG, "no ε at all")
    assert "more than half as large again" in repr(verdict)


def test_shuffled_batches_are_accounted_as_gaussian_answers_of_whole_epochs():
    run = next(case["run"] for case in drawn(REPORT.id, 0) if case["run"]["sampler"] == "shuffled")
    mu = math.sqrt(math.ceil(epochs(run))) / run["noise_multiplier"]
    assert reports.epsilon_of(run) == pytest.approx(gdp.epsilon(run["delta"], mu), rel=1e-12)
    part = run | {"steps_planned": run["steps_planned"] - 1}
    assert reports.epsilon_of(part) == reports.epsilon_of(run), "what is dealt out in part counts as a whole epoch"


# ---- the six claims


def test_the_zcdp_formula_is_the_best_order_of_the_classic_conversion():
    orders = 1 + np.geomspace(1e-3, 1e5, 200_001)
    for rho in (0.015, 0.81, 2.56):
        found = np.min(orders * rho + math.log(1e10) / (orders - 1))
        assert zcdp_epsilon(rho, 1e-10) == pytest.approx(found, rel=1e-6)
        assert zcdp_epsilon(rho, 1e-10) > gdp.epsilon(1e-10, math.sqrt(2 * rho)), "a Gaussian answer has this rho"


def test_the_printed_epsilons_fit_their_rho():
    for name, rho in (("US census 2020", 2.56), (VIEWS, RHO), ("Gboard, Spanish", 0.81)):
        claim = CLAIMS[name]
        least = gdp.epsilon(claim["delta"], math.sqrt(2 * rho))
        assert least < claim["epsilon"] < 1.002 * zcdp_epsilon(rho, claim["delta"]), name


def test_days_add_up():
    assert epsilon_after("VaultGemma", 365) == CLAIMS["VaultGemma"]["epsilon"]
    assert epsilon_after("Google mobility", 10) == pytest.approx(26.4)
    assert epsilon_after(VIEWS, 100) == pytest.approx(zcdp_epsilon(1.5, 1e-7))
    daily = [epsilon_after(name, 1) for name, claim in CLAIMS.items() if claim["released"] == "daily"]
    assert min(daily) == min(epsilon_after(name, 1) for name in CLAIMS), "the text says so of the first day"
    assert max(daily) == 4, "and that no daily one is above 4"
    once = max(claim["epsilon"] for claim in CLAIMS.values() if claim["released"] == "once")
    assert epsilon_after(VIEWS, 365) > once, "the text says that it passes all that are made once"
    assert sum(epsilon_after(name, 365) > 15 * math.log(10) for name in CLAIMS) == 2, "two leave the picture"
    assert set(NAMES) == set(CLAIMS)


def test_odds_are_multiplied():
    after = belief_at_most(0.01, 2.0)
    assert after / (1 - after) == pytest.approx(math.exp(2) / 99)


# ---- groups and beliefs


def test_a_group_s_promise_holds_for_gaussian_noise():
    """Whose exact delta is known; and the loop is the closed form."""
    same_unit = course.lesson(10).exercise("same_unit").reference
    for epsilon, delta, rows in ((0.5, 1e-6, 3), (1.0, 1e-5, 6)):
        mu = gdp.mu(epsilon, delta)
        hers, spilled = same_unit(epsilon, delta, rows)
        assert gdp.delta(hers, rows * mu) <= spilled
        assert (hers, spilled) == pytest.approx(for_person(epsilon, delta, rows))


def test_no_belief_after_an_accusation_is_above_the_bound():
    """Of the mechanism that reaches (ε, δ): it tells all with probability δ, and else answers as randomized response does."""
    belief_after = course.lesson(10).exercise("belief_after").reference
    epsilon, delta = 1.5, 0.02
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    for share in np.linspace(0.01, 1, 50):  # of the answers "in" that he takes for an accusation
        alpha = (1 - delta) * (1 - keep) * share
        hits = delta + (1 - delta) * keep * share
        for prior in (0.05, 0.3):
            exact = prior * hits / (prior * hits + (1 - prior) * alpha)
            assert exact <= belief_after(prior, alpha, epsilon, delta) + 1e-12
            assert exact == pytest.approx(belief_after(prior, alpha, epsilon, delta), rel=1e-9)
