"""Auditing: what an attack that was really run proves about a mechanism, with stated confidence.

A mechanism runs many times with one person in the data and many times without; an attack turns each output into a
score. The errors of "in, if the score is high" lie on or above the mechanism's trade-off function, so bounds on them
from above refute promises. A lower bound on mu or epsilon never proves a promise.

Sources: Clopper & Pearson (1934); Jagielski, Ullman & Oprea (2020) and Nasr et al. (2023), auditing of DP-SGD;
Dong, Roth & Su (2022); Steinke, Nasr & Jagielski (2023), auditing in one run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpcourse.base import rounding, validate
from dpcourse.tradeoff import TradeOff

# ---- from errors counted to bounds


def clopper_pearson(errors, trials, confidence=0.95) -> float | np.ndarray:
    """Return an upper bound, with that confidence, on the probability of an error: the largest not refuted by the count.

    errors, trials: whole numbers, errors <= trials, or arrays of them; confidence in (0, 1). ValueError for anything
    else. Source: Clopper & Pearson (1934), one-sided.

    >>> round(clopper_pearson(0, 100), 6), round(1 - 0.05 ** (1 / 100), 6)
    (0.029513, 0.029513)
    """
    trials = _wholes("trials", trials, 1)
    errors = _wholes("errors", errors, 0)
    if (errors > trials).any():
        raise ValueError(f"errors must be at most trials, got {errors.max():g} of {trials.min():g}")
    bound = upper_bound(errors, trials, 1 - _confidence(confidence))
    return float(bound) if bound.ndim == 0 else bound


def mu_lower_bound(scores_in, scores_out, confidence=0.95, threshold=None) -> float:
    """Return the mu that the attack proves: with that confidence the mechanism is mu-GDP for no smaller mu; 0 if none.

    scores_in, scores_out: scores with the person in the data and without, shapes (n,) and (m,), from independent runs.
    threshold: the test says "in" above it; it must be chosen without a look at these scores. None: the best of many,
    with the correction for the choice (see empirical_tradeoff). ValueError for bad scores or confidence.
    Source: Clopper-Pearson for alpha and for beta, and Phi^-1(1 - alpha) - Phi^-1(beta) (Nasr et al. 2023).

    >>> without = np.repeat([0.0, 1.0], [900, 100])
    >>> round(mu_lower_bound(1 - without, without, threshold=0.5), 3)  # 2.563 without the doubt
    2.347
    """
    alpha, beta = error_bounds(scores_in, scores_out, 1 - _confidence(confidence), threshold)
    return float(max(0.0, np.max(-special.ndtri(alpha) - special.ndtri(beta))))


def epsilon_lower_bound(scores_in, scores_out, delta=0.0, confidence=0.95, threshold=None) -> float:
    """Return the epsilon that the attack proves: with that confidence the mechanism's epsilon at delta is no smaller.

    delta in [0, 1); the rest as in mu_lower_bound. Source: (epsilon, delta)-DP keeps alpha + e^epsilon beta and
    e^epsilon alpha + beta at 1 - delta or more (Kairouz, Oh & Viswanath 2015, theorem 2.1).

    >>> without = np.repeat([0.0, 1.0], [900, 100])
    >>> round(epsilon_lower_bound(1 - without, without, threshold=0.5), 3)  # ln(0.9 / 0.1) = 2.197 without the doubt
    1.99
    """
    delta = validate.number("delta", delta, 0, 1, open_high=True)
    alpha, beta = error_bounds(scores_in, scores_out, 1 - _confidence(confidence), threshold)
    return max(0.0, largest_log_ratio(1 - delta - alpha, beta), largest_log_ratio(1 - delta - beta, alpha))


@dataclass(frozen=True)
class Band:
    """The trade-off curve of an attack, as seen and with its simultaneous confidence band.

    alpha, beta: the error rates seen at every threshold, alpha rising. upper: a TradeOff; the mechanism's own lies
    below it. lower(alpha): a bound below the curve of this attack; a better attack may go below the bound. corners: the
    points (alpha, beta) to the left of which the curve of this attack lies above beta.
    """

    alpha: np.ndarray
    beta: np.ndarray
    upper: TradeOff
    corners: tuple[np.ndarray, np.ndarray]

    def lower(self, alpha) -> float | np.ndarray:
        """Return the lower side of the band. alpha: a number or an array in [0, 1], else ValueError.

        Source: the bounds hold at all corners at once, and an attack's curve falls (empirical_tradeoff).

        >>> blind = empirical_tradeoff(np.arange(1000.0), np.arange(1000.0))  # its own curve is 1 - alpha
        >>> round(blind.lower(0.1), 3)
        0.774
        """
        alpha = validate.reals("alpha", alpha, 0, 1)
        left, height = self.corners
        heights = np.where(left > alpha[..., None], height, 0.0).max(axis=-1)
        return float(heights) if alpha.ndim == 0 else heights


def empirical_tradeoff(scores_in, scores_out, confidence=0.95) -> Band:
    """Return the attack's trade-off curve with a band that holds at all thresholds at once, with that confidence.

    scores_in, scores_out: as in mu_lower_bound. The thresholds are the scores at certain ranks, from both ends, the
    ranks in steps of about sqrt(2); at each, both errors have Clopper-Pearson bounds (those of order statistics), and a
    union bound over all of them pays for the choice. Between ranks the errors are monotone. ValueError for bad input.
    Source: Clopper & Pearson (1934) at each threshold; David & Nagaraja (2003), section 2.1, for order statistics.

    >>> from dpcourse.tradeoff import gaussian
    >>> rng = np.random.default_rng(0)
    >>> band = empirical_tradeoff(rng.normal(2, 1, 10_000), rng.normal(0, 1, 10_000))
    >>> bool(band.lower(0.1) < gaussian(2)(0.1) < band.upper(0.1))
    True
    """
    failure = 1 - _confidence(confidence)
    scores_in, scores_out = _scores(scores_in, scores_out)
    thresholds = np.unique(np.r_[scores_in, scores_out])
    alpha = np.r_[0, (1 - np.searchsorted(np.sort(scores_out), thresholds) / scores_out.size)[::-1]]
    beta = np.r_[1, (np.searchsorted(np.sort(scores_in), thresholds) / scores_in.size)[::-1]]
    upper = TradeOff.from_points(*error_bounds(scores_in, scores_out, failure / 2), repair=True)
    return Band(alpha, beta, upper, error_bounds(scores_in, scores_out, failure / 2, lower=True))


@dataclass(frozen=True)
class Refutation:
    """A test that a promise does not allow.

    With `confidence` its false alarms are at most alpha and its misses at most beta; where the promise holds, a test
    with that alpha has misses of at least `least`, which is more.
    """

    alpha: float
    beta: float
    least: float
    confidence: float

    @property
    def as_text(self) -> tuple[str, str, str]:
        """alpha, beta and least to three digits, rounded to the safe side: still an upper, an upper and a lower bound.

        >>> Refutation(0.1001, 0.2, 0.3009, 0.95).as_text
        ('0.101', '0.200', '0.300')
        """
        return rounding.up(self.alpha, 3), rounding.up(self.beta, 3), rounding.down(self.least, 3)


def refutation(promise, scores_in, scores_out, confidence=0.95) -> Refutation | None:
    """Return the test that breaks the promise most clearly; None where no test does, which proves nothing.

    promise: a TradeOff that the mechanism's own should nowhere pass below; the rest as in mu_lower_bound. A promise
    that is kept is refuted with probability at most 1 - confidence. ValueError for bad scores or confidence.
    Source: Dong, Roth & Su (2022), definition 2.3: f-DP keeps every test on or above f; the errors' bounds as there.

    >>> from dpcourse.tradeoff import gaussian
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(2, 1, 1000), rng.normal(0, 1, 1000)
    >>> refutation(gaussian(1), *scores).least > 0.3 and refutation(gaussian(2), *scores) is None
    True
    """
    alpha, beta = error_bounds(scores_in, scores_out, 1 - _confidence(confidence))
    least = promise(alpha)
    worst = int(np.argmax(least - beta))
    if least[worst] <= beta[worst]:
        return None
    return Refutation(float(alpha[worst]), float(beta[worst]), float(least[worst]), confidence)


def error_bounds(scores_in, scores_out, failure, threshold=None, lower=False) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds (alpha, beta) on both errors at each threshold; all of them hold, but with probability `failure`.

    failure: the probability, in (0, 1), that one bound does not hold; lower: bounds from below; the rest, ValueError and
    the source as for mu_lower_bound.

    >>> without = np.repeat([0.0, 1.0], [900, 100])
    >>> [bound.round(4).tolist() for bound in error_bounds(1 - without, without, 0.05, threshold=0.5)]
    [[0.1203], [0.1203]]
    """
    scores_in, scores_out = _scores(scores_in, scores_out)
    if threshold is not None:
        threshold = validate.number("threshold", threshold)
        alarms, misses = np.sum(scores_out > threshold, keepdims=True), np.sum(scores_in <= threshold, keepdims=True)
    else:
        alarms, misses = _errors_at_ranks(scores_in, scores_out, lower)
        mirrored = _errors_at_ranks(-scores_out, -scores_in, lower)  # thresholds at the lowest scores of those in
        alarms, misses = np.r_[alarms, mirrored[1]], np.r_[misses, mirrored[0]]
    bound = lower_bound if lower else upper_bound
    each = failure / (2 * alarms.size)
    return bound(alarms, scores_out.size, each), bound(misses, scores_in.size, each)


def _errors_at_ranks(scores_in, scores_out, lower):
    """Return false alarms and misses at thresholds at fixed ranks: the highest scores without the person.

    At the score t of rank r (the highest has rank 0) Pr[out > t] is at most, and Pr[out >= t] at least, what it is
    without ties: a Beta(r + 1, m - r) variable, whose quantiles are the Clopper-Pearson bounds for r errors. Scores in
    are independent of t, so their misses are binomial.
    """
    steps = np.arange(2 * math.log2(max(1, scores_out.size / 2)) + 1)
    ranks = np.unique(np.r_[0, np.sqrt(2) ** steps[: scores_out.size - 1]].astype(int))
    thresholds = np.sort(scores_out)[::-1][ranks]
    return ranks, np.searchsorted(np.sort(scores_in), thresholds, side="left" if lower else "right")


def upper_bound(errors, trials, failure) -> np.ndarray:
    """Return the bound from above on an error's probability that fails with probability at most `failure`.

    errors, trials: whole, 0 <= errors <= trials, any shape; failure: in (0, 1). Source: Clopper & Pearson (1934).

    >>> upper_bound(np.array([0, 100]), 100, 0.05).round(6).tolist()
    [0.029513, 1.0]
    """
    return np.where(errors < trials, special.betainccinv(errors + 1, np.maximum(trials - errors, 0.5), failure), 1.0)


def lower_bound(errors, trials, failure) -> np.ndarray:
    """Return the bound from below; arguments and source as for upper_bound.

    >>> lower_bound(np.array([0, 100]), 100, 0.05).round(6).tolist()
    [0.0, 0.970487]
    """
    return np.where(errors > 0, special.betaincinv(np.maximum(errors, 0.5), trials - errors + 1, failure), 0.0)


def largest_log_ratio(numerators, denominators) -> float:
    """Return the largest logarithm of a ratio; numerators may be negative, denominators are positive.

    >>> round(largest_log_ratio(np.array([-1.0, 0.9]), np.array([0.5, 0.1])), 6)  # ln 9
    2.197225
    """
    return float(np.log(np.maximum(numerators, 1e-300) / denominators).max())


def _wholes(name, values, low):
    array = validate.reals(name, values, low)
    for value in array[np.isinf(array) | (array != np.floor(array))][:1].tolist():
        validate.whole(name, value, low)
    return array


def _confidence(confidence):
    return validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True)


def _scores(scores_in, scores_out):
    return validate.numbers("scores_in", scores_in), validate.numbers("scores_out", scores_out)


# ---- many canaries in one run


def one_run_p_value(correct, guesses, epsilon, delta=0.0, canaries=None) -> float:
    """Return the chance, under any (epsilon, delta)-DP mechanism, of that many right guesses or more: an upper bound.

    Each of `canaries` people is in the data of one run by the toss of a fair coin of their own; the attack sees the
    output and guesses for `guesses` of them, as it likes, and `correct` guesses are right. canaries: at least guesses
    (default: as many); it matters where delta > 0. epsilon >= 0; delta in [0, 1]. ValueError for anything else.
    Source: Steinke, Nasr & Jagielski (2023), theorem 5.2.

    >>> round(one_run_p_value(10, 10, math.log(3)), 6), round(0.75**10, 6)
    (0.056314, 0.056314)
    """
    correct, guesses, canaries = _guesses(correct, guesses, canaries)
    epsilon = validate.number("epsilon", epsilon, 0)
    delta = validate.number("delta", delta, 0, 1)
    at_least, steepest = _right_guesses(correct, guesses, epsilon)
    return min(1.0, at_least + 2 * canaries * delta * steepest)


def one_run_epsilon_lower_bound(correct, guesses, delta=0.0, canaries=None, confidence=0.95) -> float:
    """Return the epsilon that one run proves at that delta, with that confidence; 0 if it proves none.

    The arguments, and ValueError, are those of one_run_p_value, and confidence in (0, 1).
    Source: Steinke, Nasr & Jagielski (2023), theorem 5.2, solved for epsilon.

    >>> round(one_run_epsilon_lower_bound(10, 10), 3)  # e^epsilon / (1 + e^epsilon) = 0.05^(1/10)
    1.052
    """
    failure = 1 - _confidence(confidence)
    return _largest(lambda epsilon: one_run_p_value(correct, guesses, epsilon, delta, canaries) <= failure)


def one_run_mu_lower_bound(correct, guesses, canaries=None, confidence=0.95) -> float:
    """Return the mu that one run proves, with that confidence; 0 if it proves none.

    correct, guesses, canaries, confidence: as for `one_run_epsilon_lower_bound`; the number of guesses is fixed before.
    It refutes mu-GDP itself, which says more than any one (epsilon, delta); do not convert it to an epsilon.
    Source: Mahloujifar, Melis & Chaudhuri (2025), "Auditing f-differential privacy in one run", PMLR 267.

    >>> one_run_mu_lower_bound(30, 30) > one_run_mu_lower_bound(29, 30) > 0.5
    True
    """
    correct, guesses, canaries = _guesses(correct, guesses, canaries)
    failure = 1 - _confidence(confidence)
    low, high = 0.0, MOST_MU
    for _ in range(ROUNDS):
        mus = np.linspace(low, high, 33)
        refuted = _refuted_by_one_run(mus, correct, guesses, canaries, failure)
        last = int(np.flatnonzero(refuted).max(initial=0))
        low, high = mus[last], mus[min(last + 1, 32)]
    return float(low)


MOST_MU, ROUNDS = 40.0, 5  # the largest mu that is looked at; each round looks 32 times as closely
ROUNDING = 1e-6  # relative: a mu is refuted only beyond what rounding may add up to in a million steps


def _refuted_by_one_run(mus, correct, guesses, canaries, failure):
    """Return for each mu whether so many right guesses have a chance below `failure` under every mu-GDP program.

    Pick a canary at random. hit: the chance that it is guessed rightly and at least j guesses are right; missed: that it is
    guessed wrongly and at least j - 1 are. Tossing its coin again exchanges the two for this canary alone, so by mu-GDP
    missed >= Phi(Phi^-1(hit) - mu). In the worst case exactly `correct` are right (to move outputs with more there keeps every
    inequality); then hit and missed begin as below, and this bounds both from below for every smaller j. At 0 they add up to
    guesses / canaries exactly, so where the bounds add up to more, the chance was less.
    """
    hit = np.full(mus.shape, failure * correct / canaries)
    missed = np.full(mus.shape, failure * (guesses - correct) / canaries)
    for j in range(correct - 1, -1, -1):
        more = np.maximum(missed, special.ndtr(special.ndtri(np.minimum(hit, 1)) - mus))
        hit += j / (guesses - j) * (more - missed)
        missed = more
    return hit + missed > guesses / canaries * (1 + ROUNDING)


def _guesses(correct, guesses, canaries):
    guesses = validate.whole("guesses", guesses)
    canaries = guesses if canaries is None else validate.whole("canaries", canaries)
    correct = validate.whole("correct", correct, 0)
    if not correct <= guesses <= canaries:
        raise ValueError(f"correct <= guesses <= canaries must hold, got {correct}, {guesses}, {canaries}")
    return correct, guesses, canaries


def _right_guesses(correct, guesses, epsilon):
    """Return Pr[W >= v] and max_i Pr[v > W >= v - i] / i, where W is Binomial(guesses, e^epsilon / (1 + e^epsilon))."""
    if correct == 0:
        return 1.0, 0.0
    up_to = special.bdtr(np.arange(correct), guesses, special.expit(epsilon))  # Pr[W <= 0], ..., Pr[W <= v - 1]
    below = up_to[-1] - np.r_[up_to[-2::-1], 0.0]  # Pr[v > W >= v - i] for i = 1, ..., v
    at_least = special.bdtrc(correct - 1, guesses, special.expit(epsilon))
    return float(at_least), float(np.max(below / np.arange(1, correct + 1)))


def _largest(refuted):
    """Return a refuted number close to the largest; 0 if none is. A mechanism that keeps a promise keeps each larger one."""
    low, high = 0.0, 1.0
    while high < 64 and refuted(high):
        low, high = high, 2 * high
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


# ---- six mechanisms with one promise, which one of them keeps


def correct(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Return two noisy sums of people's clipped vectors: mu-GDP for a person added to or removed from one round.

    That is so for real numbers; the noise is made of doubles, as that of `gdp.mechanism`. rounds: two arrays of shape
    (people, d), people may differ; clip_norm > 0, mu > 0; rng: Generator, seed or None. ValueError otherwise.
    Returns an array of shape (2, d). Source: Dong, Roth & Su (2022), theorem 2.7: noise of deviation clip_norm / mu.

    >>> correct((np.zeros((3, 4)), np.zeros((5, 4))), clip_norm=1.0, mu=1.0, rng=0).shape
    (2, 4)
    """
    return _noisy_sums(rounds, clip_norm, mu, rng)


def half_noise(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Do as `correct`, with half of the noise: what is promised as mu is 2 mu.

    The arguments, ValueError and the source are those of `correct`.

    >>> empty = np.zeros((2, 0, 4))
    >>> bool((2 * half_noise(empty, 1.0, 1.0, rng=0) == correct(empty, 1.0, 1.0, rng=0)).all())
    True
    """
    return _noisy_sums(rounds, clip_norm, mu, rng, scale=0.5)


def wrong_sensitivity(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Do as `correct`, but every coordinate is clipped by itself, so a person's vector may be sqrt(d) times too long.

    The arguments, ValueError and the source are those of `correct`.

    >>> rounds = np.full((1, 4), 7.0), np.zeros((0, 4))
    >>> wrong_sensitivity(rounds, 1.0, 1e9, rng=0).round(6)[0].tolist()  # of length 2
    [1.0, 1.0, 1.0, 1.0]
    """
    return _noisy_sums(rounds, clip_norm, mu, rng, clip=lambda vectors: np.clip(vectors, -clip_norm, clip_norm))


def reused_noise(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Do as `correct`, but with the first round's noise in the second: the difference of the rounds has none.

    The arguments, ValueError and the source are those of `correct`.

    >>> first, second = reused_noise(np.zeros((2, 0, 4)), 1.0, 1.0, rng=0)
    >>> (first - second).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    return _noisy_sums(rounds, clip_norm, mu, rng, reuse=True)


def unclipped(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Do as `correct`, but clip nothing.

    The arguments, ValueError and the source are those of `correct`.

    >>> unclipped((np.full((1, 4), 7.0), np.zeros((0, 4))), 1.0, 1e9, rng=0).round(6)[0].tolist()
    [7.0, 7.0, 7.0, 7.0]
    """
    return _noisy_sums(rounds, clip_norm, mu, rng, clip=lambda vectors: vectors)


def divided_by_people(rounds, clip_norm, mu, rng=None) -> np.ndarray:
    """Do as `correct`, but divide each noisy sum by the number of people in its round (by 1 if there is nobody).

    The size of the noise then tells how many there are. The arguments, ValueError and the source are those of `correct`.

    >>> three = np.zeros((2, 3, 4))
    >>> bool((3 * divided_by_people(three, 1.0, 1.0, rng=0) == correct(three, 1.0, 1.0, rng=0)).all())
    True
    """
    noisy = _noisy_sums(rounds, clip_norm, mu, rng)
    return noisy / [[max(1, len(vectors))] for vectors in rounds]


MECHANISMS = (correct, half_noise, wrong_sensitivity, reused_noise, unclipped, divided_by_people)


def suspects(rng=None) -> dict[str, Callable]:
    """Return the six mechanisms in an order drawn from rng, under the letters A to F: a dict letter -> mechanism.

    >>> sorted(suspects(0))
    ['A', 'B', 'C', 'D', 'E', 'F']
    """

    def closed(mechanism):
        return lambda rounds, clip_norm, mu, rng=None: mechanism(rounds, clip_norm, mu, rng)

    order = np.random.default_rng(rng).permutation(len(MECHANISMS))
    return {letter: closed(MECHANISMS[i]) for letter, i in zip("ABCDEF", order, strict=True)}


def _noisy_sums(rounds, clip_norm, mu, rng, scale=1.0, clip=None, reuse=False):
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    mu = validate.number("mu", mu, 0, open_low=True)
    rng = np.random.default_rng(rng)
    clip = clip or (lambda vectors: clipped(vectors, clip_norm))
    sums = np.array([clip(rows).sum(axis=0) if len(rows) else np.zeros(rows.shape[1]) for rows in _two_rounds(rounds)])
    noise = rng.normal(0, scale * clip_norm / mu, sums.shape)
    return sums + (noise[0] if reuse else noise)


def clipped(vectors, clip_norm) -> np.ndarray:
    """Return the rows, each shortened to length clip_norm where it is longer, in its own direction.

    vectors: shape (people, d). ValueError where clip_norm is not above 0. Source: Abadi et al. (2016), algorithm 1.

    >>> clipped(np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]), 1.0).tolist()
    [[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]
    """
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    vectors = np.asarray(vectors, dtype=float)
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / np.maximum(1.0, lengths / clip_norm)


def _two_rounds(rounds):
    arrays = [np.asarray(vectors, dtype=float) for vectors in rounds]
    if len(arrays) != 2 or any(a.ndim != 2 for a in arrays) or arrays[0].shape[1] != arrays[1].shape[1]:
        shapes = [a.shape for a in arrays]
        raise ValueError(f"rounds must be two arrays of shape (people, d) with the same d, got shapes {shapes}")
    return arrays
