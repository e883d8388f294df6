"""How surely the random exercises find a fault: each fault here in at least 97 of 100 checks.

The probability is to be 0.99 or more. On a commit every fourth fault has one check; in the week a third of them has a hundred, by turns.

`python tests/course/test_power.py 100` prints the table.
"""

import collections
import functools
import math
import sys

import numpy as np
import pytest
from support import by_profile

from dpcourse import course
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain

CHECKS, LEAST = by_profile("checks of each fault of a random answer, and how many must find it", (1, 1), (100, 97))


# ---- noise that is added: faults of a law, as noise(law, scale, data, rng); law(scale, size, rng) is the right one


def _of_size(spread):
    """Another family of the deviation that the right law has."""
    return lambda law, scale, data, rng: spread(len(data), rng) * scale * _deviation(law)


@functools.cache
def _deviation(law):
    return law(1, 100_000, np.random.default_rng(0)).std()


def _shared(law, scale, data, rng):
    return np.repeat(law(scale, -(-len(data) // 2), rng), 2)[: len(data)]


NOISES = {
    "right": lambda law, scale, data, rng: law(scale, len(data), rng),
    "scale 5 % too small": lambda law, scale, data, rng: law(0.95 * scale, len(data), rng),
    "scale 5 % too large": lambda law, scale, data, rng: law(1.05 * scale, len(data), rng),
    "a tenth of the scale off": lambda law, scale, data, rng: law(scale, len(data), rng) + 0.1 * scale,
    "less where the data is 0 or small": lambda law, scale, data, rng: law(scale, len(data), rng) * np.where(data > np.median(data), 1.15, 0.85),
    "shared by neighbours": _shared,
    "the same in every run": lambda law, scale, data, rng: law(scale, len(data), np.random.default_rng(1)),
    "uniform": _of_size(lambda n, rng: math.sqrt(3) * rng.uniform(-1, 1, n)),
    "Student t, 5 degrees": _of_size(lambda n, rng: rng.standard_t(5, n) / math.sqrt(5 / 3)),
    "exponential, centred": _of_size(lambda n, rng: rng.exponential(1, n) - 1),
    "rounded": lambda law, scale, data, rng: np.round(law(scale, len(data), rng)),
}  # fmt: skip


def _laplace(scale, size, rng):
    return rng.laplace(0, scale, size)


def _normal(scale, size, rng):
    return rng.normal(0, scale, size)


def _mechanism(noise):
    return lambda value, sensitivity, epsilon, rng: value + noise(_laplace, sensitivity / epsilon, value, rng)


def _histogram(noise):
    def code(values, cells, epsilon, rng):
        there = collections.Counter(values)
        counts = np.array([there[cell] for cell in cells])
        return counts + noise(_laplace, 1 / epsilon, counts, rng)

    return code


def _counts(noise):
    return lambda counts, mu, rng: counts + noise(_normal, math.sqrt(len(counts)) / mu, counts, rng)


def _sum(noise):
    def code(clipped, noise_multiplier, clip_norm, rng):
        return (total := clipped.sum(axis=0)) + noise(_normal, noise_multiplier * clip_norm, total, rng)

    return code


ADDED = {
    "laplace_mechanism": _mechanism,
    "private_histogram": _histogram,
    "noisy_counts": _counts,
    "noisy_sum": _sum,
}


# ---- where only a winner is seen, scales are 10 % off


def _winner(noise):
    return lambda counts, epsilon, rng: int(np.argmax(counts + noise(1 / epsilon, counts, rng)))


WINNERS = {
    "right": _winner(lambda b, counts, rng: rng.laplace(0, b, len(counts))),
    "scale 10 % too small": _winner(lambda b, counts, rng: rng.laplace(0, 0.9 * b, len(counts))),
    "scale 10 % too large": _winner(lambda b, counts, rng: rng.laplace(0, 1.1 * b, len(counts))),
    "less where the data is small": _winner(lambda b, counts, rng: rng.laplace(0, b, len(counts)) * np.where(counts > np.median(counts), 1.2, 0.8)),
    "shared by neighbours": _winner(lambda b, counts, rng: np.repeat(rng.laplace(0, b, len(counts) // 2 + 1), 2)[: len(counts)]),
    "the same in every run": _winner(lambda b, counts, rng: np.random.default_rng(1).laplace(0, b, len(counts))),
    "uniform": _winner(lambda b, counts, rng: rng.uniform(-1, 1, len(counts)) * b * math.sqrt(6)),
    "normal": _winner(lambda b, counts, rng: rng.normal(0, b * math.sqrt(2), len(counts))),
    "exponential": _winner(lambda b, counts, rng: rng.exponential(b, len(counts))),
    "Gumbel": _winner(lambda b, counts, rng: rng.gumbel(0, b, len(counts))),
    "epsilon cut at 1": _winner(lambda b, counts, rng: rng.laplace(0, max(b, 1), len(counts))),
    "epsilon of 0.3 at least": _winner(lambda b, counts, rng: rng.laplace(0, min(b, 1 / 0.3), len(counts))),
    "noisy counts rounded": lambda counts, epsilon, rng: int(np.argmax(np.round(counts + rng.laplace(0, 1 / epsilon, len(counts))))),
    "size of the noisy count": lambda counts, epsilon, rng: int(np.argmax(np.abs(counts + rng.laplace(0, 1 / epsilon, len(counts))))),
    "noisy counts cut off at 0": lambda counts, epsilon, rng: int(np.argmax(np.maximum(counts + rng.laplace(0, 1 / epsilon, len(counts)), 0))),
}  # fmt: skip


# ---- coins


def _response(keep, coins=lambda n, rng: rng.random(n)):
    return lambda bits, epsilon, rng: np.where(coins(len(bits), rng) < keep(epsilon, bits), bits, 1 - bits)


def _right_keep(epsilon, bits):
    return 1 / (1 + math.exp(-epsilon))


RESPONSES = {
    "right": _response(_right_keep),
    "epsilon 5 % too small": _response(lambda epsilon, bits: _right_keep(0.95 * epsilon, bits)),
    "epsilon 5 % too large": _response(lambda epsilon, bits: _right_keep(1.05 * epsilon, bits)),
    "a straight line for the chance": _response(lambda epsilon, bits: 0.5 + epsilon / 4),
    "a die of ten sides": _response(lambda epsilon, bits: round(_right_keep(epsilon, bits), 1)),
    "1s kept more often than 0s": _response(lambda epsilon, bits: _right_keep(epsilon, bits) + np.where(bits == 1, 0.02, -0.02)),
    "a coin shared by neighbours": _response(_right_keep, lambda n, rng: np.repeat(rng.random(n // 2), 2)),
    "a coin shared by i and i + n/2": _response(_right_keep, lambda n, rng: np.tile(rng.random(n // 2), 2)),
    "the same in every run": _response(_right_keep, lambda n, rng: np.random.default_rng(1).random(n)),
    "a fixed number of lies": _response(_right_keep, lambda n, rng: (rng.permutation(n) + 0.5) / n),
}  # fmt: skip


def _batches(draw, rate=1.0):
    return lambda n, sample_rate, steps, rng: [draw(n, rate * sample_rate, rng) for _ in range(steps)]


def _tossed(n, p, rng):
    return np.flatnonzero(rng.random(n) < p)


def _often_the_same(n, sample_rate, steps, rng):
    return [batch for _ in range(-(-steps // 2)) for batch in [_tossed(n, sample_rate, rng)] * 2][:steps]


BATCHES = {
    "right": _batches(_tossed),
    "rate 5 % too small": _batches(_tossed, 0.95),
    "rate 5 % too large": _batches(_tossed, 1.05),
    "at most twice the expected size": _batches(lambda n, p, rng: _tossed(n, p, rng)[: math.ceil(2 * n * p)]),
    "at most 1.5 times the expected size": _batches(lambda n, p, rng: _tossed(n, p, rng)[: math.ceil(1.5 * n * p)]),
    "never empty": _batches(lambda n, p, rng: batch if len(batch := _tossed(n, p, rng)) else rng.integers(n, size=1)),
    "even places more often": _batches(lambda n, p, rng: _tossed(n, p * np.where(np.arange(n) % 2, 0.95, 1.05), rng)),
    "a coin shared by neighbours": _batches(lambda n, p, rng: np.flatnonzero(np.repeat(rng.random(n // 2) < p, 2))),
    "each batch twice": _often_the_same,
    "a fixed size": _batches(lambda n, p, rng: rng.choice(n, max(1, round(n * p)), replace=False)),
}  # fmt: skip


# ---- whole numbers


def _numbers(epsilon=lambda epsilon: epsilon, change=lambda found, rng: found, zero_twice=False):
    """Noise with the chances that are asked for; that it comes from `machine.coin` is judged elsewhere."""

    def code(numerator, denominator, size, rng):
        q, found = math.exp(-epsilon(numerator / denominator)), np.empty(0, dtype=int)
        while len(found) < size:
            sizes, minus = rng.geometric(1 - q, size) - 1, rng.integers(2, size=size)
            found = np.append(found, np.where(minus, -sizes, sizes)[zero_twice | (sizes > 0) | (minus == 0)])
        return change(found[:size], rng)

    return code


WHOLE = {
    "right": _numbers(),
    "scale 10 % too small": _numbers(lambda epsilon: epsilon / 0.9),
    "scale 10 % too large": _numbers(lambda epsilon: epsilon / 1.1),
    "zero comes twice": _numbers(zero_twice=True),
    "one more now and then": _numbers(change=lambda found, rng: found + (rng.random(len(found)) < 0.1)),
    "neighbours alike": _numbers(change=lambda found, rng: np.repeat(found[: -(-len(found) // 2)], 2)[: len(found)]),
    "the same in every run": lambda numerator, denominator, size, rng: _numbers()(numerator, denominator, 8000, np.random.default_rng(1))[:size],
    "rounded Laplace noise": _numbers(change=lambda found, rng: np.round(rng.laplace(0, max(0.05, abs(found).mean()), len(found)))),
}  # fmt: skip


def _gaussian(variance=lambda v: v, change=lambda found, rng: found):
    """The same for Gaussian noise of whole numbers."""

    def code(variance_given, size, rng):
        numbers = np.arange(-200, 201)
        weights = np.exp(-(numbers.astype(float) ** 2) / (2 * variance(variance_given)))
        return change(rng.choice(numbers, size, p=weights / weights.sum()), rng)

    return code


GAUSSIAN = {
    "right": _gaussian(),
    "variance 15 % too small": _gaussian(lambda v: 0.85 * v),
    "variance 15 % too large": _gaussian(lambda v: 1.15 * v),
    "one more now and then": _gaussian(change=lambda found, rng: found + (rng.random(len(found)) < 0.1)),
    "neighbours alike": _gaussian(change=lambda found, rng: np.repeat(found[: -(-len(found) // 2)], 2)[: len(found)]),
}  # fmt: skip


FAULTS = {
    **{name: {fault: release(noise) for fault, noise in NOISES.items()} for name, release in ADDED.items()},
    "report_noisy_max": WINNERS,
    "randomized_response": RESPONSES,
    "poisson_batches": BATCHES,
    "whole_noise": WHOLE,
    "whole_gaussian": GAUSSIAN,
}


def found(function, fault, checks):
    """In how many of these checks an answer with this fault is found wrong."""
    exercise = next(each for lesson in course.lessons() for each in lesson.exercises if each.function == function)
    answer = FAULTS[function][fault]
    wrong = 0
    for seed in range(checks):
        cases = exercise.cases(np.random.default_rng([7, seed])).drawn
        values = [plain(answer(*arguments(case))) for case in cases]
        wrong += not exercise.agrees(cases, values, exercise.reference)
    return wrong


@pytest.mark.parametrize(("function", "fault"), [(name, fault) for name in FAULTS for fault in FAULTS[name]])
def test_each_fault_is_found_and_what_is_right_passes(function, fault):
    if fault == "right":
        assert found(function, fault, CHECKS) == 0
    else:
        assert found(function, fault, CHECKS) >= LEAST


if __name__ == "__main__":
    for name, faults in FAULTS.items():
        for fault in faults:
            print(f"{name:22} {fault:38} {found(name, fault, int(sys.argv[1])):4} of {sys.argv[1]}", flush=True)
