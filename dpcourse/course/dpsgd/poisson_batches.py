"""Batches by coin tosses."""

from collections import Counter

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking import Count, Domain, Misconception, Number, RandomExercise, Seed, Whole, rounded
from dpcourse.checking.calling.values import type_name
from dpcourse.course.dpsgd.shared import as_array, batch_counts


def _batches(value, case):
    """One array of indices of people for each step."""
    steps, n = case["steps"], case["n"]
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != steps:
        return say(
            "Return a list with one array of indices for each of the {steps} steps, not {type}.",
            steps=steps,
            type=type_name(value),
        )
    for batch in value:
        array = as_array(batch)
        if array.size and array.dtype.kind == "b":
            return say(
                "Each batch must be an array of indices (whole numbers), not True and False; `np.flatnonzero` turns them "
                "into indices."
            )
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            return say(
                "Each batch must be an array of indices (whole numbers), not {type}.",
                type=type_name(batch),
            )
        if array.size == n > 2 and set(array.tolist()) <= {0, 1}:
            return say(
                "A batch of yours holds {n} zeros and ones, one for each person. Return the indices of the ones: "
                "`np.flatnonzero` finds them.",
                n=n,
            )
        if array.size and not (array.min() >= 0 and array.max() < n):
            return say(
                "The indices must be from 0 to n - 1 = {last}; there is {index}.",
                last=n - 1,
                index=array.max() if array.max() >= n else array.min(),
            )
    return None


def _draw_batches(rng):
    """A small data set, in which batches are often empty, for few steps twice with one seed and once with another, and for many; one in which most
    are drawn; and one in which hardly anybody is.

    So many steps that batches cut off at twice their expected size are missed, and where hardly anybody is drawn, at three times, and so are
    rates rounded to whole percents.
    """
    few = {"n": int(rng.integers(12, 16)) * 2, "sample_rate": rounded(rng.uniform(0.09, 0.11)), "steps": 3000}
    many = {"n": int(rng.integers(45, 60)) * 2, "sample_rate": rounded(rng.uniform(0.6, 0.7)), "steps": 600}
    hardly = {"n": int(rng.integers(19, 22)) * 2, "sample_rate": rounded(rng.uniform(0.0123, 0.0127), 4), "steps": 3000}
    seed, second, third, fourth = rng.integers(2**31, size=4).tolist()
    short = few | {"steps": 100}
    runs = ((short, seed), (few, second), (short, second), (many, third), (short, seed), (hardly, fourth))
    return [given | {"rng": seed} for given, seed in runs]


def _joins(case, value):
    """How often each person is in each batch: an array of shape (steps, n)."""
    joins = np.zeros((case["steps"], case["n"]), dtype=int)
    for step, batch in enumerate(value):
        np.add.at(joins[step], np.asarray(batch, dtype=int), 1)
    return joins


def _count_batches(cases, values):
    counts = [count for i in (1, 3, 5) for count in batch_counts(_joins(cases[i], values[i]), cases[i]["sample_rate"])]
    return [
        *counts,
        Count.of(say("results that come out the same with the same seed"), _alike(values[0], values[4]), 1.0),
        Count(say("batches that were drawn before"), _repeats(values[3]), len(values[3]) - 1, 0.0),
        Count.of(say("results that come out the same with another seed"), _alike(values[0], values[2]), 0.0),
    ]


def _repeats(batches):
    """How many of the batches are equal to an earlier one."""
    return len(batches) - len({tuple(np.asarray(batch).tolist()) for batch in batches})


def _round_and_round(batches):
    """Whether a few batches come again and again, all of them equally often."""
    times = Counter(tuple(np.asarray(batch).tolist()) for batch in batches).values()
    return len(times) > 2 and min(times) >= 2 and max(times) - min(times) <= 1


def _dealt(case, batches):
    """Whether nearly all are in one batch of each epoch and nobody in two, with or without a short batch at its end."""
    joins, size = _joins(case, batches), max(map(len, batches))
    lengths = {case["n"] // size, -(-case["n"] // size)} if size else set()
    epochs = [joins[: len(joins) // length * length].reshape(-1, length, case["n"]) for length in lengths if length > 1]
    dealt = [epoch.sum(axis=1) for epoch in epochs]
    return any(bool((times <= 1).all() and times.mean() > 0.7) for times in dealt)


def _never_again(n, sample_rate, steps, rng):
    """Each batch is drawn from those who were in none before."""
    left, batches = np.arange(n), []
    for _ in range(steps):
        joins = rng.random(len(left)) < sample_rate
        batches.append(left[joins])
        left = left[~joins]
    return batches


def _in_all(cases, values):
    """How often each of many people is drawn in the whole run."""
    return _joins(cases[3], values[3]).sum(axis=0)


def _alike(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _each_step(draw):
    return lambda n, sample_rate, steps, rng: [draw(n, sample_rate, rng) for _ in range(steps)]


def _coins(n, sample_rate, rng):
    return np.flatnonzero(rng.random(n) < sample_rate)


def _coins_until_somebody(n, sample_rate, rng):
    while not (batch := _coins(n, sample_rate, rng)).size:
        pass
    return batch


def _epoch(sample_rate):
    return max(5, round(1 / sample_rate))


def _repeated(batches, steps):
    return [batches[step % len(batches)] for step in range(steps)]


def _expected(n, sample_rate):
    return max(1, round(n * sample_rate))


def _shuffled(n, sample_rate, steps, rng):
    size, batches = _expected(n, sample_rate), []
    while len(batches) < steps:
        order = rng.permutation(n)
        batches += [order[i : i + size] for i in range(0, n - size + 1, size)]
    return batches[:steps]


def _of_one_size(cases, values):
    """Whether all batches have one size, and nobody is in one twice."""
    joins = [_joins(cases[i], values[i]) for i in (1, 3)]
    return all(np.ptp(times.sum(axis=1)) == 0 and times.max() <= 1 for times in joins)


def _same_batch(cases, values):
    return bool((np.ptp(_joins(cases[3], values[3]), axis=0) == 0).all())


def _with_numpy(n, sample_rate, steps, rng):
    return [np.flatnonzero(rng.random(n) < sample_rate) for _ in range(steps)]


exercise = RandomExercise(
    title="Batches by coin tosses",
    good_for="sampling as the theorems mean it: what most data loaders do is something else",
    difficulty=2,
    minutes=20,
    points=3,
    domain=Domain({"n": Whole(1, 120), "sample_rate": Number(0.01, 1), "steps": Whole(1, 3000), "rng": Seed()}, most=8),
    draw=_draw_batches,
    reference=_each_step(_coins),
    formulas=(_with_numpy,),
    returns=_batches,
    forbidden=("dpcourse.dpsgd.sampling:poisson_batches",),
    compared=0,
    counts=_count_batches,
    hints=(
        "For one batch: how many random numbers do you need if every person tosses a coin of her own? `rng.random(n) < sample_rate` is "
        "True with probability sample_rate, n times independently.",
        "`np.flatnonzero` gives the places at which something is True: that is one batch, whatever its size is. What has to be drawn anew for the next?",
    ),
    misconceptions=(
        Misconception(
            "own seed",
            "Two different seeds gave the same coins: you made a generator with a fixed seed. Who is drawn must be secret. Use the `rng` "
            "you are given, and do not make a new one for each step.",
            lambda n, sample_rate, steps, rng: _each_step(_coins)(n, sample_rate, steps, np.random.default_rng(0)),
            recognise=lambda cases, values: _alike(values[0], values[2]) and not _same_batch(cases, values),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your coins come from somewhere else. Draw them from `rng`.",
            lambda n, sample_rate, steps, rng: _each_step(_coins)(n, sample_rate, steps, np.random.default_rng()),
            recognise=lambda cases, values: not _alike(values[0], values[4]),
        ),
        Misconception(
            "same batch",
            "Every step has the same batch. The coins are tossed anew in each step.",
            lambda n, sample_rate, steps, rng: [_coins(n, sample_rate, rng)] * steps,
            recognise=lambda cases, values: _same_batch(cases, values),
        ),
        Misconception(
            "one epoch repeated",
            "You drew the batches of one epoch and went round them again and again. Whoever was in a batch with Mia is so in every "
            "epoch. The coins are tossed anew in each step.",
            lambda n, sample_rate, steps, rng: _repeated(
                _each_step(_coins)(n, sample_rate, _epoch(sample_rate), rng), steps
            ),
            recognise=lambda cases, values: _round_and_round(values[3]),
        ),
        Misconception(
            "fixed size",
            "All your batches have the same size. Then people are not independent: whoever is in takes another's place. Let each person "
            "toss her own coin; the size comes out as it will.",
            _each_step(lambda n, p, rng: rng.choice(n, _expected(n, p), replace=False)),
            recognise=lambda cases, values: _of_one_size(cases, values) and not _dealt(cases[1], values[1]),
        ),
        Misconception(
            "with replacement",
            "Somebody is in a batch more than once, with more weight than the clipping allows. One coin for each person: in or out.",
            _each_step(lambda n, p, rng: rng.integers(n, size=_expected(n, p))),
            recognise=lambda cases, values: bool((_joins(cases[3], values[3]) > 1).any()),
        ),
        Misconception(
            "shuffled epochs",
            "You shuffled the people and dealt them out, once each per epoch. That is how most data loaders do it, and it is another "
            "mechanism with another guarantee, which may be far weaker. Here everybody tosses a coin in every step.",
            _shuffled,
            recognise=lambda cases, values: _dealt(cases[1], values[1]),
        ),
        Misconception(
            "never again",
            "Whoever was drawn once is never drawn again with you. Everybody tosses a coin in every step, also those who were drawn before.",
            _never_again,
            recognise=lambda cases, values: bool((_in_all(cases, values) == 1).all()),
        ),
        Misconception(
            "one coin for the run",
            "Hardly anybody is drawn more than once in the whole run: did you divide `sample_rate` by `steps`? It is the probability of being in "
            "one batch, and everybody tosses anew in every step.",
            lambda n, sample_rate, steps, rng: _each_step(_coins)(n, sample_rate / steps, steps, rng),
            recognise=lambda cases, values: bool(0 < _in_all(cases, values).mean() < 1),
        ),
        Misconception(
            "one coin for all",
            "You tossed one coin for all people: a batch is everybody or nobody. Each person needs a coin of her own.",
            _each_step(lambda n, p, rng: np.arange(n) if rng.random() < p else np.arange(0)),
            recognise=lambda cases, values: set(_joins(cases[3], values[3]).mean(axis=1).tolist()) <= {0.0, 1.0},
        ),
        Misconception(
            "empty batches drawn again",
            "None of your batches is empty, where some should be. An empty batch is drawn with a known probability and is accounted for. "
            "Drawing again, or putting somebody in, changes everybody's chances.",
            _each_step(_coins_until_somebody),
        ),
        Misconception(
            "size from a Poisson law",
            "You drew the size of the batch from a Poisson distribution and then the people. Poisson sampling only has its name from "
            "there: every person tosses a coin, so the size is binomial.",
            _each_step(lambda n, p, rng: rng.permutation(n)[: rng.poisson(n * p)]),
        ),
        Misconception(
            "first person left out",
            "The first person, with index 0, is never drawn. Indices go from 0 to n - 1.",
            _each_step(lambda n, p, rng: 1 + _coins(n - 1, p, rng)),
        ),
        Misconception(
            "complement",
            "You kept those whose coin came up with probability 1 - sample_rate. `rng.random(n) < sample_rate` is True with probability sample_rate.",
            _each_step(lambda n, p, rng: _coins(n, 1 - p, rng)),
        ),
    ),
)
