"""Answers of lesson 06 that pass where they should not, are refused where they should pass, or get a message of another."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logit
from scipy.stats import beta, binom, norm
from statsmodels.stats.proportion import proportion_confint

from dpcourse import audit, course
from dpcourse.course import audit as lesson
from dpcourse.engine import ERROR, RIGHT, WRONG


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


def one_run_by_search(correct, guesses, confidence):
    if binom.sf(correct - 1, guesses, 0.5) > 1 - confidence:
        return 0
    return brentq(
        lambda e: binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-e))) - (1 - confidence), 0, 30, xtol=1e-12
    )


def any_threshold(seed, clip_norm, mu, rng):
    """Threshold chosen on the scores by the library; the canary in the second round; letters in another order."""
    nobody, canary = np.zeros((0, 40)), 100 * clip_norm * rng.choice([-1.0, 1.0], size=(1, 40))
    letters = []
    for letter, mechanism in reversed(audit.suspects(seed).items()):
        seen = [
            np.array([mechanism((nobody, second), clip_norm, mu, rng) for _ in range(1300)]) @ canary[0]
            for second in (canary, nobody)
        ]
        first = audit.mu_lower_bound(seen[0][:, 1], seen[1][:, 1], 1 - 1e-7)
        both = audit.mu_lower_bound(-np.diff(seen[1])[:, 0], -np.diff(seen[0])[:, 0], 1 - 1e-7)
        if first > mu or both > mu:
            letters.append(letter)
    return tuple(letters)


RIGHT_ANSWERS = {
    "6.1 by loop": ("6.1", by_loop),
    "6.2 by the binomial law": ("6.2", by_binomial),
    "6.3 by hand": (
        "6.3",
        lambda a, b, n, c: np.float64(
            max(0, norm.isf(by_binomial(a, n, (1 + c) / 2)) - norm.ppf(by_binomial(b, n, (1 + c) / 2)))
        ),
    ),
    "6.4 case by case": (
        "6.4",
        lambda a, b, d: max([0] + [math.log(r) for r in ((1 - d - b) / a, (1 - d - a) / b) if r > 0]),
    ),
    "6.5 by search": ("6.5", by_search),
    "6.6 by loop": ("6.6", threshold_by_threshold),
    "6.7 far away": ("6.7", far_away),
    "6.8 by search": ("6.8", one_run_by_search),
    "6.9 any threshold": ("6.9", any_threshold),
}


@pytest.mark.parametrize("name", RIGHT_ANSWERS)
def test_a_right_answer_in_another_form_passes(name):
    exercise_id, answer = RIGHT_ANSWERS[name]
    for seed in range(1 if exercise_id == "6.9" else 3):
        verdict = course.find(exercise_id).check(answer, rng=seed)
        assert verdict.state == RIGHT, verdict


def own(inputs):
    return (inputs == 0).all(axis=0).astype(float)


WRONG_ANSWERS = {
    "6.2 one too few, all errors minded": (
        "6.2",
        lambda k, n, c: 1.0 if k == n else beta.ppf(c, k, n - k + 1) if k else 0.0,
        "one error too few",
    ),
    "6.2 Bayes, all errors minded": ("6.2", lambda k, n, c: 1 if k == n else beta.ppf(c, k + 1, n - k + 1), "Bayes"),
    "6.2 Wilson by statsmodels": (
        "6.2",
        lambda k, n, c: proportion_confint(k, n, 2 * (1 - c), method="wilson")[1],
        "Wilson",
    ),
    "6.2 one minus the confidence": ("6.2", lambda k, n, c: 1.0 if k == n else beta.sf(c, k + 1, n - k), None),
    "6.6 may be negative": (
        "6.6",
        lambda a, b, n, c: max(
            -norm.ppf(audit.clopper_pearson(k, n, 1 - (1 - c) / 2 / len(a)))
            - norm.ppf(audit.clopper_pearson(m, n, 1 - (1 - c) / 2 / len(a)))
            for k, m in zip(a, b, strict=True)
        ),
        "negative",
    ),
    "6.7 product": ("6.7", lambda i, r, w: (own(i), w * r), "at the start only"),
    "6.7 twice the weights": ("6.7", lambda i, r, w: (own(i), 2 * w), "an ordinary person"),
    "6.7 a thousand": ("6.7", lambda i, r, w: (own(i), 1000), "at the start only"),
    "6.8 the upper bound turned round": (
        "6.8",
        lambda v, g, c: max(0.0, logit(audit.clopper_pearson(v, g, 1 - c))),
        "wrong guesses too few",
    ),
    "6.5 one too many": ("6.5", lambda e, c: 1 + by_search(e, c), None),
    "6.7 a hair too short": ("6.7", lambda i, r, w: (own(i), w + 0.499 * r), "at the start only"),
    "6.7 short features": ("6.7", lambda i, r, w: (0.01 * own(i), w + r), "an ordinary person"),
    "6.7 clipped by nobody": ("6.7", lambda i, r, w: (own(i), 0.4 * r), "an ordinary person"),
    "6.7 negative features": ("6.7", lambda i, r, w: (-own(i), 1e6), "not a person"),
    "6.7 slightly shared": ("6.7", lambda i, r, w: (own(i) + 1e-3 * (1 - own(i)), 1e6), "features of others"),
    "6.9 always four": ("6.9", lambda seed, r, mu, rng: ["A", "B", "C", "D"], "the honest one accused"),
    "6.9 everybody": ("6.9", lambda seed, r, mu, rng: list("ABCDE"), "the honest one accused"),
    "6.9 nobody": ("6.9", lambda seed, r, mu, rng: (), "nobody accused"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_a_wrong_answer_does_not_pass(name):
    exercise_id, answer, slip = WRONG_ANSWERS[name]
    for seed in range(5):
        verdict = course.find(exercise_id).check(answer, rng=seed)
        assert (verdict.state, verdict.misconception) == (WRONG, slip)


COMPLAINTS = {
    "all errors": ("6.2", lambda k, n, c: beta.ppf(c, k + 1, n - k), "return 1"),
    "no error": ("6.2", lambda k, n, c: 1.0 if k == n else beta.ppf(c, k, n - k + 1), "takes errors + 1"),
    "endless mu": ("6.6", lambda a, b, n, c: np.max(-norm.ppf(a / n) - norm.ppf(b / n)), "upper bound on each rate"),
    "truth values for features": ("6.7", lambda i, r, w: ((i == 0).all(axis=0), 1e6), "`.astype(float)`"),
    "a number": ("6.7", lambda i, r, w: 7.0, "Return two things, `x, y`"),
    "too few features": ("6.7", lambda i, r, w: (np.ones(2), 5.0), "one for each feature"),
    "no target": ("6.7", lambda i, r, w: (own(i), None), "y: Return one number"),
    "endless target": ("6.7", lambda i, r, w: (own(i), 1e12), "target between"),
    "a word": ("6.9", lambda seed, r, mu, rng: "ABC", "Return a list of letters"),
    "small letters": ("6.9", lambda seed, r, mu, rng: ["a"], "The letters are A to E"),
    "truth values": ("6.9", lambda seed, r, mu, rng: [True] * 5, "The letters are A to E"),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_what_cannot_be_judged_is_said_with_a_way_out(name):
    exercise_id, answer, said = COMPLAINTS[name]
    verdict = course.find(exercise_id).check(answer, rng=1)
    assert verdict.state == ERROR
    assert said in verdict.message


def points(each, runs_in, runs_out, clip_norm):
    """The mu of the shares of errors at a threshold fixed before, without any bound."""
    alarms, misses = np.mean(runs_out > clip_norm / 2), np.mean(runs_in <= clip_norm / 2)
    return float(norm.isf(alarms) - norm.ppf(misses))


def test_shares_of_errors_accuse_the_correct_in_one_of_five_line_ups():
    """In each with probability 1/2: 1 in 32 such answers pass."""
    verdicts = [course.find("6.9").check(lesson._audit(200, proved=points), rng=seed) for seed in range(4)]
    assert {verdict.misconception for verdict in verdicts} == {"the honest one accused"}


def test_the_law_of_6_7_is_that_of_the_gradients():
    exercise, rng = course.find("6.7"), np.random.default_rng(0)
    for case in exercise.cases(rng):
        weights = rng.normal(size=(2000, case["inputs"].shape[1]))
        weights *= case["longest"] / np.linalg.norm(weights, axis=1, keepdims=True)
        for extra, lawful in ((0.5001, True), (0.4, False)):
            x, y = own(case["inputs"]), case["longest"] + extra * case["clip_norm"]
            toward = np.vstack([weights, case["longest"] * x])
            shortest = np.linalg.norm(2 * (toward @ x - y)[:, None] * x, axis=1).min()
            assert exercise.law((x, y), case)[0] == lawful == (shortest >= case["clip_norm"])


def test_the_letters_of_the_judge_are_those_of_the_suspects():
    rounds = np.full((1, 4), 50.0), np.zeros((0, 4))
    for seed in range(3):
        for letter, name in lesson._names(seed).items():
            suspect, known = audit.suspects(seed)[letter], getattr(audit, name)
            assert np.array_equal(suspect(rounds, 1.0, 1.0, 5), known(rounds, 1.0, 1.0, 5))


def test_an_audit_at_95_percent_finds_the_broken_and_spares_the_correct():
    accused = [
        lesson._accused(lesson._audit(300, risk=0.05)(seed, 1.0, 1.0, np.random.default_rng(seed)), {"seed": seed})
        for seed in range(6)
    ]
    assert all(names == lesson.BROKEN for names in accused)
