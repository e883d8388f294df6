"""Answers of lesson 05 that pass where they should not, are refused where they should pass, or get a message of another."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial import ConvexHull

from dpcourse import course, pld
from dpcourse.engine import ERROR, RIGHT, WRONG


def clip_by_loop(gradients, clip_norm):
    rows = []
    for gradient in gradients:
        norm = math.sqrt(sum(entry**2 for entry in gradient))
        rows.append([float(entry) * min(1, clip_norm / norm) if norm else 0.0 for entry in gradient])
    return rows


def adam_by_other_form(weights, sums, noises, expected_batch, learning_rate):
    m = u = np.zeros_like(weights)
    for t, gradient in enumerate((sums + noises) / expected_batch, 1):
        m, u = m + 0.1 * (gradient - m), u + 0.001 * (gradient * gradient - u)
        rate = learning_rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        weights = weights - rate * m / (np.sqrt(u) + 1e-8 * math.sqrt(1 - 0.999**t))
    return weights.tolist()


def hull_by_scipy(alpha, beta, at):
    corners = np.c_[np.r_[alpha, beta], np.r_[beta, alpha]]
    x, y = corners[ConvexHull(corners).vertices].T
    below = x + y <= 1 + 1e-9
    order = np.lexsort((-y[below], x[below]))
    return np.interp(at, x[below][order], y[below][order])


def noise_by_brentq(epsilon, delta, sample_rate, steps):
    return np.float64(
        1.001
        * brentq(lambda s: pld.noisy_sgd(s, sample_rate, steps).epsilon(delta).upper - epsilon, 0.4, 100, rtol=1e-4)
    )


def binomial_size(n, sample_rate, steps, rng):
    return [rng.permutation(n)[: rng.binomial(n, sample_rate)].tolist() for _ in range(steps)]


RIGHT_ANSWERS = {
    "5.1 by loop": ("5.1", clip_by_loop),
    "5.1 by factor": (
        "5.1",
        lambda g, r: g * np.minimum(1, r / np.maximum(np.linalg.norm(g, axis=1), 1e-300))[:, None],
    ),
    "5.2 weight by weight": (
        "5.2",
        lambda c, s, r, rng: [c[:, j].sum() + s * r * rng.standard_normal() for j in range(c.shape[1])],
    ),
    "5.2 correlated draw": (
        "5.2",
        lambda c, s, r, rng: rng.multivariate_normal(c.sum(axis=0), (s * r) ** 2 * np.eye(c.shape[1])),
    ),
    "5.3 person by person": (
        "5.3",
        lambda n, p, steps, rng: [[i for i in range(n) if rng.random() < p] for _ in range(steps)],
    ),
    "5.3 binomial size, then people": ("5.3", binomial_size),
    "5.3 as tuples": (
        "5.3",
        lambda n, p, steps, rng: tuple(np.nonzero(rng.binomial(1, p, n))[0] for _ in range(steps)),
    ),
    "5.5 the other form": ("5.5", adam_by_other_form),
    "5.7 by scipy": ("5.7", hull_by_scipy),
    "5.9 by brentq": ("5.9", noise_by_brentq),
    "5.10 ones and zeros": ("5.10", lambda run: np.array(course.find("5.10").reference(run), dtype=int)),
}


@pytest.mark.parametrize("name", RIGHT_ANSWERS)
def test_a_right_answer_in_another_form_passes(name):
    exercise_id, answer = RIGHT_ANSWERS[name]
    for seed in range(3):
        verdict = course.find(exercise_id).check(answer, rng=seed)
        assert verdict.state == RIGHT, verdict


def twins(n, p, steps, rng):
    return [np.flatnonzero(np.repeat(rng.random(n // 2) < p, 2)) for _ in range(steps)]


def block(n, p, steps, rng):
    starts, sizes = rng.integers(n, size=steps), rng.binomial(n, p, size=steps)
    return [np.sort((start + np.arange(size)) % n) for start, size in zip(starts, sizes, strict=True)]


def every_other_step(n, p, steps, rng):
    return [batch for _ in range(steps // 2) for batch in [np.flatnonzero(rng.random(n) < p)] * 2]


def dealt_to_the_last(n, p, steps, rng):
    size = round(n * p)
    dealt = (order[i : i + size] for _ in range(steps) for order in [rng.permutation(n)] for i in range(0, n, size))
    return list(itertools.islice(dealt, steps))


WRONG_ANSWERS = {
    "5.1 a little too long": ("5.1", lambda g, r: course.find("5.1").reference(g, 1.01 * r)),
    "5.1 direction lost": ("5.1", lambda g, r: np.abs(course.find("5.1").reference(g, r))),
    "5.2 a tenth too little": ("5.2", lambda c, s, r, rng: c.sum(axis=0) + rng.normal(0, 0.9 * s * r, c.shape[1])),
    "5.2 uniform": (
        "5.2",
        lambda c, s, r, rng: c.sum(axis=0) + rng.uniform(-1, 1, c.shape[1]) * s * r * math.sqrt(3),
    ),
    "5.2 pairs": (
        "5.2",
        lambda c, s, r, rng: c.sum(axis=0) + np.repeat(rng.normal(0, s * r, c.shape[1] // 2), 2),
    ),
    "5.2 half noise when nobody came": (
        "5.2",
        lambda c, s, r, rng: c.sum(axis=0) + rng.normal(0, s * r * (1 if len(c) else 0.4), c.shape[1]),
    ),
    "5.3 twins": ("5.3", twins),
    "5.3 block": ("5.3", block),
    "5.3 each batch twice": ("5.3", every_other_step),
    "5.3 dealt, with a short last batch": ("5.3", dealt_to_the_last),
    "5.3 a tenth too often": (
        "5.3",
        lambda n, p, steps, rng: [np.flatnonzero(rng.random(n) < 1.1 * p) for _ in range(steps)],
    ),
    "5.5 the scale of the gradients ignored": (
        "5.5",
        lambda weights, sums, noises, batch, rate: course.find("5.5").reference(weights, sums, noises, 1.0, rate),
    ),
    "5.7 hull of f alone": ("5.7", lambda alpha, beta, at: float(np.interp(at, alpha, beta))),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_a_wrong_answer_does_not_pass(name):
    exercise_id, answer = WRONG_ANSWERS[name]
    for seed in range(5):
        assert course.find(exercise_id).check(answer, rng=seed).state == WRONG


COMPLAINTS = {
    "zero divided by zero": (
        "5.1",
        lambda g, r: np.where(g.any(axis=1, keepdims=True), g, np.nan),
        "A gradient may be 0",
    ),
    "one row": ("5.1", lambda g, r: g[0], "the shape of `gradients`"),
    "masks": ("5.3", lambda n, p, steps, rng: rng.random((steps, n)) < p, "`np.flatnonzero` turns them into indices"),
    "zeros and ones": (
        "5.3",
        lambda n, p, steps, rng: list(rng.binomial(1, p, size=(steps, n))),
        "`np.flatnonzero` finds them",
    ),
    "one batch": ("5.3", lambda n, p, steps, rng: np.flatnonzero(rng.random(n) < p), "for each of the 600 steps"),
    "indices from 1": (
        "5.3",
        lambda n, p, steps, rng: [1 + np.flatnonzero(rng.random(n) < p) for _ in range(steps)],
        "from 0 to n - 1",
    ),
    "number drawn": (
        "5.4",
        lambda weights, gradients, noise, *rest: weights - noise * (1 / len(gradients) if len(gradients) else math.inf),
        "Divide by `expected_batch`",
    ),
    "no noise": ("5.9", lambda epsilon, delta, sample_rate, steps: 0.0, "must be from 0.4 to 100"),
    "four": ("5.10", lambda run: [True] * 4, "five True or False"),
    "words": ("5.10", lambda run: ["yes"] * 5, "Each of the five must be True or False"),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_what_cannot_be_judged_is_said_with_a_way_out(name):
    exercise_id, answer, said = COMPLAINTS[name]
    verdict = course.find(exercise_id).check(answer, rng=1)
    assert verdict.state == ERROR
    assert said in verdict.message


@pytest.mark.parametrize(
    ("exercise_id", "answer", "slip"),
    [
        ("5.3", dealt_to_the_last, "shuffled epochs"),
        ("5.3", block, None),
        ("5.3", twins, None),
        ("5.7", lambda alpha, beta, at: 1.0001 * hull_by_scipy(alpha, beta, at), "nearly"),
        ("5.8", lambda sigma, batch, n, epochs: 2.0, None),
    ],
)
def test_a_slip_gets_its_own_message_and_another_does_not(exercise_id, answer, slip):
    for seed in range(3):
        assert course.find(exercise_id).check(answer, rng=seed).misconception == slip


def test_bounds_on_epsilon_are_rounded_outwards():
    exercise = course.find("5.9")
    case = {"epsilon": 1.5, "delta": 1e-5, "sample_rate": 0.015, "steps": 300}
    noise = exercise.reference(**case) / 1.0001 * (1 - 1e-5)  # over the budget by a hair
    good, line = exercise.law(noise, case)
    shown = float(line.split("at most ")[1].split(",")[0])
    assert not good
    assert shown > case["epsilon"]
    assert shown >= pld.noisy_sgd(noise, 0.015, 300).epsilon(1e-5).upper


def test_the_run_that_was_misjudged_is_shown():
    verdict = course.find("5.10").check(lambda run: [False] * 5, rng=0)
    assert "'noise_std': " in verdict.observed[0]
