"""The ledger of noisy SGD: laws of spending, dp-accounting on mixed runs, what a look may change, and what is saved."""

import json
import math
import re

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import simpson
from scipy.stats import norm
from support import by_profile, examples

from dpcourse import gdp, pld, rdp
from dpcourse.dpsgd import BudgetError, Ledger, noise_for
from dpcourse.dpsgd import ledger as module

pytestmark = pytest.mark.in_turn("seconds of convolutions")

RATE = 256 / 60_000
noises, rates = st.floats(0.6, 5), st.floats(1e-3, 0.2)
kinds = st.tuples(noises, rates)
runs = st.tuples(noises, rates, st.integers(1, 2000))
several = st.lists(runs, min_size=1, max_size=3)
SECONDS = pytest.mark.weekly("seconds of convolutions")


def drawn(seed):
    """Some runs, and one more, drawn as the strategies above would."""
    rng = np.random.default_rng(seed)
    found = [
        (float(rng.uniform(0.6, 5)), float(rng.uniform(1e-3, 0.2)), int(rng.integers(1, 2001)))
        for _ in range(2 + seed % 3)
    ]
    return found[:-1], found[-1]


# on a commit always the same ones: what one test had composed, the next ones do not compose again
NEW = by_profile("histories of a ledger are new ones", False, True)
histories = st.tuples(several, runs) if NEW else st.sampled_from([drawn(seed) for seed in range(4)])
of_the_histories = examples(30, part=10)


def ledger_of(several_runs, delta=1e-5, budget=None):
    """All of them spent, as planned."""
    ledger = Ledger(delta, budget, plan=several_runs)
    for run in several_runs:
        ledger.spend(*run)
    return ledger


# ---- what has been spent


@of_the_histories
@given(history=histories)
def test_more_steps_cost_more(history):
    before, run = history
    less, more = ledger_of(before), ledger_of([*before, run])
    assert more.epsilon() >= less.epsilons().exact.lower
    for low, high in zip(less.epsilons()[:3], more.epsilons()[:3], strict=True):
        assert high >= low


@of_the_histories
@given(history=histories, data=st.data())
def test_the_order_of_the_runs_does_not_matter(history, data):
    several_runs = [*history[0], history[1]]
    shuffled = data.draw(st.permutations(several_runs))
    assert ledger_of(shuffled).epsilons() == ledger_of(several_runs).epsilons()


@of_the_histories
@given(history=histories, share=st.floats(0, 1))
def test_a_run_in_two_parts_costs_as_much_as_in_one(history, share):
    several_runs = [*history[0], history[1]]
    noise, rate, steps = several_runs[0]
    assume(steps > 1)
    cut = 1 + round(share * (steps - 2))
    parts = [(noise, rate, cut), *several_runs[1:], (noise, rate, steps - cut)]
    assert ledger_of(parts).epsilons() == ledger_of(several_runs).epsilons()


@of_the_histories
@given(history=histories)
def test_the_interval_lies_below_the_bounds_and_epsilon_is_its_upper_end(history):
    ledger = ledger_of(history[0])
    said = ledger.epsilons()
    assert said.exact.lower <= said.exact.upper <= ledger.epsilon()
    assert said.exact.lower <= said.rdp <= said.moments_accountant
    assert ledger.epsilon() <= said.exact.lower * 1.005 + 1e-9


@pytest.mark.weekly("seconds of convolutions by another accountant")
@examples(20, part=20)
@given(several_runs=st.lists(runs, min_size=2, max_size=2), digits=st.floats(4, 8))
def test_mixed_runs_agree_with_dp_accounting(several_runs, digits):
    """Their pessimistic and optimistic estimates hold the truth, as ours do; their Rényi orders are some, ours are all."""
    delta = 10.0**-digits
    said = ledger_of(several_runs, delta).epsilons()
    assume(0.1 < said.exact.upper < 30)
    pessimistic, optimistic = (theirs(several_runs, delta, said.exact.upper / 300, way) for way in (True, False))
    assert said.exact.lower <= pessimistic * (1 + 1e-9)
    assert said.exact.upper >= optimistic * (1 - 1e-9)
    orders = range(2, 65)
    divergences = sum(
        n * np.array(rdp_privacy_accountant._compute_rdp_poisson_subsampled_gaussian(rate, noise, orders))
        for noise, rate, n in several_runs
    )
    improved, _ = rdp_privacy_accountant.compute_epsilon(orders, divergences, delta)
    assert said.rdp <= improved * (1 + 1e-6)


def theirs(several_runs, delta, spacing, pessimistic):
    """epsilon by dp-accounting's privacy loss distributions."""
    one, *more = (
        privacy_loss_distribution.from_gaussian_mechanism(
            noise, sampling_prob=rate, value_discretization_interval=spacing, pessimistic_estimate=pessimistic
        ).self_compose(steps)
        for noise, rate, steps in several_runs
    )
    for other in more:
        one = one.compose(other)
    return one.get_epsilon_for_delta(delta)


@settings(max_examples=20)
@given(noise=noises, counts=st.lists(st.integers(1, 500), min_size=1, max_size=4))
def test_full_batches_are_the_gaussian_mechanism(noise, counts):
    """Different noises at rate 1: one Gaussian mechanism with the mus of all steps together, which has a closed form."""
    several_runs = [(noise * (1 + i), 1.0, n) for i, n in enumerate(counts)]
    mu = gdp.compose([math.sqrt(n) / sigma for sigma, _, n in several_runs])
    said = ledger_of(several_runs).epsilons()
    assert said.exact == pytest.approx((gdp.epsilon(1e-5, mu),) * 2, rel=1e-9)
    divergence = mu**2 / 2  # at order 1, and proportional to it: Mironov (2017), proposition 3, minimised by hand
    assert said.moments_accountant == pytest.approx(divergence + 2 * math.sqrt(divergence * -math.log(1e-5)), rel=1e-8)


def test_the_limits_of_several_runs_are_one_limit():
    """The CLT: mu^2 adds up, so a run of 3,000 steps and three of 1,000 with other noises between them are compared."""
    said = Ledger(1e-5).after(1.1, RATE, 3000).after(0.8, 0.01, 500).epsilons()
    mu = math.sqrt(RATE**2 * 3000 * math.expm1(1.1**-2) + 0.01**2 * 500 * math.expm1(0.8**-2))
    assert said.clt == pytest.approx(gdp.epsilon(1e-5, mu), rel=1e-12)
    assert said.clt < said.exact.lower


def test_an_empty_ledger_has_spent_nothing():
    assert Ledger(1e-5).epsilon() == 0
    assert Ledger(1e-5).epsilons() == (0, 0, 0, (0, 0))


def test_equal_neighbours_are_one_run():
    ledger = ledger_of([(1.0, 0.01, 2), (1.0, 0.01, 3), (2.0, 0.01, 1), (1.0, 0.01, 4)])
    assert ledger.runs == [(1.0, 0.01, 5), (2.0, 0.01, 1), (1.0, 0.01, 4)]
    ledger.runs.clear()
    assert len(ledger.runs) == 3


@of_the_histories
@given(history=histories)
def test_epsilon_after_is_epsilon_of_spending(history):
    several_runs, run = history
    ledger = ledger_of(several_runs)
    before, later = ledger.runs, ledger.after(*run)
    assert ledger.runs == before
    assert later.runs == ledger_of([*several_runs, run]).runs
    assert later.epsilons() == ledger_of([*several_runs, run]).epsilons()


# ---- where the exact answer is out of reach


def test_without_a_narrow_interval_the_smaller_bound_counts(monkeypatch):
    delta = 1.25e-5  # no other test's: what is computed here, of nothing, is kept
    improved = rdp.epsilon(1.0, 0.01, 1000, delta)

    def none(upper):
        def epsilon(self, delta, width):
            if width < 1:
                raise pld.Unreachable("", pld.Bounds(0.5, upper))
            return pld.Bounds(0.0, upper)

        return epsilon

    for steps, upper, expected in [(1000, math.inf, improved), (999, 1.9, 1.9)]:
        monkeypatch.setattr(pld.Curve, "epsilon", none(upper))
        ledger = ledger_of([(1.0, 0.01, steps)], delta)
        assert ledger.epsilon() == pytest.approx(expected)
        assert ledger.epsilons().exact == pytest.approx((0.5, expected))


@pytest.mark.parametrize(
    "hard",
    [
        pytest.param([(0.72, 1.56e-5, 6965)], marks=SECONDS),  # delta near the one at which epsilon becomes 0
        [(0.66, 1.0, 380), (0.54, 0.0175, 7645), (5.3, 0.59, 1)],  # losses that are too large for e^loss
        [(0.83, 1.0, 4286), (17.0, 1.8e-5, 2553)],  # and all of them on one side
        pytest.param([(1.3, 0.004, 10**15)], marks=SECONDS),
        [(1e8, 1e-4, 10**6)],
    ],
)
def test_every_run_has_an_epsilon(hard):
    ledger = ledger_of(hard, 3.8e-10)
    lower, upper = ledger.epsilons().exact
    assert 0 <= lower <= upper <= ledger.epsilon() <= ledger.epsilons().rdp < math.inf


# ---- the budget


@examples(20, part=10)
@given(before=runs, share=st.floats(1.05, 3))
def test_the_budget_is_used_up_and_never_passed(before, share):
    budget = share * ledger_of([before]).epsilon()
    ledger, kind = Ledger(1e-5, budget), before[:2]
    ledger.spend(*before)
    left = ledger.steps_left(*kind)
    assert ledger.after(*kind, left + 1).epsilon() > budget
    with pytest.raises(BudgetError):
        ledger.spend(*kind, left + 1)
    assert ledger.runs == [before]
    if left:
        ledger.spend(*kind, left)
    assert ledger.epsilon() <= ledger.planned() == budget
    assert ledger.steps_left(*kind) == 0
    state = ledger.state_dict()
    with pytest.raises(BudgetError):
        ledger.spend(*kind)
    assert ledger.state_dict() == state


@settings(max_examples=4)
@given(portions=st.lists(st.integers(1, 400), max_size=20))
def test_steps_in_any_portions_end_at_the_same_limit(portions):
    """Whatever was asked and spent before, a step is accepted just where its certified bound is within the budget."""
    ledger = Ledger(1e-5, budget=2.0)
    for steps in portions:
        later = ledger.after(1.0, 0.01, steps).epsilon()
        try:
            ledger.spend(1.0, 0.01, steps)
        except BudgetError:
            assert later > 2.0
        else:
            assert ledger.epsilon() <= 2.0
            assert ledger.epsilon() == pytest.approx(later, rel=1e-5)


def test_one_step_at_a_time_stops_where_steps_left_said():
    left = Ledger(1e-5, budget=1.0).steps_left(1.0, 0.02)
    ledger = Ledger(1e-5, budget=1.0)
    for _ in range(left):
        ledger.spend(1.0, 0.02)
    with pytest.raises(BudgetError):
        ledger.spend(1.0, 0.02)
    assert left > 0
    more = pld.noisy_sgd(1.0, 0.02, left + 1)
    assert pld.noisy_sgd(1.0, 0.02, left).epsilon(1e-5).lower <= 1.0 < more.epsilon(1e-5).upper


@pytest.mark.weekly("a run of many steps")
def test_a_step_of_a_long_run_costs_no_composition(monkeypatch):
    """At most two compositions for each doubling of the limit, however many steps are spent one by one."""
    computed = []
    original = pld.Curve.epsilon
    monkeypatch.setattr(pld.Curve, "epsilon", lambda *said: computed.append(said) or original(*said))
    ledger = Ledger(1.1e-5, budget=3.0)
    left = ledger.steps_left(1.3, RATE)
    searched = len(computed)
    assert searched <= 2 * math.log2(left) + 2
    for _ in range(5000):
        ledger.spend(1.3, RATE)
    assert len(computed) == searched
    assert ledger.steps_left(1.3, RATE) == left - 5000


def test_the_refusal_names_the_numbers():
    ledger = Ledger(1e-5, budget=2.0)
    ledger.spend(1.0, 0.01, 1000)
    left = ledger.steps_left(1.0, 0.01)
    said = f"the budget, epsilon 2.0 at delta 1e-05, has no room for {left + 9} more steps at noise multiplier 1.0 and sample rate 0.01: epsilon would be "
    with pytest.raises(BudgetError, match=f"^{re.escape(said)}[0-9.]+; {left} fit$"):
        ledger.spend(1.0, 0.01, left + 9)


def test_without_a_budget_every_step_fits():
    ledger = Ledger(1e-5)
    assert ledger.steps_left(1.0, 0.5) == math.inf
    ledger.spend(0.1, 1.0, 10**9)


def test_a_ledger_past_its_budget_says_so_and_has_no_room():
    later = Ledger(1e-5, budget=1.0).after(1.0, 0.01, 1000)
    assert later.steps_left(1.0, 0.01) == later.steps_left(5.0, 0.001) == 0
    assert later.epsilon() == pytest.approx(1.8282, abs=1e-4)


# ---- what a look may change


def hockey_stick(run, epsilons, upper):
    """delta of a run at each epsilon, in ascending order, in both directions: by dp-accounting, above or below the truth."""
    noise, rate, steps = run
    found = privacy_loss_distribution.from_gaussian_mechanism(
        noise, sampling_prob=rate, value_discretization_interval=1e-3, pessimistic_estimate=upper
    ).self_compose(steps)
    return [np.array(pmf.get_delta_for_epsilon(epsilons)) for pmf in (found._pmf_remove, found._pmf_add)]


def delta_after_a_look(noise, runs, epsilon, upper):
    """delta(epsilon) of one full step, and of the run that its output makes the worst, by integration over that output."""
    z = np.linspace(9, -9, 1001)  # the first privacy loss is normal: 1 / (2 noise^2) + z / noise
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    found = [hockey_stick(run, epsilon - (1 / (2 * noise**2) + z / noise), upper) for run in runs]
    return max(-np.trapezoid(density * np.max(one, axis=0), z) for one in zip(*found, strict=True))


FIRST, A, B = (1.667, 1.0, 1), (0.6, 0.01, 6), (2.5227, 1.0, 1)


def test_settings_that_are_chosen_after_a_look_can_break_the_budget_and_are_refused():
    """Each of two runs keeps it after the first step; choosing between them by its output does not."""
    for one in (A, B):
        assert delta_after_a_look(FIRST[0], [one], 3, upper=True) < 1e-5
        assert Ledger(1e-5).after(*FIRST).after(*one).epsilon() < 3
    assert delta_after_a_look(FIRST[0], [A, B], 3, upper=False) > 1.7e-5
    ledger = Ledger(1e-5, budget=3.0)
    ledger.spend(*FIRST)
    state = ledger.state_dict()
    for one in (A, B):
        with pytest.raises(
            BudgetError, match=r"^this ledger has steps at noise multiplier 1.667 and .*, plan=\[.*adaptive="
        ):
            ledger.spend(*one)
        assert not ledger.covers(*one[:2])
        assert ledger.steps_left(*one[:2]) == 0
    assert ledger.state_dict() == state


def test_an_adaptive_ledger_keeps_its_budget_whatever_is_chosen_after_a_look():
    """As many steps of each of several kinds as it accepts, the worst of them for each output of the first step."""
    ledger = Ledger(1e-5, budget=3.0, adaptive=True)
    ledger.spend(*FIRST)
    least_noise = min(noise for noise in np.arange(2.5, 6, 0.01) if ledger.steps_left(noise, 1.0))
    kinds = [(0.8, 0.01), (1.0, 0.01), (2.0, 0.1), (least_noise, 1.0)]
    runs = [(*kind, ledger.steps_left(*kind)) for kind in kinds]
    found = delta_after_a_look(FIRST[0], runs, 3, upper=True)
    assert max(delta_after_a_look(FIRST[0], [run], 3, upper=True) for run in runs) < found <= 1e-5
    for one in (A, B):
        with pytest.raises(BudgetError, match="has no room"):
            ledger.spend(*one)
    assert ledger.epsilon() == ledger.planned() == 3


def renyi_divergence(noise, rate, order):
    """By quadrature of its definition: dp-accounting's, at orders that are not whole, is right to a hundredth only."""
    z = np.linspace(-15 * noise, order + 15 * noise, 20_001)
    ratio = np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * z - 1) / (2 * noise**2))
    return math.log(simpson(np.exp(order * ratio + norm.logpdf(z, 0, noise)), z)) / (order - 1)


@settings(max_examples=10)
@given(
    budget=st.floats(0.5, 8),
    digits=st.floats(4, 8),
    asked=st.lists(st.tuples(st.floats(0.8, 8), st.floats(1e-3, 0.9), st.integers(1, 300)), min_size=1, max_size=5),
)
def test_an_adaptive_ledger_is_a_renyi_filter_at_one_order(budget, digits, asked):
    """By integration and dp-accounting's conversion, at the order of an empty ledger; one step more is refused."""
    delta = 10.0**-digits
    ledger = Ledger(delta, budget, adaptive=True)
    order, total = ledger._order, 0.0

    def theirs(divergence):
        return rdp_privacy_accountant.compute_epsilon([order], [divergence], delta)[0]

    for noise, rate, steps in asked:
        each = renyi_divergence(noise, rate, order)
        left = ledger.steps_left(noise, rate)
        assert theirs(total + left * each) <= budget * (1 + 1e-9)
        assert theirs(total + (left + 1) * each) > budget * (1 - 1e-6)
        with pytest.raises(BudgetError):
            ledger.spend(noise, rate, left + 1)
        for part in (1, min(steps, left) - 1):
            if 0 < part <= left:
                for other in asked:  # what is known of them must be forgotten
                    ledger.steps_left(*other[:2])
                ledger.spend(noise, rate, part)
                total += part * each
    assert Ledger.from_state_dict(ledger.state_dict())._order == order


def delta_after(losses, epsilon, mu):
    """delta(epsilon) of G_mu after a step with each of these privacy losses: E max(0, 1 - e^(epsilon - loss)), loss ~ N(mu²/2, mu²)."""
    over = np.atleast_1d(epsilon - losses)
    if mu == 0:
        return np.maximum(0, -np.expm1(over))
    return norm.cdf(mu / 2 - over / mu) - np.exp(over + norm.logcdf(-mu / 2 - over / mu))


@pytest.mark.weekly("plays many runs; the refusals are tried on a commit")
@settings(max_examples=10)
@given(
    budget=st.floats(0.5, 8),
    digits=st.floats(4, 8),
    noise=st.floats(1, 20),
    answers=st.lists(st.floats(1.0, 60), min_size=2, max_size=4),
)
def test_a_gaussian_filter_holds_against_whoever_chooses_the_noise_after_a_look(budget, digits, noise, answers):
    """A step; then, by the size of its loss, steps of one kind or another, and finer ones until the budget is used up."""
    delta = 10.0**-digits
    ledger = Ledger(delta, budget, adaptive="gaussian")
    assume(ledger.steps_left(noise, 1))
    ledger.spend(noise, 1)
    z = np.linspace(-12, 12, 6001)
    losses, density = 1 / (2 * noise**2) + z / noise, norm.pdf(z)
    edges = np.linspace(-3, 3, len(answers) - 1)
    after = np.empty(z.size)
    for i, answer in enumerate(answers):
        branch = Ledger.from_state_dict(ledger.state_dict())
        for other in answers:
            branch.steps_left(other, 1)
        if left := branch.steps_left(answer, 1):
            branch.spend(answer, 1, left)
        rest = math.sqrt(left) / answer
        for finer in (3 * answer, 30 * answer, 300 * answer):
            if left := branch.steps_left(finer, 1):
                branch.spend(finer, 1, left)
                rest = math.hypot(rest, math.sqrt(left) / finer)
        here = np.searchsorted(edges, z) == i
        after[here] = delta_after(losses[here], budget, rest)
    found = np.trapezoid(density * after, z)
    assert 0.9 * delta < found <= delta * (1 + 1e-6)
    assert branch.epsilon() == branch.planned() == budget


@settings(max_examples=30)
@given(
    budget=st.floats(0.5, 8),
    how=st.sampled_from([True, "gaussian"]),
    acts=st.lists(
        st.tuples(st.sampled_from([7.0, 9.0, 30.0]), st.sampled_from([0, 0.1, 0.5, 1])), min_size=6, max_size=12
    ),
)
@example(budget=2.0, how="gaussian", acts=[(9.0, 0.1), (30.0, 0), (9.0, 0.5), (30.0, 1)])
def test_no_order_of_questions_and_steps_passes_the_budget(budget, how, acts):
    """Full batches, for which the truth has a closed form: what is asked of one kind, and a share of its room is taken."""
    ledger, squares = Ledger(1e-5, budget, adaptive=how), 0.0
    for noise, share in acts:
        if steps := int(share * ledger.steps_left(noise, 1)):
            ledger.spend(noise, 1, steps)
            squares += steps / noise**2
    assert gdp.epsilon(1e-5, math.sqrt(squares)) <= budget * (1 + 1e-9)


def test_a_gaussian_filter_takes_nothing_but_full_batches():
    ledger = Ledger(1e-5, 3.0, adaptive="gaussian")
    ledger.spend(2.0, 1.0)
    with pytest.raises(
        BudgetError, match=r"^adaptive='gaussian' covers steps that take everybody, at sample rate 1, and"
    ):
        ledger.spend(2.0, 0.5)
    assert (ledger.covers(9.0, 1.0), ledger.covers(2.0, 0.5), ledger.steps_left(2.0, 0.5)) == (True, False, 0)
    assert ledger.after(20.0, 0.01, 1).planned() == math.inf
    assert Ledger.from_state_dict(ledger.state_dict()).adaptive == "gaussian"


def test_the_order_of_a_plan_is_free():
    """Worst choices of the order by what was seen, backwards over all outputs: no more than in a fixed order."""
    rng, pairs = np.random.default_rng(0), {}
    for kind in "abc":  # three outputs each, and neither direction the other's
        pairs[kind] = tuple(zip(*rng.dirichlet(np.ones(3), size=2), strict=True))

    def worst(p, q, left, choose):
        if not left:
            return max(0.0, q - math.exp(0.5) * p)
        kinds = range(len(left)) if choose else [0]
        return max(
            sum(worst(p * p_next, q * q_next, left[:i] + left[i + 1 :], choose) for p_next, q_next in pairs[left[i]])
            for i in kinds
        )

    for plan in ("abc", "aabc"):
        assert 0.1 < worst(1, 1, plan, choose=True) == pytest.approx(worst(1, 1, plan, choose=False), rel=1e-12)


PLAN = [(1.0, 0.01, 500), (1.5, 0.02, 300), (1.0, 0.01, 100)]


def test_a_plan_is_spent_in_any_order_and_never_passed():
    ledger = Ledger(1e-5, 2.0, plan=PLAN)
    planned = ledger.planned()
    assert planned == ledger_of(PLAN).epsilon() < 2
    for run in [(1.5, 0.02, 1), (1.0, 0.01, 600), (1.5, 0.02, 299)]:
        ledger.spend(*run)
        assert ledger.epsilon() <= planned == ledger.planned()
    assert ledger.steps_left(1.0, 0.01) == ledger.steps_left(1.5, 0.02) == ledger.steps_left(3.0, 0.01) == 0
    assert ledger.epsilon() == planned
    for more in [(1.0, 0.01), (3.0, 0.001)]:
        with pytest.raises(BudgetError, match=f"^{re.escape(f'the plan {PLAN} has 0 steps left at noise multiplier')}"):
            ledger.spend(*more)
    assert [ledger.covers(noise, 0.01) for noise in (1.0, 3.0)] == [True, False]
    assert ledger.after(1.0, 0.01, 1).planned() == math.inf


def test_what_bounds_the_plan_bounds_a_part_of_it(monkeypatch):
    """Even where the interval of the part happens to be the wider one."""
    monkeypatch.setattr(module, "_upper", lambda parts, delta: 1.0 if parts == (((1.0, 0.01), 10),) else 1.5)
    ledger = Ledger(1e-5, 1.2, plan=[(1.0, 0.01, 10)])
    ledger.spend(1.0, 0.01, 9)
    assert ledger.epsilon() == 1
    assert ledger.after(1.0, 0.01, 2).epsilon() == 1.5


def test_a_plan_beyond_the_budget_is_refused_at_once():
    said = "the plan costs epsilon 1.828[0-9]* at delta 1e-05, and the budget is 1.8: plan fewer steps, or more noise"
    with pytest.raises(BudgetError, match=f"^{said}"):
        Ledger(1e-5, 1.8, plan=[(1.0, 0.01, 1000)])


def test_what_differs_by_rounding_is_as_planned():
    people = 104
    rate = 0.03 * people / people
    assert rate != 0.03
    ledger = Ledger(1e-5, plan=[(1.0, 0.03, 10)])
    ledger.spend(1.0, rate, 10)
    assert ledger.runs == [(1.0, 0.03, 10)]
    assert not ledger.covers(1.0, 0.03 * (1 + 1e-9))


def test_what_may_be_claimed_after_a_stop():
    """The whole budget, or the whole plan; of nothing that was fixed, nothing."""
    for ledger, planned in [
        (Ledger(1e-5), math.inf),
        (Ledger(1e-5, 2.0), 2.0),
        (Ledger(1e-5, 2.0, adaptive=True), 2.0),
        (Ledger(1e-5, 2.0, plan=[(1.0, 0.01, 1000)]), 1.8282),
    ]:
        for _ in range(2):
            assert ledger.planned() == pytest.approx(planned, abs=1e-4)
            ledger.spend(1.0, 0.01, 400)
        assert ledger.epsilon() <= ledger.planned()
        assert ledger.after(1.0, 0.01, 800).planned() == math.inf
    mixed = Ledger(1e-5, 3.0).after(1.0, 0.01, 100).after(2.0, 0.01, 100)
    assert mixed.epsilon() < 3 < mixed.planned()
    assert mixed.steps_left(1.0, 0.01) == mixed.steps_left(2.0, 0.01) == 0


def test_an_adaptive_ledger_claims_its_budget_from_the_first_step_on():
    ledger = Ledger(1e-5, 2.0, adaptive=True)
    assert ledger.epsilon() == 0
    ledger.spend(5.0, 0.001)
    assert ledger.epsilon() == 2
    assert ledger.after(1.0, 0.01, 2000).epsilon() > 2


# ---- the noise for a budget


@examples(20, part=10)
@given(epsilon=st.floats(0.3, 10), digits=st.floats(4, 8), rate=st.floats(2e-3, 1), steps=st.integers(1, 20_000))
def test_the_noise_keeps_the_budget_and_is_hardly_more_than_needed(epsilon, digits, rate, steps):
    delta = 10.0**-digits
    noise = noise_for(epsilon, delta, rate, steps)
    assert Ledger(delta).after(noise, rate, steps).epsilon() <= epsilon
    assert Ledger(delta).after(noise * (1 - 1e-3), rate, steps).epsilons().exact.upper > epsilon


@settings(max_examples=20)
@given(epsilon=st.floats(0.01, 100), digits=st.floats(3, 12))
def test_the_noise_of_one_full_batch_is_the_analytic_one(epsilon, digits):
    exact = gdp.analytic_sigma(epsilon, 10.0**-digits)
    assert exact * (1 - 1e-9) <= noise_for(epsilon, 10.0**-digits, 1.0, 1) <= exact * (1 + 1e-3)


def test_a_budget_that_no_noise_keeps_is_refused():
    said = "no noise multiplier up to 1,000,000 keeps 100,000 steps at sample rate 1.0 within epsilon 0.0001 at delta 1e-09"
    with pytest.raises(BudgetError, match=f"^{re.escape(said)}: there the certified upper bound is 0.00"):
        noise_for(1e-4, 1e-9, 1, 100_000)


def test_next_to_no_noise_is_needed_where_hardly_anyone_is_seen():
    assert noise_for(1.0, 1e-5, 1e-6, 1) == 0.01


# ---- the state


@examples(30, part=10)
@given(several_runs=several, budget=st.one_of(st.none(), st.floats(0.1, 10)))
def test_the_state_survives_json(several_runs, budget):
    ledger = Ledger(1e-5, budget)
    for run in several_runs:
        ledger = ledger.after(*run)
    again = Ledger.from_state_dict(json.loads(json.dumps(ledger.state_dict(), allow_nan=False)))
    assert (again.delta, again.budget, again.runs) == (1e-5, budget, ledger.runs)
    assert again.epsilon() == ledger.epsilon()
    assert again.steps_left(1.0, 0.01) == ledger.steps_left(1.0, 0.01)


@pytest.mark.parametrize("how", [{"plan": [(1.0, 0.01, 30), (2.0, 0.01, 4)]}, {"adaptive": True}, {}])
def test_the_state_holds_how_the_ledger_was_made(how):
    """A state of a ledger made with neither is as it was before there were plans, and can be read."""
    ledger = Ledger(1e-5, 3.0, **how)
    ledger.spend(1.0, 0.01, 10)
    state = json.loads(json.dumps(ledger.state_dict()))
    assert set(state) == {"delta", "budget", "runs", *how}
    again = Ledger.from_state_dict(state)
    assert again.state_dict() == ledger.state_dict()
    assert (again.planned(), again.epsilon()) == (ledger.planned(), ledger.epsilon())
    assert [again.covers(noise, 0.01) for noise in (1.0, 2.0, 3.0)] == [True, bool(how), ledger.adaptive]
    if how:
        assert again.steps_left(1.0, 0.01) == ledger.steps_left(1.0, 0.01) > 0


def test_numbers_of_numpy_become_plain():
    ledger = Ledger(np.float64(1e-5), np.float32(4)).after(np.float32(1.5), np.float64(0.01), np.int64(3))
    assert json.dumps(ledger.state_dict()) == '{"delta": 1e-05, "budget": 4.0, "runs": [[1.5, 0.01, 3]]}'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"delta": 0}, "delta must be a number in (0, 1), got 0"),
        ({"delta": None}, "delta must be a number in (0, 1), got None"),
        ({"budget": -1}, "budget must be a number in (0, inf), got -1"),
        ({"runs": [[1.0, 0.01, 2.5]]}, "steps must be a whole number >= 1, got 2.5"),
        ({"runs": [[1.0, 1.5, 2]]}, "sample_rate must be a number in (0, 1], got 1.5"),
        ({"runs": [[math.nan, 0.5, 2]]}, "noise_multiplier must be a number in (0, inf), got nan"),
        ({"runs": [[1.0, 0.5]]}, "not enough values to unpack"),
        ({"runs": 3}, "'int' object is not iterable"),
        ({"runs": [["1.0", 0.5, 2]]}, "{'delta': 1e-05, 'budget': 3.0, 'runs': [['1.0', 0.5, 2]]} is not what"),
        ({"runs": [[1.0, 0.5, 2], [1.0, 0.5, 1]]}, "{'delta': 1e-05, 'budget': 3.0, 'runs': [[1.0, 0.5, 2], [1.0"),
        ({"plan": [[1.0, 0.01]]}, "plan must be a non-empty list of (noise_multiplier, sample_rate, steps), got [[1.0"),
        ({"plan": [[1.0, 0.01, 10**6]]}, "the plan costs epsilon "),
        ({"plan": None}, "{'delta': 1e-05, 'budget': 3.0, 'runs': [[1.0, 0.01, 100]], 'plan': None} is not what"),
        (
            {"adaptive": "no"},
            "adaptive must be False, True or 'gaussian', got 'no'",
        ),
        ({"more": 1}, "{'delta': 1e-05, 'budget': 3.0, 'runs': [[1.0, 0.01, 100]], 'more': 1} is not what"),
    ],
)
def test_a_damaged_state_is_refused(change, said):
    state = Ledger(1e-5, 3.0).after(1.0, 0.01, 100).state_dict() | change
    with pytest.raises(ValueError, match=f"^{re.escape('the state of this ledger is damaged: ' + said)}"):
        Ledger.from_state_dict(state)


@pytest.mark.parametrize(
    ("state", "said"), [({"delta": 1e-5}, "there is no 'budget'"), ([], "list indices"), (None, "")]
)
def test_what_is_no_state_is_refused(state, said):
    with pytest.raises(ValueError, match=f"^the state of this ledger is damaged: {said}"):
        Ledger.from_state_dict(state)


NO_PLAN = "plan must be a non-empty list of (noise_multiplier, sample_rate, steps)"
NOT_ADAPTIVE = "adaptive must be False, or the ledger have a budget and no plan, got adaptive=True"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Ledger(0), "delta must be a number in (0, 1), got 0"),
        (lambda: Ledger(1e-5, budget=0), "budget must be a number in (0, inf), got 0"),
        (lambda: Ledger(1e-5, plan=[]), f"{NO_PLAN}, got []"),
        (lambda: Ledger(1e-5, plan=3), f"{NO_PLAN}, got 3"),
        (lambda: Ledger(1e-5, plan=[(1, 2)]), f"{NO_PLAN}, got [(1, 2)]"),
        (lambda: Ledger(1e-5, plan=[(1, 2, 3)]), "sample_rate must be a number in (0, 1], got 2"),
        (lambda: Ledger(1e-5, adaptive=True), NOT_ADAPTIVE),
        (lambda: Ledger(1e-5, 3, plan=[(1, 0.1, 1)], adaptive=True), NOT_ADAPTIVE),
        (
            lambda: Ledger(1e-5, 1e-4, adaptive=True),
            "adaptive=True has no room at all in the budget, epsilon 0.0001 at delta 1e-05",
        ),
        (lambda: Ledger(1e-5).covers(0, 0.1), "noise_multiplier must be a number in (0, inf), got 0"),
        (lambda: Ledger(1e-5).spend(0, 0.1), "noise_multiplier must be a number in (0, inf), got 0"),
        (lambda: Ledger(1e-5).spend(1, 0), "sample_rate must be a number in (0, 1], got 0"),
        (lambda: Ledger(1e-5).spend(1, 0.1, 0), "steps must be a whole number >= 1, got 0"),
        (lambda: Ledger(1e-5).after(1, 0.1, -1), "steps must be a whole number >= 1, got -1"),
        (lambda: Ledger(1e-5).steps_left(-1, 0.1), "noise_multiplier must be a number in (0, inf), got -1"),
        (lambda: noise_for(0, 1e-5, 0.1, 10), "epsilon must be a number in (0, inf), got 0"),
        (lambda: noise_for(1, 1, 0.1, 10), "delta must be a number in (0, 1), got 1"),
        (lambda: noise_for(1, 1e-5, 2, 10), "sample_rate must be a number in (0, 1], got 2"),
        (lambda: noise_for(1, 1e-5, 0.1, 0.5), "steps must be a whole number >= 1, got 0.5"),
    ],
)
def test_bad_input_names_the_argument_the_value_and_the_range(call, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        call()


# ---- other releases in the same ledger, and what a ledger shows of itself


def test_a_laplace_release_stands_beside_the_training():
    """Against the composition of both curves, by pld; by Rényi and in the limit it costs something too."""
    plan = [(1.0, 0.01, 1000), (4.0, "laplace", 2)]
    ledger = Ledger(1e-5, 3.0, plan=plan)
    for run in plan:
        ledger.spend(*run)
    both = pld.noisy_sgd(1.0, 0.01, 1000) @ pld.laplace(4.0, 2)
    assert ledger.epsilon() == both.epsilon(1e-5, 1).upper
    alone = Ledger(1e-5).after(1.0, 0.01, 1000)
    for with_it, without in zip(ledger.epsilons()[:3], alone.epsilons()[:3], strict=True):
        assert with_it > without + 0.1
    assert Ledger.from_state_dict(json.loads(json.dumps(ledger.state_dict()))).epsilon() == ledger.epsilon()
    with pytest.raises(BudgetError, match=r"0 steps left at Laplace noise of scale 4.0"):
        ledger.spend(4.0, "laplace")
    with pytest.raises(BudgetError, match=r"the next are to have Laplace noise of scale 2.0"):
        alone.spend(2.0, "laplace")


def test_an_adaptive_ledger_takes_laplace_by_its_divergence():
    ledger = Ledger(1e-5, 2.0, adaptive=True)
    ledger.spend(8.0, "laplace")
    assert 0 < ledger.steps_left(8.0, "laplace") < Ledger(1e-5, 2.0).steps_left(8.0, "laplace")
    with pytest.raises(BudgetError, match="covers steps that take everybody"):
        Ledger(1e-5, 2.0, adaptive="gaussian").spend(8.0, "laplace")


def test_a_ledger_shows_what_was_planned_spent_and_costs():
    ledger = Ledger(1e-5, 3.0, plan=[(1.0, 0.01, 1000), (4.0, "laplace", 1)]).after(1.0, 0.01, 10)
    assert repr(ledger).splitlines()[:-1] == [
        "Ledger(delta=1e-05, budget=3.0)",
        "planned: 1,000 at noise multiplier 1.0 and sample rate 0.01",
        "planned: 1 at Laplace noise of scale 4.0",
        "spent: 10 at noise multiplier 1.0 and sample rate 0.01",
    ]
    assert "planned" not in repr(Ledger(1e-5))


def test_the_curve_of_a_ledger_is_that_of_its_steps():
    ledger = Ledger(1e-5).after(1.0, 0.01, 1000)
    assert repr(ledger.curve()) == "Curve(1,000 x Sampled(mu=1, rate=0.01))"
    assert ledger.curve().epsilon(1e-5) == pld.noisy_sgd(1.0, 0.01, 1000).epsilon(1e-5)
    with pytest.raises(ValueError, match="the ledger must have a step, got none"):
        Ledger(1e-5).curve()
