"""The numbers that the lessons' prose, quizzes and messages state: each phrase stands there, with the value computed here."""

import importlib
import math
from pathlib import Path

import jupytext
import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.datasets import load_digits
from statsmodels.datasets import fair, randhie

from dpcourse import audit, clt, composition, course, gdp, laplace, pld, rdp, tradeoff
from dpcourse.authoring import build

ROOT = Path(__file__).parents[1]
KEEP_1 = math.e / (1 + math.e)
RESPOND, CROSSING, RELEASE = course.find("0.2"), course.find("1.6"), course.find("3.6")
GAMMA_100 = clt.berry_esseen([tradeoff.laplace(0.1)] * 100)[1]
STANDARD_SGD = pld.noisy_sgd(1.0, 0.01, 1000).epsilon(1e-5)
SETTING = importlib.import_module("dpcourse.course.clt.shared").RANGES
MARGIN = importlib.import_module("dpcourse.course.clt.shared").MARGIN
DELTAS = [case["delta"] for seed in range(300) for case in course.find("4.10").draw(np.random.default_rng(seed))]
ADVANCED_5 = composition.advanced(0.1, 0, 5, 1e-6)[0]


SURVEY = fair.load_pandas().data
WORST = 1 - (1 - math.exp(-laplace.error_bound(10_000, 0.05, 1, 1))) ** 10_000
LEADERS = (SURVEY["yrs_married"] >= 6).sum(), (SURVEY["children"] > 0).sum()


def generator():
    return np.random.default_rng(0)


def standard_error(epsilon, n):
    return 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))


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


DIGITS = load_digits()
PAPER = [paper_run(*row) for row in [(1.3, 15), (1.1, 60), (0.7, 45), (0.6, 62), (0.55, 68), (0.5, 100)]]
PERFECT = np.ones(1000), np.zeros(1000)

CLAIMS = [
    (0, "A check stops after {:g} seconds", max(exercise.seconds for exercise in course.every_exercise())),
    (0, "runs your function on {} surveys of 100 people", len(RESPOND.cases(np.random.default_rng(0)))),
    (0, "at most once in {} times", {1e-6: "a million"}[RESPOND.false_failure]),
    (0, "At $\\varepsilon = 3$ about {:.0f} of 100 reports are true", 100 / (1 + math.exp(-3))),
    (0, "$\\ln 3 \\approx {:.2f}$", math.log(3)),
    (0, "keep the truth with probability {:.0f}/4", 4 / (1 + math.exp(-math.log(3)))),
    (0, 'n=widgets.slider("n, people asked", 100, 1_000_000, {}', len(fair.load_pandas().data)),
    (0, "comes from a true no as well, with chance {:.2f}", 1 - KEEP_1),
    (0, "Its odds grew by the factor e = {:.2f}", KEEP_1 / (1 - KEEP_1)),
    (0, "e^10 is about {:,.0f}", round(math.exp(10), -3)),
    (1, "$\\ln 2 \\approx {:.2f}$", math.log(2)),
    (
        1,
        "ε is at most {}, so there is such a $k$",
        max(case["epsilon"] for seed in range(300) for case in CROSSING.draw(np.random.default_rng(seed))),
    ),
    (1, "the standard error is {:.1f} percentage points among the excellent", 100 * standard_error(1.0, 11_019)),
    (1, "and {:.1f} among the poor", 100 * standard_error(1.0, 302)),
    (1, "Option: ε = {:g}", composition.sequential([0.2] * 10)),
    (1, "Option: ε = {:.2f}", 0.2 * math.sqrt(10)),
    (1, "Option: ε = {:g}", composition.sequential([0.2, 0.2])),
    (1, "√(2 ln 10⁶) = {:.1f} in front", math.sqrt(2 * math.log(1e6))),
    (1, "With k = 5 it gives {:.2f}", ADVANCED_5),
    (1, "Basic gives {:g}. Advanced needs k above", composition.sequential([0.1] * 5)),
    (1, "needs k above {} here", CROSSING.reference(0.1, 1e-6) - 1),
    (
        2,
        "runs your function {} times on an array of 2,000",
        {3: "three"}[len(course.find("2.2").draw(generator())) - 1],
    ),
    (2, "and once on {} of them", len(course.find("2.2").draw(generator())[-1]["value"])),
    (2, "has lasted longer than {:g} years", SURVEY["yrs_married"].max()),
    (2, "within chance of {:.1f} %; the", 100 * WORST),
    (2, "the standard error is {:.1f} %.)", 100 * math.sqrt(WORST * (1 - WORST) / 1000)),
    (2, "of 7 bits there are {} outputs for each count", 2**7 - 1),
    (2, "three times on an array of {:,} numbers", len(course.find("2.2").draw(generator())[0]["value"])),
    (2, "The check makes {} histograms", len(course.find("2.5").draw(generator()))),
    (2, "histograms of the same {} people", len(course.find("2.5").draw(generator())[0]["values"])),
    (2, "The check holds {} elections among ten options or a thousand", len(course.find("2.7").draw(generator()))),
    (
        2,
        "among {} options or a",
        {10: "ten"}[min(len(case["counts"]) for case in course.find("2.7").draw(generator()))],
    ),
    (
        2,
        "options or {}, and counts who wins",
        {1000: "a thousand"}[max(len(case["counts"]) for case in course.find("2.7").draw(generator()))],
    ),
    (2, "The check draws {:,} numbers", sum(case["size"] for case in course.find("2.8").draw(generator()))),
    (2, "$\\ln(10{{,}}000/0.05) \\approx {:.1f}$", laplace.error_bound(10_000, 0.05, 1, 1)),
    (2, "$\\ln 10 \\approx {:.1f}$ scales", math.log(10)),
    (2, "$\\Delta f = {}$, with and without Mia", 1 + 30),
    (2, "noise of scale ${}/\\varepsilon$. But the answer", 6),
    (2, "all* $2^{}$ kinds of women", 6),
    (2, "The two leaders among our six counts are only {:.0f} apart", LEADERS[0] - LEADERS[1]),
    (2, "Option: {:.1f}\n✓", math.sqrt(2 * 10**2)),
    (2, "The root of the variance 2b² = {}", 2 * 10**2),
    (3, "here $N({}, 1)$", (SURVEY["affairs"][1:] > 0).sum()),
    (3, "drawn from $Q$, here $N({}, 1)$", (SURVEY["affairs"] > 0).sum()),
    (3, "accepts 5% of false alarms misses Mia in {:.0f}%", 100 * tradeoff.gaussian(1)(0.05)),
    (3, "its curve starts at {:g}", tradeoff.approx_dp(0, 0.05)(0)),
    (
        3,
        "with probability {:.1g} some output gives Mia away",
        1 - tradeoff.TradeOff.from_points([0, 0.8, 1], [0.8, 0, 0])(0),
    ),
    (3, "the noise is about {:.1f}", gdp.sigma(math.sqrt(5), 0.5)),
    (3, "a table of two counts {} times", sum(len(case["counts"]) == 2 for case in RELEASE.cases(generator()))),
    (3, "and a longer one {} times", sum(len(case["counts"]) > 2 for case in RELEASE.cases(generator()))),
    (3, "In {} of these Mia is in", len(RELEASE.attack(RELEASE.cases(generator()), np.zeros((972, 1))).scores_in)),
    (3, "at most once in {} times", {1e-6: "a million"}[RELEASE.false_failure]),
    (3, "asks for {:.0f}% more noise at", 100 * (gdp.classic_sigma(1, 1e-5) / gdp.analytic_sigma(1, 1e-5) - 1)),
    (3, "So TV is at least {:g}", 1 - (0.3 + 0.2)),
    (3, "Option: μ = {:g}", 5 / gdp.sigma(5, 0.5)),
    (3, "Option: μ = {:g}", 5 / 10**2),
    (3, "Option: {:g}-GDP", gdp.group(0.5, 4)),
    (3, "Option: {:g}-GDP", gdp.compose([0.5] * 4)),
    (4, "at the same {} values of α", len(course.find("4.1").draw(np.random.default_rng(0))[0]["curves"]["f"])),
    (4, "A colleague has {} candidates", ["six"][len(course.find("4.1").draw(np.random.default_rng(0))) - 6]),
    (4, "The constant {:g}: Irina Shevtsova", clt.BERRY_ESSEEN),
    (4, "\\gamma = \\frac{{{:g} \\sum_i", clt.BERRY_ESSEEN),
    (4, "100 answers have γ = {:.3f}", GAMMA_100),
    (4, "so no δ below {:.3f} can be guaranteed", GAMMA_100),
    (4, "Option: {:.2f}-GDP, exactly", gdp.compose([1.0, 1.0])),
    (4, "√(1² + 1²) = {:.2f}", math.sqrt(2)),
    (4, "trained with ε = {:.2f} at δ = 10⁻⁵", gdp.epsilon(1e-5, clt.noisy_sgd_mu(1.0, 0.01, 1000))),
    (4, "pld says: between {:.4f}", math.floor(1e4 * STANDARD_SGD.lower) / 1e4),
    (4, "and {:.4f}. What do you report?", math.ceil(1e4 * STANDARD_SGD.upper) / 1e4),
    (4, "Option: {:.4f}\n✓ Right", math.ceil(1e4 * STANDARD_SGD.upper) / 1e4),
    (4, "more than {:.0f} % **below**", 100 * MARGIN),
    (4, "more than {:.0f} % **above**", 100 * MARGIN),
    (4, "`noise_multiplier` from {0[0]:g} to {0[1]:g}", SETTING["noise_multiplier"]),
    (4, "`sample_rate` from {0[0]:g} to {0[1]:g}", SETTING["sample_rate"]),
    (4, "`steps` a whole number from {0[0]} to {0[1]:,}", SETTING["steps"]),
    (
        4,
        "`noise_multiplier` from {:g} and the other",
        importlib.import_module("dpcourse.course.clt.too_high").LEAST_NOISE,
    ),
    (4, "the true $\\kappa_2$ is {:.4f}", clt.functionals(tradeoff.gaussian(2.0).mixed(0.03))[1]),
    (4, "and the formula says {:.4f}", 0.03**2 * math.expm1(1 / 0.5**2)),
    (4, "(from $10^{{{:.0f}}}$", math.log10(min(DELTAS))),
    (4, "to $10^{{{:.0f}}}$)", math.log10(max(DELTAS))),
    (5, "It has {:,} small images", len(DIGITS.data)),
    (5, "We set {} images aside for testing", len(DIGITS.data) - 1500),
    (5, "{} inputs, 10 classes", f"${DIGITS.data.shape[1]} + 1$"),
    (5, "and so {} weights", (DIGITS.data.shape[1] + 1) * 10),
    (5, "a blind guess has β = {:g}", tradeoff.identity()(0.05)),
    (5, "The check runs your function {} times; a", (len(course.find("5.2").draw(generator())) - 2) // 100 * 100),
    (5, "your function {} times, with", ["four"][len(course.find("5.3").draw(generator())) - 4]),
    (5, "with {} steps each", course.find("5.3").draw(generator())[0]["steps"]),
    (5, "is {:.0f} to", 100 * (PAPER[-1][0] / PAPER[-1][2] - 1)),
    (5, "to {:.0f} % above the truth", 100 * (PAPER[0][0] / PAPER[0][2] - 1)),
    (5, "accountant needs {:.0f} % less noise", 100 * (1 - exact_noise(1.34, 20) / 1.3)),
    (5, "exactly ε is {:.2f} against", paper_run(1.3, 20)[2]),
    (5, "against {:.2f}.", paper_run(1.06, 20)[2]),
    (5, "with {:.0f} % less it should", importlib.import_module("dpcourse.course.dpsgd.noise_for_budget").WASTE * 100),
    (5, "from {:g} to", importlib.import_module("dpcourse.course.dpsgd.noise_for_budget").LEAST_NOISE),
    (5, "to {:g}, for which noisy SGD", importlib.import_module("dpcourse.course.dpsgd.noise_for_budget").MOST_NOISE),
    (6, "its solution is about ${:.0f}/n$", -math.log(0.05)),
    (6, 'no more than ε = {:.1f}"', audit.epsilon_lower_bound(*PERFECT, threshold=0.5)),
    (6, 'is at least {:.2f}"', math.floor(100 * gdp.epsilon(1e-5, 1.0)) / 100),
    (6, "their vectors are about {:.1f} long", 0.1 * math.sqrt(19)),
    (6, "The check has you judge {} times", {5: "five"}[len(course.find("6.9").draw(generator()))]),
    (6, "five mechanisms within {:g} seconds", course.find("6.9").seconds),
    (6, "These were {} trainings", 3 * 150),
    (6, "trainings of each kind in place of {}", 150),
    (6, "would have to be run {} million times", {3: "three"}[round(-math.log(0.05))]),
    (6, "G₁(0.10) = {:.2f}", tradeoff.gaussian(1.0)(0.1)),
    (6, "the bounds are about ({:.2f}", audit.clopper_pearson(20, 200, 0.975)),
    (6, ", {:.2f}), and G₁(0.15)", audit.clopper_pearson(80, 200, 0.975)),
    (6, "G₁(0.15) = {:.2f}", tradeoff.gaussian(1.0)(0.15)),
    (6, "than many of which {:.0f} % are", 100 * 300 / 500),
]


def text_of(number):
    """All that a learner may read in a lesson: source, quiz."""
    (source,) = [source for source in build.sources(ROOT) if source.stem.startswith(f"{number:02}")]
    quiz = [
        line
        for question in course.lesson(number).quiz
        for line in (question.text, *(f"Option: {option.text}\n{option.reply}" for option in question.options))
    ]
    return "\n".join([source.read_text(encoding="utf-8"), *quiz])


@pytest.mark.parametrize(("number", "phrase", "value"), CLAIMS)
def test_a_stated_number_is_the_computed_one(number, phrase, value):
    assert phrase.format(value) in text_of(number)


def test_statements_in_words():
    survey = fair.load_pandas().data
    assert len(survey) == 6366
    assert round(100 * standard_error(1.0, len(survey))) == 1, "off by about one percentage point"
    assert (survey["affairs"] > 0)[0], "Mia, in the first row, had an affair"
    insured = randhie.load_pandas().data
    assert len(insured) == 20_190
    assert (insured["hlthp"] == 1).sum() == 302
    assert (insured[["hlthp", "hlthf", "hlthg"]].sum(axis=1) == 0).sum() == 11_019
    mia = survey.iloc[0]
    like_mia = (
        survey[["age", "yrs_married", "children", "educ", "occupation"]]
        == mia[["age", "yrs_married", "children", "educ", "occupation"]]
    )
    assert like_mia.all(axis=1).sum() == 1, "Mia is the only one of her kind"
    assert (mia["age"], mia["yrs_married"], mia["children"], mia["educ"], mia["occupation"]) == (32, 9, 3, 17, 2)
    assert survey["occupation"].nunique() == 6, "six classes of occupation"
    assert survey["yrs_married"].max() <= 30, "clipping a marriage to 30 years changes nothing"
    assert (survey["children"] > 0)[0], "Mia has children"
    assert course.find("2.2").false_failure == course.find("2.7").false_failure == 1e-6
    for k in (50, 1000):
        loss, log_p = composition.losses(0.1, k)
        mean = (np.exp(log_p) * loss).sum()
        assert mean / (k * 0.1 * math.expm1(0.1)) == pytest.approx(0.5, abs=0.05), (
            "the true drift is about half of what is allowed"
        )
    for small in (0.01, 0.1):
        assert standard_error(small, 1) == pytest.approx(1 / small, rel=0.01), "for small ε it is about 1/(ε√n)"
    assert 1 - math.expm1(math.log(2)) == 0, "at ln 2 the drift alone is kε"


def test_statements_in_words_of_lesson_03():
    mia = SURVEY.iloc[0]
    assert (mia["affairs"] > 0, mia["children"] > 0, mia["educ"] >= 16) == (True, True, True)
    assert mia["rate_marriage"] <= 3, "Mia is in all five totals"
    assert mia["religious"] >= 3
    laplace, gaussian = tradeoff.laplace(1.0), tradeoff.gaussian(1.0)
    alpha = np.linspace(0, 1, 1001)
    short = alpha[gaussian(alpha) > laplace(alpha) + 1e-9]
    assert 0.2 < short.min() < short.max() < 0.4, "Laplace noise fails in the middle only"
    assert (gaussian(alpha) - laplace(alpha)).max() < 0.011, "and by a hair"
    for seed in range(300):
        cases = course.find("3.7").draw(np.random.default_rng(seed))
        deltas = [gdp.delta(**case) for case in cases]
        assert min(deltas) < 1e-20, "one of the inputs of 3.7 is so far out"
        assert max(case["epsilon"] for case in cases) < 700, "no input makes e^ε overflow"
        cases = course.find("3.8").draw(np.random.default_rng(seed))
        assert min(case["delta"] for case in cases) >= 1e-30
        assert max(gdp.mu(**case) for case in cases) > 1, "μ may be larger than 1"
    assert max(abs(tradeoff.approx_dp(0, 0.05)(alpha) - np.maximum(0, 0.95 - alpha))) < 1e-12, (
        "with probability 0.05 it tells whether Mia is in: of (alpha, beta) one is 0 on 0.05, the rest is a guess"
    )
    assert gdp.delta(1.0, 0.01) == 0.0, "far below 1e-300 gdp.delta is 0 too"
    for digits in (2, 5, 10):
        assert gdp.delta(0.9, 1 / gdp.classic_sigma(0.9, 10.0**-digits)) < 10.0**-digits, "below 1 it is true"
    assert gdp.delta(10, 1 / gdp.classic_sigma(10, 1e-5)) > 1e-5, "at ε = 10 the promised δ is missed"


def test_statements_in_words_of_lesson_04():
    alpha = np.linspace(0, 1, 2001)
    response = tradeoff.approx_dp(0.5)
    for n in (1, 2, 3, 5, 10, 30, 100, 300, 1000):
        limit = tradeoff.gaussian(clt.berry_esseen([response] * n)[0])
        apart = np.abs(response.power(n)(alpha) - limit(alpha)).max()
        assert apart < 0.06, "nowhere more than 0.06 away"
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


def test_the_papers_table_in_lesson_05_is_that_of_the_package():
    from dpcourse.dpsgd import paper

    for noise, learning_rate, _, epochs, accuracy, mu, moments in paper.TABLE:
        star = " " if learning_rate else "*"
        assert f'({noise:g}, {epochs}, "{star}", {accuracy:g}, {mu:.2f}, {moments:.2f})' in text_of(5)
    for epochs, _, epsilon, moments, limit in paper.FIGURE_4:
        assert f"({epochs}, {epsilon:g}, {moments:g}, {limit:g})" in text_of(5)


def test_the_recorded_run_is_the_one_that_lesson_05_speaks_of():
    from dpcourse.dpsgd import replay

    about = replay(show=False).settings
    assert f"the {about['people']:,} photographs of clothes of {about['data']}" in text_of(5)


def test_statements_in_words_of_lesson_05():
    above = [moments / exact - 1 for moments, _, exact in PAPER]
    assert above == sorted(above, reverse=True), "15 to 38 % are the ends"
    assert [limit < exact for _, limit, exact in PAPER] == [True] * 5 + [False], "below in the first five rows"
    assert all(paper_run(1.3, 20)[i] == pytest.approx(paper_run(1.06, 20)[j], rel=0.01) for i, j in [(0, 1)])
    for noise, epochs, mu in [(0.6, 62, 2.0), (0.55, 68, 2.76), (0.5, 100, 4.78)]:
        fitting = [e for e in range(1, 200) if round(clt.noisy_sgd_mu(noise, 256 / 60_000, e * 60_000 / 256), 2) == mu]
        assert fitting == [epochs], "the only whole number of epochs that fits"
    mus = [gdp.mu(pld.noisy_sgd(1.3, 256 / 60_000, 3516).epsilon(10.0**-d).upper, 10.0**-d) for d in (2, 5, 8, 11)]
    assert mus == sorted(mus), "the smaller δ, the larger the μ"
    assert DIGITS.data.max() == 16, "pixels from 0 to 1 after division by 16"


def test_statements_in_words_of_lesson_06():
    assert "0.25, 0.6, 150\n" in text_of(6), "150 trainings of each of three kinds"
    alpha, beta = audit.clopper_pearson(20, 200, 0.975), audit.clopper_pearson(80, 200, 0.975)
    assert beta < tradeoff.gaussian(1.0)(alpha), "here they do refute it"
    ranks, _ = audit._errors_at_ranks(np.arange(1000.0), np.arange(1000.0), lower=False)
    assert (ranks[:6] + 1).tolist() == [1, 2, 3, 5, 6, 9], "the 1st, 2nd, 3rd, 5th, 6th, 9th score"
    assert importlib.import_module("dpcourse.course.audit.canary").MOST_TARGET == 1e9, "a billion"
    assert abs((1 - 1e-6) ** 3_000_000 - 0.05) < 0.001, "95 % to see it leak"
    assert 1 - (1 - 1e-9) ** 1e7 < 0.02, "ten million audits do not see it"
    for runs in (100, 1000, 10_000, 100_000):
        seen = audit.epsilon_lower_bound(np.ones(runs), np.zeros(runs), threshold=0.5)
        assert seen == pytest.approx(math.log(runs / math.log(2 / 0.05)), abs=0.03), "the end of an audit's sight"
    assert (SURVEY["affairs"] > 0)[0], "Mia has had an affair"


@pytest.mark.parametrize("number", range(len(course.lessons())))
def test_the_exercises_fit_into_the_lessons_time(number):
    (source,) = [source for source in build.sources(ROOT) if source.stem.startswith(f"{number:02}")]
    minutes = jupytext.read(source).metadata["dpcourse"]["minutes"]
    assert sum(exercise.minutes for exercise in course.lesson(number).exercises) < minutes
