"""Six suspects."""

import math
from collections import Counter

import numpy as np

from dpcourse import audit
from dpcourse.base.languages import listed, say
from dpcourse.checking import Domain, Misconception, Number, OpenExercise, Seed, rounded
from dpcourse.checking.calling.values import type_name

LETTERS, LINE_UPS = "ABCDEF", 5
KEEPS, DIVIDES = "correct", "divided_by_people"
MOST_MU = 1.4


def _draw_suspects(rng):
    """Five line-ups; the one that keeps its promise has another letter in each, so that no fixed answer is right.

    Who takes shares of errors for rates accuses it in every other line-up, and so is right in all five 3 times in 100.
    Three line-ups lie at the ends. At the largest mu an audit proves more than 1 of the one that keeps its promise, and the
    looks together more than mu. At the largest clip_norm a canary shows that was made for a smaller one.
    """
    ends = [(0.5, MOST_MU), (2.0, 0.8), (rounded(rng.uniform(0.5, 2)), MOST_MU)]
    within = [(rounded(rng.uniform(0.5, 2)), rounded(rng.uniform(0.8, 1.2))) for _ in range(LINE_UPS - len(ends))]
    seeds = {}
    while len(seeds) < LINE_UPS:
        seed = int(rng.integers(2**31))
        seeds.setdefault(next(letter for letter, name in _names(seed).items() if name == KEEPS), seed)
    return [
        {"seed": seed, "clip_norm": clip_norm, "mu": mu, "rng": int(rng.integers(2**31))}
        for seed, (clip_norm, mu) in zip(seeds.values(), ends + within, strict=True)
    ]


def _names(seed):
    """Letter -> name of the mechanism; in the order that audit.suspects(seed) has."""
    order = np.random.default_rng(seed).permutation(len(audit.MECHANISMS))
    return {letter: audit.MECHANISMS[i].__name__ for letter, i in zip(LETTERS, order, strict=True)}


def _letters(value, case):
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        return say('Return a list of letters, such as `["B", "D"]`, not {type_name}.', type_name=type_name(value))
    strange = [item for item in value if not isinstance(item, str) or item not in tuple(LETTERS)]
    if strange and isinstance(strange[0], dict):
        return say(
            "Return the letters: your list holds a {type}, and the letter is its key in the dict.",
            type=strange[0].get("type", "dict"),
        )
    if strange:
        return say("The letters are A to F, and your list holds {item}.", item=repr(strange[0]))
    return None


def _accused(value, case):
    names = _names(case["seed"])
    return {names[letter] for letter in value}


BROKEN = {mechanism.__name__ for mechanism in audit.MECHANISMS} - {KEEPS}


def _suspects_law(value, case):
    accused = _accused(value, case)
    missed = [letter for letter, name in sorted(_names(case["seed"]).items()) if name in BROKEN - accused]
    free = listed(missed, "{first}, {then}")
    if free and KEEPS in accused:
        seen = say("{letters} should be accused too; one of these keeps its promise", letters=free)
    elif free:
        seen = say("{letters} should be accused too", letters=free)
    else:
        seen = say("one of these keeps its promise") if KEEPS in accused else "right"
    return accused == BROKEN, seen


def _each(cases, values):
    """Who is accused, for each case."""
    return [_accused(value, case) for case, value in zip(cases, values, strict=True)]


def _always(*names):
    """recognise: in every case exactly these are accused."""
    return lambda cases, values: all(accused == set(names) for accused in _each(cases, values))


def _mostly(*names):
    """recognise: these, and no others, are accused in most of the cases; it says nothing of the one that divides."""

    def recognise(cases, values):
        times = Counter(name for accused in _each(cases, values) for name in accused)
        return {name for name, count in times.items() if 2 * count > len(cases)} - {DIVIDES} == set(names)

    return recognise


def _short_in_some(cases, values):
    """Whether one that does not clip, or not rightly, is missed in some cases and in no other, and only such are missed."""
    missed = [BROKEN - accused for accused in _each(cases, values)]
    return any(missed) and not all(missed) and set().union(*missed) <= {"unclipped", "wrong_sensitivity"}


def _same_letters(cases, values):
    """Whether the same letters, some of the five, are accused in each case."""
    return len({tuple(sorted(set(value))) for value in values}) == 1 and 0 < len(set(values[0])) < len(LETTERS)


def _by_name(*names):
    """Accuse exactly those that have these names."""
    return lambda seed, clip_norm, mu, rng: [letter for letter, name in _names(seed).items() if name in names]


FEATURES = 16


def _ones(clip_norm):
    return np.full(FEATURES, 10 * clip_norm)


def _one_coordinate(clip_norm):
    return 10 * clip_norm * np.eye(FEATURES)[0]


def _looks(outputs, direction, clip_norm):
    """(scores, threshold) of three looks: the first round's place, the difference of both, the first round's size."""
    first, middle = outputs[:, 0], clip_norm / 2  # half of what a canary can move
    return [
        (first @ direction, middle),
        ((first - outputs[:, 1]) @ direction, middle),
        (-np.linalg.norm(first, axis=1), None),
    ]


def _some(*places):
    """Only these of the three looks."""
    return lambda *outputs: [_looks(*outputs)[place] for place in places]


def _proved(each, runs_in, runs_out, threshold):
    return audit.mu_lower_bound(runs_in, runs_out, each, threshold=threshold)


def _audit(runs, canary=_ones, looks=_looks, risk=1e-7, proved=_proved, join=max, others=1):
    """Accuse each suspect for whom an audit with a canary in the first round proves more than mu.

    others: how many more people are in that round; their vectors are 0.
    """

    def code(seed, clip_norm, mu, rng):
        row = canary(clip_norm)
        nobody, without = np.zeros((0, len(row))), np.zeros((others, len(row)))
        accused = []
        for letter, mechanism in audit.suspects(seed).items():
            seen_in, seen_out = (
                looks(
                    np.array([mechanism((first, nobody), clip_norm, mu, rng) for _ in range(runs)]),
                    row / np.linalg.norm(row),
                    clip_norm,
                )
                for first in (np.vstack([without, row]), without)
            )
            mus = [
                proved(1 - risk / len(seen_in), scores_in, scores_out, threshold)
                for (scores_in, threshold), (scores_out, _) in zip(seen_in, seen_out, strict=True)
            ]
            accused += [letter] * (join(mus) > mu)
        return accused

    return code


def _compared_with_1(seed, clip_norm, mu, rng):
    """Accuse all that break the promise, and the other one where its mu is above 1."""
    return [letter for letter, name in _names(seed).items() if name != KEEPS or mu > 1]


def _far_out(each, runs_in, runs_out, threshold):
    return audit.mu_lower_bound(runs_in, runs_out, each, threshold=threshold and 40 * threshold)


exercise = OpenExercise(
    title="Six suspects",
    good_for="an audit from the canary to the verdict: what you would do to a program that somebody hands you",
    difficulty=4,
    minutes=60,
    points=5,
    domain=Domain({"seed": Seed(), "clip_norm": Number(0.5, 2), "mu": Number(0.8, MOST_MU), "rng": Seed()}, most=0),
    draw=_draw_suspects,
    reference=_audit(1000),
    returns=_letters,
    law=_suspects_law,
    seconds=30.0,
    hints=(
        "The canary goes into the first round, the second stays empty. It should be far longer than clip_norm, and point along a diagonal, not "
        "along one axis. What would each of the five mistakes do to it?",
        "Three scores are worth a look: the first round in the canary's direction, the *difference* of both rounds in that direction, and the *size* "
        "of the first round, which is smaller if it was divided by more people. A round of nobody and a round of one are divided by the same, so put "
        "somebody else in, with the canary and without: a row of zeros. Each score gets a third of the risk.",
        "For each suspect: 1,000 runs with the canary and another person in the first round (`np.vstack` puts rows together), 1,000 with the other "
        "alone. Make the three scores of each, and give them to `audit.mu_lower_bound` with a confidence of 1 - 1e-8. For the first two a "
        "threshold halfway along the way that a clipped canary moves is good; the third needs none. Accuse if *one* of the three proves more than mu.",
    ),
    misconceptions=(
        Misconception(
            "nobody accused",
            "You accuse nobody, and five of the six break their promise. Is your bound ever above mu? One look that proves more is enough: not all of them need to.",
            lambda seed, clip_norm, mu, rng: [],
            recognise=_always(),
        ),
        Misconception(
            "the honest one",
            "You returned the one that keeps its promise. Return the others, those that break it.",
            _by_name(KEEPS),
            recognise=_always(KEEPS),
        ),
        Misconception(
            "the first one only",
            "You never accuse anybody but A. Is the `return` inside the loop? It belongs behind it.",
            lambda seed, clip_norm, mu, rng: ["A"] * (_names(seed)["A"] != KEEPS),
            recognise=lambda cases, values: set().union(*values) == {"A"} and 2 * sum(map(len, values)) > len(cases),
        ),
        Misconception(
            "the same letters",
            "You accuse the same letters whatever `seed` is. The order of the suspects depends on it: ask for `audit.suspects(seed)`, and judge "
            "those.",
            lambda seed, clip_norm, mu, rng: ["A", "B", "C", "E"],
            recognise=_same_letters,
        ),
        Misconception(
            "the honest one accused at times",
            "In some of the runs you accuse the one that keeps its promise, and in others not: look at what differs between them. Do you compare with another number than `mu`, such as "
            "1, or `mu` times `clip_norm`? Is there a canary in both rounds, which is two people? Or is it by luck, as where a threshold is chosen on the same scores, or shares of errors are compared with the promise?",
            _compared_with_1,
            recognise=lambda cases, values: 0 < sum(KEEPS in accused for accused in _each(cases, values)) < len(cases),
        ),
        Misconception(
            "the honest one accused",
            "You accuse also the one that keeps its promise. An accusation needs proof of more than `mu`. Did you compare shares of errors with the "
            "promise, choose the threshold on the same scores without paying for it, compare the bound with 0, or with another number than `mu`, or the sum of what the looks prove, or data that differ by more than one person added? Or did you call a mechanism with other arguments than you were given, or with the same noise in every run? An honest "
            "mechanism looks guilty then.",
            lambda seed, clip_norm, mu, rng: list(LETTERS),
            recognise=lambda cases, values: any(KEEPS in accused for accused in _each(cases, values)),
        ),
        Misconception(
            "each round alone",
            "You miss the one that uses its noise twice. That cannot be seen in one round alone: look at the difference of the two as well, first "
            "minus second, with the canary in the first round only. And accuse if *one* of the looks proves more than `mu`.",
            _audit(400, looks=_some(0, 2), risk=1e-4),
            recognise=_mostly("half_noise", "wrong_sensitivity", "unclipped"),
        ),
        Misconception(
            "the size of the noise",
            "You miss the one that divides by the number of people. Its canary goes nowhere special: what changes is the *size* of the noise, which is "
            "divided as well. Take the length of the first output as one more score; with one person more it is shorter, and a high score must speak for that. And a round of nobody and a round of one are divided by the "
            "same: put somebody else in, with the canary and without. Is all that there? The size tells less the more others are in, and the fewer coordinates "
            "there are: take one other, and a dozen coordinates.",
            _audit(400, looks=_some(0, 1), risk=1e-4, others=0),
            recognise=lambda cases, values: _each(cases, values).count(BROKEN - {DIVIDES}) > len(cases) / 2,
        ),
        Misconception(
            "both looks",
            "You miss the one with half of the noise and the one that uses its noise twice. Each of these shows in one look only: accuse if one of "
            "the looks proves more than `mu`, not all. And see to it that the runs are many.",
            _audit(400, looks=_some(0, 1), risk=1e-4, join=min),
            recognise=_mostly("wrong_sensitivity", "unclipped"),
        ),
        Misconception(
            "canary too short",
            "Your canary is too tame: it is no longer than clip_norm, or hardly longer. Then clipping leaves it nearly as it is, and you cannot see "
            "whether anything was clipped, nor how. Make it far longer, in each of its coordinates too.",
            _audit(400, canary=lambda clip_norm: np.full(FEATURES, clip_norm / math.sqrt(FEATURES)), risk=1e-4),
            recognise=_mostly("half_noise", "reused_noise"),
        ),
        Misconception(
            "one coordinate",
            "You miss the one that clips each coordinate by itself. Where a canary points along one coordinate that is no worse than to clip the "
            "whole vector, and in two dimensions hardly. Let it point along a diagonal of many.",
            _audit(400, canary=_one_coordinate, risk=1e-4),
            recognise=_mostly("half_noise", "reused_noise", "unclipped"),
        ),
        Misconception(
            "made for one clip_norm",
            "In some line-ups you miss the one that does not clip, or the one that clips each coordinate by itself; in others you do not. Do the canary's length and the "
            "threshold grow with `clip_norm`?",
            _audit(1000, canary=lambda clip_norm: np.full(FEATURES, 2 / math.sqrt(FEATURES))),
            recognise=_short_in_some,
        ),
        Misconception(
            "too few runs",
            "One of them has half of the noise, and you did not see it. Either there are too few runs (it takes several hundred of each kind), or "
            "the threshold is badly placed, or the score does not go along with the canary, or the bound is compared with more than `mu`, or you looked at the difference only: that has more "
            "noise than the first round. Or the looks are averaged, where the largest bound counts.",
            _audit(400, looks=_some(1, 2), risk=1e-4),
            recognise=_mostly("reused_noise", "wrong_sensitivity", "unclipped"),
        ),
        Misconception(
            "the size only",
            "You find only the one that divides by the number of people. The others show in the *place* of the output, with a long canary in the "
            "first round, and in the difference of the two rounds.",
            _by_name(DIVIDES),
            recognise=_always(DIVIDES),
        ),
        Misconception(
            "far too few runs",
            "You find only the one whose noise is gone from the difference, for which a few runs are enough. Without errors a bound still depends on "
            "how many runs there were: with a confidence near 1 it takes several hundred of each kind. And the canary must be longer than clip_norm.",
            _audit(50),
            recognise=lambda cases, values: _mostly("reused_noise")(cases, values) or _mostly()(cases, values),
        ),
        Misconception(
            "threshold of the canary",
            "You find the one that does not clip, and hardly another. Did you put the threshold where an unclipped canary would be? What is clipped moves the sum "
            "by clip_norm, not by the length of the canary. Or do other people, who go the canary's way too, hide such a small move?",
            _audit(400, risk=1e-4, proved=_far_out),
            recognise=_mostly("unclipped"),
        ),
        Misconception(
            "the noise only",
            "You find only the one with half of the noise. Do you stop at the first that you find? What a mechanism does to a person's vector shows only where a canary is in the data, and "
            "noise that is used twice shows only in the difference of both rounds.",
            _by_name("half_noise"),
            recognise=_mostly("half_noise"),
        ),
    ),
)
