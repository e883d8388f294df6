"""The best of k thresholds."""

import math

import numpy as np
from scipy.special import ndtri

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, OneOf, a_number, any_of
from dpcourse.course.audit.shared import mu_of_errors, upper_bound


def _draw_thresholds(rng):
    """Errors of several thresholds on the same scores; at one there is no false alarm at all.

    The third attack does worse than guessing and proves nothing, nor does the lowest threshold.
    """
    cases = []
    for thresholds, mu in ((4, rng.uniform(1.5, 2)), (7, rng.uniform(0.8, 1.6)), (5, -0.7)):
        runs = int(rng.integers(3, 9)) * 100
        scores_in, scores_out = rng.normal(mu, 1, runs), rng.normal(0, 1, runs)
        cuts = rng.permutation(np.r_[np.linspace(-2, 1.8, thresholds - 1), max(scores_out.max(), 2.0)])
        cases.append(
            {
                "false_alarms": np.array([int((scores_out > cut).sum()) for cut in cuts]),
                "misses": np.array([int((scores_in <= cut).sum()) for cut in cuts]),
                "runs": runs,
                "confidence": float(rng.choice([0.9, 0.95, 0.99])),
            }
        )
    return cases


def _finite_mu(value, case):
    infinite = isinstance(value, float) and math.isinf(value)
    if infinite and value < 0:
        return say(
            "The result is -infinity. Where all runs were errors the bound on their rate is 1, and such a threshold proves nothing. "
            "Return the largest mu of the thresholds, and 0 where none is above 0: is a comparison the wrong way round?"
        )
    if infinite:
        return say(
            "The result is infinite. Where no false alarm was seen the share of errors is 0, and Φ⁻¹(0) is -infinity. "
            "A share proves nothing: take an upper bound on each rate first."
        )
    return a_number(value, case)


def _best(each=lambda risk, k: risk / (2 * k), choose=max, bound=upper_bound, least=0.0):
    """The mus at all thresholds, each bound with so much of the risk, joined by `choose`."""

    def code(false_alarms, misses, runs, confidence):
        level = 1 - each(1 - confidence, len(misses))
        pairs = zip(false_alarms.tolist(), misses.tolist(), strict=True)
        return float(max(least, choose([mu_of_errors(bound(a, runs, level), bound(b, runs, level)) for a, b in pairs])))

    return code


def _best_looking(each, good=lambda a, b: mu_of_errors(max(a, 1e-9), max(b, 1e-9))):
    """The bound at the threshold at which the shares of errors look best."""

    def code(false_alarms, misses, runs, confidence):
        pairs = zip(false_alarms.tolist(), misses.tolist(), strict=True)
        a, b = max(pairs, key=lambda pair: good(pair[0] / runs, pair[1] / runs))
        level = 1 - each(1 - confidence, len(misses))
        return max(0.0, mu_of_errors(upper_bound(a, runs, level), upper_bound(b, runs, level)))

    return code


def _pooled(each):
    """The errors of all thresholds added up."""

    def code(false_alarms, misses, runs, confidence):
        trials, level = runs * len(misses), 1 - each(1 - confidence, len(misses))
        return max(
            0.0, mu_of_errors(*(upper_bound(int(errors.sum()), trials, level) for errors in (false_alarms, misses)))
        )

    return code


THRESHOLDS = to_say(
    "`false_alarms` and `misses` at 1 to 10 thresholds; 50 to 1,000 `runs`, as many as the errors or more"
)


def _any_thresholds(rng):
    runs, thresholds = int(rng.integers(50, 1001)), int(rng.integers(1, 11))
    cuts, mu = (
        rng.uniform(-3, 4, thresholds),
        rng.uniform(-1, 3) if rng.random() < 0.8 else 20,
    )  # then some cut makes no error
    scores_in, scores_out = rng.normal(mu, 1, runs), rng.normal(0, 1, runs)
    return (
        np.array([int((scores_out > cut).sum()) for cut in cuts]),
        np.array([int((scores_in <= cut).sum()) for cut in cuts]),
        runs,
    )


def _written(false_alarms, misses, runs, confidence):
    """As learners write it."""
    each = 1 - (1 - confidence) / (2 * len(misses))
    alpha = np.array([upper_bound(int(errors), runs, each) for errors in false_alarms])
    beta = np.array([upper_bound(int(errors), runs, each) for errors in misses])
    return max(0.0, np.max(-ndtri(alpha) - ndtri(beta)))


exercise = Exercise(
    title="The best of k thresholds",
    good_for="choosing with open eyes, and paying for the choice",
    difficulty=3,
    minutes=12,
    points=3,
    domain=Domain(
        {"false_alarms, misses, runs": Made(_any_thresholds, THRESHOLDS), "confidence": OneOf((0.9, 0.95, 0.98, 0.99))}
    ),
    draw=_draw_thresholds,
    formulas=(_written,),
    reference=_best(),
    means={
        "(1 - confidence) / (2 * len(misses))": "the part of the risk that each bound may take: two for each threshold",
        "1 - (1 - confidence) / (2 * len(misses))": "the confidence of each bound",
        "-ndtri(alpha) - ndtri(beta)": "the mu of each threshold",
        "np.array([upper_bound(int(errors), runs, each) for errors in false_alarms])": "the upper bound on the false alarms at each threshold",
        "np.array([upper_bound(int(errors), runs, each) for errors in misses])": "the upper bound on the misses at each threshold",
    },
    returns=_finite_mu,
    possible=Number(0, math.inf),
    forbidden=(audit.mu_lower_bound, audit.empirical_tradeoff, audit.error_bounds),
    hints=(
        "If all bounds hold at once, you may choose among them as you like, also after a look. How many bounds are there in all?",
        "k thresholds with two error rates each: 2k bounds, which share the risk. `audit.clopper_pearson` takes arrays, and the confidence of a single "
        "bound. Then each threshold proves a mu, and all of them hold at once.",
    ),
    misconceptions=(
        Misconception(
            "no correction",
            "You took the best of k and paid for one. The best of many looks good by luck alone. Give each of the 2k bounds its share of the risk.",
            _best(lambda risk, k: risk / 2),
        ),
        Misconception(
            "no correction, no union",
            "You gave every bound the whole risk. There are 2k of them, two at each threshold, and all must hold at once.",
            _best(lambda risk, k: risk),
        ),
        Misconception(
            "two forgotten",
            "You divided the risk by k. At each threshold there are two bounds, for alpha and for beta: 2k in all.",
            _best(lambda risk, k: risk / k),
        ),
        Misconception(
            "squared",
            "You divided the risk by k². There are 2k bounds.",
            _best(lambda risk, k: risk / k**2),
        ),
        Misconception(
            "independent",
            "You gave each bound the root of the confidence, as if all were independent. The thresholds share their scores, so they are not. "
            "A union bound holds always: (1 - confidence) / (2k) each.",
            _best(lambda risk, k: 1 - (1 - risk) ** (1 / (2 * k))),
        ),
        Misconception(
            "confidence divided",
            "You divided the confidence. It is the risk, 1 - confidence, that is shared out.",
            _best(lambda risk, k: 1 - (1 - risk) / (2 * k)),
        ),
        Misconception(
            "smallest",
            "You took the smallest of the k. All of them are proved at once, so the largest is.",
            _best(choose=min),
        ),
        Misconception(
            "mean",
            "You took the mean of the k. All of them are proved at once, so the largest is.",
            _best(choose=lambda mus: sum(mus) / len(mus)),
        ),
        Misconception(
            "first one",
            "You returned the bound at the first threshold. All are proved at once: return the largest.",
            _best(choose=lambda mus: mus[0]),
        ),
        Misconception(
            "best look",
            "You chose the threshold at which the *shares* of errors look best, and bounded there. With no false alarm at all a share looks "
            "perfect, and proves little. Bound first, then choose.",
            _best_looking(lambda risk, k: risk / (2 * k)),
        ),
        Misconception(
            "best look, no correction",
            "You chose the threshold at which the shares of errors look best, and bounded there as if it had been fixed before. All 2k bounds must hold at once.",
            _best_looking(lambda risk, k: risk / 2),
        ),
        Misconception(
            "fewest errors",
            "You chose the threshold with the fewest errors in all. mu can be larger at another one, at which one of the two errors is rare. All "
            "are proved at once: compute each, and return the largest.",
            _best_looking(lambda risk, k: risk / (2 * k), good=lambda a, b: -a - b),
        ),
        Misconception(
            "fewest errors, no correction",
            "You chose the threshold with the fewest errors in all, and bounded there as if it had been fixed before. All 2k bounds must hold at "
            "once; then compute mu at each threshold, and take the largest.",
            _best_looking(lambda risk, k: risk / 2, good=lambda a, b: -a - b),
        ),
        Misconception(
            "mixed",
            "You took the best alpha of one threshold together with the best beta of another. No single test has both: compute mu at each "
            "threshold, then take the largest.",
            lambda false_alarms, misses, runs, confidence: _best()(
                false_alarms.min() + 0 * false_alarms, misses.min() + 0 * misses, runs, confidence
            ),
        ),
        Misconception(
            "risk for confidence",
            "You gave the bounds the risk where they take the confidence: it is 1 - (1 - confidence) / (2k) for each.",
            _best(lambda risk, k: 1 - risk / (2 * k)),
        ),
        Misconception(
            "negative",
            "One of your results is negative. Attacks that are no better than guessing prove nothing: the bound is 0.",
            _best(least=-math.inf),
        ),
        Misconception(
            "pooled",
            "You added up the errors of all thresholds. These are different tests on the same runs; each has its own rates.",
            _pooled(lambda risk, k: risk / 2),
            recognise=any_of(
                *(_pooled(lambda risk, k, by=by: risk / by(k)) for by in (lambda k: 1, lambda k: 2, lambda k: 2 * k))
            ),
        ),
    ),
)
