"""Five suspects."""

import math

import numpy as np
from scipy.special import ndtri

from dpcourse import audit
from dpcourse.engine import Misconception, OpenExercise, rounded
from dpcourse.probe.values import type_name

LETTERS = "ABCDE"


KEEPS = "correct"


def _draw_suspects(rng):
    """Five line-ups; the one that keeps its promise has another letter in each, so that no fixed answer is right.

    Who takes shares of errors for rates accuses it in every other line-up, and so is right in all five 3 times in 100.
    """
    seeds = {}
    while len(seeds) < len(LETTERS):
        seed = int(rng.integers(2**31))
        seeds.setdefault(next(letter for letter, name in _names(seed).items() if name == KEEPS), seed)
    return [
        {
            "seed": seed,
            "clip_norm": rounded(rng.uniform(0.5, 2)),
            "mu": rounded(rng.uniform(0.8, 1.2)),
            "rng": int(rng.integers(2**31)),
        }
        for seed in seeds.values()
    ]


def _names(seed):
    """Letter -> name of the mechanism; in the order that audit.suspects(seed) has."""
    order = np.random.default_rng(seed).permutation(len(audit.MECHANISMS))
    return {letter: audit.MECHANISMS[i].__name__ for letter, i in zip(LETTERS, order, strict=True)}


def _letters(value, case):
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        return f'Return a list of letters, such as `["B", "D"]`, not {type_name(value)}.'
    strange = [item for item in value if not isinstance(item, str) or item not in tuple(LETTERS)]
    if strange:
        return f"The letters are A to E, and your list holds {strange[0]!r}."
    return None


def _accused(value, case):
    names = _names(case["seed"])
    return {names[letter] for letter in value}


BROKEN = {mechanism.__name__ for mechanism in audit.MECHANISMS} - {KEEPS}


def _suspects_law(value, case):
    accused = _accused(value, case)
    free = ", ".join(letter for letter, name in sorted(_names(case["seed"]).items()) if name in BROKEN - accused)
    seen = [f"{free} should be accused too"] if free else []
    seen += ["one of these keeps its promise"] if KEEPS in accused else []
    return accused == BROKEN, "; ".join(seen) or "right"


def _each(cases, values):
    """Who is accused, for each case."""
    return [_accused(value, case) for case, value in zip(cases, values, strict=True)]


def _always(*names):
    """recognise: in every case exactly these are accused."""
    return lambda cases, values: all(accused == set(names) for accused in _each(cases, values))


def _missed(*names):
    """recognise: these are missed in some case."""
    return lambda cases, values: any(not accused & set(names) for accused in _each(cases, values))


FEATURES = 16


def _ones(clip_norm):
    return np.full(FEATURES, 10 * clip_norm)


def _one_coordinate(clip_norm):
    return 10 * clip_norm * np.eye(FEATURES)[0]


def _views(outputs):
    """What is looked at in the outputs of many runs: the first round, and the difference of both."""
    return outputs[:, 0], outputs[:, 0] - outputs[:, 1]


def _proved(each, runs_in, runs_out, clip_norm):
    """The mu that is proved with a threshold fixed before: half of what a canary can move."""
    return audit.mu_lower_bound(runs_in, runs_out, each, threshold=clip_norm / 2)


def _audit(runs, canary=_ones, views=_views, risk=1e-7, proved=_proved):
    """Accuse each suspect for whom an audit with a canary in the first round proves more than mu."""

    def code(seed, clip_norm, mu, rng):
        row = canary(clip_norm)
        nobody, only_canary = np.zeros((0, len(row))), row[None, :]
        accused = []
        for letter, mechanism in audit.suspects(seed).items():
            seen_in, seen_out = (
                views(np.array([mechanism((first, nobody), clip_norm, mu, rng) for _ in range(runs)]) @ _unit(row))
                for first in (only_canary, nobody)
            )
            mus = [
                proved(1 - risk / len(seen_in), within, without, clip_norm)
                for within, without in zip(seen_in, seen_out, strict=True)
            ]
            accused += [letter] * (max(mus) > mu)
        return accused

    return code


def _unit(row):
    return row / np.linalg.norm(row)


def _by_shares(each, runs_in, runs_out, clip_norm):
    """The best mu of all thresholds by the shares of errors, without any bound."""
    thresholds = np.sort(np.r_[runs_in, runs_out])
    alpha = 1 - np.searchsorted(np.sort(runs_out), thresholds, side="right") / len(runs_out)
    beta = np.searchsorted(np.sort(runs_in), thresholds, side="right") / len(runs_in)
    return float(np.max(-ndtri(np.maximum(alpha, 1e-6)) - ndtri(np.maximum(beta, 1e-6))))


def _at_any_threshold(each, runs_in, runs_out, clip_norm):
    return audit.mu_lower_bound(runs_in, runs_out, each)


exercise = OpenExercise(
    title="Five suspects",
    good_for="an audit from the canary to the verdict: what you would do to a program that somebody hands you",
    difficulty=4,
    minutes=35,
    points=5,
    draw=_draw_suspects,
    reference=_audit(1000),
    returns=_letters,
    law=_suspects_law,
    seconds=30.0,
    hints=(
        "The canary goes into the first round, the second stays empty. It should be far longer than clip_norm, and point along a diagonal, not "
        "along one axis. What would each of the four mistakes do to it?",
        "Two scores are worth a look: the first round in the canary's direction, and the *difference* of both rounds in that direction. Noise "
        "that is used twice is gone from the difference. Each score gets half of the risk.",
        "For each suspect: 1,000 runs with the canary and 1,000 without, `outputs @ direction`, and "
        "`audit.mu_lower_bound(scores_in, scores_out, confidence=1 - 1e-8, threshold=clip_norm / 2)` for both scores. Accuse if one of them is "
        "above mu. Start from `nobody = np.zeros((0, 16))` and `canary = np.full((1, 16), 10 * clip_norm)`.",
    ),
    misconceptions=(
        Misconception(
            "nobody accused",
            "You accuse nobody, and four of the five break their promise. Is your bound ever above mu?",
            lambda seed, clip_norm, mu, rng: [],
            recognise=_always(),
        ),
        Misconception(
            "the honest one",
            "You returned the one that keeps its promise. Return the others, those that break it.",
            lambda seed, clip_norm, mu, rng: [letter for letter, name in _names(seed).items() if name == KEEPS],
            recognise=_always(KEEPS),
        ),
        Misconception(
            "the honest one accused",
            "You accuse also the one that keeps its promise. An accusation needs proof. Did you compare shares of errors with the promise, or "
            "choose the threshold on the same scores without paying for it? By luck alone an honest mechanism looks guilty then. Use a lower "
            "bound on mu, with a confidence near 1.",
            _audit(100, proved=_by_shares),
            recognise=lambda cases, values: any(KEEPS in accused for accused in _each(cases, values)),
        ),
        Misconception(
            "each round alone",
            "One of them uses its noise twice, and that cannot be seen in one round alone. Look at the difference of the two rounds as well.",
            _audit(400, views=lambda outputs: _views(outputs)[:1], risk=1e-4),
            recognise=_missed("reused_noise"),
        ),
        Misconception(
            "canary too short",
            "Your canary is too tame: it is no longer than clip_norm. Then clipping leaves it as it is, and you cannot see whether anything "
            "was clipped, nor how. Make it far longer.",
            _audit(400, canary=lambda clip_norm: np.full(FEATURES, clip_norm / math.sqrt(FEATURES)), risk=1e-4),
            recognise=_missed("wrong_sensitivity", "unclipped"),
        ),
        Misconception(
            "one coordinate",
            "Your canary points along one coordinate. Who clips each coordinate by itself shortens it just as who clips the whole vector. Let it "
            "point along a diagonal.",
            _audit(400, canary=_one_coordinate, risk=1e-4),
            recognise=_missed("wrong_sensitivity"),
        ),
        Misconception(
            "too few runs",
            "One of them has half of the noise, and you did not see it. Either there are too few runs (it takes several hundred of each kind), or "
            "the threshold is badly placed.",
            _audit(40, lambda clip_norm: np.full(100, 10 * clip_norm), risk=1e-3, proved=_at_any_threshold),
            recognise=_missed("half_noise"),
        ),
    ),
)
