"""Answers of lesson 05 that pass where they should not, are refused where they should pass, or get a message of another."""

import functools
import itertools
import math

import numpy as np
import pytest
from course.judging import judged, named
from scipy.spatial import ConvexHull
from support import by_profile

from dpcourse import course
from dpcourse.checking import ERROR, RIGHT, WRONG
from dpcourse.course.dpsgd import diary, loops
from dpcourse.course.dpsgd.sums import SUMS

pytestmark = pytest.mark.in_turn("seconds of checks")

exercise = course.lesson(5).exercise
SEEDS = range(by_profile("checks of each answer", 1, 5))


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


def binomial_size(n, sample_rate, steps, rng):
    return [rng.permutation(n)[: rng.binomial(n, sample_rate)].tolist() for _ in range(steps)]


RIGHT_ANSWERS = {
    "paid beforehand": ("noisy_sgd", loops.loop(pays=loops.all_beforehand)),
    "by loop": ("clip", clip_by_loop),
    "by factor": (
        "clip",
        lambda g, r: g * np.minimum(1, r / np.maximum(np.linalg.norm(g, axis=1), 1e-300))[:, None],
    ),
    "weight by weight": (
        "noisy_sum",
        lambda c, s, r, rng: [c[:, j].sum() + s * r * rng.standard_normal() for j in range(c.shape[1])],
    ),
    "correlated draw": (
        "noisy_sum",
        lambda c, s, r, rng: rng.multivariate_normal(c.sum(axis=0), (s * r) ** 2 * np.eye(c.shape[1])),
    ),
    "person by person": (
        "poisson_batches",
        lambda n, p, steps, rng: [[i for i in range(n) if rng.random() < p] for _ in range(steps)],
    ),
    "binomial size, then people": ("poisson_batches", binomial_size),
    "as tuples": (
        "poisson_batches",
        lambda n, p, steps, rng: tuple(np.nonzero(rng.binomial(1, p, n))[0] for _ in range(steps)),
    ),
    "the other form": ("noisy_adam", adam_by_other_form),
    "by scipy": ("two_sided", hull_by_scipy),
}


@pytest.mark.parametrize(("exercise", "answer"), named(5, RIGHT_ANSWERS))
def test_a_right_answer_in_another_form_passes(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == RIGHT, verdict


def twins(n, p, steps, rng):
    return [np.flatnonzero(np.repeat(rng.random(n // 2) < p, 2)) for _ in range(steps)]


def block(n, p, steps, rng):
    starts, sizes = rng.integers(n, size=steps), rng.binomial(n, p, size=steps)
    return [np.sort((start + np.arange(size)) % n) for start, size in zip(starts, sizes, strict=True)]


def every_other_step(n, p, steps, rng):
    return [batch for _ in range(steps // 2) for batch in [np.flatnonzero(rng.random(n) < p)] * 2]


def dealt_to_the_last(n, p, steps, rng):
    size = max(1, round(n * p))
    dealt = (order[i : i + size] for _ in range(steps) for order in [rng.permutation(n)] for i in range(0, n, size))
    return list(itertools.islice(dealt, steps))


WRONG_ANSWERS = {
    "a little too long": ("clip", lambda g, r: exercise("clip").reference(g, 1.01 * r)),
    "direction lost": ("clip", lambda g, r: np.abs(exercise("clip").reference(g, r))),
    "a tenth too little": ("noisy_sum", lambda c, s, r, rng: c.sum(axis=0) + rng.normal(0, 0.9 * s * r, c.shape[1])),
    "uniform": (
        "noisy_sum",
        lambda c, s, r, rng: c.sum(axis=0) + rng.uniform(-1, 1, c.shape[1]) * s * r * math.sqrt(3),
    ),
    "pairs": (
        "noisy_sum",
        lambda c, s, r, rng: c.sum(axis=0) + np.repeat(rng.normal(0, s * r, c.shape[1] // 2), 2),
    ),
    "half noise when nobody came": (
        "noisy_sum",
        lambda c, s, r, rng: c.sum(axis=0) + rng.normal(0, s * r * (1 if len(c) else 0.4), c.shape[1]),
    ),
    "twins": ("poisson_batches", twins),
    "block": ("poisson_batches", block),
    "each batch twice": ("poisson_batches", every_other_step),
    "dealt, with a short last batch": ("poisson_batches", dealt_to_the_last),
    "a tenth too often": (
        "poisson_batches",
        lambda n, p, steps, rng: [np.flatnonzero(rng.random(n) < 1.1 * p) for _ in range(steps)],
    ),
    "the scale of the gradients ignored": (
        "noisy_adam",
        lambda weights, sums, noises, batch, rate: exercise("noisy_adam").reference(weights, sums, noises, 1.0, rate),
    ),
    "a tenth too little in the run": (
        "noisy_sgd",
        loops.loop(noise=loops.noise_of(lambda sigma, r, expected: 0.9 * sigma * r)),
    ),
    "a tenth too often in the run": (
        "noisy_sgd",
        loops.loop(draw=lambda n, p, *rest: loops.BY_COINS(n, 1.1 * p, *rest)),
    ),
    "twins in the run": ("noisy_sgd", loops.loop(draw=twins)),
    "each batch twice in the run": ("noisy_sgd", loops.loop(draw=every_other_step)),
    "paid after the step": ("noisy_sgd", loops.loop(pays=loops.after)),
    "one weight with half the noise": (
        "noisy_sgd",
        loops.loop(noise=lambda *given: loops.RIGHT_NOISE(*given) * np.r_[0.5, np.ones(given[4] - 1)]),
    ),
    "one step too few": (
        "noisy_sgd",
        loops.loop(pays=lambda ledger, kind, steps: loops.before(ledger, kind, steps - 1)),
    ),
    "clipped a tenth too long in the run": (
        "noisy_sgd",
        lambda weights, gradients, n, ledger, p, sigma, r, *rest: loops.loop(
            noise=loops.noise_of(lambda sigma, r, expected: sigma * r / 1.1)
        )(weights, gradients, n, ledger, p, sigma, 1.1 * r, *rest),
    ),
    "hull of f alone": ("two_sided", lambda alpha, beta, at: float(np.interp(at, alpha, beta))),
}


@pytest.mark.parametrize(("exercise", "answer"), named(5, WRONG_ANSWERS))
def test_a_wrong_answer_does_not_pass(exercise, answer):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.state == WRONG, verdict


def diary_as_a_list(*given):
    """The reference's weights, with the ledger's diary copied into a list: no ledger, and no crash of the check."""
    weights, ledger = exercise("noisy_sgd").reference(*given)
    return weights, np.asarray(ledger).tolist()


COMPLAINTS = {
    "a list for the ledger": ("noisy_sgd", diary_as_a_list, "must be the ledger itself"),
    "zero divided by zero": (
        "clip",
        lambda g, r: np.where(g.any(axis=1, keepdims=True), g, np.nan),
        "A gradient may be 0",
    ),
    "one row": ("clip", lambda g, r: g[0], "the shape of `gradients`"),
    "masks": (
        "poisson_batches",
        lambda n, p, steps, rng: rng.random((steps, n)) < p,
        "`np.flatnonzero` turns them into indices",
    ),
    "zeros and ones": (
        "poisson_batches",
        lambda n, p, steps, rng: list(rng.binomial(1, p, size=(steps, n))),
        "`np.flatnonzero` finds them",
    ),
    "one batch": (
        "poisson_batches",
        lambda n, p, steps, rng: np.flatnonzero(rng.random(n) < p),
        "for each of the 100 steps",
    ),
    "indices from 1": (
        "poisson_batches",
        lambda n, p, steps, rng: [1 + np.flatnonzero(rng.random(n) < p) for _ in range(steps)],
        "from 0 to n - 1",
    ),
    "number drawn": (
        "noisy_sgd_step",
        lambda weights, gradients, noise, *rest: weights - noise * (1 / len(gradients) if len(gradients) else math.inf),
        "Divide by `expected_batch`",
    ),
}


@pytest.mark.parametrize(("exercise", "answer", "said"), named(5, COMPLAINTS))
def test_what_cannot_be_judged_is_said_with_a_way_out(exercise, answer, said):
    (verdict,) = judged(exercise, answer, [1])
    assert verdict.state == ERROR, verdict
    assert said in verdict.message


MESSAGES = {
    "dealt to the last": ("poisson_batches", dealt_to_the_last, "shuffled epochs"),
    "a block": ("poisson_batches", block, None),
    "people in twos": ("poisson_batches", twins, None),
    "a hair off": ("two_sided", lambda alpha, beta, at: 1.0001 * hull_by_scipy(alpha, beta, at), "nearly"),
    "a constant": ("sgd_mu", lambda sigma, batch, n, epochs: 2.0, None),
}


@pytest.mark.parametrize(("exercise", "answer", "slip"), named(5, MESSAGES))
def test_a_slip_gets_its_own_message_and_another_does_not(exercise, answer, slip):
    for verdict in judged(exercise, answer, SEEDS):
        assert verdict.misconception == slip, verdict


# ---- what the diary of a run says


def measured(code, case=1, seed=2):
    cases = exercise("noisy_sgd").cases(np.random.default_rng(seed))
    (outcome,) = exercise("noisy_sgd").probe(code, cases[case : case + 1])
    return diary.Run(cases[case], outcome["value"])


def asks_for_nobody(weights, gradients, n, ledger, p, sigma, r, eta, steps, rng, noise=None):
    """Coins first, nothing asked of an empty batch, and paid for at the end."""
    for _ in range(steps):
        batch, total = np.flatnonzero(rng.random(n) < p), 0
        if batch.size:
            total = exercise("clip").reference(gradients(weights, batch), r).sum(axis=0)
        move = eta * (total + sigma * r * (rng.normal(size=len(weights)) if noise is None else noise)) / (p * n)
        try:
            ledger.spend(sigma, p)
        except ValueError:
            break
        weights = weights - move
    return weights, ledger


def short_run(code, seed, room):
    """A run of 12 steps in which two batches of five are empty: also the first ones, and the last."""
    (case,) = (each for each in exercise("noisy_sgd").draw(np.random.default_rng(1))[:1])
    case |= {"gradients": case["gradients"][:4], "n": 4, "sample_rate": 0.2, "steps": 12, "ledger": room, "rng": seed}
    (outcome,) = exercise("noisy_sgd").probe(code, [case])
    return diary.Run(case, outcome["value"])


@pytest.mark.parametrize("code", [exercise("noisy_sgd").reference, asks_for_nobody], ids=["paid first", "paid last"])
@pytest.mark.parametrize("room", [12, 7])
def test_batches_for_which_nobody_was_asked_are_found(code, room):
    every = [short_run(code, seed, room) for seed in range(150)]
    assert {(run.paid, run.unpaid, run.still, run.refused) for run in every} == {(room, 0, 0, int(room < 12))}
    assert all(len(run) in (room, room + 1) for run in every), "one may have been drawn and not paid for"
    empty = np.concatenate([run.times.sum(axis=1) == 0 for run in every])
    assert empty.mean() == pytest.approx(0.8**4, abs=5 * 0.5 / math.sqrt(empty.size))
    noise = np.concatenate([run.noise.ravel() for run in every])
    assert (noise**2).mean() == pytest.approx(1, abs=5 * math.sqrt(2 / noise.size))


def test_a_stretch_of_which_it_is_not_known_how_many_steps_it_holds_is_left_out():
    """With noise that is always 1 a stretch of k steps adds up to k, which is the root of k in units of its deviation."""
    alike, left_out = functools.partial(asks_for_nobody, noise=1.0), 0
    for run in (short_run(lambda *given: alike(*given), seed, 12) for seed in range(60)):
        counted = run.sure & (run.shares > 0)
        assert run.noise[:, 0] == pytest.approx(np.sqrt(run.shares[counted]))
        left_out += int(np.sum(~run.sure))
    assert left_out > 0


@pytest.mark.parametrize("added", [name for name in SUMS if name != "right"])
def test_the_sum_that_was_taken_is_told_from_all_others(added):
    assert measured(loops.loop(added=added), 0).added == added
