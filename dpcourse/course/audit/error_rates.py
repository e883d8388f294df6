"""The two error rates of an attack."""

import numpy as np
from scipy.special import ndtr

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, any_of, rounded, several


def _draw_scores(rng):
    """Scores with one digit, so that some equal the threshold; the two groups differ in size."""
    cases = []
    for with_mia, without in ((9, 7), (12, 16), (14, 11)):
        scores_in = rng.normal(1.2, 1, with_mia).round(1)
        scores_out = rng.normal(0.2, 1, without).round(1)
        threshold = rounded(rng.uniform(0.4, 0.9), 1)
        scores_in[0] = scores_out[0] = threshold
        cases.append(
            {"scores_in": rng.permutation(scores_in), "scores_out": rng.permutation(scores_out), "threshold": threshold}
        )
    return cases


def _errors(rule):
    """A rule for the four counts: in, called in; in, called out; out, called in; out, called out."""

    def code(scores_in, scores_out, threshold):
        a, c = int(np.sum(scores_in > threshold)), int(np.sum(scores_out > threshold))
        return tuple(map(float, rule(a, len(scores_in) - a, c, len(scores_out) - c)))

    return code


def _is_normal(cases, values):
    """recognise: the tails of normal laws, with a deviation out of n or of n - 1."""

    def tails(scores_in, scores_out, threshold, ddof):
        out, within = ((threshold - np.mean(s)) / np.std(s, ddof=ddof) for s in (scores_out, scores_in))
        return ndtr(-out), ndtr(within)

    return any(
        all(np.allclose(value, tails(**case, ddof=ddof), rtol=1e-9) for case, value in zip(cases, values, strict=True))
        for ddof in (0, 1)
    )


SCORES = to_say("1 to 20 `scores_in` and 1 to 20 `scores_out`; `threshold` may be one of them")


def _any_scores(rng):
    scores_in, scores_out = (
        rng.normal(1, 1, int(rng.integers(1, 21))).round(1),
        rng.normal(0, 1, int(rng.integers(1, 21))).round(1),
    )
    return (
        scores_in,
        scores_out,
        float(rng.choice([*scores_in, *scores_out, -9.0, 9.0, *rng.uniform(-1, 2, 4).round(1)])),
    )


def _written(scores_in, scores_out, threshold):
    """As learners write it."""
    return np.mean(scores_out > threshold), np.mean(scores_in <= threshold)


def _smoothed(error, run):
    """The rates with so many errors added, and so many runs, as for p-values."""
    return _errors(
        lambda hit, miss, alarm, calm: ((alarm + error) / (alarm + calm + run), (miss + error) / (hit + miss + run))
    )


SMOOTHED = _smoothed(1, 1), _smoothed(1, 2), _smoothed(0.5, 1), _smoothed(1, 0)

exercise = Exercise(
    title="The two error rates of an attack",
    good_for="turning a pile of scores into a point that can be compared with a promise",
    difficulty=1,
    minutes=8,
    points=1,
    domain=Domain({"scores_in, scores_out, threshold": Made(_any_scores, SCORES)}),
    draw=_draw_scores,
    formulas=(_written,),
    reference=_errors(lambda hit, miss, alarm, calm: (alarm / (alarm + calm), miss / (hit + miss))),
    means={
        "np.mean(scores_out > threshold)": "the share of the runs without Mia in which the attack says “in”",
        "np.mean(scores_in <= threshold)": "the share of the runs with Mia in which the attack says “out”",
        "scores_out > threshold": "which runs without Mia are called “in”",
        "scores_in <= threshold": "which runs with Mia are called “out”",
    },
    returns=several("alpha", "beta"),
    possible=Number(0, 1),
    hints=(
        "A false alarm can only happen in a run without Mia, a miss only in a run with her. So each rate is a share of one of the two arrays.",
        '`np.mean(scores_out > threshold)` is the share of runs without her in which the attack says "in". A score that equals the threshold '
        'is not above it, so there the attack says "out".',
    ),
    misconceptions=(
        Misconception(
            "mean of the scores",
            "You compared the mean of the scores with the threshold: then a rate is 0 or 1. Compare each score, and take the mean of that.",
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out) > threshold),
                float(np.mean(scores_in) <= threshold),
            ),
        ),
        Misconception(
            "whole-number division",
            "A rate of yours is 1 where all runs of its kind are errors, and 0 else. Did you divide by `//`, which drops the fraction? A share needs `/`.",
            _errors(lambda hit, miss, alarm, calm: (alarm // (alarm + calm), miss // (hit + miss))),
        ),
        Misconception(
            "errors added",
            "You added an error to those that you counted, as one does for a p-value. A rate is the plain share: errors over runs.",
            SMOOTHED[0],
            recognise=any_of(*SMOOTHED),
        ),
        Misconception(
            "exchanged",
            "You returned beta first and alpha second. alpha is the rate of false alarms, in runs without Mia; beta that of misses, in runs with her.",
            _errors(lambda hit, miss, alarm, calm: (miss / (hit + miss), alarm / (alarm + calm))),
        ),
        Misconception(
            "ties are in",
            'You call a score "in" that equals the threshold. The attack says "in" only above it: `>`, and a miss is `<=`.',
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out >= threshold)),
                float(np.mean(scores_in < threshold)),
            ),
        ),
        Misconception(
            "ties count twice",
            "A score that equals the threshold counts as a false alarm and as a miss with you. The attack says one thing at each score: it is "
            '"in" above the threshold, and "out" at it.',
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out >= threshold)),
                float(np.mean(scores_in <= threshold)),
            ),
        ),
        Misconception(
            "ties left out",
            'A score that equals the threshold is neither a false alarm nor a miss with you. At the threshold the attack says "out", and if Mia '
            "is in, that is a miss: `<=`.",
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out > threshold)),
                float(np.mean(scores_in < threshold)),
            ),
        ),
        Misconception(
            "hits for misses",
            "Your second number is the share of runs with Mia that are found. beta is the share that is missed.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (alarm + calm), hit / (hit + miss))),
        ),
        Misconception(
            "calm for alarms",
            "Your first number is the share of runs without Mia that are rightly called out. alpha is the share that is wrongly called in.",
            _errors(lambda hit, miss, alarm, calm: (calm / (alarm + calm), miss / (hit + miss))),
        ),
        Misconception(
            "the other way round",
            'You call low scores "in". Here a high score speaks for Mia.',
            _errors(lambda hit, miss, alarm, calm: (calm / (alarm + calm), hit / (hit + miss))),
        ),
        Misconception(
            "groups exchanged",
            "You took the two arrays for each other: alpha comes from the scores without Mia, `scores_out`, and beta from those with her.",
            _errors(lambda hit, miss, alarm, calm: (hit / (hit + miss), calm / (alarm + calm))),
        ),
        Misconception(
            "alpha twice",
            'Both of your numbers are the share of false alarms. beta is the share of the runs *with* Mia in which the attack says "out".',
            _errors(lambda hit, miss, alarm, calm: 2 * (alarm / (alarm + calm),)),
        ),
        Misconception(
            "counts",
            "You returned how many errors there are. A rate is a share: divide by the number of runs of that group.",
            _errors(lambda hit, miss, alarm, calm: (alarm, miss)),
        ),
        Misconception(
            "over all runs",
            "You divided by the number of all runs. alpha is a share of the runs without Mia, beta of those with her.",
            _errors(
                lambda hit, miss, alarm, calm: (alarm / (hit + miss + alarm + calm), miss / (hit + miss + alarm + calm))
            ),
        ),
        Misconception(
            "over the other group",
            "You divided by the size of the other group. alpha is a share of the runs without Mia, beta of those with her.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (hit + miss), miss / (alarm + calm))),
        ),
        Misconception(
            "one length for both",
            "You divided both counts by the number of runs with Mia. False alarms happen in runs without her: divide these by `len(scores_out)`.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (hit + miss), miss / (hit + miss))),
        ),
        Misconception(
            "the other length for both",
            "You divided both counts by the number of runs without Mia. Misses happen in runs with her: divide these by `len(scores_in)`.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (alarm + calm), miss / (alarm + calm))),
        ),
        Misconception(
            "pairs",
            "You looked at as many runs with Mia as without, as `zip` does, which stops where the shorter array ends. The two groups may differ in size: "
            "go through each by itself.",
            lambda scores_in, scores_out, threshold: _written(
                *(scores[: min(len(scores_in), len(scores_out))] for scores in (scores_in, scores_out)), threshold
            ),
            recognise=any_of(  # divided by all of them
                lambda scores_in, scores_out, threshold: (
                    sum(out > threshold for _, out in zip(scores_in, scores_out, strict=False)) / len(scores_out),
                    sum(mine <= threshold for mine, _ in zip(scores_in, scores_out, strict=False)) / len(scores_in),
                )
            ),
        ),
        Misconception(
            "a normal law fitted",
            "You fitted a normal law to the scores, and took its tails. Count: which share of the scores is above the threshold, or not?",
            lambda scores_in, scores_out, threshold: (
                float(ndtr((np.mean(scores_out) - threshold) / np.std(scores_out))),
                float(ndtr((threshold - np.mean(scores_in)) / np.std(scores_in))),
            ),
            recognise=_is_normal,
        ),
        Misconception(
            "over those called so",
            "You divided by the number of runs that the attack calls in, or out. That depends on how many runs of each kind you happened to "
            "make. alpha and beta are shares of what is true, not of what is said.",
            _errors(lambda hit, miss, alarm, calm: (alarm / max(1, hit + alarm), miss / max(1, miss + calm))),
        ),
        Misconception(
            "one number for both",
            "You returned the same share of errors twice, over all runs. One number cannot be compared with a trade-off curve: keep the two "
            "kinds of errors apart.",
            _errors(lambda hit, miss, alarm, calm: 2 * ((alarm + miss) / (hit + miss + alarm + calm),)),
        ),
    ),
)
