"""Answers of lesson 07 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from course.judging import drawn, judged, named
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.special import logit
from scipy.stats import beta, binom, norm
from support import by_profile

from dpcourse import audit, course, tradeoff
from dpcourse.checking import ERROR, RIGHT, WRONG
from dpcourse.course.audit import attack, pictures, simulated

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(7).exercise
SEEDS = range(by_profile("checks of each answer", 1, 5))
GUESSED = range(by_profile("checks of an answer that guesses", 1, 4))


def by_binomial(errors, trials, confidence):
    if errors == trials:
        return 1
    return brentq(lambda p: binom.cdf(errors, trials, p) - (1 - confidence), 0, 1, xtol=1e-14)


def by_loop(scores_in, scores_out, threshold):
    alarms = sum(1 for score in scores_out if score > threshold)
    misses = sum(1 for score in scores_in if not score > threshold)
    return [alarms / len(scores_out), misses / len(scores_in)]


def by_search(epsilon, confidence):
    each, runs = (1 - confidence) / 2, 1
    while True:
        rate = 1 - each ** (1 / runs)
        if math.log((1 - rate) / rate) >= epsilon:
            return float(runs)
        runs += 1


def threshold_by_threshold(false_alarms, misses, runs, confidence):
    risk, best = (1 - confidence) / len(misses) / 2, 0
    for alarms, missed in zip(false_alarms, misses, strict=True):
        most = [1.0 if k == runs else beta.isf(risk, k + 1, runs - k) for k in (alarms, missed)]
        best = max(best, norm.isf(most[0]) - norm.ppf(most[1]))
    return best


def far_away(inputs, clip_norm, longest):
    x = [0.0] * inputs.shape[1]
    x[int(np.argmin(np.abs(inputs).sum(axis=0)))] = 0.5
    return [x, -1e6]


def step_by_step(threshold, noise_multiplier, sample_rate, steps):
    """The law of the number of draws, from that of one step."""
    chances = np.ones(1)
    for _ in range(steps):
        chances = np.convolve(chances, [1 - sample_rate, sample_rate])
    scale = noise_multiplier * steps**0.5
    return [norm.sf(threshold, 0, scale), chances @ norm.cdf(threshold, np.arange(steps + 1), scale)]


def one_run_by_search(correct, guesses, confidence):
    if binom.sf(correct - 1, guesses, 0.5) > 1 - confidence:
        return 0
    return brentq(
        lambda e: binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-e))) - (1 - confidence), 0, 30, xtol=1e-12
    )


def any_threshold(seed, clip_norm, mu, rng):
    """Threshold chosen on the scores by the library; the canary in the second round; letters in another order."""
    canary = 100 * clip_norm * rng.choice([-1.0, 1.0], size=(1, 40))
    nobody, three = np.zeros((0, 40)), np.zeros((3, 40))
    letters = []
    for letter, mechanism in reversed(audit.suspects(seed).items()):
        outputs = [
            np.array([mechanism((nobody, second), clip_norm, mu, rng) for _ in range(1300)])
            for second in (np.vstack([three, canary]), three)
        ]
        seen = [output @ canary[0] for output in outputs]
        size = audit.mu_lower_bound(*(-np.abs(output[:, 1]).sum(axis=1) for output in outputs), 1 - 1e-7)
        first = audit.mu_lower_bound(seen[0][:, 1], seen[1][:, 1], 1 - 1e-7)
        both = audit.mu_lower_bound(-np.diff(seen[1])[:, 0], -np.diff(seen[0])[:, 0], 1 - 1e-7)
        if max(first, both, size) > mu:
            letters.append(letter)
    return tuple(letters)


def from_both_ends(mu, correct, guesses, canaries, risk):
    """By the numbers of right guesses: q[k], the chance of exactly k, is as small as mu-GDP lets it be."""
    q, k = np.zeros(guesses + 1), np.arange(guesses + 1)
    q[correct] = risk
    for j in range(correct - 1, -1, -1):
        rightly, wrongly = (q @ count / canaries for count in (k, guesses - k))
        q[j] = max(0.0, norm.cdf(norm.ppf(rightly) - mu) - wrongly) * canaries / (guesses - j)
    return q.sum() * guesses / canaries


RIGHT_ANSWERS = {
    "by loop": ("error_rates", by_loop),
    "by the binomial law": ("at_most", by_binomial),
    "by hand": (
        "mu_at_least",
        lambda a, b, n, c: np.float64(
            max(0, norm.isf(by_binomial(a, n, (1 + c) / 2)) - norm.ppf(by_binomial(b, n, (1 + c) / 2)))
        ),
    ),
    "case by case": (
        "epsilon_at_least",
        lambda a, b, d: max([0] + [math.log(r) for r in ((1 - d - b) / a, (1 - d - a) / b) if r > 0]),
    ),
    "run by run": ("runs_needed", by_search),
    "threshold by threshold": ("best_mu", threshold_by_threshold),
    "far away": ("canary", far_away),
    "step by step": ("exact_rates", step_by_step),
    "by search": ("one_run_epsilon", one_run_by_search),
    "by the chance of each number": ("share_needed", from_both_ends),
    "any threshold": ("accused", any_threshold),
}


@pytest.mark.parametrize(("exercise", "answer"), named(7, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    for verdict in judged(exercise, answer, [0] if exercise.function == "accused" else SEEDS):
        assert verdict.state == RIGHT, verdict


def wilson(errors, trials, confidence):
    from statsmodels.stats.proportion import proportion_confint  # takes a second to import

    return proportion_confint(errors, trials, 2 * (1 - confidence), method="wilson")[1]


def own(inputs):
    return (inputs == 0).all(axis=0).astype(float)


WRONG_ANSWERS = {
    "one too few, all errors minded": (
        "at_most",
        lambda k, n, c: 1.0 if k == n else beta.ppf(c, k, n - k + 1) if k else 0.0,
        "one error too few",
    ),
    "Bayes, all errors minded": ("at_most", lambda k, n, c: 1 if k == n else beta.ppf(c, k + 1, n - k + 1), "Bayes"),
    "Wilson by statsmodels": (
        "at_most",
        wilson,
        "Wilson",
    ),
    "one minus the confidence": ("at_most", lambda k, n, c: 1.0 if k == n else beta.sf(c, k + 1, n - k), None),
    "may be negative": (
        "best_mu",
        lambda a, b, n, c: max(
            -norm.ppf(audit.clopper_pearson(k, n, 1 - (1 - c) / 2 / len(a)))
            - norm.ppf(audit.clopper_pearson(m, n, 1 - (1 - c) / 2 / len(a)))
            for k, m in zip(a, b, strict=True)
        ),
        "negative",
    ),
    "product": ("canary", lambda i, r, w: (own(i), w * r), "an ordinary person"),
    "twice the weights": ("canary", lambda i, r, w: (own(i), 2 * w), "an ordinary person"),
    "a thousand": ("canary", lambda i, r, w: (own(i), 1000), "at the start only"),
    "one draw at most": (
        "exact_rates",
        lambda t, s, p, n: (
            norm.sf(t / s / n**0.5),
            (1 - p) * norm.cdf(t / s / n**0.5) + p * norm.cdf((t - 1) / s / n**0.5),
        ),
        "drawn once",
    ),
    "a mean over all numbers of draws": (
        "exact_rates",
        lambda t, s, p, n: (norm.sf(t / s / n**0.5), np.mean(norm.cdf((t - np.arange(n + 1)) / s / n**0.5))),
        None,
    ),
    "the upper bound turned round": (
        "one_run_epsilon",
        lambda v, g, c: max(0.0, logit(audit.clopper_pearson(v, g, 1 - c))),
        "wrong guesses too few",
    ),
    "as if everything were guessed": (
        "share_needed",
        lambda mu, v, s, m, r: from_both_ends(mu, v, s, s, r),
        "out of the guesses",
    ),
    "one too many": ("runs_needed", lambda e, c: 1 + by_search(e, c), None),
    "a hair too short": ("canary", lambda i, r, w: (own(i), w + 0.499 * r), "at the start only"),
    "short features": ("canary", lambda i, r, w: (0.01 * own(i), w + r), "an ordinary person"),
    "clipped by nobody": ("canary", lambda i, r, w: (own(i), 0.4 * r), "an ordinary person"),
    "negative features": ("canary", lambda i, r, w: (-own(i), 1e6), "not a person"),
    "slightly shared": ("canary", lambda i, r, w: (own(i) + 1e-3 * (1 - own(i)), 1e6), "features of others"),
    "always four": ("accused", lambda seed, r, mu, rng: ["A", "B", "C", "D"], "the same letters"),
    "everybody": ("accused", lambda seed, r, mu, rng: list("ABCDEF"), "the honest one accused"),
    "nobody": ("accused", lambda seed, r, mu, rng: (), "nobody accused"),
}


@pytest.mark.parametrize(("exercise", "answer", "slip"), named(7, WRONG_ANSWERS))
def test_a_wrong_answer_does_not_pass(exercise, answer, slip):
    for verdict in judged(exercise, answer, SEEDS):
        assert (verdict.state, verdict.misconception) == (WRONG, slip), verdict


@np.errstate(invalid="ignore")
def by_shares(false_alarms, misses, runs, confidence):
    return np.max(-norm.ppf(false_alarms / runs) - norm.ppf(misses / runs))


COMPLAINTS = {
    "all errors": ("at_most", lambda k, n, c: beta.ppf(c, k + 1, n - k), "return 1"),
    "no error": ("at_most", lambda k, n, c: 1.0 if k == n else beta.ppf(c, k, n - k + 1), "takes errors + 1"),
    "endless mu": ("best_mu", by_shares, "upper bound on each rate"),
    "truth values for features": ("canary", lambda i, r, w: ((i == 0).all(axis=0), 1e6), "`.astype(float)`"),
    "a number": ("canary", lambda i, r, w: 7.0, "Return two things, `x, y`"),
    "too few features": ("canary", lambda i, r, w: (np.ones(2), 5.0), "one for each feature"),
    "no target": ("canary", lambda i, r, w: (own(i), None), "y: Return one number"),
    "endless target": ("canary", lambda i, r, w: (own(i), 1e12), "target between"),
    "a word": ("accused", lambda seed, r, mu, rng: "ABC", "Return a list of letters"),
    "small letters": ("accused", lambda seed, r, mu, rng: ["a"], "The letters are A to F"),
    "truth values": ("accused", lambda seed, r, mu, rng: [True] * 5, "The letters are A to F"),
}


@pytest.mark.parametrize(("exercise", "answer", "said"), named(7, COMPLAINTS))
def test_what_cannot_be_judged_is_said_with_a_way_out(exercise, answer, said):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.state == ERROR, verdict
    assert said in verdict.message


def auditor(runs, mu_of):
    """Accuses each suspect of whom the canary's scores show more than mu; mu_of(scores_in, scores_out, clip_norm)."""

    def code(seed, clip_norm, mu, rng):
        nobody, other, canary = np.zeros((0, 16)), np.zeros((1, 16)), np.full((1, 16), 10 * clip_norm)
        direction = canary[0] / np.linalg.norm(canary)
        letters = []
        for letter, mechanism in audit.suspects(seed).items():
            within, without = (
                np.array([mechanism((first, nobody), clip_norm, mu, rng) for _ in range(runs)])
                for first in (np.vstack([other, canary]), other)
            )
            size = audit.mu_lower_bound(*(-np.linalg.norm(sums[:, 0], axis=1) for sums in (within, without)), 1 - 1e-6)
            within, without = within @ direction, without @ direction
            first_round = mu_of(within[:, 0], without[:, 0], clip_norm)
            difference = mu_of(within[:, 0] - within[:, 1], without[:, 0] - without[:, 1], clip_norm)
            if max(first_round, difference, size) > mu:
                letters.append(letter)
        return letters

    return code


def mu_of_shares(runs_in, runs_out, clip_norm):
    """The mu of the shares of errors at a threshold fixed before, without any bound."""
    alarms, misses = np.mean(runs_out > clip_norm / 2), np.mean(runs_in <= clip_norm / 2)
    return float(norm.isf(alarms) - norm.ppf(misses))


def test_accused_by_shares_of_errors_are_the_correct_too_in_one_of_five_line_ups():
    """In each with probability 1/2: 1 in 32 such answers pass."""
    for verdict in judged(exercise("accused"), auditor(200, mu_of_shares), GUESSED):
        assert verdict.misconception == "the honest one accused at times", verdict


def test_accused_by_an_audit_at_95_percent_are_the_broken_and_not_the_correct():
    def mu_at_95(runs_in, runs_out, clip_norm):
        return audit.mu_lower_bound(runs_in, runs_out, 1 - 0.05 / 2, threshold=clip_norm / 2)

    for seed in range(6):
        letters = auditor(300, mu_at_95)(seed, 1.0, 1.0, np.random.default_rng(seed))
        assert exercise("accused").law(letters, {"seed": seed}) == (True, "right")


def names_of(seed):
    """Letter -> name of the mechanism that gives what that suspect gives."""
    rounds = np.full((2, 4), 50.0), np.zeros((0, 4))
    return {
        letter: known.__name__
        for letter, suspect in audit.suspects(seed).items()
        for known in audit.MECHANISMS
        if np.array_equal(suspect(rounds, 1.0, 1.0, 5), known(rounds, 1.0, 1.0, 5))
    }


@pytest.mark.parametrize(
    ("missed", "slip"),
    [
        ((), None),
        (("half_noise",), "too few runs"),
        (("divided_by_people",), "the size of the noise"),
        (("divided_by_people", "reused_noise"), "each round alone"),
        (("reused_noise",), "each round alone"),
        (("wrong_sensitivity",), "one coordinate"),
        (("wrong_sensitivity", "unclipped"), "canary too short"),
        (("unclipped",), None),
    ],
)
def test_accused_goes_by_the_letters_of_the_suspects(missed, slip):
    """Who accuses all that are broken is right; who misses one is told of that one."""
    for seed in range(3):
        cases = drawn(exercise("accused").id, seed)
        letters = [
            [letter for letter, name in names_of(case["seed"]).items() if name not in ("correct", *missed)]
            for case in cases
        ]
        verdict = exercise("accused").judge(cases, [{"value": value} for value in letters])
        assert (verdict.state, verdict.misconception) == (WRONG if missed else RIGHT, slip), verdict


def test_canary_has_the_law_of_the_gradients():
    canary, rng = exercise("canary"), np.random.default_rng(0)
    for case in canary.cases(rng):
        weights = rng.normal(size=(2000, case["inputs"].shape[1]))
        weights *= case["longest"] / np.linalg.norm(weights, axis=1, keepdims=True)
        for extra, lawful in ((0.5001, True), (0.4, False)):
            x, y = own(case["inputs"]), case["longest"] + extra * case["clip_norm"]
            toward = np.vstack([weights, case["longest"] * x])
            shortest = np.linalg.norm(2 * (toward @ x - y)[:, None] * x, axis=1).min()
            assert canary.law((x, y), case)[0] == lawful == (shortest >= case["clip_norm"])


def test_exact_rates_are_on_the_curve_of_one_sampled_step():
    """With one step they are those of 05 §3: p times the Gaussian curve and 1 - p times the diagonal."""
    for threshold, sigma, rate in ((0.3, 0.7, 0.25), (1.5, 1.3, 0.5), (-1.0, 0.5, 0.01)):
        alpha, beta = exercise("exact_rates").reference(threshold, sigma, rate, 1)
        assert beta == pytest.approx(tradeoff.gaussian(1 / sigma).mixed(rate)(alpha), rel=1e-9)


def test_exact_rates_are_those_of_many_simulated_trainings():
    rng, sigma, rate, steps, many = np.random.default_rng(4), 0.6, 0.25, 8, 100_000
    noise = sigma * rng.normal(size=(2, many, steps)).sum(axis=2)
    score_in = noise[1] + (rng.random((many, steps)) < rate).sum(axis=1)
    for threshold in (0.0, 2.0, 4.5):
        seen = by_loop(score_in, noise[0], threshold)
        for share, chance in zip(seen, exercise("exact_rates").reference(threshold, sigma, rate, steps), strict=True):
            assert abs(share - chance) < 5 * math.sqrt(chance * (1 - chance) / many)


def test_the_attacker_is_told_of_the_model_all_that_its_weights_depend_on():
    """Everybody's features and class, and the settings, as numbers of the sentence."""
    told = attack.ATTACK.published
    for row, label in [*zip(attack.OTHERS, attack.CLASSES, strict=True), (attack.MIA, attack.HERS)]:
        features = f"({', '.join(f'{entry:g}' for entry in row)})"
        assert features in told
        assert ("class 1" if label == 1 else "class -1") in told.split(features)[1]
    assert f"deviation {attack.NOISE:g}" in told
    assert f"learning rate is {attack.LR:g}" in told
    assert f"divided by {attack.RATE * (len(attack.OTHERS) + 1):g}" in told
    assert (attack.RATE, attack.STEPS) == (0.5, 20), "a coin, twenty steps"
    by_class = told.split("others: ")[1].split(", (1, -0.5")
    assert [part.count("(") for part in by_class] == [3, 1], "three of class 1, and after them those of class -1"


def test_a_picture_does_not_call_a_bound_of_nothing_proved():
    for draw, inputs in (
        (pictures.proof, (0.1, 50, 3.0)),
        (pictures.band, (0.0, 50)),
        (pictures.one_run, (0.5, 100, 0.01)),
    ):
        figure = Figure()
        draw(figure, *inputs)
        assert "nothing is proved" in [panel.get_title() for panel in figure.axes]


@pytest.mark.parametrize("canaries", [100, 300, 1000, 3000])
def test_from_mu_1_5_on_the_best_share_grows_with_mu(canaries):
    best = [np.argmax(simulated.mean_proved(mu, canaries)) for mu in np.arange(15, 41) / 10]
    assert (np.diff(best) >= 0).all()
    assert best[-1] > best[0]


def test_the_best_rules_of_the_lessons_before_reach_what_is_said_of_them():
    """Lesson 04: the sum of 25 answers. Lesson 05: the logarithm of the ratio, on the curve of the order without, with."""
    rng, alpha = np.random.default_rng(3), np.array([0.05, 0.1, 0.3])
    for number, score, curve in (
        (4, lambda answers: answers.sum(axis=1), tradeoff.gaussian(2.5)),
        (5, lambda z: np.log(0.5 + 0.5 * np.exp(z - 0.5)).sum(axis=1), tradeoff.gaussian(1.0).mixed(0.5).power(20)),
    ):
        mechanism = course.lesson(number).part("attack").ATTACK
        out, within = (score(mechanism.outputs(rng, np.full(60_000, is_in))) for is_in in (False, True))
        assert tradeoff.TradeOff.from_samples(out, within)(alpha) == pytest.approx(curve(alpha), abs=0.01)
        assert (curve(alpha) >= mechanism.promise()(alpha) - 1e-6).all()
