"""The numbers that the lessons' prose, quizzes and messages state: each phrase stands there, with the value computed here."""

import functools
import math
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri_exp
from support import ROOT, by_profile

from dpcourse import audit, clt, composition, course, gdp, laplace, pld, plots, rdp, surveys, tradeoff
from dpcourse.course.accountants import noise_for_budget
from dpcourse.course.accountants import pictures as accountants_pictures
from dpcourse.course.audit import canary
from dpcourse.course.clt import breaking_steps, too_high
from dpcourse.course.clt import shared as clt_shared

DRAWS = range(by_profile("draws of inputs that the text speaks of", 60, 300))
KEEP_1 = math.e / (1 + math.e)
PERFECT = np.ones(1000), np.zeros(1000)


# Data and accounts that several claims speak of, each when a claim needs it: `pytest -k noisy_counts` waits for none.


def exercise(lesson, function):
    return course.lesson(lesson).exercise(function)


@functools.cache
def survey():
    return surveys.affairs()


@functools.cache
def digits():
    from sklearn.datasets import load_digits

    return load_digits()


@functools.cache
def standard_sgd():
    return pld.noisy_sgd(1.0, 0.01, 1000).epsilon(1e-5)


@functools.cache
def gamma_of_100():
    return clt.berry_esseen([tradeoff.laplace(0.1)] * 100)[1]


@functools.cache
def little_noise():
    return pld.noisy_sgd(0.5, 0.03, 10_000).epsilon(1e-5).upper


def too_low(steps=1000, rate=0.01, delta=1e-5):
    """By how much the limit is too low at noise 1."""
    exact = pld.noisy_sgd(1.0, rate, steps).epsilon(delta).upper
    return 1 - gdp.epsilon(delta, clt.noisy_sgd_mu(1.0, rate, steps)) / exact


@functools.cache
def symmetrized_first():
    """How far f^S @ f^S lies above f @ f, and above its symmetrized curve, for the lesson's f."""
    alpha = np.linspace(0, 1, 1001)
    f = tradeoff.TradeOff.from_points([0, 0.1, 0.4, 1], [0.9, 0.5, 0.1, 0])
    f_s = tradeoff.TradeOff.from_points(alpha, f.symmetrized()(alpha), repair=True)
    once = f @ f
    return [((f_s @ f_s)(alpha) - lower(alpha)).max() for lower in (once, once.symmetrized())]


@functools.cache
def far_out():
    """How far the curve of 1,024 reports is from its limit where they are furthest apart, and the power of ten of alpha there."""
    noes, keep = np.arange(1025), 1 / (1 + np.exp(-0.5))  # the corners of the curve, by the binomial law
    log_alpha, beta = stats.binom.logsf(noes - 1, 1024, 1 - keep), stats.binom.cdf(noes - 1, 1024, keep)
    mu = clt.berry_esseen([tradeoff.approx_dp(0.5)] * 1024)[0]
    away = np.abs(beta - ndtr(-ndtri_exp(log_alpha) - mu))
    return away.max(), log_alpha[np.argmax(away)] / np.log(10)


def a_tenth(mu):
    return tradeoff.gaussian(mu).subsampled(0.1)


def by_limit(f):
    """The epsilon at delta 1e-5 that the limit gives to 8 answers with this curve."""
    return gdp.epsilon(1e-5, clt.berry_esseen([f] * 8)[0])


def worst():
    return 1 - (1 - math.exp(-laplace.error_bound(10_000, 0.05, 1, 1))) ** 10_000


def leaders():
    return (survey()["yrs_married"] >= 6).sum(), (survey()["children"] > 0).sum()


def generator():
    return np.random.default_rng(0)


def standard_error(epsilon, n):
    return 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))


@functools.cache
def paper_run(noise_multiplier, epochs):
    """epsilon of one of the paper's runs: (moments accountant, limit, exact upper bound)."""
    rate, steps = 256 / 60_000, math.ceil(epochs * 60_000 / 256)
    return (
        rdp.epsilon(noise_multiplier, rate, steps, 1e-5, conversion="classic"),
        gdp.epsilon(1e-5, clt.noisy_sgd_mu(noise_multiplier, rate, steps)),
        pld.noisy_sgd(noise_multiplier, rate, steps).epsilon(1e-5).upper,
    )


def exact_noise(epsilon, epochs):
    return brentq(lambda noise: paper_run(noise, epochs)[2] - epsilon, 0.5, 5, xtol=1e-4)


def paper_runs():
    return [paper_run(*row) for row in [(1.3, 15), (1.1, 60), (0.7, 45), (0.6, 62), (0.55, 68), (0.5, 100)]]


def odds_of_mia(noise_multiplier):
    """As the picture tells them after its last step."""
    told = plots.beside_the_noise(Figure(), noise_multiplier=noise_multiplier, step=60)
    return re.search(r"are ([\d.,]+) to 1", told)[1]


CLAIMS = [
    (0, "", "A check stops after {:g} seconds", lambda: max(exercise.seconds for exercise in course.every_exercise())),
    (
        0,
        "randomized_response",
        "runs your function on {} surveys of 200 people",
        lambda: len(exercise(0, "randomized_response").cases(np.random.default_rng(0)).drawn),
    ),
    (
        0,
        "randomized_response",
        "at most once in {} times",
        lambda: {1e-6: "a million"}[exercise(0, "randomized_response").false_failure],
    ),
    (0, "", "At $\\varepsilon = 3$ about {:.0f} of 100 reports are true", lambda: 100 / (1 + math.exp(-3))),
    (0, "", "$\\ln 3 \\approx {:.2f}$", lambda: math.log(3)),
    (0, "", "keep the truth with probability {:.0f}/4", lambda: 4 / (1 + math.exp(-math.log(3)))),
    (0, "", "[100, 300, 1000, 3000, {}, 10_000, ", lambda: len(survey())),
    (0, "", "the odds are {:,.0f} to 1, and hardly anything", lambda: math.exp(8)),
    (0, "", "comes from a true no as well, with chance {:.2f}", lambda: 1 - KEEP_1),
    (0, "", "Its odds grew by the factor e = {:.2f}", lambda: KEEP_1 / (1 - KEEP_1)),
    (1, "", "$\\ln 2 \\approx {:.2f}$", lambda: math.log(2)),
    (1, "", "0.378 for 1 report, {:.3f} for 8", lambda: (1 - composition.optimal_delta(0.5, 0, 8, 0)) / 2),
    (1, "", "for 8, {:.3f} for 20", lambda: (1 - composition.optimal_delta(0.5, 0, 20, 0)) / 2),
    (1, "", "at 2 it holds {:.3g}", lambda: composition.optimal_delta(0.5, 0, 8, 2)),
    (1, "", "there $Q$ is not lifted, and δ is {:.3f}", lambda: composition.optimal_delta(0.5, 0, 8, 0)),
    (
        1,
        "crossing",
        "ε is at most {}, so there is such a $k$",
        lambda: max(
            case["epsilon"] for seed in range(300) for case in exercise(1, "crossing").draw(np.random.default_rng(seed))
        ),
    ),
    (
        1,
        "",
        "the standard error is {:.1f} percentage points among the excellent",
        lambda: 100 * standard_error(1.0, 11_019),
    ),
    (1, "", "and {:.1f} among the poor", lambda: 100 * standard_error(1.0, 302)),
    (1, "", "Option: ε = {:g}", lambda: composition.sequential([0.2] * 10)),
    (1, "", "Option: ε = {:.2f}", lambda: 0.2 * math.sqrt(10)),
    (1, "", "Option: ε = {:g}", lambda: composition.sequential([0.2, 0.2])),
    (1, "", "√(2 ln 10⁶) = {:.1f} in front", lambda: math.sqrt(2 * math.log(1e6))),
    (1, "", "With k = 5 it gives {:.2f}", lambda: composition.advanced(0.1, 0, 5, 1e-6)[0]),
    (1, "", "Basic gives {:g}. Advanced needs k above", lambda: composition.sequential([0.1] * 5)),
    (1, "crossing", "needs k above {} here", lambda: exercise(1, "crossing").reference(0.1, 1e-6) - 1),
    (1, "", "Option: {:.2f}", lambda: 2 * 0.1 / (2 * 0.1 + 0.9)),
    (1, "", "Option: {:.2f}", lambda: 2 / (2 + 1)),
    (1, "", "Option: Print the rows of {:g} patients", lambda: 10_000 * 0.001),
    (
        1,
        "",
        "composition gives ε = {:.2f}",
        lambda: math.ceil(100 * composition.optimal(0.1, 0, 200, 1e-5)) / 100,
    ),
    (
        2,
        "laplace_mechanism",
        "runs your function {} times on an array of 2,000",
        lambda: len(exercise(2, "laplace_mechanism").draw(generator())) - 1,
    ),
    (
        2,
        "laplace_mechanism",
        "and once on {} of them",
        lambda: len(exercise(2, "laplace_mechanism").draw(generator())[-1]["value"]),
    ),
    (2, "", "No entry for the years is above {:g}", lambda: survey()["yrs_married"].max()),
    (2, "", "within chance of {:.1f} %; the", lambda: 100 * worst()),
    (2, "", "the standard error is {:.1f} %.)", lambda: 100 * math.sqrt(worst() * (1 - worst()) / 1000)),
    (8, "", "of 7 bits there are {} outputs for each count", lambda: 2**7 - 1),
    (
        2,
        "laplace_mechanism",
        "times on an array of {:,} numbers",
        lambda: len(exercise(2, "laplace_mechanism").draw(generator())[0]["value"]),
    ),
    (
        2,
        "private_mean",
        "The check publishes {:,} means",
        lambda: len(exercise(2, "private_mean").draw(generator())),
    ),
    (
        2,
        "private_mean",
        "means of {} people",
        lambda: len(exercise(2, "private_mean").draw(generator())[0]["values"]),
    ),
    (2, "", "a mean error of 10 at $\\varepsilon = {}$, which pays for all twenty", lambda: 3 / 10),
    (
        2,
        "private_histogram",
        "The check makes {} histograms",
        lambda: len(exercise(2, "private_histogram").draw(generator())),
    ),
    (
        2,
        "private_histogram",
        "histograms of the same {} people",
        lambda: len(exercise(2, "private_histogram").draw(generator())[0]["values"]),
    ),
    (
        2,
        "report_noisy_max",
        "The check holds {:,} elections",
        lambda: len(exercise(2, "report_noisy_max").draw(generator())),
    ),
    (
        2,
        "report_noisy_max",
        "elections among {} to",
        lambda: min(len(case["counts"]) for case in exercise(2, "report_noisy_max").draw(generator())),
    ),
    (
        2,
        "report_noisy_max",
        "to {} options, and counts who wins",
        lambda: max(len(case["counts"]) for case in exercise(2, "report_noisy_max").draw(generator())),
    ),
    (2, "", "$\\ln(10{{,}}000/0.05) \\approx {:.1f}$", lambda: laplace.error_bound(10_000, 0.05, 1, 1)),
    (2, "", "$\\ln 10 \\approx {:.1f}$ scales", lambda: math.log(10)),
    (2, "", "$\\Delta f = {}$, with and without Mia", lambda: 1 + 30),
    (2, "", "noise of scale ${}/\\varepsilon$. But the answer", lambda: 6),
    (2, "", "all* $2^{}$ kinds of women", lambda: 6),
    (2, "", "The two leaders among our six counts are only {:.0f} apart", lambda: leaders()[0] - leaders()[1]),
    (2, "", "Option: {:.1f}\n✓", lambda: math.sqrt(2 * 10**2)),
    (2, "", "The root of the variance 2b² = {}", lambda: 2 * 10**2),
    (3, "", "here $N({}, 1)$", lambda: (survey()["affairs"][1:] > 0).sum()),
    (3, "", "drawn from $Q$, here $N({}, 1)$", lambda: (survey()["affairs"] > 0).sum()),
    (3, "", "accepts 5% of false alarms misses Mia in {:.0f}%", lambda: 100 * tradeoff.gaussian(1)(0.05)),
    (3, "", "its curve starts at {:g}", lambda: tradeoff.approx_dp(0, 0.05)(0)),
    (
        3,
        "",
        "with probability {:.1g} some output gives her away",
        lambda: 1 - tradeoff.TradeOff.from_points([0, 0.8, 1], [0.8, 0, 0])(0),
    ),
    (3, "", "the noise is about {:.1f}", lambda: gdp.sigma(math.sqrt(5), 0.5)),
    (
        3,
        "noisy_counts",
        "a short table and a long one, each {} times",
        lambda: sum(len(case["counts"]) == 2 for case in exercise(3, "noisy_counts").cases(generator()).drawn),
    ),
    (
        3,
        "noisy_counts",
        "the long table {} times with Mia",
        lambda: len(
            exercise(3, "noisy_counts")
            .attack(exercise(3, "noisy_counts").cases(generator()).drawn, np.zeros((972, 1)))
            .scores_in
        ),
    ),
    (
        3,
        "noisy_counts",
        "at most once in {} times",
        lambda: {1e-6: "a million"}[exercise(3, "noisy_counts").false_failure],
    ),
    (
        3,
        "",
        "than is needed: {:.0f}% more at",
        lambda: 100 * (gdp.classic_sigma(1, 1e-5) / gdp.analytic_sigma(1, 1e-5) - 1),
    ),
    (3, "", "So TV is at least {:g}", lambda: 1 - (0.3 + 0.2)),
    (3, "", "Option: μ = {:g}", lambda: 5 / gdp.sigma(5, 0.5)),
    (3, "", "Option: μ = {:g}", lambda: 5 / 10**2),
    (3, "", "Option: {:g}-GDP", lambda: gdp.group(0.5, 4)),
    (3, "", "Option: {:g}-GDP", lambda: gdp.compose([0.5] * 4)),
    (
        4,
        "laws_that_hold",
        "at the same {} values of α",
        lambda: len(exercise(4, "laws_that_hold").draw(np.random.default_rng(0))[0]["curves"]["f"]),
    ),
    (
        4,
        "laws_that_hold",
        "A colleague has {} candidates",
        lambda: ["six"][len(exercise(4, "laws_that_hold").draw(np.random.default_rng(0))) - 6],
    ),
    (4, "", "The constant {:g}: Irina Shevtsova", lambda: clt.BERRY_ESSEEN),
    (4, "", "\\gamma = \\frac{{{:g} \\sum_i", lambda: clt.BERRY_ESSEEN),
    (4, "", "100 answers have γ = {:.3f}", lambda: gamma_of_100()),
    (4, "", "so no δ below {:.3f} can be guaranteed", lambda: gamma_of_100()),
    (4, "", "Option: {:.2f}-GDP, exactly", lambda: gdp.compose([1.0, 1.0])),
    (4, "", "√(1² + 1²) = {:.2f}", lambda: math.sqrt(2)),
    (4, "", "the limit's ε is {:.1f} % too low at", lambda: 100 * too_low(rate=0.01, delta=1e-5)),
    (4, "", "and {:.1f} % at $p = 0.001$", lambda: 100 * too_low(rate=0.001, delta=1e-5)),
    (4, "", "it is {:.1f} % and", lambda: 100 * too_low(rate=0.01, delta=1e-8)),
    (4, "", "% and {:.1f} %.)", lambda: 100 * too_low(rate=0.001, delta=1e-8)),
    (4, "", "trained with ε = {:.2f} at δ = 10⁻⁵", lambda: gdp.epsilon(1e-5, clt.noisy_sgd_mu(1.0, 0.01, 1000))),
    (4, "", "pld says: between {:.4f}", lambda: math.floor(1e4 * standard_sgd().lower) / 1e4),
    (4, "", "and {:.4f}. What do you report?", lambda: math.ceil(1e4 * standard_sgd().upper) / 1e4),
    (4, "", "Option: {:.4f}\n✓ Right", lambda: math.ceil(1e4 * standard_sgd().upper) / 1e4),
    (4, "too_high", "more than {:.0f} % **above**", lambda: 100 * too_high.MARGIN),
    (4, "too_high", "`noise_multiplier` from {0[0]:g} to {0[1]:g}", lambda: too_high.RANGES["noise_multiplier"]),
    (4, "too_high", "`sample_rate` from {0[0]:g} to {0[1]:g}", lambda: too_high.RANGES["sample_rate"]),
    (4, "too_high", "`steps` a whole number from {0[0]} to {0[1]:,}", lambda: too_high.RANGES["steps"]),
    (4, "breaking_steps", "at rate {:g} and $\\delta = 10^{{-5}}$", lambda: breaking_steps.RATE),
    (4, "", "lies up to {:.2f} above $f \\otimes f$", lambda: symmetrized_first()[0]),
    (4, "", "and up to {:.2f} above $(f \\otimes f)^S$", lambda: symmetrized_first()[1]),
    (4, "", "with $n = 1024$ they are {:.2f} apart", lambda: far_out()[0]),
    (4, "", "$\\varepsilon = 0.5$ the exact ε is {:.0f}, and", lambda: composition.optimal(0.5, 0, 8, 1e-5)),
    (4, "", "and that of $G_\\mu$ is {:.2f}. Choose sampled", lambda: by_limit(tradeoff.approx_dp(0.5))),
    (4, "", "$\\mu = 0.5$ the exact ε is {:.3f}, and", lambda: a_tenth(0.5).power(8).epsilon(1e-5)),
    (4, "", "and that of $G_\\mu$ is {:.3f}. There $G_\\mu$", lambda: by_limit(a_tenth(0.5))),
    (4, "", "apart at $\\alpha = 10^{{{:.0f}}}$", lambda: far_out()[1]),
    (4, "", "the limit says ε = {:.0f}", lambda: gdp.epsilon(1e-5, clt.noisy_sgd_mu(0.5, 0.03, 10_000))),
    (4, "", "and the exact value is {:.0f}", lambda: little_noise()),
    (4, "", "at an ε of {:.0f} there is no privacy", lambda: little_noise()),
    (4, "", "At σ = 1 and 1,000 steps the limit is {:.0f} % too low", lambda: 100 * too_low(1000)),
    (4, "", "There the limit is {:.0f} % too low", lambda: 100 * too_low(10_000)),
    (4, "", "skew(X) is {:.0f} in place of", lambda: clt_shared.skewness(0.7)),
    (4, "", "in place of {:.0f}, and the limit needs", lambda: clt_shared.skewness(1.0)),
    (4, "", "the true $\\kappa_2$ is {:.4f}", lambda: clt.functionals(tradeoff.gaussian(2.0).mixed(0.03))[1]),
    (4, "", "and the formula says {:.4f}", lambda: 0.03**2 * math.expm1(1 / 0.5**2)),
    (5, "", "That makes {:,} numbers.", lambda: 810 * 90),
    (5, "", "the logarithm is known up to {:.4f}", lambda: 1 / math.sqrt(2 * 810 * 90)),
    (5, "", "one row more moves it by {:.4f}", lambda: math.log(1 + 1 / 1437)),
    (5, "", "It has {:,} small images", lambda: len(digits().data)),
    (5, "", "We set {} images aside for testing", lambda: len(digits().data) - 1500),
    (5, "", "{} inputs, 10 classes", lambda: f"${digits().data.shape[1]} + 1$"),
    (5, "", "and so {} weights", lambda: (digits().data.shape[1] + 1) * 10),
    (5, "", "With σ = 1 the noise is {:.0f} times as long as", lambda: math.sqrt(650)),
    (5, "", "After 60 steps the odds are {} : 1", lambda: odds_of_mia(1.0)),
    (5, "", "with σ = 0.5 they are {} : 1", lambda: odds_of_mia(0.5)),
    (5, "", "with σ = 2 only {} : 1", lambda: odds_of_mia(2.0)),
    (5, "", "a blind guess has β = {:g}", lambda: tradeoff.identity()(0.05)),
    (
        5,
        "noisy_sum",
        "The check runs your function {} times; a",
        lambda: (len(exercise(5, "noisy_sum").draw(generator())) - 2) // 100 * 100,
    ),
    (
        5,
        "poisson_batches",
        "your function {} times, with",
        lambda: {6: "six"}[len(exercise(5, "poisson_batches").draw(generator()))],
    ),
    (
        5,
        "poisson_batches",
        "with {:,} steps at most",
        lambda: max(case["steps"] for case in exercise(5, "poisson_batches").draw(generator())),
    ),
    (
        5,
        "noisy_sgd",
        "diary of {} runs, of",
        lambda: {7: "seven"}[len(exercise(5, "noisy_sgd").draw(generator()))],
    ),
    (
        5,
        "noisy_sgd",
        "of {} steps at most, and it measures",
        lambda: max(case["steps"] for case in exercise(5, "noisy_sgd").draw(generator())),
    ),
    (6, "", "is {:.0f} to", lambda: 100 * (paper_runs()[-1][0] / paper_runs()[-1][2] - 1)),
    (6, "", "to {:.0f} % above the truth", lambda: 100 * (paper_runs()[0][0] / paper_runs()[0][2] - 1)),
    (6, "", "accountant needs {:.0f} % less noise", lambda: 100 * (1 - exact_noise(1.34, 20) / 1.3)),
    (6, "", "exactly ε is {:.2f} against", lambda: paper_run(1.3, 20)[2]),
    (6, "", "against {:.2f}.", lambda: paper_run(1.06, 20)[2]),
    (6, "", "the two models are {:.3f} apart", lambda: accountants_pictures.RUNS["apart_without"][-1]),
    (6, "noise_for_budget", "with {:.0f} % less it should", lambda: noise_for_budget.WASTE * 100),
    (6, "noise_for_budget", "from {:g} to", lambda: noise_for_budget.LEAST_NOISE),
    (6, "noise_for_budget", "to {:g}, for which noisy SGD", lambda: noise_for_budget.MOST_NOISE),
    (7, "", "its solution is about ${:.0f}/n$", lambda: -math.log(0.05)),
    (7, "", "a thousand runs proves ε = {:.1f}, it", lambda: audit.epsilon_lower_bound(*PERFECT, threshold=0.5)),
    (7, "", 'is at least {:.3f}"', lambda: math.floor(1000 * gdp.epsilon(1e-5, 1.0)) / 1000),
    (7, "", "their vectors are about {:.1f} long", lambda: 0.1 * math.sqrt(19)),
    (
        7,
        "accused",
        "The check has you judge {} times",
        lambda: {5: "five"}[len(exercise(7, "accused").draw(generator()))],
    ),
    (7, "accused", "six mechanisms within {:g} seconds", lambda: exercise(7, "accused").seconds),
    (7, "", "These were {} trainings", lambda: 2 * 150),
    (7, "", "trainings of each kind in place of {}", lambda: 150),
    (7, "", "would have to be run {} million times", lambda: {3: "three"}[round(-math.log(0.05))]),
    (7, "", "G₁(0.10) = {:.2f}", lambda: tradeoff.gaussian(1.0)(0.1)),
    (7, "", "the bounds are about ({:.2f}", lambda: audit.clopper_pearson(20, 200, 0.975)),
    (7, "", ", {:.2f}), and G₁(0.15)", lambda: audit.clopper_pearson(80, 200, 0.975)),
    (7, "", "G₁(0.15) = {:.2f}", lambda: tradeoff.gaussian(1.0)(0.15)),
    (7, "", "than many of which {:.0f} % are", lambda: 100 * 300 / 500),
    (7, "", "300 right of 500 prove an ε of {:.2f} only", lambda: audit.one_run_epsilon_lower_bound(300, 500)),
    (7, "", "63 right of the 70 surest would prove {:.1f}.", lambda: audit.one_run_epsilon_lower_bound(63, 70)),
    (7, "", "$u$ begins at {:.4f} and", lambda: 0.05 * 90 / 1000),
    (7, "", "and $w$ at {:.4f}. The", lambda: 0.05 * 10 / 1000),
    (7, "", "makes $w$ {:.5f} and", lambda: stats.norm.cdf(stats.norm.ppf(0.0045) - 0.6)),
    (
        7,
        "",
        "and $u$ {:.4f}.",
        lambda: 0.0045 + 89 / 11 * (stats.norm.cdf(stats.norm.ppf(0.0045) - 0.6) - 0.0005),
    ),
    (7, "", "the two margins are {:.2f} together", lambda: 2 * stats.norm.ppf(0.975) / math.sqrt(2)),
    (
        7,
        "",
        "about {} in a thousand audits",
        lambda: {3: "three"}[round(1000 * stats.norm.sf(2 * stats.norm.ppf(0.975) / math.sqrt(2)))],
    ),
    (8, "", "numbers of {} binary digits", lambda: np.finfo(float).nmant + 1),
    (
        8,
        "",
        "between 1/8 and 1/4 have the same power of two, and are $2^{{{}}}$ apart",
        lambda: int(math.log2(np.spacing(0.2))),
    ),
    (8, "", "Between 1/4 and 1/2 they are $2^{{{}}}$ apart", lambda: int(math.log2(np.spacing(0.3)))),
    (8, "", "one layer with {:,} weights", lambda: 6400 * 10),
    (8, "", "a radius above {:.1f})", lambda: math.sqrt(2 * math.log(2**24 / 2**14))),
    (
        8,
        "",
        "Between {} and 1,024 its numbers are 1/2 apart",
        lambda: next(x for x in (256, 512) if np.spacing(np.float16(x)) == 0.5),
    ),
    (
        8,
        "",
        "between 1,024 and {:,} they are 1 apart",
        lambda: next(x for x in (2048, 4096) if np.spacing(np.float16(x)) == 2),
    ),
    (8, "", "has {:,} seeds a day", lambda: 24 * 60 * 60),
    (
        8,
        "whole_noise",
        "The check draws {:,} numbers",
        lambda: sum(case["size"] for case in exercise(8, "whole_noise").draw(generator())),
    ),
    (
        8,
        "whole_gaussian",
        "The check draws {:,} numbers",
        lambda: sum(case["size"] for case in exercise(8, "whole_gaussian").draw(generator())),
    ),
]


@functools.cache
def text_of(number):
    """All that a learner may read in a lesson: source, quiz."""
    lesson = course.lesson(number)
    quiz = [
        line
        for question in lesson.quiz
        for line in (question.text, *(f"Option: {option.text}\n{option.reply}" for option in question.options))
    ]
    return "\n".join([(ROOT / f"solutions/{lesson.name}.md").read_text(encoding="utf-8"), *quiz])


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("number", "phrase", "value"),
    [
        pytest.param(number, phrase, value, id=f"{course.lesson(number).word}-{function}: {phrase}")
        for number, function, phrase, value in CLAIMS
    ],
)
def test_a_stated_number_is_the_computed_one(number, phrase, value):
    said = phrase.format(value())
    assert said in text_of(number), f"{course.lesson(number).name} does not say {said!r}"


def test_statements_in_words_of_start_here_composition_and_laplace():
    people = survey()
    assert len(people) == 6366
    assert round(100 * standard_error(1.0, len(people))) == 1, "off by about one percentage point"
    assert (people["affairs"] > 0)[0], "Mia, in the first row, had an affair"
    insured = surveys.insured()
    assert len(insured) == 20_190
    assert (insured["hlthp"] == 1).sum() == 302
    assert (insured["hlthp"] + insured["hlthf"] + insured["hlthg"] == 0).sum() == 11_019
    mia, asked = people[0], ["age", "yrs_married", "children", "educ", "occupation"]
    assert (people[asked] == mia[asked]).sum() == 1, "Mia is the only one of her kind"
    assert (mia["age"], mia["yrs_married"], mia["children"], mia["educ"], mia["occupation"]) == (32, 9, 3, 17, 2)
    assert np.unique(people["occupation"]).size == 6, "six classes of occupation"
    assert people["yrs_married"].max() <= 30, "clipping a marriage to 30 years changes nothing"
    assert (people["children"] > 0)[0], "Mia has children"
    assert exercise(2, "laplace_mechanism").false_failure == exercise(2, "report_noisy_max").false_failure == 1e-6
    for k in (50, 1000):
        loss, log_p = composition.losses(0.1, k)
        mean = (np.exp(log_p) * loss).sum()
        assert mean / (k * 0.1 * math.expm1(0.1)) == pytest.approx(0.5, abs=0.05), (
            "the true drift is about half of what is allowed"
        )
    for small in (0.01, 0.1):
        assert standard_error(small, 1) == pytest.approx(1 / small, rel=0.01), "for small ε it is about 1/(ε√n)"
    assert 1 - math.expm1(math.log(2)) == 0, "at ln 2 the drift alone is kε"


def test_statements_in_words_of_gdp():
    mia = survey()[0]
    assert (mia["affairs"] > 0, mia["children"] > 0, mia["educ"] >= 16) == (True, True, True)
    assert mia["rate_marriage"] <= 3, "Mia is in all five totals"
    assert mia["religious"] >= 3
    laplace, gaussian = tradeoff.laplace(1.0), tradeoff.gaussian(1.0)
    alpha = np.linspace(0, 1, 1001)
    short = alpha[gaussian(alpha) > laplace(alpha) + 1e-9]
    assert 0.2 < short.min() < short.max() < 0.4, "Laplace noise fails in the middle only"
    assert (gaussian(alpha) - laplace(alpha)).max() < 0.011, "and by a hair"
    for seed in DRAWS:
        for case in exercise(3, "refuting_test").draw(np.random.default_rng(seed)):
            p, q = (np.bincount(case[name], minlength=12) / 20_000 for name in ("out", "inside"))
            assert p.size == q.size == 12, "the numbers 0 to 11"
            assert p.min() > 0, "a ratio may be infinite nowhere"
            assert len(case["out"]) == len(case["inside"]) == 20_000, "as often with her as without"
        cases = exercise(3, "largest_mu").draw(np.random.default_rng(seed))
        assert min(case["delta"] for case in cases) >= 1e-30
        assert max(gdp.mu(**case) for case in cases) > 1, "μ may be larger than 1"
    assert max(abs(tradeoff.approx_dp(0, 0.05)(alpha) - np.maximum(0, 0.95 - alpha))) < 1e-12, (
        "with probability 0.05 it tells whether Mia is in: of (alpha, beta) one is 0 on 0.05, the rest is a guess"
    )
    assert gdp.delta(1.0, 0.01) == 0.0, "far below 1e-300 gdp.delta is 0 too"
    for digits in (2, 5, 10):
        assert gdp.delta(0.9, 1 / gdp.classic_sigma(0.9, 10.0**-digits)) < 10.0**-digits, "below 1 it is true"
    assert gdp.delta(10, 1 / gdp.classic_sigma(10, 1e-5)) > 1e-5, "at ε = 10 the promised δ is missed"


def test_statements_in_words_of_clt():
    alpha = np.linspace(0, 1, 2001)
    response = tradeoff.approx_dp(0.5)
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        limit = tradeoff.gaussian(clt.berry_esseen([response] * n)[0])
        apart = np.abs(response.power(n)(alpha) - limit(alpha)).max()
        assert apart < 0.06, "nowhere more than 0.06 away there"
    for f in (tradeoff.laplace(0.1), tradeoff.gaussian(0.1), tradeoff.gaussian(0.1).subsampled(0.1), response):
        kl, kappa2, _, _ = clt.functionals(f)
        assert kappa2 == pytest.approx(2 * kl, rel=0.025), "kappa_2 is nearly 2 kl"
    ones = [tradeoff.approx_dp(0.1), tradeoff.laplace(0.1), tradeoff.gaussian(1.0).subsampled(0.1)]
    least = min((clt.berry_esseen([f])[1] / 1e-5) ** 2 for f in ones)
    assert 3e9 < least < 3.3e9, "more than three billion answers, and that is the least of the three"
    for noise, rate, steps, sign in [(0.5, 0.001, 1000, -1), (0.5, 0.03, 10_000, 1)]:
        exact = pld.noisy_sgd(noise, rate, steps).epsilon(1e-5).upper
        assert sign * (gdp.epsilon(1e-5, clt.noisy_sgd_mu(noise, rate, steps)) - exact) > 0.5 * exact
    half = np.geomspace(1e-12, 0.5, 10_000)
    assert np.unique(np.r_[0, half, 1 - half, 1]).size == 20_001, "curves through 20,001 points"


def test_the_papers_table_in_dpsgd_is_that_of_the_package():
    from dpcourse.dpsgd import paper

    for noise, learning_rate, _, epochs, accuracy, mu, moments in paper.TABLE:
        star = " " if learning_rate else "*"
        assert f'({noise:g}, {epochs}, "{star}", {accuracy:g}, {mu:.2f}, {moments:.2f})' in text_of(6)
    for epochs, _, epsilon, moments, limit in paper.FIGURE_4:
        assert f"({epochs}, {epsilon:g}, {moments:g}, {limit:g})" in text_of(6)


def test_the_recorded_run_is_the_one_that_dpsgd_speaks_of():
    from dpcourse.dpsgd import replay

    about = replay(show=False).settings
    assert f"the {about['people']:,} photographs of clothes of {about['data']}" in text_of(6)


def test_statements_in_words_of_dpsgd():
    above = [moments / exact - 1 for moments, _, exact in paper_runs()]
    assert above == sorted(above, reverse=True), "15 to 38 % are the ends"
    assert [limit < exact for _, limit, exact in paper_runs()] == [True] * 5 + [False], "below in the first five rows"
    assert all(paper_run(1.3, 20)[i] == pytest.approx(paper_run(1.06, 20)[j], rel=0.01) for i, j in [(0, 1)])
    for noise, epochs, mu in [(0.6, 62, 2.0), (0.55, 68, 2.76), (0.5, 100, 4.78)]:
        fitting = [e for e in range(1, 200) if round(clt.noisy_sgd_mu(noise, 256 / 60_000, e * 60_000 / 256), 2) == mu]
        assert fitting == [epochs], "the only whole number of epochs that fits"
    mus = [gdp.mu(pld.noisy_sgd(1.3, 256 / 60_000, 3516).epsilon(10.0**-d).upper, 10.0**-d) for d in (2, 5, 8, 11)]
    assert mus == sorted(mus), "the smaller δ, the larger the μ"
    assert digits().data.max() == 16, "pixels from 0 to 1 after division by 16"


def test_statements_in_words_of_audit():
    assert "0.25, 0.6, 150\n" in text_of(7), "150 trainings of each of two kinds"
    alpha, beta = audit.clopper_pearson(20, 200, 0.975), audit.clopper_pearson(80, 200, 0.975)
    assert beta < tradeoff.gaussian(1.0)(alpha), "here they do refute it"
    ranks, _ = audit._errors_at_ranks(np.arange(1000.0), np.arange(1000.0), lower=False)
    assert (ranks[:6] + 1).tolist() == [1, 2, 3, 5, 6, 9], "the 1st, 2nd, 3rd, 5th, 6th, 9th score"
    assert canary.MOST_TARGET == 1e9, "a billion"
    assert abs((1 - 1e-6) ** 3_000_000 - 0.05) < 0.001, "95 % to see it leak"
    assert 1 - (1 - 1e-9) ** 1e7 < 0.02, "ten million audits do not see it"
    for runs in (100, 1000, 10_000, 100_000):
        seen = audit.epsilon_lower_bound(np.ones(runs), np.zeros(runs), threshold=0.5)
        assert seen == pytest.approx(math.log(runs / math.log(2 / 0.05)), abs=0.03), "the end of an audit's sight"
    assert (survey()["affairs"] > 0)[0], "Mia has had an affair"
